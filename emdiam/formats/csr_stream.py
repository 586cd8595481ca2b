"""Pairs from the two arrays of a CSR graph, read side by side and never whole.

Offsets and neighbours are streams of their own (two file positions, two members of an archive), so
that memory is about one batch whatever n and m are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from .base import pairs_per_batch
from .source import EdgeBatch

_LEAST_ROWS = 64


class Readable(Protocol):
    """Anything that reads like a file."""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty at the end."""
        ...


@dataclass
class ArrayStream:
    """An array that is read front to back.

    stream : where its bytes come next. dtype : of its items, with byte order. length : items.
    field : name of the field to keep if dtype is structured. error : makes an InputError from a
    sentence and the index of an item.
    """

    stream: Readable
    dtype: np.dtype[Any]
    length: int
    error: Callable[[str, int], InputError]
    field: str | None = None
    index: int = 0

    def take(self, count: int) -> Any:
        """The next `count` items (fewer at the end of the array) as int64[k]. Raises InputError
        when the bytes end early or an item does not fit int64."""
        count = min(count, self.length - self.index)
        wanted = count * self.dtype.itemsize
        data = bytearray()
        while len(data) < wanted:
            piece = self.stream.read(wanted - len(data))
            if not piece:
                at = self.index + len(data) // self.dtype.itemsize
                raise self.error("the data are cut short", at)
            data += piece
        items = np.frombuffer(data, self.dtype)
        if self.field is not None:
            items = items[self.field]
        if items.dtype.kind == "u" and items.dtype.itemsize == 8 and (items >> 63).any():
            raise self.error("a number is larger than 2^63 - 1", self.index + int(np.argmax(items >> 63)))
        self.index += count
        return items.astype(np.int64)


def _checked_offsets(offsets: ArrayStream, previous: int, count: int, n_entries: int) -> Any:
    """`previous` and the next `count` offsets, int64[k + 1]: not falling, at most n_entries."""
    first = offsets.index
    window = np.concatenate(([previous], offsets.take(count)))
    falls = window[1:] < window[:-1]
    if falls.any():
        raise offsets.error("the row offsets are not monotone", first + int(np.argmax(falls)))
    if window[-1] > n_entries:
        beyond = int(np.argmax(window[1:] > n_entries))
        raise offsets.error(f"a row offset is larger than the {n_entries} entries", first + beyond)
    return window


def _checked_ids(neighbours: ArrayStream, count: int, n_vertices: int) -> Any:
    first = neighbours.index
    ids = neighbours.take(count)
    outside = (ids < 0) | (ids >= n_vertices)
    if outside.any():
        at = int(np.argmax(outside))
        raise neighbours.error(f"neighbour {ids[at]} is outside 0..{n_vertices - 1}", first + at)
    return ids


def csr_batches(offsets: ArrayStream, neighbours: ArrayStream, batch_bytes: int, n_columns: int) -> Iterator[EdgeBatch]:
    """(row, neighbour) pairs as int64 batches.

    offsets : n + 1 items from 0 to neighbours.length, not falling. Neighbours lie in
    [0, n_columns). Raises InputError through the streams' `error`.
    """
    capacity, row = pairs_per_batch(batch_bytes), 0
    first = int(offsets.take(1)[0])
    if first != 0:
        raise offsets.error(f"the first row offset is {first}, not 0", 0)
    while offsets.index < offsets.length:
        window = _checked_offsets(offsets, first, max(_LEAST_ROWS, capacity // 2), neighbours.length)
        while first < window[-1]:
            last = min(first + capacity, int(window[-1]))
            degrees = np.diff(np.clip(window, first, last))
            rows = np.repeat(np.arange(row, row + len(degrees)), degrees)
            yield EdgeBatch(rows, _checked_ids(neighbours, last - first, n_columns))
            first = last
        row += len(window) - 1
    if first != neighbours.length:
        raise offsets.error(f"the last row offset is {first} but there are {neighbours.length} entries",
                            offsets.length - 1)
