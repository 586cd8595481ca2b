"""Upper and lower bounds on the eccentricities of all vertices along arcs, from searches that are folded in.

Side 0 has bounds on ecc_out, side 1 on ecc_in. From distances d(v, p) to a vertex p: ecc_out(v) >= d(v, p), and in the
strong component of p also ecc_out(v) <= d(v, p) + ecc_out(p), since p reaches what v reaches; on side 1 the same with
d(p, v). This is the place of the bounds in RAM; a device has its own (gpu/arc_bounds.py).
Source: Takes and Kosters, Computing the eccentricity distribution of large graphs, Algorithms 2013, for two directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from .columns import Column

NOWHERE = np.iinfo(np.int64).max


class ArcBounds:
    """The bounds of a run. numbers : of each vertex's strong component. above : the upper bounds at first, more than
    any eccentricity. dtype : of the bounds. sides : 2; or 1, for upper bounds of side 0 alone."""

    def __init__(self, numbers: np.ndarray, above: int, dtype: np.dtype[Any], sides: int = 2) -> None:
        self._numbers, n = numbers, len(numbers)
        self._upper = np.full((sides, n), above, dtype)
        self._lower = np.zeros((2, n if sides == 2 else 0), dtype)

    def fold(self, side: int, vertex: int, distances: Column, eccentricity: int) -> None:
        """Fold in the distances to a vertex (side 1: from it), whose eccentricity on that side is at most this."""
        fold(self._upper[side], self._lower[side], distances.raw(), self._numbers,
             np.array([distances.unreached, self._numbers[vertex], eccentricity], np.int64))

    def put(self, side: int, vertex: int, value: int) -> None:
        """Set an upper bound."""
        self._upper[side, vertex] = value

    def largest(self, side: int) -> int:
        """The largest upper bound."""
        return int(self._upper[side].max())

    def above(self, side: int, limit: int) -> np.ndarray:
        """Vertices whose upper bound exceeds `limit`, ascending, int64[k]."""
        return np.flatnonzero(self._upper[side] > limit)

    def n_above(self, side: int, limit: int) -> int:
        """Their number."""
        return int(np.count_nonzero(self._upper[side] > limit))

    def extreme(self, side: int, limit: int) -> int:
        """The one of them with the largest upper bound (ties: the largest lower bound, the smallest vertex)."""
        ids = self.above(side, limit)
        upper, lower = self.at(side, ids)
        return int(ids[np.lexsort((-lower, -upper))[0]])

    def first_largest(self) -> int:
        """The smallest vertex with the largest upper bound on side 0."""
        return int(self._upper[0].argmax())

    def central(self, number: int, searched: list[int]) -> int:
        """The vertex of a component with the smallest sum of its lower bounds (ties: the smallest vertex) that is not
        one of `searched`; -1 without one."""
        middle = self._lower.sum(axis=0, dtype=np.int64)
        middle[self._numbers != number] = NOWHERE
        middle[searched] = NOWHERE
        best = int(middle.argmin())
        return best if middle[best] != NOWHERE else -1

    def at(self, side: int, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper and lower bounds of vertices, int64[k] each."""
        return self._upper[side, ids].astype(np.int64), self._lower[side, ids].astype(np.int64)

    def values(self, side: int, *ids: np.ndarray) -> np.ndarray:
        """A vector of upper bounds by vertex, right at these vertices; without any, at all. After a change of an
        entry call `changed`."""
        upper: np.ndarray = self._upper[side]
        return upper

    def changed(self, side: int, ids: np.ndarray | None = None) -> None:
        """Take over the entries of these vertices, without repeats, or of all, from the last vector of `values`."""


@kernel
def fold(upper, lower, distances, numbers, about):
    """Update the bounds of one side, [n] each, with distances to a vertex of component about[1] whose eccentricity is
    at most about[2]. about[0] : unreached. lower : may be of no length."""
    for v in range(len(upper)):
        d = np.int64(distances[v])
        if d == about[0]:
            continue
        if len(lower) > 0 and d > np.int64(lower[v]):
            lower[v] = d
        if np.int64(numbers[v]) == about[1] and d + about[2] < np.int64(upper[v]):
            upper[v] = d + about[2]
