"""BFS from a queue of vertices, with load balancing to choose: the host's loop around frontier.cu."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .bfs_standard import DeviceGraph
from .device import Device, DeviceArray
from .frontier import MOST_THREADS, FrontierLauncher

UNREACHED = int(np.iinfo(np.uint32).max)
DEFAULT_MAPPING = "two-phase"


def bfs_frontier(
    device: Device, graph: DeviceGraph, source: int, mapping: str = DEFAULT_MAPPING, block: int | None = None,
    tuning: Mapping[str, int] | None = None,
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n] on the device, all bits set where unreached) and its eccentricity.

    mapping : a name of MAPPINGS. block : threads of a block, a multiple of 32 up to 256, which None is. tuning :
    macros of the mapping to change, as {"VIRTUAL_WARP": 16}. The host reads one number a level. Work: O(n + m),
    with direct search O(n + m log n).
    Raises InputError for a mapping, a block or a tuning that there cannot be, OverflowError for a distance
    that does not fit. Source: papers/004, section 5; the queue as in Merrill, Garland and Grimshaw.
    """
    launcher = FrontierLauncher(device, graph, mapping, MOST_THREADS if block is None else block, tuning)
    kernels = launcher.kernels("frontier.cu", "expand_frontier", "expand_deferred")
    n, ids = graph.n_vertices, graph.id_dtype
    queue, following, n_next = device.empty(n, ids), device.empty(n, ids), device.empty(1, np.uint64)
    distances = device.empty(n, np.uint32)
    device.fill(distances, UNREACHED)
    device.fill(distances[source : source + 1], 0)
    device.fill(queue[:1], source)
    size = 1
    for level in range(1, UNREACHED):
        device.fill(n_next, 0)
        launcher.launch(kernels, queue[:size],
                        (distances, np.uint32(level), following, n_next))
        size = int(device.to_host(n_next)[0])
        if size == 0:
            return distances, level - 1
        queue, following = following, queue
    raise OverflowError(f"a distance above {UNREACHED - 1} does not fit uint32")
