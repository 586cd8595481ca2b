"""Path, cycle, star and clique. No memory beyond the batch; a slot is an edge.

Diameters: path n - 1; cycle floor(n / 2); star 2 (n - 1 when n < 3); clique 1 (0 when n = 1).
"""

from __future__ import annotations

import math
from functools import partial

from ..jit import kernel
from .source import EdgeSlots, Request, required_vertices


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


@kernel
def _steps(n, stride, first, src, dst):
    """Write the edges (stride i, i + 1 modulo n) for i = first, first + 1, ..."""
    for i in range(len(src)):
        src[i], dst[i] = stride * (first + i), first + i + 1
    if first + len(src) == n:
        dst[-1] = 0


def path(request: Request) -> EdgeSlots:
    """The path on `vertices` >= 1 vertices: edges (i, i + 1)."""
    n = required_vertices(request)
    return EdgeSlots(request, n, n - 1, partial(_steps, n, 1), known_diameter=n - 1)


def cycle(request: Request) -> EdgeSlots:
    """The cycle on `vertices` >= 3 vertices: edges (i, i + 1 modulo n)."""
    n = required_vertices(request, 3)
    return EdgeSlots(request, n, n, partial(_steps, n, 1), known_diameter=n // 2)


def star(request: Request) -> EdgeSlots:
    """The star on `vertices` >= 1 vertices: edges (0, i)."""
    n = required_vertices(request)
    return EdgeSlots(request, n, n - 1, partial(_steps, n, 0), known_diameter=min(2, n - 1))


def clique(request: Request) -> EdgeSlots:
    """The clique on `vertices` >= 1 vertices: edges (i, j), i < j, row by row."""
    n = required_vertices(request)
    return EdgeSlots(request, n, n * (n - 1) // 2,
                     lambda first, src, dst: _clique_edges(n, *clique_pair(n, first), src, dst),
                     known_diameter=min(1, n - 1))
