"""The graph of an engine on a device, resident or paged, as the plan of the device's memory says.

A resident graph comes block by block, so that the host never holds it whole.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..stream.offsets import following_starts
from ..traverse.core import Core
from .device import Device, DeviceArray
from .failures import at_the_end
from .graph import DeviceGraph, offsets_dtype
from .page_cache import PageCache, measure
from .paged import PagedGraph
from .paging_model import IN_PLACE, UP
from .setting import OnDevice
from .vram import VramPlan

_PIECE = 1 << 17
_BLOCKS_AT_ONCE = 64


def upload(device: Device, core: Core, tick: Callable[[], None]) -> DeviceGraph:
    """The graph of `core` on the device. Reads every block that is not in the arena once.

    tick : called between pieces. Raises BudgetError for lack of room, StoreError for a damaged block.
    """
    table, dtype = core.table, core.pager.arena.ids.dtype
    offsets = upload_offsets(device, core)
    neighbours = device.empty(table.n_arcs, dtype)
    pager, items = core.pager, 1 << table.shift
    at_once = min(pager.arena.n_slots, _BLOCKS_AT_ONCE)
    with pager.own_pass(table.n_blocks) as done:
        for first in range(0, table.n_blocks, at_once):
            blocks = pager.load(np.arange(first, min(first + at_once, table.n_blocks)))
            for block in blocks.tolist():
                start, stop = block * items, min((block + 1) * items, table.n_arcs)
                row = pager.arena.row(int(pager.arena.slot_of[block]))
                device.copy(row[: stop - start], neighbours[start:stop])
            done(len(blocks))
            tick()
    return DeviceGraph(offsets, neighbours)


def upload_offsets(device: Device, core: Core) -> DeviceArray:
    """The compact offsets of the host, spelt out: offsets_dtype[n + 1] on the device."""
    n, dtype = core.table.n_vertices + 1, offsets_dtype(core.table.n_arcs, core.pager.arena.ids.itemsize)
    offsets = device.empty(n, dtype)
    starts = np.empty(min(n, _PIECE), np.int64)
    for begin in range(0, n, _PIECE):
        end = min(begin + _PIECE, n)
        following_starts(*core.offsets, begin, starts[: end - begin])
        device.copy(starts[: end - begin].astype(dtype), offsets[begin:end])
    return offsets


def open_graph(core: Core, setting: OnDevice, plan: VramPlan, tick: Callable[[], None]) -> DeviceGraph:
    """The graph of `core` on the first device of the setting. Raises BudgetError for lack of room, StoreError for a
    damaged block. Close it."""
    device = setting.device
    if plan.resident:
        graph = upload(device, core, tick)
        device.synchronize()
        return graph
    # The arena is where pages come from: two must fit, one on its way and one that is read.
    shift = plan.page_shift
    while shift and core.pager.arena.n_slots < min(2 << shift, core.table.n_blocks):
        shift -= 1
    pages = PageCache(device, core, shift, plan.kept_pages << (plan.page_shift - shift))
    try:
        offsets = upload_offsets(device, core)
        ways = tuple(way for way in setting.ways if way not in (IN_PLACE, UP) or pages.in_order)
        model = setting.model or measure(device, core, pages)
        return PagedGraph(offsets, device.empty(0, core.pager.arena.ids.dtype), core, pages, model, ways)
    except BaseException as error:
        with at_the_end(pages.close):
            raise error
