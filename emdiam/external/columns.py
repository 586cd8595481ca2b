"""Columns on disk: see traverse/columns.py. Passes go over pages of entries, a few of them in memory at a time.

A page that was never written has a single value and takes no space on disk, so that making or clearing a column costs
nothing. Bytes in memory: 9 per page. I/O: a pass reads a page once, and writes it if it changed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..sorting.scratch import Scratch
from ..traverse.columns import Column
from ..traverse.ram_column import RamColumn, fitted

T = TypeVar("T")
PAGE = 1 << 16


def _by_pages(method: str) -> Callable[..., None]:
    """A method of DiskColumn that applies Column's method to every page. Columns among its arguments are read a page at
    a time; its last two arguments are `start` and `stop`."""
    def change(self: DiskColumn, *args: Any) -> None:
        """See Column."""
        *others, start, stop = args
        self._changed(start, stop, lambda page, first, end: getattr(page, method)(
            *(_part(other, first, end) if isinstance(other, Column) else other for other in others), 0, end - first))

    return change


class DiskColumn(Column):
    """A column in a scratch file.

    Parameters
    ----------
    scratch : space for the file. length : entries. dtype : unsigned.
    value : initial value of all entries; None: unreached.
    page : entries that are read and written together, a multiple of 64.
    """

    def __init__(self, scratch: Scratch, length: int, dtype: Any, value: int | None = None, page: int = PAGE) -> None:
        self._length, self._dtype, self.piece = length, np.dtype(dtype), page
        self._file = scratch.file()
        weakref.finalize(self, self._file.close)
        n_pages = -(-length // page)
        self._place, self._written = np.full(n_pages, -1, np.int64), np.zeros(n_pages, bool)
        self._value = self.unreached if value is None else value

    @property
    def dtype(self) -> np.dtype[Any]:
        """See Column."""
        return self._dtype

    def __len__(self) -> int:
        return self._length

    # -- values ---------------------------------------------------------------------------------
    def _pages(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """(first, end) of the parts of start..stop-1 in each page."""
        while start < stop:
            end = min(stop, (start // self.piece + 1) * self.piece)
            yield start, end
            start = end

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column; a copy."""
        stop = min(stop, self._length)
        out = np.empty(max(0, stop - start), self._dtype)
        for first, end in self._pages(start, stop):
            page, into = first // self.piece, out[first - start : end - start]
            if self._written[page]:
                self._file.read_array(self._offset(page, first), into)
            else:
                into.fill(self._value)
        return out

    def set_part(self, start: int, values: np.ndarray) -> None:
        """Overwrite the values from `start` with values of this dtype."""
        for first, end in self._pages(start, start + len(values)):
            page, part = first // self.piece, values[first - start : end - start]
            if not self._written[page]:
                begin, stop = page * self.piece, min((page + 1) * self.piece, self._length)
                if end - first < stop - begin:
                    whole = self.part(begin, stop)
                    whole[first - begin : end - begin] = part
                    first, part = begin, whole
                self._make(page, part)
            else:
                self._file.overwrite(np.ascontiguousarray(part), self._offset(page, first))

    def _offset(self, page: int, entry: int) -> int:
        """The position in the file of an entry in a written page."""
        return int(self._place[page]) + (entry - page * self.piece) * self._dtype.itemsize

    def _make(self, page: int, values: np.ndarray) -> None:
        """Write a whole page for the first time, or for the first time since `clear`."""
        data = np.ascontiguousarray(values)
        if self._place[page] < 0:
            self._place[page] = self._file.append(data)
        else:
            self._file.overwrite(data, int(self._place[page]))
        self._written[page] = True

    def take(self, ids: np.ndarray) -> np.ndarray:
        """See Column."""
        out = np.empty(len(ids), self._dtype)
        for where, first, end in self._by_page(ids):
            out[where] = self.part(first, end)[ids[where] - first]
        return out

    def _by_page(self, ids: np.ndarray) -> Iterator[tuple[np.ndarray, int, int]]:
        """(places in `ids`, first vertex, end of the vertices there), page by page."""
        order = np.argsort(ids, kind="stable")
        in_order = ids[order]
        cuts = np.flatnonzero(np.diff(in_order // self.piece)) + 1
        for where in np.split(order, cuts) if len(ids) else []:
            yield where, int(ids[where[0]]), int(ids[where[-1]]) + 1

    def raw(self) -> np.ndarray:
        """Raises TypeError: a column on disk is only read in parts."""
        raise TypeError("a column on disk has no vector in memory")

    def copy_from(self, other: Column) -> None:
        """See Column."""
        for first, end in self._pages(0, self._length):
            self.set_part(first, fitted(other.part(first, end), self._dtype))

    def clear(self) -> None:
        """See Column."""
        self._written[:] = False
        self._value = self.unreached

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """See Column."""
        places = np.asarray(ids, np.int64)
        for where, first, end in self._by_page(places):
            values = self.part(first, end)
            values[places[where] - first] = value
            self.set_part(first, values)

    # -- looking for vertices -------------------------------------------------------------------
    def _ram(self, start: int, stop: int) -> Iterator[tuple[int, RamColumn]]:
        """(first vertex, values) of the pieces of start..stop-1."""
        for first, end in self._pages(start, stop):
            yield first, RamColumn(self.part(first, end))

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column."""
        parts, left = [np.empty(0, np.int64)], most
        for first, column in self._ram(0, self._length):
            parts.append(column.select(predicate, value, left) + first)
            if left is not None:
                left -= len(parts[-1])
                if left <= 0:
                    break
        return np.concatenate(parts)

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None, labels: Any = None, label: int = 0
    ) -> int:
        """See Column."""
        for begin, column in self._ram(start, self._length if stop is None else stop):
            those = None if labels is None or len(labels) == 0 else labels[begin : begin + len(column)]
            at = column.first(wanted, 0, None, those, label)
            if at >= 0:
                return begin + at
        return -1

    def count(self, value: int) -> int:
        """See Column."""
        return sum(column.count(value) for _, column in self._ram(0, self._length))

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column."""
        best, best_value = -1, 0
        for first, column in self._ram(start, self._length if stop is None else stop):
            at = column.argbest(largest)
            if at < 0:
                continue
            value = int(column.part(at, at + 1)[0])
            if best < 0 or (value > best_value if largest else value < best_value):
                best, best_value = first + at, value
        return best

    # -- changing values ------------------------------------------------------------------------
    def _changed(self, start: int, stop: int, change: Callable[[RamColumn, int, int], T]) -> list[T]:
        """The results of change(piece, first vertex, end) for the pieces of start..stop-1, which it may change."""
        results = []
        for first, column in self._ram(start, stop):
            before = column.part(0, len(column)).copy()
            results.append(change(column, first, first + len(column)))
            if not np.array_equal(before, column.raw()):
                self.set_part(first, column.raw())
        return results

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """See Column. within : uint64 words, also in a WordFile."""
        return sum(self._changed(0, self._length, lambda column, first, end: column.recode(
            old, new, None if within is None else within[first >> 6 : -(-end // 64)])))

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column."""
        return sum(self._changed(0, self._length, lambda column, first, end: column.recode_where_reached(
            _part(other, first, end), old, new)))

    # -- folds ----------------------------------------------------------------------------------
    open_at, close, close_at_most = map(_by_pages, ("open_at", "close", "close_at_most"))
    tighten_upper, tighten_lower = map(_by_pages, ("tighten_upper", "tighten_lower"))

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column."""
        return sum(self._changed(start, stop, lambda column, first, end: column.close_known(
            _part(lower, first, end), bound, widest, 0, end - first)))

    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column."""
        for first, column in self._ram(start, stop):
            for ids in column.open_vertices(0, len(column)):
                yield ids + first

    def open_bitmap(self) -> np.ndarray:
        """See Column; a bit per vertex, in memory."""
        return np.concatenate([np.empty(0, np.uint64), *(column.open_bitmap() for _, column in self._ram(
            0, self._length))])

    def largest(self, start: int, stop: int) -> int:
        """See Column."""
        return max((column.largest(0, len(column)) for _, column in self._ram(start, stop)), default=-1)


def _part(column: Column, first: int, end: int) -> RamColumn:
    """These entries of a column, in memory."""
    return RamColumn(column.part(first, end))


class WordFile(DiskColumn):
    """A vector unsigned[length] in a scratch file, read and written by slices like an array: for bitmaps and labels.

    value : initial value of all entries.
    """

    def __init__(self, scratch: Scratch, length: int, dtype: Any = np.uint64, value: int = 0, page: int = PAGE) -> None:
        super().__init__(scratch, length, dtype, value, page)

    def __getitem__(self, where: slice) -> np.ndarray:
        start, stop, step = where.indices(len(self))
        if step != 1:
            raise IndexError("only ranges can be read from a file")
        return self.part(start, max(start, stop))

    def __setitem__(self, where: slice, values: np.ndarray) -> None:
        self.set_part(where.indices(len(self))[0], values)
