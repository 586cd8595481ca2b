"""Vertices of alike distances in cells, which bound a mean: every source splits the cells of its component.

Any partition of the vertices is sound for the bounds that are made of it (mean.py), so the prover and the verifier
divide by the same code; what they make of the cells is their own. It goes by distances alone, never by the numbers of
vertices: so cells are the same in every order of a store. A source is a cell of its own. Then the cell in which its
distances are spread the most, times the number of vertices, is halved in the middle of them, until there are
CELLS_A_SOURCE cells for each source so far. So more sources only ever divide what fewer have divided.

Bytes a vertex: the id dtype, and the column at hand. Work of a source: n, and n for each time that a vertex is moved.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..jit import kernel

CELLS_A_SOURCE, MOST_CELLS = 64, 1 << 13


class Cells:
    """The cells of vertices 0 to n - 1: at first one. n_sources : so far."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any]) -> None:
        self._order = np.arange(n_vertices, dtype=dtype)
        self._first, self._last = [0], [n_vertices]
        self.n_sources = 0

    @property
    def sizes(self) -> np.ndarray:
        """Vertices of each cell, int64[cells]."""
        return np.array(self._last, np.int64) - self._first

    def divide(self, column: np.ndarray) -> None:
        """Take another source into account. column : unsigned[n], the distances from it, the largest value of the dtype
        where there are none."""
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
        """The sum of the distances of each cell, int64[cells]; -1 where there are none. column : as for `divide`."""
        found = np.empty(len(self._first), np.int64)
        sum_cells(self._order, np.array(self._first), np.array(self._last), column, found)
        return found

    def _weighed(self, cell: int, least: int, most: int) -> tuple[int, int, int, int]:
        return (least - most) * (self._last[cell] - self._first[cell]), cell, least, most

    def _extents(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest and largest value of each cell, int64[cells] each."""
        least, most = (np.empty(len(self._first), np.int64) for _ in range(2))
        extents(self._order, np.array(self._first), np.array(self._last), column, least, most)
        return least, most

    def _halve(self, cell: int, column: np.ndarray, middle: int) -> None:
        """Values above `middle` become the last cell."""
        first, last = self._first[cell], self._last[cell]
        cut = first + int(move_larger(self._order[first:last], column, middle))
        self._last[cell] = cut
        self._first.append(cut)
        self._last.append(last)


@kernel
def extents(order, first, last, column, least, most):
    """Smallest and largest value of each cell, none of which is empty."""
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
    """Sums of the values of cells, all of which are distances, or none."""
    none = np.int64(np.iinfo(column.dtype).max)
    for cell in range(len(first)):
        total = np.int64(0)
        for i in range(first[cell], last[cell]):
            total += np.int64(column[order[i]])
        found[cell] = -1 if np.int64(column[order[first[cell]]]) == none else total


@kernel
def move_larger(order, column, middle):
    """Put vertices with values above `middle` behind the others; how many others there are."""
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
