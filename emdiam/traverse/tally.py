"""Pairs by distance, from multi-source BFS: new bits at a level are pairs (source, vertex) at that distance.

Definition: for a batch of sources, a table counts the pairs (source, another vertex) at each distance. The sums of a
vertex are over the other sources that reach it: their number, their distances, and the inverses of these. Edges are
undirected, so the sums over sources at a vertex equal those of a BFS from the vertex over the sources. With all
vertices as sources the sums are complete, and no bit is processed by itself.
Work: beside the BFS a word of bits for each (vertex, level) with new ones; if sources are counted separately, a step
for each pair. I/O: that of the BFS. Bytes a vertex: those of the BFS, and 24 for sums.
Source: Then et al., PVLDB 2014 (MS-BFS), section 2 (closeness by a batch of sources).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from . import uncompiled
from .atomics import count_ones, count_trailing_zeros
from .columns import Column
from .core import Core
from .distance_table import DistanceTable
from .multi import MultiRun
from .multi_dense import ACTIVE, FLIP
from .rows import bit_walk, in_first
from .workspace import COUNT, CURRENT

_PIECE = 1 << 17
_NO_SUMS = np.empty((3, 0), np.uint64)


class DistanceSums:
    """Sums over sources at every vertex, without the vertex itself. values : uint64[3, n]: number of sources that reach
    it, sum of their distances, and sum of the inverses in units of 2^-shift. All are whole numbers, so that neither the
    order of sources nor threads change them."""

    def __init__(self, n_vertices: int) -> None:
        self.values = np.zeros((3, n_vertices), np.uint64)
        self.shift = 62 - n_vertices.bit_length()

    def unit(self, distance: int) -> int:
        """The inverse of a distance, in units of 2^-shift."""
        return ((2 << self.shift) // distance + 1) // 2

    def add_column(self, column: Column) -> None:
        """Add the source of these distances to the sums of every vertex."""
        units = np.zeros(1, np.uint64)
        for start in range(0, len(column), _PIECE):
            stop = min(start + _PIECE, len(column))
            values = column.part(start, stop)
            reached = np.flatnonzero((values != column.unreached) & (values != 0))
            if not len(reached):
                continue
            distances = values[reached].astype(np.int64)
            while len(units) <= int(distances.max()):
                units = np.append(units, np.uint64(self.unit(len(units))))
            here = self.values[:, start:stop]
            here[0, reached] += np.uint64(1)
            here[1, reached] += distances.astype(np.uint64)
            here[2, reached] += units[distances]

    @staticmethod
    def bytes_for(n_vertices: int) -> int:
        """Bytes of the sums."""
        return 24 * n_vertices


class TallyRun(MultiRun):
    """A multi-source BFS whose pairs are counted by distance.

    table : collects the pairs. groups : the table's row for each source, int64[k], or one row for all. sums : collects
    sums at vertices, or None.
    """

    def __init__(self, core: Core, sources: np.ndarray, table: DistanceTable, groups: np.ndarray | int = 0,
                 sums: DistanceSums | None = None) -> None:
        super().__init__(core, sources)
        self._table, self._groups, self._sums = table, groups, sums

    def step(self, tick: Tick = no_tick) -> bool:
        """See MultiRun."""
        before = self.level
        finished = super().step(tick)
        if self.level > before:
            self._table.add(self.level, self._count_level())
        return finished

    def _slice_arcs(self) -> int:
        return 0  # each sparse level returns, so that it can be counted

    def _count_level(self) -> np.ndarray:
        """Pairs at this level, int64[rows]."""
        sums = self._sums
        about: tuple[Any, ...] = (self._words, int(self._state[FLIP]), self.level,
                                  np.uint64(1 if sums is None else sums.unit(self.level)),
                                  _NO_SUMS if sums is None else sums.values)
        if self._dense:
            parts = self._core.over_words(lambda turn, grain, end: self._part(
                lambda single: count_marked(turn, grain, end, self._marks[ACTIVE], *about, single)))
            return np.sum(parts, axis=0)
        queue = self._core.work.queues[int(self._state[CURRENT]), : int(self._state[COUNT])]
        return self._part(lambda single: count_queued(queue, *about, single))

    def _part(self, count: Any) -> np.ndarray:
        """Pairs that a kernel counts, int64[rows]. count : calls the kernel with an array for the pairs of each
        source."""
        together = isinstance(self._groups, int)
        single = np.zeros(0 if together else len(self._sources), np.int64)
        total = count(single)
        rows = np.zeros(self._table.rows, np.int64)
        np.add.at(rows, self._groups, total if together else single)
        return rows


def tally_runs(core: Core, sources: np.ndarray, most: int, table: DistanceTable, groups: np.ndarray | int,
               sums: DistanceSums | None) -> Iterator[TallyRun]:
    """A run for each `most` sources in turn; each must be finished before the next is requested."""
    for begin in range(0, len(sources), most):
        part = slice(begin, begin + most)
        yield TallyRun(core, sources[part], table, groups if isinstance(groups, int) else groups[part], sums)


@inlined
def _count_vertex(words, plane, v, level, unit, sums, single):
    """Count the new bits of a vertex, and add them to its sums."""
    size = words.itemsize * 8
    pairs = 0
    for j in range(words.shape[2]):
        bits = np.uint64(words[plane, v, j])
        pairs += count_ones(bits)
        while len(single) and bits:
            single[j * size + count_trailing_zeros(bits)] += 1
            bits &= bits - np.uint64(1)
    if sums.shape[1]:
        sums[0, v] += np.uint64(pairs)
        sums[1, v] += np.uint64(pairs * level)
        sums[2, v] += np.uint64(pairs) * unit
    return pairs


@inlined
def _count_bit(state, v, word, bit):
    _, words, plane, level, unit, sums, single = state
    return _count_vertex(words, plane, v, level, unit, sums, single)


_walk_marked = bit_walk(in_first, _count_bit)


@kernel
def count_marked(turn, grain, end, bitmap, words, plane, level, unit, sums, single):
    """Count the bits in a plane of words at the vertices of a bitmap, all new at `level`; threads share the work.

    unit : inverse of the level, for sums (uint64[3, n], or length 0). single : int64[k] of this thread, pairs of each
    source, or length 0."""
    return _walk_marked(turn, grain, end, (bitmap, words, plane, level, unit, sums, single))[1]


@kernel(uncompiled=uncompiled.count_queued)
def count_queued(queue, words, plane, level, unit, sums, single):
    """As count_marked, for the vertices of a queue, id[k], on one thread."""
    pairs = 0
    for i in range(len(queue)):
        pairs += _count_vertex(words, plane, np.int64(queue[i]), level, unit, sums, single)
    return pairs
