"""Which worker owns which vertices: contiguous ranges with about as many arcs each.

A range begins at a multiple of 64, so that no two workers share a word of a bitmap. A vertex counts as much as an arc,
so that vertices without an arc are shared out too.
"""

from __future__ import annotations

import numpy as np

from ..store.array_reader import ChunkedArray
from ..store.store import Store

WORD = 64


def balanced_ranges(store: Store, parts: int) -> np.ndarray:
    """int64[parts + 1], ascending from 0 to n_vertices: range i is [ranges[i], ranges[i + 1]), which may be empty.

    Reads O(parts * log(chunks)) chunks of indptr."""
    n, total = store.n_vertices, store.n_arcs + store.n_vertices
    reader = _Reader(store.indptr)
    bounds = [0]
    for part in range(1, parts):
        wanted = total * part // parts
        low, high = bounds[-1] // WORD, -(-n // WORD)
        while low < high:  # the first word whose first vertex has `wanted` before it
            middle = (low + high) // 2
            if reader[middle * WORD] + middle * WORD < wanted:
                low = middle + 1
            else:
                high = middle
        bounds.append(min(n, low * WORD))
    return np.array([*bounds, n], np.int64)


class _Reader:
    """Single values of indptr; keeps the chunk that was read last."""

    def __init__(self, indptr: ChunkedArray) -> None:
        self._indptr, self._chunk = indptr, -1
        self._values = np.empty(indptr.chunk_items, np.int64)

    def __getitem__(self, vertex: int) -> int:
        chunk, at = divmod(vertex, self._indptr.chunk_items)
        if chunk != self._chunk:
            self._indptr.fetch(chunk, [self._values])
            self._chunk = chunk
        return int(self._values[at])
