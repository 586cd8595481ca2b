"""BFS with a queue in three tiers and three ways of waiting for the end of a level.

Source: papers/004, section 2.1, Luo, Wong and Hwu. Distances are uint32[n] on the device, all bits set where
unreached.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..device import Device, DeviceArray
from ..frontier import MOST_THREADS, FrontierLauncher
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, start_distances, zeros

DEFAULT_MAPPING = "threads"


def _limits(device: Device, kernels: KernelFile) -> tuple[int, int]:
    """Largest frontiers for one block, and for blocks that are resident at once: a thread a vertex."""
    block = kernels.block("luo_levels_grid")
    return block, device.resident_blocks(kernels.kernel("luo_levels_grid"), block) * block


class _Search:
    """Arrays of a search and its ways of advancing. size, level: of the frontier, and its distance."""

    def __init__(self, device: Device, graph: DeviceGraph, kernels: KernelFile, launcher: FrontierLauncher,
                 source: int) -> None:
        self.device, self.kernels, self.launcher, n = device, kernels, launcher, graph.n_vertices
        self.rows = (graph.offsets, graph.neighbours)
        self.distances = start_distances(device, n, source)
        self.queues = [device.empty(n, graph.id_dtype) for _ in range(2)]
        device.fill(self.queues[0][0:1], source)
        self.state, self.tails = device.empty(2, np.uint64), device.empty(3, np.uint64)
        self.barrier = zeros(device, 1, np.uint32)
        self.size, self.level = 1, 0

    def level_in_launch(self) -> None:
        """One level, by the mapping."""
        here, there = self.queues[self.level % 2], self.queues[1 - self.level % 2]
        self.device.fill(self.tails, 0)
        self.launcher.launch(self.launcher.kernels("variants/bfs_luo_level.cu", "luo_level", "luo_level_deferred"),
                             here[: self.size], (self.distances, np.uint32(self.level + 1), there, self.tails))
        self.size, self.level = int(self.device.to_host(self.tails)[0]), self.level + 1

    def levels_in_launch(self, in_block: int, in_grid: int) -> None:
        """Levels until the frontier is empty or too large for one block, or for the resident blocks."""
        self.device.fill(self.tails, 0)
        self.device.copy(np.array([self.size, self.level], np.uint64), self.state)
        common = (*self.rows, *self.queues, self.distances)
        if self.size <= in_block:
            self.kernels.launch_blocks("luo_levels_block", 1, *common, np.uint64(in_block), self.state, self.tails)
        else:
            blocks = max(1, -(-in_grid // self.kernels.block("luo_levels_grid")))
            self.kernels.launch_resident("luo_levels_grid", blocks, *common, np.uint64(in_grid), self.state,
                                         self.tails, self.barrier)
        self.size, self.level = (int(value) for value in self.device.to_host(self.state))


def bfs_luo(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, limits: tuple[int, int] | None = None,
    mapping: str = DEFAULT_MAPPING, tuning: Mapping[str, int] | None = None,
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with the hierarchical queue.

    block : threads of a block, a multiple of 32 up to 256, which None is. limits : largest frontier that one
    block handles, and largest that resident blocks handle without a launch a level; None for as many
    vertices as they have threads. mapping : of larger frontiers, a name of MAPPINGS, with the macros in tuning
    changed; smaller ones have a thread a vertex. Work O(n + m). Raises InputError for a mapping, a tuning or a
    block that there cannot be. Source: papers/004, section 2.1.
    """
    kernels = KernelFile(device, "variants/bfs_luo.cu", graph.macros, block)
    launcher = FrontierLauncher(device, graph, mapping, MOST_THREADS if block is None else block, tuning)
    in_block, in_grid = limits or _limits(device, kernels)
    search = _Search(device, graph, kernels, launcher, source)
    while search.size:
        if search.size > max(in_block, in_grid):
            search.level_in_launch()
        else:
            search.levels_in_launch(in_block, in_grid)
    return search.distances, search.level - 1
