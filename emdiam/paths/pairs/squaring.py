"""Repeated squaring: distances along at most 2, 4, 8, ... arcs, each round the product of the matrix with itself.

A round computes D = min(D, D x D), so that log2(n - 1) rounds cover every path. (Algorithm 6 of Busato and Bombieri
prints D x W with this number of rounds, which omits all paths of more than log2 n + 1 arcs; D x W needs n - 2 rounds.)
Later tiles of a round use tiles that changed in it, which can only save rounds; a round without a change is the last.
Work: n^3 a round.
Source: Tran, Lee and Hong (2010), for matrices beyond the memory of a device; Busato and Bombieri, section 4.

Matrix products by streamed blocks with lazy minima, which skip sums with an infinite term.

Rounds of D = min(D, D x D) as in squaring. Blocks of a row of the left factor meet blocks of the right one; row i skips
k if its entry (i, k) is infinite, as most are in the first rounds of a sparse graph. Work a round: n^2 entries are
tested for every column of blocks, and n sums for each finite one.
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
