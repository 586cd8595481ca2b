"""Bounds on the eccentricities of a weighted graph whose vertices may have heights: kernels, and their arrays.

The length of a pair is h(x) + d(x, y) + h(y), with the heights h. A search has one source in each of some components,
so that many small components cost no more than one. Its result is folded into the bounds of all vertices.
"""

from __future__ import annotations

import numpy as np

from ...jit import kernel
from ...paths.arcs import WeightedComponents
from ...paths.rows import unreached

NEVER = np.int64(1) << 62


class LengthBounds:
    """upper, lower : int64[n_vertices], in units; NEVER and 0 at vertices that no search has reached. heights : int64
    or uint32[n_vertices]. n_open : int64[components], number of open vertices of each."""

    def __init__(self, parts: WeightedComponents, heights: np.ndarray | None) -> None:
        n = len(parts.component)
        self.upper, self.lower = np.full(n, NEVER), np.zeros(n, np.int64)
        self.parts, self.component, self.n_open = parts, parts.component, parts.sizes.astype(np.int64)
        self.heights = np.zeros(n, np.uint32) if heights is None else heights

    def fold(self, distances: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fold a search from `sources` (int64[components], -1: none) into the bounds.

        Returns
        -------
        far : int64[components], the vertex farthest from each source, -1 if there is no other.
        lengths : int64[components], lengths of these pairs, -1 without a pair.
        """
        reach, far, value = (np.empty(len(sources), np.int64) for _ in range(3))
        shared = distances, unreached(distances.dtype), self.heights, self.component, sources
        farthest_of(*shared, reach, far, value)
        fold_column(*shared, reach, self.upper, self.lower)
        return far, np.where(far >= 0, value + self.heights[sources], -1)

    def count(self, limit: int, active: np.ndarray) -> None:
        """Count the open vertices (with upper bounds above `limit`) of the active components (bool[components])."""
        count_open(self.upper, limit, self.component, self.n_open)
        self.n_open[~active] = 0

    def central(self) -> np.ndarray:
        """int64[components], the vertex of smallest lower bound that was not a source, -1 if there is none."""
        centre = np.empty(len(self.n_open), np.int64)
        most_central(self.lower, self.component, centre)
        return centre

    def next_open(self, limit: int, central: bool) -> np.ndarray:
        """int64[components], see choose_open; -1 for components without an open vertex."""
        chosen = np.full(len(self.n_open), -1, np.int64)
        choose_open(self.upper, self.lower, limit, self.component, central, chosen)
        return chosen

    def middle(self, one: np.ndarray, other: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """int64[components], see halfway. one, other : distances from the first and from the second `ends`,
        int64[components, 2]."""
        wide, middle = np.result_type(one, other), np.empty(len(ends), np.int64)
        halfway(_widened(one, wide), _widened(other, wide), unreached(wide), self.heights, self.component, ends,
                self.lower, middle)
        return middle


def _widened(column: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Distances in `dtype`; the largest value stays the largest."""
    if column.dtype == dtype:
        return column
    wide = column.astype(dtype)
    wide[column == unreached(column.dtype)] = unreached(dtype)
    return wide


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
    """Lower upper[v] to h(v) + d(v) + reach, 0 for a source (its farthest vertex is known). Raise
    lower[v], which bounds the largest d + h from v, to the two differences, NEVER for a source."""
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
    """middle[c] = a vertex, not yet a source, on a shortest path between ends[c, 0] and ends[c, 1] whose distances to
    both ends, with their heights, are as equal as possible; ties by `lower`, then the smallest; or -1.

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


@kernel
def choose_open(upper, lower, limit, component, central, chosen):
    """chosen[c] = among the vertices of component c with upper > limit, the one with the smallest lower bound
    (`central`) or with the largest upper bound; ties by the other bound, then the smallest vertex. Unchanged (-1) if
    there is none."""
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


@kernel
def least_open(lower, upper, component, chosen, least):
    """chosen[c] = among the vertices of component c with lower < upper, the one with the smallest lower bound; ties by
    the upper bound, then the smallest vertex; -1 if there is none. least[c] = the smallest upper bound in c."""
    chosen[:] = -1
    least[:] = NEVER
    for v in range(len(lower)):
        c = component[v]
        least[c] = min(least[c], upper[v])
        if lower[v] < upper[v]:
            u = chosen[c]
            if u < 0 or lower[v] < lower[u] or (lower[v] == lower[u] and upper[v] < upper[u]):
                chosen[c] = v
