"""Progress in Python: `progress=True` shows a bar in terminals and notebooks, and lines elsewhere.

In a notebook, calls that take more than two seconds show a bar by default. It is plain HTML of Jupyter and needs no
other package; a terminal has the view of the command line if rich is installed, else one line.
"""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from importlib.util import find_spec
from typing import Any

from .heartbeat import Heartbeat
from .phases import PhaseBook, Step, steps_of
from .progress import Event, Listener, by_parts, joined
from .units import format_seconds

PATIENCE_SECONDS, _APART_SECONDS, _LINE_SECONDS = 2.0, 0.25, 10.0
_WIDTH = 79  # of a terminal line


@contextmanager
def watching(progress: Listener | bool | None, command: str, options: Mapping[str, Any], of_file: bool = False
             ) -> Iterator[Listener | None]:
    """The listener that a caller asks for, for the duration of a call.

    progress : a listener; True: a view; False: none; None: a view in a notebook, if the call takes long. command,
    options : of the call. of_file : whether the call first makes a store of a graph.
    """
    notebook = notebook_display()
    if progress is False or (progress is None and notebook is None):
        yield None
    elif callable(progress):
        yield progress
    else:
        with _view(steps_of(command, options, of_file), notebook, 0.0 if progress else PATIENCE_SECONDS) as view:
            yield view


def notebook_display() -> Any:
    """IPython.display in a notebook, else None."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    if running is None or not hasattr(running, "kernel"):
        return None
    from IPython import display

    return display


def _view(steps: Sequence[Step], notebook: Any, patience: float) -> AbstractContextManager[Listener]:
    if notebook is not None:
        return NotebookView(notebook, steps, patience)
    if not sys.stderr.isatty():
        return Heartbeat(_print_line, _LINE_SECONDS, steps)
    if find_spec("rich") is None:
        return LineView(sys.stderr, steps)
    from rich.console import Console

    from .live import LiveView

    return LiveView(Console(file=sys.stderr), steps)


def _print_line(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class _Throttled(ABC):
    """Base of listeners that show progress at intervals; a context manager. clock : returns seconds; tests replace
    it."""

    def __init__(self, steps: Sequence[Step], patience: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._book, self._clock, self._lock = PhaseBook(steps), clock, threading.Lock()
        self._began = clock()
        self._next = self._began + patience

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self._end()

    def __call__(self, event: Event) -> None:
        """Take an event, from any thread."""
        with self._lock:
            now = self._clock()
            self._book.take(event, now)
            if now >= self._next:
                self._next = now + _APART_SECONDS
                self._show(now)

    def _parts(self, now: float) -> tuple[str, str]:
        """The step with the time since the start, and the figures."""
        phase = self._book.latest
        assert phase is not None, "there was an event"
        figures = joined(phase.amount(), phase.pace(now), phase.pass_text(now), self._book.facts_text())
        return f"{format_seconds(round(now - self._began))}  {self._book.title()}", figures

    @abstractmethod
    def _show(self, now: float) -> None:
        """Show the latest phase."""

    @abstractmethod
    def _end(self) -> None:
        """Remove the view."""


class LineView(_Throttled):
    """One terminal line that is overwritten, and removed at the end."""

    def __init__(self, stream: Any, steps: Sequence[Step], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(steps, 0.0, clock)
        self._stream, self._width = stream, 0

    def _show(self, now: float) -> None:
        text = by_parts(joined(*self._parts(now)), _WIDTH)[0].rstrip(",")
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def _end(self) -> None:
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()


class NotebookView(_Throttled):
    """A bar and two lines in the output of a cell, removed at the end."""

    def __init__(self, display: Any, steps: Sequence[Step], patience: float,
                 clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(steps, patience, clock)
        self._display, self._handle = display, None

    def _show(self, now: float) -> None:
        title, figures = map(escape, self._parts(now))
        phase = self._book.latest
        share = None if phase is None else phase.share()
        done = "" if share is None else f" value='{share[0]}' max='{share[1]}'"
        html = self._display.HTML(f"<div>{title}<br><progress{done}></progress> {figures}</div>")
        if self._handle is None:
            self._handle = self._display.display(html, display_id=True)
        else:
            self._handle.update(html)

    def _end(self) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))
