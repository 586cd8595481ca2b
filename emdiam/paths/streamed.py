"""A search over the blocks of a store, with labels in RAM, and the tree of its paths by further passes.

Blocks are read by the smallest label that waits in them (semi_external.py). The tree: a pass gives every vertex the
tail of an arc that is tight, if that has a smaller distance, or has its own predecessor already; so there is no circle,
also among weights of 0, which alone need a further pass. Bytes a vertex: 8 for labels, 1.2 for offsets, 0.3 for what
waits; 8 for predecessors. Labels are uint32 while distances fit, in half of that room: a cache holds more of them.
Rounds: times that blocks were chosen and read.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np

from ..jit import kernel
from ..store.array_reader import ShardedArray, read_slice
from ..store.store import Store
from .blocks import StoreBlocks
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached
from .semi_external import SemiExternalPaths
from .waiting import ONES

# Narrow labels are below this, the largest.
_NARROW = int(np.iinfo(np.uint32).max)
_INFINITE = np.array([np.inf]).view(np.uint64)[0]


class Piece(NamedTuple):
    """The arcs of vertices first, first + 1, ...: those of first + i are offsets[i] to offsets[i + 1] - 1 of `heads`
    and `costs`. offsets : int64[k + 1]. heads : uint32 or uint64. costs : weights, 1 where there are none."""

    first: int
    offsets: np.ndarray
    heads: np.ndarray
    costs: np.ndarray


class StreamedSearch:
    """Searches over a store whose arcs stay on disk; what the arena holds stays for the next. arena_bytes : of blocks
    in RAM. exponent : weights are rounded down to multiples of 2^exponent; None: they are not. Close it at the end.
    Raises BudgetError for less than two blocks, StoreError."""

    def __init__(self, store: Store, arena_bytes: int, options: SearchOptions, exponent: int | None = None) -> None:
        self._store = store
        self._blocks = StoreBlocks(store, options.delta, exponent)
        self._machine = SemiExternalPaths(self._blocks, arena_bytes, options.threads, options.tick)
        record = store.record.weights
        self._floats = record is not None and record.dtype.startswith("float")
        self._largest_weight = 1 if record is None else record.largest
        self._may_be_narrow = not self._floats and self._largest_weight < _NARROW

    @property
    def bytes_read(self) -> int:
        """Of heads and weights so far."""
        return self._machine.counters.bytes_read

    @property
    def relaxations(self) -> int:
        """Arcs along which a distance was tried so far."""
        return self._machine.counters.arcs_scanned

    def run(self, source: int, *, tree: bool) -> Paths:
        """Distances from `source`. tree : with predecessors."""
        before, sources = self._machine.counters.copy(), np.array([source])
        distances = self.nearest(sources)
        counters = self._machine.counters
        return Paths("delta-stepping", source, distances, counters.arcs_scanned - before.arcs_scanned,
                     counters.rounds - before.rounds, self.forest(distances, sources) if tree else None)

    def nearest(self, sources: np.ndarray) -> np.ndarray:
        """Distance of every vertex to the nearest of `sources` (int64[k], no vertex twice): uint64 or
        float64[n_vertices], see rows.py."""
        wide = np.empty(self._store.n_vertices, np.uint64)
        if self._may_be_narrow:
            # The second half, so that they are made wide in place.
            narrow = wide.view(np.uint32)[len(wide) :]
            self._settle(narrow, sources)
            largest = widen(narrow, wide)
            if int(largest) + self._largest_weight < _NARROW:
                return wide
        self._settle(wide, sources)
        if self._floats:
            wide[wide == ONES] = _INFINITE
            return wide.view(np.float64)
        return wide

    def _settle(self, labels: np.ndarray, sources: np.ndarray) -> None:
        labels.fill(unreached(labels.dtype))
        labels[sources] = 0
        self._machine.settle(labels, sources, 0)

    def forest(self, distances: np.ndarray, sources: np.ndarray) -> np.ndarray:
        """int64[n_vertices], the vertex before each on a shortest path from one of `sources`, -1 of these and without a
        path. distances : as `nearest` gave them."""
        before = np.full(len(distances), -1, np.int64)
        before[sources] = sources
        left, found = int(np.count_nonzero(distances != unreached(distances.dtype))) - len(sources), 1
        while left and found:
            found = sum(add_tight(*piece, distances, before) for piece in self.pieces())
            left -= found
        before[sources] = -1
        return before

    def pieces(self) -> Iterator[Piece]:
        """A pass over all arcs, a piece for every block, those in the arena first; each is valid until the next."""
        heads, costs = self._machine.arena[:2]
        for block, slot in self._machine.every_block():
            first, offsets = self._blocks.rows_in(block)
            yield Piece(first, offsets, heads[slot], costs[slot])

    def stored_rows(self) -> WeightedRows:
        """The rows, of which slices are read as they are asked for."""
        store = self._store
        costs = np.broadcast_to(np.uint8(1), store.n_arcs) if store.weights is None else _Slices(store.weights)
        return cast("WeightedRows", SimpleNamespace(
            offsets=_Slices(store.indptr), heads=_Slices(store.indices), costs=costs,
            distance_dtype=np.dtype(np.float64 if self._floats else np.uint64)))

    def close(self) -> None:
        """End the reading threads."""
        self._machine.close()


class _Slices:
    """An array of a store of which parts are read: [i] and [begin:end]."""

    def __init__(self, array: ShardedArray) -> None:
        self._array = array

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return read_slice(self._array, place.start, place.stop)
        return read_slice(self._array, place, place + 1)[0]


@kernel
def widen(narrow, wide):
    """wide[v] (uint64) = narrow[v] (uint32), all ones for all ones; returns the largest of the others. narrow : may be
    the second half of wide."""
    largest = np.uint64(0)
    for v in range(len(narrow)):
        label = np.uint64(narrow[v])
        there = label != np.uint64(_NARROW)
        wide[v] = label if there else ONES
        largest = max(largest, label if there else np.uint64(0))
    return largest


@kernel
def add_tight(first, offsets, heads, costs, distances, before):
    """Give vertices without a predecessor that of a tight arc of a piece; returns how many.

    before : int64[n], -1 without a predecessor, of a source itself."""
    found = 0
    for i in range(len(offsets) - 1):
        v = first + i
        for p in range(offsets[i], offsets[i + 1]):
            u = np.int64(heads[p])
            if before[u] < 0 and distances[v] + costs[p] == distances[u] and (
                    distances[v] < distances[u] or before[v] >= 0):
                before[u] = v
                found += 1
    return found
