"""The graph of a store in the memory of a device, block by block, so that the host never holds it whole."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import BudgetError
from ..stream.offsets import row_starts
from ..traverse.core import Core
from ..units import format_size
from .bfs_standard import DeviceGraph
from .device import Device, DeviceArray

_PIECE = 1 << 17
_BLOCKS_AT_ONCE = 64
# Distances, two queues, sums of degrees, bitmaps and what is left of the allocator's blocks.
STATE_BYTES_A_VERTEX = 32


def graph_bytes(n_vertices: int, n_arcs: int, id_bytes: int) -> int:
    """Bytes of a DeviceGraph: offsets of 64 bits, and the ids."""
    return 8 * (n_vertices + 1) + id_bytes * n_arcs


def check_room(device: Device, n_vertices: int, n_arcs: int, id_bytes: int) -> None:
    """Raises BudgetError, with the numbers, if the device has no room for the graph and a traversal of it."""
    graph, state = graph_bytes(n_vertices, n_arcs, id_bytes), STATE_BYTES_A_VERTEX * n_vertices
    free = device.memory().free
    if graph + state > free:
        raise BudgetError(
            f"the device {device.name} has {format_size(free)} free, and this graph takes"
            f" {format_size(graph + state)}: {format_size(graph)} edges + {format_size(state)} vertex state",
            remedy="compute on the CPU with --device cpu")


def upload(device: Device, core: Core, tick: Callable[[], None]) -> DeviceGraph:
    """The graph of `core` on the device. Reads every block that is not in the arena once.

    tick : called between pieces. Raises BudgetError for lack of room, StoreError for a damaged block.
    """
    table, dtype = core.table, core.pager.arena.ids.dtype
    check_room(device, table.n_vertices, table.n_arcs, dtype.itemsize)
    offsets = device.empty(table.n_vertices + 1, np.uint64)
    _copy_offsets(device, core, offsets)
    neighbours = device.empty(table.n_arcs, dtype)
    pager, items = core.pager, 1 << table.shift
    at_once = min(pager.arena.n_slots, _BLOCKS_AT_ONCE)
    for first in range(0, table.n_blocks, at_once):
        for block in pager.load(np.arange(first, min(first + at_once, table.n_blocks))).tolist():
            start, stop = block * items, min((block + 1) * items, table.n_arcs)
            row = pager.arena.row(int(pager.arena.slot_of[block]))
            device.copy(row[: stop - start], neighbours[start:stop])
        tick()
    return DeviceGraph(offsets, neighbours)


def _copy_offsets(device: Device, core: Core, offsets: DeviceArray) -> None:
    """The compact offsets of the host, spelt out."""
    n = core.table.n_vertices + 1
    starts = np.empty(min(n, _PIECE), np.int64)
    for begin in range(0, n, _PIECE):
        end = min(begin + _PIECE, n)
        row_starts(*core.offsets, np.arange(begin, end), starts[: end - begin])
        device.copy(starts[: end - begin].view(np.uint64), offsets[begin:end])
