"""Bit-parallel multi-source BFS in one launch a batch: the host's side of multi_source_whole.cu.

What a batch is and what comes of it: multi_source.py, whose levels are launches of their own. Here the sources go to
the device, one cooperative launch does all levels, and the eccentricities come back in one copy. Bytes a vertex: 24 for
each 64 sources, two queues, and 4 for marks.
Source: Then et al., PVLDB 2014 (MS-BFS).
"""

from __future__ import annotations

import numpy as np

from .bfs_whole import WIDE_ROW, wide_rows
from .device import Device, blocks_for
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .multi_source import PUSH_COST, Columns, check_batch, words_for
from .vector import column_addresses

# Counts of a level (LEVEL_COUNTS of multi_source_whole.cu) beside those of its words.
_COUNTS = 5


class WholeBatch:
    """Batches of BFS on one graph, undirected and on the device; buffers are kept between them.

    push_cost : how many pulled arcs one pushed arc is worth; 0 pushes always, infinity pulls always. block : threads of
    a block, a multiple of 32 up to 256, which None is. wide_row : rows of more arcs are pushed by the whole grid.
    """

    def __init__(self, device: Device, graph: DeviceGraph, push_cost: float = PUSH_COST, block: int | None = None,
                 wide_row: int = WIDE_ROW) -> None:
        self.device, self._graph, self._push_cost, self._block = device, graph, push_cost, block
        self._wide = wide_rows(device, graph, wide_row)
        self._marks, self._epoch = zeros(device, graph.n_vertices, np.uint32), 1
        self._barrier = zeros(device, 1, np.uint32)

    def run(self, sources: np.ndarray, targets: np.ndarray | None = None, columns: Columns = None) -> np.ndarray:
        """See MultiSource.run."""
        device, graph, k, n = self.device, self._graph, len(sources), self._graph.n_vertices
        check_batch(graph, sources, targets)
        words = words_for(k)
        kernels = KernelFile(device, "multi_source_whole.cu", {**graph.macros, "WORDS": words}, self._block)
        counts, reach = device.empty(3 * (_COUNTS + words), np.uint64), device.empty(2 + 64 * words, np.uint64)
        # Sources, and where their columns begin, in one copy.
        given = device.array(np.concatenate([np.asarray(sources).astype(np.uint64), *(
            [] if columns is None else [column_addresses(device, n, columns, k)])]))
        missing = 0 if targets is None else int(np.bitwise_count(targets).sum()) * k
        if self._epoch + n + 1 > UNREACHED:  # a level has a mark of its own
            device.fill(self._marks, 0)
            self._epoch = 1
        kernels.launch_resident(
            "whole_batch", blocks_for(words * n, kernels.block("whole_batch"), device), graph.offsets, graph.neighbours,
            n, graph.n_arcs, given[:k], k,
            counts if targets is None else device.array(targets), np.uint32(targets is not None), missing,
            np.float64(self._push_cost), *graph.queues(device),
            *graph.planes(device, 3, words), self._marks,
            np.uint32(self._epoch), *self._wide, given[-k:], np.uint32(columns is not None), counts,
            reach, self._barrier)
        levels, looked, *found = device.to_host(reach).tolist()
        graph.looked.arcs += looked
        self._epoch += levels + 1
        return np.array(found[:k], np.int32)
