"""Spread on a device: bound[v] = min over seeds of (value + d(v, seed)), for values up to a limit.

Spreader is the host code of spread.cu, for paged arcs. It processes values in increasing order, with a launch over the
arcs of a queue for each; the host reads one small array a value. Pruning at a vertex with a bound as small is correct
if every earlier spread on the column ran to the same limit, or was extended to it.
Work: O(n + m) a spread. Bytes a vertex: two queues and the sums of the mapping.
Source: F-Diam, Algorithm 5, section 4.5; see also traverse/spread.py, the same on the CPU.

WholeSpread does the same in one launch (spread_whole.cu) on a resident graph: a copy of the seeds to the device, one
cooperative launch for all values, and a copy of the number of lowered vertices to the host. Bytes a vertex: two queues.
"""

from __future__ import annotations

import numpy as np

from .bfs_whole import WIDE_ROW, wide_rows
from .device import Device, DeviceArray, blocks_for
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros


class Spreader:
    """Spreads on columns of one graph, with reused buffers.

    mapping (None: the default), block : as in FrontierLauncher. Columns are uint32[n] on the device, all bits set for
    no bound. Raises InputError for an impossible mapping or block.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str | None = None,
                 block: int | None = None) -> None:
        self.device, self.graph = device, graph
        self._launcher = graph.launcher(device, mapping, block)
        self._kernels = self._launcher.kernels("spread.cu", "spread_level")
        self._seeds = KernelFile(device, "frontier.cu", graph.macros, block)
        self._queue, self._following = graph.queues(device)
        # Vertices of the next queue, and lowered vertices (frontier.cu).
        self._counts = device.empty(2, np.uint64)

    def spread(self, bound: DeviceArray, seeds: np.ndarray, values: np.ndarray, limit: int) -> int:
        """Set bound[v] to min(bound[v], min over seeds of values + d(v, seed)), without writing bounds above `limit`.
        Returns the number of lowered vertices.

        seeds : int64[k], vertices. values : int64[k], not negative, their bounds. Raises ValueError for seeds, values
        or columns that do not fit the graph, OverflowError for a limit that does not fit the column.
        """
        check_bound(self.graph, bound, limit)
        due, of_value = seeds_by_value(self.graph, seeds, values, limit)
        known, begins = np.unique(of_value, return_index=True)
        parts = np.split(due.astype(self.graph.id_dtype), begins[1:])
        return self._grow(bound, dict(zip(known.tolist(), parts, strict=False)), 0, limit, size=0)

    def extend(self, bound: DeviceArray, old: int, new: int) -> int:
        """A spread from all vertices with bound exactly `old`, to the limit `new`. Returns the number of lowered
        vertices. Raises as `spread` does."""
        check_bound(self.graph, bound, new)
        n = self.graph.n_vertices
        if not 0 <= old < new or n == 0:
            return 0
        self.device.fill(self._counts, 0)
        self._seeds.launch("queue_of_value", n, bound, n, np.uint32(old), self._following, self._counts)
        return self._grow(bound, {}, old + 1, new, self._end_level()[0])

    def _end_level(self) -> tuple[int, int]:
        """Make the reached vertices the queue; return their number, and the number of lowered ones."""
        self._queue, self._following = self._following, self._queue
        size, lowered = (int(count) for count in self.device.to_host(self._counts))
        return size, lowered

    def _grow(self, bound: DeviceArray, due: dict[int, np.ndarray], value: int, limit: int, size: int) -> int:
        """Set bounds from `value` to `limit`, and count the lowered vertices. The first `size` vertices of the queue
        have the bound value - 1; due : seeds by their values, ascending."""
        total = 0
        while value <= limit and (size or due):
            if not size:
                value = next(iter(due))
            self.device.fill(self._counts, 0)
            # Seeds come first, so that arcs do not reach them again with the same bound.
            seeds = due.pop(value, None)
            if seeds is not None:
                self._seeds.launch("admit_seeds", len(seeds), self.device.array(seeds), len(seeds), bound,
                             np.uint32(value), self._following, self._counts)
            if size:
                self._launcher.launch(self._kernels, self._queue[:size], (
                    bound, np.uint32(value), self._following, self._counts))
            size, lowered = self._end_level()
            total += lowered
            value += 1
        return total


def check_bound(graph: DeviceGraph, bound: DeviceArray, limit: int) -> None:
    """Raise the errors of `Spreader.spread` for an invalid column or limit."""
    if bound.dtype != np.uint32 or bound.size != graph.n_vertices:
        raise ValueError(f"a bound of {graph.n_vertices} vertices is uint32, one for each")
    if limit >= UNREACHED:
        raise OverflowError(f"the limit {limit} does not fit the bound column (uint32)")


def seeds_by_value(graph: DeviceGraph, seeds: np.ndarray, values: np.ndarray,
                   limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Seeds and their values up to `limit`, int64[k] each, sorted by value and vertex, without duplicates. Raises
    ValueError for seeds that are invalid for `Spreader.spread`."""
    seeds, values = np.asarray(seeds, np.int64), np.asarray(values, np.int64)
    if len(seeds) != len(values) or (len(values) and int(values.min()) < 0):
        raise ValueError("each seed needs a value, 0 or more")
    if len(seeds) and (int(seeds.min()) < 0 or int(seeds.max()) >= graph.n_vertices):
        raise ValueError(f"a seed is no vertex (0 to {graph.n_vertices - 1})")
    pairs = np.unique(np.stack([values, seeds], axis=1)[values <= limit], axis=0)
    return pairs[:, 1], pairs[:, 0]


# Counts of three values, two each (LEVEL_COUNTS of spread_whole.cu).
_COUNTS = 6


class WholeSpread:
    """Spreads on columns of one resident graph, with reused buffers.

    block : threads of a block, a multiple of 32 up to 256 (None: 256). wide_row : the whole grid shares rows of more
    arcs.
    """

    def __init__(self, device: Device, graph: DeviceGraph, block: int | None = None, wide_row: int = WIDE_ROW) -> None:
        self.device, self._graph = device, graph
        self._kernels = KernelFile(device, "spread_whole.cu", graph.macros, block)
        self._wide = wide_rows(device, graph, wide_row)
        self._counts, self._lowered = device.empty(_COUNTS, np.uint64), device.empty(2, np.uint64)
        self._barrier = zeros(device, 1, np.uint32)

    def spread(self, bound: DeviceArray, seeds: np.ndarray, values: np.ndarray, limit: int) -> int:
        """See Spreader.spread."""
        check_bound(self._graph, bound, limit)
        due = np.stack(seeds_by_value(self._graph, seeds, values, limit)).astype(np.uint64)
        return self._grow(bound, due, 0, limit) if due.size else 0

    def extend(self, bound: DeviceArray, old: int, new: int) -> int:
        """See Spreader.extend."""
        check_bound(self._graph, bound, new)
        return self._grow(bound, None, old + 1, new) if 0 <= old < new and bound.size else 0

    def _grow(self, bound: DeviceArray, due: np.ndarray | None, value: int, limit: int) -> int:
        """Set bounds from `value` to `limit`. due : uint64[2, k], seeds and their values; None: grow from vertices with
        the bound value - 1."""
        device, graph, n = self.device, self._graph, self._graph.n_vertices
        k = 0 if due is None else due.shape[1]
        seeds = self._counts if due is None else device.array(due.ravel())
        self._kernels.launch_resident(
            "whole_spread", blocks_for(n, self._kernels.block("whole_spread"), device), graph.offsets, graph.neighbours,
            n, bound, seeds[:k], seeds[k : 2 * k], k, value, limit, np.uint32(due is None), *graph.queues(device),
            *self._wide, self._counts, self._lowered, self._barrier)
        lowered, arcs = device.to_host(self._lowered).tolist()
        graph.scanned.arcs += arcs
        return int(lowered)
