"""Degrees of all vertices, from the row offsets alone: no edges are read."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start


@kernel
def list_degree(group, row, hub, degree, start, n_vertices, out):  # type: ignore[no-untyped-def]
    """Vertices >= start of this degree into out, as many as fit; returns (count, where to go on)."""
    count = 0
    end = row_start(group, row, hub, start)
    for v in range(start, n_vertices):
        begin = end
        end = row_start(group, row, hub, v + 1)
        if end - begin == degree:
            if count == len(out):
                return count, v
            out[count] = v
            count += 1
    return count, n_vertices


@kernel
def max_degree_vertex(group, row, hub, n_vertices):  # type: ignore[no-untyped-def]
    """Smallest vertex of the largest degree, and that degree."""
    best = np.int64(-1)
    best_degree = np.int64(-1)
    end = row_start(group, row, hub, 0)
    for v in range(n_vertices):
        begin = end
        end = row_start(group, row, hub, v + 1)
        if end - begin > best_degree:
            best_degree = end - begin
            best = v
    return best, best_degree
