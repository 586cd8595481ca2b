"""Bit-parallel multi-source BFS: the eccentricities of many sources in one set of passes.

Definition: bit b of a vertex at level k is set when d(source b, vertex) <= k; an eccentricity is
the last level at which its bit reached a new vertex. Levels are sparse (queue) or dense (push or
pull, whichever reads fewer arcs), as in single-source BFS. Work: a level reads an arc at most once
for all sources together. I/O: a level reads a block at most once, whatever the number of sources.
Bytes a vertex: 3 b / 8 for a batch of b bits, and 0.5 for marks.
Source: Then et al., PVLDB 2014 (MS-BFS); stopping at targets: Korf 2021, here for a batch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..distinct import distinct
from ..progress import Tick, no_tick
from ..stream.offsets import row_starts
from .columns import Column
from .core import Core
from .multi_dense import (
    ACTIVE,
    DENSE_ARCS,
    FLIP,
    FRESH,
    FULL,
    ITEM_BYTES,
    MARKS,
    REMAINING,
    STALE,
    STATE,
    STOP_ARCS,
    clear_rows,
    end_level,
    open_arcs,
    pull,
    push,
    reach,
    settle_rows,
    sparse_multi,
)
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    HEAD,
    LEVEL,
    MET,
    MISSED,
    MISSING,
    NEXT,
    NEXT_ARCS,
    list_bits,
    pairs_to_meet,
    set_bits,
)

NARROW_BITS, WORD_BITS, MOST_BITS = 8, 64, 512
# A pushed arc reads and writes two random places, a pulled arc reads one.
PUSH_COST = 2
_NO_BITS = np.empty(0, np.uint64)


def words_for(k: int) -> tuple[type, int]:
    """(dtype of a word, words a vertex) for k sources: 8 bits or a multiple of 64."""
    return (np.uint8, 1) if k <= NARROW_BITS else (np.uint64, -(-k // WORD_BITS))


def batch_bytes(n_vertices: int, bits: int) -> int:
    """Bytes of the state of a batch of `bits` bits."""
    return 3 * (n_vertices + 1) * bits // 8 + MARKS * ((n_vertices + 63) // 64) * 8


def batch_for(n_vertices: int, room: int) -> int:
    """Number of sources of a batch whose state fits in `room` bytes: a multiple of 64, at most MOST_BITS; NARROW_BITS
    if not even 64 fit."""
    whole = [bits for bits in range(WORD_BITS, MOST_BITS + 1, WORD_BITS) if batch_bytes(n_vertices, bits) <= room]
    return max(whole, default=NARROW_BITS)


def checked_sources(core: Core, sources: np.ndarray, most: int) -> np.ndarray:
    """The sources of a batch of at most `most`, int64[k]. Raises ValueError if there are more, or none, or if one is
    not a vertex."""
    n, k = core.table.n_vertices, len(sources)
    if not 0 < k <= most:
        raise ValueError(f"{k} sources in a batch (1 to {most})")
    if int(sources.min()) < 0 or int(sources.max()) >= n:
        raise ValueError(f"a source is no vertex (0 to {n - 1})")
    return np.asarray(sources, np.int64)


def spanning_rows(core: Core) -> np.ndarray:
    """Vertices whose row begins in one block and continues in the next, int64[k]."""
    table = core.table
    firsts = np.ascontiguousarray(table.first_vertex[1:-1])
    starts = np.empty(len(firsts), np.int64)
    row_starts(*core.offsets, firsts, starts)
    return distinct(firsts[starts < np.arange(1, len(firsts) + 1) << table.shift])


class MultiRun:
    """A multi-source BFS in slices: call `step` until it returns True, then `result`.

    Parameters
    ----------
    core : the engine's core. sources : at most MOST_BITS vertices (repeats allowed). targets :
    bitmap uint64[ceil(n/64)]: stop when every source has reached all of them. columns : one Column per
    source, all of one dtype and unreached, for the distances.
    Raises OverflowError (from step) when a distance does not fit the columns.
    """

    def __init__(
        self, core: Core, sources: np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> None:
        self._core, self._sources = core, checked_sources(core, sources, MOST_BITS)
        n, k = core.table.n_vertices, len(sources)
        dtype, w = words_for(k)
        self._words: np.ndarray = np.zeros((3, n + 1, w), dtype)
        self._marks = np.zeros((MARKS, (n + 63) // 64), np.uint64)
        self._marks[FULL] = core.reverse.table.isolated  # vertices that no arc leads to
        self._state = np.zeros(STATE, np.int64)
        self._state[FLIP] = 1
        self._state[DENSE_ARCS] = core.dense_arcs_of_batch
        self._sinks = np.zeros((2, k), np.int64)
        self._targets = _NO_BITS if targets is None else targets
        self._columns = columns
        self._complete: bool | None = None
        self._dense, self._arcs = False, 0
        self._spanning = spanning_rows(core.reverse)
        self._seed()

    def _seed(self) -> None:
        words, state, work = self._words, self._state, self._core.work
        bits = words.itemsize * 8
        place = np.arange(len(self._sources))
        value = (np.uint64(1) << (place % bits).astype(np.uint64)).astype(words.dtype)
        for plane in (0, 1):
            np.bitwise_or.at(words[plane], (self._sources, place // bits), value)
        np.bitwise_or.at(words[0, -1], place // bits, value)
        if len(self._targets):
            state[REMAINING] = pairs_to_meet(self._targets, self._sources)
        if self._columns is not None:
            self._open_columns(self._columns)
        queue = distinct(self._sources)
        full = queue[(words[0, queue] == words[0, -1]).all(axis=1)]
        set_bits(self._marks[FULL], full, len(full))
        work.queues[0, : len(queue)] = queue
        state[COUNT] = len(queue)
        if len(self._targets) and state[REMAINING] <= 0:
            self._complete = False

    def _open_columns(self, columns: Sequence[Column]) -> None:
        if len(columns) != len(self._sources) or len({c.dtype for c in columns}) != 1:
            raise ValueError("one column per source, all of one dtype, is needed")
        self._state[ITEM_BYTES] = columns[0].dtype.itemsize
        for i, (column, source) in enumerate(zip(columns, self._sources.tolist(), strict=True)):
            column.put([source], 0)
            self._sinks[1, i] = column.raw().ctypes.data

    @property
    def level(self) -> int:
        """Largest distance reached so far."""
        return int(self._state[LEVEL])

    def step(self, tick: Tick = no_tick) -> bool:
        """Run one dense level or one slice of sparse levels; True when finished."""
        if self._complete is None:
            if self._dense:
                self._dense_step(tick)
            else:
                self._sparse_step()
            if self._columns is not None and self.level >= self._columns[0].unreached:
                raise OverflowError(f"distance {self.level} does not fit a column of {self._columns[0].dtype}")
        return self._complete is not None

    # -- sparse ---------------------------------------------------------------------------------
    def _sparse_step(self) -> None:
        core, work, state = self._core, self._core.work, self._state
        arcs, level = int(state[ARCS]), self.level
        state[STOP_ARCS] = arcs + self._slice_arcs()
        begin = time.thread_time()
        reason = sparse_multi(core.paging, core.offsets, self._words, self._marks, work.queues, work.missed, state,
                              self._sinks, self._targets)
        core.counters.add(levels=self.level - level + (reason == DONE), edges_scanned=int(state[ARCS]) - arcs,
                          kernel_cpu_seconds=time.thread_time() - begin)
        if reason == DONE:
            self._complete = True
        elif reason == MET:
            self._complete = False
        elif reason == DENSE or (reason == MISSING and not self._load()):
            self._to_dense()

    def _slice_arcs(self) -> int:
        return self._core.slice_arcs // self._words.shape[2]

    def _load(self) -> bool:
        return self._core.load_missed(int(self._state[MISSED]))

    def _to_dense(self) -> None:
        """Do this level again from its start as a dense one: bitmaps from queues."""
        work, state, marks = self._core.work, self._state, self._marks
        current, count, found = int(state[CURRENT]), int(state[COUNT]), int(state[NEXT])
        marks[ACTIVE] = 0
        marks[STALE] = 0
        set_bits(marks[ACTIVE], work.queues[current], count)
        set_bits(marks[STALE], work.queues[1 - current], found)
        self._arcs = self._core.sum_degrees(work.queues[current, :count])
        state[HEAD] = state[NEXT] = state[MISSED] = state[NEXT_ARCS] = 0
        self._dense = True

    # -- dense ----------------------------------------------------------------------------------
    def _dense_step(self, tick: Tick) -> None:
        core, state, marks = self._core, self._state, self._marks
        up = self._pull_is_cheaper()
        there = 3 - int(state[FLIP])
        self._clear(marks[STALE], marks[FULL] if up else _NO_BITS, there)
        marks[FRESH] = 0
        if up:
            self._words[there, self._spanning] = 0
        self._sweep(up, tick)
        if up:
            settle_rows(self._spanning, self._words, marks, state)
        vertices, arcs, met = self._end_level(not up)
        state[REMAINING] -= met
        reach(self._words, there, self.level + 1, self._sinks)
        marks[STALE] = marks[ACTIVE]
        marks[ACTIVE] = marks[FRESH]
        state[FLIP] = there
        self._arcs = arcs
        if vertices == 0:
            self._complete = True
            return
        state[LEVEL] += 1
        if len(self._targets) and state[REMAINING] <= 0:
            self._complete = False
        elif arcs < core.dense_arcs_of_batch // 2 and vertices <= core.work.capacity:
            self._to_sparse()

    def _pull_is_cheaper(self) -> bool:
        core = self._core
        if self._arcs * 2 * PUSH_COST < core.table.n_arcs // 8:
            return False
        out = np.zeros(1, np.int64)
        offsets = core.reverse.offsets
        core.over_words(lambda turn, grain, end: open_arcs(turn, grain, self._marks[FULL], offsets, out))
        return bool(out[0] < PUSH_COST * self._arcs)

    def _clear(self, bitmap: np.ndarray, within: np.ndarray, plane: int) -> None:
        self._core.over_words(lambda turn, grain, end: clear_rows(turn, grain, self._words, bitmap, within, plane))

    def _sweep(self, up: bool, tick: Tick) -> None:
        rows = self._core.reverse if up else self._core
        blocks = rows.blocks_with(self._marks[FULL if up else ACTIVE], up)
        arcs = rows.sweep(blocks, self._pull if up else push, self._words, self._marks, self._state, tick=tick)
        self._state[ARCS] += arcs
        rows.count_sweep(len(blocks), arcs)

    def _pull(self, *arguments: Any) -> int:
        return int(pull(*arguments, self._a_row()))

    def _a_row(self) -> np.ndarray:
        """The words of one vertex, zeros."""
        return np.zeros(self._words.shape[2], self._words.dtype)

    def _end_level(self, merge: bool) -> tuple[int, int, int]:
        out = np.zeros(3, np.int64)
        self._core.over_words(lambda turn, grain, end: end_level(
            turn, grain, self._words, self._marks, self._state, self._targets, self._sinks, merge,
            self._core.offsets, self._a_row(), np.zeros(1, np.int64), out))
        return int(out[0]), int(out[1]), int(out[2])

    def _to_sparse(self) -> None:
        state, work = self._state, self._core.work
        self._clear(self._marks[STALE], _NO_BITS, 3 - int(state[FLIP]))
        state[CURRENT] = state[HEAD] = 0
        state[COUNT] = list_bits(self._marks[ACTIVE], work.queues[0])
        self._dense = False

    def result(self) -> np.ndarray:
        """int32[k], the eccentricity of each source. If it stopped at the targets, no target is farther from the source
        than this. To be called after `step` has returned True."""
        self._core.counters.add(traversals=1)
        return self._sinks[0].astype(np.int32)
