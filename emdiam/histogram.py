"""How histograms count numbers, in results and in certificates: each by itself, or ranges of them if they are many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# Numbers of a histogram, at most, each by itself: some 8 MiB. Ranges are so many times as wide as before, each time.
MOST_VALUES, STEP = 1 << 16, 10


def in_ranges(counts: np.ndarray, size: int) -> np.ndarray:
    """Sums of counts, [k, ...], over ranges of so many of them, [ceil(k / size), ...]."""
    sums: np.ndarray = np.add.reduceat(counts, np.arange(0, len(counts), size), axis=0)
    return sums


def histogram(counts: np.ndarray) -> tuple[dict[int, int], int | None]:
    """Vertices by eccentricity, ascending, of those that occur, and None; of more than MOST_VALUES, the vertices of
    ranges, by the smallest number of each, and their width. counts : int64[largest + 1]."""
    if np.count_nonzero(counts) <= MOST_VALUES:
        return {value: int(counts[value]) for value in np.flatnonzero(counts).tolist()}, None
    width = STEP
    while -(-len(counts) // width) > MOST_VALUES:
        width *= STEP
    sums = in_ranges(counts, width)
    return {one * width: int(sums[one]) for one in np.flatnonzero(sums).tolist()}, width


def with_texts(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by number as JSON has them: whole numbers without a point, floats with as many digits as are needed, 15 at
    most."""
    return {f"{number:.15g}" if isinstance(number, float) else str(number): count for number, count in counts.items()}
