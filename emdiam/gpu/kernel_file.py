"""The entries of one kernel file, compiled with some macros and launched over items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .device import Device, DeviceArray, Kernel, blocks_for
from .registry import find_entry
from .source import Define

UNREACHED = int(np.iinfo(np.uint32).max)
# A part of a scan has at least this many tiles of a block, so that few parts are left to add up.
TILES_OF_PART = 8
MOST_PARTS = 1024


class KernelFile:
    """Launches the entries of `file`, a file of the registry, built with the macros in `defines`.

    block : threads of a block, a multiple of 32; what the registry says if None. Raises KeyError at a launch of an
    entry that is not registered.
    """

    def __init__(self, device: Device, file: str, defines: Mapping[str, Define] | None = None,
                 block: int | None = None) -> None:
        self.device, self.file, self.defines = device, file, defines or {}
        self._block = block
        self._kernels: dict[str, Kernel] = {}

    def block(self, entry: str) -> int:
        """Threads of a block in launches of the entry."""
        return self._block or find_entry(self.file, entry).block

    def kernel(self, entry: str) -> Kernel:
        """The compiled entry."""
        if entry not in self._kernels:
            self._kernels[entry] = self.device.kernel(self.file, entry, self.defines)
        return self._kernels[entry]

    def launch(self, entry: str, items: int, *args: Any) -> None:
        """Run an entry with a thread for every item, as far as the device has room for threads; not at all without
        items."""
        if items:
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


class ExclusiveSums:
    """Replaces vectors by their exclusive sums, with buffers that are kept between calls.

    block : threads of a block, a multiple of 32 up to 256. Source: papers/004, 3.1 (two-level prefix sum).
    """

    def __init__(self, device: Device, block: int = 256) -> None:
        self._block, self._kernels = block, KernelFile(device, "scan.cu", block=block)
        self._totals, self._zero = device.empty(MOST_PARTS, np.uint64), zeros(device, 1, np.uint64)

    def replace(self, values: DeviceArray) -> None:
        """values[i] becomes the sum of values[0] to values[i - 1], modulo 2**64, in place; uint64[n]."""
        n = values.size
        parts = max(1, min(MOST_PARTS, -(-n // (self._block * TILES_OF_PART))))
        part, carries = np.uint64(-(-n // parts)), self._zero
        if parts > 1:
            carries = self._totals[:parts]
            self._kernels.launch_blocks("scan_totals_of_parts", parts, values, np.uint64(n), part, carries)
            self._kernels.launch_blocks("scan_parts", 1, carries, np.uint64(parts), np.uint64(parts), self._zero)
        self._kernels.launch_blocks("scan_parts", parts, values, np.uint64(n), part, carries)
