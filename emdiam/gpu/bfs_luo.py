"""BFS with a queue in three tiers and three ways of waiting for the end of a level.

Source: papers/004, section 2.1, Luo, Wong and Hwu. Distances are uint32[n] on the device, all bits set where
unreached.
"""

from __future__ import annotations

import numpy as np

from .bfs_standard import DeviceGraph
from .device import Device, DeviceArray
from .kernel_file import KernelFile, start_distances, zeros


def _limits(device: Device, kernels: KernelFile) -> tuple[int, int]:
    """Largest frontiers for one block, and for blocks that are resident at once: a thread a vertex."""
    block = kernels.block("luo_levels_grid")
    return block, device.resident_blocks(kernels.kernel("luo_levels_grid"), block) * block


def bfs_luo(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, limits: tuple[int, int] | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, with the hierarchical queue.

    block : threads of a block, at most 256, None for the registry's. limits : largest frontier that one
    block handles, and largest that resident blocks handle without a launch a level; None for as many
    vertices as they have threads. Work O(n + m). Source: papers/004, section 2.1.
    """
    kernels, n = KernelFile(device, "bfs_luo.cu", graph, block), graph.n_vertices
    in_block, in_grid = limits or _limits(device, kernels)
    distances, rows = start_distances(device, n, source), (graph.offsets, graph.neighbours)
    queues = [device.empty(n, graph.neighbours.dtype) for _ in range(2)]
    device.fill(queues[0][0:1], source)
    state, tails, barrier = device.empty(2, np.uint64), device.empty(3, np.uint64), zeros(device, 1, np.uint32)
    size, level = 1, 0
    while size:
        device.fill(tails, 0)
        if size > max(in_block, in_grid):
            here, there = queues[level % 2], queues[1 - level % 2]
            kernels.launch("luo_level", size, *rows, here, np.uint64(size), distances, np.uint32(level + 1), there,
                           tails)
            size, level = int(device.to_host(tails)[0]), level + 1
            continue
        device.copy(np.array([size, level], np.uint64), state)
        if size <= in_block:
            kernels.launch_blocks("luo_levels_block", 1, *rows, *queues, distances, np.uint64(in_block), state, tails)
        else:
            blocks = max(1, -(-in_grid // kernels.block("luo_levels_grid")))
            kernels.launch_resident("luo_levels_grid", blocks, *rows, *queues, distances, np.uint64(in_grid), state,
                                    tails, barrier)
        size, level = (int(value) for value in device.to_host(state))
    return distances, level - 1
