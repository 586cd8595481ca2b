"""Label growth on a device: every vertex takes the smallest (distance, owner) that reaches it.

The host's loop around labels.cu. Vertices are expanded in the order of their distances, a launch over the arcs of
a queue for each; by then their owners are final, since an owner comes from the level before alone. So the labels
are the only fixpoint that traverse/labels.py describes. The host reads one number a level. Work: O(n + m). Bytes
a vertex on the device: 8 (labels), two queues and the sums of the load balancing, given back after a growth.
Source: Meyer, On trade-offs in external-memory diameter-approximation (2008), rounds of cluster growing.
"""

from __future__ import annotations

import numpy as np

from ..stream.pager import Tick
from ..traverse.labels import LONGEST
from .device import Device
from .graph import DeviceGraph
from .registry import LABEL_MAPPING

# A chunk of the load balancing has 2,048 arcs and a place of 8 bytes; blocks and pages are larger.
_ARCS_OF_A_BYTE = 128
_MARGIN = 64 << 10
_PIECE = 1 << 20


def growth_bytes(graph: DeviceGraph) -> int:
    """Device memory that a growth takes beside the graph, at most: labels, two queues, sums of degrees, where pages
    come a third queue; and of arcs, the places where chunks of them begin."""
    a_vertex = 8 + 3 * graph.id_dtype.itemsize + 8
    return a_vertex * graph.n_vertices + graph.n_arcs // _ARCS_OF_A_BYTE + _MARGIN


def grow_labels(device: Device, graph: DeviceGraph, labels: np.ndarray, seeds: np.ndarray, tick: Tick | None = None,
                most_rounds: int | None = None, block: int | None = None) -> tuple[bool, int]:
    """Grow `labels` (uint64[n], in RAM, in place) around `seeds` (int64[k], different vertices, which have
    the distance 0 already).

    Returns whether all has grown, and the levels. If a vertex at distance `most_rounds` or more would have to
    be expanded, growth stops there, and the labels are only those so far. tick : called after each level. block :
    threads of a block. A LabelGrowth (traverse/clusters.py), once it has device and graph.
    Raises ValueError for labels or seeds that do not fit the graph, OverflowError for a distance that does not
    fit a label, BudgetError if the device has no room, InputError for a block that there cannot be.
    """
    n, launcher = graph.n_vertices, graph.launcher(device, LABEL_MAPPING, block)
    kernels = launcher.kernels("labels.cu", "grow_labels")
    if labels.dtype != np.uint64 or len(labels) != n:
        raise ValueError(f"labels of {n} vertices are uint64[{n}]")
    if len(seeds) and not 0 <= int(seeds.min()) <= int(seeds.max()) < n:
        raise ValueError(f"a seed is no vertex (0 to {n - 1})")
    values, counts = device.array(labels), device.empty(2, np.uint64)
    queue, following = graph.queues(device)
    size, level = len(seeds), 0
    device.copy(seeds.astype(graph.id_dtype), queue[:size])
    while size and (most_rounds is None or level < most_rounds):
        if level >= LONGEST:
            raise OverflowError(f"a distance of {level} does not fit a label")
        device.fill(counts, 0)
        launcher.launch(kernels, queue[:size], (values, following, counts))
        size, arcs = device.to_host(counts).tolist()
        if graph.resident:  # of pages their launcher knows
            graph.looked.arcs += arcs
        queue, following = following, queue
        level += 1
        if tick is not None:
            tick()
    # In pieces: the host's memory is planned without a second vector.
    for begin in range(0, n, _PIECE):
        labels[begin : begin + _PIECE] = device.to_host(values[begin : min(begin + _PIECE, n)])
    return size == 0, level
