"""Floyd-Warshall on a device: step by step, blocked in three phases, and blocked in a single launch.

Source: papers/004, section 4 (Algorithm 7) and 4.1 (Venkataraman et al.; Katz and Kider; Lund et al.); papers/002,
section 2 (Takafuji, Nakano and Ito). Device memory: n^2 cells of 4 or 8 bytes, padded to whole tiles. Work: n^3.
Kernels: paths/floyd_warshall.cu, paths/floyd_warshall_single.cu.
"""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...progress import Tick, no_tick
from ..device import Device
from ..kernel_file import KernelFile, zeros
from ..registry import TILES
from .weighted_graph import Matrix

TILE = TILES[-1]


def floyd_warshall(device: Device, matrix: Matrix, tick: Tick = no_tick) -> tuple[Matrix, int]:
    """Replace weights by distances, with a launch for each intermediate vertex; return the matrix and the number of
    launches."""
    kernels = KernelFile(device, "paths/floyd_warshall.cu", {**matrix.macros, "TILE": TILE})
    n = matrix.n_vertices
    for k in range(n):
        kernels.launch("floyd_warshall_step", n * n, matrix.cells, matrix.pitch, n, k)
        tick()
    return matrix, n


def blocked_floyd_warshall(
    device: Device, matrix: Matrix, tile: int = TILE, tick: Tick = no_tick
) -> tuple[Matrix, int]:
    """As floyd_warshall by tiles, with three launches for each tile of the diagonal; return the matrix and the number
    of tiles along a side.

    tile : cells along a side of a tile; rows and pitch of the matrix are multiples of it. Raises InputError for an
    unknown tile.
    """
    tiles, kernels = tiled(device, matrix, "paths/floyd_warshall.cu", tile)
    cells, pitch = matrix.cells, matrix.pitch
    for pivot in range(tiles):
        kernels.launch_blocks("floyd_warshall_diagonal", 1, cells, pitch, pivot)
        if tiles > 1:
            kernels.launch_blocks("floyd_warshall_cross", 2 * (tiles - 1), cells, pitch, tiles, pivot)
            kernels.launch_blocks("floyd_warshall_rest", (tiles - 1) ** 2, cells, pitch, tiles, pivot)
        tick()
    return matrix, tiles


def single_kernel_floyd_warshall(device: Device, matrix: Matrix, tile: int = TILE) -> tuple[Matrix, int]:
    """As blocked_floyd_warshall in one launch, in which tiles wait for the tiles that they need; return the matrix and
    the number of tiles along a side. Raises InputError for an unknown tile."""
    tiles, kernels = tiled(device, matrix, "paths/floyd_warshall_single.cu", tile)
    if tiles:
        kernels.launch_resident("floyd_warshall_single", tiles * tiles, matrix.cells, matrix.pitch, tiles,
                                zeros(device, 1, np.uint64), zeros(device, tiles * tiles, np.uint32),
                                zeros(device, tiles, np.uint32), zeros(device, tiles, np.uint32))
    return matrix, tiles


def tiled(device: Device, matrix: Matrix, file: str, tile: int) -> tuple[int, KernelFile]:
    """The number of tiles along a side, and the kernels for them."""
    check_tile(tile)
    if matrix.rows % tile or matrix.pitch % tile:
        raise ValueError(f"{matrix.rows} rows of {matrix.pitch} cells are not whole tiles of {tile}")
    return matrix.rows // tile, KernelFile(device, file, {**matrix.macros, "TILE": tile}, tile * tile // 16)


def check_tile(tile: int) -> None:
    """Raise InputError for an unknown tile."""
    if tile not in TILES:
        raise InputError("there is no such tile", text=str(tile), remedy=f"use {' or '.join(map(str, TILES))}")
