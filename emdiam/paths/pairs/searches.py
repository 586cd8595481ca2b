"""All pairs row by row: a search from every vertex, each by one thread; what searches share.

A method gives a kernel that fills rows of the matrix from `first` on: row i has the distances from vertex first + i.
The graph is in memory, of the matrix only the rows at hand are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...stream.threads import Threads
from ..rows import WeightedRows
from .lengths import Lengths

Tick = Callable[[], None]
# Arcs that are looked at between two looks at the listener, about.
_AT_ONCE = 1 << 26


class Searches:
    """A search from every vertex. search : kernel (offsets, heads, costs, first, part, infinity, turn): row i of `part`
    gets the distances from vertex first + i; turn : int64[1], 0, counts the rows that were taken."""

    def __init__(self, rows: WeightedRows, lengths: Lengths, threads: Threads, tick: Tick, search: Any) -> None:
        self._rows, self._lengths, self._threads, self._tick, self._search = rows, lengths, threads, tick, search
        self._costs = self._widened(rows.costs)

    def _widened(self, costs: np.ndarray) -> np.ndarray:
        """Costs as the kernel takes them: of the dtype of distances, so that there are few kernels."""
        return costs.astype(self._lengths.dtype)

    def fill(self, first: int, strip: np.ndarray) -> None:
        """strip[i] = distances from vertex first + i, dtype[k, n]; infinity of `lengths` where no path is."""
        rows, infinity = self._rows, strip.dtype.type(self._lengths.infinity)
        step = max(4 * self._threads.compute, _AT_ONCE // max(1, rows.n_arcs))
        for begin in range(0, len(strip), step):
            part, turn = strip[begin : begin + step], np.zeros(1, np.int64)
            part.fill(infinity)
            task = partial(self._search, rows.offsets, rows.heads, self._costs, first + begin, part, infinity, turn)
            self._threads.everywhere(task, len(part))
            self._after(first + begin, part)
            self._tick()

    def _after(self, first: int, part: np.ndarray) -> None:
        """What is done to rows that are found."""
