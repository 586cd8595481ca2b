"""Growth around seeds level by level, without arrays that have an entry for every vertex: BFS after Munagala and
Ranade, from several sources; each vertex gets the smallest of the owners that reach it first.

In an undirected graph a neighbour of level i is in level i - 1, i or i + 1. So the next level consists of the heads of
this level's arcs, without this level and the one before, and no set of visited vertices is needed. An owner is the
number of a seed; of several owners that reach a vertex the smallest stays, as in traverse/labels.py, whose labels these
are.

An arc delivers a word (vertex, owner). Few words are sorted in RAM; many are distributed to ranges of vertices, each of
which folds its words into an array and removes the vertices of the two levels.

I/O: the blocks and offsets of every level, each once (all together at most twice those of all rows that are reached, if
rows of one level are in blocks of others at most as often as there are levels); 8 bytes per arc written and read for
levels with more arcs than the room; 8 per vertex for levels with more vertices than that; 16 per vertex written and
read for labels, and 8 written. Bytes: the room four times; 16 per vertex of a range.

Sources: Munagala and Ranade, I/O-complexity of graph algorithms (1999); Meyer, On trade-offs in external-memory
diameter-approximation (2008), rounds of cluster growing.

Also labels of clusters on disk: see Labels in engine/interface.py. Passes go over ranges of vertices. I/O: 8 bytes per
vertex for every verb that reads all labels. Bytes: 8 per vertex of a range; a few words per group, as in the method.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock
from typing import Protocol

import numpy as np

from ..errors import InputError, MoreMemoryError
from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.clusters import replace_labels, take_distances, tally_labels
from ..traverse.columns import Column
from ..traverse.labels import LONGEST, UNREACHED, WIDE_BITS
from .buckets import Sink
from .columns import DiskColumn, WordFile
from .disk import NaturalRanks
from .queues import Space, Table
from .rows import PIECE, Sources

# The bits of a label that hold the group's number.
GROUP = np.uint64((1 << WIDE_BITS) - 1)


class DiskLabels:
    """See Labels. words : (distance, group) of every vertex, see traverse/labels.py."""

    def __init__(self, space: Space, words: WordFile, masters: np.ndarray, ranks: NaturalRanks) -> None:
        self.space, self.words, self.masters, self._ranks = space, words, masters, ranks

    @property
    def n_groups(self) -> int:
        """See Labels."""
        return len(self.masters)

    def parts(self) -> Iterator[tuple[int, np.ndarray]]:
        """(first vertex, words) of all vertices, range by range."""
        for _, first, stop in self.space.ranges.each():
            yield first, self.words[first:stop]

    def tally(self) -> tuple[np.ndarray, np.ndarray]:
        """See Labels."""
        radii, sizes = np.zeros(self.n_groups, np.int64), np.zeros(self.n_groups, np.int64)
        for _, words in self.parts():
            tally_labels(words, WIDE_BITS, radii, sizes)
        return radii, sizes

    def farthest_members(self, radii: np.ndarray) -> np.ndarray:
        """See Labels."""
        return self._first_members(np.asarray(radii, np.int64))

    def first_members(self) -> np.ndarray:
        """See Labels."""
        return self._first_members(np.empty(0, np.int64))

    def _first_members(self, radii: np.ndarray) -> np.ndarray:
        """The vertex of smallest rank in each group, among those at distance radii[g]; without radii, among all."""
        members, best = np.full((2, self.n_groups), -1, np.int64)
        for first, words in self.parts():
            first_by_rank(words, self._ranks.part(first, first + len(words)), first, radii, members, best)
        return members

    def groups(self, vertices: np.ndarray) -> np.ndarray:
        """See Labels."""
        words = self.words.take(np.asarray(vertices, np.int64))
        return np.where(words == UNREACHED, np.int64(-1), (words & GROUP).astype(np.int64))

    def places(self) -> np.ndarray:
        """Raises MoreMemoryError, since an array with an entry for every vertex does not fit, after releasing the
        labels."""
        self.release()
        raise MoreMemoryError("the external engine has no room for numbers of all vertices", 8 * self.space.ranges.n)

    def replace_distances(self, distances: np.ndarray, places: np.ndarray) -> None:
        """See Labels."""
        for first, words in self.parts():
            replace_labels(words, WIDE_BITS, distances, places[first : first + len(words)])
            self.words[first : first + len(words)] = words

    def take_column(self) -> Column:
        """See Labels; dtype uint32."""
        column = DiskColumn(self.space.scratch, self.space.ranges.n, np.uint32, page=self.space.page)
        for first, words in self.parts():
            narrow = words.view(np.uint32)[: len(words)]
            take_distances(words, WIDE_BITS, narrow)
            column.set_part(first, narrow)
        self.release()
        return column

    def release(self) -> None:
        """See Labels."""
        self.words = WordFile(self.space.scratch, 0)


@kernel
def first_by_rank(labels, ranks, first, radii, members, best):
    """members[g], best[g] = the vertex of smallest rank in group g, and that rank; initially -1. radii : int64[groups],
    the distance that it must have, or length 0 for any."""
    for i in range(len(labels)):
        if labels[i] == UNREACHED:
            continue
        group = np.int64(labels[i] & GROUP)
        if len(radii) and np.int64(labels[i] >> np.uint64(WIDE_BITS)) != radii[group]:
            continue
        if best[group] < 0 or ranks[i] < best[group]:
            best[group] = ranks[i]
            members[group] = first + i


_NOBODY = np.uint64(0xFFFFFFFFFFFFFFFF)


class GrowthLevel:
    """The vertices of a level with their owners: words (vertex, owner), ascending."""

    def __init__(self, space: Space, bits: np.uint64) -> None:
        self._space, self._bits = space, bits
        self._table = Table(space.scratch, 1, space.room)
        self._starts = dict[int, int]()  # positions of ranges that were appended one by one

    def __len__(self) -> int:
        return len(self._table)

    def append(self, words: np.ndarray, number: int | None = None) -> None:
        """Append words above all earlier ones. number : of their range; None: these are all words, of several
        ranges."""
        if number is not None:
            self._starts[number] = len(self._table)
        self._table.append(words)

    @property
    def all_words(self) -> np.ndarray | None:
        """All words, uint64[k], if they are in RAM, else None."""
        return None if self._starts else self._table.part(0, len(self)).view(np.uint64)[:, 0]

    def vertices_in(self, number: int) -> np.ndarray:
        """The vertices of a range, int64[k] ascending."""
        first, stop = self._space.ranges.bounds(number)
        words = self.all_words
        if words is None:
            start = self._starts.get(number)
            if start is None:
                return np.empty(0, np.int64)
            words = self._table.part(start, min(len(self), start + stop - first)).view(np.uint64)[:, 0]
        vertices = (words >> self._bits).view(np.int64)
        return vertices[slice(*np.searchsorted(vertices, (first, stop)))]

    def words(self) -> Iterator[np.ndarray]:
        """All words, in pieces."""
        for _, rows in self._table.pieces():
            for start in range(0, len(rows), PIECE):
                yield rows[start : start + PIECE, 0].view(np.uint64)

    def clear(self) -> None:
        """Drop all words."""
        self._table.clear()


class Sender(Protocol):
    """Rows of a graph, or of a forest."""

    def send(self, sources: Sources, sink: Sink, *, up: bool = False, tick: Tick = no_tick) -> int:
        """See Rows.send."""


class DiskGrowth:
    """Labels of vertices that grow around seeds.

    rows : of the graph. labels : uint64 words of all vertices, see traverse/labels.py, initially UNREACHED. owners :
    upper bound of the numbers of seeds. level : the last level reached. Raises InputError if a vertex and an owner do
    not fit a word.
    """

    def __init__(self, rows: Sender, space: Space, labels: WordFile, owners: int) -> None:
        self._rows, self._space, self._labels, self._lock = rows, space, labels, Lock()
        bits = max(1, (owners - 1).bit_length())
        if bits + (space.ranges.n - 1).bit_length() > 64:
            raise InputError(f"{owners:,} masters among {space.ranges.n:,} vertices do not fit a word of 64 bits",
                             remedy="ask for fewer")
        self._bits, self._mask = np.uint64(bits), np.uint64((1 << bits) - 1)
        self._offers, self._labelled = space.queues(), space.queues(2)
        self.level = 0

    def add(self, keys: np.ndarray, values: np.ndarray | None = None) -> None:
        """Receive offers of owners to vertices, from arcs."""
        assert values is not None
        with self._lock:
            self._offers.put(keys >> self._space.ranges.shift, (keys.astype(np.uint64) << self._bits) | values)

    def grow(self, seeds: np.ndarray, first: int, most_rounds: int | None = None, tick: Tick = no_tick) -> bool:
        """Grow around seeds (int64[k], distinct) with the numbers first, first + 1, ...; no vertex of their components
        may have been reached yet. Returns False, without writing labels, if vertices are farther than most_rounds."""
        words = (seeds.astype(np.uint64) << self._bits) | np.arange(first, first + len(seeds), dtype=np.uint64)
        now, before = GrowthLevel(self._space, self._bits), GrowthLevel(self._space, self._bits)
        now.append(np.sort(words))
        self.level = 0
        while len(now):
            if most_rounds is not None and self.level >= most_rounds:
                return False
            if self.level > LONGEST:
                raise OverflowError(f"a distance of {self.level} does not fit a label")
            for some in now.words():
                self._note(some)
            self._rows.send(self._sources(now), self, tick=tick)
            after = self._next(now, before)
            before.clear()
            now, before, self.level = after, now, self.level + 1
            tick()
        self._write()
        return True

    def _sources(self, level: GrowthLevel) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for words in level.words():
            yield (words >> self._bits).astype(np.int64), words & self._mask

    def _note(self, words: np.ndarray) -> None:
        """Store the words of a level until labels are written."""
        rows = np.column_stack((words, np.full(len(words), self.level, np.uint64)))
        self._labelled.put((words >> self._bits).astype(np.int64) >> self._space.ranges.shift, rows)

    def _next(self, now: GrowthLevel, before: GrowthLevel) -> GrowthLevel:
        """The level after `now`, computed from the offers."""
        after = GrowthLevel(self._space, self._bits)
        offers, old = self._offers.resident(), (now.all_words, before.all_words)
        if offers is not None and old[0] is not None and old[1] is not None:
            words = np.sort(offers[:, 0])
            vertices = words >> self._bits
            fresh = np.ones(len(words), bool)
            fresh[1:] = vertices[1:] != vertices[:-1]
            for level in old:
                assert level is not None
                fresh &= ~_among(vertices, level >> self._bits)
            after.append(words[fresh])
        else:
            for number in self._offers.filled().tolist():
                self._fold(number, (now, before), after)
        self._offers.clear()
        return after

    def _fold(self, number: int, old: tuple[GrowthLevel, GrowthLevel], after: GrowthLevel) -> None:
        """Append the vertices of the next level in a range to `after`."""
        first, stop = self._space.ranges.bounds(number)
        least = np.full(stop - first, _NOBODY, np.uint64)
        for rows in self._offers.read(number):
            fold_offers(rows[:, 0], self._bits, first, least)
        for level in old:
            least[level.vertices_in(number) - first] = _NOBODY
        hits = np.flatnonzero(least != _NOBODY)
        if len(hits):
            after.append(((hits + first).astype(np.uint64) << self._bits) | least[hits], number)

    def _write(self) -> None:
        """Write the labels of all vertices reached since the last call."""
        for number, first, stop in self._space.ranges.each(self._labelled.filled()):
            labels = self._labels[first:stop]
            for rows in self._labelled.read(number):
                labels[(rows[:, 0] >> self._bits).astype(np.int64) - first] = (
                    (rows[:, 1] << np.uint64(WIDE_BITS)) | (rows[:, 0] & self._mask))
            self._labels[first:stop] = labels
        self._labelled.clear()

    def close(self) -> None:
        """Drop the queues."""
        self._offers.close()
        self._labelled.close()


def new_labels(space: Space) -> WordFile:
    """New labels of all vertices, all unreached."""
    return WordFile(space.scratch, space.ranges.n, np.uint64, int(UNREACHED), space.page)


def _among(values: np.ndarray, ascending: np.ndarray) -> np.ndarray:
    """bool[k], whether each value occurs in `ascending`."""
    if len(ascending) == 0:
        return np.zeros(len(values), bool)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    result: np.ndarray = ascending[at] == values
    return result


@kernel
def fold_offers(words, bits, first, least):
    """least[v - first] = the smallest owner offered to v. words : uint64[k], (vertex, owner)."""
    mask = (np.uint64(1) << bits) - np.uint64(1)
    for i in range(len(words)):
        at = np.int64(words[i] >> bits) - first
        least[at] = min(least[at], words[i] & mask)
