"""A core over a tiny graph, for kernels that are called by themselves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.gpu.host_engine import MemoryArray
from emdiam.store.layout import StoreRecord
from emdiam.stream.blocks import build_block_table
from emdiam.stream.counters import SharedCounters
from emdiam.stream.pager import Arena, Pager
from emdiam.stream.rows import RowCheck
from emdiam.stream.threads import Threads
from emdiam.traverse.core import Core
from emdiam.traverse.workspace import Workspace

_BLOCK = 64


def _arcs() -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices of a wheel with a tail, and a path of three beside it."""
    spokes = [(0, v) for v in range(1, 100)] + [(v, v + 1) for v in range(1, 100)]
    tail = [(v, v + 1) for v in range(100, 120)] + [(130, 131), (131, 132)]
    edges = np.array(spokes + tail, np.int64)
    arcs = np.concatenate((edges, edges[:, ::-1]))
    arcs = arcs[np.lexsort((arcs[:, 1], arcs[:, 0]))]
    indptr = np.zeros(201, np.int64)
    np.cumsum(np.bincount(arcs[:, 0], minlength=200), out=indptr[1:])
    return indptr, arcs[:, 1]


def _record(indptr: np.ndarray) -> StoreRecord:
    degrees = np.diff(indptr)
    return StoreRecord(max_degree=int(degrees.max()), n_isolated=int(np.count_nonzero(degrees == 0)))


def small_core(dtype: np.dtype[Any], threads: Threads, dense_arcs: int) -> Core:
    """A core over the tiny graph, with an arena of a few blocks."""
    indptr, indices = _arcs()
    ids = MemoryArray(indices.astype(dtype), _BLOCK)
    fake: Any = SimpleNamespace(n_vertices=200, n_arcs=len(indices), indices=ids, path="small",
                                indptr=MemoryArray(indptr, _BLOCK), record=_record(indptr))
    table = build_block_table(fake)
    counters = SharedCounters()
    pager = Pager(ids, RowCheck(table, dtype, fake.path), Arena(table.n_blocks, 3, _BLOCK, dtype), threads, counters, 2)
    return Core(table, pager, threads, counters, Workspace(200, dtype), "work", dense_arcs)
