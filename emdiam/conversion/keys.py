"""Pairs as sort keys, and what follows a key: the one place that knows how.

A pair (a, b) becomes two keys, one for each arc of its edge: row << shift + 1 | neighbour << 1 | flag. The flag
is set on the arc up, from the smaller to the larger vertex, where the pair listed it down. So an edge that was
listed in both directions has one key more than arcs, which is counted when the flag is taken off; a pair that
repeats another one in the same direction has the same keys and vanishes with them. Hence, exactly,

    pairs = edges + loops + duplicates (same direction) + reverse (the second direction of an edge)

Where directions are kept, the flag is set on the key in the row of the target, which belongs to the reverse. So one
sort puts the rows of both in order, and the merge parts them: keys without flag go to the rows out, the others to those
of the reverse.

Weights follow their keys through the sort as numbers (weights.py, sorting/entries.py), which leaves one bit less for a
key. Both keys of a pair have its weight, so that both arcs of an edge get the least that was given for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..sorting.entries import MARK_BITS, Entries, Keys, distinct_in_place, keys_of, room_for, unique_in_place
from ..sorting.sort import KeySorter

BLOCK = 1 << 15
FLAG_BITS = 1


def low_bits(weighted: bool) -> int:
    """Bits of a key behind row and neighbour."""
    return FLAG_BITS + (MARK_BITS if weighted else 0)


def put_both_directions(sorter: KeySorter, src: Keys, dst: Keys, shift: int, directed: bool = False,
                        numbers: Keys | None = None) -> None:
    """Add both keys of every pair. src, dst : uint64[k], below 2^shift, no loops. directed : the second is that of the
    reverse. numbers : of the weights, uint64[k]."""
    step = min(BLOCK, sorter.most_keys // 2)
    for start in range(0, len(src), step):
        a, b = src[start : start + step], dst[start : start + step]
        k = len(a)
        room = sorter.room(2 * k)[..., : 2 * k]
        keys = keys_of(room)
        _fill(keys[:k], a, b, shift)
        _fill(keys[k:], b, a, shift)
        keys[k:] |= directed or a > b
        _follow(room, None if numbers is None else numbers[start : start + step])
        sorter.took(2 * k)


def both_directions(src: Keys, dst: Keys, rows: Keys, shift: int, directed: bool = False,
                    numbers: Keys | None = None) -> Entries:
    """The entries of the pairs, 2k of them, with `rows`, uint64[2k], for the rows src, dst."""
    entries = room_for(2 * len(src), numbers is not None)
    keys = keys_of(entries)
    _fill(keys, rows, np.concatenate([dst, src]), shift)
    keys[len(src) :] |= directed or src > dst
    _follow(entries, numbers)
    return entries


def _follow(entries: Entries, numbers: Keys | None) -> None:
    """Let the numbers follow both keys of every pair, if there are any."""
    if numbers is not None:
        entries[0] <<= np.uint64(MARK_BITS)
        entries[1].reshape(2, -1)[:] = numbers


def _fill(out: Keys, rows: Keys, neighbours: Keys, shift: int) -> None:
    np.left_shift(rows, shift, out=out)
    np.bitwise_or(out, neighbours, out=out)
    np.left_shift(out, FLAG_BITS, out=out)


def without_flags(keys: Keys) -> tuple[Keys, int]:
    """The arcs row << shift | neighbour of sorted distinct keys, in their place, and how many edges among them
    were listed in both directions."""
    np.right_shift(keys, FLAG_BITS, out=keys)
    arcs = keys[: unique_in_place(keys)]
    return arcs, len(keys) - len(arcs)


def least_of_arcs(entries: Entries) -> tuple[Entries, int, int]:
    """The arcs row << shift | neighbour of sorted distinct keys, each followed by the least number that was given for
    it, in their place; how many of them had several; and how many came with two flags."""
    marks = without_marks(entries)
    keys = entries[0]
    np.right_shift(keys, FLAG_BITS, out=keys)
    np.left_shift(keys, MARK_BITS, out=keys)
    keys |= marks
    arcs = entries[:, : distinct_in_place(entries)]
    return arcs, int(np.count_nonzero(without_marks(arcs))), entries.shape[1] - arcs.shape[1]


def by_direction(keys: Keys) -> tuple[Keys, Keys]:
    """The arcs row << shift | neighbour of sorted distinct keys with directions: those of rows out, in the place of the
    keys, and those of rows of the reverse."""
    back = [part[(part & np.uint64(1)).astype(bool)] for part in np.split(keys, range(BLOCK, len(keys), BLOCK))]
    reverse = np.concatenate(back) if back else keys[:0].copy()
    n_out = 0
    for start in range(0, len(keys), BLOCK):
        out = keys[start : start + BLOCK]
        out = out[(out & np.uint64(1)) == 0]
        keys[n_out : n_out + len(out)] = out
        n_out += len(out)
    for arcs in (keys[:n_out], reverse):
        np.right_shift(arcs, FLAG_BITS, out=arcs)
    return keys[:n_out], reverse


def without_marks(entries: Entries) -> npt.NDArray[np.bool_]:
    """Take the marks off the keys of entries that numbers follow, in their place; bool[k], which had one."""
    marks = (entries[0] & np.uint64(1)).astype(bool)
    np.right_shift(entries[0], MARK_BITS, out=entries[0])
    return marks


def weighted_pairs_of(entries: Entries, shift: int, directed: bool = False) -> tuple[Keys, Keys, Keys]:
    """As pairs_of, with their numbers. One that was marked comes again with another number, for which it is marked
    again."""
    entries = entries.copy()
    marks = without_marks(entries)
    again = np.concatenate([entries, entries[:, marks] + np.array([[0], [1]], np.uint64)], axis=1)
    here = _ups(again[0], shift, directed)
    return *pairs_of(again[0], shift, directed), again[1, here]


def _ups(keys: Keys, shift: int, directed: bool) -> npt.NDArray[np.bool_]:
    """Which keys pairs_of takes."""
    if directed:
        return (keys & np.uint64(1)) == 0
    return keys >> np.uint64(shift + FLAG_BITS) < keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)


def pairs_of(keys: Keys, shift: int, directed: bool = False) -> tuple[Keys, Keys]:
    """Sources and targets of the pairs whose keys these are, each once: those of the arcs up, or of rows out."""
    keys = keys[_ups(keys, shift, directed)]
    src, dst = keys >> np.uint64(shift + FLAG_BITS), keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)
    down = (keys & np.uint64(1)).astype(bool)
    return np.where(down, dst, src), np.where(down, src, dst)
