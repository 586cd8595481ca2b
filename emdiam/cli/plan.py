"""`emdiam plan`: what a run would take, before it starts."""

from __future__ import annotations

from typing import Any

import click

from ..stream.probe import PROBE_SECONDS
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
@click.option("--probe", type=options.DURATION, metavar="TIME", default=f"{PROBE_SECONDS:.0f}s", show_default=True,
              help="Look at the graph for at most so long, by four BFS at the arena of the plan.")
@click.option("--no-probe", is_flag=True, help="Do not look at the graph: predict from its size alone.")
@options.stacked(options.threads, options.device, options.as_json, options.progress)
def command(**given: Any) -> int:
    """Show what a run would take, without running it.

    A table over all methods: memory probably and at most, memory of a GPU, temporary files, and how
    often the edges are read. With --method, the memory plan of that one, phase by phase. A budget that
    cannot work is refused with the numbers and exit code 2; in the table only if it works for no method.

    The plan is a promise. What is predicted is a forecast, after four BFS that show what the graph is like:
    graphs differ.
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
    from ..forecast import forecast_of
    from ..methods.approx.masters import one_item
    from ..store.store import open_store

    switches = _switches(given)
    if "masters" in switches:
        switches["masters"] = one_item(switches["masters"])
    shared = {**_shared(given), "method": given["method"], "switches": switches}
    if given["method"] in options.APPROXIMATIONS:
        planned = plan_approx(given["store"], ApproxRun(**shared), listener)
    else:
        planned = plan(given["store"], ExactRun(**shared), listener)
    with open_store(given["store"]) as store:
        seconds, probe = _probe_seconds(given), None
        if seconds is not None:
            from ..probe import probe_store

            probe = probe_store(store, seconds, memory_bytes=given["memory"], arena_bytes=given["arena"],
                                threads=given["threads"], method=given["method"], switches=switches)
        forecast = forecast_of(store, given["method"], planned, switches, probe)
    return {**planned.to_dict(), "forecast": forecast.to_dict(), "probe": None if probe is None else probe.to_dict()}


def _table(given: dict[str, Any], listener: Any) -> dict[str, Any]:
    """All methods. Raises InputError for an option of one alone, and if the budget does for none."""
    from ..api_plan import plan_all
    from ..errors import BudgetError, InputError
    from ..store_run import StoreRun

    for name in _switches(given):
        raise InputError("an option of single methods", text=f"--{name}", remedy="name one with --method")
    found = plan_all(given["store"], StoreRun(method=ALL, **_shared(given)), progress=listener,
                     probe_seconds=_probe_seconds(given))
    if all(planned.plan is None for planned in found):
        raise BudgetError(f"no method can work with so little memory; {found[0].method}: {found[0].refused}")
    probe = next((planned.probe for planned in found if planned.probe is not None), None)
    return {"methods": [planned.to_dict() for planned in found], "probe": None if probe is None else probe.to_dict()}


def _probe_seconds(given: dict[str, Any]) -> float | None:
    """How long to look at the graph; None: not at all. On a GPU nobody looks, since the forecast is that of the CPU."""
    return None if given["no_probe"] or given["device"] != "cpu" else float(given["probe"])


def _switches(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("batch", "masters", "euler") if given[name] is not None}


def _shared(given: dict[str, Any]) -> dict[str, Any]:
    return {"memory_bytes": given["memory"], "arena_bytes": given["arena"], "threads": given["threads"],
            "device": chosen_device(given["device"])}
