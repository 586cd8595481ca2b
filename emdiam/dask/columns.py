"""Columns on workers, each with its own range: the verbs of traverse.columns.Column for the client."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..traverse.columns import Column, smallest_dtype
from ..traverse.pivot_bounds import Folded, PivotBounds, merged
from ..traverse.ram_column import fitted
from . import column_verbs as verbs
from .column_verbs import Ref, Values
from .rank_group import RankGroup

_PIECE = 1 << 20


class Columns:
    """The keys of the columns of a run."""

    def __init__(self, group: RankGroup, n_vertices: int) -> None:
        self.group, self.n_vertices = group, n_vertices
        self._keys = itertools.count()

    def new_key(self) -> int:
        """A key for a column that a verb will create."""
        return next(self._keys)

    def adopt(self, key: int, dtype: DTypeLike) -> WorkerColumn:
        """The column that a verb has created with `key`."""
        return WorkerColumn(self, key, np.dtype(dtype))

    def make(self, dtype: DTypeLike, value: int) -> WorkerColumn:
        """A column filled with `value`."""
        key = self.new_key()
        self.group.everyone(verbs.new_column, key, np.dtype(dtype).name, value)
        return self.adopt(key, dtype)


def _by_ranges(method: str) -> Callable[..., None]:
    """A method of WorkerColumn that calls the method of Column on every range; columns among its arguments are on
    workers. A method on vertices `start` to `stop` has them as its last two arguments."""
    def ask(self: WorkerColumn, *args: Any) -> None:
        """See Column."""
        args, span = (args, None) if method == "clear" else (args[:-2], args[-2:])
        self._ask(method, *(ref(arg) if isinstance(arg, Column) else arg for arg in args), span=span)

    return ask


class WorkerColumn(Column):
    """A column on workers. group : the ranks. key : its name on the ranks. kind : dtype of the values."""

    piece = 1 << 18

    def __init__(self, columns: Columns, key: int, kind: np.dtype[Any]) -> None:
        self.group, self.n_vertices, self.key, self.kind = columns.group, columns.n_vertices, key, kind
        weakref.finalize(self, columns.group.unused.append, key)

    @property
    def dtype(self) -> np.dtype[Any]:
        """dtype of the values."""
        return self.kind

    def __len__(self) -> int:
        return self.n_vertices

    def take(self, ids: np.ndarray) -> np.ndarray:
        """See Column.take."""
        return self.group.gathered(verbs.get_values, ids, self.kind, self.key)

    def part(self, start: int, stop: int) -> np.ndarray:
        """See Column.part; a copy."""
        args = {rank: (self.key, span) for rank, span in self._spans(start, min(stop, len(self)))}
        return np.concatenate([np.empty(0, self.kind), *self.group.some(verbs.get_values, args)])

    def set_part(self, start: int, values: np.ndarray) -> None:
        """Overwrite the values from `start` on with values of this dtype."""
        self.group.some(verbs.set_values, {
            rank: (self.key, span, values[span.start - start : span.stop - start])
            for rank, span in self._spans(start, start + len(values))})

    def _spans(self, start: int, stop: int) -> Iterator[tuple[int, slice]]:
        """The ranks with some of the vertices start..stop-1, and their parts of them."""
        cuts = np.clip(self.group.ranges, start, max(start, stop)).tolist()
        for rank, (low, high) in enumerate(itertools.pairwise(cuts)):
            if low < high:
                yield rank, slice(low, high)

    def copy_from(self, other: Column) -> None:
        """See Column.copy_from. `other` may be in RAM."""
        if isinstance(other, WorkerColumn):
            self._ask("copy_from", Ref(other.key))
            return
        for start in range(0, len(self), _PIECE):
            self.set_part(start, fitted(other.part(start, start + _PIECE), self.kind))

    def _ask(self, method: str, *args: Any, span: verbs.Span | None = None, **named: Any) -> list[Any]:
        """The results of a method of Column on each range; with a span, None for ranges without a part of it."""
        return self.group.everyone(verbs.ask_column, self.key, method, args, named, span)

    def _fold(self, method: str, *args: Any, span: tuple[int, int]) -> list[Any]:
        """The results of a method on each range with a part of the span."""
        return [value for value in self._ask(method, *args, span=span) if value is not None]

    def _vertices(self, parts: list[np.ndarray | None]) -> Iterator[np.ndarray]:
        """Vertices of each range, counted from its first, as numbers of the whole graph."""
        for first, ids in zip(self.group.ranges.tolist(), parts, strict=False):
            if ids is not None and len(ids):
                yield ids + first

    def select(self, predicate: str, value: int, most: int | None = None) -> np.ndarray:
        """See Column.select."""
        parts = self._vertices(self._ask("select", predicate, value, most))
        return np.concatenate([np.empty(0, np.int64), *parts])[:most]

    def first(
        self, wanted: Sequence[int], start: int = 0, stop: int | None = None, labels: Any = None, label: int = 0
    ) -> int:
        """See Column.first. labels : of components, a WorkerColumn (of length 0: none)."""
        some = self._ask("first", list(wanted), span=(start, len(self) if stop is None else stop), label=label,
                         labels=Values(labels.key) if labels is not None and len(labels) else None)
        return next((first + at for first, at in zip(self.group.ranges.tolist(), some, strict=False)
                     if at is not None and at >= 0), -1)

    def count(self, value: int) -> int:
        """See Column.count."""
        return sum(self._ask("count", value))

    def put(self, ids: np.ndarray | Sequence[int], value: int) -> None:
        """See Column.put."""
        wanted = np.asarray(ids, np.int64)
        self.group.some(verbs.set_values, {
            rank: (self.key, wanted[at], value) for rank, at in self.group.by_owner(wanted).items()})

    def recode(self, old: Sequence[int], new: int, within: Any = None) -> int:
        """See Column.recode. within : a bitmap in RAM, or the engine's `reached`."""
        if not isinstance(within, np.ndarray):
            return sum(self._ask("recode", list(old), new, within))
        return sum(self.group.some(verbs.ask_column, {
            rank: (self.key, "recode", (list(old), new, words))
            for rank, words in enumerate(self.group.split_words(within))}))

    def recode_where_reached(self, other: Column, old: Sequence[int], new: int) -> int:
        """See Column.recode_where_reached; `other` is on the workers too."""
        return sum(self._ask("recode_where_reached", ref(other), list(old), new))

    def argbest(self, largest: bool = True, start: int = 0, stop: int | None = None) -> int:
        """See Column.argbest."""
        pairs = self.group.everyone(verbs.best_vertex, self.key, largest, (start, len(self) if stop is None else stop))
        sign = -1 if largest else 1
        return min((pair for pair in pairs if pair[0] >= 0), key=lambda pair: (sign * pair[1], pair[0]),
                   default=(-1, -1))[0]

    def __getitem__(self, wanted: slice | np.ndarray) -> np.ndarray:
        """A copy of the values of vertices: by ids, or a slice."""
        if not isinstance(wanted, slice):
            return self.take(np.asarray(wanted, np.int64))
        start, stop, step = wanted.indices(len(self))
        if step != 1:
            raise ValueError("values of columns on workers are given for consecutive vertices")
        return self.part(start, stop)

    def raw(self) -> np.ndarray:
        """A read-only copy in RAM of the client: changes of a copy would be lost."""
        values = self.part(0, len(self))
        values.flags.writeable = False
        return values

    # -- folds and other verbs that each range does by itself -----------------------------------
    clear, open_at, close, close_at_most = map(_by_ranges, ("clear", "open_at", "close", "close_at_most"))
    tighten_upper, tighten_lower = map(_by_ranges, ("tighten_upper", "tighten_lower"))

    def open_vertices(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """See Column.open_vertices."""
        return self._vertices(self._ask("open_list", span=(start, stop)))

    def open_bitmap(self) -> np.ndarray:
        """See Column.open_bitmap."""
        return np.concatenate([np.empty(0, np.uint64), *self._ask("open_bitmap")])

    def largest(self, start: int, stop: int) -> int:
        """See Column.largest."""
        return max(self._fold("largest", span=(start, stop)), default=-1)

    def close_known(self, lower: Column, bound: int, widest: int, start: int, stop: int) -> int:
        """See Column.close_known."""
        return sum(self._fold("close_known", ref(lower), bound, widest, span=(start, stop)))

    def contenders(
        self, values: Column | None, count: int, smallest: bool, start: int, stop: int
    ) -> Iterator[np.ndarray]:
        """At most `count` vertices of each range, by the rule of `ranked`."""
        key = None if values is None else ref(values).key
        for ids in self.group.everyone(verbs.best_open, self.key, key, count, smallest, (start, stop)):
            if len(ids):
                yield ids


def ref(column: Column) -> Ref:
    """The reference of verbs to a column on workers. Raises TypeError for a column in RAM."""
    if not isinstance(column, WorkerColumn):
        raise TypeError("this column is in RAM of the client; columns of one engine live in one place")
    return Ref(column.key)


class WorkerBounds(PivotBounds):
    """As PivotBounds, with lower, upper and far on workers; distances must be on workers too (else TypeError).

    columns : of the run. largest : the largest possible eccentricity, the initial upper bound."""

    def __init__(self, columns: Columns, largest: int) -> None:
        self._group, self._largest = columns.group, largest
        dtype = smallest_dtype(largest)
        self.lower, self.upper, self.far = (columns.make(dtype, int(np.iinfo(dtype).max)) for _ in range(3))

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        keys = [ref(column).key for column in (distances, self.lower, self.upper, self.far)]
        about = np.array([source, eccentricity, limit, self._largest])
        return merged(np.concatenate(self._group.everyone(verbs.fold_bounds, keys, about)))

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        return np.concatenate(self._group.everyone(verbs.unsettled_of, ref(self.upper).key, limit))
