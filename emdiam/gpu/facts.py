"""Facts of a GPU, and a test that it works: `emdiam info --device gpu`.

A search on a random graph is compared with one by numpy on the CPU. The timed copy is from locked memory, as for pages.
Both run once before, so that the measured times exclude first uses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DeviceError, InputError
from .bfs_whole import WholeBfs
from .cupy_device import find_device
from .device import Device
from .failures import ON_CPU
from .graph import DeviceGraph, offsets_dtype
from .kernel_file import UNREACHED
from .registry import ENTRIES
from .source import define_options, find_cubin, kernel_source

VERTICES, EDGES_A_VERTEX, COPIED_BYTES = 1 << 16, 8, 1 << 26
_SOURCE = 0


def device_facts(text: str, vertices: int = VERTICES, copied_bytes: int = COPIED_BYTES) -> dict[str, Any]:
    """Name, memory, versions, rates and one checked search of a GPU.

    Parameters
    ----------
    text : str
        "gpu", the first one, or "gpu:N".
    vertices : int
        Number of vertices of the test graph.
    copied_bytes : int
        Size of the timed copy from the host.

    Returns
    -------
    dict
        name, multiprocessors, memory_bytes, free_bytes, compute_capability, driver (the newest CUDA that it knows),
        cupy, kernels (sets of entries, macros counted apart), kernels_shipped (those that need no compiler here),
        copy_bytes_per_second, and bfs: vertices, arcs, levels, seconds.

    Raises
    ------
    InputError
        The GPU does not exist, or CuPy is missing; with the remedy.
    DeviceError
        The GPU fails, or its distances differ from the CPU's.
    """
    try:
        device = find_device(text)
    except InputError as error:  # this command cannot use the CPU instead
        remedy = (error.remedy or "").removesuffix(f", or {ON_CPU}")
        raise InputError(error.what, text=error.text, remedy=remedy) from error
    memory = device.memory()
    kernels, shipped = _kernels(device.capability)
    return {"name": device.name, "multiprocessors": device.n_sms, "memory_bytes": memory.total,
            "free_bytes": memory.free, "compute_capability": ".".join(map(str, device.capability)),
            **device.versions(), "kernels": kernels, "kernels_shipped": shipped,
            "copy_bytes_per_second": _copy_rate(device, copied_bytes), "bfs": _searched(device, vertices)}


def _kernels(capability: tuple[int, int]) -> tuple[int, int]:
    """The number of builds of kernel files, and of builds with a cubin for the device."""
    builds = {(entry.file, define_options(build)) for entry in ENTRIES for build in entry.builds}
    texts = {file: kernel_source(file) for file, _ in builds}
    return len(builds), sum(find_cubin(capability, texts[file], options) is not None for file, options in builds)


def _copy_rate(device: Device, copied_bytes: int) -> float:
    """Bytes a second from locked memory of the host to the device."""
    host = np.zeros(copied_bytes, np.uint8)
    target, stream = device.empty(copied_bytes, np.uint8), device.stream()
    device.register(host)
    try:
        for _ in range(2):
            begin = device.record(stream)
            device.copy_behind(host, target, stream)
            end = device.record(stream)
            seconds = device.elapsed(begin, end)
    finally:
        device.release(host)
    return copied_bytes / max(seconds, 1e-9)


def _searched(device: Device, vertices: int) -> dict[str, Any]:
    """Run and check one BFS. Raises DeviceError."""
    starts, ids = _random_rows(vertices)
    graph = DeviceGraph(device.array(starts.astype(offsets_dtype(len(ids), 4))), device.array(ids.astype(np.uint32)))
    search = WholeBfs(device, graph)
    for _ in range(2):
        begin = device.record()
        found = search.find(_SOURCE)
        end = device.record()
    if not np.array_equal(device.to_host(found.distances), _distances(starts, ids)):
        raise DeviceError(f"the device {device.name} computes wrong: a BFS of {vertices:,} vertices finds other"
                          " distances than the CPU", remedy=f"use another GPU, or {ON_CPU}")
    return {"vertices": vertices, "arcs": len(ids), "levels": found.levels, "seconds": device.elapsed(begin, end)}


def _random_rows(vertices: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a random graph: offsets, int64[n + 1], and neighbours, int64[m], ascending and distinct."""
    ends = np.random.default_rng(1).integers(0, vertices, (2, EDGES_A_VERTEX * vertices))
    src, dst = np.concatenate([ends, ends[::-1]], axis=1)
    keys = np.unique(src * vertices + dst)
    rows, ids = np.divmod(keys, vertices)
    loops = rows == ids
    return np.concatenate([[0], np.cumsum(np.bincount(rows[~loops], minlength=vertices))]), ids[~loops]


def _distances(starts: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Distances from the source by numpy, uint32[n], UNREACHED without a path."""
    distances = np.full(len(starts) - 1, UNREACHED, np.uint32)
    front, level = np.array([_SOURCE]), 0
    while len(front):
        distances[front] = level
        counts = starts[front + 1] - starts[front]
        before = np.cumsum(counts) - counts
        near = ids[np.repeat(starts[front] - before, counts) + np.arange(int(counts.sum()))]
        front, level = np.unique(near[distances[near] == UNREACHED]), level + 1
    return distances
