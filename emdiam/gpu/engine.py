"""The GPU engine: the Engine interface with traversals and columns on a device that holds the whole graph.

BFS, multi-source BFS, spreads and bounds run on the device; what looks at few rows (paths, chains, checks of
edges), scans and clusters are the CPU engine's, over the same store and within the same memory plan.
Device memory: the graph, upload.STATE_BYTES_A_VERTEX, and 4 bytes a vertex for each column.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import numpy as np

from ..traverse.bfs import Traversal
from ..traverse.columns import Column
from ..traverse.components import Components
from ..traverse.cpu_engine import CpuEngine
from ..traverse.pivot_bounds import PivotBounds
from . import column_folds as _registered  # noqa: F401 - the folds of device columns
from . import column_ops as ops
from .device import DeviceArray
from .device_column import DeviceColumn, on_device
from .multi_source import MultiSource
from .pivot_bounds import DevicePivotBounds
from .search import Search
from .setting import OnDevice
from .spread import Spreader
from .upload import upload


class GpuEngine(CpuEngine):
    """The verbs of `engine` with traversals on a device; see emdiam.engine.Engine.

    Puts the graph on the device, which `upload_seconds` tells of. Raises BudgetError if there is no room,
    InputError for a variant or a mapping that there is not.
    """

    def __init__(self, engine: CpuEngine, setting: OnDevice) -> None:
        super().__init__(engine.store, engine._core, engine.plan, engine._progress)
        self.device = device = setting.device
        begin = time.perf_counter()
        self.tick("upload")
        self.graph = upload(device, self._core, self._heartbeat)
        device.synchronize()
        self.upload_seconds = time.perf_counter() - begin
        self._search = Search(self.graph, setting)
        self._multi: MultiSource | None = None
        self._spreader: Spreader | None = None
        self._reached: DeviceArray | None = None  # bitmap of the last BFS

    # -- traversals -----------------------------------------------------------------------------
    def bfs(
        self, source: int, *, radius: int | None = None, targets: Iterable[int] | None = None,
        distances: bool = True, profile: bool = False, into: Column | None = None,
    ) -> Traversal:
        """See Engine.bfs. With targets the device looks at all levels, and what lies behind the last
        target is cut off."""
        if not 0 <= source < self.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.n_vertices - 1})")
        begin = time.perf_counter()
        found, levels, complete = self._search.run(int(source), radius)
        if targets is not None:
            levels, complete = self._cut_at(found, np.unique(np.fromiter(targets, np.int64)), levels, complete)
        if into is not None:
            self.device.copy(found, on_device(into))
        column = into if into is not None else DeviceColumn(self.device, found) if distances else None
        run = Traversal(
            int(source), levels if complete else None, levels, ops.count_reached(self.device, found),
            ops.first_with(self.device, found, levels), column,
            ops.histogram(self.device, found, levels).tolist() if profile else [])
        self._reached = ops.reached_bits(self.device, found)
        self._count(levels + 1, begin)
        return run

    def _cut_at(self, found: DeviceArray, targets: np.ndarray, levels: int, complete: bool) -> tuple[int, bool]:
        """Stop at the level that reached the last target, if all are reached."""
        last = int(ops.gather(self.device, found, targets).max(initial=0))
        if last == ops.UNREACHED or len(targets) == 0:
            return levels, complete
        if last < levels:
            ops.cut(self.device, found, last)
        return last, False

    def _count(self, levels: int, begin: float) -> None:
        """Count one traversal that began at `begin` (time.perf_counter)."""
        self._core.counters.add(traversals=1, levels=levels, device_seconds=time.perf_counter() - begin)
        self._facts["level"] = levels
        self._heartbeat()

    def eccentricities(
        self, sources: Sequence[int] | np.ndarray, *, targets: np.ndarray | None = None,
        columns: Sequence[Column] | None = None,
    ) -> np.ndarray:
        """See Engine.eccentricities."""
        wanted = np.asarray(sources, np.int64)
        if self._multi is None:
            self._multi = MultiSource(self.device, self.graph)
        found = np.empty(len(wanted), np.int32)
        for first in range(0, len(wanted), self.batch_bits):
            part, begin = slice(first, min(first + self.batch_bits, len(wanted))), time.perf_counter()
            arrays = None if columns is None else [on_device(column) for column in columns[part]]
            found[part] = self._multi.run(wanted[part], targets, arrays)
            self._count(int(found[part].max()) + 1, begin)
        return found

    def reached(self) -> np.ndarray:
        """See Engine.reached."""
        if self._reached is not None:
            words = self._core.work.visited
            words[:] = self.device.to_host(self._reached)[: len(words)]
            words |= self._core.table.isolated
            self._reached = None
        return self._core.work.visited

    def components(self, reached: int) -> Components | None:
        """See Engine.components."""
        self.reached()
        return super().components(reached)

    # -- columns --------------------------------------------------------------------------------
    def new_column(self, largest: int, value: int | None = None) -> Column:
        """See Engine.new_column. Raises OverflowError beyond uint32."""
        if largest >= ops.UNREACHED:
            raise OverflowError(f"{largest} does not fit a distance column of 32 bits")
        return DeviceColumn.new(self.device, self.n_vertices, value)

    def new_bounds(self, largest: int) -> PivotBounds:
        """See Engine.new_bounds."""
        return DevicePivotBounds(self.device, self.graph, largest)

    def spread(self, seeds: np.ndarray, values: np.ndarray, limit: int, bound: Column) -> int:
        """See Engine.spread."""
        begin = time.perf_counter()
        lowered = self._spreads().spread(on_device(bound), seeds, values, limit)
        self._count(0, begin)
        return lowered

    def extend(self, old: int, new: int, bound: Column) -> int:
        """See Engine.extend."""
        begin = time.perf_counter()
        lowered = self._spreads().extend(on_device(bound), old, new)
        self._count(0, begin)
        return lowered

    def _spreads(self) -> Spreader:
        if self._spreader is None:
            self._spreader = Spreader(self.device, self.graph)
        return self._spreader
