"""PivotBounds on a device: the bounds of pivots as columns that live there."""

from __future__ import annotations

import numpy as np

from ..traverse.columns import Column
from ..traverse.pivot_bounds import Folded, PivotBounds
from .device import Device
from .device_column import DeviceColumn
from .graph import DeviceGraph
from .kernel_file import KernelFile

_NONE = np.uint64(0xFFFFFFFFFFFFFFFF)
_MOST_VERTICES = 1 << 32


class DevicePivotBounds(PivotBounds):
    """As PivotBounds; lower, upper and far are DeviceColumns, and distances must be one.

    graph : on the device. largest : eccentricity that there may be, to which upper bounds are cut.
    Raises OverflowError for 2^32 vertices or more. Source and ties: kernels/bounds.cu.
    """

    def __init__(self, device: Device, graph: DeviceGraph, largest: int) -> None:
        n = graph.n_vertices
        if n >= _MOST_VERTICES:
            raise OverflowError(f"bounds on a device are for fewer than 2^32 vertices, not {n}")
        self._device, self._graph, self._largest = device, graph, largest
        self._kernels = KernelFile(device, "bounds.cu")
        self._columns = [DeviceColumn.new(device, n) for _ in range(3)]
        self.lower, self.upper, self.far = self._columns

    def fold(self, source: int, distances: Column, eccentricity: int, limit: int) -> Folded:
        """See PivotBounds.fold."""
        assert isinstance(distances, DeviceColumn)
        device, n = self._device, self._graph.n_vertices
        columns = [column.array for column in self._columns]
        out = device.array(np.array([0, 0, _NONE, 0], np.uint64))
        chosen = device.array(np.array([_NONE, _NONE], np.uint64))
        self._kernels.launch("fold_pivot", n, distances.array, np.uint64(n), np.uint64(source),
                    np.uint32(eccentricity), np.uint32(limit), np.uint32(self._largest), *columns, out)
        self._kernels.launch("choose_pivots", n, self._graph.offsets, distances.array, np.uint64(n), *columns,
                    out, chosen)
        unsettled, highest = (int(value) for value in device.to_host(out)[:2])
        centre, periphery = device.to_host(chosen)
        return Folded(unsettled, -1 if centre == _NONE else int(centre) & 0xFFFFFFFF,
                      -1 if periphery == _NONE else int(periphery), highest)

    def unsettled(self, limit: int) -> np.ndarray:
        """See PivotBounds.unsettled."""
        above = self.upper.select(">", limit)
        return above[self.upper.gather(above) >= 0]
