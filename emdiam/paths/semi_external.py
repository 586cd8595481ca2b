"""Shortest paths with the arcs on disk and the labels in RAM; blocks are read by their smallest waiting labels.

A round has three steps. It relaxes the waiting vertices of resident blocks up to `near` narrow windows above the
smallest waiting label, so that blocks are chosen by current labels. It chooses the blocks with the smallest waiting
labels, and threads read as many as fit into a share of the arena. Meanwhile it relaxes further in the resident blocks,
in sweeps in storage order with windows of labels (Delta-stepping), until no vertex waits in them, or none within the
next `ahead` windows. Labels may be too large at first and are corrected (label-correcting). When no vertex waits, every
label is the length of a path that no arc shortens, so it is the distance. The block without waiting vertices for the
longest time is evicted.

Passes in storage order were slower. With 2^18 vertices, 2.6 to 3.1 million arcs in blocks of 4096, weights 1..60 and an
arena of a quarter of the arcs, passes over the waiting rows read the store 64 times on a mesh numbered row by row, and
8 times on a random graph, with the best of six windows. This algorithm reads it 1.0 and 5.2 times, and relaxes each arc
2.3 and 4.1 times. It reads ahead of the windows without limit, which is right while blocks share neighbours. If they do
not (a mesh numbered at random: 89 times), far labels are relaxed in vain. So once both arcs read and arcs relaxed
exceed `frugal` (3) times the number of arcs, only blocks with labels within one window are read (each arc is relaxed 5
times instead of 57).

With small blocks (`at_once`), waking a thread takes longer than reading a block. So the relaxing thread reads the
blocks that are due within `near` windows before it relaxes. On USA-road-d.NY with blocks of 8,192 arcs a search takes
0.034 s this way; 0.048 s with half of each round's blocks read in another thread (because of Python's lock); and
0.045 s with another thread that reads during relaxing, since blocks are then chosen by older labels.

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
# The blocks of a round are read in _PARTS parts, which threads take in turn.
_PARTS = 4
_NOTHING = int(ONES)

Places = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass
class PathCounters(Tally):
    """searches : number of searches. rounds : number of times that blocks were chosen and read. sweeps : number of
    sweeps over blocks in RAM. blocks_read, bytes_read : from disk. arcs_scanned : relaxed arcs."""

    searches: int = 0
    rounds: int = 0
    sweeps: int = 0
    blocks_read: int = 0
    bytes_read: int = 0
    arcs_scanned: int = 0


class SemiExternalPaths:
    """Searches over arcs that are read block by block. The arena keeps its blocks for the next search.

    arena : from ArcBlocks.arena. arena_bytes : size of the arena; at least two blocks. options : number of reading
    threads, width of a window. Raises BudgetError if the arena is too small.
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
        """Lower `labels`, 0 at `seeds` (int64[k], distinct) and all ones elsewhere, to the distances. Labels of float64
        are words (uint64). Raises OSError or StoreError for a damaged block."""
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
        """(block, slot) of all blocks, resident blocks first; each stays until the next one, and others are read ahead.
        blocks : only these, int64[k]."""
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
        """Stop the reading threads; the arcs stay open."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _window(self, lowest: int, scanned: int, before: PathCounters) -> int:
        """The upper limit of the labels that this round relaxes."""
        read = (self.counters.blocks_read - before.blocks_read) * self._arcs.block_arcs
        if min(scanned, read) <= self._arcs.frugal * self._arcs.n_arcs:
            return _NOTHING
        return self._beyond(lowest, self._arcs.ahead)

    def _beyond(self, lowest: int, count: int) -> int:
        """The label that is `count` narrow windows beyond `lowest`, and at least lowest + 1."""
        more = count * self._delta
        beyond = (int((np.uint64(lowest).view(np.float64) + more).view(np.uint64)) if isinstance(more, float)
                  else lowest + more)
        return min(_NOTHING, max(lowest + 1, beyond))

    def _widths(self) -> np.ndarray:
        """(least width, current width) of windows of labels, uint64[2], or float64[2] for floats."""
        if isinstance(self._delta, float):
            return np.array([self._delta, max(self._delta, self._width)])
        least = min(_NOTHING >> 16, int(self._delta))
        return np.array([least, max(least, int(self._width))], np.uint64)

    def _next_blocks(self, lowest_of: np.ndarray, window: int) -> np.ndarray:
        """Start to read the missing blocks with the smallest waiting labels below `window` (or leave it to `_arrive`);
        return the resident blocks that stay. lowest_of : uint64[n_blocks], from waiting_labels."""
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
        """Read blocks into slots; return the bytes read."""
        return sum(self._arcs.read(block, slot, self.arena) for block, slot in places)

    def _make_room(self, n_slots: int) -> None:
        """Free slots of the blocks that have been without waiting vertices for the longest time."""
        short = n_slots - len(self._free)
        if short > 0:
            here = np.flatnonzero(self._slots >= 0)
            for block in here[np.argsort(self._used[here], kind="stable")[:short]].tolist():
                self._free.append(int(self._slots[block]))
                self._slots[block] = -1

    def _outcome(self, places: list[tuple[int, int]], job: Future[int] | None) -> int | BaseException:
        """The bytes read, or the error. Reads the blocks itself if no thread has started, or if `job` is None."""
        if job is not None and not job.cancel():
            return job.exception() or job.result()
        try:
            return self._read(places)
        except Exception as error:
            return error

    def _arrive(self) -> None:
        """Wait for the blocks being read. After an error none of them is resident."""
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
        """Relax the waiting vertices with labels below `window` in resident blocks."""
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
    """The state of one search. places : arguments of waiting_labels. waits : active, keys, groups and hot of Waiting.
    lowest_of : uint64[n_blocks], smallest waiting label of each block. state : see settle_blocks."""

    places: Places
    waits: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    lowest_of: np.ndarray
    state: np.ndarray

    @classmethod
    def of(cls, seeds: np.ndarray, labels: np.ndarray, arcs: ArcBlocks) -> _BlockSearch:
        """The state at the start of a search."""
        rows, waiting = arcs.rows, Waiting.of(seeds, labels, arcs.n_blocks)
        places = (rows.covers, rows.heads, labels, waiting.active, waiting.keys, waiting.groups, waiting.relaxed)
        waits = waiting.active, waiting.keys, waiting.groups, waiting.hot
        return cls(places, waits, np.empty(arcs.n_blocks, np.uint64), np.array([0, 0, _SLICE_ARCS], np.int64))

    def look(self) -> int:
        """Fill lowest_of; return its minimum."""
        waiting_labels(*self.places, self.lowest_of)
        return int(self.lowest_of.min())
