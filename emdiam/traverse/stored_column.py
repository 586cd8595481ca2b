"""A finished column on disk: written once, read in pieces, never mapped (a map would count as RSS)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .columns import Column

_PIECE = 1 << 17


class StoredColumn:
    """The values of a column in a new file at `path` (plain items, native order), in a folder for temporary files: it
    need not outlive the process. Raises OSError where it cannot be written."""

    def __init__(self, column: Column, path: Path) -> None:
        self.dtype: np.dtype[Any] = column.dtype
        self._path, self._length = path, len(column)
        with open(path, "xb") as file:
            for start in range(0, self._length, _PIECE):
                file.write(np.ascontiguousarray(column.part(start, start + _PIECE)).data)

    def __len__(self) -> int:
        return self._length

    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1. Raises InputError where they cannot be read."""
        values = np.empty(min(stop, self._length) - start, self.dtype)
        try:
            with open(self._path, "rb") as file:
                file.seek(start * self.dtype.itemsize)
                read = file.readinto(bytearray() if not len(values) else values.data.cast("B"))
        except OSError as error:
            raise self._unread(error.strerror or str(error)) from None
        if read != values.nbytes:
            raise self._unread("it has become shorter")
        return values

    def _unread(self, why: str) -> InputError:
        return InputError(f"a column on disk cannot be read ({why})", path=self._path,
                          remedy="check the disk, or give --scratch another folder")

    def take(self, ids: np.ndarray) -> np.ndarray:
        """Values of vertices `ids`, which ascend, in the column's dtype; reads each piece once."""
        found = np.empty(len(ids), self.dtype)
        for start in range(0, self._length, _PIECE):
            first, last = np.searchsorted(ids, [start, start + _PIECE])
            if first < last:
                found[first:last] = self.part(start, start + _PIECE)[ids[first:last] - start]
        return found
