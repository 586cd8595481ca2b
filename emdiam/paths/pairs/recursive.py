"""Recursive elimination: all pairs as the closure of a matrix that is cut into four, by products alone.

With the quarters A, B, C, D: A is closed; B = A x B, C = C x A, D = min(D, C x B); D is closed; B = B x D, C = D x C,
A = min(A, B x C). The closures of A and D are of the same kind, down to a tile. Six products of half the size a level:
n^3 in all, nearly all of it in large products, which read each tile for many others.
Source: Buluc, Gilbert and Budak, Solving Path Problems on the GPU (2010), after R-Kleene (D'Alberto and Nicolau, 2007).
"""

from __future__ import annotations

from .tiles import Tiles


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
