"""What bringing arcs to this device costs on this machine: the figures of a PagingModel, measured.

Copies are timed by events in their own stream, so that what the host takes to ask for them is not counted, over
MEASURED_BYTES, a page at a time through the ring that pages come by: no device memory is taken beside the plan's.
Reading in place is timed over as many bytes of sectors, each read once, no two of one line (128 bytes) by
neighbouring lanes, as short rows lie. A graph or an arena that has less is measured with what it has.
"""

from __future__ import annotations

import time
from math import gcd

import numpy as np

from ..traverse.core import Core
from .device import Device, DeviceArray
from .kernel_file import KernelFile, zeros
from .pack_rows import pack_rows
from .page_cache import Pages
from .paging_model import SECTOR_BYTES, TYPICAL, PagingModel
from .registry import KERNEL_TYPES

MEASURED_BYTES = 64 << 20
# Neighbouring lanes read sectors that lie so many apart: a line has four.
STRIDE = 5
_RUNS = 3
_ROWS = 1 << 16


def measure(device: Device, core: Core, pages: Pages) -> PagingModel:
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


def _place_rate(device: Device, pages: Pages) -> float:
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
    kernels.launch("read_sectors", n, ids, np.uint64(n), np.uint64(STRIDE), total)


def _gather_rate(core: Core, pages: Pages) -> float:
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
