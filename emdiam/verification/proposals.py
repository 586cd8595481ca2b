"""Labels as an engine proposes them: a BFS each, or one multi-source BFS for a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.interface import Engine
from ..store.store import Store
from ..traverse.columns import Column
from .labels import FEW_COLUMNS, LabelColumn
from .report import Refused

_PIECE = 1 << 16


class Proposals:
    """Of one engine. largest : no label is larger. dtype : of labels; its largest value stands for none."""

    def __init__(self, engine: Engine, largest: int, dtype: np.dtype[Any]) -> None:
        self._engine, self._largest, self._dtype = engine, largest, dtype

    def labels(self, columns: list[LabelColumn], batched: bool) -> np.ndarray:
        """Labels unsigned[n, g] of g columns. batched : whether more than a few are proposed together. Raises Refused
        for a vertex that is too far away."""
        self._engine.reporter.tick("labels")
        try:
            return self._together(columns) if batched and len(columns) > FEW_COLUMNS else self._each(columns)
        except OverflowError:
            raise Refused(
                f"a vertex is more than {self._largest} away from one of its pivots or sources") from None

    def _each(self, columns: list[LabelColumn]) -> np.ndarray:
        proposed = self._engine.new_column(self._largest)
        if len(columns) == 1:  # then the column is the labels
            self._bfs(columns[0], proposed)
            return proposed.raw().reshape(-1, 1)
        labels = self._empty(columns)
        for j, column in enumerate(columns):
            self._engine.reporter.tick("labels")
            self._bfs(column, proposed)
            _fill(labels, j, [proposed])
        return labels

    def _bfs(self, column: LabelColumn, proposed: Column) -> None:
        check_within(self._engine.store, column, self._engine.bfs(column.vertex, into=proposed).levels)

    def _together(self, columns: list[LabelColumn]) -> np.ndarray:
        labels = self._empty(columns)
        proposed = [self._engine.new_column(self._largest) for _ in columns]
        self._engine.eccentricities(np.array([column.vertex for column in columns]), columns=proposed)
        _fill(labels, 0, proposed)
        return labels

    def _empty(self, columns: list[LabelColumn]) -> np.ndarray:
        return np.empty((self._engine.facts.n_vertices, len(columns)), self._dtype)


def check_within(store: Store, column: LabelColumn, reach: int) -> None:
    """Raises Refused for a column that reaches beyond the bound to prove: it cannot be part of a proof of it."""
    if reach > column.limit:
        (name,) = store.user_ids(np.array([column.vertex]))
        raise Refused(f"a vertex is {reach} away from vertex {name}, more than the bound {column.limit} of its"
                      " component")


def _fill(labels: np.ndarray, first: int, columns: list[Column]) -> None:
    """labels[:, first + j] = columns[j], its -1 as the largest value of the dtype; all columns of a few
    vertices at a time, since they lie side by side in `labels`."""
    none = np.iinfo(labels.dtype).max
    step = max(1, _PIECE // len(columns))
    for begin in range(0, len(labels), step):
        here = np.arange(begin, min(begin + step, len(labels)))
        for j, column in enumerate(columns, start=first):
            values = column.gather(here)
            values[(values < 0) | (values > none)] = none
            labels[begin : begin + len(here), j] = values
