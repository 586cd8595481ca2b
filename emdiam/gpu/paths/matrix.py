"""Matrices of distances on a device, and the adjacency matrix with a pitch. Source: papers/004, section 1.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..device import Device, DeviceArray
from ..kernel_file import KernelFile
from ..source import Define
from .weighted_graph import WeightedGraph, check_room, layout_macros

# Rows of a matrix begin at multiples of so many cells.
PITCH = 32
CELL_TYPES: Mapping[str, str] = MappingProxyType({"int32": "i32", "int64": "i64", "float64": "double"})


@dataclass(frozen=True)
class Matrix:
    """cells : int32, int64 or float64[rows * pitch]. pitch : cells from a row to the next."""

    cells: DeviceArray
    n_vertices: int
    pitch: int

    @property
    def rows(self) -> int:
        """Rows, with those that pad it to whole tiles."""
        return self.cells.size // max(1, self.pitch)

    @property
    def macros(self) -> dict[str, Define]:
        """The macro of its cells."""
        return {"CELL": CELL_TYPES[self.cells.dtype.name]}

    def like(self, device: Device) -> Matrix:
        """A copy on the device."""
        cells = device.empty(self.cells.size, self.cells.dtype)
        device.copy(self.cells, cells)
        return Matrix(cells, self.n_vertices, self.pitch)


def no_path(dtype: np.dtype[Any]) -> int | float:
    """The cell of a pair without a path: infinity, or so large that it stays above every distance when a negative one
    is added, and so small that a sum of two does not overflow."""
    return np.inf if dtype.kind == "f" else (int(np.iinfo(dtype).max) - 1) // 2


def adjacency_matrix(device: Device, weighted: WeightedGraph) -> Matrix:
    """The weights as a matrix with a pitch, int64 or float64, 0 on the diagonal or less; of parallel arcs the least.
    O(n^2). Raises DeviceRoomError, with the numbers, if the device has no room for it."""
    n, cell = weighted.n_vertices, np.dtype(np.float64 if weighted.along_floats else np.int64)
    pitch = -(-n // PITCH) * PITCH
    check_room(device, n * pitch * cell.itemsize, f"a matrix of {n} x {n} distances")
    matrix = Matrix(device.empty(n * pitch, cell), n, pitch)
    device.fill(matrix.cells, no_path(cell))
    graph = weighted.graph
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(weighted, CELL_TYPES[cell.name]))
    kernels.launch("fill_matrix", n, graph.offsets, graph.neighbours, weighted.weights, n, np.uint64(pitch),
                   matrix.cells)
    return matrix
