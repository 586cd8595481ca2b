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
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import BudgetError
from ..units import format_size
from .components import components
from .height_bounds import NEVER, count_open, farthest_of, fold_column, halfway, most_central
from .height_candidates import BOX_COPIES, HeightCandidates
from .labels import PathOptions, Tick, unreached
from .packed import WeightedArcs
from .sssp import ShortestPaths

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
    arcs: WeightedArcs, heights: np.ndarray, labels: np.ndarray | None = None, limits: HeightLimits | None = None,
    options: PathOptions | None = None,
) -> HeightDiameter:
    """D, or bounds on it if `limits` come first.

    heights : uint32[n_vertices]. labels : as of components.components, if they are known. options : of
    the searches. Raises BudgetError if the bounds and a few columns do not fit limits.most_bytes.
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
    tick = options.tick if options else None
    known = components(arcs, tick) if labels is None else labels
    with ShortestPaths(arcs, options) as paths:
        return _Search(paths, np.ascontiguousarray(heights, np.uint32), known, limits, tick).run()


def least_bytes(n_vertices: int) -> int:
    """Bytes that height_diameter needs at least for so many vertices."""
    return n_vertices * (STATE_BYTES + BOX_COPIES * _SWEEPS * 4)


class _Search:
    """One run. upper, lower : int64[n_vertices], see height_bounds. best : L."""

    def __init__(
        self, paths: ShortestPaths, heights: np.ndarray, labels: np.ndarray, limits: HeightLimits,
        tick: Tick | None = None,
    ) -> None:
        n, self._tick = len(labels), tick or (lambda: None)
        roots = labels == np.arange(n, dtype=labels.dtype)
        self._component = (np.cumsum(roots, dtype=np.int32) - np.int32(1))[labels]
        self._roots = np.flatnonzero(roots)
        self._paths, self._heights, self._limits = paths, heights, limits
        self._points_bytes = limits.most_bytes - STATE_BYTES * n
        self._upper, self._lower = np.full(n, NEVER), np.zeros(n, np.int64)
        self._n_open = np.bincount(self._component, minlength=len(self._roots)).astype(np.int64)
        self._best, self._ends, self._traversals = 0, (-1, -1), 0

    def run(self) -> HeightDiameter:
        """Sweep, then certify and refine until nothing is open or the limit is reached."""
        candidates = self._sweep()
        found = candidates.certify(self._upper, self._best, self._tick) if candidates else []
        while candidates and found and self._left():
            ends = np.full((len(self._roots), 2), -1, np.int64)
            for pair in found:
                ends[pair.component] = pair.ends
            self._refine(candidates, ends)
            found = candidates.certify(self._upper, self._best, self._tick)
        upper = max([self._best, *(pair.bound for pair in found)])
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
        dist = self._paths.distances(sources[sources >= 0])
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
