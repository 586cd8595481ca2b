"""The display of progress: a live view on a terminal, plain lines in a log, or nothing; and records in a file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from ..errors import NotWritten, StoppedEarly
from ..heartbeat import Heartbeat
from ..phases import Step, steps_of
from ..progress import Event, Listener, shared, silent
from ..runs.options import NAMES
from .inputs import is_input
from .options import EVENT_LOG
from .output import answer, complain


@contextmanager
def listening(values: Mapping[str, Any], view: str = "LiveView") -> Iterator[Listener]:
    """A listener for the library's `progress` argument. It writes to standard error, and to the file of --events if the
    running command has one. values : the options of the command, with quiet and log_interval (seconds between lines if
    standard error is not a terminal). view : the class of live.py for a terminal."""
    context = click.get_current_context(silent=True)
    log: Listener | None = None if context is None else context.meta.get(EVENT_LOG)
    quiet, interval = values["quiet"], values["log_interval"]
    with (_view(quiet, interval, () if quiet else _steps(context, values), view) as shown,
          _messages(quiet, shown, interval)):
        yield shown if log is None else shared(shown, log)


def _steps(context: click.Context | None, asked: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of the running command."""
    words = [] if context is None else context.command_path.split()[1:]
    if not words:
        return ()
    name, store = NAMES.get(words[0], words[0]), asked.get("store")
    of_file = isinstance(store, str) and name not in ("convert", "apply", "generate", "reorder") and is_input(store)
    return steps_of(name, asked, of_file)


@contextmanager
def _messages(quiet: bool, view: Listener, interval: float) -> Iterator[None]:
    """A context that sends the messages of the library's logger to standard error. The compilation of kernels is
    reported for the first one, and then every `interval` seconds; a view on a terminal shows all as a phase."""
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


def _view(quiet: bool, log_interval: float, steps: Sequence[Step], name: str) -> AbstractContextManager[Listener]:
    if quiet:
        return nullcontext(silent)
    if sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from rich.console import Console

        from .. import live

        view: AbstractContextManager[Listener] = getattr(live, name)(Console(file=sys.stderr), steps)
        return view
    return Heartbeat(complain, log_interval, steps)


def answered(values: Mapping[str, Any], work: Callable[[Listener], Any], text: Callable[[Any], str],
             view: str = "LiveView") -> Any:
    """Run `work` and print its answer: messages, then one JSON object or `text`. If it was stopped or its files could
    not be written, print the answer so far and raise the StoppedEarly or NotWritten again. view : see `listening`."""
    def show(result: Any) -> None:
        for message in result.messages:
            complain(f"emdiam: {message}")
        answer(result.to_dict(), lambda _: text(result), values["as_json"])

    try:
        with listening(values, view) as listener:
            result = work(listener)
    except (StoppedEarly, NotWritten) as end:
        show(end.result)
        raise
    show(result)
    return result
