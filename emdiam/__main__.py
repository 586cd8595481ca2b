"""The `emdiam` command, also as `python -m emdiam`."""

from __future__ import annotations

import gc
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# New objects after which Python looks for cycles of garbage: imports make 50,000 that stay, and it would look through
# them after every 700 (20 ms).
_NEW_OBJECTS = 10_000


def main() -> NoReturn:
    """Entry point of the console script."""
    # Until the command has its own way of stopping, and after it has ended, Ctrl-C ends the process as SIGTERM does,
    # without the traceback of whatever Python imports or takes down just then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.set_threshold(_NEW_OBJECTS)
    from .cli.main import main as run

    run()


if __name__ == "__main__":
    main()
