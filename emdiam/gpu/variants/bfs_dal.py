"""The BFS variants of papers/001, section IV-D: the host's loops around kernels/variants/bfs_dal.cu.

All look at every vertex in every level: work O(n * levels + m). Standard takes a graph in rows; all others put it into
padded lists first, unless `lists` has them (layouts.py): give it where more than one BFS is to run.
dtype : of the distances, uint8, uint16 or uint32 (default). block : threads of a block, a multiple of 32 and at
most 256 (default). All give the distances from `source` (dtype[n] on the device, all bits set where unreached) and its
eccentricity, and raise InputError for a source that is no vertex and for lists of another number of vertices,
OverflowError if an eccentricity does not fit the dtype, with one value for unreached vertices, and BudgetError if the
device has no room for the lists.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ..device import Device, DeviceArray, blocks_for
from ..graph import DeviceGraph
from ..kernel_file import KernelFile, flagged, search_levels, start_distances
from ..registry import KERNEL_TYPES
from .layouts import AdjacencyLists, padded_lists, with_addresses

FILE = "variants/bfs_dal.cu"
# The paper switches by the fall of what is left and gives no figure.
WARP_SHARE = 0.1
Dtype = np.dtype[Any] | None
Lists = AdjacencyLists | None


class _Search:
    """One BFS before its first level: distances, and how its kernels are launched on all vertices."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, dtype: Dtype, block: int | None,
                 matrix: bool = False) -> None:
        self.device, self.n = device, graph.n_vertices
        if not 0 <= source < self.n:
            raise InputError(f"there is no vertex {source}", remedy=f"give one from 0 to {self.n - 1}")
        self.dtype = np.dtype(np.uint32) if dtype is None else np.dtype(dtype)
        self.kernels = KernelFile(device, FILE, {
            **graph.macros, "DISTANCE": KERNEL_TYPES[self.dtype.name], "MATRIX": int(matrix)}, block)
        self.distances = start_distances(device, self.n, source, self.dtype)

    def expand(self, entry: str, rows: tuple[Any, ...], level: int, *flags: DeviceArray) -> None:
        """Run one level of an entry. rows : its first arguments, where neighbours are."""
        self.kernels.launch(entry, self.n, *rows, self.n, self.distances, self.dtype.type(level), *flags)

    def run(self, entry: str, *rows: Any) -> tuple[DeviceArray, int]:
        """Distances and eccentricity, all levels by one entry that sets a flag."""
        return search_levels(self.distances, flagged(
            self.device, lambda level, changed: self.expand(entry, rows, level, changed)))


class _OnLists(_Search):
    """The same on lists, padded ones if none are given. rows : where the lists are, for an entry."""

    def __init__(self, device: Device, graph: DeviceGraph, source: int, dtype: Dtype, block: int | None,
                 lists: Lists) -> None:
        self.lists = lists or padded_lists(device, graph)
        if self.lists.n_vertices != graph.n_vertices:
            raise InputError(f"the lists have {self.lists.n_vertices} vertices, the graph has {graph.n_vertices}",
                             remedy="give the lists of this graph")
        matrix = self.lists.starts is None
        super().__init__(device, graph, source, dtype, block, matrix)
        self.rows = (self.lists.width if matrix else self.lists.starts, self.lists.sizes, self.lists.entries)


def bfs_standard(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None,
                 block: int | None = None) -> tuple[DeviceArray, int]:
    """Standard on rows, a thread a vertex. Source: papers/001, Algorithm 3, after Harish and Narayanan."""
    return _Search(device, graph, source, dtype, block).run("bfs_standard", graph.offsets, graph.neighbours)


def bfs_lists(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
              lists: Lists = None) -> tuple[DeviceArray, int]:
    """Standard on lists with sizes of their own, a thread a vertex. Source: papers/001, Algorithm 3."""
    search = _OnLists(device, graph, source, dtype, block, lists)
    return search.run("bfs_lists", *search.rows)


def bfs_pointers(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
                 lists: Lists = None) -> tuple[DeviceArray, int]:
    """Pointers: as Standard, with addresses in memory for where lists begin, and more kept in registers.

    The addresses are made first, unless the given lists have them (layouts.with_addresses). Source: papers/001,
    section IV-D, Pointers.
    """
    search = _OnLists(device, graph, source, dtype, block, lists)
    addressed = search.lists if search.lists.addresses is not None else with_addresses(device, search.lists)
    return search.run("bfs_pointers", addressed.addresses, addressed.sizes)


def bfs_busy_wait(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
                  lists: Lists = None) -> tuple[DeviceArray, int]:
    """Busy-Wait: as Standard, but a block with no active vertex in its sections does not look at them.

    Vertex v is in a section of block floor(v / threads) mod blocks (Equation 1). Whoever reaches v notes that
    this block has work in the next level; a block looks once, at the start of a level. Source: papers/001, section
    IV-D, Busy-Wait.
    """
    search = _OnLists(device, graph, source, dtype, block, lists)
    threads = search.kernels.block("bfs_busy_wait")
    grid = blocks_for(search.n, threads, device)
    # One item more than blocks: whether any block has work.
    awake = [device.empty(grid + 1, np.uint32) for _ in range(2)]
    first = source // threads % grid
    device.fill(awake[0], 0)
    device.fill(awake[0][first : first + 1], 1)

    def reaches(level: int) -> bool:
        device.fill(awake[1], 0)
        search.expand("bfs_busy_wait", search.rows, level, *awake)
        awake.reverse()
        return bool(device.to_host(awake[0][grid : grid + 1])[0])

    return search_levels(search.distances, reaches)


def bfs_textures(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
                 lists: Lists = None) -> tuple[DeviceArray, int]:
    """Textures: as Standard, with the lists read through the read-only path.

    The paper binds E to texture memory for its cache. Since Kepler that cache serves plain pointers too:
    `const __restrict__` and __ldg (ld.global.nc), without the limit on entries that a linear texture has (2^27
    on the paper's Fermi). Since Maxwell it is one with the first-level cache, so less of the difference is left.
    Source: papers/001, section IV-D, Textures.
    """
    search = _OnLists(device, graph, source, dtype, block, lists)
    return search.run("bfs_textures", *search.rows)


def bfs_warp(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
             lists: Lists = None) -> tuple[DeviceArray, int]:
    """Warp: the 32 lanes of a warp walk along a list together, 32 entries a step.

    For long lists; the padding makes each step one segment of memory. Source: papers/001, Algorithm 4, with the step
    of 32 that the printed loop lacks.
    """
    search = _OnLists(device, graph, source, dtype, block, lists)
    return search.run("bfs_warp", *search.rows)


def hybrid_entry(fall: int, n_vertices: int, warp_share: float = WARP_SHARE) -> str:
    """The entry that Hybrid takes for a level: warps where the vertices left fell steeply in the level before.

    fall : by how many vertices they fell, which is how many are active now.
    """
    return "bfs_warp" if fall >= warp_share * n_vertices else "bfs_lists"


def bfs_hybrid(device: Device, graph: DeviceGraph, source: int, dtype: Dtype = None, block: int | None = None,
               lists: Lists = None, warp_share: float = WARP_SHARE) -> tuple[DeviceArray, int]:
    """Hybrid: Standard or Warp in each level, by the fall of the number of unreached vertices.

    warp_share : takes the warps where the last level reached at least this share of all vertices (0: always).
    Costs one more pass over the distances a level, for that number. Source: papers/001, sections IV-D, Hybrid, and V-C.
    """
    search = _OnLists(device, graph, source, dtype, block, lists)
    status = device.empty(2, np.uint64)  # whether the level reached a vertex, and the vertices left
    left, fall = search.n - 1, 1

    def reaches(level: int) -> bool:
        nonlocal left, fall
        device.fill(status, 0)
        search.expand(hybrid_entry(fall, search.n, warp_share), search.rows, level, status[0:1])
        search.kernels.launch("count_left", search.n, search.distances, search.n, status[1:2])
        changed, now = (int(value) for value in device.to_host(status))
        left, fall = now, left - now
        return changed == 1

    return search_levels(search.distances, reaches)
