"""Delaunay triangulation of n uniform points in the unit square, by Qhull; a slot is a triangle.

The points are hashed from the seed and numbered along a Hilbert curve, so natural ids are local. The later of the two
triangles of an edge lists it, so each edge is listed once. The whole triangulation is made in RAM. This is the only
class that needs much memory: about `BYTES_PER_VERTEX` bytes per vertex at its peak (measured; Qhull's facets) and 64
while edges are listed; a smaller budget is refused. Delaunay 1934; Barber, Dobkin, Huhdanpaa 1996. Diameter: no
formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import draw, unit
from ..jit import kernel
from .permutation import hilbert_position
from .source import GeneratorFacts, Ids, Request, SlotSource, required_vertices

BYTES_PER_VERTEX = 760
CURVE_ORDER = 31
MAX_VERTICES = 1 << 29
_ONE, _TWO = np.uint64(1), np.uint64(2)


class Delaunay(SlotSource):
    """The Delaunay triangulation of random points."""

    slot_unit = "triangles"

    def __init__(self, request: Request, facts: GeneratorFacts) -> None:
        super().__init__(request, facts)
        self._key = request.key("places")
        self._corners = self._beyond = np.zeros((0, 3), np.int32)

    def points(self) -> npt.NDArray[np.float64]:
        """float64[n_vertices, 2] in [0, 1): the points in the order of their ids (16 bytes per vertex)."""
        points = np.empty((self.n_vertices, 2))
        positions = np.empty(self.n_vertices, np.int64)
        _random_points(self._key, points, positions)
        return points[np.argsort(positions, kind="stable")]

    def _build(self) -> None:
        triangulation = _qhull()(self.points())
        if len(triangulation.coplanar):
            raise InputError(f"{len(triangulation.coplanar)} points coincide within rounding",
                             remedy="choose another seed")
        self._corners, self._beyond = triangulation.simplices, triangulation.neighbors
        self._n_slots = len(self._corners)

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        stop = min(stop, first + len(src) // 3)
        return stop, _triangle_edges(self._corners, self._beyond, first, stop, src, dst)


@kernel
def _random_points(key, points, positions):
    """Fill points float64[n, 2] and their positions int64[n] along the Hilbert curve."""
    scale = np.float64(1 << CURVE_ORDER)
    for i in range(len(points)):
        x, y = unit(draw(key, _TWO * np.uint64(i))), unit(draw(key, _TWO * np.uint64(i) + _ONE))
        points[i, 0], points[i, 1] = x, y
        positions[i] = hilbert_position(CURVE_ORDER, np.int64(x * scale), np.int64(y * scale))


@kernel
def _triangle_edges(corners, beyond, first, stop, src, dst):
    """Write the edges of the triangles [first, stop) that no earlier triangle has; return their number.

    corners int32[t, 3]; beyond[t, k] is the triangle across the side opposite corner k, or -1.
    """
    count = 0
    for t in range(first, stop):
        for k in range(3):
            if beyond[t, k] < t:
                src[count], dst[count] = corners[t, (k + 1) % 3], corners[t, (k + 2) % 3]
                count += 1
    return count


def _qhull() -> Any:
    """scipy's class of triangulations. Raises InputError if scipy is not installed; no other generator needs it."""
    try:
        from scipy.spatial import Delaunay as Triangulation
    except ImportError:
        raise InputError("the class delaunay needs scipy, which is not installed",
                         remedy="pip install 'emdiam[delaunay]', or choose another class, such as geometric") from None
    return Triangulation


def delaunay(request: Request) -> Delaunay:
    """The triangulation of `vertices` >= 3 random points. Raises InputError at once if scipy is not installed."""
    _qhull()
    n = required_vertices(request, 3)
    if n > MAX_VERTICES:
        raise InputError(f"a delaunay graph has at most {MAX_VERTICES:,} vertices", text=str(n),
                         remedy="ask for fewer, or use geometric, which needs 1 byte per vertex")
    return Delaunay(request, GeneratorFacts(n, None, edges_per_slot=3, memory_bytes=BYTES_PER_VERTEX * n))
