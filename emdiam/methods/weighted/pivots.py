"""Exact diameter of a weighted graph by pivot certificates: few searches, and a proof that can be checked again.

As `pivots` on graphs without weights (methods/exact/pivots.py), with lengths of paths for numbers of edges: for pivots
p_i at distances d_i, a vertex is settled if min_i d_i(v) + ecc(p_i) <= L, and the diameter is L when every pair x != y
of vertices that are not has min_i d_i(x) + d_i(y) <= L. Rounds: both ends of the worst pair of every open component,
and the middle of a shortest path between them. Where memory has no room for the columns of the candidates, bounds alone
go on (bounding.py).
Passes: one search a pivot. Bytes a vertex: 28, and 24 for the columns of the sweeps; 12 a pivot and candidate.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...paths.rows import unreached
from .bounding import WeightedBounding
from .heights import HeightCandidates, halfway, most_central

SWEEPS = 3


class WeightedPivots(WeightedBounding):
    """One run. room : bytes for the points of candidates, and their boxes."""

    name: ClassVar[str] = "pivots"
    room = 1 << 62

    def close(self) -> None:
        """Sweeps; then certificates and rounds until nothing is open."""
        columns: list[np.ndarray] = []
        sources = self.starts()
        for sweep in range(SWEEPS):
            sources[self.n_open < 2] = -1
            if (sources < 0).all():
                return
            distances, sources = self.search(sources)
            columns.append(distances)
            if sweep == 1:
                most_central(self.lower, self.parts.component, sources)
        candidates = HeightCandidates(self.open_vertices(), self.parts.component, self._heights, self.room)
        while columns:
            if not candidates.add(columns.pop()):
                return super().close()
        while pairs := candidates.certify(self.upper, self.longest.length, self.tick):
            ends = np.full((len(self.parts.roots), 2), -1, np.int64)
            for pair in pairs:
                ends[pair.component] = pair.ends
            if not self._refine(candidates, ends):
                return super().close()

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> bool:
        """Search from both `ends` (int64[components, 2], -1: none), and from the middle between them; False where
        there is no room for their columns."""
        one, other = (self.search(ends[:, side].copy())[0] for side in (0, 1))
        wide = np.result_type(one, other)
        one, other = widened(one, wide), widened(other, wide)
        middle = np.empty(len(ends), np.int64)
        halfway(one, other, unreached(wide), self._heights, self.parts.component, ends, self.lower, middle)
        if not (candidates.add(one) and candidates.add(other)):
            return False
        return not (middle >= 0).any() or candidates.add(self.search(middle)[0])


def widened(column: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Distances in `dtype`, the largest value still the largest."""
    if column.dtype == dtype:
        return column
    wide = column.astype(dtype)
    wide[column == unreached(column.dtype)] = unreached(dtype)
    return wide
