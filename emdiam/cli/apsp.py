"""`emdiam apsp`: distances between all pairs of vertices of a store."""

from __future__ import annotations

from typing import Any

import click

from ..units import format_count, format_size
from . import options
from .answer_lines import memory_lines, seconds_line
from .checkpoint import running
from .outcome import EmdiamCommand


@click.command(cls=EmdiamCommand)
@options.GRAPH
@options.of("apsp")
def command(**values: Any) -> int:
    """Write the distances between all pairs of vertices.

    n vertices take 4 n^2 bytes of disk (8 n^2 if distances are large or floats); --memory limits the part in memory. A
    matrix that does not fit is refused, with a remedy.
    """
    with running("apsp", values, pairs_text) as (solve, end):
        end(solve())
    return 0


_WAYS = {"memory": "in memory", "disk": "{tiles} of {edge} x {edge} on disk", "strips": "{tiles} of {edge} rows"}


def pairs_text(result: dict[str, Any], verbose: bool = False) -> str:
    """Lines for a result of `AllPairs.to_dict()`."""
    n, unit = result["n_vertices"], "tile" if result["where"] == "disk" else "strip"
    way = _WAYS[result["where"]].format(tiles=format_count(result["tiles"], unit), edge=result["tile_edge"])
    lines = [
        f"largest distance: {result['largest_distance']:,}",
        f"pairs: {n * n - n - result['unreachable_pairs']:,} with a path, {result['unreachable_pairs']:,} without",
        f"matrix: {n:,} x {n:,} of {result['dtype']}, {format_size(result['matrix_bytes'])}, in {result['out']}",
        f"method: {result['method']}, {way}; {_lengths(result)}",
    ]
    return "\n".join([*lines, seconds_line(result), *memory_lines(result, verbose)])


def _lengths(result: dict[str, Any]) -> str:
    """The kind of distances."""
    what = f"sums of {result.get('weight') or 'weights'}" if result["weighted"] else "every edge has the length 1"
    return what + (", arcs have directions" if result["directed"] else "")
