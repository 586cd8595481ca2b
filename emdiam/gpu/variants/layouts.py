"""Adjacency in lists of whole segments of 32 entries, for warps that read a segment at a time.

Source: papers/001, section IV-B. A list is found by where it begins (V_b) and its size (V_s); E holds the
lists. Two layouts: each list padded on its own (the one the paper settles for), and the n x l matrix of
lists, l being the longest list padded, which needs no V_b. Padding has all bits set and is never read.

Bytes on the device: 16 n and the padded entries, on average up to 31 entries a vertex more than rows have
(matrix: 8 n and n * l entries). Bytes on the host while it is made: 40 n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import BudgetError
from ..device import Device, DeviceArray
from ..graph import DeviceGraph, graph_macros, offsets_dtype
from ..kernel_file import KernelFile

FILE, SEGMENT = "variants/layouts.cu", 32


@dataclass(frozen=True)
class AdjacencyLists:
    """Lists on a device.

    sizes : uint64[n] (V_s). entries : uint32 or uint64 (E). starts : uint64[n + 1] (V_b, and the end), or None
    in a matrix. width : entries of a list in a matrix (l), else 0. addresses : uint64[n], where in memory the
    lists begin, if with_addresses made them.
    """

    sizes: DeviceArray
    entries: DeviceArray
    starts: DeviceArray | None = None
    width: int = 0
    addresses: DeviceArray | None = None

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.sizes.size


def padded_lists(device: Device, graph: DeviceGraph) -> AdjacencyLists:
    """The graph with each list padded to a multiple of 32 entries. O(n + m).

    Raises BudgetError if the device has no room for both.
    """
    starts = np.zeros(graph.n_vertices + 1, np.uint64)
    np.cumsum(_padded_sizes(device, graph), out=starts[1:])
    return _copy(device, graph, device.array(starts), int(starts[-1]))


def list_matrix(device: Device, graph: DeviceGraph) -> AdjacencyLists:
    """The graph as a matrix of n rows of the longest list, padded to a multiple of 32 entries. O(n * l).

    Raises BudgetError if the device has no room for it: for graphs with hubs that is soon.
    """
    n = graph.n_vertices
    width = int(_padded_sizes(device, graph).max(initial=0))
    # The rows' beginnings, needed while the matrix is made, and the sizes are 8 bytes a vertex each.
    needed, free = n * (width * graph.neighbours.dtype.itemsize + 16) + 8, device.memory().free
    if needed > free:
        raise BudgetError(f"a matrix of {n} lists of {width} entries takes {needed} bytes, {free} are free on "
                          "the device", remedy="use padded lists")
    lists = _copy(device, graph, device.array(_matrix_starts(n, width)), n * width)
    return replace(lists, starts=None, width=width)


def with_addresses(device: Device, lists: AdjacencyLists) -> AdjacencyLists:
    """The same lists with their addresses in memory (8 bytes a vertex more), for bfs_pointers."""
    n, dtype = lists.n_vertices, lists.entries.dtype
    starts = device.array(_matrix_starts(n, lists.width)) if lists.starts is None else lists.starts
    addresses = device.empty(n, np.uint64)
    kernels = KernelFile(device, FILE, graph_macros(dtype, offsets_dtype(lists.entries.size, dtype.itemsize)))
    kernels.launch("row_addresses", n, starts, lists.entries, n, addresses)
    return replace(lists, addresses=addresses)


def _padded_sizes(device: Device, graph: DeviceGraph) -> np.ndarray:
    """Sizes of rows rounded up to whole segments, uint64[n] on the host."""
    sizes: np.ndarray = np.diff(device.to_host(graph.offsets))
    return (sizes + np.uint64(SEGMENT - 1)) // np.uint64(SEGMENT) * np.uint64(SEGMENT)


def _matrix_starts(n_vertices: int, width: int) -> np.ndarray:
    """Where the rows of a matrix begin, and the end, uint64[n + 1]."""
    return np.arange(n_vertices + 1, dtype=np.uint64) * np.uint64(width)


def _copy(device: Device, graph: DeviceGraph, starts: DeviceArray, total: int) -> AdjacencyLists:
    """Rows of a graph copied to lists that begin at `starts` and hold `total` entries."""
    n = graph.n_vertices
    sizes, entries = device.empty(n, np.uint64), device.empty(total, graph.neighbours.dtype)
    KernelFile(device, FILE, graph.macros).launch(
        "copy_rows", n * device.warp, graph.offsets, graph.neighbours, n, starts, sizes, entries)
    return AdjacencyLists(sizes, entries, starts)
