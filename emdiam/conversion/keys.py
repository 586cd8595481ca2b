"""Sort keys of pairs, and the numbers that follow keys; no other module knows their format.

A pair (a, b) becomes two keys, one for each arc of its edge: row << shift + 1 | neighbour << 1 | flag. The flag is set
on the arc up, from the smaller to the larger vertex, if the pair listed it down. So an edge that was listed in both
directions has one key more than arcs, which is counted when the flag is removed; a pair that repeats another one in the
same direction has the same keys and disappears with them. Hence, exactly,

    pairs = edges + loops + duplicates (same direction) + reverse (the second direction of an edge)

If directions are kept, the flag is set on the key in the row of the target, which belongs to the reverse. So one sort
orders both kinds of rows, and the merge separates them: keys without flag go to the rows out, the others to the reverse
rows.

Weights follow their keys through the sort as numbers (sorting/runs.py), which leaves one bit less for a key. Both keys
of a pair have its weight, so that both arcs of an edge get the least weight in the input.

During the sort weights are numbers in the order of the weights. The number of decimal places is only known at the end;
so decimals are sorted as floats, and converted to integers when arcs are written. If floats would lose digits
(formats/digits.py), weights are integers from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decimals import MOST_PLACES, in_units
from ..errors import InputError
from ..formats.source import SourceInfo
from ..formats.weights import FLOAT32, LARGEST_WHOLE, LEAST_WHOLE, WHOLE
from ..sorting.runs import MARK_BITS, Entries, Keys, distinct_in_place, keys_of, room_for, unique_in_place
from ..sorting.sort import KeySorter
from ..store.weights import MOST_WIDE, WIDE, WeightForm, whole_dtype

BLOCK = 1 << 15
FLAG_BITS = 1


def low_bits(weighted: bool) -> int:
    """Bits of a key after row and neighbour."""
    return FLAG_BITS + (MARK_BITS if weighted else 0)


def put_both_directions(sorter: KeySorter, src: Keys, dst: Keys, shift: int, directed: bool = False,
                        numbers: Keys | None = None) -> None:
    """Add both keys of every pair. src, dst : uint64[k], below 2^shift, no loops. directed : the second key belongs to
    the reverse. numbers : of the weights, uint64[k]."""
    step = min(BLOCK, sorter.most_keys // 2)
    for start in range(0, len(src), step):
        a, b = src[start : start + step], dst[start : start + step]
        k, follow = len(a), None if numbers is None else numbers[start : start + step]
        room = sorter.room(2 * k)
        front, back = room[..., :k], room[..., room.shape[-1] - k :]
        _fill(keys_of(front), a, b, shift)
        _fill(keys_of(back), b, a, shift)
        back_keys = keys_of(back)
        back_keys |= directed or a > b
        _follow(front, follow)
        _follow(back, follow)
        sorter.took(k, k)


def put_one_direction(sorter: KeySorter, src: Keys, dst: Keys, shift: int, numbers: Keys | None = None) -> None:
    """Add the first key of every pair; see put_both_directions."""
    step = min(BLOCK, sorter.most_keys)
    for start in range(0, len(src), step):
        a, b = src[start : start + step], dst[start : start + step]
        room = sorter.room(len(a))[..., : len(a)]
        _fill(keys_of(room), a, b, shift)
        _follow(room, None if numbers is None else numbers[start : start + step])
        sorter.took(len(a))


def of_the_other_direction(entries: Entries, shift: int) -> Entries:
    """The second entries of pairs, made from their first ones; a copy."""
    keys = keys_of(entries)
    arcs = keys >> np.uint64(low_bits(entries.ndim > 1))
    src, dst = arcs >> np.uint64(shift), arcs & np.uint64((1 << shift) - 1)
    _fill(arcs, dst, src, shift)
    arcs |= src > dst
    if entries.ndim == 1:
        return arcs
    return np.stack([arcs << np.uint64(MARK_BITS) | keys & np.uint64(1), entries[1]])


def both_directions(src: Keys, dst: Keys, rows: Keys, shift: int, directed: bool = False,
                    numbers: Keys | None = None) -> Entries:
    """The 2k entries of the pairs, with `rows`, uint64[2k], in place of src, dst as rows."""
    entries = room_for(2 * len(src), numbers is not None)
    keys = keys_of(entries)
    _fill(keys, rows, np.concatenate([dst, src]), shift)
    keys[len(src) :] |= directed or src > dst
    _follow(entries, None if numbers is None else np.tile(numbers, 2))
    return entries


def _follow(entries: Entries, numbers: Keys | None) -> None:
    """Add the numbers behind the keys, if any."""
    if numbers is not None:
        entries[0] <<= np.uint64(MARK_BITS)
        entries[1] = numbers


def _fill(out: Keys, rows: Keys, neighbours: Keys, shift: int) -> None:
    np.left_shift(rows, shift, out=out)
    np.bitwise_or(out, neighbours, out=out)
    np.left_shift(out, FLAG_BITS, out=out)


def without_flags(keys: Keys) -> tuple[Keys, int]:
    """The arcs row << shift | neighbour of sorted distinct keys, in place, and the number of edges among them that were
    listed in both directions."""
    np.right_shift(keys, FLAG_BITS, out=keys)
    arcs = keys[: unique_in_place(keys)]
    return arcs, len(keys) - len(arcs)


def least_of_arcs(entries: Entries) -> tuple[Entries, int, int]:
    """The arcs row << shift | neighbour of sorted distinct keys, each with its least number, in place; the number of
    arcs with several numbers; and the number of arcs with both flags."""
    marks = without_marks(entries)
    keys = entries[0]
    np.right_shift(keys, FLAG_BITS, out=keys)
    np.left_shift(keys, MARK_BITS, out=keys)
    keys |= marks
    arcs = entries[:, : distinct_in_place(entries)]
    return arcs, int(np.count_nonzero(without_marks(arcs))), entries.shape[1] - arcs.shape[1]


def by_direction(keys: Keys) -> tuple[Keys, Keys]:
    """The arcs row << shift | neighbour of sorted distinct keys with directions: of rows out, in place, and of reverse
    rows."""
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
    """Remove the marks from the keys of entries with numbers, in place; returns bool[k], which keys had one."""
    marks = (entries[0] & np.uint64(1)).astype(bool)
    np.right_shift(entries[0], MARK_BITS, out=entries[0])
    return marks


def weighted_pairs_of(entries: Entries, shift: int, directed: bool = False) -> tuple[Keys, Keys, Keys]:
    """Like pairs_of, with the numbers. A marked pair is returned twice, with two numbers, so that it is marked
    again."""
    entries = entries.copy()
    marks = without_marks(entries)
    again = np.concatenate([entries, entries[:, marks] + np.array([[0], [1]], np.uint64)], axis=1)
    here = _ups(again[0], shift, directed)
    return *pairs_of(again[0], shift, directed), again[1, here]


def _ups(keys: Keys, shift: int, directed: bool) -> npt.NDArray[np.bool_]:
    """A mask of the keys that pairs_of uses."""
    if directed:
        return (keys & np.uint64(1)) == 0
    return keys >> np.uint64(shift + FLAG_BITS) < keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)


def pairs_of(keys: Keys, shift: int, directed: bool = False) -> tuple[Keys, Keys]:
    """Sources and targets of the pairs with these keys, each once: from the arcs up, or from rows out."""
    keys = keys[_ups(keys, shift, directed)]
    src, dst = keys >> np.uint64(shift + FLAG_BITS), keys >> np.uint64(FLAG_BITS) & np.uint64((1 << shift) - 1)
    down = (keys & np.uint64(1)).astype(bool)
    return np.where(down, dst, src), np.where(down, src, dst)


_TOP = np.uint64(1 << 63)
_BLOCK = 1 << 15
_NONE = -1


def numbers_of(weights: npt.NDArray[Any]) -> Keys:
    """Numbers in the order of the weights, uint64[k]. weights : int64, or finite float64; -0.0 counts as 0.0."""
    if weights.dtype.kind == "i":
        return np.ascontiguousarray(weights).view(np.uint64) ^ _TOP
    bits = (weights + 0.0).view(np.uint64)
    return np.where(bits & _TOP, ~bits, bits | _TOP)


def weights_of(numbers: Keys, form: WeightForm) -> npt.NDArray[np.number]:
    """The weights that `numbers_of` converted, in a form that can represent them."""
    if form.counted:
        return (numbers ^ _TOP).view(np.int64).astype(form.dtype)
    from ..decimal_kernels import whole_numbers  # has kernels

    out = np.empty(len(numbers), form.dtype)
    for start in range(0, len(numbers), _BLOCK):
        floats, part = _floats(numbers[start : start + _BLOCK]), out[start : start + _BLOCK]
        if form.decimals or form.dtype == WIDE:
            whole_numbers(floats, form.decimals, part)
        else:
            part[:] = floats
    return out


def _floats(numbers: Keys) -> npt.NDArray[np.float64]:
    """The floats that `numbers_of` converted."""
    return np.where(numbers & _TOP, numbers ^ _TOP, ~numbers).view(np.float64)


@dataclass
class WeightEnds:
    """The least and the largest weight of all pairs except loops, as numbers; None without pairs. places : the largest
    number of decimal places; -1 if a weight has more than MOST_PLACES. counted : whether weights are integers in units
    of 10^-places, and not floats."""

    least: int | None = None
    largest: int | None = None
    places: int = 0
    counted: bool = False

    def add(self, numbers: Keys) -> None:
        """Include numbers of weights."""
        if not len(numbers):
            return
        least, largest = int(numbers.min()), int(numbers.max())
        self.least = least if self.least is None else min(self.least, least)
        self.largest = largest if self.largest is None else max(self.largest, largest)
        if self.places != _NONE and not self.counted:
            from ..decimal_kernels import most_places

            self.places = int(most_places(_floats(numbers), self.places))

    def form(self, info: SourceInfo, n_vertices: int, name: str) -> WeightForm | None:
        """Form of the weights in a store with n_vertices vertices: integers in units of 10^-k, of up to 64 bits if all
        their sums fit too; else floats. None for such integers that do not fit. info : with the kind of weights. name :
        of the source. Raises InputError for whole weights without a common dtype."""
        called = info.weight_name.encode("utf-8", "backslashreplace").decode()
        if info.weights == WHOLE or 0 <= self.places <= MOST_PLACES:
            places = 0 if info.weights == WHOLE else self.places
            least, largest = self._ends(places)
            dtype = whole_dtype(least, largest)
            if dtype is None and max(-least, largest) * n_vertices < MOST_WIDE and info.weights != WHOLE:
                dtype = WIDE
            if dtype is not None:
                return WeightForm(dtype, places, called, self.counted)
            if self.counted:
                return None
            if info.weights == WHOLE:
                raise InputError(
                    f"whole weights from {least} to {largest} fit no dtype", path=name,
                    remedy=f"keep them from 0 to {LARGEST_WHOLE}, or from {LEAST_WHOLE} to {-LEAST_WHOLE - 1}, or give"
                    " them as floats")
        return WeightForm(np.dtype(np.float32 if info.weights == FLOAT32 else np.float64), 0, called)

    def _ends(self, places: int) -> tuple[int, int]:
        """The least and the largest weight in units of 10^-places; 0 without weights."""
        if self.least is None or self.largest is None:
            return 0, 0
        if self.counted:
            return self.least - int(_TOP), self.largest - int(_TOP)
        ends = _floats(np.array([self.least, self.largest], np.uint64)).tolist()
        return in_units(ends[0], places) or 0, in_units(ends[1], places) or 0
