"""Choosing how progress is shown: a live view on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..progress import Listener, silent
from .heartbeat import Heartbeat
from .output import complain


@contextmanager
def listening(*, quiet: bool, log_interval: float) -> Iterator[Listener]:
    """A listener for the library's `progress` argument; everything goes to standard error.

    quiet : show nothing. log_interval : seconds between lines where stderr is no terminal.
    """
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
