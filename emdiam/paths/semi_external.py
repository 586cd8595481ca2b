"""Shortest paths with the arcs on disk and the labels in RAM: blocks by the smallest label in them.

A round relaxes what waits in the blocks that are there, as far as `near` narrow windows above the smallest label that
waits, so that the blocks to read are chosen by labels of now; picks the blocks where the smallest labels wait, reads as
many as a share of the arena holds, in threads, and meanwhile relaxes further in the blocks that are there, in sweeps in
storage order with windows of labels (Delta-stepping), until nothing waits in them, or nothing in the next `ahead`
windows. Labels may be too large at first and are corrected (label-correcting); when nothing waits anywhere, every one
is the length of a path and no arc shortens it, so it is the distance. The block in which nothing waited for the longest
time makes room.

Why not pass after pass in storage order: measured with 2^18 vertices, 2.6 to 3.1 million arcs in blocks of 4096,
weights 1..60 and an arena of a quarter, passes over the waiting rows read 64 stores on a mesh numbered row by row and 8
on a random graph with the best of six windows; this reads 1.0 and 5.2, and relaxes 2.3 and 4.1 arcs for each that there
is. It reads ahead of the windows without limit, which is right as long as blocks meet. Where they do not (a mesh
numbered at random: 89 stores), far labels are relaxed in vain; so from the moment both arcs read and arcs relaxed
exceed `frugal` times (3 here) those there are, only blocks with labels below one window are taken (5 arcs relaxed
instead of 57).

Blocks so small that a thread takes longer to wake than to read one (`at_once`) are read by the thread that relaxes, and
before it does, those that are due below `near` windows: on USA-road-d.NY with blocks of 8,192 arcs, where a search
takes 0.034 s so, 0.048 s with half of each round's blocks read in another thread (for Python's lock), and 0.045 s where
that reads while this one relaxes, since then blocks are chosen by labels of before.

Bytes: labels 4 or 8 and two bits a vertex (relaxing.py), the arena, 60 a block.
Source: Ajwani, Beckmann, Meyer, Veith (2012), section 3 (SE SSSP); Meyer and Sanders (2003).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..errors import BudgetError
from ..stream.counters import Tally
from ..units import format_size
from .blocks import ArcBlocks
from .paths import SearchOptions
from .queued import new_queue, settle_queued
from .relaxing import ONES, Waiting, new_batch, settle_blocks, waiting_labels

_SLICE_ARCS = 1 << 23
# Blocks of a round are read in so many parts, by threads as they come.
_PARTS = 4
_NOTHING = int(ONES)

Places = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class PathCounters(Tally):
    """searches : of shortest paths. rounds : times that blocks were chosen and read.
    sweeps : over the blocks in RAM. blocks_read, bytes_read : from disk. arcs_scanned : relaxed."""

    searches: int = 0
    rounds: int = 0
    sweeps: int = 0
    blocks_read: int = 0
    bytes_read: int = 0
    arcs_scanned: int = 0


class SemiExternalPaths:
    """Searches over arcs read block by block. What the arena holds stays for the next search. arena : what
    ArcBlocks.arena gave.

    arena_bytes : of blocks in RAM; two at least if there are two. options : threads that read, the width of a window.
    Raises BudgetError if the arena is too small.
    """

    def __init__(self, arcs: ArcBlocks, arena_bytes: int, options: SearchOptions) -> None:
        block_bytes = arcs.arc_bytes * arcs.block_arcs
        n_slots = min(arcs.n_blocks, arena_bytes // block_bytes)
        if n_slots < min(2, arcs.n_blocks):
            raise BudgetError(f"an arena of {format_size(arena_bytes)} does not hold two blocks of {arcs.name}",
                              remedy=f"give it at least {format_size(2 * block_bytes)}")
        self._arcs, self._tick = arcs, options.tick
        self.counters = PathCounters()
        self.arena, self._lot = arcs.arena(n_slots), new_batch()
        self._batch = max(1, n_slots // arcs.share)
        self._queue = new_queue(arcs.n_vertices) if arcs.near else None
        self._slots = np.full(arcs.n_blocks, -1, np.int64)
        self._used = np.zeros(arcs.n_blocks, np.int64)
        self._free = list(range(n_slots))
        self._arriving: list[tuple[list[tuple[int, int]], Future[int] | None]] = []
        self._pool = ThreadPoolExecutor(max(1, options.threads - 1), thread_name_prefix="paths")
        self._delta = arcs.least_width(options.delta)
        self._width: int | float = 0

    def settle(self, labels: np.ndarray, seeds: np.ndarray) -> None:
        """Bring `labels`, 0 at `seeds` (int64[k], no vertex twice) and all ones elsewhere, to the distances. Raises
        OSError or StoreError for a damaged block. Labels of float64 are given as words (uint64)."""
        self.counters.searches += 1
        self._width = 0
        if not self._arcs.n_blocks:
            return
        search = _BlockSearch.of(seeds, labels, self._arcs)
        before = self.counters.copy()
        try:
            while (lowest := search.look()) != _NOTHING:
                if self._arcs.near and not self._arcs.at_once:
                    here = np.flatnonzero(self._slots >= 0)
                    self._relax(here, self._beyond(lowest, self._arcs.near), search)
                    if (lowest := search.look()) == _NOTHING:
                        break
                window = self._window(lowest, int(search.state[0]), before)
                if self._arcs.at_once:
                    self._next_blocks(search.lowest_of, self._beyond(lowest, self._arcs.near)
                                      if self._arcs.near else window)
                    self._arrive()
                    resident = np.flatnonzero(self._slots >= 0)
                else:
                    resident = self._next_blocks(search.lowest_of, window)
                self._relax(resident, window, search)
                self._arrive()
        finally:
            self._arrive()
        self.counters.arcs_scanned += int(search.state[0])
        self.counters.sweeps += int(search.state[1])

    def every_block(self, blocks: np.ndarray | None = None) -> Iterator[tuple[int, int]]:
        """(block, slot) of all blocks, those that are here first, each there until the next; others are read ahead.
        blocks : of these alone, int64[k]."""
        wanted = np.arange(len(self._slots)) if blocks is None else blocks
        resident, missing = wanted[self._slots[wanted] >= 0], wanted[self._slots[wanted] < 0].tolist()
        for block in resident.tolist():
            yield block, int(self._slots[block])
        self._make_room(min(2, len(missing)))
        jobs = deque[tuple[int, int, Future[int]]]()
        while missing or jobs:
            while missing and self._free and len(jobs) < 2:
                block, slot = missing.pop(0), self._free.pop()
                jobs.append((block, slot, self._pool.submit(self._arcs.read, block, slot, self.arena)))
            block, slot, job = jobs.popleft()
            self.counters.bytes_read += job.result()
            self.counters.blocks_read += 1
            yield block, slot
            self._free.append(slot)

    def close(self) -> None:
        """End the reading threads; the arcs stay open."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _window(self, lowest: int, scanned: int, before: PathCounters) -> int:
        """Labels below this are relaxed in this round."""
        read = (self.counters.blocks_read - before.blocks_read) * self._arcs.block_arcs
        if min(scanned, read) <= self._arcs.frugal * self._arcs.n_arcs:
            return _NOTHING
        return self._beyond(lowest, self._arcs.ahead)

    def _beyond(self, lowest: int, count: int) -> int:
        """The label that is so many narrow windows beyond this one, at least the next one."""
        more = count * self._delta
        beyond = (int((np.uint64(lowest).view(np.float64) + more).view(np.uint64)) if isinstance(more, float)
                  else lowest + more)
        return min(_NOTHING, max(lowest + 1, beyond))

    def _widths(self) -> np.ndarray:
        """(least width, current one) of windows of labels, uint64[2], or float64[2] where weights are floats."""
        if isinstance(self._delta, float):
            return np.array([self._delta, max(self._delta, self._width)])
        least = min(_NOTHING >> 16, int(self._delta))
        return np.array([least, max(least, int(self._width))], np.uint64)

    def _next_blocks(self, lowest_of: np.ndarray, window: int) -> np.ndarray:
        """Begin to read the blocks with the smallest waiting labels, below `window`, that are not here (or leave it to
        `_arrive`); returns those that are and stay. lowest_of : uint64[n_blocks], as of waiting_labels."""
        self.counters.rounds += 1
        due = lowest_of < np.uint64(window)
        here = self._slots >= 0
        self._used[due & here] = self.counters.rounds
        missing = np.flatnonzero(due & ~here)
        if len(missing) > self._batch:
            missing = missing[np.sort(np.argsort(lowest_of[missing], kind="stable")[: self._batch])]
        self._make_room(len(missing))
        resident = np.flatnonzero(self._slots >= 0)
        coming = [(block, self._free.pop()) for block in missing.tolist()]
        if self._arcs.at_once:
            self._arriving.append((coming, None))
            return resident
        parts = min(_PARTS, len(coming))
        for part in (coming[first::parts] for first in range(parts)):
            self._arriving.append((part, self._pool.submit(self._read, part)))
        return resident

    def _read(self, places: list[tuple[int, int]]) -> int:
        """Bring blocks into slots; the bytes read."""
        return sum(self._arcs.read(block, slot, self.arena) for block, slot in places)

    def _make_room(self, n_slots: int) -> None:
        """Free slots, from the blocks that nothing waited in for the longest time."""
        short = n_slots - len(self._free)
        if short > 0:
            here = np.flatnonzero(self._slots >= 0)
            for block in here[np.argsort(self._used[here], kind="stable")[:short]].tolist():
                self._free.append(int(self._slots[block]))
                self._slots[block] = -1

    def _outcome(self, places: list[tuple[int, int]], job: Future[int] | None) -> int | BaseException:
        """The bytes read, or the error. What no thread has begun yet, or none is asked to (None), is read here."""
        if job is not None and not job.cancel():
            return job.exception() or job.result()
        try:
            return self._read(places)
        except Exception as error:
            return error

    def _arrive(self) -> None:
        """Wait for the blocks being read. After an error none of them is here."""
        arriving, self._arriving = self._arriving, []
        outcomes = [self._outcome(*one) for one in reversed(arriving)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if errors:
            self._free += [slot for places, _ in arriving for _, slot in places]
            raise errors[0]
        self.counters.bytes_read += sum(cast("list[int]", outcomes))
        for places, _ in arriving:
            for block, slot in places:
                self._slots[block], self._used[block] = slot, self.counters.rounds
            self.counters.blocks_read += len(places)

    def _relax(self, resident: np.ndarray, window: int, search: _BlockSearch) -> None:
        """Relax what waits below `window` in blocks that are here."""
        if not len(resident):
            return
        limits = np.array([window, 0], np.uint64)
        widths, quiet = self._widths(), False
        while not quiet:
            where = self._slots, resident, self._arcs.block_arcs, *search.places[:3], search.waits, search.places[-1]
            if self._queue is None:
                quiet = settle_blocks(self.arena, self._lot, *where, limits, widths, search.state)
            else:
                quiet = settle_queued(self.arena, self._lot, self._queue, *where, limits, widths, search.state)
            self._tick()
        self._width = widths[1].item()


@dataclass(frozen=True)
class _BlockSearch:
    """places : what waiting_labels takes. waits : active, keys, groups and hot of Waiting. lowest_of :
    uint64[n_blocks], the smallest label that waits in each. state : see settle_blocks."""

    places: Places
    waits: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    lowest_of: np.ndarray
    state: np.ndarray

    @classmethod
    def of(cls, seeds: np.ndarray, labels: np.ndarray, arcs: ArcBlocks) -> _BlockSearch:
        """At its beginning."""
        rows, waiting = arcs.rows, Waiting.of(seeds, labels, arcs.n_blocks)
        places = (rows.covers, rows.heads, labels, waiting.active, waiting.keys, waiting.groups, waiting.relaxed)
        waits = waiting.active, waiting.keys, waiting.groups, waiting.hot
        return cls(places, waits, np.empty(arcs.n_blocks, np.uint64), np.array([0, 0, _SLICE_ARCS], np.int64))

    def look(self) -> int:
        """Fill lowest_of; the smallest of them."""
        waiting_labels(*self.places, self.lowest_of)
        return int(self.lowest_of.min())
