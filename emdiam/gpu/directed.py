"""The engine along arcs on a device: see engine/directed.py. The rows of both directions are resident.

A search against arcs swaps the two: it goes down along the rows in, and up along the rows out. BFS, multi-source BFS
and bounds are on the device. The CPU numbers components, reads rows, and checks the longest pair over the same store,
with a copy of its distances.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..engine.directed import DirectedEngine
from ..traverse.bfs import BfsResult
from ..traverse.columns import Column
from .arc_bounds import DeviceArcBounds
from .bfs_whole import WholeBfs
from .device import DeviceArray
from .device_column import DeviceColumn
from .engine import profile_of
from .failures import at_the_end
from .multi_source import WholeBatch, batch_bits
from .setting import OnDevice
from .upload import upload
from .vector import on_device
from .vram import VramPlan


class DirectedGpuEngine(DirectedEngine):
    """Searches on the first device of the setting, over the store and the cores of `engine`, within the plan of device
    memory. Raises BudgetError if memory is too small."""

    def __init__(self, engine: DirectedEngine, setting: OnDevice, vram: VramPlan) -> None:
        super().__init__(engine.store, engine.cores[0], engine.plan, None)
        self.reporter, self.load_seconds = engine.reporter, engine.load_seconds
        self.device, self.vram, begin = setting.device, vram, time.perf_counter()
        self.reporter.tick("upload")
        out, back = (upload(self.device, core, self.reporter.heartbeat) for core in self.cores)
        self.graphs = out.both_ways(back)
        self.device.synchronize()
        self.upload_seconds, self._arcs_counted = time.perf_counter() - begin, 0
        self._searches = [WholeBfs(self.device, graph) for graph in self.graphs]

    @cached_property
    def _batches(self) -> list[WholeBatch]:
        return [WholeBatch(self.device, graph) for graph in self.graphs]

    def details(self) -> dict[str, Any]:
        """The plan of device memory, and its measured peak."""
        return {"vram": {**self.vram.to_dict(), "peak_bytes": self.device.peak_bytes()},
                "upload_seconds": self.upload_seconds}

    def bfs(self, source: int, *, back: bool = False, within: np.ndarray | None = None, distances: bool = True,
            into: Column | None = None) -> BfsResult:
        """See DirectedEngine.bfs."""
        if not 0 <= source < self.n_vertices:
            raise ValueError(f"source {source} is not a vertex (0 to {self.n_vertices - 1})")
        begin = time.perf_counter()
        self.reporter.begin()
        found = self._searches[back].find(int(source), into=None if into is None else on_device(into),
                                          outside=None if within is None else self._outside(within))
        self._count(found.levels + 1, begin)
        values = DeviceColumn(self.device, found.distances)
        self.reporter.end("bfs", source=int(source), eccentricity=found.levels, reached=found.n_reached,
                          profile=partial(profile_of, values, found.levels))
        return BfsResult(int(source), found.levels, found.levels, found.n_reached, found.farthest,
                         values if distances or into is not None else None)

    def _outside(self, within: np.ndarray) -> DeviceArray:
        """The bits that a bitmap of vertices lacks, those behind the last vertex among them."""
        return self.device.array(np.bitwise_not(within).view(np.uint32))

    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """See DirectedEngine.eccentricities."""
        result = np.empty(len(sources), np.int32)
        most = batch_bits(self.vram.pool_bytes, self.n_vertices)
        for first in range(0, len(sources), most):
            begin = time.perf_counter()
            self.reporter.begin()
            result[first : first + most] = part = self._batches[back].run(sources[first : first + most])
            self._count(int(part.max(initial=0)) + 1, begin)
            self.reporter.end("multi-source", sources=len(part))
        return result

    def _count(self, levels: int, begin: float) -> None:
        """Count one traversal that started at `begin` (time.perf_counter)."""
        before, self._arcs_counted = self._arcs_counted, self.graphs[0].scanned.arcs
        self.cores[0].counters.add(traversals=1, levels=levels, edges_scanned=self._arcs_counted - before,
                                   device_seconds=time.perf_counter() - begin)
        self.reporter.heartbeat()

    def new_bounds(self, numbers: np.ndarray, above: int, sides: int = 2) -> DeviceArcBounds:
        """See ArcBounds."""
        return DeviceArcBounds(self.device, numbers, above, sides)


@contextmanager
def engine_both_ways(engine: DirectedEngine, setting: OnDevice, vram: VramPlan) -> Iterator[DirectedGpuEngine]:
    """A context with a DirectedGpuEngine over `engine` within the plan."""
    setting.device.limit_memory(vram.limit_bytes)
    with at_the_end(lambda: setting.device.limit_memory(None)):
        yield DirectedGpuEngine(engine, setting, vram)
