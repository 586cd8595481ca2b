"""The table of boxes of candidates on a device: the host's side of boxes.cu.

Vertices with limit < upper < unreached are put into boxes by their distances divided by 2^q; of the boxes only those
come to the host that are not certified against all others at once. Device memory: slots * (4 k + 8) bytes, at most as
much again for what is left, and 4 bytes a vertex while members are listed.
Source: methods/exact/candidates.py, coarse candidates, which does the same in RAM.

Fewer candidates are listed, without those that are certified, with their distances: 4 bytes a vertex meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .device import Device, DeviceArray
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import DeviceVector, column_addresses


class DeviceBoxTable:
    """A BoxTable (traverse/columns.py) of vectors on `device`.

    upper : uint32[n]. columns : k of the same size, distances. limit : of what is certified. q : int64[k], 63: all
    distances are alike. slots : a power of two.
    """

    def __init__(self, device: Device, upper: DeviceArray, columns: Sequence[DeviceArray], limit: int, q: np.ndarray,
                 slots: int) -> None:
        self._device, self._upper, self._limit = device, upper, limit
        self._k, self._slots, self._n = len(columns), slots, upper.size
        self._kernels = KernelFile(device, "boxes.cu")
        # Owners, counts and maxima, zeros at first.
        state = zeros(device, slots * (self._k + 2), np.uint32)
        self._owners, self._counts, self._maxima = state[:slots], state[slots : 2 * slots], state[2 * slots :]
        addresses = device.array(column_addresses(device, self._n, columns, self._k))
        self._boxes = (addresses, device.array(q.astype(np.uint32)), self._k, slots, self._owners)
        self._columns = columns  # alive as long as their addresses are

    def fill(self) -> bool:
        """See BoxTable.fill."""
        taken = zeros(self._device, 1, np.uint64)
        self._kernels.launch("fill_boxes", self._n, self._upper, self._n, np.uint32(self._limit), *self._boxes,
                             self._maxima, self._counts, taken)
        return 2 * int(self._device.to_host(taken)[0]) <= self._slots

    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """See BoxTable.left."""
        device, k = self._device, self._k
        extent, n_left = zeros(device, k, np.uint32), zeros(device, 1, np.uint64)
        self._kernels.launch("box_extent", self._slots, self._counts, self._slots, self._maxima, k, extent)
        rows = device.empty(self._slots // 2 * (k + 2), np.uint32)
        self._kernels.launch("left_boxes", self._slots, self._counts, self._slots, self._maxima, k, extent, self._limit,
                             rows, n_left)
        boxes = int(device.to_host(n_left)[0])
        told = device.to_host(rows[: boxes * (k + 2)]).reshape(boxes, k + 2)
        self._left, self._sizes = told[:, 0].astype(np.int64), told[:, 1].astype(np.int64)
        return np.ascontiguousarray(told[:, 2:]), self._sizes

    def members(self, is_open: np.ndarray, room: int) -> np.ndarray | None:
        """See BoxTable.members."""
        n_members = int(self._sizes[is_open].sum())
        if n_members > room:
            return None
        if n_members == 0:
            return np.empty(0, np.int64)
        device = self._device
        marks = device.empty(self._slots, np.uint32)
        device.fill(marks, UNREACHED)
        DeviceVector(device, marks).put(self._left[is_open], 0)
        members = device.empty(self._n, np.uint32)
        self._kernels.launch("box_members", self._n, self._upper, self._n, np.uint32(self._limit), *self._boxes, marks,
                             members)
        return DeviceVector(device, members).select("==", 0)


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
