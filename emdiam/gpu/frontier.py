"""Launches over all arcs of a frontier, with any mapping: what the host does for mapping.cuh."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .device import Device, DeviceArray, Kernel, blocks_for
from .graph import DeviceGraph
from .kernel_file import MOST_THREADS, UNREACHED, ExclusiveSums, KernelFile, check_block, start_distances, zeros
from .mappings import DEFERRED_ROWS, find_mapping
from .source import Define

# In the place of `begin`, see mapping.cuh.
PACKED = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class ArcRange:
    """Arcs that are at hand. neighbours : their heads: of arcs [begin, end), or with `packed` of the parts of the
    rows of the queue that lie in [begin, end), one after the other."""

    neighbours: DeviceArray
    begin: int
    end: int
    packed: bool = False


class LevelBfs(ABC):
    """BFS on one graph, a launch over its frontier a level, for any number of sources; a DeviceBfs (graph.py).

    counts : words that a level counts, of which the first is the vertices that it has reached."""

    def __init__(self, device: Device, graph: DeviceGraph, counts: int = 1) -> None:
        self._device, self._graph, self._count = device, graph, device.empty(counts, np.uint64)

    @abstractmethod
    def _start(self, source: int) -> None:
        """Make the source the frontier."""

    @abstractmethod
    def _expand(self, distances: DeviceArray, level: np.uint32, count: DeviceArray) -> None:
        """Give the neighbours of the frontier the distance `level` and make them the next one; count : uint64[], 0
        before, gets their number first."""

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest of them, whether that is the eccentricity) of a search from `source`.

        distances : uint32[n] on the device, all bits set where unreached, the caller's from then on. radius : stop at
        this distance; the third is then False if a vertex lies there. The host reads one number a level. Work:
        O(n + m). Raises OverflowError for a distance that does not fit.
        """
        last = UNREACHED if radius is None else radius
        distances = start_distances(self._device, self._graph.n_vertices, source)
        found = self.levels(source, distances)
        for level in range(1, UNREACHED):
            if level > last:
                return distances, last, False
            if not next(found):
                return distances, level - 1, True
        raise OverflowError(f"a distance above {UNREACHED - 1} does not fit uint32")

    def levels(self, source: int, distances: DeviceArray) -> Iterator[int]:
        """The vertices that each level reaches, as it is done, from the first on; distances : as start_distances has
        them."""
        self._start(source)
        for level in range(1, UNREACHED):
            self._device.fill(self._count, 0)
            self._expand(distances, np.uint32(level), self._count)
            self.counted = self._device.to_host(self._count)
            self.reached = int(self.counted[0])
            self._end_level()
            yield self.reached

    def _end_level(self) -> None:
        """What is to be done once the counts of a level have come; here nothing."""
        return


class FrontierLauncher:
    """Runs kernels made with mapping.cuh on frontiers of one graph.

    Their first parameters are FRONTIER_PARAMETERS; the visitor's own follow.
    mapping : a name of MAPPINGS, with knobs or not. block : threads of a block (None: MOST_THREADS).
    Buffers on the device: 8 bytes a vertex where sums are needed, and 8 for each chunk or big row; launchers of one
    graph share them.
    Raises InputError for a mapping or a block that there cannot be.
    """

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str, block: int | None = None) -> None:
        check_block(device, block)
        self.device, self.graph, self.block = device, graph, MOST_THREADS if block is None else block
        self.mapping, self.tuning = find_mapping(mapping)
        self.defines: dict[str, Define] = {**graph.macros, "MAPPING": self.mapping.macro, **self.tuning}
        self.chunk_units = self.block * self.tuning.get("UNITS_PER_THREAD", 1) * self.tuning.get("SEARCHES", 1)
        self._of_frontier = KernelFile(device, "frontier.cu", graph.macros, block)
        self._starts = self._partition = self._deferred = device.empty(1, np.uint64)
        self._n_deferred = zeros(device, 1, np.uint64)
        most_rows, n_arcs = graph.launch_limits
        if self.mapping.needs_sums:
            self._make_sums(most_rows)
        if self.mapping.n_phases == 2:
            self._partition = graph.shared(device, "chunks", n_arcs // self.chunk_units + 2, np.uint64)
        if self.mapping.defers:
            self._deferred = graph.shared(device, "deferred", n_arcs // (self.tuning["BIG_ROW"] + 1) + 1, np.uint64)

    def _make_sums(self, most_rows: int) -> None:
        """Room for the sums of degrees."""
        self._starts = self.graph.shared(self.device, "sums", most_rows + 1, np.uint64)
        self._sums = ExclusiveSums(self.device, self.block)

    def kernels(self, file: str | Path, entry: str, **macros: Define) -> list[Kernel]:
        """The kernels of a launch: an entry, and the same for deferred rows if this mapping defers any."""
        first = self.device.kernel(file, entry, {**self.defines, **macros})
        if not self.mapping.defers:
            return [first]
        return [first, self.device.kernel(file, entry, {**self.graph.macros, "MAPPING": DEFERRED_ROWS, **macros})]

    def launch(self, kernels: Sequence[Kernel], queue: DeviceArray, arguments: Sequence[Any]) -> None:
        """Visit every arc of the vertices in `queue`, a vector of different vertices, at least one.

        kernels : from `kernels`. arguments : those of the visitor.
        """
        self.launch_range(kernels, queue, ArcRange(self.graph.neighbours, 0, self.graph.n_arcs), arguments)

    def launch_range(self, kernels: Sequence[Kernel], queue: DeviceArray, arcs: ArcRange,
                     arguments: Sequence[Any]) -> None:
        """The same for those of the arcs that are at hand."""
        described = (*self._describe(queue, arcs), arcs.neighbours, *arguments)
        self.device.launch(kernels[0], self._grid(kernels[0], queue.size), self.block, described)
        if self.mapping.defers:
            self.device.launch(kernels[1], self.device.resident_blocks(kernels[1], self.block), self.block, described)

    def _describe(self, queue: DeviceArray, arcs: ArcRange) -> tuple[Any, ...]:
        """The arguments for the fields of Frontier; sums and chunks are made where they are needed."""
        starts, rows = self._starts, queue.size
        if self.mapping.needs_sums or arcs.packed:
            # Exclusive sums of the degrees, and their total; of the arcs at hand alone.
            starts = self._starts[: rows + 1]
            self._of_frontier.launch("frontier_degrees", rows, queue, rows, self.graph.offsets, arcs.begin, arcs.end,
                                     starts)
            self._sums.replace(starts)
        if self.mapping.n_phases == 2:
            self._of_frontier.launch("partition_rows", self._partition.size, starts, rows, self.chunk_units,
                                     self._partition)
        if self.mapping.defers:
            self.device.fill(self._n_deferred, 0)
        return (queue, np.uint64(rows), self.graph.offsets, starts, self._partition, self._deferred, self._n_deferred,
                PACKED if arcs.packed else np.uint64(arcs.begin), np.uint64(arcs.end))

    def _grid(self, kernel: Kernel, n_rows: int) -> int:
        """Blocks of a launch over that many rows. The number of units is known on the device alone, so the
        arcs of the graph stand for it."""
        if self.mapping.grid == "resident":
            return self.device.resident_blocks(kernel, self.block)
        if self.mapping.grid == "units":
            return blocks_for(self.graph.launch_limits[1], self.chunk_units, self.device)
        return blocks_for(n_rows * self.tuning.get("VIRTUAL_WARP", 1), self.block, self.device)
