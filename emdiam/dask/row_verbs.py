"""Rows and degrees as asked of the rank that owns them."""

from __future__ import annotations

import numpy as np

from ..stream.offsets import row_starts
from ..traverse.degrees import list_degree
from ..traverse.paths import all_edges_exist, read_rows
from .rank import Part

_PIECE = 1 << 17


def degrees_of(part: Part, ids: np.ndarray) -> np.ndarray:
    """Degrees of vertices of this range, int64[k]."""
    return part.core.degrees(ids)


def rows_of(part: Part, ids: np.ndarray) -> list[np.ndarray]:
    """Rows of vertices of this range."""
    return read_rows(part.core, ids)


def of_degree(part: Part, degree: int, start: int, most: int) -> tuple[np.ndarray, int]:
    """At most `most` vertices of this degree from `start` on, and where to go on (the end of the range: no more)."""
    out = np.empty(most, np.int64)
    begin = max(start, part.first)
    if begin >= part.stop:
        return out[:0], part.stop
    count, after = list_degree(*part.core.offsets, degree, begin, part.stop, out)
    return out[:count].copy(), int(after)


def highest_degrees(part: Part, most: int) -> tuple[np.ndarray, np.ndarray]:
    """(vertices, degrees) of at most `most` vertices of this range, highest degree first, smallest vertex first."""
    best, keys = np.empty(0, np.int64), np.empty(0, np.int64)
    starts = np.empty(_PIECE + 1, np.int64)
    for start in range(part.first, part.stop, _PIECE):
        stop = min(start + _PIECE, part.stop)
        row_starts(*part.core.offsets, np.arange(start, stop + 1), starts)
        degrees = np.diff(starts[: stop - start + 1])
        if len(keys) == most:  # the last of the list is to be beaten: what follows has larger numbers
            ids = np.flatnonzero(degrees > keys[-1])
            ids, degrees = ids + start, degrees[ids]
        elif most == 1:  # nothing to sort
            top = np.array([degrees.argmax()])
            ids, degrees = top + start, degrees[top]
        else:
            ids = np.arange(start, stop)
        best, keys = np.concatenate((best, ids)), np.concatenate((keys, degrees))
        order = np.argsort(-keys, kind="stable")[:most]
        best, keys = best[order], keys[order]
    return best, keys


def first_connected(part: Part) -> int:
    """Smallest vertex of this range with an edge, or -1."""
    for start in range(part.first, part.stop, _PIECE):
        ids = np.arange(start, min(start + _PIECE, part.stop))
        found = np.flatnonzero(part.core.degrees(ids))
        if len(found):
            return int(ids[found[0]])
    return -1


def edges_exist(part: Part, tails: np.ndarray, heads: np.ndarray) -> bool:
    """Whether every (tails[i], heads[i]), tails of this range, is an edge."""
    return all_edges_exist(part.core, tails, heads)
