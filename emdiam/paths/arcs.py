"""The arcs of a weighted graph wherever they lie, in RAM or in the blocks of a store: searches, and passes over them.

What algorithms on weighted graphs ask of a graph without directions. A pass gives the arcs in pieces, each some rows,
or what a block has of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..store.store import Store
from .dijkstra import dijkstra
from .methods import StoredLengths, check_lengths, nearest_distances, with_delta
from .paths import SearchOptions, tight_tree
from .rows import WeightedRows, to_multiples
from .streamed import Piece, StreamedSearch


class Arcs(ABC):
    """n_vertices, n_arcs : two arcs an edge. distance_dtype : see rows.py. least_weight, largest_weight : 1 without
    arcs. mean_weight : 0 without arcs. threads, tick : of the options. Close it at the end. Raises OverflowError where
    distances may not fit 64 bits."""

    n_vertices: int
    n_arcs: int
    distance_dtype: np.dtype[Any]
    least_weight: int | float
    largest_weight: int | float
    mean_weight: float

    def __init__(self, options: SearchOptions) -> None:
        self.threads, self.tick = options.threads, options.tick or (lambda: None)

    @property
    @abstractmethod
    def bytes_read(self) -> int:
        """From disk, so far."""

    @abstractmethod
    def nearest(self, sources: np.ndarray) -> tuple[np.ndarray, int]:
        """Distance of every vertex to the nearest of `sources` (int64[k], no vertex twice; distance_dtype[n_vertices],
        see unreached), and arcs relaxed. Weights must not be negative."""

    @abstractmethod
    def again(self, source: int) -> np.ndarray:
        """The distances from `source`, as `nearest`, by a search that shares nothing with others before."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """A pass over all arcs, each once, in any order; a piece is valid until the next."""

    @abstractmethod
    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """int64[n_vertices], the vertex before each on a shortest path from one of `sources`, -1 of these and without a
        path. distances : as `nearest` gave them."""

    @abstractmethod
    def round_down(self, exponent: int) -> None:
        """Round all weights, which are floats, down to multiples of 2^exponent."""

    @abstractmethod
    def close(self) -> None:
        """End what reads."""


class ArcsInRam(Arcs):
    """Of rows in RAM. read : bytes that were read for them."""

    def __init__(self, rows: WeightedRows, options: SearchOptions, read: int = 0) -> None:
        super().__init__(options)
        self.n_vertices, self.n_arcs, self.distance_dtype = rows.n_vertices, rows.n_arcs, rows.distance_dtype
        self.least_weight, self.largest_weight = rows.least_weight, rows.largest_weight
        self._rows, self._options, self._read = rows, options, read
        check_lengths(self)

    @cached_property
    def mean_weight(self) -> float:  # type: ignore[override]
        """See Arcs."""
        return self._rows.mean_weight

    @property
    def bytes_read(self) -> int:
        """See Arcs."""
        return self._read

    @cached_property
    def _with_delta(self) -> SearchOptions:
        return with_delta(self._rows, self._options)

    def nearest(self, sources: np.ndarray) -> tuple[np.ndarray, int]:
        """See Arcs."""
        return nearest_distances(self._rows, sources, self._with_delta)

    def again(self, source: int) -> np.ndarray:
        """See Arcs; by Dijkstra's algorithm."""
        return dijkstra(self._rows, source, self._options).distances

    def pieces(self) -> Iterator[Piece]:
        """See Arcs; one piece."""
        yield Piece(0, self._rows.offsets, self._rows.heads, self._rows.costs)

    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """See Arcs."""
        rows, n = self._rows, self.n_vertices
        before, seen, queue = np.full(n, -1, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int64)
        tight_tree(rows.offsets, rows.heads, rows.costs, distances, sources, before, seen, queue)
        return before

    def round_down(self, exponent: int) -> None:
        """See Arcs; in their place."""
        assert self._rows.weights is not None
        to_multiples(self._rows.weights, exponent)
        self._rows = WeightedRows(self._rows.offsets, self._rows.heads, self._rows.weights)
        self.least_weight, self.largest_weight = self._rows.least_weight, self._rows.largest_weight
        self.__dict__.pop("mean_weight", None)
        self.__dict__.pop("_with_delta", None)

    def close(self) -> None:
        """See Arcs; nothing does."""


class ArcsOnDisk(Arcs):
    """Of a store, in blocks that are read as they are needed. arena_bytes : of blocks in RAM. Raises BudgetError for
    less than two blocks, StoreError."""

    def __init__(self, store: Store, arena_bytes: int, options: SearchOptions) -> None:
        super().__init__(options)
        weights, lengths = store.record.weights, StoredLengths.of(store)
        check_lengths(lengths)
        self.n_vertices, self.n_arcs, self.distance_dtype = store.n_vertices, store.n_arcs, lengths.distance_dtype
        self.least_weight, self.largest_weight = lengths.least_weight, lengths.largest_weight
        self.mean_weight = 0.0 if not self.n_arcs else 1.0 if weights is None else weights.mean
        self._store, self._arena_bytes, self._options, self._read = store, arena_bytes, options, 0
        self._search = StreamedSearch(store, arena_bytes, options)

    @property
    def bytes_read(self) -> int:
        """See Arcs."""
        return self._read + self._search.bytes_read

    def nearest(self, sources: np.ndarray) -> tuple[np.ndarray, int]:
        """See Arcs."""
        before = self._search.relaxations
        distances = self._search.nearest(sources)
        return distances, self._search.relaxations - before

    def again(self, source: int) -> np.ndarray:
        """See Arcs; with labels of its own, and blocks that are read again where they are not in the arena."""
        return self.nearest(np.array([source]))[0]

    def pieces(self) -> Iterator[Piece]:
        """See Arcs; a piece for every block."""
        return self._search.pieces()

    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """See Arcs."""
        return self._search.forest(distances, sources)

    def round_down(self, exponent: int) -> None:
        """See Arcs; whenever a block is read."""
        self.close()
        self._read = self.bytes_read
        self._search = StreamedSearch(self._store, self._arena_bytes, self._options, exponent)
        ends = np.array([self.least_weight, self.largest_weight], np.float64)
        to_multiples(ends, exponent)
        self.least_weight, self.largest_weight = ends.tolist()

    def close(self) -> None:
        """See Arcs."""
        self._search.close()
