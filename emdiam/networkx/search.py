"""Breadth-first search over arrays in memory, in the order in which networkx meets vertices: first in, first out, and
neighbours in the order of their row. Kernels run without the interpreter's lock."""

from __future__ import annotations

import numpy as np

from ..jit import kernel


@kernel
def search(indptr: np.ndarray, indices: np.ndarray, limit: int, queue: np.ndarray, n_sources: int,
           distances: np.ndarray) -> int:
    """Search from the distinct vertices queue[:n_sources] up to the distance `limit`. Returns the number r of reached
    vertices, which are queue[:r] in the order in which the search met them.

    indptr : int64[n + 1]. indices : id[m], rows in any order, possibly with loops and duplicates. queue : id[n].
    distances : int64[n], all -1 before, and still -1 for unreached vertices afterwards.
    """
    n = len(distances)
    for place in range(n_sources):
        distances[queue[place]] = 0
    head, end = 0, n_sources
    while head < end < n:
        vertex = queue[head]
        head += 1
        further = distances[vertex] + 1
        if further > limit:
            break
        for arc in range(indptr[vertex], indptr[vertex + 1]):
            neighbour = indices[arc]
            if distances[neighbour] < 0:
                distances[neighbour] = further
                queue[end] = neighbour
                end += 1
    return end


@kernel
def eccentricities(indptr: np.ndarray, indices: np.ndarray, sources: np.ndarray, queue: np.ndarray,
                   distances: np.ndarray, out: np.ndarray) -> int:
    """out[i] = the largest distance from sources[i] (int64[k]), up to the first that does not reach all vertices;
    returns the number of results. out : int64[k]. Other arguments: as for `search`; all distances are -1 again
    afterwards."""
    n = len(distances)
    for i in range(len(sources)):
        queue[0] = sources[i]
        reached = search(indptr, indices, n, queue, 1, distances)
        out[i] = distances[queue[reached - 1]]
        for place in range(reached):
            distances[queue[place]] = -1
        if reached < n:
            return i
    return len(sources)


@kernel
def sum_of_inverses(indptr: np.ndarray, indices: np.ndarray, queue: np.ndarray, distances: np.ndarray) -> float:
    """The sum of 1 / d over all distances d between two vertices, source by source, by increasing distance. Arguments:
    as for `search`."""
    n, total = len(distances), 0.0
    for source in range(n):
        queue[0] = source
        reached = search(indptr, indices, n, queue, 1, distances)
        for place in range(1, reached):
            total += 1.0 / distances[queue[place]]
        for place in range(reached):
            distances[queue[place]] = -1
    return total


@kernel
def component_sizes(indptr: np.ndarray, indices: np.ndarray, queue: np.ndarray, distances: np.ndarray,
                    sizes: np.ndarray) -> None:
    """sizes[v] = the number of vertices of the component of v, int64[n]. Other arguments: as for `search`, without
    directions."""
    for vertex in range(len(distances)):
        if distances[vertex] < 0:
            queue[0] = vertex
            reached = search(indptr, indices, len(distances), queue, 1, distances)
            for place in range(reached):
                sizes[queue[place]] = reached
