"""BFS that looks at all vertices or arcs in every level: masks, matrix-vector products, arcs as pairs, virtual warps.

Source: papers/004, section 2.1. Distances are uint32[n] on the device, all bits set where unreached. block : threads of
a block, a multiple of 32 up to 256, None for the registry's.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, flagged, search_levels, start_distances, zeros

FILE = "variants/bfs_topology.cu"
LANES = (1, 2, 4, 8, 16, 32)
DEFAULT_LANES = 8


def _ones_at(device: Device, n: int, vertex: int) -> DeviceArray:
    """A mask uint8[n] with one vertex in it."""
    mask = zeros(device, n, np.uint8)
    device.fill(mask[vertex : vertex + 1], 1)
    return mask


def bfs_harish(device: Device, graph: DeviceGraph, source: int, block: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, by masks over all vertices.

    Work O(n * levels + m), three masks of n bytes. Source: papers/004, section 2.1, Harish and Narayanan.
    """
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    distances, reached = start_distances(device, n, source), zeros(device, n, np.uint8)
    frontier, visited = _ones_at(device, n, source), _ones_at(device, n, source)

    def expand(level: int, changed: DeviceArray) -> None:
        kernels.launch("harish_expand", n, graph.offsets, graph.neighbours, n, frontier, visited, reached,
                       distances, np.uint32(level + 1))
        kernels.launch("harish_update", n, n, frontier, visited, reached, changed)

    return search_levels(distances, flagged(device, expand))


def bfs_spmv(device: Device, graph: DeviceGraph, source: int, block: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, by a matrix-vector product a level.

    The graph is undirected. Work O(n + m * levels). Source: papers/004, section 2.1, the approach by matrices.
    """
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    distances = start_distances(device, n, source)
    vectors = [_ones_at(device, n, source), device.empty(n, np.uint8)]

    def expand(level: int, changed: DeviceArray) -> None:
        kernels.launch("spmv_level", n * device.warp, graph.offsets, graph.neighbours, n, *vectors,
                       distances, np.uint32(level + 1), changed)
        vectors.reverse()

    return search_levels(distances, flagged(device, expand))


def arc_tails(device: Device, graph: DeviceGraph, block: int | None = None) -> DeviceArray:
    """The vertex that each arc leaves (the neighbours' type, [m]); with the neighbours, the arcs as pairs."""
    tails, n = device.empty(graph.n_arcs, graph.id_dtype), graph.n_vertices
    kernels = KernelFile(device, FILE, graph.macros, block)
    kernels.launch("arc_tails", n * device.warp, graph.offsets, n, tails)
    return tails


def bfs_edges(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
              tails: DeviceArray | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with a thread for every arc.

    tails : arc_tails of the graph, to share it among sources; made here if None. Work O(m * levels). Source:
    papers/004, section 2.1, edge parallelism.
    """
    kernels, m = KernelFile(device, FILE, graph.macros, block), graph.n_arcs
    tails = arc_tails(device, graph, block) if tails is None else tails
    distances = start_distances(device, graph.n_vertices, source)
    return search_levels(distances, flagged(device, lambda level, changed: kernels.launch(
        "edges_level", m, tails, graph.neighbours, m, distances, np.uint32(level), changed)))


def bfs_virtual_warps(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
                      lanes: int = DEFAULT_LANES) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, by virtual warps.

    lanes : of a virtual warp, a power of two up to 32; it suits graphs of about so many neighbours a vertex. Work
    O(n * levels + m). Raises InputError for lanes that cannot be. Source: papers/004, section 2.1, after Hong et al.
    """
    if lanes not in LANES:
        raise InputError(f"a virtual warp has no {lanes} lanes", remedy="use a power of two up to 32")
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    distances = start_distances(device, n, source)
    return search_levels(distances, flagged(device, lambda level, changed: kernels.launch(
        "hong_level", n * lanes, graph.offsets, graph.neighbours, n, distances, np.uint32(level),
        np.uint32(lanes), changed)))
