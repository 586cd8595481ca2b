"""Part regimes: the mappings against each other (papers/004, section 6, Figures 12 to 15), and the table from
which `auto` chooses.

Regimes: a triangulation (regular, low degree), a web, a circuit with huge rows, Kronecker. Seconds are those
of the expansions of all levels of one BFS on the device, without the host's loop. Synthetic frontiers: `rows`
rows of `arcs` random neighbours each; seconds of one expansion from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.frontier import FrontierLauncher
from emdiam.gpu.graph import DeviceGraph, offsets_dtype
from emdiam.gpu.mappings import MAPPINGS

from . import inputs, tables
from .lazy import Lazy
from .setting import Row, Setting, TooSlow
from .timing import median_seconds
from .twins import UNREACHED

REGIMES = {"triangulation": "Figure 12", "web": "Figure 13", "circuit": "Figure 14", "kronecker": "Figure 15"}


class Expansion:
    """Expansions of frontiers of one graph by one mapping, with the arrays of a BFS."""

    def __init__(self, device: Device, graph: DeviceGraph, mapping: str) -> None:
        self.device = device
        self.launcher = FrontierLauncher(device, graph, mapping)
        self.kernels = self.launcher.kernels("variants/bfs_frontier.cu", "expand_frontier")
        n, ids = graph.n_vertices, graph.neighbours.dtype
        self.queue, self.following = device.empty(n, ids), device.empty(n, ids)
        self.distances, self.n_next = device.empty(n, np.uint32), device.empty(1, np.uint64)

    def reset(self, n_rows: int) -> None:
        """Make the first n_rows of the queue the only ones that are reached; they are vertices 0 to n_rows - 1."""
        self.device.fill(self.distances, UNREACHED)
        self.device.fill(self.distances[:n_rows], 0)
        self.device.fill(self.n_next, 0)

    def launch(self, n_rows: int, level: int) -> None:
        """Reach the neighbours of the first n_rows of the queue."""
        self.launcher.launch(self.kernels, self.queue[:n_rows], (
            self.distances, np.uint32(level), self.following, self.n_next))

    def bfs(self, source: int, seconds_limit: float) -> tuple[float, int]:
        """Seconds of all expansions of a BFS, and their number. Raises TooSlow above the limit."""
        device, spent, size, level = self.device, 0.0, 1, 0
        self.reset(0)
        device.fill(self.distances[source : source + 1], 0)
        device.fill(self.queue[:1], source)
        while size:
            level += 1
            device.fill(self.n_next, 0)
            start = device.record()
            self.launch(size, level)
            spent += device.elapsed(start, device.record())
            if spent > seconds_limit:
                raise TooSlow(f"stopped after {spent:.1f} s and {level} levels; limit {seconds_limit:g} s")
            size = int(device.to_host(self.n_next)[0])
            self.queue, self.following = self.following, self.queue
        return spent, level


def run(setting: Setting, names: Sequence[str] = tuple(REGIMES)) -> Iterator[Row]:
    """Rows by regime and mapping, rows by frontier and mapping, and what table they lead to."""
    for name in names:
        made = Lazy(partial(_made, setting, name))
        for mapping in MAPPINGS:
            yield from setting.cell({"class": name, "mapping": mapping}, partial(_regime, setting, made, mapping))
    measured = [row for row in setting.earlier if "arcs" in row]
    for rows in setting.sizes.frontier_rows:
        for arcs in setting.sizes.frontier_arcs:
            if rows * arcs <= setting.sizes.frontier_most:
                for row in _frontier_cells(setting, rows, arcs):
                    measured.append(row)
                    yield row
    yield from setting.cell({"table": "directions"}, partial(tables.write, setting, measured))


def _made(setting: Setting, name: str) -> inputs.Input:
    return inputs.graph_of(setting, name, inputs.TIMED[name](setting))


def _regime(setting: Setting, lazy: Lazy[inputs.Input], mapping: str) -> dict[str, Any]:
    made, limit = lazy.get(), setting.sizes.cell_seconds
    expansion, source = Expansion(setting.device, made.graph, mapping), int(np.argmax(made.degrees))
    first, levels = expansion.bfs(source, limit)
    distances = setting.device.to_host(expansion.distances)
    second = expansion.bfs(source, limit)[0]
    reached = distances != UNREACHED
    edges = int(made.degrees[reached].sum()) // 2
    return {**made.key, "figure": REGIMES[made.name], "seconds": second, "first_seconds": first, "levels": levels,
            "gteps": edges / second / 1e9, "most_degree": int(made.degrees.max()),
            "mean_degree": float(made.degrees.mean()), "deviation": float(made.degrees.std())}


def _frontier_cells(setting: Setting, rows: int, arcs: int) -> Iterator[Row]:
    """One synthetic frontier by all mappings."""
    graph = Lazy(partial(_frontier, setting, rows, arcs))
    for mapping in MAPPINGS:
        yield from setting.cell({"rows": rows, "arcs": arcs, "mapping": mapping},
                                partial(_expand, setting, graph, rows, mapping))


def _frontier(setting: Setting, rows: int, arcs: int) -> DeviceGraph:
    """Vertices 0 to rows - 1 have `arcs` random neighbours each, others none."""
    n = max(2 * rows, setting.sizes.list_vertices)
    offsets = (np.minimum(np.arange(n + 1), rows) * arcs).astype(offsets_dtype(rows * arcs, 4))
    drawn = setting.xp.random.default_rng(inputs.SEED).integers(0, n, rows * arcs).astype(np.uint32)
    return DeviceGraph(setting.device.array(offsets), inputs.on_device(setting.device, drawn))


def _expand(setting: Setting, lazy: Lazy[DeviceGraph], rows: int, mapping: str) -> dict[str, Any]:
    graph, device = lazy.get(), setting.device
    expansion = Expansion(device, graph, mapping)
    device.copy(np.arange(rows, dtype=np.uint32), expansion.queue[:rows])
    seconds = median_seconds(device, partial(expansion.launch, rows, 1), setting.sizes.repeats,
                             partial(expansion.reset, rows))
    reached: DeviceArray = expansion.distances
    return {"us": seconds * 1e6, "reached": int(np.count_nonzero(device.to_host(reached) == 1))}
