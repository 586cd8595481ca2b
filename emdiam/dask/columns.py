"""Columns that live on workers, each its own range: the verbs of traverse.columns.Column as the client asks them."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..traverse.columns import Column, smallest_dtype
from ..traverse.pivot_bounds import Folded, PivotBounds, merged
from ..traverse.ram_column import fitted
from . import column_verbs as verbs
from .rank import Ref
from .rank_group import Group

_PIECE = 1 << 20


class Columns:
    """The columns of a run: their keys."""

    def __init__(self, group: Group, n_vertices: int) -> None:
        self.group, self.n_vertices = group, n_vertices
        self._keys = itertools.count()

    def new_key(self) -> int:
        """A key for a column that a verb makes."""
        return next(self._keys)

    def adopt(self, key: int, dtype: DTypeLike) -> WorkerColumn:
        """The column that a verb has made under `key`."""
        return WorkerColumn(self, key, np.dtype(dtype))

    def make(self, dtype: DTypeLike, value: int) -> WorkerColumn:
        """A column filled with `value`."""
        key = self.new_key()
        self.group.everyone(verbs.new_column, key, np.dtype(dtype).name, value)
        return self.adopt(key, dtype)



class WorkerColumn(Column):
    """A column on workers. key : its name there. kind : dtype of the values."""

    piece = 1 << 18

    def __init__(self, columns: Columns, key: int, kind: np.dtype[Any]) -> None:
        self.columns, self.key, self.kind = columns, key, kind
        weakref.finalize(self, columns.group.unused.append, key)

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""
        return self.kind

    @property
    def group(self) -> Group:
        """The ranks that hold it."""
        return self.columns.group

    def __len__(self) -> int:
        return self.columns.n_vertices

    def take(self, ids: np.ndarray) -> np.ndarray:
        """See Column.take."""
        return self.group.gathered(verbs.gather_values, ids, self.kind, self.key)

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column.part; a copy."""
        stop = min(stop, len(self))
        args = {rank: (self.key, max(start, low), min(stop, high)) for rank, (low, high) in self._overlaps(start, stop)}
        return np.concatenate([np.empty(0, self.kind), *self.group.some(verbs.part_values, args)])

    def set_part(self, start: int, values: np.ndarray) -> None:
        """Overwrite the values from `start` on with values of this dtype."""
        stop = start + len(values)
        self.group.some(verbs.set_values, {
            rank: (self.key, max(start, low), values[max(start, low) - start : min(stop, high) - start])
            for rank, (low, high) in self._overlaps(start, stop)})

    def _overlaps(self, start: int, stop: int) -> list[tuple[int, tuple[int, int]]]:
        bounds = self.group.ranges.tolist()
        return [(rank, pair) for rank, pair in enumerate(itertools.pairwise(bounds))
                if max(start, pair[0]) < min(stop, pair[1])]

    def copy_from(self, other: Column) -> None:
        """See Column.copy_from. `other` may be in RAM."""
        if isinstance(other, WorkerColumn):
            self.group.everyone(verbs.ask_column, self.key, "copy_from", Ref(other.key))
            return
        for start in range(0, len(self), _PIECE):
            self.set_part(start, fitted(other.part(start, start + _PIECE), self.kind))

    def clear(self) -> None:
        """See Column.clear."""
        self.group.everyone(verbs.ask_column, self.key, "clear")

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column.select."""
        found: np.ndarray = np.concatenate(
            self.group.everyone(verbs.select_vertices, self.key, predicate, value, most))
        return found[:most]

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None,
        labels: Any = None, label: int = 0,
    ) -> int:
        """See Column.first. labels : WorkerLabels of components (of length 0: none)."""
        found = self.group.everyone(verbs.first_vertex, self.key, list(wanted), start,
                                    len(self) if stop is None else stop,
                                    labels.key if labels is not None and len(labels) else None, label)
        return next((vertex for vertex in found if vertex >= 0), -1)

    def count(self, value: int) -> int:
        """See Column.count."""
        return sum(self.group.everyone(verbs.ask_column, self.key, "count", value))

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """See Column.put."""
        wanted = np.asarray(ids, np.int64)
        owners = self.group.owners(wanted)
        self.group.some(verbs.put_value, {
            int(rank): (self.key, wanted[owners == rank], value) for rank in np.unique(owners)})

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """See Column.recode. within : a bitmap in RAM, or what the engine's `reached` gives."""
        if within is None:
            return sum(self.group.everyone(verbs.ask_column, self.key, "recode", list(old), new))
        if not isinstance(within, np.ndarray):
            return sum(self.group.everyone(verbs.recode_reached, self.key, list(old), new))
        words = (self.group.ranges + 63) >> 6
        return sum(self.group.some(verbs.recode_within, {
            rank: (self.key, list(old), new, within[words[rank] : words[rank + 1]])
            for rank in range(self.group.size)}))

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column.recode_where_reached; `other` is on the workers too."""
        return sum(self.group.everyone(verbs.ask_column, self.key, "recode_where_reached", ref(other), list(old), new))

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column.argbest."""
        found = [pair for pair in self.group.everyone(
            verbs.best_vertex, self.key, largest, start, len(self) if stop is None else stop) if pair[0] >= 0]
        sign = -1 if largest else 1
        return min(found, key=lambda pair: (sign * pair[1], pair[0]), default=(-1, -1))[0]

    def raw(self) -> np.ndarray:
        """A copy in RAM of the client, which cannot be written to: changes of it would be lost."""
        values = self.part(0, len(self))
        values.flags.writeable = False
        return values

    # -- folds ----------------------------------------------------------------------------------
    def _fold(self, name: str, start: int, stop: int, *args: Any) -> list[Any]:
        """What a method gives on each range that has some of start..stop-1."""
        parts = self.group.everyone(verbs.fold_column, name, self.key, start, stop, *args)
        return [part for part in parts if part is not None]

    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column.open_vertices."""
        for ids in self.group.everyone(verbs.open_ids, self.key, start, stop):
            if len(ids):
                yield ids

    def open_bitmap(self) -> np.ndarray:
        """See Column.open_bitmap."""
        parts = self.group.everyone(verbs.ask_column, self.key, "open_bitmap")
        return np.concatenate([np.empty(0, np.uint64), *parts])

    def open_at(self, reached: Column, value: int, start: int, stop: int) -> None:
        """See Column.open_at."""
        self._fold("open_at", start, stop, ref(reached), value)

    def close(self, start: int, stop: int) -> None:
        """See Column.close."""
        self._fold("close", start, stop)

    def tighten_upper(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_upper."""
        self._fold("tighten_upper", start, stop, ref(distances), eccentricity)

    def tighten_lower(self, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """See Column.tighten_lower."""
        self._fold("tighten_lower", start, stop, ref(distances), eccentricity)

    def largest(self, start: int, stop: int) -> int:
        """See Column.largest."""
        return max(self._fold("largest", start, stop), default=-1)

    def close_at_most(self, bound: int, start: int, stop: int) -> None:
        """See Column.close_at_most."""
        self._fold("close_at_most", start, stop, bound)

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column.close_known."""
        return sum(self._fold("close_known", start, stop, ref(lower), bound, widest))

    def contenders(
        self, values: Column | None, count: int, smallest: bool, start: int, stop: int
    ) -> Iterator[np.ndarray]:
        """At most `count` of each range, by the whole rule of `ranked`."""
        key = None if values is None else ref(values).key
        for ids in self.group.everyone(verbs.best_open, self.key, key, count, smallest, (start, stop)):
            if len(ids):
                yield ids


def ref(column: Column) -> Ref:
    """How verbs name a column of workers. Raises TypeError for one in RAM."""
    if not isinstance(column, WorkerColumn):
        raise TypeError("this column is in RAM of the client; columns of one engine live in one place")
    return Ref(column.key)


class WorkerBounds(PivotBounds):
    """As PivotBounds; lower, upper and far are columns on workers, and distances must be one (else TypeError).

    columns : of the run. largest : eccentricity that there may be, to which upper bounds are cut."""

    def __init__(self, columns: Columns, largest: int) -> None:
        self._group, self._most = columns.group, largest
        dtype = smallest_dtype(largest)
        top = int(np.iinfo(dtype).max)
        self.lower, self.upper, self.far = (columns.make(dtype, top) for _ in range(3))

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        keys = [ref(column).key for column in (distances, self.lower, self.upper, self.far)]
        about = np.array([source, eccentricity, limit, self._most])
        return merged(np.concatenate(self._group.everyone(verbs.fold_part, keys, about)))

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        found: np.ndarray = np.concatenate(
            self._group.everyone(verbs.unsettled_of, ref(self.upper).key, limit))
        return found
