"""Progress on a terminal: lines with the step, the amount done, the time left, and the bounds, updated regularly; for a
batch a table of jobs."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from textwrap import shorten
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from .phases import RESUME, PhaseBook, ShownPhase, Step, resumed_text
from .progress import ANSWER, LINES, OUTCOME, PEAK, SECONDS, Event, by_parts, joined
from .units import format_seconds, format_size

_BAR_WIDTH, _FRAMES_A_SECOND = 24, 4
_ECHO_WIDTH = 2  # room for the ^C that a terminal echoes: on a separate line it would leave a line of the view
# For the table of a batch: the most jobs shown, and widths of columns.
_MOST_JOBS, _WIDEST_NAME, _STATE_WIDTH, _TIME_WIDTH, _PEAK_WIDTH = 10, 30, 7, 10, 9


class _View(ABC):
    """A view that redraws itself; a context manager. It disappears when the work ends, since the answer on standard
    output has everything."""

    def __init__(self, console: Console) -> None:
        self._began, self._lock, self._console = time.monotonic(), threading.Lock(), console
        # Standard output is not touched: the answer is written there, and it may be a file.
        self._live = Live(get_renderable=self.render, console=console, refresh_per_second=_FRAMES_A_SECOND,
                          transient=True, redirect_stdout=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    @abstractmethod
    def render(self) -> Group:
        """The current view."""


class LiveView(_View):
    """A listener that shows the running phase."""

    def __init__(self, console: Console, steps: Sequence[Step] = ()) -> None:
        self._book, self._paced = PhaseBook(steps), False
        super().__init__(console)

    def __call__(self, event: Event) -> None:
        """Take one event; may be called from any thread."""
        if event.phase == RESUME:
            self._live.console.print(Text(resumed_text(event)))
            return
        with self._lock:
            self._book.take(event, time.monotonic())

    def render(self) -> Group:
        """The current view: the time since the start and the step; the amount done; rate and time left; bounds and
        figures."""
        with self._lock:
            now, phase = time.monotonic(), self._book.latest
            if phase is None:
                return Group()
            line = Table.grid(padding=(0, 2))
            for _ in range(2):
                line.add_column(no_wrap=True, overflow="ellipsis")
            line.add_row(_bar(phase, now), phase.pass_text(now) or phase.amount())
            # If the line shows a pass, the amount done in the phase follows its rate. Bounds start a line.
            pace = joined(phase.pace(now), phase.amount() if phase.pass_text(now) else "")
            first = Text(f"{format_seconds(round(now - self._began))}  {self._book.title()}", no_wrap=True,
                         overflow="ellipsis")
            self._paced = self._paced or bool(pace)  # its line remains, even if empty, so that lines do not jump
            texts = (*([pace or " "] if self._paced else []), self._book.facts_text())
            below = [Text(part) for text in texts if text
                     for part in by_parts(text, max(1, self._console.width - _ECHO_WIDTH)) or [" "]]
        return Group(first, line, *below)


def _bar(phase: ShownPhase, now: float) -> ProgressBar:
    """A bar that fills if the total is known, and otherwise pulses."""
    done, total = phase.share() or (0, None)
    return ProgressBar(total=total, completed=done, width=_BAR_WIDTH, pulse=total is None, animation_time=now)


class NightView(_View):
    """A listener for a batch: a table of running and waiting jobs; finished jobs scroll away above it, with their
    answers, in the same columns."""

    def __init__(self, console: Console, steps: Sequence[Step] = ()) -> None:
        self._lines: list[Any] = []
        self._done, self._total, self._width = 0, 0, 0
        super().__init__(console)

    def __call__(self, event: Event) -> None:
        """Take one event; may be called from any thread."""
        with self._lock:
            if event.kind == "jobs":
                self._lines, self._done, self._total = event.facts[LINES], event.done or 0, event.total or 0
                self._width = max([self._width, *(len(line.job) for line in self._lines)])
                return
        if event.finished and OUTCOME in event.facts:
            facts, job = event.facts, event.phase.partition(" ")[0]
            with self._lock:
                self._lines, self._done = [line for line in self._lines if line.job != job], self._done + 1
            row = self._table()
            self._add(row, job, facts[OUTCOME], facts.get(ANSWER, ""), facts.get(SECONDS, 0.0), facts.get(PEAK))
            self._live.console.print(row)
            self._live.refresh()  # the view below the row is from before

    def render(self) -> Group:
        """The current table, and a line for the batch."""
        with self._lock:
            lines, done, total = self._lines, self._done, self._total
        table = self._table()
        for line in lines[:_MOST_JOBS]:
            self._add(table, *line)
        if len(lines) > _MOST_JOBS:
            table.add_row("", "", f"and {len(lines) - _MOST_JOBS:,} more", "", "")
        if not total:
            return Group(table)
        seconds = format_seconds(round(time.monotonic() - self._began))
        return Group(table, Text(f"{done:,} of {total:,} jobs have ended, {seconds}", style="dim"))

    def _table(self) -> Table:
        """An empty table whose columns are always the same."""
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=min(self._width, _WIDEST_NAME, self._console.width // 4), no_wrap=True)
        table.add_column(width=_STATE_WIDTH, no_wrap=True)
        table.add_column(ratio=1)
        table.add_column(width=_TIME_WIDTH, no_wrap=True, justify="right")
        table.add_column(width=_PEAK_WIDTH, no_wrap=True, justify="right")
        return table

    def _add(self, table: Table, job: str, state: str, answer: str, seconds: float, peak: int | None) -> None:
        # Two to three lines of an answer; the table at the end of the batch has all of it.
        text = shorten(answer, max(20, 2 * self._console.width // 3), placeholder=" ...")
        table.add_row(Text(job), Text(state), Text(text), format_seconds(seconds) if seconds else "",
                      "" if peak is None else format_size(peak))
