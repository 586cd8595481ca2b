"""The BFS variants of papers/001, section IV-D: the host's loops around kernels/variants/bfs_dal.cu.

All look at every vertex in every level: work O(n * levels + m). Each takes a graph in rows, which it puts into
padded lists first, unless `lists` has them (layouts.py): give it where more than one BFS is to run.
dtype : of the distances, uint8, uint16 or uint32 (default). block : threads of a block, a multiple of 32 and at
most 256 (default).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray, blocks_for
from ..graph import DeviceGraph
from ..kernel_file import KernelFile
from ..registry import KERNEL_TYPES
from .layouts import AdjacencyLists, padded_lists, with_addresses

FILE = "variants/bfs_dal.cu"
# The paper switches by the fall of what is left and gives no figure.
WARP_SHARE = 0.1


class _Search:
    """One BFS before its first level: lists, distances, and how its kernels are launched."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None,
                 block: int | None, lists: AdjacencyLists | None) -> None:
        self.device, self.n = device, graph.n_vertices
        if not 0 <= source < self.n:
            raise InputError(f"there is no vertex {source}", remedy=f"give one from 0 to {self.n - 1}")
        self.lists = lists or padded_lists(device, graph)
        if self.lists.n_vertices != self.n:
            raise InputError(f"the lists have {self.lists.n_vertices} vertices, the graph has {self.n}",
                             remedy="give the lists of this graph")
        self.dtype = np.dtype(np.uint32) if dtype is None else np.dtype(dtype)
        self.kernels = KernelFile(device, FILE, {
            "VERTEX": KERNEL_TYPES[self.lists.entries.dtype.name], "DISTANCE": KERNEL_TYPES[self.dtype.name],
            "MATRIX": int(self.lists.starts is None)}, block)
        self.block = self.kernels.block("bfs_lists")
        self.grid = blocks_for(self.n, self.block, device)
        self.unreached = int(np.iinfo(self.dtype).max)
        self.distances = device.empty(self.n, self.dtype)
        device.fill(self.distances, self.unreached)
        device.fill(self.distances[source : source + 1], 0)

    def launch(self, entry: str, *args: Any) -> None:
        """Run an entry on all vertices. The grid is the same in all levels, as Busy-Wait needs it."""
        self.kernels.launch_blocks(entry, self.grid, *args)

    def expand(self, entry: str, level: int, *flags: DeviceArray) -> None:
        """Run one level of an entry that takes lists."""
        rows = np.uint64(self.lists.width) if self.lists.starts is None else self.lists.starts
        self.launch(entry, rows, self.lists.sizes, self.lists.entries, np.uint64(self.n), self.distances,
                    self.dtype.type(level), *flags)

    def run(self, reaches: Callable[[int], bool]) -> tuple[DeviceArray, int]:
        """Distances and eccentricity, by levels until `reaches(level)` says that one has reached nothing."""
        for level in range(self.unreached):
            # In the last round the next distance is `unreached` itself: reaching anything then is too far.
            if not reaches(level):
                return self.distances, level
        raise OverflowError(f"a distance above {self.unreached - 1} does not fit {self.dtype.name}")

    def run_flagged(self, expand: Callable[[int, DeviceArray], None]) -> tuple[DeviceArray, int]:
        """The same for a level that sets a flag, uint64[1], if it reached a vertex."""
        changed = self.device.empty(1, np.uint64)

        def reaches(level: int) -> bool:
            self.device.fill(changed, 0)
            expand(level, changed)
            return bool(self.device.to_host(changed)[0])

        return self.run(reaches)


def bfs_lists(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None,
) -> tuple[DeviceArray, int]:
    """Standard: distances from `source` (dtype[n], all bits set where unreached) and its eccentricity.

    A thread a vertex. As bfs_standard, on lists with sizes of their own. Raises InputError for a source that is
    no vertex and for lists of another number of vertices, OverflowError if an eccentricity does not fit the
    dtype, BudgetError if the device has no room for the lists; so do the others. Source: papers/001, Algorithm 3.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    return search.run_flagged(lambda level, changed: search.expand("bfs_lists", level, changed))


def bfs_pointers(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None,
) -> tuple[DeviceArray, int]:
    """Pointers: as Standard, with addresses in memory for where lists begin, and more kept in registers.

    The addresses are made first, unless the given lists have them (layouts.with_addresses). Returns and raises
    as bfs_lists. Source: papers/001, section IV-D, Pointers.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    held = search.lists if search.lists.addresses is not None else with_addresses(device, search.lists)
    return search.run_flagged(lambda level, changed: search.launch(
        "bfs_pointers", held.addresses, held.sizes, np.uint64(search.n), search.distances,
        search.dtype.type(level), changed))


def bfs_busy_wait(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None,
) -> tuple[DeviceArray, int]:
    """Busy-Wait: as Standard, but a block with no active vertex in its sections does not look at them.

    Vertex v is in a section of block floor(v / threads) mod blocks (Equation 1). Whoever reaches v notes that
    this block has work in the next level; a block looks once, at the start of a level. Returns and raises as
    bfs_lists. Source: papers/001, section IV-D, Busy-Wait.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    # One item more than blocks: whether any block has work.
    now, after = (device.empty(search.grid + 1, np.uint32) for _ in range(2))
    first = source // search.block % search.grid
    device.fill(now, 0)
    device.fill(now[first : first + 1], 1)

    def reaches(level: int) -> bool:
        nonlocal now, after
        device.fill(after, 0)
        search.expand("bfs_busy_wait", level, now, after)
        now, after = after, now
        return bool(device.to_host(now[search.grid : search.grid + 1])[0])

    return search.run(reaches)


def bfs_textures(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None,
) -> tuple[DeviceArray, int]:
    """Textures: as Standard, with the lists read through the read-only path.

    The paper binds E to texture memory for its cache. Since Kepler that cache serves plain pointers too:
    `const __restrict__` and __ldg (ld.global.nc), without the limit on entries that a linear texture has (2^27
    on the paper's Fermi). Since Maxwell it is one with the first-level cache, so less of the difference is left.
    Returns and raises as bfs_lists. Source: papers/001, section IV-D, Textures.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    return search.run_flagged(lambda level, changed: search.expand("bfs_textures", level, changed))


def bfs_warp(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None,
) -> tuple[DeviceArray, int]:
    """Warp: the 32 lanes of a warp walk along a list together, 32 entries a step.

    For long lists; the padding makes each step one segment of memory. Returns and raises as bfs_lists. Source:
    papers/001, Algorithm 4, with the step of 32 that the printed loop lacks.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    return search.run_flagged(lambda level, changed: search.expand("bfs_warp", level, changed))


def hybrid_entry(fall: int, n_vertices: int, warp_share: float = WARP_SHARE) -> str:
    """The entry that Hybrid takes for a level: warps where the vertices left fell steeply in the level before.

    fall : by how many vertices they fell, which is how many are active now.
    """
    return "bfs_warp" if fall >= warp_share * n_vertices else "bfs_lists"


def bfs_hybrid(
    device: Device, graph: DeviceGraph, source: int, dtype: np.dtype[Any] | None = None, block: int | None = None,
    lists: AdjacencyLists | None = None, warp_share: float = WARP_SHARE,
) -> tuple[DeviceArray, int]:
    """Hybrid: Standard or Warp in each level, by the fall of the number of unreached vertices.

    warp_share : takes the warps where the last level reached at least this share of all vertices (0: always).
    Costs one more pass over the distances a level, for that number. Returns and raises as bfs_lists. Source:
    papers/001, sections IV-D, Hybrid, and V-C.
    """
    search = _Search(device, graph, source, dtype, block, lists)
    status = device.empty(2, np.uint64)  # whether the level reached a vertex, and the vertices left
    left, fall = search.n - 1, 1

    def reaches(level: int) -> bool:
        nonlocal left, fall
        device.fill(status, 0)
        search.expand(hybrid_entry(fall, search.n, warp_share), level, status[0:1])
        search.launch("count_left", search.distances, np.uint64(search.n), status[1:2])
        changed, now = (int(value) for value in device.to_host(status))
        left, fall = now, left - now
        return changed == 1

    return search.run(reaches)
