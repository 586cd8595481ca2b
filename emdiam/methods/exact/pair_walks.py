"""Walks between the last few vertices that may be far apart, for a certificate.

Where few vertices remain in open pairs, `exact` traverses most of them, as nothing else shows how far apart they are. A
certificate need not have these traversals: a shortest path between two vertices, of at most L edges, proves the same
and is checked edge by edge.
Passes: none; a path reads a row a step. Bytes: at most MOST_IDS vertices.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ...engine.interface import Engine
from ...traverse.columns import Column

MOST_IDS = 1 << 11


class PairWalks:
    """The vertices in open pairs after the first certification that leaves few, and the walks between them so far.

    wanted : whether to look for any. counts : numbers of pivots and sources that prove all other pairs.
    """

    def __init__(self, engine: Engine, wanted: bool) -> None:
        self._engine, self._wanted, self._vertices = engine, wanted, list[int]()
        self._walks: dict[tuple[int, int], np.ndarray] = {}
        self.counts = (0, 0)

    def begin(self, vertices: np.ndarray, limit: int, counts: tuple[int, int]) -> None:
        """Choose the vertices in open pairs (int64[m]), unless they were chosen before, or their walks would be long.
        limit : L."""
        m = len(vertices)
        if self._wanted and not self._vertices and m > 1 and m * (m - 1) // 2 * (limit + 1) <= MOST_IDS:
            self._vertices, self.counts = vertices.tolist(), counts

    def add(self, source: int, column: Column) -> None:
        """Walk from the others to a source, if it is one of the vertices. column : the distances from it."""
        for vertex in self._vertices if source in self._vertices else ():
            pair = min(source, vertex), max(source, vertex)
            if vertex != source and pair not in self._walks:
                self._walks[pair] = np.concatenate(list(self._engine.path_pieces(column, vertex)))

    def all(self, limit: int, n_pivots: int) -> list[np.ndarray]:
        """The walks between all of the vertices; none if one has more than `limit` edges, or is not known, or if
        n_pivots pivots are no more than those of the walks."""
        pairs = list(combinations(sorted(self._vertices), 2)) if self.counts[0] < n_pivots else []
        if any(pair not in self._walks or len(self._walks[pair]) > limit + 1 for pair in pairs):
            return []
        return [self._walks[pair] for pair in pairs]
