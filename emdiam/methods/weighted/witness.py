"""Re-checking a longest shortest path of a weighted graph before it is told, by other code than found it.

Distances from its first end are searched anew, by Dijkstra's algorithm, and proved: no arc leads to a vertex in less
than its distance, so that none is too large; and along a path that is added up again, edge by edge, the weights sum up
to that of the second end, so that it is not too small.
"""

from __future__ import annotations

import numpy as np

from ...errors import EmdiamError
from ...jit import kernel
from ...sssp.dijkstra import dijkstra
from ...sssp.paths import SearchOptions
from ...sssp.rows import WeightedRows, unreached
from ..exact.witness import REPORT
from .search import Longest
from .units import Units


def checked_path(rows: WeightedRows, units: Units, longest: Longest, options: SearchOptions) -> list[int]:
    """The vertices of a shortest path between the ends of the longest distance. Raises EmdiamError if anything does not
    hold (a fault of ours)."""
    paths = dijkstra(rows, longest.source, options)
    found = int(units.counted(paths.distances[[longest.target]])[0])
    if found != longest.length:
        raise EmdiamError(f"the second search finds {units.length(found)} in place of"
                          f" {units.length(longest.length)}: {REPORT}")
    if first_shorter(rows.offsets, rows.heads, rows.costs, paths.distances, unreached(paths.distances.dtype)) >= 0:
        raise EmdiamError(f"the distances from the witness are not distances: {REPORT}")
    path = paths.path_to(rows, longest.target)
    if path is None:
        raise EmdiamError(f"no path joins the witness: {REPORT}")
    return path


@kernel
def first_shorter(offsets, heads, costs, distances, none):  # type: ignore[no-untyped-def]
    """The first vertex with an arc to one whose distance is larger than by its weight, -1 if there is none; an arc
    from a vertex that is reached to one that is not is such an arc."""
    for v in range(len(offsets) - 1):
        if distances[v] == none:
            continue
        for p in range(offsets[v], offsets[v + 1]):
            if distances[v] + costs[p] < distances[np.int64(heads[p])]:
                return v
    return -1
