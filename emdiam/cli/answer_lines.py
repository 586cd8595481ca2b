"""Lines shared by several answers: the proved diameter, then traversals, device, workers, time and memory.

An answer shows first the result, then its proof, then its cost. With --verbose it also shows the plan and the
predictions.

Lines about a store: its size, the treatment of the input, directions and ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..decimals import Number, agreed
from ..kernel_progress import Spent
from ..progress import bounds_text, joined
from ..units import SHORTEST_SHOWN, format_count, format_seconds, format_size
from .process import process_seconds

MOST_IDS = 12
ROUNDED_REASON = "sums of these weights have more digits than 64 bits"


def diameter_lines(result: dict[str, Any], reason: str = "") -> list[str]:
    """The diameter or its proved bounds, and whether the graph is connected. reason : why the bounds are no closer, or
    empty."""
    connected, components = result["connected"], result["n_components"]
    if result.get("details", {}).get("rounded_to"):
        reason = ROUNDED_REASON
    proved = proved_text(result["lower"], result["upper"], reason)
    if connected:
        return [f"diameter: {proved}", "connected: yes"]
    largest = result["diameter_largest_component"]
    if largest is None or connected is None:  # the proved bounds of the component with the most vertices
        interval = proved_text(*result["details"]["interval_largest_component"])
    else:
        interval = proved_text(largest, largest)
    lines = [f"largest diameter of any component: {proved}", f"diameter of {largest_text(result)}: {interval}"]
    if connected is None:
        return [*lines, "connected: not known yet"]
    return [f"diameter: infinite ({components:,} components)", *lines]


def largest_text(result: dict[str, Any]) -> str:
    """The component with the most vertices, in words: another one may have as many."""
    several = result.get("details", {}).get("several_largest_components")
    return "the largest component" + (" (one of several of this size)" if several else "")


def vertices_text(ids: Sequence[Any]) -> str:
    """Ids of a path or a set, in quotes if they have commas; without the middle of a long list."""
    texts = [f'"{one}"' if "," in str(one) else str(one) for one in ids]
    return ", ".join(texts if len(ids) <= MOST_IDS else [*texts[:MOST_IDS // 3], "...", *texts[-MOST_IDS // 3:]])


def strong_lines(result: dict[str, Any], proved: str) -> list[str]:
    """The proved bounds on distances along arcs, and the number of strong components."""
    number = result["n_strong_components"]
    if number is None:
        return [f"largest finite distance: {proved}", "strongly connected: not known yet"]
    if number == 1:
        return [f"diameter: {proved}", "strongly connected: yes"]
    return [f"diameter: infinite ({number:,} strong components)", f"largest finite distance: {proved}"]


def task_lines(result: dict[str, Any]) -> list[str]:
    """The kind of distances, unless they are numbers of edges."""
    if not result.get("weighted"):
        return []
    name, kind = result.get("weight"), result.get("weights")
    rounded = result.get("details", {}).get("rounded_weights")
    lines = [f"weights: {rounded:,} of the input were rounded to the nearest float64"] if rounded else []
    return [*lines, f"distances: sums of {name or 'weights'}" + (f" ({kind})" if kind and not name else "")]


def proved_text(lower: Number, upper: Number, reason: str = "") -> str:
    """A diameter, or its bounds behind the digits on which two floats agree. reason : why the bounds are no closer, or
    empty."""
    if lower == upper:
        return f"{lower:,} (proved)"
    digits = agreed(lower, upper)
    why, first = f"; {reason}" if reason else "", f"{digits}, " if digits else ""
    return f"{first}{bounds_text(lower, upper)} (proved bounds{why})"


def worker_lines(result: dict[str, Any], verbose: bool) -> list[str]:
    """The number of workers, their balance, waits, exchanged bytes, memory and losses; nothing for a run in one
    process."""
    from ..phases import range_text

    details = result.get("details", {})
    workers = details.get("workers")
    if not workers:
        return []

    def largest(name: str) -> Any:
        return max(worker[name] for worker in workers)

    arcs = [worker["edges_scanned"] for worker in workers]
    mean = sum(arcs) / len(arcs)
    balance = f"; the busiest scanned {max(arcs) / mean:.2f} times the mean number of arcs" if mean else ""
    waits = [worker["wait_seconds"] for worker in workers]
    exchanged = sum(worker["payload_bytes"] + worker["fact_bytes"] for worker in workers)
    lines = [
        f"workers: {len(workers):,}{balance}",
        f"exchanged: {format_size(exchanged)} in {format_count(largest('rounds'), 'round')};"
        f" each worker waited {range_text(min(waits), max(waits))}",
        f"memory of a worker: peak {format_size(largest('peak_rss_bytes'))}"
        + (f", planned {format_size(largest('planned_rss_bytes'))}" if verbose else ""),
    ]
    losses = details.get("losses", ())
    if losses:
        seconds = sum(loss["seconds"] for loss in losses)
        lines.append(f"workers lost: {len(losses):,}; it took {format_seconds(seconds)} to go on")
    return lines


def certificate_lines(result: dict[str, Any]) -> list[str]:
    """The use of an earlier proof and the path of the certificate, each if requested."""
    file, earlier = result.get("certificate"), result.get("details", {}).get("earlier")
    lines = [] if earlier is None else [
        f"earlier proof: {format_count(earlier['found'], 'vertex', 'vertices')} of it in the graph, {earlier['gone']:,}"
        f" gone; {earlier['searched']:,} searched from"]
    return lines if file is None else [*lines, f"certificate: in {file}; check it with `emdiam verify`"]


def memory_lines(report: dict[str, Any], verbose: bool, more: str = "") -> list[str]:
    """A line with the peak, followed by `more`; if verbose, also the plan, the limit and the predictions, if known.
    Another line if the peak exceeded the limit."""
    peak, limit = report["peak_rss_bytes"], report["memory_limit_bytes"]
    planned = "".join(f", {word} {format_size(size)}" for word, size in (
        ("planned", report.get("planned_rss_bytes")), ("limit", limit)) if verbose and size is not None)
    lines = [f"memory: peak {format_size(peak)}{planned}{more}"]
    expected, read = report.get("expected_rss_bytes"), report.get("planned_bytes_read")
    if verbose and (expected or read is not None):
        lines.append("predicted: " + joined(f"peak {format_size(expected)}" if expected else "",
                                            "" if read is None else f"{format_size(read)} read"))
    if report.get("memory_limit_exceeded"):
        lines.append(f"warning: the peak passed --memory ({format_size(limit)}) by {format_size(peak - limit)}: this is"
                     " a fault of emdiam, please report it with the command line and the store")
    return lines


def traversals_line(result: dict[str, Any]) -> str:
    """The number of traversals of each kind, with the arcs scanned and bytes read."""
    done = result["traversals"]
    parts = [format_count(done["bfs"], "search", "searches") if result.get("weighted") else f"{done['bfs']:,} BFS"]
    if done["multi_source"]:
        parts.append(f"{done['multi_source']:,} multi-source ({format_count(done['multi_source_sources'], 'source')})")
    if done["partial"]:
        parts.append(f"{done['partial']:,} partial")
    counts = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    vertices, edges = format_count(result["n_vertices"], "vertex", "vertices"), format_count(result["n_edges"], "edge")
    return (f"traversals: {counts} for {vertices} and {edges}; {format_count(result['edges_scanned'], 'arc')} scanned,"
            f" {format_size(result['bytes_read'])} read")


def device_lines(result: dict[str, Any], verbose: bool) -> list[str]:
    """The device and the workers of the traversals, unless it was the CPU of this process."""
    device = [] if result["device"] == "cpu" else [f"device: {result['device']}"]
    return [*device, *worker_lines(result, verbose)]


def seed_lines(result: dict[str, Any]) -> list[str]:
    """The seed of the random choices, if the method has one."""
    return [] if result["seed"] is None else [f"seed: {result['seed']}"]


def seconds_line(result: dict[str, Any]) -> str:
    """The total wall time (the sum of the parts if the result has no total), and each part in the order of the work,
    with the compilation of kernels. In a process of the command line, the total is the time seen by the shell, with the
    start of the process as another part."""
    seconds, whole = dict(result["seconds"]), process_seconds()
    compiling = seconds.pop("compile", 0.0) if whole is None else Spent.compiling
    for name in ("compile", "startup"):  # startup is part of the parts
        seconds.pop(name, None)
    total = seconds.pop("total") if "total" in seconds else sum(seconds.values()) + compiling
    parts = {name: seconds.pop(name) for name in ("load",) if name in seconds} | seconds | {"compile": compiling}
    if whole is not None and whole > total:
        parts, total = {**parts, "start": whole - total}, whole
    text = seconds_text(parts)
    return f"time: {format_seconds(total)}" + (f" ({text})" if text else "")


def seconds_text(seconds: dict[str, float]) -> str:
    """Seconds by name, separated by commas, without parts too short to show."""
    return ", ".join(f"{name} {format_seconds(value)}" for name, value in seconds.items()
                     if value >= SHORTEST_SHOWN)


_ID_KINDS = {
    "identity": "0 to {last}, kept as they are", "offset": "{first} to {last}, kept with an offset",
    "int": "integers with gaps, relabelled; the map is in the store",
    "string": "strings, relabelled; the map is in the store",
}


def counts_line(store: str, record: dict[str, Any]) -> str:
    """The store and its size."""
    return (f"{store}: {format_count(record['n_vertices'], 'vertex', 'vertices')},"
            f" {format_count(record['n_edges'], 'arc' if record.get('directed') else 'edge')}")


def dropped_text(record: dict[str, Any]) -> str:
    """The numbers of dropped pairs, from a record or the result of `store_info`."""
    parts = [format_count(record[f"{name}s_dropped"], name) for name in ("loop", "duplicate")]
    if record.get("reverse_dropped") is not None:  # stores of older versions have no such count
        parts.append(format_count(record["reverse_dropped"], "reverse pair"))
    return f"dropped {', '.join(parts[:-1])} and {parts[-1]}"


def directions_text(record: dict[str, Any]) -> str | None:
    """The directions of the edges in the input, from a record with its `directions`; None if not known."""
    directions = record["directions"]
    if directions == "kept":
        return "kept: rows of arcs out, and those of their reverse"
    if directions == "both":
        return "every edge in both directions (symmetric)"
    if directions not in ("one", "mixed"):
        return None
    if not record["directed_input"]:
        return "undirected by its format"
    if directions == "one":
        return "one direction only"
    both = record["reverse_dropped"]
    return f"mixed: {format_count(both, 'edge')} in both directions, {record['n_edges'] - both:,} in one only"


def weights_lines(record: dict[str, Any]) -> list[str]:
    """The weights of the edges, from a record or the result of `store_info`; nothing for a store without weights."""
    weights = record.get("weights")
    if weights is None:
        return []
    from ..store.weights import WeightRecord

    several = weights["edges_with_several"]
    kept = f"; of {format_count(several, 'edge')} the least of several" if several else ""
    found = WeightRecord.from_dict(weights)
    ends, name = " to ".join(f"{end:,}" for end in found.ends), f"{found.name}, " if found.name else ""
    unit = f" in units of 10^-{found.decimals}" if found.decimals else ""
    return [f"weights: {name}{found.dtype}{unit}, {ends}, mean {found.mean / 10**found.decimals:.6g}{kept}"]


def ids_text(record: dict[str, Any]) -> str:
    """The kind of the user's ids and how they are stored, from id_kind, first_id and n_vertices."""
    first = record["first_id"]
    return _ID_KINDS[record["id_kind"]].format(first=first, last=first + record["n_vertices"] - 1)
