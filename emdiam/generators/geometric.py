"""Random geometric graph: n uniform points in the unit square, joined if at most `radius` apart.

The square is cut into 4^k cells, none narrower than the radius, numbered along a Hilbert curve. The vertices of a cell
have consecutive ids, so natural ids are local. The number of points of each cell is drawn by hashing every point to a
cell (exactly the multinomial law of n independent uniform points). The position of a point inside its cell is a hash of
its id. Only the cells' first ids are stored. A slot is a vertex: it is compared with the later points of its cell and
with the points of four of the eight cells around it, so that each pair is compared once. The border is hard (no
wrapping). Gilbert 1961; Penrose 2003. Diameter: no formula.

Memory: 8 bytes per cell of about 8 points or more, i.e. at most 1 byte per vertex, and the points of five cells. Time
of the preparation: one hash per vertex.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hashing import draw, unit
from ..jit import kernel
from .permutation import hilbert_cell, hilbert_position
from .source import GeneratorFacts, Ids, Request, SlotSource, required_vertices

DEFAULT_AVERAGE_DEGREE = 8.0
POINTS_PER_CELL = 8
MAX_ORDER = 28
_ONE, _TWO = np.uint64(1), np.uint64(2)


class Geometric(SlotSource):
    """The random geometric graph. radius : edges join points at most this far apart."""

    def __init__(self, request: Request, facts: GeneratorFacts, radius: float, order: int) -> None:
        super().__init__(request, facts)
        self.radius, self._order = radius, order
        self._cell_key, self._place_key = request.key("cells"), request.key("places")
        self._first_ids: Ids = np.zeros(0, np.int64)

    def _build(self) -> None:
        first_ids = np.zeros(4**self._order + 1, np.int64)
        _count_cells(self._cell_key, self._order, self.n_vertices, first_ids[1:])
        self._edges_per_slot = min(self.n_vertices, 5 * int(first_ids.max()))
        np.cumsum(first_ids, out=first_ids)
        self._first_ids = first_ids

    def points(self) -> npt.NDArray[np.float64]:
        """float64[n_vertices, 2] in [0, 1): all points, for drawing and checks (16 bytes per vertex)."""
        self.prepare()
        points = np.empty((self.n_vertices, 2))
        for cell in range(len(self._first_ids) - 1):
            low, high = self._first_ids[cell], self._first_ids[cell + 1]
            _place_points(self._place_key, self._order, cell, low, points[low:high])
        return points

    def _make(self, first: int, stop: int, src: Ids, dst: Ids) -> tuple[int, int]:
        cell = int(np.searchsorted(self._first_ids, first, side="right")) - 1
        near = np.empty((self._edges_per_slot, 2)), np.empty(self._edges_per_slot, np.int64)
        grid = self._place_key, self._order, self.radius, self._first_ids
        return _near_pairs(grid, near, cell, first, stop, (src, dst))


@kernel
def _count_cells(key, order, n, counts):
    """Add to counts int64[4^order] the number of points in every cell."""
    shift = np.uint64(64 - 2 * order)
    for i in range(n):
        counts[np.int64(draw(key, np.uint64(i)) >> shift) if order > 0 else 0] += 1


@kernel
def _place_points(key, order, cell, first_id, points):
    """Fill points float64[k, 2] with the positions of the vertices first_id.. of `cell`."""
    x, y = hilbert_cell(order, cell)
    side = 1.0 / (1 << order)
    for i in range(len(points)):
        number = np.uint64(first_id + i)
        points[i, 0] = (x + unit(draw(key, _TWO * number))) * side
        points[i, 1] = (y + unit(draw(key, _TWO * number + _ONE))) * side


@kernel
def _gather(grid, near, cell):
    """Load the points of `cell`, then of the four cells after it, into near = (points, ids); return their number."""
    key, order, _, first_ids = grid
    points, ids = near
    x, y = hilbert_cell(order, cell)
    total = 0
    for dx, dy in ((0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)):
        if 0 <= x + dx < 1 << order and y + dy < 1 << order:
            other = hilbert_position(order, x + dx, y + dy)
            low, high = first_ids[other], first_ids[other + 1]
            _place_points(key, order, other, low, points[total:total + high - low])
            for i in range(low, high):
                ids[total] = i
                total += 1
    return total


@kernel
def _near_pairs(grid, near, cell, first, stop, pair):
    """Write the edges of the vertices first.. while those of any vertex would fit; return (next vertex, edges written).

    grid = (key, order, radius, first id of every cell), near = buffers for the points of five cells, cell = the cell of
    vertex `first`, pair = (src, dst).
    """
    _, _, radius, first_ids = grid
    points, ids = near
    src, dst = pair
    start, count, limit = first, 0, radius * radius
    while start < stop:
        while first_ids[cell + 1] <= start:
            cell += 1
        total = _gather(grid, near, cell)
        end = min(stop, first_ids[cell + 1])
        for v in range(start, end):
            place = v - first_ids[cell]
            if count + total - place - 1 > len(src):
                return v, count
            for i in range(place + 1, total):
                dx, dy = points[i, 0] - points[place, 0], points[i, 1] - points[place, 1]
                if dx * dx + dy * dy <= limit:
                    src[count], dst[count] = v, ids[i]
                    count += 1
        start = end
    return stop, count


def _radius(request: Request, n: int) -> float:
    radius, average = request.values["radius"], request.values["average_degree"]
    if radius is not None and average is not None:
        raise InputError("both radius and average_degree are given", remedy="leave out one of the two")
    if radius is not None:
        return float(radius)
    return math.sqrt((DEFAULT_AVERAGE_DEGREE if average is None else average) / (math.pi * n))


def geometric(request: Request) -> Geometric:
    """The random geometric graph with the given radius or average degree."""
    n = required_vertices(request)
    radius = _radius(request, n)
    order = 0
    while order < MAX_ORDER and 0.5 ** (order + 1) >= radius and POINTS_PER_CELL << 2 * (order + 1) <= n:
        order += 1
    mean = n / 4**order
    # The fullest cell is known only after the preparation; more points than this have probability < 1e-20.
    near = min(n, 5 * math.ceil(mean + 10 * math.sqrt(mean) + 50))
    facts = GeneratorFacts(n, n, edges_per_slot=near, values={"radius": radius},
                           memory_bytes=8 * (4**order + 1) + 40 * near, listing_bytes=40 * near)
    return Geometric(request, facts, radius, order)
