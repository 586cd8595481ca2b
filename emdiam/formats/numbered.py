"""Edges between numbered vertices, one at a time, as batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .base import FileSource
from .collected import Where, weights_of_texts
from .source import EdgeBatch
from .weights import common_kind

_BYTES_PER_PAIR = 100  # two integers of Python, a text of a weight, and what becomes of them


class NumberedEdges:
    """Takes edges between vertices 1 to n, and hands them on in batches.

    Parameters
    ----------
    source : FileSource
        What is read; its directions and kinds of weights are kept here.
    n_vertices : int
        How many vertices there are.
    batch_bytes : int
        As of EdgeSource.batches.
    where : callable
        Says where the input stands, for errors.
    """

    def __init__(self, source: FileSource, n_vertices: int, batch_bytes: int, where: Where) -> None:
        self._source, self._n, self._where = source, n_vertices, where
        self._capacity = max(1, batch_bytes // _BYTES_PER_PAIR)
        self._ids, self._weights = list[int](), list[str]()
        self._kinds = set[str]()
        source.has_arcs, source.weight_kind = False, ""

    @property
    def full(self) -> bool:
        """Whether it is time to take the batches."""
        return len(self._ids) >= 2 * self._capacity

    def edge(self, src: int, dst: int, weight: str, *, directed: bool) -> None:
        """Take an edge. weight : its text. directed : whether it goes one way only. Raises InputError for an id that
        is none."""
        if not (0 < src <= self._n and 0 < dst <= self._n):
            wrong = src if not 0 < src <= self._n else dst
            raise self._source.error(f"an id is outside 1..{self._n}", text=str(wrong), remedy="fix the id",
                                     **self._where())
        self._ids += (src, dst)
        self._weights.append(weight)
        self._source.has_arcs = self._source.has_arcs or directed
        if self._source.wishes.directed and not directed:
            self._ids += (dst, src)
            self._weights.append(weight)

    def take(self) -> Iterator[EdgeBatch]:
        """What was taken since the last time."""
        if self._ids:
            both = np.array(self._ids, np.int64)
            yield EdgeBatch(np.ascontiguousarray(both[::2]), np.ascontiguousarray(both[1::2]), self._floats())
            self._ids, self._weights = [], []

    def _floats(self) -> Any:
        choice = self._source.weights
        if choice is None:
            return None
        values, kind = weights_of_texts(self._weights, choice, lambda what, place, **more: self._source.error(
            what, **more, **self._where()))
        self._kinds.add(kind)
        self._source.weight_kind = common_kind(self._kinds)
        return values
