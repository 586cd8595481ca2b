"""`emdiam plan`: what a run would take, before it starts."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .listener import listening
from .outcome import EmdiamCommand
from .output import emit, emit_json


@click.command(cls=EmdiamCommand)
@options.STORE
@options.stacked(options.memory, options.arena)
@click.option("--method", type=click.Choice(options.METHODS), default="pivots", show_default=True,
              help="Method to plan for.")
@options.stacked(options.batch, options.threads, options.as_json, options.progress)
def command(**given: Any) -> int:
    """Show what a run would take, without running it.

    The memory plan of `emdiam exact`, phase by phase. A budget that cannot work is refused with
    the numbers and exit code 2.
    """
    from ..api_exact import ExactRun, plan

    run = ExactRun(method=given["method"], memory_bytes=given["memory"], arena_bytes=given["arena"],
                   threads=given["threads"],
                   switches={} if given["batch"] is None else {"batch": given["batch"]})
    with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
        planned = plan(given["store"], run, listener).to_dict()
    if given["as_json"]:
        emit_json(planned)
    else:
        from .plan_text import plan_text

        emit(plan_text(planned))
    return 0
