"""Bounds on the diameter of a weighted graph by sweeps: a search from somewhere, from what is farthest, and halfway.

A sweep searches in every component from a start, from the vertex farthest from it, and from the middle of a shortest
path between the two; the next one starts at the open vertex with the largest upper bound. The longest distance is the
lower bound. The upper one is the largest over all v of the smallest d(v, s) + ecc(s), over the sources s: from the
middle alone it would be at most twice the diameter.
Passes: three searches a sweep. Bytes a vertex: 28, and 16 for two columns.
Source: Magnien, Latapy and Habib, "Fast computation of empirically tight bounds for the diameter of massive graphs"
(2009), with lengths; bounds: Takes and Kosters (2011).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...paths.rows import unreached
from .bounding import choose_open
from .heights import halfway
from .pivots import widened
from .search import WeightedSearch

COLUMNS = 2


class WeightedSweep(WeightedSearch):
    """One run; its bounds hold at any time. iterations : sweeps, at most. done : those that were begun."""

    name: ClassVar[str] = "sweep"
    iterations = 1
    done = 0

    def solve(self) -> None:
        """Sweep all components from their first vertices."""
        self.sweep_from(self.parts.roots)

    def sweep_from(self, starts: np.ndarray) -> None:
        """Sweep, beginning at a vertex of every component, int64[components], until the bounds meet or it is enough."""
        self._active[:] = ~self._closed
        starts = np.where(self._active, starts, -1)
        for _ in range(self.iterations):
            if (starts < 0).all():
                return
            self.done += 1
            self._sweep(starts)
            starts = np.full(len(starts), -1, np.int64)
            choose_open(self.upper, self.lower, self.longest.length, self.parts.component, False, starts)

    def _sweep(self, starts: np.ndarray) -> None:
        """One sweep of the components with a start."""
        one, ends = self.search(starts)
        other, _ = self.search(ends)
        if not (self.n_open > 0).any():
            return
        wide, middle = np.result_type(one, other), np.empty(len(starts), np.int64)
        halfway(widened(one, wide), widened(other, wide), unreached(wide), self._heights, self.parts.component,
                np.stack((starts, ends), axis=1), self.lower, middle)
        if (middle >= 0).any():
            self.search(middle)
