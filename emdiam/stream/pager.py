"""The pager: brings blocks to kernels, from the arena or from the store.

Two ways, by what a level needs. `load` puts the few blocks of a sparse level into the arena (eviction by recency).
`sweep` runs a kernel over many blocks: first those in the arena, in parallel and without copying; then the rest in
storage order through private buffers of the fetching threads, each of which reads, checks, decodes and runs the kernel
itself, so that both cores stay busy whichever of the three is the slowest. A sweep fills free slots but evicts nothing:
scanning through a cache smaller than the graph would only throw it away.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ..progress import Tick, no_tick
from ..store.array_reader import ShardedArray
from .counters import SharedCounters
from .rows import RowCheck
from .threads import Begun, Threads

# kernel(chunks, position, turn, grain, ids) -> arcs scanned
BlockKernel = Callable[[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray], int]
# Blocks that a kernel runs over without a look at the clock and at Ctrl-C: 2^26 ids of the default.
_TURN_BLOCKS = 1 << 10
_RESERVED = np.iinfo(np.int64).max  # as if used later than all others: the slot is not taken
# Blocks that are read ahead on each side of one, within so many of it; and slots of an arena that has room for that.
_AHEAD, _REACH, _ROOM = 4, 8, 64


def release_pages(values: np.ndarray) -> None:
    """Give the memory of a contiguous vector back to the system but for its ends; the values are lost."""
    page = mmap.PAGESIZE
    first = -(-values.ctypes.data // page) * page
    length = (values.ctypes.data + values.nbytes - first) // page * page
    if length > 0:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), ctypes.c_int(mmap.MADV_DONTNEED))


class Arena:
    """A pool of decoded blocks, allocated once, with eviction by recency. If every block fits, it is the graph in
    memory, block c in slot c after `Pager.preload`, and kernels run at in-memory speed on the same code.

    Parameters
    ----------
    n_blocks : blocks of the graph. n_slots : blocks that fit. block_ids : ids a block.
    dtype : id dtype.

    Attributes
    ----------
    ids : dtype[n_slots * block_ids], the pool. slot_of : int32[n_blocks], slot or -1. in_order : every block is in the
    slot of its number, so that `ids` are those of the graph. settle() : waits until nobody writes to slots any more,
    before memory of them goes elsewhere.
    """

    settle: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, n_blocks: int, n_slots: int, block_ids: int, dtype: np.dtype) -> None:
        if n_slots < 1 and n_blocks:
            raise ValueError("an arena needs at least one slot")
        self.n_slots, self.block_ids = n_slots, block_ids
        self.ids = np.empty(n_slots * block_ids, dtype)
        self.slot_of, self.in_order = np.full(n_blocks, -1, np.int32), False
        self._block_in = np.full(n_slots, -1, np.int64)
        self._used = np.zeros(n_slots, np.int64)
        self._tick = 0
        self._apart_from = n_slots

    def row(self, slot: int) -> np.ndarray:
        """The ids of a slot, dtype[block_ids] (a view)."""
        return self.ids[slot * self.block_ids : (slot + 1) * self.block_ids]

    def touch(self, blocks: np.ndarray) -> None:
        """Note that these resident blocks are in use now."""
        self._tick += 1
        self._used[self.slot_of[blocks]] = self._tick

    def resident(self, blocks: np.ndarray) -> np.ndarray:
        """bool[k]: which of `blocks` are in the arena."""
        return self.slot_of[blocks] >= 0

    def take_slots(self, count: int, keep: np.ndarray) -> np.ndarray:
        """Free `count` slots, least recently used first, never those of blocks `keep`.

        Returns int64[count] slots, ascending; fewer if there are not enough.
        """
        priority = np.where(self._block_in < 0, -1, self._used)[: self.n_slots]
        locked = self.slot_of[keep]
        priority[locked[locked >= 0]] = _RESERVED
        count = min(count, int(np.count_nonzero(priority < _RESERVED)))
        if count == 0:
            return np.empty(0, np.int64)
        slots = np.sort(np.argpartition(priority, count - 1)[:count]).astype(np.int64)
        old = self._block_in[slots]
        self.slot_of[old[old >= 0]], self.in_order = -1, False
        self._block_in[slots] = -1
        if slots[-1] >= self._apart_from:
            self._apart_from = len(self._block_in)
        return slots

    def reserve_slots(self, blocks: np.ndarray, keep: np.ndarray) -> np.ndarray:
        """Slots for `blocks` (int64[k]), which nobody else is given until `admit` or `leave_slots`; see take_slots."""
        slots = self.take_slots(len(blocks), keep)
        self._block_in[slots], self._used[slots] = blocks, _RESERVED
        return slots

    def leave_slots(self, slots: list[int]) -> None:
        """No block comes to these reserved slots."""
        self._block_in[slots] = -1

    def _vacate(self, first: int) -> None:
        """The blocks in slot `first` and those after it are no longer there."""
        dropped = self._block_in[first:]
        self.slot_of[dropped[dropped >= 0]], self.in_order = -1, False
        self._block_in[first:] = -1

    def set_apart(self, count: int) -> np.ndarray:
        """The memory of the last `count` slots, dtype[count, block_ids], in which no block is until `take_back`."""
        self.settle()
        self.take_back()
        self.n_slots -= count
        self._apart_from = self.n_slots
        self._vacate(self.n_slots)
        return self.ids[self.n_slots * self.block_ids :].reshape(count, self.block_ids)

    @property
    def part_is_intact(self) -> bool:
        """Whether what was written to the memory set apart last is unchanged: no slot of it has been taken since."""
        return self._apart_from < len(self._block_in)

    def take_back(self) -> None:
        """All slots are for blocks again, whatever was set apart."""
        self.n_slots = len(self._block_in)

    def shrink(self, n_slots: int) -> None:
        """Give up all but the first `n_slots` slots, and their memory to the system."""
        self.settle()
        self._vacate(n_slots)
        first = n_slots * self.block_ids
        release_pages(self.ids[first:])
        self.ids, self.n_slots = self.ids[:first], n_slots
        self._block_in, self._used = self._block_in[:n_slots], self._used[:n_slots]
        self._apart_from = n_slots

    def admit(self, block: int, slot: int) -> None:
        """Block `block` has been decoded into `slot`."""
        self._block_in[slot] = block
        self._used[slot] = self._tick
        self.slot_of[block] = slot


class Loading:
    """Blocks on their way into reserved slots: `wait`, or `stop` after an error elsewhere. Until then nobody sees them.

    blocks : int64[k]. here : one run of them is fetched by the thread that waits."""

    _begun: Begun | None

    def __init__(self, pager: Pager, blocks: np.ndarray, keep: np.ndarray, here: bool) -> None:
        slots = pager.arena.reserve_slots(blocks, keep)
        self.blocks, self._pager, self._slots = blocks, pager, dict(zip(blocks.tolist(), slots.tolist(), strict=True))
        self._runs, self._begun = list(pager.runs(blocks)), None
        pager.on_way.append(self)
        if not here or len(self._runs) > 1:
            self._begun = pager.threads.begin(self._runs, self._fetch)

    def _fetch(self, run: tuple[int, int]) -> None:
        first, count = run
        self._pager.fetch(first, [self._pager.arena.row(self._slots[b]) for b in range(first, first + count)])

    def wait(self, tick: Tick = no_tick) -> None:
        """Wait until they are there; they count as used now. Raises StoreError."""
        begin, arena = time.perf_counter(), self._pager.arena
        try:
            if self._begun is None:
                self._fetch(self._runs[0])
            else:
                self._begun.wait(tick)
        except BaseException:
            self._end()
            raise
        self._pager.on_way.remove(self)
        for block, slot in self._slots.items():
            arena.admit(block, slot)
        self._pager.counters.add(wait_seconds=time.perf_counter() - begin)

    def stop(self) -> None:
        """None of them comes."""
        if self._begun is not None:
            self._begun.stop()
        self._end()

    def _end(self) -> None:
        """Nobody writes to the slots any more."""
        self._pager.on_way.remove(self)
        self._pager.arena.leave_slots(list(self._slots.values()))


class Pager:
    """Blocks of one array of ids.

    Parameters
    ----------
    array : the store's `indices`. rows : looks at the rows of every block when it is first read; None: nobody does.
    arena : the cache. threads : that fetch and compute. counters : where I/O is counted.
    run_blocks : blocks a fetching thread reads in one go. watcher(blocks, position, ids) : looks, from several threads,
    at what sweeps read (None: nobody does). on_way : blocks that are brought now.
    """

    def __init__(self, array: ShardedArray, rows: RowCheck | None, arena: Arena, threads: Threads,
                 counters: SharedCounters, run_blocks: int = 8) -> None:
        self.arena, self.threads, self.counters = arena, threads, counters
        self._array, self._rows, self._run_blocks = array, rows, run_blocks
        self._local = threading.local()
        self._pass_blocks, self._pass_runs = 0, list[int]()
        self.on_way = list[Loading]()
        arena.settle = self.settle
        self.watcher: Callable[[np.ndarray, np.ndarray, np.ndarray], None] | None = None

    @property
    def everything_resident(self) -> bool:
        """True if every block is in the arena."""
        return self.arena.n_slots >= self._array.n_chunks and bool((self.arena.slot_of >= 0).all())

    @property
    def position(self) -> tuple[int, int]:
        """Blocks of the running sweep (or preload) that are done, and all of them; (0, 0) between sweeps."""
        return sum(self._pass_runs), self._pass_blocks

    def give_up(self, n_bytes: int, least_slots: int) -> int:
        """Take slots from the arena, as many as have so many bytes, but leave it `least_slots`; returns their bytes."""
        arena = self.arena
        arena.take_back()
        slot_bytes = arena.block_ids * arena.ids.itemsize
        count = max(0, min(-(-n_bytes // slot_bytes), arena.n_slots - least_slots))
        if count:
            arena.shrink(arena.n_slots - count)
        return count * slot_bytes

    def preload(self, tick: Tick = no_tick) -> None:
        """Fill the arena with the first blocks of the store, each in the slot of its number."""
        count = min(self.arena.n_slots, self._array.n_chunks)
        before = self.counters.snapshot().blocks_read
        with self.own_pass(count) as done:
            counted = 0

            def count_blocks() -> None:
                nonlocal counted
                now = self.counters.snapshot().blocks_read - before
                done(now - counted)
                counted = now
                tick()

            self.load(np.arange(count), count_blocks)
        slots = self.arena.slot_of
        self.arena.in_order = bool((slots == np.arange(len(slots))).all())

    @contextmanager
    def own_pass(self, n_blocks: int) -> Iterator[Callable[[int], None]]:
        """A pass over so many blocks that the caller makes: `position` tells what it says is done, so many more each
        time."""
        self._pass_blocks, self._pass_runs = n_blocks, []
        try:
            yield self._pass_runs.append
        finally:
            self._pass_blocks, self._pass_runs = 0, []

    def load(self, blocks: np.ndarray, tick: Tick = no_tick) -> np.ndarray:
        """Make the lowest of `blocks` (int64[k], ascending) resident, as many as fit.

        Blocks that are already there count as used now. Returns those that are resident after it."""
        blocks = blocks[: self.arena.n_slots]
        if len(blocks) + sum(len(loading.blocks) for loading in self.on_way) > self.arena.n_slots:
            self.settle(tick)  # slots of blocks on their way are free once these are there
        there = self.arena.resident(blocks)
        self.arena.touch(blocks[there])
        if not there.all():
            Loading(self, blocks[~there], blocks, here=True).wait(tick)
        return blocks

    def begin_load(self, blocks: np.ndarray, keep: np.ndarray) -> Loading:
        """Bring `blocks` (int64[k], ascending, none of them resident or on its way) on the fetching threads from now
        on. keep : resident blocks (int64[k]) that stay; all of them fit beside what is on its way."""
        return Loading(self, blocks, keep, here=False)

    def read_ahead(self, blocks: np.ndarray) -> int:
        """Begin to bring the next blocks that are not there on both sides of `blocks` (int64[k], resident, few);
        how many. Where rows that are near in the graph are near in the store, levels to come want those on one side,
        and those on the other one are there. An arena of few slots gets none."""
        if self.arena.n_slots < _ROOM:
            return 0
        slot_of, ahead = self.arena.slot_of, set[int]()
        for block in blocks.tolist():
            before = np.arange(block - 1, max(-1, block - 1 - _REACH), -1)
            after = np.arange(block + 1, min(len(slot_of), block + 1 + _REACH))
            ahead.update(*(side[slot_of[side] < 0][:_AHEAD].tolist() for side in (before, after)))
        if ahead:
            self.begin_load(np.array(sorted(ahead), np.int64), blocks)
        return len(ahead)

    def settle(self, tick: Tick = no_tick) -> None:
        """Wait until all that is on its way is there. Raises StoreError."""
        for loading in list(self.on_way):
            loading.wait(tick)

    def stop_loading(self) -> None:
        """Stop all that is on its way, of what was given up: nobody writes to the arena any more."""
        for loading in list(self.on_way):
            loading.stop()

    def sweep(self, blocks: np.ndarray, kernel: BlockKernel, tick: Tick = no_tick) -> int:
        """Run `kernel` over all `blocks` (int64[k], ascending), each once. Returns arcs scanned."""
        self.settle(tick)
        there = self.arena.resident(blocks)
        resident, missing = blocks[there], blocks[~there]
        self._pass_blocks, self._pass_runs = len(blocks), []
        arcs = 0
        for begin in range(0, len(resident), _TURN_BLOCKS):
            part = resident[begin : begin + _TURN_BLOCKS]
            arcs += self._sweep_resident(part, kernel)
            self._pass_runs.append(len(part))
            if begin + _TURN_BLOCKS < len(resident):
                tick()
        if len(missing):
            arcs += self._sweep_missing(missing, resident, kernel, tick)
        self._pass_blocks, self._pass_runs = 0, []
        return arcs

    def _sweep_resident(self, blocks: np.ndarray, kernel: BlockKernel) -> int:
        self.arena.touch(blocks)
        position = self.arena.slot_of[blocks].astype(np.int64) * self.arena.block_ids
        turn = np.zeros(1, np.int64)
        grain = max(1, min(16, len(blocks) // (8 * self.threads.compute)))

        def work() -> int:
            begin = time.thread_time()
            arcs = int(kernel(blocks, position, turn, grain, self.arena.ids))
            self.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            return arcs

        return sum(self.threads.everywhere(work, -(-len(blocks) // grain)))

    def _sweep_missing(self, blocks: np.ndarray, resident: np.ndarray, kernel: BlockKernel, tick: Tick) -> int:
        free = self.arena.n_slots - int(np.count_nonzero(self.arena.slot_of >= 0))
        slots = self.arena.take_slots(min(free, len(blocks)), keep=resident)
        to_arena = dict(zip(blocks[: len(slots)].tolist(), slots.tolist(), strict=True))
        arcs: list[int] = []

        def work(run: tuple[int, int]) -> None:
            arcs.append(self._stream_run(run, to_arena, kernel))
            self._pass_runs.append(run[1])  # lists grow without a lock

        self.threads.for_each(self._ahead(blocks), work, tick)
        return sum(arcs)

    def _ahead(self, blocks: np.ndarray) -> Iterator[tuple[int, int]]:
        """The runs of blocks, each announced to the disk a few runs before it is taken."""
        window: deque[tuple[int, int]] = deque()
        for run in self.runs(blocks):
            self._array.prefetch(*run)
            window.append(run)
            if len(window) > 2 * self.threads.fetchers:
                yield window.popleft()
        yield from window

    def _stream_run(self, run: tuple[int, int], to_arena: dict[int, int], kernel: BlockKernel) -> int:
        """Fetch one run of blocks into this thread's buffer and run the kernel on it."""
        first, count = run
        buffer = self._buffer()
        rows = [buffer[i] for i in range(count)]
        self.fetch(first, rows)
        begin = time.thread_time()
        chunks = np.arange(first, first + count)
        position = np.arange(count) * self.arena.block_ids
        arcs = int(kernel(chunks, position, np.zeros(1, np.int64), count, buffer.reshape(-1)))
        if self.watcher is not None:
            self.watcher(chunks, position, buffer.reshape(-1))
        for i in range(count):
            slot = to_arena.get(first + i)
            if slot is not None:
                self.arena.row(slot)[:] = buffer[i]
                self.arena.admit(first + i, slot)
        self.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        return arcs

    def _buffer(self) -> np.ndarray:
        buffer: np.ndarray | None = getattr(self._local, "buffer", None)
        if buffer is None:
            buffer = np.empty((self._run_blocks, self.arena.block_ids), self._array.dtype)
            self._local.buffer = buffer
        return buffer

    def runs(self, blocks: np.ndarray) -> Iterator[tuple[int, int]]:
        """(first, count) of consecutive blocks that one fetch takes."""
        begin = 0
        for end in (*(np.flatnonzero(blocks[1:] - blocks[:-1] != 1) + 1).tolist(), len(blocks)):
            first, stop, begin = int(blocks[begin]), int(blocks[end - 1]) + 1, end
            while first < stop:
                count = self._array.run_length(first, min(self._run_blocks, stop - first))
                yield first, count
                first += count

    def fetch(self, first: int, rows: list[np.ndarray]) -> None:
        """Decode blocks into rows; an id that is no vertex is an error, never an index."""
        wall, cpu = time.perf_counter(), time.thread_time()
        read = self._array.fetch(first, rows)
        if self._rows is not None:
            self._rows.vet(first, rows)
        self.counters.add(
            blocks_read=len(rows), bytes_read=read, bytes_decoded=sum(r.nbytes for r in rows),
            fetch_seconds=time.perf_counter() - wall, fetch_cpu_seconds=time.thread_time() - cpu)
