"""Blocks of arcs that a search brings into memory as it needs them: what it asks of them, and those of a store."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..store.store import Store
from ..stream.blocks import build_block_table
from ..stream.offsets import following_starts, row_starts
from ..stream.rows import RowCheck
from .loading import head_check
from .rows import to_multiples
from .waiting import Rows

# Narrow windows of labels, in mean weights over the mean degree. Windows that are relaxed before blocks are chosen, in
# graphs of fewer arcs a vertex than this.
_WIDE, _NEAR, _SPARSE = 16, 4, 8
# Bytes of blocks of files that are read by the thread that relaxes; then, in sparse graphs: the part of the arena in a
# round, windows that blocks are due in, and windows that are relaxed.
_SMALL, _SMALL_SHARE, _SMALL_NEAR, _SMALL_AHEAD = 1 << 16, 2, 6, 24


class ArcBlocks(Protocol):
    """n_vertices, n_blocks, n_arcs : of the graph. block_arcs : arcs of a block. arc_bytes : of an arc in memory.
    rows : where rows lie. share : one of so many parts of the arena is read in a round. frugal : how often the arcs
    may be read and relaxed before no label is relaxed that is `ahead` narrow windows beyond the smallest. near : narrow
    windows that are relaxed before blocks are chosen; 0: none. at_once : whether the thread that relaxes reads blocks,
    those that are due within `near` windows, if that is not 0."""

    n_vertices: int
    n_blocks: int
    n_arcs: int
    block_arcs: int
    arc_bytes: int
    rows: Rows
    share: int
    frugal: int
    ahead: int
    near: int
    at_once: bool

    def arena(self, n_slots: int) -> tuple[np.ndarray, ...]:
        """Room for so many blocks, as waiting.py says."""

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """Bring a block into a slot; the bytes read. Thread-safe. Raises OSError or StoreError for a damaged one."""

    def least_width(self, slot: int, block: int, arena: tuple[np.ndarray, ...]) -> int | float:
        """Width of a narrow window of labels, by the weights of a block that is there."""


class StoreBlocks:
    """The blocks of a store: heads, and weights if it has them. Reads `indptr` once. Bytes: 1.2 a vertex for compact
    offsets, see stream/blocks.py. Raises StoreError.

    delta : width of a window; None: 16 mean weights over the mean degree. With an arena of a tenth of the rows and
    blocks of 8,192 arcs, a search of NY (730,100 arcs) takes 0.034 CPU seconds so, reads 5.4 stores and relaxes 2.0
    times the arcs (in blocks of 4,096: 4.5 and 2.5, and more of it in calls); choosing blocks by how much waits in them
    reads as many. An R-MAT of scale 20, 1.0 seconds, does not care for the width, nor for what is ahead, and takes a
    twentieth more with `near`: it is for graphs of few arcs a vertex. With a sixteenth of the arena in a round it takes
    1.5. Rows and weights are looked at when a block is first read (stream/rows.py), rows of a store with directions for
    what kernels need alone. exponent : weights are rounded down to multiples of 2^exponent; None: they are not."""

    share, frugal, ahead = 4, 0, 16

    def __init__(self, store: Store, delta: float | None = None, exponent: int | None = None) -> None:
        table = build_block_table(store)
        self.n_vertices, self.n_arcs, self.n_blocks = store.n_vertices, store.n_arcs, table.n_blocks
        self.block_arcs = store.indices.chunk_items
        self.arc_bytes = store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize)
        self.rows = Rows(_covers(table.first_vertex, table.offsets, table.n_blocks, self.block_arcs), *_continued(
            table.first_vertex, table.offsets, table.n_blocks, self.block_arcs),
            np.array([self.block_arcs, self.n_arcs, 0, 0], np.int64))
        self.near = _NEAR if self.n_arcs < _SPARSE * self.n_vertices else 0
        self.at_once = self.arc_bytes * self.block_arcs <= _SMALL and not store.ahead_bytes
        if self.at_once and self.near:
            self.share, self.near, self.ahead = _SMALL_SHARE, _SMALL_NEAR, _SMALL_AHEAD
        self._store, self._delta, self._exponent = store, delta, exponent
        self._weighed = np.zeros(table.n_blocks, bool)
        self._offsets = (table.offsets.group, table.offsets.row, table.offsets.hub)
        self._check = None if store.directed else RowCheck(table, store.id_dtype, store.path)
        self._check_heads = head_check(store)

    def arena(self, n_slots: int) -> tuple[np.ndarray, ...]:
        """(heads, costs, group, row, hub)."""
        shape = n_slots, self.block_arcs
        weights = self._store.weights
        costs = np.broadcast_to(np.uint8(1), shape) if weights is None else np.empty(shape, weights.dtype)
        return np.empty(shape, self._store.id_dtype), costs, *self._offsets

    def read(self, block: int, slot: int, arena: tuple[np.ndarray, ...]) -> int:
        """Decode heads and weights into the slot, and look at them."""
        used = min(self.block_arcs, self.n_arcs - block * self.block_arcs)
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

    def rows_in(self, block: int) -> tuple[int, np.ndarray]:
        """(first vertex, int64[k + 1]): where in a block the arcs of that vertex and the next k - 1 begin and end."""
        first = int(self.rows.heads[block] if self.rows.heads[block] >= 0 else self.rows.covers[block])
        base, starts = block * self.block_arcs, np.empty(int(self.rows.covers[block + 1]) - first, np.int64)
        following_starts(*self._offsets, first, starts)
        ends = np.append(starts - base, self.n_arcs - base)
        return first, np.clip(ends, 0, self.block_arcs, out=ends)

    def least_width(self, slot: int, block: int, arena: tuple[np.ndarray, ...]) -> int | float:
        """Delta, by the mean weight that the record says."""
        record = self._store.record.weights
        mean = 1.0 if record is None else record.mean
        width = _WIDE * mean * self.n_vertices / max(1, self.n_arcs) if self._delta is None else self._delta
        return width if record is not None and record.dtype.startswith("float") else max(1, int(min(width, 2.0**62)))


def _starts(vertices: np.ndarray, offsets: Any) -> np.ndarray:
    """Where the rows of `vertices` begin, int64[k]."""
    out = np.empty(len(vertices), np.int64)
    row_starts(offsets.group, offsets.row, offsets.hub, vertices, out)
    return out


def _covers(first_vertex: np.ndarray, offsets: Any, n_blocks: int, block_arcs: int) -> np.ndarray:
    """int64[n_blocks + 1], the first vertex whose row begins in each block or later; see Rows."""
    covers = np.array(first_vertex)
    covers[:-1] += _starts(first_vertex[:-1], offsets) < np.arange(n_blocks) * block_arcs
    covers[:1] = 0
    return covers


def _continued(first_vertex: np.ndarray, offsets: Any, n_blocks: int, block_arcs: int) -> tuple[np.ndarray]:
    """(int64[n_blocks], the vertex whose row goes on into each block, or -1)."""
    goes_on = _starts(first_vertex[:-1], offsets) < np.arange(n_blocks) * block_arcs
    return (np.where(goes_on, first_vertex[:-1], -1),)
