"""Vertices whose bounds leave something open, by pairs: ecc(v) <= L(v) if every w is within L(v) of v.

L(v) is the lower bound that distances to sources prove. A source w is within it, since its distance is one of these.
Any other w is near if some source p has d(v, p) + d(p, w) <= L(v). For the source s with the smallest d(v, s) + ecc(s)
only those w matter that are farther than L(v) - d(v, s) from s: these are looked at from the farthest on.

Bytes: the distances of all vertices of the component to all its sources, and 8 a vertex and thread.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..jit import kernel

# Vertices that are looked at together by one thread.
_TOGETHER = 1 << 9


def unproved_pair(
    points: np.ndarray, lower: np.ndarray, is_open: np.ndarray, is_source: np.ndarray, threads: int,
    tick: Callable[[], None],
) -> tuple[tuple[int, int] | None, int]:
    """Two vertices that are not proved to be near, None if there are none; and how many pairs were looked at.

    points : unsigned[m, k], distances to the k sources. lower : unsigned[m] of the same dtype, L. is_open, is_source :
    bool[m]; only open vertices are to be proved."""
    reach = points.max(axis=0).astype(np.int64)
    order = np.argsort(reach, kind="stable")  # central sources prove most
    points, reach = np.ascontiguousarray(points[:, order]), reach[order]
    vertices = np.flatnonzero(is_open)
    best = _best_columns(points, reach, vertices)
    looked_at = 0
    with ThreadPoolExecutor(threads) as pool:
        for column in np.unique(best).tolist():
            some = vertices[best == column]
            far = np.argsort(points[:, column], kind="stable")[::-1]
            far = far[~is_source[far]]
            tasks = [pool.submit(_look, points, lower, some[start : start + _TOGETHER], far, column)
                     for start in range(0, len(some), _TOGETHER)]
            for task in tasks:
                pair, pairs = task.result()
                looked_at += pairs
                tick()
                if pair is not None:
                    return pair, looked_at
    return None, looked_at


def _best_columns(points: np.ndarray, reach: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The column of the smallest upper bound of each of `vertices`."""
    best = np.empty(len(vertices), np.int64)
    for start in range(0, len(vertices), _TOGETHER):
        best[start : start + _TOGETHER] = (points[vertices[start : start + _TOGETHER]] + reach).argmin(axis=1)
    return best


def _look(
    points: np.ndarray, lower: np.ndarray, vertices: np.ndarray, far: np.ndarray, column: int
) -> tuple[tuple[int, int] | None, int]:
    pair = np.full(2, -1, np.int64)
    looked_at = int(find_far(points, lower, vertices, far, column, pair))
    return (None if pair[0] < 0 else (int(pair[0]), int(pair[1]))), looked_at


@kernel
def find_far(points, lower, vertices, far, column, pair):  # type: ignore[no-untyped-def]
    """pair = (v, w) with v of `vertices` and w of `far`, which lie from the farthest from the source of `column` on, if
    no source proves them near. Returns how many pairs were looked at."""
    columns = points.shape[1]
    looked_at = 0
    below = np.empty(columns, points.dtype)
    for v in vertices:
        limit = np.int64(lower[v])
        for j in range(columns):
            below[j] = max(0, limit - np.int64(points[v, j]) + 1)
        left = limit - np.int64(points[v, column])
        for w in far:
            if np.int64(points[w, column]) <= left:
                break
            looked_at += 1
            row = points[w]
            is_near = w == v
            for start in range(0, columns, 32):
                if is_near:
                    break
                hits = 0
                for j in range(start, min(start + 32, columns)):
                    hits += row[j] < below[j]
                is_near = hits > 0
            if not is_near:
                pair[0] = v
                pair[1] = w
                return looked_at
    return looked_at
