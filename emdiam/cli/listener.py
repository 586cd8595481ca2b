"""How progress is shown: a live view on a terminal, plain lines in a log, or nothing; and told to a file."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from ..errors import NotWritten, StoppedEarly
from ..progress import OUTCOME, SECONDS, Event, Listener, joined, shared, silent
from ..units import format_seconds
from .options import EVENT_LOG
from .output import answer, complain
from .phases import RESUME, PhaseBook, resumed_text


@contextmanager
def listening(given: Mapping[str, Any]) -> Iterator[Listener]:
    """A listener for the library's `progress` argument; everything goes to standard error, and to the file of --events
    if the running command has one. given : the options of the command, quiet and log_interval (seconds between lines
    where standard error is no terminal) among them."""
    context = click.get_current_context(silent=True)
    log: Listener | None = None if context is None else context.meta.get(EVENT_LOG)
    with _view(given["quiet"], given["log_interval"]) as view, _messages(given["quiet"]):
        yield view if log is None else shared(view, log)


@contextmanager
def _messages(quiet: bool) -> Iterator[None]:
    """Within it, what the library's logger says goes to standard error: that kernels are compiled, for one."""
    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
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


def _view(quiet: bool, log_interval: float) -> AbstractContextManager[Listener]:
    if quiet:
        return nullcontext(silent)
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from rich.console import Console

        from .live import LiveView

        return LiveView(Console(file=sys.stderr))
    return Heartbeat(complain, log_interval)


def answered(given: Mapping[str, Any], work: Callable[[Listener], Any], text: Callable[[Any], str]) -> Any:
    """Do work of many runs and print its answer: messages, then one JSON object or `text`. Of work that was stopped or
    whose files cannot be written it is what there is by then, and the StoppedEarly or NotWritten goes on."""
    def show(result: Any) -> None:
        for message in result.messages:
            complain(f"emdiam: {message}")
        answer(result.to_dict(), lambda _: text(result), given["as_json"])

    try:
        with listening(given) as listener:
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
            now = self._clock()
            new = event.phase not in self._book.seen
            phase = self._book.take(event, now)
            if event.kind == "progress" and event.finished:
                seconds = event.facts.get(SECONDS, now - phase.began)
                if phase.name not in self._ended or seconds >= self._interval:
                    self._ended.add(phase.name)
                    outcome = event.facts.get(OUTCOME, "done")
                    self._write(joined(f"{phase.name}: {outcome} in {format_seconds(seconds)}", phase.amount(),
                                       phase.pace(now), self._book.facts_text()))
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
