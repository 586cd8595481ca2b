"""Repeated squaring: distances along at most 2, 4, 8, ... arcs, each round the product of the matrix with itself.

Round L makes D = min(D, D x D), so that after log2(n - 1) rounds every path is there. (Algorithm 6 of Busato and
Bombieri prints D x W in so few rounds, which would leave all paths of more than log2 n + 1 arcs out: W is right for n
- 2 rounds.) Tiles that fell in a round are taken as they are by later ones of it, which can only save rounds; a round
in which nothing falls is the last. Work: n^3 a round.
Source: Tran, Lee and Hong (2010), for matrices beyond the memory of a device; Busato and Bombieri, section 4.

Matrix products by streamed blocks, with lazy minima: a sum of which one part is infinite is not made.

Rounds of D = min(D, D x D) as by squaring. The matrix goes by in blocks, those of a row of the left factor against
those of the right one; where an entry (i, k) is infinite, as most are in the first rounds of a sparse graph, k is
left out for row i. Work: a look at n^2 entries for every column of blocks a round, and n for each that is finite.
Source: Harish, Vineet and Narayanan, Large Graph Algorithms for Massively Multithreaded Architectures (2009).
"""

from __future__ import annotations

from .tiles import Tiles


def squaring(tiles: Tiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    every = range(tiles.count)
    places = [(i, j) for i in every for j in every]
    while tiles.relax(places, every):
        pass


def lazy_minimum(tiles: Tiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    while tiles.relax_lazily():
        pass
