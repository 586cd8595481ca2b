"""Rows are checked when a block is first read: stores are not trusted, but engines rely on valid rows.

In every row the ids must be vertices, increase strictly and exclude the row's own vertex; otherwise a StoreError names
the row. After all blocks were read, every edge must have occurred in both directions: the sum over arcs (v, w) of h(v)
h(w) modulo 2^64, with an odd hash h, must be the same for v < w and for v > w; asymmetric rows pass with a probability
of about 2^-63, or if constructed on purpose. `emdiam info --check` proves symmetry.
Work: once for each arc, beside its decoding. Bytes: 16 per block with uint32 ids. Kernels are safe on asymmetric rows
too, since asymmetry is only detected at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import StoreError
from ..jit import inlined, kernel
from . import uncompiled
from .blocks import BlockTable
from .offsets import following_starts

# bounds(first, stop): the offsets of rows first..stop-1, int64[stop - first]; the offset of row n is the end of the
# last row.
Bounds = Callable[[int, int], np.ndarray]
_ODD = np.uint64(0x9E3779B97F4A7C15)
# Rows of a block that are checked at once.
_PIECE = 1 << 13


class RowCheck:
    """The state of the check of one table's rows.

    Parameters
    ----------
    table : of the store, or of a range of its vertices. dtype : of ids. place : the store's name in errors. whole :
    whether the table has all vertices; otherwise the symmetry of edges cannot be checked. bounds : offsets of rows,
    thread-safe; None: the table's. other : in a store with directions, the check of the other rows: their sums together
    must be those of edges in both directions. (Pairs of opposite arcs add nothing to either sum; `emdiam info --check`
    checks these too.)
    """

    def __init__(self, table: BlockTable, dtype: np.dtype[Any], place: str, whole: bool = True,
                 bounds: Bounds | None = None, other: RowCheck | None = None) -> None:
        self._table, self._place, self._lock = table, place, threading.Lock()
        self._other = other
        if other is not None:
            self._lock, other._other = other._lock, self
        self._bounds = bounds or self._bounds_in_table
        self._seen = np.zeros(table.n_blocks, bool)
        self._ends, self._continued = np.zeros((table.n_blocks, 2), dtype), np.zeros(table.n_blocks, bool)
        self._sums = np.zeros(table.n_blocks, np.uint64)
        self._left, self._whole = table.n_blocks, whole

    def vet(self, first: int, rows: Sequence[np.ndarray]) -> None:
        """Check blocks first, first + 1, ... unless that was done before; later reads rely on their checksums.

        rows : id_dtype[block_ids] each. Thread-safe. Raises StoreError.
        """
        for block, ids in enumerate(rows, start=first):
            if not self._seen[block]:
                self._look_at(block, ids)

    def _bounds_in_table(self, first: int, stop: int) -> np.ndarray:
        offsets, starts = self._table.offsets, np.empty(stop - first, np.int64)
        following_starts(offsets.group, offsets.row, offsets.hub, first, starts)
        return starts

    def _look_at(self, block: int, ids: np.ndarray) -> None:
        table = self._table
        ids = ids[: min(len(ids), table.n_arcs - (block << table.shift))]
        largest = int(ids.max())
        if largest >= table.n_vertices:
            raise self._fault(f"block {block} of indices holds {largest}, which is no vertex (a missing chunk reads"
                              " so)")
        base, begin = block << table.shift, int(table.first_vertex[block])
        total, stop, continued = 0, min(int(table.first_vertex[block + 1]), int(table.first_vertex[-1]) - 1) + 1, False
        for first in range(begin, stop, _PIECE):
            starts = self._bounds(first, min(first + _PIECE, stop) + 1)
            if first == begin:
                continued = bool(starts[0] < base)
            row, part = check_rows(ids, first, starts - base)
            if row >= 0:
                raise self._unsorted(int(row))
            total = (total + int(part)) % (1 << 64)
        with self._lock:
            self._ends[block], self._continued[block] = (ids[0], ids[-1]), continued
            for left in (block - 1, block):
                self._check_cut(left, block)
            self._sums[block] = total
            self._left -= not self._seen[block]
            self._seen[block] = True
            balanced = not self._whole or self._balanced()
        if not balanced:
            raise self._fault("an edge is stored in one direction only")

    def _balanced(self) -> bool:
        """Whether every edge may have occurred in both directions, as far as blocks were read."""
        parts = [part for part in (self, self._other) if part is not None]
        return any(part._left for part in parts) or sum(int(part._sums.sum()) for part in parts) % (1 << 64) == 0

    def _check_cut(self, left: int, block: int) -> None:
        """Check a row that continues from block `left` in the next block, if both were read; `block` is one of the
        two."""
        right = left + 1
        if not (0 <= left and right < self._table.n_blocks and self._seen[left + right - block]):
            return
        if self._continued[right] and self._ends[left, 1] >= self._ends[right, 0]:
            raise self._unsorted(int(self._table.first_vertex[right]))

    def _unsorted(self, vertex: int) -> StoreError:
        return self._fault(f"the neighbours of vertex {vertex} do not ascend, or hold itself")

    def _fault(self, what: str) -> StoreError:
        return StoreError(what, path=self._place, remedy="the store is damaged: convert the graph again")


@inlined
def _hash(v):
    """An odd 64-bit number."""
    x = np.uint64(v) * _ODD
    return (x ^ (x >> np.uint64(32))) | np.uint64(1)


@kernel(uncompiled=uncompiled.check_rows)
def check_rows(ids, first, starts):
    """(the first row that does not ascend or contains its vertex, or -1; sum over its arcs (v, w) of +-h(v) h(w)).

    ids : of the block. starts : int64[k + 1], the positions in the block of rows first, first + 1, ..., and the end of
    the last row. Rows are clipped to the block.
    """
    total = np.uint64(0)
    for i in range(len(starts) - 1):
        start, end = max(starts[i], 0), min(starts[i + 1], len(ids))
        if start >= end:
            continue
        v = first + i
        wrong = np.int64(ids[start]) == v
        part = _hash(ids[start]) if np.int64(ids[start]) > v else np.uint64(0) - _hash(ids[start])
        for p in range(start + 1, end):
            w = np.int64(ids[p])
            wrong |= (ids[p] <= ids[p - 1]) | (w == v)
            h = _hash(w)
            part += h if w > v else np.uint64(0) - h
        if wrong:
            return v, total
        total += _hash(v) * part
    return np.int64(-1), total
