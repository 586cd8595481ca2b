"""What one column of distances says of all vertices and components: kernels of heights.py.

Everything is per component: a search has one source in each component that is still open, so one
column serves all of them. Distances are unsigned, `none` where no source reaches; bounds int64.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel

NEVER = np.int64(1) << 62


@kernel
def farthest_of(dist, none, heights, component, sources, reach, far, value):  # type: ignore[no-untyped-def]
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
def fold_column(dist, none, heights, component, sources, reach, upper, lower):  # type: ignore[no-untyped-def]
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
def count_open(upper, limit, component, n_open):  # type: ignore[no-untyped-def]
    """n_open[c] = vertices of component c with upper > limit."""
    n_open[:] = 0
    for v in range(len(upper)):
        if upper[v] > limit:
            n_open[component[v]] += 1


@kernel
def most_central(lower, component, centre):  # type: ignore[no-untyped-def]
    """centre[c] = smallest vertex of component c with the smallest `lower` below NEVER, or -1."""
    centre[:] = -1
    for v in range(len(lower)):
        c = component[v]
        if lower[v] < NEVER and (centre[c] < 0 or lower[v] < lower[centre[c]]):
            centre[c] = v


@kernel
def halfway(one, other, none, heights, component, ends, lower, middle):  # type: ignore[no-untyped-def]
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
