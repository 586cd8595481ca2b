"""Launches over all arcs of a frontier with any mapping: the host code of mapping.cuh."""

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

# A special value of `begin`, see mapping.cuh.
PACKED = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True)
class ArcRange:
    """Available arcs. neighbours : heads of arcs [begin, end), or, if `packed`, of the parts of the rows of the queue
    in [begin, end), one after the other."""

    neighbours: DeviceArray
    begin: int
    end: int
    packed: bool = False


class LevelBfs(ABC):
    """BFS on one graph with a launch over the frontier for each level, for any number of sources; a DeviceBfs
    (graph.py).

    counts : number of words that a level counts; the first one is the number of reached vertices."""

    def __init__(self, device: Device, graph: DeviceGraph, counts: int = 1) -> None:
        self._device, self._graph, self._count = device, graph, device.empty(counts, np.uint64)

    @abstractmethod
    def _start(self, source: int) -> None:
        """Make the source the frontier."""

    @abstractmethod
    def _expand(self, distances: DeviceArray, level: np.uint32, count: DeviceArray) -> None:
        """Give the unreached neighbours of the frontier the distance `level` and make them the next frontier. count :
        uint64[], zeros; the first word gets their number."""

    def run(self, source: int, radius: int | None = None) -> tuple[DeviceArray, int, bool]:
        """(distances, largest distance, whether it is the eccentricity) of a search from `source`.

        distances : uint32[n] on the device, all bits set for unreached, owned by the caller. radius : stop at this
        distance; the third value is False if a vertex has this distance. The host reads one number a level. Work:
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
        """Run the levels, and yield the number of vertices that each one reaches. distances : from start_distances."""
        self._start(source)
        for level in range(1, UNREACHED):
            self._device.fill(self._count, 0)
            self._expand(distances, np.uint32(level), self._count)
            self.counted = self._device.to_host(self._count)
            self.reached = int(self.counted[0])
            self._end_level()
            yield self.reached

    def _end_level(self) -> None:
        """A hook after the counts of a level are read; does nothing here."""
        return


class FrontierLauncher:
    """Runs kernels made with mapping.cuh on frontiers of one graph.

    Their first parameters are FRONTIER_PARAMETERS, followed by the visitor's. mapping : a name of MAPPINGS, perhaps
    with knobs. block : threads of a block (None: MOST_THREADS). Device buffers: 8 bytes a vertex if sums are needed,
    and 8 for each chunk or big row; launchers of one graph share them. Raises InputError for an impossible mapping or
    block.
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
        """Allocate the sums of degrees."""
        self._starts = self.graph.shared(self.device, "sums", most_rows + 1, np.uint64)
        self._sums = ExclusiveSums(self.device, self.block)

    def kernels(self, file: str | Path, entry: str, **macros: Define) -> list[Kernel]:
        """The kernels of a launch: an entry, and its version for deferred rows if the mapping defers rows."""
        first = self.device.kernel(file, entry, {**self.defines, **macros})
        if not self.mapping.defers:
            return [first]
        return [first, self.device.kernel(file, entry, {**self.graph.macros, "MAPPING": DEFERRED_ROWS, **macros})]

    def launch(self, kernels: Sequence[Kernel], queue: DeviceArray, arguments: Sequence[Any]) -> None:
        """Visit every arc of the vertices in `queue` (distinct, at least one).

        kernels : from `kernels`. arguments : of the visitor.
        """
        self.launch_range(kernels, queue, ArcRange(self.graph.neighbours, 0, self.graph.n_arcs), arguments)

    def launch_range(self, kernels: Sequence[Kernel], queue: DeviceArray, arcs: ArcRange,
                     arguments: Sequence[Any]) -> None:
        """As `launch`, for the available arcs only."""
        described = (*self._describe(queue, arcs), arcs.neighbours, *arguments)
        self.device.launch(kernels[0], self._grid(kernels[0], queue.size), self.block, described)
        if self.mapping.defers:
            self.device.launch(kernels[1], self.device.resident_blocks(kernels[1], self.block), self.block, described)

    def _describe(self, queue: DeviceArray, arcs: ArcRange) -> tuple[Any, ...]:
        """The arguments for the fields of Frontier; computes sums and chunks if they are needed."""
        starts, rows = self._starts, queue.size
        if self.mapping.needs_sums or arcs.packed:
            # Exclusive sums of the degrees in available arcs, and their total.
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
        """The number of blocks of a launch over `n_rows` rows. Only the device knows the number of units, so the number
        of arcs of the graph replaces it."""
        if self.mapping.grid == "resident":
            return self.device.resident_blocks(kernel, self.block)
        if self.mapping.grid == "units":
            return blocks_for(self.graph.launch_limits[1], self.chunk_units, self.device)
        return blocks_for(n_rows * self.tuning.get("VIRTUAL_WARP", 1), self.block, self.device)
