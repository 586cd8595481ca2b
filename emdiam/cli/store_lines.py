"""What answers say of a store: its size, what became of the input, directions and ids."""

from __future__ import annotations

from typing import Any

from ..units import format_count

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
    """Which of the pairs were dropped, from a record or what `store_info` gives of it."""
    parts = [format_count(record[f"{name}s_dropped"], name) for name in ("loop", "duplicate")]
    if record.get("reverse_dropped") is not None:  # stores of older versions do not know
        parts.append(format_count(record["reverse_dropped"], "reverse pair"))
    return f"dropped {', '.join(parts[:-1])} and {parts[-1]}"


def directions_text(record: dict[str, Any]) -> str | None:
    """In which directions the edges came, from a record with its `directions`; None if that is not known."""
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
    """What weights the edges have, from a record or what `store_info` gives of it; nothing of a store without."""
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
    """What the user's ids are and how they are kept, from id_kind, first_id and n_vertices."""
    first = record["first_id"]
    return _ID_KINDS[record["id_kind"]].format(first=first, last=first + record["n_vertices"] - 1)
