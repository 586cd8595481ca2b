"""Blocked Floyd-Warshall: for each tile of the diagonal three phases, the tile itself, its row and column, all others.

1. Floyd-Warshall within the tile (k, k). 2. The other tiles of row and column k, each by itself and the tile of phase
1. 3. Every other tile (i, j), by (i, k) and (k, j). After round k all paths through the vertices of tiles 0 to k are
in the matrix. The tile of phase 1 holds distances through its own vertices, so phases 2 and 3 are min-plus products.
Work: n^3. Reads of a matrix on disk: n / edge times all of it, twice.
Source: Venkataraman, Sahni and Mukhopadhyaya (2003), for caches; Katz and Kider (2008), whose kernel for each phase
has the tiles of that phase in blocks of threads; Lund and Smith (2010), who keep an entry in registers meanwhile.
"""

from __future__ import annotations

from .tiles import Tiles


def blocked(tiles: Tiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    for k in range(tiles.count):
        others = [i for i in range(tiles.count) if i != k]
        tiles.close(k)
        tiles.relax([(k, j) for j in others] + [(i, k) for i in others], [k])
        tiles.relax([(i, j) for i in others for j in others], [k])
