"""Copies the graph of an engine to a device, resident or paged by the plan of device memory; or the rows of a range.

A resident graph is copied block by block, so that the host never has all of it in memory.
"""

from __future__ import annotations

import numpy as np

from ..progress import Tick
from ..stream.offsets import following_starts
from ..traverse.core import Core
from .device import Device, DeviceArray
from .failures import at_the_end
from .graph import DeviceGraph, offsets_dtype
from .page_cache import PageCache, measure
from .paged import PagedGraph
from .paging_model import ALL_WAYS, IN_PLACE, UP
from .setting import OnDevice
from .vram import VramPlan

_PIECE = 1 << 17
_BLOCKS_AT_ONCE = 64


def upload(device: Device, core: Core, tick: Tick) -> DeviceGraph:
    """The rows of the span of `core` on the device, with ids of the whole graph, and rows numbered from the first of
    the span. Reads each block that is not in the arena once.

    tick : called between pieces. Raises BudgetError if memory is too small, StoreError for a damaged block.
    """
    pager, items, (begin, end) = core.pager, 1 << core.table.shift, core.table.arcs_between(*core.span)
    offsets = upload_offsets(device, core)
    neighbours = device.empty(end - begin, pager.arena.ids.dtype)
    at_once = min(pager.arena.n_slots, _BLOCKS_AT_ONCE)
    with pager.own_pass(len(core.blocks)) as done:
        for first in range(0, len(core.blocks), at_once):
            blocks = pager.load(core.blocks[first : first + at_once])
            for block in blocks.tolist():
                start, stop = max(begin, block * items), min((block + 1) * items, end)
                row = pager.arena.row(int(pager.arena.slot_of[block]))
                device.copy(row[start - block * items : stop - block * items], neighbours[start - begin : stop - begin])
            done(len(blocks))
            tick()
    return DeviceGraph(offsets, neighbours)


def upload_offsets(device: Device, core: Core) -> DeviceArray:
    """The offsets of the rows of the span as plain numbers from 0 on: offsets_dtype[rows + 1] on the device."""
    (first, stop), (base, end) = core.span, core.table.arcs_between(*core.span)
    n, dtype = stop - first + 1, offsets_dtype(end - base, core.pager.arena.ids.itemsize)
    offsets = device.empty(n, dtype)
    starts = np.empty(min(n, _PIECE), np.int64)
    for begin in range(0, n, _PIECE):
        piece = starts[: min(n - begin, _PIECE)]
        following_starts(*core.offsets, first + begin, piece)
        piece -= base
        device.copy(piece.astype(dtype), offsets[begin : begin + len(piece)])
    return offsets


def open_graph(core: Core, setting: OnDevice, plan: VramPlan, tick: Tick) -> DeviceGraph:
    """The graph of `core` on the first device of the setting; the caller closes it. Raises BudgetError if memory is too
    small, StoreError for a damaged block."""
    device = setting.device
    if plan.resident:
        graph = upload(device, core, tick)
        device.synchronize()
        return graph
    # Pages are copied from the arena: two must fit, one being copied and one being read.
    shift = plan.page_shift
    while shift and core.pager.arena.n_slots < min(2 << shift, core.table.n_blocks):
        shift -= 1
    pages = PageCache(device, core, shift, plan.kept_pages << (plan.page_shift - shift))
    try:
        offsets = upload_offsets(device, core)
        ways = tuple(way for way in setting.ways or ALL_WAYS if way not in (IN_PLACE, UP) or pages.in_order)
        model = setting.model or measure(device, core, pages)
        return PagedGraph(offsets, device.empty(0, core.pager.arena.ids.dtype), core, pages, model, ways)
    except BaseException as error:
        with at_the_end(pages.close):
            raise error
