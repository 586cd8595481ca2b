"""Re-checking a longest shortest path of a weighted graph before it is told.

Distances from its first end are searched anew, in RAM by Dijkstra's algorithm, and proved: no arc leads to a vertex in
less than its distance, so that none is too large; and along a path that is added up again, edge by edge, the weights
sum up to that of the second end, so that it is not too small.
"""

from __future__ import annotations

import numpy as np

from ...errors import EmdiamError
from ...jit import kernel
from ...paths.arcs import Arcs
from ...paths.rows import unreached
from ..witness import REPORT
from .search import Longest
from .units import Units


def checked_path(arcs: Arcs, units: Units, longest: Longest) -> list[int]:
    """The vertices of a shortest path between the ends of the longest distance. Raises EmdiamError if anything does not
    hold (a fault of ours)."""
    distances = arcs.again(longest.source)
    found = int(units.counted(distances[[longest.target]])[0])
    if found != longest.length:
        raise EmdiamError(f"the second search finds {units.length(found)} in place of"
                          f" {units.length(longest.length)}: {REPORT}")
    none = unreached(distances.dtype)
    if any(first_shorter(*piece, distances, none) >= 0 for piece in arcs.pieces()):
        raise EmdiamError(f"the distances from the witness are not distances: {REPORT}")
    path = _path(arcs.forest(distances, np.array([longest.source])), longest)
    if path[0] != longest.source or _length(arcs, path) != distances[longest.target]:
        raise EmdiamError(f"no path joins the witness: {REPORT}")
    return path


def _path(before: np.ndarray, longest: Longest) -> list[int]:
    """From the second end as far back as it goes, in the order from the first one."""
    path = [longest.target]
    while path[-1] != longest.source and len(path) <= len(before) and before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    path.reverse()
    return path


def _length(arcs: Arcs, path: list[int]) -> int | float:
    """The weights along a path, added up; -1 if it has an edge that there is not."""
    after = np.full(arcs.n_vertices, -1, np.int64)
    after[path[:-1]] = path[1:]
    weights = np.full(arcs.n_vertices, unreached(arcs.distance_dtype), arcs.distance_dtype)
    found = sum(weigh_path(*piece, after, weights) for piece in arcs.pieces())
    return weights[path[:-1]].sum().item() if found == len(path) - 1 else -1


@kernel
def first_shorter(first, offsets, heads, costs, distances, none):
    """The first vertex with an arc to one whose distance is larger than by its weight, -1 if there is none; an arc
    from a vertex that is reached to one that is not is such an arc."""
    for i in range(len(offsets) - 1):
        v = first + i
        if distances[v] == none:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            if distances[v] + costs[p] < distances[np.int64(heads[p])]:
                return v
    return -1


@kernel
def weigh_path(first, offsets, heads, costs, after, weights):
    """weights[v] = that of the arc from v to after[v], where that is 0 or more; how many there are in this piece."""
    found = 0
    for i in range(len(offsets) - 1):
        v = first + i
        if after[v] < 0:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            if np.int64(heads[p]) == after[v]:
                weights[v] = costs[p]
                found += 1
    return found
