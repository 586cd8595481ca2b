"""All eccentricities of a weighted graph by bounds: searches from some vertices settle all others.

After a search from s every vertex v of its component has max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), with d = d(v, s);
v is open while its bounds differ. The next source is the open vertex with the smallest lower bound: once lower bounds
are tight, no other vertex proves its upper bound. If the eccentricity of a source exceeds its lower bound, the vertex
farthest from it becomes a source too, which makes lower bounds tight. For the reasons and the authors, without weights,
see docs/algorithms/eccentricities.md.

Passes: one search a source; each search has one source in every open component. Bytes a vertex: 29.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ...decimals import Number
from ...errors import EmdiamError
from ...paths.rows import unreached
from ...store.store import Store
from ..eccentricity.eccentricities import ALL, CENTER, RADIUS, EccentricityOptions
from ..eccentricity.output import in_pieces, write_table
from ..eccentricity.result import VertexSet, WeightedEccentricities, most_ids
from ..result import Witness
from ..witness import REPORT
from .bounds import NEVER, least_open
from .metric import WeightMetric
from .search import WeightedSearch
from .units import Units

# The most entries of a histogram; with more eccentricities it has ranges.
MOST_RANGES = 24


class EccentricitySearch(WeightedSearch):
    """One run for all eccentricities, or only for radius or centre of the component with the most vertices. Bounds are
    equal if the eccentricity is known, and for sources."""

    name: ClassVar[str] = "eccentricities"
    result_type = WeightedEccentricities
    vertex_bytes = 41
    options: EccentricityOptions

    def __init__(self, metric: WeightMetric, options: EccentricityOptions | None = None) -> None:
        super().__init__(metric, options or EccentricityOptions())
        self.what, self._source = self.options.what, np.zeros(metric.n_vertices, np.bool_)
        self.lower, self.above = self.bounds.lower, self.bounds.upper
        self.above[self.parts.sizes[self.parts.component] == 1] = 0
        self._whole = False

    def solve(self) -> None:
        """Settle all vertices, or the wanted part."""
        if self.what == ALL:
            super().solve()
        elif self.activate(np.arange(len(self.parts.roots)) == self.parts.largest):
            self.close(list(self.search(self.starts())))
        self._whole = True

    def close(self, first: list[np.ndarray]) -> None:
        """Search until no vertex of the active components is open, or matters."""
        c, far = len(self.parts.roots), first.pop()
        first.clear()
        sources, least = np.empty(c, np.int64), np.empty(c, np.int64)
        chosen, before, again = self.starts(), np.zeros(c, np.int64), np.zeros(c, np.bool_)
        while True:
            farthest = np.where((chosen >= 0) & ~again & (self.lower[chosen] > before), far, -1)
            least_open(self.lower, self.above, self.parts.component, sources, least)
            sources[~self._active] = -1
            if self._enough(sources, least):
                return
            if sources[self.parts.largest] >= 0:
                sources[self.parts.largest] = self.earlier.instead(int(sources[self.parts.largest]), self._open_bounds)
            # Also from a vertex of known eccentricity: the bounds of others do not include those from its search.
            again = (sources >= 0) & (farthest >= 0) & ~self._source[farthest]
            chosen = np.where(again, farthest, sources)
            before = self.lower[chosen]
            _, far = self.search(chosen)

    def _open_bounds(self, vertices: np.ndarray) -> np.ndarray:
        """Lower bounds of vertices, -1 where they are closed or not of the component with the most vertices."""
        inside = self.parts.component[vertices] == self.parts.largest
        return np.where(inside & (self.lower[vertices] < self.above[vertices]), self.lower[vertices], -1)

    def search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As every search; also sets the eccentricities of the sources."""
        distances, far = super().search(sources)
        at, to = sources[sources >= 0], far[sources >= 0]
        self.lower[at] = self.above[at] = distances[to]
        self._source[at] = True
        return distances, far

    def count(self) -> None:
        """Do nothing: open vertices are counted with the choice of the next sources."""

    def _enough(self, sources: np.ndarray, least: np.ndarray) -> bool:
        """Whether no open vertex matters. sources : those with the smallest lower bounds. least : the smallest
        upper bound of each component."""
        source = int(sources[self.parts.largest])
        if self.what == ALL or source < 0:
            return bool((sources < 0).all())
        lower, radius = int(self.lower[source]), int(least[self.parts.largest])
        return lower >= radius if self.what == RADIUS else lower > radius

    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on all eccentricities of the graph, int64[n_vertices] each, in units. At vertices that no search has
        reached, the upper bound is that of a path with every vertex of the component."""
        none, upper, steps = self.above == NEVER, self.above, self.parts.sizes[self.parts.component] - 1
        if none.any():
            weight, upper = self.metric.largest_weight, self.above.copy()
            upper[none] = np.where(steps[none] > NEVER // max(1, weight), NEVER, steps[none] * np.int64(weight))
        if self.metric.units.rounded:  # a path has fewer edges than its component has vertices
            upper = np.where(upper > NEVER - steps, NEVER, upper + steps)
        return self.lower, upper

    # -- the answer -----------------------------------------------------------------------------
    def check(self) -> Witness | None:
        """The witness of the diameter, if wanted. Searches again from a vertex of the smallest eccentricity
        of the largest component. Raises EmdiamError if its eccentricity differs (a fault of emdiam)."""
        self.tick("verify")
        witness = self.metric.check(self) if self.what == ALL else None
        vertices = np.flatnonzero(self.parts.component == self.parts.largest)
        vertex = int(vertices[self.above[vertices].argmin()])
        distances = self.metric.units.counted(self.metric.arcs.again(vertex))
        found = int(distances[distances != unreached(distances.dtype)].max())
        if found != int(self.above[vertex]):
            raise EmdiamError(f"a second search from {vertex} finds another eccentricity, {found}: {REPORT}")
        return witness

    def _details(self) -> dict[str, Any]:
        vertices = np.flatnonzero(self.parts.component == self.parts.largest)
        return {"what": self.what, "interval_radius": [
            self.metric.number(int(bound[vertices].min())) for bound in self.intervals()]}

    def _fields(self) -> dict[str, Any]:
        units, store = self.metric.units, self.metric.store
        assert store is not None, "an answer needs the ids of a store"
        lower, upper = self.intervals()
        proved = lower == upper
        counts, width = histogram(lower[proved], units) if self.what == ALL else ({}, None)
        largest = of_largest(lower, upper, np.flatnonzero(self.parts.component == self.parts.largest), units, store,
                             most_ids(self.options.keep))
        for name, needs in (("center", (ALL, CENTER)), ("periphery", (ALL,))):
            if self.what not in needs:
                largest[name] = None
        kept = {} if not self.options.keep else {
            "ids": list(store.user_ids(np.arange(len(lower)))), "lower_bounds": units.lengths(lower),
            "upper_bounds": self.metric.lengths(upper)}
        return {**super()._fields(), **largest, **kept, "histogram": counts, "histogram_width": width,
                "unresolved": len(lower) - int(np.count_nonzero(proved)), "sources": self.n_sources}

    def conclude(self, result: WeightedEccentricities) -> None:
        """See MethodRun; `exact` says whether all that was wanted is proved."""
        super().conclude(result)
        result.exact = self._whole and not self.metric.units.rounded

    def write(self, file: Path) -> None:
        """Write the table of eccentricities. Raises InputError if it cannot be written."""
        units, store, (lower, upper) = self.metric.units, self.metric.store, self.intervals()
        assert store is not None, "a table has ids"
        write_table(file, store, ((start, units.lengths(low), self.metric.lengths(high))
                                  for start, low, high in in_pieces(lower, upper)),
                    lambda ids: self.parts.roots[self.parts.component[ids]], intervals=not (lower == upper).all())


def histogram(values: np.ndarray, units: Units) -> tuple[dict[Number, int], Any]:
    """Counts by eccentricity, ascending, and the width of ranges. values : int64[k], in units."""
    different, counts = np.unique(values, return_counts=True)
    if len(different) <= MOST_RANGES:
        names = [units.length(one) for one in different.tolist()]
        return dict(zip(names, counts.tolist(), strict=True)), None
    if units.whole:
        step = round_width(int(different[-1]) - int(different[0]), True)
        ranges, first = np.unique(different // step, return_index=True)
        sums = np.add.reduceat(counts, first).tolist()
        return {units.length(one * step): count for one, count in zip(ranges.tolist(), sums, strict=True)
                }, units.length(step)
    lengths = units.lengths(different)
    width = round_width(float(lengths[-1]) - float(lengths[0]), False)
    number = np.floor_divide(lengths, width).astype(np.int64)
    ranges, first = np.unique(number, return_index=True)
    sums = np.add.reduceat(counts, first).tolist()
    return {float(f"{one * width:.15g}"): count for one, count in zip(ranges.tolist(), sums, strict=True)}, width


def round_width(span: float, whole: bool) -> Any:
    """The smallest of 1, 2 and 5 times a power of ten such that fewer than MOST_RANGES ranges cover the span; at least
    1 if numbers are whole."""
    least = span / (MOST_RANGES - 1)
    power = math.floor(math.log10(least))
    if whole and power < 0:
        return 1
    step = next(step for step in (1, 2, 5, 10) if step * 10.0**power >= least)
    return step * 10**power if power >= 0 else step / 10**-power


def of_largest(lower: np.ndarray, upper: np.ndarray, vertices: np.ndarray, units: Units, store: Store,
               most: int | None) -> dict[str, Any]:
    """radius, center and periphery of the component of these vertices (int64[k], ascending), None if not proved.
    lower, upper : bounds on all eccentricities, in units. most : number of vertices that are named; None: all."""
    lower, upper = lower[vertices], upper[vertices]
    is_open = lower < upper
    radius, diameter = int(lower.min()), int(upper.max())
    known = radius == int(upper.min())

    def those(value: int) -> VertexSet:
        here = vertices[~is_open & (lower == value)]
        return VertexSet(len(here), list(store.user_ids(here[:most])))

    ends = int(lower.max()) == diameter and not (is_open & (upper == diameter)).any()
    return {"radius": units.length(radius) if known else None,
            "center": those(radius) if known and not (is_open & (lower <= radius)).any() else None,
            "periphery": those(diameter) if ends else None}
