"""A parallel search from every vertex, as two steps a round: relax the arcs of the frontier, then take over what fell.

Each round relaxes all arcs out of the vertices whose distance fell in the round before, into new distances beside those
that the round reads; then these take over, and who fell is the next frontier. On a graph without weights this is BFS.
As published each vertex has a mark that says whether it is in the frontier, and each round looks at all of them; here
the frontier is a list, since a round of a few vertices is not to cost n. Work: m a search without weights; with weights
an arc is relaxed as often as its tail falls. Bytes a vertex and thread: 17 to 25.
Source: Harish and Narayanan, Accelerating Large Graph Algorithms on the GPU Using CUDA (2007), Algorithms 2 to 5.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...traverse.atomics import atomic_add


@kernel
def search_frontiers(offsets, heads, costs, first, part, infinity, turn):
    """part[i] = distances from vertex first + i. costs : of one or all arcs. turn : int64[1], rows that were taken."""
    n = len(offsets) - 1
    fallen = np.empty(n, part.dtype)
    marked = np.zeros(n, np.bool_)
    frontier, following = np.empty(n, np.int64), np.empty(n, np.int64)
    taken = atomic_add(turn, 0, 1)
    while taken < len(part):
        distance = part[taken]
        fallen[:] = infinity
        distance[first + taken] = 0
        fallen[first + taken] = 0
        frontier[0] = first + taken
        size = 1
        while size:
            count = 0
            for q in range(size):
                v = frontier[q]
                for p in range(offsets[v], offsets[v + 1]):
                    u = np.int64(heads[p])
                    new = distance[v] + costs[p]
                    if new < fallen[u]:
                        fallen[u] = new
                        if not marked[u]:
                            marked[u] = True
                            following[count] = u
                            count += 1
            for q in range(count):
                marked[following[q]] = False
                distance[following[q]] = fallen[following[q]]
            frontier, following = following, frontier
            size = count
        taken = atomic_add(turn, 0, 1)
