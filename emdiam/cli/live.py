"""Progress on a terminal: a line for the running phase and one for the bounds, kept up to date."""

from __future__ import annotations

import threading
import time

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..progress import Event, joined
from ..units import format_seconds
from .listener import RESUME, PhaseBook, ShownPhase, resumed_text

_BAR_WIDTH, _FRAMES_A_SECOND = 24, 4


class LiveView:
    """A listener that redraws itself; a context manager. The view goes when the work ends: the
    answer that follows on standard output says it all."""

    def __init__(self, console: Console) -> None:
        self._book, self._began, self._lock = PhaseBook(), time.monotonic(), threading.Lock()
        # Standard output stays untouched: it carries the answer, and may be a file.
        self._live = Live(get_renderable=self.render, console=console, refresh_per_second=_FRAMES_A_SECOND,
                          transient=True, redirect_stdout=False)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Take one event; may be called from any thread."""
        if event.phase == RESUME:
            self._live.console.print(Text(resumed_text(event)))
            return
        with self._lock:
            self._book.take(event, time.monotonic())

    def render(self) -> Group:
        """The view as it is now: the phase and the time since the start, the facts below."""
        with self._lock:
            now, phase = time.monotonic(), self._book.latest
            if phase is None:
                return Group()
            place, work = phase.pass_text(now), joined(phase.amount(), phase.pace(now))
            line = Table.grid(padding=(0, 2))
            for _ in range(2):
                line.add_column(no_wrap=True)
            line.add_row(format_seconds(now - self._began), phase.name, _bar(phase, now), place or work)
            # What the pass has pushed out of the first line comes behind the facts.
            below = joined(self._book.facts_text(), work if place else "")
        return Group(line, Text(below)) if below else Group(line)


def _bar(phase: ShownPhase, now: float) -> ProgressBar:
    """A bar that fills where the total is known and pulses where nobody can know it."""
    done, total = phase.share() or (0, None)
    return ProgressBar(total=total, completed=done, width=_BAR_WIDTH, pulse=total is None, animation_time=now)
