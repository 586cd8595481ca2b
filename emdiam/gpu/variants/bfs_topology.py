"""BFS that looks at all vertices or arcs in every level: masks, matrix-vector products, arcs as pairs, virtual warps.

Source: papers/004, section 2.1; Standard: papers/001. Distances are uint32[n] on the device, all bits set where
unreached.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, start_distances, zeros
from ..registry import KERNEL_TYPES

FILE = "variants/bfs_topology.cu"
LANES = (1, 2, 4, 8, 16, 32)
DEFAULT_LANES = 8


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
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
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
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
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
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    kernels.launch("arc_tails", n * device.warp, graph.offsets, np.uint64(n), tails)
    return tails


def bfs_edges(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, tails: DeviceArray | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with a thread for every arc.

    block : threads of a block, None for the registry's. tails : arc_tails of the graph, to share it among
    sources; made here if None. Work O(m * levels). Source: papers/004, section 2.1, edge parallelism.
    """
    kernels, m = KernelFile(device, FILE, graph.macros, block), graph.neighbours.size
    tails = arc_tails(device, graph, block) if tails is None else tails
    distances, changed = start_distances(device, graph.n_vertices, source), device.empty(1, np.uint32)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("edges_level", m, tails, graph.neighbours, np.uint64(m), distances, np.uint32(level), changed)
        if not device.to_host(changed)[0]:
            break
    return distances, level


def bfs_virtual_warps(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, lanes: int = DEFAULT_LANES
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n], all bits set where unreached) and its eccentricity, by virtual warps.

    block : threads of a block, a multiple of 32 up to 256, None for the registry's. lanes : of a virtual warp, a
    power of two up to 32; it suits graphs of about so many neighbours a vertex. Work O(n * levels + m). Raises
    InputError for lanes that cannot be. Source: papers/004, section 2.1, after Hong et al.
    """
    if lanes not in LANES:
        raise InputError(f"a virtual warp has no {lanes} lanes", remedy="use a power of two up to 32")
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    distances, changed = start_distances(device, n, source), device.empty(1, np.uint32)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("hong_level", n * lanes, graph.offsets, graph.neighbours, np.uint64(n), distances,
                       np.uint32(level), np.uint32(lanes), changed)
        if not device.to_host(changed)[0]:
            break
    return distances, level


def bfs_standard(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (dtype[n] on the device, all bits set where unreached) and its eccentricity.

    dtype : uint8, uint16 or uint32 (default). Raises OverflowError if an eccentricity does not fit it, with
    one value kept for unreached vertices. Source: papers/001, Algorithm 3.
    """
    dtype = np.dtype(np.uint32) if dtype is None else np.dtype(dtype)
    defines = {**graph.macros, "DISTANCE": KERNEL_TYPES[dtype.name]}
    kernels = KernelFile(device, "variants/bfs_standard.cu", defines, block)
    n, unreached = graph.n_vertices, int(np.iinfo(dtype).max)
    distances, changed = device.empty(n, dtype), device.empty(1, np.uint32)
    device.fill(distances, unreached)
    device.fill(distances[source : source + 1], 0)
    for level in range(unreached):
        device.fill(changed, 0)
        # In the last round the next distance is `unreached` itself: reaching anything then is too far.
        kernels.launch("bfs_standard", n, graph.offsets, graph.neighbours, np.uint64(n), distances, dtype.type(level),
                       changed)
        if not device.to_host(changed)[0]:
            return distances, level
    raise OverflowError(f"a distance above {unreached - 1} does not fit {dtype.name}")
