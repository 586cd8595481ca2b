"""The masks of a batch of sources on the vertices of one rank: what a level does to them between exchanges.

Bytes a vertex of the range: 3 b / 8 for b sources (seen, next, and the frontier at most) and 0.375 for marks; none for
vertices of others. What goes to others or comes from them takes the room that is stated, again and again if need be.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..stream.offsets import row_starts
from ..stream.pager import Tick
from ..traverse.core import Core
from ..traverse.multi import words_for
from ..traverse.workspace import set_bits
from .frontier_codec import list_words
from .mask_kernels import (
    ACTIVE,
    ARCS,
    ASIDE,
    CLOSED,
    CROWDED,
    FRESH,
    FULL,
    MARKS,
    MET,
    MISSING,
    NEXT,
    OUT,
    ROW_ARCS,
    SEEN,
    STATE,
    USED,
    VERTICES,
    commit_masks,
    join_masks,
    pull_masks,
    push_masks,
    take_masks,
)
from .ranges import virtual_zeros

_NO_BITS = np.empty(0, np.uint64)
_FEW_WORDS = 1 << 12
_LEAST_TABLE, _MOST_TABLE = 1 << 4, 1 << 18


def row_bytes(bits: int) -> int:
    """Bytes of the mask of a vertex for so many sources."""
    dtype, words = words_for(bits)
    return np.dtype(dtype).itemsize * words


def part_bytes(n_own: int, bits: int) -> int:
    """Bytes of the state of a batch of so many bits on a rank with n_own vertices, without room for exchanges."""
    return 3 * n_own * row_bytes(bits) + MARKS * n_own // 8


class Masks:
    """The state of one batch on one rank.

    core : over the range's table. sources : int64[k], of the whole batch. targets : bitmap of all vertices of which
    the own range is right, or of length 0. sinks : addresses of the distance columns, int64[k], and bytes of their
    items; 0 bytes without columns. room : bytes for what goes to others.
    masks : of the frontier, unsigned[k, w], ascending by vertex. row_arcs : arcs of its rows. open_arcs : of the rows
    of this range that some source has not seen.
    """

    def __init__(
        self, core: Core, sources: np.ndarray, *, targets: np.ndarray = _NO_BITS,
        sinks: tuple[np.ndarray, int] = (_NO_BITS, 0), room: int = 1 << 20,
    ) -> None:
        n, k = core.table.n_vertices, len(sources)
        self._core, self._span, span = core, np.array(core.span, np.int64), core.span
        self.own = slice((span[0] + 63) >> 6, (span[1] + 63) >> 6)
        self.dtype, self.width = words_for(k)
        self._targets, self._item_bytes = targets, sinks[1]
        self._sinks = np.zeros((2, k), np.int64)
        if sinks[1]:
            self._sinks[1] = sinks[0]
        size = np.dtype(self.dtype).itemsize * self.width
        self.words = virtual_zeros(2 * (n + 1) * self.width, self.dtype).reshape(2, n + 1, self.width)
        self.marks = virtual_zeros(MARKS * ((n + 63) // 64), np.uint64).reshape(MARKS, -1)
        self.marks[FULL, self.own] = core.table.isolated[self.own]
        entries = min(_MOST_TABLE, max(_LEAST_TABLE, room // (2 * (8 + size))))
        entries = 1 << (entries.bit_length() - 1)
        self._keys = np.full(entries, -1, np.int64)
        self._found: np.ndarray = np.zeros((entries, self.width), self.dtype)
        self._state = np.zeros(STATE, np.int64)
        self._vertices = np.empty(0, np.int64)
        self._aside = np.empty((2, 0), np.int64)
        self._seed(sources)

    def _seed(self, sources: np.ndarray) -> None:
        bits = self.words.itemsize * 8
        place = np.arange(len(sources))
        value: np.ndarray = (np.uint64(1) << (place % bits).astype(np.uint64)).astype(self.dtype)
        np.bitwise_or.at(self.words[SEEN, -1], place // bits, value)
        mine = np.flatnonzero((sources >= self._span[0]) & (sources < self._span[1]))
        np.bitwise_or.at(self.words[SEEN], (sources[mine], place[mine] // bits), value[mine])
        seeds = np.unique(sources[mine])
        self.masks = self.words[SEEN, seeds]
        set_bits(self.marks[ACTIVE], seeds, len(seeds))
        full = seeds[(self.masks == self.words[SEEN, -1]).all(axis=1)]
        set_bits(self.marks[FULL], full, len(full))
        ends = np.empty(2, np.int64)
        row_starts(*self._core.offsets, self._span, ends)
        self.open_arcs = int(ends[1] - ends[0]) - int(self._core.degrees(full).sum())
        self.row_arcs = int(self._core.degrees(seeds).sum())

    # -- sparse: masks go to neighbours ---------------------------------------------------------
    def begin_push(self) -> None:
        """Begin to expand the frontier."""
        self._vertices = list_words(self.marks[ACTIVE, self.own], int(self._span[0]), len(self.masks))
        self._aside = np.empty((2, len(self._vertices)), np.int64)
        self._state[:] = 0

    def push(self) -> bool:
        """Expand it until the table of what goes to others is full; whether something is left."""
        core, state = self._core, self._state
        ids, slot_of, shift = core.paging
        while True:
            begin = time.thread_time()
            reason = push_masks(ids, slot_of, shift, core.offsets, self._vertices, self.masks, self.words, self.marks,
                                self._span, self._keys, self._found, self._aside, state)
            core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            if reason != MISSING:
                return bool(reason == CROWDED)
            missed = np.unique(self._aside[1, : int(state[ASIDE])] >> shift)
            core.pager.load(missed[: max(core.most_loaded, core.pager.arena.n_slots // 2)])

    def outgoing(self) -> tuple[np.ndarray, np.ndarray]:
        """What is in the table, which is empty then: vertices of others, ascending, int64[k], and masks [k, w]."""
        if self._state[USED] == 0:
            return np.empty(0, np.int64), self._found[:0]
        used = np.flatnonzero(self._keys >= 0)
        used = used[np.argsort(self._keys[used])]
        vertices, masks = self._keys[used], self._found[used]
        self._keys[used] = -1
        self._found[used] = 0
        self._state[USED] = 0
        return vertices, masks

    def receive(self, vertices: np.ndarray, masks: np.ndarray) -> None:
        """Take in what another rank has for vertices of this one."""
        join_masks(vertices, masks, self.words, self.marks)

    @property
    def scanned(self) -> int:
        """Arcs scanned since begin_push."""
        return int(self._state[ARCS])

    # -- dense: vertices look at their neighbours -----------------------------------------------
    def pull(self, index: np.ndarray, masks: np.ndarray, tick: Tick | None = None) -> int:
        """Look back at (a part of) the frontier of all ranks; see pull_masks. Returns arcs scanned."""
        blocks = self._core.blocks_with(self.marks[FULL], True)
        return self._core.sweep(blocks, pull_masks, self.words, self.marks, index, masks, tick=tick)

    # -- both -----------------------------------------------------------------------------------
    def end_level(self, distance: int) -> tuple[int, np.ndarray]:
        """What was reached at this distance is seen and becomes the frontier: (target and source pairs met, which
        sources reached something of this range, unsigned[w]). row_arcs, open_arcs and masks are up to date then."""
        out, about = np.zeros(OUT, np.int64), np.array([distance, self._item_bytes], np.int64)
        self.words[NEXT, -1] = 0
        self._share(lambda turn, grain: commit_masks(
            turn, grain, self.own.stop, self._core.offsets, self.words, self.marks, self._targets, self._sinks, about,
            out))
        alive = self.words[NEXT, -1].copy()
        counts = np.bitwise_count(self.marks[FRESH, self.own]).astype(np.int64)
        places = np.cumsum(counts) - counts
        self.masks = np.empty((int(out[VERTICES]), self.width), self.dtype)
        self._share(lambda turn, grain: take_masks(
            turn, grain, self.own.stop, self.words, self.marks, places, self.masks))
        self.row_arcs = int(out[ROW_ARCS])
        self.open_arcs -= int(out[CLOSED])
        return int(out[MET]), alive

    def _share(self, kernel: Callable[[np.ndarray, int], object]) -> None:
        """Run a kernel over the words of this range, on all threads if they are many."""
        turn, n_words = np.array([self.own.start], np.int64), self.own.stop - self.own.start
        if n_words <= _FEW_WORDS:
            kernel(turn, max(1, n_words))
        else:
            self._core.everywhere(lambda: kernel(turn, max(64, n_words // (16 * self._core.crew.threads))))
