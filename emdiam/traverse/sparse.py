"""Sparse levels: many levels in one call, on one thread, over the blocks that are resident.

A graph with Θ(n) levels has millions of them, so a level must cost nanoseconds, not a Python
call. The kernels run level after level on queues and return only for a reason: blocks are missing,
the next queue is full (the frontier has become dense), a limit is reached, the slice is over, or no
vertex remains. `state` (workspace.py) makes a call resumable where it stopped.

Rows on missing blocks are put aside as (vertex, arc position) and finished in the same level, after
Python has loaded the blocks. So a level reads a block once. Rows may span blocks.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import GROUP, row_length, row_span
from . import uncompiled
from .atomics import prefetch
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    FARTHEST,
    HEAD,
    LEVEL,
    LIMIT,
    MET,
    MISSED,
    MISSING,
    NEXT,
    NEXT_ARCS,
    PROFILE,
    REACHED,
    SLICE,
    TARGETS,
    count_level,
)

if TYPE_CHECKING:
    from .bfs import BfsRun, Mode

# Levels of a BFS in which it measures whether sharing them pays; seconds of one thread that make a level worth sharing.
_TRIED, _WORTH_SHARING = 16, 1e-4
# Read ahead only if a level misses at most _FEW blocks, and if one in _USED of all ids loaded so far was read.
_FEW, _USED = 4, 2

# Distance in the queue, after the current row, at which offsets are prefetched.
AHEAD = 4
FIRST_ROW = np.int64(0), np.int64(0)  # a vertex and the start of its row


# Helpers that do not depend on the visitor, compiled once for all walks over queues.
@inlined
def _next_row(here, head, missed, resumed, pending, offsets, near):
    """(vertex, first arc, end) of the next row: one put aside, or the next of the queue.

    near : (vertex, start of its row). On a path with ascending ids this is usually the next vertex. The processor then
    predicts so and continues before the offset is read."""
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
    """(position of arc p in the arena, end of its row within its block); the position is -1 if the block is not
    resident."""
    block = p >> shift
    slot = np.int64(slot_of[block])
    if slot < 0:
        return slot, p
    low = block << shift
    return (slot << shift) + p - low, min(end, low + (1 << shift))


@inlined
def put_row_aside(missed, count, v, p):
    """Put the row of v aside, from arc p on, as entry `count`; returns the new count."""
    missed_v, missed_p = missed
    missed_v[count] = v
    missed_p[count] = p
    return count + 1


@inlined
def _keep(missed, count, resumed, pending):
    """Put rows aside again that were not resumed; returns the new count."""
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
    """Prefetch the first arcs of the next row, [p, end), and the offsets of the row of the vertex `later`."""
    ids, slot_of, shift = paging
    group, row, _ = offsets
    if p < end:
        base, _ = in_arena(slot_of, shift, p, end)
        prefetch(ids, base)
    v = np.int64(later)
    prefetch(row, v & ~np.int64(GROUP - 1))
    prefetch(group, v // GROUP)


def queue_walk(visit: Callable[..., Any]) -> Callable[..., Any]:
    """A walk over the rows of the current queue with this visitor.

    walk(paging, offsets, queues, missed, state, args, near) returns (full, near). full : the next queue may have no
    room for the heads of a row; that row and the following ones are not visited. near : (a vertex, start of its row),
    for the next call. Rows put aside come first. The walk updates the slots HEAD, NEXT, NEXT_ARCS, MISSED and ARCS of
    `state`. visit(args, v, w, there, tail) processes the arc (v, w). It may add w to the next queue as entry `tail`,
    and returns the new tail and the number of arcs of the added row, if arcs count.
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
            # Find the next row before the visits: the processor may mispredict in any visit, and the search would then
            # wait.
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
def smallest_of(queue, count):
    """The smallest of the first `count` (at least 1) entries."""
    smallest = np.int64(queue[0])
    for i in range(1, count):
        smallest = min(smallest, np.int64(queue[i]))
    return smallest


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


@kernel(uncompiled=uncompiled.sparse_bfs)
def sparse_bfs(paging, offsets, visited, dist, targets, queues, missed, state, limits):
    """Run BFS levels; returns why it stopped (DONE, MISSING, DENSE, LIMIT, SLICE, MET).

    paging, offsets : of Core. dist : unsigned[n] or length 0. targets : bitmap or length 0. queues : id[2, capacity].
    missed : (id[k], int64[k]) with k >= capacity. limits : int64[3] = radius (levels to run to), arcs of this slice,
    arcs of a queue that count as dense. If it stops between two levels because the queue has more arcs, their number is
    in state[NEXT_ARCS], for the caller to clear.
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
            state[FARTHEST] = smallest_of(queues[state[CURRENT]], state[COUNT])
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


class SparseLevels:
    """Levels with few arcs: one thread, many levels a step. For the common part of modes see BfsRun.

    The first BFS of a core measures levels to find from how many arcs on sharing a level with other threads pays
    (Learned.alone_arcs); later ones use the result."""

    def __init__(self, run: BfsRun) -> None:
        self._run, core = run, run.core
        self.stops = 0  # for missing blocks
        self._brought = self._read_again = 0  # blocks loaded, including those read ahead; blocks loaded repeatedly
        self._was_brought: np.ndarray | None = None  # bool[blocks], whether the block was ever loaded
        self._may_share = core.shares and not (run.profile or len(run.targets))
        self._alone_arcs, self._tried, self._pace = core.dense_arcs, 0, 1.0
        if self._may_share:
            known = run.learned.alone_arcs
            self._alone_arcs, self._tried = (core.shared_arcs, 0) if known is None else (known, _TRIED)

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """Levels until the kernel has a reason to return."""
        run, core, work = self._run, self._run.core, self._run.core.work
        state, level, arcs = work.state, run.level, int(work.state[ARCS])
        limit = min(run.level_limit, level + 1) if run.profile else run.level_limit
        begin = time.thread_time()
        reason = sparse_bfs(core.paging, core.offsets, work.visited, run.distances, run.targets, work.queues,
                            work.missed, state, np.array([limit, core.slice_arcs, self._alone_arcs], np.int64))
        seconds, arcs = time.thread_time() - begin, int(state[ARCS]) - arcs
        run.front.visited_arcs += arcs
        core.counters.add(kernel_cpu_seconds=seconds, levels=run.level - level + (reason == DONE), edges_scanned=arcs)
        if run.profile and run.level > level:
            run.level_counts.append(int(state[COUNT]))
        if reason == DENSE and state[NEXT_ARCS] and not (state[HEAD] or state[NEXT] or state[MISSED]):
            return self._between_levels(seconds / max(1, arcs))
        return self.after(reason)

    def _between_levels(self, pace: float) -> Mode | None:
        """The mode of the next level, by its arcs. pace : CPU seconds an arc of one thread in the last step."""
        run, core, state = self._run, self._run.core, self._run.core.work.state
        arcs, most = int(state[NEXT_ARCS]), min(core.dense_arcs, core.work.capacity)
        self._tried, self._pace = self._tried + 1, min(self._pace, max(pace, 1e-12))
        if self._may_share and self._tried >= _TRIED:
            self._alone_arcs = max(core.shared_arcs, int(_WORTH_SHARING / self._pace))
            if self._alone_arcs >= most:
                self._alone_arcs = core.dense_arcs
            run.learned = replace(run.learned, alone_arcs=self._alone_arcs)
            if self._alone_arcs < arcs <= most:
                return run.shared.enter(most, self._alone_arcs // 2)
        return self.go_on(arcs)

    def go_on(self, arcs: int) -> Mode:
        """Continue between two levels, the next with `arcs` arcs."""
        self._run.core.work.state[NEXT_ARCS] = 0
        return self._run.dense.enter() if arcs > self._run.core.dense_arcs else self

    def after(self, reason: int) -> Mode | None:
        """The next mode after a kernel over queues has returned for this reason."""
        run = self._run
        if reason == DONE:
            return run.end(True)
        if reason == MISSING:
            return self._load_missed()
        if reason == DENSE:
            return run.dense.enter()
        if reason == MET or (reason == LIMIT and run.at_limit()):
            state, queues = run.core.work.state, run.core.work.queues
            state[FARTHEST] = queues[state[CURRENT], : state[COUNT]].min()
            return run.end(False)
        return self

    def _load_missed(self) -> Mode:
        """Load the blocks of rows that were put aside. If levels read the same blocks again and again, or if too many
        are missing at once, the next mode is a window of levels, or a sweep if windows are not possible."""
        run, core = self._run, self._run.core
        blocks = core.missed_blocks(int(core.work.state[MISSED]))
        self.stops += 1
        if self._was_brought is None:
            self._was_brought = np.zeros(core.table.n_blocks, bool)
        self._read_again += int(np.count_nonzero(self._was_brought[blocks]))
        self._was_brought[blocks] = True
        n_slots = core.pager.arena.n_slots
        bearable = min(n_slots, core.table.n_blocks - n_slots) // 2
        if (run.learned.window_levels or self._read_again > bearable) and run.windows.enter():
            return run.windows
        if not core.load_blocks(blocks):
            return run.windows if run.windows.enter() else run.dense.enter()
        if len(blocks) <= _FEW:
            # Read the next blocks while the kernel works, if most of the loaded arcs were read.
            self._brought += len(blocks)
            if _USED * int(core.work.state[ARCS]) >= self._brought << core.table.shift:
                self._brought += core.pager.read_ahead(blocks)
        return self

    @property
    def gives_up_sharing(self) -> bool:
        """Whether a whole BFS had too few levels to measure whether sharing them pays."""
        return self._tried < _TRIED
