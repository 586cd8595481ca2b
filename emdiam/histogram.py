"""Histograms of numbers, in results and in certificates: of single numbers, or of ranges if there are many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

# Most single numbers in a histogram (some 8 MiB), and the factor by which ranges become wider.
MOST_VALUES, STEP = 1 << 16, 10


def in_ranges(counts: np.ndarray, size: int) -> np.ndarray:
    """Sums of counts, [k, ...], over ranges of `size` of them, [ceil(k / size), ...]."""
    return np.asarray(np.add.reduceat(counts, np.arange(0, len(counts), size), axis=0))


def histogram(counts: np.ndarray) -> tuple[dict[int, int], int | None]:
    """(counts of the eccentricities that occur, ascending; None), or, for more than MOST_VALUES, (counts of ranges by
    their smallest number; the width of ranges). counts : int64[largest + 1]."""
    if np.count_nonzero(counts) <= MOST_VALUES:
        return {value: int(counts[value]) for value in np.flatnonzero(counts).tolist()}, None
    width = STEP
    while -(-len(counts) // width) > MOST_VALUES:
        width *= STEP
    sums = in_ranges(counts, width)
    return {one * width: int(sums[one]) for one in np.flatnonzero(sums).tolist()}, width


def with_texts(counts: Mapping[Any, int]) -> dict[str, int]:
    """Counts by number for JSON: integers without a point, floats with at most 15 significant digits."""
    return {f"{number:.15g}" if isinstance(number, float) else str(number): count for number, count in counts.items()}
