"""Arcs that a device does not hold: pages that come when they are needed, and those that stay.

A page is a few neighbouring blocks of the store. The engine's arena, locked into memory, is where blocks come
from: all of them where the graph is in RAM, else those that its threads have read and decoded for the page
at hand, while the page before is still on its way. Copies run behind the launches, through a ring of buffers;
what device memory is left keeps pages for good, the first that come. A block without an active arc is never
copied. Device memory: (ring + kept pages) * page bytes.

What bringing arcs costs on this machine, the figures of a PagingModel, is measured through the same ring. Copies are
timed by events in their own stream, so that what the host takes to ask for them is not counted, over MEASURED_BYTES, a
page at a time: no device memory is taken beside the plan's. Reading in place is timed over as many bytes of sectors,
each read once, no two of one line (128 bytes) by neighbouring lanes, as short rows lie. A graph or an arena that has
less is measured with what it has.

pack_rows packs active rows on the host: the arcs of a frontier within a range, one row after the other.
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

# Of pages that are far smaller than usual, not as many are copied for measuring as would take a second.
_MOST_COPIES = 256
MEASURED_BYTES = 64 << 20
# Neighbouring lanes read sectors that lie so many apart: a line has four.
STRIDE = 5
_RUNS = 3
_ROWS = 1 << 16


@dataclass
class PagingCounts(Tally):
    """bytes_copied, bytes_gathered, bytes_in_place : brought to the device by each way (in place: whole
    sectors). bytes_up : heads of arcs that levels up have looked at, levels_up : their number. pages_* : how often a
    page came that way, was there already (kept), or had no active arc."""

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

    page_shift : log2 of blocks a page. n_resident : pages that device memory has room for beside the ring.
    Close it before the arena goes. Raises BudgetError if the device or the host has no room.
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
        # Last, since `close` is only for pages that there are.
        self._locked = arena.ids
        self._mapped = device.register(arena.ids)

    def close(self) -> None:
        """Let go of the arena, once all copies have ended; also where the device is lost."""
        with at_the_end(lambda: self.device.release(self._locked)):
            self.device.wait_here(self.device.record(self._copies))
            self.device.synchronize()

    def blocks_of(self, page: int) -> slice:
        """The blocks of a page."""
        return slice(page << self.page_shift, min((page + 1) << self.page_shift, self.n_blocks))

    def vertices_of(self, first: int, last: int) -> tuple[int, int]:
        """First and last vertex with an arc in pages first..last."""
        vertices, end = self._core.table.first_vertex, self.blocks_of(last).stop
        return int(vertices[self.blocks_of(first).start]), min(int(vertices[end]), self._core.table.n_vertices - 1)

    def per_page(self, of_blocks: np.ndarray) -> np.ndarray:
        """The sums int64[pages] of numbers of all blocks, int64[blocks]."""
        return np.add.reduceat(of_blocks, np.arange(0, self.n_blocks, 1 << self.page_shift), dtype=np.int64)

    def missing_bytes(self, active: np.ndarray) -> np.ndarray:
        """Bytes of the ids, in each page, of those of these blocks (bool[blocks]) that the device does not hold,
        int64[pages]; the last block of the graph may be short."""
        ids = np.where(active & ~self._there, 1 << self.block_shift, 0)
        ids[-1] = min(ids[-1], self.n_arcs - (self.n_blocks - 1 << self.block_shift))
        return self.per_page(ids * self._locked.itemsize)

    def range_of(self, first: int, last: int) -> tuple[int, int]:
        """Arcs [begin, end) of pages first..last."""
        return first << self.shift, min((last + 1) << self.shift, self.n_arcs)

    def missing(self, blocks: np.ndarray) -> np.ndarray:
        """Those of `blocks` (int64[k]) that the device does not hold."""
        return blocks[~self._there[blocks]]

    def in_place(self, begin: int, end: int) -> DeviceArray:
        """Arcs [begin, end) where they lie in the host's memory, for kernels; only if `in_order`."""
        return self._mapped[begin:end]

    def bring(self, page: int, blocks: np.ndarray) -> DeviceArray:
        """A buffer with the arcs of `blocks` (int64[k], of this page, ascending), the page's first arc first; launches
        asked for from now on see them. `used` must be called after the launches."""
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
        """Bytes, and seconds on the device, of copies from the arena to the ring: a page at a time, as `bring` makes
        them, until `nbytes` have come. Before any page is brought. What the arena has less than a page is one."""
        host, items = self._locked, min(self.items, self._locked.size)
        times = min(-(-nbytes // (items * host.itemsize)), _MOST_COPIES)
        start = self.device.record(self._copies)
        for turn in range(times):
            begin = turn % (host.size // items) * items
            buffer = self._ring[turn % len(self._ring)][:items]
            self.device.copy_behind(host[begin : begin + items], buffer, self._copies)
        return times * items * host.itemsize, self.device.elapsed(start, self.device.record(self._copies))

    def time_round_trip(self) -> float:
        """Seconds until a few bytes of the device have come to the host."""
        begin = time.perf_counter()
        self.device.to_host(self._ring[0][:1])
        return time.perf_counter() - begin

    def used(self, page: int) -> None:
        """The launches that read the page have been asked for."""
        if page not in self._slots:
            self._free[self._turn] = self.device.record()
            self._turn = (self._turn + 1) % len(self._ring)

    def _runs(self, blocks: np.ndarray) -> list[tuple[int, int, int]]:
        """(first, last, slot of the first) of blocks that follow each other in the graph and in the arena, of
        int64[k]."""
        first, last = int(blocks[0]), int(blocks[-1])
        if self.in_order and last - first == len(blocks) - 1:  # as most pages of a dense level
            return [(first, last, first)]
        slots = self._core.pager.arena.slot_of[blocks].astype(np.int64)
        breaks = np.flatnonzero((np.diff(blocks) != 1) | (np.diff(slots) != 1)) + 1
        starts, ends = np.concatenate(([0], breaks)), np.concatenate((breaks, [len(blocks)])) - 1
        return list(zip(blocks[starts].tolist(), blocks[ends].tolist(), slots[starts].tolist(), strict=True))

    def _copy(self, page: int, blocks: np.ndarray, buffer: DeviceArray) -> None:
        """Bring blocks to their places in the buffer; neighbours in the arena go together."""
        pager = self._core.pager
        if not pager.everything_resident:
            # Loading may throw out what the page before the last one was copied from, not the last one's.
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
    """The rates and latencies of this machine, each the best of _RUNS short runs. Reads what one page needs of the
    store. Device memory: 8 bytes; host memory: that of a page. Raises StoreError for a damaged block."""
    if core.table.n_arcs == 0:
        return TYPICAL
    copied = [pages.time_copies(MEASURED_BYTES) for _ in range(_RUNS)]
    place_rate = _place_rate(device, pages) if pages.in_order else TYPICAL.place_rate
    round_trip = min(pages.time_round_trip() for _ in range(_RUNS))
    return PagingModel(_best(copied), place_rate, _gather_rate(core, pages), TYPICAL.call, round_trip)


def _best(runs: list[tuple[int, float]]) -> float:
    """Bytes a second of the fastest of some runs: (bytes, seconds)."""
    return max(nbytes / max(seconds, 1e-9) for nbytes, seconds in runs)


def _place_rate(device: Device, pages: PageCache) -> float:
    """Bytes a second of sectors that a kernel reads where they are; TYPICAL's of a graph that has none."""
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
    """Read the first id of each of the first n sectors (no multiple of STRIDE) and add them to total, uint64[1]."""
    kernels = KernelFile(device, "paging.cu", {"VERTEX": KERNEL_TYPES[ids.dtype.name]})
    kernels.launch("read_sectors", n, ids, n, STRIDE, total)


def _gather_rate(core: Core, pages: PageCache) -> float:
    """Bytes a second of rows that the host packs: every other one of those of the first page, or _ROWS of them."""
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
    """Write the arcs of the rows of `vertices` that lie in [begin, end) to `out`, in the order of the vertices;
    how many. Blocks that are not in the arena are read, each once.

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
    """Blocks that the rows lie in, ascending, int64."""
    rows = last > first
    low, high = first[rows] >> shift, (last[rows] - 1) >> shift
    spans = high - low
    blocks = [low, high]
    for start, length in zip(low[spans > 1].tolist(), spans[spans > 1].tolist(), strict=True):
        blocks.append(np.arange(start + 1, start + length))
    return np.unique(np.concatenate(blocks))


@kernel
def copy_rows(turn, grain, ids, slot_of, shift, first, last, low, high, places, out):
    """Threads share the rows. Copies what of each lies in arcs [low, high), whose blocks have slots."""
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
