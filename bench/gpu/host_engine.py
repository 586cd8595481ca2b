"""Engines on graphs in the host's memory, without a store: what a device is compared with, and where its pages
come from. Needs numba, and what emdiam's stores import (zarr, numcodecs, crc32c); `need_engine` says so.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from .setting import Skipped

if TYPE_CHECKING:
    from emdiam.engine.cpu import CpuEngine

NEEDED = ("numba", "zarr", "numcodecs", "crc32c")
# Ids of a block, as in a store that is made without options.
BLOCK_ITEMS = 1 << 16
POOL_BYTES = 1 << 30


def need_engine() -> None:
    """Raise Skipped if the engine of the CPU cannot be imported here."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Skipped(f"not installed: {', '.join(missing)}")


def n_threads() -> int:
    """Threads that this process may run at a time."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class HostGraph:
    """offsets : int64[n + 1]; neighbours : uint32[m], rows ascending."""

    name: str
    offsets: np.ndarray
    neighbours: np.ndarray

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.offsets) - 1

    @property
    def id_bytes(self) -> int:
        """Bytes of all ids of the arcs."""
        return int(self.neighbours.nbytes)

    @property
    def key(self) -> dict[str, Any]:
        """What tells rows of this graph from others: class, n, m (undirected edges)."""
        return {"class": self.name, "n": self.n, "m": len(self.neighbours) // 2}

    @property
    def hub(self) -> int:
        """The smallest vertex of the largest degree."""
        return int(np.argmax(np.diff(self.offsets)))


class MemoryArray:
    """What the engine asks of an array of a store. chunk : items of a chunk; the last one is filled up with 0."""

    def __init__(self, values: np.ndarray, chunk: int) -> None:
        self.length, self.dtype, self.chunk_items = len(values), values.dtype, chunk
        self.n_chunks = -(-len(values) // chunk)
        self._values = values

    def run_length(self, first: int, most: int, n_bytes: int | None = None) -> int:
        """Chunks from `first` on that one fetch takes."""
        return min(most, self.n_chunks - first)

    def prefetch(self, first: int, count: int) -> None:
        """All chunks are at hand."""

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """Copy chunks into rows; bytes."""
        for i, row in enumerate(rows):
            part = self._values[(first + i) * self.chunk_items : (first + i + 1) * self.chunk_items]
            row[: len(part)], row[len(part) :] = part, 0
        return sum(row.nbytes for row in rows)

    def batches(self, first: int, count: int, rows: Sequence[np.ndarray]) -> Iterator[tuple[int, int]]:
        """Copy `count` chunks into rows, as many at a time as there are; chunks and bytes of each time."""
        for at in range(0, count, max(1, len(rows))):
            part = rows[: count - at]
            yield len(part), self.fetch(first + at, part)


def memory_store(graph: HostGraph, block_items: int = BLOCK_ITEMS) -> Any:
    """What engines and plans ask of a store, over the arrays of a graph."""
    isolated = int(np.count_nonzero(graph.offsets[1:] == graph.offsets[:-1]))
    return SimpleNamespace(
        n_vertices=graph.n, n_arcs=len(graph.neighbours), id_dtype=graph.neighbours.dtype, path=graph.name,
        record=SimpleNamespace(n_isolated=isolated, max_degree=int(np.diff(graph.offsets).max(initial=0))),
        indptr=MemoryArray(graph.offsets, block_items),
        indices=MemoryArray(graph.neighbours, block_items),
        user_ids=lambda ids: np.asarray(ids).tolist(), natural_ids=lambda: None)


@contextmanager
def engine_over(store: Any, n_slots: int | None = None, threads: int | None = None) -> Iterator[CpuEngine]:
    """An engine of the CPU on a store, or on what memory_store gives. n_slots : blocks of its arena (None: all, which
    are loaded). threads : None for n_threads(). Raises Skipped where need_engine does."""
    need_engine()
    from emdiam.engine.cpu import CpuEngine
    from emdiam.stream.blocks import build_block_table
    from emdiam.stream.counters import SharedCounters
    from emdiam.stream.pager import Arena, Pager
    from emdiam.stream.rows import RowCheck
    from emdiam.stream.threads import Threads
    from emdiam.traverse.core import Core
    from emdiam.traverse.workspace import Workspace

    table = build_block_table(store)
    slots, items = min(n_slots or table.n_blocks, table.n_blocks), store.indices.chunk_items
    arena = Arena(table.n_blocks, max(1, slots), items, store.id_dtype)
    pool, counters = Threads(threads or n_threads(), 1), SharedCounters()
    try:
        pager = Pager(store.indices, RowCheck(table, store.id_dtype, store.path), arena, pool, counters)
        pager.preload()
        core = Core(table, pager, pool, counters, Workspace(store.n_vertices, store.id_dtype))
        plan: Any = SimpleNamespace(pool_bytes=POOL_BYTES, spare_bytes=0, starts_bytes=0,
                                    in_ram=slots == table.n_blocks)
        yield CpuEngine(store, core, plan)
    finally:
        pool.close()


@contextmanager
def memory_engine(graph: HostGraph, block_items: int = BLOCK_ITEMS, threads: int | None = None) -> Iterator[CpuEngine]:
    """An engine of the CPU with the graph in its arena, which is a copy. Raises Skipped where need_engine does."""
    with engine_over(memory_store(graph, block_items), None, threads) as engine:
        yield engine
