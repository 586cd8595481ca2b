"""Natural ranks of vertices, read from the store where they are asked for.

I/O: of a store that is in natural order none; else its ranks are read once, checked, and lie in scratch from then on,
8 bytes a vertex written and read for the check beside those of an id.
"""

from __future__ import annotations

import numpy as np

from ..errors import StoreError
from ..store.store import Store
from .columns import WordFile
from .queues import Space


class NaturalRanks:
    """The ranks of all vertices. Raises StoreError unless each of 0 to n - 1 is there once."""

    def __init__(self, store: Store, space: Space) -> None:
        self._store, self._space = store, space
        self._file: WordFile | None = None if store.is_natural else self._copied()

    def _copied(self) -> WordFile:
        ranges, first = self._space.ranges, 0
        file = WordFile(self._space.scratch, ranges.n, self._space.key, 0, self._space.page)
        queues = self._space.queues()
        for ranks in self._store.natural_pieces():
            file[first : first + len(ranks)] = ranks
            queues.put(ranks >> ranges.shift, ranks.astype(np.uint64))
            first += len(ranks)
        for number in range(ranges.count):
            begin, stop = ranges.bounds(number)
            seen = np.zeros(stop - begin, bool)
            for rows in queues.read(number):
                seen[rows[:, 0].view(np.int64) - begin] = True
            if not seen.all():
                raise StoreError("natural_id does not hold every vertex once", path=self._store.path,
                                 remedy="the store is damaged: reorder the original again")
        queues.close()
        return file

    def part(self, start: int, stop: int) -> np.ndarray:
        """Ranks of vertices start..stop-1, int64[k]."""
        return np.arange(start, stop) if self._file is None else self._file[start:stop].astype(np.int64)

    def take(self, vertices: np.ndarray) -> np.ndarray:
        """Ranks of `vertices` (int64[k]), int64[k]."""
        ids = np.asarray(vertices, np.int64)
        return ids if self._file is None else self._file.take(ids).astype(np.int64)
