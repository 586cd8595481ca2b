"""How progress is shown: a live view on a terminal, plain lines in a log, or nothing; and told to a file.

What progress events say about each phase so far: amounts, rates and the time left.

The time left is a range: by the rate of the last seconds, and by that of the whole. Columns of rich.progress would not
do: a task of rich has one rate, its text is made for a terminal alone, and the lines of a log, which come without
importing rich, say the same of a phase as the terminal.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from ..errors import NotWritten, StoppedEarly
from ..progress import ANSWER, OUTCOME, PEAK, SECONDS, Event, Listener, bounds_text, count_text, joined, shared, silent
from ..units import format_count, format_seconds, format_size
from .options import EVENT_LOG
from .output import answer, complain

# Facts that stay true from one phase to the next; all others belong to the phase that said them.
_LASTING = ("lower", "upper", "active", "open", "traversals", "bytes_read")
# Facts that are shown as the place in a pass.
_PASS = ("pass_done", "pass_total")
# Facts of which 0 says something; of others it says that they have not begun.
_TOLD_AT_0 = ("active", "open")
# Facts that have places of their own in a line.
_PLACED = (*_PASS, OUTCOME, SECONDS, ANSWER, PEAK)
# The one event of a run that goes on from a checkpoint.
RESUME = "resume"
SOONEST_SECONDS = 0.5
RECENT_SECONDS = 10.0
_LEAST_GAP_SECONDS = 0.1


class Pace:
    """What is done of a phase or of a pass, of which total, and when what was done. Seconds of the caller's clock;
    `done` counts from anywhere and never falls."""

    def __init__(self, now: float, done: int) -> None:
        self.done, self.total = done, 0
        self._samples = deque([(now, done)])
        self._first = self._samples[0]

    def at(self, now: float, done: int, total: int | None) -> None:
        """So much is done by now. total : None where nobody can know it."""
        self.done, self.total = done, total or 0
        if now - self._samples[-1][0] >= _LEAST_GAP_SECONDS:
            self._samples.append((now, done))
            while len(self._samples) > 2 and self._samples[1][0] <= now - RECENT_SECONDS:
                self._samples.popleft()

    def rate(self, now: float) -> float | None:
        """Units a second since the beginning; None while there is too little to go by."""
        return self._since(self._first, now)

    def left_text(self, now: float) -> str:
        """", 18 to 25 s left", at the better and at the worse of the two rates; "" if none, or no total, is known. A
        phase that stands still is as slow as its whole."""
        rates = [rate for rate in (self.rate(now), self._since(self._samples[0], now)) if rate is not None]
        if not rates or not self.total:
            return ""
        rest = max(0, self.total - self.done)
        return f", {range_text(rest / max(rates), rest / min(rates))} left"

    def _since(self, sample: tuple[float, int], now: float) -> float | None:
        seconds, done = now - sample[0], self.done - sample[1]
        return done / seconds if seconds >= SOONEST_SECONDS and done > 0 else None


class ShownPhase:
    """One phase. began : seconds of the caller's clock. last : its last event."""

    def __init__(self, name: str, began: float) -> None:
        self.name, self.began, self.last = name, began, Event(name)
        self._whole: Pace | None = None
        self._pass: Pace | None = None

    def take(self, event: Event, now: float) -> None:
        """Enter an event of this phase."""
        self.last = event
        self._whole = self._whole or Pace(now, event.done or 0)
        self._whole.at(now, event.done or 0, event.total)
        done, total = (event.facts.get(name) for name in _PASS)
        if not total or done is None:
            self._pass = None
        else:
            if self._pass is None or total != self._pass.total or done < self._pass.done:
                self._pass = Pace(now, done)
            self._pass.at(now, done, total)

    def share(self) -> tuple[int, int] | None:
        """Done and total: of the phase, or of the pass it is in; None where nobody can know."""
        if self.last.total and self.last.done is not None:
            return self.last.done, self.last.total
        return None if self._pass is None else (self._pass.done, self._pass.total)

    def pass_text(self, now: float) -> str:
        """The place in the pass over the blocks: "pass 120 of 400 blocks, 3 to 5 s left"."""
        if self._pass is None or self.last.finished or self.last.total:
            return ""
        return f"pass {self._pass.done:,} of {self._pass.total:,} blocks{self._pass.left_text(now)}"

    def amount(self) -> str:
        """See Event."""
        return self.last.amount()

    def rate(self, now: float) -> float | None:
        """Units a second since the phase began; None while there is too little to go by."""
        return None if self.last.done is None or self._whole is None else self._whole.rate(now)

    def pace(self, now: float) -> str:
        """Rate and, where the total is known, the time left: "120 MiB/s, 18 to 25 s left"."""
        rate = self.rate(now)
        if rate is None or self._whole is None:
            return ""
        left = "" if self.last.finished else self._whole.left_text(now)
        return f"{count_text(round(float(f'{rate:.3g}')), self.last.unit)}/s{left}"  # a rate is not exact


class PhaseBook:
    """The phase that runs and what is known beside it. One phase follows another: an event of a
    new phase ends the one before, with or without a last event of its own; a last event that comes after other phases
    ends one that had them as its parts.

    latest : the phase of the last event, None before the first. seen : names of all phases.
    """

    def __init__(self) -> None:
        self.latest: ShownPhase | None = None
        self.seen: set[str] = set()
        self._lasting: dict[str, Any] = {}
        self._began: dict[str, float] = {}  # of those without a last event

    def take(self, event: Event, now: float) -> ShownPhase:
        """Enter `event`; returns its phase. One about a traversal only brings lasting facts."""
        phase = self.latest
        if phase is None or ((phase.name != event.phase or phase.last.finished) and event.kind == "progress"):
            phase = self.latest = ShownPhase(event.phase, self._began.get(event.phase, now) if event.finished else now)
        if event.kind == "progress":
            phase.take(event, now)
            self.seen.add(event.phase)
            if event.finished:
                self._began.pop(event.phase, None)
            else:
                self._began[event.phase] = phase.began
        self._lasting.update({name: event.facts[name] for name in _LASTING if name in event.facts})
        return phase

    def facts_text(self) -> str:
        """The bounds first, then the other lasting facts, then those of the latest phase alone."""
        facts = dict(self._lasting)
        if self.latest is not None:
            facts.update({name: value for name, value in self.latest.last.facts.items() if name not in _PLACED})
        parts = [bounds_text(facts.pop("lower", None), facts.pop("upper", None))]
        facts = {name: value for name, value in facts.items() if value != 0 or name in _TOLD_AT_0}
        return joined(*parts, *(f"{name.replace('_', ' ')} {_value(name, value)}" for name, value in facts.items()))


def resumed_text(event: Event) -> str:
    """What an event of RESUME says."""
    damaged = event.facts.get("damaged")
    return (f"resumed {format_count(event.done or 0, 'traversal')} from {event.facts.get('folder')}"
            + (f"; {damaged}" if damaged else ""))


def _value(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.startswith("bytes_") or name.endswith("_bytes"):
        return format_size(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def range_text(least: float, most: float) -> str:
    """A range of durations: "18 s", "18 to 25 s", "50 s to 1 min 10 s"."""
    low, high = format_seconds(least), format_seconds(most)
    if low == high:
        return low
    if low.count(" ") == high.count(" ") == 1:
        low = low.removesuffix(" s")
    return f"{low} to {high}"


@contextmanager
def listening(given: Mapping[str, Any], view: str = "LiveView") -> Iterator[Listener]:
    """A listener for the library's `progress` argument; everything goes to standard error, and to the file of --events
    if the running command has one. given : the options of the command, quiet and log_interval (seconds between lines
    where standard error is no terminal) among them. view : the class of live.py that shows it on a terminal."""
    context = click.get_current_context(silent=True)
    log: Listener | None = None if context is None else context.meta.get(EVENT_LOG)
    with (_view(given["quiet"], given["log_interval"], view) as shown,
          _messages(given["quiet"], shown, given["log_interval"])):
        yield shown if log is None else shared(shown, log)


@contextmanager
def _messages(quiet: bool, view: Listener, interval: float) -> Iterator[None]:
    """Within it, what the library's logger says goes to standard error. That kernels are compiled is said of the first,
    and then after so many seconds; a view on a terminal has all of them as a phase."""
    import logging

    spoken = [-interval]

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            kernels = getattr(record, "kernels", None)
            if kernels is not None:
                done, total = kernels
                if not isinstance(view, Heartbeat):
                    view(Event("compile", done, total, "kernels"))
                if time.monotonic() - spoken[0] < interval:
                    return
                spoken[0] = time.monotonic()
            complain(f"emdiam: {record.getMessage()}")

    logger, lines = logging.getLogger("emdiam"), Lines(logging.WARNING if quiet else logging.INFO)
    before = logger.level
    logger.addHandler(lines)
    logger.setLevel(lines.level)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.setLevel(before)


def _view(quiet: bool, log_interval: float, name: str) -> AbstractContextManager[Listener]:
    if quiet:
        return nullcontext(silent)
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from rich.console import Console

        from . import live

        view: AbstractContextManager[Listener] = getattr(live, name)(Console(file=sys.stderr))
        return view
    return Heartbeat(complain, log_interval)


def answered(given: Mapping[str, Any], work: Callable[[Listener], Any], text: Callable[[Any], str],
             view: str = "LiveView") -> Any:
    """Do work of many runs and print its answer: messages, then one JSON object or `text`. Of work that was stopped or
    whose files cannot be written it is what there is by then, and the StoppedEarly or NotWritten goes on. view : see
    `listening`."""
    def show(result: Any) -> None:
        for message in result.messages:
            complain(f"emdiam: {message}")
        answer(result.to_dict(), lambda _: text(result), given["as_json"])

    try:
        with listening(given, view) as listener:
            result = work(listener)
    except (StoppedEarly, NotWritten) as end:
        show(end.result)
        raise
    show(result)
    return result


class Heartbeat:
    """A listener that writes lines; a context manager, because a thread of its own keeps the
    interval even while the library is inside one long kernel and sends no events.

    A phase that comes again and again (one traversal after another) announces itself only the
    first time; later ones show up in the heartbeats, and at their end if they were long.

    write : called with each line, without a newline. interval : seconds between heartbeats. clock : seconds, for tests.
    """

    def __init__(self, write: Callable[[str], None], interval: float,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._interval, self._clock = write, interval, clock
        self._book, self._began, self._lock = PhaseBook(), clock(), threading.Lock()
        self._ended: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="emdiam-heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def __call__(self, event: Event) -> None:
        """Take one event; may be called from any thread."""
        with self._lock:
            if event.phase == RESUME:
                self._write(resumed_text(event))
                return
            if event.kind == "jobs":  # for a table
                return
            now = self._clock()
            new = event.phase not in self._book.seen
            phase = self._book.take(event, now)
            if event.kind == "progress" and event.finished:
                seconds = event.facts.get(SECONDS, now - phase.began)
                if phase.name not in self._ended or seconds >= self._interval:
                    self._ended.add(phase.name)
                    outcome = event.facts.get(OUTCOME, "done")
                    self._write(joined(f"{phase.name}: {outcome} in {format_seconds(seconds)}", phase.amount(),
                                       phase.pace(now), event.facts.get(ANSWER, ""), self._book.facts_text()))
            elif event.kind == "progress" and new:
                # Without a total, `done` may count from the beginning of the run.
                self._write(joined(f"{phase.name}: started", phase.amount() if event.total else ""))

    def tick(self) -> None:
        """Write where the running phase is, after the seconds since the start; nothing when none is running."""
        with self._lock:
            phase, now = self._book.latest, self._clock()
            if phase is not None and not phase.last.finished:
                self._write(joined(f"{format_seconds(now - self._began)}: {phase.name}", phase.amount(),
                                   phase.pace(now), phase.pass_text(now), self._book.facts_text()))

    def _beat(self) -> None:
        while not self._stop.wait(self._interval):
            self.tick()
