"""Spread: bound[v] = min over seeds of (value + d(v, seed)), grown only while below a limit.

The one verb behind F-Diam's Eliminate (one seed: a vertex with its eccentricity), its extension
(all vertices at the old bound, grown by new - old levels in one multi-source partial BFS) and
Chain Processing (all chain ends with their chain lengths). Values are processed in increasing
order, level by level: sparse ones on queues, dense ones on bitmaps with visited = {bound <= k+1}.
Pruning at a vertex that already has as small a bound is right as long as every earlier spread on
the column ran to the same limit, or was extended to it. Source: F-Diam, Algorithm 5, section 4.5.
"""

from __future__ import annotations

import time

import numpy as np

from ..distinct import distinct
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream import uncompiled as rows_uncompiled
from . import uncompiled
from .columns import Column
from .core import Core
from .dense import level_sweep
from .direction import Front
from .sparse import FIRST_ROW, queue_walk
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    HEAD,
    LEVEL,
    LIMIT,
    MISSED,
    MISSING,
    NEXT,
    REACHED,
    SLICE,
    list_bits,
    set_bits,
)


class SpreadRun:
    """A spread in slices: call `step` until it returns True; `lowered` counts changed vertices.

    Parameters
    ----------
    core : the engine's core. seeds : int64[k]. values : int64[k], bounds of the seeds.
    limit : no bound above it is written. bound : column to lower.
    """

    def __init__(self, core: Core, seeds: np.ndarray, values: np.ndarray, limit: int, bound: Column) -> None:
        order = np.lexsort((seeds, values))
        self._seeds, self._values = np.asarray(seeds, np.int64)[order], np.asarray(values, np.int64)[order]
        if limit >= bound.unreached:
            raise OverflowError(f"the limit {limit} does not fit the bound column ({bound.dtype})")
        self._core, self._limit, self._bound = core, limit, bound.raw()
        self._taken = 0
        self.lowered = 0
        self._front: Front | None = None
        core.work.state[:] = 0

    def seed_level(self, value: int) -> None:
        """Make all vertices with bound exactly `value` the seeds, before the first step. They are
        not listed, so that any number of them costs one bitmap."""
        work = self._core.work
        count = int(equal_bits(self._bound, value, work.frontier))
        work.state[LEVEL] = value
        if count <= work.capacity:
            work.state[COUNT] = list_bits(work.frontier, work.queues[0])
        else:
            self._front = Front(count, 0, 0)

    def step(self, tick: Tick = no_tick) -> bool:
        """Run one dense level or one slice of sparse levels; True when finished."""
        work = self._core.work
        state = work.state
        if self._front is None and state[HEAD] == 0 and state[NEXT] == 0 and state[MISSED] == 0:
            if state[COUNT] == 0:
                if self._taken == len(self._seeds):
                    return True
                state[LEVEL] = self._values[self._taken]
            if state[LEVEL] > self._limit:
                return True
            self._admit_seeds()
        if self._front is not None:
            self._dense_step(tick)
        else:
            self._sparse_step()
        return False

    def _due(self) -> np.ndarray:
        """Seeds whose value is the current level and whose bound was not already lower."""
        level = int(self._core.work.state[LEVEL])
        end = int(np.searchsorted(self._values, level, side="right"))
        due = distinct(self._seeds[self._taken : end])
        self._taken = end
        lower = due[self._bound[due] > level]
        self._bound[lower] = level
        self.lowered += len(lower)
        return due[self._bound[due] == level]

    def _admit_seeds(self) -> None:
        """Add the due seeds to the current queue, or change to dense levels if they do not fit."""
        work = self._core.work
        state = work.state
        count, current = int(state[COUNT]), int(state[CURRENT])
        due = self._due()
        if count + len(due) <= work.capacity:
            work.queues[current, count : count + len(due)] = due
            state[COUNT] = count + len(due)
        else:
            work.frontier[:] = 0
            set_bits(work.frontier, work.queues[current], count)
            set_bits(work.frontier, due, len(due))
            self._front = Front(count + len(due), 0, 0)

    def _next_seed_value(self) -> int:
        return int(self._values[self._taken]) if self._taken < len(self._seeds) else self._limit

    def _sparse_step(self) -> None:
        core, work = self._core, self._core.work
        state = work.state
        arcs, level, reached = int(state[ARCS]), int(state[LEVEL]), int(state[REACHED])
        limits = np.array([min(self._limit, self._next_seed_value()), core.slice_arcs, 0], np.int64)
        begin = time.thread_time()
        reason = sparse_spread(core.paging, core.offsets, self._bound, work.queues, work.missed, state, limits)
        core.counters.add(levels=int(state[LEVEL]) - level, edges_scanned=int(state[ARCS]) - arcs,
                          kernel_cpu_seconds=time.thread_time() - begin)
        self.lowered += int(state[REACHED]) - reached
        if reason == MISSING:
            if not core.load_missed(int(state[MISSED])):
                self._to_dense()
        elif reason == DONE:
            state[COUNT] = 0
        elif reason == LIMIT:
            if state[LEVEL] >= self._limit:
                state[COUNT] = 0
                state[LEVEL] = self._limit + 1
                self._taken = self._taken_up_to_limit()
        elif reason == DENSE:
            self._to_dense()
        elif reason != SLICE:
            raise RuntimeError(f"unknown reason {reason}")

    def _taken_up_to_limit(self) -> int:
        """At the limit nothing grows; seeds at the limit only write their own bound."""
        rest = self._seeds[self._taken :]
        values = self._values[self._taken :]
        for value in distinct(values[values <= self._limit]):
            due = rest[values == value]
            lower = distinct(due[self._bound[due] > value])
            self._bound[lower] = value
            self.lowered += len(lower)
        return len(self._seeds)

    def _to_dense(self) -> None:
        """Make the rest of the queue the frontier; vertices that the level has found keep their bound."""
        work, state = self._core.work, self._core.work.state
        found = int(state[NEXT])
        work.frontier_from_queue()
        state[NEXT] = found
        self.lowered += found
        self._front = Front(int(state[COUNT]), 0, 0)

    def _dense_step(self, tick: Tick) -> None:
        core, work = self._core, self._core.work
        state = work.state
        level = int(state[LEVEL])
        if level >= self._limit:
            self._front = None
            state[COUNT] = state[NEXT] = 0
            state[LEVEL] = self._limit + 1
            self._taken = self._taken_up_to_limit()
            return
        found, other = int(state[NEXT]), 1 - int(state[CURRENT])
        bounded_bits(self._bound, level + 1, work.visited)
        np.copyto(work.before, work.visited)
        sweep = level_sweep(core, False)
        arcs = core.take(sweep, tick)
        core.count_sweep(len(sweep.blocks), arcs)
        state[ARCS] += arcs
        lowered = lower_new(work.visited, work.before, work.frontier, self._bound, level + 1)
        self.lowered += int(lowered)
        set_bits(work.frontier, work.queues[other], found)
        state[NEXT] = 0
        state[LEVEL] = level + 1
        size = int(lowered) + found
        if self._next_seed_value() == level + 1 and level + 1 <= self._limit:
            due = self._due()
            set_bits(work.frontier, due, len(due))
            size += len(due)
        state[COUNT] = state[CURRENT] = 0
        if size <= work.capacity // 4:
            state[COUNT] = list_bits(work.frontier, work.queues[0])
            self._front = None


@kernel
def bounded_bits(bound, value, bitmap):
    """Bit v of bitmap = bound[v] <= value; bits beyond the last vertex are set."""
    n = len(bound)
    for word in range(len(bitmap)):
        bits = np.uint64(0)
        for b in range(64):
            v = (word << 6) + b
            if v >= n or np.int64(bound[v]) <= value:
                bits |= np.uint64(1) << np.uint64(b)
        bitmap[word] = bits


@kernel
def lower_new(visited, before, frontier, bound, value):
    """frontier = visited - before; bound = value there. Returns the number of vertices."""
    count = 0
    for word in range(len(visited)):
        new = visited[word] & ~before[word]
        frontier[word] = new
        if new:
            for b in range(64):
                if (new >> np.uint64(b)) & np.uint64(1):
                    bound[(word << 6) + b] = value
                    count += 1
    return count


@kernel(uncompiled=rows_uncompiled.equal_bits)
def equal_bits(bound, value, bitmap):
    """Bit v of bitmap = bound[v] == value; returns the number of set bits."""
    n = len(bound)
    count = 0
    for word in range(len(bitmap)):
        bits = np.uint64(0)
        for v in range(word << 6, min((word << 6) + 64, n)):
            if np.int64(bound[v]) == value:
                bits |= np.uint64(1) << np.uint64(v & 63)
                count += 1
        bitmap[word] = bits
    return count


@inlined
def _lower(args, v, w, there, tail):
    bound, value = args
    if np.int64(bound[w]) > value:
        bound[w] = value
        there[tail] = w
        tail += 1
    return tail, 0


_walk_spread = queue_walk(_lower)


@kernel(uncompiled=uncompiled.sparse_spread)
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
