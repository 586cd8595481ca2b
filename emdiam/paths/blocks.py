"""The weighted arcs of a store in three forms: rows loaded into RAM, slices of rows, and blocks that a search reads on
demand.

Several threads decode rows into their places. All values are checked: a store may come from anyone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np

from ..progress import Tick, no_tick
from ..store.array_reader import ShardedArray, filled, pieces, read_slice
from ..store.store import Store
from ..stream.blocks import build_block_table
from ..stream.offsets import Offsets, following_starts, row_starts
from ..stream.rows import RowCheck
from ..stream.threads import Threads
from .relaxing import BlockRows
from .rows import WeightedRows, distance_dtype, to_multiples

RUN_CHUNKS = 4

Look = Callable[[np.ndarray], None]


def rows_bytes(store: Store) -> int:
    """Bytes of the rows in RAM, with padding of the last chunks."""
    size = store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize)
    return 8 * (store.n_vertices + 1) + store.indices.n_chunks * store.indices.chunk_items * size


def loading_buffers(store: Store, threads: int) -> int:
    """Bytes of the buffers of reading threads, and of offsets while they are checked."""
    return threads * RUN_CHUNKS * store.indices.chunk_items * 12 + 9 * store.n_vertices


def load_rows(store: Store, threads: int = 1, tick: Tick = no_tick) -> tuple[WeightedRows, int]:
    """The rows, and the bytes read for heads and weights. Raises StoreError for invalid rows."""
    offsets = offsets_in_ram(store)
    with closing(Threads(threads, 0)) as pool:
        heads, read = _whole(store.indices, pool, head_check(store), tick)
        if store.weights is None:
            return WeightedRows(offsets, heads), read
        weights, more = _whole(store.weights, pool, store.check_weights, tick)
        return WeightedRows(offsets, heads, weights), read + more


def offsets_in_ram(store: Store) -> np.ndarray:
    """The offsets of the rows, int64[n_vertices + 1]. Raises StoreError for invalid offsets."""
    offsets = filled(np.empty(store.n_vertices + 1, np.int64), pieces(store.indptr, RUN_CHUNKS))
    if offsets[0] != 0 or offsets[-1] != store.n_arcs or np.any(np.diff(offsets) < 0):
        raise store.damaged("indptr does not rise from 0 to the number of arcs")
    return offsets


def head_check(store: Store) -> Look:
    """A check that raises StoreError for heads that are no vertices."""
    def check(heads: np.ndarray) -> None:
        if len(heads) and int(heads.max()) >= store.n_vertices:
            raise store.damaged(f"indices hold {int(heads.max())}, which is no vertex")

    return check


def sliced_rows(store: Store) -> WeightedRows:
    """Rows whose slices are read on demand."""
    costs = np.broadcast_to(np.uint8(1), store.n_arcs) if store.weights is None else _Slices(store.weights)
    return cast("WeightedRows", SimpleNamespace(
        offsets=_Slices(store.indptr), heads=_Slices(store.indices), costs=costs,
        distance_dtype=distance_dtype(costs.dtype)))


class _Slices:
    """An array of a store that is read by [i] and [begin:end]."""

    def __init__(self, array: ShardedArray) -> None:
        self._array, self.dtype = array, array.dtype

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return read_slice(self._array, place.start, place.stop)
        return read_slice(self._array, place, place + 1)[0]


def _whole(array: ShardedArray, pool: Threads, look: Look, tick: Tick) -> tuple[np.ndarray, int]:
    """The array, and the bytes read."""
    size = array.chunk_items
    out = np.empty((array.n_chunks, size), array.dtype)
    flat, read = out.reshape(-1)[: array.length], list[int]()
    runs, chunk = list[tuple[int, int]](), 0
    while chunk < array.n_chunks:
        runs.append((chunk, array.run_length(chunk, RUN_CHUNKS)))
        chunk += runs[-1][1]

    def fetch(run: tuple[int, int]) -> None:
        read.append(array.fetch(run[0], list(out[run[0] : sum(run)])))
        look(flat[run[0] * size : sum(run) * size])

    pool.for_each(runs, fetch, tick)
    return flat, sum(read)


# _WIDE: width of a narrow window of labels, in mean weight / mean degree. _NEAR: in graphs with fewer than _SPARSE arcs
# a vertex, this number of windows is relaxed before blocks are chosen.
_WIDE, _NEAR, _SPARSE = 16, 4, 8
# The relaxing thread itself reads blocks of files of at most _SMALL bytes. Then, in sparse graphs: a round reads
# 1 / _SMALL_SHARE of the arena, blocks with labels within _SMALL_NEAR windows, and relaxes _SMALL_AHEAD windows.
_SMALL, _SMALL_SHARE, _SMALL_NEAR, _SMALL_AHEAD = 1 << 16, 2, 6, 24


class ArcBlocks(ABC):
    """Arcs in blocks of heads and, if the graph has weights, costs; see relaxing.py.

    n_vertices, n_blocks, n_arcs, distance_dtype, least_weight, largest_weight, mean_weight : of the graph. block_arcs :
    arcs of a block. arc_bytes : bytes of an arc in memory. rows : rows of the blocks. share : a round reads 1 / share
    of the arena. frugal : after the arcs have been read and relaxed this number of times, labels that are `ahead`
    narrow windows beyond the smallest one wait. near : number of narrow windows that are relaxed before blocks are
    chosen. at_once : whether the relaxing thread reads blocks itself; with `near`, the blocks with labels in these
    windows. name : of the graph, in errors. Bytes: 1.2 a vertex for compact offsets, 24 a block."""

    in_ram: ClassVar[bool] = False
    name: ClassVar[str] = "the graph"
    share, frugal, ahead, near, at_once = 4, 0, 16, 0, False

    def __init__(self, n_vertices: int, n_arcs: int, block_arcs: int, offsets: Offsets,
                 first_vertex: np.ndarray) -> None:
        self.n_vertices, self.n_arcs, self.block_arcs, self.n_blocks = n_vertices, n_arcs, block_arcs, len(
            first_vertex) - 1
        self._offsets = offsets.group, offsets.row, offsets.hub
        starts, covers = np.empty(self.n_blocks, np.int64), np.array(first_vertex)
        row_starts(*self._offsets, first_vertex[:-1], starts)
        goes_on = starts < np.arange(self.n_blocks) * block_arcs
        covers[:-1] += goes_on
        covers[:1] = 0
        self.rows = BlockRows(covers, np.where(goes_on, first_vertex[:-1], -1), block_arcs)

    def _weigh(self, head: np.dtype[Any], weight: np.dtype[Any] | None, ends: tuple[int | float, int | float],
               mean: float) -> None:
        """Set the dtypes of heads and weights (None: all weights are 1), and the least, largest and mean weight."""
        self._dtypes = head, weight
        self.arc_bytes = head.itemsize + (0 if weight is None else weight.itemsize)
        self.distance_dtype = distance_dtype(np.dtype(np.uint8) if weight is None else weight)
        (self.least_weight, self.largest_weight), self.mean_weight = ends if self.n_arcs else (1, 1), mean

    def arcs_in(self, block: int) -> int:
        """Number of arcs of a block."""
        return min(self.block_arcs, self.n_arcs - block * self.block_arcs)

    def arena(self, n_slots: int) -> tuple[np.ndarray, ...]:
        """Empty arrays for `n_slots` blocks: (heads, costs, group, row, hub)."""
        shape, (head, weight) = (n_slots, self.block_arcs), self._dtypes
        costs = np.broadcast_to(np.uint8(1), shape) if weight is None else np.empty(shape, weight)
        return np.empty(shape, head), costs, *self._offsets

    @abstractmethod
    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """Read a block into a slot; return the bytes read. Thread-safe. Raises OSError or StoreError for a damaged
        block."""

    def rows_in(self, block: int) -> tuple[int, np.ndarray]:
        """(first vertex v, int64[k + 1]): offsets within a block of the rows of v, v + 1, ..., v + k - 1."""
        first = int(self.rows.heads[block] if self.rows.heads[block] >= 0 else self.rows.covers[block])
        base, starts = block * self.block_arcs, np.empty(int(self.rows.covers[block + 1]) - first, np.int64)
        following_starts(*self._offsets, first, starts)
        ends = np.append(starts - base, self.n_arcs - base)
        return first, np.clip(ends, 0, self.block_arcs, out=ends)

    def spans(self, vertices: np.ndarray) -> np.ndarray:
        """The begin and end offsets of the rows of vertices (int64[k]) among all arcs, int64[2, k]."""
        found = np.empty((2, len(vertices)), np.int64)
        row_starts(*self._offsets, vertices, found[0])
        found[1] = self.n_arcs
        inner = np.flatnonzero(vertices + 1 < self.n_vertices)
        ends = np.empty(len(inner), np.int64)
        row_starts(*self._offsets, vertices[inner] + 1, ends)
        found[1, inner] = ends
        return found

    def least_width(self, delta: float | None) -> int | float:
        """Width of a narrow window of labels. delta : of the options; None: 16 x mean weight / mean degree."""
        width = _WIDE * self.mean_weight * self.n_vertices / max(1, self.n_arcs) if delta is None else delta
        return width if self.distance_dtype.kind == "f" else max(1, int(min(width, 2.0**62)))


class StoreBlocks(ArcBlocks):
    """The blocks of a store: heads, and weights if it has them. Reads `indptr` once. Raises StoreError.

    With an arena of a tenth of the rows and blocks of 8,192 arcs, a search of NY (730,100 arcs) takes 0.034 CPU
    seconds, reads the store 5.4 times and relaxes each arc 2.0 times (in blocks of 4,096: 4.5 and 2.5, with more time
    in calls). Choosing blocks by their numbers of waiting vertices reads the same. On an R-MAT of scale 20 (1.0
    seconds) neither the width nor `ahead` matters, and `near` costs 5 %, so only graphs with few arcs a vertex have it;
    a sixteenth of the arena in a round takes 1.5 seconds. The first read of a block checks its rows and weights
    (stream/rows.py); in a store with directions it checks only the conditions that kernels rely on."""

    def __init__(self, store: Store) -> None:
        table, record, weights = build_block_table(store), store.record.weights, store.weights
        super().__init__(store.n_vertices, store.n_arcs, store.indices.chunk_items, table.offsets, table.first_vertex)
        self._weigh(store.id_dtype, None if weights is None else weights.dtype,
                    (1, 1) if record is None else (record.least, record.largest),
                    0.0 if not self.n_arcs else 1.0 if record is None else record.mean)
        self.near = _NEAR if self.n_arcs < _SPARSE * self.n_vertices else 0
        self.at_once = self.arc_bytes * self.block_arcs <= _SMALL and not store.ahead_bytes
        if self.at_once and self.near:
            self.share, self.near, self.ahead = _SMALL_SHARE, _SMALL_NEAR, _SMALL_AHEAD
        self._store, self._exponent = store, cast("int | None", None)
        self._weighed = np.zeros(self.n_blocks, bool)
        self._check = None if store.directed else RowCheck(table, store.id_dtype, store.path)
        self._check_heads = head_check(store)

    def round_down(self, exponent: int) -> None:
        """Round weights down to multiples of 2^exponent in all blocks that are read from now on."""
        self._exponent = exponent
        ends = np.array([self.least_weight, self.largest_weight], np.float64)
        to_multiples(ends, exponent)
        self.least_weight, self.largest_weight = ends.tolist()

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """Decode heads and weights into the slot, and check them."""
        used = self.arcs_in(block)
        read = self._store.indices.fetch(block, [arena[0][slot]])
        if self._check is None:
            self._check_heads(arena[0][slot, :used])
        else:
            self._check.vet(block, [arena[0][slot]])
        if self._store.weights is not None:
            read += self._store.weights.fetch(block, [arena[1][slot]])
            if not self._weighed[block]:
                self._store.check_weights(arena[1][slot, :used])
                self._weighed[block] = True
            if self._exponent is not None:
                to_multiples(arena[1][slot, :used], self._exponent)
        return read
