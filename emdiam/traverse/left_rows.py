"""Rows that a bottom-up level has left unvisited, put aside while their blocks are at hand.

What is reached later has a neighbour that is reached before, and edges have two directions: so the rows of unvisited
vertices alone say who is next, bottom-up. On graphs of small diameter one bottom-up level leaves a hundredth of the
arcs or less, in nearly all blocks. So a level that streams copies these rows into a part of the arena, which is lent
for that, and the levels after it look there: a BFS reads the store once or twice, not once a level. If they do not fit,
nothing has changed but that part of the arena.
Work: a copy of what is left. Bytes: none beside the arena.
"""

from __future__ import annotations

import threading
from typing import Any, Self

import numpy as np

from ..jit import inlined, kernel
from ..stream.pager import Tick
from .atomics import atomic_add, atomic_or
from .core import Core
from .dense import in_frontier_row, mark_hits, unvisited
from .direction import Front
from .rows import has_bit, row_walk

# The share of the arena that is lent. It is not tried where unvisited rows have more arcs than so many times
# those of the frontier, and than so many times what fits.
_SHARE, _HOPEFUL = 4, 4
# Levels of a BFS that look at these rows: after so many, it is one of many thin levels, which queues are better at.
MOST_LEVELS = 64
_HEAD = 2  # entries before the neighbours of a record: vertex, how many


class LeftRows:
    """The rows in segments of the arena, records one after another: the vertex, how many neighbours, these.

    whole : whether all are there."""

    def __init__(self, core: Core, place: np.ndarray) -> None:
        self._core, self._place = core, place
        self._fills = np.zeros(len(place), np.int64)
        self._taken = np.zeros(2, np.int64)  # segments in use; whether a row had no place
        self._begun, self._lock = list[np.ndarray](), threading.Lock()
        self.levels = 0

    @classmethod
    def hoped_for(cls, core: Core, front: Front) -> Self | None:
        """A place for what a bottom-up level leaves, where blocks are streamed and it may be little enough."""
        arena = core.pager.arena
        count = arena.n_slots // _SHARE
        hidden = core.table.n_arcs - front.visited_arcs
        if arena.n_slots >= core.table.n_blocks or not count:
            return None
        if hidden > _HOPEFUL * max(front.arcs, count * arena.block_ids):
            return None
        return cls(core, arena.lend(count))

    @property
    def whole(self) -> bool:
        return not self._taken[1]

    def sweep(self, tick: Tick | None) -> int:
        """The bottom-up level over blocks, which fills this; arcs scanned."""
        core = self._core
        work, layout = core.work, core.layout
        blocks = core.blocks_with(work.visited, True)

        def run(*piece: Any) -> int:
            with self._lock:
                cursor = self._begun.pop() if self._begun else np.array([-1, 0], np.int64)
            arcs = int(keep_left(piece, layout, work.frontier, work.visited, self._place, self._fills, self._taken,
                                 cursor))
            with self._lock:
                self._begun.append(cursor)
            return arcs

        arcs = core.pager.sweep(blocks, run, tick) if len(blocks) else 0
        for segment, fill in self._begun:
            if segment >= 0:
                self._fills[segment] = fill
        core.count_sweep(len(blocks), arcs)
        return arcs

    def look(self) -> int:
        """A bottom-up level over these rows; arcs scanned."""
        work, turn = self._core.work, np.zeros(1, np.int64)
        arcs = sum(self._core.everywhere(
            lambda: int(look_at_left(turn, self._place, self._fills, work.frontier, work.visited))))
        self._core.counters.add(levels=1, edges_scanned=arcs)
        self.levels += 1
        return arcs


@inlined
def _keep(state, ids, v, begin, end):  # type: ignore[no-untyped-def]
    """Append ids[begin:end], arcs of row v, as one record or more."""
    _, _, place, fills, taken, cursor = state
    size = place.shape[1]
    while begin < end and not taken[1]:
        segment = cursor[0]
        at = cursor[1]
        if segment < 0 or at + _HEAD >= size:
            if segment >= 0:
                fills[segment] = at
            segment = atomic_add(taken, 0, 1)
            at = 0
            cursor[0] = segment if segment < len(place) else -1
            if segment >= len(place):
                taken[1] = 1
                break
        count = min(end - begin, size - at - _HEAD)
        place[segment, at] = v
        place[segment, at + 1] = count
        for i in range(count):
            place[segment, at + _HEAD + i] = ids[begin + i]
        cursor[1] = at + _HEAD + count
        begin += count


@inlined
def _look_or_keep(state, ids, v, begin, end, whole):  # type: ignore[no-untyped-def]
    scanned, hit = in_frontier_row(state, ids, v, begin, end, whole)
    if not hit:
        _keep(state, ids, v, begin, end)
    return scanned, hit


_walk_keeping = row_walk(unvisited, _look_or_keep, mark_hits)


@kernel
def keep_left(piece, layout, frontier, visited, place, fills, taken, cursor):  # type: ignore[no-untyped-def]
    """As dense.bottom_up, and copies the rows without a hit. place : id[segments, size]; fills : int64[segments],
    entries in those that are full; taken : int64[2], segments begun and whether a row had no place, shared by threads;
    cursor : int64[2], of this call: its segment (-1: none yet) and where to go on there. Returns arcs scanned."""
    return _walk_keeping(piece, layout, (frontier, visited, place, fills, taken, cursor))


@kernel
def look_at_left(turn, place, fills, frontier, visited):  # type: ignore[no-untyped-def]
    """Threads share this: mark unvisited vertices that have a frontier neighbour in `visited`, by the records in
    `place`, and drop the records of visited ones. Returns arcs scanned."""
    scanned = 0
    while True:
        segment = atomic_add(turn, 0, 1)
        if segment >= len(place):
            return scanned
        row = place[segment]
        at = 0
        to = 0
        while at < fills[segment]:
            v = np.int64(row[at])
            end = at + _HEAD + np.int64(row[at + 1])
            if not has_bit(visited, v):
                hit = False
                for p in range(at + _HEAD, end):
                    scanned += 1
                    if has_bit(frontier, np.int64(row[p])):
                        hit = True
                        break
                if hit:
                    atomic_or(visited, v >> 6, np.uint64(1) << np.uint64(v & 63))
                elif to < at:
                    for p in range(at, end):
                        row[to + p - at] = row[p]
                if not hit:
                    to += end - at
            at = end
        fills[segment] = to
