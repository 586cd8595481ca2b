"""The engine of a store with directions: traversals along arcs and against them, over two cores that share all but
their rows.

A traversal along arcs reads the rows out, or in bottom-up levels the rows of the reverse; a traversal against arcs does
the opposite. Both use the code for undirected graphs (traverse/bfs.py), in RAM and streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..kernel_progress import clock
from ..progress import Listener
from ..store.store import Store
from ..stream.blocks import table_bytes
from ..stream.plan import MemoryPlan, Phase, Pool, make_plan, program_bytes
from ..traverse.arc_bounds import ArcBounds
from ..traverse.bfs import NOTHING_LEARNED, BfsResult, BfsRun
from ..traverse.columns import Column, smallest_dtype
from ..traverse.core import Core
from ..traverse.distance_table import DistanceTable
from ..traverse.hyperball import BallSums, HyperBallRun
from ..traverse.multi import MultiRun, batch_for
from ..traverse.paths import all_edges_exist, path_pieces, read_rows, steep_steps
from ..traverse.ram_column import RamColumn
from ..traverse.strong import count_inner, strong_components, weak_components
from ..traverse.tally import DistanceSums, tally_runs
from ..traverse.workspace import workspace_bytes
from .cpu import at_work, loaded, open_cores
from .reporter import Reporter

_NO_RANKS = None


class DirectedEngine:
    """A graph with directions, opened for traversal. `back` of a verb: against the arcs. Not thread-safe.

    store, plan, reporter : as in other engines. cores : with the rows out, and in. load_seconds : the time that
    reading the graph into memory took."""

    def __init__(self, store: Store, out: Core, plan: MemoryPlan, progress: Listener | None) -> None:
        assert out.turned is not None
        self.store, self.plan, self.cores, self.load_seconds = store, plan, (out, out.turned), 0.0
        self._learned = [NOTHING_LEARNED, NOTHING_LEARNED]  # along arcs, and against them
        self.reporter = Reporter(progress, out.counters.snapshot, out.counters.add, out.position)

    @property
    def n_vertices(self) -> int:
        """Vertices of the graph."""
        return self.store.n_vertices

    def bfs(self, source: int, *, back: bool = False, within: np.ndarray | None = None, distances: bool = True,
            into: Column | None = None) -> BfsResult:
        """Breadth-first search. within : bitmap of the vertices to stay among. With `distances` the result contains a
        Column: `into` (cleared first) if one is passed. It must be wide enough, else OverflowError."""
        self.reporter.begin()
        run = BfsRun(self.cores[back], int(source), self._learned[back], distances=distances and into is None)
        if within is not None:
            run.stay_within(within)
        if into is not None:
            into.clear()
            run.use_distances(into.raw())
        self._finish(run)
        result, self._learned[back] = run.result(), run.learned
        self.reporter.end("bfs", source=int(source), eccentricity=result.eccentricity, reached=result.n_reached,
                          profile=run.frontier_profile())
        return result

    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """The eccentricities of sources (int64[k]), int32[k], through multi-source BFS."""
        result = np.empty(len(sources), np.int32)
        most = batch_for(self.n_vertices, self.plan.pool_bytes)
        for begin in range(0, len(sources), most):
            self.reporter.begin()
            run = MultiRun(self.cores[back], sources[begin : begin + most])
            self._finish(run)
            result[begin : begin + most] = run.result()
            self.reporter.end("multi-source", sources=len(result[begin : begin + most]))
        return result

    def count_distances(self, sources: np.ndarray, table: DistanceTable, *, groups: np.ndarray | int = 0,
                        sums: DistanceSums | None = None, back: bool = False) -> None:
        """See Counting; counts a batch at a time."""
        most = batch_for(self.n_vertices, self.plan.pool_bytes)
        self.reporter.begin()
        for run in tally_runs(self.cores[back], sources, most, table, groups, sums):
            self._finish(run)
            run.result()
        self.reporter.end("multi-source", sources=len(sources))

    def grow_balls(self, log2_registers: int, key: int, sums: BallSums | None = None, *,
                   back: bool = False) -> DistanceTable:
        """See CpuEngine.grow_balls. A ball has the vertices that a vertex reaches; back: that reach it."""
        self.reporter.begin()
        run = HyperBallRun(self.cores[back], log2_registers, key, np.empty(0, self.store.id_dtype), sums)
        self._finish(run)
        if sums is not None:
            sums.runs += 1
        self.reporter.end("hyperball", eccentricity=run.level)
        return run.table

    def _finish(self, run: BfsRun | MultiRun | HyperBallRun) -> None:
        with at_work(self.reporter, *self.cores):
            while not run.step(self.reporter.heartbeat):
                self.reporter.show_level(run.level)
        self.reporter.level = None

    def new_column(self, largest: int) -> Column:
        """An unreached column for values up to `largest`."""
        dtype = smallest_dtype(largest)
        return RamColumn(np.full(self.n_vertices, np.iinfo(dtype).max, dtype))

    def new_bounds(self, numbers: np.ndarray, above: int, sides: int = 2) -> ArcBounds:
        """See ArcBounds."""
        return ArcBounds(numbers, above, np.dtype(np.uint32), sides)

    def details(self) -> dict[str, Any]:
        """Entries for the details of a result."""
        return {}

    @cached_property
    def strong(self) -> tuple[np.ndarray, int]:
        """See strong_components; computed once."""
        return strong_components(self.cores[0], self.reporter.heartbeat)

    def weak(self) -> tuple[np.ndarray, int]:
        """See weak_components."""
        return weak_components(self.cores[0], self.reporter.heartbeat)

    def degrees(self, ids: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Number of arcs out of (back: into) vertices `ids`, int64[k]; reads no arcs."""
        return self.cores[back].degrees(np.asarray(ids, np.int64))

    def rows(self, ids: np.ndarray, *, back: bool = False) -> list[np.ndarray]:
        """Heads of the arcs out of (back: tails of those into) a few vertices, ascending, int64."""
        return read_rows(self.cores[back], np.asarray(ids, np.int64))

    def path_pieces(self, distances: Column, source: int, *, back: bool = False) -> Iterator[np.ndarray]:
        """A shortest path along arcs from `source` to the vertex where a BFS against arcs started; `distances` are the
        result of that BFS. In pieces, `source` first. back : the same with both directions swapped."""
        return path_pieces(self.cores[back], distances.raw(), source, _NO_RANKS)

    def all_arcs_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """True if every (tails[i], heads[i]) is an arc, looked up row by row in the rows out."""
        return all_edges_exist(self.cores[0], tails, heads)

    def steep_steps(self, distances: Column, *, back: bool = False) -> int:
        """Number of arcs from (back: to) a vertex with a distance to a vertex that is farther by more than 1 or
        unreached: one pass over all rows."""
        rows = self.cores[back]
        steep = rows.sweep(rows.blocks, steep_steps, distances.raw(), distances.unreached, tick=self.reporter.heartbeat)
        rows.count_sweep(len(rows.blocks), rows.table.n_arcs)
        return steep

    def inner_degrees(self, numbers: np.ndarray, *, back: bool = False) -> np.ndarray:
        """For every row its number of arcs whose both ends have the same number, uint32[n]. numbers : id[n]."""
        rows, counts = self.cores[back], np.zeros(self.n_vertices, np.uint32)
        rows.sweep(rows.blocks, count_inner, numbers, counts, tick=self.reporter.heartbeat)
        rows.count_sweep(len(rows.blocks), rows.table.n_arcs)
        return counts


def shared_bytes(store: Store) -> int:
    """Bytes that every run on a store with directions takes: both tables and the state of a traversal."""
    return table_bytes(store) + table_bytes(store.reverse) + workspace_bytes(store.n_vertices, store.id_dtype.itemsize)


def plan_directed(store: Store, phases: tuple[Phase, ...], *, memory_bytes: int | None = None,
                  arena_bytes: int | None = None, threads: int = 2, pool: Pool | None = None,
                  held_bytes: int = 0) -> MemoryPlan:
    """The memory plan of a run on a store with directions; see make_plan. held_bytes : memory taken beside the program.
    Raises BudgetError, InputError."""
    return make_plan(store, phases, memory_bytes=memory_bytes, arena_bytes=arena_bytes, threads=threads,
                     pool=replace(pool or Pool(), both_ways=True), program=program_bytes() + held_bytes)


@contextmanager
def open_directed_engine(store: Store, plan: MemoryPlan, *, threads: int = 2, progress: Listener | None = None,
                         **core: Any) -> Iterator[DirectedEngine]:
    """An engine on `store`; leaving the context ends its threads. core : fields of traverse.core.Core. If both
    directions fit in the arena, they are loaded at once. Raises BudgetError, StoreError, InputError."""
    begin = clock()
    out, back = open_cores((store, store.reverse), plan, threads, **core)
    out.turned, back.turned = back, out
    with loaded(DirectedEngine(store, out, plan, progress), begin, out, back) as engine:
        yield engine
