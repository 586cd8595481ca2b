"""The engine of a store with directions: traversals along arcs and against them, over two cores that share all but
their rows.

A traversal along arcs goes over the rows out, and bottom-up over those of the reverse; one against them the other way
round. It is the same code (traverse/bfs.py), in RAM and streamed alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BudgetError, InputError
from ..progress import Listener, TimeOver
from ..store.check import blamed_on
from ..store.store import Store
from ..stream.blocks import build_block_table, table_bytes
from ..stream.counters import SharedCounters
from ..stream.pager import Arena, Pager
from ..stream.plan import READERS, MemoryPlan, Phase, Pool, make_plan, program_bytes
from ..stream.rows import RowCheck
from ..stream.threads import Threads
from ..traverse.bfs import BfsRun, Traversal
from ..traverse.columns import Column, smallest_dtype
from ..traverse.core import Core
from ..traverse.distance_table import DistanceTable
from ..traverse.multi import MultiRun, batch_for
from ..traverse.paths import all_edges_exist, path_pieces, read_rows, steep_steps
from ..traverse.ram_column import RamColumn
from ..traverse.strong import count_inner, strong_components, weak_components
from ..traverse.tally import DistanceSums, tally_runs
from ..traverse.workspace import Workspace, workspace_bytes
from ..units import budget_bytes
from .reporter import Reporter

_NO_RANKS = None


class DirectedEngine:
    """A graph with directions, opened for traversal. `back` of a verb: against the arcs. Not thread-safe.

    store, plan, reporter : as of other engines. load_seconds : that reading the graph into memory took."""

    def __init__(self, store: Store, out: Core, plan: MemoryPlan, progress: Listener | None) -> None:
        assert out.turned is not None
        self.store, self.plan, self._cores, self.load_seconds = store, plan, (out, out.turned), 0.0
        self.reporter = Reporter(progress, out.counters.snapshot, out.counters.add, out.position)

    @property
    def n_vertices(self) -> int:
        """Vertices of the graph."""
        return self.store.n_vertices

    def bfs(self, source: int, *, back: bool = False, within: np.ndarray | None = None, distances: bool = True,
            into: Column | None = None) -> Traversal:
        """Breadth-first search. within : bitmap of the vertices to stay among. With `distances` the result holds a
        Column: `into`, cleared first, if it is given (it must be wide enough: OverflowError)."""
        self.reporter.begin()
        run = BfsRun(self._cores[back], int(source), distances=distances and into is None)
        if within is not None:
            run.stay_within(within)
        if into is not None:
            into.clear()
            run.use_distances(into.raw())
        self._finish(run)
        result = run.result()
        self.reporter.end("bfs", source=int(source), eccentricity=result.eccentricity, reached=result.n_reached,
                          profile=run.frontier_profile())
        return result

    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """The eccentricities of sources (int64[k]), int32[k], by multi-source BFS."""
        result = np.empty(len(sources), np.int32)
        most = batch_for(self.n_vertices, self.plan.pool_bytes)
        for begin in range(0, len(sources), most):
            self.reporter.begin()
            run = MultiRun(self._cores[back], sources[begin : begin + most])
            self._finish(run)
            result[begin : begin + most] = run.result()
            self.reporter.end("multi-source", sources=len(result[begin : begin + most]))
        return result

    def count_distances(self, sources: np.ndarray, table: DistanceTable, *, groups: np.ndarray | int = 0,
                        sums: DistanceSums | None = None, back: bool = False) -> None:
        """See Counting; of a batch at a time."""
        most = batch_for(self.n_vertices, self.plan.pool_bytes)
        self.reporter.begin()
        for run in tally_runs(self._cores[back], sources, most, table, groups, sums):
            self._finish(run)
            run.result()
        self.reporter.end("multi-source", sources=len(sources))

    def _finish(self, run: BfsRun | MultiRun) -> None:
        self.reporter.level = None
        try:
            while not run.step(self.reporter.heartbeat):
                self.reporter.level = run.level
                self.reporter.heartbeat()
        finally:
            for core in self._cores:
                core.pager.stop_loading()  # of a run that was interrupted
        self.reporter.level = None

    def new_column(self, largest: int) -> Column:
        """An unreached column for values up to `largest`."""
        dtype = smallest_dtype(largest)
        return RamColumn(np.full(self.n_vertices, np.iinfo(dtype).max, dtype))

    @cached_property
    def strong(self) -> tuple[np.ndarray, int]:
        """See strong_components; kept."""
        return strong_components(self._cores[0], self.reporter.heartbeat)

    def weak(self) -> tuple[np.ndarray, int]:
        """See weak_components."""
        return weak_components(self._cores[0], self.reporter.heartbeat)

    def degrees(self, ids: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Arcs out of (back: into) vertices `ids`, int64[k]; no arcs are read."""
        return self._cores[back].degrees(np.asarray(ids, np.int64))

    def rows(self, ids: np.ndarray, *, back: bool = False) -> list[np.ndarray]:
        """Heads of the arcs out of (back: tails of those into) a few vertices, ascending, int64."""
        return read_rows(self._cores[back], np.asarray(ids, np.int64))

    def path_pieces(self, distances: Column, source: int, *, back: bool = False) -> Iterator[np.ndarray]:
        """A shortest path along arcs from `source` to where a BFS against them began that has given `distances`, source
        first, in pieces; back : the same against arcs, of a BFS along them."""
        return path_pieces(self._cores[back], distances.raw(), source, _NO_RANKS)

    def all_arcs_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """True if every (tails[i], heads[i]) is an arc, looked up row by row in the rows out."""
        return all_edges_exist(self._cores[0], tails, heads)

    def steep_steps(self, distances: Column, *, back: bool = False) -> int:
        """Arcs from (back: to) a vertex with a distance to one that is farther by more than 1, or has none: one pass
        over all rows."""
        rows = self._cores[back]
        steep = rows.sweep(rows.blocks, steep_steps, distances.raw(), distances.unreached, tick=self.reporter.heartbeat)
        rows.count_sweep(len(rows.blocks), rows.table.n_arcs)
        return steep

    def inner_degrees(self, numbers: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Arcs of every row whose both ends have the same number, uint32[n]. numbers : id[n]."""
        rows, counts = self._cores[back], np.zeros(self.n_vertices, np.uint32)
        rows.sweep(rows.blocks, count_inner, numbers, counts, tick=self.reporter.heartbeat)
        rows.count_sweep(len(rows.blocks), rows.table.n_arcs)
        return counts


def shared_bytes(store: Store) -> int:
    """Bytes that every run on a store with directions takes: both tables, and the state of a traversal."""
    return table_bytes(store) + table_bytes(store.reverse) + workspace_bytes(store.n_vertices, store.id_dtype.itemsize)


def plan_directed(store: Store, phases: tuple[Phase, ...], *, memory_bytes: int | None = None,
                  arena_bytes: int | None = None, threads: int = 2, pool: Pool | None = None,
                  held_bytes: int = 0) -> MemoryPlan:
    """The memory plan of a run on a store with directions; as make_plan. held_bytes : beside the program. Raises
    BudgetError, InputError."""
    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))
    memory = budget_bytes(memory_bytes)
    return make_plan(store, phases, memory_bytes=memory, arena_bytes=arena_bytes, threads=threads,
                     pool=replace(pool or Pool(), both_ways=True), program=program_bytes() + held_bytes)


@contextmanager
def open_directed_engine(store: Store, plan: MemoryPlan, *, threads: int = 2, progress: Listener | None = None,
                         **core: Any) -> Iterator[DirectedEngine]:
    """An engine on `store`; leaving the context ends its threads. core : fields of traverse.core.Core. If both
    directions fit in the arena they are loaded now. Raises BudgetError, StoreError, InputError."""
    begin = time.perf_counter()
    sides = (store, store.reverse)
    try:
        tables = [build_block_table(side) for side in sides]
        half = plan.arena_blocks // 2
        arenas = [Arena(table.n_blocks, max(1, min(half, table.n_blocks)), store.indices.chunk_items, store.id_dtype)
                  for table in tables]
        work = Workspace(store.n_vertices, store.id_dtype)
    except MemoryError as error:
        raise BudgetError(f"the machine refuses the planned memory ({error})",
                          remedy="give a smaller --memory") from None
    pool, counters = Threads(threads, READERS), SharedCounters()
    checks = [RowCheck(tables[0], store.id_dtype, store.path)]
    checks.append(RowCheck(tables[1], store.id_dtype, store.path, other=checks[0]))
    pagers = [Pager(side.indices, check, arena, pool, counters, plan.run_blocks)
              for side, check, arena in zip(sides, checks, arenas, strict=True)]
    cores = [Core(table, pager, pool, counters, work, **core) for table, pager in zip(tables, pagers, strict=True)]
    cores[0].turned, cores[1].turned = cores[1], cores[0]
    engine = DirectedEngine(store, cores[0], plan, progress)
    with ExitStack() as stack:
        stack.callback(pool.close)
        if plan.in_ram:
            engine.reporter.tick("load")
            for one in cores:
                one.pager.preload(lambda: engine.reporter.tick("load"))
        engine.load_seconds = time.perf_counter() - begin
        stack.enter_context(blamed_on(store, TimeOver))
        yield engine
