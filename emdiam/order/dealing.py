"""Rows under new numbers, dealt to ranges of these, and brought back range by range in order.

A store has the whole row of every vertex, so nothing has to be sorted but within rows. One pass over the old store
renumbers the ends of all arcs and copies every row to the place of its range: the ranges of as many chunks as fit in
RAM, a hand, lie there side by side. If that is not the whole graph, every hand goes to a scratch file when it is full.
Then each range is brought together from all hands, its rows placed by counting, and their neighbours sorted.
I/O: `indptr` three times, `indices` (and weights) once; where there is more than one hand, all rows are written and
read once. RAM: DealPlan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from crc32c import crc32c

from ..checkpoint.records import State
from ..sorting.scratch import ScratchFile
from ..sorting.sort import SortContext
from ..store.arc_runs import ArcRun, arc_runs
from ..store.store import Store
from .deal_plan import arc_bytes, deal_plan, dealt_bytes, head_bytes
from .ranges import Ranges, ranges_of
from .renumbering import SHORT, count_degrees, count_rows, deal_rows, place_rows, sort_short_rows

_USUAL_ARCS = 1 << 20
# Of a number of a range in order: where its row begins, its degree, and the next place in it.
_NUMBER_BYTES = 24


@dataclass(frozen=True)
class _Layout:
    """Where the ranges lie in a hand. places : int64[2, B + 1], the first arc and the first head of each, and the ends.
    end : the chunk behind the last one."""

    places: np.ndarray
    end: int


class _Hand:
    """Rows in RAM. heads : id_dtype[r, 2], (number, arcs) of each; ids, weights : of their arcs."""

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
    """A hand in a scratch file. begin : int64[3], where heads, ids and weights begin, bytes. checks : uint32[3, B], of
    those of each range."""

    file: ScratchFile
    places: np.ndarray
    begin: np.ndarray
    checks: np.ndarray

    @classmethod
    def of(cls, hand: _Hand, file: ScratchFile) -> _Laid:
        """Write it. Raises BudgetError where the disk is full."""
        begin = np.array([file.append(values) for values in (hand.heads, hand.ids, hand.weights)])
        checks = [[crc32c(values.data.cast("B")) if values.size else 0 for values in hand.part(k)]
                  for k in range(len(hand.next[0]))]
        return cls(file, hand.layout.places, begin, np.array(checks, np.uint32).reshape(-1, 3).T)

    def part(self, k: int, dtype: np.dtype[Any], weights: np.dtype[Any] | None
             ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As _Hand. Raises OSError if the scratch file was damaged."""
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
    """Rows of consecutive numbers. degrees : int64[k]. ids : id_dtype, their neighbours, ascending in each row.
    weights : of these; None in a store without. end : the number behind the last."""

    degrees: np.ndarray
    ids: np.ndarray
    weights: np.ndarray | None
    end: int


class Dealer:
    """Takes the runs of one scan, from any threads, and gives the rows back in the order of their new numbers.

    new_of : id_dtype[n]. resumed : what `state` was. `due` and `at_rest` go into Pauses, with `n_chunks`, those that
    were taken before; `finish` comes behind the scan.
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
        """Those of hands of at most so many bytes (None: of any), but for one of a single run, from chunk n_chunks
        on."""
        bounds, first = self._ranges, self.n_chunks
        counts, held, end = np.zeros((2, len(bounds)), np.int64), 0, first
        for run in arc_runs(self._store, self.plan.run_chunks):
            if run.first < first:
                continue
            size = int(run.starts[-1]) * arc_bytes(self._store) + len(run.rows) * head_bytes(self._store)
            if held and most_bytes is not None and held + size > most_bytes:
                yield self._layout(counts, end)
                counts, held = np.zeros_like(counts), 0
            count_rows(run.rows, run.starts, self._new_of, bounds.lookup, np.empty(len(run.rows), np.int32), counts)
            held, end = held + size, run.first + run.count
        if held:
            yield self._layout(counts, end)

    def _layout(self, counts: np.ndarray, end: int) -> _Layout:
        return _Layout(np.concatenate((np.zeros((2, 1), np.int64), np.cumsum(counts, axis=1)), axis=1), end)

    def due(self) -> bool:
        """Whether the hand is full, asked before every run."""
        return self._hand is None or self._taken == self._hand.layout.end

    def at_rest(self, n_chunks: int) -> None:
        """No run is under way: take a new hand, after the full one is on disk. Raises BudgetError."""
        self._lay_down()
        self._hand = _Hand(next(self._layouts), self._store.id_dtype, self._weights)
        self._taken = n_chunks

    def deal(self, run: ArcRun, ids: np.ndarray, weights: np.ndarray | None) -> None:
        """Take a run; rows ascend, ids are vertices."""
        hand, ranges = self._hand, np.empty(len(run.rows), np.int32)
        assert hand is not None
        counts = np.zeros((2, len(self._ranges)), np.int64)
        count_rows(run.rows, run.starts, self._new_of, self._ranges.lookup, ranges, counts)
        with self._lock:
            at = hand.next.copy()
            hand.next += counts
        given = hand.weights[:0] if weights is None else weights
        deal_rows((run.rows, run.starts, ids), given, self._new_of, ranges, at, hand.heads, hand.ids, hand.weights)

    def handed_out(self, run_end: int) -> None:
        """Runs up to this chunk have been handed to threads."""
        self._taken = run_end

    def _lay_down(self) -> None:
        """Write the hand, unless it has all rows and may stay."""
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
        """All runs were taken."""
        self._lay_down()
        self.n_chunks = self._store.indices.n_chunks
        self._context.stats.runs = max(1, len(self._laid))

    # -- in order ---------------------------------------------------------------------------------
    def placed(self, first: int = 0) -> Generator[PlacedRows, None, None]:
        """All rows from number `first` on, at which a range begins; close it to have its threads joined. Raises
        OSError."""
        ranges, flight = self._ranges, deque[Future[PlacedRows]]()
        widest = int(ranges.arcs.max(initial=0)) * 2 * arc_bytes(self._store)
        most = max(1, min(self.plan.n_ranges, self.plan.n_ranges * self.plan.range_bytes // max(1, widest)))
        left = iter(range(int(np.searchsorted(ranges.bounds, first)), len(ranges)))
        with ThreadPoolExecutor(self._context.threads, thread_name_prefix="merge") as pool:
            try:
                for k in left:
                    flight.append(pool.submit(self._place, k))
                    if len(flight) >= most:
                        yield flight.popleft().result()
                while flight:
                    yield flight.popleft().result()
            finally:
                for job in flight:
                    job.cancel()

    def _place(self, k: int) -> PlacedRows:
        """In a thread: the rows of range k."""
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

    # -- going on ---------------------------------------------------------------------------------
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
        self._ranges = Ranges(state["bounds"], state["first"], state["shift"], state["arcs"])
        if state["file"] is not None:
            self._file = self._context.file(state["file"])
            self._laid = [_Laid(self._file, *part)
                          for part in zip(state["places"], state["begin"], state["checks"], strict=True)]


def _weights_of(n_arcs: int, dtype: np.dtype[Any] | None) -> np.ndarray:
    """Room for the weights of so many arcs, none without a dtype."""
    return np.empty(0, np.uint8) if dtype is None else np.empty(n_arcs, dtype)


def _sort_row(ids: np.ndarray, weights: np.ndarray) -> None:
    """Sort a row in place, and its weights with it if there are any."""
    if not len(weights):
        ids.sort()
        return
    order = np.argsort(ids)
    ids[:], weights[:] = ids[order], weights[order]
