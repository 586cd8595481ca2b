"""The GPU engine: the Engine interface with traversals and columns on a device.

BFS, multi-source BFS, spreads, bounds and the growth of clusters run on the device; what looks at few rows (paths,
chains, checks of edges), and scans are the CPU engine's, over the same store and within the same memory plan.
Device memory: see vram.py.
Further devices of the setting hold the graph too, and share multi-source BFS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from ..engine.cpu import CpuEngine
from ..stream.pager import Tick
from ..traverse.bfs import Traversal
from ..traverse.clusters import Labels, grow_clusters
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.pivot_bounds import PivotBounds
from . import column_ops as ops
from .bfs_auto import AutoBfs
from .device import DeviceArray
from .device_column import DeviceColumn, on_device
from .failures import at_the_end
from .graph import DeviceGraph, Search
from .labels import LabelGrower, growth_bytes
from .paged import PagedBfs, PagedGraph
from .pivot_bounds import DevicePivotBounds
from .replicas import Replicas
from .setting import AUTO, OnDevice
from .spread import Spreader
from .upload import close_graph, open_graph, upload
from .vram import VramPlan

_MOST_POINTS = 1000


class GpuEngine(CpuEngine):
    """The verbs of `engine` with traversals on a device; see emdiam.engine.interface.Engine.

    vram : the plan of the device's memory. Puts the graph on the device as it says, which `upload_seconds` tells
    of; it must be closed. Raises BudgetError if there is no room, InputError for a variant or a mapping that
    there is not.
    """

    def __init__(self, engine: CpuEngine, setting: OnDevice, vram: VramPlan) -> None:
        super().__init__(engine.store, engine.core, engine.plan, reporter=engine.reporter)
        self.device = device = setting.device
        self.vram = vram
        begin = time.perf_counter()
        self.reporter.tick("upload")
        self.graph = open_graph(self.core, setting, vram, self.reporter.heartbeat)
        self.upload_seconds = time.perf_counter() - begin
        # What methods size by their budget lives on the device, and points and tables of it here.
        pool = min(engine.facts.pool_bytes, vram.pool_bytes)
        words = vram.pool_bytes // (24 * max(1, self.facts.n_vertices))
        bits = 64 * max(1, min(8, 1 << max(0, words.bit_length() - 1)))
        self.facts = replace(engine.facts, pool_bytes=pool, room_bytes=pool, batch_bits=bits)
        try:
            self._search = open_search(self.graph, setting)
            self._replicas = Replicas([(device, self.graph), *(
                (other, upload(other, self.core, self.reporter.heartbeat)) for other in setting.others)])
        except BaseException as error:
            with at_the_end(partial(close_graph, self.graph)):
                raise error
        self._spreader: Spreader | None = None
        self._reached: DeviceArray | None = None  # bitmap of the last BFS

    def details(self) -> dict[str, Any]:
        """See CpuEngine.details: the plan of the device's memory and its measured peak, and how edges came."""
        vram = {**self.vram.to_dict(), "peak_bytes": self.device.peak_bytes()}
        details = {"vram": vram, "upload_seconds": self.upload_seconds}
        if isinstance(self.graph, PagedGraph):
            details |= {"paging": self.graph.pages.counts.to_dict(), "paging_model": asdict(self.graph.model)}
        return details

    def close(self) -> None:
        """Let go of what the device holds of the host's memory."""
        close_graph(self.graph)

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> Traversal:
        """See Engine.bfs. With targets the device looks at all levels, and what lies behind the last
        target is cut off."""
        if not 0 <= source < self.facts.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.facts.n_vertices - 1})")
        begin = time.perf_counter()
        self.reporter.begin()
        array, levels, complete = self._search.run(int(source), radius)
        if targets is not None:
            levels, complete = self._cut_at(array, np.unique(np.fromiter(targets, np.int64)), levels, complete)
        if into is not None:
            self.device.copy(array, on_device(into))
        column = into if into is not None else DeviceColumn(self.device, array) if distances else None
        run = Traversal(
            int(source), levels if complete else None, levels, ops.count_reached(self.device, array),
            ops.first_with(self.device, array, levels), column,
            ops.histogram(self.device, array, levels).tolist() if profile else [])
        self._reached = run.reached = ops.reached_bits(self.device, array)
        self._count(levels + 1, begin)
        self.reporter.end("bfs", source=int(source), eccentricity=run.eccentricity,
                          reached=run.n_reached, profile=partial(self._profile, array, levels))
        return run

    def _profile(self, array: DeviceArray, levels: int) -> list[list[int]]:
        """[[first level, vertices], ...] of distances, in at most _MOST_POINTS steps of equally many levels."""
        counts = ops.histogram(self.device, array, levels)
        step = -(-len(counts) // _MOST_POINTS)
        return [[first, int(counts[first : first + step].sum())] for first in range(0, len(counts), step)]

    def _cut_at(self, array: DeviceArray, targets: np.ndarray, levels: int, complete: bool) -> tuple[int, bool]:
        """Stop at the level that reached the last target, if all are reached."""
        last = int(ops.gather(self.device, array, targets).max(initial=0))
        if last == ops.UNREACHED or len(targets) == 0:
            return levels, complete
        if last < levels:
            ops.cut(self.device, array, last)
        return last, False

    def _count(self, levels: int, begin: float) -> None:
        """Count one traversal that began at `begin` (time.perf_counter)."""
        self.core.counters.add(traversals=1, levels=levels, device_seconds=time.perf_counter() - begin)
        self.reporter.level = levels
        self.reporter.heartbeat()

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities."""
        arrays = None if columns is None else [on_device(column) for column in columns]
        self.reporter.begin()
        result = self._replicas.eccentricities(
            np.asarray(sources, np.int64), targets, arrays, self.facts.batch_bits, self._count)
        self.reporter.end("multi-source", sources=len(result),
                          eccentricity=None if targets is not None else int(result.max(initial=0)))
        return result

    def _fetch_reached(self) -> None:
        """Let the workspace know what the last BFS reached."""
        if self._reached is not None:
            words = self.core.work.visited
            words[:] = self.device.to_host(self._reached)[: len(words)]
            words |= self.core.table.isolated
            self._reached = None

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        self._fetch_reached()
        return super().components(reached)

    def grow_clusters(self, masters: np.ndarray, most_rounds: int | None = None) -> Labels | None:
        """See Engine.grow_clusters. The CPU grows them where the device has no room beside the graph."""
        if growth_bytes(self.graph) > self.device.memory().free:
            return super().grow_clusters(masters, most_rounds)
        grower = LabelGrower(self.device, self.graph)

        def grow(labels: np.ndarray, seeds: np.ndarray, tick: Tick | None, rounds: int | None) -> tuple[bool, int]:
            begin = time.perf_counter()
            whole, levels = grower(labels, seeds, tick, rounds)
            self.core.counters.add(levels=levels, device_seconds=time.perf_counter() - begin)
            return whole, levels

        return grow_clusters(self.core, masters, self.rank_array, self.reporter.heartbeat, most_rounds, grow)

    # -- columns --------------------------------------------------------------------------------
    def new_column(self, largest: int, value: int | None = None) -> Column:
        """See Engine.new_column. Raises OverflowError beyond uint32."""
        if largest >= ops.UNREACHED:
            raise OverflowError(f"{largest} does not fit a distance column of 32 bits")
        return DeviceColumn.new(self.device, self.facts.n_vertices, value)

    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return DevicePivotBounds(self.device, self.graph, largest)

    def spread(self, seeds: np.ndarray | None, values: np.ndarray | int, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        if seeds is None:
            return self._timed_spread(lambda run: run.extend(on_device(bound), int(values), limit))
        return self._timed_spread(lambda run: run.spread(on_device(bound), seeds, np.asarray(values), limit))

    def _timed_spread(self, grow: Callable[[Spreader], int]) -> int:
        """One spread, counted and told."""
        if self._spreader is None:
            self._spreader = Spreader(self.device, self.graph)
        begin = time.perf_counter()
        self.reporter.begin()
        lowered = grow(self._spreader)
        self._count(0, begin)
        self.reporter.end("spread", reached=lowered)
        return lowered


def open_search(graph: DeviceGraph, setting: OnDevice) -> Search:
    """BFS on `graph` by the variant and the load balancing of `setting`; imports the variants only where one is named.

    Raises InputError as variants.registry.named_bfs does.
    """
    if setting.bfs != AUTO:
        from .variants.registry import named_bfs

        return named_bfs(graph, setting)
    if isinstance(graph, PagedGraph):
        return PagedBfs(setting.device, graph, setting.mapping or graph.usual_mapping, setting.tuning)
    return AutoBfs(setting.device, graph, setting.mapping, setting.tuning)


@contextmanager
def engine_on_device(engine: CpuEngine, setting: OnDevice, vram: VramPlan) -> Iterator[GpuEngine]:
    """A GpuEngine over `engine` within the plan; leaving the context lets go of the device."""
    devices = (setting.device, *setting.others)
    for device in devices:
        device.limit_memory(vram.limit_bytes)
    with at_the_end(*(partial(device.limit_memory, None) for device in devices)):
        made = GpuEngine(engine, setting, vram)
        with at_the_end(made.close):
            yield made
