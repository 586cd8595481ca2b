"""Progress events of long operations, for a listener.

A long function takes `progress: Listener | None` and calls it with an Event now and then (a few
times a second at most, and once when a phase starts and ends). The library never prints: the
command line turns events into bars on a terminal, heartbeat lines in a log and records in a file.
A listener may raise, KeyboardInterrupt too: the operation then ends at once and cleans up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from .decimals import Number
from .kernel_progress import clock
from .units import format_size

Kind = Literal["progress", "traversal", "jobs"]
_SECONDS_BETWEEN_EVENTS = 0.2
# Facts in the last event of a phase that ran beside others: its outcome ("done", "failed", ...) and wall seconds.
OUTCOME, SECONDS = "outcome", "wall_seconds"
# Further facts about a job of a batch: its answer in a few words, and its peak memory. An event of kind "jobs" has a
# line for each unfinished job (batch/jobline.py has its class).
ANSWER, PEAK, LINES = "answer", "peak_rss_bytes", "lines"


@dataclass(frozen=True)
class Event:
    """A progress event.

    Parameters
    ----------
    phase : str
        Short name of the phase, such as "read", "merge", "bfs", "winnow".
    done, total : int, optional
        Progress in units; total is None if it is unknown.
    unit : str
        "B", "edges", "arcs", "blocks", "vertices", ...
    facts : dict
        Further figures, such as lower and upper.
    finished : bool
        Whether this is the last event of its phase.
    kind : {"progress", "traversal", "jobs"}
        "traversal": a traversal has ended, and `facts` describes it (see engine/reporter.py), without done and total.
        "jobs": the jobs of a batch, for tables on a terminal.
    """

    phase: str
    done: int | None = None
    total: int | None = None
    unit: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    finished: bool = False
    kind: Kind = "progress"

    def amount(self) -> str:
        """The amount done, e.g. "1.0 GiB of 4.0 GiB (25 %)"; empty if nothing is counted."""
        if self.done is None or not (self.done or self.total):
            return ""
        if not self.total:
            return count_text(self.done, self.unit)
        share = f"{100 * self.done / self.total:.0f} %"
        return f"{count_text(self.done, self.unit, bare=True)} of {count_text(self.total, self.unit)} ({share})"

    def __str__(self) -> str:
        """One line of text: the phase in words, its amount, and the bounds on the diameter D."""
        from .phases import WORDS

        return joined(WORDS.get(self.phase, self.phase), self.amount(),
                      bounds_text(self.facts.get("lower"), self.facts.get("upper")))


def count_text(number: int, unit: str, *, bare: bool = False) -> str:
    """A number with its unit; bare : without the unit."""
    return format_size(number) if unit == "B" else f"{number:,}" if bare or not unit else f"{number:,} {unit}"


def bounds_text(lower: Number | None, upper: Number | None) -> str:
    """Bounds on the diameter D, or D if they are equal; empty if neither is known."""
    if lower is None and upper is None:
        return ""
    if lower == upper:
        return f"D = {upper:,}"
    left = "" if lower is None else f"{lower:,} <= "
    return f"{left}D" + ("" if upper is None else f" <= {upper:,}")


def joined(*parts: str) -> str:
    """The nonempty parts, joined with commas."""
    return ", ".join(filter(None, parts))


def by_parts(text: str, width: int) -> list[str]:
    """Joined parts as lines that break between two parts: half a number would be a wrong number."""
    from textwrap import wrap

    rows = wrap(text.replace(" ", "\xa0").replace(",\xa0", ", "), width, break_on_hyphens=False, break_long_words=False)
    return [line.replace("\xa0", " ") for line in rows]


Listener = Callable[[Event], None]
Tick = Callable[[], None]
"""Called now and then while work goes on, between its pieces; what it raises ends the work."""


def no_tick() -> None:
    """The tick of work without a listener."""


def silent(event: Event) -> None:
    """The listener that drops every event."""


class TimeOver(Exception):
    """The time limit has passed; a listener may raise this inside a traversal."""


def until(deadline: float | None, progress: Listener | None) -> Listener | None:
    """A listener that ends a search, even inside a traversal, at the deadline. Results so far are still verified, since
    an unverified answer is no answer."""
    if deadline is None:
        return progress

    def listen(event: Event) -> None:
        if progress is not None:
            progress(event)
        if time.monotonic() >= deadline and event.phase != "verify":
            raise TimeOver

    return listen


def shared(*listeners: Listener) -> Listener:
    """A listener that passes every event to each of `listeners`, in this order."""
    def listen(event: Event) -> None:
        for listener in listeners:
            listener(event)
    return listen


class BoundsSeen:
    """A listener that passes events on and records the bounds in them.

    listener : the caller's, or None. history : (seconds since this object was made, lower, upper), at each change of
    the bounds. alone : whether no other listener exists, so that only bounds matter.
    """

    def __init__(self, listener: Listener | None) -> None:
        self._listener, self._began, self.alone = listener or silent, time.monotonic(), listener is None
        self.history: list[tuple[float, Number | None, Number | None]] = []

    def __call__(self, event: Event) -> None:
        """Pass an event on and record its bounds."""
        bounds = (event.facts.get("lower"), event.facts.get("upper"))
        if bounds != (None, None) and (not self.history or self.history[-1][1:] != bounds):
            self.history.append((time.monotonic() - self._began, *bounds))
        self._listener(event)


class Allowance:
    """A rate limit: `at_once` actions immediately, then `rate` per second.

    clock : returns seconds; tests replace it.
    """

    def __init__(self, at_once: float, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._rate, self._clock = at_once, rate, clock
        self._left, self._then = at_once, clock()

    def take(self) -> bool:
        """Use up one action and return True, or return False if none is available now."""
        now = self._clock()
        self._left = min(self._limit, self._left + (now - self._then) * self._rate)
        self._then = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Add the wall seconds of the block, without the time for compiling kernels, to seconds[name], even if it
    raises."""
    begin = clock()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + clock() - begin


class Meter:
    """Reports one phase after another to a listener. `seconds` has the time of each phase so far, see timed."""

    def __init__(self, listener: Listener | None = None) -> None:
        self._listener = listener or silent
        self.seconds: dict[str, float] = {}
        self._phase, self._unit, self._done = "", "", 0
        self._total: int | None = None
        self._began = self._sent = 0.0

    def begin(self, phase: str, total: int | None, unit: str) -> None:
        """End the running phase, if any, and start `phase`. total : in `unit`s; None if unknown."""
        self.end()
        self._phase, self._total, self._unit, self._done = phase, total, unit, 0
        self._began = self._sent = clock()
        self._tell()

    def update(self, done: int, total: int | None = None) -> None:
        """Report `done` units of the running phase; total : if it is known by now."""
        self._done, self._total = done, self._total if total is None else total
        now = clock()
        if now - self._sent >= _SECONDS_BETWEEN_EVENTS:
            self._sent = now
            self._tell()

    def seconds_so_far(self) -> dict[str, float]:
        """`seconds`, including the running phase."""
        seconds = dict(self.seconds)
        if self._phase:
            seconds[self._phase] = seconds.get(self._phase, 0.0) + clock() - self._began
        return seconds

    def end(self) -> None:
        """End the running phase, if any."""
        if self._phase:
            self._tell(finished=True)
            self.seconds.update(self.seconds_so_far())
            self._phase = ""

    def _tell(self, *, finished: bool = False) -> None:
        if self._phase:
            self._listener(Event(self._phase, self._done, self._total, self._unit, finished=finished))
