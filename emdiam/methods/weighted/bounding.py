"""Exact diameter of a weighted graph by bounds on every eccentricity, as Takes and Kosters have it, with lengths.

After a search from s every vertex v has max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), with d = d(v, s). Sources are in
turn the open vertex with the largest upper bound and the one with the smallest lower bound, until no upper bound is
above the longest distance. It keeps no columns, and needs more searches than pivots.
Source: Takes and Kosters, "Determining the diameter of small world networks" (2011).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...jit import kernel
from .heights import NEVER
from .search import WeightedSearch


class WeightedBounding(WeightedSearch):
    """One run."""

    name: ClassVar[str] = "bounding"

    def close(self) -> None:
        """Search from ends and centres until nothing is open."""
        sources, central = self.starts(), False
        while (sources >= 0).any():
            self.search(sources)
            sources = np.full(len(sources), -1, np.int64)
            choose_open(self.upper, self.lower, self.longest.length, self.parts.component, central, sources)
            sources[self.n_open < 1] = -1
            central = not central


@kernel
def choose_open(upper, lower, limit, component, central, chosen):
    """chosen[c] = of the vertices of component c with upper > limit, the one with the smallest lower bound (`central`),
    or with the largest upper one; ties by the other, then the smallest; -1 stays where there is none."""
    for v in range(len(upper)):
        if upper[v] <= limit or lower[v] == NEVER:
            continue
        c = component[v]
        u = chosen[c]
        if u < 0:
            chosen[c] = v
        elif central:
            if lower[v] < lower[u] or (lower[v] == lower[u] and upper[v] < upper[u]):
                chosen[c] = v
        elif upper[v] > upper[u] or (upper[v] == upper[u] and lower[v] > lower[u]):
            chosen[c] = v
