"""Progress of a conversion: phases, their seconds, and events at a bearable rate. Seconds of any block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from .progress import Event, Listener, silent

_SECONDS_BETWEEN_EVENTS = 0.2


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the wall seconds of the block to seconds[name], however it ends."""
    begin = perf_counter()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + perf_counter() - begin


class Meter:
    """Tells a listener of one phase after another. `seconds` has the time of each phase so far."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener or silent
        self.seconds: dict[str, float] = {}
        self._phase, self._unit = "", ""
        self._total: int | None = None
        self._done = 0
        self._began = self._told = 0.0

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        """End the phase that runs, if any, and start `phase`: `total` `unit`s (None: unknown)."""
        self.end()
        self._phase, self._total, self._unit, self._done = phase, total, unit, 0
        self._began = self._told = perf_counter()
        self._tell()

    def update(self, done: int, total: int | None = None) -> None:
        """`done` units of the running phase are done, of `total` if that is known by now."""
        self._done, self._total = done, self._total if total is None else total
        now = perf_counter()
        if now - self._told >= _SECONDS_BETWEEN_EVENTS:
            self._told = now
            self._tell()

    def seconds_so_far(self) -> dict[str, float]:
        """`seconds`, with what the running phase has taken."""
        told = dict(self.seconds)
        if self._phase:
            told[self._phase] = told.get(self._phase, 0.0) + perf_counter() - self._began
        return told

    def end(self) -> None:
        """End the running phase, if any."""
        if self._phase:
            self._tell(finished=True)
            spent = perf_counter() - self._began
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + spent
            self._phase = ""

    def _tell(self, *, finished: bool = False) -> None:
        if self._phase:
            self._listener(Event(self._phase, self._done, self._total, self._unit, finished=finished))
