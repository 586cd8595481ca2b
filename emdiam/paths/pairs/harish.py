"""A parallel search from every vertex, as two steps a round: relax the arcs of the frontier, then take over what fell.

Each round relaxes all arcs out of the vertices whose distance fell in the round before, into new distances beside those
that the round reads; then these take over, and who fell is the next frontier. On a graph without weights this is BFS.
As published each vertex has a mark that says whether it is in the frontier, and each round looks at all of them; here
the frontier is a list, since a round of a few vertices is not to cost n. Work: m a search without weights; with weights
an arc is relaxed as often as its tail falls. Bytes a vertex and thread: 17 to 25.
Source: Harish and Narayanan, Accelerating Large Graph Algorithms on the GPU Using CUDA (2007), Algorithms 2 to 5.

All pairs row by row: a search from every vertex, each by one thread; what searches share.

A method gives a kernel that fills rows of the matrix from `first` on: row i has the distances from vertex first + i.
The graph is in memory, of the matrix only the rows at hand are.

Dijkstra's algorithm from every vertex with many vertices settled at once.

A vertex that waits with distance d is settled as soon as d <= D, where D is the least d(u) + o(u) of all vertices u
that wait, and o(u) the least weight out of u: no path that leaves a waiting vertex can be shorter than D. Each round
relaxes the arcs out of all that are settled at once, finds D, and settles the next; that is one kernel each, as
published. Where all weights are equal a round is a level of BFS. Weights must not be negative.
Work: m, and a look at all that wait in every round. Bytes a vertex and thread: 17; 4 or 8 a vertex for o.
Source: Ortega-Arranz, Torres, Llanos and Gonzalez-Escribano (2013), after Crauser, Mehlhorn, Meyer and Sanders (1998).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...jit import kernel
from ...progress import Tick
from ...stream.threads import Threads
from ...traverse.atomics import atomic_add
from ..rows import WeightedRows
from .arcs import Lengths

# Arcs that are looked at between two looks at the listener, about.
_AT_ONCE = 1 << 26


class Searches:
    """A search from every vertex. search : kernel (offsets, heads, costs, first, part, infinity, turn): row i of `part`
    gets the distances from vertex first + i; turn : int64[1], 0, counts the rows that were taken."""

    def __init__(self, rows: WeightedRows, lengths: Lengths, threads: Threads, tick: Tick, search: Any) -> None:
        self._rows, self._lengths, self._threads, self._tick, self._search = rows, lengths, threads, tick, search
        self._costs = self._widened(rows.costs)

    def _widened(self, costs: np.ndarray) -> np.ndarray:
        """Costs as the kernel takes them: of the dtype of distances, so that there are few kernels."""
        return costs.astype(self._lengths.dtype)

    def fill(self, first: int, strip: np.ndarray) -> None:
        """strip[i] = distances from vertex first + i, dtype[k, n]; infinity of `lengths` where no path is."""
        rows, infinity = self._rows, strip.dtype.type(self._lengths.infinity)
        step = max(4 * self._threads.compute, _AT_ONCE // max(1, rows.n_arcs))
        for begin in range(0, len(strip), step):
            part, turn = strip[begin : begin + step], np.zeros(1, np.int64)
            part.fill(infinity)
            task = partial(self._search, rows.offsets, rows.heads, self._costs, first + begin, part, infinity, turn)
            self._threads.everywhere(task, len(part))
            self._after(first + begin, part)
            self._tick()

    def _after(self, first: int, part: np.ndarray) -> None:
        """What is done to rows that are found."""


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


@kernel
def search_crauser(offsets, heads, costs, first, part, infinity, turn):
    """part[i] = distances from vertex first + i. turn : int64[1], rows that were taken."""
    n = len(offsets) - 1
    least = np.empty(n, part.dtype)
    for v in range(n):
        least[v] = infinity
        for p in range(offsets[v], offsets[v + 1]):
            if costs[p] < least[v]:
                least[v] = costs[p]
    waits = np.zeros(n, np.bool_)
    waiting, settled = np.empty(n, np.int64), np.empty(n, np.int64)
    taken = atomic_add(turn, 0, 1)
    while taken < len(part):
        distance = part[taken]
        distance[first + taken] = 0
        settled[0] = first + taken
        n_settled, n_waiting = 1, 0
        while n_settled:
            for q in range(n_settled):
                v = settled[q]
                for p in range(offsets[v], offsets[v + 1]):
                    u = np.int64(heads[p])
                    new = distance[v] + costs[p]
                    if new < distance[u]:
                        distance[u] = new
                        if not waits[u]:
                            waits[u] = True
                            waiting[n_waiting] = u
                            n_waiting += 1
            bound = infinity
            for q in range(n_waiting):
                bound = min(bound, distance[waiting[q]] + least[waiting[q]])
            n_settled, rest = 0, 0
            for q in range(n_waiting):
                u = waiting[q]
                if distance[u] <= bound:
                    waits[u] = False
                    settled[n_settled] = u
                    n_settled += 1
                else:
                    waiting[rest] = u
                    rest += 1
            n_waiting = rest
        taken = atomic_add(turn, 0, 1)
