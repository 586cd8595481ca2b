"""Rows of a graph and a column of distances: the check that no arc is steep, a path down, the longest row, and rows of
one length; rows.cu.

The first two are of a resident graph. The same on the CPU: traverse/paths.py, traverse/core.py. Work: O(m + n), the
rows of the path, and O(n).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import UNREACHED, KernelFile, zeros
from .vector import DeviceVector

FILE = "rows.cu"
# Vertices of a path that come to the host at a time, and vertices whose degrees are looked at at a time.
_PIECE, _RANGE = 1 << 11, 1 << 19


def count_steep(device: Device, graph: DeviceGraph, values: DeviceArray) -> int:
    """Arcs whose ends differ by more than 1 in `values`, uint32[n] on the device."""
    count = zeros(device, 1, np.uint64)
    KernelFile(device, FILE, graph.macros).launch(
        "steep_arcs", -(-graph.n_arcs // 32), graph.offsets, graph.neighbours, graph.n_vertices, graph.n_arcs, values,
        count)
    return int(device.to_host(count)[0])


def largest_degree(device: Device, graph: DeviceGraph) -> int | None:
    """The smallest vertex of the largest degree of a graph of fewer than 2^32 vertices, None without arcs."""
    best = zeros(device, 1, np.uint64)
    KernelFile(device, FILE, graph.macros).launch(
        "largest_degree", graph.n_vertices, graph.offsets, graph.n_vertices, best)
    found = int(device.to_host(best)[0])
    return UNREACHED - (found & UNREACHED) if found else None


def vertices_of_degree(device: Device, graph: DeviceGraph, degree: int, most: int) -> Iterator[np.ndarray]:
    """The vertices of this degree, ascending, in pieces of `most` (int64[k]), the last of at most so many."""
    kernels, piece = KernelFile(device, FILE, graph.macros), np.empty(0, np.int64)
    for begin in range(0, graph.n_vertices, _RANGE):
        end = min(begin + _RANGE, graph.n_vertices)
        marks = device.empty(end - begin, np.uint32)
        kernels.launch("mark_degree", end - begin, graph.offsets, begin, end, degree, marks)
        piece = np.concatenate((piece, DeviceVector(device, marks).select("==", 0) + begin))
        whole = len(piece) // most * most
        yield from (piece[start : start + most] for start in range(0, whole, most))
        piece = piece[whole:]
    if len(piece):
        yield piece


def put_isolated(device: Device, graph: DeviceGraph, values: DeviceArray, value: int) -> None:
    """Set the values, uint32[n] on the device, of all vertices without an edge."""
    KernelFile(device, FILE, graph.macros).launch(
        "put_isolated", graph.n_vertices, graph.offsets, graph.n_vertices, np.uint32(value), values)


def path_pieces(device: Device, graph: DeviceGraph, distances: DeviceArray, target: int,
                piece: int = _PIECE) -> Iterator[np.ndarray]:
    """The vertices of a shortest path from `target` down to the source of `distances` (uint32[n] on the device), target
    first, in pieces of at most `piece` (int64): a step goes to the smallest neighbour that is one nearer.

    Raises RuntimeError where there is none, so that these are no distances."""
    kernels = KernelFile(device, FILE, graph.macros)
    yield np.array([target], np.int64)
    # The path behind what the kernel tells of it, so that both come in one copy.
    state = zeros(device, 3 + piece, np.uint64)
    device.fill(state[:1], target)
    while True:
        kernels.launch_blocks("walk_down", 1, graph.offsets, graph.neighbours, distances, piece, state[3:], state[:3])
        vertex, steps, stuck, *_ = (told := device.to_host(state)).tolist()
        if stuck:
            raise RuntimeError(f"no neighbour of vertex {vertex} is nearer to the source")
        if steps:
            yield told[3 : 3 + steps].astype(np.int64)
        if steps < piece:
            return
