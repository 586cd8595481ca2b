"""Bounds on the eccentricity of every vertex from full traversals, folded in one pass each.

After a traversal from p: max(d, ecc(p) - d) <= ecc(v) <= d + ecc(p), with d = d(p, v). Bytes a
vertex: 3 x itemsize. The entry of a vertex that no traversal of the run has reached is unreached.
Sources: Takes and Kosters 2011; Dal, Kosters and Takes, Algorithm 2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_length
from . import uncompiled
from .atomics import atomic_add
from .columns import Column, smallest_dtype
from .core import Core
from .ram_column import RamColumn

_GRAIN, _PIECE = 1 << 14, 1 << 18
_SHARE = 1 << 17  # vertices whose processing takes a thread as long as starting another thread
_SLOTS, _COUNT_BITS = 8, 40


@dataclass(frozen=True)
class Folded:
    """The result of a fold. unsettled : vertices whose upper bound exceeds the limit. centre : not yet
    traversed vertex of the smallest lower bound (ties: smallest largest distance to the pivots,
    highest degree, smallest number). periphery : of the largest upper bound (ties: farthest from
    the pivots, smallest number). -1 if there is none. highest : the largest upper bound."""

    unsettled: int
    centre: int
    periphery: int
    highest: int


class PivotBounds(ABC):
    """The bounds of a run. largest : the largest possible eccentricity; upper bounds are cut to it.

    lower, upper : bounds on eccentricities. far : largest distance to a pivot. All are Columns of the engine,
    unreached in components that were not traversed; far is unreached at traversed vertices too."""

    lower: Column
    upper: Column
    far: Column

    def reset(self) -> None:
        """Clear all bounds (for the next component)."""
        for column in (self.lower, self.upper, self.far):
            column.clear()

    @abstractmethod
    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """Update the bounds with a full traversal from `source`. limit : see Folded.unsettled."""

    @abstractmethod
    def unsettled(self, limit: int) -> np.ndarray:
        """Reached vertices whose upper bound exceeds `limit`, ascending, int64[k]."""


class RamPivotBounds(PivotBounds):
    """Bounds in RAM. Parameters: the engine's core; largest."""

    def __init__(self, core: Core, largest: int) -> None:
        self._core, self._largest = core, largest
        n, dtype = core.table.n_vertices, smallest_dtype(largest)
        self.lower, self.upper, self.far = (RamColumn(np.full(n, np.iinfo(dtype).max, dtype)) for _ in range(3))

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        about = np.array([source, eccentricity, limit, self._largest])
        columns = [column.raw() for column in (distances, self.lower, self.upper, self.far)]
        return merged(fold_range(self._core, columns, about, 0))

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        return list_between(self.upper.raw(), limit, self.upper.unreached)


def fold_range(core: Core, columns: Sequence[np.ndarray], about: np.ndarray, first: int) -> np.ndarray:
    """Call fold_pivot on the vertices from `first` to the end of the columns (distances, lower, upper, far); returns
    its `out`."""
    turn, shares = np.array([first, 0], np.int64), max(1, (len(columns[0]) - first) // _SHARE)
    out = np.full((min(core.threads.compute, shares), _SLOTS), -1, np.int64)
    core.everywhere(lambda: fold_pivot(turn, _GRAIN, columns[0], about, *columns[1:], *core.offsets, out), shares)
    return out


def merged(out: np.ndarray) -> Folded:
    """Combine the rows of fold_pivot, int64[k, 8]."""
    rows = out.tolist()
    centre = min((row[1:5] for row in rows if row[4] >= 0), default=(-1, -1, -1, -1))
    periphery = max((row[5:8] for row in rows if row[7] >= 0), key=lambda key: (key[0], key[1], -key[2]),
                    default=(-1, -1, -1))
    unsettled = sum(row[0] & ((1 << _COUNT_BITS) - 1) for row in rows)
    return Folded(unsettled, centre[3], periphery[2], max(row[0] >> _COUNT_BITS for row in rows))


@kernel(uncompiled=uncompiled.fold_pivot)
def fold_pivot(turn, grain, distances, about, lower, upper, far, group, row, hub, out):
    """Fold a traversal; threads share the work. about : int64[4] = source, its eccentricity, limit, largest.

    out : int64[threads, 8], one row each (turn[1] numbers them): highest upper bound << 40 |
    unsettled; lower, far, -degree, vertex of the centre; upper, far, vertex of the periphery."""
    source, eccentricity, limit, largest = about
    n, offsets = len(lower), (group, row, hub)
    row_of_thread = atomic_add(turn, 1, 1)
    unsettled = highest = centre_degree = 0
    centre = periphery = -1
    # lower and far of the centre, upper and far of the periphery.
    least, most = (np.int64(1) << 62, np.int64(0)), (np.int64(-1), np.int64(0))
    top = np.int64(np.iinfo(lower.dtype).max)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= n:
            break
        end = min(begin + grain, n)
        ds, lows, highs, fars = distances[begin:end], lower[begin:end], upper[begin:end], far[begin:end]
        for i in range(len(ds)):  # several vertices at once: no branches, and no index that could be negative
            d = np.int64(ds[i])
            reached, new = d != top, np.int64(highs[i]) == top
            low = max(d, eccentricity - d)
            high = min(d + eccentricity, largest)
            high = min(high, np.int64(highs[i]))
            low = low if new else max(np.int64(lows[i]), low)
            away = d if new else max(np.int64(fars[i]), d)  # stays top at a source
            lows[i] = low if reached else lows[i]
            highs[i] = high if reached else highs[i]
            fars[i] = away if reached else fars[i]
            highest = max(highest, high if reached else 0)
            unsettled += reached and high > limit
        if begin <= source < end:
            far[source] = top
        for i in range(len(ds)):
            away = np.int64(fars[i])
            if away == top or np.int64(ds[i]) == top:
                continue
            high, low = np.int64(highs[i]), np.int64(lows[i])
            if high > most[0] or (high == most[0] and away > most[1]):
                most, periphery = (high, away), begin + i
            if low > least[0] or (low == least[0] and away > least[1]):
                continue
            degree = row_length(offsets, begin + i)
            if low < least[0] or away < least[1] or degree > centre_degree:
                least, centre, centre_degree = (low, away), begin + i, degree
    out[row_of_thread, 0] = (highest << _COUNT_BITS) | unsettled
    out[row_of_thread, 4] = centre
    out[row_of_thread, 7] = periphery
    if centre >= 0:
        out[row_of_thread, 1] = lower[centre]
        out[row_of_thread, 2] = far[centre]
        out[row_of_thread, 3] = -centre_degree
        out[row_of_thread, 5] = upper[periphery]
        out[row_of_thread, 6] = far[periphery]


def list_between(values: np.ndarray, low: int, high: int) -> np.ndarray:
    """Indices with low < value < high, ascending, int64[k]."""
    pieces = [values[start : start + _PIECE] for start in range(0, len(values), _PIECE)]
    result = np.empty(sum(int(np.count_nonzero((low < piece) & (piece < high))) for piece in pieces), np.int64)
    count = 0
    for i, piece in enumerate(pieces):
        places = np.flatnonzero((low < piece) & (piece < high))
        result[count : count + len(places)] = places + i * _PIECE
        count += len(places)
    return result
