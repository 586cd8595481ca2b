"""Pages of arcs for a graph that is larger than device memory: copied on demand, some kept on the device.

A page is a few consecutive blocks of the store. Blocks are copied from the engine's arena, which is locked in memory:
it has all blocks if the graph is in RAM, else the blocks that threads have read and decoded for the current page while
the page before is being copied. Copies overlap with kernels, through a ring of buffers. The remaining device memory
keeps the first pages permanently. Blocks without active arcs are not copied. Device memory: (ring + kept pages) * page
bytes.

The figures of a PagingModel for this machine are measured through the same ring. Copies are timed by events in their
stream, without the host's time for the calls, over MEASURED_BYTES, a page at a time: so no device memory beyond the
plan is used. Reading in place is timed over the same number of bytes in sectors; each is read once, and neighbouring
lanes read from different lines (128 bytes), as with short rows. A smaller graph or arena is measured with the bytes
that it has.

pack_rows packs active rows on the host: the arcs of a frontier within a range, row after row.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from ..jit import kernel
from ..stream.counters import Tally
from ..stream.offsets import row_starts
from ..traverse.atomics import atomic_add
from ..traverse.core import Core
from .device import Device, DeviceArray
from .failures import at_the_end
from .kernel_file import KernelFile, zeros
from .paging_model import RING, SECTOR_BYTES, TYPICAL, PagingModel
from .registry import KERNEL_TYPES

# Limits the time to measure copies of very small pages.
_MOST_COPIES = 256
MEASURED_BYTES = 64 << 20
# Distance, in sectors, between the reads of neighbouring lanes: a line has four sectors.
STRIDE = 5
_RUNS = 3
_ROWS = 1 << 16


@dataclass
class PagingCounts(Tally):
    """bytes_copied, bytes_gathered, bytes_in_place : bytes that the device got by each method (in place: whole
    sectors). bytes_up : heads of arcs scanned by bottom-up levels; levels_up : number of these levels. pages_* : number
    of pages by each method, on the device already (kept), or without active arcs."""

    bytes_copied: int = 0
    bytes_gathered: int = 0
    bytes_in_place: int = 0
    bytes_up: int = 0
    levels_up: int = 0
    pages_copied: int = 0
    pages_gathered: int = 0
    pages_in_place: int = 0
    pages_kept: int = 0
    pages_skipped: int = 0


class PageCache:
    """The pages of the graph of `core` for a device. items : arcs of a page.

    page_shift : log2 of blocks a page. n_resident : number of pages that fit device memory in addition to the ring.
    Close it before the arena is freed. Raises BudgetError if device or host memory is too small.
    """

    def __init__(self, device: Device, core: Core, page_shift: int, n_resident: int) -> None:
        self.device, self._core, self.page_shift = device, core, page_shift
        arena, table = core.pager.arena, core.table
        self.n_arcs, self.block_shift = table.n_arcs, table.shift
        self.shift = table.shift + page_shift
        self.n_blocks, self.n_pages = table.n_blocks, -(-table.n_blocks >> page_shift)
        self.counts = PagingCounts()
        self.in_order = core.pager.everything_resident and bool((arena.slot_of == np.arange(table.n_blocks)).all())
        items, dtype = 1 << self.shift, arena.ids.dtype
        self.items = items
        self._ring = [device.empty(items, dtype) for _ in range(min(RING, max(1, self.n_pages)))]
        self._free: list[Any] = [None] * len(self._ring)
        self._resident = device.empty(n_resident * items, dtype)
        self._slots: dict[int, int] = {}
        self._there = np.zeros(table.n_blocks, bool)
        self._copies = device.stream()
        self._on_its_way: list[Any] = []
        self._turn = 0
        # Last, since `close` needs a complete object.
        self._locked = arena.ids
        self._mapped = device.register(arena.ids)

    def close(self) -> None:
        """Unlock the arena after all copies have ended; works also if the device is lost."""
        with at_the_end(lambda: self.device.release(self._locked)):
            self.device.wait_here(self.device.record(self._copies))
            self.device.synchronize()

    def blocks_of(self, page: int) -> slice:
        """The blocks of a page."""
        return slice(page << self.page_shift, min((page + 1) << self.page_shift, self.n_blocks))

    def vertices_of(self, first: int, last: int) -> tuple[int, int]:
        """The first and the last vertex with an arc in pages first..last."""
        vertices, end = self._core.table.first_vertex, self.blocks_of(last).stop
        return int(vertices[self.blocks_of(first).start]), min(int(vertices[end]), self._core.table.n_vertices - 1)

    def per_page(self, of_blocks: np.ndarray) -> np.ndarray:
        """Sums by page, int64[pages], of numbers of blocks, int64[blocks]."""
        return np.add.reduceat(of_blocks, np.arange(0, self.n_blocks, 1 << self.page_shift), dtype=np.int64)

    def missing_bytes(self, active: np.ndarray) -> np.ndarray:
        """Bytes by page, int64[pages], of the ids in active blocks (bool[blocks]) that are not on the device; the last
        block of the graph may be short."""
        ids = np.where(active & ~self._there, 1 << self.block_shift, 0)
        ids[-1] = min(ids[-1], self.n_arcs - (self.n_blocks - 1 << self.block_shift))
        return self.per_page(ids * self._locked.itemsize)

    def range_of(self, first: int, last: int) -> tuple[int, int]:
        """Arcs [begin, end) of pages first..last."""
        return first << self.shift, min((last + 1) << self.shift, self.n_arcs)

    def missing(self, blocks: np.ndarray) -> np.ndarray:
        """The blocks of `blocks` (int64[k]) that are not on the device."""
        return blocks[~self._there[blocks]]

    def in_place(self, begin: int, end: int) -> DeviceArray:
        """Arcs [begin, end) in host memory, as an array for kernels; only if `in_order`."""
        return self._mapped[begin:end]

    def bring(self, page: int, blocks: np.ndarray) -> DeviceArray:
        """A buffer with the arcs of `blocks` (int64[k], of this page, ascending), starting at the page's first arc;
        later launches see them. Call `used` after the launches."""
        slot = self._slots.get(page)
        if slot is None and len(self._slots) < self._resident.size >> self.shift:
            slot = self._slots[page] = len(self._slots)
        if slot is not None:
            wanted, buffer = self.missing(blocks), self._resident[slot << self.shift : (slot + 1) << self.shift]
            self._there[blocks] = True
        else:
            wanted, buffer = blocks, self._ring[self._turn]
            if self._free[self._turn] is not None:
                self.device.wait(self._free[self._turn], self._copies)
        if len(wanted):
            self._copy(page, wanted, buffer)
            self.device.wait(self._on_its_way[-1])
        self.counts.pages_copied += len(wanted) > 0
        self.counts.pages_kept += len(wanted) == 0
        return buffer

    def time_copies(self, nbytes: int) -> tuple[int, float]:
        """Bytes, and seconds on the device, of copies of pages from the arena to the ring, as in `bring`, until
        `nbytes` are copied. Call it before any page is brought. An arena smaller than a page counts as one page."""
        host, items = self._locked, min(self.items, self._locked.size)
        times = min(-(-nbytes // (items * host.itemsize)), _MOST_COPIES)
        start = self.device.record(self._copies)
        for turn in range(times):
            begin = turn % (host.size // items) * items
            buffer = self._ring[turn % len(self._ring)][:items]
            self.device.copy_behind(host[begin : begin + items], buffer, self._copies)
        return times * items * host.itemsize, self.device.elapsed(start, self.device.record(self._copies))

    def time_round_trip(self) -> float:
        """Seconds to copy a few bytes from the device to the host."""
        begin = time.perf_counter()
        self.device.to_host(self._ring[0][:1])
        return time.perf_counter() - begin

    def used(self, page: int) -> None:
        """Record that the launches that read the page have been submitted."""
        if page not in self._slots:
            self._free[self._turn] = self.device.record()
            self._turn = (self._turn + 1) % len(self._ring)

    def _runs(self, blocks: np.ndarray) -> list[tuple[int, int, int]]:
        """Runs (first, last, slot of the first) of blocks (int64[k]) that are consecutive in the graph and in the
        arena."""
        first, last = int(blocks[0]), int(blocks[-1])
        if self.in_order and last - first == len(blocks) - 1:  # as most pages of a dense level
            return [(first, last, first)]
        slots = self._core.pager.arena.slot_of[blocks].astype(np.int64)
        breaks = np.flatnonzero((np.diff(blocks) != 1) | (np.diff(slots) != 1)) + 1
        starts, ends = np.concatenate(([0], breaks)), np.concatenate((breaks, [len(blocks)])) - 1
        return list(zip(blocks[starts].tolist(), blocks[ends].tolist(), slots[starts].tolist(), strict=True))

    def _copy(self, page: int, blocks: np.ndarray, buffer: DeviceArray) -> None:
        """Copy blocks to their places in the buffer; one copy for each run of consecutive blocks."""
        pager = self._core.pager
        if not pager.everything_resident:
            # Loading may evict blocks of earlier pages whose copies are not complete, except blocks of the last page.
            for event in self._on_its_way[:-1]:
                self.device.wait_here(event)
            del self._on_its_way[:-1]
            pager.load(blocks)
        begin_page, _ = self.range_of(page, page)
        for first, last, slot in self._runs(blocks):
            begin, end, source = first << self.block_shift, last + 1 << self.block_shift, slot << self.block_shift
            end = min(end, self.n_arcs)
            host = self._locked[source : source + end - begin]
            self.device.copy_behind(host, buffer[begin - begin_page : end - begin_page], self._copies)
            self.counts.bytes_copied += host.nbytes
        self._on_its_way.append(self.device.record(self._copies))
        del self._on_its_way[:-2]


def measure(device: Device, core: Core, pages: PageCache) -> PagingModel:
    """The rates and latencies of this machine, each the best of _RUNS short runs. Reads the blocks of one page. Device
    memory: 8 bytes; host memory: a page. Raises StoreError for a damaged block."""
    if core.table.n_arcs == 0:
        return TYPICAL
    copied = [pages.time_copies(MEASURED_BYTES) for _ in range(_RUNS)]
    place_rate = _place_rate(device, pages) if pages.in_order else TYPICAL.place_rate
    round_trip = min(pages.time_round_trip() for _ in range(_RUNS))
    return PagingModel(_best(copied), place_rate, _gather_rate(core, pages), TYPICAL.call, round_trip)


def _best(runs: list[tuple[int, float]]) -> float:
    """Bytes a second of the fastest run. runs : (bytes, seconds)."""
    return max(nbytes / max(seconds, 1e-9) for nbytes, seconds in runs)


def _place_rate(device: Device, pages: PageCache) -> float:
    """Bytes a second of sectors that a kernel reads in place; TYPICAL's if the graph has none."""
    ids = pages.in_place(0, pages.n_arcs)
    n = min(MEASURED_BYTES, ids.nbytes) // SECTOR_BYTES
    while n and gcd(n, STRIDE) > 1:
        n -= 1
    total, runs = zeros(device, 1, np.uint64), list[tuple[int, float]]()
    for _ in range(_RUNS if n else 0):
        start = device.record()
        read_sectors(device, ids, n, total)
        runs.append((n * SECTOR_BYTES, device.elapsed(start, device.record())))
    return _best(runs) if runs else TYPICAL.place_rate


def read_sectors(device: Device, ids: DeviceArray, n: int, total: DeviceArray) -> None:
    """Add the first ids of the first n sectors (n is no multiple of STRIDE) to total, uint64[1]."""
    kernels = KernelFile(device, "paging.cu", {"VERTEX": KERNEL_TYPES[ids.dtype.name]})
    kernels.launch("read_sectors", n, ids, n, STRIDE, total)


def _gather_rate(core: Core, pages: PageCache) -> float:
    """Bytes a second of rows that the host packs: every other row of the first page, at most _ROWS."""
    table, pager = core.table, core.pager
    blocks = pager.load(np.arange(min(1 << pages.page_shift, table.n_blocks, pager.arena.n_slots)))
    last, end = int(table.first_vertex[len(blocks)]), len(blocks) << table.shift
    ids = np.arange(0, max(1, last), 2)[:_ROWS].astype(pager.arena.ids.dtype)
    out, runs = np.empty(end, ids.dtype), list[tuple[int, float]]()
    for _ in range(_RUNS):
        begin = time.perf_counter()
        packed = pack_rows(core, ids, 0, end, out)
        runs.append((max(1, packed) * out.itemsize, time.perf_counter() - begin))
    return _best(runs)


_GRAIN = 256


def pack_rows(core: Core, vertices: np.ndarray, begin: int, end: int, out: np.ndarray) -> int:
    """Write the arcs in [begin, end) of the rows of `vertices` to `out`, in the order of the vertices; return their
    number. Reads blocks that are not in the arena, each once.

    vertices : id[k]. out : id[*], large enough. Raises StoreError for a damaged block.
    """
    first, last = np.empty(len(vertices), np.int64), np.empty(len(vertices), np.int64)
    row_starts(*core.offsets, vertices, first)
    row_starts(*core.offsets, vertices.astype(np.int64) + 1, last)
    np.clip(first, begin, end, out=first)
    np.clip(last, begin, end, out=last)
    places = np.concatenate(([0], np.cumsum(last - first)))
    shift, pager = core.table.shift, core.pager
    wanted = _blocks_of(first, last, shift)
    for part in range(0, len(wanted), pager.arena.n_slots):
        blocks = pager.load(wanted[part : part + pager.arena.n_slots])
        turn = np.zeros(1, np.int64)
        low, high = int(blocks[0]) << shift, (int(blocks[-1]) + 1) << shift
        core.everywhere(lambda turn=turn, low=low, high=high: copy_rows(  # type: ignore[misc]
            turn, _GRAIN, pager.arena.ids, pager.arena.slot_of, shift, first, last, low, high, places, out))
    return int(places[-1])


def _blocks_of(first: np.ndarray, last: np.ndarray, shift: int) -> np.ndarray:
    """The blocks of the rows, ascending, int64."""
    rows = last > first
    low, high = first[rows] >> shift, (last[rows] - 1) >> shift
    spans = high - low
    blocks = [low, high]
    for start, length in zip(low[spans > 1].tolist(), spans[spans > 1].tolist(), strict=True):
        blocks.append(np.arange(start + 1, start + length))
    return np.unique(np.concatenate(blocks))


@kernel
def copy_rows(turn, grain, ids, slot_of, shift, first, last, low, high, places, out):
    """Copy the part of each row in arcs [low, high), whose blocks have slots; threads share the rows."""
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(first):
            return
        for i in range(begin, min(begin + grain, len(first))):
            arc = max(first[i], low)
            end = min(last[i], high)
            while arc < end:
                block = arc >> shift
                stop = min(end, (block + 1) << shift)
                position = (np.int64(slot_of[block]) << shift) + arc - (block << shift)
                place = places[i] + arc - first[i]
                for k in range(stop - arc):
                    out[place + k] = ids[position + k]
                arc = stop
