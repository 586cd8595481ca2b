"""BFS from the unreached vertices up, and BFS that turns between down and up.

Source: papers/004, section 2.1, after Beamer, Asanovic and Patterson, SC 2012. Distances are uint32[n] on
the device, all bits set where unreached.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray
from ..frontier import MOST_THREADS, FrontierLauncher
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, start_distances

ALPHA, BETA = 14, 24


def bfs_bottom_up(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, every level from the unreached vertices up.

    block : threads of a block, None for the registry's. The graph is undirected. Work O((n + m) * levels) at
    worst, far less where most vertices find a neighbour early. Source: papers/004, section 2.1.
    """
    kernels, n = KernelFile(device, "variants/bfs_directions.cu", graph.macros, block), graph.n_vertices
    distances, counts = start_distances(device, n, source), device.empty(2, np.uint64)
    for level in count():
        device.fill(counts, 0)
        kernels.launch("bottom_up_level", n, graph.offsets, graph.neighbours, np.uint64(n), distances,
                       np.uint32(level), counts)
        if not device.to_host(counts)[0]:
            break
    return distances, level


class _Turning:
    """A search that keeps what the rule of turning needs: sizes of the frontier and arcs not yet looked at."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, block: int | None,
                 launcher: FrontierLauncher | None) -> None:
        self.device, self.graph, self.n = device, graph, graph.n_vertices
        self.launcher = launcher
        self.kernels = KernelFile(device, "variants/bfs_directions.cu", graph.macros, block)
        self.sums = KernelFile(device, "frontier_sums.cu", graph.macros, block)
        self.distances = start_distances(device, self.n, source)
        self.counts = device.empty(2, np.uint64)
        self.frontier = device.empty(self.n, graph.id_dtype)
        self.reached = device.empty(self.n, graph.id_dtype)
        device.fill(self.frontier[0:1], source)
        begin, end = device.to_host(graph.offsets[source : source + 2])
        self.n_frontier, self.arcs_frontier, self.n_before = 1, int(end - begin), 0
        self.arcs_left = graph.n_arcs - self.arcs_frontier
        self.upwards, self.has_queue = False, True

    def turn(self, alpha: float, beta: float) -> None:
        """Choose the direction of the next level from the sizes of the frontier."""
        growing = self.n_frontier > self.n_before
        if not self.upwards:
            self.upwards = growing and self.arcs_frontier * alpha > self.arcs_left
        elif not growing and self.n_frontier * beta < self.n:
            self.upwards = False

    def advance(self, level: int) -> None:
        """One level: from vertices at distance `level` to those at `level` + 1."""
        rows = (self.graph.offsets, self.graph.neighbours)
        if not self.upwards and not self.has_queue:
            self.device.fill(self.counts, 0)
            self.kernels.launch("queue_of_level", self.n, np.uint64(self.n), self.distances, np.uint32(level),
                                self.frontier, self.counts)
        self.device.fill(self.counts, 0)
        if self.upwards:
            self.kernels.launch("bottom_up_level", self.n, *rows, np.uint64(self.n), self.distances, np.uint32(level),
                                self.counts)
        else:
            self._expand(level)
            self.frontier, self.reached = self.reached, self.frontier
        self.has_queue = not self.upwards
        self.n_before = self.n_frontier
        self.n_frontier, self.arcs_frontier = (int(value) for value in self.device.to_host(self.counts))
        self.arcs_left -= self.arcs_frontier

    def _expand(self, level: int) -> None:
        """One level top-down from `frontier` to `reached`, counted."""
        if self.launcher is None:
            self.kernels.launch("top_down_level", self.n_frontier, self.graph.offsets, self.graph.neighbours,
                                self.frontier, np.uint64(self.n_frontier), self.distances, np.uint32(level + 1),
                                self.reached, self.counts)
            return
        size, arcs = self.counts[:1], self.counts[1:]
        kernels = self.launcher.kernels("variants/bfs_frontier.cu", "expand_frontier", "expand_deferred")
        self.launcher.launch(kernels, self.frontier[: self.n_frontier], (
            self.distances, np.uint32(level + 1), self.reached, size))
        self.sums.launch("arcs_of_queue", self.n, self.reached, size, self.graph.offsets, arcs)


def bfs_direction_optimizing(
    device: Device, graph: DeviceGraph, source: int, block: int | None = None, mapping: str | None = None,
    tuning: Mapping[str, int] | None = None, turning: tuple[float, float] = (ALPHA, BETA),
) -> tuple[DeviceArray, int]:
    """Distances from `source` (uint32[n]) and its eccentricity, each level down or up, whichever is cheaper.

    block : threads of a block, None for the registry's. mapping, tuning : load balancing of the levels down, a
    name of MAPPINGS, and macros of it to change; without one a thread has a row. turning : alpha and beta. The
    search turns up when a growing frontier has more than 1/alpha of the arcs of unreached vertices, and down
    again when a shrinking one has less than n/beta vertices. The graph is undirected. Work O(n + m) for the
    levels down, and for the levels up at most n + m each. Raises InputError for a mapping, a tuning or a block
    that there cannot be. Source: papers/004, section 2.1; the rule and its constants: Beamer et al., SC 2012,
    section 4.
    """
    if mapping is None and tuning:
        raise InputError("only a load balancing that is named can be tuned", remedy="name the mapping too")
    threads = MOST_THREADS if block is None else block
    launcher = None if mapping is None else FrontierLauncher(device, graph, mapping, threads, tuning)
    search = _Turning(device, graph, source, block, launcher)
    for level in count():
        search.turn(*turning)
        search.advance(level)
        if not search.n_frontier:
            break
    return search.distances, level
