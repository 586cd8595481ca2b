"""The result of a search as columns and bitmaps on disk: pairs (vertex, level), sorted once at the end.

I/O: each pair is written once and read once, unless all of them fit in the buffer; then the column is written once.

Also Spread (traverse/spread.py) on a column on disk: a search from the seeds of each value, and one pass that lowers
the bounds. Searches do not read the bounds, which are on disk, so none is pruned; the reached vertices are sorted by
pages, and only pages with some of them are read, and written if a bound fell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..distinct import distinct
from ..jit import kernel
from ..progress import Tick, no_tick
from ..traverse.atomics import count_trailing_zeros
from ..traverse.columns import Column, smallest_dtype
from .buckets import Buckets, Fold, Ranges, bitmap, put_smaller, smallest, widest
from .columns import DiskColumn
from .disk import Disk
from .search import DiskSearch, Wanted


class LevelColumn:
    """The distances of one search. `add` is a search.Found; `column` writes them to a column, once."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._column: DiskColumn | None = None
        self._put: Callable[[int, np.ndarray], None] = lambda first, values: None
        self._none = np.iinfo(np.uint32).max
        self._buckets = disk.buckets(smallest(lambda first, values: self._put(first, values), np.uint32,
                                              int(self._none)), 4, np.uint32)

    def add(self, vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray) -> None:
        """See search.Found."""
        self._buckets.add(vertices, levels)

    def column(self, largest: int, into: Column | None = None) -> DiskColumn:
        """The distances in a new column or in `into`. largest : the largest of them. Raises OverflowError if it does
        not fit there."""
        if into is None:
            into = self._disk.column(smallest_dtype(largest))
        assert isinstance(into, DiskColumn)
        if largest >= into.unreached:
            raise OverflowError(f"distance {largest} does not fit a column of {into.dtype}")
        into.clear()
        self._put = _narrowed(into, int(self._none))
        self._buckets.finish()
        return into


def _narrowed(column: DiskColumn, none: int) -> Callable[[int, np.ndarray], None]:
    """A function that writes values into a column, with `none` as unreached."""
    def put(first: int, values: np.ndarray) -> None:
        if np.iinfo(column.dtype).max < none:
            values[values == none] = column.unreached
        column.set_part(first, values.astype(column.dtype))

    return put


class RanksReached:
    """The bitmap of the vertices that one search reached. `add` is a search.Found."""

    def __init__(self, disk: Disk) -> None:
        self.words = words = disk.words()

        def put(first: int, bits: np.ndarray) -> None:
            words[first >> 6 : (first >> 6) + len(bits)] = bits

        self._buckets = disk.buckets(bitmap(put), 0.125)

    def add(self, vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray) -> None:
        """See search.Found."""
        self._buckets.add(vertices)

    def finish(self) -> None:
        """Write the bitmap, after the last `add`."""
        self._buckets.finish()


class OpenBits:
    """The open vertices of a column as words of a bitmap, computed on access."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self.dtype = np.dtype(np.uint64)

    def __len__(self) -> int:
        return -(-len(self._column) // 64)

    def __getitem__(self, where: slice) -> np.ndarray:
        start, stop, _ = where.indices(len(self))
        bits = np.zeros(8 * max(0, stop - start), np.uint8)
        packed = np.packbits(self._column.part(64 * start, 64 * stop) != self._column.unreached, bitorder="little")
        bits[: len(packed)] = packed
        return bits.view(np.uint64)


class LevelColumns:
    """The distances of a search from several sources, in a column for each, all unreached and with the same dtype."""

    def __init__(self, disk: Disk, columns: Sequence[Column]) -> None:
        self._columns, self._n = columns, disk.n
        # The sources share one sequence of keys; each starts at a multiple of 64.
        self._stride = -(-disk.n // 64) * 64
        ranges = widest(self._stride * len(columns), 4, disk.sizes.range_bytes)
        self._none = int(np.iinfo(np.uint32).max)
        self._buckets = Buckets(disk.scratch, ranges, smallest(self._put, np.uint32, self._none), np.uint64, np.uint32,
                                buffer_bytes=disk.sizes.buffer_bytes)

    def add(self, vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray) -> None:
        """See search.Found."""
        largest = int(levels.max(initial=0))
        if largest >= self._columns[0].unreached:
            raise OverflowError(f"distance {largest} does not fit a column of {self._columns[0].dtype}")
        count = int(np.bitwise_count(masks).sum())
        keys, values = np.empty(count, np.uint64), np.empty(count, np.uint32)
        one_each(vertices, masks, levels, self._stride, keys, values)
        self._buckets.add(keys, values)

    def finish(self) -> None:
        """Write the columns."""
        self._buckets.finish()

    def _put(self, first: int, values: np.ndarray) -> None:
        while len(values):
            source, start = divmod(first, self._stride)
            part = values[: self._stride - start][: max(0, self._n - start)]
            column: Any = self._columns[source]
            _narrowed(column, self._none)(start, part)
            first, values = first + self._stride - start, values[self._stride - start :]


@kernel
def one_each(vertices, masks, levels, stride, keys, values):
    """(source * stride + vertex, level) for each bit of the masks."""
    at = 0
    for i in range(len(vertices)):
        mask = masks[i]
        while mask:
            keys[at] = count_trailing_zeros(mask) * stride + vertices[i]
            values[at] = levels[i]
            mask &= mask - np.uint64(1)
            at += 1


def spread(
    disk: Disk, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: DiskColumn,
    tick: Tick = no_tick,
) -> int:
    """See Engine.spread."""
    if limit >= bound.unreached:
        raise OverflowError(f"the limit {limit} does not fit the bound column ({bound.dtype})")
    lowered = 0

    def lower(first: int, least: np.ndarray) -> None:
        nonlocal lowered
        fell = int(np.count_nonzero(least != bound.part(first, first + len(least))))
        lowered += fell
        if fell:
            bound.set_part(first, least)

    buckets = Buckets(disk.scratch, Ranges(disk.n, disk.sizes.page), Fold(bound.part, put_smaller, lower), disk.key,
                      np.uint32, buffer_bytes=disk.sizes.buffer_bytes)
    for value, start in _groups(bound, seeds, values, limit):
        def found(vertices: np.ndarray, masks: np.ndarray, levels: np.ndarray, value: int = value) -> None:
            buckets.add(vertices, levels + value)

        search = DiskSearch(disk, start, 1, Wanted(limit - value), found)
        while not search.step(tick):
            tick()
    buckets.finish()
    return lowered


def _groups(
    bound: DiskColumn, seeds: np.ndarray | None, values: np.ndarray | int, limit: int
) -> Iterator[tuple[int, Iterator[tuple[np.ndarray, np.ndarray]]]]:
    """(value, pieces of seeds) for values within the limit, smallest first. Seeds whose bound is smaller are left out,
    as earlier spreads covered them."""
    if seeds is None:
        if int(values) <= limit:
            yield int(values), _with_bound(bound, int(values))
        return
    order = np.argsort(values, kind="stable")
    of, ids = np.asarray(values, np.int64)[order], np.asarray(seeds, np.int64)[order]
    for value in distinct(of[of <= limit]).tolist():
        some = distinct(ids[of == value])
        some = some[bound.take(some) >= value]
        if len(some):
            yield value, iter([(some, np.ones(len(some), np.uint64))])


def _with_bound(bound: DiskColumn, value: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The vertices with exactly this bound, in pieces."""
    for start in range(0, len(bound), bound.piece):
        ids = np.flatnonzero(bound.part(start, start + bound.piece) == value) + start
        if len(ids):
            yield ids, np.ones(len(ids), np.uint64)
