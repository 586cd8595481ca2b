"""The arcs of a graph for a matrix or for searches, streamed from a store or in memory, and the dtype of distances.

The dtype of a matrix is the narrowest one in which no sum overflows. Integers have 32 bits if they suffice, else 64: a
path has at most one arc out of each vertex, so no finite distance exceeds the sum of the longest arcs out of all
vertices. With negative weights, the value for "no path" can fall by at most this sum; so it is more than twice the sum,
and half of the largest integer. Floats have 64 bits, and infinity for no path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...jit import kernel
from ...store.array_reader import pieces
from ...store.store import Store
from ..blocks import RUN_CHUNKS, head_check, offsets_in_ram
from ..rows import Piece, WeightedRows, distance_dtype


@dataclass(frozen=True)
class Lengths:
    """The numbers of a matrix. dtype, infinity : dtype and value for no path during the computation. bound : no finite
    distance is above bound or below -bound. decimals : k if distances are integers in units of 10^-k; the output has
    the nearest float64, in the same memory. output_dtype, unreachable : dtype and value for no path of the output."""

    dtype: np.dtype[Any]
    infinity: int | float
    bound: int | float
    decimals: int = 0

    @property
    def output_dtype(self) -> np.dtype[Any]:
        """The dtype of the output."""
        return np.dtype(np.float64) if self.decimals else self.dtype

    @property
    def unreachable(self) -> int | float:
        """The largest value of the dtype, or infinity."""
        return np.inf if self.output_dtype.kind == "f" else int(np.iinfo(self.dtype).max)


def lengths_for(bound: int | float, *, floats: bool, negative: bool, decimals: int = 0) -> Lengths:
    """The numbers for distances of at most `bound`. floats, negative : of the weights. decimals : weights are integers
    in units of 10^-decimals. Raises OverflowError if a distance may not fit 64 bits."""
    if floats:
        if not bound < np.finfo(np.float64).max:
            raise OverflowError("the weights are so large that a distance may not fit 64 bits")
        # A sum of 2^32 floats that is rounded each time is longer by at most 2^-21 of itself.
        return Lengths(np.dtype(np.float64), np.inf, float(bound) * (1 + 2.0**-20))
    for dtype in (np.int64,) if decimals else (np.int32, np.int64):
        infinity = (int(np.iinfo(dtype).max) - 1) // 2
        if (4 * bound if negative else bound) < infinity:
            return Lengths(np.dtype(dtype), infinity, int(bound), decimals)
    raise OverflowError(f"distances up to {bound} may not fit 64 bits")




class StoreArcs:
    """The arcs of a store, read on demand, with offsets in memory. Raises StoreError.

    offsets : int64[n_vertices + 1], arcs out of v are offsets[v] to offsets[v + 1] - 1. unit : whether all lengths are
    1. decimals : weights are in units of 10^-decimals. nbytes : memory of this object. rows_bytes : additional memory
    of `rows`. piece_bytes : memory of a piece.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._weights = store, store.weights
        self.n_vertices, self.n_arcs, self.unit = store.n_vertices, store.n_arcs, self._weights is None
        self.offsets = offsets_in_ram(store)
        weight_dtype = np.dtype(np.uint8) if self._weights is None else self._weights.dtype
        self.distance_dtype = distance_dtype(weight_dtype)
        self.decimals = 0 if store.record.weights is None else store.record.weights.decimals
        arc = store.id_dtype.itemsize + (0 if self._weights is None else weight_dtype.itemsize)
        self.nbytes, self.rows_bytes = self.offsets.nbytes, arc * self.n_arcs + self.offsets.nbytes
        self.piece_bytes = 2 * RUN_CHUNKS * store.indices.chunk_items * arc

    def pieces(self, first: int, last: int) -> Iterator[Piece]:
        """The arcs out of vertices first to last - 1; each piece is valid until the next, and a row may span pieces.
        Raises StoreError."""
        begin, stop = int(self.offsets[first]), int(self.offsets[last])
        weights = None if self._weights is None else pieces(self._weights, RUN_CHUNKS, begin, stop)
        check = head_check(self._store)
        for heads in pieces(self._store.indices, RUN_CHUNKS, begin, stop):
            check(heads)
            costs = np.broadcast_to(np.uint8(1), len(heads)) if weights is None else next(weights)
            if costs.dtype.kind == "f" and not np.isfinite(costs).all():
                raise self._store.damaged("a weight is no finite number")
            end = begin + len(heads)
            row = int(np.searchsorted(self.offsets, begin, side="right")) - 1
            offsets = self.offsets[row : np.searchsorted(self.offsets, end) + 1]
            yield Piece(row, np.clip(offsets - begin, 0, len(heads)), heads, costs)
            begin = end

    def rows(self) -> WeightedRows:
        """All arcs as rows in memory. Raises StoreError."""
        return WeightedRows.from_store(self._store)


# The arcs of a graph, on disk or in memory; an undirected graph has both arcs of every edge.
MatrixArcs = StoreArcs | WeightedRows


def lengths_of(arcs: MatrixArcs) -> tuple[Lengths, bool]:
    """The numbers for distances along these arcs, and whether weights are negative. Reads the weights once. Raises
    OverflowError."""
    n, floats = arcs.n_vertices, arcs.distance_dtype.kind == "f"
    if arcs.unit:
        return lengths_for(max(0, n - 1), floats=False, negative=False), False
    longest, least = np.zeros(n, np.float64), 0.0
    for first, offsets, _, costs in arcs.pieces(0, n):
        least = min(least, longest_arcs(first, offsets, costs, longest))
    # The sum is exact for integers of up to 32 bits; for wider ones it is rounded, by less than the margin.
    with np.errstate(over="ignore"):
        most = float(longest.sum())
    negative = least < 0
    return lengths_for(most if floats else int(most), floats=floats, negative=negative,
                       decimals=arcs.decimals), negative


@kernel
def longest_arcs(first, offsets, costs, longest):
    """Raise longest[v] to the largest absolute weight out of v in a piece; return the least weight, at most 0."""
    least = 0.0
    for i in range(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            cost = np.float64(costs[p])
            least = min(least, cost)
            longest[first + i] = max(longest[first + i], abs(cost))
    return least


def fill_tile(tile: np.ndarray, arcs: MatrixArcs, lengths: Lengths, rows: tuple[int, int],
              columns: tuple[int, int]) -> None:
    """Write the adjacency matrix of these rows and columns (first, last + 1) into the upper left of `tile`: infinity
    without an arc, 0 on the diagonal."""
    tile.fill(lengths.infinity)
    for piece in arcs.pieces(*rows):
        put_arcs(tile, *piece, rows[0], columns)
    both = np.arange(max(rows[0], columns[0]), min(rows[1], columns[1]))
    tile[both - rows[0], both - columns[0]] = 0


@kernel
def put_arcs(tile, first, offsets, heads, costs, top, columns):
    """Set tile[v - top, u - columns[0]] to the least weight of an arc from v to u."""
    for i in range(len(offsets) - 1):
        row = first + i - top
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if columns[0] <= u < columns[1] and costs[p] < tile[row, u - columns[0]]:
                tile[row, u - columns[0]] = costs[p]
