"""What a rank has of the graph: its range of vertices, the block table and the state of traversals of that range.

Ranges are contiguous, with about as many bytes each. A range begins at a multiple of 64, so that no two workers share a
word of a bitmap. A vertex counts as five arcs: 20 bytes of state and columns beside 4 of an arc.

Arrays of a range are reserved as long as the graph, so that kernels are those of one process: addresses, not memory.
Pages of an anonymous mapping take none until they are written to, and read as zeros, which are rows without arcs. What
is touched beyond the range: bits of others' vertices in `visited` (what this rank knows of them) and in `frontier` (on
dense levels, label growth and batches), n / 8 bytes each; everything else only in the range, rounded to pages.
"""

from __future__ import annotations

import mmap
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..store.array_reader import read_slice
from ..store.store import Store
from ..stream.blocks import BlockTable, build_block_table
from ..stream.offsets import offsets_bytes
from ..traverse.workspace import queue_capacity

WORD = 64
VERTEX_ARCS = 5


def balanced_ranges(store: Store, parts: int) -> np.ndarray:
    """int64[parts + 1], ascending from 0 to n_vertices: range i is [ranges[i], ranges[i + 1]), which may be empty.

    Reads O(parts * log(chunks)) chunks of indptr."""
    n, total = store.n_vertices, store.n_arcs + VERTEX_ARCS * store.n_vertices
    size, length = store.indptr.chunk_items, store.indptr.length

    @lru_cache(1)
    def chunk(i: int) -> np.ndarray:
        return read_slice(store.indptr, i * size, min(length, (i + 1) * size))

    bounds = [0]
    for part in range(1, parts):
        wanted = total * part // parts
        low, high = bounds[-1] // WORD, -(-n // WORD)
        while low < high:  # the first word whose first vertex has `wanted` before it
            middle = (low + high) // 2
            vertex = middle * WORD
            if int(chunk(vertex // size)[vertex % size]) + VERTEX_ARCS * vertex < wanted:
                low = middle + 1
            else:
                high = middle
        bounds.append(min(n, low * WORD))
    return np.array([*bounds, n], np.int64)


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


def build_range_table(store: Store, first: int, stop: int) -> tuple[BlockTable, np.ndarray]:
    """The table of vertices first..stop-1 (see build_block_table), and the blocks with their arcs, int64[k]."""
    if first == stop:
        first = stop = stop // WORD * WORD
    table = build_block_table(store, (first, stop), virtual_zeros)
    blocks = table.blocks_between(first, stop)
    if len(blocks):
        table.first_vertex[blocks[0]] = max(first, int(table.first_vertex[blocks[0]]))
        table.first_vertex[blocks[-1] + 1] = stop
    return table, blocks


def queue_entries(n_vertices: int, longest: int) -> int:
    """Entries of a queue of any rank: for the longest range twice what one process would have for it, since neighbours
    of other ranges pass through it too."""
    return queue_capacity(min(n_vertices, 2 * longest))


def range_state_bytes(n_vertices: int, longest: int, in_range: int, n_arcs: int, id_bytes: int) -> int:
    """Upper bound of the bytes of a range's table and workspace: bitmaps of the whole graph for `visited` and
    `frontier`, queues, and the rest for its in_range vertices."""
    queue = queue_entries(n_vertices, longest) * (3 * id_bytes + 8)
    return n_vertices // 4 + in_range // 4 + queue + offsets_bytes(in_range, n_arcs, n_vertices)
