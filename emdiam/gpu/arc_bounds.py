"""Bounds on eccentricities along arcs, in columns of a device: the host code of arc_bounds.cu.

Distances are folded in where they are, and the host reads numbers, listed vertices, and the bounds of the vertices that
`values` names, in pieces. Bytes a vertex: 4 for the numbers of components, 4 for each column; 4 on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..traverse.arc_bounds import ArcBounds
from ..traverse.columns import Column
from .device import Device
from .device_column import DeviceColumn
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import on_device

# Vertices whose bounds are copied at a time: 12 bytes each on the device, within the margin of its plan.
_PIECE = 1 << 16
_ALL_BITS = 0xFFFFFFFFFFFFFFFF


class DeviceArcBounds(ArcBounds):
    """See ArcBounds. Raises OverflowError for 2^32 - 2 vertices or more."""

    def __init__(self, device: Device, numbers: np.ndarray, above: int, sides: int = 2) -> None:
        if above >= UNREACHED:
            raise OverflowError(f"bounds on a device are for fewer than 2^32 - 2 vertices, not {len(numbers)}")
        self._device, self._numbers, n = device, numbers, len(numbers)
        self._kernels = KernelFile(device, "arc_bounds.cu")
        self._on_device = device.array(numbers.astype(np.uint32))
        self._uppers = [DeviceColumn.new(device, n, above) for _ in range(sides)]
        self._lowers = [DeviceColumn.new(device, n, 0) for _ in range(sides if sides == 2 else 0)]

    @cached_property
    def _values(self) -> np.ndarray:
        return np.empty(len(self._numbers), np.uint32)

    def fold(self, side: int, vertex: int, distances: Column, eccentricity: int) -> None:
        """See ArcBounds."""
        upper = self._uppers[side].array
        lower = self._lowers[side].array if self._lowers else upper
        self._kernels.launch("fold_arcs", upper.size, upper, lower, np.uint32(bool(self._lowers)), on_device(distances),
                             self._on_device, upper.size, np.uint32(self._numbers[vertex]), np.uint32(eccentricity))

    def put(self, side: int, vertex: int, value: int) -> None:
        """See ArcBounds."""
        self._device.fill(self._uppers[side].array[vertex : vertex + 1], value)

    def largest(self, side: int) -> int:
        """See ArcBounds."""
        return self._uppers[side].best_value()

    def above(self, side: int, limit: int) -> np.ndarray:
        """See ArcBounds."""
        return self._uppers[side].select(">", limit)

    def n_above(self, side: int, limit: int) -> int:
        """See ArcBounds."""
        return self._uppers[side].count_where(">", limit)

    def _best(self, kind: str, *args: Any) -> int:
        """The vertex that two kernels find, or -1."""
        out = zeros(self._device, 2, np.uint64)
        for part in ("key", "vertex"):
            self._kernels.launch(f"{kind}_{part}", len(self._numbers), *args, out)
        found = int(self._device.to_host(out)[1])
        return ~found & _ALL_BITS if found else -1

    def extreme(self, side: int, limit: int) -> int:
        """See ArcBounds."""
        columns = [one[side].array for one in (self._uppers, self._lowers)]
        return self._best("extreme", *columns, len(self._numbers), np.uint32(limit))

    def first_largest(self) -> int:
        """See ArcBounds."""
        return self._uppers[0].argbest()

    def central(self, number: int, searched: list[int]) -> int:
        """See ArcBounds."""
        columns = [column.array for column in self._lowers]
        return self._best("central", *columns, self._on_device, len(self._numbers), np.uint32(number),
                          *self._uppers[0].listed(searched))

    def at(self, side: int, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See ArcBounds."""
        upper, lower = (one[side].take(ids).astype(np.int64) for one in (self._uppers, self._lowers))
        return upper, lower

    def values(self, side: int, *ids: np.ndarray) -> np.ndarray:
        """See ArcBounds; a copy of these entries."""
        if not ids:
            self._values[:] = self._uppers[side].raw()
        for piece in _pieces(*ids):
            self._values[piece] = self._uppers[side].take(piece)
        return self._values

    def changed(self, side: int, ids: np.ndarray | None = None) -> None:
        """See ArcBounds."""
        if ids is None:
            self._uppers[side].set_part(0, self._values)
            return
        upload = self._device.array
        for piece in _pieces(ids):
            self._kernels.launch("put_values", len(piece), self._uppers[side].array, upload(piece.astype(np.uint32)),
                                 len(piece), upload(self._values[piece]))


def _pieces(*ids: np.ndarray) -> Iterator[np.ndarray]:
    """The vertices in pieces of 1 to _PIECE."""
    for some in ids:
        yield from (some[start : start + _PIECE] for start in range(0, len(some), _PIECE))
