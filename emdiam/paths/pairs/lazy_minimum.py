"""Matrix products by streamed blocks, with lazy minima: a sum of which one part is infinite is not made.

Rounds of D = min(D, D x D) as by squaring. The matrix goes by in blocks, those of a row of the left factor against
those of the right one; where an entry (i, k) is infinite, as most are in the first rounds of a sparse graph, k is
left out for row i. Work: a look at n^2 entries for every column of blocks a round, and n for each that is finite.
Source: Harish, Vineet and Narayanan, Large Graph Algorithms for Massively Multithreaded Architectures (2009).
"""

from __future__ import annotations

from .tiles import Tiles


def lazy_minimum(tiles: Tiles) -> None:
    """Turn the matrix of arcs into that of distances."""
    while tiles.relax_lazily():
        pass
