"""Part dal: papers/001, Figures 9 and 10, thread-centric (Standard) against warp-centric (Warp).

Figure 9: lists of one length, of which some vertices' are active, evenly spread over all; one level.
Figure 10: level by level on a web-like graph (in the paper: Amazon0601) and a grid (roadNet-PA): vertices left
and active as a share of all, and the level's share of the run time of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from emdiam.gpu.device import DeviceArray
from emdiam.gpu.kernel_file import KernelFile
from emdiam.gpu.variants.layouts import AdjacencyLists, padded_lists

from . import inputs
from .setting import Row, Setting
from .timing import device_seconds, median_seconds
from .twins import UNREACHED

WAYS = {"thread": "bfs_lists", "warp": "bfs_warp"}
FILE = "variants/bfs_dal.cu"
FIGURE_10 = ("web", "grid")
# A grid has thousands of levels; the figure is about their course, so no more than these are kept.
MOST_LEVELS = 200


def run(setting: Setting) -> Iterator[Row]:
    """Rows of figure 9 by length and active vertices, then of figure 10 by class."""
    for length in setting.sizes.list_lengths:
        for active in setting.sizes.list_actives:
            if active <= setting.sizes.list_vertices:
                yield from setting.cell({"figure": 9, "length": length, "active": active},
                                        partial(_figure_9, setting, length, active))
    for name in FIGURE_10:
        yield from setting.cell({"figure": 10, "class": name}, partial(_figure_10, setting, name))


class Level:
    """One level of Standard or Warp on lists, with distances that are kept here."""

    def __init__(self, setting: Setting, lists: AdjacencyLists, way: str) -> None:
        self.device, self.lists, self.n = setting.device, lists, lists.n_vertices
        assert lists.starts is not None
        self.way, self.kernels = WAYS[way], KernelFile(
            self.device, FILE, {"VERTEX": "u32", "INDEX": "u32", "DISTANCE": "u32", "MATRIX": 0})
        self.distances, self.changed = self.device.empty(self.n, np.uint32), self.device.empty(1, np.uint64)

    def launch(self, level: int) -> None:
        """Look at all vertices, and expand those at this level."""
        self.kernels.launch(self.way, self.n, self.lists.starts, self.lists.sizes, self.lists.entries,
                            np.uint64(self.n), self.distances, np.uint32(level), self.changed)


def _equal_lists(setting: Setting, length: int) -> AdjacencyLists:
    """Lists of `length` random vertices, each padded to whole segments."""
    n, width = setting.sizes.list_vertices, -(-length // 32) * 32
    starts = np.arange(n + 1, dtype=np.uint64) * np.uint64(width)
    entries = setting.xp.random.default_rng(inputs.SEED).integers(0, n, n * width).astype(np.uint32)
    device = setting.device
    return AdjacencyLists(device.array(np.full(n, length, np.uint64)), inputs.on_device(device, entries),
                          device.array(starts))


def _figure_9(setting: Setting, length: int, active: int) -> dict[str, Any]:
    lists, n = _equal_lists(setting, length), setting.sizes.list_vertices
    start = np.full(n, UNREACHED, np.uint32)
    start[np.arange(active) * n // active] = 0
    initial, found = setting.device.array(start), {}
    seconds = {}
    for way in WAYS:
        level = Level(setting, lists, way)
        seconds[way] = median_seconds(setting.device, partial(level.launch, 0), setting.sizes.repeats,
                                      partial(setting.device.copy, initial, level.distances))
        found[way] = setting.device.to_host(level.distances)
    return {"n": n, "thread_us": seconds["thread"] * 1e6, "warp_us": seconds["warp"] * 1e6,
            "speedup": seconds["thread"] / seconds["warp"],
            "wrong": int(not np.array_equal(found["thread"], found["warp"]))}


def _figure_10(setting: Setting, name: str) -> dict[str, Any]:
    made = inputs.graph_of(setting, name, inputs.TIMED[name](setting))
    lists = padded_lists(setting.device, made.graph)
    source = int(np.argmax(made.degrees))
    courses = {way: _course(setting, Level(setting, lists, way), source) for way in WAYS}
    (thread, thread_seconds), (warp, warp_seconds) = courses["thread"], courses["warp"]
    counts = _counts(setting.device.to_host(thread))
    n, total = made.graph.n_vertices, {"thread": sum(thread_seconds), "warp": sum(warp_seconds)}
    left = n - np.cumsum(counts)
    levels = [{"level": k, "left": 100 * int(left[k]) / n, "active": 100 * int(counts[k]) / n,
               "thread": 100 * thread_seconds[k] / total["thread"], "warp": 100 * warp_seconds[k] / total["warp"],
               "warp_wins": warp_seconds[k] < thread_seconds[k]} for k in range(min(len(counts), MOST_LEVELS))]
    same = np.array_equal(setting.device.to_host(thread), setting.device.to_host(warp))
    return {"n": n, "m": made.graph.neighbours.size // 2, "n_levels": len(counts), "levels": levels,
            "thread_seconds": total["thread"], "warp_seconds": total["warp"], "wrong": int(not same)}


def _counts(distances: np.ndarray) -> np.ndarray:
    """Vertices at each distance."""
    counts: np.ndarray = np.bincount(distances[distances != UNREACHED])
    return counts


def _course(setting: Setting, level: Level, source: int) -> tuple[DeviceArray, list[float]]:
    """Distances from the source, and the seconds of each level."""
    device, seconds = setting.device, list[float]()
    for attempt in range(2):  # the first warms up
        device.fill(level.distances, UNREACHED)
        device.fill(level.distances[source : source + 1], 0)
        seconds = []
        while True:
            device.fill(level.changed, 0)
            seconds.append(device_seconds(device, partial(level.launch, len(seconds))))
            if not device.to_host(level.changed)[0] or (attempt == 0 and len(seconds) > 2):
                break
    return level.distances, seconds
