"""The plan of device memory of a run, before it starts.

The graph is resident if its edges fit with everything else. Otherwise it is paged: offsets and vertex state stay on the
device, edges pass through a ring of buffers, and the remaining memory keeps pages. Bytes a vertex: offsets 4, or 8 if
the number of arcs needs it (graph.py), and the state of the method (engine/needs.py, DeviceState); columns take 4 bytes
each.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..engine.needs import DeviceState
from ..errors import DeviceRoomError
from ..store.store import Store
from ..units import format_size
from .bfs_whole import wide_bytes
from .graph import offsets_dtype
from .paging_model import RING
from .setting import OnDevice

# A page has PAGE_BYTES, or the largest power of two blocks below it: large enough that a launch and a copy call cost
# little in comparison, small enough that a ring of pages takes little memory. It is up to 2^LARGER times as large
# (32 MiB, for which a call takes a fortieth of the time at the typical rate) if its ring takes at most 1 / LARGER_SHARE
# of the memory for pages.
PAGE_BYTES, LARGER, LARGER_SHARE = 8 << 20, 2, 8
# Bytes a vertex of a search: distances, four bitmaps, and the bitmap of reached vertices.
_SEARCH_BYTES = 4.625
# Bytes a vertex of the bitmaps of another search of the same graph.
_BITMAPS_BYTES = 0.625
# Bytes a vertex of a traversal with queues: sums of degrees, beside two queues of ids.
_SUMS_BYTES = 8
# Bytes a vertex of a batch of 64 sources: three words, and marks.
_BATCH_BYTES = 28
_MARGIN = 1 << 20


@dataclass(frozen=True)
class VramPlan:
    """All sizes in bytes. resident : whether all edges are on the device. edge_bytes : of the edges on the device.
    ring_bytes, kept_bytes : of the ring and of kept pages. pool_bytes : for more columns and wider batches.
    least_bytes : the smallest accepted --vram."""

    limit_bytes: int
    offset_bytes: int
    state_bytes: int
    edge_bytes: int
    ring_bytes: int
    kept_bytes: int
    pool_bytes: int
    least_bytes: int
    resident: bool
    page_shift: int
    kept_pages: int

    @property
    def planned_bytes(self) -> int:
        """The planned peak."""
        return (self.offset_bytes + self.state_bytes + self.edge_bytes + self.ring_bytes + self.kept_bytes
                + self.pool_bytes)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {**asdict(self), "planned_bytes": self.planned_bytes}


def state_bytes(n_vertices: int, id_bytes: int, needs: DeviceState, paged: bool) -> int:
    """Bytes of the vertex state of a method with `needs`, without offsets."""
    queues = 2 * id_bytes + _SUMS_BYTES
    a_vertex = _SEARCH_BYTES + 4 * needs.columns
    if not paged or needs.spreads or needs.batches:
        a_vertex += queues
    if needs.batches:
        a_vertex += _BATCH_BYTES
    return int(a_vertex * n_vertices) + _MARGIN


def _offset_bytes(store: Store) -> int:
    """Bytes of the offsets of all rows."""
    return offsets_dtype(store.n_arcs, store.id_dtype.itemsize).itemsize * (store.n_vertices + 1)


def resident_bytes(store: Store, needs: DeviceState) -> int:
    """Bytes of offsets, edges and vertex state of a resident graph; with less memory it is paged."""
    return _offset_bytes(store) + store.id_dtype.itemsize * store.n_arcs + _resident_state(store, needs)


def _resident_state(store: Store, needs: DeviceState) -> int:
    """Bytes of vertex state with a resident graph, and of its wide rows."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    return state_bytes(n, item, needs, paged=False) + wide_bytes(store.n_arcs, item)


def plan_vram(store: Store, setting: OnDevice, needs: DeviceState) -> VramPlan:
    """The plan of a method on `store` within the setting's limit for the first device, or its free memory.

    With several devices, batches get the memory that all of them have. Raises BudgetError with the numbers if it is too
    small, or if one of several devices is too small for the whole graph.
    """
    plan = _plan_one(store, setting, needs)
    pools = [plan.pool_bytes]
    for other in setting.others:
        there = _plan_one(store, replace(setting, device=other), needs)
        pools.append(there.pool_bytes)
        if not (plan.resident and there.resident):
            raise DeviceRoomError(f"each of several devices holds the whole graph, and it does not fit"
                                  f" {other.name if plan.resident else setting.device.name}",
                                  remedy="give one device, where edges that do not fit are paged, or share the graph"
                                         " out with --workers")
    # A batch may run on any of the devices.
    return replace(plan, pool_bytes=min(pools))


def plan_both_ways(store: Store, setting: OnDevice, needs: DeviceState) -> VramPlan:
    """The plan of a method along arcs, with the rows of both directions resident; see plan_vram."""
    limit = _limit(setting)
    offsets, edges = 2 * _offset_bytes(store), 2 * store.n_arcs * store.id_dtype.itemsize
    state = _resident_state(store, needs) + int(_BITMAPS_BYTES * store.n_vertices)
    least = offsets + edges + state
    if limit < least:
        raise DeviceRoomError(
            f"{format_size(limit)} of {setting.device.name} is too small: along arcs the least is {format_size(least)}"
            f" = {format_size(offsets)} offsets + {format_size(edges)} arcs of both directions + {format_size(state)}"
            " vertex state", remedy=_more(least))
    return VramPlan(limit, offsets, state, edges, 0, 0, limit - least, least, True, 0, 0)


def _limit(setting: OnDevice) -> int:
    """The memory of the first device that a run may take."""
    free = setting.device.memory().free
    return free if setting.vram_bytes is None else min(setting.vram_bytes, free)


def _more(least: int) -> str:
    return f"give at least --vram {-(-least // 2**20)}MiB, or compute on the CPU with --device cpu"


def _plan_one(store: Store, setting: OnDevice, needs: DeviceState) -> VramPlan:
    """The plan for the first device."""
    device, limit = setting.device, _limit(setting)
    n, m, item = store.n_vertices, store.n_arcs, store.id_dtype.itemsize
    offsets, edges = _offset_bytes(store), m * item
    pool = limit - resident_bytes(store, needs)
    if pool >= 0 and not setting.paged:
        resident = _resident_state(store, needs)
        return VramPlan(limit, offsets, resident, edges, 0, 0, pool, _least(store, needs), True, 0, 0)
    state, shift = state_bytes(n, item, needs, paged=True), page_shift(store)
    for_pages, least = limit - offsets - state, _least(store, needs, setting.paged)
    while shift < page_shift(store) + LARGER and LARGER_SHARE * _ring(store, shift + 1)[2] <= for_pages:
        shift += 1
    page, n_pages, ring = _ring(store, shift)
    left = for_pages - ring
    if left < 0:
        raise DeviceRoomError(
            f"{format_size(limit)} of {device.name} is too small: the least is {format_size(least)} ="
            f" {format_size(offsets)} offsets + {format_size(state)} vertex state + {format_size(ring)} pages",
            remedy=_more(least))
    stay = min(n_pages, left // 2 // page)
    return VramPlan(limit, offsets, state, 0, ring, stay * page, left - stay * page, least, False, shift, stay)


def page_shift(store: Store) -> int:
    """log2 of the blocks of the smallest page."""
    block = store.indices.chunk_items * store.id_dtype.itemsize
    return max(0, (PAGE_BYTES // block).bit_length() - 1)


def _ring(store: Store, shift: int) -> tuple[int, int, int]:
    """Bytes of a page of 2^shift blocks, the number of pages, and bytes of the ring with its buffers: rows of a page,
    packed arcs, sums of degrees, and the demand of a frontier by block."""
    item, blocks = store.id_dtype.itemsize, store.indices.n_chunks
    items, n_pages = store.indices.chunk_items << shift, -(-blocks >> shift)
    beside = 2 * items * item + 8 * (items + 1) + 8 * (blocks + 3 * n_pages)
    return items * item, n_pages, min(RING, max(1, n_pages)) * items * item + beside


def _least(store: Store, needs: DeviceState, paged: bool = False) -> int:
    """The smallest limit: for a resident graph, or for a paged one if that is less or `paged`."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    of_pages = _offset_bytes(store) + state_bytes(n, item, needs, True) + _ring(store, page_shift(store))[2]
    return of_pages if paged else min(of_pages, resident_bytes(store, needs))
