"""Matrices of distances on a device: an adjacency matrix with a pitch, padded to whole tiles, and back.

Cells are int32 where no distance is longer than that, else int64, or float64. Source: papers/004, section 1.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ...paths.rows import unreached
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile
from ..source import Define
from .queue_rounds import negative_cycle
from .weighted_graph import WeightedGraph, WeightFacts, check_room, layout_macros

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


def cell_dtype(facts: WeightFacts, n_vertices: int) -> np.dtype[Any]:
    """The type of cells for distances along such weights: none is longer than a quarter of no_path. Raises
    OverflowError where a distance may not fit 64 bits."""
    bound = max(abs(facts.least), abs(facts.largest)) * max(1, n_vertices - 1)
    if facts.distance_dtype.kind == "f":
        return np.dtype(np.float64)
    for dtype in (np.dtype(np.int32), np.dtype(np.int64)):
        if 4 * bound < no_path(dtype):
            return dtype
    raise OverflowError(f"distances up to {bound} may not fit 64 bits")


def adjacency_matrix(device: Device, weighted: WeightedGraph, dtype: Any = None, pad: int = 1) -> Matrix:
    """The weights as a matrix with a pitch, 0 on the diagonal or less; of parallel arcs the least. O(n^2).

    dtype : of cells; None: that of cell_dtype. pad : rows and columns are a multiple of it, and columns of PITCH.
    Raises DeviceRoomError, with the numbers, if the device has no room for it, OverflowError as cell_dtype does.
    """
    n, side = weighted.n_vertices, max(pad, PITCH)
    cell = np.dtype(dtype or cell_dtype(weighted.facts, n))
    rows, pitch = -(-n // pad) * pad, -(-n // side) * side
    check_room(device, rows * pitch * cell.itemsize, f"a matrix of {n} x {n} distances")
    matrix = Matrix(device.empty(rows * pitch, cell), n, pitch)
    device.fill(matrix.cells, no_path(cell))
    graph = weighted.graph
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(weighted, CELL_TYPES[cell.name]))
    kernels.launch("fill_matrix", n, graph.offsets, graph.neighbours, weighted.weights, n, np.uint64(pitch),
                   matrix.cells)
    return matrix


def host_cells(device: Device, matrix: Matrix) -> np.ndarray:
    """The cells without those that pad the matrix, [n, n], in RAM."""
    n = matrix.n_vertices
    cells: np.ndarray = device.to_host(matrix.cells).reshape(-1, max(1, matrix.pitch))[:n, :n]
    return cells


def distances_of(cells: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The distances, dtype[n, n]: the largest value or infinity without a path.

    Raises InputError where a vertex has a negative distance from itself, which rounding can do.
    """
    if np.any(np.diagonal(cells) < 0):
        raise negative_cycle()
    none = np.inf if cells.dtype.kind == "f" else no_path(cells.dtype) // 2
    found = np.full(cells.shape, unreached(dtype), dtype)
    np.copyto(found, cells, where=cells < none, casting="unsafe")
    return found
