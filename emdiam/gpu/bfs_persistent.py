"""BFS with all its levels in one launch: the host's side of bfs_persistent.cu.

Source: papers/004, section 2.1, after Luo, Wong and Hwu (inter-block synchronisation). Distances are uint32[n]
on the device, all bits set where unreached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import KernelFile, check_block, start_distances, zeros

MOST_THREADS = 512
NO_LIMIT = (1 << 64) - 1


@dataclass(frozen=True)
class LevelsEnd:
    """Where a launch stopped: vertices of the frontier, its distance, and the arcs of all rows before it."""

    size: int
    level: int
    arcs: int


class PersistentLevels:
    """Launches of many levels on one graph, one block a multiprocessor.

    block : threads of a block, a multiple of 32 up to 512, which None is. solo : largest frontier that one block
    does alone; None for as many vertices as it has threads, at most 512 count. Raises InputError for a block
    that there cannot be.
    """

    def __init__(self, device: Device, graph: DeviceGraph, block: int | None = None, solo: int | None = None) -> None:
        check_block(device, block, MOST_THREADS)
        self._device, self._graph = device, graph
        self._kernels = KernelFile(device, "bfs_persistent.cu", graph.macros, block)
        self._solo = self._kernels.block("persistent_levels") if solo is None else solo
        self._barrier = zeros(device, 1, np.uint32)
        self._tails, self.state = device.empty(3, np.uint64), device.empty(3, np.uint64)

    def run(self, queues: tuple[DeviceArray, DeviceArray], distances: DeviceArray, start: tuple[int, int],
            limit: int = NO_LIMIT, last: int = NO_LIMIT) -> LevelsEnd:
        """Levels until the frontier is empty or of more than `limit` vertices, or its distance is `last`.

        queues : for levels of even and of odd distance (the neighbours' type, [n]). distances : uint32[n], with those
        of the frontier and before. start : vertices of the frontier, which stand in the queue of its distance, and that
        distance. The host reads once, at the end; `state` keeps it, uint64[3] on the device: size, level, arcs.
        """
        self._device.copy(np.array([*start, 0], np.uint64), self.state)
        self._device.fill(self._tails, 0)
        self._kernels.launch_resident(
            "persistent_levels", self._device.n_sms, self._graph.offsets, self._graph.neighbours, *queues, distances,
            self._solo, limit, last, self.state, self._tails, self._barrier)
        return LevelsEnd(*(int(value) for value in self._device.to_host(self.state)))


def bfs_persistent(device: Device, graph: DeviceGraph, source: int, block: int | None = None, radius: int | None = None,
                   solo: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity; one launch, however many levels there are.

    block, solo : see PersistentLevels. radius : stop at this distance; then only distances up to it are given,
    and the second is the largest of them. Two queues of n vertices. Work O(n + m). Raises InputError for a
    block that there cannot be. Source: papers/004, section 2.1.
    """
    levels, n = PersistentLevels(device, graph, block, solo), graph.n_vertices
    distances = start_distances(device, n, source)
    queues = (device.empty(n, graph.id_dtype), device.empty(n, graph.id_dtype))
    device.fill(queues[0][0:1], source)
    end = levels.run(queues, distances, (1, 0), last=NO_LIMIT if radius is None else radius)
    return distances, end.level if end.size else end.level - 1
