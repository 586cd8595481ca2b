"""A matrix of distances on disk in tiles: each tile is a chunk of the array of NAME.partial, and a few are in memory.

A product uses three tiles: the relaxed one, which is written back if an entry fell, and one of each factor. The last
tile of the left factor stays in memory, since the tiles of its row follow each other. All tiles have full size, with
padding rows and columns beyond the vertices; padding must be stored, since its entries may fall too, and is cut off at
the end. A method uses the same operations on a tile in memory as on a matrix in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...progress import Tick
from .arcs import Lengths, MatrixArcs, fill_tile
from .floyd_warshall import blocked
from .matrix import MatrixWriter
from .min_plus import Product, all_tiles, padded, tile_edge
from .tiles import Places, RamTiles

# Tiles in memory: the three of a product, and two copies in Zarr while a tile is read or written.
TILES_IN_MEMORY = 3 + 2
# Largest number of tiles in a row: each tile is a file.
MOST_COUNT = 256


@dataclass(frozen=True)
class DiskLayout:
    """edge : rows and columns of a tile. count : tiles in a row. Other sizes in bytes."""

    edge: int
    count: int
    memory_bytes: int
    disk_bytes: int


def disk_layout(n_vertices: int, item: int, room_bytes: int) -> DiskLayout | None:
    """The largest tiles of which TILES_IN_MEMORY fit into `room_bytes`; None if a row had more than MOST_COUNT."""
    layouts = (_layout(n_vertices, item, count) for count in range(1, MOST_COUNT + 1))
    return next((layout for layout in layouts if layout.memory_bytes <= room_bytes), None)


def least_layout(n_vertices: int, item: int) -> DiskLayout:
    """The layout with the least memory."""
    return _layout(n_vertices, item, MOST_COUNT)


def _layout(n_vertices: int, item: int, count: int) -> DiskLayout:
    """The layout with at most `count` tiles in a row."""
    edge = padded(-(-n_vertices // count))
    used = -(-n_vertices // edge)
    return DiskLayout(edge, used, TILES_IN_MEMORY * edge * edge * item + Product.panel_bytes(edge, item),
                      used * used * edge * edge * item)


class DiskTiles:
    """Tiles in the array of `writer`, whose chunks are tiles of full size. product : for matrices of the size of a
    tile. reads, writes : tiles so far."""

    def __init__(self, writer: MatrixWriter, lengths: Lengths, product: Product, tick: Tick) -> None:
        self._writer, self.lengths, self._product, self.tick = writer, lengths, product, tick
        self._n, self._edge = writer.n_vertices, writer.chunk[0]
        self.count = -(-self._n // self._edge)
        self.reads = self.writes = 0
        self._kept: tuple[tuple[int, int], np.ndarray] | None = None

    def fill(self, arcs: MatrixArcs) -> None:
        """Fill the tiles with the adjacency matrix."""
        for i, j in all_tiles((self._n, self._n), self._edge).tolist():
            tile = np.empty((self._edge, self._edge), self.lengths.dtype)
            fill_tile(tile, arcs, self.lengths, self._inside(i), self._inside(j))
            self._write(i, j, tile)
            self.tick()

    def close(self, k: int) -> None:
        """See Tiles."""
        tile = self._read(k, k)
        blocked(RamTiles(tile, self.lengths, self._product, self.tick))
        self._write(k, k, tile)

    def relax(self, places: Places, middle: Sequence[int]) -> bool:
        """See Tiles."""
        def product(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> bool:
            edge = tile_edge(max(matrix.shape))
            return self._product.relax(matrix, left, right, all_tiles(matrix.shape, edge), edge, (0, left.shape[1]))

        return self._each(places, middle, product)

    def relax_lazily(self) -> bool:
        """See Tiles."""
        every = range(self.count)
        return self._each([(i, j) for i in every for j in every], every, lambda matrix, left, right:
                          self._product.relax_lazily(matrix, left, right, self.lengths.infinity))

    def change(self, work: Callable[[np.ndarray, tuple[int, int]], None]) -> None:
        """Call work(tile without padding, (first row, first column)) for every tile."""
        for i, j in all_tiles((self._n, self._n), self._edge).tolist():
            tile = self._read(i, j)
            (first, last), (left, right) = self._inside(i), self._inside(j)
            work(tile[: last - first, : right - left], (first, left))
            self._write(i, j, tile)
            self.tick()

    def _each(self, places: Places, middle: Sequence[int],
              product: Callable[[np.ndarray, np.ndarray, np.ndarray], bool]) -> bool:
        """Relax tiles by a product; return whether an entry fell."""
        some = False
        for i, j in places:
            tile, fell = self._read(i, j), False
            for k in middle:
                left = tile if k == j else self._left(i, k)
                fell |= product(tile, left, tile if k == i else left if (i, k) == (k, j) else self._read(k, j))
                self.tick()
            if fell:
                self._write(i, j, tile)
            some |= fell
        return some

    def _left(self, i: int, k: int) -> np.ndarray:
        """A tile of the left factor, kept for the next product."""
        if self._kept is None or self._kept[0] != (i, k):
            self._kept = None
            self._kept = (i, k), self._read(i, k)
        return self._kept[1]

    def _inside(self, k: int) -> tuple[int, int]:
        """First row of the tiles k, and the row after their last, without padding."""
        return k * self._edge, min((k + 1) * self._edge, self._n)

    def _span(self, k: int) -> tuple[int, int]:
        """First row of the tiles k, and the row after their last."""
        return k * self._edge, (k + 1) * self._edge

    def _read(self, i: int, j: int) -> np.ndarray:
        """The tile (i, j)."""
        self.reads += 1
        return self._writer.read(self._span(i), self._span(j))

    def _write(self, i: int, j: int, tile: np.ndarray) -> None:
        """Write the tile (i, j)."""
        self._writer.write(self._span(i), self._span(j), tile)
        self.writes += 1
        if self._kept is not None and self._kept[0] == (i, j):
            self._kept = None
