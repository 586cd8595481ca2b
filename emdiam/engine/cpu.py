"""The CPU engine: the Engine interface on numba kernels, for graphs in RAM and streamed graphs.

The two differ only in whether the arena holds all blocks or a few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..errors import BudgetError
from ..kernel_progress import clock
from ..progress import Listener, TimeOver
from ..store.store import Store, blamed_on
from ..stream.blocks import build_block_table
from ..stream.counters import SharedCounters
from ..stream.pager import Arena, Pager
from ..stream.plan import READERS, MemoryPlan, make_plan
from ..stream.reserve import Reserve
from ..stream.rows import RowCheck
from ..stream.threads import Threads
from ..traverse.bfs import NOTHING_LEARNED, BfsResult, BfsRun
from ..traverse.columns import Column, smallest_dtype
from ..traverse.components import Components
from ..traverse.core import Core, highest_degrees, list_degree, max_degree_vertex
from ..traverse.hidden import HiddenComponents, find_components
from ..traverse.level_windows import MAX_WINDOW_SOURCES, LevelWindowBatch, LevelWindows
from ..traverse.multi import MOST_BITS, MultiRun, batch_for
from ..traverse.multi_wide import MOST_WIDE_BITS, WideRun
from ..traverse.paths import SteepWatch, all_edges_exist, count_steep, follow_chains, path_pieces, read_rows
from ..traverse.pivot_bounds import PivotBounds, RamPivotBounds
from ..traverse.ram_column import RamColumn
from ..traverse.shared_sweeps import MOST_TOGETHER, SharedSweeps
from ..traverse.side_by_side import MOST_APART, SideBySide
from ..traverse.spread import SpreadRun
from ..traverse.workspace import Workspace, set_bits
from .counting import count_column
from .interface import Engine, Facts, Labels
from .needs import Needs
from .reporter import Reporter

if TYPE_CHECKING:
    from ..traverse.distance_table import DistanceTable
    from ..traverse.hyperball import BallSums, HyperBallRun
    from ..traverse.tally import DistanceSums
    from .forest import CpuForest

Opened = TypeVar("Opened", bound=Any)
# Arcs and vertices that a BFS in RAM visits in the time of one level of a batch: for any batch, plus for each source.
_ARCS_A_LEVEL, _ARCS_A_SOURCE = 1000, 4
# Arcs that single BFS scan in about two seconds.
_ARCS_AT_ONCE = 1 << 27


class LocalEngine:
    """The part of an engine that runs in this process on its CPU, over a Core: all verbs except traversals, columns and
    bounds. Those belong to CpuEngine or to an engine on a device. Not thread-safe.

    reporter : None for a new one with the listener `progress`. learned : by the last BFS, for the next one."""

    _together = _apart = _levels = 0
    _watch: SteepWatch | None = None

    def __init__(self, store: Store, core: Core, plan: MemoryPlan, progress: Listener | None = None,
                 reporter: Reporter | None = None) -> None:
        self.store, self.core, self.plan = store, core, plan
        self.load_seconds, self.learned = 0.0, NOTHING_LEARNED
        self.facts = Facts(store.n_vertices, store.n_arcs, core.n_isolated, max(1, core.table.n_blocks), MOST_BITS,
                           plan.pool_bytes, plan.pool_bytes, plan.spare_bytes, core.threads.compute, plan.in_ram,
                           together=0 if plan.in_ram else self._together, wide_bits=MOST_WIDE_BITS,
                           apart=self._apart if plan.starts_bytes and core.turned is None else 0)
        self.reporter = reporter or Reporter(progress, core.counters.snapshot, core.counters.add, core.position)

    def details(self) -> dict[str, Any]:
        """Figures of the engine, beside its counters, for Result.details."""
        return {}

    def all_ids(self) -> np.ndarray | None:
        """The neighbours of all rows, id[n_arcs] or more; None unless all of them are in memory, in order."""
        return self.core.pager.arena.ids if self.core.pager.arena.in_order else None

    @property
    def reached(self) -> Any:
        """The vertices that the last BFS reached; see Traversal.reached."""
        return self.core.work.visited

    def reached_words(self, start: int, stop: int) -> np.ndarray:
        """Words start..stop-1 of the bitmap of vertices that the last BFS reached, uint64[k]."""
        return self.core.work.visited[start:stop]

    def set_reached_words(self, start: int, words: np.ndarray) -> None:
        """Replace words from `start` on by some of reached_words, in the same order: for components and
        Traversal.reached."""
        self.core.work.visited[start : start + len(words)] = words

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        return self.components_here(reached)

    def components_here(self, reached: int) -> HiddenComponents | None:
        """The same in RAM, in the form that checkpoints store."""
        return find_components(self.core, reached, self.reporter.heartbeat)

    def _finish(self, run: MultiRun | WideRun | LevelWindowBatch | SharedSweeps | HyperBallRun) -> None:
        with at_work(self.reporter, self.core):
            while not run.step(self.reporter.heartbeat):
                self.reporter.show_level(run.level)

    # -- clusters -------------------------------------------------------------------------------
    @cached_property
    def rank_array(self) -> np.ndarray:
        """Natural rank of every vertex, id[n]; empty if every vertex is its own rank. Raises StoreError unless it is a
        permutation of 0 to n - 1, as kernels assume."""
        stored = self.store.natural_ids()
        if stored is None:
            return np.empty(0, self.store.id_dtype)
        seen = np.zeros((len(stored) + 63) // 64, np.uint64)
        set_bits(seen, stored, len(stored))  # all are below n
        if int(np.bitwise_count(seen).sum()) != len(stored):
            raise self.store.wrong_ranks()
        return stored

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.ranks."""
        return np.asarray(ids, np.int64) if not len(self.rank_array) else self.rank_array[ids].astype(np.int64)

    def sample_vertices(self, key: int, expected: int) -> np.ndarray:
        """See Engine.sample_vertices."""
        from ..traverse.clusters import sample_vertices

        return sample_vertices(self.core, key, expected, self.rank_array)

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters."""
        from ..traverse.clusters import grow_clusters

        return grow_clusters(self.core, masters, self.rank_array, self.reporter.heartbeat, most_rounds)

    def condense(self, by: Labels | np.ndarray, bits: tuple[int, int], push: Callable[[np.ndarray], None]) -> None:
        """See Engine.condense."""
        from ..traverse.clusters import RamLabels
        from ..traverse.condense import push_condensed, push_renumbered

        if isinstance(by, np.ndarray):
            push_renumbered(self.core, by, bits, push, self.reporter.heartbeat)
        else:
            assert isinstance(by, RamLabels)
            push_condensed(self.core, by, bits, push, self.reporter.heartbeat)

    def restart(self, labels: Labels, base: np.ndarray, parts: np.ndarray, sources: np.ndarray,
                most_scans: int | None = None) -> bool:
        """See Engine.restart."""
        from ..traverse.clusters import RamLabels

        assert isinstance(labels, RamLabels)
        most_blocks = None if most_scans is None else most_scans * self.facts.n_blocks
        self.core.counters.add(traversals=1)
        return labels.restart(base, parts, sources, most_blocks, self.reporter.heartbeat)

    def spanning_forest(self, key: int, buffer_bytes: int | None = None) -> CpuForest:
        """See Engine.spanning_forest."""
        from ..trees.spanning import buffer_sizes, spanning_forest
        from .forest import CpuForest

        if buffer_bytes is None:
            least, best = buffer_sizes(self.facts.n_vertices, self.store.id_dtype.itemsize)
            buffer_bytes = least + min(self.facts.pool_bytes, best - least)
        made = spanning_forest(self.core, key, self.rank_array, buffer_bytes, self.reporter.heartbeat)
        return CpuForest(made.raw, made.n_trees, made.scans, made.bytes_read, self)

    def grow_balls(self, log2_registers: int, key: int, sums: BallSums | None = None) -> DistanceTable:
        """One run of HyperBall with 2^log2_registers registers a vertex. Returns float64: the growth of all balls
        together at each level, estimated from all registers (row 0) and without each group of them. key : seeds the
        hashes, below 2^64. sums : collects sums at vertices."""
        from ..traverse.hyperball import HyperBallRun

        self.reporter.begin()
        run = HyperBallRun(self.core, log2_registers, key, self.rank_array, sums)
        self._finish(run)
        if sums is not None:
            sums.runs += 1
        self.reporter.end("hyperball", eccentricity=run.level)
        return run.table

    def triangles(self) -> np.ndarray:
        """Triangles at every vertex, int64[n]. Raises MoreMemoryError if the pool has no room for two rows."""
        from ..traverse.triangles import count_triangles

        return count_triangles(self.core, self.facts.pool_bytes, self.reporter.heartbeat)

    def degeneracy(self) -> int:
        """The largest k with a k-core."""
        from ..traverse.cores import degeneracy

        return degeneracy(self.core, self.reporter.heartbeat)

    # -- rows -----------------------------------------------------------------------------------
    def follow_chains(self, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See Engine.follow_chains."""
        return follow_chains(self.core, tips, self.reporter.heartbeat)

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """See Engine.vertices_of_degree."""
        out = np.empty(most, np.int64)
        start = 0
        while start < self.facts.n_vertices:
            count, start = list_degree(*self.core.offsets, degree, start, self.facts.n_vertices, out)
            if count:
                yield out[:count].copy()

    def degrees(self, ids: np.ndarray) -> np.ndarray:
        """See Engine.degrees."""
        return self.core.degrees(np.asarray(ids, np.int64))

    def highest_degrees(self, most: int) -> np.ndarray:
        """See Engine.highest_degrees."""
        if most == 1:
            vertex, degree = max_degree_vertex(*self.core.offsets, self.facts.n_vertices)
            return np.array([vertex] if degree > 0 else [], np.int64)
        best, degrees = highest_degrees(self.core, most)
        return best[degrees > 0]

    def rows(self, ids: np.ndarray) -> list[np.ndarray]:
        """See Engine.rows."""
        return read_rows(self.core, np.asarray(ids, np.int64))

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """See Engine.path_pieces."""
        return path_pieces(self.core, distances.raw(), target, self.rank_array if by_rank else None)

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """See Engine.all_edges_exist."""
        return all_edges_exist(self.core, tails, heads)

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """See Engine.scan."""
        if name == "steep-arcs":
            label, watch, self._watch = column.raw(), self._watch, None
            return count_steep(self.core, label, self.reporter.heartbeat,
                               watch if watch is not None and watch.label is label else None)
        if name != "tree-diameter":
            raise ValueError(f"unknown scan kernel {name!r}")
        from ..trees.diameter import tree_diameter

        if column.gather([source])[0] != 0:
            raise ValueError(f"vertex {source} is not the source of these distances")
        return tree_diameter(self.core, column.raw(), self.rank_array, self.reporter.heartbeat)


@contextmanager
def at_work(reporter: Reporter, *cores: Core) -> Iterator[None]:
    """A context in which traversals over these cores run; it stops their loading at the end."""
    reporter.level = None
    try:
        yield
    finally:
        for core in cores:
                core.pager.stop_loading()  # if the run was interrupted


class CpuEngine(LocalEngine, Engine):
    """Engine over a Core; see emdiam.engine.interface.Engine for the verbs."""

    _together, _apart = MOST_TOGETHER, MOST_APART

    def bfs(self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
            distances: bool = True, profile: bool = False, into: Column | None = None) -> BfsResult:
        """See Engine.bfs."""
        self.reporter.begin()
        run = BfsRun(self.core, int(source), self.learned, radius=radius, targets=targets,
                     distances=distances and into is None, profile=profile)
        if into is not None:
            into.clear()
            run.use_distances(into.raw())
        with at_work(self.reporter, self.core):
            while run.mode is not None:
                if self.core.at_rest is not None:
                    self.core.at_rest(run)
                run.mode = run.mode.step(self.reporter.heartbeat)
                if run.mode is not None:
                    self.reporter.show_level(run.level)
        result = run.result()
        result.reached, self.learned = self.core.work.visited, run.learned
        self._levels = result.levels
        self.reporter.end("bfs", source=int(source), eccentricity=result.eccentricity, reached=result.n_reached,
                          profile=run.frontier_profile())
        return result

    def eccentricities(self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
                       columns: Sequence[Column] | None = None) -> np.ndarray:
        """See Engine.eccentricities."""
        wanted = np.asarray(sources, np.int64)
        self.reporter.begin()
        if columns is not None and targets is None and self.facts.apart_pays(self._levels) and (
                SideBySide.possible(self.core)):
            result = self._side_by_side(wanted, columns)
        elif columns is not None and targets is None and self.learned.window_levels and (
                LevelWindows.possible(self.core)):
            result = self._windows(wanted, columns)
        elif columns is not None and targets is None and 0 < len(wanted) <= self.facts.together:
            run = SharedSweeps(self.core, wanted.tolist(), columns, self.learned)
            self.core.pager.watcher = self._watch
            try:
                self._finish(run)
            finally:
                self.core.pager.watcher = None
            result = run.result()
        else:
            result = self._batches(wanted, targets, columns)
        self.reporter.end("multi-source", sources=len(wanted),
                          eccentricity=None if targets is not None else int(result.max(initial=0)))
        return result

    def watch(self, column: Column | None) -> None:
        """See SharedScans."""
        self._watch = None if column is None else SteepWatch(self.core, column.raw())

    def _batches(self, wanted: np.ndarray, targets: np.ndarray | None, columns: Sequence[Column] | None) -> np.ndarray:
        """Eccentricities through multi-source BFS with at most batch_bits sources each."""
        result = np.empty(len(wanted), np.int32)
        for begin in range(0, len(wanted), self.facts.batch_bits):
            end = min(begin + self.facts.batch_bits, len(wanted))
            run = MultiRun(self.core, wanted[begin:end], targets=targets,
                           columns=None if columns is None else columns[begin:end])
            self._finish(run)
            result[begin:end] = run.result()
        return result

    def _side_by_side(self, sources: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
        """Eccentricities through one BFS from each source, on one thread each."""
        run = SideBySide(self.core, sources.tolist(), columns)
        result = run.run(self.reporter.heartbeat).astype(np.int32)
        for number in run.wide:
            result[number] = self.bfs(int(sources[number]), into=columns[number]).levels
        return result

    def count_distances(self, sources: np.ndarray, table: DistanceTable, *, groups: np.ndarray | int = 0,
                        sums: DistanceSums | None = None) -> None:
        """See Counting."""
        from ..traverse.tally import tally_runs

        if self._one_by_one(len(sources)):
            self._count_one_by_one(sources, table, groups, sums)
            return
        self.reporter.begin()
        most = batch_for(self.facts.n_vertices, self.facts.pool_bytes)
        longest = 0
        for run in tally_runs(self.core, sources, most, table, groups, sums):
            self._finish(run)
            longest = max(longest, int(run.result().max()))
        self.reporter.end("multi-source", sources=len(sources), eccentricity=longest)

    def counted_at_once(self) -> int:
        """See Counting."""
        most, apart = self.facts.batch_bits, max(1, _ARCS_AT_ONCE // self.facts.n_arcs)
        return min(most, apart) if self._one_by_one(most) else most

    def _one_by_one(self, k: int) -> bool:
        """Whether k single BFS take less time than a batch of k sources, which is so if levels have few arcs: on long
        paths a fifth to a hundredth. They need one column in place of the batch's state."""
        n, arcs = self.facts.n_vertices, self.facts.n_vertices + self.facts.n_arcs
        room = n * smallest_dtype(n).itemsize <= self.facts.pool_bytes
        return self.facts.in_ram and room and k * arcs <= (_ARCS_A_LEVEL + _ARCS_A_SOURCE * k) * self._levels

    def _count_one_by_one(self, sources: np.ndarray, table: DistanceTable, groups: np.ndarray | int,
                          sums: DistanceSums | None) -> None:
        """Count through one BFS from each source."""
        column = self.new_column(self.facts.n_vertices)
        for source, row in zip(sources.tolist(), np.broadcast_to(groups, len(sources)).tolist(), strict=True):
            self.bfs(source, into=column)
            count_column(column, table, row)
            if sums is not None:
                sums.add_column(column)

    def wide_eccentricities(self, sources: np.ndarray, bits: int) -> np.ndarray:
        """See WideBatches."""
        wanted = np.asarray(sources, np.int64)
        self.reporter.begin()
        result = np.empty(len(wanted), np.int32)
        for begin in range(0, len(wanted), bits):
            run = WideRun(self.core, wanted[begin : begin + bits])
            self._finish(run)
            result[begin : begin + bits] = run.result()
        self.reporter.end("multi-source", sources=len(wanted), eccentricity=int(result.max(initial=0)))
        return result

    def dominating(self, vertices: np.ndarray, hops: int, bound: Column, limit: int,
                   most: int) -> tuple[np.ndarray, np.ndarray]:
        """See WideBatches."""
        from ..traverse.domination import dominating

        return dominating(self.core, vertices, hops, (bound.raw(), limit), most)

    def _windows(self, sources: np.ndarray, columns: Sequence[Column]) -> np.ndarray:
        """Write the distances of all sources through windows of levels that share blocks; return eccentricities."""
        for begin in range(0, len(sources), MAX_WINDOW_SOURCES):
            part = slice(begin, begin + MAX_WINDOW_SOURCES)
            run = LevelWindowBatch(self.core, sources[part].tolist(), columns[part], self.learned)
            self._finish(run)
            self.core.counters.add(traversals=1)
        return np.array([column.gather([column.argbest()])[0] for column in columns], np.int32)

    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """See Engine.new_column."""
        dtype = smallest_dtype(largest)
        self.core.widen(dtype.itemsize)
        fill = int(np.iinfo(dtype).max) if value is None else value
        column = RamColumn(np.full(self.facts.n_vertices, fill, dtype))
        return column if isolated is None else column.put_pieces(self.vertices_of_degree(0), isolated)

    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        self.core.widen(smallest_dtype(largest).itemsize)
        return RamPivotBounds(self.core, largest)

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        none = np.empty(0, np.int64)
        start = (none, none) if seeds is None else (seeds, np.asarray(values))
        run = SpreadRun(self.core, start[0], start[1], limit, bound)
        if seeds is None:
            run.seed_level(int(values))
        self.reporter.begin()
        while not run.step(self.reporter.heartbeat):
            self.reporter.heartbeat()
        self.core.counters.add(traversals=1)
        self.reporter.end("spread", reached=run.lowered)
        return run.lowered


def plan_engine(store: Store, needs: Needs, *, memory_bytes: int | None = None, arena_bytes: int | None = None,
                threads: int = 2, program: int | None = None) -> MemoryPlan:
    """The memory plan for `needs` on `store` in this process (see stream/plan.py).

    memory_bytes : peak RSS allowed (default: the memory of the machine or its cgroup). program : see make_plan. Raises
    BudgetError, InputError.
    """
    return make_plan(store, needs.phases, memory_bytes=memory_bytes, arena_bytes=arena_bytes, threads=threads,
                     pool=needs.pool.knowing(needs.known_on(store)), program=program)


@contextmanager
def open_cpu_engine(store: Store, needs: Needs, *, memory_bytes: int | None = None, arena_bytes: int | None = None,
                    threads: int = 2, program: int | None = None, progress: Listener | None = None,
                    **core: Any) -> Iterator[CpuEngine]:
    """An engine on `store`; leaving the context ends its threads.

    For the first four options see plan_engine. core : fields of traverse.core.Core (direction, dense_arcs). The
    engine has `plan` and `load_seconds`. If the whole graph fits in the arena, it is loaded at once. Raises
    BudgetError, StoreError, InputError.
    """
    begin = clock()
    plan = plan_engine(store, needs, memory_bytes=memory_bytes, arena_bytes=arena_bytes, threads=threads,
                       program=program)
    one, = open_cores((store,), plan, threads, **core)
    one.reserve = Reserve(plan, one.pager)
    with loaded(CpuEngine(store, one, plan, progress), begin, one) as engine:
        yield engine


def open_cores(sides: Sequence[Store], plan: MemoryPlan, threads: int, **fields: Any) -> list[Core]:
    """A core for each of the sides, which are stores of the same graph. The cores share all but the table, the pager
    and their part of the arena. fields : further fields of Core. Raises BudgetError, StoreError, InputError."""
    store, slots = sides[0], plan.arena_blocks // len(sides)
    try:
        tables = [build_block_table(side) for side in sides]
        arenas = [Arena(table.n_blocks, max(1, min(slots, table.n_blocks)), store.indices.chunk_items, store.id_dtype)
                  for table in tables]
        work = Workspace(store.n_vertices, store.id_dtype)
    except MemoryError as error:
        raise BudgetError(f"the machine refuses the planned memory ({error})",
                          remedy="give a smaller --memory") from None
    pool, counters, check, cores = Threads(threads, READERS), SharedCounters(), None, list[Core]()
    for side, table, arena in zip(sides, tables, arenas, strict=True):
        check = RowCheck(table, store.id_dtype, store.path, other=check)
        pager = Pager(side.indices, check, arena, pool, counters, plan.run_blocks)
        cores.append(Core(table, pager, pool, counters, work, **fields))
    return cores


@contextmanager
def loaded(engine: Opened, begin: float, *cores: Core) -> Iterator[Opened]:
    """The engine over these cores, with all arcs loaded if they fit in memory; leaving the context ends its threads.

    begin : the time when opening started, from kernel_progress.clock."""
    with ExitStack() as stack:
        stack.callback(cores[0].threads.close)
        if engine.plan.in_ram:
            engine.reporter.tick("load")
            for core in cores:
                core.pager.preload(lambda: engine.reporter.tick("load"))
                if engine.plan.starts_bytes:
                    core.lay_out()
        engine.load_seconds = clock() - begin
        stack.enter_context(blamed_on(engine.store, TimeOver))
        yield engine
