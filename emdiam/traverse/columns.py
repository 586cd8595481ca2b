"""Columns: opaque per-vertex vectors of small unsigned integers, and their operations.

Algorithms use Columns and never index the whole vector, so that it may be in RAM (ram_column.py), on a device
(gpu/device_column.py) or across workers (dask/columns.py). The largest value of the dtype is the only sentinel:
unreached. A vertex is *open* in a column if it is not unreached there. Columns passed to a method of another column
are of the same engine. Each method takes time linear in the entries it reads, and a few MiB.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, Self

import numpy as np

PIECE = 1 << 17
# Entries of a piece that a checkpoint writes or skips: 16 bytes of digest for each piece.
PIECE_ITEMS = 1 << 16
# Memory of a step over columns beside the columns: a dozen arrays of 8 bytes an entry of a piece.
FOLD_BYTES = 12 * 8 * PIECE
_DEGREE_BITS = 31
_LARGEST_DEGREE = (1 << _DEGREE_BITS) - 1


def smallest_dtype(largest: int) -> np.dtype[Any]:
    """Smallest of uint8, uint16, uint32 whose sentinel is larger than `largest` and than the level after it, in which a
    BFS finds no vertex.

    Raises OverflowError beyond uint32.
    """
    for dtype in (np.uint8, np.uint16, np.uint32):
        if largest + 1 < np.iinfo(dtype).max:
            return np.dtype(dtype)
    raise OverflowError(f"{largest} does not fit a distance column of 32 bits")


def digests(values: np.ndarray) -> list[bytes]:
    """A digest of every PIECE_ITEMS entries of a vector."""
    return [hashlib.blake2b(values[start : start + PIECE_ITEMS].view(np.uint8).data, digest_size=16).digest()
            for start in range(0, len(values), PIECE_ITEMS)]


class BoxTable(Protocol):
    """Vertices in boxes by their distances in k columns, each divided by a power of two; see
    methods/exact/candidates.py."""

    def fill(self) -> bool:
        """Put all vertices into boxes; False if there are too many boxes."""

    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """Largest distances (unsigned[r, k]) and numbers of vertices (int64[r]) of the boxes that are not certified
        against all others at once, in any order."""

    def members(self, is_open: np.ndarray, room: int) -> ListedVertices | None:
        """Vertices of the boxes marked open (bool[r], in the order of `left`); None if there are more than `room`."""


class ListedVertices:
    """Vertices whose values in columns are read again and again; a subclass has a copy where the columns are. ids :
    int64[m], ascending, in RAM."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def keep(self, mask: np.ndarray) -> None:
        """Drop the vertices whose entry of `mask` (bool[m]) is false."""
        self.ids = self.ids[mask]

    def values(self, column: Any, largest: int) -> np.ndarray:
        """Their values in a column (or one on disk), unsigned[m], in any type. largest : at least each of them."""
        values: np.ndarray = column.take(self.ids)
        return values

    def put_points(self, columns: Sequence[Any], largest: int, points: np.ndarray) -> None:
        """Write their values in k columns to `points`, unsigned[m, k]. largest : at least each of them."""
        for i, column in enumerate(columns):
            points[:, i] = self.values(column, largest)

    def above(self, column: Any, limit: int) -> np.ndarray:
        """Flags of the values in a column that are above `limit`, the sentinel included, bool[m]."""
        above: np.ndarray = column.take(self.ids) > limit
        return above


class Column(ABC):
    """A vector unsigned[n_vertices]. piece : the best number of entries for a call of `part`. many : if more vertices
    than this exceed a limit, boxes of them (box_table) cost less than a list."""

    piece = many = 1 << 16

    # -- properties -----------------------------------------------------------------------------
    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""

    @property
    def unreached(self) -> int:
        """The sentinel."""
        return int(np.iinfo(self.dtype).max)

    @abstractmethod
    def __len__(self) -> int: ...

    # -- values ---------------------------------------------------------------------------------
    @abstractmethod
    def take(self, ids: np.ndarray) -> np.ndarray:
        """Values of vertices `ids` in the column's own dtype, sentinel included."""

    def gather(self, ids: np.ndarray | Sequence[int]) -> np.ndarray:
        """Values of vertices `ids`, int64[k]; -1 where unreached."""
        result = self.take(np.asarray(ids, np.int64)).astype(np.int64)
        result[result == self.unreached] = -1
        return result

    @abstractmethod
    def part(self, start: int, stop: int) -> np.ndarray:
        """Values of vertices start..stop-1; a view or a copy."""

    @abstractmethod
    def raw(self) -> np.ndarray:
        """The vector itself, or a read-only copy; for engines, never for algorithms."""

    @abstractmethod
    def copy_from(self, other: Column) -> None:
        """Copy the values of `other`, whose dtype may be narrower, and which may be in RAM; unreached stays
        unreached. Raises OverflowError if a value does not fit."""

    @abstractmethod
    def clear(self) -> None:
        """Make every vertex unreached again."""

    @abstractmethod
    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """Set the values of vertices `ids`."""

    def duplicate(self, old: Column | None = None) -> Column | None:
        """A copy of the column in the same place, if the plan has room for one, else None. old : an earlier copy, which
        may be overwritten."""
        return None

    def put_pieces(self, pieces: Iterable[np.ndarray], value: int) -> Self:
        """Set the values of the vertices of all pieces, int64[k] each. Returns the column."""
        for ids in pieces:
            self.put(ids, value)
        return self

    # -- looking for vertices -------------------------------------------------------------------
    @abstractmethod
    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """Vertices whose value compares with `value` by the predicate ("==", "<", ...), ascending, int64[k].

        The sentinel counts as the largest value. Returns the first `most` vertices.
        """

    @abstractmethod
    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None, labels: Any = None, label: int = 0
    ) -> int:
        """The smallest vertex in [start, stop) whose value is one of `wanted` (and whose entry of `labels` is `label`),
        or -1. labels : of the engine's components; None or length 0: ignored."""

    @abstractmethod
    def count(self, value: int) -> int:
        """Number of vertices with exactly this value."""

    @abstractmethod
    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """Smallest vertex in [start, stop) with the largest (smallest) reached value, or -1."""

    def box_table(self, columns: Sequence[Any], limit: int, q: np.ndarray, slots: int) -> BoxTable | None:
        """A table of `slots` slots for the vertices with limit < value < unreached, by `columns` divided by 2^q
        (int64[k]), where these columns are. None if they are in RAM or apart: the caller then reads them in pieces."""
        return None

    def uncertified(self, columns: Sequence[Any], limit: int) -> ListedVertices | None:
        """Vertices with limit < value < unreached, without those whose distances in `columns` certify them against all
        others at once. None if the columns are in RAM or apart."""
        return None

    # -- changing values ------------------------------------------------------------------------
    @abstractmethod
    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """Change every value in `old` to `new`; with `within`, a bitmap, only at its set bits (uint64[ceil(n/64)], or
        Traversal.reached). Returns the number of changed values."""

    @abstractmethod
    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """Change every value in `old` to `new` where `other` is reached. Returns the number of changed values."""

    # -- folds of exact methods over vertices start..stop-1 -------------------------------------
    @abstractmethod
    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """The open vertices, ascending, in pieces (int64)."""

    def open_list(self, start: int, stop: int) -> np.ndarray:
        """The open vertices, ascending, int64[k]."""
        return np.concatenate([np.empty(0, np.int64), *self.open_vertices(start, stop)])

    @abstractmethod
    def open_bitmap(self) -> np.ndarray:
        """The open vertices as a bitmap, uint64[ceil(n/64)]."""

    @abstractmethod
    def open_at(self, reached: Column, value: int, start: int, stop: int) -> None:
        """self[v] = value wherever `reached` is open."""

    @abstractmethod
    def close(self, start: int, stop: int) -> None:
        """Make all vertices unreached."""

    @abstractmethod
    def tighten_upper(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """self[v] = min(self[v], eccentricity + d(v)) for open vertices.

        Each of them must be open in `distances`, the distances from a vertex of that eccentricity."""

    @abstractmethod
    def tighten_lower(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """self[v] = max(self[v], d(v), eccentricity - d(v)) wherever `distances` is open."""

    @abstractmethod
    def largest(self, start: int, stop: int) -> int:
        """Largest value of an open vertex, or -1."""

    @abstractmethod
    def close_at_most(self, bound: int, start: int, stop: int) -> None:
        """Close the vertices whose value is at most `bound`."""

    @abstractmethod
    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """Close in this column of upper bounds the vertices with lower = upper, and those with both upper <= `bound`
        and 2 lower >= `widest`. Returns the number of vertices still open."""

    def contenders(
        self, values: Column | None, count: int, smallest: bool, start: int, stop: int
    ) -> Iterator[np.ndarray]:
        """Open vertices, ascending, in pieces (int64): at least all that `ranked` could choose."""
        return self.open_vertices(start, stop)

    def ranked(
        self, degrees: Callable[[np.ndarray], np.ndarray], values: Column | None, count: int, *, smallest: bool = False,
        start: int, stop: int,
    ) -> np.ndarray:
        """At most `count` open vertices, the best first, int64[k].

        Best is the largest value (with `smallest`, the smallest; without `values` all are equal), then
        the largest degree, then the smallest vertex. degrees : returns the degrees of vertices, int64[k].
        """
        ids, keys = np.empty(0, np.int64), np.empty(0, np.int64)
        for more in self.contenders(values, count, smallest, start, stop):
            value = np.zeros(len(more), np.int64) if values is None else values.take(more).astype(np.int64)
            key = -value << _DEGREE_BITS if smallest else value << _DEGREE_BITS
            if count == 1:  # before the degrees are looked up, which costs more
                near = key == key.max()
                more, key = more[near], key[near]
            if len(ids) == count:  # only a larger key replaces the last entry, whose vertex is smaller
                near = key + _LARGEST_DEGREE > keys[-1]
                more, key = more[near], key[near]
            key += np.minimum(degrees(more), _LARGEST_DEGREE)
            if len(ids) == count:
                better = key > keys[-1]
                more, key = more[better], key[better]
            more, key = _first_largest(more, key, count)
            ids, keys = np.concatenate((ids, more)), np.concatenate((keys, key))
            order = np.lexsort((ids, -keys))[:count]
            ids, keys = ids[order], keys[order]
        return ids


def _first_largest(ids: np.ndarray, keys: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """At most `count` of the ids (ascending) with the largest keys, the smallest ids among equals."""
    if len(ids) <= count:
        return ids, keys
    if count == 1:
        at = int(keys.argmax())
        return ids[at : at + 1], keys[at : at + 1]
    last = np.partition(keys, len(keys) - count)[len(keys) - count]
    above, level = np.flatnonzero(keys > last), np.flatnonzero(keys == last)
    chosen = np.concatenate((above, level[: count - len(above)]))
    return ids[chosen], keys[chosen]
