"""All eccentricities of a weighted graph by bounds: searches from some vertices settle all others.

After a search from s every vertex v of its component has max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), with d = d(v, s);
v is open while its bounds differ. The next source is the open vertex with the smallest lower bound, of which no other
vertex proves the upper bound once lower bounds are tight; where a source turns out to have a larger eccentricity than
its lower bound was, the vertex farthest from it is a source too, so that they are. Why that is, and by whom:
docs/algorithms/eccentricities.md, which has it without weights.

Passes: one search a source, of which there is one in each component that is open. Bytes a vertex: 29.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...jit import kernel
from ...paths.arcs import Arcs
from .heights import NEVER
from .search import WeightedSearch
from .units import Units

ALL, RADIUS, CENTER = "all", "radius", "center"


class WeightedEccentricities(WeightedSearch):
    """One run. what : ALL, or RADIUS or CENTER of the component with the most vertices alone.

    upper, lower : int64[n_vertices], bounds in units, alike where the eccentricity is known; NEVER and 0 where no
    search has come. Of sources both are the eccentricity."""

    name: ClassVar[str] = "eccentricities"

    def __init__(self, arcs: Arcs, units: Units, what: str = ALL) -> None:
        super().__init__(arcs, units)
        self.what, self._searched = what, np.zeros(arcs.n_vertices, np.bool_)
        self.upper[self.parts.sizes[self.parts.component] == 1] = 0

    def solve(self) -> None:
        """Settle all vertices, or what is asked for."""
        if self.what == ALL:
            super().solve()
            return
        self._close(np.arange(len(self.parts.roots)) == self.parts.largest, known=False)

    def close(self) -> None:
        """Search until nothing of the active components is open, or matters."""
        c = len(self.parts.roots)
        sources, least = np.empty(c, np.int64), np.empty(c, np.int64)
        farthest = np.full(c, -1, np.int64)
        while True:
            least_open(self.lower, self.upper, self.parts.component, sources, least)
            sources[~self._active] = -1
            if self._enough(sources, least):
                return
            # Also one whose eccentricity is known: the others' bounds are not those that it would give them.
            again = (sources >= 0) & (farthest >= 0) & ~self._searched[farthest]
            chosen = np.where(again, farthest, sources)
            before = self.lower[chosen]
            _, far = self.search(chosen)
            farthest = np.where((chosen >= 0) & ~again & (self.lower[chosen] > before), far, -1)

    def search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As every search; the eccentricities of the sources are known then."""
        distances, far = super().search(sources)
        at, to = sources[sources >= 0], far[sources >= 0]
        self.lower[at] = self.upper[at] = distances[to]
        self._searched[at] = True
        return distances, far

    def count(self) -> None:
        """Nothing: what is open is counted with the next sources."""

    def _enough(self, sources: np.ndarray, least: np.ndarray) -> bool:
        """Whether no vertex that is open matters. sources : those with the smallest lower bounds. least : the smallest
        upper bound of each component."""
        source = int(sources[self.parts.largest])
        if self.what == ALL or source < 0:
            return bool((sources < 0).all())
        lower, radius = int(self.lower[source]), int(least[self.parts.largest])
        return lower >= radius if self.what == RADIUS else lower > radius

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on all eccentricities, int64[n_vertices] each, in units. Where no search has come, the upper one is
        that of a path with every vertex of the component."""
        none = self.upper == NEVER
        if not none.any():
            return self.lower, self.upper
        upper, steps = self.upper.copy(), self.parts.sizes[self.parts.component[none]] - 1
        weight = self.largest_weight
        upper[none] = np.where(steps > NEVER // max(1, weight), NEVER, steps * np.int64(weight))
        return self.lower, upper


@kernel
def least_open(lower, upper, component, chosen, least):
    """chosen[c] = of the vertices of component c with lower < upper the one with the smallest lower bound; ties by the
    upper one, then the smallest; -1 if there is none. least[c] = the smallest upper bound of all vertices of c."""
    chosen[:] = -1
    least[:] = NEVER
    for v in range(len(lower)):
        c = component[v]
        least[c] = min(least[c], upper[v])
        if lower[v] < upper[v]:
            u = chosen[c]
            if u < 0 or lower[v] < lower[u] or (lower[v] == lower[u] and upper[v] < upper[u]):
                chosen[c] = v
