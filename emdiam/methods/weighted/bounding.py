"""Exact diameter of a weighted graph by bounds on every eccentricity, as in Takes and Kosters, with lengths.

After a search from s every vertex v has max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), with d = d(v, s). Sources are in
turn the open vertex with the largest upper bound and the one with the smallest lower bound, until no upper bound
exceeds the longest distance. It stores no columns, and needs more searches than pivots.
Source: Takes and Kosters, "Determining the diameter of small world networks" (2011).
"""

from __future__ import annotations

from itertools import cycle
from typing import ClassVar

import numpy as np

from .search import WeightedSearch


class WeightedBounding(WeightedSearch):
    """One run."""

    name: ClassVar[str] = "bounding"
    vertex_bytes = 24
    # Less memory for the points of candidates is of no use.
    least_room = 16 << 20

    def close(self, first: list[np.ndarray]) -> None:
        """Search from ends and centres until no vertex is open."""
        first.clear()
        for central in cycle((False, True)):
            sources = self.bounds.next_open(self.best.length, central)
            sources[self.n_open < 1] = -1
            if (sources < 0).all():
                return
            self.search(sources)
