"""The exact diameter of a weighted graph whose vertices have heights, by pivot certificates.

Looked for: D = max of h(a) + d(a, b) + h(b) over a != b in one component. On a condensed graph with
the radii of the clusters as heights, D is at least the diameter of the graph that was condensed.

Let p_1, p_2, ... be the sources searched in a component, d_i their distances, c_i(v) = d_i(v) + h(v),
E_i = max_b c_i(b), p_i itself among the b; and L the largest value seen, the maximum over sources s
of h(s) + max over b != s of d(s, b) + h(b). L is attained, so D >= L. D = L is proved by these rules:

1. U(a, b) = min_i c_i(a) + c_i(b) is at least h(a) + d(a, b) + h(b): d(a, b) <= d_i(a) + d_i(b).
2. v is settled, no pair with v exceeds L, if min_i c_i(v) + E_i <= L: for b != v, U(v, b) <=
   c_i(v) + c_i(b) <= c_i(v) + E_i. (E_i has to count b = p_i: the pair (v, p_i) is one of those.)
3. A source is settled: its largest pair is in L. (Its b != s matters: b = s would give 2 h(s), which
   is no pair, and a false L.)
4. D = L if every pair of unsettled vertices of one component has U <= L: any other pair has a settled
   end. L may be that of another component, since D is over all of them.
5. What was settled stays so, and a pair once at U <= L too: L only rises and U only falls. So a vertex
   in no open pair is out for good.

A search has one source in each component that is still open, so that small ones cost nothing. Two
sweeps, a central vertex, then rounds: both ends of the worst pair of each open component, and the
middle of a shortest path between them. Source: the pivot method of methods/exact/pivots.py, with weights.
Searches: 3 to some tens. Bytes a vertex: 52, and 12 a pivot and candidate, within `most_bytes`.

A candidate, a vertex that may still be an end of the longest pair, is a point of coordinates c_i;
methods/exact/boxes.py finds the worst pair. Bytes: 12 + room x itemsize a candidate, three times that while boxes are
built. Distances are unsigned, `none` where no source reaches; bounds int64.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...errors import BudgetError
from ...jit import kernel
from ...paths.arcs import Arcs
from ...paths.components import components_of
from ...paths.paths import Tick
from ...paths.rows import unreached
from ...units import format_size
from ..exact.boxes import build_boxes, open_points, worst_pair

BOX_COPIES = 3
_WORK = 1 << 27
_NARROW, _WIDE = np.dtype(np.uint32), np.dtype(np.uint64)
# A coordinate of a pivot that does not reach: two of them still fit int64.
_FAR = {_NARROW: (1 << 32) - 1, _WIDE: 1 << 61}


@dataclass(frozen=True)
class OpenPair:
    """component : with open pairs. bound : no pair in it exceeds this. ends : the pair to look at."""

    component: int
    bound: int
    ends: tuple[int, int]


class HeightCandidates:
    """vertices : int64[m], by component, then ascending. component : int32[n_vertices], of every vertex.
    heights : uint32[n_vertices]. most_bytes : of the points, with the copies that boxes take."""

    def __init__(self, vertices: np.ndarray, component: np.ndarray, heights: np.ndarray, most_bytes: int) -> None:
        self.vertices = vertices[np.argsort(component[vertices], kind="stable")]
        self._component, self._heights, self._most_bytes = component, heights, most_bytes
        self._points = np.empty((len(vertices), 0), _NARROW)

    def add(self, dist: np.ndarray) -> bool:
        """One more pivot, `dist` (unsigned[n_vertices]) its distances; False if there is no room."""
        values = dist[self.vertices]
        reached = values != np.iinfo(dist.dtype).max
        sums = values.astype(np.int64) + self._heights[self.vertices]
        wide = self._points.dtype == _WIDE or int(sums[reached].max(initial=0)) >= _FAR[_NARROW]
        dtype = _WIDE if wide else _NARROW
        m, k = self._points.shape
        if m and BOX_COPIES * m * (k + 1) * dtype.itemsize > self._most_bytes:
            return False
        points = np.empty((m, k + 1), dtype)
        points[:, :k] = self._points
        if wide and self._points.dtype == _NARROW:
            points[:, :k][self._points == _FAR[_NARROW]] = _FAR[_WIDE]
        points[:, k] = np.where(reached, sums, _FAR[dtype])
        self._points = points
        return True

    def certify(self, upper: np.ndarray, limit: int, tick: Tick = lambda: None) -> list[OpenPair]:
        """Drop what is settled (`upper`, int64[n_vertices], <= limit) or in no open pair; what is open. tick :
        called several times a second."""
        self._keep(upper[self.vertices] > limit)
        keep = np.zeros(len(self.vertices), bool)
        pairs = []
        for component, begin, end in self._parts():
            if end - begin < 2:
                continue
            vertices = self.vertices[begin:end]
            boxes = build_boxes(np.ascontiguousarray(self._points[begin:end]), tick)
            worst = worst_pair(boxes, limit, _WORK, tick=tick)
            if worst.finished and worst.first < 0:
                continue
            # A vertex is in no pair above its own bound, so no pair exceeds the second largest of them.
            order = np.argsort(-upper[vertices], kind="stable")[:2]
            bound, pair = int(upper[vertices[order[1]]]), vertices[order]
            if worst.finished:
                bound = min(bound, worst.bound)
            if worst.first >= 0:
                pair = vertices[[worst.first, worst.second]]
            pairs.append(OpenPair(component, bound, (int(pair[0]), int(pair[1]))))
            keep[begin:end] = open_points(boxes, limit, tick) if worst.finished else True
        self._keep(keep)
        return pairs

    def _parts(self) -> Iterator[tuple[int, int, int]]:
        """(component, begin, end) of its candidates, component by component."""
        components = self._component[self.vertices]
        borders = [*np.flatnonzero(np.diff(components, prepend=-1)).tolist(), len(components)]
        for begin, end in pairwise(borders):
            yield int(components[begin]), begin, end

    def _keep(self, mask: np.ndarray) -> None:
        if not mask.all():
            self.vertices, self._points = self.vertices[mask], self._points[mask]


NEVER = np.int64(1) << 62


@kernel
def farthest_of(dist, none, heights, component, sources, reach, far, value):
    """For each component c with a source: reach[c] = max of d + h over its vertices, value[c] the same
    without the source itself, and far[c] the smallest vertex that has it (-1 if there is no other)."""
    for c in range(len(sources)):
        reach[c] = -1
        value[c] = -1
        far[c] = -1
    for v in range(len(dist)):
        if dist[v] != none:
            c = component[v]
            here = np.int64(dist[v]) + np.int64(heights[v])
            reach[c] = max(reach[c], here)
            if v != sources[c] and here > value[c]:
                value[c] = here
                far[c] = v


@kernel
def fold_column(dist, none, heights, component, sources, reach, upper, lower):
    """Lower upper[v] to h(v) + d(v) + reach, 0 for a source (its farthest vertex is known); raise
    lower[v], at least the largest d + h from v, to the two differences, NEVER for a source."""
    for v in range(len(dist)):
        if dist[v] != none:
            c = component[v]
            d = np.int64(dist[v])
            upper[v] = min(upper[v], np.int64(heights[v]) + d + reach[c])
            lower[v] = max(lower[v], max(d + np.int64(heights[sources[c]]), reach[c] - d))
            if v == sources[c]:
                upper[v] = 0
                lower[v] = NEVER


@kernel
def count_open(upper, limit, component, n_open):
    """n_open[c] = vertices of component c with upper > limit."""
    n_open[:] = 0
    for v in range(len(upper)):
        if upper[v] > limit:
            n_open[component[v]] += 1


@kernel
def most_central(lower, component, centre):
    """centre[c] = smallest vertex of component c with the smallest `lower` below NEVER, or -1."""
    centre[:] = -1
    for v in range(len(lower)):
        c = component[v]
        if lower[v] < NEVER and (centre[c] < 0 or lower[v] < lower[centre[c]]):
            centre[c] = v


@kernel
def halfway(one, other, none, heights, component, ends, lower, middle):
    """middle[c] = vertex, no source yet, on a shortest path between ends[c, 0] and ends[c, 1] that has
    both ends, heights included, as equally far as can be; ties by `lower`, then smallest; or -1.

    one, other : distances from the first and from the second ends. ends : int64[n_components, 2].
    """
    middle[:] = -1
    best = np.full(len(middle), NEVER)
    for v in range(len(one)):
        c = component[v]
        first = ends[c, 0]
        if one[v] == none or other[v] == none or lower[v] == NEVER:
            continue
        if np.int64(one[v]) + np.int64(other[v]) != np.int64(other[first]):
            continue
        gap = (np.int64(one[v]) + np.int64(heights[first])) - (np.int64(other[v]) + np.int64(heights[ends[c, 1]]))
        gap = abs(gap)
        if gap < best[c] or (gap == best[c] and lower[v] < lower[middle[c]]):
            best[c] = gap
            middle[c] = v


STATE_BYTES = 52
_SWEEPS = 3


@dataclass(frozen=True)
class HeightLimits:
    """most_traversals : searches, at least 1. most_bytes : of RAM beside the arcs and their search."""

    most_traversals: int = 64
    most_bytes: int = 1 << 30


@dataclass(frozen=True)
class HeightDiameter:
    """lower <= D <= upper, both proved; equal if D was found. traversals : searches. ends : a pair that
    has `lower`, (-1, -1) if no component has two vertices (D is 0 then)."""

    lower: int
    upper: int
    traversals: int
    ends: tuple[int, int]


def height_diameter(
    arcs: Arcs, heights: np.ndarray, labels: np.ndarray | None = None, limits: HeightLimits | None = None,
) -> HeightDiameter:
    """D, or bounds on it if `limits` come first.

    heights : uint32[n_vertices]. labels : int64[n_vertices], the smallest vertex of the component of each, if it is
    known. Raises BudgetError if the bounds and a few columns do not fit limits.most_bytes.
    """
    limits = limits or HeightLimits()
    if limits.most_traversals < 1:
        raise ValueError("a bound takes at least one traversal")
    least = least_bytes(arcs.n_vertices)
    if least > limits.most_bytes:
        raise BudgetError(
            f"{format_size(limits.most_bytes)} of memory cannot prove the diameter of a condensed graph of"
            f" {arcs.n_vertices:,} vertices", remedy=f"give {format_size(least)}, or choose fewer masters",
        )
    if labels is None:
        parts = components_of(arcs)
        labels = parts.roots[parts.component]
    return _Search(arcs, np.ascontiguousarray(heights, np.uint32), labels, limits).run()


def least_bytes(n_vertices: int) -> int:
    """Bytes that height_diameter needs at least for so many vertices."""
    return n_vertices * (STATE_BYTES + BOX_COPIES * _SWEEPS * 4)


class _Search:
    """One run. upper, lower : int64[n_vertices], see fold_column. best : L."""

    def __init__(
        self, arcs: Arcs, heights: np.ndarray, labels: np.ndarray, limits: HeightLimits,
    ) -> None:
        n, self._tick = len(labels), arcs.tick
        roots = labels == np.arange(n, dtype=labels.dtype)
        self._component = (np.cumsum(roots, dtype=np.int32) - np.int32(1))[labels]
        self._roots = np.flatnonzero(roots)
        self._arcs, self._heights, self._limits = arcs, heights, limits
        self._points_bytes = limits.most_bytes - STATE_BYTES * n
        self._upper, self._lower = np.full(n, NEVER), np.zeros(n, np.int64)
        self._n_open = np.bincount(self._component, minlength=len(self._roots)).astype(np.int64)
        self._best, self._ends, self._traversals = 0, (-1, -1), 0

    def run(self) -> HeightDiameter:
        """Sweep, then certify and refine until nothing is open or the limit is reached."""
        candidates = self._sweep()
        pairs = candidates.certify(self._upper, self._best, self._tick) if candidates else []
        while candidates and pairs and self._left():
            ends = np.full((len(self._roots), 2), -1, np.int64)
            for pair in pairs:
                ends[pair.component] = pair.ends
            self._refine(candidates, ends)
            pairs = candidates.certify(self._upper, self._best, self._tick)
        upper = max([self._best, *(pair.bound for pair in pairs)])
        return HeightDiameter(self._best, upper, self._traversals, self._ends)

    def _sweep(self) -> HeightCandidates | None:
        """Search from a first vertex, from the farthest of it and from a centre; the candidates that are
        left, None if there are none."""
        columns = []
        sources = self._roots.copy()
        for sweep in range(_SWEEPS):
            sources[self._n_open < 2] = -1
            if not self._left() or (sources < 0).all():
                break
            dist, far = self._search(sources)
            columns.append(dist)
            sources = far
            if sweep == 1:
                most_central(self._lower, self._component, sources)
        rest = np.flatnonzero((self._upper > self._best) & (self._n_open[self._component] > 1))
        if not len(rest):
            return None
        candidates = HeightCandidates(rest, self._component, self._heights, self._points_bytes)
        for column in columns:
            candidates.add(column)
        return candidates

    def _refine(self, candidates: HeightCandidates, ends: np.ndarray) -> None:
        """Search from the first and the second `ends` (int64[n_components, 2], -1: none) and from the middle
        between them, as far as the limit allows."""
        columns = []
        for side in (0, 1):
            if self._left():
                columns.append(self._search(ends[:, side].copy())[0])
                candidates.add(columns[-1])
        if self._left():
            middle = np.empty(len(ends), np.int64)
            wide = np.result_type(*columns)
            one, other = (self._widened(column, wide) for column in columns)
            halfway(one, other, unreached(wide), self._heights, self._component, ends, self._lower, middle)
            if (middle >= 0).any():
                candidates.add(self._search(middle)[0])

    def _left(self) -> bool:
        return self._traversals < self._limits.most_traversals

    @staticmethod
    def _widened(column: np.ndarray, dtype: np.dtype[np.unsignedinteger]) -> np.ndarray:
        """The column in `dtype`, unreached still the largest value."""
        if column.dtype == dtype:
            return column
        wide = column.astype(dtype)
        wide[column == unreached(column.dtype)] = unreached(dtype)
        return wide

    def _search(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances from `sources` (int64[n_components], -1: none), folded into the bounds; and the
        farthest vertex of each component."""
        self._traversals += 1
        dist = self._arcs.nearest(sources[sources >= 0], narrow=True)[0]
        reach, far, value = (np.empty(len(sources), np.int64) for _ in range(3))
        shared = dist, unreached(dist.dtype), self._heights, self._component, sources
        farthest_of(*shared, reach, far, value)
        fold_column(*shared, reach, self._upper, self._lower)
        sums = np.where(far >= 0, value + self._heights[sources], -1)
        if len(sums) and int(sums.max()) > self._best:
            c = int(sums.argmax())
            self._best, self._ends = int(sums[c]), (int(sources[c]), int(far[c]))
        count_open(self._upper, self._best, self._component, self._n_open)
        return dist, far
