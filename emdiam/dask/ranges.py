"""What a rank has of the graph: its range of vertices, the block table and the state of traversals of that range.

Ranges are contiguous, with about as many arcs each. A range begins at a multiple of 64, so that no two workers share a
word of a bitmap. A vertex counts as much as an arc, so that vertices without an arc are shared out too.

Arrays are as long as the graph, of which a worker touches its own range: addresses, not memory. A worker indexes by
the numbers of the whole graph, so that kernels are the same as on one machine. Pages of an anonymous mapping take no
memory until they are written to, so an array of n entries takes what the worker's range needs of it, rounded to pages.

The block table is as stream.blocks.BlockTable, with the rows of other workers empty. Offsets and bitmaps are indexed
by the numbers of the whole graph; what lies outside the range takes no memory and reads as rows without arcs.
`first_vertex` is right for the blocks of the range, and its last entry is the end of the range, at which kernels stop.

The state of traversals is as traverse.workspace.Workspace, without memory for what others own. `visited` is the
exception, and `frontier` on dense levels: their bits for vertices of others say what is known of these, n/8 bytes
each.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..errors import StoreError
from ..store.array_reader import ShardedArray
from ..store.store import Store
from ..stream.blocks import BlockTable
from ..stream.offsets import GROUP, Offsets, add_groups
from ..traverse.rows import ALL
from ..traverse.sparse import STATE
from ..traverse.workspace import Workspace, queue_capacity

WORD = 64


def balanced_ranges(store: Store, parts: int) -> np.ndarray:
    """int64[parts + 1], ascending from 0 to n_vertices: range i is [ranges[i], ranges[i + 1]), which may be empty.

    Reads O(parts * log(chunks)) chunks of indptr."""
    n, total = store.n_vertices, store.n_arcs + store.n_vertices
    reader = _Reader(store.indptr)
    bounds = [0]
    for part in range(1, parts):
        wanted = total * part // parts
        low, high = bounds[-1] // WORD, -(-n // WORD)
        while low < high:  # the first word whose first vertex has `wanted` before it
            middle = (low + high) // 2
            if reader[middle * WORD] + middle * WORD < wanted:
                low = middle + 1
            else:
                high = middle
        bounds.append(min(n, low * WORD))
    return np.array([*bounds, n], np.int64)


class _Reader:
    """Single values of indptr; keeps the chunk that was read last."""

    def __init__(self, indptr: ShardedArray) -> None:
        self._indptr, self._chunk = indptr, -1
        self._values = np.empty(indptr.chunk_items, np.int64)

    def __getitem__(self, vertex: int) -> int:
        chunk, at = divmod(vertex, self._indptr.chunk_items)
        if chunk != self._chunk:
            self._indptr.fetch(chunk, [self._values])
            self._chunk = chunk
        return int(self._values[at])


_NORESERVE = 0x4000  # of Linux, where the module does not name it before Python 3.13
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NORESERVE


def virtual_zeros(length: int, dtype: DTypeLike) -> np.ndarray[Any, Any]:
    """Zeros, dtype[length], that take no memory where nothing is written."""
    kind = np.dtype(dtype)
    if length == 0:
        return np.zeros(0, kind)
    return np.frombuffer(mmap.mmap(-1, length * kind.itemsize, flags=_FLAGS), kind)


def virtual_column(length: int, dtype: DTypeLike, first: int, stop: int, value: int) -> np.ndarray[Any, Any]:
    """virtual_zeros with `value` in first..stop-1."""
    values = virtual_zeros(length, dtype)
    values[first:stop] = value
    return values


_PIECE_CHUNKS = 4


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
    isolated[-(-first // GROUP) : -(-stop // GROUP)] = ALL
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


def _groups(indptr: ShardedArray, first: int, stop: int) -> Iterator[np.ndarray]:
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


class RangeWorkspace(Workspace):
    """See Workspace; every array is virtual. longest : vertices of the longest range, by which queues go."""

    def __init__(self, n_vertices: int, longest: int, dtype: np.dtype[Any]) -> None:
        n_words = (n_vertices + 63) // 64
        self.capacity = queue_entries(n_vertices, longest)
        self.visited, self.before, self.frontier = (virtual_zeros(n_words, np.uint64) for _ in range(3))
        self.queues = virtual_zeros(2 * self.capacity, dtype).reshape(2, self.capacity)
        self.missed_v = virtual_zeros(self.capacity, dtype)
        self.missed_p = virtual_zeros(self.capacity, np.int64)
        self.state = np.zeros(STATE, np.int64)


def queue_entries(n_vertices: int, longest: int) -> int:
    """Entries of a queue of any rank: for the longest range twice what one process would have for it, since neighbours
    of other ranges pass through it too."""
    return queue_capacity(min(n_vertices, 2 * longest))


def range_state_bytes(n_vertices: int, longest: int, in_range: int, n_arcs: int, id_bytes: int) -> int:
    """Upper bound of the bytes of a range's table and workspace: bitmaps of the whole graph for `visited` and
    `frontier`, queues, and the rest for its in_range vertices."""
    queue = queue_entries(n_vertices, longest) * (3 * id_bytes + 8)
    offsets = (in_range // 64 + 1) * (8 + 128) + n_arcs // 128
    return n_vertices // 4 + in_range // 4 + queue + offsets
