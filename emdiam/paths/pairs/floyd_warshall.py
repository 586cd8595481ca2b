"""Floyd-Warshall: for each vertex k, relax every entry (i, j) by (i, k) + (k, j).

Three loops, as published; each of the n rounds reads the whole matrix.
Work: n^3, on one thread.
Source: Floyd, Algorithm 97 (1962); Warshall (1962); Busato and Bombieri, Algorithm 7.

Blocked Floyd-Warshall: for each tile of the diagonal three phases, the tile itself, its row and column, all others.

1. Floyd-Warshall within the tile (k, k). 2. Relax the other tiles of row and column k by themselves and the tile of
phase 1. 3. Relax every other tile (i, j) by (i, k) and (k, j). After round k the matrix includes all paths through the
vertices of tiles 0 to k. The tile of phase 1 has distances through its own vertices, so phases 2 and 3 are min-plus
products. Work: n^3. Reads of a matrix on disk: 2 n / edge times its size.
Source: Venkataraman, Sahni and Mukhopadhyaya (2003), for caches; Katz and Kider (2008), with a kernel for each phase
whose thread blocks process its tiles; Lund and Smith (2010), who keep entries in registers.

Recursive elimination: all pairs as the closure of a matrix in four quarters, by products.

With the quarters A, B, C, D: close A; B = A x B, C = C x A, D = min(D, C x B); close D; B = B x D, C = D x C,
A = min(A, B x C). A and D are closed recursively, down to a tile. Six products of half the size a level: n^3 in all,
nearly all in large products, which use each tile that they read for many others.
Source: Buluc, Gilbert and Budak, Solving Path Problems on the GPU (2010), after R-Kleene (D'Alberto and Nicolau, 2007).
"""

from __future__ import annotations

from .min_plus import close_tile
from .tiles import RamTiles, Tiles

_AT_ONCE = 1 << 26


def floyd_warshall(tiles: RamTiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    size = len(tiles.matrix)
    step = max(1, _AT_ONCE // max(1, size * size))
    for k in range(0, size, step):
        close_tile(tiles.matrix, 0, size, k, min(k + step, size))
        tiles.tick()


def blocked(tiles: Tiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    for k in range(tiles.count):
        others = [i for i in range(tiles.count) if i != k]
        tiles.close(k)
        tiles.relax([(k, j) for j in others] + [(i, k) for i in others], [k])
        tiles.relax([(i, j) for i in others for j in others], [k])


def recursive(tiles: Tiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    if tiles.count:
        _close(tiles, range(tiles.count))


def _close(tiles: Tiles, span: range) -> None:
    """Close the submatrix of the tiles of `span`."""
    if len(span) == 1:
        tiles.close(span[0])
        return
    upper, lower = span[: len(span) // 2], span[len(span) // 2 :]
    for first, second in ((upper, lower), (lower, upper)):
        _close(tiles, first)
        tiles.relax(_places(first, second), first)
        tiles.relax(_places(second, first), first)
        tiles.relax(_places(second, second), first)


def _places(rows: range, columns: range) -> list[tuple[int, int]]:
    return [(i, j) for i in rows for j in columns]
