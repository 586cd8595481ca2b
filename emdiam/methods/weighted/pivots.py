"""Exact diameter of a weighted graph by pivot certificates: few searches, and a proof that can be checked again.

As `pivots` on graphs without weights (methods/exact/pivots.py), with lengths of paths in place of numbers of edges: for
pivots p_i with distances d_i, a vertex is settled if min_i d_i(v) + ecc(p_i) <= L, and the diameter is L when every
pair x != y of unsettled vertices has min_i d_i(x) + d_i(y) <= L. Rounds: both ends of the worst pair of every open
component, and the middle of a shortest path between them. If memory has no room for the columns of the candidates, the
run continues with bounds alone (search.py).
Passes: one search a pivot. Bytes a vertex: 28, and 24 for the columns of the sweeps; 12 a pivot and candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ...distinct import distinct
from ...paths.rows import unreached
from ..earlier import ForPairs
from .bounding import WeightedBounding
from .candidates import HeightCandidates

SWEEPS = 3


class WeightedPivots(WeightedBounding):
    """One run. room : bytes for the points of candidates, and their boxes. pair_bound : no open pair is longer."""

    name: ClassVar[str] = "pivots"
    room: int = 1 << 62
    pair_bound = 0

    def close(self, first: list[np.ndarray]) -> None:
        """Sweeps; then certificates and rounds until no pair is open, or until no more searches are allowed."""
        sources, columns, begin = first.pop(), first, self._first_sources
        while True:
            self._still_ends(begin, columns[-1])
            central = self.warm | (len(columns) == SWEEPS - 1)
            if central.any():
                sources[central] = self._central()[central]
            sources[(self.n_open < 2) | (self.warm if len(columns) > 1 else False)] = -1
            if (self.n_open < 2).all():
                return
            if len(columns) == SWEEPS or (sources < 0).all() or not self.may_search():
                break
            begin = sources
            distances, sources = self.search(sources)
            columns.append(distances)
        still_open = np.flatnonzero((self.bounds.upper > self.best.length) & (self.n_open[self.parts.component] > 1))
        candidates = HeightCandidates(still_open, self.parts.component, self.bounds.heights, self.room)
        if not self._take(candidates, columns):
            return super().close(columns)
        while (ends := self.open_ends(candidates)) is not None and self.may_search():
            if (chosen := self._earlier_for(candidates, ends)) is not None:
                if not self._take(candidates, [self.search(chosen)[0]]):
                    return super().close(columns)
            elif not self._refine(candidates, ends):
                return super().close(columns)

    def may_search(self) -> bool:
        """Whether another search may be made."""
        return True

    def open_ends(self, candidates: HeightCandidates) -> np.ndarray | None:
        """The pair to search from in each open component, int64[components, 2], -1: none; None if no pair is open."""
        pairs = candidates.certify(self.bounds.upper, self.best.length, lambda: self.tick("search"))
        self.pair_bound = max((pair.bound for pair in pairs), default=0)
        ends = np.full((len(self.parts.roots), 2), -1, np.int64)
        for pair in pairs:
            ends[pair.component] = pair.ends
        return ends if pairs else None

    def _take(self, candidates: HeightCandidates, columns: list[np.ndarray]) -> bool:
        """Move the columns to the candidates, one by one; False if there is no room."""
        while columns:
            column = columns.pop()
            if not candidates.add(column):
                return False
            for pairs in self.for_pairs.values():
                pairs.add(self._gathered(column)(self.earlier.sources))
        return True

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> bool:
        """Search from both `ends`, and from the middle between them; False if there is no room for their columns."""
        one, other = (self.search(ends[:, side].copy())[0] for side in (0, 1))
        middle = self.bounds.middle(one, other, ends)
        if not self._take(candidates, [one, other]):
            return False
        return not (middle >= 0).any() or self._take(candidates, [self.search(middle)[0]])

    # -- an earlier proof -----------------------------------------------------------------------
    def starts(self) -> np.ndarray:
        """As in all methods; in components with both ends of a pair of an earlier proof, the first of these."""
        starts, component = super().starts(), self.parts.component
        self.warm = np.zeros(len(starts), np.bool_)
        inside = component[self.earlier.sources]
        active = distinct(inside[starts[inside] >= 0]).tolist()
        self.for_pairs = {c: ForPairs(self.earlier, inside == c) for c in active}
        for first, second in self.earlier.pairs[::-1]:
            if component[first] == component[second] and starts[component[first]] >= 0:
                starts[component[first]] = first
        self._first_sources = starts
        return starts

    def _still_ends(self, sources: np.ndarray, distances: np.ndarray) -> None:
        """Note the components where the ends of the earlier proof are still about as far apart as before."""
        for c in self.for_pairs:
            if sources[c] >= 0:
                reach = int(distances[self.parts.component == c].max())
                self.warm[c] |= self.earlier.are_ends(int(sources[c]), self._gathered(distances), reach)

    def _gathered(self, column: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function that returns the distances of vertices in this column, int64[k], -1 without a path."""
        none = unreached(column.dtype)
        return lambda vertices: np.where(column[vertices] == none, -1, column[vertices].astype(np.int64))

    def _central(self) -> np.ndarray:
        """A central vertex of every component, from the earlier proof if one of these is good enough."""
        centre, component = self.bounds.central(), self.parts.component
        for c in np.flatnonzero(self.warm & (centre >= 0)).tolist():
            lower = np.where(component == c, self.bounds.lower, -1)
            centre[c] = self.earlier.instead(int(centre[c]), lower.__getitem__, self.best.length)
        return centre

    def _earlier_for(self, candidates: HeightCandidates, ends: np.ndarray) -> np.ndarray | None:
        """The earlier sources that may prove the open pairs, for some components; None if there are none."""
        chosen = np.full(len(ends), -1, np.int64)
        for c in self.for_pairs if self.warm.any() else ():
            if self.warm[c] and ends[c, 0] >= 0:
                vertex = self.for_pairs[c].choose(candidates.points_of(ends[c]), self.best.length, candidates.n_of(c))
                chosen[c] = -1 if vertex is None else vertex
        return chosen if (chosen >= 0).any() else None
