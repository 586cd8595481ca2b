"""A matrix of distances on disk: every tile is a chunk of the array of NAME.partial, and a few are in memory.

A product takes three tiles: the one that is relaxed, which is written back if an entry fell, and one of each factor;
the last one of the left factor stays, since its row of tiles comes one after another. All tiles are whole, with rows
and columns beyond the vertices, where entries may fall as well and have to stay; they are cut off at the end. What a
method does to a tile in memory is what it does to a matrix there.
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

# Tiles in memory at a time: the three of a product, and what Zarr makes of one that is read or written.
HELD = 3 + 2
# Tiles in a row, at most: each is a file.
MOST_COUNT = 256


@dataclass(frozen=True)
class DiskLayout:
    """edge : rows and columns of a tile. count : tiles in a row. Sizes in bytes."""

    edge: int
    count: int
    memory_bytes: int
    disk_bytes: int


def disk_layout(n_vertices: int, item: int, room_bytes: int) -> DiskLayout | None:
    """The largest tiles of which `room_bytes` of memory hold as many as are needed; None where there would be more than
    MOST_COUNT of them in a row."""
    layouts = (_layout(n_vertices, item, count) for count in range(1, MOST_COUNT + 1))
    return next((layout for layout in layouts if layout.memory_bytes <= room_bytes), None)


def least_layout(n_vertices: int, item: int) -> DiskLayout:
    """The one that takes the least memory."""
    return _layout(n_vertices, item, MOST_COUNT)


def _layout(n_vertices: int, item: int, count: int) -> DiskLayout:
    """At most `count` tiles in a row."""
    edge = padded(-(-n_vertices // count))
    used = -(-n_vertices // edge)
    return DiskLayout(edge, used, HELD * edge * edge * item + Product.panel_bytes(edge, item),
                      used * used * edge * edge * item)


class DiskTiles:
    """In the array of `writer`, whose chunks are tiles, all of them whole. product : for matrices of the rows of a
    tile. reads, writes : tiles so far."""

    def __init__(self, writer: MatrixWriter, lengths: Lengths, product: Product, tick: Tick) -> None:
        self._writer, self.lengths, self._product, self.tick = writer, lengths, product, tick
        self._n, self._edge = writer.n_vertices, writer.chunk[0]
        self.count = -(-self._n // self._edge)
        self.reads = self.writes = 0
        self._kept: tuple[tuple[int, int], np.ndarray] | None = None

    def fill(self, arcs: MatrixArcs) -> None:
        """Make it the matrix of arcs."""
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
        """Do `work` on every tile, without what is beyond the vertices, and where it begins (row, column)."""
        for i, j in all_tiles((self._n, self._n), self._edge).tolist():
            tile = self._read(i, j)
            (first, last), (left, right) = self._inside(i), self._inside(j)
            work(tile[: last - first, : right - left], (first, left))
            self._write(i, j, tile)
            self.tick()

    def _each(self, places: Places, middle: Sequence[int],
              product: Callable[[np.ndarray, np.ndarray, np.ndarray], bool]) -> bool:
        """Relax tiles by a product; whether an entry fell."""
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
        """The same without what is beyond the vertices."""
        return k * self._edge, min((k + 1) * self._edge, self._n)

    def _span(self, k: int) -> tuple[int, int]:
        """First row of the tiles k, and the row after their last."""
        return k * self._edge, (k + 1) * self._edge

    def _read(self, i: int, j: int) -> np.ndarray:
        """The tile (i, j)."""
        self.reads += 1
        return self._writer.read(self._span(i), self._span(j))

    def _write(self, i: int, j: int, tile: np.ndarray) -> None:
        """Put the tile (i, j) back."""
        self._writer.write(self._span(i), self._span(j), tile)
        self.writes += 1
        if self._kept is not None and self._kept[0] == (i, j):
            self._kept = None
