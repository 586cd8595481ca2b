"""Dijkstra's algorithm with a binary heap: one vertex after another, by increasing distance.

A vertex is at most once in the heap, and moves up as its distance falls. heap : int64[n], vertices. place : int64[n],
position of each vertex in the heap, below 0 if it is not there.
Work: (m + n) log n. Bytes a vertex: 16 for the heap. Rounds: number of settled vertices.
Source: Dijkstra (1959); Williams, Algorithm 232 (1964), for the heap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel, on_lists
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

Sift = Callable[..., Any]


def heap_of(before: Sift) -> tuple[Sift, Sift]:
    """(sift_up, sift_down) of a heap in this order. before(v, w, keys) : whether v comes before w, a compiled function.

    sift_up(v, at, keys, heap, place) inserts v at position `at` and moves it up.
    sift_down(v, size, keys, heap, place) inserts v at the top of a heap of `size` vertices and moves it down."""

    @inlined
    def sift_up(v, at, keys, heap, place):
        while at:
            above = (at - 1) >> 1
            if not before(v, heap[above], keys):
                break
            heap[at] = heap[above]
            place[heap[at]] = at
            at = above
        heap[at] = v
        place[v] = at

    @inlined
    def sift_down(v, size, keys, heap, place):
        # Down to a leaf by the nearer child, without a branch that is hard to predict, and then up from there.
        at = 0
        while 2 * at + 2 < size:
            below = 2 * at + 1
            below += before(heap[below + 1], heap[below], keys)
            heap[at] = heap[below]
            place[heap[at]] = at
            at = below
        if 2 * at + 2 == size:
            heap[at] = heap[size - 1]
            place[heap[at]] = at
            at = size - 1
        sift_up(v, at, keys, heap, place)

    return sift_up, sift_down


@inlined
def _nearer(v, w, distances):
    return distances[v] < distances[w]


sift_up, sift_down = heap_of(_nearer)


@inlined
def push(v, size, distances, heap, place):
    """Insert v, or move it up after its distance fell, in a heap of `size` vertices with the nearest at the top; return
    the new size."""
    at = place[v]
    if at < 0:
        at = size
        size += 1
    sift_up(v, at, distances, heap, place)
    return size


@inlined
def relax(v, size, offsets, heads, costs, distances, heap, place):
    """Relax the arcs of v with a heap of `size` vertices; return the new size."""
    for p in range(offsets[v], offsets[v + 1]):
        u = np.int64(heads[p])
        new = distances[v] + costs[p]
        if new < distances[u]:
            distances[u] = new
            size = push(u, size, distances, heap, place)
    return size


_SLICE_ARCS = 1 << 22
_BALLS = 1 << 13  # vertices between two ticks
_BALL_ARCS = 16  # at most this number of arcs is relaxed for each vertex of a ball


def dijkstra(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    return Paths("dijkstra", source, *heap_distances(rows, np.array([source]), options))


def heap_distances(rows: WeightedRows, sources: np.ndarray, options: SearchOptions) -> tuple[np.ndarray, int, int]:
    """Distances to the nearest of `sources` (int64[k], distinct), arcs relaxed and vertices settled."""
    dtype, n = rows.distance_dtype, rows.n_vertices
    distances = np.full(n, unreached(dtype), dtype)
    distances[sources] = 0
    heap, place = np.empty(n, np.int64), np.full(n, -1, np.int64)
    heap[: len(sources)], place[sources] = sources, np.arange(len(sources))
    state = np.array([len(sources), 0, 0], np.int64)
    while settle(rows.offsets, rows.heads, rows.costs, distances, heap, place, state, _SLICE_ARCS):
        options.tick()
    return distances, int(state[1]), int(state[2])


def near(rows: WeightedRows, source: int, room: np.ndarray) -> tuple[np.ndarray, int]:
    """The vertices that `source` reaches by paths on which every vertex v has a distance of at most room[v] (int64[n]
    or float64[n]; below 0 excludes v), and the number of relaxed arcs."""
    n = rows.n_vertices
    distances = np.full(n, unreached(room.dtype), room.dtype)
    heap, place, state = np.empty(n, np.int64), np.full(n, -1, np.int64), np.array([0, 0], np.int64)
    settle_near(rows.offsets, rows.heads, rows.costs, source, room, distances, heap, place, state)
    return heap[n - state[1] :], int(state[0])


@kernel
def settle_near(offsets, heads, costs, source, room, distances, heap, place, state):
    """See near. state : int64[2], arcs relaxed, and vertices settled. Settled vertices are stored at the end of `heap`:
    each has left the heap, and none returns to it."""
    size = np.int64(0)
    if room[source] >= 0:
        distances[source] = 0
        size = push(source, size, distances, heap, place)
    while size:
        v = heap[0]
        size -= 1
        if size:
            sift_down(heap[size], size, distances, heap, place)
        state[1] += 1
        heap[len(heap) - state[1]] = v
        state[0] += offsets[v + 1] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            new = distances[v] + costs[p]
            if new <= room[u] and new < distances[u]:
                distances[u] = new
                size = push(u, size, distances, heap, place)


def balls(rows: WeightedRows, count: int, tick: Callable[[], None]) -> tuple[np.ndarray, np.ndarray]:
    """For every vertex, the radius of a ball of at most `count` other vertices, and the sum of the inverses of nonzero
    distances below the radius, float64[n]. Vertices at equal distance are all inside or all outside, and a ball ends
    early at vertices of high degree. Radii: above 0, int64[n], or float64[n] for floats; see unreached."""
    dtype, n = np.dtype(np.float64 if rows.distance_dtype.kind == "f" else np.int64), rows.n_vertices
    radii, sums, none = np.empty(n, dtype), np.empty(n), unreached(dtype)
    distances, heap, place = np.full(n, none, dtype), np.empty(n, np.int64), np.full(n, -1, np.int64)
    for first in range(0, n, _BALLS):
        about = np.array([first, min(n, first + _BALLS), count, _BALL_ARCS * count])
        sum_balls(rows.offsets, rows.heads, rows.costs, about, distances, heap, place, radii, sums,
                  np.full(1, none, dtype))
        tick()
    return radii, sums


@kernel
def sum_balls(offsets, heads, costs, about, distances, heap, place, radii, sums, none):
    """See balls; for vertices about[0] to about[1] - 1, with about[2] others and about[3] arcs. distances, place :
    reset before and after. none : see unreached."""
    for source in range(about[0], about[1]):
        distances[source] = 0
        size = push(source, np.int64(0), distances, heap, place)
        settled = np.int64(0)
        relaxed = np.int64(0)
        while size:
            v = heap[0]
            relaxed += offsets[v + 1] - offsets[v] if settled else 0
            if distances[v] > 0 and (settled > about[2] or relaxed > about[3]):
                break
            size -= 1
            if size:
                sift_down(heap[size], size, distances, heap, place)
            settled += 1
            heap[len(heap) - settled] = v
            size = relax(v, size, offsets, heads, costs, distances, heap, place)
        radius = distances[heap[0]] if size else none[0]
        total = 0.0
        for i in range(len(heap) - settled, len(heap)):
            d = distances[heap[i]]
            if 0 < d < radius:
                total += 1 / d
        radii[source] = radius
        sums[source] = total
        for i in range(len(heap) - settled, len(heap)):
            distances[heap[i]] = none[0]
            place[heap[i]] = -1
        for i in range(size):
            distances[heap[i]] = none[0]
            place[heap[i]] = -1


@kernel(uncompiled=on_lists)
def settle(offsets, heads, costs, distances, heap, place, state, most):
    """Settle vertices until the heap is empty (False) or `most` arcs were relaxed (True).

    heap : int64[n], vertices. place : int64[n], position in the heap, or -1. state : int64[3], vertices in the heap,
    arcs relaxed, vertices settled."""
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
        size = relax(v, size, offsets, heads, costs, distances, heap, place)
    state[0] = size
    return size > 0
