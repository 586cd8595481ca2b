"""The graph of an engine on a device, resident or paged, as the plan of the device's memory says."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..traverse.core import Core
from .bfs_standard import DeviceGraph
from .column_ops import gather
from .device import Device
from .failures import at_the_end
from .gather import pack_rows
from .paged import PagedGraph
from .pages import Pages
from .paging_model import IN_PLACE, SECTOR_BYTES, TYPICAL, PagingModel, random_rows, timed_rate
from .setting import OnDevice
from .upload import upload, upload_offsets
from .vram import VramPlan

_SAMPLE = 1 << 16


def open_graph(core: Core, setting: OnDevice, plan: VramPlan, tick: Callable[[], None]) -> DeviceGraph:
    """The graph of `core` on the first device of the setting. Raises BudgetError for lack of room, StoreError for a
    damaged block. A PagedGraph must be closed (close_graph)."""
    device = setting.device
    if plan.resident:
        graph = upload(device, core, tick)
        device.synchronize()
        return graph
    # The arena is where pages come from: two must fit, one on its way and one that is read.
    shift = plan.page_shift
    while shift and core.pager.arena.n_slots < min(2 << shift, core.table.n_blocks):
        shift -= 1
    pages = Pages(device, core, shift, plan.kept_pages << (plan.page_shift - shift))
    try:
        offsets = upload_offsets(device, core)
        ways = tuple(way for way in setting.ways if way != IN_PLACE or pages.in_order)
        model = setting.model or measure(device, core, pages)
        return PagedGraph(offsets, device.empty(0, core.pager.arena.ids.dtype), core, pages, model, ways)
    except BaseException as error:
        with at_the_end(pages.close):
            raise error


def close_graph(graph: DeviceGraph | None) -> None:
    """Let go of the arena of a paged graph."""
    if isinstance(graph, PagedGraph):
        graph.pages.close()


def measure(device: Device, core: Core, pages: Pages) -> PagingModel:
    """The rates and latencies of this machine, each the best of a few short runs over arcs that are at hand."""
    table, arena = core.table, core.pager.arena
    if table.n_arcs == 0:
        return TYPICAL
    first = core.pager.load(np.arange(min(1 << pages.page_shift, table.n_blocks, arena.n_slots)))
    slot = int(arena.slot_of[first[0]])
    host = arena.row(slot)
    target, stream = device.empty(len(host), host.dtype), device.stream()

    def copy() -> None:
        device.copy_behind(host, target, stream)
        device.wait_here(device.record(stream))

    def read_in_place(rows: np.ndarray) -> None:
        gather(device, pages.in_place(0, len(host)), rows)

    def round_trip() -> None:
        device.to_host(target[:1])

    copy_rate = timed_rate(copy, host.nbytes)
    latency = 1 / timed_rate(round_trip, 1)
    place_rate = TYPICAL.place_rate
    if pages.in_order and host.dtype == np.uint32:
        rows = random_rows(len(host), _SAMPLE)
        place_rate = timed_rate(lambda: read_in_place(rows), len(rows) * SECTOR_BYTES)
    last = int(table.first_vertex[int(first[0]) + 1])
    ids = random_rows(max(1, last), _SAMPLE).astype(host.dtype)
    out, begin = np.empty(len(host), host.dtype), time.perf_counter()
    packed = pack_rows(core, ids, 0, len(host), out)
    gather_rate = max(1, packed) * host.itemsize / max(1e-9, time.perf_counter() - begin)
    return PagingModel(copy_rate, place_rate, gather_rate, TYPICAL.call, latency)
