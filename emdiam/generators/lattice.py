"""Grid, torus and hypercube: ids are the coordinates in row-major order, a slot is a vertex.

A vertex lists its edges towards higher coordinates, axis by axis, and in a torus also its wrapping edges. A side of 2
has no wrapping edge besides the direct one, a side of 1 has no edges. The hypercube is the grid whose sides are all 2.
No memory beyond the batch. Diameters: grid sum of (side - 1); torus sum of floor(side / 2); hypercube its dimension.

Percolated grid: every edge (bond) or vertex (site) of a grid is kept with probability p.

The default is bond percolation with p = 0.65. On the square lattice a giant component appears above p = 1/2 (bond) and
p = 0.5927 (site). A vertex without remaining edges is isolated. A hash of the two ends decides whether an edge is kept,
a hash of the id whether a vertex is kept. No memory beyond the batch (the grid's own edges are thinned in place).
Broadbent, Hammersley 1957. Diameter: unknown, except sum of (side - 1) if p = 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import draw
from ..jit import kernel
from .source import GeneratorFacts, Ids, Request, SlotSource

MAX_DIMENSIONS = 62


class Lattice(SlotSource):
    """Grid or torus with the given sides.

    sides : lengths, slowest axis first. wrap : True for a torus. facts : further fields of GeneratorFacts.
    """

    def __init__(self, request: Request, sides: tuple[int, ...], wrap: bool, **facts: Any) -> None:
        n = math.prod(sides)
        super().__init__(
            request, GeneratorFacts(n, n, edges_per_slot=len(sides), memory_bytes=16 * len(sides), **facts))
        self._sides: npt.NDArray[np.int64] = np.array(sides, np.int64)
        self._wrap = wrap

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        return _lattice_edges(self._sides, self._wrap, first, stop, src, dst)


@kernel
def _lattice_edges(sides, wrap, first, stop, src, dst):
    """Write the edges of vertices first.. while all edges of a vertex fit; return (next vertex, edges written)."""
    dimensions = len(sides)
    place = np.empty(dimensions, np.int64)
    stride = np.empty(dimensions, np.int64)
    step, rest = 1, first
    for axis in range(dimensions - 1, -1, -1):
        stride[axis] = step
        step *= sides[axis]
        place[axis] = rest % sides[axis]
        rest //= sides[axis]
    count = 0
    for v in range(first, stop):
        if count + dimensions > len(src):
            return v, count
        for axis in range(dimensions):
            if place[axis] + 1 < sides[axis]:
                src[count], dst[count] = v, v + stride[axis]
                count += 1
            elif wrap and sides[axis] > 2:
                src[count], dst[count] = v, v - place[axis] * stride[axis]
                count += 1
        axis = dimensions - 1
        while axis >= 0 and place[axis] + 1 == sides[axis]:
            place[axis] = 0
            axis -= 1
        if axis >= 0:
            place[axis] += 1
    return stop, count


def request_sides(request: Request) -> tuple[int, ...]:
    """The sides of a request, or those of a square with `vertices` vertices. Raises InputError."""
    sides, vertices = request.values["sides"], request.vertices
    if sides is None:
        if vertices is None:
            raise InputError(f"a {request.graph_class} needs its sides",
                             remedy="give sides such as 512x512, or a square number of vertices")
        root = math.isqrt(vertices) if vertices > 0 else 0
        if root == 0 or root * root != vertices:
            raise InputError("the number of vertices is not a square", text=str(vertices),
                             remedy=f"ask for {max(root, 1) ** 2} or {(root + 1) ** 2}, or give the sides")
        return root, root
    if vertices is not None and vertices != math.prod(sides):
        raise InputError(f"sides and vertices disagree: the sides make {math.prod(sides):,} vertices",
                         text=str(vertices), remedy="leave out one of the two")
    if len(sides) > MAX_DIMENSIONS:
        raise InputError(f"at most {MAX_DIMENSIONS} sides are possible", text=str(len(sides)))
    return tuple(sides)


def _lattice(request: Request, sides: tuple[int, ...], wrap: bool, values: dict[str, Any]) -> Lattice:
    """The lattice with its facts; its number of edges is, for each axis, edges per line times number of lines."""
    n = math.prod(sides)
    return Lattice(request, sides, wrap, n_entries=sum(n // s * (s if wrap and s > 2 else s - 1) for s in sides),
                   known_diameter=sum(s // 2 if wrap else s - 1 for s in sides), values=values)


def sides_text(sides: tuple[int, ...]) -> str:
    """(4, 5) as "4x5"."""
    return "x".join(map(str, sides))


def grid(request: Request) -> Lattice:
    """The grid or the torus, by the class, with the sides of the request."""
    sides = request_sides(request)
    return _lattice(request, sides, request.graph_class == "torus", {"sides": sides_text(sides)})


def hypercube(request: Request) -> Lattice:
    """The hypercube of 2^dimension vertices. Diameter: dimension."""
    dimension, vertices = request.values["dimension"], request.vertices
    if dimension is None:
        if vertices is None:
            raise InputError("a hypercube needs its dimension", remedy="give dimension, or 2^dimension vertices")
        dimension = power_of_two(vertices, "hypercube")
    elif vertices is not None and vertices != 1 << dimension:
        raise InputError(f"dimension and vertices disagree: dimension {dimension} makes {1 << dimension} "
                         "vertices", text=str(vertices), remedy="leave out one of the two")
    return _lattice(request, (2,) * dimension or (1,), False, {"dimension": dimension})


def power_of_two(vertices: int, graph_class: str) -> int:
    """log2 of `vertices`; InputError unless it is a power of two."""
    if vertices < 1 or vertices & (vertices - 1):
        low = max(vertices, 1).bit_length() - 1
        raise InputError(f"the number of vertices of a {graph_class} must be a power of two",
                         text=str(vertices), remedy=f"ask for 2^{low} or 2^{low + 1}")
    return vertices.bit_length() - 1


_S11 = np.uint64(11)


class Percolated(Lattice):
    """A grid thinned by bond or site percolation."""

    def __init__(self, request: Request, sides: tuple[int, ...], p: float, kind: str) -> None:
        super().__init__(request, sides, wrap=False, values={"sides": sides_text(sides), "p": p, "kind": kind},
                         known_diameter=sum(s - 1 for s in sides) if p == 1.0 else None)
        self._by_site, self._threshold = kind == "site", np.uint64(round(p * 2**53))
        self._key = request.key("kept")

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        next_slot, count = super()._make(first, stop, src, dst)
        return next_slot, _thin(self._key, self._threshold, self._by_site, src[:count], dst[:count])


@kernel
def _thin(key, threshold, by_site, src, dst):
    """Move the remaining edges to the front; return their number."""
    count = 0
    for i in range(len(src)):
        u, v = np.uint64(src[i]), np.uint64(dst[i])
        if by_site:
            stays = draw(key, u) >> _S11 < threshold and draw(key, v) >> _S11 < threshold
        else:
            stays = draw(draw(key, u), v) >> _S11 < threshold
        if stays:
            src[count], dst[count] = src[i], dst[i]
            count += 1
    return count


def percolated(request: Request) -> Percolated:
    """The percolated grid with the given sides, probability p and kind ("bond" or "site")."""
    return Percolated(request, request_sides(request), request.values["p"], request.values["kind"])
