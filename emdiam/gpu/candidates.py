"""Candidates on a device that are not certified against all others at once, and their distances: boxes.cu.

Device memory: 4 bytes a vertex while they are listed. Source: methods/exact/candidates.py, which does the same in RAM.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .device import Device, DeviceArray
from .kernel_file import KernelFile, zeros
from .vector import DeviceVector, column_addresses

# A pass has to drop at least one candidate in so many for another to follow (WORTH of methods/exact/candidates.py).
_WORTH = 8


def uncertified(device: Device, upper: DeviceArray, columns: Sequence[DeviceArray], limit: int) -> np.ndarray:
    """Vertices with limit < upper < unreached that passes have not found to be certified against all others that are
    left at once; ascending, int64[m]. upper, columns : uint32[n]. The host reads two numbers a pass. Work: O(k n) a
    pass."""
    n, k, kernels = upper.size, len(columns), KernelFile(device, "boxes.cu")
    addresses = device.array(column_addresses(device, n, columns, k))
    members, left, dropped, begins = device.empty(n, np.uint32), 1, 1, True
    while left and dropped * _WORTH > left:
        extent, counts = zeros(device, k, np.uint32), zeros(device, 2, np.uint64)
        kernels.launch("member_extent", n, upper, n, np.uint32(limit), addresses, k, np.uint32(begins), members, extent)
        kernels.launch("drop_members", n, n, limit, addresses, k, extent, members, counts)
        left, dropped = (int(count) for count in device.to_host(counts))
        begins = False
    return DeviceVector(device, members).select("==", 0)


def gathered(device: Device, columns: Sequence[DeviceArray], ids: np.ndarray) -> np.ndarray:
    """Values of vertices `ids` (int64[m], all of which there are) in k columns uint32[n], uint32[m, k]; one copy each
    way."""
    k, m = len(columns), len(ids)
    if m == 0:
        return np.empty((0, k), np.uint32)
    # Addresses and vertices in one copy.
    given = device.array(np.concatenate([column_addresses(device, columns[0].size, columns, k), ids.astype(np.uint64)]))
    out = device.empty(m * k, np.uint32)
    KernelFile(device, "boxes.cu").launch("gather_points", m * k, given[:k], k, given[k:], m, out)
    return device.to_host(out).reshape(m, k)
