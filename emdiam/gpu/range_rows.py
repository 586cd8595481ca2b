"""Rows of a range of vertices on a device, for levels of a BFS over many ranges, of batches, and for scans.

The device has the rows and no state: a level copies its bitmaps to the device, and the result back. So the state of a
search stays on the rank that exchanges it with others, and a level costs n / 8 bytes on the bus in each direction, in
addition to its arcs; a level of a batch costs three masks of each row and one of each frontier vertex. Rows are
numbered from the first of the range, their heads as in the whole graph.
Work: the arcs of the requested rows (down), or the arcs up to the first one into the frontier (up).
Source: papers/004, section 5 (load balancing); Beamer et al., SC 2012 (up); Buluc and Madduri 2011 (ranges).
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from ..errors import DeviceRoomError
from ..traverse.core import Core
from ..units import format_size
from .device import Device
from .graph import DeviceGraph, offsets_dtype
from .kernel_file import UNREACHED, KernelFile, zeros
from .upload import upload

_WORD = 32
_MARGIN = 1 << 20


def range_bytes(n_vertices: int, rows: int, n_arcs: int, id_bytes: int) -> int:
    """Device memory of a range of `rows` vertices with n_arcs arcs, in a graph of n_vertices: the rows, a bitmap of all
    vertices and two of the range, a queue with its sums and chunks, and an unused distance a row."""
    graph = offsets_dtype(n_arcs, id_bytes).itemsize * (rows + 1) + id_bytes * n_arcs
    return graph + n_vertices // 8 + rows // 4 + (id_bytes + 8 + 4) * rows + n_arcs // 32 + _MARGIN


class RangeRows:
    """The rows of the span of `core` on `device`; the span starts at a multiple of 64.

    vram_bytes : limit of device memory (None: the free memory). planned_bytes : planned peak. Raises DeviceRoomError
    (BudgetError) with the numbers if the rows do not fit, StoreError for a damaged block.
    """

    def __init__(self, device: Device, core: Core, vram_bytes: int | None = None) -> None:
        self.device, table = device, core.table
        (first, stop), (begin, end) = core.span, table.arcs_between(*core.span)
        item_type, free = core.pager.arena.ids.dtype, device.memory().free
        self.planned_bytes = range_bytes(table.n_vertices, stop - first, end - begin, item_type.itemsize)
        limit = free if vram_bytes is None else min(vram_bytes, free)
        if self.planned_bytes > limit:
            raise DeviceRoomError(
                f"vertices {first} to {stop - 1} and their {end - begin} arcs take {format_size(self.planned_bytes)} on"
                f" {device.name}, which has {format_size(limit)}", remedy="share the graph out to more workers")
        device.limit_memory(limit)
        with ExitStack() as undo:
            undo.callback(device.limit_memory, None)
            self._graph: DeviceGraph = upload(device, core, lambda: None)
            self._words, rows = 2 * (-(-stop // 64) - first // 64), max(1, stop - first)
            self._of_range = [device.empty(self._words, np.uint32) for _ in range(2)]
            self._everyone = device.empty(2 * -(-table.n_vertices // 64), np.uint32)
            self._queue, self._distances = device.empty(rows, item_type), device.empty(rows, np.uint32)
            self._launcher = self._graph.launcher(device)
            self._mark = self._launcher.kernels("bfs_top_down.cu", "mark_words")
            self._of_frontier = KernelFile(device, "frontier.cu", self._graph.macros)
            self._up = KernelFile(device, "bfs_bitmaps.cu", self._graph.macros)
            undo.pop_all()

    def go_down(self, rows: np.ndarray, reached: np.ndarray) -> int:
        """Set the bits of all neighbours of these rows in `reached`; return the number of arcs of the rows. rows :
        bitmap of the range, uint64[k]; reached : of all vertices."""
        device, here, count = self.device, self._of_range[0], int(np.bitwise_count(rows).sum())
        if count == 0:
            return 0
        sizes = zeros(device, 2, np.uint64)  # number of vertices of the queue, and of their arcs
        device.copy(rows.view(np.uint32), here)
        self._of_frontier.launch("queue_of_words", self._words, here, self._words, self._queue, sizes[:1])
        self._of_frontier.launch("arcs_of_queue", count, self._queue, sizes[:1], self._graph.offsets, sizes[1:])
        device.fill(self._everyone, 0)
        self._launcher.launch(self._mark, self._queue[:count], (self._everyone,))
        reached |= device.to_host(self._everyone).view(np.uint64)
        return int(device.to_host(sizes)[1])

    def go_up(self, reached: np.ndarray, frontier: np.ndarray) -> tuple[np.ndarray, int]:
        """(bitmap of the unreached rows with a neighbour in the frontier; scanned arcs). reached : bitmap of the range,
        uint64[k], with bits after the last vertex set; frontier : of all vertices."""
        device, (visited, new), counts = self.device, self._of_range, zeros(self.device, 3, np.uint64)
        device.copy(reached.view(np.uint32), visited)
        device.copy(frontier.view(np.uint32), self._everyone)
        self._up.launch("bottom_up_words", self._words * _WORD, self._graph.offsets, self._graph.neighbours,
                        self._words, visited, self._everyone, new, self._distances, np.uint32(1), counts)
        return device.to_host(new).view(np.uint64), int(device.to_host(counts)[2])

    def pull_masks(self, frontier: tuple[np.ndarray, np.ndarray], masks: np.ndarray, every: np.ndarray,
                   seen: np.ndarray, new: np.ndarray) -> int | None:
        """OR the masks of the neighbours of each row in the frontier into `new`, without the bits of `seen`; return the
        scanned arcs, or None if the device is too small. frontier : bitmap of all vertices, uint64[k], and the number
        of its bits before each word; masks : of its vertices. every : mask of all sources. All masks: uint64[k, w]."""
        if not len(masks):
            return 0
        arrays = [array.reshape(-1) for array in (*frontier, masks, every, seen, new)]
        if sum(array.nbytes for array in arrays) > self.device.memory().free:
            return None
        device, scanned = self.device, zeros(self.device, 1, np.uint64)
        bits, before, of_frontier, whole, known, came = map(device.array, arrays)
        self._up.launch("pull_masks", len(new) * _WORD, self._graph.offsets, self._graph.neighbours, len(new), bits,
                        before, of_frontier, len(every), whole, known, came, scanned)
        new[:] = device.to_host(came).reshape(new.shape)
        return int(device.to_host(scanned)[0])

    def count_steep(self, values: np.ndarray, heads: np.ndarray, low: int) -> int | None:
        """The number of arcs from the rows to low, low + 1, ... whose ends differ by more than 1, or None if the device
        is too small. values : of the rows, heads : of these, unsigned; the largest value is far from others."""
        if values.itemsize > 4 or 4 * (len(values) + len(heads)) > self.device.memory().free:
            return None
        from .engine import count_steep

        largest = np.iinfo(values.dtype).max
        own, others = (self.device.array(np.where(some == largest, UNREACHED, some).astype(np.uint32))
                       for some in (values, heads))
        return count_steep(self.device, self._graph, own, others, low)

    def close(self) -> None:
        """Free the device memory."""
        del self._graph, self._launcher, self._of_range, self._everyone, self._queue, self._distances
        self.device.limit_memory(None)
