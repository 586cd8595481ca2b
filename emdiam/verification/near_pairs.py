"""Vertices whose bounds leave something open, by pairs: ecc(v) <= L(v) if every w is within L(v) of v.

L(v) is the lower bound that distances to sources prove. A source w is within it, since its distance is one of these.
Any other w is near if some source p has U(v, w) = d(v, p) + d(p, w) <= L(v). Where every path from v to w meets a
source, that is where they are in different *parts*, the components of the graph without the sources, the smallest
U(v, w) is their distance: L(v) is at least that. For the source s with the smallest d(v, s) + ecc(s) only those w
matter that are farther than L(v) - d(v, s) from s: these are looked at from the farthest on.

Bytes: the distances of all vertices of the component to all its sources, and 8 a vertex and thread.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from ..jit import inlined, kernel

# Vertices that are looked at together by one thread.
_TOGETHER = 1 << 9


@dataclass(frozen=True)
class Labelled:
    """The m vertices of a component. points : unsigned[m, k], distances to the k sources. lower : unsigned[m] of the
    same dtype, L. parts : integers[m]. is_open, is_source : bool[m]; only open vertices are to be proved."""

    points: np.ndarray
    lower: np.ndarray
    parts: np.ndarray
    is_open: np.ndarray
    is_source: np.ndarray


def unproved_pair(
    component: Labelled, most: int, threads: int, tick: Callable[[], None]
) -> tuple[tuple[int, int] | None, int]:
    """Two vertices that are not proved to be near, or are more than `most` apart, None if there are none; and how many
    pairs were looked at. Raises the component's lower bounds. most : less than the largest value of their dtype."""
    reach = component.points.max(axis=0).astype(np.int64)
    order = np.argsort(reach, kind="stable")  # central sources prove most
    component, reach = replace(component, points=np.ascontiguousarray(component.points[:, order])), reach[order]
    vertices = np.flatnonzero(component.is_open)
    best = _best_columns(component.points, reach, vertices)
    looked_at = 0
    with ThreadPoolExecutor(threads) as pool:
        for column in np.unique(best).tolist():
            some = vertices[best == column]
            far = np.argsort(component.points[:, column], kind="stable")[::-1]
            far = far[~component.is_source[far]]
            tasks = [pool.submit(_look, component, some[start : start + _TOGETHER], far, column, most)
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
    component: Labelled, vertices: np.ndarray, far: np.ndarray, column: int, most: int
) -> tuple[tuple[int, int] | None, int]:
    pair = np.full(2, -1, np.int64)
    looked_at = int(find_far(component.points, component.lower, vertices, far, column, component.parts, most, pair))
    return (None if pair[0] < 0 else (int(pair[0]), int(pair[1]))), looked_at


@kernel
def find_far(points, lower, vertices, far, column, parts, most, pair):
    """pair = (v, w) with v of `vertices` and w of `far`, which lie from the farthest from the source of `column` on, if
    no source proves them near, or if they are more than `most` apart. Raises `lower` to distances between parts.
    Returns how many pairs were looked at."""
    columns = points.shape[1]
    looked_at = 0
    below = np.empty(columns, points.dtype)
    for v in vertices:
        limit = np.int64(lower[v])
        longest, end = np.int64(-1), np.int64(-1)  # within v's part
        _set_below(points[v], limit, below)
        for w in far:
            if np.int64(points[w, column]) <= limit - np.int64(points[v, column]):
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
            if is_near:
                continue
            through = _shortest_way(points[v], row)
            if parts[w] == parts[v]:
                if through > longest:
                    longest, end = through, w
            elif through > most:
                pair[0], pair[1] = v, w
                return looked_at
            else:
                limit = through
                _set_below(points[v], limit, below)
        if longest > limit:
            pair[0], pair[1] = v, end
            return looked_at
        lower[v] = limit
    return looked_at


@inlined
def _set_below(row, limit, below):
    """What is below it in any place is within the limit of the vertex of this row."""
    for j in range(len(row)):
        below[j] = max(0, limit - np.int64(row[j]) + 1)


@inlined
def _shortest_way(first, second):
    """The length of the shortest way over a source."""
    least = np.int64(first[0]) + np.int64(second[0])
    for j in range(1, len(first)):
        least = min(least, np.int64(first[j]) + np.int64(second[j]))
    return least
