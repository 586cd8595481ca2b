"""Entries: keys, and what follows each of them through a sort.

An array of entries is uint64[k], keys alone, or uint64[2, k], keys and a number for each. Bit 0 of a key that a number
follows is not the caller's: it is the mark of a key that came with several numbers, of which it has the least.
Whatever is sorted, merged or kept on disk is either the one or the other, and the functions here are what differs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Entries = npt.NDArray[np.uint64]

MARK_BITS = 1
_BLOCK = 1 << 15


def room_for(n: int, followed: bool) -> Entries:
    """An empty array of n entries; followed : by numbers."""
    return np.empty((2, n) if followed else n, np.uint64)


def keys_of(entries: Entries) -> Keys:
    """Their keys, with marks if numbers follow; a view."""
    return entries if entries.ndim == 1 else entries[0]


def sort_entries(entries: Entries) -> None:
    """Sort them by key, in their place; with numbers that takes 16 bytes an entry more."""
    if entries.ndim == 1:
        entries.sort()
        return
    order = np.argsort(entries[0])
    for row in entries:
        row[:] = row[order]


def distinct_in_place(entries: Entries, block: int = _BLOCK) -> int:
    """Move the entries of distinct keys to the front of sorted ones; returns their number.

    `block` entries are handled at a time, so that they stay in cache.
    """
    return unique_in_place(entries, block) if entries.ndim == 1 else _least_in_place(entries, block)


def unique_in_place(keys: Keys, block: int = _BLOCK) -> int:
    """Move the distinct keys of a sorted array to its front; returns their number.

    keys : uint64[k], sorted. `block` keys are handled at a time, so that they stay in cache.
    """
    kept_total, last = 0, None
    for start in range(0, len(keys), block):
        part = keys[start : start + block]
        fresh = np.empty(len(part), bool)
        np.not_equal(part[1:], part[:-1], out=fresh[1:])
        fresh[0] = last is None or part[0] != last
        last = part[-1]
        n_fresh = int(np.count_nonzero(fresh))
        if kept_total != start or n_fresh != len(part):
            # Boolean indexing copies, so source and destination may overlap.
            keys[kept_total : kept_total + n_fresh] = part[fresh]
        kept_total += n_fresh
    return kept_total


def _least_in_place(entries: Entries, block: int) -> int:
    """The same of keys that numbers follow: the least number of each key, marked where there were others."""
    kept = 0
    for start in range(0, entries.shape[1], block):
        joined = least_of(entries[:, start : start + block])
        if kept and (entries[0, kept - 1] ^ joined[0, 0]) >> np.uint64(MARK_BITS) == 0:
            # The last key of the block before goes on in this one.
            joined[:, :1] = least_of(np.concatenate([entries[:, kept - 1 : kept], joined[:, :1]], axis=1))
            kept -= 1
        entries[:, kept : kept + joined.shape[1]] = joined
        kept += joined.shape[1]
    return kept


def least_of(entries: Entries) -> Entries:
    """The entries of distinct keys of sorted ones that numbers follow, uint64[2, k], as a copy."""
    keys, numbers = entries
    starts = starts_of_equal(keys >> np.uint64(MARK_BITS))
    if len(starts) == len(keys):
        return entries.copy()
    least, largest = np.minimum.reduceat(numbers, starts), np.maximum.reduceat(numbers, starts)
    marked = np.bitwise_or.reduceat(keys, starts) | (least != largest)
    return np.stack([marked, least])


def starts_of_equal(values: Keys) -> npt.NDArray[np.int64]:
    """Where equal neighbours begin, int64[r], 0 included, of at least one value."""
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(values[1:] != values[:-1]) + 1])
