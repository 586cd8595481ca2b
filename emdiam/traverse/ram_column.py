"""Columns in RAM: see columns.py. Passes go over pieces of entries, so that they need little memory beside the column.
A finished column may be written to disk: once, read in pieces, never mapped (a map would count as RSS).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..jit import kernel
from .columns import PIECE, Column, smallest_dtype

_PIECE = PIECE
_PREDICATES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}


def widen(values: np.ndarray) -> np.ndarray:
    """The same column in the next wider dtype; sentinels become the new sentinel."""
    old = int(np.iinfo(values.dtype).max)
    wide = values.astype(smallest_dtype(old))
    for piece in _pieces(0, len(values)):
        part = wide[piece]
        part[part == old] = np.iinfo(wide.dtype).max
    return wide


def _pieces(start: int, stop: int) -> Iterator[slice]:
    for begin in range(start, stop, _PIECE):
        yield slice(begin, min(begin + _PIECE, stop))


class RamColumn(Column):
    """A column in RAM.

    Parameters
    ----------
    values : unsigned[n_vertices]; the largest value of the dtype means unreached. The column owns them from here on.
    """

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    @property
    def dtype(self) -> np.dtype[Any]:
        """See Column."""
        return self._values.dtype

    def __len__(self) -> int:
        return len(self._values)

    def take(self, ids: np.ndarray) -> np.ndarray:
        """See Column."""
        return self._values[ids]

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column; a view."""
        return self._values[start:stop]

    def set_part(self, start: int, values: np.ndarray) -> None:
        """Overwrite the values from `start` on with values of this dtype."""
        self._values[start : start + len(values)] = values

    def raw(self) -> np.ndarray:
        """See Column; the vector itself."""
        return self._values

    def copy_from(self, other: Column) -> None:
        """See Column."""
        for piece in _pieces(0, len(self._values)):
            self._values[piece] = fitted(other.part(piece.start, piece.stop), self.dtype)

    def clear(self) -> None:
        """See Column."""
        self._values.fill(self.unreached)

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """See Column."""
        self._values[np.asarray(ids, np.int64)] = value

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column."""
        compare = _PREDICATES[predicate]
        parts: list[np.ndarray] = [np.empty(0, np.int64)]
        count = 0
        for piece in _pieces(0, len(self._values)):
            hits = np.flatnonzero(compare(self._values[piece], value)) + piece.start
            parts.append(hits)
            count += len(hits)
            if most is not None and count >= most:
                break
        return np.concatenate(parts)[:most]

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None, labels: Any = None, label: int = 0
    ) -> int:
        """See Column."""
        end = len(self._values) if stop is None else stop
        codes = np.array(wanted, self._values.dtype)
        if labels is None or len(labels) == 0:
            return int(first_labelled(self._values, codes, np.empty(0, np.uint8), label, start, end))
        for piece in _pieces(start, end):
            at = int(first_labelled(self._values[piece], codes, labels[piece], label, 0, piece.stop - piece.start))
            if at >= 0:
                return piece.start + at
        return -1

    def count(self, value: int) -> int:
        """See Column."""
        return sum(int(np.count_nonzero(self._values[piece] == value)) for piece in _pieces(0, len(self._values)))

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column."""
        best, best_value = -1, 0
        for piece in _pieces(start, len(self._values) if stop is None else stop):
            part = self._values[piece].astype(np.int64)
            part[part == self.unreached] = -1 if largest else np.iinfo(np.int64).max
            at = int(part.argmax() if largest else part.argmin())
            reached = self._values[piece.start + at] != self.unreached
            if reached and (best < 0 or (part[at] > best_value if largest else part[at] < best_value)):
                best, best_value = piece.start + at, int(part[at])
        return best

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """See Column."""
        bitmap = np.empty(0, np.uint64) if within is None else within
        return int(recode(self._values, np.array(old, self._values.dtype), new, bitmap))

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column."""
        changed, reached, codes = 0, other.raw(), np.array(old, self._values.dtype)
        for piece in _pieces(0, len(self._values)):
            hit = np.isin(self._values[piece], codes)
            hit &= reached[piece] != other.unreached
            self._values[piece][hit] = new
            changed += int(np.count_nonzero(hit))
        return changed

    # -- folds ----------------------------------------------------------------------------------
    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column."""
        for piece in _pieces(start, stop):
            ids = np.flatnonzero(self._values[piece] != self.unreached) + piece.start
            if len(ids):
                yield ids

    def open_bitmap(self) -> np.ndarray:
        """See Column."""
        bits = np.zeros((len(self._values) + 63) // 64 * 8, np.uint8)
        for piece in _pieces(0, len(self._values)):
            packed = np.packbits(self._values[piece] != self.unreached, bitorder="little")
            bits[piece.start // 8 : piece.start // 8 + len(packed)] = packed
        return bits.view(np.uint64)

    def open_at(self, reached: Column, value: int, start: int, stop: int) -> None:
        """See Column."""
        other = reached.raw()
        for piece in _pieces(start, stop):
            self._values[piece][other[piece] != reached.unreached] = value

    def close(self, start: int, stop: int) -> None:
        """See Column."""
        self._values[start:stop] = self.unreached

    def tighten_upper(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column."""
        lower_to_sums(self._values[start:stop], distances.raw()[start:stop], eccentricity)

    def tighten_lower(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column."""
        raise_to_distances(self._values[start:stop], distances.raw()[start:stop], eccentricity)

    def largest(self, start: int, stop: int) -> int:
        """See Column."""
        best = -1
        for piece in _pieces(start, stop):
            some = self._values[piece][self._values[piece] != self.unreached]
            if len(some):
                best = max(best, int(some.max()))
        return best

    def close_at_most(self, bound: int, start: int, stop: int) -> None:
        """See Column."""
        for piece in _pieces(start, stop):
            self._values[piece][self._values[piece] <= bound] = self.unreached

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column."""
        return int(close_known(self._values[start:stop], lower.raw()[start:stop], bound, widest))


def fitted(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Values of a column in the dtype of another; sentinels become the new sentinel. OverflowError if a value does not
    fit."""
    reached, top = values != np.iinfo(values.dtype).max, int(np.iinfo(dtype).max)
    if reached.any() and int(values[reached].max()) >= top:
        raise OverflowError(f"a value does not fit a column of {dtype}")
    result = values.astype(dtype)
    result[~reached] = top
    return result


@kernel
def first_labelled(values, wanted, labels, label, start, stop):
    """Smallest i in [start, stop) with values[i] in wanted and labels[i] == label, or -1.

    labels of length 0: any vertex may match."""
    for i in range(start, stop):
        if len(labels) == 0 or np.int64(labels[i]) == label:
            for k in range(len(wanted)):
                if values[i] == wanted[k]:
                    return i
    return -1


@kernel
def recode(values, old, new, bitmap):
    """values[i] = new where values[i] in old (and bit i of bitmap, if it has bits); returns the number of changes."""
    changed = 0
    for i in range(len(values)):
        if len(bitmap) and not (bitmap[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
            continue
        for k in range(len(old)):
            if values[i] == old[k]:
                values[i] = new
                changed += 1
                break
    return changed


def _lower_to_sums(bounds: np.ndarray, distances: np.ndarray, eccentricity: int) -> None:
    """lower_to_sums, with numpy."""
    is_open = bounds != np.iinfo(bounds.dtype).max
    bounds[is_open] = np.minimum(bounds[is_open], distances[is_open].astype(np.int64) + eccentricity)


@kernel(uncompiled=_lower_to_sums)
def lower_to_sums(bounds, distances, eccentricity):
    """bounds[v] = min(bounds[v], distances[v] + eccentricity) at open entries."""
    none = np.int64(np.iinfo(bounds.dtype).max)
    for v in range(len(bounds)):
        bound = np.int64(bounds[v])
        bounds[v] = bound if bound == none else min(bound, np.int64(distances[v]) + eccentricity)


def _raise_to_distances(bounds: np.ndarray, distances: np.ndarray, eccentricity: int) -> None:
    """raise_to_distances, with numpy."""
    reached = distances != np.iinfo(distances.dtype).max
    d = distances[reached].astype(np.int64)
    bounds[reached] = np.maximum(bounds[reached], np.maximum(d, eccentricity - d))


@kernel(uncompiled=_raise_to_distances)
def raise_to_distances(bounds, distances, eccentricity):
    """bounds[v] = max(bounds[v], distances[v], eccentricity - distances[v]) if v has a distance."""
    none = np.int64(np.iinfo(distances.dtype).max)
    for v in range(len(bounds)):
        d = np.int64(distances[v])
        bounds[v] = bounds[v] if d == none else max(np.int64(bounds[v]), d, eccentricity - d)


def _close_known(upper: np.ndarray, lower: np.ndarray, bound: int, widest: int) -> int:
    """close_known, with numpy."""
    low = lower.astype(np.int64)
    upper[(low == upper) | ((upper <= bound) & (2 * low >= widest))] = np.iinfo(upper.dtype).max
    return int(np.count_nonzero(upper != np.iinfo(upper.dtype).max))


@kernel(uncompiled=_close_known)
def close_known(upper, lower, bound, widest):
    """See Column.close_known."""
    none, left = np.int64(np.iinfo(upper.dtype).max), 0
    for v in range(len(upper)):
        high, low = np.int64(upper[v]), np.int64(lower[v])
        high = none if high == low or (high <= bound and 2 * low >= widest) else high
        upper[v] = high
        left += high != none
    return left


class StoredColumn:
    """The values of a column in a new file at `path` (plain items, native order), in a folder for temporary files: it
    need not outlive the process. Raises OSError if it cannot be written."""

    def __init__(self, column: Column, path: Path) -> None:
        self.dtype: np.dtype[Any] = column.dtype
        self._path, self._length = path, len(column)
        with open(path, "xb") as file:
            for start in range(0, self._length, _PIECE):
                file.write(np.ascontiguousarray(column.part(start, start + _PIECE)).data)

    def __len__(self) -> int:
        return self._length

    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1. Raises InputError if they cannot be read."""
        values = np.empty(min(stop, self._length) - start, self.dtype)
        try:
            with open(self._path, "rb") as file:
                file.seek(start * self.dtype.itemsize)
                read = file.readinto(bytearray() if not len(values) else values.data.cast("B"))
        except OSError as error:
            raise self._unread(error.strerror or str(error)) from None
        if read != values.nbytes:
            raise self._unread("it has become shorter")
        return values

    def _unread(self, why: str) -> InputError:
        return InputError(f"a column on disk cannot be read ({why})", path=self._path,
                          remedy="check the disk, or give --scratch another folder")

    def take(self, ids: np.ndarray) -> np.ndarray:
        """Values of vertices `ids`, which ascend, in the column's dtype; reads each piece once."""
        found = np.empty(len(ids), self.dtype)
        for start in range(0, self._length, _PIECE):
            first, last = np.searchsorted(ids, [start, start + _PIECE])
            if first < last:
                found[first:last] = self.part(start, start + _PIECE)[ids[first:last] - start]
        return found
