"""Rows of numbers in scratch: appended, read in pieces, changed in place.

A table keeps its last rows in RAM, so that a short one never touches the disk.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import numpy as np

from ..sorting.scratch import Scratch, ScratchFile


class Table:
    """int64[k, width] rows. room : rows in RAM, and of a piece."""

    def __init__(self, scratch: Scratch, width: int, room: int) -> None:
        self._scratch, self._width, self._room = scratch, width, room
        self._file: ScratchFile | None = None
        self._written, self._last = 0, np.empty((0, width), np.int64)

    def __len__(self) -> int:
        return self._written + len(self._last)

    def append(self, rows: np.ndarray) -> None:
        """Add rows (integers[k, width] or, of width 1, integers[k])."""
        self._last = np.concatenate((self._last, rows.reshape(-1, self._width).astype(np.int64)))
        if len(self._last) >= self._room:
            if self._file is None:
                self._file = self._scratch.file()
                weakref.finalize(self, self._file.close)
            self._file.append(self._last)
            self._written += len(self._last)
            self._last = self._last[:0].copy()

    def part(self, start: int, stop: int) -> np.ndarray:
        """Rows start..stop-1, a copy."""
        written = np.empty((max(0, min(stop, self._written) - start), self._width), np.int64)
        if len(written):
            assert self._file is not None
            self._file.read_array(8 * self._width * start, written)
        return np.concatenate((written, self._last[max(0, start - self._written) : max(0, stop - self._written)]))

    def pieces(self) -> Iterator[tuple[int, np.ndarray]]:
        """(number of the first, rows) of all, in pieces."""
        for start in range(0, len(self), self._room):
            yield start, self.part(start, min(len(self), start + self._room))

    def replace(self, start: int, rows: np.ndarray) -> None:
        """Write rows (int64[k, width]) over those from `start` on."""
        on_disk = max(0, min(len(rows), self._written - start))
        if on_disk:
            assert self._file is not None
            self._file.overwrite(np.ascontiguousarray(rows[:on_disk]), 8 * self._width * start)
        begin = start + on_disk - self._written
        self._last[begin : begin + len(rows) - on_disk] = rows[on_disk:]

    def clear(self) -> None:
        """Drop all rows."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._written, self._last = 0, self._last[:0].copy()
