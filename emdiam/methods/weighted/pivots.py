"""Exact diameter of a weighted graph by pivot certificates: few searches, and a proof that can be checked again.

As `pivots` on graphs without weights (methods/exact/pivots.py), with lengths of paths for numbers of edges: for pivots
p_i at distances d_i, a vertex is settled if min_i d_i(v) + ecc(p_i) <= L, and the diameter is L when every pair x != y
of vertices that are not has min_i d_i(x) + d_i(y) <= L. Rounds: both ends of the worst pair of every open component,
and the middle of a shortest path between them. Where memory has no room for the columns of the candidates, bounds alone
go on (search.py).
Passes: one search a pivot. Bytes a vertex: 28, and 24 for the columns of the sweeps; 12 a pivot and candidate.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .bounding import WeightedBounding
from .candidates import HeightCandidates

SWEEPS = 3


class WeightedPivots(WeightedBounding):
    """One run. room : bytes for the points of candidates, and their boxes. pair_bound : no open pair is longer."""

    name: ClassVar[str] = "pivots"
    room: int = 1 << 62
    pair_bound = 0

    def close(self, first: list[np.ndarray]) -> None:
        """Sweeps; then certificates and rounds until nothing is open, or no more may be searched."""
        sources, columns = first.pop(), first
        while len(columns) < SWEEPS:
            sources[self.n_open < 2] = -1
            if (sources < 0).all():
                return
            if not self.may_search():
                break
            distances, sources = self.search(sources)
            columns.append(distances)
            if len(columns) == 2:
                sources = self.bounds.central()
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
        """The pair to look at in each open component, int64[components, 2], -1: none; None where nothing is open."""
        pairs = candidates.certify(self.bounds.upper, self.best.length, lambda: self.tick("search"))
        self.pair_bound = max((pair.bound for pair in pairs), default=0)
        ends = np.full((len(self.parts.roots), 2), -1, np.int64)
        for pair in pairs:
            ends[pair.component] = pair.ends
        return ends if pairs else None

    def _take(self, candidates: HeightCandidates, columns: list[np.ndarray]) -> bool:
        """Give the candidates the columns, which are given up one by one; False where there is no room."""
        while columns:
            if not candidates.add(columns.pop()):
                return False
        return True

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> bool:
        """Search from both `ends`, and from the middle between them; False where there is no room for their columns."""
        one, other = (self.search(ends[:, side].copy())[0] for side in (0, 1))
        middle = self.bounds.middle(one, other, ends)
        if not (candidates.add(one) and candidates.add(other)):
            return False
        return not (middle >= 0).any() or candidates.add(self.search(middle)[0])
