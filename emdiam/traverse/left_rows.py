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
from ..stream.pager import Arena
from .atomics import atomic_add, atomic_or
from .core import Core, Sweep
from .dense import in_frontier_row, mark_hits, unvisited
from .direction import Front
from .rows import has_bit, row_walk

# The share of the arena that is lent. It is not tried where unvisited rows have more arcs than so many times
# those of the frontier, and than so many times what fits.
_SHARE, _HOPEFUL = 4, 4
# Levels of a BFS that look at these rows: after so many, it is one of many thin levels, which queues are better at.
MOST_LEVELS = 64
HEAD = 2  # entries before the neighbours of a record: vertex, how many


class Lent:
    """A part of the arena, in segments, for the rows that one BFS leaves, or several that are done together.

    segments : id[k, size]. taken : int64[1], how many are in use."""

    def __init__(self, arena: Arena, readers: int = 1) -> None:
        self._arena, self._readers = arena, readers
        self.taken = np.zeros(1, np.int64)
        self._lent: np.ndarray | None = None
        arena.take_back()

    @property
    def room(self) -> int:
        """Segments that may be lent: more where several need them."""
        return self._arena.n_slots * min(2, self._readers) // _SHARE if self._lent is None else len(self._lent)

    @property
    def most(self) -> int:
        """Segments for one BFS."""
        return -(-2 * self.room // (1 + self._readers))

    def segments(self) -> np.ndarray:
        """The segments, which hold no blocks from now on."""
        if self._lent is None or self._readers == 1:
            self._lent, self.taken[0] = self._arena.lend(self.room), 0
        return self._lent

    def give_back(self, last: bool = False) -> None:
        """One BFS needs them no more; with `last` none does."""
        if last or self._readers == 1:
            self._arena.take_back()
            self._lent = None


class LeftRows:
    """The rows in segments of the arena, records one after another: the vertex, how many neighbours, these.

    whole : whether all are there."""

    def __init__(self, core: Core, lent: Lent) -> None:
        self._core, self._place, self._taken = core, lent.segments(), lent.taken
        self._fills = np.zeros(len(self._place), np.int64)
        self._state = np.array([lent.most, 0], np.int64)  # segments that it may still take; whether a row had no place
        self._begun, self._lock = list[np.ndarray](), threading.Lock()
        self.levels = 0

    @classmethod
    def hoped_for(cls, core: Core, front: Front, lent: Lent) -> Self | None:
        """A place for what a bottom-up level leaves, where blocks are streamed and it may be little enough."""
        arena = core.pager.arena
        hidden = core.table.n_arcs - front.visited_arcs
        if arena.n_slots >= core.table.n_blocks or not lent.room:
            return None
        if hidden > _HOPEFUL * max(front.arcs, lent.most * arena.block_ids):
            return None
        return cls(core, lent)

    @property
    def records(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(id[segments, size], int64[segments], entries in each), once the BFS is over and as long as no block has been
        put in their place. Rows of visited vertices may be among them."""
        return (self._place, self._fills) if self._core.pager.arena.lent_is_there else None

    @property
    def whole(self) -> bool:
        return not self._state[1]

    def level(self) -> Sweep:
        """The bottom-up level over blocks, which fills this; it gives arcs scanned. `close` comes after it."""
        work, layout = self._core.work, self._core.layout

        def run(*piece: Any) -> int:
            with self._lock:
                cursor = self._begun.pop() if self._begun else np.array([-1, 0], np.int64)
            arcs = int(keep_left(piece, layout, work.frontier, work.visited, self._place, self._fills, self._taken,
                                 self._state, cursor))
            with self._lock:
                self._begun.append(cursor)
            return arcs

        return Sweep(self._core.blocks_with(work.visited, True), run)

    def close(self) -> None:
        """The level is over."""
        for segment, fill in self._begun:
            if segment >= 0:
                self._fills[segment] = fill

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
    _, _, place, fills, taken, about, cursor = state
    size = place.shape[1]
    while begin < end and not about[1]:
        segment = cursor[0]
        at = cursor[1]
        if segment < 0 or at + HEAD >= size:
            if segment >= 0:
                fills[segment] = at
            segment = atomic_add(taken, 0, 1) if atomic_add(about, 0, -1) > 0 else len(place)
            at = 0
            cursor[0] = segment if segment < len(place) else -1
            if segment >= len(place):
                about[1] = 1
                break
        count = min(end - begin, size - at - HEAD)
        place[segment, at] = v
        place[segment, at + 1] = count
        for i in range(count):
            place[segment, at + HEAD + i] = ids[begin + i]
        cursor[1] = at + HEAD + count
        begin += count


@inlined
def _look_or_keep(state, ids, v, begin, end, whole):  # type: ignore[no-untyped-def]
    scanned, hit = in_frontier_row(state, ids, v, begin, end, whole)
    if not hit:
        _keep(state, ids, v, begin, end)
    return scanned, hit


_walk_keeping = row_walk(unvisited, _look_or_keep, mark_hits)


@kernel
def keep_left(piece, layout, frontier, visited, place, fills, taken, about, cursor):  # type: ignore[no-untyped-def]
    """As dense.bottom_up, and copies the rows without a hit. place : id[segments, size]; fills : int64[segments],
    entries in those that are full; taken : int64[1], segments begun, and about : int64[2], how many more may be by this
    BFS and whether a row had no place, shared by threads; cursor : int64[2], of this call: its segment (-1: none yet)
    and where to go on there. Returns arcs scanned."""
    return _walk_keeping(piece, layout, (frontier, visited, place, fills, taken, about, cursor))


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
            end = at + HEAD + np.int64(row[at + 1])
            if not has_bit(visited, v):
                hit = False
                for p in range(at + HEAD, end):
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
