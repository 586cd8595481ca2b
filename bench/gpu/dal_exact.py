"""Part dal-exact: the bounding algorithm of papers/001 with its BFS variants, against plain serial code.

Rows by class and variant: iterations (Table II), seconds on the device and of one thread of the host, the
shares and speedups of the five components (Table III), and the effective diameter over the diameter (Figure 7). The
serial code (serial_bounds.py) and the device choose the same sources; `wrong` says if they did not, or differ in
the diameter. The effective diameter is the distance within which 90 % of the pairs lie, interpolated between
whole ones, from BFS of N_SAMPLES random vertices of the component.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from emdiam.gpu.device import Device, DeviceArray
from emdiam.gpu.variants.bounds_dal import diameter_by_bounds
from emdiam.gpu.variants.registry import VARIANTS

from . import catalogue, figure_7, inputs
from .host_engine import HostGraph
from .lazy import Lazy
from .serial_bounds import (
    BOUNDS,
    CANDIDATES,
    COMPONENTS,
    ECCENTRICITY,
    INITIALIZATION,
    SELECTION,
    UNREACHED,
    Serial,
    diameter_serially,
    loops,
)
from .setting import Row, Setting, TooSlow
from .timing import wall_seconds
from .watch import Watched

DAL = tuple(name for name in VARIANTS if name.startswith("dal-"))
COMPONENT_OF = {
    "open_bounds": INITIALIZATION, "update_bounds": BOUNDS, "largest_bounds": CANDIDATES,
    "update_candidates": CANDIDATES, "select_rank": SELECTION, "select_vertex": SELECTION,
}
SHARE, N_SAMPLES = 0.9, 16


class Components:
    """A Device for DeviceBounds that adds up the seconds of its launches by component; each is waited for."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.seconds = dict.fromkeys(COMPONENTS, 0.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def launch(self, kernel: Any, *args: Any, **options: Any) -> None:
        """See Device.launch."""
        self.timed(COMPONENT_OF[kernel.entry], lambda: self._device.launch(kernel, *args, **options))

    def timed(self, name: str, call: Callable[[], Any]) -> None:
        """Count the seconds until the device is done."""
        self.seconds[name] += wall_seconds(self._device, call)


class Case:
    """A graph on the device and on the host, what the serial code found, and its effective diameter."""

    def __init__(self, setting: Setting, name: str) -> None:
        self.setting, self.limit = setting, setting.sizes.exact_seconds
        made = inputs.graph_of(setting, name, inputs.SIZED[name](setting.xp, setting.sizes.dal_exact[name]))
        self.graph = made.graph
        offsets = setting.device.to_host(self.graph.offsets).astype(np.int64)
        self.host = HostGraph(name, offsets, setting.device.to_host(self.graph.neighbours))
        diameter_serially(np.array([0, 1, 2]), np.array([1, 0], np.uint32), 0)  # compiles
        self.serial = self._serially()
        self.effective = effective_diameter(self.host)

    def _serially(self) -> Serial:
        end = time.monotonic() + self.limit

        def stop() -> None:
            if time.monotonic() > end:
                raise TooSlow(f"the serial code was stopped; limit {self.limit:g} s")

        return diameter_serially(self.host.offsets, self.host.neighbours, self.host.hub, stop=stop)

    def measure(self, variant: str) -> dict[str, Any]:
        """One variant: seconds of a whole run, then of the components of another."""
        device, start = self.setting.device, self.host.hub
        catalogue.warm(self.setting, self.graph, variant, catalogue.NO_MAPPING)
        watched = Watched(device, self.limit)
        search = catalogue.search_on(watched, self.graph, variant, catalogue.NO_MAPPING)
        found: list[tuple[int, list[int]]] = []
        bounding = partial(diameter_by_bounds, watched, self.graph, start)
        bounding(bfs=lambda _device, _graph, source: search(source))
        watched.restart()
        seconds = wall_seconds(device, lambda: found.append(
            bounding(bfs=lambda _device, _graph, source: search(source))))
        watched.restart()
        parts = self._components(search, found)
        wrong = sum(one != (self.serial.diameter, self.serial.sources) for one in found)
        serial = sum(self.serial.seconds.values())
        return {**self.host.key, "seconds": seconds, "serial_seconds": serial, "speedup": serial / seconds,
                "iterations": len(self.serial.sources), "diameter": self.serial.diameter,
                "effective": self.effective, "ratio": self.effective / max(1, self.serial.diameter),
                "components": parts, "wrong": wrong}

    def _components(self, search: catalogue.Search, found: list[tuple[int, list[int]]]) -> list[dict[str, Any]]:
        """Share of the seconds on the device and of the serial code, in per cent, and the speedup."""
        timed = Components(self.setting.device)

        def bfs(_device: Device, _graph: Any, source: int) -> tuple[DeviceArray, int]:
            made: list[tuple[DeviceArray, int]] = []
            timed.timed(ECCENTRICITY, lambda: made.append(search(source)))
            return made[0]

        found.append(diameter_by_bounds(timed, self.graph, self.host.hub, bfs))
        gpu, cpu = timed.seconds, self.serial.seconds
        return [{"component": name, "gpu_seconds": gpu[name], "cpu_seconds": cpu[name],
                 "gpu_share": 100 * gpu[name] / sum(gpu.values()), "cpu_share": 100 * cpu[name] / sum(cpu.values()),
                 "speedup": cpu[name] / gpu[name] if gpu[name] else None} for name in COMPONENTS]


def effective_diameter(graph: HostGraph, samples: int = N_SAMPLES) -> float:
    """See the top of this file. Interpolated as in papers/001's source of graphs: with c(d) pairs within d, the
    first d with c(d) >= 0.9 c, less (c(d) - 0.9 c) / (c(d) - c(d - 1))."""
    steps, n = loops(), graph.n
    distances, queue = np.empty(n, np.uint32), np.empty(n, np.int64)
    steps.search(graph.offsets, graph.neighbours, graph.hub, distances, queue)
    inside = np.flatnonzero(distances != UNREACHED)
    drawn = np.random.default_rng(inputs.SEED).choice(inside, min(samples, len(inside)), replace=False)
    counts = np.zeros(0, np.int64)
    for source in drawn.tolist():
        steps.search(graph.offsets, graph.neighbours, source, distances, queue)
        found = np.bincount(distances[inside])
        counts = np.pad(counts, (0, max(0, len(found) - len(counts)))) + np.pad(
            found, (0, max(0, len(counts) - len(found))))
    return interpolated(counts)


def interpolated(counts: np.ndarray) -> float:
    """The distance within which SHARE of the pairs lie. counts : int64[d], pairs at each distance."""
    within = np.cumsum(counts)
    wanted = SHARE * float(within[-1])
    d = int(np.searchsorted(within, wanted))
    before = float(within[d - 1]) if d else 0.0
    return max(0.0, d - (float(within[d]) - wanted) / (float(within[d]) - before))


def run(setting: Setting, names: Sequence[str] = (), variants: Sequence[str] = DAL) -> Iterator[Row]:
    """Rows by class and variant; a figure of the points in the folder for files, where matplotlib is installed."""
    rows = list(setting.earlier)
    for name in names or tuple(setting.sizes.dal_exact):
        lazy = Lazy(partial(Case, setting, name))
        for variant in variants:
            for row in setting.cell({"class": name, "variant": variant}, partial(_measure, lazy, variant)):
                rows.append(row)
                yield row
    yield from setting.cell({"drawing": "Figure 7"}, lambda: figure_7.draw(setting.out, rows))


def _measure(lazy: Lazy[Case], variant: str) -> dict[str, Any]:
    return lazy.get().measure(variant)
