"""The `emdiam` command: a group whose subcommands are imported only when they are named.

`emdiam --help` must answer at once, so nothing here (or at the top of a command's module) imports
numpy, numba, zarr, pyarrow or rich; a command imports the library inside its body.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from .._version import __version__
from .outcome import HELP, USER_FAULT, Suggesting, run
from .output import complain
from .process import (
    allow_many_files,
    fill_closed_streams,
    hide_warnings_of_libraries,
    own_process,
    settle_malloc,
    settle_start,
    spare_the_end,
    stopping_on_signals,
)

COMMANDS = ("convert", "reorder", "info", "plan", "exact", "approx", "ecc", "distances", "sssp", "apsp", "tradeoff",
            "verify", "generate", "batch", "report", "warmup")
# By this variable a shell asks for completions (docs/commands/README.md).
COMPLETE = "_EMDIAM_COMPLETE"


class LazyGroup(Suggesting):
    """A group that finds command NAME as the attribute `command` of the module emdiam.cli.NAME."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of a user's work, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None for a name that is none of ours."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"emdiam.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings=HELP)
@click.version_option(__version__, prog_name="emdiam", message="%(prog)s %(version)s")
def group() -> None:
    """Diameters of graphs that fit neither in RAM nor in VRAM.

    First `emdiam convert` an edge list into a store (or `emdiam generate` one), then ask `emdiam exact` for its
    diameter. Sizes are written like 512MB or 4GiB, counts like 1000000, 1e6 or 2^20.

    Exit codes: 0 answered, 2 the input or the options are at fault, 3 stopped early with the bounds proved so far, 1 a
    fault of emdiam itself. The answer goes to standard output (as one JSON object with --json), progress and errors to
    standard error.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Entry point of the console script: run the command line and leave with its exit code."""
    fill_closed_streams()
    settle_malloc()
    settle_start()
    allow_many_files()
    hide_warnings_of_libraries()
    completing = os.environ.get(COMPLETE)
    if completing:
        from click.shell_completion import shell_complete

        sys.exit(shell_complete(group, {}, "emdiam", COMPLETE, completing))
    own_process()
    code: int | None = None
    try:
        with stopping_on_signals():
            code = run(group, list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # just before the command began, or just after it ended
        if code is None:
            complain("emdiam: stopped by the user")
            code = USER_FAULT
    spare_the_end()
    sys.exit(code)
