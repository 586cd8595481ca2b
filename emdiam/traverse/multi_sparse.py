"""Sparse levels of multi-source BFS: many levels in one call, on one thread, on queues.

As sparse.py, with words instead of bits: a vertex is in the queue once, however many sources have
it in their frontier. If a level turns out dense, or misses too many blocks, it is done again as a
push: ORing twice changes nothing. See multi_dense.py for words, marks and sinks.
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from .atomics import count_trailing_zeros
from .multi_dense import FLIP, FULL, ITEM_BYTES, LEVEL, REMAINING, see

# Further slots of `state`; what they hold is as in sparse.py.
CURRENT, HEAD, COUNT, NEXT, MISSED, ARCS, NEXT_ARCS, STOP_ARCS, DENSE_ARCS = 4, 5, 6, 7, 8, 9, 10, 11, 12
STATE = 13

DONE, MISSING, DENSE, SLICE, MET = 0, 1, 2, 3, 4


@kernel
def sparse_multi(ids, slot_of, shift, group, row, hub, words, marks, queues, missed_v, missed_p, state,
                 sinks, targets):  # type: ignore[no-untyped-def]
    """Run levels; returns why it stopped (DONE, MISSING, DENSE, SLICE, MET)."""
    capacity = queues.shape[1]
    w = words.shape[2]
    while True:
        here = queues[state[CURRENT]]
        there = queues[1 - state[CURRENT]]
        now = state[FLIP]
        then = 3 - now
        pending = state[MISSED]
        tail = state[NEXT]
        next_arcs = state[NEXT_ARCS]
        arcs = 0
        put_aside = 0
        resumed = 0
        head = state[HEAD]
        count = state[COUNT]
        full = False
        while resumed < pending or head < count:
            if resumed < pending:
                v = np.int64(missed_v[resumed])
                p = missed_p[resumed]
                resumed += 1
            else:
                v = np.int64(here[head])
                p = row_start(group, row, hub, v)
                head += 1
            end = row_start(group, row, hub, v + 1)
            if tail + (end - p) > capacity:
                full = True
                break
            while p < end:
                block = p >> shift
                slot = np.int64(slot_of[block])
                if slot < 0:
                    missed_v[put_aside] = v
                    missed_p[put_aside] = p
                    put_aside += 1
                    break
                low = block << shift
                stop = min(end, low + (1 << shift))
                base = (slot << shift) - low
                for q in range(base + p, base + stop):
                    u = np.int64(ids[q])
                    hit = False
                    known = False
                    for j in range(w):
                        known |= words[then, u, j] != 0
                        new = words[now, v, j] & ~words[0, u, j]
                        if new:
                            hit = True
                            words[then, u, j] |= new
                    if hit and not known:
                        there[tail] = u
                        tail += 1
                        next_arcs += row_start(group, row, hub, u + 1) - row_start(group, row, hub, u)
                arcs += stop - p
                p = stop
        state[ARCS] += arcs
        state[HEAD] = head
        state[NEXT] = tail
        state[NEXT_ARCS] = next_arcs
        state[MISSED] = put_aside
        if full:
            return DENSE
        if put_aside:
            return MISSING
        finish_level(here, there, words, marks, state, sinks, targets)
        if tail == 0:
            return DONE
        if len(targets) and state[REMAINING] <= 0:
            return MET
        if next_arcs > state[DENSE_ARCS]:
            return DENSE
        if state[ARCS] >= state[STOP_ARCS]:
            return SLICE


@kernel
def finish_level(here, there, words, marks, state, sinks, targets):  # type: ignore[no-untyped-def]
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
def reach(words, plane, level, sinks):  # type: ignore[no-untyped-def]
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
