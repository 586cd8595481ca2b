"""Bounds on the diameter of a weighted graph by clusters: the graph of clusters is small, so its diameter is exact.

1. A sweep (sweep.py): a lower and an upper bound.
2. Clusters grow. Their graph has an edge between two clusters if an edge (u, v) joins them, with the least
   length(u) + w(u, v) + length(v), where lengths are of the paths to the masters.
3. With the radius r of a cluster, the largest length in it, d(x, y) <= r(x) + d(C(x), C(y)) + r(y), and d(x, y) <= 2 r
   in the same cluster. The largest of both, over all pairs, is proved by pivots (pivots.py) with r as heights, or
   bounded if they take more than MOST_SEARCHES. It is the upper bound, and the estimate; the paper adds twice the
   largest radius to the diameter of the graph of clusters.
4. A sweep from the vertex farthest from its master, in a cluster of the longest pair.

Bytes: a vertex 64 while clusters grow, an edge between clusters 24, and 170 while their graph is made.
Source: Ceccarello, Pietracaprina, Pucci and Upfal (2016), CL-DIAM.

Growth of clusters of a weighted graph by Delta: it gives the master of every vertex, and a path to it.

Each stage draws masters from the vertices without a cluster, and all clusters grow from their borders: a
vertex joins at the smallest distance from a border, as if clusters were single vertices, up to Delta. While less than
half of the free vertices have joined, Delta is doubled. At the end, when no more are free than a stage draws, each
of them is a master. The first stage also has a master in every component.

The length of the path by which a vertex joined, through its cluster to the master, is stored. It is a length in the
graph, so conclusions from it are proved, though it may not be the distance. A stage is one search from all
vertices with a cluster, and vertices within Delta join. So the arcs may be in RAM or elsewhere.
Work: a search and a forest of its paths for each stage. Bytes a vertex: 64.
Source: Ceccarello, Pietracaprina, Pucci and Upfal, "A practical parallel algorithm for diameter approximation of
massive weighted graphs" (2016), CLUSTER.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import BudgetError
from ...jit import kernel
from ...paths.arcs import Arcs, ArcsInRam, WeightedComponents
from ...paths.paths import SearchOptions
from ...paths.rows import WeightedRows, unreached
from ...units import format_size
from ..approx.masters import AUTO, resolve_masters
from ..result import Condensed
from ..run import Best
from .metric import WeightMetric
from .pivots import WeightedPivots
from .sweep import WeightedBoundOptions, WeightedSweep
from .units import SumsTooLongError, Units

STATE_BYTES = 64


@dataclass(frozen=True)
class Clusters:
    """masters : int64[k], ascending. cluster : int64[n_vertices], number of the master of each vertex. lengths : of
    the paths to the masters, [n_vertices], dtype of distances. stages : of growing. delta : the last one."""

    masters: np.ndarray
    cluster: np.ndarray
    lengths: np.ndarray
    stages: int
    delta: float


def masters_a_stage(count: int, n_vertices: int) -> int:
    """Number of masters that each stage draws for a total of about `count`: stages halve the free vertices."""
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
    """Delta, doubled until half of the vertices at these distances have joined, or all that can. joined : number that
    have joined already."""
    far = np.sort(reach[reach != unreached(reach.dtype)])
    while joined < len(far) and 2 * joined < len(reach):
        delta = max(delta, float(far[joined]))
        joined = int(np.searchsorted(far, far.dtype.type(delta), "right"))
        if 2 * joined < len(reach):
            delta *= 2
    return delta


@kernel
def join(before, reach, limit, none, owner, lengths):
    """Assign every vertex within `limit` to the owner of the root of its tree, and set its length.

    before : int64[n], the vertex before each, -1 for roots, which have owners; paths of the trees are overwritten."""
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


EDGE_BYTES = 170
# For "auto": one master for this number of vertices, and the largest number of masters.
_SHARE, _MOST = 16, 100_000
# Largest number of searches in the graph of clusters.
MOST_SEARCHES = 64


@dataclass(frozen=True)
class Quotient:
    """The graph of clusters. radii : uint32 or int64[n_vertices], in units as its weights are."""

    rows: WeightedRows
    radii: np.ndarray


class EnoughSearches(Exception):
    """The graph of clusters would take too many searches; its bounds are valid all the same."""


class LimitedPivots(WeightedPivots):
    """Pivots that raise EnoughSearches after MOST_SEARCHES."""

    def search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See WeightedSearch."""
        if self.stages.bfs >= MOST_SEARCHES:
            raise EnoughSearches
        return super().search(sources)


class WeightedClusters(WeightedSweep):
    """One run; its bounds are valid at any time. masters : about the number wanted. or_fewer : whether to take fewer if
    their graph does not fit. seed : of their choice. room : bytes for the graph of clusters. clusters, quotient : None
    before they are made."""

    name: ClassVar[str] = "clusters"
    vertex_bytes = STATE_BYTES
    least_room = 4 << 20
    room: int = 1 << 62
    clusters: Clusters | None = None
    quotient: Quotient | None = None
    cap: int | None = None

    def __init__(self, metric: WeightMetric, options: WeightedBoundOptions | None = None) -> None:
        super().__init__(metric, options)
        n, item = metric.n_vertices, AUTO if self.options.masters is None else self.options.masters
        self.or_fewer, self.seed = item == AUTO, self.options.seed or 0
        self.masters = min(_MOST, 1 + n // _SHARE) if item == AUTO else resolve_masters(item, n)

    def solve(self) -> None:
        """Sweep, grow and condense; then sweep again."""
        super().solve()
        metric = self.metric
        if self.best.length == self.upper():
            return
        try:
            self.quotient = self._condensed()
        except SumsTooLongError:
            # If weights were rounded down, lengths from master to master may exceed any distance.
            if not metric.units.rounded:
                raise
            return
        arcs = ArcsInRam(self.quotient.rows, SearchOptions(metric.arcs.threads, tick=metric.beat))
        search = LimitedPivots(WeightMetric(arcs, Units(), lambda event: metric.beat()), heights=self.quotient.radii)
        search.room = self.room - EDGE_BYTES * self.quotient.rows.n_arcs // 2
        search.best = Best(2 * int(self.quotient.radii.max()))
        with suppress(EnoughSearches):
            search.solve()
        self.cap = search.upper()
        starts = np.full(len(self.parts.roots), -1, np.int64)
        start = self._farthest_in(search.best.source)
        starts[self.parts.component[start]] = start
        self.sweep_from(starts)

    def _condensed(self) -> Quotient:
        """The graph of clusters; of fewer clusters if it does not fit and or_fewer is set. Raises BudgetError."""
        while True:
            self.clusters = grow(self.metric.arcs, self.parts, self.masters, self.seed)
            try:
                return quotient_of(self.metric.arcs, self.metric.units, self.clusters, self.room)
            except BudgetError:
                if not self.or_fewer or self.masters == 1:
                    raise
                self.masters = max(1, self.masters // 4)

    def upper(self) -> int:
        """See MethodRun."""
        return super().upper() if self.cap is None else min(super().upper(), self.cap)

    def interval_largest(self) -> tuple[int, int]:
        """See MethodRun."""
        lower, upper = super().interval_largest()
        return lower, upper if self.cap is None else min(upper, self.cap)

    def _farthest_in(self, cluster: int) -> int:
        """The vertex of the cluster that is farthest from its master."""
        assert self.clusters is not None
        members = np.flatnonzero(self.clusters.cluster == cluster)
        return int(members[self.clusters.lengths[members].argmax()])

    def _estimate(self) -> int:
        return self.metric.proved(self.best.length, self.upper())[1]

    def _details(self) -> dict[str, Any]:
        delta = {} if self.clusters is None else {"delta": self.clusters.delta}
        return {**super()._details(), **delta}

    def _fields(self) -> dict[str, Any]:
        number, fields = self.metric.number, {**super()._fields(), "seed": self.seed}
        if self.clusters is not None:
            fields.update(masters=len(self.clusters.masters), rounds=self.clusters.stages)
        if self.quotient is not None:
            rows = self.quotient.rows
            fields.update(max_master_distance=number(int(self.quotient.radii.max())),
                          max_master_gap=number(int(rows.largest_weight)) if rows.n_arcs else None,
                          condensed=Condensed(rows.n_vertices, rows.n_arcs // 2))
        return fields


def quotient_of(arcs: Arcs, units: Units, clusters: Clusters, room: int) -> Quotient:
    """The graph of these clusters. Raises BudgetError if it may take more than `room` bytes, InputError if sums are
    not exact."""
    count = sum(count_between(piece.first, piece.offsets, piece.heads, clusters.cluster) for piece in arcs.pieces())
    missing = EDGE_BYTES * count - room
    if missing > 0:
        raise BudgetError(f"{count:,} edges between {len(clusters.masters):,} clusters take"
                          f" {format_size(EDGE_BYTES * count)} of {format_size(room)} that are free",
                          remedy=f"give at least {-(-missing // 2**20)} MiB more with --memory, or fewer --masters")
    ends, weights, listed = np.empty((2, count), np.int64), np.empty(count, arcs.distance_dtype), 0
    for piece in arcs.pieces():
        listed = list_between(*piece, clusters.cluster, clusters.lengths, ends, weights, listed)
    radii = np.zeros(len(clusters.masters), arcs.distance_dtype)
    np.maximum.at(radii, clusters.cluster, clusters.lengths)
    rows = WeightedRows.from_edges(len(radii), ends[0], ends[1], _narrowed(units.counted(weights)))
    return Quotient(rows, _narrowed(units.counted(radii)))


def _narrowed(values: np.ndarray) -> np.ndarray:
    """Numbers in units, as int64 if they do not fit uint32."""
    return values if values.dtype == np.uint32 else values.astype(np.int64)


@kernel
def count_between(first, offsets, heads, cluster):
    """Number of edges between two clusters, each counted once."""
    count = 0
    for i in range(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            count += cluster[first + i] < cluster[np.int64(heads[p])]
    return count


@kernel
def list_between(first, offsets, heads, costs, cluster, lengths, ends, weights, at):
    """List these edges from `at` on: their clusters in ends, int64[2, k], and the lengths from master to master along
    them in weights, [k]. Returns the end of the list."""
    for i in range(len(offsets) - 1):
        v = first + i
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if cluster[v] < cluster[u]:
                ends[0, at] = cluster[v]
                ends[1, at] = cluster[u]
                weights[at] = lengths[v] + costs[p] + lengths[u]
                at += 1
    return at
