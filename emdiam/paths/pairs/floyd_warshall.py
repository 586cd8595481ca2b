"""Floyd-Warshall: for each vertex k, every entry (i, j) by way of (i, k) and (k, j).

Three loops, as published; the matrix goes through the cache n times. Work: n^3, on one thread.
Source: Floyd, Algorithm 97 (1962); Warshall (1962); Busato and Bombieri, Algorithm 7.

Blocked Floyd-Warshall: for each tile of the diagonal three phases, the tile itself, its row and column, all others.

1. Floyd-Warshall within the tile (k, k). 2. The other tiles of row and column k, each by itself and the tile of phase
1. 3. Every other tile (i, j), by (i, k) and (k, j). After round k all paths through the vertices of tiles 0 to k are
in the matrix. The tile of phase 1 holds distances through its own vertices, so phases 2 and 3 are min-plus products.
Work: n^3. Reads of a matrix on disk: n / edge times all of it, twice.
Source: Venkataraman, Sahni and Mukhopadhyaya (2003), for caches; Katz and Kider (2008), whose kernel for each phase
has the tiles of that phase in blocks of threads; Lund and Smith (2010), who keep an entry in registers meanwhile.

Recursive elimination: all pairs as the closure of a matrix that is cut into four, by products alone.

With the quarters A, B, C, D: A is closed; B = A x B, C = C x A, D = min(D, C x B); D is closed; B = B x D, C = D x C,
A = min(A, B x C). The closures of A and D are of the same kind, down to a tile. Six products of half the size a level:
n^3 in all, nearly all of it in large products, which read each tile for many others.
Source: Buluc, Gilbert and Budak, Solving Path Problems on the GPU (2010), after R-Kleene (D'Alberto and Nicolau, 2007).
"""

from __future__ import annotations

from .min_plus import close_tile
from .tiles import RamTiles, Tiles

_AT_ONCE = 1 << 26


def floyd_warshall(tiles: RamTiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    size = len(tiles.matrix)
    step = max(1, _AT_ONCE // max(1, size * size))
    for k in range(0, size, step):
        close_tile(tiles.matrix, 0, size, k, min(k + step, size))
        tiles.tick()


def blocked(tiles: Tiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    for k in range(tiles.count):
        others = [i for i in range(tiles.count) if i != k]
        tiles.close(k)
        tiles.relax([(k, j) for j in others] + [(i, k) for i in others], [k])
        tiles.relax([(i, j) for i in others for j in others], [k])


def recursive(tiles: Tiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    if tiles.count:
        _close(tiles, range(tiles.count))


def _close(tiles: Tiles, span: range) -> None:
    """Close the tiles of these rows and columns."""
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
