"""What a conversion did, for people: what is in the store, what was dropped, what it took."""

from __future__ import annotations

from typing import Any

from ..units import format_size
from .memory_text import memory_lines
from .phases import seconds_text

_ID_KINDS = {
    "identity": "0 to {last}, kept as they are", "offset": "{first} to {last}, kept with an offset",
    "int": "integers with gaps, relabelled; the map is in the store",
    "string": "strings, relabelled; the map is in the store",
}


def report_text(report: dict[str, Any], store: str) -> str:
    """Lines for a report as `ConvertReport.to_dict()` or `GenerateReport.to_dict()` gives it."""
    record = report["record"]
    lines = [
        f"{store}: {record['n_vertices']:,} vertices, {record['n_edges']:,} edges",
        f"input: {record['source_format']}, {report['pairs_read']:,} pairs; {dropped_text(record)}",
        *_direction_lines({**record, "directions": report["directions"]}),
        f"ids: {ids_text(record)}",
        *_order_lines(record),
        *(f"note: {note}" for note in report["notes"]),
    ]
    if report.get("known_diameter") is not None:
        lines.append(f"diameter by formula: {report['known_diameter']}")
    return "\n".join(lines + _cost_lines(report))


def dropped_text(record: dict[str, Any]) -> str:
    """Which of the pairs were dropped, from a record or what `store_info` gives of it."""
    loops, duplicates = f"dropped {record['loops_dropped']:,} loops", f"{record['duplicates_dropped']:,} duplicates"
    reverse = record.get("reverse_dropped")
    return f"{loops} and {duplicates}" if reverse is None else f"{loops}, {duplicates} and {reverse:,} reverse pairs"


def directions_text(record: dict[str, Any]) -> str | None:
    """In which directions the edges came, from a record with its `directions`; None if that is not known."""
    directions = record["directions"]
    if directions == "both":
        return "every edge in both directions (symmetric)"
    if directions not in ("one", "mixed"):
        return None
    if not record["directed_input"]:
        return "undirected by its format"
    if directions == "one":
        return "one direction only"
    both = record["reverse_dropped"]
    return f"mixed: {both:,} edges in both directions, {record['n_edges'] - both:,} in one only"


def _direction_lines(record: dict[str, Any]) -> list[str]:
    text = None if record["source_format"].startswith("generated") else directions_text(record)
    return [] if text is None else [f"directions: {text}"]


def reorder_text(report: dict[str, Any], store: str) -> str:
    """Lines for a report as `ReorderReport.to_dict()` gives it."""
    record = report["record"]
    return "\n".join([
        f"{store}: {record['n_vertices']:,} vertices, {record['n_edges']:,} edges",
        f"order: {record['ordering']}",
        f"ids: {ids_text(record)}",
        *(f"note: {note}" for note in report["notes"]),
        *_cost_lines(report),
    ])


def _order_lines(record: dict[str, Any]) -> list[str]:
    return [] if record["ordering"] == "natural" else [f"order: {record['ordering']}"]


def _cost_lines(report: dict[str, Any]) -> list[str]:
    """What it took: time by phase, memory and disk."""
    seconds = report["seconds"]
    parts = ", ".join(f"{phase} {seconds_text(spent)}" for phase, spent in seconds.items())
    return [
        f"time: {seconds_text(sum(seconds.values()))} ({parts})",
        *memory_lines(report, f"; scratch on disk {format_size(report['scratch_bytes'])}"),
    ]


def ids_text(record: dict[str, Any]) -> str:
    """What the user's ids are and how they are kept, from id_kind, first_id and n_vertices."""
    first = record["first_id"]
    return _ID_KINDS[record["id_kind"]].format(first=first, last=first + record["n_vertices"] - 1)
