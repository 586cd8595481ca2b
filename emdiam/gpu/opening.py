"""The graph of an engine on a device, resident or paged, as the plan of the device's memory says."""

from __future__ import annotations

from collections.abc import Callable

from ..traverse.core import Core
from .failures import at_the_end
from .graph import DeviceGraph
from .page_cache import Pages
from .paged import PagedGraph
from .paging_model import IN_PLACE
from .paging_rates import measure
from .setting import OnDevice
from .upload import upload, upload_offsets
from .vram import VramPlan


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
