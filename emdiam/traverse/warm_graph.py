"""A tiny graph that drives every kernel in every dtype that a run may meet."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..store.array_reader import MemoryArray
from ..store.layout import StoreRecord
from ..store.native_blosc import decode_run_at
from ..stream.arena import Arena
from ..stream.blocks import build_block_table
from ..stream.counters import SharedCounters
from ..stream.pager import Pager
from ..stream.rows import RowCheck
from ..stream.threads import Crew
from .bfs import BfsRun
from .chains import follow_chains
from .components import find_components
from .core import Core
from .degrees import list_degree, max_degree_vertex
from .level_windows import Strips, labelled, waiting_arcs
from .multi import MultiRun
from .paths import all_edges_exist, count_steep, path_pieces
from .pivot_bounds import RamPivotBounds
from .ram_column import RamColumn
from .spread import SpreadRun
from .workspace import Workspace

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


def small_core(dtype: np.dtype[Any], crew: Crew, dense_arcs: int) -> Core:
    """A core over the tiny graph, with an arena of a few blocks."""
    indptr, indices = _arcs()
    ids = MemoryArray(indices.astype(dtype), _BLOCK)
    fake: Any = SimpleNamespace(n_vertices=200, n_arcs=len(indices), indices=ids, path="warm-up",
                                indptr=MemoryArray(indptr, _BLOCK), record=_record(indptr))
    table = build_block_table(fake)
    counters = SharedCounters()
    pager = Pager(ids, RowCheck(table, dtype, fake.path), Arena(table.n_blocks, 3, _BLOCK, dtype), crew, counters, 2)
    return Core(table, pager, crew, counters, Workspace(200, dtype), "work", dense_arcs)


def exercise(dtype: np.dtype[Any], column_dtypes: Sequence[Any]) -> None:
    """Run all kernels, sparse and dense, with ids of `dtype` and columns of `column_dtypes`."""
    nothing = np.empty(0, np.int64)
    decode_run_at(0, nothing, nothing, nothing, 1)
    crew = Crew(1, 0)
    try:
        for dense_arcs in (0, 1 << 40):
            core = small_core(dtype, crew, dense_arcs)
            for column_dtype in column_dtypes:
                _exercise_columns(core, np.dtype(column_dtype))
            _exercise_rest(core)
    finally:
        crew.close()


def finish(run: Any) -> Any:
    """Step a run to its end."""
    while not run.step():
        pass
    return run


def _exercise_columns(core: Core, dtype: np.dtype[Any]) -> None:
    run = BfsRun(core, 120, targets=[0, 100], distances=True)
    run.use_distances(np.full(200, np.iinfo(dtype).max, dtype))
    finish(run)
    run = BfsRun(core, 120)
    run.use_distances(np.full(200, np.iinfo(dtype).max, dtype))
    distances = finish(run).result().distances
    bound = RamColumn(np.full(200, np.iinfo(dtype).max, dtype))
    finish(SpreadRun(core, np.array([0, 120]), np.array([0, 1]), 9, bound))
    grown = SpreadRun(core, np.empty(0, np.int64), np.empty(0, np.int64), 12, bound)
    grown.seed_level(9)
    finish(grown)
    bound.recode([3], 4, within=core.work.visited)
    bound.first([4])
    bound.first([4], labels=np.zeros(200, core.work.queues.dtype))
    bound.first([4], labels=np.zeros(200, core.work.queues.dtype), label=1)
    bounds = RamPivotBounds(core, 0 if dtype == np.uint8 else 300 if dtype == np.uint16 else 70_000)
    bounds.fold(120, distances, 99, 1)
    bounds.unsettled(1)
    _exercise_strips(core, distances.raw())
    for _ in path_pieces(core, distances.raw(), 0):
        pass
    count_steep(core, distances.raw())


def _exercise_strips(core: Core, dist: np.ndarray) -> None:
    core.work.frontier[:] = 0
    core.work.frontier[1] = 1
    core.work.visited[:] = 0
    strips = Strips(core, dist, 0)
    while not strips.step(2**7):
        pass
    waiting_arcs(core.work.frontier, *core.offsets)
    labelled(dist, core.work.visited)


def _exercise_multi(core: Core) -> None:
    for k in (3, 70):
        sources = np.arange(k) + 50
        finish(MultiRun(core, sources, targets=np.ones(4, np.uint64))).result()
        columns = [RamColumn(np.full(200, 255, np.uint8)) for _ in range(k)]
        finish(MultiRun(core, sources, columns=columns)).result()


def _exercise_rest(core: Core) -> None:
    _exercise_multi(core)
    run = finish(BfsRun(core, 0, distances=False))
    run.result()
    others = find_components(core, 0)
    if others is not None:
        others.larger_than(1)
    tips = np.empty(8, np.int64)
    count, _ = list_degree(*core.offsets, 1, 0, 200, tips)
    follow_chains(core, tips[:count])
    max_degree_vertex(*core.offsets, 200)
    all_edges_exist(core, np.array([0]), np.array([1]))
