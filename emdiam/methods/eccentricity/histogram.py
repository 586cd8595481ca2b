"""How a histogram tells eccentricities, in results and in certificates."""

from __future__ import annotations

import numpy as np

# Eccentricities of a histogram, at most, each by itself: some 8 MiB.
MOST_VALUES = 1 << 16


def histogram(counts: np.ndarray) -> tuple[dict[str, int], int | None]:
    """Vertices by eccentricity, ascending, of those that occur, and None; of more than MOST_VALUES, the vertices of
    ranges, by the smallest number of each, and their width. counts : int64[largest + 1]."""
    if np.count_nonzero(counts) <= MOST_VALUES:
        return {str(value): int(counts[value]) for value in np.flatnonzero(counts).tolist()}, None
    width = 10
    while -(-len(counts) // width) > MOST_VALUES:
        width *= 10
    sums = np.add.reduceat(counts, np.arange(0, len(counts), width))
    return {str(one * width): int(sums[one]) for one in np.flatnonzero(sums).tolist()}, width
