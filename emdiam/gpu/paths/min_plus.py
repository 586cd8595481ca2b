"""The min-plus product on a device, for all pairs: repeated squaring, resident or streamed through the device.

A round turns paths of at most L arcs into paths of at most 2 L arcs, by the product of the matrix with itself (the
D x W that papers/004 prints as Algorithm 6 would add one arc a round). Minima are lazy: sums without a path are
skipped. Gaussian elimination cuts the matrix into four again and again, down to a tile, and takes paths from quarter to
quarter by products alone (paths/pairs/floyd_warshall.py).
Source: papers/004, section 4 and 4.1 (Harish, Vineet and Narayanan: streaming blocks, lazy minimum; Tran et al.; Buluç,
Gilbert and Budak). Kernel: paths/min_plus.cu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...progress import Tick, no_tick
from ..device import Device, DeviceArray
from ..kernel_file import KernelFile, zeros
from ..source import Define
from .floyd_warshall import TILE, check_tile, tiled
from .weighted_graph import CELL_TYPES, Matrix

# Blocks of a product on the device: the current sum, and for each factor one being read and one being copied.
_BUFFERS = 5


@dataclass(frozen=True)
class Operand:
    """A part of a matrix: its cells from the first one on, and the pitch."""

    cells: DeviceArray
    pitch: int


class MinPlus:
    """Products of matrices of whole tiles on a device.

    dtype : of cells. tile : cells along a side of a tile. lazy : whether sums without a path are skipped. Raises
    InputError for an unknown tile.
    """

    def __init__(self, device: Device, dtype: np.dtype[Any], tile: int = TILE, lazy: bool = True) -> None:
        check_tile(tile)
        self._device = device
        macros: dict[str, Define] = {"CELL": CELL_TYPES[dtype.name], "TILE": tile, "LAZY": int(lazy)}
        self._kernels = KernelFile(device, "paths/min_plus.cu", macros, tile * tile // 16)
        self.changed = zeros(device, 1, np.uint64)

    def product(self, a: Operand, b: Operand, c: Operand, shape: tuple[int, int, int]) -> None:
        """Set c to min(c, a (x) b), and `changed` to 1 if a cell fell.

        shape : rows of a, columns of a, and columns of b, in tiles. c is neither a nor b.
        """
        rows, inner, columns = shape
        self._kernels.launch_blocks("min_plus_product", rows * columns, a.cells, a.pitch, b.cells, b.pitch, c.cells,
                                    c.pitch, rows, inner, columns, self.changed)

    def took_change(self) -> bool:
        """Whether a cell fell since the last call."""
        found = bool(self._device.to_host(self.changed)[0])
        self._device.fill(self.changed, 0)
        return found


def repeated_squaring(device: Device, matrix: Matrix, tile: int = TILE, tick: Tick = no_tick,
                      lazy: bool = True) -> tuple[Matrix, int]:
    """The distances, and the number of rounds: log2 of the arcs of the longest shortest path, plus one.

    matrix : padded to whole tiles; overwritten. Device memory: two matrices. Raises InputError for an unknown tile.
    """
    product, tiles, rounds = MinPlus(device, matrix.cells.dtype, tile, lazy), matrix.rows // tile, 0
    other = matrix.like(device)
    while tiles and 1 << rounds < 2 * matrix.n_vertices:
        whole = Operand(matrix.cells, matrix.pitch)
        product.product(whole, whole, Operand(other.cells, other.pitch), (tiles, tiles, tiles))
        rounds += 1
        if not product.took_change():
            break
        device.copy(other.cells, matrix.cells)
        tick()
    return other, rounds


def recursive_elimination(device: Device, matrix: Matrix, tile: int = TILE,
                          tick: Tick = no_tick) -> tuple[Matrix, int]:
    """Replace weights by distances; return the matrix and the number of tiles along a side. Device memory: at most two
    matrices, since a product does not write to its inputs. Raises InputError for an unknown tile."""
    tiles, kernels = tiled(device, matrix, "paths/floyd_warshall.cu", tile)
    product, cells, pitch = MinPlus(device, matrix.cells.dtype, tile), matrix.cells, matrix.pitch
    before = device.empty(cells.size, cells.dtype)

    def part(of: DeviceArray, rows: range, columns: range) -> Operand:
        return Operand(of[(rows[0] * pitch + columns[0]) * tile :], pitch)

    def through(rows: range, inner: range, columns: range) -> None:
        kept = slice(rows[0] * tile * pitch, (rows[-1] + 1) * tile * pitch)
        # If a factor is also written, use a copy of it.
        if inner in (rows, columns):
            device.copy(cells[kept], before[kept])
        product.product(part(before if inner == columns else cells, rows, inner),
                        part(before if inner == rows else cells, inner, columns), part(cells, rows, columns),
                        (len(rows), len(inner), len(columns)))

    def close(span: range) -> None:
        if len(span) == 1:
            kernels.launch_blocks("floyd_warshall_diagonal", 1, cells, pitch, span[0])
            tick()
            return
        upper, lower = span[: len(span) // 2], span[len(span) // 2 :]
        for first, second in ((upper, lower), (lower, upper)):
            close(first)
            through(first, first, second)
            through(second, first, first)
            through(second, first, second)

    if tiles:
        close(range(tiles))
    return matrix, tiles


# -- Streamed ------------------------------------------------------------------------------------------------

def streamed_bytes(block: int, itemsize: int) -> int:
    """Device memory of a streamed product by blocks of `block` rows and columns."""
    return _BUFFERS * block * block * itemsize + (1 << 16)


def largest_block(free: int, itemsize: int, tile: int = TILE) -> int:
    """The largest block within `free` bytes, in rows and columns; 0 if a tile is too large."""
    most = int(max(0, (free - (1 << 16)) // (_BUFFERS * itemsize)) ** 0.5)
    return most // tile * tile


class StreamedSquares:
    """Squares of a matrix in RAM, in blocks that are copied to the device while others are multiplied.

    blocks : cells[count, count, block * block], each of whole tiles, locked in memory until `close`. Device memory:
    streamed_bytes.
    """

    def __init__(self, device: Device, blocks: np.ndarray, tile: int = TILE, lazy: bool = True) -> None:
        self._device, self.count, self.block = device, blocks.shape[0], round(blocks.shape[2] ** 0.5)
        self._now, self._next = blocks, blocks.copy()
        self._product, self._tiles = MinPlus(device, blocks.dtype, tile, lazy), self.block // tile
        cells = blocks.shape[2]
        self._sum = device.empty(cells, blocks.dtype)
        self._ring = [[device.empty(cells, blocks.dtype) for _ in range(2)] for _ in range(2)]
        self._stream, self._free = device.stream(), list[Any]([None, None])
        self._locked = [array.reshape(-1) for array in (self._now, self._next)]
        for array in self._locked:
            device.register(array)

    def close(self) -> None:
        """Unlock the host memory."""
        self._device.synchronize()
        for array in self._locked:
            self._device.release(array)

    @property
    def blocks(self) -> np.ndarray:
        """The distances so far."""
        return self._now

    def square(self, tick: Tick = no_tick) -> bool:
        """One round; return whether a cell fell."""
        lowered = False
        for i in range(self.count):
            for j in range(self.count):
                self._device.copy(self._now[i, j], self._sum)
                for k in range(self.count):
                    self._multiply(i, j, k)
                if self._product.took_change():
                    lowered = True
                    self._next[i, j] = self._device.to_host(self._sum)
                else:
                    self._next[i, j] = self._now[i, j]
                tick()
        self._now, self._next = self._next, self._now
        return lowered

    def _multiply(self, i: int, j: int, k: int) -> None:
        """Copy the blocks (i, k) and (k, j) asynchronously, and multiply them afterwards."""
        device, slot = self._device, k % 2
        if self._free[slot] is not None:
            device.wait(self._free[slot], self._stream)
        for host, there in zip((self._now[i, k], self._now[k, j]), self._ring[slot], strict=True):
            device.copy_behind(host, there, self._stream)
        device.wait(device.record(self._stream))
        a, b = (Operand(cells, self.block) for cells in self._ring[slot])
        self._product.product(a, b, Operand(self._sum, self.block), (self._tiles,) * 3)
        self._free[slot] = device.record()
