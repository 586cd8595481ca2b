"""Settling the open vertices of a component by pairs, if bounds alone would need too many sources.

1. Sources among the open vertices, drawn at random. Then sources that cut a part of the component (`Parts`), if they
   end far more open pairs (pairs.py) of a sample than the same number of ends of these pairs would; otherwise vertices
   in many of the pairs, and more at random, until a full list is expected to have room. The distances to all sources
   are stored.
2. The list. A vertex in no open pair is settled.
3. Vertices in many open pairs become sources, and also the middles of shortest paths between ends of pairs as long as
   these end more pairs, until there is no open pair.

Sources that cut a component, so that distances across the cut are known:

Assume that no edge joins two *parts* except at a source. Then every path from v to a w of another part meets a source
p, so that d(v, w) = min over sources of d(v, p) + d(p, w): a lower bound on ecc(v) that needs no source at v or w, or
beyond them. In a mesh a cut of about sqrt(n) vertices separates nearly every vertex from the vertices far from it.

A cut is made from a level of a BFS within one part: those of its vertices that have a neighbour in the next level. The
BFS and the level are chosen to end the most pairs of a sample for each source.
Passes: none, but the rows of a level. Bytes a vertex: 4, and 12 while a level is searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...distinct import distinct
from ...engine.interface import Engine
from ...traverse.columns import Column
from ...traverse.components import Component
from .pairs import OpenPairs, PairTable

if TYPE_CHECKING:
    from .eccentricities import AllEccentricities

# The number of distance columns in which levels are searched.
_LOOKED_AT = 64
# A source of later cuts is assumed to end 1 / _LATER of the pairs that one of the best present level ends.
_LATER = 2


@dataclass(frozen=True)
class Level:
    """Vertices of a part at a distance from a source. column : number of that source's distances. size : number of
    vertices, without sources. pairs : number of the pairs with an end nearer to that source, and an end that is
    farther than these vertices or among them."""

    part: int
    column: int
    distance: int
    size: int
    pairs: int


class Parts:
    """The parts of the vertices first..first+m-1. of : int32[m], the part of every vertex; meaningless for sources and
    for vertices of other components."""

    def __init__(self, first: int, size: int) -> None:
        self._first = first
        self.of = np.zeros(size, np.int32)
        self._count = 1

    def best_level(self, pairs: OpenPairs, columns: Sequence[np.ndarray], is_source: np.ndarray) -> Level | None:
        """The best level for a cut, in the part with the most of these pairs, whose ends are in one part; None if no
        level is between the ends of any pair. columns : distances, unsigned[m] each. is_source : bool[m].

        Pairs that a level does not end are ended later, by more sources than the present ones. So the level with the
        fewest vertices for a pair is not always the best."""
        if not len(pairs):
            return None
        near, far = pairs.near - self._first, pairs.far - self._first
        part = int(np.bincount(self.of[near]).argmax())
        here = self.of[near] == part
        near, far = near[here], far[here]
        inside = np.flatnonzero((self.of == part) & ~is_source)
        some = distinct(np.linspace(0, len(columns) - 1, _LOOKED_AT).astype(np.int64))
        levels = np.concatenate([_levels(at, columns[at], near, far, inside) for at in some.tolist()])
        if not len(levels):
            return None
        _, _, sizes, ended = levels.T
        sources_a_pair = (sizes / ended).min()
        best = int((sizes - _LATER * sources_a_pair * ended).argmin())
        return Level(part, *levels[best].tolist())

    def cut(self, level: Level, column: np.ndarray, is_source: np.ndarray, engine: Engine) -> np.ndarray:
        """The vertices of a level that cut its part in two once they are sources, int64[k]; they must be traversed
        before parts are used. column : the distances of the level. is_source : bool[m], only sources whose distances
        are stored."""
        inside = (self.of == level.part) & ~is_source
        vertices = np.flatnonzero(inside & (column == level.distance))
        beyond = inside & (column == level.distance + 1)
        cut = [vertex for vertex, row in zip(vertices.tolist(), engine.rows(vertices + self._first), strict=True)
               if beyond[self._places(row)].any()]
        self.of[(self.of == level.part) & (column > level.distance)] = self._count
        self._count += 1
        return np.array(cut, np.int64) + self._first

    def _places(self, row: np.ndarray) -> np.ndarray:
        return row.astype(np.int64) - self._first


def _levels(at: int, column: np.ndarray, near: np.ndarray, far: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The levels of these distances that are between ends of pairs, int64[k, 4]: column, distance, size, pairs."""
    one, other = column[near].astype(np.int64), column[far].astype(np.int64)
    last = int(max(one.max(), other.max()))
    sizes = np.bincount(column[inside], minlength=last + 1)[:last]
    started, ended = (np.bincount(ends, minlength=last + 1)[:last]
                    for ends in (np.minimum(one, other), np.maximum(one, other)))
    across = np.cumsum(started - ended)
    distances = np.flatnonzero((sizes > 0) & (across > 0))
    return np.stack((np.full(len(distances), at), distances, sizes[distances], across[distances]), axis=1)


# Open vertices in a sample whose pairs are listed to estimate the rest, and sources between two samples or lists.
SAMPLE, ROUND = 1 << 8, 64
# The largest sample, in multiples of SAMPLE.
LARGEST_SAMPLE = 16
# Largest number of open pairs in a list, and bytes for each while they are sorted.
MOST_PAIRS, PAIR_BYTES = 1 << 22, 128
# Of eight sources this number is in the most pairs; the others are drawn at random: ends of pairs, or open vertices.
HEAVY, HEAVY_OF_SAMPLE = 6, 7
# A cut is made if it ends more than BETTER times the pairs that far ends end, and more than 1 / SHARE of the pairs.
BETTER, SHARE = 2, 8
# With fewer columns too little is proved.
LEAST_COLUMNS = ROUND


class ByPairs:
    """The open vertices of one component of a run. room : bytes for stored distances and for pairs."""

    def __init__(self, method: AllEccentricities, component: Component, room: int) -> None:
        assert method.bounds is not None
        self._method, self._bounds = method, method.bounds
        self._span = component.first, component.last + 1
        size = self._span[1] - self._span[0]
        self._possible = room // 4 // max(1, size * self._bounds.lower.dtype.itemsize) >= LEAST_COLUMNS
        self._most_pairs = min(MOST_PAIRS, room // 4 // PAIR_BYTES)
        self._table = PairTable(component.first, method.engine.facts.threads, room // 2)
        self._is_source = np.zeros(size, bool)
        self._parts = Parts(component.first, size)
        self._pairs: OpenPairs | None = None
        self._columns: list[np.ndarray] = []  # distances from sources not yet compared with the pairs
        self._ends: set[int] = set()  # sources for which middles of paths to them are wanted
        self._middles: list[int] = []

    @cached_property
    def _random(self) -> np.random.Generator:
        """Made on demand, since numpy imports its generators at this point."""
        return np.random.default_rng(0)

    def possible(self) -> bool:
        """Whether there is enough room."""
        return self._possible

    def settle(self) -> None:
        """Settle all open vertices, if there is room."""
        method, bounds = self._method, self._bounds
        method.take_leaves(bounds.upper.open_list(*self._span))
        self._mark(method.visited)
        self._traverse(self._drawn(ROUND))
        size = SAMPLE
        while bounds.n_open and self._table.room:
            is_open = bounds.upper.open_list(*self._span)
            sample = np.sort(self._random.choice(is_open, min(len(is_open), size), replace=False))
            pairs = self._list(sample, self._most_pairs)
            if pairs is not None:
                size = SAMPLE * min(LARGEST_SAMPLE, 1 + len(sample) // (1 + len(pairs.near_ones())))
                cut = self._cut(pairs)
                if cut is not None:
                    self._traverse(cut)
                    continue
                if len(pairs) * len(is_open) <= self._most_pairs * len(sample) and self._settle_listed(is_open):
                    return
            count = max(ROUND, len(self._table.columns) // 4)
            heavy = np.empty(0, np.int64) if pairs is None else pairs.heaviest(count * HEAVY_OF_SAMPLE // 8)
            self._traverse(distinct(np.concatenate((heavy, self._drawn(count - len(heavy))))), and_farthest=True)

    def _settle_listed(self, is_open: np.ndarray) -> bool:
        """List the pairs of all open vertices and end them; False if there are too many."""
        self._pairs = self._list(is_open, self._most_pairs)
        if self._pairs is None:
            return False
        self._table = PairTable(0, 1)  # the distances are no longer needed
        self._close(np.setdiff1d(is_open, self._pairs.near_ones(), assume_unique=True))
        self._cover(self._pairs)
        return True

    def _cut(self, pairs: OpenPairs) -> np.ndarray | None:
        """Sources that cut a part, or None if that does not pay."""
        table = self._table
        kept = np.zeros(len(self._is_source), bool)
        kept[np.array(table.sources, np.int64) - self._span[0]] = True
        level = self._parts.best_level(pairs, table.columns, kept)
        if level is None or level.size > table.room or not self._pays(level, pairs):
            return None
        return self._parts.cut(level, table.columns[level.column], kept, self._method.engine)

    def _pays(self, level: Level, pairs: OpenPairs) -> bool:
        """Whether a level ends many of these pairs, and many more than the same number of vertices that are far ends of
        most pairs. Near ends are vertices of the sample, so they are no measure for other pairs."""
        often = np.sort(np.unique(pairs.far, return_counts=True)[1])
        return bool(SHARE * level.pairs > len(pairs) and level.pairs > BETTER * often[-level.size :].sum())

    def _cover(self, pairs: OpenPairs) -> None:
        """Traverse vertices in many pairs, and in the middle of paths, until there is no pair."""
        # Without batches it costs nothing to choose a few at a time, by the pairs that the earlier ones left.
        count = ROUND if self._method.batches else max(1, ROUND // 4)
        middles = count // 2
        while len(pairs):
            self._middles, self._ends = [], set(pairs.heaviest(count - middles).tolist()) if middles else set()
            ends = np.array(sorted(self._ends), np.int64) if middles else self._of_pairs(pairs, count)
            closed = self._end_pairs(pairs, ends)
            self._ends = set()
            between = distinct(np.array(self._middles, np.int64))
            between = self._random.permutation(between[~self._is_source[between - self._span[0]]])[:middles]
            if len(between) and len(pairs):
                more = self._end_pairs(pairs, between) * len(ends) > closed * len(between)
                middles = min(count // 2, 2 * middles) if more else middles // 2

    def _end_pairs(self, pairs: OpenPairs, sources: np.ndarray) -> int:
        """Traverse sources; returns the number of pairs that ended."""
        before, n_before, upper = pairs.near_ones(), len(pairs), self._bounds.upper
        self._traverse(sources)
        pairs.tighten(self._columns, self._method.lower_here)
        self._columns = []
        pairs.drop(self._bounds.lower.part(*self._span), upper.part(*self._span) != upper.unreached)
        self._close(np.setdiff1d(before, pairs.near_ones(), assume_unique=True))
        return n_before - len(pairs)

    def _note_middle(self, pairs: OpenPairs, source: int, distances: Column) -> None:
        """Note the middle of a shortest path from the source to another end of one of its pairs whose distance does not
        exceed its lower bound."""
        others = pairs.near[pairs.far == source]
        others = others[distances.gather(others) <= self._bounds.lower.gather(others)]
        if len(others):
            target = int(self._random.choice(others))
            path = np.concatenate(list(self._method.engine.path_pieces(distances, target)))
            self._middles.append(int(path[len(path) // 2]))

    def _of_pairs(self, pairs: OpenPairs, count: int) -> np.ndarray:
        """`count` vertices that are in many pairs, or in pairs drawn at random."""
        heavy = pairs.heaviest(count * HEAVY // 8)
        drawn = distinct(pairs.near[self._random.integers(len(pairs), size=count - len(heavy))])
        return distinct(np.concatenate((heavy, drawn)))

    def _close(self, vertices: np.ndarray) -> None:
        """Close these vertices, if they are open."""
        self._bounds.close(vertices[self._bounds.upper.take(vertices) != self._bounds.upper.unreached])

    def _drawn(self, count: int) -> np.ndarray:
        """At most `count` open vertices, at random."""
        is_open = self._bounds.upper.open_list(*self._span)
        return self._random.permutation(is_open)[:count]

    def _list(self, vertices: np.ndarray, most: int) -> OpenPairs | None:
        """The open pairs of some vertices."""
        with self._method.stages.timed("pairs"):
            self._method.tick("pairs")
            lower = self._bounds.lower.gather(vertices)
            pairs = self._table.open_pairs(vertices, lower, self._parts.of, self._is_source, most,
                                           self._method.engine.reporter.heartbeat)
            self._bounds.raise_lower(vertices, lower)
            return pairs

    def _traverse(self, sources: np.ndarray, and_farthest: bool = False) -> None:
        """Traverse sources, and with and_farthest the vertices that they show to be far, repeatedly."""
        while len(sources):
            self._method.traverse(sources, self.keep)
            self._mark(set(sources.tolist()))
            farthest = self._method.take_farthest()
            sources = farthest if and_farthest else farthest[:0]

    def _mark(self, sources: set[int]) -> None:
        self._is_source[np.array(sorted(sources), np.int64) - self._span[0]] = True

    def keep(self, source: int, distances: Column, eccentricity: int) -> None:
        """Use a traversal for pairs: store its distances."""
        pairs = self._pairs
        if pairs is not None:
            self._columns.append(distances.part(*self._span))
            if source in self._ends:
                self._note_middle(pairs, source, distances)
        elif self._table.room:
            self._table.add(source, distances.part(*self._span), eccentricity)
