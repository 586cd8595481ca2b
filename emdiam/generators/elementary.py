"""Path, cycle, star and clique. No memory beyond the batch; a slot is an edge.

Diameters: path n - 1; cycle floor(n / 2); star 2 (n - 1 when n < 3); clique 1 (0 when n = 1).
"""

from __future__ import annotations

import math

import numpy as np

from ..jit import kernel
from .source import Facts, GeneratedSource, Ids, Request, required_vertices


class Path(GeneratedSource):
    """Edges (i, i + 1). Diameter n - 1."""

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        stop = min(stop, first + room)
        src = np.arange(first, stop, dtype=np.int64)
        return src, src + 1, stop


class Cycle(GeneratedSource):
    """Edges (i, i + 1 modulo n). Diameter floor(n / 2)."""

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        stop = min(stop, first + room)
        src = np.arange(first, stop, dtype=np.int64)
        dst = src + 1
        if stop == self.n_vertices:
            dst[-1] = 0
        return src, dst, stop


class Star(GeneratedSource):
    """Edges (0, i). Diameter 2, or n - 1 when n < 3."""

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        stop = min(stop, first + room)
        return np.zeros(stop - first, np.int64), np.arange(first + 1, stop + 1, dtype=np.int64), stop


class Clique(GeneratedSource):
    """Edges (i, j), i < j, row by row. Diameter 1, or 0 when n = 1."""

    def _make(self, first: int, stop: int, room: int) -> tuple[Ids, Ids, int]:
        stop = min(stop, first + room)
        src, dst = np.empty(stop - first, np.int64), np.empty(stop - first, np.int64)
        row, column = clique_pair(self.n_vertices, first)
        _clique_edges(self.n_vertices, row, column, src, dst)
        return src, dst, stop


def clique_pair(n: int, slot: int) -> tuple[int, int]:
    """Edge number `slot` of the clique on n vertices, row by row; exact for any size."""
    left = n * (n - 1) // 2 - 1 - slot  # edges after this one: rows of 1, 2, 3, ... from the end
    k = (math.isqrt(8 * left + 1) - 1) // 2
    return n - 2 - k, n - 1 - (left - k * (k + 1) // 2)


@kernel
def _clique_edges(n, row, column, src, dst):
    for i in range(len(src)):
        src[i], dst[i] = row, column
        column += 1
        if column == n:
            row += 1
            column = row + 1


def path(request: Request) -> Path:
    """The path on `vertices` >= 1 vertices."""
    n = required_vertices(request)
    return Path(request, Facts(n, n - 1, n_entries=n - 1, known_diameter=n - 1))


def cycle(request: Request) -> Cycle:
    """The cycle on `vertices` >= 3 vertices."""
    n = required_vertices(request, 3)
    return Cycle(request, Facts(n, n, n_entries=n, known_diameter=n // 2))


def star(request: Request) -> Star:
    """The star on `vertices` >= 1 vertices, centre 0."""
    n = required_vertices(request)
    return Star(request, Facts(n, n - 1, n_entries=n - 1, known_diameter=min(2, n - 1)))


def clique(request: Request) -> Clique:
    """The clique on `vertices` >= 1 vertices."""
    n = required_vertices(request)
    m = n * (n - 1) // 2
    return Clique(request, Facts(n, m, n_entries=m, known_diameter=min(1, n - 1)))
