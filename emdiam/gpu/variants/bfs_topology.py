"""BFS that looks at all vertices or arcs in every level: masks, matrix-vector products, arcs as pairs.

Source: papers/004, section 2.1. All give uint32 distances on the device, all bits set where unreached.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, start_distances, zeros
from .bfs_standard import DeviceGraph


def _ones_at(device: Device, n: int, vertex: int) -> DeviceArray:
    """A mask uint8[n] with one vertex in it."""
    mask = zeros(device, n, np.uint8)
    device.fill(mask[vertex : vertex + 1], 1)
    return mask


def bfs_harish(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, by masks over all vertices.

    block : threads of a block, None for the registry's. Work O(n * levels + m), three masks of n bytes.
    Source: papers/004, section 2.1, Harish and Narayanan.
    """
    kernels, n = KernelFile(device, "bfs_harish.cu", graph, block), graph.n_vertices
    distances, changed = start_distances(device, n, source), device.empty(1, np.uint32)
    frontier, visited = _ones_at(device, n, source), _ones_at(device, n, source)
    reached = zeros(device, n, np.uint8)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("harish_expand", n, graph.offsets, graph.neighbours, np.uint64(n), frontier, visited, reached,
                       distances, np.uint32(level + 1))
        kernels.launch("harish_update", n, np.uint64(n), frontier, visited, reached, changed)
        if not device.to_host(changed)[0]:
            break
    return distances, level


def bfs_spmv(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, by a matrix-vector product a level.

    block : threads of a block, None for the registry's. The graph is undirected. Work O(n + m * levels).
    Source: papers/004, section 2.1, the approach by matrices.
    """
    kernels, n = KernelFile(device, "bfs_spmv.cu", graph, block), graph.n_vertices
    distances, changed = start_distances(device, n, source), device.empty(1, np.uint32)
    frontier, product = _ones_at(device, n, source), device.empty(n, np.uint8)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("spmv_level", n * device.warp, graph.offsets, graph.neighbours, np.uint64(n), frontier,
                       product, distances, np.uint32(level + 1), changed)
        if not device.to_host(changed)[0]:
            break
        frontier, product = product, frontier
    return distances, level


def arc_tails(device: Device, graph: DeviceGraph, block: int | None = None) -> DeviceArray:
    """The vertex that each arc leaves (the neighbours' type, [m]); with the neighbours, the arcs as pairs."""
    tails = device.empty(graph.neighbours.size, graph.neighbours.dtype)
    kernels, n = KernelFile(device, "bfs_edges.cu", graph, block), graph.n_vertices
    kernels.launch("arc_tails", n * device.warp, graph.offsets, np.uint64(n), tails)
    return tails


def bfs_edges(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, tails: DeviceArray | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with a thread for every arc.

    block : threads of a block, None for the registry's. tails : arc_tails of the graph, to share it among
    sources; made here if None. Work O(m * levels). Source: papers/004, section 2.1, edge parallelism.
    """
    kernels, m = KernelFile(device, "bfs_edges.cu", graph, block), graph.neighbours.size
    tails = arc_tails(device, graph, block) if tails is None else tails
    distances, changed = start_distances(device, graph.n_vertices, source), device.empty(1, np.uint32)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("edges_level", m, tails, graph.neighbours, np.uint64(m), distances, np.uint32(level), changed)
        if not device.to_host(changed)[0]:
            break
    return distances, level
