"""The GPU engine: the Engine interface with traversals and columns on a device.

BFS, multi-source BFS, spreads, bounds, components and the growth of clusters run on the device. The CPU does verbs that
read few rows (paths, chains, checks of edges) and scans, over the same store and within the same memory plan. Device
memory: see vram.py. Further devices of the setting have copies of the graph, and share multi-source BFS.

Functions on rows of a graph with kernels of rows.cu: the number of steep arcs and a path down a column of distances
(for a resident graph), a longest row, and rows of a given length. The same on the CPU: traverse/paths.py,
traverse/core.py. Work: O(m + n), the rows of the path, and O(n).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from ..engine.counting import ColumnCounting
from ..engine.cpu import LocalEngine
from ..engine.interface import ComponentBounds, Engine, Labels
from ..progress import Tick
from ..traverse.bfs import BfsResult
from ..traverse.clusters import grow_clusters
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.domination import dominating
from ..traverse.hidden import HiddenComponents
from ..traverse.pivot_bounds import PivotBounds
from .bfs_auto import AutoBfs
from .bfs_whole import DeviceTraversal, WholeBfs
from .components import DeviceComponents, grow_labels, growth_bytes
from .device import Device, DeviceArray
from .device_column import DeviceColumn, DevicePivotBounds
from .failures import at_the_end
from .graph import DeviceBfs, DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .multi_source import MOST_WIDE_BITS, WIDE_RATE, batch_bits
from .paged import PagedBfs, PagedGraph
from .replicas import Replicas
from .setting import AUTO, OnDevice
from .spread import Spreader, WholeSpread
from .upload import open_graph, upload
from .vector import DeviceVector, on_device
from .vram import VramPlan

FILE = "rows.cu"
# Vertices of a path copied to the host at a time; vertices whose degrees are scanned at a time.
_PIECE, _RANGE = 1 << 11, 1 << 19


def count_steep(device: Device, graph: DeviceGraph, values: DeviceArray, heads: DeviceArray | None = None,
                low: int = 0) -> int:
    """The number of arcs whose ends differ by more than 1 in `values`, uint32[n] on the device. heads : the values of
    the heads low, low + 1, ..., if rows and heads have different numbers; only arcs to these count."""
    heads = values if heads is None else heads
    count = zeros(device, 1, np.uint64)
    KernelFile(device, FILE, graph.macros).launch(
        "steep_arcs", -(-graph.n_arcs // 32), graph.offsets, graph.neighbours, graph.n_vertices, graph.n_arcs, values,
        heads, low, low + heads.size, count)
    return int(device.to_host(count)[0])


def largest_degree(device: Device, graph: DeviceGraph) -> int | None:
    """The smallest vertex of largest degree in a graph of fewer than 2^32 vertices; None without arcs."""
    best = zeros(device, 1, np.uint64)
    KernelFile(device, FILE, graph.macros).launch(
        "largest_degree", graph.n_vertices, graph.offsets, graph.n_vertices, best)
    found = int(device.to_host(best)[0])
    return UNREACHED - (found & UNREACHED) if found else None


def vertices_of_degree(device: Device, graph: DeviceGraph, degree: int, most: int) -> Iterator[np.ndarray]:
    """The vertices of this degree, ascending, in pieces of `most` (int64[k]); the last one may be smaller."""
    kernels, piece = KernelFile(device, FILE, graph.macros), np.empty(0, np.int64)
    for begin in range(0, graph.n_vertices, _RANGE):
        end = min(begin + _RANGE, graph.n_vertices)
        marks = device.empty(end - begin, np.uint32)
        kernels.launch("mark_degree", end - begin, graph.offsets, begin, end, degree, marks)
        piece = np.concatenate((piece, DeviceVector(device, marks).select("==", 0) + begin))
        whole = len(piece) // most * most
        yield from (piece[start : start + most] for start in range(0, whole, most))
        piece = piece[whole:]
    if len(piece):
        yield piece


def put_isolated(device: Device, graph: DeviceGraph, values: DeviceArray, value: int) -> None:
    """Set the values, uint32[n] on the device, of all vertices without an edge."""
    KernelFile(device, FILE, graph.macros).launch(
        "put_isolated", graph.n_vertices, graph.offsets, graph.n_vertices, np.uint32(value), values)


def path_pieces(device: Device, graph: DeviceGraph, distances: DeviceArray, target: int,
                piece: int = _PIECE) -> Iterator[np.ndarray]:
    """The vertices of a shortest path from `target` down to the source of `distances` (uint32[n] on the device), target
    first, in pieces of at most `piece` (int64). A step goes to the smallest neighbour at distance one less.

    Raises RuntimeError if no such neighbour exists, so that `distances` are wrong."""
    kernels = KernelFile(device, FILE, graph.macros)
    yield np.array([target], np.int64)
    # The path follows the kernel's state, so that one copy returns both.
    state = zeros(device, 3 + piece, np.uint64)
    device.fill(state[:1], target)
    while True:
        kernels.launch_blocks("walk_down", 1, graph.offsets, graph.neighbours, distances, piece, state[3:], state[:3])
        vertex, steps, stuck, *_ = (walk := device.to_host(state)).tolist()
        if stuck:
            raise RuntimeError(f"no neighbour of vertex {vertex} is nearer to the source")
        if steps:
            yield walk[3 : 3 + steps].astype(np.int64)
        if steps < piece:
            return


_MOST_POINTS = 1000
# Variants of papers/001, which are used with the bounds and candidates of the paper.
_OF_DAL = ("standard", "dal-")
# The distances for checking a witness stay on the device if they take at most 1 / _SPARE_SHARE of the pool.
_SPARE_SHARE = 16


class GpuEngine(ColumnCounting, LocalEngine, Engine):
    """Traversals on a device over the store of `engine`; see emdiam.engine.interface.Engine.

    vram : the plan of device memory. Copies the graph to the device by the plan, in `upload_seconds`. Call `close` at
    the end. Raises BudgetError if memory is too small, InputError for an unknown variant or mapping.
    """

    def __init__(self, engine: LocalEngine, setting: OnDevice, vram: VramPlan) -> None:
        super().__init__(engine.store, engine.core, engine.plan, reporter=engine.reporter)
        self.device = device = setting.device
        self.vram = vram
        begin = time.perf_counter()
        self.reporter.tick("upload")
        self.graph = open_graph(self.core, setting, vram, self.reporter.heartbeat)
        self.upload_seconds = time.perf_counter() - begin
        # Tables that methods size by their memory limit are on the device; points and box tables on the host.
        column_bytes = 4 * self.facts.n_vertices
        self._has_spare = vram.resident and vram.pool_bytes >= _SPARE_SHARE * column_bytes
        self._room = vram.pool_bytes - column_bytes * self._has_spare
        pool = min(engine.facts.pool_bytes, self._room)
        wide = {"in_ram": True, "wide_bits": MOST_WIDE_BITS, "wide_rate": WIDE_RATE} if vram.resident else {
            "wide_bits": 0}
        self.facts = replace(engine.facts, pool_bytes=pool, room_bytes=pool, **wide,
                             batch_bits=batch_bits(self._room, self.facts.n_vertices),
                             keeps_candidates=setting.bfs.startswith(_OF_DAL))
        try:
            self._search = open_search(self.graph, setting)
            self._replicas = Replicas([(device, self.graph), *(
                (other, upload(other, self.core, self.reporter.heartbeat)) for other in setting.others)])
        except BaseException as error:
            with at_the_end(self.graph.close):
                raise error
        self._spreader: Spreader | WholeSpread | None = None
        self._arcs_counted = 0
        # Bitmap of the last BFS; whether it has all vertices with an edge; whether the workspace has a copy.
        self._reached: DeviceArray | None = None
        self._reached_all = self._reached_here = False

    def details(self) -> dict[str, Any]:
        """See CpuEngine.details: the plan of device memory, its measured peak, and the ways of copying edges."""
        vram = {**self.vram.to_dict(), "peak_bytes": self.device.peak_bytes()}
        details = {"vram": vram, "upload_seconds": self.upload_seconds}
        if isinstance(self.graph, PagedGraph):
            details |= {"paging": self.graph.pages.counts.to_dict(), "paging_model": asdict(self.graph.model)}
        return details

    def close(self) -> None:
        """Unlock the host memory that the device uses."""
        self.graph.close()

    # -- traversals -----------------------------------------------------------------------------
    def bfs(self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
            distances: bool = True, profile: bool = False, into: Column | None = None) -> BfsResult:
        """See Engine.bfs. With targets the device runs all levels, and the result is cut off after the last target."""
        if not 0 <= source < self.facts.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.facts.n_vertices - 1})")
        begin = time.perf_counter()
        self.reporter.begin()
        found = self._find(int(source), radius, None if into is None else on_device(into))
        values = into if isinstance(into, DeviceColumn) else self._own(DeviceColumn(self.device, found.distances))
        if targets is not None:
            levels, complete = _cut_at(
                values, np.unique(np.fromiter(targets, np.int64)), found.levels, found.complete)
            if levels < found.levels:
                found = _described(self.device, found.distances, levels, complete)
            found = replace(found, complete=complete)
        levels = found.levels
        run = BfsResult(
            int(source), levels if found.complete else None, levels, found.n_reached, found.farthest,
            values if distances or into is not None else None, values.histogram(levels).tolist() if profile else [])
        run.reached = found.reached
        # Components need no search if all vertices with an edge were reached.
        self._reached, self._reached_here = found.reached, False
        self._reached_all = levels > 0 and found.n_reached + self.facts.n_isolated == self.facts.n_vertices
        self._count(levels + 1, begin)
        self.reporter.end("bfs", source=int(source), eccentricity=run.eccentricity, reached=run.n_reached,
                          profile=partial(profile_of, values, levels))
        return run

    def _find(self, source: int, radius: int | None, into: DeviceArray | None) -> DeviceTraversal:
        """One search by this engine's variant. into : vector for the distances, or None."""
        if isinstance(self._search, WholeBfs):
            return self._search.find(source, radius, into)
        distances, levels, complete = self._search.run(source, radius)
        if into is not None:
            self.device.copy(distances, into)
            distances = into
        return _described(self.device, distances, levels, complete)

    def _count(self, levels: int, begin: float) -> None:
        """Count one traversal that started at `begin` (time.perf_counter)."""
        self.core.counters.add(traversals=1, levels=levels, edges_scanned=self._new_arcs(),
                               device_seconds=time.perf_counter() - begin)
        self.reporter.level = levels
        self.reporter.heartbeat()

    def _new_arcs(self) -> int:
        """The number of arcs that devices have scanned since the last count."""
        before, self._arcs_counted = self._arcs_counted, self._replicas.arcs_scanned()
        return self._arcs_counted - before

    def eccentricities(self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
                       columns: Sequence[Column] | None = None) -> np.ndarray:
        """See Engine.eccentricities."""
        arrays = None if columns is None else [on_device(column) for column in columns]
        self.reporter.begin()
        result = self._replicas.eccentricities(
            np.asarray(sources, np.int64), targets, arrays, self.facts.batch_bits, self._count)
        self.reporter.end("multi-source", sources=len(result),
                          eccentricity=None if targets is not None else int(result.max(initial=0)))
        return result

    def wide_eccentricities(self, sources: np.ndarray, bits: int) -> np.ndarray:
        """See WideBatches."""
        self.reporter.begin()
        result = self._replicas.wide_eccentricities(np.asarray(sources, np.int64), bits, self._count)
        self.reporter.end("multi-source", sources=len(result), eccentricity=int(result.max(initial=0)))
        return result

    def dominating(self, vertices: np.ndarray, hops: int, bound: Column, limit: int,
                   most: int) -> tuple[np.ndarray, np.ndarray]:
        """See WideBatches; one bit a vertex of the bounds is copied to the host."""
        bits = DeviceVector(self.device, on_device(bound)).above_bitmap(limit).view(np.uint8)
        is_open = np.unpackbits(bits, count=self.facts.n_vertices, bitorder="little")
        return dominating(self.core, vertices, hops, (is_open, 0), most)

    def _fetch_reached(self) -> None:
        """Copy the bitmap of the vertices that the last BFS reached to the workspace."""
        if not self._reached_here and self._reached is not None:
            words = self.core.work.visited
            words[:] = self.device.to_host(self._reached)[: len(words)]
            words |= self.core.table.isolated
            self._reached_here = True

    @property
    def reached(self) -> Any:
        """See LocalEngine.reached."""
        return self._reached

    def reached_words(self, start: int, stop: int) -> np.ndarray:
        """See LocalEngine.reached_words."""
        assert self._reached is not None, "there was a BFS"
        return self.device.to_host(self._reached[start:stop])

    def set_reached_words(self, start: int, words: np.ndarray) -> None:
        """See LocalEngine.set_reached_words."""
        if start == 0:
            self._reached = self.device.empty(len(self.core.work.visited), np.uint64)
            self._reached_all = self._reached_here = False
        assert self._reached is not None, "words come in their order"
        self.device.copy(np.ascontiguousarray(words), self._reached[start : start + len(words)])

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        if self._reached_all:
            return None
        if self._reached is None or self._components_bytes() > self._room:
            return self.components_here(reached)
        found = DeviceComponents(self.device, self.graph, self._reached, reached)
        self.core.counters.add(edges_scanned=self._new_arcs())
        return found if found.n_others else None

    def _components_bytes(self) -> int:
        """Device memory for components in addition to the method's plan and batches; a huge number if the CPU computes
        them."""
        n, item = self.facts.n_vertices, self.graph.id_dtype.itemsize
        if not self.graph.resident or n >= UNREACHED:
            return 1 << 62
        return growth_bytes(self.graph) + (4 + item) * n + 24 * n * (self.facts.batch_bits // 64)

    def components_here(self, reached: int) -> HiddenComponents | None:
        """See LocalEngine.components_here."""
        if self._reached_all:
            return None
        self._fetch_reached()
        return super().components_here(reached)

    # -- rows -----------------------------------------------------------------------------------
    def highest_degrees(self, most: int) -> np.ndarray:
        """See Engine.highest_degrees."""
        if most != 1 or self.facts.n_vertices > UNREACHED:
            return super().highest_degrees(most)
        vertex = largest_degree(self.device, self.graph)
        return np.array([] if vertex is None else [vertex], np.int64)

    def vertices_of_degree(self, degree: int, most: int = 1 << 16) -> Iterator[np.ndarray]:
        """See Engine.vertices_of_degree."""
        return vertices_of_degree(self.device, self.graph, degree, most)

    def path_pieces(self, distances: Column, target: int, *, by_rank: bool = False) -> Iterator[np.ndarray]:
        """See Engine.path_pieces."""
        if by_rank or not self.graph.resident or not isinstance(distances, DeviceVector):
            return super().path_pieces(distances, target, by_rank=by_rank)
        return path_pieces(self.device, self.graph, distances.array, target)

    def scan(self, name: str, column: Column, source: int = 0) -> int:
        """See Engine.scan."""
        # Columns of some methods (spanning forests) are in RAM.
        if name != "steep-arcs" or not self.graph.resident or not isinstance(column, DeviceVector):
            return super().scan(name, column, source)
        self.core.counters.add(edges_scanned=self.graph.n_arcs)
        return count_steep(self.device, self.graph, column.array)

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters. The CPU grows them if they do not fit device memory with the graph."""
        if growth_bytes(self.graph) > self.device.memory().free:
            return super().grow_clusters(masters, most_rounds)

        def grow(labels: np.ndarray, seeds: np.ndarray, tick: Tick, rounds: int | None) -> tuple[bool, int]:
            begin = time.perf_counter()
            whole, levels = grow_labels(self.device, self.graph, labels, seeds, tick, rounds)
            self.core.counters.add(levels=levels, edges_scanned=self._new_arcs(),
                                   device_seconds=time.perf_counter() - begin)
            return whole, levels

        return grow_clusters(self.core, masters, self.rank_array, self.reporter.heartbeat, most_rounds, grow)

    # -- columns --------------------------------------------------------------------------------
    def new_column(self, largest: int, value: int | None = None, isolated: int | None = None) -> Column:
        """See Engine.new_column. Raises OverflowError beyond uint32."""
        if largest >= UNREACHED:
            raise OverflowError(f"{largest} does not fit a distance column of 32 bits")
        column = self._own(DeviceColumn.new(self.device, self.facts.n_vertices, value))
        if isolated is not None:
            put_isolated(self.device, self.graph, column.array, isolated)
        return column

    def _own(self, column: DeviceColumn) -> DeviceColumn:
        """Set the column's `has_spare` by the plan, and return it."""
        column.has_spare = self._has_spare
        return column

    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return DevicePivotBounds(self.device, self.graph, largest)

    def open_candidates(self, distances: Column) -> ComponentBounds:
        """See CandidateBounds."""
        from .variants.bounds_dal import DeviceBounds

        return DeviceBounds(self.device, on_device(distances))

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        if self._spreader is None:
            self._spreader = (WholeSpread if self.graph.resident else Spreader)(self.device, self.graph)
        begin, column = time.perf_counter(), on_device(bound)
        self.reporter.begin()
        if seeds is None:
            lowered = self._spreader.extend(column, int(values), limit)
        else:
            lowered = self._spreader.spread(column, seeds, np.asarray(values), limit)
        self._count(0, begin)
        self.reporter.end("spread", reached=lowered)
        return lowered


def profile_of(distances: DeviceVector, levels: int) -> list[list[int]]:
    """[[first level, vertices], ...] of distances, in at most _MOST_POINTS steps of the same number of levels."""
    counts = distances.histogram(levels)
    step = -(-len(counts) // _MOST_POINTS)
    return [[first, int(counts[first : first + step].sum())] for first in range(0, len(counts), step)]


def _cut_at(distances: DeviceVector, targets: np.ndarray, levels: int, complete: bool) -> tuple[int, bool]:
    """Stop at the level that reached the last target, if all are reached."""
    last = int(distances.take(targets).max(initial=0))
    if last == UNREACHED or len(targets) == 0:
        return levels, complete
    if last < levels:
        distances.fill_where(">", last, UNREACHED)
    return last, False


def _described(device: Device, distances: DeviceArray, levels: int, complete: bool) -> DeviceTraversal:
    """The result of a search from its distances, uint32[n] on the device, and its largest distance."""
    values = DeviceVector(device, distances)
    return DeviceTraversal(distances, levels, complete, *values.reached_and_first(levels), values.reached_bits())


def open_search(graph: DeviceGraph, setting: OnDevice) -> DeviceBfs:
    """BFS on `graph` by the variant and the load balancing of `setting`; imports variants only if one is named.

    Raises InputError as variants.registry.named_bfs does.
    """
    if setting.bfs != AUTO:
        from .variants.registry import named_bfs

        return named_bfs(graph, setting)
    if isinstance(graph, PagedGraph):
        return PagedBfs(setting.device, graph, setting.mapping)
    if setting.mapping is not None:
        return AutoBfs(setting.device, graph, setting.mapping)
    return WholeBfs(setting.device, graph)


@contextmanager
def engine_on_device(engine: LocalEngine, setting: OnDevice, vram: VramPlan) -> Iterator[GpuEngine]:
    """A context with a GpuEngine over `engine` within the plan; closes it at the end."""
    devices = (setting.device, *setting.others)
    for device in devices:
        device.limit_memory(vram.limit_bytes)
    with at_the_end(*(partial(device.limit_memory, None) for device in devices)):
        made = GpuEngine(engine, setting, vram)
        with at_the_end(made.close):
            yield made
