"""Pairs by distance, in rows: for groups of sources, or for registers. The table takes the same memory for every graph.

While no distance exceeds MOST_VALUES, each has its own place. For larger ones ranges are counted, as in a histogram: of
10 distances each, then of 100, and so on. The amounts by which distances exceed the first of their range are summed
separately, so that means stay exact. Rows are joined, two by two, if the distances up to MOST_VALUES would not fit
otherwise. Both depend only on the largest distance, not on the order in which pairs are counted.
Bytes: 8 * full_rows * (MOST_VALUES + 1), allocated as they are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..histogram import MOST_VALUES, STEP, in_ranges

# Number of rows that always have room, whatever the distances are.
FULL_ROWS = 16


def distance_table_bytes(rows: int, n_vertices: int, full_rows: int = FULL_ROWS) -> int:
    """Bytes of the numbers of a graph's table, at most."""
    return 8 * min(rows * n_vertices, full_rows * (MOST_VALUES + 1))


@dataclass(frozen=True)
class PairCounts:
    """Pairs of different vertices by distance. counts : int64 or float64[k], for distances from i * width on.
    above : sum over all pairs of the amount by which their distance exceeds the first of its range. largest : largest
    distance."""

    counts: np.ndarray
    above: float = 0
    width: int = 1
    largest: int = 0

    def to_dict(self, share: float) -> dict[int, int]:
        """Pairs by distance, or by the smallest distance of each range, times `share` and rounded."""
        return {i * self.width: round(share * count) for i, count in enumerate(self.counts.tolist()) if count}

    @property
    def histogram_width(self) -> int | None:
        """Number of distances in a range; None if each has its own place."""
        return None if self.width == 1 else self.width


class DistanceTable:
    """See above. rows : number of rows counted. full_rows : number to which they are joined in the end, or fewer.
    dtype : int64 or float64. width : distances of a place. largest : largest distance."""

    def __init__(self, rows: int, full_rows: int = FULL_ROWS, dtype: Any = np.int64) -> None:
        self.rows, self.width, self.largest = rows, 1, 0
        self._joined = 1  # rows joined to one
        # In the order of distances, so that memory is used as these grow.
        self._flat = np.zeros(max(1, full_rows) * (MOST_VALUES + 1), dtype)
        self._above = np.zeros(rows, dtype)

    @property
    def counts(self) -> np.ndarray:
        """Pairs, [largest // width + 1, remaining rows]; 0 at distance 0."""
        left = len(self._above)
        return self._flat[: (self.largest // self.width + 1) * left].reshape(-1, left)

    def add(self, distance: int, counts: np.ndarray) -> None:
        """Add pairs at a distance, [rows]."""
        self._reach(distance)
        if self._joined > 1:
            counts = in_ranges(counts, self._joined)
        self.counts[distance // self.width] += counts
        self._above += counts * (distance % self.width)

    def add_values(self, row: int, distances: np.ndarray) -> None:
        """Add pairs of a row at these distances, [k]."""
        if not len(distances):
            return
        self._reach(int(distances.max()))
        places = distances // self.width
        found = np.bincount(places)
        self.counts[: len(found), row // self._joined] += found
        self._above[row // self._joined] += int((distances - places * self.width).sum())

    def take(self, other: DistanceTable) -> None:
        """Add the pairs of a table with the same number of rows, which is invalid afterwards."""
        self._reach(other.largest)
        other._settle(max(self.largest, other.largest))
        self.counts[: len(other.counts)] += other.counts
        self._above += other._above

    def total(self) -> PairCounts:
        """All rows together."""
        return PairCounts(self.counts.sum(axis=1), self._above.sum(), self.width, self.largest)

    def row(self, number: int) -> PairCounts:
        """One row of a table whose rows are never joined."""
        return PairCounts(self.counts[:, number], self._above[number], self.width, self.largest)

    @property
    def groups(self) -> int:
        """Rows that have a pair."""
        return int(np.count_nonzero(self.counts.any(axis=0)))

    def without_each(self) -> Iterator[PairCounts]:
        """The sum of all rows but one, for each row that has a pair."""
        total, above = self.counts.sum(axis=1), self._above.sum()
        for number, row in enumerate(self.counts.T):
            if row.any():
                yield PairCounts(total - row, above - self._above[number], self.width, self.largest)

    def _reach(self, distance: int) -> None:
        """Make room for pairs at a distance."""
        if distance > self.largest:
            self._settle(distance)
            self.largest = distance

    def _settle(self, largest: int) -> None:
        """Join rows and distances as far as this largest distance needs it."""
        while (min(largest, MOST_VALUES) + 1) * len(self._above) > len(self._flat):
            self._replace(in_ranges(self.counts.T, 2).T, in_ranges(self._above, 2))
            self._joined *= 2
        while largest // self.width >= MOST_VALUES + (self.width == 1):
            further = np.arange(len(self.counts)) % STEP * self.width
            self._replace(in_ranges(self.counts, STEP), self._above + further.astype(self._flat.dtype) @ self.counts)
            self.width *= STEP

    def _replace(self, counts: np.ndarray, above: np.ndarray) -> None:
        """Replace the counts by these, which are not more."""
        before = self.counts.size
        self._flat[: counts.size].reshape(counts.shape)[:] = counts
        self._flat[counts.size : before] = 0
        self._above = above
