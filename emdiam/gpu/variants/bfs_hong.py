"""BFS by virtual warps over all vertices: the host's loop around bfs_hong.cu."""

from __future__ import annotations

from itertools import count

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, start_distances
from .bfs_standard import DeviceGraph

LANES = (1, 2, 4, 8, 16, 32)
DEFAULT_LANES = 8


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
    kernels, n = KernelFile(device, "bfs_hong.cu", graph, block), graph.n_vertices
    distances, changed = start_distances(device, n, source), device.empty(1, np.uint32)
    for level in count():
        device.fill(changed, 0)
        kernels.launch("hong_level", n * lanes, graph.offsets, graph.neighbours, np.uint64(n), distances,
                       np.uint32(level), np.uint32(lanes), changed)
        if not device.to_host(changed)[0]:
            break
    return distances, level
