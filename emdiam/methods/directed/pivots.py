"""Pivots on directed graphs: bounds on ecc_out and ecc_in from a few vertices, then the rest by pairs and by heads.

Definition: L is the largest distance seen. From a pivot p there are two BFS, along arcs and against them. For v in the
strong component of p, ecc_out(v) <= d(v, p) + ecc_out(p), since p reaches what v reaches, and ecc_in(v) <= ecc_in(p) +
d(p, v). And d(v, p) and d(p, v) are lower bounds, which show central vertices. A vertex is an open source if its
upper bound on ecc_out exceeds L, an open sink if that on ecc_in does; a longer pair is an open source and an open sink.

1. Rounds: a pivot in the middle of the component of the open source with the largest bound; a BFS along arcs from
   that source, and one against arcs from the open sink with the largest bound. Rounds continue while they close many.
2. The rest, from the side with fewer open vertices (the other one is the same on the reverse): in the order and
   with the bounds by heads of graph-diameter; then by pairs: d(a, b) <= d(a, p) + d(p, b) for the pivots p, and if p
   is in the component of a, then a reaches b only if p does; finally a BFS if all this leaves a pair above L.

Source: the bounds are those of Takes and Kosters, Computing the eccentricity distribution of large graphs, Algorithms
2013, for two directions; the bound by heads is from Akiba, Iwata, Kawata, SEA 2015; alternating extreme and central
vertices on both sides is from Borassi, Crescenzi, Habib, Kosters, Marino, Takes, Fast diameter and radius BFS-based
computation in (weakly connected) real-world graphs, Theor. Comput. Sci. 2015. Pairs: as in pivots on undirected graphs.

Passes: four BFS a round, up to two for each remaining vertex. Bytes a vertex: shared state 4, components 4, four
bounds 16, eight columns of 1 to 4 for the stored pivots.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import kernel
from ...traverse.arc_bounds import NOWHERE
from ...traverse.columns import Column
from .graph_diameter import DirectedGraphDiameter

KEPT = 4
# Rounds continue while each leaves at most this share of the pairs of an open source and an open sink.
_WORTH = 0.8
# The most pairs of a vertex of one side and a pivot whose distances are put into a table.
_MOST_TABLE = 1 << 22


class DirectedPivots(DirectedGraphDiameter):
    """One run of pivots. bounds : on ecc_out and ecc_in. kept : pivots, each with the distances from it and to it."""

    name = "pivots"
    most_kept = KEPT

    def solve(self) -> None:
        """See DirectedMethod."""
        self.kept: list[tuple[int, tuple[Column, Column]]] = []
        super().solve()

    def begin_bounds(self) -> None:
        """Set the bounds on the eccentricities of both sides to values that say nothing."""
        self.bounds = self.metric.new_bounds(self.numbers, self.above)
        self.rounds = self.by_pairs = 0

    def _solve(self) -> None:
        self.begin_bounds()
        order = self._order()
        hub = int(order[np.flatnonzero(self.numbers[order] == self.sizes.argmax())[0]])
        open_pairs = self._round(hub)
        while open_pairs and not self.satisfied():
            before, open_pairs = open_pairs, self._round(self._central())
            if open_pairs > _WORTH * before:
                break
        if not open_pairs:
            self.bound = self.best.length
        elif not self.satisfied():
            self._finish(order)

    def _details(self) -> dict[str, Any]:
        rounds = {} if self.n_strong is None or not self.metric.n_edges else {
            "rounds": self.rounds, "sources": self.sources, "closed_by_pairs": self.by_pairs}
        return rounds

    def _round(self, pivot: int) -> int:
        """Do a pivot, and the vertex with the largest bound on each side; returns the number of open pairs."""
        self.rounds += 1
        ends = [self.traverse(pivot, back=back) for back in (False, True)]
        for searched in self.searched:
            searched[pivot] = None
        out, into = (end.distances for end in ends if end.distances is not None)
        if len(self.kept) < self.most_kept:
            self.kept.append((pivot, (out, into)))
        self.bounds.fold(0, pivot, into, ends[0].levels)
        self.bounds.fold(1, pivot, out, ends[1].levels)
        for side in (0, 1):
            if self.bounds.n_above(side, self.best.length):
                self._extreme(side)
        counts = [self.bounds.n_above(side, self.best.length) for side in (0, 1)]
        self.tell_bound()
        return counts[0] * counts[1]

    def tell_bound(self) -> None:
        """Update the upper bound, from L and the bounds of both sides."""
        self.bound = min(self.bound, max(self.best.length, min(map(self.bounds.largest, (0, 1)))))

    def _extreme(self, side: int) -> None:
        """Do the BFS of the open vertex with the largest bound (ties: the largest lower bound)."""
        def lower_of_open(ids: np.ndarray) -> np.ndarray:
            upper, lower = self.bounds.at(side, ids)
            return np.where(upper > self.best.length, lower, -1)

        vertex = self.earlier.instead(self.bounds.extreme(side, self.best.length), lower_of_open, far=True)
        run = self.traverse(vertex, back=bool(side))
        self.bounds.put(side, vertex, run.levels)
        self.searched[side][vertex] = None
        if run.distances is not None:
            upper, _ = self.bounds.at(1 - side, np.array([vertex]))
            self.bounds.fold(1 - side, vertex, run.distances, int(upper[0]))

    def _central(self) -> int:
        """A vertex with the smallest lower bounds in the component of the source with the largest bound."""
        first = self.bounds.first_largest()
        number, searched = self.numbers[first], list(self.searched[0].keys() & self.searched[1].keys())
        best = self.bounds.central(int(number), searched)

        def middle(ids: np.ndarray) -> np.ndarray:
            sums = self.bounds.at(0, ids)[1] + self.bounds.at(1, ids)[1]
            sums[(self.numbers[ids] != number) | np.isin(ids, searched)] = NOWHERE
            return sums

        return first if best < 0 else self.earlier.instead(best, middle)

    def _finish(self, order: np.ndarray) -> None:
        """Do the rest, from the side with fewer open vertices."""
        sides = [self.bounds.above(side, self.best.length) for side in (0, 1)]
        self.turned = len(sides[1]) < len(sides[0])
        others = sides[0] if self.turned else sides[1]
        few = max(1, _MOST_TABLE // max(1, len(self.kept)))
        self._others = others if self.kept and len(others) <= few else None
        if self._others is not None:
            self._table = self._distances(self.turned, others)
        self._same = np.array([self.numbers[pivot] for pivot, _ in self.kept], np.int64)
        self.main_loop(order[::-1] if self.turned else order)

    def _distances(self, side: int, vertices: np.ndarray) -> np.ndarray:
        """Distances from (side 1: to) the stored pivots, [pivots, vertices], -1 without a path."""
        found = np.empty((len(self.kept), len(vertices)), np.int32 if self.above < 1 << 31 else np.int64)
        for row, (_, distances) in zip(found, self.kept, strict=True):
            row[:] = distances[side].gather(vertices)
        return found

    def _look_at(self, vertices: np.ndarray, least: np.ndarray) -> None:
        if self._others is not None:
            self._mine = self._distances(not self.turned, vertices), self._same[:, None] == self.numbers[vertices]
        super()._look_at(vertices, least)

    def _closed(self, at: int) -> bool:
        if self._others is None:
            return False
        mine, same = (table[:, at] for table in self._mine)
        closed = bool(all_near(self._table, mine.astype(np.int64), same.copy(), self.best.length))
        self.by_pairs += closed
        return closed


@kernel
def all_near(table, mine, same, limit):
    """Whether every other vertex is within `limit` through a pivot, or not reached at all. table : distances
    between the pivots and the others, [pivots, others], -1 without a path. mine : int64[pivots], the same. same :
    bool[pivots], whether the pivot reaches what this vertex reaches."""
    for b in range(table.shape[1]):
        near = False
        for p in range(table.shape[0]):
            d = np.int64(table[p, b])
            if d < 0:
                near = near or same[p]
            elif mine[p] >= 0 and mine[p] + d <= limit:
                near = True
            if near:
                break
        if not near:
            return False
    return True
