"""Sparse levels on all threads: many levels in one call, on queues, over the blocks that are resident.

A graph of sqrt(n) levels has thousands of them, with tens of thousands of arcs each. That is too thin for bitmaps, all
of whose words are read in every level, and enough for several threads. The first thread to arrive leads: it opens a
level by a ticket, takes parts of the queue like the others, waits until the parts that others took are done, and closes
the level. Others help when they arrive. No level waits for a thread that has taken no part, so a thread that the system
has suspended delays no other.

A ticket is (number of the level << 32) + vertices of the queue not yet taken; a thread takes a part by lowering it.
Bits of the visited set are set atomically, and the thread that sets one adds the vertex to the next queue. The order of
the queue depends on the threads; its content does not, nor do distances, nor the smallest vertex of the last level.
Rows on missing blocks are put aside, and one thread finishes their level (sparse.py) once Python has loaded the blocks.
Work: as sparse.py. Bytes: a buffer of 512 ids a thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length, row_span
from .atomics import atomic_count, atomic_or, atomic_put, atomic_replace, yield_core
from .sparse import AHEAD, ask_ahead, in_arena, put_row_aside, smallest_of
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
    MISSED,
    MISSING,
    NEXT,
    NEXT_ARCS,
    PROFILE,
    REACHED,
    SLICE,
    THIN,
    count_level,
)

if TYPE_CHECKING:
    from .bfs import BfsRun, Mode
    from .core import Core

# Slots of `shared` (uint64[64]), each in a separate cache line: the ticket; vertices done; entries of the next
# queue; arcs of their rows; arcs scanned; rows put aside; threads that have arrived; whether the call is over.
_TICKET, DONE_PARTS, NEXT_SLOT, NEXT_ARCS_SLOT, SCANNED, _MISSED, CAME, OVER = 0, 8, 16, 24, 32, 40, 48, 56
SHARED_SLOTS = 64
BUFFER = 512
_LEAST_PART, _PARTS = 32, 8


@inlined
def open_tickets(shared, count):
    """Open a level with `count` units. The ticket's level number distinguishes it from the level before."""
    shared[DONE_PARTS] = 0
    shared[NEXT_SLOT] = 0
    shared[NEXT_ARCS_SLOT] = 0
    shared[SCANNED] = 0
    number = (shared[_TICKET] >> np.uint64(32)) + np.uint64(1)
    atomic_put(shared, _TICKET, (number << np.uint64(32)) + np.uint64(count))


@inlined
def take_part(shared, n_threads, least):
    """(first, end) of the part that this thread takes of the open level, at least `least` units if they remain; 0, 0 if
    none remain."""
    while True:
        ticket = shared[_TICKET]
        left = np.int64(ticket & np.uint64(0xFFFFFFFF))
        if left == 0:
            return np.int64(0), np.int64(0)
        part = min(left, max(np.int64(least), left // (_PARTS * n_threads)))
        if atomic_replace(shared, _TICKET, ticket, ticket - np.uint64(part)) == ticket:
            return left - part, left


@inlined
def hand_over(buffer, count, there, shared):
    """Append buffer[:count] to the next queue; entries that do not fit are only counted."""
    at = np.int64(atomic_count(shared, NEXT_SLOT, np.uint64(count)))
    for i in range(min(count, len(there) - at)):
        there[at + i] = buffer[i]


@inlined
def _expand(graph, found, here, there, missed, level, part, buffer, shared):
    """Visit the neighbours of here[part[0]:part[1]], vertices of the level before `level`."""
    (ids, slot_of, shift), offsets = graph
    visited, dist = found
    group, row, hub = offsets
    count = arcs = next_arcs = 0
    following = row_span(group, row, hub, np.int64(here[part[0]]))
    for i in range(part[0], part[1]):
        v = np.int64(here[i])
        p, end = following
        # Rows are scattered: prefetch for the next ones while this one is visited.
        if i + 1 < part[1]:
            following = row_span(group, row, hub, np.int64(here[i + 1]))
            ask_ahead(graph[0], offsets, here[min(i + AHEAD, part[1] - 1)], following[0], following[1])
        while p < end:
            base, stop = in_arena(slot_of, shift, p, end)
            if base < 0:
                put_row_aside(missed, np.int64(atomic_count(shared, _MISSED, np.uint64(1))), v, p)
                break
            for q in range(base, base + stop - p):
                w = np.int64(ids[q])
                bit = np.uint64(1) << np.uint64(w & 63)
                if not visited[w >> 6] & bit and not atomic_or(visited, w >> 6, bit) & bit:
                    if len(dist):
                        dist[w] = level
                    next_arcs += row_length(offsets, w)
                    buffer[count] = w
                    count += 1
                    if count == len(buffer):
                        hand_over(buffer, count, there, shared)
                        count = 0
            arcs += stop - p
            p = stop
    hand_over(buffer, count, there, shared)
    atomic_count(shared, NEXT_ARCS_SLOT, np.uint64(next_arcs))
    atomic_count(shared, SCANNED, np.uint64(arcs))


@inlined
def _help(graph, found, queues, missed, buffer, shared, state, n_threads):
    """Take one part of the open level and do it; False if none remains."""
    begin, end = take_part(shared, n_threads, _LEAST_PART)
    if begin == end:
        return False
    current = state[CURRENT]
    _expand(graph, found, queues[current], queues[1 - current], missed, state[LEVEL] + 1, (begin, end), buffer, shared)
    atomic_count(shared, DONE_PARTS, np.uint64(end - begin))
    return True


@inlined
def _close(queues, shared, state):
    """Make the next level from the results of all threads; returns the reason to stop, or -1."""
    tail, missed = np.int64(shared[NEXT_SLOT]), np.int64(shared[_MISSED])
    state[ARCS] += np.int64(shared[SCANNED])
    if missed:
        state[HEAD] = state[COUNT]
        state[NEXT] = tail
        state[MISSED] = missed
        return MISSING
    if tail == 0:
        state[FARTHEST] = smallest_of(queues[state[CURRENT]], state[COUNT])
        return DONE
    state[REACHED] += tail
    state[LEVEL] += 1
    count_level(state, PROFILE, state[LEVEL], tail)
    state[CURRENT] = 1 - state[CURRENT]
    state[COUNT] = tail
    return -1


@kernel
def shared_levels(graph, found, queues, missed, buffers, shared, state, limits):
    """Run BFS levels on every thread that calls it with the same `shared`. All but one return -1; that one returns why
    it stopped (DONE, DENSE, LIMIT, SLICE, THIN: between two levels; MISSING: before the end of one), with the arcs of
    the next queue in state[NEXT_ARCS].

    graph : paging, offsets; found : visited, dist; these, queues, missed, state : see sparse_bfs.
    buffers : id[threads, k]. shared : uint64[64], zeros. limits : int64[5] = radius, arcs of this slice, arcs of a
    queue that count as dense (at most the capacity of a queue), arcs below which a level is thin, and arcs of the
    current queue.
    """
    me = np.int64(atomic_count(shared, CAME, np.uint64(1)))
    buffer, n_threads = buffers[me], len(buffers)
    if me:
        while not shared[OVER]:
            if not _help(graph, found, queues, missed, buffer, shared, state, n_threads):
                yield_core()
        return -1
    reason, stop_arcs, next_arcs = -1, state[ARCS] + limits[1], limits[4]
    while reason < 0:
        if state[LEVEL] >= limits[0]:
            reason = LIMIT
        elif next_arcs > limits[2]:
            reason = DENSE
        elif next_arcs < limits[3]:
            reason = THIN
        elif state[ARCS] >= stop_arcs:
            reason = SLICE
        else:
            open_tickets(shared, state[COUNT])
            while _help(graph, found, queues, missed, buffer, shared, state, n_threads):
                pass
            while np.int64(atomic_count(shared, DONE_PARTS, np.uint64(0))) < state[COUNT]:
                yield_core()
            next_arcs = np.int64(shared[NEXT_ARCS_SLOT])
            reason = _close(queues, shared, state)
    state[NEXT_ARCS] = next_arcs
    atomic_put(shared, OVER, np.uint64(1))
    return reason


def share_levels(core: Core, dist: np.ndarray, limits: np.ndarray) -> int:
    """Run levels on all threads from the current queue of core.work; returns the reason to stop. dist, limits : see
    shared_levels."""
    work, graph = core.work, (core.paging, core.offsets)
    buffers, shared = np.empty((core.threads.compute, BUFFER), work.queues.dtype), np.zeros(SHARED_SLOTS, np.uint64)
    return max(core.everywhere(lambda: int(shared_levels(
        graph, (work.visited, dist), work.queues, work.missed, buffers, shared, work.state, limits))))


class SharedLevels:
    """Levels that are worth more than one thread and have too few arcs for bitmaps. See BfsRun."""

    def __init__(self, run: BfsRun) -> None:
        self._run, self._most, self._least = run, 0, 0

    def enter(self, most: int, least: int) -> Mode:
        """Start between two levels; continue while the next level has at most `most` and at least `least` arcs."""
        self._most, self._least = most, least
        return self

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """Levels until the threads have a reason to stop."""
        run, core, state = self._run, self._run.core, self._run.core.work.state
        run.used.add(SharedLevels)
        level, arcs = run.level, int(state[ARCS])
        limits = np.array([run.level_limit, core.slice_arcs, self._most, self._least, state[NEXT_ARCS]], np.int64)
        reason = share_levels(core, run.distances, limits)
        arcs = int(state[ARCS]) - arcs
        run.front.visited_arcs += arcs
        core.counters.add(levels=run.level - level + (reason == DONE), edges_scanned=arcs)
        if reason in (THIN, DENSE, SLICE):
            return run.sparse.go_on(int(state[NEXT_ARCS]))
        if reason != MISSING:  # MISSING is before the end of a level
            state[NEXT_ARCS] = 0
        return run.sparse.after(reason)
