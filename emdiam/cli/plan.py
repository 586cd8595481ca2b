"""`emdiam plan`: what a run would take, before it starts."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .device import chosen_device
from .listener import listening
from .outcome import EmdiamCommand
from .output import emit, emit_json


@click.command(cls=EmdiamCommand)
@options.STORE
@options.stacked(options.memory, options.arena)
@click.option("--method", type=click.Choice(options.METHODS + options.APPROXIMATIONS), default="pivots",
              show_default=True, help="Method of exact or approx to plan for.")
@options.batch
@click.option("--masters", metavar="M", help="Masters of clusters, as for `emdiam approx`. [default: auto]")
@click.option("--euler", flag_value=True, default=None, help="clusters with an Euler tour.")
@options.stacked(options.threads, options.device, options.as_json, options.progress)
def command(**given: Any) -> int:
    """Show what a run would take, without running it.

    The memory plan of `emdiam exact` or `emdiam approx`, phase by phase. A budget that cannot work is
    refused with the numbers and exit code 2.
    """
    from ..api_approx import ApproxRun, plan_approx
    from ..api_exact import ExactRun, plan
    from ..approx.masters import one_item

    switches = {name: given[name] for name in ("batch", "masters", "euler") if given[name] is not None}
    if "masters" in switches:
        switches["masters"] = one_item(switches["masters"])
    shared = {"method": given["method"], "memory_bytes": given["memory"], "arena_bytes": given["arena"],
              "threads": given["threads"], "switches": switches, "device": chosen_device(given["device"])}
    with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
        if given["method"] in options.APPROXIMATIONS:
            planned = plan_approx(given["store"], ApproxRun(**shared), listener).to_dict()
        else:
            planned = plan(given["store"], ExactRun(**shared), listener).to_dict()
    if given["as_json"]:
        emit_json(planned)
    else:
        from .plan_text import plan_text

        emit(plan_text(planned))
    return 0
