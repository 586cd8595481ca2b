"""What is told of all eccentricities together: centre and periphery of the largest component, and the histogram."""

from __future__ import annotations

import numpy as np

from ...store.store import Store
from .bounds import Bounds
from .result import VertexSet

# Vertices of a set that are named in the answer.
MOST_IDS = 1000


class Summary:
    """Of one run. center, periphery : None where they are not known. centre : a vertex of the centre, -1 : unknown."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.center: VertexSet | None = None
        self.periphery: VertexSet | None = None
        self.centre = -1

    def of_largest(self, bounds: Bounds, radius: int, diameter: int | None, most: int | None = None) -> None:
        """Note the vertices with these eccentricities, while no other component has been traversed. diameter : None:
        not its vertices. most : look at so many vertices only."""
        sets: dict[int, list[np.ndarray]] = {radius: []} if diameter is None else {radius: [], diameter: []}
        sizes = dict.fromkeys(sets, 0)
        for start, lower, upper in bounds.pieces():
            for value, ids in sets.items():
                here = np.flatnonzero((lower[:most] == value) & (upper[:most] == value)) + start
                room = MOST_IDS - sum(map(len, ids))
                ids.append(here[:room])
                sizes[value] += len(here)
            if most is not None:
                break
        named = {value: np.concatenate(ids) for value, ids in sets.items()}
        self.centre = int(named[radius][0])
        self.center = VertexSet(sizes[radius], list(self._store.user_ids(named[radius])))
        if diameter is not None:
            self.periphery = VertexSet(sizes[diameter], list(self._store.user_ids(named[diameter])))


def count_eccentricities(bounds: Bounds) -> tuple[np.ndarray, int]:
    """How many vertices have each eccentricity that is proved, int64[largest + 1]; and how many vertices have bounds
    that differ, or none."""
    largest = max(int(lower.max(initial=0)) for _, lower, _ in bounds.pieces())
    counts, unresolved = np.zeros(largest + 1, np.int64), 0
    for _, lower, upper in bounds.pieces():
        values = lower[(lower == upper) & (lower >= 0)]
        unresolved += len(lower) - len(values)
        if len(values):
            first = int(values.min())
            here = np.bincount(values - first)
            counts[first : first + len(here)] += here
    return counts, unresolved
