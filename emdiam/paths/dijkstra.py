"""Dijkstra's algorithm with a binary heap: one vertex after another, by increasing distance.

Work: m + n, times log n. Bytes a vertex: 16 for the heap (heap.py). Rounds: vertices that were settled. Source:
Dijkstra (1959).
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from .heap import push, sift_down
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

_SLICE_ARCS = 1 << 22


def dijkstra(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    return Paths("dijkstra", source, *heap_distances(rows, np.array([source]), options))


def heap_distances(rows: WeightedRows, sources: np.ndarray, options: SearchOptions) -> tuple[np.ndarray, int, int]:
    """Distances to the nearest of `sources` (int64[k], no vertex twice), arcs relaxed and vertices settled."""
    dtype, n = rows.distance_dtype, rows.n_vertices
    distances = np.full(n, unreached(dtype), dtype)
    distances[sources] = 0
    heap, place = np.empty(n, np.int64), np.full(n, -1, np.int64)
    heap[: len(sources)], place[sources] = sources, np.arange(len(sources))
    state = np.array([len(sources), 0, 0], np.int64)
    while settle(rows.offsets, rows.heads, rows.costs, distances, heap, place, state, _SLICE_ARCS):
        if options.tick is not None:
            options.tick()
    return distances, int(state[1]), int(state[2])


@kernel
def settle(offsets, heads, costs, distances, heap, place, state, most):
    """Settle vertices until the heap is empty (False) or `most` arcs were relaxed (True).

    heap : int64[n], vertices. place : int64[n], where in the heap, -1 where not. state : int64[3], vertices in the
    heap, arcs relaxed, vertices settled."""
    size = state[0]
    stop = state[1] + most
    while size and state[1] < stop:
        v = heap[0]
        place[v] = -1
        size -= 1
        if size:
            sift_down(heap[size], size, distances, heap, place)
        state[2] += 1
        state[1] += offsets[v + 1] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            new = distances[v] + costs[p]
            if new < distances[u]:
                distances[u] = new
                size = push(u, size, distances, heap, place)
    state[0] = size
    return size > 0
