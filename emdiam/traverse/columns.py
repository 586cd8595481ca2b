"""Columns: opaque per-vertex vectors of small unsigned integers, and the few verbs on them.

Algorithms hold Columns and never index them whole, so that the vector may live in RAM (here), on
disk, on a device or across workers. The largest value of the dtype is the one sentinel: unreached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..jit import kernel

_PIECE = 1 << 17
_PREDICATES: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal,
}


def smallest_dtype(largest: int) -> np.dtype[Any]:
    """Smallest of uint8, uint16, uint32 whose sentinel is larger than `largest`.

    Raises OverflowError beyond uint32.
    """
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest < np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise OverflowError(f"{largest} does not fit a distance column of 32 bits")


def widen(values: np.ndarray) -> np.ndarray:
    """The same column in the next wider dtype, sentinels kept sentinels."""
    old = int(np.iinfo(values.dtype).max)
    wide = values.astype(smallest_dtype(old))
    for start in range(0, len(values), _PIECE):
        part = wide[start : start + _PIECE]
        part[part == old] = np.iinfo(wide.dtype).max
    return wide


class Column:
    """A column in RAM.

    Parameters
    ----------
    values : unsigned[n_vertices]; the largest value of the dtype means unreached. Owned by the
        column from here on.

    piece : entries that `part` is best asked for at a time.
    """

    piece = 1 << 16

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""
        return self._values.dtype

    @property
    def unreached(self) -> int:
        """The sentinel."""
        return int(np.iinfo(self._values.dtype).max)

    def __len__(self) -> int:
        return len(self._values)

    def gather(self, ids: np.ndarray | Sequence[int]) -> np.ndarray:
        """Values of vertices `ids`, int64[k]; -1 where unreached."""
        found = self._values[np.asarray(ids, np.int64)].astype(np.int64)
        found[found == self.unreached] = -1
        return found

    def take(self, ids: np.ndarray) -> np.ndarray:
        """Values of vertices `ids` in the column's own dtype, sentinel included."""
        return self._values[ids]

    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1 (a view)."""
        return self._values[start:stop]

    def copy_from(self, other: Column) -> None:
        """Take over the values of `other`, whose dtype may be narrower; unreached stays unreached.
        Raises OverflowError if a value does not fit."""
        for start in range(0, len(self._values), _PIECE):
            theirs = other._values[start : start + _PIECE]
            reached = theirs != other.unreached
            if reached.any() and int(theirs[reached].max()) >= self.unreached:
                raise OverflowError(f"a value does not fit a column of {self.dtype}")
            mine = self._values[start : start + _PIECE]
            mine[:] = theirs
            mine[~reached] = self.unreached

    def clear(self) -> None:
        """Make every vertex unreached again."""
        self._values.fill(self.unreached)

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """Vertices whose value compares so ("==", "<", ...) with `value`, ascending, int64[k].

        The sentinel takes part as the largest value. At most `most` vertices, the first ones.
        """
        compare = _PREDICATES[predicate]
        parts: list[np.ndarray] = []
        found = 0
        for start in range(0, len(self._values), _PIECE):
            hits = np.flatnonzero(compare(self._values[start : start + _PIECE], value)) + start
            parts.append(hits)
            found += len(hits)
            if most is not None and found >= most:
                break
        merged = np.concatenate(parts) if parts else np.empty(0, np.int64)
        return merged[:most]

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None,
        labels: np.ndarray | None = None, label: int = 0,
    ) -> int:
        """The smallest vertex in [start, stop) whose value is one of `wanted` (and whose entry of
        `labels`, if given, is `label`), or -1."""
        end = len(self._values) if stop is None else stop
        some = np.empty(0, np.uint8) if labels is None else labels
        codes = np.array(wanted, self._values.dtype)
        return int(first_labelled(self._values, codes, some, label, start, end))

    def count(self, value: int) -> int:
        """How many vertices have exactly this value."""
        return sum(
            int(np.count_nonzero(self._values[s : s + _PIECE] == value))
            for s in range(0, len(self._values), _PIECE)
        )

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """Set the values of vertices `ids`."""
        self._values[np.asarray(ids, np.int64)] = value

    def recode(self, old: Sequence[int], new: int, within: np.ndarray | None = None) -> int:
        """Change every value in `old` to `new`, only at set bits of the bitmap `within` if given
        (uint64[ceil(n/64)]). Returns how many changed."""
        bitmap = np.empty(0, np.uint64) if within is None else within
        return int(recode(self._values, np.array(old, self._values.dtype), new, bitmap))

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """Change every value in `old` to `new` where `other` is reached. Returns how many changed."""
        changed = 0
        for start in range(0, len(self._values), _PIECE):
            mine = self._values[start : start + _PIECE]
            hit = np.isin(mine, np.array(old, mine.dtype))
            hit &= other._values[start : start + _PIECE] != other.unreached
            mine[hit] = new
            changed += int(np.count_nonzero(hit))
        return changed

    def fold_bounds(self, other: Column, shift: int) -> None:
        """values = min(values, other + shift), entry by entry; a sum that would reach the sentinel
        changes nothing, nor does an unreached entry of `other`."""
        for start in range(0, len(self._values), _PIECE):
            mine = self._values[start : start + _PIECE]
            sums = other._values[start : start + _PIECE].astype(np.int64) + shift
            sums[other._values[start : start + _PIECE] == other.unreached] = self.unreached
            np.minimum(mine, np.minimum(sums, self.unreached), out=mine, casting="unsafe")

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """Smallest vertex in [start, stop) with the largest (smallest) reached value, or -1."""
        best, best_value = -1, 0
        end = len(self._values) if stop is None else stop
        for begin in range(start, end, _PIECE):
            part = self._values[begin : min(begin + _PIECE, end)].astype(np.int64)
            part[part == self.unreached] = -1 if largest else np.iinfo(np.int64).max
            at = int(part.argmax() if largest else part.argmin())
            reached = self._values[begin + at] != self.unreached
            if reached and (best < 0 or (part[at] > best_value if largest else part[at] < best_value)):
                best, best_value = begin + at, int(part[at])
        return best

    def block_max(self, starts: np.ndarray) -> np.ndarray:
        """Largest reached value in each range [starts[i], starts[i+1]), int64[k]; -1 if none."""
        out = np.full(len(starts) - 1, -1, np.int64)
        for i in range(len(out)):
            part = self._values[starts[i] : starts[i + 1]]
            reached = part[part != self.unreached]
            if len(reached):
                out[i] = int(reached.max())
        return out

    def histogram(self) -> np.ndarray:
        """Vertices per value, int64[largest reached value + 1]; unreached ones are left out."""
        counts = np.zeros(1, np.int64)
        for start in range(0, len(self._values), _PIECE):
            part = self._values[start : start + _PIECE]
            more = np.bincount(part[part != self.unreached])
            if len(more) > len(counts):
                counts = np.pad(counts, (0, len(more) - len(counts)))
            counts[: len(more)] += more
        return counts

    def save(self, path: str | Path) -> None:
        """Write to a .npy file."""
        with open(path, "wb") as file:
            np.save(file, self._values)

    @classmethod
    def load(cls, path: str | Path) -> Column:
        """Read what `save` wrote. Raises InputError for anything else."""
        try:
            values = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"not a saved column ({error})", path=path) from None
        if values.ndim != 1 or values.dtype.kind != "u":
            raise InputError(f"not a saved column ({values.dtype}{values.shape})", path=path)
        return cls(values)

    def raw(self) -> np.ndarray:
        """The vector itself, for kernels of the engine that made it; never for algorithms."""
        return self._values


@kernel
def first_labelled(values, wanted, labels, label, start, stop):  # type: ignore[no-untyped-def]
    """Smallest i in [start, stop) with values[i] in wanted and labels[i] == label, or -1.

    labels of length 0: every vertex counts."""
    for i in range(start, stop):
        if len(labels) == 0 or np.int64(labels[i]) == label:
            for k in range(len(wanted)):
                if values[i] == wanted[k]:
                    return i
    return -1


@kernel
def recode(values, old, new, bitmap):  # type: ignore[no-untyped-def]
    """values[i] = new where values[i] in old (and bit i of bitmap, if it has bits); the count."""
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
