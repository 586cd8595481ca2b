"""Distances between all pairs on a device, by name.

Source: papers/004, section 4. A matrix that fits is on the device; streamed squaring has it in RAM, and copies blocks
to the device and back. A search from every vertex uses the rows of the graph instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...errors import InputError
from ...paths.paths import SearchOptions
from ...paths.rows import WeightedRows
from ...progress import Tick, no_tick
from ..device import Device
from ..setting import Selection
from .floyd_warshall import TILE, blocked_floyd_warshall, floyd_warshall, single_kernel_floyd_warshall
from .min_plus import StreamedSquares, largest_block, recursive_elimination, repeated_squaring, streamed_bytes
from .registry import SEARCHES
from .weighted_graph import Matrix, check_room, no_path, upload_rows

_MARGIN = 1 << 16
_KATZ_KIDER = "papers/004, section 4.1 (Katz and Kider)"
USUAL, STREAMED, ORTEGA = "blocked", "lazy-minimum", "ortega"


@dataclass(frozen=True)
class DevicePairs:
    """solve : solve(device, matrix, tile, tick) -> (distances, rounds), for a matrix on the device; None: the matrix is
    in RAM, or the method searches. title, section : see DeviceSearch. copies : number of matrices on the device."""

    solve: Callable[..., tuple[Matrix, int]] | None
    title: str
    section: str
    copies: int = 0


ALL_PAIRS: Mapping[str, DevicePairs] = MappingProxyType({
    USUAL: DevicePairs(blocked_floyd_warshall, "Blocked, three phases", _KATZ_KIDER, 1),
    "single-kernel": DevicePairs(lambda device, matrix, tile, tick: single_kernel_floyd_warshall(device, matrix, tile),
                                 "Blocked, one launch", "papers/002, section 2 (Takafuji, Nakano and Ito)", 1),
    "squaring": DevicePairs(repeated_squaring, "Repeated squaring", "papers/004, Algorithm 6 (Tran et al.)", 2),
    "floyd-warshall": DevicePairs(lambda device, matrix, tile, tick: floyd_warshall(device, matrix, tick),
                                  "Floyd-Warshall", "papers/004, Algorithm 7", 1),
    STREAMED: DevicePairs(None, "Streaming blocks, lazy minimum",
                          "papers/004, section 4.1 (Harish, Vineet and Narayanan)"),
    "recursive": DevicePairs(recursive_elimination, "Gaussian elimination",
                             "papers/004, section 4.1 (Buluç, Gilbert and Budak)", 2),
    "harish": DevicePairs(None, "A search from every vertex", "papers/004, section 4.1 (Harish and Narayanan)"),
    ORTEGA: DevicePairs(None, "The same, which settles all that no path can shorten",
                        "papers/004, section 4.1 (Ortega et al.)"),
})


class PairsSolver:
    """A Solver (paths/pairs/solve.py) on a device. tile : cells along a side of a tile, one of TILES."""

    methods = tuple(ALL_PAIRS)

    def __init__(self, device: Device, tile: int = TILE) -> None:
        self._device, self.name, self._tile = device, device.name, tile

    def usual(self, matrix_bytes: int) -> str:
        """Blocked Floyd-Warshall if the matrix fits the device, else streamed squaring."""
        return USUAL if matrix_bytes + _MARGIN <= self._device.memory().free else STREAMED

    def host_bytes(self, method: str, p: int, item: int) -> int:
        """Bytes of RAM in addition to a matrix of p rows and columns: for streamed squaring two, in whole blocks."""
        return 2 * (p + _usual_block(p, self._tile)) ** 2 * item if method == STREAMED else 0

    def solve(self, matrix: np.ndarray, method: str, tick: Tick) -> int:
        """Replace weights by distances: int32, int64 or float64[p, p], p a multiple of the tile, no_path without a
        path; return the number of rounds. Raises DeviceRoomError with the numbers if device memory is too small."""
        device, p, chosen = self._device, len(matrix), ALL_PAIRS[method]
        if chosen.solve is None:
            return streamed_squaring(device, matrix, tick, self._tile)
        check_room(device, chosen.copies * matrix.nbytes + _MARGIN, f"{method} on a matrix of {p} x {p} distances")
        found, rounds = chosen.solve(device, Matrix(device.array(matrix.reshape(-1)), p, p), self._tile, tick)
        # A few rows at a time: the plan has no second matrix on the host.
        for row in range(0, p, self._tile):
            cells = found.cells[row * p : (row + self._tile) * p]
            matrix[row : row + self._tile] = device.to_host(cells).reshape(-1, p)
        return rounds

    def searches(self, method: str, rows: WeightedRows, infinity: float, tick: Tick) -> DeviceSearches:
        """See DeviceSearches. Raises as upload_rows does, and DeviceRoomError."""
        return DeviceSearches(self._device, method, rows, infinity, tick)


def solver_on(selection: Selection) -> PairsSolver | None:
    """The solver on the selected device; None for the CPU. Raises InputError for several devices."""
    if selection.others:
        raise InputError("a matrix is solved on one GPU", text=selection.name, remedy="name one, as gpu:0")
    return None if selection.device is None else PairsSolver(selection.device)


class DeviceSearches:
    """A search from every vertex on one resident graph; see paths/pairs/harish.py. method : "ortega", or the default
    search for the weights. infinity : of pairs without a path."""

    def __init__(self, device: Device, method: str, rows: WeightedRows, infinity: float, tick: Tick) -> None:
        search = SEARCHES[method if method == ORTEGA else "workfront-sweep" if rows.least_weight < 0 else "near-far"]
        check_room(device, search.bytes(rows), f"a search in {rows.n_vertices} vertices and {rows.n_arcs} arcs")
        self._device, self._search, self._infinity = device, search.search, infinity
        self._weighted, self._options = upload_rows(device, rows), SearchOptions(tick=tick)

    def fill(self, first: int, strip: np.ndarray) -> None:
        """Set strip[i] to the distances from vertex first + i, dtype[k, n]; infinity without a path."""
        for number, row in enumerate(strip, first):
            found = self._search(self._device, self._weighted, number, self._options)
            row.fill(self._infinity)
            np.copyto(row, found.distances, where=found.has_path, casting="unsafe")


# -- Streamed ------------------------------------------------------------------------------------------------

def streamed_squaring(device: Device, matrix: np.ndarray, tick: Tick = no_tick, tile: int = TILE,
                      block: int | None = None) -> int:
    """Replace weights by distances, cells[p, p] in RAM, by repeated squaring in blocks of `block` rows and columns, a
    multiple of `tile` (None: a quarter of the side, or the largest block that fits the device). Returns the number of
    rounds. Host memory: two further matrices. Raises DeviceRoomError."""
    item, p = matrix.itemsize, len(matrix)
    block = block or max(tile, min(_usual_block(p, tile), largest_block(device.memory().free - _MARGIN, item, tile)))
    check_room(device, streamed_bytes(block, item) + _MARGIN, f"blocks of {block} x {block} distances")
    count, rounds = -(-p // block), 0
    blocks = np.full((count, count, block, block), no_path(matrix.dtype), matrix.dtype)
    places = [(i, j, slice(i * block, (i + 1) * block), slice(j * block, (j + 1) * block))
              for i in range(count) for j in range(count)]
    for i, j, rows, columns in places:
        part = matrix[rows, columns]
        blocks[i, j, : part.shape[0], : part.shape[1]] = part
    with closing(StreamedSquares(device, blocks.reshape(count, count, block * block), tile)) as streamed:
        while 1 << rounds < 2 * p:
            rounds += 1
            if not streamed.square(tick):
                break
    found = streamed.blocks.reshape(blocks.shape)
    for i, j, rows, columns in places:
        part = matrix[rows, columns]
        part[...] = found[i, j, : part.shape[0], : part.shape[1]]
    return rounds


def _usual_block(p: int, tile: int) -> int:
    """Rows and columns of a block of a matrix of p: a quarter, in whole tiles."""
    return -(-p // (4 * tile)) * tile
