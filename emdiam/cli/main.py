"""The `emdiam` command: a group that imports a subcommand only when it is named.

`emdiam --help` must answer at once. So this module and the top of a command's module import none of numpy, numba, zarr,
pyarrow and rich; a command imports the library inside its body.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from .._version import __version__
from ..runs.options import NAMES
from .outcome import HELP, USER_FAULT, Suggesting, run
from .output import complain
from .process import (
    allow_many_files,
    exit_with,
    fill_closed_streams,
    hide_warnings_of_libraries,
    own_process,
    settle_malloc,
    settle_start,
    stopping_on_signals,
)

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = ("convert", "apply", "reorder", "info", "plan", "exact", "approx", "ecc", "distances", "sssp", "apsp",
            "tradeoff", "verify", "generate", "batch", "report", "warmup")
# A shell requests completions with this variable (docs/commands/README.md).
COMPLETE = "_EMDIAM_COMPLETE"
_SHORT = 100  # letters of a command's short help


class LazyGroup(Suggesting):
    """A group that finds command NAME as the attribute `command` of the module emdiam.cli.NAME. The name of a command's
    function in Python works, too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of a user's work, not alphabetical."""
        return list(COMMANDS)

    def all_names(self, ctx: click.Context) -> list[str]:
        """See Suggesting."""
        return [*COMMANDS, *NAMES]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completions of a word: names of commands, and options."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=command.get_short_help_str(_SHORT)) for name in self.all_names(ctx)
                 if name.startswith(incomplete) and (command := self.get_command(ctx, name)) is not None]
        return named + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command once, with all its names, the longest first."""
        rows = []
        for name in COMMANDS:
            command = self.get_command(ctx, name)
            assert command is not None
            names = [name, *(other for other, of in NAMES.items() if of == name)]
            rows.append((", ".join(sorted(names, key=len, reverse=True)), command.get_short_help_str(_SHORT)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None for an unknown name."""
        name = NAMES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        command = import_module(f"emdiam.cli.{name}").command
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
    """Entry point of the console script: run the command line and exit with its code."""
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
    exit_with(code)
