"""The entries of one kernel file, compiled with some macros and launched over items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import InputError
from .device import Device, DeviceArray, Kernel, blocks_for
from .registry import find_entry
from .source import Define

UNREACHED = int(np.iinfo(np.uint32).max)
# Threads of a block, except for searches in one launch, which have up to twice as many.
MOST_THREADS = 256
# A part of a scan has at least this number of tiles of a block, so that few parts must be added.
TILES_OF_PART = 8
MOST_PARTS = 1024


def check_block(device: Device, block: int | None, most: int = MOST_THREADS) -> None:
    """Raise InputError for an impossible number of threads of a block; None is the default number."""
    if block is not None and (block % device.warp or not device.warp <= block <= most):
        raise InputError(f"a block has no {block} threads", remedy=f"use a multiple of 32 up to {most}")


class KernelFile:
    """Launches the entries of `file`, a file of the registry, built with the macros in `defines`.

    block : threads of a block, a multiple of 32 (None: by the registry). Arguments of launches are device arrays, numpy
    scalars of exactly the types of the parameters, and integers, which become u64. Raises KeyError at a launch of an
    unregistered entry.
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
        """Run an entry with a thread for every item, up to the device's capacity; without items, do nothing."""
        if items:
            self.launch_blocks(entry, blocks_for(items, self.block(entry), self.device), *args)

    def launch_blocks(self, entry: str, blocks: int, *args: Any) -> None:
        """Run an entry on `blocks` blocks."""
        self.device.launch(self.kernel(entry), blocks, self.block(entry), _words(args))

    def launch_resident(self, entry: str, blocks: int, *args: Any) -> None:
        """Run an entry on `blocks` blocks, or on as many as can be resident at once; they may wait for each other."""
        kernel, block = self.kernel(entry), self.block(entry)
        blocks = min(blocks, self.device.resident_blocks(kernel, block))
        self.device.launch(kernel, blocks, block, _words(args), cooperative=True)


def _words(args: tuple[Any, ...]) -> list[Any]:
    """Arguments of a kernel, with Python integers converted to u64."""
    return [np.uint64(arg) if isinstance(arg, int | np.signedinteger) else arg for arg in args]


def start_distances(device: Device, n_vertices: int, source: int, dtype: DTypeLike = np.uint32) -> DeviceArray:
    """Distances dtype[n] before the first level: 0 at the source, all bits set elsewhere."""
    distances = device.empty(n_vertices, dtype)
    device.fill(distances, np.iinfo(distances.dtype).max)
    device.fill(distances[source : source + 1], 0)
    return distances


def search_levels(distances: DeviceArray, reaches: Callable[[int], bool]) -> tuple[DeviceArray, int]:
    """The distances and the eccentricity of a search. reaches(level) : expands a level, from 0 on, and returns whether
    it has reached a vertex. Raises OverflowError for a distance that does not fit the type of distances."""
    unreached = int(np.iinfo(distances.dtype).max)
    for level in range(unreached):
        # In the last round the next distance is `unreached` itself: reaching a vertex then is an overflow.
        if not reaches(level):
            return distances, level
    raise OverflowError(f"a distance above {unreached - 1} does not fit {distances.dtype.name}")


def flagged(device: Device, expand: Callable[[int, DeviceArray], None], words: int = 1) -> Callable[[int], bool]:
    """A level for search_levels: expand(level, flag) sets the first of uint64[words], zeros before, if it has reached a
    vertex."""
    flag = device.empty(words, np.uint64)

    def reaches(level: int) -> bool:
        device.fill(flag, 0)
        expand(level, flag)
        return bool(device.to_host(flag)[0])

    return reaches


def zeros(device: Device, n: int, dtype: Any) -> DeviceArray:
    """A vector of n zeros."""
    array = device.empty(n, dtype)
    device.fill(array, 0)
    return array


class ExclusiveSums:
    """Replaces vectors by their exclusive sums, with buffers that are reused between calls.

    block : threads of a block, a multiple of 32 up to 256. Source: papers/004, 3.1 (two-level prefix sum).
    """

    def __init__(self, device: Device, block: int = 256) -> None:
        self._block, self._kernels = block, KernelFile(device, "columns.cu", block=block)
        self._totals, self._zero = device.empty(MOST_PARTS, np.uint64), zeros(device, 1, np.uint64)

    def replace(self, values: DeviceArray) -> None:
        """values[i] becomes the sum of values[0] to values[i - 1], modulo 2**64, in place; uint64[n]."""
        n = values.size
        parts = max(1, min(MOST_PARTS, -(-n // (self._block * TILES_OF_PART))))
        part, carries = -(-n // parts), self._zero
        if parts > 1:
            carries = self._totals[:parts]
            self._kernels.launch_blocks("scan_totals_of_parts", parts, values, n, part, carries)
            self._kernels.launch_blocks("scan_parts", 1, carries, parts, parts, self._zero)
        self._kernels.launch_blocks("scan_parts", parts, values, n, part, carries)
