"""Where the arcs of a graph come from, for a matrix or for searches: a store that is streamed, or rows in memory.

What numbers a matrix of distances is made of: wide enough for every sum, and no wider.

Integers have 32 bits where that does, else 64; a path takes an arc out of each vertex at most, so no finite distance is
longer than the sum of the longest arcs out of all vertices. Where weights are negative, what stands for no path falls
by as much at most; so it is more than twice that, and half of what the integers hold, so that no sum overflows.
Floats have 64 bits, and infinity for no path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...jit import kernel
from ...store.array_reader import ShardedArray, filled, pieces
from ...store.store import Store
from ..rows import WeightedRows


@dataclass(frozen=True)
class Lengths:
    """dtype : of the matrix while it is worked on. infinity : stands for no path then. bound : no finite distance is
    longer, nor shorter than -bound. decimals : k, of distances that are whole numbers of 10^-k; they are given out as
    the float64 next to them, in the same memory. given : dtype of what is given out. unreachable : stands for no path
    in it."""

    dtype: np.dtype[Any]
    infinity: int | float
    bound: int | float
    decimals: int = 0

    @property
    def given(self) -> np.dtype[Any]:
        """See above."""
        return np.dtype(np.float64) if self.decimals else self.dtype

    @property
    def unreachable(self) -> int | float:
        """The largest value of the dtype, or infinity."""
        return np.inf if self.given.kind == "f" else int(np.iinfo(self.dtype).max)


def lengths_for(bound: int | float, *, floats: bool, negative: bool, decimals: int = 0) -> Lengths:
    """The numbers for distances of at most `bound`, of weights that are floats, or may be negative, or whole numbers of
    10^-decimals. Raises OverflowError where a distance may not fit 64 bits."""
    if floats:
        if not bound < np.finfo(np.float64).max:
            raise OverflowError("the weights are so large that a distance may not fit 64 bits")
        # A sum of 2^32 of them that is rounded each time is longer by 2^-21 of it at most.
        return Lengths(np.dtype(np.float64), np.inf, float(bound) * (1 + 2.0**-20))
    for dtype in (np.int64,) if decimals else (np.int32, np.int64):
        infinity = (int(np.iinfo(dtype).max) - 1) // 2
        if (4 * bound if negative else bound) < infinity:
            return Lengths(np.dtype(dtype), infinity, int(bound), decimals)
    raise OverflowError(f"distances up to {bound} may not fit 64 bits")


_PIECE_CHUNKS = 4

# (number of the first arc, heads, weights) of some arcs that follow one another.
Piece = tuple[int, np.ndarray, np.ndarray]


class MatrixArcs(Protocol):
    """The arcs of a graph; an undirected one has both of every edge. offsets : int64[n_vertices + 1], arcs out of v are
    offsets[v] to offsets[v + 1] - 1. unit : whether all have the length 1. decimals : k, of weights in 10^-k. nbytes :
    held while they are there. rows_bytes : of `rows`, beyond that. piece_bytes : of a piece at hand."""

    n_vertices: int
    n_arcs: int
    offsets: np.ndarray
    unit: bool
    weight_dtype: np.dtype[Any]
    decimals: int
    nbytes: int
    rows_bytes: int
    piece_bytes: int

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """The arcs out of vertices first to last - 1, each piece valid until the next."""

    def rows(self) -> WeightedRows:
        """All of them in memory."""


class RowArcs:
    """Of rows in memory."""

    def __init__(self, rows: WeightedRows) -> None:
        self._rows, self.offsets = rows, rows.offsets
        self.n_vertices, self.n_arcs, self.unit = rows.n_vertices, rows.n_arcs, rows.weights is None
        self.weight_dtype, self.decimals = rows.costs.dtype, 0
        self.nbytes, self.rows_bytes, self.piece_bytes = rows.nbytes, 0, 0

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """See MatrixArcs."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        if begin < end:
            yield begin, self._rows.heads[begin:end], self._rows.costs[begin:end]

    def rows(self) -> WeightedRows:
        """See MatrixArcs."""
        return self._rows


class StoreArcs:
    """Of a store: its offsets are in memory, arcs are read where they are asked for. Raises StoreError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._weights: ShardedArray | None = store.weights
        self.n_vertices, self.n_arcs, self.unit = store.n_vertices, store.n_arcs, self._weights is None
        self.offsets = filled(np.empty(self.n_vertices + 1, np.int64), pieces(store.indptr, _PIECE_CHUNKS))
        if self.offsets[0] != 0 or self.offsets[-1] != self.n_arcs or np.any(np.diff(self.offsets) < 0):
            raise store.damaged("indptr does not rise from 0 to the number of arcs")
        self.weight_dtype = np.dtype(np.uint8) if self._weights is None else self._weights.dtype
        self.decimals = 0 if store.record.weights is None else store.record.weights.decimals
        arc = store.id_dtype.itemsize + (0 if self._weights is None else self.weight_dtype.itemsize)
        self.nbytes, self.rows_bytes = self.offsets.nbytes, arc * self.n_arcs + self.offsets.nbytes
        self.piece_bytes = 2 * _PIECE_CHUNKS * store.indices.chunk_items * arc

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """See MatrixArcs. Raises StoreError."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        weights = None if self._weights is None else pieces(self._weights, _PIECE_CHUNKS, begin, end)
        for heads in pieces(self._store.indices, _PIECE_CHUNKS, begin, end):
            if len(heads) and int(heads.max()) >= self.n_vertices:
                raise self._store.damaged(f"indices hold {int(heads.max())}, which is no vertex")
            costs = np.broadcast_to(np.uint8(1), len(heads)) if weights is None else next(weights)
            if costs.dtype.kind == "f" and not np.isfinite(costs).all():
                raise self._store.damaged("a weight is no finite number")
            yield begin, heads, costs
            begin += len(heads)

    def rows(self) -> WeightedRows:
        """See MatrixArcs. Raises StoreError."""
        return WeightedRows.from_store(self._store)


def lengths_of(arcs: MatrixArcs) -> tuple[Lengths, bool]:
    """What numbers distances along these arcs take, and whether weights are negative; one pass over the weights, if
    there are any. Raises OverflowError."""
    n, floats = arcs.n_vertices, arcs.weight_dtype.kind == "f"
    if arcs.unit:
        return lengths_for(max(0, n - 1), floats=False, negative=False), False
    longest, least = np.zeros(n, np.float64), 0.0
    for begin, _, costs in arcs.pieces(0, n):
        least = min(least, longest_arcs(arcs.offsets, begin, costs, longest))
    # Integers of up to 32 bits, so many, are exact in 53 bits; of more bits this is rounded, by less than the margin.
    with np.errstate(over="ignore"):
        most = float(longest.sum())
    negative = least < 0
    return lengths_for(most if floats else int(most), floats=floats, negative=negative,
                       decimals=arcs.decimals), negative


@kernel
def longest_arcs(offsets, begin, costs, longest):
    """longest[v] = the largest absolute weight out of v, of the arcs from `begin` on; gives the least weight, 0 at
    most."""
    least = 0.0
    v = np.searchsorted(offsets, begin, side="right") - 1
    for p in range(len(costs)):
        while offsets[v + 1] <= begin + p:
            v += 1
        cost = np.float64(costs[p])
        least = min(least, cost)
        longest[v] = max(longest[v], abs(cost))
    return least


def fill_tile(tile: np.ndarray, arcs: MatrixArcs, lengths: Lengths, rows: tuple[int, int],
              columns: tuple[int, int]) -> None:
    """The matrix of arcs, of these rows and columns (first, last + 1), into the upper left of `tile`: infinity where no
    arc is, 0 on the diagonal."""
    tile.fill(lengths.infinity)
    for begin, heads, costs in arcs.pieces(*rows):
        put_arcs(tile, arcs.offsets, begin, heads, costs, rows[0], columns)
    both = np.arange(max(rows[0], columns[0]), min(rows[1], columns[1]))
    tile[both - rows[0], both - columns[0]] = 0


@kernel
def put_arcs(tile, offsets, begin, heads, costs, first, columns):
    """tile[v - first, u - columns[0]] = weight of the arcs from v to u; of parallel ones the least."""
    v = np.searchsorted(offsets, begin, side="right") - 1
    for p in range(len(heads)):
        while offsets[v + 1] <= begin + p:
            v += 1
        u = np.int64(heads[p])
        if columns[0] <= u < columns[1] and costs[p] < tile[v - first, u - columns[0]]:
            tile[v - first, u - columns[0]] = costs[p]
