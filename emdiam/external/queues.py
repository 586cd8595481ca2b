"""Rows of words for ranges of vertices; ranges can be read while rows are still added to others.

Rows wait in a room of fixed size. When it is full they are sorted by range and appended to one scratch file, so that
every range has one stretch in each write. Rows that fit the room never touch the disk. As a range can be read while
rows are added to others, rows sent from a range to one that is read later (towards smaller vertices, or towards larger
ones) need no sort (time-forward processing). I/O: every row that does not fit is written once, and read once each time
that its range is read; a stretch is the room / the number of ranges on average. Bytes: 8 per word of the room, twice,
and 4 per row; 8 per range for each write.
Source: Chiang, Goodrich, Grove, Tamassia, Vengroff, Vitter, External-memory graph algorithms (1995), time-forward
processing; with distribution in place of its priority queue, since there are few ranges.

Table holds rows of numbers in scratch: appended, read in pieces, changed in place. Its last rows stay in RAM, so that a
short table never touches the disk.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..sorting.scratch import Scratch, ScratchFile
from .buckets import Buckets, Ranges, Taker
from .columns import PAGE, WordFile


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
        """(number of the first row, rows) of all rows, in pieces."""
        for start in range(0, len(self), self._room):
            yield start, self.part(start, min(len(self), start + self._room))

    def replace(self, start: int, rows: np.ndarray) -> None:
        """Overwrite the rows from `start` with `rows` (int64[k, width])."""
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


# Words that are read at a time.
_READ_WORDS = 1 << 16


@dataclass(frozen=True)
class Space:
    """Scratch space for data of vertices. ranges : of vertices; one of them has arrays in RAM at a time. room : words
    in RAM that wait for their range, in one set of queues. key : dtype of vertices in files."""

    scratch: Scratch
    ranges: Ranges
    room: int
    key: np.dtype[Any]

    @property
    def page(self) -> int:
        """Entries that a column of these vertices reads and writes at a time."""
        return min(PAGE, self.ranges.width)

    def queues(self, width: int = 1) -> RangeQueues:
        """Queues for every range, with rows of `width` words."""
        return RangeQueues(self.scratch, self.ranges.count, max(1, self.room // width), width)

    def buckets(self, taker: Taker) -> Buckets:
        """Buckets of pairs of vertices and words."""
        return Buckets(self.scratch, self.ranges, taker, self.key, np.uint64, buffer_bytes=8 * self.room)

    def write(self, rows: RangeQueues, file: WordFile) -> None:
        """Write values to entries of a file. rows : (entry, value), dropped afterwards."""
        for number, first, stop in self.ranges.each(rows.filled()):
            values = file[first:stop]
            for some in rows.read(number):
                values[some[:, 0].astype(np.int64) - first] = some[:, 1]
            file[first:stop] = values
        rows.close()


class RangeQueues:
    """Rows of words by range.

    scratch : space for them. n_ranges : number of ranges. room : rows in RAM. width : words of a row.
    """

    def __init__(self, scratch: Scratch, n_ranges: int, room: int, width: int = 1) -> None:
        self._scratch, self._n_ranges, self._room, self._width = scratch, n_ranges, room, width
        self._waiting, self._where = np.empty((0, width), np.uint64), np.empty(0, np.int32)
        self._used = 0
        self._file: ScratchFile | None = None
        # For every write: its offset in the file, and the start of each range in it, int64[n_ranges + 1].
        self._writes: list[tuple[int, np.ndarray]] = []

    def __len__(self) -> int:
        """Rows added since the last `clear`."""
        return self._used + sum(int(starts[-1]) for _, starts in self._writes)

    def put(self, ranges: np.ndarray, rows: np.ndarray) -> None:
        """Add rows (uint64[k] or uint64[k, width]) to `ranges` (integers[k])."""
        rows = rows.reshape(-1, self._width)
        if len(self._waiting) < min(self._room, self._used + len(rows)):
            self._widen(self._used + len(rows))
        start = 0
        while start < len(rows):
            if self._used == self._room:
                self._spill()
            take = min(len(rows) - start, self._room - self._used)
            self._waiting[self._used : self._used + take] = rows[start : start + take]
            self._where[self._used : self._used + take] = ranges[start : start + take]
            self._used += take
            start += take

    def _widen(self, rows: int) -> None:
        """Make room for `rows` rows, or for twice the present number, within the plan."""
        size = min(self._room, max(rows, 2 * len(self._waiting)))
        waiting, where = np.empty((size, self._width), np.uint64), np.empty(size, np.int32)
        waiting[: self._used], where[: self._used] = self._waiting[: self._used], self._where[: self._used]
        self._waiting, self._where = waiting, where

    def _spill(self) -> None:
        """Write the waiting rows, sorted by range."""
        if self._file is None:
            self._file = self._scratch.file()
            weakref.finalize(self, self._file.close)
        where = self._where[: self._used]
        starts = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=self._n_ranges))))
        sorted_rows = self._waiting[: self._used][np.argsort(where, kind="stable")]
        self._writes.append((self._file.append(sorted_rows), starts))
        self._used = 0

    def resident(self) -> np.ndarray | None:
        """All rows, uint64[k, width], in the order of arrival, if none was written, else None; valid until the next
        put."""
        return None if self._writes else self._waiting[: self._used]

    def filled(self) -> np.ndarray:
        """The ranges with a row, int64[k] ascending."""
        counts = np.bincount(self._where[: self._used], minlength=self._n_ranges)
        for _, starts in self._writes:
            counts += np.diff(starts)
        return np.flatnonzero(counts)

    def read(self, number: int) -> Iterator[np.ndarray]:
        """The rows of a range, uint64[k, width], in pieces, in the order of arrival. Rows may be added to other ranges
        meanwhile."""
        waiting = self._waiting[: self._used][self._where[: self._used] == number]
        stretches = [(offset, int(starts[number]), int(starts[number + 1])) for offset, starts in self._writes]
        left = sum(stop - begin for _, begin, stop in stretches)
        rows, used = self._piece(left), 0
        for offset, begin, stop in stretches:
            while begin < stop:
                take = min(stop - begin, len(rows) - used)
                assert self._file is not None
                self._file.read_array(offset + 8 * self._width * begin, rows[used : used + take])
                begin, used, left = begin + take, used + take, left - take
                if used == len(rows):
                    yield rows
                    rows, used = self._piece(left), 0
        if len(waiting):
            yield waiting

    def _piece(self, rows: int) -> np.ndarray:
        """Room for `rows` rows, at most for one read."""
        return np.empty((min(rows, max(1, _READ_WORDS // self._width)), self._width), np.uint64)

    def clear(self) -> None:
        """Drop all rows and the file; the room stays."""
        self._used, self._writes = 0, []
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Drop everything, including the room."""
        self.clear()
        self._waiting, self._where = self._waiting[:0].copy(), self._where[:0].copy()
