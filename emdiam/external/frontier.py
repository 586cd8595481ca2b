"""The vertices of one level, ascending, with a mask of sources for each if there are several sources.

They are stored by ranges of vertices, in memory while there are few, else in a scratch file, so that one range at a
time can be subtracted from another set (Munagala and Ranade 1999: next = N(frontier) - frontier - previous). I/O: the
vertices in the file are written once, and read once for each traversal of the set.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..jit import kernel
from ..sorting.scratch import Scratch, ScratchFile
from .buckets import Ranges
from .rows import PIECE

NO_MASKS = np.empty(0, np.uint64)


@dataclass
class DiskFrontier:
    """scratch : for a set of more than `most` vertices. ranges : of vertices. dtype : of ids. masked : whether there
    are masks, uint64.

    count : number of vertices. first : the smallest vertex, -1 if empty.
    """

    scratch: Scratch
    ranges: Ranges
    dtype: np.dtype[Any]
    masked: bool
    most: int
    count: int = 0
    first: int = -1
    _pieces: dict[int, list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)
    _written: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)  # (vertices, masks, count)
    _file: ScratchFile | None = None
    _in_memory: int = 0

    def append(self, range_number: int, vertices: np.ndarray, masks: np.ndarray = NO_MASKS) -> None:
        """Append ascending vertices of a range; ranges ascend too. The frontier keeps the arrays."""
        if not len(vertices):
            return
        if self.count == 0:
            self.first = int(vertices[0])
        self.count += len(vertices)
        if self._file is None and self._in_memory + len(vertices) <= self.most:
            self._in_memory += len(vertices)
            self._pieces.setdefault(range_number, []).append((vertices, masks))
            return
        if self._file is None:
            self._file = self.scratch.file()
        place = self._file.append(vertices.astype(self.dtype))
        self._written.setdefault(range_number, []).append((place, self._file.append(masks), len(vertices)))

    def extend(self, vertices: np.ndarray, masks: np.ndarray = NO_MASKS) -> None:
        """Append vertices (int64[k] ascending) of any ranges, above the present ones."""
        numbers = vertices >> self.ranges.shift
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(vertices)]
        for start, stop in itertools.pairwise(cuts):
            if start < stop:
                self.append(int(numbers[start]), vertices[start:stop].copy(), masks[start:stop].copy())

    def within(self, range_number: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(vertices, masks) of a range, in pieces, ascending."""
        yield from self._pieces.get(range_number, ())
        for at_vertices, at_masks, count in self._written.get(range_number, ()):
            assert self._file is not None, "something was written"
            for start in range(0, count, PIECE):
                vertices = np.empty(min(PIECE, count - start), self.dtype)
                self._file.read_array(at_vertices + start * self.dtype.itemsize, vertices)
                masks = np.empty(len(vertices) if self.masked else 0, np.uint64)
                if len(masks):
                    self._file.read_array(at_masks + 8 * start, masks)
                yield vertices, masks

    def sources(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """All vertices in pieces of about PIECE, int64, for Rows.send."""
        batch: list[tuple[np.ndarray, np.ndarray]] = []
        count = 0
        for number in sorted({*self._pieces, *self._written}):
            for vertices, masks in self.within(number):
                if count and count + len(vertices) > PIECE:
                    yield self._joined(batch)
                    batch, count = [], 0
                for start in range(0, len(vertices), PIECE):
                    batch.append((vertices[start : start + PIECE], masks[start : start + PIECE]))
                    count += len(batch[-1][0])
                    if count >= PIECE:
                        yield self._joined(batch)
                        batch, count = [], 0
        if batch:
            yield self._joined(batch)

    def _joined(self, parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray | None]:
        vertices = np.concatenate([vertices for vertices, _ in parts]).astype(np.int64)
        return vertices, np.concatenate([masks for _, masks in parts]) if self.masked else None

    def everything(self) -> tuple[np.ndarray, np.ndarray]:
        """(vertices int64, masks) of a small frontier."""
        pieces = list(self.sources())
        vertices = [np.empty(0, np.int64), *(vertices for vertices, _ in pieces)]
        masks = [NO_MASKS, *(some for _, some in pieces if some is not None)]
        return np.concatenate(vertices), np.concatenate(masks)

    def close(self) -> None:
        """Drop the content and the file."""
        if self._file is not None:
            self._file.close()
        self._pieces, self._written = {}, {}


@kernel
def take_away_bits(words, first, vertices):
    """Clear the bits of `vertices` in the bitmap of vertices from `first`."""
    for i in range(len(vertices)):
        at = np.int64(vertices[i]) - first
        words[at >> 6] &= ~(np.uint64(1) << np.uint64(at & 63))


@kernel
def take_away_masks(masks, first, vertices, others):
    """Clear the bits of others[i] in the mask of vertices[i]."""
    for i in range(len(vertices)):
        masks[np.int64(vertices[i]) - first] &= ~others[i]
