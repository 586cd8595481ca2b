"""Rooted spanning forests on disk: see Forest and Trees in engine/interface.py.

The forest is stored as separate rows (tree_rows.py). Its trees are components, each with hub, size and vertex of
smallest rank. Heights come from a BFS of the forest from its roots (growth.py), level by level.
Bytes: 24 per tree with an edge, as in the method; one range of vertices at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import NoReturn

import numpy as np

from ..errors import InputError
from ..progress import Tick
from ..traverse.columns import Column
from ..trees.refinement import EXACT, TreeBounds, first_so_high, sum_up, tallest_two
from .boruvka import Boruvka
from .components import Hidden, external_components
from .disk import NaturalRanks
from .queues import Space
from .rows import Rows, pieces
from .tree_refinement import DiskRefinement
from .tree_rows import TreeRows

_NO_TREE = np.iinfo(np.uint32).max
_RANK_BITS = 32


class DiskTrees:
    """See Trees. Trees are in the order of their vertices of smallest rank. roots : these vertices, int64[n_trees].
    largest : the tree with most vertices; of equals, the one with the smallest rank."""

    def __init__(self, rows: Rows, forest: TreeRows, space: Space, ranks: NaturalRanks, tick: Tick) -> None:
        self._space, self._ranks = space, ranks

        def facts(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            # The largest first word wins: the highest degree, and among equals the smallest rank.
            own = ranks.part(first, stop)
            return (rows.degrees_of(first, stop) << _RANK_BITS) + ((1 << _RANK_BITS) - 1 - own), own

        hidden = Hidden(lambda sink: forest.send((
            (np.arange(start, stop),) * 2 for start, stop in pieces(space.ranges.n)), sink, up=True),
            lambda first, stop: rows.degrees_of(first, stop) > 0, facts)
        found = external_components(space, hidden, int(np.iinfo(space.key).max), tick)
        none = np.empty(0, np.int64)
        self._labels = none if found is None else found.labels
        names, sizes, hubs, best, roots = (none,) * 5 if found is None else found.described()
        order = np.argsort(roots)
        self.hubs, self.sizes, self.roots = hubs[order], sizes[order], roots[order]
        self._names, self._numbers = np.sort(names), np.argsort(order)[np.argsort(names)]
        self.n_trees = len(self.roots)
        most = np.flatnonzero(self.sizes == self.sizes.max(initial=0))
        self.largest = int(most[best[order][most].argmin()]) if len(most) else -1

    def numbers(self, start: int, stop: int) -> np.ndarray:
        """The trees of vertices start..stop-1, uint32[k]; the largest value for vertices without an edge."""
        if self.n_trees == 0:
            return np.full(stop - start, _NO_TREE, np.uint32)
        labels = self._labels[start:stop].astype(np.int64)
        at = np.minimum(np.searchsorted(self._names, labels), self.n_trees - 1)
        numbers = self._numbers[at]
        numbers[self._names[at] != labels] = _NO_TREE
        return numbers.astype(np.uint32)

    def number_of(self, vertices: np.ndarray) -> np.ndarray:
        """The trees of vertices (int64[k]) with an edge, int64[k]."""
        result: np.ndarray = self._numbers[np.searchsorted(self._names, self._labels.take(vertices).astype(np.int64))]
        return result

    def bounds(self, heights: Column, known: int) -> TreeBounds:
        """See Trees."""
        first, second = np.zeros(self.n_trees, np.uint32), np.zeros(self.n_trees, np.uint32)
        for _, start, stop in self._space.ranges.each():
            tallest_two(self.numbers(start, stop), heights.part(start, stop), first, second)
        found = np.zeros(6, np.int64)
        sum_up(first, second, self.sizes, np.int64(min(known, int(EXACT))), self.largest, found)
        return TreeBounds(*(int(value) for value in found))

    def farthest(self, tree: int, labels: Column, height: int) -> int:
        """See Trees."""
        best = np.full(2, -1, np.int64)
        for _, start, stop in self._space.ranges.each():
            first_so_high(self.numbers(start, stop), self._ranks.part(start, stop), tree, labels.part(start, stop),
                          height, start, best)
        return int(best[0])


class DiskForest:
    """See Forest; the result of the verb spanning_forest. n_connected : number of vertices with an edge."""

    def __init__(self, rows: Rows, space: Space, ranks: NaturalRanks, key: int, n_connected: int, tick: Tick) -> None:
        read = rows.counters.snapshot().bytes_read
        self._rows, self._space, self._ranks, self._tick = rows, space, ranks, tick
        boruvka = Boruvka(rows, space, ranks, key, tick)
        boruvka.run()
        self._forest, self.scans = TreeRows(space, ranks, boruvka.edges), boruvka.rounds + 1
        self.n_trees = n_connected - self._forest.n_edges
        self.bytes_read = rows.counters.snapshot().bytes_read - read
        self._roots = np.empty(0, np.int64)

    @cached_property
    def _trees(self) -> DiskTrees:
        trees = DiskTrees(self._rows, self._forest, self._space, self._ranks, self._tick)
        self._roots = trees.roots.copy()
        return trees

    def euler_masters(self, spacing: int) -> NoReturn:
        """Raises InputError."""
        raise InputError("the external engine puts no masters on an Euler tour",
                         remedy="draw them at random (without --euler), or give more memory")

    def trees(self) -> DiskTrees:
        """See Forest."""
        return self._trees

    def hang_from(self, vertices: np.ndarray) -> None:
        """See Forest."""
        ids = np.asarray(vertices, np.int64)
        self._roots[self._trees.number_of(ids)] = ids

    def refine(self) -> DiskRefinement:
        """See Forest."""
        assert self._trees.n_trees == self.n_trees
        return DiskRefinement(self._rows, self._forest, self._space, self._ranks, self._roots, self._tick)

    def release(self) -> None:
        """See Forest."""
        del self._forest
