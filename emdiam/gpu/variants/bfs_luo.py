"""BFS with a queue in three tiers and three ways of waiting for the end of a level.

Source: papers/004, section 2.1, Luo, Wong and Hwu. Distances are uint32[n] on the device, all bits set where unreached.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..device import Device, DeviceArray
from ..frontier import FrontierLauncher
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, start_distances, zeros

FILE = "variants/bfs_luo.cu"
DEFAULT_MAPPING = "threads"


class QueueSearch:
    """A search whose frontiers stand in two queues in turn, by the parity of their distance, and what a launch of many
    levels reads and writes. size, level : of the frontier, and its distance."""

    def __init__(self, device: Device, graph: DeviceGraph, kernels: KernelFile, source: int) -> None:
        self.device, self.kernels, self.rows = device, kernels, (graph.offsets, graph.neighbours)
        self.distances = start_distances(device, graph.n_vertices, source)
        self.queues = [device.empty(graph.n_vertices, graph.id_dtype) for _ in range(2)]
        device.fill(self.queues[0][0:1], source)
        self.counts, self.state = device.empty(3, np.uint64), device.empty(2, np.uint64)
        self.size, self.level = 1, 0

    def turn(self) -> tuple[DeviceArray, DeviceArray]:
        """The frontier, and the queue of the next one, once the counts of a level are 0."""
        self.device.fill(self.counts, 0)
        return self.queues[self.level % 2][: self.size], self.queues[1 - self.level % 2]

    def many_levels(self, launch: Callable[..., None], *args: Any) -> None:
        """Levels in one launch: launch(rows, queues, distances, args, size and level, counts)."""
        self.device.fill(self.counts, 0)
        self.device.copy(np.array([self.size, self.level], np.uint64), self.state)
        launch(*self.rows, *self.queues, self.distances, *args, self.state, self.counts)
        self.size, self.level = (int(value) for value in self.device.to_host(self.state))


def bfs_luo(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
            in_block: int | None = None, in_grid: int | None = None,
            mapping: str = DEFAULT_MAPPING) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with the hierarchical queue.

    block : threads of a block, a multiple of 32 up to 256, which None is. in_block, in_grid : largest frontier that one
    block handles, and largest that resident blocks handle without a launch a level; None for as many
    vertices as they have threads. mapping : of larger frontiers, a name of MAPPINGS; smaller ones have a thread a
    vertex. Work O(n + m). Raises InputError for a mapping or a block that there cannot be. Source: papers/004,
    section 2.1.
    """
    launcher = FrontierLauncher(device, graph, mapping, block)
    kernels = KernelFile(device, FILE, launcher.defines, block)
    threads = kernels.block("luo_levels_grid")
    in_block = threads if in_block is None else in_block
    if in_grid is None:
        in_grid = device.resident_blocks(kernels.kernel("luo_levels_grid"), threads) * threads
    search, barrier = QueueSearch(device, graph, kernels, source), zeros(device, 1, np.uint32)
    blocks = max(1, -(-in_grid // threads))
    while search.size:
        if search.size > max(in_block, in_grid):
            here, there = search.turn()
            launcher.launch(launcher.kernels(FILE, "luo_level"), here, (
                search.distances, np.uint32(search.level + 1), there, search.counts))
            search.size, search.level = int(device.to_host(search.counts)[0]), search.level + 1
        elif search.size <= in_block:
            search.many_levels(partial(kernels.launch_blocks, "luo_levels_block", 1), in_block)
        else:
            search.many_levels(
                lambda *args: kernels.launch_resident("luo_levels_grid", blocks, *args, barrier), in_grid)
    return search.distances, search.level - 1
