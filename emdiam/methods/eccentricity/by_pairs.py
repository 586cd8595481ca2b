"""Settling the open vertices of a component by pairs, where bounds alone would make a source of too many.

1. Sources among the open vertices, drawn at random, and vertices in many open pairs of a sample, until a full list of
   open pairs (pairs.py) is expected to have room; their distances are kept.
2. The list. A vertex in no open pair is settled.
3. Vertices in many open pairs are sources, and the middles of shortest paths between ends of pairs as long as these
   end more pairs, until there is no open pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...traverse.columns import Column
from ...traverse.components import Component
from .pairs import OpenPairs, PairTable

if TYPE_CHECKING:
    from .eccentricities import AllEccentricities

# Open vertices whose pairs are listed to see what the others have, and sources between two such samples, or lists.
SAMPLE, ROUND = 1 << 8, 64
# Open pairs that are listed, at most, and bytes for each while they are sorted.
MOST_PAIRS, PAIR_BYTES = 1 << 22, 128
# Of eight sources so many are in the most pairs; the others are drawn at random: ends of pairs, or open vertices.
HEAVY, HEAVY_OF_SAMPLE = 6, 7
# Fewer distances than so many prove too little.
LEAST_COLUMNS = ROUND


class ByPairs:
    """The open vertices of one component of a run. room : bytes for distances that are kept, and for pairs."""

    def __init__(self, method: AllEccentricities, component: Component, room: int) -> None:
        assert method.bounds is not None
        self._method, self._bounds = method, method.bounds
        self._span = component.first, component.last + 1
        size = self._span[1] - self._span[0]
        self._most_columns = room // 2 // max(1, size * self._bounds.lower.dtype.itemsize)
        self._most_pairs = min(MOST_PAIRS, room // 2 // PAIR_BYTES)
        self._table = PairTable(component.first, method.engine.facts.threads)
        self._is_source = np.zeros(size, bool)
        self._random = np.random.default_rng(0)
        self._pairs: OpenPairs | None = None
        self._ends: set[int] = set()  # sources of which the middles of paths to them are wanted
        self._middles: list[int] = []

    def possible(self) -> bool:
        """Whether there is room enough."""
        return self._most_columns >= LEAST_COLUMNS

    def settle(self) -> None:
        """Settle all open vertices, if there is room."""
        method, bounds = self._method, self._bounds
        method.take_leaves(bounds.upper.open_list(*self._span))
        self._mark(method.visited)
        sources = self._drawn(ROUND)
        while bounds.n_open and len(self._table.columns) < self._most_columns:
            self._traverse(sources)
            is_open = bounds.upper.open_list(*self._span)
            if not len(is_open):
                return
            sample = is_open if len(is_open) <= SAMPLE else np.sort(self._random.choice(is_open, SAMPLE, replace=False))
            pairs = self._list(sample, self._most_pairs)
            if pairs is not None and len(pairs) * len(is_open) <= self._most_pairs * len(sample):
                self._pairs = self._list(is_open, self._most_pairs)
                if self._pairs is not None:
                    self._table = PairTable(0, 1)  # the distances are not needed any more
                    self._close(np.setdiff1d(is_open, self._pairs.near))
                    self._cover(self._pairs)
                    return
            count = max(ROUND, len(self._table.columns) // 4)
            heavy = np.empty(0, np.int64) if pairs is None else pairs.heaviest(count * HEAVY_OF_SAMPLE // 8)
            sources = np.unique(np.concatenate((heavy, self._drawn(count - len(heavy)))))

    def _cover(self, pairs: OpenPairs) -> None:
        """Traverse vertices in many pairs, and in the middle of paths, until there is no pair."""
        # One after another they may as well be chosen a few at a time, by what the others have left.
        count = ROUND if self._method.batches else ROUND // 4
        middles = count // 2
        while len(pairs):
            self._middles, self._ends = [], set(pairs.heaviest(count - middles).tolist()) if middles else set()
            ends = np.array(sorted(self._ends), np.int64) if middles else self._of_pairs(pairs, count)
            closed = self._end_pairs(pairs, ends)
            self._ends = set()
            between = np.unique(np.array(self._middles, np.int64))
            between = self._random.permutation(between[~self._is_source[between - self._span[0]]])[:middles]
            if len(between) and len(pairs):
                more = self._end_pairs(pairs, between) * len(ends) > closed * len(between)
                middles = min(count // 2, 2 * middles) if more else middles // 2

    def _end_pairs(self, pairs: OpenPairs, sources: np.ndarray) -> int:
        """Traverse sources; of the pairs so many have ended."""
        before, n_before = np.unique(pairs.near), len(pairs)
        self._traverse(sources)
        is_open = self._bounds.upper.take(pairs.near) != self._bounds.upper.unreached
        pairs.drop(~is_open | (pairs.bound <= self._bounds.lower.gather(pairs.near)))
        self._close(np.setdiff1d(before, pairs.near))
        return n_before - len(pairs)

    def _note_middle(self, pairs: OpenPairs, source: int, distances: Column) -> None:
        """The middle of a shortest path from the source to another end of one of its pairs, which is not known to be
        farther than its lower bound."""
        others = pairs.near[pairs.far == source]
        others = others[distances.gather(others) <= self._bounds.lower.gather(others)]
        if len(others):
            target = int(self._random.choice(others))
            path = np.concatenate(list(self._method.engine.path_pieces(distances, target)))
            self._middles.append(int(path[len(path) // 2]))

    def _of_pairs(self, pairs: OpenPairs, count: int) -> np.ndarray:
        """So many vertices that are in many pairs, or in pairs drawn at random."""
        heavy = pairs.heaviest(count * HEAVY // 8)
        drawn = np.unique(pairs.near[self._random.integers(len(pairs), size=count - len(heavy))])
        return np.unique(np.concatenate((heavy, drawn)))

    def _close(self, vertices: np.ndarray) -> None:
        """These are settled, if they are open."""
        self._bounds.close(vertices[self._bounds.upper.take(vertices) != self._bounds.upper.unreached])

    def _drawn(self, count: int) -> np.ndarray:
        """So many open vertices, at random."""
        is_open = self._bounds.upper.open_list(*self._span)
        return self._random.permutation(is_open)[:count]

    def _list(self, vertices: np.ndarray, most: int) -> OpenPairs | None:
        """The open pairs of some vertices."""
        with self._method.stages.timed("pairs"):
            self._method.tick("pairs")
            return self._table.open_pairs(vertices, self._bounds.lower.gather(vertices), self._is_source, most,
                                          self._method.engine.reporter.heartbeat)

    def _traverse(self, sources: np.ndarray) -> None:
        """Traverse sources, and what they show to be far."""
        while len(sources):
            self._method.traverse(sources, self.keep)
            self._mark(set(sources.tolist()))
            farthest = self._method.take_farthest()
            # Pairs that are listed tell better what is far.
            sources = farthest if self._pairs is None else farthest[:0]

    def _mark(self, sources: set[int]) -> None:
        self._is_source[np.array(sorted(sources), np.int64) - self._span[0]] = True

    def keep(self, source: int, distances: Column, eccentricity: int) -> None:
        """What a traversal shows of pairs."""
        pairs = self._pairs
        if pairs is not None:
            pairs.tighten(distances.gather(pairs.near), distances.gather(pairs.far))
            if source in self._ends:
                self._note_middle(pairs, source, distances)
        elif len(self._table.columns) < self._most_columns:
            self._table.add(np.array(distances.part(*self._span)), eccentricity)
