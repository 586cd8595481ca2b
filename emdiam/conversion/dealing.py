"""Renumbering of rows by distribution: rows get new numbers, are dealt to ranges of these, and are put in order range
by range.

A store has the whole row of every vertex, so nothing must be sorted except within rows. One pass over the old store
renumbers the ends of all arcs and copies every row to its range. The rows of a number of chunks that fit in RAM form a
hand, in which the ranges are stored side by side. If one hand is not the whole graph, every full hand goes to a scratch
file. Then each range is collected from all hands, its rows placed by counting, and their neighbours sorted. I/O:
`indptr` three times, `indices` (and weights) once; with more than one hand, all rows are written and read once. RAM:
DealPlan.

A range of new numbers has so few arcs that its rows are put in order in memory. Ranges are cut by the degrees of rows
under their new numbers: these are counted in bins of equal width, and if a single bin has too many arcs, separately for
each number in it. Passes: one over `indptr`, a second if such bins exist. RAM: 8 bytes per bin, at most 2^16 of them,
and 8 bytes for each number in a bin that has too many arcs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from ..checkpoint.records import State
from ..compression import crc32c
from ..sorting.plan import SortPlan
from ..sorting.scratch import ScratchFile
from ..sorting.sort import SortContext, in_order
from ..store.arc_runs import RUN_ARCS, ArcRun, arc_runs, run_chunks
from ..store.store import Store
from .renumbering import (
    SHORT,
    count_degrees,
    count_in_bins,
    count_numbers,
    count_rows,
    deal_rows,
    place_rows,
    sort_short_rows,
)


@dataclass(frozen=True)
class DealPlan:
    """hand_bytes : rows in RAM at a time. range_bytes : of a range that is put in order besides. run_chunks : of a run
    of the old store. n_ranges : number of ranges in progress at a time."""

    hand_bytes: int
    range_bytes: int
    run_chunks: int
    n_ranges: int


def deal_plan(store: Store, plan: SortPlan, threads: int) -> DealPlan:
    """Divide the sorting memory of a plan."""
    work = work_bytes(plan)
    hand = work * 3 // 4
    run = run_chunks(store, min(RUN_ARCS, hand // (2 * arc_bytes(store))))
    return DealPlan(hand, work // 4 // (threads + 1), run, threads + 1)


def work_bytes(plan: SortPlan) -> int:
    """The sorting memory of a plan, which is twice its sort buffers."""
    return 2 * 8 * plan.run_keys * plan.n_buffers


def arc_bytes(store: Store) -> int:
    """Bytes of a neighbour and its weight."""
    return store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize)


def head_bytes(store: Store) -> int:
    """Bytes of a row's head: its number, and its number of arcs."""
    return 2 * store.id_dtype.itemsize


def dealt_bytes(store: Store) -> int:
    """Bytes of all dealt rows."""
    return store.n_arcs * arc_bytes(store) + (store.n_vertices - store.record.n_isolated) * head_bytes(store)


def least_work_bytes(store: Store) -> int:
    """The least value of work_bytes: the longest row is put in order at once, and the number of ranges, and the size of
    their parts in scratch files, must stay practical."""
    longest = 4 * (2 * arc_bytes(store)) * store.record.max_degree
    return max(longest, int(24 * dealt_bytes(store) ** (2 / 3)))


_MOST_BIN_BITS = 16
# Ranges are made larger if there would be more.
MOST_RANGES = 1 << 12


@dataclass(frozen=True)
class NumberRanges:
    """bounds : int64[B + 1], range k has the numbers bounds[k] to bounds[k + 1] - 1. first : int32[bins], the range of
    the first number of each bin of 2^shift numbers. arcs : int64[B], of the rows of each range."""

    bounds: np.ndarray
    first: np.ndarray
    shift: int
    arcs: np.ndarray

    def __len__(self) -> int:
        return len(self.arcs)

    @property
    def lookup(self) -> tuple[np.ndarray, np.ndarray, int]:
        """The arrays for kernels."""
        return self.bounds, self.first, self.shift


def ranges_of(store: Store, new_of: np.ndarray, most_arcs: int) -> NumberRanges:
    """Ranges with at most `most_arcs` arcs and numbers each, except a range with a single longer row, and unless there
    would be more than MOST_RANGES. new_of : id_dtype[n], the new number of every vertex. Raises StoreError."""
    n = store.n_vertices
    most_arcs = max(most_arcs, 2 * (store.n_arcs + n) // MOST_RANGES, 1)
    shift = max(0, (n - 1).bit_length() - _MOST_BIN_BITS)
    bins = np.zeros((n + (1 << shift) - 1) >> shift, np.int64)
    _each_run(store, lambda run: count_in_bins(run.rows, run.starts, new_of, shift, bins))
    starts, arcs = np.arange(len(bins)) << shift, bins
    over = np.flatnonzero(bins > most_arcs)
    if shift and len(over):
        inside = np.zeros((len(over), 1 << shift), np.int64)
        place = np.full(len(bins), -1, np.int32)
        place[over] = np.arange(len(over))
        _each_run(store, lambda run: count_numbers(run.rows, run.starts, new_of, shift, place, inside))
        numbers = ((over << shift)[:, None] + np.arange(1 << shift)).reshape(-1)
        kept = np.flatnonzero(place < 0)
        starts, arcs = np.concatenate((starts[kept], numbers)), np.concatenate((bins[kept], inside.reshape(-1)))
        order = np.argsort(starts)[: np.count_nonzero(starts < n)]
        starts, arcs = starts[order], arcs[order]
    cuts = np.array(list(_cuts(starts, arcs, most_arcs)), np.int64)
    bounds = np.append(starts[cuts], n)
    first = np.searchsorted(bounds, np.arange(len(bins)) << shift, side="right") - 1
    of_range = np.add.reduceat(arcs, cuts) if len(cuts) else arcs
    return NumberRanges(bounds, first.astype(np.int32), shift, of_range)


def _each_run(store: Store, count: Callable[[ArcRun], None]) -> None:
    """Call `count` for runs of all rows, without reading neighbours."""
    for run in arc_runs(store, run_chunks(store)):
        count(run)


def _cuts(starts: np.ndarray, arcs: np.ndarray, most: int) -> Iterator[int]:
    """The first positions of ranges. starts, arcs : int64[k], of bins or single numbers, ascending."""
    ends, at = np.cumsum(arcs), 0
    while at < len(starts):
        yield at
        before = int(ends[at - 1]) if at else 0
        stop = min(np.searchsorted(ends, before + most, side="right"), np.searchsorted(starts, starts[at] + most))
        at = max(at + 1, int(stop))


_USUAL_ARCS = 1 << 20
# For each number of a range being ordered: its row's start, its degree, and the next free place in it.
_NUMBER_BYTES = 24


@dataclass(frozen=True)
class _Layout:
    """The positions of the ranges in a hand. places : int64[2, B + 1], the first arc and the first head of each range,
    and the ends. end : the chunk after the last one."""

    places: np.ndarray
    end: int


class _Hand:
    """Rows in RAM. heads : id_dtype[r, 2], (number, arcs) of each row; ids, weights : of their arcs."""

    def __init__(self, layout: _Layout, dtype: np.dtype[Any], weights: np.dtype[Any] | None) -> None:
        self.layout, n_arcs, n_heads = layout, int(layout.places[0, -1]), int(layout.places[1, -1])
        self.heads, self.ids = np.empty((n_heads, 2), dtype), np.empty(n_arcs, dtype)
        self.weights = _weights_of(n_arcs, weights)
        self.next = layout.places[:, :-1].copy()

    def part(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(heads, ids, weights) of range k."""
        arcs, heads = (slice(*row[k : k + 2]) for row in self.layout.places)
        return self.heads[heads], self.ids[arcs], self.weights[arcs]


@dataclass(frozen=True)
class _Laid:
    """A hand in a scratch file. begin : int64[3], offsets in bytes of heads, ids and weights. checks : uint32[3, B],
    checksums of these for each range."""

    file: ScratchFile
    places: np.ndarray
    begin: np.ndarray
    checks: np.ndarray

    @classmethod
    def of(cls, hand: _Hand, file: ScratchFile) -> _Laid:
        """Write the hand. Raises BudgetError if the disk is full."""
        begin = np.array([file.append(values) for values in (hand.heads, hand.ids, hand.weights)])
        checks = [[crc32c(values.data.cast("B")) if values.size else 0 for values in hand.part(k)]
                  for k in range(len(hand.next[0]))]
        return cls(file, hand.layout.places, begin, np.array(checks, np.uint32).reshape(-1, 3).T)

    def part(self, k: int, dtype: np.dtype[Any], weights: np.dtype[Any] | None
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See _Hand. Raises OSError if the scratch file was damaged."""
        (arc, arcs), (head, heads) = (row[k : k + 2].tolist() for row in self.places)
        there = (np.empty((heads - head, 2), dtype), np.empty(arcs - arc, dtype),
                 _weights_of(arcs - arc, weights))
        for i, (values, first) in enumerate(zip(there, (2 * head, arc, arc), strict=True)):
            if values.size:
                self.file.read_array(int(self.begin[i]) + first * values.itemsize, values)
                if crc32c(values.data.cast("B")) != self.checks[i, k]:
                    raise OSError("a part of the scratch file came back with a wrong checksum: the disk is faulty")
        return there


@dataclass(frozen=True)
class PlacedRows:
    """Rows of consecutive numbers. degrees : int64[k]. ids : id_dtype, their neighbours, ascending in each row. weights
    : of the neighbours; None without weights. end : the number after the last."""

    degrees: np.ndarray
    ids: np.ndarray
    weights: np.ndarray | None
    end: int


class Dealer:
    """Takes the runs of one scan, from any threads, and returns the rows in the order of their new numbers.

    new_of : id_dtype[n]. resumed : a `state`. Pass `due` and `at_rest` to Pauses, with `n_chunks`, the number of chunks
    taken before; call `finish` after the scan.
    """

    def __init__(self, store: Store, new_of: np.ndarray, context: SortContext, resumed: State | None = None) -> None:
        self._store, self._new_of, self._context = store, new_of, context
        self.plan = deal_plan(store, context.plan, context.threads)
        self._weights = None if store.weights is None else store.weights.dtype
        self._lock, self._laid = Lock(), list[_Laid]()
        self._hand: _Hand | None = None
        self.n_chunks = self._taken = 0
        self._file: ScratchFile | None = None
        if resumed is None:
            per_arc = 2 * arc_bytes(store) + _NUMBER_BYTES + head_bytes(store)
            self._ranges = ranges_of(store, new_of, min(_USUAL_ARCS, self.plan.range_bytes // per_arc))
        else:
            self._restore(resumed)
        in_ram = dealt_bytes(store) <= self.plan.hand_bytes and not context.safe.active
        self._layouts = self._all_layouts(None if in_ram else self.plan.hand_bytes)
        context.stats.partitions = max(1, len(self._ranges))

    # -- dealing ----------------------------------------------------------------------------------
    def _all_layouts(self, most_bytes: int | None) -> Iterator[_Layout]:
        """Layouts of hands of at most `most_bytes` (None: any size), or of a single larger run, from chunk n_chunks
        on."""
        bounds, first = self._ranges, self.n_chunks
        counts, size_of_part, end = np.zeros((2, len(bounds)), np.int64), 0, first
        for run in arc_runs(self._store, self.plan.run_chunks):
            if run.first < first:
                continue
            size = int(run.starts[-1]) * arc_bytes(self._store) + len(run.rows) * head_bytes(self._store)
            if size_of_part and most_bytes is not None and size_of_part + size > most_bytes:
                yield self._layout(counts, end)
                counts, size_of_part = np.zeros_like(counts), 0
            count_rows(run.rows, run.starts, self._new_of, bounds.lookup, np.empty(len(run.rows), np.int32), counts)
            size_of_part, end = size_of_part + size, run.first + run.n_chunks
        if size_of_part:
            yield self._layout(counts, end)

    def _layout(self, counts: np.ndarray, end: int) -> _Layout:
        return _Layout(np.concatenate((np.zeros((2, 1), np.int64), np.cumsum(counts, axis=1)), axis=1), end)

    def due(self) -> bool:
        """Whether the hand is full; called before every run."""
        return self._hand is None or self._taken == self._hand.layout.end

    def at_rest(self, n_chunks: int) -> None:
        """Start a new hand, after writing the full one to disk; called when no run is in progress. Raises
        BudgetError."""
        self._lay_down()
        self._hand = _Hand(next(self._layouts), self._store.id_dtype, self._weights)
        self._taken = n_chunks

    def deal(self, run: ArcRun, ids: np.ndarray, weights: np.ndarray | None) -> None:
        """Add a run; rows ascend, ids are valid vertices."""
        hand, ranges = self._hand, np.empty(len(run.rows), np.int32)
        assert hand is not None
        counts = np.zeros((2, len(self._ranges)), np.int64)
        count_rows(run.rows, run.starts, self._new_of, self._ranges.lookup, ranges, counts)
        with self._lock:
            at = hand.next.copy()
            hand.next += counts
        values = hand.weights[:0] if weights is None else weights
        deal_rows((run.rows, run.starts, ids), values, self._new_of, ranges, at, hand.heads, hand.ids, hand.weights)

    def handed_out(self, run_end: int) -> None:
        """Note that runs up to this chunk have been handed to threads."""
        self._taken = run_end

    def _lay_down(self) -> None:
        """Write the hand, unless it has all rows and may stay in RAM."""
        hand = self._hand
        if hand is None:
            return
        context, n_chunks = self._context, self._store.indices.n_chunks
        if not self._laid and not context.safe.active and hand.layout.end == n_chunks and not self.n_chunks:
            return
        if self._file is None:
            self._file = context.scratch.file()
        self._laid.append(_Laid.of(hand, self._file))
        self._hand, self.n_chunks = None, hand.layout.end
        context.stats.disk_runs += 1

    def finish(self) -> None:
        """End the dealing, after all runs."""
        self._lay_down()
        self.n_chunks = self._store.indices.n_chunks
        self._context.stats.runs = max(1, len(self._laid))

    # -- in order ---------------------------------------------------------------------------------
    def placed(self, first: int = 0) -> Generator[PlacedRows, None, None]:
        """All rows from number `first` on, the start of a range; close the generator to join its threads. Raises
        OSError."""
        ranges = self._ranges
        widest = int(ranges.arcs.max(initial=0)) * 2 * arc_bytes(self._store)
        most = max(1, min(self.plan.n_ranges, self.plan.n_ranges * self.plan.range_bytes // max(1, widest)))
        waiting = range(int(np.searchsorted(ranges.bounds, first)), len(ranges))
        return in_order(self._place, ((k,) for k in waiting), self._context.threads, most, "merge")

    def _place(self, k: int) -> PlacedRows:
        """The rows of range k; runs in a thread."""
        low, high = self._ranges.bounds[k : k + 2].tolist()
        dtype, starts = self._store.id_dtype, np.zeros(high - low + 1, np.int64)
        parts = [laid.part(k, dtype, self._weights) for laid in self._laid]
        if self._hand is not None:
            parts.append(self._hand.part(k))
        for heads, _, _ in parts:
            count_degrees(heads, low, starts)
        degrees = starts[1:].copy()
        np.cumsum(starts, out=starts)
        ids = np.empty(int(starts[-1]), dtype)
        weights = _weights_of(len(ids), self._weights)
        free = starts[:-1].copy()
        for heads, here, with_weights in parts:
            place_rows(heads, here, with_weights, low, free, ids, weights)
        if sort_short_rows(starts, ids, weights):
            for row in np.flatnonzero(degrees > SHORT).tolist():
                _sort_row(ids[starts[row] : starts[row + 1]], weights[starts[row] : starts[row + 1]])
        return PlacedRows(degrees, ids, None if self._weights is None else weights, high)

    # -- resuming ---------------------------------------------------------------------------------
    def state(self) -> State:
        """All runs up to n_chunks, as a state."""
        laid, ranges = self._laid, self._ranges
        return {
            "n_chunks": self.n_chunks, "run_chunks": self.plan.run_chunks,
            "shift": ranges.shift, "bounds": ranges.bounds, "first": ranges.first,
            "arcs": ranges.arcs, "file": None if self._file is None else self._file.name,
            "places": np.array([one.places for one in laid], np.int64),
            "begin": np.array([one.begin for one in laid], np.int64),
            "checks": np.array([one.checks for one in laid], np.uint32)}

    def _restore(self, state: State) -> None:
        self.n_chunks, self.plan = state["n_chunks"], replace(self.plan, run_chunks=state["run_chunks"])
        self._ranges = NumberRanges(state["bounds"], state["first"], state["shift"], state["arcs"])
        if state["file"] is not None:
            self._file = self._context.file(state["file"])
            self._laid = [_Laid(self._file, *part)
                          for part in zip(state["places"], state["begin"], state["checks"], strict=True)]


def _weights_of(n_arcs: int, dtype: np.dtype[Any] | None) -> np.ndarray:
    """An array for the weights of n_arcs arcs; empty without a dtype."""
    return np.empty(0, np.uint8) if dtype is None else np.empty(n_arcs, dtype)


def _sort_row(ids: np.ndarray, weights: np.ndarray) -> None:
    """Sort a row in place, together with its weights if any."""
    if not len(weights):
        ids.sort()
        return
    order = np.argsort(ids)
    ids[:], weights[:] = ids[order], weights[order]
