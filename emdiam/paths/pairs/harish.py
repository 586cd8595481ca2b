"""A parallel search from every vertex, with two steps a round: relax the arcs of the frontier, then update distances.

A round relaxes all arcs out of the vertices whose distances fell in the round before, into a second array of distances;
then the second array replaces the first, and the vertices whose distances fell are the next frontier. Without weights
this is BFS. In the published form each vertex has a mark for the frontier, and each round reads all marks; here the
frontier is a list, so that a round with few vertices does not cost n.
Work: m a search without weights; with weights an arc is relaxed each time that the distance of its tail falls. Bytes a
vertex and thread: 17 to 25.
Source: Harish and Narayanan, Accelerating Large Graph Algorithms on the GPU Using CUDA (2007), Algorithms 2 to 5.

All pairs row by row: a search from every vertex, each on one thread.

A method has a kernel that fills rows of the matrix from `first` on: row i has the distances from vertex first + i. The
graph is in memory, and a few rows of the matrix.

Dijkstra's algorithm from every vertex, settling many vertices at once.

A waiting vertex with distance d is settled as soon as d <= D, the least d(u) + o(u) of all waiting vertices u, with the
least weight o(u) of an arc out of u: no path that leaves a waiting vertex is shorter than D. A round relaxes the arcs
out of all vertices that are settled at once, computes D, and settles the next ones; each step is a kernel, as
published. With equal weights a round is a level of BFS. Weights must not be negative. Work: m, and a pass over all
waiting vertices a round. Bytes a vertex and thread: 17; 4 or 8 a vertex for o.
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

# About this number of arcs is scanned between two calls of the listener.
_AT_ONCE = 1 << 26


class Searches:
    """A search from every vertex. search : kernel (offsets, heads, costs, first, part, infinity, turn) that sets row i
    of `part` to the distances from vertex first + i; turn : int64[1], 0, counts rows that threads have taken."""

    def __init__(self, rows: WeightedRows, lengths: Lengths, threads: Threads, tick: Tick, search: Any) -> None:
        self._rows, self._lengths, self._threads, self._tick, self._search = rows, lengths, threads, tick, search
        self._costs = self._widened(rows.costs)

    def _widened(self, costs: np.ndarray) -> np.ndarray:
        """Costs for the kernel: of the dtype of distances, so that few kernels are compiled."""
        return costs.astype(self._lengths.dtype)

    def fill(self, first: int, strip: np.ndarray) -> None:
        """Set strip[i] to the distances from vertex first + i, dtype[k, n]; infinity of `lengths` without a path."""
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
        """Postprocess computed rows."""


@kernel
def search_frontiers(offsets, heads, costs, first, part, infinity, turn):
    """Set part[i] to the distances from vertex first + i. costs : of all arcs, or one for all. turn : int64[1], counts
    rows that threads have taken."""
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
    """Set part[i] to the distances from vertex first + i. turn : int64[1], counts rows that threads have taken."""
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
