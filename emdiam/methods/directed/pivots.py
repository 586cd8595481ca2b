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
from .graph_diameter import DirectedGraphDiameter

KEPT = 4
# Rounds continue while each leaves at most this share of the pairs of an open source and an open sink.
_WORTH = 0.8
# The most pairs of a vertex of one side and a pivot whose distances are put into a table.
_MOST_TABLE = 1 << 22


class DirectedPivots(DirectedGraphDiameter):
    """One run of pivots. bounds : upper bounds on ecc_out and ecc_in, [2, n]. lower : lower bounds, [2, n]. kept :
    pivots, each with the distances from it and to it."""

    name = "pivots"
    most_kept = KEPT

    def solve(self) -> None:
        """See DirectedMethod."""
        self.kept: list[tuple[int, tuple[np.ndarray, np.ndarray]]] = []
        super().solve()

    def begin_bounds(self) -> None:
        """Set the bounds on the eccentricities of both sides to values that say nothing."""
        self.bounds = self.no_bounds((2, self.n))
        self.lower = np.zeros_like(self.bounds)
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

    def _open(self, side: int) -> np.ndarray:
        """Vertices whose upper bound on that side exceeds L, int64[k]."""
        return np.flatnonzero(self.bounds[side] > self.best.length)

    def _round(self, pivot: int) -> int:
        """Do a pivot, and the vertex with the largest bound on each side; returns the number of open pairs."""
        self.rounds += 1
        ends = [self.traverse(pivot, back=back) for back in (False, True)]
        for searched in self.searched:
            searched[pivot] = None
        out, into = (end.distances.raw() for end in ends if end.distances is not None)
        dtype = self.kept[0][1][0].dtype if self.kept else out.dtype
        if len(self.kept) < self.most_kept and out.dtype == into.dtype == dtype:
            self.kept.append((pivot, (out, into)))
        self._fold(pivot, into, 0, ends[0].levels)
        self._fold(pivot, out, 1, ends[1].levels)
        for side in (0, 1):
            if len(self._open(side)):
                self._extreme(side)
        counts = [len(self._open(side)) for side in (0, 1)]
        self.tell_bound()
        return counts[0] * counts[1]

    def tell_bound(self) -> None:
        """Update the upper bound, from L and the bounds of both sides."""
        self.bound = min(self.bound, max(self.best.length, min(int(side.max()) for side in self.bounds)))

    def _fold(self, vertex: int, distances: np.ndarray, side: int, eccentricity: int) -> None:
        """Fold distances to (side 0) or from (side 1) a vertex, with its eccentricity on that side or a bound on it."""
        number = int(self.numbers[vertex])
        fold(self.bounds[side], self.lower[side], distances, self.numbers,
             np.array([np.iinfo(distances.dtype).max, number, eccentricity], np.int64))

    def _extreme(self, side: int) -> None:
        """Do the BFS of the open vertex with the largest bound (ties: the largest lower bound)."""
        vertices = self._open(side)
        vertex = int(vertices[np.lexsort((-self.lower[side, vertices].astype(np.int64),
                                          -self.bounds[side, vertices].astype(np.int64)))[0]])
        vertex = self.earlier.instead(vertex, lambda ids: np.where(
            self.bounds[side, ids] > self.best.length, self.lower[side, ids].astype(np.int64), -1), far=True)
        run = self.traverse(vertex, back=bool(side))
        self.bounds[side, vertex], self.searched[side][vertex] = run.levels, None
        if run.distances is not None:
            self._fold(vertex, run.distances.raw(), 1 - side, int(self.bounds[1 - side, vertex]))

    def _central(self) -> int:
        """A vertex with the smallest lower bounds in the component of the source with the largest bound."""
        first = int(self.bounds[0].argmax())
        middle = self.lower.sum(axis=0, dtype=np.int64)
        middle[self.numbers != self.numbers[first]] = np.iinfo(np.int64).max
        middle[list(self.searched[0].keys() & self.searched[1].keys())] = np.iinfo(np.int64).max
        best = int(middle.argmin())
        if middle[best] == np.iinfo(np.int64).max:
            return first
        return self.earlier.instead(best, middle.__getitem__)

    def _finish(self, order: np.ndarray) -> None:
        """Do the rest, from the side with fewer open vertices."""
        sides = [self._open(side) for side in (0, 1)]
        self.turned = len(sides[1]) < len(sides[0])
        others = sides[0] if self.turned else sides[1]
        few = max(1, _MOST_TABLE // max(1, len(self.kept)))
        self._others = others if self.kept and len(others) <= few else None
        if self._others is not None:
            self._table = np.stack([distances[self.turned][others] for _, distances in self.kept])
        self._same = np.array([self.numbers[pivot] for pivot, _ in self.kept], np.int64)
        self.main_loop(self.bounds[int(self.turned)], order[::-1] if self.turned else order)

    def _closed(self, vertex: int, bounds: np.ndarray) -> bool:
        if self._others is None:
            return False
        mine = np.array([distances[not self.turned][vertex] for _, distances in self.kept], np.int64)
        about = np.array([np.iinfo(self._table.dtype).max, self.best.length], np.int64)
        if not all_near(self._table, mine, self._same == self.numbers[vertex], about):
            return False
        self.by_pairs += 1
        bounds[vertex] = self.best.length
        return True


@kernel
def fold(upper, lower, distances, numbers, about):
    """Update the bounds on the eccentricities of one side, [n] each, with distances to a vertex of component about[1]
    whose eccentricity is at most about[2]. about[0] : unreached."""
    for v in range(len(upper)):
        d = np.int64(distances[v])
        if d == about[0]:
            continue
        if d > np.int64(lower[v]):
            lower[v] = d
        if np.int64(numbers[v]) == about[1] and d + about[2] < np.int64(upper[v]):
            upper[v] = d + about[2]


@kernel
def all_near(table, mine, same, about):
    """Whether every other vertex is within about[1] through a pivot, or not reached at all. table : distances
    between the pivots and the others, [pivots, others]. mine : int64[pivots]. same : bool[pivots], whether the pivot
    reaches what this vertex reaches. about[0] : unreached."""
    for b in range(table.shape[1]):
        near = False
        for p in range(table.shape[0]):
            d = np.int64(table[p, b])
            if d == about[0]:
                near = near or same[p]
            elif mine[p] != about[0] and mine[p] + d <= about[1]:
                near = True
            if near:
                break
        if not near:
            return False
    return True
