"""Floyd-Warshall: for each vertex k, every entry (i, j) by way of (i, k) and (k, j).

Three loops, as published; the matrix goes through the cache n times. Work: n^3, on one thread.
Source: Floyd, Algorithm 97 (1962); Warshall (1962); Busato and Bombieri, Algorithm 7.
"""

from __future__ import annotations

from .min_plus import close_tile
from .tiles import RamTiles

_AT_ONCE = 1 << 26


def floyd_warshall(tiles: RamTiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    size = len(tiles.matrix)
    step = max(1, _AT_ONCE // max(1, size * size))
    for k in range(0, size, step):
        close_tile(tiles.matrix, 0, size, k, min(k + step, size))
        tiles.tick()
