"""What is made of the pairs of a range of vertices: the least value of each, the bits of all, the union of masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import kernel
from .buckets import Taker

# done(first vertex, entries of the vertices of the range)
Done = Callable[[int, np.ndarray], None]


class Fold(Taker):
    """Folds pairs into what a range has. fresh(first, stop) : its entries at first. put(entries, first, keys, values) :
    takes some pairs. done : gets the entries after the last."""

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
    """done gets the least value of every vertex of a range, dtype[k]; `start` where there is none."""
    return Fold(lambda first, stop: np.full(stop - first, start, dtype), put_smaller, done)


def bitmap(done: Done) -> Fold:
    """done gets a bitmap of the vertices of a range, uint64[ceil(k/64)], that were a key."""
    return Fold(lambda first, stop: np.zeros(-(-(stop - first) // 64), np.uint64), set_keys, done)


def united(done: Done) -> Fold:
    """done gets the union of the masks of every vertex of a range, uint64[k]."""
    return Fold(lambda first, stop: np.zeros(stop - first, np.uint64), unite_masks, done)


@kernel
def put_smaller(least, first, keys, values):
    """least[keys[i] - first] = the smaller of it and values[i]."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        if np.uint64(values[i]) < np.uint64(least[at]):
            least[at] = values[i]


@kernel
def set_keys(words, first, keys, values):
    """Set bit keys[i] - first of `words`, whatever the values are."""
    for i in range(len(keys)):
        at = np.int64(keys[i]) - first
        words[at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@kernel
def unite_masks(masks, first, keys, values):
    """masks[keys[i] - first] |= values[i]."""
    for i in range(len(keys)):
        masks[np.int64(keys[i]) - first] |= values[i]
