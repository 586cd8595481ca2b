"""`emdiam tradeoff`: the cost of better approximations on a store."""

from __future__ import annotations

from typing import Any

import click

from ..errors import StoppedEarly
from . import options
from .listener import answered
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.STORE
@options.of("tradeoff")
def command(**values: Any) -> int:
    """Compare the costs and results of approximations.

    Every method, with every number of masters and every seed, is a run in a separate process, with all of --memory.
    DIR gets the result of each run as it ends, tradeoff.csv, tradeoff.json, table.md, and plots if matplotlib is
    installed. The same command continues one that was stopped.

    Exit code 3: a run failed or was stopped; the table says which and why.
    """
    from ..report.tradeoff import check_used, options_of, tradeoff
    from ..report.tradeoff_table import markdown_text

    check_used(options.passed(values))
    result = answered(values, lambda listener: tradeoff(values["store"], values["out"], options_of(values), listener),
                      lambda result: markdown_text(result).rstrip("\n"))
    return 0 if result.complete else StoppedEarly.exit_code
