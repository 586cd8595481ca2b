"""Rows of a forest in scratch files, with the method of Rows that searches need.

I/O: 8 bytes per arc of the forest written and read to sort them, and an id; 8 bytes per vertex. For a sending vertex
its row is read, and also the entries up to the next such row, if that is near. Bytes: 16 per arc of a range of
vertices.
"""

from __future__ import annotations

import numpy as np

from ..distinct import distinct
from ..progress import Tick, no_tick
from ..trees.spanning import HALF, LOW
from .buckets import Sink
from .columns import WordFile
from .disk import NaturalRanks
from .queues import RangeQueues, Space
from .rows import PIECE, Sources

# Longest gap of unneeded entries that is read too: a separate read would cost as much.
_NEAR = 1 << 9


class TreeRows:
    """The arcs of a forest. edges : words (rank, larger rank) by ranges of the smaller rank, some twice; closed after
    use. n_edges : number of distinct edges."""

    def __init__(self, space: Space, ranks: NaturalRanks, edges: RangeQueues) -> None:
        self._space, self._ranks = space, ranks
        self.n_edges = 0
        self._heads = WordFile(space.scratch, 2 * space.ranges.n, space.key, 0, space.page)
        self._starts = WordFile(space.scratch, space.ranges.n + 1, np.uint64, 0, space.page)
        self._sort(self._arcs(edges))

    def _arcs(self, edges: RangeQueues) -> RangeQueues:
        """Words (tail, head) of both arcs of all edges, by ranges of the tail."""
        ranges, half, arcs = self._space.ranges, self._space.queues(), self._space.queues()
        for number, first, stop in ranges.each():
            words = distinct(np.concatenate([np.empty((0, 1), np.uint64), *edges.read(number)]))
            self.n_edges += len(words)
            named = (words & LOW) << HALF | self._named(first, stop, words)
            half.put((named >> HALF).astype(np.int64) >> ranges.shift, named)
        edges.close()
        for number, first, stop in ranges.each():
            for rows in half.read(number):
                words = rows[:, 0]
                ends = self._named(first, stop, words), words & LOW
                for tails, heads in (ends, ends[::-1]):
                    arcs.put(tails.astype(np.int64) >> ranges.shift, (tails << HALF) | heads)
        half.close()
        return arcs

    def _named(self, first: int, stop: int, words: np.ndarray) -> np.ndarray:
        """The vertices, uint64[k], whose ranks, between first and stop-1, are the upper halves of words."""
        result: np.ndarray = self._ranks.vertices(first, stop).astype(np.uint64)[
            (words >> HALF).astype(np.int64) - first]
        return result

    def _sort(self, arcs: RangeQueues) -> None:
        ranges, done = self._space.ranges, 0
        for number, first, stop in ranges.each():
            words = np.sort(np.concatenate([np.empty((0, 1), np.uint64), *arcs.read(number)])[:, 0])
            self._heads[done : done + len(words)] = (words & LOW).astype(self._heads.dtype)
            starts = np.searchsorted(words >> HALF, np.arange(first, stop + 1, dtype=np.uint64)) + done
            self._starts[first : stop + 1] = starts.astype(np.uint64)
            done += len(words)
        arcs.close()

    def send(self, sources: Sources, sink: Sink, *, up: bool = False, tick: Tick = no_tick) -> int:
        """See Rows.send."""
        total = 0
        for vertices, values in sources:
            bounds = _taken(self._starts, np.column_stack((vertices, vertices + 1)).ravel()).astype(np.int64)
            starts, sizes = bounds[::2], bounds[1::2] - bounds[::2]
            heads = _taken(self._heads, np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum()))
            kept = heads > np.repeat(vertices, sizes) if up else slice(None)
            assert values is not None
            sink.add(heads[kept], np.repeat(values, sizes)[kept])
            total += len(heads)
        return total


def _taken(file: WordFile, places: np.ndarray) -> np.ndarray:
    """The entries at `places` (int64[k], ascending or equal)."""
    values = np.empty(len(places), file.dtype)
    apart = (np.diff(places) > _NEAR) | (np.diff(places // PIECE) > 0)
    cuts = [0, *(np.flatnonzero(apart) + 1).tolist(), len(places)]
    for start, stop in zip(cuts, cuts[1:] if len(places) else [], strict=False):
        first = int(places[start])
        values[start:stop] = file[first : int(places[stop - 1]) + 1][places[start:stop] - first]
    return values
