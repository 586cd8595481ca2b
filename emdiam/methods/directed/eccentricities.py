"""All eccentricities along weighted arcs, out or in, by bounds: searches from some vertices settle all others.

The text is for ecc(v), the eccentricities out; eccentricities in are the same on the reverse. A search along arcs from
u finds ecc(u), a search against arcs from t finds d(v, t) for all v. Then ecc(v) >= d(v, t) for every v that reaches t;
and within the strong component of u ecc(u) - d(u, v) <= ecc(v) <= d(v, u) + ecc(u), since u and v reach the same
vertices.

In a strong component the next source u is a vertex with the smallest lower bound. If that is its eccentricity, a search
against arcs from u gives upper bounds, the smallest that any vertex proves once lower bounds are tight. If not, a
search from the vertex farthest from u makes lower bounds tight, and u may be chosen again. If arcs are in RAM, the
search against arcs from u passes only vertices v with a lower bound of d(v, u) + ecc(u), which is then their
eccentricity: if it is that of v, it is also that of all vertices between. On roads of 13,000 vertices it passes less
than one in a hundred. A vertex alone in its strong component comes after all that it reaches. Its eccentricity is at
most the largest, over the components of heads of its arcs, of the least sum of weight and bound of a head; with only
one arc it is the sum for that arc. If its bounds still differ, it is searched from.

Passes: one search a source, or two for those that bound others; vertices that no other settles take one each. Bytes a
vertex: 16 for bounds, 8 for an order of the components, 4 for their numbers, 16 for columns.
Source: Dragan, Habib, Viennot, Revisiting radius, diameter, and all eccentricity computation in graphs through
certificates, 2018 (arXiv:1803.04660): tight lower bounds and small sets of sources, for directed and weighted graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from ...jit import kernel
from ...traverse.arc_bounds import fold
from ..eccentricity.result import VertexSet, most_ids
from ..result import AlongWeights, DirectedResult
from ..weighted.bounds import NEVER
from ..weighted.eccentricities import histogram
from .apsp import DirectedEccentricities, DirectionOptions
from .method import DirectedMethod, chunks
from .weighted import WeightedArcMetric

_MOST_ARCS = 1 << 18


@dataclass(repr=False)
class WeightedArcEccentricities(AlongWeights, DirectedEccentricities):
    """As DirectedEccentricities, but lengths are sums of weights, as in WeightedArcResult."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedEccentricities.shown, "weight", "weights")


class BoundedEccentricities(DirectedMethod):
    """One run. lower, upper : bounds on all eccentricities, int64[n], in units. along, against : the sources, in order,
    in the direction of these eccentricities and in the other one."""

    name = "eccentricities"
    options: DirectionOptions
    metric: WeightedArcMetric

    def __init__(self, metric: WeightedArcMetric, options: DirectionOptions) -> None:
        super().__init__(metric, options)
        self.back = options.direction == "in"
        self.lower, self.upper_bounds = np.zeros(self.n, np.int64), self.no_bounds(self.n)
        self.along, self.against = dict[int, int](), dict[int, None]()

    def _solve(self) -> None:
        order, ends = np.argsort(self.numbers, kind="stable"), np.cumsum(self.sizes)
        by_size = np.argsort(-self.sizes, kind="stable")
        for number in by_size[self.sizes[by_size] > 1].tolist():
            self._close_component(order[ends[number] - self.sizes[number] : ends[number]])
        alone = order[self.sizes[self.numbers[order]] == 1]
        self._close_alone(alone[::-1] if self.back else alone)
        vertex = int(self.lower.argmax())
        if int(self.lower[vertex]) > self.best.length:  # a bound from heads
            self.traverse(vertex, back=self.back, distances=False)
        self.bound = self.best.length

    def _close_component(self, members: np.ndarray) -> None:
        """Settle the vertices of a strong component. members : ascending."""
        again = np.zeros(len(members), np.bool_)  # only searched from along arcs
        while True:
            lower = self.lower[members]
            is_open = lower < self.upper_bounds[members]
            if not is_open.any():
                return
            place = int(np.where(is_open | again, lower, np.iinfo(np.int64).max).argmin())
            vertex = int(members[place])
            if len(self.earlier.waiting) and is_open[place] and not again[place]:
                chosen = np.full(self.n, -1, np.int64)
                chosen[members] = np.where(is_open & ~again, lower, -1)
                vertex = self.earlier.instead(vertex, chosen.__getitem__)
                place = int(np.searchsorted(members, vertex))
            far = None if again[place] else self._search(vertex, members)
            again[place] = far is not None
            if far is not None:
                self._search_back(far, False)
            elif not self._settle_near(vertex, members):
                self._search_back(vertex, True)

    def _search(self, vertex: int, members: np.ndarray) -> int | None:
        """Find an eccentricity; returns the farthest vertex if the lower bound was too small. members : of the
        component."""
        run, before = self.traverse(vertex, back=self.back), int(self.lower[vertex])
        self.along[vertex] = run.levels
        if len(members) > 1 and run.distances is not None:
            # Within a component all are reached.
            found = run.levels - run.distances.raw()[members].astype(np.int64)
            self.lower[members] = np.maximum(self.lower[members], found)
        self.lower[vertex] = self.upper_bounds[vertex] = run.levels
        self._tell()
        return None if before == run.levels else run.farthest

    def _settle_near(self, vertex: int, members: np.ndarray) -> bool:
        """Settle vertices of its component whose lower bounds equal their bound through a vertex of known eccentricity.
        That then holds for all vertices between, so the search stops at others. False if arcs are not in RAM."""
        room = np.full(self.n, -1, np.int64)
        room[members] = self.lower[members] - self.along[vertex]
        with self.stages.timed("near"):
            near = self.metric.near(vertex, room, back=not self.back)
        if near is None:
            return False
        self.stages.partial += 1
        self.upper_bounds[near] = self.lower[near]
        self.against[vertex] = None
        self._tell()
        return True

    def _search_back(self, vertex: int, bounds_others: bool) -> None:
        """Find the distances to a vertex. bounds_others : whether its eccentricity is known, and bounds others."""
        run = self.traverse(vertex, back=not self.back)
        self.against[vertex] = None
        assert run.distances is not None
        distances = run.distances.raw()
        most = self.along[vertex] if bounds_others else NEVER
        fold(self.upper_bounds, self.lower, distances, self.numbers,
             np.array([np.iinfo(distances.dtype).max, self.numbers[vertex], most], np.int64))
        self._tell()

    def _close_alone(self, vertices: np.ndarray) -> None:
        """Settle vertices alone in their components, in this order, after all others that they reach."""
        least = self.no_bounds(self.sizes.size)
        for some in chunks(vertices, lambda ids: self.metric.degrees(ids, back=self.back), _MOST_ARCS):
            arcs, at = self.metric.heads(some, back=self.back), 0
            while True:
                at = int(next_open(some, *arcs, self.lower, self.upper_bounds, self.numbers, least,
                                   np.array([at, self.above], np.int64)))
                if at == len(some):
                    break
                far = self._search(int(some[at]), some[at : at + 1])
                if far is not None and at + 1 < len(some):
                    self._search_back(far, False)

    def _tell(self) -> None:
        """Update the upper bound on the largest distance."""
        self.bound = min(self.bound, max(self.best.length, int(self.upper_bounds.max())))

    # -- the answer -----------------------------------------------------------------------------
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds on all eccentricities of the graph itself, int64[n] each, in units."""
        if not self.metric.n_edges:
            return self.lower, self.lower
        more = self.metric.proved(0, 0)[1]
        if not more:
            return self.lower, self.upper_bounds
        upper = self.upper_bounds + more
        # Rounded weights may be 0: only a vertex without arcs is sure to reach no other.
        none = np.flatnonzero(self.upper_bounds == 0)
        upper[none[self.metric.degrees(none, back=self.back) == 0]] = 0
        return self.lower, upper

    def described(self, result: DirectedResult, keep: bool = False) -> WeightedArcEccentricities:
        """The result with the known eccentricities; keep : with ids and bounds of all vertices too."""
        metric, (lower, upper), most = self.metric, self.intervals(), most_ids(keep)
        units = metric.units
        proved = lower == upper
        counts, width = histogram(lower[proved], units)
        more: dict[str, Any] = {
            "histogram": counts, "histogram_width": width, "unresolved": self.n - int(np.count_nonzero(proved)),
            "direction": self.options.direction, "sources": len(self.along)}
        if keep:
            more |= {"ids": list(metric.store.user_ids(np.arange(self.n))), "lower_bounds": metric.lengths(lower),
                     "upper_bounds": metric.lengths(upper)}
        if proved.all():
            more["periphery"] = self._vertices(int(lower.max()), most)
            if result.strongly_connected:
                more["radius"] = units.length(int(lower.min()))
                more["center"] = self._vertices(int(lower.min()), most)
        result.exact = result.exact and bool(proved.all())
        return WeightedArcEccentricities(**{one.name: getattr(result, one.name) for one in fields(result)}, **more)

    def _vertices(self, value: int, most: int | None) -> VertexSet:
        ids = np.flatnonzero(self.lower == value)
        return VertexSet(len(ids), list(self.metric.store.user_ids(ids[:most])))


@kernel
def next_open(vertices, ends, heads, lengths, lower, upper, numbers, least, about):
    """Index of the first vertex from about[0] on whose bounds still differ after use of its heads, which are in other
    components; len(vertices) if there is none. least : about[1], more than any bound, for every component, before and
    after."""
    for i in range(about[0], len(vertices)):
        v = vertices[i]
        if lower[v] == upper[v]:
            continue
        for p in range(ends[i], ends[i + 1]):
            c = numbers[heads[p]]
            if upper[heads[p]] < about[1] - lengths[p]:  # else the sum may not fit
                least[c] = min(least[c], upper[heads[p]] + lengths[p])
        bound = np.int64(0)
        for p in range(ends[i], ends[i + 1]):
            bound = max(bound, least[numbers[heads[p]]])
        for p in range(ends[i], ends[i + 1]):
            least[numbers[heads[p]]] = about[1]
        upper[v] = min(upper[v], bound)
        if ends[i + 1] - ends[i] == 1:
            least_of_head = min(lower[heads[ends[i]]], about[1] - lengths[ends[i]])
            lower[v] = max(lower[v], lengths[ends[i]] + least_of_head)
        if lower[v] < upper[v]:
            return i
    return len(vertices)
