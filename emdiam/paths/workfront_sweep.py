"""Workfront sweep: frontiers without duplicates, each shared out to the threads by merge path.

Every thread gets as many arcs as any other, whatever the degrees. Rounds and work: as of the frontier form of Bellman
and Ford. Source: Davidson, Baxter, Garland, Owens (2014), section 4.
"""

from __future__ import annotations

from .frontier import by_merge_path
from .frontier_bellman_ford import by_frontiers
from .paths import Paths, SearchOptions
from .rows import WeightedRows


def workfront_sweep(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    return by_frontiers("workfront-sweep", rows, source, options, by_merge_path, merge_path=True)
