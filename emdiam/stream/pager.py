"""The pager: brings blocks to kernels, from the arena or from the store.

There are two ways. `load` puts the few blocks of a sparse level into the arena (least recently used blocks are
evicted). `sweep` runs a kernel over many blocks: first over blocks in the arena, in parallel and without copying; then
over the rest in storage order through private buffers of the fetching threads. Each fetching thread reads, checks and
decodes blocks and runs the kernel itself, so that all cores stay busy whichever step is the slowest. A sweep fills free
slots but evicts nothing: scanning a graph larger than the cache would replace all of it for nothing.
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
from ..store.array_reader import Chunks
from .counters import Counters, SharedCounters
from .rows import RowCheck
from .threads import Threads, ThreadWork

# kernel(chunks, position, turn, grain, ids) -> arcs scanned
BlockKernel = Callable[[np.ndarray, np.ndarray, np.ndarray, int, np.ndarray], int]
# Blocks that a kernel processes between checks of the clock and of Ctrl-C: 2^26 ids by default.
_TURN_BLOCKS = 1 << 10
# Ids for which another thread is woken, which takes 0.2 ms.
SHARE_IDS = 1 << 18
_RESERVED = np.iinfo(np.int64).max  # as if used last of all: the slot is not evicted
# Blocks that a thread reads at once, at most.
_MOST_RUN = 16
# Missing blocks to read ahead on each side of a block, and the distance to look for them; the least slots of an arena
# for this.
_AHEAD, _REACH, _ROOM = 4, 8, 64


def release_pages(values: np.ndarray) -> None:
    """Return the memory of a contiguous vector, except its ends, to the system; the values are lost."""
    page = mmap.PAGESIZE
    first = -(-values.ctypes.data // page) * page
    length = (values.ctypes.data + values.nbytes - first) // page * page
    if length > 0:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), ctypes.c_int(mmap.MADV_DONTNEED))


class Arena:
    """A pool of decoded blocks, allocated once, with eviction of the least recently used. If all blocks fit, it is the
    graph in memory, with block c in slot c after `Pager.preload`, and the same kernels run at in-memory speed.

    Parameters
    ----------
    n_blocks : blocks of the graph. n_slots : blocks that fit. block_ids : ids per block.
    dtype : id dtype.

    Attributes
    ----------
    ids : dtype[n_slots * block_ids], the pool. slot_of : int32[n_blocks], slot or -1. in_order : whether block c is in
    slot c for every block, so that `ids` are those of the graph. settle() : waits until no thread writes to slots,
    before their memory is used for something else.
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
        """Mark these resident blocks as used now."""
        self._tick += 1
        self._used[self.slot_of[blocks]] = self._tick

    def resident(self, blocks: np.ndarray) -> np.ndarray:
        """bool[k], which of `blocks` are in the arena."""
        return self.slot_of[blocks] >= 0

    def take_slots(self, count: int, keep: np.ndarray) -> np.ndarray:
        """Free `count` slots, least recently used first, but none of the blocks `keep`.

        Returns int64[count] slots, ascending; fewer if not enough can be freed.
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
        """Slots for `blocks` (int64[k]), reserved until `admit` or `leave_slots`; see take_slots."""
        slots = self.take_slots(len(blocks), keep)
        self._block_in[slots], self._used[slots] = blocks, _RESERVED
        return slots

    def leave_slots(self, slots: list[int]) -> None:
        """Free these reserved slots, whose blocks will not come."""
        self._block_in[slots] = -1

    def _vacate(self, first: int) -> None:
        """Drop the blocks in slot `first` and all later slots."""
        dropped = self._block_in[first:]
        self.slot_of[dropped[dropped >= 0]], self.in_order = -1, False
        self._block_in[first:] = -1

    def set_apart(self, count: int) -> np.ndarray:
        """The memory of the last `count` slots, dtype[count, block_ids], which hold no blocks until `take_back`."""
        self.settle()
        self.take_back()
        self.n_slots -= count
        self._apart_from = self.n_slots
        self._vacate(self.n_slots)
        return self.ids[self.n_slots * self.block_ids :].reshape(count, self.block_ids)

    @property
    def part_is_intact(self) -> bool:
        """Whether the memory last set apart still has its content: no slot in it has been used since."""
        return self._apart_from < len(self._block_in)

    def take_back(self) -> None:
        """Use all slots for blocks again, including those set apart."""
        self.n_slots = len(self._block_in)

    def shrink(self, n_slots: int) -> None:
        """Keep only the first `n_slots` slots, and return the memory of the others to the system."""
        self.settle()
        self._vacate(n_slots)
        first = n_slots * self.block_ids
        release_pages(self.ids[first:])
        self.ids, self.n_slots = self.ids[:first], n_slots
        self._block_in, self._used = self._block_in[:n_slots], self._used[:n_slots]
        self._apart_from = n_slots

    def admit(self, block: int, slot: int) -> None:
        """Record that `block` has been decoded into `slot`."""
        self._block_in[slot] = block
        self._used[slot] = self._tick
        self.slot_of[block] = slot


class Loading:
    """Blocks that are being loaded into reserved slots: call `wait`, or `stop` after an error elsewhere. They become
    resident only after `wait`.

    blocks : int64[k]. here : the waiting thread fetches them itself if they are a single run.
    """

    _fetching: ThreadWork | None

    def __init__(self, pager: Pager, blocks: np.ndarray, keep: np.ndarray, here: bool) -> None:
        self._runs, self._fetching = list(pager.runs(blocks)), None
        slots = pager.arena.reserve_slots(blocks, keep)
        self.blocks, self._pager, self._slots = blocks, pager, dict(zip(blocks.tolist(), slots.tolist(), strict=True))
        pager.on_way.append(self)
        if not here or len(self._runs) > 1:
            self._fetching = pager.threads.begin(self._runs, self._fetch)

    def _fetch(self, run: tuple[int, int]) -> None:
        first, count = run
        self._pager.fetch(first, [self._pager.arena.row(self._slots[b]) for b in range(first, first + count)])

    def wait(self, tick: Tick = no_tick) -> None:
        """Wait until the blocks are loaded; they count as used now. Raises StoreError."""
        begin, arena = time.perf_counter(), self._pager.arena
        try:
            if self._fetching is None:
                self._fetch(self._runs[0])
            else:
                self._fetching.wait(tick)
        except BaseException:
            self._end()
            raise
        self._pager.on_way.remove(self)
        for block, slot in self._slots.items():
            arena.admit(block, slot)
        self._pager.counters.add(wait_seconds=time.perf_counter() - begin)

    def stop(self) -> None:
        """Cancel the loading of all its blocks."""
        if self._fetching is not None:
            self._fetching.stop()
        self._end()

    def _end(self) -> None:
        """Free the slots, to which no thread writes any more."""
        self._pager.on_way.remove(self)
        self._pager.arena.leave_slots(list(self._slots.values()))


class Pager:
    """Blocks of one array of ids.

    Parameters
    ----------
    array : the store's `indices`. rows : checks the rows of every block when it is first read; None: no check. arena :
    the cache. threads : for fetching and computing. counters : count I/O. run_blocks : blocks that a fetching thread
    decodes at once; their memory limits the encoded blocks of one read. watcher(blocks, position, ids) : called
    from several threads with blocks read by sweeps (None: not called). on_way : loadings in progress.
    """

    def __init__(self, array: Chunks, rows: RowCheck | None, arena: Arena, threads: Threads,
                 counters: SharedCounters, run_blocks: int = 8) -> None:
        self.arena, self.threads, self.counters = arena, threads, counters
        self._array, self._rows, self._run_blocks = array, rows, run_blocks
        self._local, self._position = threading.local(), np.arange(run_blocks) * arena.block_ids
        self._pass_blocks, self._pass_runs = 0, list[int]()
        self.on_way = list[Loading]()
        arena.settle = self.settle
        self.watcher: Callable[[np.ndarray, np.ndarray, np.ndarray], None] | None = None

    @property
    def everything_resident(self) -> bool:
        """Whether every block is in the arena."""
        return self.arena.n_slots >= self._array.n_chunks and bool((self.arena.slot_of >= 0).all())

    @property
    def position(self) -> tuple[int, int]:
        """(blocks done, blocks in all) of the running sweep or preload; (0, 0) between sweeps."""
        return sum(self._pass_runs), self._pass_blocks

    def give_up(self, n_bytes: int, least_slots: int) -> int:
        """Release slots with at least `n_bytes` together, but keep `least_slots`; returns the bytes released."""
        arena = self.arena
        arena.take_back()
        slot_bytes = arena.block_ids * arena.ids.itemsize
        count = max(0, min(-(-n_bytes // slot_bytes), arena.n_slots - least_slots))
        if count:
            arena.shrink(arena.n_slots - count)
        return count * slot_bytes

    def preload(self, tick: Tick = no_tick) -> None:
        """Fill the arena with the first blocks of the store, block c in slot c."""
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
        """A pass over `n_blocks` blocks that the caller makes itself: it calls the yielded function with the number of
        blocks done since the last call, for `position`."""
        self._pass_blocks, self._pass_runs = n_blocks, []
        try:
            yield self._pass_runs.append
        finally:
            self._pass_blocks, self._pass_runs = 0, []

    def load(self, blocks: np.ndarray, tick: Tick = no_tick) -> np.ndarray:
        """Make the lowest of `blocks` (int64[k], ascending) resident, up to the size of the arena.

        Blocks that are already resident count as used now. Returns the blocks that are resident afterwards.
        """
        blocks = blocks[: self.arena.n_slots]
        if len(blocks) + sum(len(loading.blocks) for loading in self.on_way) > self.arena.n_slots:
            self.settle(tick)  # slots of blocks being loaded can be evicted after that
        there = self.arena.resident(blocks)
        self.arena.touch(blocks[there])
        if not there.all():
            Loading(self, blocks[~there], blocks, here=True).wait(tick)
        return blocks

    def begin_load(self, blocks: np.ndarray, keep: np.ndarray) -> Loading:
        """Start to load `blocks` (int64[k], ascending, none resident or being loaded) on the fetching threads. keep :
        resident blocks (int64[k]) that must stay; they must all fit beside the blocks that are being loaded."""
        return Loading(self, blocks, keep, here=False)

    def read_ahead(self, blocks: np.ndarray) -> int:
        """Start to load the nearest missing blocks on both sides of `blocks` (int64[k], resident, few); returns their
        number. If rows that are near in the graph are near in the store, later levels need the blocks on one side, and
        the blocks on the other side are already resident. Does nothing in an arena of few slots."""
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
        """Wait until all loading blocks are resident. Raises StoreError."""
        for loading in list(self.on_way):
            loading.wait(tick)

    def stop_loading(self) -> None:
        """Cancel all loadings of an abandoned task; afterwards no thread writes to the arena."""
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

        shares = min(-(-len(blocks) // grain), len(blocks) * self.arena.block_ids // SHARE_IDS)
        return sum(self.threads.everywhere(work, shares))

    def _sweep_missing(self, blocks: np.ndarray, resident: np.ndarray, kernel: BlockKernel, tick: Tick) -> int:
        free = self.arena.n_slots - int(np.count_nonzero(self.arena.slot_of >= 0))
        slots = self.arena.take_slots(min(free, len(blocks)), keep=resident)
        to_arena = dict(zip(blocks[: len(slots)].tolist(), slots.tolist(), strict=True))
        arcs: list[int] = []

        def work(run: tuple[int, int]) -> None:
            arcs.append(self._stream_run(run, to_arena, kernel))
            self._pass_runs.append(run[1])  # list.append is thread-safe

        self.threads.for_each(self._ahead(blocks), work, tick)
        return sum(arcs)

    def _ahead(self, blocks: np.ndarray) -> Iterator[tuple[int, int]]:
        """The runs of blocks, each announced to the disk a few runs in advance."""
        window: deque[tuple[int, int]] = deque()
        for run in self.runs(blocks):
            self._array.prefetch(*run)
            window.append(run)
            if len(window) > 2 * self.threads.fetchers:
                yield window.popleft()
        yield from window

    def _stream_run(self, run: tuple[int, int], to_arena: dict[int, int], kernel: BlockKernel) -> int:
        """Fetch one run of blocks, a batch at a time into this thread's buffer, and run the kernel on each batch."""
        buffer, position = self._buffer()
        arcs, (first, count), rows, ids = 0, run, list(buffer), buffer.reshape(-1)
        used = Counters(blocks_read=count, bytes_decoded=count * rows[0].nbytes)
        wall, cpu = time.perf_counter(), time.thread_time()
        for n_blocks, size in self._array.batches(first, count, rows):
            if self._rows is not None:
                self._rows.vet(first, rows[:n_blocks])
            begin = time.thread_time()
            used.fetch_seconds += time.perf_counter() - wall
            used.fetch_cpu_seconds += begin - cpu
            chunks, places = np.arange(first, first + n_blocks), position[:n_blocks]
            arcs += int(kernel(chunks, places, np.zeros(1, np.int64), n_blocks, ids))
            if self.watcher is not None:
                self.watcher(chunks, places, ids)
            for i in range(n_blocks if to_arena else 0):
                slot = to_arena.get(first + i)
                if slot is not None:
                    self.arena.row(slot)[:] = buffer[i]
                    self.arena.admit(first + i, slot)
            first += n_blocks
            wall, cpu = time.perf_counter(), time.thread_time()
            used.kernel_cpu_seconds += cpu - begin
            used.bytes_read += size
        self.counters.add(**vars(used))
        return arcs

    def _buffer(self) -> tuple[np.ndarray, np.ndarray]:
        """Room for some blocks, and where each begins in it."""
        if not hasattr(self._local, "buffer"):
            self._local.buffer = np.empty((self._run_blocks, self.arena.block_ids), self._array.dtype)
        return self._local.buffer, self._position

    def runs(self, blocks: np.ndarray) -> Iterator[tuple[int, int]]:
        """(first, count) of runs of consecutive blocks, each for one read: the encoded blocks for which a thread has
        room, and a share of all blocks. Raises StoreError."""
        begin, n_bytes = 0, self._run_blocks * self.arena.block_ids * self._array.dtype.itemsize
        most = max(self._run_blocks, min(_MOST_RUN, len(blocks) // self.threads.fetchers))
        for end in (*(np.flatnonzero(blocks[1:] - blocks[:-1] != 1) + 1).tolist(), len(blocks)):
            first, stop, begin = int(blocks[begin]), int(blocks[end - 1]) + 1, end
            while first < stop:
                count = self._array.run_length(first, min(most, stop - first), n_bytes)
                yield first, count
                first += count

    def fetch(self, first: int, rows: list[np.ndarray]) -> None:
        """Decode blocks into rows; raises StoreError for an id that is not a vertex."""
        wall, cpu = time.perf_counter(), time.thread_time()
        read = self._array.fetch(first, rows)
        if self._rows is not None:
            self._rows.vet(first, rows)
        self.counters.add(
            blocks_read=len(rows), bytes_read=read, bytes_decoded=sum(r.nbytes for r in rows),
            fetch_seconds=time.perf_counter() - wall, fetch_cpu_seconds=time.thread_time() - cpu)
