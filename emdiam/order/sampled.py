"""The condensed graph of a part of the rows, where all of it is more than is needed to see which clusters are near.

Every cluster has a level, the number of zeros that a hash of it begins with, and more where it has few vertices: of
large clusters half have level 0, a quarter level 1, and so on. From a least level on, clusters have all their
arcs, to whatever cluster; between two of lower levels there is none. The least level is the lowest that leaves as many
arcs as are wanted, parallel ones counted. Which it is shows when the scan is over; until then it rises with the number
of arcs, and what came before it rose is dropped at the end. So the graph is the same in whatever order rows come.
Where its components are more than one, a second scan brings the arcs between them, of all rows but those of the largest
one. So the components are those of the whole graph.
Passes: one, and a second over the blocks with rows outside the largest component alone. Rows that are left out are
not looked at. RAM: 1 byte a cluster, later 9 more, beside the collector. Where a part of 2^-k is left, the sort takes
1 + k / 2 times what is wanted.
Source: adaptive sampling by levels of a hash, Wegman; Flajolet, On adaptive sampling (1990).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from ..hashing import draw
from ..jit import inlined, kernel
from ..methods.approx.condensed import CondensedGraph, Room, collecting, numbered
from ..paths.condensed.collect import ArcCollector
from ..paths.condensed.components import components
from ..paths.condensed.packed import Keys, Packing, WeightedArcs, each_block, head_of, tail_of
from ..traverse.condense import RowChoice

N_LEVELS = 64
_PIECE = 1 << 12
# scan(choice, push) hands the arcs of a choice of rows to `push`, which may overwrite them (traverse/condense.py).
Scan = Callable[[RowChoice, Callable[[Keys], None]], None]


class ClusterSample:
    """Takes packed arcs, each edge once, by its end of the higher level, from any number of threads.

    levels : uint8[K]. wanted : arcs that are enough, both directions counted. choice : rows that are to be looked at
    still; its least level rises.
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
        """Take arcs, uint64[k]. Raises BudgetError where the disk is full."""
        counts = np.zeros(N_LEVELS, np.int64)
        count_levels(keys, _shift(self._collector.packing), self.choice.levels, counts)
        push_both_ways(keys, self._collector)
        with self._lock:
            self._counts += 2 * counts
            while self._counts[self.level :].sum() > self._wanted and self.level < N_LEVELS - 1:
                self.choice.least[0] += 1

    def chosen(self, keys: Keys) -> int:
        """Move the arcs that stay to the front of `keys`; returns how many."""
        packing = self._collector.packing
        return int(keep_levels(keys, packing.id_bits, packing.weight_bits, *self.choice))


def sampled_graph(
    scan: Scan, packing: Packing, radii: np.ndarray, sizes: np.ndarray, room: Room, key: int, wanted: int
) -> CondensedGraph:
    """The graph. radii, sizes : int64[K], of each cluster. key : of the hash. Raises BudgetError where the disk is
    full."""
    levels = levels_of(sizes, np.uint64(key))
    with collecting(packing, room) as collector:
        sample = ClusterSample(collector, levels, wanted)
        scan(sample.choice, sample.push)
        arcs = collector.finish(room.arcs_bytes, sample.chosen if sample.level else None)
    parts = numbered(components(arcs))
    if sample.level and len(parts) and parts.max() > 0:
        arcs = _joined(scan, arcs, parts, room)
        parts = numbered(components(arcs))
    return CondensedGraph(arcs, radii, parts)


def _joined(scan: Scan, arcs: WeightedArcs, parts: np.ndarray, room: Room) -> WeightedArcs:
    """The same graph with all arcs between its parts, int64[K], too. `arcs` is closed."""
    packing = arcs.packing
    outside = (parts != np.bincount(parts).argmax()).astype(np.uint8)
    with arcs, collecting(packing, room) as collector:
        for block in each_block(arcs):
            collector.push(block)

        def push(keys: Keys) -> None:
            used = keep_between(keys, packing.id_bits, packing.weight_bits, parts)
            push_both_ways(keys[:used], collector)

        scan(RowChoice(outside, np.ones(1, np.int64)), push)
        return collector.finish(room.arcs_bytes)


def push_both_ways(keys: Keys, collector: ArcCollector) -> None:
    """Give arcs and their opposites to the collector."""
    packing, both = collector.packing, np.empty(2 * _PIECE, np.uint64)
    for start in range(0, len(keys), _PIECE):
        part = keys[start : start + _PIECE]
        add_opposites(part, packing.id_bits, packing.weight_bits, both)
        collector.push(both[: 2 * len(part)])


def _shift(packing: Packing) -> int:
    return packing.id_bits + packing.weight_bits


@kernel
def levels_of(sizes, key):
    """The level of every cluster, uint8[K]. sizes : int64[K], vertices of each."""
    levels = np.zeros(len(sizes), np.uint8)
    for a in range(len(sizes)):
        hashed, size = draw(key, np.uint64(a)) >> np.uint64(8), np.uint64(max(1, min(sizes[a], 64)))
        limit, level = np.uint64(1) << np.uint64(61), 0
        while level < 60 and hashed * size < limit:
            limit >>= np.uint64(1)
            level += 1
        levels[a] = level
    return levels


@kernel
def count_levels(keys, shift, levels, counts):
    """Count the arcs by the level of the cluster that they leave."""
    for i in range(len(keys)):
        counts[levels[np.int64(keys[i] >> np.uint64(shift))]] += 1


@inlined
def _ends(arc, id_bits, weight_bits):
    return tail_of(arc, id_bits, weight_bits), head_of(arc, id_bits, weight_bits)


@kernel
def keep_levels(keys, id_bits, weight_bits, levels, least):
    """Move the arcs with an end of the least level or above to the front; returns how many."""
    count = 0
    for i in range(len(keys)):
        a, b = _ends(keys[i], id_bits, weight_bits)
        if max(levels[a], levels[b]) >= least[0]:
            keys[count] = keys[i]
            count += 1
    return count


@kernel
def keep_between(keys, id_bits, weight_bits, parts):
    """Move the arcs between different parts to the front; returns how many."""
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
