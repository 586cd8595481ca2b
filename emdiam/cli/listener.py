"""Choosing how progress is shown: a live view on a terminal, lines in a log, or nothing; and told to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from ..progress import Listener, shared, silent
from .heartbeat import Heartbeat
from .options import EVENT_LOG
from .output import complain


@contextmanager
def listening(*, quiet: bool, log_interval: float) -> Iterator[Listener]:
    """A listener for the library's `progress` argument; everything goes to standard error, and to the
    file of --events if the running command has one.

    quiet : show nothing. log_interval : seconds between lines where stderr is no terminal.
    """
    context = click.get_current_context(silent=True)
    log: Listener | None = None if context is None else context.meta.get(EVENT_LOG)
    with _showing(quiet, log_interval) as view:
        yield view if log is None else shared(view, log)


@contextmanager
def _showing(quiet: bool, log_interval: float) -> Iterator[Listener]:
    if quiet:
        yield silent
    elif sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from rich.console import Console

        from .live import LiveView

        with LiveView(Console(file=sys.stderr)) as view:
            yield view
    else:
        with Heartbeat(complain, log_interval) as heartbeat:
            yield heartbeat
