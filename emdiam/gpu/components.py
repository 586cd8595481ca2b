"""Connected components of vertices that a BFS has not reached, and growth of labels, on a device.

Components (components.cu): the host gets counts, and requested vertices. Bytes a vertex on the device: a label and 4
for a size, until labels are released; during the computation also a queue, and the sums of the load balancing. Source:
kernels/components.cu.

grow_labels: every vertex takes the smallest (distance, owner) that reaches it (labels.cu). Vertices are expanded in the
order of their distances, with a launch over the arcs of a queue for each level. At that time their owners are final,
since an owner comes only from the level before. So the labels are the unique fixpoint of traverse/labels.py. The host
reads one number a level. Work: O(n + m). Bytes a vertex on the device: 8 (labels), two queues and the sums of the load
balancing, freed after a growth.
Source: Meyer, On trade-offs in external-memory diameter-approximation (2008), rounds of cluster growing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..progress import Tick, no_tick
from ..traverse.components import Components, keep_largest
from ..traverse.labels import LONGEST
from .device import Device, DeviceArray
from .graph import DeviceGraph
from .kernel_file import KernelFile, zeros
from .registry import LABEL_MAPPING
from .vector import NO_VERTEX, DeviceVector, as_vertex

FILE = "components.cu"
_PIECE = 1 << 20


class DeviceComponents(Components):
    """Components of a graph of fewer than 2^32 vertices.

    reached : bitmap of the vertices that a complete BFS has reached, uint64[ceil(n / 64)] on the device. reached_label
    : label of these vertices. Raises BudgetError if device memory is too small. Work: O(n + m).
    """

    def __init__(self, device: Device, graph: DeviceGraph, reached: DeviceArray, reached_label: int) -> None:
        self._device, self._graph, n = device, graph, graph.n_vertices
        launcher = graph.launcher(device, LABEL_MAPPING)
        self._kernels = KernelFile(device, FILE, launcher.defines)
        parent = device.empty(n, graph.id_dtype)
        self._sizes: DeviceArray | None = zeros(device, n, np.uint32)
        queue, out = graph.queues(device)[0], zeros(device, 4, np.uint64)
        self._kernels.launch("begin_components", n, graph.offsets, reached, n, parent, queue, out[:1])
        hidden = int(device.to_host(out)[0])
        if hidden:
            launcher.launch(launcher.kernels(FILE, "join_arcs"), queue[:hidden], (parent, out[3:]))
        self._kernels.launch("name_components", n, n, parent, self._sizes)
        self._kernels.launch("count_components", n, n, self._sizes, out[1:])
        n_others, self._pairs, arcs = (int(count) for count in device.to_host(out)[1:])
        graph.scanned.arcs += arcs
        self._parent = parent
        super().__init__(DeviceLabels(device, self._kernels, parent, reached_label), reached_label, n_others)

    def n_pairs(self) -> int:
        """See Components.n_pairs."""
        return self._pairs

    @property
    def label_bytes(self) -> int:
        """See Components.label_bytes."""
        return 0 if self._sizes is None else self._sizes.nbytes + self._parent.nbytes

    def _above(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(roots, sizes) of the components of more than `size` vertices, in pieces, int64[k] each."""
        for start in range(0, 0 if self._sizes is None else self._sizes.size, _PIECE):
            assert self._sizes is not None
            part = DeviceVector(self._device, self._sizes[start : min(start + _PIECE, self._sizes.size)])
            places = part.select(">", size)
            yield places + start, part.take(places).astype(np.int64)

    def _largest(self, size: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        return keep_largest(self._above(size), most)

    def _describe(self, roots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self._sizes is not None, "labels are kept"
        device, k, n = self._device, len(roots), self._graph.n_vertices
        DeviceVector(device, self._sizes).put(roots, 0)
        facts = zeros(device, 2 * k, np.uint64)
        self._kernels.launch("describe_components", n, self._graph.offsets, n, self._parent,
                             device.array(roots.astype(np.uint64)), k, facts[:k], facts[k:])
        last, hubs = device.to_host(facts).reshape(2, k)
        return last.astype(np.int64), (~hubs & np.uint64(0xFFFFFFFF)).astype(np.int64)

    def _larger(self, size: int, most: int) -> int:
        return 0 if self._sizes is None else DeviceVector(self._device, self._sizes).count_where(">", size)

    def _largest_left(self) -> int:
        return 0 if self._sizes is None else max(0, DeviceVector(self._device, self._sizes).best_value())

    def release(self) -> None:
        """See Components.release."""
        super().release()
        self._sizes, self._parent = None, self._parent[:0]


class DeviceLabels:
    """Labels of all vertices: labels[start:stop] is a copy on the host, id[k]."""

    def __init__(self, device: Device, kernels: KernelFile, parent: DeviceArray, reached_label: int) -> None:
        self._device, self._kernels, self._parent, self._reached_label = device, kernels, parent, reached_label
        self.dtype = parent.dtype

    def __len__(self) -> int:
        return self._parent.size

    def __getitem__(self, part: slice) -> np.ndarray:
        start, stop, _ = part.indices(len(self))
        if stop <= start:
            return np.empty(0, self.dtype)
        labels = self._device.to_host(self._parent[start:stop])
        labels[labels == np.iinfo(self.dtype).max] = self._reached_label
        return labels

    def first(self, values: DeviceVector, wanted: Sequence[int], start: int, label: int) -> int:
        """The smallest i with a value in `wanted` whose vertex, start + i, has the label, or -1."""
        stored = np.iinfo(self.dtype).max if label == self._reached_label else label
        first = self._device.array(np.array([NO_VERTEX], np.uint64))
        n = values.array.size
        self._kernels.launch("first_in_component", n, values.array, self._parent[start : start + n], n,
                             *values.listed(wanted), self.dtype.type(stored), first)
        return as_vertex(self._device.to_host(first))


# A chunk of the load balancing has 2,048 arcs and a position of 8 bytes; blocks and pages are larger.
_ARCS_OF_A_BYTE = 128
_MARGIN = 64 << 10


def growth_bytes(graph: DeviceGraph) -> int:
    """Upper bound of the device memory of a growth without the graph: labels, two queues, sums of degrees, for a paged
    graph a third queue; and the first positions of chunks of arcs."""
    a_vertex = 8 + 3 * graph.id_dtype.itemsize + 8
    return a_vertex * graph.n_vertices + graph.n_arcs // _ARCS_OF_A_BYTE + _MARGIN


def grow_labels(device: Device, graph: DeviceGraph, labels: np.ndarray, seeds: np.ndarray, tick: Tick = no_tick,
                most_rounds: int | None = None, block: int | None = None) -> tuple[bool, int]:
    """Grow `labels` (uint64[n], in RAM, in place) from `seeds` (int64[k], distinct vertices with distance 0).

    Returns whether the growth is complete, and the number of levels. It stops before expanding a vertex at distance
    `most_rounds` or more, with the labels so far. tick : called after each level. block : threads of a block. With
    device and graph bound, it is a LabelGrowth (traverse/clusters.py).
    Raises ValueError for labels or seeds that do not fit the graph, OverflowError for a distance that does not fit a
    label, BudgetError if device memory is too small, InputError for an impossible block.
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
        if graph.resident:  # the launcher of a paged graph counts itself
            graph.scanned.arcs += arcs
        queue, following = following, queue
        level += 1
        tick()
    # In pieces: the plan has no second host vector.
    for begin in range(0, n, _PIECE):
        labels[begin : begin + _PIECE] = device.to_host(values[begin : min(begin + _PIECE, n)])
    return size == 0, level
