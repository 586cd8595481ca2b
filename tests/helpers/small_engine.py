"""An engine on a small graph in memory, without a store or a memory plan, for very many graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from emdiam.engine.cpu import CpuEngine
from emdiam.store.array_reader import Chunks
from emdiam.stream.blocks import build_block_table
from emdiam.stream.counters import SharedCounters
from emdiam.stream.pager import Arena, Pager
from emdiam.stream.rows import RowCheck
from emdiam.stream.threads import Threads
from emdiam.traverse.core import Core
from emdiam.traverse.workspace import Workspace
from tests.helpers import naive


class _Array(Chunks):
    """What the pager needs of a ShardedArray."""

    def __init__(self, values: np.ndarray, chunk: int) -> None:
        self.length, self.dtype, self.chunk_items = len(values), values.dtype, chunk
        self.n_chunks = -(-len(values) // chunk)
        self._values = np.zeros(self.n_chunks * chunk, values.dtype)
        self._values[: len(values)] = values

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        for i, row in enumerate(rows):
            row[:] = self._values[(first + i) * self.chunk_items : (first + i + 1) * self.chunk_items]
        return sum(row.nbytes for row in rows)


@contextmanager
def engines(chunk: int = 64, n_threads: int = 1, capacity: int = 0, **core_options: Any) -> Iterator[Any]:
    """A function that makes an in-RAM engine of a graph; the engines share their threads. capacity : of queues."""
    threads = Threads(n_threads, 1)

    def make(graph: naive.Graph) -> CpuEngine:
        indptr, indices = naive.csr(graph)
        n = len(graph)
        store = SimpleNamespace(
            n_vertices=n, n_arcs=len(indices), id_dtype=np.dtype(np.uint32), path="memory",
            record=SimpleNamespace(n_isolated=sum(not row for row in graph),
                                   max_degree=max(map(len, graph), default=0)),
            indptr=_Array(indptr, chunk), indices=_Array(indices.astype(np.uint32), chunk),
            user_ids=lambda ids: np.asarray(ids).tolist(), natural_ids=lambda: None,
        )
        table = build_block_table(store)
        arena = Arena(table.n_blocks, max(1, table.n_blocks), chunk, store.id_dtype)
        counters = SharedCounters()
        pager = Pager(store.indices, RowCheck(table, store.id_dtype, store.path), arena, threads, counters)
        pager.preload()
        core = Core(table, pager, threads, counters, Workspace(n, store.id_dtype, capacity), **core_options)
        core.lay_out()
        plan = SimpleNamespace(pool_bytes=1 << 28, spare_bytes=0, in_ram=True, starts_bytes=4 * n + 4)
        return CpuEngine(store, core, plan)

    try:
        yield make
    finally:
        threads.close()


def limit_pool(engine: Any, pool_bytes: int) -> None:
    """Give an engine another pool."""
    engine.facts = replace(engine.facts, pool_bytes=pool_bytes, room_bytes=pool_bytes)
