"""Degrees of all vertices, from the row offsets alone: no edges are read."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_length

_PIECE = 1 << 17


class Degrees(Protocol):
    """Degrees of vertices, int64[k], of a span of them: (first, end)."""

    @property
    def span(self) -> tuple[int, int]: ...
    def degrees(self, vertices: np.ndarray) -> np.ndarray: ...


@kernel
def list_degree(group, row, hub, degree, start, n_vertices, out):
    """Vertices >= start of this degree into out, as many as fit; returns (count, where to go on)."""
    count = 0
    for v in range(start, n_vertices):
        if row_length((group, row, hub), v) == degree:
            if count == len(out):
                return count, v
            out[count] = v
            count += 1
    return count, n_vertices


@kernel
def max_degree_vertex(group, row, hub, n_vertices):
    """Smallest vertex of the largest degree, and that degree."""
    best = np.int64(-1)
    best_degree = np.int64(-1)
    for v in range(n_vertices):
        length = row_length((group, row, hub), v)
        if length > best_degree:
            best_degree = length
            best = v
    return best, best_degree


def highest_degrees(core: Degrees, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, degrees) of at most `limit` vertices of the span, highest degree first, smallest vertex first."""
    best, keys = np.empty(0, np.int64), np.empty(0, np.int64)
    for start in range(core.span[0], core.span[1], _PIECE):
        ids = np.arange(start, min(start + _PIECE, core.span[1]))
        degrees = core.degrees(ids)
        if len(keys) == limit:  # the last of the list is to be beaten: what follows has larger numbers
            ids, degrees = ids[degrees > keys[-1]], degrees[degrees > keys[-1]]
        elif limit == 1:  # nothing to sort
            top = np.array([degrees.argmax()])
            ids, degrees = ids[top], degrees[top]
        best, keys = np.concatenate((best, ids)), np.concatenate((keys, degrees))
        order = np.argsort(-keys, kind="stable")[:limit]
        best, keys = best[order], keys[order]
    return best, keys
