"""What progress events say about each phase so far: amounts, rates and the time left.

The time left is a range: by the rate of the last seconds, and by that of the whole. That, and plain lines for a log,
are what the columns of rich.progress have not."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from ..progress import Event
from ..units import format_size

__all__ = ["Phase", "PhaseBook", "bounds_text", "seconds_text"]

# Facts that stay true from one phase to the next; all others belong to the phase that said them.
_LASTING = ("lower", "upper", "active", "open", "traversals", "bytes_read")
# Facts that are shown as the place in a pass.
_PASS = ("pass_done", "pass_total")


@dataclass
class Phase:
    """One phase: its last event, and when it began (seconds of the caller's clock)."""

    name: str
    began: float
    done: int | None = None
    total: int | None = None
    unit: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    finished: bool = False
    pace_of_all: Pace | None = None
    pace_of_pass: Pace | None = None

    def take(self, event: Event, now: float) -> None:
        """Enter an event of this phase."""
        if self.pace_of_all is None:
            self.pace_of_all = Pace(now, event.done or 0)
        self.pace_of_all.at(now, event.done or 0)
        self._take_pass(event.facts, now)
        self.done, self.total, self.unit = event.done, event.total, event.unit
        self.facts, self.finished = dict(event.facts), event.finished

    def _take_pass(self, facts: dict[str, Any], now: float) -> None:
        done, total = (facts.get(name) for name in _PASS)
        if not total or done is None:
            self.pace_of_pass = None
        elif self.pace_of_pass is None or total != self.facts.get(_PASS[1]) or done < self.facts.get(_PASS[0], 0):
            self.pace_of_pass = Pace(now, done)
        else:
            self.pace_of_pass.at(now, done)

    def share(self) -> tuple[int, int] | None:
        """Done and total: of the phase, or of the pass it is in; None where nobody can know."""
        if self.total and self.done is not None:
            return self.done, self.total
        done, total = (self.facts.get(name) for name in _PASS)
        return (done, total) if total and done is not None else None

    def pass_text(self, now: float) -> str:
        """The place in the pass over the blocks: "pass 120 of 400 blocks, 3 to 5 s left"."""
        done, total = (self.facts.get(name) for name in _PASS)
        if not total or done is None or self.finished or self.total:
            return ""
        left = None if self.pace_of_pass is None else self.pace_of_pass.left(now, done, total)
        text = f"pass {done:,} of {total:,} blocks"
        return text if left is None else f"{text}, {range_text(*left)} left"

    def amount(self) -> str:
        """What is done, e.g. "1.0 GiB of 4.0 GiB (25 %)"; empty where nothing is counted."""
        if not self.total:
            return _count(self.done, self.unit) if self.done else ""
        if self.done is None:
            return ""
        whole = _count(self.total, self.unit)
        return f"{_count(self.done, self.unit, bare=True)} of {whole} ({100 * self.done / self.total:.0f} %)"

    def rate(self, now: float) -> float | None:
        """Units a second since the phase began; None while there is too little to go by."""
        return None if self.done is None or self.pace_of_all is None else self.pace_of_all.rate(now, self.done)

    def pace(self, now: float) -> str:
        """Rate and, where the total is known, the time left: "120 MiB/s, 18 to 25 s left"."""
        rate = self.rate(now)
        if rate is None or self.done is None or self.pace_of_all is None:
            return ""
        text = _count(round(rate), self.unit) + "/s"
        left = None
        if self.total and not self.finished:
            left = self.pace_of_all.left(now, self.done, self.total)
        return text if left is None else f"{text}, {range_text(*left)} left"


class PhaseBook:
    """The phase that runs and what is known beside it. One phase follows another: an event of a
    new phase ends the one before, with or without a last event of its own.

    latest : the phase of the last event, None before the first. seen : names of all phases.
    """

    def __init__(self) -> None:
        self.latest: Phase | None = None
        self.seen: set[str] = set()
        self._lasting: dict[str, Any] = {}

    def take(self, event: Event, now: float) -> Phase:
        """Enter `event`; returns its phase. One about a traversal only brings lasting facts."""
        phase = self.latest
        if phase is None or ((phase.name != event.phase or phase.finished) and event.kind == "progress"):
            phase = self.latest = Phase(event.phase, now)
        if event.kind == "progress":
            phase.take(event, now)
            self.seen.add(event.phase)
        self._lasting.update({name: event.facts[name] for name in _LASTING if name in event.facts})
        return phase

    def facts_text(self) -> str:
        """The bounds first, then the other lasting facts, then those of the latest phase alone."""
        facts = dict(self._lasting)
        if self.latest is not None:
            facts.update({name: value for name, value in self.latest.facts.items() if name not in _PASS})
        parts = [bounds_text(facts.pop("lower", None), facts.pop("upper", None))]
        parts += [f"{name.replace('_', ' ')} {_value(name, value)}" for name, value in facts.items()]
        return ", ".join(part for part in parts if part)


def bounds_text(lower: int | None, upper: int | None) -> str:
    """Bounds on the diameter D; empty when neither is known."""
    if lower is None and upper is None:
        return ""
    left = "" if lower is None else f"{lower:,} <= "
    return f"{left}D" + ("" if upper is None else f" <= {upper:,}")


def _count(number: int, unit: str, *, bare: bool = False) -> str:
    if unit == "B":
        return format_size(number)
    return f"{number:,}" if bare or not unit else f"{number:,} {unit}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.startswith("bytes_") or name.endswith("_bytes"):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


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
