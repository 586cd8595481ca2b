"""All rows of a store in RAM, decoded by several threads into their places, and looked at: it may come from anyone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ..store.array_reader import ShardedArray, filled, pieces, read_slice
from ..store.store import Store
from ..stream.threads import Threads
from ..units import format_size
from .paths import Tick
from .rows import WeightedRows, distance_dtype

RUN_CHUNKS = 4

Look = Callable[[np.ndarray], None]


def rows_bytes(store: Store) -> int:
    """Bytes of the rows in RAM, the last chunks padded."""
    size = store.id_dtype.itemsize + (0 if store.weights is None else store.weights.dtype.itemsize)
    return 8 * (store.n_vertices + 1) + store.indices.n_chunks * store.indices.chunk_items * size


def in_rows(store: Store) -> str:
    """What of a memory that is too small the rows are, as too_small adds it."""
    return f", of which {format_size(rows_bytes(store))} are the arcs with their weights, in RAM"


def loading_buffers(store: Store, threads: int) -> int:
    """Bytes of what threads read, and of offsets while they are checked."""
    return threads * RUN_CHUNKS * store.indices.chunk_items * 12 + 9 * store.n_vertices


def load_rows(store: Store, threads: int = 1, tick: Tick | None = None) -> tuple[WeightedRows, int]:
    """The rows, and the bytes read for heads and weights. Raises StoreError for what is no graph."""
    offsets = filled(np.empty(store.n_vertices + 1, np.int64), pieces(store.indptr, RUN_CHUNKS))
    if offsets[0] != 0 or offsets[-1] != store.n_arcs or np.any(np.diff(offsets) < 0):
        raise store.damaged("indptr does not rise from 0 to the number of arcs")
    pool = Threads(threads, 0)
    try:
        heads, read = _whole(store.indices, pool, head_check(store), tick)
        if store.weights is None:
            return WeightedRows(offsets, heads), read
        weights, more = _whole(store.weights, pool, store.check_weights, tick)
        return WeightedRows(offsets, heads, weights), read + more
    finally:
        pool.close()


def head_check(store: Store) -> Look:
    """Raises StoreError for heads that are no vertices."""
    def check(heads: np.ndarray) -> None:
        if len(heads) and int(heads.max()) >= store.n_vertices:
            raise store.damaged(f"indices hold {int(heads.max())}, which is no vertex")

    return check


def sliced_rows(store: Store) -> WeightedRows:
    """The rows, of which slices are read as they are asked for."""
    costs = np.broadcast_to(np.uint8(1), store.n_arcs) if store.weights is None else _Slices(store.weights)
    return cast("WeightedRows", SimpleNamespace(
        offsets=_Slices(store.indptr), heads=_Slices(store.indices), costs=costs,
        distance_dtype=distance_dtype(costs.dtype)))


class _Slices:
    """An array of a store of which parts are read: [i] and [begin:end]."""

    def __init__(self, array: ShardedArray) -> None:
        self._array, self.dtype = array, array.dtype

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return read_slice(self._array, place.start, place.stop)
        return read_slice(self._array, place, place + 1)[0]


def _whole(array: ShardedArray, pool: Threads, look: Look, tick: Tick | None) -> tuple[np.ndarray, int]:
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
