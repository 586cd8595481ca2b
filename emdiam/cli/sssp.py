"""`emdiam sssp`: shortest paths from one vertex."""

from __future__ import annotations

from typing import Any

import click

from ..units import format_count, format_size
from . import options
from .answer_lines import memory_lines, seconds_line, vertices_text
from .checkpoint import running
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("sssp")
def command(**values: Any) -> int:
    """Find shortest paths from one vertex.

    Lengths are sums of the weights of a store. Without weights, edges have the length 1. In a store converted with
    --directed, paths follow the arcs.

    Weights below 0 are for bellman-ford, frontier-bellman-ford, workfront-sweep and h-bf, which show a cycle of
    negative weight if the graph has one. A GPU has auto, delta-stepping, sorted-buckets, near-far, workfront-sweep,
    h-bf, ortega, and all whose names begin with harish or end with pairs; workfront-sweep and harish take weights
    below 0.
    """
    with running("sssp", values, paths_text) as (solve, end):
        end(solve())
    return 0


def paths_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a result of `ShortestPaths.to_dict()`."""
    lines = [
        f"source: {result['source']}",
        f"reached: {result['reached']:,} of {format_count(result['n_vertices'], 'vertex', 'vertices')}",
        f"largest distance: {_number(result['largest_distance'])}, to {result['farthest']}",
    ]
    if result["target"] is not None:
        if result["path"] is None:
            lines.append(f"distance to {result['target']}: infinite (there is no path)")
        else:
            lines.append(f"distance to {result['target']}: {_number(result['distance'])}")
            lines.append(f"path ({format_count(len(result['path']) - 1, 'edge')}): {vertices_text(result['path'])}")
    name, kind = result.get("weight"), result["weights"]
    weights = (f"distances are sums of {name}" if name else
               "every edge has the length 1" if kind is None else f"weights are {kind}")
    way = ", streamed" if result["streamed"] else "" if result["device"] == "cpu" else f" on {result['device']}"
    lines.append(f"method: {result['method']}{way}; {weights}"
                 f"{', arcs have directions' if result['directed'] else ''}")
    if result["out"] is not None:
        lines.append(f"distances and predecessors: in {result['out']}")
    work = (f"work: {format_count(result['relaxations'], 'arc')} relaxed in {format_count(result['rounds'], 'round')},"
            f" {format_size(result['bytes_read'])} read")
    return "\n".join([*lines, work, seconds_line(result), *memory_lines(result, verbose)])


def _number(value: Any) -> str:
    """A distance as text, with all its digits."""
    return f"{value:,}"
