"""Harish and Narayanan's shortest paths: one kernel relaxes the arcs of all marked vertices into a second array, the
other one commits what became shorter and marks it.

On every layout of layouts.py. The host reads one number a round. Bytes a vertex on the device: 17, beside the layout.
Source: papers/004, section 3.1 (Harish and Narayanan) and section 1. Kernels: paths/harish.cu.
"""

from __future__ import annotations

import numpy as np

from ...paths.paths import Paths, SearchOptions
from ..device import Device
from ..kernel_file import KernelFile, zeros
from .layouts import Relaxation, find_layout
from .weighted_graph import WeightedGraph, negative_cycle

_FILE = "paths/harish.cu"


def harish(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
           layout: str | Relaxation = "rows", block: int | None = None) -> Paths:
    """Distances from `source`; weights may be negative.

    layout : a name of LAYOUTS, or what its `prepare` gave, to share it among sources. block : threads of a block.
    Raises InputError for a layout that there is not or cannot be, and for a negative cycle that the source reaches.
    """
    relaxation = find_layout(layout).prepare(device, weighted) if isinstance(layout, str) else layout
    kernels, n = KernelFile(device, _FILE, relaxation.macros, block), weighted.n_vertices
    words, updated = weighted.start(device, source), weighted.start(device, source)
    marked, counts = zeros(device, n, np.uint8), zeros(device, 2, np.uint64)
    device.fill(marked[source : source + 1], 1)
    rounds, lowered, on_tick = 0, True, (options or SearchOptions()).tick
    while lowered:
        if rounds >= n:
            raise negative_cycle()
        rounds += 1
        device.fill(counts[1:], 0)
        kernels.launch(relaxation.entry, relaxation.items, *relaxation.arguments, marked, words, updated, counts)
        kernels.launch("harish_commit", n, n, marked, words, updated, counts)
        lowered = bool(device.to_host(counts)[1])
        on_tick()
    return Paths("harish", source, weighted.distances(device.to_host(words)), int(device.to_host(counts)[0]), rounds)
