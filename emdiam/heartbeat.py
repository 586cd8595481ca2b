"""Progress as log lines, for outputs other than terminals."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from .phases import RESUME, PhaseBook, Step, resumed_text
from .progress import ANSWER, OUTCOME, SECONDS, Event, joined
from .units import format_seconds


class Heartbeat:
    """A listener that writes lines; a context manager, since a separate thread keeps the interval even while the
    library is inside one long kernel and sends no events.

    A line is written at the start of each step, or of each phase if steps are unknown, but only the first time; other
    news once an interval, and at the end of a phase that was longer than the interval.

    write : called with each line, without a newline. interval : seconds between heartbeats. steps : the command's.
    clock : returns seconds; tests replace it.
    """

    def __init__(self, write: Callable[[str], None], interval: float, steps: Sequence[Step] = (),
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._print, self._interval, self._clock = write, interval, clock
        self._book, self._began, self._lock = PhaseBook(steps), clock(), threading.Lock()
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
                self._stamp(resumed_text(event))
                return
            if event.kind == "jobs":  # for a table
                return
            now, step = self._clock(), -1 if self._book.latest is None else self._book.steps.at
            new = event.phase not in self._book.seen
            phase = self._book.take(event, now)
            new = new and (self._book.steps.at < 0 or self._book.steps.at != step)
            if event.kind == "progress" and event.finished:
                seconds = event.facts.get(SECONDS, now - phase.began)
                if OUTCOME in event.facts or seconds >= self._interval:
                    outcome = event.facts.get(OUTCOME, "done")
                    self._write(f"{outcome} in {format_seconds(seconds)}", phase.amount(), phase.pace(now),
                                event.facts.get(ANSWER, ""), self._book.facts_text())
            elif event.kind == "progress" and new:
                # Without a total, `done` may count from the start of the run.
                self._write(phase.amount() if event.total and event.done else "")

    def tick(self) -> None:
        """Write the position of the running phase, if any."""
        with self._lock:
            phase, now = self._book.latest, self._clock()
            if phase is not None and not phase.last.finished:
                self._write(f"{format_seconds(now - self._began)} since the start", phase.amount(), phase.pace(now),
                            phase.pass_text(now), self._book.facts_text())

    def _write(self, *parts: str) -> None:
        """Write a line about the latest phase."""
        self._stamp(joined(self._book.title(), *parts))

    def _stamp(self, text: str) -> None:
        """Write a line with date and time."""
        self._print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}")

    def _beat(self) -> None:
        while not self._stop.wait(self._interval):
            self.tick()
