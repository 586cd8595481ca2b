"""`emdiam ecc`: the eccentricity of every vertex of a store.

The text answer shows radius and diameter first, then centre and periphery, then the cost."""

from __future__ import annotations

from typing import Any

import click

from ..decimals import agreed
from ..tables import table_text
from ..units import format_count
from . import options
from .answer_lines import (
    ROUNDED_REASON,
    certificate_lines,
    device_lines,
    diameter_lines,
    largest_text,
    memory_lines,
    proved_text,
    seconds_line,
    strong_lines,
    task_lines,
    traversals_line,
    vertices_text,
)
from .checkpoint import running
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("ecc")
def command(**values: Any) -> int:
    """Compute the eccentricity of every vertex.

    The eccentricity of a vertex is its distance to the vertex of its component that is farthest from it. Radius and
    centre (the smallest eccentricity, and its vertices), diameter and periphery (the largest, and its vertices) are of
    the largest component.

    Ctrl-C and --time-limit print the results so far and end with exit code 3; --out then has a lower and an upper bound
    for every vertex.
    """
    with running("ecc", values, result_text) as (solve, end):
        end(solve())
    return 0


_IDS_SHOWN = 8  # of a centre or periphery
_ROWS_SHOWN = 24  # of the histogram


def result_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for an answer, from `to_dict()` of an EccentricityResult or a DirectedEccentricities."""
    lines = (_arc_lines if "n_strong_components" in result else _edge_lines)(result)
    lines += [*task_lines(result), *certificate_lines(result)]
    if result["out"] is not None:
        lines.append(f"eccentricities: in {result['out']}")
    return "\n".join([*lines, traversals_line(result), *device_lines(result, verbose), seconds_line(result),
                      *memory_lines(result, verbose)])


def _edge_lines(result: dict[str, Any]) -> list[str]:
    """Radius and diameter, centre and periphery."""
    lines = [f"radius: {_radius(result)}", *_set_lines("centre", result["center"])]
    if result["connected"] is False:
        lines.append(f"radius, centre and periphery: those of {largest_text(result)}")
    if result["details"].get("what", "all") == "all":
        lines += [line for line in diameter_lines(result) if not line.startswith("connected")]
        lines += _set_lines("periphery", result["periphery"])
        if result["unresolved"]:
            lines.append(f"eccentricities: {result['n_vertices'] - result['unresolved']:,} proved; of"
                         f" {format_count(result['unresolved'], 'vertex', 'vertices')} the bounds differ")
        lines += _histogram_lines(result["histogram"], result.get("histogram_width"))
    return lines


def _arc_lines(result: dict[str, Any]) -> list[str]:
    """The same along arcs."""
    reason = ROUNDED_REASON if result["details"].get("rounded_to") else "stopped early"
    lines = strong_lines(result, proved_text(result["lower"], result["upper"], reason))
    if result["radius"] is not None:
        lines += [f"radius: {_proved(result['radius'])}", *_set_lines("centre", result["center"])]
    return [*lines, *_set_lines("periphery", result["periphery"]),
            *_histogram_lines(result["histogram"], result["histogram_width"])]


def _radius(result: dict[str, Any]) -> str:
    """The radius, or its proved interval if weights were rounded."""
    if not result["details"].get("rounded_to"):
        return _proved(result["radius"])
    lower, upper = result["details"]["interval_radius"]
    if lower == upper:
        return _proved(lower)
    digits = agreed(lower, upper)
    return f"{f'{digits}, ' if digits else ''}{lower:,} to {upper:,} (proved bounds; {ROUNDED_REASON})"


def _proved(value: int | None) -> str:
    return "not proved" if value is None else f"{value:,} (proved)"


def _set_lines(name: str, vertices: dict[str, Any] | None) -> list[str]:
    if vertices is None:
        return []
    ids = vertices_text(vertices["ids"][:_IDS_SHOWN])
    more = ", ..." if vertices["size"] > _IDS_SHOWN else ""
    return [f"{name}: {format_count(vertices['size'], 'vertex', 'vertices')}: {ids}{more}"]


def _histogram_lines(histogram: dict[str, int], width: float | None = None) -> list[str]:
    """A row for each eccentricity, if there are few, or for each range of this width."""
    if not 0 < len(histogram) <= _ROWS_SHOWN:
        return []
    head = "eccentricity" if width is None else "eccentricity from"
    return [table_text((head, "vertices"), [(value, f"{count:,}") for value, count in histogram.items()], left=())]
