"""`emdiam plan`: the memory and reads of a run, before it starts.

The text of a plan shows first the peak, as a sum, then the state of each phase; or a table of all methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..errors import BudgetError, InputError
from ..runs.registry import ALL
from ..tables import table_text
from ..units import format_seconds, format_size
from . import options
from .inputs import opened
from .listener import listening
from .outcome import EmdiamCommand
from .output import answer

if TYPE_CHECKING:
    from ..runs.plan import Planned


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("plan")
def command(**values: Any) -> int:
    """Show the memory and the reads of a run, without running it.

    A table of all methods: the predicted peak of memory, the planned peak, memory of a GPU, temporary files, and how
    often the edges are read. With --method, the memory plan of that method, phase by phase. A --memory that is too
    small is refused with the numbers and exit code 2; in the table only if it is too small for every method.

    A planned peak is a promise. Predicted figures are a forecast, from four BFS that show how the graph is shaped;
    along arcs and weights the peak is the planned one, and reads are the least possible.
    """
    from ..api import plan
    from ..methods.approx.masters import one_item

    over_all, asked = values["method"] == ALL, options.passed(values, "store", "probe", "no_probe", "weight")
    for name in ("batch", "masters", "euler"):
        if over_all and name in asked:
            raise InputError("an option of single methods", text=f"--{name}", remedy="name one with --method")
    if "masters" in asked:
        asked["masters"] = one_item(asked["masters"])
    asked["weighted"] = bool(values["weighted"] or values["weight"])
    probe = {name: value for name, value in options.passed(values).items() if name == "probe"}
    if values["no_probe"]:
        if probe:
            raise InputError("--probe and --no-probe exclude each other", remedy="leave one of both out")
        probe = {"probe": None}
    if values["device"] != options.CPU:
        asked["device"] = options.chosen_device(values["device"])
    with listening(values) as listener, opened("plan", values, listener) as (store, _):
        planned = plan(store, **probe, **asked)
    answer(_all(planned) if over_all else _one(planned[0]), methods_text if over_all else plan_text, values["as_json"])
    return 0


def _one(planned: Planned) -> dict[str, Any]:
    """The plan of a method as a dict, with its forecast."""
    assert planned.plan is not None and planned.forecast is not None
    return {**planned.plan.to_dict(), "forecast": planned.forecast.to_dict(),
            "probe": None if planned.probe is None else planned.probe.to_dict(), **_locality(planned),
            "comparison": None if planned.comparison is None else planned.comparison.to_dict(),
            "vram": None if planned.vram is None else planned.vram.to_dict()}


def _all(methods: list[Planned]) -> dict[str, Any]:
    """The plans of all methods. Raises BudgetError if the budget suffices for no method."""
    if all(planned.plan is None for planned in methods):
        raise BudgetError(f"no method can work with so little memory; {methods[0].method}: {methods[0].refused}")
    probe = next((planned.probe.to_dict() for planned in methods if planned.probe is not None), None)
    probed = next((planned for planned in methods if planned.locality is not None), methods[0])
    return {"methods": [planned.to_dict() for planned in methods], "probe": probe, **_locality(probed)}


def _locality(planned: Planned) -> dict[str, Any]:
    """The reads of a BFS of the probe, with a text."""
    found = planned.locality
    return {"locality": None if found is None else {**found.to_dict(), "text": str(found)}}


_LARGEST_PER_VERTEX = 1000
_PROBE_BFS = 5  # with loading and columns
_HEAD = ("method", "planned peak", "predicted peak", "least --memory", "VRAM", "temporary files", "reads of all edges",
         "bytes read")


def plan_text(plan: dict[str, Any]) -> str:
    """Lines for a plan of `MemoryPlan.to_dict()`, with its forecast if it has one."""
    state = max(phase["bytes"] for phase in plan["phases"])
    sizes = {"program": plan["base_bytes"], "vertex state": state,
             "reserve": plan["reserve_bytes"], "buffers": plan["buffer_bytes"],
             "batches and columns": plan["pool_bytes"], "arena": plan["arena_bytes"],
             "row offsets": plan["starts_bytes"]}
    parts = " + ".join(f"{format_size(size)} {name}" for name, size in sizes.items() if size)
    forecast = plan.get("forecast")
    lines = [f"planned peak: {format_size(plan['planned_rss_bytes'])} = {parts}"]
    if forecast is not None:
        often = "once" if forecast["certain"] else f"{_reads(forecast)} times"
        lines += [f"predicted peak: {format_size(forecast['predicted_rss_bytes'])}",
                  f"predicted to read: {_bytes(forecast)}, all edges {often}",
                  f"temporary files: {_scratch(forecast)}",
                  f"memory of a GPU that holds the graph: {format_size(forecast['vram_bytes'])}", *_vram_lines(plan)]
    return "\n".join([
        *lines,
        *_limit_lines(plan),
        f"least --memory that works: {format_size(plan['minimum_bytes'])}{_in_memory(plan)}",
        *_probe_lines(plan), *_order_lines(plan, plan.get("comparison")),
        table_text(("phase", "bytes a vertex", "vertex state"), [
            # On a tiny graph fixed sizes dominate, and bytes per vertex mean nothing.
            [phase["name"], f"{per:.2f}" if (per := phase["bytes_per_vertex"]) < _LARGEST_PER_VERTEX else "-",
             format_size(phase["bytes"])] for phase in plan["phases"]], left=(0,)),
    ])


def _in_memory(plan: dict[str, Any]) -> str:
    """How the least memory depends on the graph and on the place of vertex state."""
    least, narrow, wide = plan["minimum_bytes"], plan.get("narrow_bytes", 0), plan.get("wide_bytes", 0)
    if not narrow:
        return ""
    if narrow == least:
        return ""
    if narrow < least:
        return f" ({format_size(narrow)} where distances are short and the graph is connected)"
    most = f", or up to {format_size(wide)} where distances are long" if narrow < wide else ""
    return f", with vertex state on disk; in memory {format_size(narrow)}{most}"


def methods_text(answer: dict[str, Any]) -> str:
    """A table with a row per method, then facts of all methods and reasons for refusals. answer : as printed by `emdiam
    plan --json`."""
    planned = [method for method in answer["methods"] if method["plan"] is not None]
    table = table_text(_HEAD, [_row(method) for method in planned], left=(0,))
    refused = [f"{method['method']}: {method['refused']}" for method in answer["methods"] if method["plan"] is None]
    notes = [] if all(method["forecast"]["certain"] for method in planned) else [
        "reads of a streamed run depend on the graph: at least the first figure, "
        + ("about the second" if answer.get("probe") else
           "about the second on graphs of small diameter, up to the third on those that were measured")]
    first = planned[0]
    return "\n".join([table, *_limit_lines(first["plan"], f" ({first['method']})"), *_probe_lines(answer),
                      *_order_lines(answer, first.get("comparison"), f" ({first['method']})"), *notes, *refused])


def _limit_lines(plan: dict[str, Any], method: str = "") -> list[str]:
    """The budget, and the place of the edges under it. method : " (METHOD)", if there are several."""
    return [f"memory limit: {format_size(plan['memory_limit_bytes'])}", f"edges{method}: {_edges(plan)}"]


def _row(method: dict[str, Any]) -> tuple[str, ...]:
    plan, forecast = method["plan"], method["forecast"]
    return (method["method"], format_size(plan["planned_rss_bytes"]), format_size(forecast["predicted_rss_bytes"]),
            format_size(plan["minimum_bytes"]), _vram(method),
            _scratch(forecast), _reads(forecast), _bytes(forecast))


def _vram(method: dict[str, Any]) -> str:
    """The GPU memory for a graph that is completely there; with "(paged)" if the actual GPU is too small for that."""
    there = method["vram"]
    paged = "" if there is None or there["resident"] else " (paged)"
    return format_size(method["forecast"]["vram_bytes"]) + paged


def _vram_lines(plan: dict[str, Any]) -> list[str]:
    """The memory plan of the GPU of this run; nothing on the CPU."""
    vram = plan.get("vram")
    if vram is None:
        return []
    edges = ("edges stay there" if vram["resident"] else
             f"edges come in pages, {vram['kept_pages']:,} of them stay; the least --vram is"
             f" {format_size(vram['least_bytes'])}")
    return [f"memory of this GPU: {format_size(vram['planned_bytes'] - vram['pool_bytes'])} and up to"
            f" {format_size(vram['pool_bytes'])} for batches, of {format_size(vram['limit_bytes'])}; {edges}"]


def _probe_lines(answer: dict[str, Any]) -> list[str]:
    """The results of the probe; nothing in a plan without a forecast."""
    if "probe" not in answer:
        return []
    probe = answer["probe"]
    if probe is None:
        return [f"probe: none; predictions are for usual graphs of this size{_longer(answer.get('locality'))}"]
    reads = f"; a BFS reads all edges {probe['reads']:,.1f} times" if probe["reads"] else ""
    seconds = format_seconds(max(0.01, probe["seconds"]))
    return [f"probe: four BFS in {seconds}; the diameter is at least {probe['lower_bound']:,}"
            f"{reads}"]


def _longer(locality: dict[str, Any] | None) -> str:
    """The time that a probe would need if it was too short, estimated from the BFS that it started."""
    if locality is None:
        return ""
    minutes = int(_PROBE_BFS * locality["seconds"] // 60) + 1
    return f"; --probe {minutes}min is enough to look at this one"


def _order_lines(answer: dict[str, Any], comparison: dict[str, Any] | None, method: str = "") -> list[str]:
    """The locality of the ids, and the cost of the run with the store unchanged and with reordering first."""
    locality = answer.get("locality")
    if locality is None:
        return []
    lines = [f"order: {locality['text']}"]
    if comparison is not None:
        whole, alone = (format_seconds(comparison[f"{name}_seconds"]) for name in ("reordered", "reorder"))
        lines += [
            f"as it is{method}: about {format_seconds(comparison['as_it_is_seconds'])},"
            f" {format_size(comparison['as_it_is_bytes'])} read",
            f"reordered first{method}: about {whole}, {alone} of them to reorder;"
            f" {format_size(comparison['reordered_bytes'])} read and written"
            + ("; a run does so by itself" if comparison["pays"] else "")]
    return lines


def _scratch(forecast: dict[str, Any]) -> str:
    return f"up to {format_size(forecast['scratch_bytes'])}" if forecast["scratch_bytes"] else "none"


def _reads(forecast: dict[str, Any]) -> str:
    if forecast["certain"]:
        return f"{forecast['reads']:,.0f}"
    if forecast["least_reads"] == forecast["reads"]:
        return f"at least {forecast['reads']:,.0f}"
    most = "" if forecast["most_reads"] is None else f" (up to {forecast['most_reads']:,.0f})"
    return f"{forecast['least_reads']:,.1f} to {forecast['reads']:,.1f}{most}"


def _bytes(forecast: dict[str, Any]) -> str:
    least, predicted = forecast["least_bytes_read"], forecast["predicted_bytes_read"]
    if predicted is None:
        return "not known" if least is None else f"at least {format_size(least)}"
    return format_size(predicted) if forecast["certain"] else f"{format_size(least)} to {format_size(predicted)}"


def _edges(plan: dict[str, Any]) -> str:
    if plan["disk_bytes"]:
        return (f"vertex state on disk, up to {format_size(plan['disk_bytes'])} of scratch files;"
                f" {plan['arena_blocks']:,} of {plan['n_blocks']:,} blocks in the arena at a time")
    if plan["in_ram"]:
        return f"in RAM; the arena holds all blocks ({plan['n_blocks']:,})"
    share = 100 * plan["arena_blocks"] / plan["n_blocks"]
    return (f"streamed, {plan['arena_blocks']:,} of {plan['n_blocks']:,} blocks ({share:.0f} %) in the arena"
            " at a time")
