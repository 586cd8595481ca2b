"""BFS from a queue of vertices, with load balancing to choose: the host's side of bfs_frontier.cu."""

from __future__ import annotations

import numpy as np

from ..device import Device, DeviceArray
from ..frontier import LevelBfs
from ..graph import DeviceGraph


class FrontierBfs(LevelBfs):
    """BFS on one graph, on the device or paged, for any number of sources; buffers are made once.

    mapping : a name of MAPPINGS (None: the usual one). block : threads of a block, a multiple of 32 up to 256
    (None: 256). Device memory: two queues of n vertices, and what the mapping takes. Raises InputError for a mapping or
    a block that there cannot be.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str | None = None,
                 block: int | None = None) -> None:
        super().__init__(device, graph)
        self._launcher = graph.launcher(device, mapping, block)
        self._kernels = self._launcher.kernels("variants/bfs_frontier.cu", "expand_frontier")
        self._queue, self._following = graph.queues(device)

    def _start(self, source: int) -> None:
        self._device.fill(self._queue[:1], source)
        self.reached = 1

    def _expand(self, distances: DeviceArray, level: np.uint32, count: DeviceArray) -> None:
        self._launcher.launch(self._kernels, self._queue[: self.reached], (distances, level, self._following, count))
        self._queue, self._following = self._following, self._queue


def bfs_frontier(device: Device, graph: DeviceGraph, source: int, mapping: str | None = None,
                 block: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n] on the device, all bits set where unreached) and its eccentricity.

    mapping, block : see FrontierBfs. Raises as it does, and OverflowError for a distance that does not
    fit. Source: papers/004, section 5; the queue as in Merrill, Garland and Grimshaw.
    """
    distances, eccentricity, _ = FrontierBfs(device, graph, mapping, block).run(source)
    return distances, eccentricity
