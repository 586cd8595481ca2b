"""The methods of all pairs by name, and products of the matrix with itself, again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import no_such
from .floyd_warshall import blocked, floyd_warshall, recursive
from .harish import Searches, search_crauser, search_frontiers
from .johnson import Johnson
from .separators import Separators
from .single_kernel import single_kernel
from .tiles import Tiles

AUTO = "auto"
# A method works on one matrix in memory; on tiles, in memory or on disk; or on rows of the graph, with a few rows of
# the matrix at a time.
MATRIX, TILES, ROWS = "matrix", "tiles", "rows"


@dataclass(frozen=True)
class PairsMethod:
    """kind : MATRIX, TILES or ROWS. work : for MATRIX and TILES a function of tiles (tiles.py); for ROWS a function of
    (rows, lengths, threads, tick, room_bytes) that makes an object with `fill` (harish.py). negative : whether weights
    may be negative. summary : half a sentence."""

    name: str
    kind: str
    work: Callable[..., Any]
    summary: str
    negative: bool = True


def _searches(kernel: Any) -> Callable[..., Searches]:
    return lambda rows, lengths, threads, tick, room_bytes: Searches(rows, lengths, threads, tick, kernel)


def squaring(tiles: Tiles) -> None:
    """Turn the adjacency matrix into the matrix of distances along at most 2, 4, 8, ... arcs: D = min(D, D x D).

    So log2(n - 1) rounds cover every path. (Algorithm 6 of Busato and Bombieri prints D x W with this number of rounds,
    which omits all paths of more than log2 n + 1 arcs; D x W needs n - 2 rounds.) Later tiles of a round use tiles that
    changed in it, which can only save rounds; a round without a change is the last. Work: n^3 a round.
    Source: Tran, Lee and Hong (2010), for matrices beyond the memory of a device; Busato and Bombieri, section 4.
    """
    every = range(tiles.count)
    places = [(i, j) for i in every for j in every]
    while tiles.relax(places, every):
        pass


def lazy_minimum(tiles: Tiles) -> None:
    """The same by products of streamed blocks with lazy minima, which skip sums with an infinite term.

    Blocks of a row of the left factor meet blocks of the right one; row i skips k if its entry (i, k) is infinite, as
    most are in the first rounds of a sparse graph. Work a round: n^2 entries are tested for every column of blocks, and
    n sums for each finite one.
    Source: Harish, Vineet and Narayanan, Large Graph Algorithms for Massively Multithreaded Architectures (2009).
    """
    while tiles.relax_lazily():
        pass


METHODS: dict[str, PairsMethod] = {method.name: method for method in (
    PairsMethod("blocked", TILES, blocked, "Floyd-Warshall by tiles in three phases"),
    PairsMethod("recursive", TILES, recursive, "recursive elimination by products of quarters"),
    PairsMethod("squaring", TILES, squaring, "repeated squaring of the matrix"),
    PairsMethod("lazy-minimum", TILES, lazy_minimum, "squaring by streamed blocks, without sums that are infinite"),
    PairsMethod("single-kernel", MATRIX, single_kernel, "Floyd-Warshall by tiles that wait for tiles, in memory"),
    PairsMethod("floyd-warshall", MATRIX, floyd_warshall, "the plain three loops on one thread, in memory"),
    PairsMethod("johnson", ROWS, lambda rows, lengths, threads, tick, room_bytes: Johnson(rows, lengths, threads, tick),
                "Dijkstra's algorithm from every vertex, after potentials where weights are negative"),
    PairsMethod("harish", ROWS, _searches(search_frontiers), "a search by frontiers from every vertex"),
    PairsMethod("ortega", ROWS, _searches(search_crauser),
                "Dijkstra's algorithm from every vertex, many vertices settled at once", negative=False),
    PairsMethod("separators", ROWS, Separators, "within parts, between their boundaries, and both together"),
)}


def method_of(name: str) -> PairsMethod:
    """The method of this name. Raises InputError for an unknown name."""
    if name not in METHODS:
        raise no_such("method of all pairs", name, [AUTO, *METHODS])
    return METHODS[name]
