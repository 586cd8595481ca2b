"""The entries of one kernel file, compiled for the types of one graph and launched over items."""

from __future__ import annotations

from typing import Any

import numpy as np

from .device import Device, DeviceArray, Kernel, blocks_for
from .registry import find_entry
from .variants.bfs_standard import KERNEL_TYPES, DeviceGraph

UNREACHED = int(np.iinfo(np.uint32).max)


class KernelFile:
    """Launches the entries of `file` for vertices of the graph's type.

    block : threads of a block, a multiple of 32; what the registry says if None. file : in the registry.
    Raises KeyError at a launch of an entry that is not registered.
    """

    def __init__(self, device: Device, file: str, graph: DeviceGraph, block: int | None = None) -> None:
        self.device = device
        self.file = file
        self.defines = {"VERTEX": KERNEL_TYPES[graph.id_dtype.name]}
        self._block = block

    def block(self, entry: str) -> int:
        """Threads of a block in launches of the entry."""
        return self._block or find_entry(self.file, entry).block

    def kernel(self, entry: str) -> Kernel:
        """The compiled entry."""
        return self.device.kernel(self.file, entry, self.defines)

    def launch(self, entry: str, items: int, *args: Any) -> None:
        """Run an entry with a thread for every item, as far as the device has room for threads."""
        self.launch_blocks(entry, blocks_for(items, self.block(entry), self.device), *args)

    def launch_blocks(self, entry: str, blocks: int, *args: Any) -> None:
        """Run an entry on that many blocks."""
        self.device.launch(self.kernel(entry), blocks, self.block(entry), args)

    def launch_resident(self, entry: str, blocks: int, *args: Any) -> None:
        """Run an entry on that many blocks, or fewer if not so many are resident at once; they may wait for
        each other."""
        kernel, block = self.kernel(entry), self.block(entry)
        blocks = min(blocks, self.device.resident_blocks(kernel, block))
        self.device.launch(kernel, blocks, block, args, cooperative=True)


def start_distances(device: Device, n_vertices: int, source: int) -> DeviceArray:
    """Distances uint32[n] before the first level: 0 at the source, all bits set elsewhere."""
    distances = device.empty(n_vertices, np.uint32)
    device.fill(distances, UNREACHED)
    device.fill(distances[source : source + 1], 0)
    return distances


def zeros(device: Device, n: int, dtype: Any) -> DeviceArray:
    """A vector of n zeros."""
    array = device.empty(n, dtype)
    device.fill(array, 0)
    return array
