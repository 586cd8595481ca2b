"""Rates, and the time left as a range: from the rate of the last seconds and from that of the whole."""

from __future__ import annotations

from collections import deque

SOONEST_SECONDS = 0.5
RECENT_SECONDS = 10.0
_LEAST_GAP_SECONDS = 0.1


class Pace:
    """What was done when, of one phase or one pass. Seconds of the caller's clock; `done` counts from
    anywhere and never falls."""

    def __init__(self, now: float, done: int) -> None:
        self._began, self._first = now, done
        self._samples = deque([(now, done)])

    def at(self, now: float, done: int) -> None:
        """So much is done by now."""
        if now - self._samples[-1][0] < _LEAST_GAP_SECONDS:
            return
        self._samples.append((now, done))
        while len(self._samples) > 2 and self._samples[1][0] <= now - RECENT_SECONDS:
            self._samples.popleft()

    def rate(self, now: float, done: int) -> float | None:
        """Units a second since the beginning; None while there is too little to go by."""
        return _slope(now - self._began, done - self._first)

    def left(self, now: float, done: int, total: int) -> tuple[float, float] | None:
        """Seconds left at the better and at the worse of the two rates; None if none is known. A phase
        that stands still is as slow as its whole."""
        then, before = self._samples[0]
        rates = [rate for rate in (self.rate(now, done), _slope(now - then, done - before)) if rate is not None]
        if not rates:
            return None
        rest = max(0, total - done)
        return rest / max(rates), rest / min(rates)


def _slope(seconds: float, done: int) -> float | None:
    return done / seconds if seconds >= SOONEST_SECONDS and done > 0 else None


def seconds_text(seconds: float) -> str:
    """A duration: "0.12 s", "18 s", "3 min 05 s", "2 h 10 min"."""
    if seconds < 10:
        return f"{seconds:.2g} s" if seconds >= 0.01 else "0 s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def range_text(least: float, most: float) -> str:
    """A range of durations: "18 s", "18 to 25 s", "50 s to 1 min 10 s"."""
    low, high = seconds_text(least), seconds_text(most)
    if low == high:
        return low
    if low.count(" ") == high.count(" ") == 1:
        low = low.removesuffix(" s")
    return f"{low} to {high}"
