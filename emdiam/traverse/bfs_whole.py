"""A whole BFS in one kernel call, if all rows are in memory in order: all levels, both directions, all threads.

Row v is ids[starts[v] : starts[v + 1]]. A frontier is a queue if it has few vertices, else a bitmap. A level goes
top-down over either, or bottom-up over the words of the visited set, by the direction rule (direction.py). One thread
begins. If a level is worth more than one thread, all threads call the kernel. The first to arrive leads; the others
help by tickets as in shared_levels.py; the leader does short levels alone. So a BFS of a small graph wakes no thread,
and no thread waits for one that the system has suspended.

The kernel returns between two levels: at the last level, at a limit, after the arcs of a slice, or before a level of
very many arcs, which is swept block by block (dense.py), so that it can be interrupted.
Work: as dense.py. Bytes a vertex: 4 or 8 for `starts`, which the plan counts; a buffer of 512 ids a thread.
Source: Beamer, Asanovic, Patterson 2012; the change between queues and bitmaps is from the GAP benchmark (2015).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from . import uncompiled
from .atomics import atomic_count, atomic_put, count_trailing_zeros, yield_core
from .direction import DIRECTIONS, TOP_DOWN_COST, Front, expected_arcs, goes_up, learned_bias
from .shared_levels import (
    BUFFER,
    CAME,
    DONE_PARTS,
    NEXT_ARCS_SLOT,
    NEXT_SLOT,
    OVER,
    SCANNED,
    SHARED_SLOTS,
    hand_over,
    open_tickets,
    take_part,
)
from .sparse import smallest_of
from .whole_walks import climb, list_heads, walk_queue, walk_queue_shared, walk_words, walk_words_shared
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    FARTHEST,
    LEVEL,
    LIMIT,
    PROFILE,
    REACHED,
    SLICE,
    THIN,
    count_level,
    list_bits,
    set_bits,
)

if TYPE_CHECKING:
    from .bfs import BfsRun, Mode
    from .core import Core

# Slots of `front` (int64[8]): whether the frontier is a bitmap; which of the two; its vertices, and arcs of their rows;
# arcs of all visited rows; whether the level goes bottom-up; arcs that it is expected to read, with the bias and
# without.
IS_BITMAP, WHICH, VERTICES, FRONT_ARCS, VISITED_ARCS, UP, WORK, EXPECTED = range(8)
_FRONT = 8
# Slots of `limits` (int64[8]): levels to run to; arcs of this slice; arcs of a level that is swept block by block; arcs
# that make a level worth sharing; the direction rule; vertices, vertices with an arc, arcs of the graph.
_LEVELS, _SLICE, _LARGEST, _WORTH, RULE, _N, _JOINED, _M = range(8)
# Slots of `call` (int64[5]): total of arcs at which it returns; threads; whether the leader does the level alone;
# vertices or words of the level; short levels in succession.
_STOP, _THREADS, _ALONE, _UNITS, _SHORT = range(5)
# A further reason to return, beside those of workspace.py: the next level is worth more than one thread.
SHARE = THIN + 1
_LEAST_ROWS, _LEAST_WORDS = 32, 8  # of a part that a thread takes
# Arcs that make a level worth waking threads, and worth sharing
# once they are awake; after more than _MOST_SHORT shorter levels in succession they go to sleep.
WAKING, AWAKE, _MOST_SHORT, _NEVER = 1 << 18, 1 << 13, 8, 1 << 62
LARGEST_LEVEL = 1 << 26


@inlined
def _expand(graph, found, fronts, queues, buffer, shared, state, front, part, alone):
    """Do a part of the level, vertices of the queue or words; returns new vertices, arcs of their rows, arcs read.
    alone : no other thread works on the level."""
    down, up = graph
    level, which, one = state[LEVEL] + 1, front[WHICH], state[CURRENT]
    current, target = fronts[which], fronts[1 - which]
    if front[UP]:
        return climb(up, found, level, current, part, target)
    if front[IS_BITMAP]:
        if alone:
            return walk_words(down, found, level, current, part, target)
        return walk_words_shared(down, found, level, current, part, target)
    queue, there = queues[one], queues[1 - one]
    if alone:
        count, arcs, scanned, row = list_heads(down, found, level, queue, part[1], there)
        if row < part[1]:
            count, more, read = walk_queue(down, found, level, queue, (row, part[1]), there, count)
            arcs += more
            scanned += read
        return count, arcs, scanned
    count, arcs, scanned = walk_queue_shared(down, found, level, queue, part, (buffer, there, shared), np.int64(0))
    hand_over(buffer, count, there, shared)
    return np.int64(0), arcs, scanned  # hand_over has counted the vertices


@inlined
def _choose(visited, fronts, queues, state, front, bias, limits):
    """Choose the form of the next level and convert the frontier to it. Returns the number of arcs that a bottom-up
    level is expected to read."""
    arcs, hidden = front[FRONT_ARCS], limits[_M] - front[VISITED_ARCS]
    words, expected, up = fronts.shape[1], 0.0, False
    if limits[RULE] or TOP_DOWN_COST * arcs > min(hidden, words):  # else top-down costs less than to read the bitmap
        expected = expected_arcs(limits[_JOINED] - state[REACHED], limits[_M], arcs)
        up = goes_up(limits[RULE], front[UP] != 0, front[VERTICES], arcs, hidden, bias[0] * expected + words,
                     limits[_N])
    work = np.int64(min(float(hidden), bias[0] * expected)) if up else arcs
    front[UP], front[WORK], capacity = up, work, queues.shape[1]
    wide = up or front[VERTICES] > capacity or work > limits[_LARGEST]
    if wide and not front[IS_BITMAP]:
        fronts[front[WHICH]][:] = 0
        set_bits(fronts[front[WHICH]], queues[state[CURRENT]], state[COUNT])
    if front[IS_BITMAP] and not wide:
        state[COUNT] = list_bits(fronts[front[WHICH]], queues[state[CURRENT]])
    front[IS_BITMAP] = wide
    if wide and not up:
        fronts[1 - front[WHICH]][:] = 0
    elif not wide and arcs > capacity:  # the next queue may overflow: new vertices are then the difference to this copy
        for word in range(words):
            fronts[0, word] = visited[word]
    return expected


@inlined
def _farthest(fronts, queues, state, front):
    """The smallest vertex of the frontier."""
    if not front[IS_BITMAP]:
        return smallest_of(queues[state[CURRENT]], state[COUNT])
    bitmap, word = fronts[front[WHICH]], 0
    while not bitmap[word]:
        word += 1
    return (word << 6) + count_trailing_zeros(bitmap[word])


@inlined
def _close(visited, fronts, queues, state, front, done):
    """Advance to the next level with the totals in `done`; True if there is none."""
    count, arcs, scanned = done
    state[ARCS] += scanned
    if count == 0:
        return True
    state[LEVEL] += 1
    state[REACHED] += count
    count_level(state, PROFILE, state[LEVEL], count)
    front[VERTICES], front[FRONT_ARCS] = count, arcs
    front[VISITED_ARCS] += arcs
    if front[IS_BITMAP]:
        front[WHICH] = 1 - front[WHICH]
    elif count > queues.shape[1]:
        front[IS_BITMAP], front[WHICH] = True, 0
        for word in range(len(visited)):
            fronts[0, word] = visited[word] & ~fronts[0, word]
    else:
        state[CURRENT], state[COUNT] = 1 - state[CURRENT], count
    return False


@inlined
def _open(visited, fronts, queues, shared, state, front, bias, limits, call):
    """The leader opens the next level. call : see bfs_whole. Returns the reason to end the call, or -1."""
    if state[LEVEL] >= limits[_LEVELS]:
        return LIMIT
    if state[ARCS] >= call[_STOP]:
        return SLICE
    expected = _choose(visited, fronts, queues, state, front, bias, limits)
    if front[WORK] > limits[_LARGEST]:
        return DENSE
    call[_ALONE] = front[WORK] < limits[_WORTH]
    if call[_ALONE]:
        call[_SHORT] += 1
    elif call[_THREADS] == 1:
        return SHARE
    units = np.int64(fronts.shape[1]) if front[IS_BITMAP] else state[COUNT]
    call[_UNITS], front[EXPECTED] = units, np.int64(expected)
    if not call[_ALONE]:
        call[_SHORT] = 0
        open_tickets(shared, units)
    return -1


@inlined
def _finish(visited, fronts, queues, state, front, bias, limits, call, done):
    """The leader ends a level with the totals `done`: new vertices, arcs of their rows, arcs read. Returns the reason
    to end the call, or -1."""
    if front[UP] and limits[RULE] == 0:
        bias[0] = learned_bias(bias[0], done[2], front[EXPECTED])
    if _close(visited, fronts, queues, state, front, done):
        return DONE
    return THIN if call[_THREADS] > 1 and call[_SHORT] > _MOST_SHORT else -1


@kernel(uncompiled=uncompiled.bfs_whole)
def bfs_whole(graph, found, fronts, queues, buffers, shared, state, front, bias, limits, call):
    """Run BFS levels on every thread that calls it with the same `shared`. All but one return -1; that one returns why
    it stopped, always between two levels: DONE, LIMIT, SLICE, DENSE (very many arcs), SHARE (worth more threads than
    called), THIN (worth fewer threads).

    graph : rows (ids, starts, degrees) along arcs, and of the reverse. found : visited, dist (unsigned[n] or length 0).
    fronts : two bitmaps, uint64[2, words]. queues : id[2, capacity]. buffers : id[threads, k]. shared : uint64[64],
    zeros. front, limits : see above. bias : float64[1], see direction.py. call : int64[5], zeros.
    """
    me, reason, opened = np.int64(atomic_count(shared, CAME, np.uint64(1))), -1, False
    buffer, n_threads = buffers[me], np.int64(len(buffers))
    if me == 0:
        call[_STOP], call[_THREADS] = state[ARCS] + limits[_SLICE], n_threads
    while True:
        if me == 0 and not opened:
            reason = _open(found[0], fronts, queues, shared, state, front, bias, limits, call)
            if reason >= 0:
                break
            opened = True
        alone = me == 0 and call[_ALONE] != 0
        part = np.int64(0), np.int64(0)
        if alone:
            part = np.int64(0), call[_UNITS]
        else:
            part = take_part(shared, n_threads, _LEAST_WORDS if front[IS_BITMAP] else _LEAST_ROWS)
        if part[0] < part[1]:
            done = _expand(graph, found, fronts, queues, buffer, shared, state, front, part, alone)
            if not alone:
                atomic_count(shared, NEXT_SLOT, np.uint64(done[0]))
                atomic_count(shared, NEXT_ARCS_SLOT, np.uint64(done[1]))
                atomic_count(shared, SCANNED, np.uint64(done[2]))
                atomic_count(shared, DONE_PARTS, np.uint64(part[1] - part[0]))
                continue
        elif me:
            if shared[OVER]:
                break
            yield_core()
            continue
        else:
            while np.int64(atomic_count(shared, DONE_PARTS, np.uint64(0))) < call[_UNITS]:
                yield_core()
            done = np.int64(shared[NEXT_SLOT]), np.int64(shared[NEXT_ARCS_SLOT]), np.int64(shared[SCANNED])
        reason, opened = _finish(found[0], fronts, queues, state, front, bias, limits, call, done), False
        if reason >= 0:
            break
    if me == 0:
        if reason == DONE or reason == LIMIT:
            state[FARTHEST] = _farthest(fronts, queues, state, front)
        atomic_put(shared, OVER, np.uint64(1))
    return reason


class WholeLevels:
    """Levels if all rows are in memory in order: as many as possible in one call. See BfsRun.

    A BFS that began in this mode continues in others if the arena has since given up blocks."""

    def __init__(self, run: BfsRun) -> None:
        self._run, core = run, run.core
        self._front, self._bias = np.zeros(_FRONT, np.int64), np.array([run.learned.bias])
        n = core.table.n_vertices
        self._limits = np.array([0, core.slice_arcs, LARGEST_LEVEL, 0, DIRECTIONS.index(core.direction), n,
                                 n - core.reverse.n_isolated, core.table.n_arcs], np.int64)
        self._threads, self._alone = 1, core.threads.compute == 1

    @staticmethod
    def possible(core: Core) -> bool:
        """Whether all rows are in memory in order."""
        return core.whole and core.plain_rows is not None and core.reverse.plain_rows is not None

    def begin(self) -> Mode:
        """Start at the source."""
        front, source, starts = self._front, self._run.source, self._run.core.starts
        assert starts is not None
        front[VERTICES] = 1
        front[FRONT_ARCS] = front[VISITED_ARCS] = int(starts[source + 1]) - int(starts[source])
        return self

    def resume(self) -> Mode:
        """Continue from the bitmap of a dense level."""
        run, front = self._run, self._front
        front[:] = 0
        front[IS_BITMAP], front[UP] = True, run.front.bottom_up
        front[VERTICES], front[FRONT_ARCS] = run.front.vertices, run.front.arcs
        front[VISITED_ARCS], self._bias[0] = run.front.visited_arcs, run.learned.bias
        return self

    @property
    def on_bitmap(self) -> bool:
        """Whether the frontier is the bitmap work.frontier, as in dense levels, and not a queue."""
        return bool(self._front[IS_BITMAP])

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """Levels until the kernel has a reason to return."""
        run, core = self._run, self._run.core
        if not self.possible(core):
            return run.dense if self.on_bitmap else run.sparse
        state, level, arcs = core.work.state, run.level, int(core.work.state[ARCS])
        run.used.add(WholeLevels)
        call = self._call(min(run.level_limit, level + 1) if run.profile else run.level_limit)
        begin = time.thread_time()
        reason = call() if self._threads == 1 else max(core.everywhere(call, self._threads, helpers=True))
        seconds = time.thread_time() - begin if self._threads == 1 else 0.0  # else `everywhere` has counted them
        core.counters.add(levels=run.level - level + (reason == DONE), edges_scanned=int(state[ARCS]) - arcs,
                          kernel_cpu_seconds=seconds)
        if run.profile and run.level > level:
            run.level_counts.append(int(self._front[VERTICES]))
        self._threads = core.threads.compute if reason == SHARE else 1
        self._put_down()
        if reason == DONE or (reason == LIMIT and run.at_limit()):
            return run.end(reason == DONE)
        return run.dense if reason == DENSE else self

    def _call(self, most: int) -> Callable[[], int]:
        """The kernel call up to this level, for as many threads as it has asked for."""
        core, work, limits = self._run.core, self._run.core.work, self._limits
        graph, found = (core.plain_rows, core.reverse.plain_rows), (work.visited, self._run.distances)
        limits[_LEVELS], limits[_WORTH] = most, _NEVER if self._alone else WAKING if self._threads == 1 else AWAKE
        buffers, shared = np.empty((self._threads, BUFFER), work.queues.dtype), np.zeros(SHARED_SLOTS, np.uint64)
        return partial(bfs_whole, graph, found, work.fronts, work.queues, buffers, shared, work.state, self._front,
                       self._bias, limits, np.zeros(5, np.int64))

    def _put_down(self) -> None:
        """Store frontier and figures where other modes and checkpoints expect them."""
        run, work, front, bias = self._run, self._run.core.work, self._front, float(self._bias[0])
        if bias != run.learned.bias:
            run.learned = replace(run.learned, bias=bias)
        if front[IS_BITMAP]:
            if front[WHICH]:
                work.frontier[:] = work.before
                front[WHICH] = 0
            np.copyto(work.before, work.visited)
        run.front = Front(int(front[VERTICES]), int(front[FRONT_ARCS]), int(front[VISITED_ARCS]), bool(front[UP]))
        if not front[IS_BITMAP]:  # arcs of a queue count when they are read
            run.front.visited_arcs -= run.front.arcs
