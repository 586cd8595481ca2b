"""BFS by levels over all vertices ("Standard" of papers/001): the host's loop around bfs_levels.cu."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from ..device import Device, DeviceArray, blocks_for
from ..registry import find_entry

if TYPE_CHECKING:
    from ..frontier import FrontierLauncher

KERNEL_TYPES = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}


@dataclass(frozen=True)
class DeviceGraph:
    """Adjacency in rows on a device: offsets uint64[n + 1], neighbours uint32 or uint64[m]."""

    offsets: DeviceArray
    neighbours: DeviceArray
    _shared: dict[str, DeviceArray] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def shared(self, device: Device, name: str, n: int, dtype: DTypeLike) -> DeviceArray:
        """A vector of n items with any content, the same for all who ask by that name: for what a traversal of
        this graph needs from its beginning to its end, of which there is one at a time."""
        held = self._shared.get(name)
        if held is None or held.size < n or held.dtype != np.dtype(dtype):
            self._shared.pop(name, None)  # before the new one, so that the device need not hold both
            held = self._shared[name] = device.empty(n, dtype)
        return held[:n]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.offsets.size - 1

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return self.neighbours.size

    @property
    def id_dtype(self) -> np.dtype[Any]:
        """Type of a vertex number."""
        return self.neighbours.dtype

    @property
    def resident(self) -> bool:
        """Whether `neighbours` holds all arcs; where not, only a launcher sees them."""
        return True

    @property
    def usual_mapping(self) -> str:
        """The load balancing of a traversal that is given none."""
        return "two-phase"

    @property
    def most_at_once(self) -> tuple[int, int]:
        """Most rows and arcs of one launch over a frontier."""
        return self.n_vertices, self.n_arcs

    def launcher(self, device: Device, mapping: str, block: int = 256,
                 tuning: Mapping[str, int] | None = None) -> FrontierLauncher:
        """What runs kernels on frontiers of this graph, by that load balancing; see FrontierLauncher."""
        from ..frontier import FrontierLauncher  # which knows this class

        return FrontierLauncher(device, self, mapping, block, tuning)


def bfs_standard(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None
) -> tuple[DeviceArray, int]:
    """Distances from `source` (dtype[n] on the device, all bits set where unreached) and its eccentricity.

    dtype : uint8, uint16 or uint32 (default). Raises OverflowError if an eccentricity does not fit it, with
    one value kept for unreached vertices. Source: papers/001, Algorithm 3.
    """
    dtype = np.dtype(np.uint32) if dtype is None else np.dtype(dtype)
    entry = find_entry("bfs_levels.cu", "bfs_standard")
    defines = {"VERTEX": KERNEL_TYPES[graph.neighbours.dtype.name], "DISTANCE": KERNEL_TYPES[dtype.name]}
    kernel = device.kernel(entry.file, entry.entry, defines)
    n, unreached = graph.n_vertices, int(np.iinfo(dtype).max)
    threads = block or entry.block
    distances, changed = device.empty(n, dtype), device.empty(1, np.uint32)
    device.fill(distances, unreached)
    device.fill(distances[source : source + 1], 0)
    for level in range(unreached):
        device.fill(changed, 0)
        # In the last round the next distance is `unreached` itself: reaching anything then is too far.
        device.launch(kernel, blocks_for(n, threads, device), threads, (
            graph.offsets, graph.neighbours, np.uint64(n), distances, dtype.type(level), changed))
        if not device.to_host(changed)[0]:
            return distances, level
    raise OverflowError(f"a distance above {unreached - 1} does not fit {dtype.name}")
