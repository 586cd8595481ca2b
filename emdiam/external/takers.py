"""What is made of the pairs of a range of vertices: the least value of each, the last, the bits of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import kernel
from .buckets import Taker
from .columns import DiskColumn, WordFile

# done(first vertex, values of the vertices of the range)
Done = Callable[[int, np.ndarray], None]


class Smallest(Taker):
    """done gets the least value of every vertex of a range, dtype[k]; where there is none, `start`, or what
    start(first, stop) gives, which it may have lowered."""

    def __init__(self, done: Done, dtype: Any, start: int | Callable[[int, int], np.ndarray]) -> None:
        self._done, self._dtype, self._start = done, np.dtype(dtype), start
        self._first, self._least = 0, np.empty(0, self._dtype)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first = first
        self._least = (np.full(stop - first, self._start, self._dtype) if isinstance(self._start, int)
                       else self._start(first, stop))

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        put_smaller(self._least, self._first, keys, values)

    def end(self) -> None:
        """See Taker."""
        self._done(self._first, self._least)


class Bits(Taker):
    """done gets a bitmap of the vertices of a range, uint64[ceil(k/64)], that were a key."""

    def __init__(self, done: Done) -> None:
        self._done, self._first, self._words = done, 0, np.empty(0, np.uint64)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._words = first, np.zeros(-(-(stop - first) // 64), np.uint64)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        set_keys(self._words, self._first, keys)

    def end(self) -> None:
        """See Taker."""
        self._done(self._first, self._words)


class Masks(Taker):
    """done gets the union of the masks of every vertex of a range, uint64[k]."""

    def __init__(self, done: Done) -> None:
        self._done, self._first, self._masks = done, 0, np.empty(0, np.uint64)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._masks = first, np.zeros(stop - first, np.uint64)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        unite_masks(self._masks, self._first, keys, values)

    def end(self) -> None:
        """See Taker."""
        self._done(self._first, self._masks)


class LookUp(Taker):
    """Pairs (vertex, value) become emit(values, entries of the vertices in a column)."""

    def __init__(self, column: DiskColumn | WordFile, emit: Callable[[np.ndarray, np.ndarray], None]) -> None:
        self._column, self._emit, self._first, self._part = column, emit, 0, np.empty(0)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        column = self._column
        self._first = first
        self._part = column[first:stop] if isinstance(column, WordFile) else column.part(first, stop)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        self._emit(values, self._part[keys.astype(np.int64) - self._first])

    def end(self) -> None:
        """See Taker."""
        self._part = np.empty(0)


@kernel
def put_smaller(least, first, keys, values):  # type: ignore[no-untyped-def]
    """least[keys[i] - first] = the smaller of it and values[i]."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        if np.uint64(values[i]) < np.uint64(least[at]):
            least[at] = values[i]


@kernel
def set_keys(words, first, keys):  # type: ignore[no-untyped-def]
    """Set bit keys[i] - first of `words`."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        words[at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@kernel
def unite_masks(masks, first, keys, values):  # type: ignore[no-untyped-def]
    """masks[keys[i] - first] |= values[i]."""
    for i in range(len(keys)):
        masks[np.int64(keys[i]) - first] |= values[i]
