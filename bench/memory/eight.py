"""The graphs of the table of least budgets: each of another depth, or with other components.

Comb, broom, grid and cycle with chords are deep: their distances take 2 or 4 bytes each. Distances of the tree, the
hub and the complete bipartite graph take 1. Edges with a clique are very many components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt

import numpy as np

Pairs = tuple[np.ndarray, np.ndarray]
_BATCH = 1 << 20


def _comb(n: int) -> Iterator[Pairs]:
    """A path of sqrt(n) vertices, and a path of so many at each of them."""
    side = isqrt(n)
    ids = np.arange(side * side)
    yield ids[:side - 1] * side, ids[1:side] * side
    inner = ids[ids % side != 0]
    yield inner - 1, inner


def _broom(n: int) -> Iterator[Pairs]:
    """A path of n/2 vertices, at whose end all others are leaves."""
    handle = n // 2
    ids = np.arange(1, n)
    yield np.minimum(ids, handle) - 1, ids


def _tree(n: int) -> Iterator[Pairs]:
    """Each vertex has two children."""
    ids = np.arange(1, n)
    yield (ids - 1) // 2, ids


def _chords(n: int) -> Iterator[Pairs]:
    """A cycle, and an edge from each sixteenth vertex to that sqrt(n) further."""
    ids = np.arange(n)
    yield ids, (ids + 1) % n
    yield ids[::16], (ids[::16] + isqrt(n)) % n


def _bipartite(n: int) -> Iterator[Pairs]:
    """K(n/2, n/2)."""
    half = n // 2
    rows = max(1, _BATCH // half)
    for begin in range(0, half, rows):
        some = np.arange(begin, min(half, begin + rows))
        yield np.repeat(some, half), half + np.tile(np.arange(half), len(some))


def _hub(n: int) -> Iterator[Pairs]:
    """A star, and an edge between each eighth leaf and the next but one."""
    ids = np.arange(1, n)
    yield np.zeros_like(ids), ids
    yield ids[:-2:8], ids[2::8]


def _pairs(n: int) -> Iterator[Pairs]:
    """Edges that share no vertex, and a clique of n^(3/8) vertices."""
    size = round(n ** 0.375)
    one, other = np.triu_indices(size, 1)
    yield one, other
    ids = np.arange(size, n - 1, 2)
    yield ids, ids + 1


def _grid(n: int) -> Iterator[Pairs]:
    """A square."""
    side = isqrt(n)
    ids = np.arange(side * side)
    right = ids[ids % side != side - 1]
    yield right, right + 1
    yield ids[:-side], ids[side:]


EIGHT: dict[str, Callable[[int], Iterator[Pairs]]] = {
    "comb": _comb, "broom": _broom, "tree": _tree, "chords": _chords, "bipartite": _bipartite, "hub": _hub,
    "edges": _pairs, "square": _grid}
