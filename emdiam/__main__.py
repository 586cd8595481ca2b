"""The `emdiam` command, also as `python -m emdiam`."""

from __future__ import annotations

import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Entry point of the console script."""
    # Until the command has its own way of stopping, and after it has ended, Ctrl-C ends the process as SIGTERM does,
    # without the traceback of whatever Python imports or takes down just then.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .cli.main import main as run

    run()


if __name__ == "__main__":
    main()
