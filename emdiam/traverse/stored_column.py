"""A finished column on disk: written once, read in pieces, never mapped (a map would count as RSS)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .columns import Column

_PIECE = 1 << 17


class StoredColumn:
    """The values of a column in a file of `path` (plain items, native order)."""

    def __init__(self, column: Column, path: Path) -> None:
        self.dtype: np.dtype[Any] = column.dtype
        self._path, self._length = path, len(column)
        with open(path, "wb") as file:
            for start in range(0, self._length, _PIECE):
                column.part(start, start + _PIECE).tofile(file)

    def __len__(self) -> int:
        return self._length

    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1."""
        count = min(stop, self._length) - start
        return np.fromfile(self._path, self.dtype, count, offset=start * self.dtype.itemsize)

    def take(self, ids: np.ndarray) -> np.ndarray:
        """Values of vertices `ids`, which ascend, in the column's dtype; reads each piece once."""
        found = np.empty(len(ids), self.dtype)
        for start in range(0, self._length, _PIECE):
            first, last = np.searchsorted(ids, [start, start + _PIECE])
            if first < last:
                found[first:last] = self.part(start, start + _PIECE)[ids[first:last] - start]
        return found
