"""The interface of a matrix of distances in tiles, in memory or on disk, and the matrix in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...progress import Tick
from .arcs import Lengths, MatrixArcs, fill_tile
from .min_plus import Product, close_tile, padded, tile_edge

# (row, column) of tiles.
Places = Sequence[tuple[int, int]]


class Tiles(Protocol):
    """A square matrix of count x count tiles; `tick` is called between pieces of the work."""

    count: int

    def close(self, k: int) -> None:
        """Floyd-Warshall within the tile (k, k)."""

    def relax(self, places: Places, middle: Sequence[int]) -> bool:
        """Relax every tile (i, j) of `places` by the product of (i, k) and (k, j), for all k in `middle`; return
        whether an entry fell."""

    def relax_lazily(self) -> bool:
        """Relax every tile by all products, skipping infinite sums; return whether an entry fell."""


class RamTiles:
    """One matrix in memory, padded to a multiple of EDGE rows and columns with infinity.

    matrix : dtype[p, p]. product : for matrices of p rows."""

    def __init__(self, matrix: np.ndarray, lengths: Lengths, product: Product, tick: Tick, edge: int = 0) -> None:
        self.matrix, self.lengths, self._product, self.tick = matrix, lengths, product, tick
        self.threads = product.threads
        self.edge = edge or tile_edge(len(matrix))
        self.count = -(-len(matrix) // self.edge)

    def span(self, k: int) -> tuple[int, int]:
        """First row of the tiles k, and the row after their last."""
        return k * self.edge, min((k + 1) * self.edge, len(self.matrix))

    def close(self, k: int) -> None:
        """See Tiles."""
        first, last = self.span(k)
        close_tile(self.matrix, first, last, first, last)
        self.tick()

    def relax(self, places: Places, middle: Sequence[int]) -> bool:
        """See Tiles."""
        fell, tiles = False, np.array(places, np.int64)
        for k in middle if len(places) else ():
            fell |= self._product.relax(self.matrix, self.matrix, self.matrix, tiles, self.edge, self.span(k))
            self.tick()
        return fell

    def relax_lazily(self) -> bool:
        """See Tiles."""
        fell = self._product.relax_lazily(self.matrix, self.matrix, self.matrix, self.lengths.infinity)
        self.tick()
        return fell


def matrix_in_ram(arcs: MatrixArcs, lengths: Lengths) -> np.ndarray:
    """The padded adjacency matrix, see fill_tile."""
    n = arcs.n_vertices
    matrix = np.empty((padded(n), padded(n)), lengths.dtype)
    fill_tile(matrix, arcs, lengths, (0, n), (0, n))
    return matrix


def ram_bytes(n_vertices: int, item: int) -> int:
    """Bytes of a matrix in memory and of the panels of its products."""
    size = padded(n_vertices)
    return size * size * item + Product.panel_bytes(size, item)


