"""The vertices that may still be an end of a longer pair, with their distances to the pivots.

A vertex is dropped for good when it is settled, or when every pair with the other candidates is
certified: candidates only get fewer, known distances only more, and the largest eccentricity L only
grows. So the data shrink fast, and the full columns of the pivots are not needed again.
Bytes: see candidate_bytes. If there is no room for the distances to another pivot they are left out:
the pivot still settles, but certifies no pairs.

If there are many candidates, coarse ones come first: boxes of vertices, then the vertices of open boxes.
The distance columns of the pivots are on disk or in RAM. One pass over them puts every unsettled vertex into the box of
its distances divided by 2^q, and only the maxima and the count of each box are stored. Boxes whose pairs are all
certified (also a box with itself, if it has two vertices) contain no end of a longer pair. A second pass lists the
vertices of the other boxes. On graphs of low diameter most vertices share few vectors, and q = 0 is exact.
Passes: none over edges; two over the columns for each q tried. Bytes: at most the budget.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...jit import inlined, kernel
from ...progress import Tick, no_tick
from ...traverse.columns import Column, ListedVertices
from ...traverse.ram_column import StoredColumn
from .boxes import Boxes, build_boxes, disjoint_pairs, open_points, worst_pair

# For more candidates, a tree of boxes, one pass a level, costs more than a table of boxes first, which leaves fewer.
MANY_BOXED = Column.many
_MOST_SLOTS, _LEAST_SLOTS, _POINTS_A_SLOT = 1 << 20, 1 << 10, 8
COARSEST = 12
_ONE_BOX = 63  # a q that puts all distances into one box


class DistanceColumn(Protocol):
    """A column in RAM or on disk."""

    @property
    def dtype(self) -> np.dtype: ...
    def part(self, start: int, stop: int) -> np.ndarray:
        ...


def boxed_candidates(
    upper: Column, columns: Sequence[DistanceColumn], limit: int, budget_bytes: int, room: int, tick: Tick = no_tick
) -> ListedVertices | None:
    """Unsettled vertices that may be an end of a pair longer than `limit`. None if neither strips nor the smallest q
    within the budget leave at most `room` of them.

    Strips are boxes by the distance to only one end of a long pair. If all vertices are between two ends, as in
    grids and trees, distances to these prove all pairs, and boxes need not be narrow in other dimensions."""
    k, item = len(columns), columns[0].dtype.itemsize
    slots = _MOST_SLOTS
    while slots > _LEAST_SLOTS and (slots * (4 * k * item + 24) > budget_bytes or slots * _POINTS_A_SLOT > len(upper)):
        slots //= 2
    strips = np.full(k, _ONE_BOX)
    strips[_to_an_end(upper, columns)] = 0
    for q in (strips, *(np.full(k, q) for q in range(COARSEST))):
        table = upper.box_table(columns, limit, q, slots) or _Table(upper, columns, limit, q, slots, tick)
        if not table.fill():
            continue
        result = table.members(_open_boxes(*table.left(), limit), room)
        if result is not None or q is not strips:
            return result
    return None


def _to_an_end(upper: Column, columns: Sequence[DistanceColumn]) -> int:
    """Index of the column with the largest distance among the first vertices."""
    columns_here = [column for column in columns if isinstance(column, Column)]
    if len(columns_here) == len(columns):
        return int(np.argmax([column.largest(0, min(upper.piece, len(upper))) for column in columns_here]))
    _, bounds, distances = next(_parts(upper, columns))
    return int((distances * (bounds < upper.unreached)).max(axis=1, initial=0).argmax())


def _parts(
    upper: Column, columns: Sequence[DistanceColumn], tick: Tick = no_tick
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(first vertex, upper bounds, distances [k, m]) of pieces of the vertices."""
    for start in range(0, len(upper), upper.piece):
        tick()
        stop = min(start + upper.piece, len(upper))
        yield start, upper.part(start, stop), np.stack([c.part(start, stop) for c in columns])


def _open_boxes(points: np.ndarray, counts: np.ndarray, limit: int) -> np.ndarray:
    """bool[r], the boxes with an uncertified pair. points : unsigned[r, k], largest distances. counts : of vertices."""
    if len(points) == 0:
        return np.empty(0, bool)
    own = 2 * points.min(axis=1).astype(np.int64) > limit
    return open_points(build_boxes(points), limit) | (own & (counts > 1))


class _Table:
    """A hash table of boxes, filled from columns in pieces, a BoxTable: keys unsigned[slots, k], maxima
    unsigned[slots, k], counts int64[slots]. q : int64[k]; a vertex is in the box of its distances divided by
    2^q[i]."""

    def __init__(self, upper: Column, columns: Sequence[DistanceColumn], limit: int, q: np.ndarray, slots: int,
                 tick: Tick) -> None:
        self._upper, self._columns, self._limit, self._q, self._tick = upper, columns, limit, q, tick
        k, dtype = len(columns), columns[0].dtype
        self._keys, self._maxima = np.zeros((slots, k), dtype), np.zeros((slots, k), dtype)
        self._counts = np.zeros(slots, np.int64)

    def _parts(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        return _parts(self._upper, self._columns, self._tick)

    def fill(self) -> bool:
        """See BoxTable."""
        taken = 0
        for _, upper, distances in self._parts():
            taken += int(fill_boxes(
                upper, distances, self._limit, self._q, self._keys, self._maxima, self._counts, taken))
            if 2 * taken > len(self._counts):
                return False
        return True

    def left(self) -> tuple[np.ndarray, np.ndarray]:
        """See BoxTable."""
        self._left = np.flatnonzero(self._counts)
        if len(self._left):
            safe, points = np.zeros(len(self._left), np.uint8), self._maxima[self._left]
            near_all(points, points.max(axis=0).astype(np.int64), self._limit, safe)
            self._left = self._left[safe == 0]
        return self._maxima[self._left], self._counts[self._left]

    def members(self, is_open: np.ndarray, room: int) -> ListedVertices | None:
        """See BoxTable."""
        slots = self._left[is_open]
        if int(self._counts[slots].sum()) > room:
            return None
        opened = np.zeros(len(self._counts), np.uint8)
        opened[slots] = 1
        result = [np.empty(0, np.int64)]
        for start, upper, distances in self._parts():
            flags = np.zeros(len(upper), np.uint8)
            flag_members(upper, distances, self._limit, self._q, self._keys, self._counts, opened, flags)
            result.append(np.flatnonzero(flags) + start)
        return ListedVertices(np.concatenate(result))


@inlined
def _slot(distances, v, q, keys, counts):
    """Slot of the box of column v, taken or free; keys are distances[i] >> q[i]."""
    k = len(distances)
    mask = len(counts) - 1
    code = np.uint64(0)
    for i in range(k):
        code = (code ^ np.uint64(distances[i, v] >> q[i])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    slot = np.int64(code & np.uint64(mask))
    while counts[slot]:
        same = True
        for i in range(k):
            if keys[slot, i] != distances[i, v] >> q[i]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def fill_boxes(upper, distances, limit, q, keys, maxima, counts, taken):
    """Add the columns v with limit < upper[v] < unreached; returns the number of new boxes. taken : number of boxes
    so far; it stops when more than half of the slots are taken."""
    none = np.int64(np.iinfo(upper.dtype).max)
    k = len(distances)
    new = 0
    for v in range(len(upper)):
        if not limit < np.int64(upper[v]) < none:
            continue
        slot = _slot(distances, v, q, keys, counts)
        if counts[slot] == 0:
            new += 1
            if 2 * (taken + new) > len(counts):
                return new
            for i in range(k):
                keys[slot, i] = distances[i, v] >> q[i]
        for i in range(k):
            maxima[slot, i] = max(maxima[slot, i], distances[i, v])
        counts[slot] += 1
    return new


@kernel
def flag_members(upper, distances, limit, q, keys, counts, is_open, flags):
    """flags[v] = 1 for unsettled columns v whose box is open."""
    none = np.int64(np.iinfo(upper.dtype).max)
    for v in range(len(upper)):
        if limit < np.int64(upper[v]) < none:
            flags[v] = is_open[_slot(distances, v, q, keys, counts)]


PROBE, LEAST_PROBE = 12, 1000
# A pass over the candidates is repeated only if it drops more than 1 / WORTH of them.
WORTH = 8
LEAST_WIDTH = 8


def width_for(k: int) -> int:
    """Number of distances for which each candidate has memory, if there are k pivots."""
    return max(LEAST_WIDTH, 2 * k)


def candidate_bytes(width: int, item: int) -> int:
    """Bytes of a candidate with room for `width` distances of `item` bytes, at most: its number, the distances,
    the same in a row for the boxes, the boxes (1.5 times) and their order."""
    return 8 + width * item * 7 // 2 + 18


@dataclass(frozen=True)
class Verdict:
    """The result of certifying. n_open : number of vertices that may be in an open pair (0: proved). cover : number of
    those outside the best Winnow ball; to settle these suffices. worst : the pair of largest U, bound : its U; (-1, -1)
    and L if proved."""

    n_open: int
    cover: int
    bound: int
    worst: tuple[int, int]


class Candidates:
    """listed : m vertices. points : unsigned[m, k], distances to the pivots. largest : at least each of these.
    most_bytes : limit on their memory. tick : called several times a second if certifying takes long."""

    def __init__(
        self, listed: ListedVertices, columns: Sequence[Column | StoredColumn], largest: int, most_bytes: int = 1 << 62,
        tick: Tick = no_tick,
    ) -> None:
        self._listed, self._most_bytes, self._tick = listed, most_bytes, tick
        self._k = len(columns)
        self._points = np.empty((len(listed), width_for(self._k)), columns[0].dtype)
        listed.put_points(columns, largest, self.points)

    @property
    def vertices(self) -> np.ndarray:
        """The vertices, int64[m], ascending."""
        return self._listed.ids

    @property
    def points(self) -> np.ndarray:
        return self._points[:, : self._k]

    @property
    def held_bytes(self) -> int:
        """Bytes during a batch: numbers and distances, and lists of the cover and of proposed vertices."""
        return self._points.nbytes + 26 * len(self.vertices)

    @property
    def working_bytes(self) -> int:
        """Bytes while candidates are processed, not only stored."""
        return len(self.vertices) * candidate_bytes(self._points.shape[1], self._points.itemsize)

    def add(self, column: Column, largest: int) -> None:
        """Add the distances to another pivot, if there is room. largest : at least each of them."""
        if self._k == self._points.shape[1]:
            width = self._wider()
            if width <= self._k:
                return
            wider = np.empty((len(self.vertices), width), self._points.dtype)
            wider[:, : self._k] = self._points
            self._points = wider
        self._points[:, self._k] = self._listed.values(column, largest)
        self._k += 1

    def _wider(self) -> int:
        """The new width: twice the number of distances, or the most that memory allows."""
        width, m, item = 2 * self._k, max(1, len(self.vertices)), self._points.itemsize
        while width > self._k and m * candidate_bytes(width, item) > self._most_bytes:
            width -= 1
        return width

    def keep(self, mask: np.ndarray) -> None:
        """Drop the vertices whose entry of `mask` (bool[m]) is false."""
        if not mask.all():
            self._listed.keep(mask)
            self._points = self._points[mask]

    def certify(self, upper: Column, limit: int) -> Verdict:
        """Drop vertices that are settled (upper <= limit) or in no open pair, unless most are in one: proving a
        few safe takes longer than what they cost later. Then find the worst pair."""
        self.keep(self._listed.above(upper, limit))
        self._narrow(limit)
        boxes = self._drop_safe(limit) if len(self.vertices) else None
        if len(self.vertices) == 0:
            return Verdict(0, 0, limit, (-1, -1))
        result = worst_pair(boxes or self.boxes(), limit, tick=self._tick)
        pair = (int(self.vertices[result.first]), int(self.vertices[result.second]))
        return Verdict(len(self.vertices), len(self.cover(limit)), result.bound, pair)

    def _drop_safe(self, limit: int) -> Boxes | None:
        """Drop the candidates in no open pair. Returns the boxes if there are none: else they are freed first."""
        boxes = self.boxes()
        # Boxes against boxes prove all pairs sooner than vertices against boxes.
        probe = worst_pair(boxes, limit, PROBE * len(self.vertices) + LEAST_PROBE, limit + 1, self._tick)
        mask = (np.zeros(len(self.vertices), bool) if probe.finished and probe.first < 0
                else open_points(boxes, limit, self._tick, sample=True))
        if mask.all():
            return boxes
        del boxes
        self.keep(mask)
        return None

    def open_pairs(self, limit: int, worst: int, n_pairs: int, seed: int) -> np.ndarray:
        """At most `n_pairs` pairs of vertices with U > limit, without a common vertex, int64[k, 2]:
        first pairs with nearly the `worst` bound, spread over the candidates at random."""
        boxes = self.boxes()
        order = np.random.default_rng(seed).permutation(len(self.vertices))
        for threshold in (worst - 1, (worst + limit) // 2, limit):
            pairs = disjoint_pairs(boxes, max(limit, threshold), order, n_pairs, self._tick)
            if len(pairs) == n_pairs or threshold <= limit:
                break
        return self.vertices[pairs]

    def shrink(self, upper: Column, limit: int) -> Verdict:
        """As certify, but without pairs: drop settled vertices and count the cover; no pair
        is open if the cover is empty. worst is unknown, (-1, -1), and bound is 2^62."""
        self.keep(self._listed.above(upper, limit))
        cover = len(self.cover(limit))
        return Verdict(len(self.vertices) if cover else 0, cover, 1 << 62, (-1, -1))

    def boxes(self) -> Boxes:
        """A tree over the present points."""
        return build_boxes(np.ascontiguousarray(self.points), self._tick)

    def cover(self, limit: int) -> np.ndarray:
        """Vertices outside the best Winnow ball: once these are settled, no pair is open. int64[c]."""
        outside = np.zeros(self._k, np.int64)
        count_outside(self._points, self._k, limit, outside)
        return self.vertices[2 * self._points[:, int(outside.argmin())].astype(np.int64) > limit]

    def _narrow(self, limit: int) -> None:
        """Drop vertices that are certified against all others at once, as long as there are many."""
        while len(self.vertices):
            safe = np.zeros(len(self.vertices), np.uint8)
            dropped = near_all(self._points, self._points[:, : self._k].max(axis=0).astype(np.int64), limit, safe)
            if dropped * WORTH <= len(safe):  # these few are in no open pair, which the next step finds
                return
            self.keep(safe == 0)


@kernel(uncompiled=True)
def near_all(points, maxima, limit, safe):
    """safe[r] = 1 if points[r, i] + maxima[i] <= limit for some i, with int64[k] maxima of columns; returns their
    number."""
    count = 0
    for r in range(len(points)):
        for i in range(len(maxima)):
            if np.int64(points[r, i]) + maxima[i] <= limit:
                safe[r] = 1
                count += 1
                break
    return count


@kernel(uncompiled=True)
def count_outside(points, k, limit, outside):
    """outside[i] = number of points farther than limit / 2 from pivot i."""
    for r in range(len(points)):
        for i in range(k):
            if 2 * np.int64(points[r, i]) > limit:
                outside[i] += 1
