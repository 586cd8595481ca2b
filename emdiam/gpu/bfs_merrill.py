"""BFS by expansion and contraction of frontiers of vertices and of arcs' heads.

Source: papers/004, section 2.1, Merrill, Garland and Grimshaw. Distances are uint32[n] on the device, all
bits set where unreached. Work O(n + m). Queues of heads take 2 m vertices, those of vertices up to 2 n.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from .bfs_standard import DeviceGraph
from .device import Device, DeviceArray
from .kernel_file import KernelFile, start_distances, zeros


class _Frontiers:
    """What all orders share: rows, distances, mask of visited vertices, counts and the steps."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, block: int | None) -> None:
        self.device, self.graph = device, graph
        self.kernels = KernelFile(device, "bfs_merrill.cu", graph, block)
        self.distances = start_distances(device, graph.n_vertices, source)
        self.visited = zeros(device, -(-graph.n_vertices // 8), np.uint8)
        self.counts = device.empty(2, np.uint64)
        self.rows = (graph.offsets, graph.neighbours)

    def queue(self, items: int, source: int) -> DeviceArray:
        """A queue with the source in its first place."""
        queue = self.device.empty(max(items, 1), self.graph.neighbours.dtype)
        self.device.fill(queue[0:1], source)
        return queue

    def _totals(self, entry: str, items: int, *args: object) -> tuple[int, int]:
        """Run an entry whose last parameter is the counts; give them."""
        self.device.fill(self.counts, 0)
        self.kernels.launch(entry, items, *args, self.counts)
        first, second = self.device.to_host(self.counts)
        return int(first), int(second)

    def expand(self, frontier: DeviceArray, size: int, heads: DeviceArray) -> int:
        """The neighbours of vertices to `heads`; their number."""
        return self._totals("merrill_expand", size, *self.rows, frontier, np.uint64(size), heads)[0]

    def contract(self, heads: DeviceArray, size: int, distance: int, reached: DeviceArray) -> int:
        """The vertices among the heads that had no distance to `reached`; their number."""
        return self._totals("merrill_contract", size, heads, np.uint64(size), self.distances, self.visited,
                            np.uint32(distance), reached)[0]

    def expand_contract(self, frontier: DeviceArray, size: int, distance: int, reached: DeviceArray) -> int:
        """The unreached neighbours of vertices to `reached`; their number."""
        return self._totals("merrill_expand_contract", size, *self.rows, frontier, np.uint64(size), self.distances,
                            self.visited, np.uint32(distance), reached)[0]

    def contract_expand(self, heads: DeviceArray, size: int, distance: int, after: DeviceArray) -> tuple[int, int]:
        """The neighbours of those heads that had no distance to `after`; their number, and that of those heads."""
        return self._totals("merrill_contract_expand", size, *self.rows, heads, np.uint64(size), self.distances,
                            self.visited, np.uint32(distance), after)


def bfs_expand_contract(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; a level is an expansion with contraction.

    block : threads of a block, at most 256, None for the registry's. Source: papers/004, section 2.1.
    """
    search = _Frontiers(device, graph, source, block)
    here, there = (search.queue(graph.n_vertices, source) for _ in range(2))
    size = 1
    for level in count():
        size = search.expand_contract(here, size, level + 1, there)
        if not size:
            break
        here, there = there, here
    return search.distances, level


def bfs_two_phase(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; expansion and contraction are kernels apart.

    block : threads of a block, at most 256, None for the registry's. Source: papers/004, section 2.1.
    """
    search = _Frontiers(device, graph, source, block)
    frontier, heads = search.queue(graph.n_vertices, source), search.queue(graph.neighbours.size, source)
    size = 1
    for level in count():
        n_heads = search.expand(frontier, size, heads)
        size = search.contract(heads, n_heads, level + 1, frontier)
        if not size:
            break
    return search.distances, level


def bfs_contract_expand(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; a level is a contraction with expansion.

    block : threads of a block, at most 256, None for the registry's. Source: papers/004, section 2.1.
    """
    return bfs_hybrid(device, graph, source, block, graph.neighbours.size)


def bfs_hybrid(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, most: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; large levels are in two kernels, others in one.

    block : threads of a block, at most 256, None for the registry's. most : arcs' heads up to which a level is
    one contraction with expansion; None for as many as the device's resident threads. Source: papers/004,
    section 2.1 ("hybrid").
    """
    search = _Frontiers(device, graph, source, block)
    if most is None:
        threads = search.kernels.block("merrill_contract_expand")
        most = device.resident_blocks(search.kernels.kernel("merrill_contract_expand"), threads) * threads
    m, n = graph.neighbours.size, graph.n_vertices
    here, there = search.queue(m, source), search.queue(m, source)
    frontier = search.queue(n if most < m else 0, source)
    # The source is the only head before the first level, which is to reach it.
    device.fill(search.distances[source : source + 1], np.iinfo(np.uint32).max)
    size = 1
    for level in count():
        if size <= max(most, 1):
            size, reached = search.contract_expand(here, size, level, there)
        else:
            reached = search.contract(here, size, level, frontier)
            size = search.expand(frontier, reached, there)
        if not reached:
            break
        here, there = there, here
    return search.distances, level - 1
