"""Exclusive sums on a device: the host's side of scan.cu."""

from __future__ import annotations

import numpy as np

from .device import Device, DeviceArray
from .registry import find_entry

# A part has at least this many tiles of a block, so that few parts are left to add up.
TILES_OF_PART = 8
MOST_PARTS = 1024


class ExclusiveSums:
    """Replaces vectors by their exclusive sums, with buffers that are kept between calls.

    block : threads of a block, a multiple of 32 up to 256. Source: papers/004, 3.1 (two-level prefix sum).
    """

    def __init__(self, device: Device, block: int = 256) -> None:
        self.device, self.block = device, block
        self._totals_of_parts = device.kernel("scan.cu", find_entry("scan.cu", "scan_totals_of_parts").entry)
        self._scan_parts = device.kernel("scan.cu", find_entry("scan.cu", "scan_parts").entry)
        self._totals = device.empty(MOST_PARTS, np.uint64)
        self._zero = device.empty(1, np.uint64)
        device.fill(self._zero, 0)

    def replace(self, values: DeviceArray) -> None:
        """values[i] becomes the sum of values[0] to values[i - 1], modulo 2**64, in place; uint64[n]."""
        n = values.size
        parts = max(1, min(MOST_PARTS, -(-n // (self.block * TILES_OF_PART))))
        part, carries = np.uint64(-(-n // parts)), self._zero
        if parts > 1:
            carries = self._totals[:parts]
            self.device.launch(self._totals_of_parts, parts, self.block, (values, np.uint64(n), part, carries))
            self.device.launch(self._scan_parts, 1, self.block,
                               (carries, np.uint64(parts), np.uint64(parts), self._zero))
        self.device.launch(self._scan_parts, parts, self.block, (values, np.uint64(n), part, carries))
