"""BFS from the unreached vertices up, and BFS that turns between down and up.

Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, SC 2012. Distances are uint32[n] on
the device, all bits set where unreached. The graph is undirected. block : threads of a block, None for the registry's.
"""

from __future__ import annotations

import numpy as np

from ..device import Device, DeviceArray
from ..direction_table import DirectionTable, LevelSize
from ..frontier import FrontierLauncher
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, flagged, search_levels, start_distances

FILE = "variants/bfs_directions.cu"
ALPHA, BETA = 14, 24


def bfs_bottom_up(device: Device, graph: DeviceGraph, source: int, block: int | None = None) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, every level from the unreached vertices up.

    Work O((n + m) * levels) at worst, far less where most vertices find a neighbour early. Source: papers/004, section
    2.1.
    """
    kernels, n = KernelFile(device, FILE, graph.macros, block), graph.n_vertices
    distances = start_distances(device, n, source)
    return search_levels(distances, flagged(device, lambda level, counts: kernels.launch(
        "bottom_up_level", n, graph.offsets, graph.neighbours, n, distances, np.uint32(level), counts), 2))


class _Turning:
    """A search that keeps what the rule of turning needs: sizes of the frontier and arcs not yet looked at."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, block: int | None,
                 launcher: FrontierLauncher | None, turning: tuple[float, float]) -> None:
        self.device, self.graph, self.n = device, graph, graph.n_vertices
        self.launcher, self.table = launcher, DirectionTable(*turning, ())
        self.kernels = KernelFile(device, FILE, graph.macros, block)
        self.sums = KernelFile(device, "frontier.cu", graph.macros, block)
        self.distances = start_distances(device, self.n, source)
        self.counts = device.empty(2, np.uint64)
        self.frontier, self.reached = (device.empty(self.n, graph.id_dtype) for _ in range(2))
        device.fill(self.frontier[0:1], source)
        begin, end = device.to_host(graph.offsets[source : source + 2])
        self.size = LevelSize(1, int(end - begin), 0, graph.n_arcs - int(end - begin), self.n)
        self.upwards, self.has_queue = False, True

    def reaches(self, level: int) -> bool:
        """One level: from vertices at distance `level` to those at `level` + 1; whether there are any."""
        self.upwards = self.table.upwards(self.upwards, self.size)
        if not self.upwards and not self.has_queue:
            self.device.fill(self.counts, 0)
            self.sums.launch("queue_of_value", self.n, self.distances, self.n, np.uint32(level),
                             self.frontier, self.counts)
        self.device.fill(self.counts, 0)
        if self.upwards:
            self.kernels.launch("bottom_up_level", self.n, self.graph.offsets, self.graph.neighbours, self.n,
                                self.distances, np.uint32(level), self.counts)
        else:
            self._expand(self.size.rows, np.uint32(level + 1))
            self.frontier, self.reached = self.reached, self.frontier
        self.has_queue = not self.upwards
        rows, arcs = (int(value) for value in self.device.to_host(self.counts))
        self.size = LevelSize(rows, arcs, self.size.rows, self.size.arcs_left - arcs, self.n)
        return rows > 0

    def _expand(self, rows: int, distance: np.uint32) -> None:
        """One level top-down from `frontier` to `reached`, counted."""
        if self.launcher is None:
            self.kernels.launch("top_down_level", rows, self.graph.offsets, self.graph.neighbours, self.frontier,
                                rows, self.distances, distance, self.reached, self.counts)
            return
        size, arcs = self.counts[:1], self.counts[1:]
        kernels = self.launcher.kernels("variants/bfs_frontier.cu", "expand_frontier")
        self.launcher.launch(kernels, self.frontier[:rows], (self.distances, distance, self.reached, size))
        self.sums.launch("arcs_of_queue", self.n, self.reached, size, self.graph.offsets, arcs)


def bfs_direction_optimizing(device: Device, graph: DeviceGraph, source: int, block: int | None = None,
                             mapping: str | None = None, alpha: float = ALPHA,
                             beta: float = BETA) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, each level down or up, whichever is cheaper.

    mapping : load balancing of the levels down, a name of MAPPINGS; without one a thread has a row. alpha, beta : of
    the rule (DirectionTable.upwards). Work O(n + m) for the levels down, and for the levels up at most n + m each.
    Raises InputError for a mapping or a block that there cannot be.
    Source: papers/004, section 2.1; the rule and its constants: Beamer et al., SC 2012, section 4.
    """
    launcher = None if mapping is None else FrontierLauncher(device, graph, mapping, block)
    search = _Turning(device, graph, source, block, launcher, (alpha, beta))
    return search_levels(search.distances, search.reaches)
