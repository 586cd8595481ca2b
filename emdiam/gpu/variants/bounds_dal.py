"""Bounds on all eccentricities and the candidates among the vertices, on a device.

The host's side of bounds_dal.cu. Source: papers/001, Algorithms 1 and 2; docs/algorithms/bounding.md says why
they are right. Ties among candidates go to the smallest vertex. Passes over vectors of n items: five a
source. Bytes a vertex: two bounds of the distances' type and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..device import Device, DeviceArray
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, zeros
from ..registry import KERNEL_TYPES
from ..vector import DeviceVector
from .bfs_dal import bfs_standard

FILE = "variants/bounds_dal.cu"
Bfs = Callable[[Device, DeviceGraph, int], tuple[DeviceArray, int]]


class DeviceBounds:
    """Lower and upper bounds and candidates of the component of a first source.

    distances : from that source, dtype[n], all bits set where unreached: no candidates there. lower, upper :
    dtype[n]; an upper bound that has all bits set is none, or does not fit. candidates : uint8[n], 1 or 0.
    n_candidates, n_closed : how many there are, and how many were dropped because their bounds met.
    largest_lower, largest_upper : largest bounds of the component.
    """

    def __init__(self, device: Device, distances: DeviceArray, block: int | None = None) -> None:
        n = distances.size
        self.device, self.n, self.dtype = device, n, distances.dtype
        self._kernels = KernelFile(device, FILE, {"DISTANCE": KERNEL_TYPES[self.dtype.name]}, block)
        self.lower, self.upper = device.empty(n, self.dtype), device.empty(n, self.dtype)
        self.candidates = device.empty(n, np.uint8)
        self.n_candidates = self.n_closed = 0
        self.largest_lower, self.largest_upper = 0, int(np.iinfo(self.dtype).max)
        self._launch("open_bounds", distances, n, self.lower, self.upper, self.candidates)

    def _launch(self, name: str, *args: Any) -> None:
        self._kernels.launch(name, self.n, *args)

    def update(self, distances: DeviceArray | DeviceVector, eccentricity: int) -> None:
        """Sharpen the bounds by a BFS, then drop candidates (Algorithm 2).

        distances : dtype[n], or a column, from a source in the component; eccentricity : of that source.
        """
        distances = distances.array if isinstance(distances, DeviceVector) else distances
        n, largest, counts = self.n, zeros(self.device, 2, np.uint32), zeros(self.device, 2, np.uint64)
        self._launch("update_bounds", distances, n, self.dtype.type(eccentricity), self.lower, self.upper)
        self._launch("largest_bounds", self.lower, self.upper, self.candidates, n, largest)
        self._launch("update_candidates", self.lower, self.upper, n, largest, self.candidates, counts)
        low, high = (int(value) for value in self.device.to_host(largest))
        remaining, closed = (int(value) for value in self.device.to_host(counts))
        # Upper bounds of dropped vertices are at most `low`.
        self.largest_lower, self.largest_upper = low, max(low, high)
        self.n_candidates, self.n_closed = remaining, self.n_closed + closed

    def select(self, upper: bool) -> int | None:
        """The candidate with the largest upper bound or, without `upper`, the smallest lower bound; None if
        there are no candidates."""
        bounds, flip = (self.upper, np.uint32(0)) if upper else (self.lower, np.uint32(0xFFFFFFFF))
        best, first = self.device.empty(1, np.uint32), self.device.empty(1, np.uint64)
        self.device.fill(best, 0)
        self.device.fill(first, np.iinfo(np.uint64).max)
        self._launch("select_rank", bounds, self.candidates, self.n, flip, best)
        self._launch("select_vertex", bounds, self.candidates, self.n, flip, best, first)
        vertex = int(self.device.to_host(first)[0])
        return vertex if vertex < self.n else None


def diameter_by_bounds(device: Device, graph: DeviceGraph, start: int, bfs: Bfs = bfs_standard,
                       upper: bool = True) -> tuple[int, list[int]]:
    """Diameter of the component of `start`, and the sources of its BFS in order, `start` first.

    bfs : any variant. upper : whether the second source is chosen by upper bounds; then by turns. One BFS a
    source. Raises what `bfs` raises. Source: papers/001, Algorithm 1.
    """
    distances, eccentricity = bfs(device, graph, start)
    bounds, sources = DeviceBounds(device, distances), [start]
    bounds.update(distances, eccentricity)
    while bounds.largest_lower != bounds.largest_upper:
        source = bounds.select(upper)
        if source is None:
            break
        upper = not upper
        distances, eccentricity = bfs(device, graph, source)
        sources.append(source)
        bounds.update(distances, eccentricity)
    return bounds.largest_lower, sources
