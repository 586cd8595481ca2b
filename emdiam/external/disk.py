"""Shared parts of the verbs of one external engine: rows, natural ranks, scratch files, and the sizes of pieces in
memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sorting.scratch import Scratch
from ..store.store import Store
from .buckets import Buckets, Ranges, Taker, widest
from .columns import PAGE, DiskColumn, WordFile
from .frontier import DiskFrontier
from .queues import Space
from .rows import Rows

# Bytes per vertex of a range while components are computed (components.py).
SPACE_BYTES = 64
# range_bytes of a plan, divided by this, is the number of vertices of a frontier in memory.
IN_MEMORY = 64


@dataclass(frozen=True)
class Sizes:
    """range_bytes : for the state of one range of vertices. buffer_bytes : for the buffer of pairs. thin : limit of
    heads for a level on short lists. page : entries of a column that are read together."""

    range_bytes: int
    buffer_bytes: int
    thin: int
    page: int = PAGE


@dataclass
class Disk:
    """store : the graph. rows : its rows. scratch : for columns, pairs and frontiers. sizes : of pieces in memory."""

    store: Store
    rows: Rows
    scratch: Scratch
    sizes: Sizes

    @property
    def n(self) -> int:
        """Number of vertices."""
        return self.store.n_vertices

    @property
    def key(self) -> np.dtype[Any]:
        """dtype of vertices in files."""
        return self.store.id_dtype

    @property
    def space(self) -> Space:
        """A Space for components, clusters and trees, whose ranges have up to 64 bytes per vertex."""
        return Space(self.scratch, self.ranges(SPACE_BYTES), self.sizes.buffer_bytes // 8, self.key)

    @property
    def in_memory(self) -> int:
        """Limit of frontier vertices in memory: a larger frontier is in a file."""
        return max(self.sizes.thin, self.sizes.range_bytes // IN_MEMORY)

    def ranges(self, item_bytes: float) -> Ranges:
        """Ranges of vertices whose state takes `item_bytes` per vertex."""
        return widest(self.n, item_bytes, self.sizes.range_bytes)

    def buckets(self, taker: Taker, item_bytes: float, value: Any = None) -> Buckets:
        """Buckets for pairs of vertices and values, with a state of `item_bytes` per vertex of a range."""
        return Buckets(self.scratch, self.ranges(item_bytes), taker, self.key, value,
                       buffer_bytes=self.sizes.buffer_bytes)

    def column(self, dtype: Any, value: int | None = None) -> DiskColumn:
        """A column of all vertices."""
        return DiskColumn(self.scratch, self.n, dtype, value, self.sizes.page)

    def words(self) -> WordFile:
        """A bitmap of all vertices."""
        return WordFile(self.scratch, -(-self.n // 64), page=max(64, self.sizes.page // 64))

    def frontier(self, ranges: Ranges, masked: bool) -> DiskFrontier:
        """An empty frontier."""
        return DiskFrontier(self.scratch, ranges, self.key, masked, self.in_memory)


class NaturalRanks:
    """The ranks of all vertices. Raises StoreError unless each of 0 to n - 1 occurs once.

    I/O: none for a naturally ordered store. Otherwise ranks are read once, checked, and copied to scratch, with the
    vertices in order of rank too: two ids per vertex written, and 16 bytes written and read to invert them.
    """

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
