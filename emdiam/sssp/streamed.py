"""A search over the blocks of a store, with labels in RAM, and the tree of its paths by further passes.

Blocks are read by the smallest label that waits in them (semi_external.py). The tree: a pass gives every vertex the
tail of an arc that is tight, if that has a smaller distance, or has its own predecessor already; so there is no circle,
also among weights of 0, which alone need a further pass. Bytes a vertex: 8 for labels, 1.2 for offsets, 0.3 for what
waits; 8 for predecessors. Rounds: times that blocks were chosen and read.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ..jit import kernel
from ..store.array_reader import ShardedArray, read_slice
from ..store.store import Store
from ..stream.offsets import row_span
from .blocks import StoreBlocks
from .paths import Paths, SearchOptions
from .rows import WeightedRows
from .semi_external import SemiExternalPaths
from .waiting import ONES, longer

_INFINITE = np.array([np.inf]).view(np.uint64)[0]


class StreamedSearch:
    """A search over a store whose arcs stay on disk. arena_bytes : of blocks in RAM. Close it at the end. Raises
    BudgetError for less than two blocks, StoreError."""

    def __init__(self, store: Store, arena_bytes: int, options: SearchOptions) -> None:
        self._store = store
        self._blocks = StoreBlocks(store, options.delta)
        self._machine = SemiExternalPaths(self._blocks, arena_bytes, options.threads, options.tick)
        self._labels = np.full(store.n_vertices, ONES, np.uint64)

    @property
    def bytes_read(self) -> int:
        """Of heads and weights so far."""
        return self._machine.counters.bytes_read

    def run(self, source: int, *, tree: bool) -> Paths:
        """Distances from `source`, once. tree : with predecessors."""
        self._labels[source] = 0
        self._machine.settle(self._labels, np.array([source], np.int64), 0)
        counters = self._machine.counters
        before = self._tree(source) if tree else None
        weights = self._store.weights
        if weights is not None and weights.dtype.kind == "f":
            self._labels[self._labels == ONES] = _INFINITE
            self._labels = self._labels.view(np.float64)
        return Paths("delta-stepping", source, self._labels, counters.arcs_scanned, counters.rounds, before)

    def stored_rows(self) -> WeightedRows:
        """The rows, of which slices are read as they are asked for."""
        store = self._store
        costs = np.broadcast_to(np.uint8(1), store.n_arcs) if store.weights is None else _Slices(store.weights)
        return cast("WeightedRows", SimpleNamespace(
            offsets=_Slices(store.indptr), heads=_Slices(store.indices), costs=costs,
            distance_dtype=self._labels.dtype))

    def close(self) -> None:
        """End the reading threads."""
        self._machine.close()

    def _tree(self, source: int) -> np.ndarray:
        """The predecessors, int64[n_vertices]."""
        before = np.full(len(self._labels), -1, np.int64)
        before[source] = source
        left = int(np.count_nonzero(self._labels != ONES)) - 1
        found = 1
        while left and found:
            found = 0
            for block, slot in self._machine.every_block():
                found += add_tight(self._machine.arena, slot, block, self._blocks.rows.shape, self._blocks.rows.covers,
                                   self._blocks.rows.heads, self._labels, before)
            left -= found
        before[source] = -1
        return before


class _Slices:
    """An array of a store of which parts are read: [i] and [begin:end]."""

    def __init__(self, array: ShardedArray) -> None:
        self._array = array

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return read_slice(self._array, place.start, place.stop)
        return read_slice(self._array, place, place + 1)[0]


@kernel
def add_tight(arena, slot, block, shape, covers, heads, labels, before):  # type: ignore[no-untyped-def]
    """Give vertices without a predecessor that of a tight arc of a block of heads and costs; returns how many.

    before : int64[n], -1 without a predecessor, of the source itself."""
    ids, costs, group, row, hub = arena
    found = 0
    begin_vertex = covers[block]
    if heads[block] >= 0:
        begin_vertex = heads[block]
    for v in range(begin_vertex, covers[block + 1]):
        if labels[v] == ONES:
            continue
        begin, end = row_span(group, row, hub, v)
        base = block * shape[0]
        for p in range(max(begin - base, 0), min(end - base, shape[0])):
            u = np.int64(ids[slot, p])
            if before[u] < 0 and labels[u] != ONES and longer(labels[v], costs[slot, p]) == labels[u] and (
                    labels[v] < labels[u] or before[v] >= 0):
                before[u] = v
                found += 1
    return found
