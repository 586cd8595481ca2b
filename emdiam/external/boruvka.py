"""The minimum spanning forest under random weights, in rounds of Boruvka, without arrays that have an entry for every
vertex.

Weights are those of trees/spanning.py, a hash of (key, natural ranks of the ends), so that the forest is the same as
in RAM. In a round every vertex sends the label of its tree and its rank along its arcs. A word that arrives at a vertex
from another tree is an edge between trees; the lightest edge of each vertex counts, and of these the lightest of each
tree, which joins two trees. The joined trees are components of the graph of these edges (components.py). A vertex whose
neighbours are all in its tree becomes inactive, and its blocks are no longer read.

I/O, with m arcs and b the bytes of an id: for each round one pass over blocks with an active vertex; for arcs of these
b + 8 bytes written and read; for these vertices 64 written and read, besides components. Rounds: at most the logarithm
of the number of vertices, since every tree next to another one is joined to one.
Bytes: the rooms of the queues; 64 per vertex of a range.

Sources: Boruvka (1926); Ajwani, Beckmann, Meyer, Veith (2012), section 2, spanning tree heuristics (weights).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from ..jit import kernel
from ..progress import Tick, no_tick
from ..trees.spanning import HALF, LOW, edge_hash, stream_of
from .buckets import Sink, Taker
from .columns import WordFile
from .components import Hidden, external_components
from .disk import NaturalRanks
from .queues import RangeQueues, Space, Table
from .rows import Rows, pieces

_NO_EDGE = np.uint64(0xFFFFFFFFFFFFFFFF)


class Boruvka:
    """The rounds. key : of the weights, below 2^64. edges : of the forest, words (rank, larger rank), by ranges of the
    smaller rank; some occur twice. rounds : number so far. Raises InputError from 2^32 vertices on."""

    def __init__(self, rows: Rows, space: Space, ranks: NaturalRanks, key: int, tick: Tick = no_tick) -> None:
        if space.ranges.n >= 1 << 32:
            raise InputError("the external engine makes spanning forests of fewer than 2^32 vertices",
                             text=f"{space.ranges.n:,}", remedy="use the method sweep or clusters")
        self._rows, self._space, self.ranks, self._tick = rows, space, ranks, tick
        self.stream, self.shift = stream_of(key), space.ranges.shift
        self.trees = WordFile(space.scratch, space.ranges.n, space.key, 0, space.page)
        self.active = WordFile(space.scratch, space.ranges.n, np.uint8, 0, space.page)
        for _, first, stop in space.ranges.each():
            self.trees[first:stop] = np.arange(first, stop, dtype=space.key)
            self.active[first:stop] = np.ones(stop - first, np.uint8)
        self.edges, self.rounds = space.queues(), 0

    def run(self) -> None:
        """Do all rounds."""
        while self._round():
            self.rounds += 1

    def _round(self) -> bool:
        """Join every tree to another one; returns False if only complete components remain."""
        space = self._space
        offers = space.queues(4)
        self._rows.bring(self._sources(), space.buckets(_Lightest(self, offers)), tick=self._tick)
        if len(offers) == 0:
            return False
        chosen = WordFile(space.scratch, space.ranges.n, np.uint8, 0, space.page)
        joins = Table(space.scratch, 2, max(1, space.room // 2))
        for number, first, stop in space.ranges.each(offers.filled()):
            self._choose(offers.read(number), (first, stop), chosen, joins)
        offers.close()
        self._join(chosen, joins)
        return True

    def _sources(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The active vertices, with words (label of the tree, rank)."""
        for start, stop in pieces(self._space.ranges.n):
            active = np.flatnonzero(self.active[start:stop])
            if len(active):
                trees, ranks = self.trees[start:stop][active], self.ranks.part(start, stop)[active]
                yield active + start, (trees.astype(np.uint64) << HALF) | ranks.astype(np.uint64)

    def _choose(self, offers: Iterator[np.ndarray], span: tuple[int, int], chosen: WordFile, joins: Table) -> None:
        """Choose the lightest edges of the trees with labels in a range."""
        first, stop = span
        weights, others, edges = (np.full(stop - first, _NO_EDGE) for _ in range(3))
        for rows in offers:
            fold_offers(rows, first, weights, others, edges)
        trees = np.flatnonzero(edges != _NO_EDGE)
        flags = np.zeros(stop - first, np.uint8)
        flags[trees] = 1
        chosen[first:stop] = flags
        joins.append(np.column_stack((trees + first, others[trees].astype(np.int64))))
        words = edges[trees]
        self.edges.put((words >> HALF).astype(np.int64) >> self.shift, words)

    def _join(self, chosen: WordFile, joins: Table) -> None:
        """Write the labels of the joined trees to all active vertices."""
        ranges = self._space.ranges

        def send(sink: Sink) -> None:
            for _, rows in joins.pieces():
                sink.add(rows.max(axis=1), rows.min(axis=1))

        joined = external_components(self._space, Hidden(
            send, lambda first, stop: chosen[first:stop] != 0,
            lambda first, stop: (np.zeros(stop - first, np.int64),) * 2), 0, self._tick)
        joins.clear()
        assert joined is not None, "every tree that chose is in one"
        asked, answers = self._space.queues(2), self._space.queues(2)
        for _, first, stop in ranges.each():
            active = np.flatnonzero(self.active[first:stop])
            trees = self.trees[first:stop][active].astype(np.int64)
            asked.put(trees >> ranges.shift, np.column_stack((trees, active + first)).view(np.uint64))
        for number, first, stop in ranges.each(asked.filled()):
            labels = joined.labels[first:stop].astype(np.uint64)
            for rows in asked.read(number):
                vertices = rows[:, 1].astype(np.int64)
                answers.put(vertices >> ranges.shift,
                            np.column_stack((rows[:, 1], labels[rows[:, 0].astype(np.int64) - first])))
        joined.release()
        asked.close()
        self._space.write(answers, self.trees)


class _Lightest(Taker):
    """Offers each vertex's lightest edge to its tree: rows (label, weight, label of the other tree, edge)."""

    everywhere = True

    def __init__(self, boruvka: Boruvka, offers: RangeQueues) -> None:
        self._boruvka, self._offers, self._first = boruvka, offers, 0
        self._active, self._trees, self._ranks = np.empty((3, 0), np.int64)
        self._weights, self._words = np.empty((2, 0), np.uint64)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._trees = first, self._boruvka.trees[first:stop].astype(np.int64)
        self._active = self._boruvka.active[first:stop]
        self._ranks = self._boruvka.ranks.part(first, stop)
        self._weights, self._words = np.full((2, stop - first), _NO_EDGE)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        lightest_edges((keys, values), self._first, self._active, self._trees, self._ranks, self._boruvka.stream,
                       self._weights, self._words)

    def end(self) -> None:
        """See Taker."""
        fresh = self._words != _NO_EDGE
        self._boruvka.active[self._first : self._first + len(fresh)] = fresh.astype(np.uint8)
        trees, own, words = self._trees[fresh], self._ranks[fresh].astype(np.uint64), self._words[fresh]
        other = words & LOW
        edges = (np.minimum(own, other) << HALF) | np.maximum(own, other)
        shift = self._boruvka.shift
        self._offers.put(trees >> shift, np.column_stack((trees.astype(np.uint64), self._weights[fresh],
                                                          words >> HALF, edges)))


@kernel
def lightest_edges(pairs, first, active, trees, ranks, stream, weights, words):
    """Find the lightest edge to another tree for every vertex: its word (label of the tree, rank) and its weight.

    Labels of inactive vertices are from an earlier round.
    """
    keys, values = pairs
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        if not active[at] or np.int64(values[i] >> HALF) == trees[at]:
            continue
        own = np.uint64(ranks[at])
        other = values[i] & LOW
        weight = edge_hash(stream, min(own, other), max(own, other))
        if words[at] == _NO_EDGE or weight < weights[at]:
            weights[at] = weight
            words[at] = values[i]


@kernel
def fold_offers(rows, first, weights, others, edges):
    """Keep the lightest edge offered to every tree. rows : uint64[k, 4], see _Lightest."""
    for i in range(len(rows)):
        at = np.int64(rows[i, 0]) - first
        if edges[at] == _NO_EDGE or rows[i, 1] < weights[at]:
            weights[at] = rows[i, 1]
            others[at] = rows[i, 2]
            edges[at] = rows[i, 3]
