"""Clusters of a weighted graph that grow by Delta: the master of every vertex, and a path to it.

In a stage so many masters are drawn from the vertices without a cluster, and all clusters grow from their borders: a
vertex joins at the smallest distance from a border, as if clusters were single vertices, up to Delta. While less than
half of what was free has joined, Delta is doubled. At the end, when no more are free than a stage draws masters, each
of them is a master. The first stage has a master in every component too.

The length of the path by which a vertex joined, through its cluster to the master, is kept: it is a length in the
graph, so what is concluded from it is proved, though it may not be the distance. A stage is one search from all
vertices that have a cluster, of which those within Delta join, so that the arcs may lie anywhere.
Work: a search and a forest of its paths for each stage. Bytes a vertex: 64.
Source: Ceccarello, Pietracaprina, Pucci and Upfal, "A practical parallel algorithm for diameter approximation of
massive weighted graphs" (2016), CLUSTER.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...jit import kernel
from ...paths.arcs import Arcs, WeightedComponents
from ...paths.rows import unreached

STATE_BYTES = 64


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


def grow(arcs: Arcs, parts: WeightedComponents, count: int, seed: int) -> Clusters:
    """Clusters around about `count` masters, and at least one in every component."""
    n, random, free = arcs.n_vertices, np.random.default_rng(seed), np.arange(arcs.n_vertices)
    owner, lengths = np.full(n, -1, np.int64), np.zeros(n, arcs.distance_dtype)
    a_stage, delta, stages = masters_a_stage(count, n), arcs.mean_weight, 0
    while len(free) > a_stage:
        stages += 1
        drawn = random.choice(free, a_stage, replace=False)
        if stages == 1:
            without = np.ones(len(parts.roots), np.bool_)
            without[parts.component[drawn]] = False
            drawn = np.concatenate((drawn, parts.roots[without]))
        owner[drawn] = drawn
        owned = np.flatnonzero(owner >= 0)
        reach, _ = arcs.nearest(owned)
        delta = _half(reach[free], len(drawn), delta)
        before = arcs.forest(reach, owned)
        join(before, reach, arcs.distance_dtype.type(delta), unreached(reach.dtype), owner, lengths)
        free = free[owner[free] < 0]
    owner[free] = free
    masters = np.flatnonzero(owner == np.arange(n))
    number = np.empty(n, np.int64)
    number[masters] = np.arange(len(masters))
    return Clusters(masters, number[owner], lengths, stages, delta)


def _half(reach: np.ndarray, joined: int, delta: float) -> float:
    """Delta, doubled until half of the vertices at these distances have joined, or all that can. joined : of them."""
    far = np.sort(reach[reach != unreached(reach.dtype)])
    while joined < len(far) and 2 * joined < len(reach):
        delta = max(delta, float(far[joined]))
        joined = int(np.searchsorted(far, far.dtype.type(delta), "right"))
        if 2 * joined < len(reach):
            delta *= 2
    return delta


@kernel
def join(before, reach, limit, none, owner, lengths):
    """Give every vertex within `limit` the owner of the root of its tree, and the length to it.

    before : int64[n], the vertex before each, -1 of roots, which have owners; those of the trees are lost."""
    for v in range(len(before)):
        if owner[v] >= 0 or reach[v] == none or reach[v] > limit:
            continue
        root = v
        while before[root] >= 0:
            root = before[root]
        u = v
        while u != root:
            above = before[u]
            before[u] = root
            u = above
        owner[v] = owner[root]
        lengths[v] = lengths[root] + reach[v]
