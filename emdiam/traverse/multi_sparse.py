"""Sparse levels of multi-source BFS: many levels in one call, on one thread, on queues.

As sparse.py, with words instead of bits: a vertex is in the queue once, however many sources have
it in their frontier. If a level turns out dense, or misses too many blocks, it is done again as a
push: ORing twice changes nothing. See multi_dense.py for words, marks and sinks.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length
from .atomics import count_trailing_zeros
from .multi_dense import FLIP, FULL, ITEM_BYTES, REMAINING, see
from .sparse import ARCS, COUNT, CURRENT, FIRST_ROW, HEAD, LEVEL, MISSED, NEXT, NEXT_ARCS, queue_walk

# Further slots of `state`, which begins as that of sparse.py.
STOP_ARCS, DENSE_ARCS = 11, 12
STATE = 13

DONE, MISSING, DENSE, SLICE, MET = 0, 1, 2, 3, 4


@inlined
def _reach(args, v, u, there, tail):
    words, offsets, now = args
    then = 3 - now
    hit = False
    known = False
    for j in range(words.shape[2]):
        known |= words[then, u, j] != 0
        new = words[now, v, j] & ~words[0, u, j]
        if new:
            hit = True
            words[then, u, j] |= new
    if hit and not known:
        there[tail] = u
        return tail + 1, row_length(offsets, u)
    return tail, 0


_walk_multi = queue_walk(_reach)


@kernel
def sparse_multi(paging, offsets, words, marks, queues, missed, state, sinks, targets):
    """Run levels; returns why it stopped (DONE, MISSING, DENSE, SLICE, MET)."""
    near = FIRST_ROW
    while True:
        full, near = _walk_multi(paging, offsets, queues, missed, state, (words, offsets, state[FLIP]), near)
        if full:
            return DENSE
        if state[MISSED]:
            return MISSING
        tail, next_arcs = state[NEXT], state[NEXT_ARCS]
        finish_level(queues[state[CURRENT]], queues[1 - state[CURRENT]], words, marks, state, sinks, targets)
        if tail == 0:
            return DONE
        if len(targets) and state[REMAINING] <= 0:
            return MET
        if next_arcs > state[DENSE_ARCS]:
            return DENSE
        if state[ARCS] >= state[STOP_ARCS]:
            return SLICE


@inlined
def finish_level(here, there, words, marks, state, sinks, targets):
    """The next queue becomes the current one; its distances are written."""
    n = words.shape[1] - 1
    w = words.shape[2]
    now = state[FLIP]
    then = 3 - now
    alive = words[then, n]
    level = state[LEVEL] + 1
    for i in range(state[COUNT]):
        for j in range(w):
            words[now, here[i], j] = 0
    for i in range(state[NEXT]):
        u = np.int64(there[i])
        bit = np.uint64(1) << np.uint64(u & 63)
        wanted = len(targets) > 0 and (targets[u >> 6] & bit) != 0
        full, pairs = see(words, then, u, alive, sinks, level, state[ITEM_BYTES], wanted)
        state[REMAINING] -= pairs
        if full:
            marks[FULL, u >> 6] |= bit
    reach(words, then, level, sinks)
    state[FLIP] = then
    state[CURRENT] = 1 - state[CURRENT]
    state[HEAD] = 0
    state[COUNT] = state[NEXT]
    state[NEXT] = 0
    state[NEXT_ARCS] = 0
    if state[COUNT]:
        state[LEVEL] = level


@kernel
def reach(words, plane, level, sinks):
    """Sources that row n of the plane names have reached `level`; clears that row."""
    n = words.shape[1] - 1
    size = words.itemsize * 8
    for j in range(words.shape[2]):
        alive = np.uint64(words[plane, n, j])
        while alive:
            b = count_trailing_zeros(alive)
            alive &= alive - np.uint64(1)
            sinks[0, j * size + b] = level
        words[plane, n, j] = 0
