"""Sparse levels: many levels in one call, on one thread, over the blocks that are resident.

A graph with Θ(n) levels has millions of them, so a level must cost nanoseconds, not a Python
call. The kernels run level after level on queues and return only when they must: blocks are
missing, the next queue is full (the frontier turned dense), a limit is reached, the slice is
over, or nothing is left. `state` (int64[STATE]) makes a call resumable where it stopped.

Rows on missing blocks are put aside as (vertex, arc position) and finished after Python has
brought the blocks, in the same level, so a level reads a block once. Rows may span blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import GROUP, row_length, row_span
from .atomics import prefetch
from .profile import BINS, count_level

# Slots of `state`.
LEVEL = 0  # level of the vertices in the current queue
CURRENT = 1  # 0 or 1: which of the two queues is current
HEAD = 2  # first entry of the current queue that was not expanded yet
COUNT = 3  # entries of the current queue
NEXT = 4  # entries of the next queue
MISSED = 5  # rows put aside
ARCS = 6  # arcs scanned so far
REACHED = 7  # vertices reached so far, seeds included
TARGETS = 8  # targets still unreached
FARTHEST = 9  # smallest vertex of the last non-empty level
NEXT_ARCS = 10  # arcs of the rows in the next queue
PROFILE = 11  # vertices a level, thinned (profile.py)
STATE = PROFILE + 1 + BINS

# Why a call returned.
DONE, MISSING, DENSE, LIMIT, SLICE, MET = 0, 1, 2, 3, 4, 5


# Rows of the queue after the one that is visited, whose offsets are asked for.
AHEAD = 4
FIRST_ROW = np.int64(0), np.int64(0)  # vertex, and where its row begins


# What does not depend on the visitor is compiled once, for all walks over queues.
@inlined
def _next_row(here, head, missed, resumed, pending, offsets, near):
    """(vertex, arc to begin with, end) of the row that comes next: one put aside, or the next of the queue.

    near : (vertex, where its row begins). On a path whose ids ascend it is the next one as a rule, as the processor
    comes to expect, which goes on then before the offset is read."""
    group, row, hub = offsets
    missed_v, missed_p = missed
    v = np.int64(missed_v[resumed] if resumed < pending else here[head])
    if v == near[0]:
        start = near[1]
        end = start + row_length(offsets, v)
    else:
        start, end = row_span(group, row, hub, v)
    return v, missed_p[resumed] if resumed < pending else start, end


@inlined
def in_arena(slot_of, shift, p, end):
    """(place of arc p in the arena, end of what is of its row in its block); the place is -1 where the block is not
    there."""
    block = p >> shift
    slot = np.int64(slot_of[block])
    if slot < 0:
        return slot, p
    low = block << shift
    return (slot << shift) + p - low, min(end, low + (1 << shift))


@inlined
def put_row_aside(missed, count, v, p):
    """Put the row of v aside, from arc p on, as entry `count`; how many there are then."""
    missed_v, missed_p = missed
    missed_v[count] = v
    missed_p[count] = p
    return count + 1


@inlined
def _keep(missed, count, resumed, pending):
    """Put aside again what was not resumed; how many rows there are then."""
    missed_v, missed_p = missed
    for i in range(resumed, pending):
        count = put_row_aside(missed, count, missed_v[i], missed_p[i])
    return count


@inlined
def _bring_up_to_date(state, arcs, next_arcs, head, tail, put_aside):
    state[ARCS] += arcs
    state[NEXT_ARCS] += next_arcs
    state[HEAD] = head
    state[NEXT] = tail
    state[MISSED] = put_aside


@inlined
def ask_ahead(paging, offsets, later, p, end):
    """Have the first arcs of the row that follows, [p, end), and the offsets of that of the vertex `later`, brought
    into the caches."""
    ids, slot_of, shift = paging
    group, row, _ = offsets
    if p < end:
        base, _ = in_arena(slot_of, shift, p, end)
        prefetch(ids, base)
    v = np.int64(later)
    prefetch(row, v & ~np.int64(GROUP - 1))
    prefetch(group, v // GROUP)


def queue_walk(visit: Callable[..., Any]) -> Callable[..., Any]:
    """The walk over the rows of the current queue with this visitor.

    walk(paging, offsets, queues, missed, state, args, near) returns (True if the next queue may not hold what a row
    adds: that row and what follows is left; near). near : (a vertex, where its row begins), for the next call. Rows put
    aside before come first. The slots HEAD, NEXT, NEXT_ARCS, MISSED and ARCS of
    `state` are brought up to date. visit(args, v, w, there, tail): looks at the arc (v, w), may add w to the next queue
    as entry `tail`, and returns where entries go on and the arcs of what it added, if they count.
    """
    @inlined
    def walk(paging, offsets, queues, missed, state, args, near):
        ids, slot_of, shift = paging
        capacity = queues.shape[1]
        here, there = queues[state[CURRENT]], queues[1 - state[CURRENT]]
        head, count, pending, tail = state[HEAD], state[COUNT], state[MISSED], state[NEXT]
        v = p = end = arcs = next_arcs = put_aside = resumed = np.int64(0)
        following = v, p, end
        while True:
            # Before the visits, any of which may go another way than the processor expects: then what it does, finding
            # the next row would wait.
            more = resumed < pending or head < count
            if more:
                following = _next_row(here, head, missed, resumed, pending, offsets, near)
                ask_ahead(paging, offsets, here[min(head + AHEAD, count - 1)], following[1], following[2])
            while p < end:
                base, stop = in_arena(slot_of, shift, p, end)
                if base < 0:
                    put_aside = put_row_aside(missed, put_aside, v, p)
                    break
                for q in range(base, base + stop - p):
                    tail, added = visit(args, v, np.int64(ids[q]), there, tail)
                    next_arcs += added
                arcs += stop - p
                p = stop
            if not more:
                break
            v, p, end = following
            near = v + 1, end
            full = tail + (end - p) > capacity
            if full:
                break
            if resumed < pending:
                resumed += 1
            else:
                head += 1
        if full:
            put_aside = _keep(missed, put_aside, resumed, pending)
        _bring_up_to_date(state, arcs, next_arcs, head, tail, put_aside)
        return full, near

    return walk


@inlined
def _reach(args, v, w, there, tail):
    visited, dist, targets, offsets, level, state = args
    bit = np.uint64(1) << np.uint64(w & 63)
    if not visited[w >> 6] & bit:
        visited[w >> 6] |= bit
        if len(dist):
            dist[w] = level
        if len(targets) and targets[w >> 6] & bit:
            state[TARGETS] -= 1
        there[tail] = w
        return tail + 1, row_length(offsets, w)
    return tail, 0


_walk_bfs = queue_walk(_reach)


@kernel(allocates=False)
def sparse_bfs(paging, offsets, visited, dist, targets, queues, missed, state, limits):
    """Run BFS levels; returns why it stopped (DONE, MISSING, DENSE, LIMIT, SLICE, MET).

    paging, offsets : of Core. dist : unsigned[n] or length 0; targets : bitmap or length 0. queues : id[2, capacity];
    missed : (id[k], int64[k]) with k >= capacity; limits : int64[3] = radius (levels to run to), arcs of this slice,
    arcs of a queue that count as dense: if it returns between two levels because there are more, they are in
    state[NEXT_ARCS], for the caller to clear.
    """
    stop_arcs, near = state[ARCS] + limits[1], FIRST_ROW
    while True:
        level = state[LEVEL]
        if state[HEAD] == 0 and state[MISSED] == 0 and state[NEXT] == 0:
            if level >= limits[0]:
                return LIMIT
            if state[ARCS] >= stop_arcs:
                return SLICE
        full, near = _walk_bfs(paging, offsets, queues, missed, state,
                               (visited, dist, targets, offsets, level + 1, state), near)
        if full:
            return DENSE
        if state[MISSED]:
            return MISSING
        tail, next_arcs = state[NEXT], state[NEXT_ARCS]
        state[REACHED] += tail
        state[HEAD] = 0
        state[NEXT] = 0
        state[NEXT_ARCS] = 0
        if tail == 0:
            smallest = np.int64(queues[state[CURRENT], 0])
            for i in range(1, state[COUNT]):
                smallest = min(smallest, np.int64(queues[state[CURRENT], i]))
            state[FARTHEST] = smallest
            return DONE
        state[LEVEL] = level + 1
        count_level(state, PROFILE, level + 1, tail)
        state[CURRENT] = 1 - state[CURRENT]
        state[COUNT] = tail
        if len(targets) and state[TARGETS] <= 0:
            return MET
        if next_arcs > limits[2]:
            state[NEXT_ARCS] = next_arcs
            return DENSE


@inlined
def _lower(args, v, w, there, tail):
    bound, value = args
    if np.int64(bound[w]) > value:
        bound[w] = value
        there[tail] = w
        tail += 1
    return tail, 0


_walk_spread = queue_walk(_lower)


@kernel(allocates=False)
def sparse_spread(paging, offsets, bound, queues, missed, state, limits):
    """Spread bounds: a neighbour of a vertex with bound k gets min(its bound, k + 1).

    As sparse_bfs, with `bound` (unsigned[n]) in place of a visited set and state[LEVEL] the
    bound of the current queue. REACHED counts lowered vertices, seeds excluded.
    """
    stop_arcs, near = state[ARCS] + limits[1], FIRST_ROW
    while True:
        value = state[LEVEL]
        if state[HEAD] == 0 and state[MISSED] == 0 and state[NEXT] == 0:
            if value >= limits[0]:
                return LIMIT
            if state[ARCS] >= stop_arcs:
                return SLICE
        full, near = _walk_spread(paging, offsets, queues, missed, state, (bound, value + 1), near)
        if full:
            return DENSE
        if state[MISSED]:
            return MISSING
        state[REACHED] += state[NEXT]
        state[LEVEL] = value + 1
        state[CURRENT] = 1 - state[CURRENT]
        state[COUNT] = state[NEXT]
        state[HEAD] = 0
        state[NEXT] = 0
        if state[COUNT] == 0:
            return DONE
