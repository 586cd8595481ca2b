"""The block table of a range of vertices: as stream.blocks.BlockTable, with the rows of other workers empty.

Offsets and bitmaps are indexed by the numbers of the whole graph; what lies outside the range takes no memory (see
virtual.py) and reads as rows without arcs. `first_vertex` is right for the blocks of the range, and its last entry is
the end of the range, at which kernels stop.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import StoreError
from ..store.array_reader import ChunkedArray
from ..store.store import Store
from ..stream.blocks import BlockTable
from ..stream.offsets import GROUP, Offsets, add_groups
from .reserved_arrays import virtual_zeros

_PIECE_CHUNKS = 4
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def build_range_table(store: Store, first: int, stop: int) -> tuple[BlockTable, np.ndarray]:
    """The table of vertices first..stop-1 (first a multiple of 64, stop as well unless it is n), and the blocks with
    their arcs, int64[k]. Reads their part of indptr once. Raises StoreError if it is no valid offset array."""
    n, m = store.n_vertices, store.n_arcs
    shift = store.indices.chunk_items.bit_length() - 1
    n_blocks = store.indices.n_chunks
    n_groups = n // GROUP + 1
    group, row = virtual_zeros(n_groups, np.int64), virtual_zeros(n_groups * GROUP, np.uint16)
    first_vertex = virtual_zeros(n_blocks + 1, np.int64)
    isolated = virtual_zeros((n + 63) // 64, np.uint64)
    isolated[-(-first // GROUP) : -(-stop // GROUP)] = _ALL
    hubs: list[np.ndarray] = []
    done, before = first, np.empty(0, np.int64)
    begin = end = 0
    for piece in _groups(store.indptr, first, stop):
        ends = np.concatenate((before, piece))
        if np.any(ends[1:] < ends[:-1]) or not 0 <= ends[0] <= ends[-1] <= m:
            raise StoreError("indptr is not valid (row offsets are not monotone)", path=store.path,
                             remedy="convert again")
        begin, end = begin if len(before) else int(piece[0]), int(piece[-1])
        _note(ends, done - len(before), shift, first_vertex, isolated)
        padded = np.concatenate((piece, np.full(-len(piece) % GROUP, piece[-1], np.int64)))
        add_groups(padded.reshape(-1, GROUP), done // GROUP, group, row, hubs)
        done, before = done + len(piece), piece[-1:]
    hub = np.concatenate(hubs) if hubs else np.zeros(0, np.int64)
    blocks = np.arange(begin >> shift, ((end - 1) >> shift) + 1) if end > begin else np.empty(0, np.int64)
    if len(blocks):
        first_vertex[blocks[0]] = max(first, int(first_vertex[blocks[0]]))
        first_vertex[blocks[-1] + 1] = stop
    first_vertex[n_blocks] = stop
    return BlockTable(n, m, shift, Offsets(n, group, row, hub), first_vertex, isolated), blocks


def _groups(indptr: ChunkedArray, first: int, stop: int) -> Iterator[np.ndarray]:
    """Values first..stop of indptr in pieces that begin at multiples of 64."""
    size = indptr.chunk_items
    buffer = np.empty((_PIECE_CHUNKS, size), np.int64)
    rest = np.empty(0, np.int64)
    chunk, at = first // size, first
    while at <= stop and first < stop:
        count = indptr.run_length(chunk, _PIECE_CHUNKS)
        indptr.fetch(chunk, list(buffer[:count]))
        begin = chunk * size
        end = min(stop + 1, begin + count * size)
        values = np.concatenate((rest, buffer.reshape(-1)[at - begin : end - begin]))
        whole = len(values) if end > stop else len(values) // GROUP * GROUP
        if whole:
            yield values[:whole].copy()
        rest = values[whole:]
        chunk, at = chunk + count, end


def _note(ends: np.ndarray, start: int, shift: int, first_vertex: np.ndarray, isolated: np.ndarray) -> None:
    """Take values start.. of indptr into account: which rows begin blocks, and which have arcs."""
    lows = np.arange((int(ends[0]) + (1 << shift) - 1) >> shift, (int(ends[-1]) >> shift) + 1)
    lows = lows[lows < len(first_vertex) - 1]
    first_vertex[lows] = start + np.searchsorted(ends, lows << shift, side="right") - 1
    vertices = start + np.flatnonzero(ends[1:] != ends[:-1])
    masks = ~(np.uint64(1) << (vertices & 63).astype(np.uint64))
    np.bitwise_and.at(isolated, vertices // GROUP, masks)
