"""Bellman and Ford's algorithm on a frontier: a round relaxes the rows of the vertices whose labels have fallen.

A label that falls in a round is used in it at once by those that come later. Rounds: frontiers. Work: m for every round
that a label falls in, at worst. Source: papers on H-BF, algorithm 5.
"""

from __future__ import annotations

import numpy as np

from .frontier import FrontierRounds, Round, by_vertices
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached


def frontier_bellman_ford(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative: nothing would end a round a negative cycle."""
    return by_frontiers("frontier-bellman-ford", rows, source, options, by_vertices)


def by_frontiers(name: str, rows: WeightedRows, source: int, options: SearchOptions, relax_round: Round,
                 merge_path: bool = False) -> Paths:
    """A search of one frontier after another. relax_round, merge_path : see FrontierRounds."""
    labels = first_labels(rows, source)
    with FrontierRounds(rows, labels, options, relax_round, merge_path) as frontiers:
        frontier = frontiers.begin(source)
        while len(frontier):
            frontier = frontiers.relax(frontier)
        return Paths(name, source, labels, frontiers.relaxations, frontiers.rounds)


def first_labels(rows: WeightedRows, source: int) -> np.ndarray:
    """0 at the source, unreached elsewhere: distances[n_vertices]."""
    labels = np.full(rows.n_vertices, unreached(rows.distance_dtype), rows.distance_dtype)
    labels[source] = 0
    return labels
