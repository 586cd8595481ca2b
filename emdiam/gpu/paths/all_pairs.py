"""Distances between all pairs on a device, by name.

Source: papers/004, section 4. Where the matrix fits the device, it stays there; streamed squaring has it in RAM.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ...errors import InputError, no_such
from ...paths.paths import SearchOptions, Tick
from ...paths.rows import WeightedRows
from ..device import Device
from ..setting import Selection
from .floyd_warshall import TILE, blocked_floyd_warshall, floyd_warshall, single_kernel_floyd_warshall
from .matrix import Matrix, adjacency_matrix, cell_dtype, distances_of, host_cells, no_path
from .min_plus import StreamedSquares, largest_block, repeated_squaring, streamed_bytes
from .registry import AUTO, SEARCHES
from .weighted_graph import WeightFacts, check_room, graph_bytes, upload_rows
from .workfront_sweep import check_cycles

_MARGIN = 1 << 16
_KATZ_KIDER = "papers/004, section 4.1 (Katz and Kider)"


@dataclass(frozen=True)
class AllPairs:
    """distances : uint64, int64 or float64[n, n], the largest value or infinity without a path. tiles : along a side of
    the matrix, 0 where there are none. rounds : of the method."""

    method: str
    distances: np.ndarray
    tiles: int = 0
    rounds: int = 0


Run = Callable[[WeightedRows, Device, Tick | None, int], AllPairs]


@dataclass(frozen=True)
class DeviceAllPairs:
    """run : run(rows, device, tick, tile) finds the distances. title, section : see DeviceSearch. matrices : on the
    device at once, 0 where only parts of one are."""

    run: Run
    title: str
    section: str
    matrices: int = 0

    def bytes(self, rows: WeightedRows) -> int:
        """Device memory: of whole matrices and the arcs that they are made of; without one, of the arcs."""
        side = -(-rows.n_vertices // TILE) * TILE
        matrix = side * side * cell_dtype(WeightFacts.of(rows), rows.n_vertices).itemsize
        return graph_bytes(rows) + self.matrices * matrix + _MARGIN


def _resident(solve: Callable[[Device, Matrix, Tick | None, int], tuple[Matrix, int]]) -> Run:
    """A method on a matrix that is on the device; `solve` gives that of distances, and its rounds."""

    def run(rows: WeightedRows, device: Device, tick: Tick | None, tile: int) -> AllPairs:
        matrix = adjacency_matrix(device, upload_rows(device, rows), pad=tile)
        found, rounds = solve(device, matrix, tick, tile)
        distances = distances_of(host_cells(device, found), rows.distance_dtype)
        return AllPairs("", distances, tiles=found.rows // tile, rounds=rounds)

    return run


def _by_steps(device: Device, matrix: Matrix, tick: Tick | None, tile: int) -> tuple[Matrix, int]:
    floyd_warshall(device, matrix, tick)
    return matrix, matrix.n_vertices


def _blocked(device: Device, matrix: Matrix, tick: Tick | None, tile: int) -> tuple[Matrix, int]:
    return matrix, blocked_floyd_warshall(device, matrix, tile, tick)


def _single_kernel(device: Device, matrix: Matrix, tick: Tick | None, tile: int) -> tuple[Matrix, int]:
    return matrix, single_kernel_floyd_warshall(device, matrix, tile)


def _squared(device: Device, matrix: Matrix, tick: Tick | None, tile: int) -> tuple[Matrix, int]:
    return repeated_squaring(device, matrix, tile, tick=tick)


def _from_all(rows: WeightedRows, device: Device, tick: Tick | None, tile: int) -> AllPairs:
    """A search from each vertex, on one graph on the device."""
    weighted, n = upload_rows(device, rows), rows.n_vertices
    search = SEARCHES["workfront-sweep" if rows.least_weight < 0 else "near-far"].search
    found, rounds, options = np.empty((n, n), rows.distance_dtype), 0, SearchOptions(tick=tick)
    for source in range(n):
        paths = search(device, weighted, source, options)
        found[source] = paths.distances
        rounds += paths.rounds
    return AllPairs("", found, rounds=rounds)


# -- Streamed ------------------------------------------------------------------------------------------------

def streamed_squaring(rows: WeightedRows, device: Device, tick: Tick | None = None, tile: int = TILE,
                      block: int | None = None) -> AllPairs:
    """Distances by squares of a matrix in RAM, in blocks of `block` rows and columns, a multiple of `tile`; None: a
    quarter of the matrix along a side, or as much as the device has room for."""
    dtype, n = cell_dtype(WeightFacts.of(rows), rows.n_vertices), rows.n_vertices
    block = block or _block(device, n, dtype, tile)
    check_room(device, streamed_bytes(block, dtype.itemsize) + _MARGIN, f"blocks of {block} x {block} distances")
    count = -(-n // block)
    whole, rounds = _squares(device, _host_blocks(rows, count, block, dtype), n, tile, tick)
    return AllPairs("", distances_of(whole, rows.distance_dtype), tiles=count, rounds=rounds)


def _block(device: Device, n: int, dtype: np.dtype[Any], tile: int) -> int:
    """The usual rows and columns of a block."""
    room = largest_block(device.memory().free - _MARGIN, dtype.itemsize, tile)
    return max(tile, min(-(-n // (4 * tile)) * tile, room))


def _squares(device: Device, blocks: np.ndarray, n: int, tile: int, tick: Tick | None) -> tuple[np.ndarray, int]:
    """The first n rows and columns of the distances of a matrix in blocks, and the rounds."""
    streamed, rounds = StreamedSquares(device, blocks, tile), 0
    try:
        while 1 << rounds < 2 * n:
            rounds += 1
            if not streamed.square(tick):
                break
    finally:
        streamed.close()
    count, block = streamed.count, streamed.block
    return streamed.blocks.reshape(count, count, block, block).swapaxes(1, 2).reshape(count * block, -1)[:n, :n], rounds


def _host_blocks(rows: WeightedRows, count: int, block: int, dtype: np.dtype) -> np.ndarray:
    """The weights as a matrix in blocks, dtype[count, count, block * block]; see adjacency_matrix."""
    blocks = np.full((count, count, block * block), no_path(dtype), dtype)
    diagonal = np.arange(rows.n_vertices)
    blocks[diagonal // block, diagonal // block, diagonal % block * (block + 1)] = 0
    tails, heads = np.repeat(diagonal, np.diff(rows.offsets)), rows.heads.astype(np.int64)
    places = (tails // block, heads // block, tails % block * block + heads % block)
    np.minimum.at(blocks, places, rows.costs.astype(dtype))
    return blocks


ALL_PAIRS: Mapping[str, DeviceAllPairs] = MappingProxyType({
    "floyd-warshall": DeviceAllPairs(_resident(_by_steps), "Floyd-Warshall", "papers/004, Algorithm 7", 1),
    "blocked": DeviceAllPairs(_resident(_blocked), "Blocked, three phases", _KATZ_KIDER, 1),
    "single-kernel": DeviceAllPairs(_resident(_single_kernel), "Blocked, one launch",
                                    "papers/002, section 2 (Takafuji, Nakano and Ito)", 1),
    "squaring": DeviceAllPairs(_resident(_squared), "Repeated squaring",
                                        "papers/004, Algorithm 6 (Tran et al.)", 2),
    "lazy-minimum": DeviceAllPairs(streamed_squaring, "Streaming blocks, lazy minimum",
                                        "papers/004, section 4.1 (Harish, Vineet and Narayanan)"),
    "harish": DeviceAllPairs(_from_all, "A search from every vertex",
                               "papers/004, section 4.1 (Harish and Narayanan; Ortega et al.)"),
})


def device_all_pairs(rows: WeightedRows, device: Device, method: str = AUTO, tick: Tick | None = None,
                     tile: int = TILE) -> AllPairs:
    """Distances between all pairs of vertices of `rows`, found on `device`.

    method : a key of ALL_PAIRS, or "auto": blocked Floyd-Warshall where the matrix fits the device, else streamed
    squaring. tile : cells along a side of a tile, one of TILES. Host memory: the matrix, two of them where it is
    streamed. Raises InputError for a method that there is not and a negative cycle; DeviceRoomError with the numbers
    where the device is too small; OverflowError where a distance may not fit.
    """
    if method == AUTO:
        resident = "blocked"
        fits = ALL_PAIRS[resident].bytes(rows) <= device.memory().free
        method = resident if fits else "lazy-minimum"
    if method not in ALL_PAIRS:
        raise no_such("method for all pairs on a device", method, [AUTO, *ALL_PAIRS])
    if not rows.n_vertices:
        return AllPairs(method, np.empty((0, 0), rows.distance_dtype))
    chosen = ALL_PAIRS[method]
    if chosen.matrices:
        check_room(device, chosen.bytes(rows), f"{method} on {rows.n_vertices} vertices")
    if rows.least_weight < 0:
        check_cycles(device, upload_rows(device, rows), tick)
    return replace(chosen.run(rows, device, tick, tile), method=method)


# -- A matrix in memory ----------------------------------------------------------------------------------------

_ON_MATRIX: Mapping[str, Callable[[Device, Matrix, Tick | None, int], tuple[Matrix, int]]] = MappingProxyType({
    "blocked": _blocked, "single-kernel": _single_kernel, "squaring": _squared, "floyd-warshall": _by_steps,
})


class MatrixSolver:
    """A Solver (paths/pairs/solve.py) on the device that was selected. name : of it. methods : the first is the usual
    one."""

    methods = tuple(_ON_MATRIX)

    def __init__(self, device: Device) -> None:
        self._device, self.name = device, device.name

    def solve(self, matrix: np.ndarray, method: str, tick: Tick | None) -> None:
        """Distances in the place of weights: int32, int64 or float64[p, p], p a multiple of TILE, no_path where there
        is none. Raises DeviceRoomError with the numbers where the device is too small."""
        device, p = self._device, len(matrix)
        held = 2 if method == "squaring" else 1
        check_room(device, held * matrix.nbytes + _MARGIN, f"{method} on a matrix of {p} x {p} distances")
        cells = device.array(matrix.reshape(-1))
        found, _ = _ON_MATRIX[method](device, Matrix(cells, p, p), tick, TILE)
        # A few rows at a time: the host's memory is planned without a second matrix.
        for row in range(0, p, TILE):
            matrix[row : row + TILE] = device.to_host(found.cells[row * p : (row + TILE) * p]).reshape(-1, p)


def solver_on(selection: Selection) -> MatrixSolver | None:
    """What solves a matrix on the selected device; None for the CPU. Raises InputError for several devices."""
    if selection.others:
        raise InputError("a matrix is solved on one GPU", text=selection.name, remedy="name one, as gpu:0")
    return None if selection.device is None else MatrixSolver(selection.device)
