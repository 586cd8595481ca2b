"""Johnson's algorithm: potentials make all weights 0 or more, then Dijkstra's algorithm from every vertex.

With w'(u, v) = w(u, v) + p(u) - p(v) every path from s to t is longer by p(s) - p(t), so the shortest paths stay the
same. Without negative weights no potentials are needed. Work: n (m + n) log n. Bytes a vertex and thread: 16; with
negative weights 8 an arc.
Source: Johnson, Efficient Algorithms for Shortest Paths in Sparse Networks (1977); Busato and Bombieri, section 4.

Potentials under which no arc is negative, by Bellman-Ford from all vertices at once; or a negative cycle.

p(v) is the length of the shortest path from any vertex to v, at most 0; so w(u, v) + p(u) - p(v) >= 0. Work: m a round,
at most n rounds. Source: Johnson, Efficient Algorithms for Shortest Paths in Sparse Networks (1977).
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...progress import Tick
from ...stream.threads import Threads
from ...traverse.atomics import atomic_add
from ..bellman_ford import lower_labels
from ..dijkstra import settle
from ..paths import SearchOptions
from ..rows import WeightedRows
from .arcs import Lengths
from .harish import Searches


def potentials(rows: WeightedRows, threads: int, tick: Tick) -> np.ndarray:
    """p(v) of every vertex, int64 or float64[n], for signed weights. Raises NegativeCycle with vertex numbers."""
    labels = np.zeros(rows.n_vertices, rows.distance_dtype)
    lower_labels(rows, labels, SearchOptions(threads=threads, tick=tick))
    return labels


_ALL = 1 << 62


class Johnson(Searches):
    """The searches, over reweighted arcs if weights are negative."""

    def __init__(self, rows: WeightedRows, lengths: Lengths, threads: Threads, tick: Tick) -> None:
        self._potentials = potentials(rows, threads.compute, tick) if rows.least_weight < 0 else None
        super().__init__(rows, lengths, threads, tick, search_dijkstra)

    def _widened(self, costs: np.ndarray) -> np.ndarray:
        if self._potentials is not None:
            new = np.empty(len(self._rows.heads), self._potentials.dtype)
            reweight(self._rows.offsets, self._rows.heads, costs, self._potentials, new)
            costs = new
        return super()._widened(costs)

    def _after(self, first: int, part: np.ndarray) -> None:
        if self._potentials is not None:
            give_back(part, first, self._potentials, part.dtype.type(self._lengths.infinity))


@kernel
def reweight(offsets, heads, costs, p, new):
    """Set new to w(u, v) + p(u) - p(v) of all arcs, of the dtype of p; negative values by rounding become 0."""
    for v in range(len(p)):
        for a in range(offsets[v], offsets[v + 1]):
            new[a] = max(p.dtype.type(0), costs[a] + p[v] - p[np.int64(heads[a])])


@kernel
def give_back(part, first, p, infinity):
    """Convert row i of `part`, distances from vertex first + i, back to the original weights."""
    for i in range(len(part)):
        for u in range(len(p)):
            if part[i, u] < infinity:
                part[i, u] -= p[first + i] - p[u]


@kernel
def search_dijkstra(offsets, heads, costs, first, part, infinity, turn):
    """Set part[i] to the distances from vertex first + i. turn : int64[1], counts rows that threads have taken."""
    n = len(offsets) - 1
    heap, place, state = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(3, np.int64)
    taken = atomic_add(turn, 0, 1)
    while taken < len(part):
        place[:] = -1
        heap[0], place[first + taken] = first + taken, 0
        state[:] = 0
        state[0] = 1
        part[taken, first + taken] = 0
        settle(offsets, heads, costs, part[taken], heap, place, state, _ALL)
        taken = atomic_add(turn, 0, 1)
