"""The degeneracy, the largest k with a k-core, by peeling.

Definition: the k-core remains when vertices with fewer than k neighbours are removed repeatedly; the degeneracy is the
largest k whose core is not empty. Peeling: while vertices remain, k is the smallest number of remaining neighbours, or
the last k if that is larger. All vertices with at most k neighbours are removed, and their neighbours lose one
neighbour each.
I/O: the row of a vertex is read once, when it is removed. A sweep takes the blocks with these rows. Vertices that
become due while their block is in memory are removed in the same sweep, so that a chain within a block takes one sweep.
Work: O(n + m), and n words of a bitmap for each k. Bytes a vertex: a degree of 4, 4 bits.
words of a bitmap for each k. Bytes a vertex: a degree of 4, 4 bits.
Sources: Seidman 1983; Matula, Beck 1983 (smallest-last ordering); Batagelj, Zaversnik 2003.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length, row_start
from .atomics import atomic_add, atomic_or
from .core import Core
from .multi import spanning_rows
from .rows import block_walk, has_bit, range_mask
from .workspace import set_bits

# Rows of `marks`.
DUE, DONE, CUT, CUT_NOW = 0, 1, 2, 3


def core_bytes(n_vertices: int) -> int:
    """Bytes of degrees and bitmaps."""
    return 4 * n_vertices + 4 * ((n_vertices + 63) // 64) * 8


def degeneracy(core: Core, tick: Tick = no_tick) -> int:
    """The largest k with a k-core; 0 without an edge."""
    n = core.table.n_vertices
    left, marks = np.empty(n, np.int32), np.zeros((4, (n + 63) // 64), np.uint64)
    marks[DONE] = core.table.isolated
    spanning = spanning_rows(core)
    set_bits(marks[CUT], spanning, len(spanning))
    core.over_words(lambda turn, grain, end: count_neighbours(turn, grain, end, left, core.offsets))
    k = 0
    while True:
        smallest = min(core.over_words(lambda turn, grain, end: fewest(turn, grain, end, left, marks[DONE])))
        if smallest > core.longest_row:
            return k
        k = max(k, int(smallest))
        core.over_words(partial(find_due, left, marks, k))
        while (due := marks[DUE] & ~marks[DONE]).any():
            marks[CUT_NOW] = due & marks[CUT]
            blocks = core.blocks_with(due)
            arcs = core.sweep(blocks, peel, left, marks, k, tick=tick)
            marks[DONE] |= marks[CUT_NOW]
            core.count_sweep(len(blocks), arcs)


@kernel
def count_neighbours(turn, grain, end, left, offsets):
    """left[v] = degree of v; threads share the work."""
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= end:
            return
        for v in range(begin << 6, min((begin + grain) << 6, min(end << 6, len(left)))):
            left[v] = row_length(offsets, v)


@kernel
def fewest(turn, grain, end, left, done):
    """The smallest number of remaining neighbours of a remaining vertex; threads share the work."""
    smallest = np.int64(np.iinfo(np.int64).max)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= end:
            return smallest
        for v in range(begin << 6, min((begin + grain) << 6, min(end << 6, len(left)))):
            if np.int64(left[v]) < smallest and not has_bit(done, v):
                smallest = np.int64(left[v])


@kernel
def find_due(left, marks, k, turn, grain, end):
    """Mark the remaining vertices with at most k neighbours; threads share the work."""
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= end:
            return
        for v in range(begin << 6, min((begin + grain) << 6, min(end << 6, len(left)))):
            if np.int64(left[v]) <= k and not has_bit(marks[DONE], v):
                marks[DUE, v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@inlined
def _due_whole(state, word):
    marks = state[1]
    return marks[DUE, word] & ~marks[DONE, word] & ~marks[CUT, word]


@inlined
def _due_or_cut(state, word):
    return _due_whole(state, word) | state[1][CUT_NOW, word]


@inlined
def _take_away(state, ids, v, begin, end, whole):
    left, marks, due, done, k = state
    if whole:
        atomic_or(done, v >> 6, np.uint64(1) << np.uint64(v & 63))
    for p in range(begin, end):
        w = np.int64(ids[p])
        if np.int64(atomic_add(left, w, np.int32(-1))) == k + 1:
            atomic_or(due, w >> 6, np.uint64(1) << np.uint64(w & 63))
    return end - begin, False


_walk_first = block_walk(_due_or_cut, _take_away, again=True)
_walk_again = block_walk(_due_whole, _take_away, again=True)


@inlined
def _is_due(state, first, last):
    """Whether one of the rows first..last, each in a single block, is due."""
    for word in range(first >> 6, (last >> 6) + 1):
        if _due_whole(state, word) & range_mask(word, first, last):
            return True
    return False


@kernel
def peel(piece, layout, left, marks, k):
    """Remove due vertices, and those that become due in the same block; of rows that span blocks only those in CUT_NOW.
    left : int32[n], remaining neighbours. marks : uint64[4, ceil(n/64)]. Returns arcs scanned."""
    chunks, _, turn, grain, _ = piece
    shift, first_vertex, group, row, hub = layout
    state = left, marks, marks[DUE], marks[DONE], k
    total = 0
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return total
        for i in range(begin, min(begin + grain, len(chunks))):
            total += _walk_first(piece, i, layout, state)
            c = chunks[i]
            last = min(first_vertex[c + 1], first_vertex[len(first_vertex) - 1] - 1)
            if last > first_vertex[c] and row_start(group, row, hub, last) == (c + 1) << shift:
                last -= 1  # its row begins in the next block
            while _is_due(state, first_vertex[c], last):
                total += _walk_again(piece, i, layout, state)
