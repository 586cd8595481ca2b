"""The answer of `emdiam exact` for people: connectedness first, then the diameter and its proof."""

from __future__ import annotations

from typing import Any

from ..units import format_size
from .forecast_text import forecast_lines
from .memory_text import memory_lines
from .options import LONGEST_SHOWN_PATH
from .phases import bounds_text, seconds_text
from .workers_text import worker_lines

_ENDS = 4  # ids shown at either end of a path that is too long for a line
_REASONS = {
    "gap": "an interval: as close as --gap asks for",
    "bounds": "an interval: --bounds-only",
    "sources": "an interval: all that so many sources prove",
}
_REMOVED = ("winnow", "eliminate", "chain", "degree_0")


def result_text(result: dict[str, Any]) -> str:
    """Lines for the result of an exact method, as `Result.to_dict()` gives it (the path may have
    been taken out of the witness)."""
    lines = [*_diameter_lines(result), _bounds_line(result), *_witness_lines(result["witness"])]
    if result.get("certificate") is not None:
        lines.append(f"certificate: in {result['certificate']}; check it with `emdiam verify`")
    lines += [traversals_line(result), *_published_lines(result), *_removed_lines(result), *device_lines(result)]
    return "\n".join([*lines, seconds_line(result), *memory_lines(result), *forecast_lines(result)])


def _diameter_lines(result: dict[str, Any]) -> list[str]:
    components = result["n_components"]
    unproved = "not proved yet" if _reason(result) is None else "not proved"
    if result["connected"]:
        value = f"diameter: {result['diameter']}" if result["exact"] else f"diameter: {unproved}"
        return ["connected: yes", value]
    if result["connected"] is None:
        return ["connected: not known yet", "diameter: not proved yet",
                f"diameter of the largest component: {_largest_interval(result)}"]
    lines = [f"connected: no, {components:,} components", f"diameter: infinite ({components:,} components)"]
    for name, key in (("of the largest component", "diameter_largest_component"),
                      ("largest over all components", "diameter_max_component")):
        value = result[key]
        if value is None:
            value = unproved
            if key == "diameter_largest_component":
                value = _largest_interval(result)
        lines.append(f"diameter {name}: {value}")
    return lines


def _largest_interval(result: dict[str, Any]) -> str:
    """What is proved of the component with the most vertices."""
    interval = bounds_text(*result["details"]["interval_largest_component"])
    return interval if _reason(result) is not None else f"not proved yet, {interval}"


def _reason(result: dict[str, Any]) -> str | None:
    """Why an answer is an interval, if it is one."""
    enough = result.get("details", {}).get("enough")
    return None if enough is None else _REASONS[enough]


def _bounds_line(result: dict[str, Any]) -> str:
    place = " over all components" if result["connected"] is False else ""
    proof = "proved" if result["exact"] else _reason(result) or "stopped early"
    return f"bounds{place}: {bounds_text(result['lower'], result['upper'])} ({proof})"


def _witness_lines(witness: dict[str, Any] | None) -> list[str]:
    if witness is None:
        return []
    lines = [f"witness: {witness['source']} and {witness['target']} are {witness['length']} edges apart"]
    if witness.get("path_file") is not None:
        lines.append(f"path: in {witness['path_file']}, one vertex a line")
    elif witness["path"] is not None:
        lines.append(f"path: {_short(witness['path'])}")
    elif witness["length"] >= LONGEST_SHOWN_PATH:
        lines.append(f"path: of {witness['length'] + 1:,} vertices, too long to show;"
                     " write it with --path FILE")
    return lines


def _short(path: list[Any]) -> str:
    ids = [str(vertex) for vertex in path]
    if len(ids) <= 3 * _ENDS:
        return ", ".join(ids)
    return f"{', '.join(ids[:_ENDS])}, ..., {', '.join(ids[-_ENDS:])} (all with --path FILE or --json)"


def traversals_line(result: dict[str, Any]) -> str:
    """How many traversals of which kind, and what they looked at."""
    done = result["traversals"]
    counts = f"{done['bfs']:,} BFS"
    if done["multi_source"]:
        counts += f", {done['multi_source']:,} multi-source ({done['multi_source_sources']:,} sources)"
    if done["partial"]:
        counts += f", {done['partial']:,} partial"
    return (f"traversals: {counts}, for {result['n_vertices']:,} vertices and {result['n_edges']:,} edges;"
            f" {result['edges_scanned']:,} arcs scanned, {format_size(result['bytes_read'])} read")


def _published_lines(result: dict[str, Any]) -> list[str]:
    """The count that papers give, of a method that makes more BFS than they count."""
    count = result.get("details", {}).get("published_count")
    return [] if count is None else [f"BFS as papers count them: {count:,}, without those of the double sweeps"]


def _removed_lines(result: dict[str, Any]) -> list[str]:
    shares = result.get("details", {}).get("removed")
    if not shares:
        return []
    parts = [f"{name.replace('_', ' ')} {100 * shares[name]:.2f} %" for name in _REMOVED if name in shares]
    return ["vertices settled without a BFS: " + ", ".join(parts)]


def device_lines(result: dict[str, Any]) -> list[str]:
    """What traversals ran on, where that is not plainly the CPU of this process."""
    return worker_lines(result) if result["device"] == "cpu" else [f"device: {result['device']}"]


def seconds_line(result: dict[str, Any]) -> str:
    """Wall time in total and by part."""
    seconds = result["seconds"]
    parts = [f"{name} {seconds_text(value)}" for name, value in seconds.items() if name != "total"]
    return f"time: {seconds_text(seconds['total'])} ({', '.join(parts)})"

