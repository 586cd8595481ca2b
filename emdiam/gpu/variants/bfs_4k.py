"""BFS-4K: the host's loop, and its choice of virtual warps, arcs, hubs, and one block or many.

Source: papers/004, section 2.2. Distances are uint32[n] on the device, all bits set where unreached.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray
from ..graph import DeviceGraph
from ..kernel_file import KernelFile
from .bfs_luo import QueueSearch


@dataclass(frozen=True)
class Tuning:
    """What BFS-4K leaves open.

    least_warp : smallest virtual warp (K1), a power of two up to 32. hub_arcs : rows of at least so many arcs
    are read by the whole grid, where the paper uses dynamic parallelism. in_block : largest frontier that one
    block handles; None for a thread a vertex. discover_from : smallest frontier whose arcs are dealt out by
    searches (edge-discover); None for the size at which virtual warps have shrunk to least_warp.
    Raises InputError for a least_warp or hub_arcs that cannot be.
    """

    least_warp: int = 4
    hub_arcs: int = 4096
    in_block: int | None = None
    discover_from: int | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.least_warp not in (1, 2, 4, 8, 16, 32):
            raise InputError(f"a virtual warp has no {self.least_warp} lanes", remedy="use a power of two up to 32")
        if self.hub_arcs < 1:
            raise InputError(f"hubs of {self.hub_arcs} arcs", remedy="use at least 1")


def virtual_warp(threads: int, size: int, least: int) -> int:
    """Lanes for each of `size` vertices: the power of two nearest to threads / size (the smaller of two as
    near), within [least, 32]. Source: papers/004, section 2.2, WarpSize_i."""
    width = least
    while width < 32 and 2 * threads > 3 * width * size:
        width *= 2
    return width


class _Search(QueueSearch):
    """A search and its ways of advancing."""

    def __init__(self, device: Device, graph: DeviceGraph, kernels: KernelFile, source: int, tuning: Tuning) -> None:
        super().__init__(device, graph, kernels, source)
        self.tuning, self.hubs = tuning, device.empty(graph.n_vertices, graph.id_dtype)
        self.threads = kernels.block("bfs4k_block")
        self.resident = device.resident_blocks(kernels.kernel("bfs4k_virtual_warps"), self.threads) * self.threads

    def levels_in_block(self, limit: int) -> bool:
        """Levels in one block while the frontier is small and without hubs; whether there was any."""
        before = self.level
        least = np.uint32(self.tuning.least_warp)
        self.many_levels(partial(self.kernels.launch_blocks, "bfs4k_block", 1), limit, least, self.tuning.hub_arcs)
        return self.level > before

    def level_in_grid(self) -> None:
        """One level by all blocks, and its hubs."""
        here, there = self.turn()
        size, next_level, hub_arcs = self.size, np.uint32(self.level + 1), self.tuning.hub_arcs
        least, discover_from = self.tuning.least_warp, self.tuning.discover_from
        width = virtual_warp(self.resident, size, least)
        if width == least if discover_from is None else self.size >= discover_from:
            self.kernels.launch("bfs4k_edge_discover", self.size, *self.rows, here, size, self.distances, next_level,
                                hub_arcs, there, self.hubs, self.counts)
        else:
            self.kernels.launch("bfs4k_virtual_warps", self.size * width, *self.rows, here, size, self.distances,
                                next_level, np.uint32(width), hub_arcs, there, self.hubs, self.counts)
        reached, n_hubs = (int(value) for value in self.device.to_host(self.counts)[:2])
        if n_hubs:
            self.kernels.launch("bfs4k_hubs", self.resident, *self.rows, self.hubs, n_hubs, self.distances,
                                next_level, there, self.counts)
            reached = int(self.device.to_host(self.counts)[0])
        self.size, self.level = reached, self.level + 1


def bfs_4k(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
           **knobs: int) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity by BFS-4K.

    block : threads of a block, at most 256, None for the registry's. knobs : fields of Tuning.
    Work O(n + m). Source: papers/004, section 2.2.
    """
    tuning = Tuning(**knobs)
    search = _Search(device, graph, KernelFile(device, "variants/bfs_4k.cu", graph.macros, block), source, tuning)
    limit = search.threads if tuning.in_block is None else tuning.in_block
    while search.size:
        if search.size > limit or not search.levels_in_block(limit):
            search.level_in_grid()
    return search.distances, search.level - 1
