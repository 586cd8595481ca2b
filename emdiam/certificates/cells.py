"""Cells of vertices with similar distances, which bound a mean: every source splits the cells of its component.

The bounds computed from the cells (mean.py) hold for any partition of the vertices, so the prover and the verifier
share this code; each computes its own bounds from the cells. The partition depends on distances only, never on the
numbers of vertices, so that it is the same for every order of a store. A source becomes a cell alone. Then the cell
with the largest product of its spread of distances and its number of vertices is halved at the middle of the spread,
until there are CELLS_A_SOURCE cells for each source so far. So additional sources only divide existing cells.

Bytes per vertex: the id dtype, and the current column. Work of a source: n, and n for each time that a vertex is moved.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..jit import kernel

CELLS_A_SOURCE, MOST_CELLS = 64, 1 << 13


class Cells:
    """The cells of vertices 0 to n - 1; initially one cell. n_sources : number of sources so far."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any]) -> None:
        self._order = np.arange(n_vertices, dtype=dtype)
        self._first, self._last = [0], [n_vertices]
        self.n_sources = 0

    @property
    def sizes(self) -> np.ndarray:
        """Number of vertices of each cell, int64[cells]."""
        return np.array(self._last, np.int64) - self._first

    def divide(self, column: np.ndarray) -> None:
        """Split cells by another source. column : unsigned[n], the distances from it, the largest value of the dtype if
        there are none."""
        self.n_sources += 1
        unreached = int(np.iinfo(column.dtype).max)
        least, most = self._extents(column)
        for cell in np.flatnonzero((most == unreached) & (least < unreached)).tolist():
            self._halve(cell, column, unreached - 1)
        least, most = self._extents(column)
        for cell in np.flatnonzero((least == 0) & (most > 0)).tolist():
            self._halve(cell, column, 0)
        least, most = self._extents(column)
        waiting = [self._weighed(cell, int(least[cell]), int(most[cell])) for cell in range(len(least))]
        heapq.heapify(waiting)
        wanted = min(CELLS_A_SOURCE * self.n_sources, MOST_CELLS)
        while len(self._first) < wanted and waiting and waiting[0][0] < 0:
            _, cell, low, high = heapq.heappop(waiting)
            middle = (low + high) // 2
            self._halve(cell, column, middle)
            for half in (cell, len(self._first) - 1):
                part = column[self._order[self._first[half] : self._last[half]]]
                heapq.heappush(waiting, self._weighed(half, int(part.min()), int(part.max())))

    def sums(self, column: np.ndarray) -> np.ndarray:
        """The sum of the distances in each cell, int64[cells]; -1 without distances. column : as for `divide`."""
        found = np.empty(len(self._first), np.int64)
        sum_cells(self._order, np.array(self._first), np.array(self._last), column, found)
        return found

    def _weighed(self, cell: int, least: int, most: int) -> tuple[int, int, int, int]:
        return (least - most) * (self._last[cell] - self._first[cell]), cell, least, most

    def _extents(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value in each cell, int64[cells] each."""
        least, most = (np.empty(len(self._first), np.int64) for _ in range(2))
        extents(self._order, np.array(self._first), np.array(self._last), column, least, most)
        return least, most

    def _halve(self, cell: int, column: np.ndarray, middle: int) -> None:
        """Move values above `middle` to a new last cell."""
        first, last = self._first[cell], self._last[cell]
        cut = first + int(move_larger(self._order[first:last], column, middle))
        self._last[cell] = cut
        self._first.append(cut)
        self._last.append(last)


@kernel
def extents(order, first, last, column, least, most):
    """Smallest and largest value in each cell; no cell is empty."""
    for cell in range(len(first)):
        low = high = np.int64(column[order[first[cell]]])
        for i in range(first[cell], last[cell]):
            value = np.int64(column[order[i]])
            low = min(low, value)
            high = max(high, value)
        least[cell] = low
        most[cell] = high


@kernel
def sum_cells(order, first, last, column, found):
    """Sums of the values in cells; the values of a cell are all distances, or all missing."""
    none = np.int64(np.iinfo(column.dtype).max)
    for cell in range(len(first)):
        total = np.int64(0)
        for i in range(first[cell], last[cell]):
            total += np.int64(column[order[i]])
        found[cell] = -1 if np.int64(column[order[first[cell]]]) == none else total


@kernel
def move_larger(order, column, middle):
    """Move vertices with values above `middle` behind the others; returns the number of the others."""
    low = np.int64(0)
    high = np.int64(len(order))
    while low < high:
        v = order[low]
        if np.int64(column[v]) <= middle:
            low += 1
        else:
            high -= 1
            order[low] = order[high]
            order[high] = v
    return low
