"""Clusters of a weighted graph that grow by Delta: the master of every vertex, and a path to it.

In a stage so many masters are drawn from the vertices without a cluster, and all clusters grow from their borders: a
vertex joins at the smallest distance from a border, as if clusters were single vertices, up to Delta. While less than
half of what was free has joined, Delta is doubled. At the end, when no more are free than a stage draws masters, each
of them is a master. The first stage has a master in every component too.

The length of the path by which a vertex joined, through its cluster to the master, is kept: it is a length in the
graph, so what is concluded from it is proved, though it may not be the distance. Growth is that of a binary heap, of
which the rounds of a parallel one give the same clusters but for ties.
Work: every vertex joins once, m log n in all, and what a stage leaves in its heap. Bytes a vertex: 64.
Source: Ceccarello, Pietracaprina, Pucci and Upfal, "A practical parallel algorithm for diameter approximation of
massive weighted graphs" (2016), CLUSTER.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...jit import kernel
from ...sssp.heap import push, sift_down
from ...sssp.paths import Tick
from ...sssp.rows import WeightedRows, unreached
from .components import RowComponents

STATE_BYTES = 64
_SLICE_ARCS = 1 << 22


@dataclass(frozen=True)
class Clusters:
    """masters : int64[k], ascending. cluster : int64[n_vertices], number of the master of each vertex. lengths : of
    the paths to the masters, [n_vertices] as distances are. stages : of growing. delta : the last one."""

    masters: np.ndarray
    cluster: np.ndarray
    lengths: np.ndarray
    stages: int
    delta: float


def masters_a_stage(count: int, n_vertices: int) -> int:
    """Masters that each stage draws, so that there are about `count` in the end: stages halve what is free."""
    stages = 1 + math.log2(max(1.0, n_vertices / count))
    return max(1, round(count / stages))


def grow(rows: WeightedRows, parts: RowComponents, count: int, seed: int, tick: Tick) -> Clusters:
    """Clusters around about `count` masters, and at least one in every component."""
    n, dtype, random = rows.n_vertices, rows.distance_dtype, np.random.default_rng(seed)
    none, free = unreached(dtype), np.arange(n)
    owner, via = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    lengths, reach = np.zeros(n, dtype), np.full(n, none, dtype)
    heap, place, state = np.empty(n, np.int64), np.full(n, -1, np.int64), np.zeros(2, np.int64)
    graph, labels = (rows.offsets, rows.heads, rows.costs), (owner, lengths, reach, via, heap, place, state)
    a_stage, delta, stages = masters_a_stage(count, n), rows.mean_weight, 0
    while len(free) > a_stage:
        stages += 1
        drawn = random.choice(free, a_stage, replace=False)
        if stages == 1:
            without = np.ones(len(parts.roots), np.bool_)
            without[parts.component[drawn]] = False
            drawn = np.concatenate((drawn, parts.roots[without]))
        owner[drawn] = drawn
        reach_borders(*graph, owner, reach, via, heap, place, state)
        state[1] = len(drawn)
        while state[0] and 2 * state[1] < len(free):
            tick()
            delta = max(delta, float(reach[heap[0]]))
            while grow_to(*graph, *labels, dtype.type(delta), _SLICE_ARCS):
                tick()
            if 2 * state[1] < len(free):
                delta *= 2
        forget_borders(owner, reach, none, place, state)
        free = free[owner[free] < 0]
    owner[free] = free
    masters = np.flatnonzero(owner == np.arange(n))
    number = via  # not needed any more
    number[masters] = np.arange(len(masters))
    return Clusters(masters, number[owner], lengths, stages, delta)


@kernel
def reach_borders(offsets, heads, costs, owner, reach, via, heap, place, state):  # type: ignore[no-untyped-def]
    """Put every vertex without an owner that has a neighbour with one in the heap, at the lightest weight of an edge to
    such; those with one are at 0."""
    size = 0
    for v in range(len(owner)):
        if owner[v] < 0:
            continue
        reach[v] = 0
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            if owner[u] < 0 and costs[p] < reach[u]:
                reach[u] = costs[p]
                via[u] = v
                size = push(u, size, reach, heap, place)
    state[0] = size


@kernel
def grow_to(offsets, heads, costs, owner, lengths, reach, via, heap, place, state, limit, most):  # type: ignore[no-untyped-def]
    """Let vertices join while the nearest one is within `limit` of a border (False), or `most` arcs were looked at
    (True). state : int64[2], vertices in the heap, and those that have joined."""
    size = state[0]
    arcs = 0
    while size and reach[heap[0]] <= limit:
        if arcs >= most:
            state[0] = size
            return True
        v = heap[0]
        place[v] = -1
        size -= 1
        if size:
            sift_down(heap[size], size, reach, heap, place)
        u = via[v]
        owner[v] = owner[u]
        lengths[v] = lengths[u] + (reach[v] - reach[u])
        state[1] += 1
        arcs += offsets[v + 1] - offsets[v]
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            new = reach[v] + costs[p]
            if owner[u] < 0 and new < reach[u]:
                reach[u] = new
                via[u] = v
                size = push(u, size, reach, heap, place)
    state[0] = size
    return False


@kernel
def forget_borders(owner, reach, none, place, state):  # type: ignore[no-untyped-def]
    """Empty the heap; nobody without an owner is near a border."""
    state[0] = 0
    for v in range(len(owner)):
        place[v] = -1
        if owner[v] < 0:
            reach[v] = none
