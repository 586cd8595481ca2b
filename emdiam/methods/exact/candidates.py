"""The vertices that may still be an end of a longer pair, with their distances to the pivots.

A vertex leaves for good when it is settled, or when every pair with the others that are left is
certified: those only get fewer, the distances only more, and the largest eccentricity L only
grows. So what is kept shrinks fast, and the full columns of the pivots are not needed again.
Bytes: see candidate_bytes. Where there is no room for the distances to one more pivot they are left out:
the pivot still settles, but certifies no pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...jit import kernel
from ...traverse.columns import Column
from ...traverse.stored_column import StoredColumn
from .boxes import Boxes, Tick, build_boxes, disjoint_pairs, open_points, worst_pair

PROBE, LEAST_PROBE = 12, 1000
# A pass over the candidates has to drop at least one in so many for another to follow.
WORTH = 8
LEAST_WIDTH = 8


def width_for(k: int) -> int:
    """Distances that each candidate has memory for when there are k pivots."""
    return max(LEAST_WIDTH, 2 * k)


def candidate_bytes(width: int, item: int) -> int:
    """Bytes of a candidate with room for so many distances of so many bytes, at most: its number, the distances,
    the same in a row for the boxes, the boxes (1.5 times) and their order."""
    return 8 + width * item * 7 // 2 + 18


@dataclass(frozen=True)
class Verdict:
    """What is left after certifying. n_open : vertices in an open pair (0: proved). cover : as many
    of them, at most, need to be settled: those outside the best Winnow ball. worst : the pair of
    largest U, bound its U; (-1, -1) and L if proved."""

    n_open: int
    cover: int
    bound: int
    worst: tuple[int, int]


class Candidates:
    """vertices : int64[m], ascending. points : unsigned[m, k], distances to the pivots. most_bytes : that all
    of it may take. tick : called several times a second while certifying takes long."""

    def __init__(
        self, vertices: np.ndarray, columns: Sequence[Column | StoredColumn], most_bytes: int = 1 << 62,
        tick: Tick = lambda: None,
    ) -> None:
        self.vertices, self._most_bytes, self._tick = vertices, most_bytes, tick
        self._k = len(columns)
        self._points = np.empty((len(vertices), width_for(self._k)), columns[0].dtype)
        for i, column in enumerate(columns):
            self._points[:, i] = column.take(vertices)

    @property
    def points(self) -> np.ndarray:
        """unsigned[m, k]."""
        return self._points[:, : self._k]

    @property
    def held_bytes(self) -> int:
        """Bytes while a batch runs: numbers and distances, and lists of the cover and of what is proposed."""
        return self._points.nbytes + 26 * len(self.vertices)

    @property
    def working_bytes(self) -> int:
        """Bytes while there is more to do than to hold them."""
        return len(self.vertices) * candidate_bytes(self._points.shape[1], self._points.itemsize)

    def add(self, column: Column) -> None:
        """Distances to one more pivot, if there is room for them."""
        if self._k == self._points.shape[1]:
            width = self._wider()
            if width <= self._k:
                return
            wider = np.empty((len(self.vertices), width), self._points.dtype)
            wider[:, : self._k] = self._points
            self._points = wider
        self._points[:, self._k] = column.take(self.vertices)
        self._k += 1

    def _wider(self) -> int:
        """Distances to make room for: twice as many, or what memory allows."""
        width, m, item = 2 * self._k, max(1, len(self.vertices)), self._points.itemsize
        while width > self._k and m * candidate_bytes(width, item) > self._most_bytes:
            width -= 1
        return width

    def keep(self, mask: np.ndarray) -> None:
        """Drop the vertices whose entry of `mask` (bool[m]) is false."""
        if not mask.all():
            self.vertices, self._points = self.vertices[mask], self._points[mask]

    def certify(self, upper: Column, limit: int) -> Verdict:
        """Drop what is settled (upper <= limit) or in no open pair; then find the worst pair."""
        self.keep(upper.take(self.vertices) > limit)
        self._narrow(limit)
        if len(self.vertices):
            self.keep(self._open(limit))
        if len(self.vertices) == 0:
            return Verdict(0, 0, limit, (-1, -1))
        found = worst_pair(self.boxes(), limit, tick=self._tick)
        pair = (int(self.vertices[found.first]), int(self.vertices[found.second]))
        return Verdict(len(self.vertices), len(self.cover(limit)), found.bound, pair)

    def _open(self, limit: int) -> np.ndarray:
        """bool[m], the candidates in an open pair. The boxes are gone before any is dropped."""
        boxes = self.boxes()
        # Boxes against boxes prove all pairs sooner than vertices against boxes do.
        probe = worst_pair(boxes, limit, PROBE * len(self.vertices) + LEAST_PROBE, limit + 1, self._tick)
        if probe.finished and probe.first < 0:
            return np.zeros(len(self.vertices), bool)
        return open_points(boxes, limit, self._tick)

    def open_pairs(self, limit: int, worst: int, most: int, seed: int) -> np.ndarray:
        """At most `most` pairs of vertices with U > limit, no vertex in two of them, int64[k, 2]:
        first such of nearly the `worst` bound, spread over the candidates at random."""
        boxes = self.boxes()
        order = np.random.default_rng(seed).permutation(len(self.vertices))
        for threshold in (worst - 1, (worst + limit) // 2, limit):
            pairs = disjoint_pairs(boxes, max(limit, threshold), order, most, self._tick)
            if len(pairs) == most or threshold <= limit:
                break
        return self.vertices[pairs]

    def shrink(self, upper: Column, limit: int) -> Verdict:
        """As certify without looking at pairs: drop what is settled and count the cover; nothing
        is open when the cover is empty. worst stays unknown (-1, -1) and bound is 2^62."""
        self.keep(upper.take(self.vertices) > limit)
        cover = len(self.cover(limit))
        return Verdict(len(self.vertices) if cover else 0, cover, 1 << 62, (-1, -1))

    def boxes(self) -> Boxes:
        """A tree over the points as they are."""
        return build_boxes(np.ascontiguousarray(self.points), self._tick)

    def cover(self, limit: int) -> np.ndarray:
        """Vertices outside the best Winnow ball: with these settled, no open pair is left. int64[c]."""
        outside = np.zeros(self._k, np.int64)
        count_outside(self._points, self._k, limit, outside)
        return self.vertices[2 * self._points[:, int(outside.argmin())].astype(np.int64) > limit]

    def _narrow(self, limit: int) -> None:
        """Drop vertices that are certified against the whole rest at once, while there are many."""
        while len(self.vertices):
            safe = np.zeros(len(self.vertices), np.uint8)
            dropped = near_all(self._points, self._k, limit, safe)
            self.keep(safe == 0)
            if dropped * WORTH <= len(safe):
                return


@kernel
def near_all(points, k, limit, safe):  # type: ignore[no-untyped-def]
    """safe[r] = 1 if points[r, i] + max of column i <= limit for some i; returns how many."""
    most = np.zeros(k, np.int64)
    for r in range(len(points)):
        for i in range(k):
            most[i] = max(most[i], np.int64(points[r, i]))
    count = 0
    for r in range(len(points)):
        for i in range(k):
            if np.int64(points[r, i]) + most[i] <= limit:
                safe[r] = 1
                count += 1
                break
    return count


@kernel
def count_outside(points, k, limit, outside):  # type: ignore[no-untyped-def]
    """outside[i] = points at more than limit / 2 from pivot i."""
    for r in range(len(points)):
        for i in range(k):
            if 2 * np.int64(points[r, i]) > limit:
                outside[i] += 1
