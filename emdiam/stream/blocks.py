"""The block table: the vertices with arcs in each block, and the offset of every row.

A block is a chunk of `indices`. Blocks need not end with a row: a row may begin in one block and end in a later one,
and kernels clip rows to the current block. So blocks are exactly the store's chunks (no copying, no second layout), and
a hub row is an ordinary row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import StoreError
from ..store.array_reader import OFFSET_CHUNKS, pieces
from ..store.store import Store
from .offsets import GROUP, Offsets, Zeros, build_offsets, offsets_bytes, row_starts


@dataclass(frozen=True)
class BlockTable:
    """offsets : of all rows. first_vertex : int64[n_blocks + 1], the vertex whose row contains the block's first arc
    (last entry: n_vertices). shift : log2 of ids per block. isolated : uint64 bitmap of vertices without an arc (and of
    the bits after the last vertex)."""

    n_vertices: int
    n_arcs: int
    shift: int
    offsets: Offsets
    first_vertex: np.ndarray
    isolated: np.ndarray

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.first_vertex) - 1

    def arcs_between(self, first: int, stop: int) -> tuple[int, int]:
        """Begin and end of the arcs of rows first..stop-1."""
        ends, offsets = np.zeros(2, np.int64), self.offsets
        if first < stop:
            row_starts(offsets.group, offsets.row, offsets.hub, np.array([first, stop], np.int64), ends)
        return int(ends[0]), int(ends[1])

    def blocks_between(self, first: int, stop: int) -> np.ndarray:
        """The blocks with arcs of rows first..stop-1, int64[k]."""
        begin, end = self.arcs_between(first, stop)
        return np.arange(begin >> self.shift, ((end - 1) >> self.shift) + 1) if begin < end else np.empty(0, np.int64)


def table_bytes(store: Store, building: bool = True) -> int:
    """Upper bound of the bytes of a BlockTable, of the RowCheck beside it, and of building the table."""
    n, m, block_ids = store.n_vertices, store.n_arcs, store.indices.chunk_items
    buffers = OFFSET_CHUNKS * block_ids * 8 * 4 if building else 0
    return offsets_bytes(n, m, store.record.max_degree) + 33 * (m // block_ids + 2) + n // 8 + buffers


def build_block_table(
    store: Store, span: tuple[int, int] | None = None, zeros: Zeros = np.zeros
) -> BlockTable:
    """Read `indptr` once, in pieces. Raises StoreError if it is not a valid offset array, or if its degrees differ from
    the store record.

    span : first vertex (a multiple of 64) and end (as well, unless it is n) of the rows to read; other rows then have
    no arcs, and the degrees are not checked. zeros : makes the arrays, each for the whole graph.
    """
    n, m, (first, stop) = store.n_vertices, store.n_arcs, span or (0, store.n_vertices)
    shift = store.indices.chunk_items.bit_length() - 1
    first_vertex, words = zeros(store.indices.n_chunks + 1, np.int64), zeros((n + 63) // 64, np.uint64)
    first_vertex[-1] = stop
    if stop == n and n % GROUP:
        words[-1] = 0xFFFFFFFFFFFFFFFF << n % GROUP & 0xFFFFFFFFFFFFFFFF
    builder = _Pass(first_vertex, words, shift, m, first)
    try:
        values = pieces(store.indptr, OFFSET_CHUNKS, first, stop + 1)
        offsets = build_offsets(n, builder.observe(values), (first, stop), zeros)
    except ValueError as error:
        raise _invalid(store, error) from None
    if stop == n:
        _check_end(store, builder.last)
    if span is None:
        check_degrees(store, builder.max_degree, int(np.bitwise_count(words).sum()) - (-n % GROUP))
    return BlockTable(n, m, shift, offsets, first_vertex, words)


def build_outline(store: Store) -> BlockTable:
    """A table without offsets and bitmap, that is, without arrays of n entries. Reads `indptr` once, in pieces, and
    raises like build_block_table."""
    n, nothing = store.n_vertices, np.zeros(0, np.int64)
    first_vertex = np.zeros(store.indices.n_chunks + 1, np.int64)
    first_vertex[-1] = n
    shift = store.indices.chunk_items.bit_length() - 1
    seen = _Pass(first_vertex, np.zeros(0, np.uint64), shift, store.n_arcs, 0)
    try:
        for _ in seen.observe(pieces(store.indptr, 1)):
            pass
    except ValueError as error:
        raise _invalid(store, error) from None
    _check_end(store, seen.last)
    check_degrees(store, seen.max_degree, seen.n_isolated)
    return BlockTable(n, store.n_arcs, shift, Offsets(0, nothing, nothing.astype(np.uint16), nothing), first_vertex,
                      np.zeros(0, np.uint64))


def _invalid(store: Store, error: ValueError) -> StoreError:
    return StoreError(f"indptr is not valid ({error})", path=store.path, remedy="convert again")


def _check_end(store: Store, last: int) -> None:
    """Raise StoreError unless the last row ends with the last arc."""
    if last != store.n_arcs:
        raise StoreError(f"indptr ends at {last}, the store has {store.n_arcs} arcs", path=store.path,
                         remedy="convert again")


def check_degrees(store: Store, max_degree: int, n_isolated: int) -> None:
    """Raise StoreError unless these are the figures of the store record, as memory is planned with those."""
    said = (store.record.max_degree, store.record.n_isolated)
    if (max_degree, n_isolated) != said:
        raise StoreError(f"the largest degree and the number of isolated vertices are {(max_degree, n_isolated)}, the"
                         f" store record says {said}", path=store.path, remedy="convert again")


class _Pass:
    """Fills first_vertex and the isolated bitmap (unless it has no words) from a stream of offsets, which are checked
    before they are used.

    last : the last offset. max_degree : the largest degree. n_isolated : rows without an arc.
    """

    def __init__(self, first_vertex: np.ndarray, isolated: np.ndarray, shift: int, n_arcs: int, first: int) -> None:
        self.last = self.max_degree = self.n_isolated = 0
        self._n_arcs = n_arcs
        self._first_vertex, self._isolated, self._shift = first_vertex, isolated, shift
        self._seen = first

    def observe(self, pieces: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
        previous = np.empty(0, np.int64)
        for piece in pieces:
            ends = np.concatenate((previous, piece))
            start = self._seen - len(previous)
            if self._seen == 0 and ends[0] != 0:
                raise ValueError(f"the first row begins at {int(ends[0])}")
            degrees = np.diff(ends)
            if np.any(ends < 0) or np.any(degrees < 0) or ends[-1] > self._n_arcs:
                raise ValueError(f"row offsets are not monotone up to {self._n_arcs}")
            self.max_degree = max(self.max_degree, int(degrees.max(initial=0)))
            # ends[i] is the offset of vertex start + i.
            high = min((int(ends[-1]) - 1) >> self._shift, len(self._first_vertex) - 2)
            blocks = np.arange((int(ends[0]) + (1 << self._shift) - 1) >> self._shift, high + 1)
            self._first_vertex[blocks] = start + np.searchsorted(ends, blocks << self._shift, side="right") - 1
            self.n_isolated += len(degrees) - int(np.count_nonzero(degrees))
            if len(self._isolated):
                self._mark(start, degrees == 0)
            self._seen += len(piece)
            self.last = int(piece[-1])
            previous = piece[-1:].copy()
            yield piece

    def _mark(self, start: int, vacant: np.ndarray) -> None:
        """Mark vertices start, start + 1, ... as isolated if `vacant` is true. Other words are not written, so that
        pages without an isolated vertex take no memory."""
        skip = start % GROUP
        flags = np.zeros(-(-(skip + len(vacant)) // GROUP) * GROUP, bool)
        flags[skip : skip + len(vacant)] = vacant
        words = np.packbits(flags, bitorder="little").view(np.uint64)
        some = np.flatnonzero(words)
        self._isolated[start // GROUP + some] |= words[some]
