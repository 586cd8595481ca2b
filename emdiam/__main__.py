"""The `emdiam` command, also as `python -m emdiam`."""

from __future__ import annotations

import gc
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

# New objects after which Python looks for cycles of garbage: imports make 50,000 that stay, and it would look through
# them after every 700 (20 ms), or after every 10,000 (6 ms).
_NEW_OBJECTS = 100_000
# Python has frames in pieces of 16 KiB, and maps and unmaps one whenever a call crosses the end of another, as those of
# imports within imports do 1,000 times (5 ms). A frame that asks for so many entries has a piece of 1 MiB, in which
# there is room for all calls within.
_ENTRIES = 1 << 16


def _with_room(work: Callable[[], NoReturn]) -> NoReturn:
    work()


_with_room.__code__ = _with_room.__code__.replace(co_stacksize=_ENTRIES)


def _command() -> NoReturn:
    from .cli.main import main as run

    run()


def main() -> NoReturn:
    """Entry point of the console script."""
    # Until the command has its own way of stopping, and after it has ended, Ctrl-C ends the process as SIGTERM does,
    # without the traceback of whatever Python imports or takes down just then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_NEW_OBJECTS)
    _with_room(_command)


if __name__ == "__main__":
    main()
