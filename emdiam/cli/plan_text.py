"""The memory plan for people: the sum first, then what each phase asks for; or a table over all methods."""

from __future__ import annotations

from typing import Any

from ..units import format_size

_MOST_PER_VERTEX = 1000
_HEAD = ("method", "predicted peak", "planned peak", "least memory", "VRAM", "temporary files", "reads of all edges",
         "bytes read")


def plan_text(plan: dict[str, Any]) -> str:
    """Lines for a plan as `MemoryPlan.to_dict()` gives it, with its forecast if there is one."""
    state = max(phase["bytes"] for phase in plan["phases"])
    sizes = {"program": plan["base_bytes"], "vertex state": state, "buffers": plan["buffer_bytes"],
             "batches and columns": plan["pool_bytes"], "arena": plan["arena_bytes"]}
    parts = " + ".join(f"{format_size(size)} {name}" for name, size in sizes.items() if size)
    lines = [
        f"memory limit: {format_size(plan['memory_limit_bytes'])}",
        *_peak_lines(plan.get("forecast")),
        f"planned peak: {format_size(plan['planned_rss_bytes'])} = {parts}",
        f"smallest limit that works: {format_size(plan['minimum_bytes'])}",
        f"edges: {_edges(plan)}",
        *_forecast_lines(plan.get("forecast")),
        *_probe_lines(plan),
        f"{'phase':<20} {'bytes a vertex':>14} {'vertex state':>14}",
    ]
    lines += [f"{phase['name']:<20} {_per_vertex(phase):>14} {format_size(phase['bytes']):>14}"
              for phase in plan["phases"]]
    return "\n".join(lines)


def table_text(answer: dict[str, Any]) -> str:
    """A row a method, and below it why some are refused; `answer` as `emdiam plan --json` prints it."""
    planned = [method for method in answer["methods"] if method["plan"] is not None]
    rows = [_HEAD, *(_row(method) for method in planned)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    table = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]
    plan = planned[0]["plan"]
    refused = [f"{method['method']}: {method['refused']}" for method in answer["methods"] if method["plan"] is None]
    notes = [] if all(method["forecast"]["certain"] for method in planned) else [
        "Reads of a streamed run depend on the graph: at least the first figure, "
        + ("about the second." if answer.get("probe") else "about the second on graphs of small diameter.")]
    return "\n".join([f"memory limit: {format_size(plan['memory_limit_bytes'])}", f"edges of {planned[0]['method']}:"
                      f" {_edges(plan)}", *_probe_lines(answer), *table, *notes, *refused])


def _row(method: dict[str, Any]) -> tuple[str, ...]:
    plan, forecast = method["plan"], method["forecast"]
    return (method["method"], format_size(forecast["predicted_rss_bytes"]), format_size(plan["planned_rss_bytes"]),
            format_size(plan["minimum_bytes"]), format_size(forecast["vram_bytes"]),
            f"up to {format_size(forecast['scratch_bytes'])}" if forecast["scratch_bytes"] else "none",
            _reads(forecast), _bytes(forecast))


def _peak_lines(forecast: dict[str, Any] | None) -> list[str]:
    return [] if forecast is None else [f"predicted peak: {format_size(forecast['predicted_rss_bytes'])}"]


def _probe_lines(answer: dict[str, Any]) -> list[str]:
    """What the probe found; none in a plan without a forecast."""
    if "probe" not in answer:
        return []
    probe = answer["probe"]
    if probe is None:
        return ["probe: none, so that the predictions are those of usual graphs of this size"]
    reads = f", a BFS reads all edges {probe['reads']:,.1f} times" if probe["reads"] else ""
    return [f"probe: four BFS in {probe['seconds']:.2g} s, the diameter is at least {probe['lower_bound']:,}{reads}"]


def _forecast_lines(forecast: dict[str, Any] | None) -> list[str]:
    if forecast is None:
        return []
    scratch = forecast["scratch_bytes"]
    return [
        f"predicted to read: {_bytes(forecast)}, all edges {_times(forecast)}",
        f"temporary files: {f'up to {format_size(scratch)}' if scratch else 'none'}",
        f"memory of a GPU that holds the graph: {format_size(forecast['vram_bytes'])}",
    ]


def _reads(forecast: dict[str, Any]) -> str:
    if forecast["certain"]:
        return f"{forecast['reads']:.0f}"
    return f"{forecast['least_reads']:,.1f} to {forecast['reads']:,.1f}"


def _times(forecast: dict[str, Any]) -> str:
    return "once" if forecast["certain"] else f"{_reads(forecast)} times"


def _bytes(forecast: dict[str, Any]) -> str:
    least, predicted = forecast["least_bytes_read"], forecast["predicted_bytes_read"]
    if predicted is None or least is None:
        return "not known"
    return format_size(predicted) if forecast["certain"] else f"{format_size(least)} to {format_size(predicted)}"


def _per_vertex(phase: dict[str, Any]) -> str:
    """Of a graph so small that fixed sizes outweigh its vertices, a share of a vertex says nothing."""
    per_vertex = phase["bytes_per_vertex"]
    return f"{per_vertex:.2f}" if per_vertex < _MOST_PER_VERTEX else "-"


def _edges(plan: dict[str, Any]) -> str:
    if plan["in_ram"]:
        return f"in RAM, the arena holds all blocks ({plan['n_blocks']:,})"
    share = 100 * plan["arena_blocks"] / plan["n_blocks"]
    return (f"streamed, {plan['arena_blocks']:,} of {plan['n_blocks']:,} blocks ({share:.0f} %) in the arena"
            " at a time")
