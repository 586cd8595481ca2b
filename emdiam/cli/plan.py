"""`emdiam plan`: what a run would take, before it starts."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .device import chosen_device
from .listener import listening
from .outcome import EmdiamCommand
from .output import emit, emit_json

ALL = "all"


@click.command(cls=EmdiamCommand)
@options.STORE
@options.stacked(options.memory, options.arena)
@click.option("--method", type=click.Choice((ALL, *options.METHODS, *options.APPROXIMATIONS)), default=ALL,
              show_default=True, help="Method of exact or approx to plan for, or a table over all of them.")
@options.batch
@click.option("--masters", metavar="M", help="Masters of clusters, as for `emdiam approx`. [default: auto]")
@click.option("--euler", flag_value=True, default=None, help="clusters with an Euler tour.")
@options.stacked(options.threads, options.device, options.as_json, options.progress)
def command(**given: Any) -> int:
    """Show what a run would take, without running it.

    A table over all methods: memory at most and probably, memory of a GPU, temporary files, and how
    often the edges are read. With --method, the memory plan of that one, phase by phase. A budget that
    cannot work is refused with the numbers and exit code 2; in the table only if it works for no method.

    The plan is a promise. What is expected is a forecast: graphs differ.
    """
    with listening(quiet=given["quiet"], log_interval=given["log_interval"]) as listener:
        answer = _table(given, listener) if given["method"] == ALL else _one(given, listener)
    if given["as_json"]:
        emit_json(answer)
    else:
        from .plan_text import plan_text, table_text

        emit(table_text(answer) if given["method"] == ALL else plan_text(answer))
    return 0


def _one(given: dict[str, Any], listener: Any) -> dict[str, Any]:
    """The plan of one method as a dict, its forecast in it."""
    from ..api_approx import ApproxRun, plan_approx
    from ..api_exact import ExactRun, plan
    from ..approx.masters import one_item
    from ..forecast import forecast_of
    from ..graph.store import open_store

    switches = _switches(given)
    if "masters" in switches:
        switches["masters"] = one_item(switches["masters"])
    shared = {**_shared(given), "method": given["method"], "switches": switches}
    if given["method"] in options.APPROXIMATIONS:
        planned = plan_approx(given["store"], ApproxRun(**shared), listener)
    else:
        planned = plan(given["store"], ExactRun(**shared), listener)
    with open_store(given["store"]) as store:
        forecast = forecast_of(store, given["method"], planned, switches)
    return {**planned.to_dict(), "forecast": forecast.to_dict()}


def _table(given: dict[str, Any], listener: Any) -> dict[str, Any]:
    """All methods. Raises InputError for an option of one alone, and if the budget does for none."""
    from ..api_plan import plan_all
    from ..errors import BudgetError, InputError
    from ..store_run import StoreRun

    for name in _switches(given):
        raise InputError("an option of single methods", text=f"--{name}", remedy="name one with --method")
    found = plan_all(given["store"], StoreRun(method=ALL, **_shared(given)), progress=listener)
    if all(planned.plan is None for planned in found):
        raise BudgetError(f"no method can work with so little memory; {found[0].method}: {found[0].refused}")
    return {"methods": [planned.to_dict() for planned in found]}


def _switches(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("batch", "masters", "euler") if given[name] is not None}


def _shared(given: dict[str, Any]) -> dict[str, Any]:
    return {"memory_bytes": given["memory"], "arena_bytes": given["arena"], "threads": given["threads"],
            "device": chosen_device(given["device"])}
