"""BFS from a queue of vertices, with load balancing to choose: the host's loop around bfs_frontier.cu."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..device import Device, DeviceArray
from ..frontier import MOST_THREADS
from ..graph import DeviceGraph
from ..kernel_file import UNREACHED, start_distances


class FrontierBfs:
    """BFS on one graph, on the device or paged, for any number of sources; buffers are made once.

    mapping : a name of MAPPINGS (None: the usual one). block : threads of a block, a multiple of 32 up to 256
    (None: 256). tuning : macros of the mapping to change, as {"VIRTUAL_WARP": 16}. Device memory: two queues of n
    vertices, and what the mapping takes. Raises InputError for a mapping, a block or a tuning that there cannot be.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str | None = None, block: int | None = None,
                 tuning: Mapping[str, int] | None = None) -> None:
        self._device, self._graph = device, graph
        self._launcher = graph.launcher(
            device, mapping or graph.usual_mapping, MOST_THREADS if block is None else block, tuning)
        self._kernels = self._launcher.kernels("variants/bfs_frontier.cu", "expand_frontier", "expand_deferred")
        n, ids = graph.n_vertices, graph.id_dtype
        self._queue, self._following = (graph.shared(device, f"queue-{i}", n, ids) for i in range(2))
        self._n_next = device.empty(1, np.uint64)

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest of them, whether that is the eccentricity) of a search from `source`.

        distances : uint32[n] on the device, all bits set where unreached, the caller's from then on. radius :
        stop at this distance; the third is then False if a vertex lies there. The host reads one number a
        level. Work: O(n + m). Raises OverflowError for a distance that does not fit.
        """
        device, n = self._device, self._graph.n_vertices
        distances = start_distances(device, n, source)
        device.fill(self._queue[:1], source)
        size, last = 1, UNREACHED if radius is None else radius
        for level in range(1, UNREACHED):
            if level > last:
                return distances, last, False
            device.fill(self._n_next, 0)
            self._launcher.launch(self._kernels, self._queue[:size], (
                distances, np.uint32(level), self._following, self._n_next))
            size = int(device.to_host(self._n_next)[0])
            if size == 0:
                return distances, level - 1, True
            self._queue, self._following = self._following, self._queue
        raise OverflowError(f"a distance above {UNREACHED - 1} does not fit uint32")


def bfs_frontier(
    device: Device, graph: DeviceGraph, source: int, mapping: str | None = None, block: int | None = None,
    tuning: Mapping[str, int] | None = None,
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n] on the device, all bits set where unreached) and its eccentricity.

    mapping, block, tuning : see FrontierBfs. Raises as it does, and OverflowError for a distance that does not
    fit. Source: papers/004, section 5; the queue as in Merrill, Garland and Grimshaw.
    """
    distances, eccentricity, _ = FrontierBfs(device, graph, mapping, block, tuning).run(source)
    return distances, eccentricity
