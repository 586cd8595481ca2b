"""Rows that a bottom-up level has left unvisited, put aside while their blocks are in memory.

A vertex reached later has a neighbour reached before, and edges have two directions. So the rows of unvisited vertices
suffice to find the next vertices, bottom-up. On graphs of small diameter one bottom-up level leaves a hundredth of the
arcs or less, in nearly all blocks. So a level that streams copies these rows into a part of the arena set apart for
them, and the levels after it read only that part: a BFS reads the store once or twice, not once a level. If not all
rows fit, the blocks of the others are read again, and rows that then fit are kept as well.
Work: a copy of the remaining rows. Bytes: none beside the arena.
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

# The first _SHARE of the arena is set apart, twice that for several BFS, and up to _MOST_SHARE once a level has not
# found room. Segments are a fraction of a block, since every thread fills one. No rows are put aside if unvisited
# rows have more arcs than _HOPEFUL times the larger of the frontier's arcs and the ids that fit.
_SHARE, _MOST_SHARE, _SEGMENTS, _LEAST_SEGMENT, _HOPEFUL = 1 / 4, 3 / 4, 16, 64, 4
# Levels of a BFS that read these rows: a BFS with more levels has many thin ones, for which queues are better.
MOST_LEVELS = 64
# Bytes: of a number at most, of the length of a record, and that a segment needs for another record.
_NUMBER, _LENGTH = 10, 2
_LEAST_ROOM = 2 * _NUMBER + _LENGTH
# Entries of a cursor: its segment (-1: none) and the position there; whether a row of the current block found no room,
# and whether one of an earlier block did, so that no further rows are copied; number of segments begun for that block,
# and of those in stock for it (at most _MOST_OPENED); then segment and position of each in stock.
_SEGMENT, _AT, _FAILED, _FULL, _OPENED, _STOCK, _FIRST = 0, 1, 2, 3, 4, 5, 6
_MOST_OPENED = 8 * _SEGMENTS


class ArenaPart:
    """A part of the arena, segments at its end, for the remaining rows of one BFS or of several that run together.

    taken : int64[1], number of segments in use."""

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
        """Number of segments that are set apart, or would be."""
        return self._slots * (self._slot_bytes // self._size)

    @property
    def most(self) -> int:
        """Number of segments for one BFS."""
        return -(-2 * self.room // (1 + self._readers))

    @property
    def most_ids(self) -> int:
        """Number of uncompressed ids that would fit in these."""
        return self.most * self._size // self._arena.ids.itemsize

    def segments(self) -> np.ndarray:
        """The segments, uint8[k, size]. From now on no block is put into the last `room` of them."""
        if self._place is None or self._readers == 1:
            self._slots, self.taken[0] = self._first_slots(), 0
            most = max(self._slots, int(self._arena.n_slots * _MOST_SHARE))
            ids = self._arena.ids[(self._arena.n_slots - most) * self._arena.block_ids :]
            self._place = ids.view(np.uint8).reshape(-1, self._size)
            self._arena.set_apart(self._slots)
        return self._place

    def grow(self) -> None:
        """Set all segments apart: no block is put into them from now on."""
        assert self._place is not None
        most = self._place.nbytes // self._slot_bytes
        if self._slots < most:
            self._slots = most
            self._arena.set_apart(most)

    def give_back(self, last: bool = False) -> None:
        """One BFS no longer needs its segments; with `last`, none does."""
        if last or self._readers == 1:
            self._arena.take_back()
            self._place = None
            self._slots = self._first_slots()


class RowsAside:
    """The rows, as records in segments of the arena. A record is the vertex, the number of bytes that follow, and the
    differences between successive neighbours (the first: from the vertex), with 7 bits a byte.

    whole : whether all rows are there. levels : the number of levels that have read only these rows."""

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
        """A RowsAside for the next bottom-up level if blocks are streamed and the rows may be few enough, else None."""
        arena = core.pager.arena
        hidden = core.table.n_arcs - front.visited_arcs
        if arena.n_slots >= core.table.n_blocks or not part.room:
            return None
        return cls(core, part) if hidden <= _HOPEFUL * max(front.arcs, part.most_ids) else None

    @property
    def records(self) -> tuple[np.ndarray, np.ndarray] | None:
        """(uint8[segments, size], int64[segments], bytes used in each), after the BFS and as long as no block has
        overwritten them, else None. Rows of visited vertices may be among them."""
        return (self._place, self._fills) if self.whole and self._core.pager.arena.part_is_intact else None

    def missing(self) -> np.ndarray:
        """The blocks, int64[k] ascending, with an unvisited row that was not put aside."""
        blocks = self._core.blocks_with(self._core.work.visited, True)
        return blocks[~self._kept[blocks]]

    def level(self) -> tuple[int, BlockSweep]:
        """Begin a bottom-up level: returns the arcs scanned among the rows put aside, and the sweep over the other
        blocks, which puts their remaining rows aside as far as there is room. The sweep's result is the number of arcs
        scanned. `close` must follow."""
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
        """End the level."""
        for cursor in self._cursors:
            if cursor[_SEGMENT] >= 0:
                self._fills[cursor[_SEGMENT]] = cursor[_AT]
        self._cursors = []
        self.whole = len(self.missing()) == 0

    def look(self) -> int:
        """Do a bottom-up level over these rows alone, if they are whole; returns arcs scanned."""
        self.levels += 1
        return self._look()

    def _look(self) -> int:
        work, turn = self._core.work, np.zeros(1, np.int64)
        return sum(self._core.everywhere(
            lambda: int(look_at_left(turn, self._place, self._fills, work.frontier, work.visited))))


class LevelsAside:
    """Levels after the rows that remain unvisited have been put aside: they read only these. See BfsRun.

    part : of the arena, for the rows; several BFS may share one. rows : the rows put aside, or None."""

    def __init__(self, run: BfsRun) -> None:
        self._run, self.part = run, ArenaPart(run.core.reverse.pager.arena)
        self.rows: RowsAside | None = None
        self._scanned = 0  # arcs that the last sweep has scanned among rows put aside

    @property
    def whole(self) -> bool:
        """Whether all unvisited rows were put aside."""
        return self.rows is not None and self.rows.whole

    @property
    def is_better(self) -> bool:
        """Whether levels of few arcs are also done among these rows: if all are there and few levels have been."""
        return self.rows is not None and self.rows.whole and self.rows.levels < MOST_LEVELS

    def step(self, tick: Tick = no_tick) -> Mode | None:
        """One level."""
        run = self._run
        if run.at_limit():
            return run.end(False)
        if self.rows is None:  # distances were widened, and the arena may have given up the memory of the rows
            return run.dense
        arcs = self.rows.look()
        run.core.counters.add(levels=1, edges_scanned=arcs)
        return run.dense.end_level(arcs)

    def sweep(self, up: bool) -> tuple[bool, BlockSweep | None]:
        """The direction of a dense level, given whether the rule says `up`, and its sweep if that puts rows aside."""
        run, front = self._run, self._run.front
        if self.rows is None and up:
            self.rows = RowsAside.hoped_for(run.core.reverse, front, self.part)
        elif self.rows is not None and not up:
            up = front.bottom_up = front.reads_less(run.core, self.rows.missing(), run.learned.bias)
        if self.rows is None or not up:
            return up, None
        self._scanned, sweep = self.rows.level()
        run.core.counters.add(edges_scanned=self._scanned)
        return up, sweep

    def close(self) -> int:
        """End the sweep of a dense level; returns the arcs that it has scanned among rows put aside."""
        if self.rows is not None:
            self.rows.close()
        scanned, self._scanned = self._scanned, 0
        return scanned

    def drop(self) -> None:
        """Discard the rows put aside, so that blocks may take their place."""
        if self.rows is not None:
            self.rows = None
            self.part.give_back()

    def end(self) -> RowsAside | None:
        """End the BFS; returns the rows put aside, valid until they are overwritten."""
        self.part.give_back()
        rows, self.rows = self.rows, None
        return rows


def _new_cursor() -> np.ndarray:
    cursor = np.zeros(_FIRST + 2 * _MOST_OPENED, np.int64)
    cursor[_SEGMENT] = -1
    return cursor


@inlined
def _put(row, at, number):
    """Write an int64 at row[at]; returns its end."""
    left = np.uint64((number << 1) ^ (number >> 63))
    while left >= np.uint64(128):
        row[at] = np.uint8(left | np.uint64(128))
        left >>= np.uint64(7)
        at += 1
    row[at] = np.uint8(left)
    return at + 1


@inlined
def _get(row, at):
    """(the number at row[at], its end)."""
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
    """(vertex, begin and end of its neighbours) of the record at row[at]."""
    v, at = _get(row, at)
    return v, at + _LENGTH, at + _LENGTH + np.int64(row[at]) + (np.int64(row[at + 1]) << 8)


@inlined
def neighbour_at(row, at, before):
    """(neighbour, position of the next one). before : the neighbour before it, or the vertex."""
    apart, at = _get(row, at)
    return before + apart, at


@inlined
def _take_segment(place, fills, taken, own, spare, more, cursor):
    """Continue in another segment with room: one stocked from an earlier block, one of `spare`, or a new one. Sets the
    cursor's segment to -1 if there is none."""
    entry = _FIRST + 2 * cursor[_OPENED]
    if cursor[_OPENED] == cursor[_STOCK]:
        cursor[_SEGMENT] = -1
        if cursor[_STOCK] == _MOST_OPENED:
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
    cursor[_OPENED] += 1


@inlined
def _end_block(fills, cursor, before, at):
    """End a block: its segments are kept, or reused for the next block if one of its rows found no room.

    before, at : segment and position of the cursor when the block began."""
    if cursor[_FAILED]:
        for entry in range(_FIRST, _FIRST + 2 * cursor[_OPENED], 2):
            fills[cursor[entry]] = cursor[entry + 1]
        cursor[_SEGMENT], cursor[_AT] = before, at
    else:
        cursor[_STOCK] -= cursor[_OPENED]
        for entry in range(_FIRST, _FIRST + 2 * cursor[_STOCK]):
            cursor[entry] = cursor[entry + 2 * cursor[_OPENED]]
    cursor[_FAILED] = cursor[_OPENED] = 0


@inlined
def _keep(state, ids, v, begin, end):
    """Append ids[begin:end], arcs of row v, as one or more records."""
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
    """As dense.bottom_up, and copies the rows without a hit: all of a block or none, as kept[block] then says.

    place : uint8[segments, size]. fills : int64[segments], bytes used in segments without a cursor. own :
    bool[segments], those of this BFS. spare : int64[k], those of them with room. more : int64[3], number requested in
    this level, number of new ones that it may begin, and number set apart. taken : int64[1], number in use. Threads
    share all these. cursor : int64, of this call, see above. Returns arcs scanned."""
    chunks, _, turn, grain, _ = piece
    state = (frontier, visited, place, fills, taken, own, spare, more, cursor)
    total = 0
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return total
        for k in range(begin, min(begin + grain, len(chunks))):
            segment, at, cursor[_FAILED] = cursor[_SEGMENT], cursor[_AT], cursor[_FULL]
            total += _walk_keeping(piece, k, layout, state)
            kept[chunks[k]] = not cursor[_FAILED]
            cursor[_FULL] = cursor[_FAILED]
            _end_block(fills, cursor, segment, at)


@kernel
def look_at_left(turn, place, fills, frontier, visited):
    """Mark unvisited vertices that have a frontier neighbour in `visited`, by the records in `place`. Where more than a
    quarter of a segment so far is records of visited vertices, these are dropped. Threads share the work. Returns arcs
    scanned."""
    scanned = 0
    while True:
        segment = atomic_add(turn, 0, 1)
        if segment >= len(place):
            return scanned
        row = place[segment]
        at = to = dead = np.int64(0)
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
            if not hit or 4 * dead <= end:
                if to < at:
                    for i in range(end - at):
                        row[to + i] = row[at + i]
                to += end - at
            at = end
        fills[segment] = to
