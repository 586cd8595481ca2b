"""The plan of a device's memory: what a run will hold there, before it starts.

The graph is resident where its edges fit beside everything else, and paged where not: then offsets and vertex
state stay, edges come through a ring of buffers, and what is left keeps pages. Bytes a vertex: of offsets 4, or 8
where there are more arcs than 4 can count (graph.py), and of state what the method says (engine/needs.py, DeviceState);
columns are 4 bytes each.
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

# A page is this many bytes, or the largest power of two blocks below it: large enough that a launch and a copy
# call cost little beside it, small enough that a ring of them does. It is up to 2^LARGER times as large, 32 MiB, of
# which a call is a fortieth at the typical rate, where its ring takes at most 1 / LARGER_SHARE of what there is for
# pages.
PAGE_BYTES, LARGER, LARGER_SHARE = 8 << 20, 2, 8
# Distances of the search at hand, four bitmaps and that of what is reached.
_SEARCH_BYTES = 4.625
# Of a traversal with queues: two of ids, and sums of degrees.
_SUMS_BYTES = 8
# Of a batch of 64 sources: three words, and marks.
_BATCH_BYTES = 28
_MARGIN = 1 << 20


@dataclass(frozen=True)
class VramPlan:
    """All sizes in bytes. resident : whether the edges stay. edge_bytes : of the edges on the device. ring_bytes,
    kept_bytes : of pages that come and go, and of those that stay. pool_bytes : for more columns and wider
    batches. least_bytes : the smallest --vram that would be accepted."""

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
        """What will be held at most."""
        return (self.offset_bytes + self.state_bytes + self.edge_bytes + self.ring_bytes + self.kept_bytes
                + self.pool_bytes)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return {**asdict(self), "planned_bytes": self.planned_bytes}


def state_bytes(n_vertices: int, id_bytes: int, held: DeviceState, paged: bool) -> int:
    """Vertex state of a method that holds `held`, beside the offsets."""
    queues = 2 * id_bytes + _SUMS_BYTES
    a_vertex = _SEARCH_BYTES + 4 * held.columns
    if not paged or held.spreads or held.batches:
        a_vertex += queues
    if held.batches:
        a_vertex += _BATCH_BYTES
    return int(a_vertex * n_vertices) + _MARGIN


def _offset_bytes(store: Store) -> int:
    """Offsets of all rows."""
    return offsets_dtype(store.n_arcs, store.id_dtype.itemsize).itemsize * (store.n_vertices + 1)


def resident_bytes(store: Store, held: DeviceState) -> int:
    """Offsets, edges and vertex state on a device that holds the whole graph; one with less memory pages it."""
    return _offset_bytes(store) + store.id_dtype.itemsize * store.n_arcs + _resident_state(store, held)


def _resident_state(store: Store, held: DeviceState) -> int:
    """Vertex state beside a resident graph, and room for its wide rows."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    return state_bytes(n, item, held, paged=False) + wide_bytes(store.n_arcs, item)


def plan_vram(store: Store, setting: OnDevice, held: DeviceState) -> VramPlan:
    """The plan of a method on `store` within what the setting allows of the first device, or what is free there.

    Of several devices batches get what all of them have room for. Raises BudgetError with the numbers where that is too
    little, and where one of several devices cannot hold the whole graph.
    """
    plan = _plan_one(store, setting, held)
    pools = [plan.pool_bytes]
    for other in setting.others:
        there = _plan_one(store, replace(setting, device=other), held)
        pools.append(there.pool_bytes)
        if not (plan.resident and there.resident):
            raise DeviceRoomError(f"each of several devices holds the whole graph, and it does not fit"
                                  f" {other.name if plan.resident else setting.device.name}",
                                  remedy="give one device, where edges that do not fit are paged, or share the graph"
                                         " out with --workers")
    # A batch may go to any of them.
    return replace(plan, pool_bytes=min(pools))


def _plan_one(store: Store, setting: OnDevice, held: DeviceState) -> VramPlan:
    """The plan for the first device."""
    device, free = setting.device, setting.device.memory().free
    limit = free if setting.vram_bytes is None else min(setting.vram_bytes, free)
    n, m, item = store.n_vertices, store.n_arcs, store.id_dtype.itemsize
    offsets, edges = _offset_bytes(store), m * item
    pool = limit - resident_bytes(store, held)
    if pool >= 0 and not setting.paged:
        resident = _resident_state(store, held)
        return VramPlan(limit, offsets, resident, edges, 0, 0, pool, _least(store, held), True, 0, 0)
    state, shift = state_bytes(n, item, held, paged=True), page_shift(store)
    for_pages, least = limit - offsets - state, _least(store, held, setting.paged)
    while shift < page_shift(store) + LARGER and LARGER_SHARE * _ring(store, shift + 1)[2] <= for_pages:
        shift += 1
    page, n_pages, ring = _ring(store, shift)
    left = for_pages - ring
    if left < 0:
        raise DeviceRoomError(
            f"{format_size(limit)} of {device.name} is too small: the least is {format_size(least)} ="
            f" {format_size(offsets)} offsets + {format_size(state)} vertex state + {format_size(ring)} pages",
            remedy=f"give at least --vram {-(-least // 2**20)}MiB, or compute on the CPU with --device cpu")
    stay = min(n_pages, left // 2 // page)
    return VramPlan(limit, offsets, state, 0, ring, stay * page, left - stay * page, least, False, shift, stay)


def page_shift(store: Store) -> int:
    """log2 of the blocks of the smallest page."""
    block = store.indices.chunk_items * store.id_dtype.itemsize
    return max(0, (PAGE_BYTES // block).bit_length() - 1)


def _ring(store: Store, shift: int) -> tuple[int, int, int]:
    """Bytes of a page of 2^shift blocks, pages, and bytes of the ring with what stands beside it: the rows of a page,
    arcs that were packed, sums of degrees, and what a frontier asks of each block."""
    item, blocks = store.id_dtype.itemsize, store.indices.n_chunks
    items, n_pages = store.indices.chunk_items << shift, -(-blocks >> shift)
    beside = 2 * items * item + 8 * (items + 1) + 8 * (blocks + 3 * n_pages)
    return items * item, n_pages, min(RING, max(1, n_pages)) * items * item + beside


def _least(store: Store, held: DeviceState, paged: bool = False) -> int:
    """The smallest budget: of a resident graph, or of a paged one if that is less or asked for."""
    n, item = store.n_vertices, store.id_dtype.itemsize
    of_pages = _offset_bytes(store) + state_bytes(n, item, held, True) + _ring(store, page_shift(store))[2]
    return of_pages if paged else min(of_pages, resident_bytes(store, held))
