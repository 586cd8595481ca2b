"""Pairs (key, value) in any order, handed out by ranges of keys: a distribution sort.

Pairs are collected in a buffer. If all keys are in one range, the range's result is in memory and receives the pairs
whenever the buffer is full. Otherwise a full buffer is sorted by ranges and written to a scratch file; at the end every
range receives its pairs, one range after another. Pairs of one range arrive in the order in which they were added.

Bytes: twice the buffer, 8 per range for each time that it was full. I/O: if there are several ranges and more pairs
than the buffer holds, every pair is written once and read once: 2 (bytes of a key + bytes of a value).

Also here, results for the pairs of a range of vertices: the least value of each, a bitmap, the union of masks.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..jit import kernel
from ..sorting.scratch import Scratch, ScratchFile

_PIECE = 1 << 16


class Sink(Protocol):
    """A receiver of values that are sent along arcs."""

    def add(self, keys: np.ndarray, values: np.ndarray | None = None) -> None:
        """Receive pairs of these keys and values, of any integer dtype that fits; from any thread."""


class Taker(ABC):
    """A consumer of the pairs, range by range. everywhere : whether to include ranges without a pair."""

    everywhere = False

    @abstractmethod
    def begin(self, first: int, stop: int) -> None:
        """Start a range: the pairs of keys first..stop-1 follow."""

    @abstractmethod
    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Take some of its pairs; the arrays are valid until this returns."""

    @abstractmethod
    def end(self) -> None:
        """End the range."""


@dataclass(frozen=True)
class Ranges:
    """n keys, in ranges of `width` (a power of two) each."""

    n: int
    width: int

    @property
    def shift(self) -> int:
        return self.width.bit_length() - 1

    @property
    def count(self) -> int:
        return max(1, -(-self.n // self.width))

    def bounds(self, i: int) -> tuple[int, int]:
        """First key and end of range i."""
        return i * self.width, min(self.n, (i + 1) * self.width)

    def each(self, numbers: np.ndarray | Iterable[int] | None = None) -> Iterator[tuple[int, int, int]]:
        """(number, first key, end) of these ranges; None: of all."""
        for number in range(self.count) if numbers is None else numbers:
            yield int(number), *self.bounds(int(number))


def widest(n: int, item_bytes: float, room_bytes: int) -> Ranges:
    """The fewest ranges for which a range of `item_bytes` per key fits in room_bytes; at least 64 keys in a range."""
    width = 64
    while width < n and 2 * width * item_bytes <= room_bytes:
        width *= 2
    return Ranges(n, width)


def pair_bytes(key: Any, value: Any = None) -> int:
    """Bytes of a pair."""
    return np.dtype(key).itemsize + (0 if value is None else np.dtype(value).itemsize)


class Buckets:
    """The pairs. `add` may be called by several threads; call `finish` once.

    scratch : space for them. ranges : of keys. key, value : dtypes; value None: there are only keys, and `taker` gets
    values of length 0. buffer_bytes : of the buffer; sorting takes twice as much.
    """

    def __init__(
        self, scratch: Scratch, ranges: Ranges, taker: Taker, key: Any, value: Any = None, *, buffer_bytes: int,
    ) -> None:
        self._scratch, self._ranges, self._taker = scratch, ranges, taker
        self.capacity = max(64, buffer_bytes // pair_bytes(key, value))
        self._key, self._value = np.dtype(key), None if value is None else np.dtype(value)
        self._keys, self._values = self._arrays()
        self._count = self.total = 0
        self._lock, self._started = threading.Lock(), False
        self._file: ScratchFile | None = None
        self._spills: list[tuple[int, int, np.ndarray]] = []  # (offset of keys, offset of values, starts of ranges)

    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for the buffer's keys and values."""
        return (np.empty(self.capacity, self._key),
                np.empty(0 if self._value is None else self.capacity, self._value or np.uint32))

    def add(self, keys: np.ndarray, values: np.ndarray | None = None) -> None:
        """Add pairs of these keys and values, of any integer dtype that fits."""
        with self._lock:
            done = 0
            while done < len(keys):
                if self._count == self.capacity:
                    self._empty()
                some = min(len(keys) - done, self.capacity - self._count)
                self._keys[self._count : self._count + some] = keys[done : done + some]
                if values is not None:
                    self._values[self._count : self._count + some] = values[done : done + some]
                self._count, done = self._count + some, done + some
            self.total += len(keys)

    def _empty(self) -> None:
        """Hand out or write the content of the buffer."""
        count, self._count = self._count, 0
        values = self._values[:count]
        if self._ranges.count == 1:
            if not self._started:
                self._taker.begin(0, self._ranges.n)
                self._started = True
            self._taker.take(self._keys[:count], values)
            return
        keys, values, starts = self._in_order(count)
        if self._file is None:
            self._file = self._scratch.file()
        self._spills.append((self._file.append(keys), self._file.append(values), starts))

    def _in_order(self, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(keys, values) of the buffer sorted by ranges, and the start of each range, int64[ranges + 1]."""
        keys, values = np.empty(count, self._key), np.empty(min(count, len(self._values)), self._values.dtype)
        starts = np.zeros(self._ranges.count + 2, np.int64)
        by_range(self._keys, self._values, count, self._ranges.shift, starts, keys, values)
        return keys, values, starts[:-1]

    def finish(self) -> None:
        """Hand out all pairs."""
        try:
            if self._ranges.count == 1:
                if self._count or self._taker.everywhere:
                    self._empty()
                if self._started:
                    self._taker.end()
            elif self._file is None:
                self._hand_out_rest(*self._in_order(self._count))
            else:
                self._empty()
                del self._keys, self._values
                for i in range(self._ranges.count):
                    self._hand_out(i)
        finally:
            if self._file is not None:
                self._file.close()

    def _hand_out_rest(self, keys: np.ndarray, values: np.ndarray, starts: np.ndarray) -> None:
        """Hand out pairs that were never written."""
        for i in range(self._ranges.count) if self._taker.everywhere else np.flatnonzero(np.diff(starts)).tolist():
            self._taker.begin(*self._ranges.bounds(i))
            if starts[i] < starts[i + 1]:
                self._taker.take(keys[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]])
            self._taker.end()

    def _hand_out(self, i: int) -> None:
        """Hand out the written pairs of range i."""
        if not self._taker.everywhere and not any(starts[i] < starts[i + 1] for _, _, starts in self._spills):
            return
        self._taker.begin(*self._ranges.bounds(i))
        for keys, values in self._written(i):
            self._taker.take(keys, values)
        self._taker.end()

    def _written(self, i: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        assert self._file is not None, "it has been written to"
        for at_keys, at_values, starts in self._spills:
            for begin in range(int(starts[i]), int(starts[i + 1]), _PIECE):
                count = min(_PIECE, int(starts[i + 1]) - begin)
                keys = np.empty(count, self._key)
                self._file.read_array(at_keys + begin * self._key.itemsize, keys)
                values = np.empty(0 if self._value is None else count, self._value or np.uint32)
                if len(values):
                    self._file.read_array(at_values + begin * values.itemsize, values)
                yield keys, values


@kernel
def by_range(keys, values, count, shift, starts, keys_out, values_out):
    """Sort the first `count` pairs by key >> shift into keys_out and values_out, stably.

    starts : int64[ranges + 2], zeros; receives the first pair of every range, and the number of pairs.
    """
    for i in range(count):
        starts[(np.int64(keys[i]) >> shift) + 2] += 1
    for r in range(2, len(starts)):
        starts[r] += starts[r - 1]
    for i in range(count):
        at = (np.int64(keys[i]) >> shift) + 1
        keys_out[starts[at]] = keys[i]
        if len(values):
            values_out[starts[at]] = values[i]
        starts[at] += 1


# done(first vertex, entries of the vertices of the range)
Done = Callable[[int, np.ndarray], None]


class Fold(Taker):
    """Folds pairs into entries of a range. fresh(first, stop) : returns the initial entries. put(entries, first, keys,
    values) : folds some pairs. done : called with the final entries."""

    def __init__(self, fresh: Callable[[int, int], np.ndarray], put: Callable[..., object],
                 done: Done = lambda first, entries: None) -> None:
        self._fresh, self._put, self._done = fresh, put, done
        self._first, self._entries = 0, np.empty(0)

    def begin(self, first: int, stop: int) -> None:
        """See Taker."""
        self._first, self._entries = first, self._fresh(first, stop)

    def take(self, keys: np.ndarray, values: np.ndarray) -> None:
        """See Taker."""
        self._put(self._entries, self._first, keys, values)

    def end(self) -> None:
        """See Taker."""
        self._done(self._first, self._entries)
        self._entries = np.empty(0)


def smallest(done: Done, dtype: Any, start: int) -> Fold:
    """A Fold that calls `done` with the least value of every vertex of a range, dtype[k]; `start` without a value."""
    return Fold(lambda first, stop: np.full(stop - first, start, dtype), put_smaller, done)


def bitmap(done: Done) -> Fold:
    """A Fold that calls `done` with a bitmap of the vertices of a range that occurred as keys, uint64[ceil(k/64)]."""
    return Fold(lambda first, stop: np.zeros(-(-(stop - first) // 64), np.uint64), set_keys, done)


def united(done: Done) -> Fold:
    """A Fold that calls `done` with the union of the masks of every vertex of a range, uint64[k]."""
    return Fold(lambda first, stop: np.zeros(stop - first, np.uint64), unite_masks, done)


@kernel
def put_smaller(least, first, keys, values):
    """least[keys[i] - first] = min(itself, values[i])."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        if np.uint64(values[i]) < np.uint64(least[at]):
            least[at] = values[i]


@kernel
def set_keys(words, first, keys, values):
    """Set bit keys[i] - first of `words`; values are ignored."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        words[at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@kernel
def unite_masks(masks, first, keys, values):
    """masks[keys[i] - first] |= values[i]."""
    for i in range(len(keys)):
        masks[np.int64(keys[i]) - first] |= values[i]
