"""Exact diameter of a weighted graph by pivot certificates: few searches, and a proof that can be checked again.

As `pivots` on graphs without weights (methods/exact/pivots.py), with lengths of paths in place of numbers of edges: for
pivots p_i with distances d_i, a vertex is settled if min_i d_i(v) + ecc(p_i) <= L, and the diameter is L when every
pair x != y of unsettled vertices has min_i d_i(x) + d_i(y) <= L. Rounds: both ends of the worst pair of every open
component, and the middle of a shortest path between them. If memory has no room for the columns of the candidates, the
run continues with bounds alone (search.py).
Passes: one search a pivot. Bytes a vertex: 28, and 24 for the columns of the sweeps; 12 a pivot and candidate.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...paths.rows import unreached
from ..earlier import EarlierSweeps
from .bounding import WeightedBounding
from .candidates import HeightCandidates

SWEEPS = 3
# Certifying is tried early if at most 1 / MANY of the vertices are open.
MANY = 8


class WeightedPivots(WeightedBounding):
    """One run. room : bytes for the points of candidates, and their boxes. pair_bound : no open pair is longer."""

    name: ClassVar[str] = "pivots"
    room: int = 1 << 62
    pair_bound = 0

    def close(self, first: list[np.ndarray]) -> None:
        """Sweeps; then certificates and rounds until no pair is open, or until no more searches are allowed."""
        sources, columns = first.pop(), first
        self._begin_sweeps(columns[0], sources)
        while True:
            if len(columns) == SWEEPS - 1:
                sources = self.bounds.central()
            self._earlier_instead(sources)
            sources[self.n_open < 2] = -1
            if (self.n_open < 2).all():
                return
            if len(columns) == SWEEPS or (sources < 0).all() or not self.may_search():
                break
            source = int(sources[self._component])
            distances, sources = self.search(sources)
            columns.append(distances)
            self._sweeps.searched(source, int(distances[sources[self._component]]))
        still_open = np.flatnonzero((self.bounds.upper > self.best.length) & (self.n_open[self.parts.component] > 1))
        candidates = HeightCandidates(still_open, self.parts.component, self.bounds.heights, self.room)
        if not self._take(candidates, columns):
            return super().close(columns)
        while (ends := self.open_ends(candidates)) is not None and self.may_search():
            if not self._refine(candidates, ends):
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
            if not candidates.add(columns.pop()):
                return False
        return True

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> bool:
        """Search from both `ends`, and from the middle between them, as long as vertices are open; False if there is no
        room for their columns."""
        columns = list[np.ndarray]()
        for side in (0, 1, 2):
            ends[self.n_open < 2] = -1
            if (ends < 0).all():
                break
            sources = ends[:, side].copy() if side < 2 else self.bounds.middle(columns[0], columns[1], ends)
            if side == 2 and not self._take(candidates, columns):
                return False
            if (sources >= 0).any():
                columns.append(self.search(sources)[0])
        return self._take(candidates, columns)

    # -- an earlier proof -----------------------------------------------------------------------
    def starts(self) -> np.ndarray:
        """As in all methods; in its component the central source of an earlier proof, if few edges are lost."""
        starts, central = super().starts(), self.earlier.central
        self._sweeps = EarlierSweeps(self.earlier, self.metric.number)
        self._component = int(self.parts.component[central]) if central >= 0 else -1
        if starts[self._component] >= 0 and self.earlier.start() is not None:
            starts[self._component] = central
        self._first_sources = starts
        return starts

    def _begin_sweeps(self, distances: np.ndarray, far: np.ndarray) -> None:
        """Choose earlier sources for sweeps. distances, far : of the first search."""
        source, farthest, none = self._first_sources[self._component], far[self._component], unreached(distances.dtype)
        if self._component >= 0 and source >= 0 and farthest >= 0:
            self._sweeps.begin(int(source), int(farthest), int(distances[farthest]), lambda vertices: np.where(
                distances[vertices] == none, -1, distances[vertices].astype(np.int64)))

    def _earlier_instead(self, sources: np.ndarray) -> None:
        """Put the next earlier source in place of that of its component; after the last one none, if few are open."""
        c = self._component
        if self._sweeps.on:
            vertex = self._sweeps.next(lambda vertex: bool(self.bounds.upper[vertex] > self.best.length))
            if vertex is not None or MANY * self.n_open[c] <= self.parts.sizes[c]:
                sources[c] = -1 if vertex is None else vertex
