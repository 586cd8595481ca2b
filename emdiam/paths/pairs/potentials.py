"""Potentials of vertices under which no arc is negative, by Bellman-Ford from all vertices at once; or a negative
cycle.

p(v) is the length of the shortest path that ends at v, from anywhere, 0 at most; then w(u, v) + p(u) - p(v) >= 0. Work:
m a round, n rounds at most. Source: Johnson, Efficient Algorithms for Shortest Paths in Sparse Networks (1977).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..bellman_ford import lower_labels
from ..paths import SearchOptions
from ..rows import WeightedRows


def potentials(rows: WeightedRows, threads: int, tick: Callable[[], None]) -> np.ndarray:
    """p(v) of every vertex, int64 or float64[n]; the weights are signed. Raises NegativeCycle, in vertices."""
    labels = np.zeros(rows.n_vertices, rows.distance_dtype)
    lower_labels(rows, labels, SearchOptions(threads=threads, tick=tick))
    return labels
