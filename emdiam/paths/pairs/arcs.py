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
from typing import Any

import numpy as np

from ...jit import kernel
from ...store.array_reader import pieces
from ...store.store import Store
from ..blocks import RUN_CHUNKS, head_check, offsets_in_ram
from ..rows import Piece, WeightedRows, distance_dtype


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




class StoreArcs:
    """Of a store: its offsets are in memory, arcs are read where they are asked for. Raises StoreError.

    offsets : int64[n_vertices + 1], arcs out of v are offsets[v] to offsets[v + 1] - 1. unit : whether all have the
    length 1. decimals : k, of weights in 10^-k. nbytes : held while they are there. rows_bytes : of `rows`, beyond
    that. piece_bytes : of a piece at hand.
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
        """The arcs out of vertices first to last - 1, each piece valid until the next; a row that is cut is in two of
        them. Raises StoreError."""
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
        """All of them in memory. Raises StoreError."""
        return WeightedRows.from_store(self._store)


# The arcs of a graph, an undirected one with both of every edge, wherever they are.
MatrixArcs = StoreArcs | WeightedRows


def lengths_of(arcs: MatrixArcs) -> tuple[Lengths, bool]:
    """What numbers distances along these arcs take, and whether weights are negative; one pass over the weights, if
    there are any. Raises OverflowError."""
    n, floats = arcs.n_vertices, arcs.distance_dtype.kind == "f"
    if arcs.unit:
        return lengths_for(max(0, n - 1), floats=False, negative=False), False
    longest, least = np.zeros(n, np.float64), 0.0
    for first, offsets, _, costs in arcs.pieces(0, n):
        least = min(least, longest_arcs(first, offsets, costs, longest))
    # Integers of up to 32 bits, so many, are exact in 53 bits; of more bits this is rounded, by less than the margin.
    with np.errstate(over="ignore"):
        most = float(longest.sum())
    negative = least < 0
    return lengths_for(most if floats else int(most), floats=floats, negative=negative,
                       decimals=arcs.decimals), negative


@kernel
def longest_arcs(first, offsets, costs, longest):
    """longest[v] = the largest absolute weight out of v, of the rows of a piece too; gives the least weight, 0 at
    most."""
    least = 0.0
    for i in range(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            cost = np.float64(costs[p])
            least = min(least, cost)
            longest[first + i] = max(longest[first + i], abs(cost))
    return least


def fill_tile(tile: np.ndarray, arcs: MatrixArcs, lengths: Lengths, rows: tuple[int, int],
              columns: tuple[int, int]) -> None:
    """The matrix of arcs, of these rows and columns (first, last + 1), into the upper left of `tile`: infinity where no
    arc is, 0 on the diagonal."""
    tile.fill(lengths.infinity)
    for piece in arcs.pieces(*rows):
        put_arcs(tile, *piece, rows[0], columns)
    both = np.arange(max(rows[0], columns[0]), min(rows[1], columns[1]))
    tile[both - rows[0], both - columns[0]] = 0


@kernel
def put_arcs(tile, first, offsets, heads, costs, top, columns):
    """tile[v - top, u - columns[0]] = weight of the arcs from v to u; of parallel ones the least."""
    for i in range(len(offsets) - 1):
        row = first + i - top
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if columns[0] <= u < columns[1] and costs[p] < tile[row, u - columns[0]]:
                tile[row, u - columns[0]] = costs[p]
