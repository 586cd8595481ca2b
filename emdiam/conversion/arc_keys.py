"""Sort keys of arcs, and the direction in which the edges were listed.

A pair (a, b) becomes two keys, one for each arc of its edge: row << shift + 1 | neighbour << 1 | flag. The flag
is set on the arc up, from the smaller to the larger vertex, where the pair listed it down. So an edge that was
listed in both directions has one key more than arcs, which is counted when the flag is taken off; a pair that
repeats another one in the same direction has the same keys and vanishes with them. Hence, exactly,

    pairs = edges + loops + duplicates (same direction) + reverse (the second direction of an edge)
"""

from __future__ import annotations

import numpy as np

from ..sorting.runs import Keys, unique_in_place
from ..sorting.sort import KeySorter

BLOCK = 1 << 15
FLAG_BITS = 1


def put_both_directions(sorter: KeySorter, src: Keys, dst: Keys, shift: int) -> None:
    """Add both keys of every pair. src, dst : uint64[k], below 2^shift, no loops."""
    step = min(BLOCK, sorter.most_keys // 2)
    for start in range(0, len(src), step):
        a, b = src[start : start + step], dst[start : start + step]
        k = len(a)
        room = sorter.room(2 * k)
        _fill(room[:k], a, b, shift)
        _fill(room[k : 2 * k], b, a, shift)
        room[k : 2 * k] |= a > b
        sorter.took(2 * k)


def both_directions(src: Keys, dst: Keys, rows: Keys, shift: int) -> Keys:
    """The keys of the pairs, uint64[2k], with `rows`, uint64[2k], for the rows src, dst."""
    keys = np.empty(2 * len(src), np.uint64)
    _fill(keys, rows, np.concatenate([dst, src]), shift)
    keys[len(src) :] |= src > dst
    return keys


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


def pairs_of(keys: Keys, shift: int) -> tuple[Keys, Keys]:
    """Sources and targets of the pairs whose keys these are, each once: those of the arcs up."""
    src, dst = keys >> np.uint64(shift + FLAG_BITS), keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)
    up, down = src < dst, (keys & np.uint64(1)).astype(bool)
    return np.where(down, dst, src)[up], np.where(down, src, dst)[up]
