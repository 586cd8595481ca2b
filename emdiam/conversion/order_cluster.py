"""The order `cluster`: clusters of clusters of clusters, so that neighbouring rows share blocks.

Definition: clusters are grown around one vertex in SPACING (methods/approx/clusters.py); the condensed graph, or a
sufficient part of it, is clustered again until few clusters remain; and vertices are sorted by the positions of their
clusters (methods/approx/cluster_order.py). So vertices that are near in the graph are near in the store, in every
direction: a BFS from any vertex touches a block about once. Passes: those of growing clusters, and one or two to
condense. Bytes per vertex: 4 for the labels of clusters, 8 if there are too many clusters for that, and 3.5 for the
clusters, then 4 for the new numbers.
Source: the clusters are those of Mehlhorn and Meyer, External-memory breadth-first search with sublinear I/O (2002), by
the parallel growing of Meyer (2008); the levels are ours.

The condensed graph is made from a sample of the rows if the whole graph is more than is needed to see which clusters
are near. Every cluster has a level, the number of leading zeros of a hash of it, plus more if it has few vertices: of
large clusters half have level 0, a quarter level 1, and so on. Clusters from a least level on keep all their arcs, to
any cluster; two clusters of lower levels keep none. The least level is the lowest one that leaves at most the wanted
number of arcs, parallel ones counted. It is only known after the scan; until then it rises with the number of arcs, and
arcs kept before it rose are dropped at the end. So the graph does not depend on the order of the rows. If it has
several components, a second scan adds the arcs between them, from all rows except those of the largest component. So
the components are those of the whole graph. Passes: one, and a second one over the blocks with rows outside the largest
component. Rows that are left out are not examined. RAM: 1 byte per cluster, later 9 more, besides the collector. If a
part of 2^-k remains, the sort takes 1 + k / 2 times the wanted memory.
Source: adaptive sampling by levels of a hash, Wegman; Flajolet, On adaptive sampling (1990).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from math import isqrt
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ..engine.needs import Needs, label_bytes, phases_of
from ..hashing import draw
from ..jit import inlined, kernel
from ..methods.approx.cluster_order import local_positions
from ..methods.approx.condensed import (
    LEAST_ARC_BYTES,
    LEAST_SORT_BYTES,
    CondensedGraph,
    Room,
    collecting,
    numbered_parts,
)
from ..methods.approx.rank_order import stream_key
from ..paths.condensed.collect import ArcCollector, CondensedArcs
from ..paths.condensed.condense import push_between
from ..paths.condensed.packed import Keys, Packing, head_of, tail_of
from ..sorting.scratch import Scratch
from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import Pool, most_parts
from ..traverse.clusters import RamLabels
from ..traverse.condense import RowChoice, push_condensed
from ..traverse.labels import NARROW, WIDE
from ..traverse.workspace import workspace_bytes
from ..units import scratch_folder
from .orders import pass_bytes, place_by_key

if TYPE_CHECKING:
    from ..engine.cpu import CpuEngine

N_LEVELS = 64
_KEYS_AT_A_TIME = 1 << 12
# scan(choice, push) passes the arcs of a choice of rows to `push`, which may overwrite them (traverse/condense.py).
Scan = Callable[[RowChoice, Callable[[Keys], None]], None]


class ClusterSample:
    """Takes packed arcs, each edge once, from its end of the higher level; thread-safe.

    levels : uint8[K]. wanted : sufficient number of arcs, both directions counted. choice : rows that still have to be
    examined; its least level rises.
    """

    def __init__(self, collector: ArcCollector, levels: np.ndarray, wanted: int) -> None:
        self.choice = RowChoice(levels, np.zeros(1, np.int64))
        self._collector, self._wanted, self._lock = collector, wanted, Lock()
        self._counts = np.zeros(N_LEVELS, np.int64)

    @property
    def level(self) -> int:
        """The least level so far."""
        return int(self.choice.least[0])

    def push(self, keys: Keys) -> None:
        """Add arcs, uint64[k]. Raises BudgetError if the disk is full."""
        counts = np.zeros(N_LEVELS, np.int64)
        count_levels(keys, _shift(self._collector.packing), self.choice.levels, counts)
        push_both_ways(keys, self._collector)
        with self._lock:
            self._counts += 2 * counts
            while self._counts[self.level :].sum() > self._wanted and self.level < N_LEVELS - 1:
                self.choice.least[0] += 1

    def chosen(self, keys: Keys) -> int:
        """Move the arcs that stay to the front of `keys`; returns their number."""
        packing = self._collector.packing
        return int(keep_levels(keys, packing.id_bits, packing.weight_bits, *self.choice))


def sampled_graph(
    scan: Scan, packing: Packing, radii: np.ndarray, sizes: np.ndarray, room: Room, key: int, wanted: int
) -> CondensedGraph:
    """The condensed graph. radii, sizes : int64[K], of each cluster. key : of the hash. Raises BudgetError if the disk
    is full."""
    levels = np.empty(len(sizes), np.uint8)
    levels_of(sizes, np.uint64(key), levels)
    with collecting(packing, room) as collector:
        sample = ClusterSample(collector, levels, wanted)
        scan(sample.choice, sample.push)
        arcs = collector.finish(room.arcs_bytes, sample.chosen if sample.level else None)
    parts = numbered_parts(arcs)
    if sample.level and len(parts) and parts.max() > 0:
        arcs = _joined(scan, arcs, parts, packing, room)
        parts = numbered_parts(arcs)
    return CondensedGraph(arcs, radii, parts)


def _joined(scan: Scan, arcs: CondensedArcs, parts: np.ndarray, packing: Packing, room: Room) -> CondensedArcs:
    """The same graph with additional arcs between its parts, int64[K]. `arcs` is closed."""
    outside, own = (parts != np.bincount(parts).argmax()).astype(np.uint8), np.arange(len(parts))
    with closing(arcs), collecting(packing, room) as collector:
        push_between(arcs, own, np.zeros(len(parts), np.uint32), collector)

        def push(keys: Keys) -> None:
            used = keep_between(keys, packing.id_bits, packing.weight_bits, parts)
            push_both_ways(keys[:used], collector)

        scan(RowChoice(outside, np.ones(1, np.int64)), push)
        return collector.finish(room.arcs_bytes)


def push_both_ways(keys: Keys, collector: ArcCollector) -> None:
    """Pass arcs and their opposites to the collector."""
    packing, both = collector.packing, np.empty(2 * _KEYS_AT_A_TIME, np.uint64)
    for start in range(0, len(keys), _KEYS_AT_A_TIME):
        part = keys[start : start + _KEYS_AT_A_TIME]
        add_opposites(part, packing.id_bits, packing.weight_bits, both)
        collector.push(both[: 2 * len(part)])


def _shift(packing: Packing) -> int:
    return packing.id_bits + packing.weight_bits


@kernel
def levels_of(sizes, key, levels):
    """levels, uint8[K]: the level of every cluster. sizes : int64[K], number of vertices of each."""
    for a in range(len(sizes)):
        hashed, size = draw(key, np.uint64(a)) >> np.uint64(8), np.uint64(max(1, min(sizes[a], 64)))
        limit, level = np.uint64(1) << np.uint64(61), 0
        while level < 60 and hashed * size < limit:
            limit >>= np.uint64(1)
            level += 1
        levels[a] = level


@kernel
def count_levels(keys, shift, levels, counts):
    """Count the arcs by the level of the cluster at their tail."""
    for i in range(len(keys)):
        counts[levels[np.int64(keys[i] >> np.uint64(shift))]] += 1


@inlined
def _ends(arc, id_bits, weight_bits):
    return tail_of(arc, id_bits, weight_bits), head_of(arc, id_bits, weight_bits)


@kernel
def keep_levels(keys, id_bits, weight_bits, levels, least):
    """Move the arcs with an end of at least the least level to the front; returns their number."""
    count = 0
    for i in range(len(keys)):
        a, b = _ends(keys[i], id_bits, weight_bits)
        if max(levels[a], levels[b]) >= least[0]:
            keys[count] = keys[i]
            count += 1
    return count


@kernel
def keep_between(keys, id_bits, weight_bits, parts):
    """Move the arcs between different parts to the front; returns their number."""
    count = 0
    for i in range(len(keys)):
        a, b = _ends(keys[i], id_bits, weight_bits)
        if parts[a] != parts[b]:
            keys[count] = keys[i]
            count += 1
    return count


@kernel
def add_opposites(keys, id_bits, weight_bits, both):
    """both[2 i] = the arc keys[i], both[2 i + 1] = its opposite."""
    low = np.uint64((1 << weight_bits) - 1)
    for i in range(len(keys)):
        a, b = _ends(keys[i], id_bits, weight_bits)
        both[2 * i] = keys[i]
        both[2 * i + 1] = ((np.uint64(b) << np.uint64(id_bits) | np.uint64(a)) << np.uint64(weight_bits)
                           | keys[i] & low)


SPACING = 64
_ARC_BYTES = 2 * LEAST_ARC_BYTES
# Bytes per cluster: masters, radii, sizes, ranks, places; two more levels; distances, and the memory to sort them.
_CLUSTER_BYTES = 224
# And after sorting: masters, and the place of each.
_PLACE_BYTES = 48
_PIECE = 1 << 16
# Wanted arcs between clusters: for each cluster, and the least number in all. They only depend on the graph.
_WANTED, _LEAST_WANTED = 32, 1 << 20


def cluster_needs(store: Store) -> Needs:
    """The memory needs of by_clusters: labels of 4 bytes in all phases, and tables of clusters, later the new numbers.
    Labels of 8 bytes, and of components without a master, take the reserve and the arena."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    ranks = 0 if store.is_natural else n * ids
    labels, wider = NARROW.itemsize * n, (WIDE.itemsize - NARROW.itemsize) * n
    table = table_bytes(store)
    shared = table + workspace_bytes(n, ids) + ranks
    grow = shared + labels + _CLUSTER_BYTES * _planned_clusters(n)
    sizes = {"open": table, "grow": grow, "condense": grow + LEAST_SORT_BYTES + 2 * _ARC_BYTES,
             "number": shared + n * ids + max(labels, ranks) + _PLACE_BYTES * _planned_clusters(n) + pass_bytes(store)}
    parts = {"grow": label_bytes(n, ids)}
    more = {"grow": wider + parts["grow"], "condense": wider, "number": wider}
    return Needs("order cluster", phases_of(store, lambda column: sizes, more, parts),
                 Pool(of_parts=_CLUSTER_BYTES * most_parts(store)))


def by_clusters(engine: CpuEngine, seed: int, scratch: str | Path | None = None) -> np.ndarray:
    """The new number of every vertex, id_dtype[n]; isolated vertices come last. scratch : folder for condensed graphs
    that are too large for RAM. Raises BudgetError if the disk has no room for one."""
    store = engine.store
    if engine.facts.n_arcs == 0:
        return place_by_key(np.zeros(store.n_vertices, store.id_dtype), 1, store)
    engine.reporter.tick("grow clusters")
    expected = max(1, (engine.facts.n_vertices - engine.facts.n_isolated) // SPACING)
    labels = engine.grow_clusters(engine.sample_vertices(stream_key(seed, "order"), expected))
    assert isinstance(labels, RamLabels)
    spare = _hold_clusters(engine, labels.n_groups)
    with closing(Scratch(Path(scratch_folder(scratch)), Path())) as files:
        positions = _cluster_positions(engine, labels, seed, _room(engine, spare, files))
    keys = np.empty(store.n_vertices, store.id_dtype)
    for start in range(0, len(keys), _PIECE):
        group = labels.groups(np.arange(start, min(start + _PIECE, len(keys))))
        keys[start : start + len(group)] = np.where(group < 0, len(positions), positions[group])
    labels.release()
    return place_by_key(keys, len(positions) + 1, store)


def _hold_clusters(engine: CpuEngine, n_clusters: int) -> int:
    """Spare bytes besides n_clusters clusters. Every component has at least one cluster, and the number of components
    was unknown before; clusters beyond the plan take the spare memory, the reserve and slots of the arena. Raises
    MoreMemoryError if these are not enough."""
    spare = engine.facts.spare_bytes - _CLUSTER_BYTES * max(0, n_clusters - _planned_clusters(engine.facts.n_vertices))
    if spare < 0:
        engine.core.hold(f"{n_clusters:,} clusters, one in every component at least,", -spare)
    return max(0, spare)


def _planned_clusters(n_vertices: int) -> int:
    """The expected number, plus six times its standard deviation or 64."""
    expected = n_vertices // SPACING
    return expected + max(64, 6 * isqrt(expected))


def _room(engine: CpuEngine, spare: int, scratch: Scratch) -> Room:
    """Memory for condensed graphs: the planned bytes, the spare ones, and those that the remaining scan does not need.
    Half of it is for sorting arcs, the other half for the arcs of two levels at a time."""
    if engine.core.reserve is not None:
        spare += engine.core.reserve.take_rest(arena=not engine.facts.in_ram)
    return Room(LEAST_SORT_BYTES + spare // 2, _ARC_BYTES + spare // 4, scratch, min(2, engine.facts.threads))


def _cluster_positions(engine: CpuEngine, labels: RamLabels, seed: int, room: Room) -> np.ndarray:
    """The position of each cluster in the order, int64[K]."""
    radii, sizes = labels.tally()
    engine.reporter.tick("condense")
    packing = Packing(labels.n_groups, 2 * int(radii.max()) + 1)

    def scan(choice: RowChoice, push: Callable[[np.ndarray], None]) -> None:
        bits = packing.id_bits, packing.weight_bits
        push_condensed(engine.core, labels, bits, push, engine.reporter.heartbeat, choice)

    wanted = max(_LEAST_WANTED, _WANTED * labels.n_groups)
    graph = sampled_graph(scan, packing, radii, sizes, room, stream_key(seed, "order arcs"), wanted)
    with closing(graph.arcs):
        return local_positions(graph, engine.ranks(labels.masters), sizes, seed, room)
