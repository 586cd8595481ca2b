"""The vertex state of the engine over workers. The checkpoint and its journal are the client's, and the same as for
other engines.

Columns pass through the client in pieces, so that it never holds a whole one. Labels of components and clusters stay on
the workers: a resumed run makes them again. A run may resume with another number of workers, or with none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dask import column_verbs as verbs
from ..dask.column_verbs import ReachedByRanks
from ..dask.columns import WorkerColumn
from ..dask.engine import DaskEngine
from ..engine.cpu import LocalEngine
from ..traverse.columns import Column
from .vertex_state import Digests, VertexState


class WorkerState(VertexState):
    """The state of the engine over workers."""

    engine: DaskEngine

    def __init__(self, engine: DaskEngine) -> None:
        super().__init__(engine)
        self.group = engine.group
        self._core: list[Any] = [1.0, False]

    def core(self) -> list[Any]:
        return self._core

    def set_core(self, facts: list[Any]) -> None:
        self._core = facts

    def words(self, start: int, stop: int) -> np.ndarray:
        ranges = {rank: (low, high) for rank, low, high in self._ranges(start, stop)}
        return np.concatenate(self.group.some(verbs.reached_words, ranges))

    def set_words(self, start: int, words: np.ndarray) -> None:
        self.group.some(verbs.set_reached, {rank: (low, words[low - start : high - start])
                                            for rank, low, high in self._ranges(start, start + len(words))})

    def _ranges(self, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
        """(rank, first, last + 1) of each rank's part of words start..stop-1."""
        bounds = ((self.group.ranges + 63) >> 6).tolist()
        for rank, (low, high) in enumerate(itertools.pairwise(bounds)):
            if max(low, start) < min(high, stop):
                yield rank, max(low, start), min(high, stop)

    def digests(self, column: Column) -> Digests:
        assert isinstance(column, WorkerColumn)
        of_ranks = self.group.everyone(verbs.piece_digests, column.key)
        return {(rank, i): digest for rank, pieces in enumerate(of_ranks) for i, digest in pieces.items()}

    def engine_of_trees(self) -> LocalEngine:
        return self.engine.local

    def reached(self) -> ReachedByRanks:
        return ReachedByRanks()
