"""BFS by expansion and contraction of frontiers of vertices and of arcs' heads.

Source: papers/004, section 2.1, Merrill, Garland and Grimshaw. Distances are uint32[n] on the device, all
bits set where unreached. Work O(n + m). Queues of heads take 2 m vertices, those of vertices up to 2 n.

mapping : how the arcs of a frontier of vertices are handed to threads, a name of MAPPINGS; cta-warp-scan is
Merrill's own. block : threads of a block, a multiple of 32 up to 256, which None is. A mapping or a block that there
cannot be raises InputError.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from ..device import Device, DeviceArray
from ..frontier import FrontierLauncher
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, start_distances, zeros

FILE = "variants/bfs_merrill.cu"
DEFAULT_MAPPING = "cta-warp-scan"


class _Frontiers:
    """What all orders share: rows, distances, mask of visited vertices, counts and the steps."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, block: int | None,
                 mapping: str) -> None:
        self.device, self.graph = device, graph
        self.launcher = FrontierLauncher(device, graph, mapping, block)
        self.kernels = KernelFile(device, FILE, self.launcher.defines, block)
        self.distances = start_distances(device, graph.n_vertices, source)
        self.visited = zeros(device, -(-graph.n_vertices // 8), np.uint8)
        self.counts = device.empty(2, np.uint64)

    def queue(self, items: int, source: int) -> DeviceArray:
        """A queue with the source in its first place."""
        queue = self.device.empty(max(items, 1), self.graph.id_dtype)
        self.device.fill(queue[0:1], source)
        return queue

    def from_vertices(self, entry: str, frontier: DeviceArray, *args: object) -> int:
        """Run a mapped entry on the arcs of `frontier`, at least one vertex; what it has counted."""
        self.device.fill(self.counts, 0)
        self.launcher.launch(self.launcher.kernels(FILE, entry), frontier, (*args, self.counts))
        return int(self.device.to_host(self.counts)[0])

    def from_heads(self, entry: str, rows: tuple[DeviceArray, ...], heads: DeviceArray, size: int, distance: int,
                   out: DeviceArray) -> tuple[int, int]:
        """Run an entry with a thread a head, which gives heads without a distance this one; its counts."""
        self.device.fill(self.counts, 0)
        self.kernels.launch(entry, size, *rows, heads, size, self.distances, self.visited,
                            np.uint32(distance), out, self.counts)
        first, second = self.device.to_host(self.counts)
        return int(first), int(second)


def bfs_expand_contract(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
                        mapping: str = DEFAULT_MAPPING) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; a level is an expansion with contraction.

    block, mapping : see above. Source: papers/004, section 2.1.
    """
    search = _Frontiers(device, graph, source, block, mapping)
    here, there = (search.queue(graph.n_vertices, source) for _ in range(2))
    size = 1
    for level in count():
        size = search.from_vertices("merrill_expand_contract", here[:size], search.distances, search.visited,
                                    np.uint32(level + 1), there)
        if not size:
            break
        here, there = there, here
    return search.distances, level


def bfs_two_phase(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
                  mapping: str = DEFAULT_MAPPING) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; expansion and contraction are kernels apart.

    block, mapping : see above. Source: papers/004, section 2.1.
    """
    search = _Frontiers(device, graph, source, block, mapping)
    frontier, heads = search.queue(graph.n_vertices, source), search.queue(graph.n_arcs, source)
    size = 1
    for level in count():
        n_heads = search.from_vertices("merrill_expand", frontier[:size], heads)
        size, _ = search.from_heads("merrill_contract", (), heads, n_heads, level + 1, frontier)
        if not size:
            break
    return search.distances, level


def bfs_contract_expand(device: Device, graph: DeviceGraph, source: int,
                        block: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; a level is a contraction with expansion.

    It takes no mapping: a block spreads the arcs of what it has contracted over its own threads.
    block : see above. Source: papers/004, section 2.1.
    """
    return bfs_hybrid(device, graph, source, block, graph.n_arcs)


def bfs_hybrid(device: Device, graph: DeviceGraph, source: int, block: int | None = None, limit: int | None = None,
               mapping: str = DEFAULT_MAPPING) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; large levels are in two kernels, others in one.

    limit : arcs' heads up to which a level is one contraction with expansion; None for as many as the device's
    resident threads. block, mapping : see above; the mapping is that of the large levels. Source:
    papers/004, section 2.1 ("hybrid").
    """
    search = _Frontiers(device, graph, source, block, mapping)
    if limit is None:
        threads = search.kernels.block("merrill_contract_expand")
        limit = device.resident_blocks(search.kernels.kernel("merrill_contract_expand"), threads) * threads
    m, n, rows = graph.n_arcs, graph.n_vertices, (graph.offsets, graph.neighbours)
    here, there = search.queue(m, source), search.queue(m, source)
    frontier = search.queue(n if limit < m else 0, source)
    # The source is the only head before the first level, which is to reach it.
    device.fill(search.distances[source : source + 1], np.iinfo(np.uint32).max)
    size = 1
    for level in count():
        if size <= max(limit, 1):
            size, reached = search.from_heads("merrill_contract_expand", rows, here, size, level, there)
        else:
            reached, _ = search.from_heads("merrill_contract", (), here, size, level, frontier)
            size = search.from_vertices("merrill_expand", frontier[:reached], there) if reached else 0
        if not reached:
            break
        here, there = there, here
    return search.distances, level - 1
