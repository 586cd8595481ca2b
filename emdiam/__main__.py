"""The `emdiam` command, also as `python -m emdiam`."""

from __future__ import annotations

import atexit
import gc
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

# Allocations between searches for cyclic garbage: imports make 50,000 permanent objects, and Python would search them
# after every 700 allocations (20 ms), or after every 10,000 (6 ms).
_NEW_OBJECTS = 100_000
# Python stores frames in pieces of 16 KiB, and maps and unmaps a piece whenever a call crosses the end of another one,
# which happens 1,000 times in nested imports (5 ms). A frame with this number of entries gets a piece of 1 MiB, which
# has room for all calls inside it.
_ENTRIES = 1 << 16


def _with_room(work: Callable[[], NoReturn]) -> NoReturn:
    work()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=_ENTRIES)


def _command() -> NoReturn:
    from .cli.main import main as run
    from .cli.process import end_process

    atexit.register(end_process)
    run()


def main() -> NoReturn:
    """Entry point of the console script."""
    # Before the command installs its own handling, and after it has ended, Ctrl-C ends the process like SIGTERM,
    # without a traceback of Python's imports or shutdown.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_NEW_OBJECTS)
    _with_room(_command)


if __name__ == "__main__":
    main()
