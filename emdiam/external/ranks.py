"""Natural ranks of vertices, read from the store on demand.

I/O: none for a naturally ordered store. Otherwise its ranks are read once, checked, and copied to scratch, with the
vertices in order of rank too: two ids per vertex written, and 16 bytes written and read to invert them.
"""

from __future__ import annotations

import numpy as np

from ..store.store import Store
from .columns import WordFile
from .queues import Space


class NaturalRanks:
    """The ranks of all vertices. Raises StoreError unless each of 0 to n - 1 occurs once."""

    def __init__(self, store: Store, space: Space) -> None:
        self._store, self._space = store, space
        self._file = self._vertices = WordFile(space.scratch, 0)
        if not store.is_natural:
            self._copy()

    def _copy(self) -> None:
        ranges, first = self._space.ranges, 0
        self._file, self._vertices = (
            WordFile(self._space.scratch, ranges.n, self._space.key, 0, self._space.page) for _ in range(2))
        queues = self._space.queues(2)
        for ranks in self._store.natural_pieces():
            self._file[first : first + len(ranks)] = ranks
            vertices = np.arange(first, first + len(ranks), dtype=np.uint64)
            queues.put(ranks >> ranges.shift, np.column_stack((ranks.astype(np.uint64), vertices)))
            first += len(ranks)
        for number, begin, stop in ranges.each():
            seen, vertices = np.zeros(stop - begin, bool), np.zeros(stop - begin, self._space.key)
            for rows in queues.read(number):
                at = rows[:, 0].astype(np.int64) - begin
                seen[at], vertices[at] = True, rows[:, 1]
            if not seen.all():
                raise self._store.wrong_ranks()
            self._vertices[begin:stop] = vertices
        queues.close()

    def part(self, start: int, stop: int) -> np.ndarray:
        """Ranks of vertices start..stop-1, int64[k]."""
        return np.arange(start, stop) if self._store.is_natural else self._file[start:stop].astype(np.int64)

    def take(self, vertices: np.ndarray) -> np.ndarray:
        """Ranks of `vertices` (int64[k]), int64[k]."""
        ids = np.asarray(vertices, np.int64)
        return ids if self._store.is_natural else self._file.take(ids).astype(np.int64)

    def vertices(self, start: int, stop: int) -> np.ndarray:
        """The vertices with ranks start..stop-1, int64[k]."""
        return np.arange(start, stop) if self._store.is_natural else self._vertices[start:stop].astype(np.int64)
