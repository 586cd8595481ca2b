"""Spread in one launch on a graph that is on the device: the host's side of spread_whole.cu.

What a spread is: spread.py, whose values are launches of their own. Here the seeds go to the device, one cooperative
launch gives all values, and the number of vertices lowered comes back. Bytes a vertex: two queues.
Source: F-Diam, Algorithm 5, section 4.5.
"""

from __future__ import annotations

import numpy as np

from .bfs_whole import WIDE_ROW, wide_rows
from .device import Device, DeviceArray, blocks_for
from .graph import DeviceGraph
from .kernel_file import KernelFile, zeros
from .spread import check_bound, seeds_by_value

# Counts of three values, two each (LEVEL_COUNTS of spread_whole.cu).
_COUNTS = 6


class WholeSpread:
    """Spreads on columns of one graph; buffers are kept between them.

    block : threads of a block, a multiple of 32 up to 256, which None is. wide_row : rows of more arcs are visited by
    the whole grid.
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
        """Give bounds of `value` to `limit`. due : uint64[2, k], seeds and their values; None: what has the bound
        value - 1 grows."""
        device, graph, n = self.device, self._graph, self._graph.n_vertices
        k = 0 if due is None else due.shape[1]
        given = self._counts if due is None else device.array(due.ravel())
        self._kernels.launch_resident(
            "whole_spread", blocks_for(n, self._kernels.block("whole_spread"), device), graph.offsets, graph.neighbours,
            n, bound, given[:k], given[k : 2 * k], k, value, limit, np.uint32(due is None), *graph.queues(device),
            *self._wide, self._counts, self._lowered, self._barrier)
        lowered, looked = device.to_host(self._lowered).tolist()
        graph.looked.arcs += looked
        return int(lowered)
