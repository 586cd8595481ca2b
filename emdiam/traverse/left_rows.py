"""Rows that a bottom-up level has left unvisited, put aside while their blocks are at hand.

What is reached later has a neighbour that is reached before, and edges have two directions: so the rows of unvisited
vertices alone say who is next, bottom-up. On graphs of small diameter one bottom-up level leaves a hundredth of the
arcs or less, in nearly all blocks. So a level that streams copies these rows into a part of the arena, which is set
apart for that, and the levels after it look there: a BFS reads the store once or twice, not once a level. Where not all
of them fit, the blocks whose rows have no place are read again, and those of them that have one then are kept as well.
Work: a copy of what is left. Bytes: none beside the arena.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.pager import Arena
from .atomics import atomic_add, atomic_or
from .core import BlockSweep, Core
from .dense import in_frontier_row
from .direction import Front
from .rows import block_walk, has_bit, hits_to_second, not_in_second

if TYPE_CHECKING:
    from .bfs import BfsRun, Mode

# A share of the arena is set apart, twice that where several BFS need it, and more once a level has not found room; in
# segments of a share of a block, since every thread fills one of its own. It is not tried where unvisited rows have
# more arcs than so many times those of the frontier, and than so many times the ids of what is set apart.
_SHARE, _MOST_SHARE, _SEGMENTS, _LEAST_SEGMENT, _HOPEFUL = 1 / 4, 3 / 4, 16, 64, 4
# Levels of a BFS that look at these rows: after so many, it is one of many thin levels, which queues are better at.
MOST_LEVELS = 64
# Bytes of a number at most, of the length of a record, and that a segment needs for one more.
_NUMBER, _LENGTH = 10, 2
_LEAST_ROOM = 2 * _NUMBER + _LENGTH
# Entries of a cursor: its segment (-1: none) and where to go on there; whether a row of the block at hand has no place;
# how many segments were begun for that block, how many it has for it, at most so many, and for each the first two.
_SEGMENT, _AT, _FAILED, _BEGUN, _STOCK, _FIRST = 0, 1, 2, 3, 4, 5
_MOST_BEGUN = 8 * _SEGMENTS


class ArenaPart:
    """A part of the arena, in segments from its end on, for the rows that one BFS leaves, or several that are done
    together.

    taken : int64[1], how many segments are in use."""

    def __init__(self, arena: Arena, readers: int = 1) -> None:
        self._arena, self._readers = arena, readers
        self.taken = np.zeros(1, np.int64)
        self._slot_bytes = arena.block_ids * arena.ids.itemsize
        self._size = min(self._slot_bytes, max(_LEAST_SEGMENT, self._slot_bytes // _SEGMENTS))
        self._place: np.ndarray | None = None
        arena.take_back()
        self._slots = self._first_slots()

    def _first_slots(self) -> int:
        return int(self._arena.n_slots * min(2, self._readers) * _SHARE)

    @property
    def room(self) -> int:
        """Segments that are set apart, or would be."""
        return self._slots * (self._slot_bytes // self._size)

    @property
    def most(self) -> int:
        """Segments for one BFS."""
        return -(-2 * self.room // (1 + self._readers))

    @property
    def most_ids(self) -> int:
        """Ids that would fit in those as they are."""
        return self.most * self._size // self._arena.ids.itemsize

    def segments(self) -> np.ndarray:
        """The segments, uint8[k, size], of which the last `room` hold no blocks from now on."""
        if self._place is None or self._readers == 1:
            self._slots, self.taken[0] = self._first_slots(), 0
            most = max(self._slots, int(self._arena.n_slots * _MOST_SHARE))
            ids = self._arena.ids[(self._arena.n_slots - most) * self._arena.block_ids :]
            self._place = ids.view(np.uint8).reshape(-1, self._size)
            self._arena.set_apart(self._slots)
        return self._place

    def grow(self) -> None:
        """All segments hold no blocks from now on."""
        assert self._place is not None
        most = self._place.nbytes // self._slot_bytes
        if self._slots < most:
            self._slots = most
            self._arena.set_apart(most)

    def give_back(self, last: bool = False) -> None:
        """One BFS needs them no more; with `last` none does."""
        if last or self._readers == 1:
            self._arena.take_back()
            self._place = None
            self._slots = self._first_slots()


class LeftRows:
    """The rows in segments of the arena, records one after another: the vertex, how many bytes follow, and how far each
    neighbour is from the one before it (the first: from the vertex), a byte for each 7 bits.

    whole : whether all are there. levels : that have looked at them alone."""

    def __init__(self, core: Core, part: ArenaPart) -> None:
        self._core, self._place, self._part = core, part.segments(), part
        self._fills = np.zeros(len(self._place), np.int64)
        self._own = np.zeros(len(self._place), bool)
        self._more = np.zeros(3, np.int64)
        self._kept = np.zeros(core.table.n_blocks, bool)
        self._cursors, self._lock = list[np.ndarray](), threading.Lock()
        self.whole, self.levels = False, 0

    @classmethod
    def hoped_for(cls, core: Core, front: Front, part: ArenaPart) -> Self | None:
        """A place for what a bottom-up level leaves, where blocks are streamed and it may be little enough."""
        arena = core.pager.arena
        hidden = core.table.n_arcs - front.visited_arcs
        if arena.n_slots >= core.table.n_blocks or not part.room:
            return None
        return cls(core, part) if hidden <= _HOPEFUL * max(front.arcs, part.most_ids) else None

    @property
    def records(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(uint8[segments, size], int64[segments], bytes in each), once the BFS is over and as long as no block has
        been put in their place. Rows of visited vertices may be among them."""
        return (self._place, self._fills) if self.whole and self._core.pager.arena.part_is_intact else None

    def missing(self) -> np.ndarray:
        """The blocks, int64[k] ascending, with an unvisited row that is not there."""
        blocks = self._core.blocks_with(self._core.work.visited, True)
        return blocks[~self._kept[blocks]]

    def level(self) -> tuple[int, BlockSweep]:
        """A bottom-up level: arcs scanned among the rows that are there, and what does the rest, over the other blocks,
        and keeps what they leave as far as there is room; it gives arcs scanned. `close` comes after it."""
        work, layout, scanned = self._core.work, self._core.layout, 0
        if self._own.any():  # not the first level
            scanned = self._look()
            self._part.grow()
        spare = np.flatnonzero(self._own & (2 * self._fills < self._place.shape[1]))
        self._more[:] = 0, self._part.most - np.count_nonzero(self._own), self._part.room

        def run(*piece: Any) -> int:
            with self._lock:
                cursor = self._cursors.pop() if self._cursors else _new_cursor()
            arcs = int(keep_left(piece, layout, work.frontier, work.visited, self._place, self._fills, self._part.taken,
                                 self._own, spare, self._more, self._kept, cursor))
            with self._lock:
                self._cursors.append(cursor)
            return arcs

        return scanned, BlockSweep(self.missing(), run)

    def close(self) -> None:
        """The level is over."""
        for cursor in self._cursors:
            if cursor[_SEGMENT] >= 0:
                self._fills[cursor[_SEGMENT]] = cursor[_AT]
        self._cursors = []
        self.whole = len(self.missing()) == 0

    def look(self) -> int:
        """A bottom-up level over these rows, which are all; arcs scanned."""
        self.levels += 1
        return self._look()

    def _look(self) -> int:
        work, turn = self._core.work, np.zeros(1, np.int64)
        return sum(self._core.everywhere(
            lambda: int(look_at_left(turn, self._place, self._fills, work.frontier, work.visited))))


class LeftLevels:
    """How a BFS does levels once the rows that it has left unvisited are put aside: it looks at these alone. See
    BfsRun.

    part : of the arena, for the rows; several BFS may have one. rows : those that are put aside, if any are."""

    def __init__(self, run: BfsRun) -> None:
        self._run, self.part = run, ArenaPart(run.core.reverse.pager.arena)
        self.rows: LeftRows | None = None
        self._scanned = 0  # arcs that the last sweep has looked at among rows put aside

    @property
    def whole(self) -> bool:
        """Whether all rows that are left were put aside."""
        return self.rows is not None and self.rows.whole

    @property
    def is_better(self) -> bool:
        """Whether a level of few arcs is done among these rows, too, as long as few have been."""
        return self.rows is not None and self.rows.whole and self.rows.levels < MOST_LEVELS

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """One level."""
        run = self._run
        if run.at_limit():
            return run.end(False)
        if self.rows is None:  # distances have widened, and the arena may have had to give up what they were in
            return run.dense
        arcs = self.rows.look()
        run.core.counters.add(levels=1, edges_scanned=arcs)
        return run.dense.end_level(arcs)

    def sweep(self, up: bool) -> tuple[bool, BlockSweep | None]:
        """Which way a dense level goes that would go up or not, and its sweep where rows are put aside in it."""
        run, front = self._run, self._run.front
        if self.rows is None and up:
            self.rows = LeftRows.hoped_for(run.core.reverse, front, self.part)
        elif self.rows is not None and not up:
            up = front.bottom_up = front.reads_less(run.core, self.rows.missing(), run.learned.bias)
        if self.rows is None or not up:
            return up, None
        self._scanned, sweep = self.rows.level()
        run.core.counters.add(edges_scanned=self._scanned)
        return up, sweep

    def close(self) -> int:
        """The sweep of a dense level is done; arcs that it has looked at among rows put aside."""
        if self.rows is not None:
            self.rows.close()
        scanned, self._scanned = self._scanned, 0
        return scanned

    def drop(self) -> None:
        """Rows that were put aside are not needed any more, so that blocks may have their place."""
        if self.rows is not None:
            self.rows = None
            self.part.give_back()

    def end(self) -> LeftRows | None:
        """The BFS is over; the rows that are left, as long as nothing is put in their place."""
        self.part.give_back()
        rows, self.rows = self.rows, None
        return rows


def _new_cursor() -> np.ndarray:
    cursor = np.zeros(_FIRST + 2 * _MOST_BEGUN, np.int64)
    cursor[_SEGMENT] = -1
    return cursor


@inlined
def _put(row, at, number):
    """Write an int64 at row[at]; where it ends."""
    left = np.uint64((number << 1) ^ (number >> 63))
    while left >= np.uint64(128):
        row[at] = np.uint8(left | np.uint64(128))
        left >>= np.uint64(7)
        at += 1
    row[at] = np.uint8(left)
    return at + 1


@inlined
def _get(row, at):
    """(the number at row[at], where it ends)."""
    left = np.uint64(row[at])
    if left >= np.uint64(128):
        left &= np.uint64(127)
        shift = np.uint64(7)
        while True:
            at += 1
            byte = np.uint64(row[at])
            left |= (byte & np.uint64(127)) << shift
            if byte < np.uint64(128):
                break
            shift += np.uint64(7)
    return np.int64(left >> np.uint64(1)) ^ -np.int64(left & np.uint64(1)), at + 1


@inlined
def record_at(row, at):
    """(vertex, where its neighbours begin and end) of the record at row[at]."""
    v, at = _get(row, at)
    return v, at + _LENGTH, at + _LENGTH + np.int64(row[at]) + (np.int64(row[at + 1]) << 8)


@inlined
def neighbour_at(row, at, before):
    """(neighbour, where the next one begins). before : the neighbour before it, or the vertex."""
    apart, at = _get(row, at)
    return before + apart, at


@inlined
def _take_segment(place, fills, taken, own, spare, more, cursor):
    """Go on in another segment with room: one that was begun for a block in vain, one of `spare`, or else a new one;
    -1 if there is none."""
    entry = _FIRST + 2 * cursor[_BEGUN]
    if cursor[_BEGUN] == cursor[_STOCK]:
        cursor[_SEGMENT] = -1
        if cursor[_STOCK] == _MOST_BEGUN:
            return
        i = atomic_add(more, 0, 1)
        if i < len(spare):
            segment = spare[i]
        elif i < len(spare) + more[1] and taken[0] < more[2]:
            segment = len(place) - 1 - atomic_add(taken, 0, 1)
            if segment < len(place) - more[2]:
                return
            own[segment] = True
        else:
            return
        cursor[entry], cursor[entry + 1] = segment, fills[segment]
        cursor[_STOCK] += 1
    cursor[_SEGMENT], cursor[_AT] = cursor[entry], cursor[entry + 1]
    cursor[_BEGUN] += 1


@inlined
def _end_block(fills, cursor, before, at):
    """The block is done: its segments stay, or are there for the next block if one of its rows had no place.

    before, at : segment of the cursor, and where it was there, when the block began."""
    if cursor[_FAILED]:
        for entry in range(_FIRST, _FIRST + 2 * cursor[_BEGUN], 2):
            fills[cursor[entry]] = cursor[entry + 1]
        cursor[_SEGMENT], cursor[_AT] = before, at
    else:
        cursor[_STOCK] -= cursor[_BEGUN]
        for entry in range(_FIRST, _FIRST + 2 * cursor[_STOCK]):
            cursor[entry] = cursor[entry + 2 * cursor[_BEGUN]]
    cursor[_FAILED] = cursor[_BEGUN] = 0


@inlined
def _keep(state, ids, v, begin, end):
    """Append ids[begin:end], arcs of row v, as one record or more."""
    _, _, place, fills, taken, own, spare, more, cursor = state
    while begin < end and not cursor[_FAILED]:
        if cursor[_SEGMENT] < 0 or cursor[_AT] + _LEAST_ROOM > place.shape[1]:
            if cursor[_SEGMENT] >= 0:
                fills[cursor[_SEGMENT]] = cursor[_AT]
            _take_segment(place, fills, taken, own, spare, more, cursor)
            cursor[_FAILED] = cursor[_SEGMENT] < 0
            continue
        row = place[cursor[_SEGMENT]]
        first = _put(row, cursor[_AT], v) + _LENGTH
        last = min(len(row), first + (1 << 8 * _LENGTH) - 1) - _NUMBER
        at, before = first, np.int64(v)
        while begin < end and at <= last:
            w = np.int64(ids[begin])
            at = _put(row, at, w - before)
            before = w
            begin += 1
        row[first - 2], row[first - 1] = (at - first) & 255, (at - first) >> 8
        cursor[_AT] = at


@inlined
def _look_or_keep(state, ids, v, begin, end, whole):
    scanned, hit = in_frontier_row(state, ids, v, begin, end, whole)
    if not hit:
        _keep(state, ids, v, begin, end)
    return scanned, hit


_walk_keeping = block_walk(not_in_second, _look_or_keep, hits_to_second)


@kernel
def keep_left(piece, layout, frontier, visited, place, fills, taken, own, spare, more, kept,
              cursor):
    """As dense.bottom_up, and copies the rows without a hit, all of a block or none, of which kept[block] tells.

    place : uint8[segments, size]; fills : int64[segments], bytes in those that no cursor is in; own : bool[segments],
    those of this BFS; spare : int64[k], those of them with room; more : int64[3], how many were asked for in this
    level, how many others it may begin, and how many are set apart; taken : int64[1], how many of these are in use.
    Threads share all these. cursor : int64, of this call, see above. Returns arcs scanned."""
    chunks, _, turn, grain, _ = piece
    state = (frontier, visited, place, fills, taken, own, spare, more, cursor)
    total = 0
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return total
        for k in range(begin, min(begin + grain, len(chunks))):
            segment, at = cursor[_SEGMENT], cursor[_AT]
            total += _walk_keeping(piece, k, layout, state)
            kept[chunks[k]] = not cursor[_FAILED]
            _end_block(fills, cursor, segment, at)


@inlined
def _drop_visited(row, fill, visited):
    """Leave the records of unvisited vertices alone; their bytes."""
    at = to = np.int64(0)
    while at < fill:
        v, _, end = record_at(row, at)
        if not has_bit(visited, v):
            for i in range(end - at):
                row[to + i] = row[at + i]
            to += end - at
        at = end
    return to


@kernel
def look_at_left(turn, place, fills, frontier, visited):
    """Threads share this: mark unvisited vertices that have a frontier neighbour in `visited`, by the records in
    `place`, and drop the records of visited ones where these are the larger part. Returns arcs scanned."""
    scanned = 0
    while True:
        segment = atomic_add(turn, 0, 1)
        if segment >= len(place):
            return scanned
        row = place[segment]
        at = dead = np.int64(0)
        while at < fills[segment]:
            v, p, end = record_at(row, at)
            hit = has_bit(visited, v)
            if not hit:
                w = v
                while p < end:
                    w, p = neighbour_at(row, p, w)
                    scanned += 1
                    if has_bit(frontier, w):
                        hit = True
                        atomic_or(visited, v >> 6, np.uint64(1) << np.uint64(v & 63))
                        break
            if hit:
                dead += end - at
            at = end
        if 2 * dead > fills[segment]:
            fills[segment] = _drop_visited(row, fills[segment], visited)
