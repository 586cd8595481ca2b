"""Eccentricities of up to 2,048 sources in one launch, where balls soon fill the graph: the host's side of
multi_source_wide.cu.

Definition: the ball of a source grows by 1 a level; its eccentricity is its radius when it has grown for the last time
(traverse/multi_wide.py, which does the same on the CPU). A level looks at all arcs of rows that some ball does not
hold. Bytes a vertex: b / 4 for b bits, which batches of other widths share, and a bit for marks.
Source: Then et al., PVLDB 2014 (MS-BFS).
"""

from __future__ import annotations

import numpy as np

from .bfs_whole import WIDE_ROW, wide_rows
from .device import Device, blocks_for
from .graph import DeviceGraph
from .kernel_file import KernelFile, zeros
from .multi_source import WORD_BITS, check_batch, words_for

# Sources of the widest batch, and words of a row of the narrowest.
MOST_WIDE_BITS, LEAST_WORDS = 2048, 8
# Bytes a second of rows that are read by their vertex, before a batch was measured: reckoned, as a third of what a copy
# within an H100 moves.
WIDE_RATE = 1e12


class WideBatch:
    """Wide batches on one graph, undirected and on the device; buffers are kept between them.

    block : threads of a block, a multiple of 32 up to 256, which None is. wide_row : rows of more arcs are done by the
    whole grid.
    """

    def __init__(self, device: Device, graph: DeviceGraph, block: int | None = None, wide_row: int = WIDE_ROW) -> None:
        self.device, self._graph, self._block = device, graph, block
        self._wide, self._full = wide_rows(device, graph, wide_row), device.empty(-(-graph.n_vertices // 32), np.uint32)
        self._barrier = zeros(device, 1, np.uint32)

    def run(self, sources: np.ndarray) -> np.ndarray:
        """Eccentricities of the sources in their components, int32[k]: int64[k], 1 to 2,048 vertices, repeats allowed.
        Raises ValueError for others."""
        device, graph, k, n = self.device, self._graph, len(sources), self._graph.n_vertices
        check_batch(graph, sources, None, MOST_WIDE_BITS)
        words = max(LEAST_WORDS, words_for(k))
        kernels = KernelFile(device, "multi_source_wide.cu", {**graph.macros, "WORDS": words}, self._block)
        counts, reach = device.empty(1 + 3 * words, np.uint64), device.empty(2 + WORD_BITS * words, np.uint64)
        kernels.launch_resident(
            "wide_batch", blocks_for(words * n, kernels.block("wide_batch"), device), graph.offsets, graph.neighbours,
            n, device.array(np.asarray(sources).astype(np.uint64)), k, *graph.planes(device, 2, words), self._full,
            *self._wide, counts, reach, self._barrier)
        _, looked, *found = device.to_host(reach).tolist()
        graph.looked.arcs += looked
        return np.array(found[:k], np.int32)
