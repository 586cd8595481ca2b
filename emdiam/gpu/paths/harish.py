"""Harish and Narayanan's shortest paths: one kernel relaxes the arcs of all marked vertices into a second array,
another one commits shorter lengths and marks their vertices.

For every layout. The host reads one number a round. Bytes a vertex on the device: 17, without the layout.
Source: papers/004, section 3.1 (Harish and Narayanan) and section 1. Kernels: paths/harish.cu.

Also a weighted graph on a device in the layouts of the papers, by name, for the first kernel of Harish.

Source: papers/004, section 1: adjacency matrix with a pitch (1.1), rows, rows of pairs and the reverse of both (1.2),
edge list (1.3); papers/001, section IV-B: padded lists, and the matrix of lists, whose heads are those of
variants/layouts.py. Bytes on the device beside the rows, for ids and weights of 4 bytes, n vertices and m arcs: see
LAYOUTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import no_such
from ...paths.paths import Paths, SearchOptions
from ..device import Device, DeviceArray
from ..graph import DeviceGraph
from ..kernel_file import ExclusiveSums, KernelFile, zeros
from ..source import Define
from .weighted_graph import WeightedGraph, adjacency_matrix, layout_macros, negative_cycle, paired

if TYPE_CHECKING:
    from ..variants.layouts import AdjacencyLists

def reverse_rows(device: Device, weighted: WeightedGraph) -> WeightedGraph:
    """The rows of incoming arcs: `neighbours` has their tails, in any order. O(n + m)."""
    graph, n, m = weighted.graph, weighted.n_vertices, weighted.graph.n_arcs
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(weighted))
    starts = zeros(device, n + 1, np.uint64)
    kernels.launch("count_heads", m, graph.neighbours, m, starts)
    ExclusiveSums(device).replace(starts)
    places, tails, turned = device.empty(n, np.uint64), device.empty(m, graph.id_dtype), device.empty(
        m, weighted.weights.dtype)
    device.copy(starts[:n], places)
    kernels.launch("turn_arcs", n * device.warp, graph.offsets, graph.neighbours, weighted.weights, n, places, tails,
                   turned)
    offsets = device.empty(n + 1, graph.offsets.dtype)
    kernels.launch("offsets_of_sums", n + 1, starts, n + 1, offsets)
    return WeightedGraph(DeviceGraph(offsets, tails), turned, weighted.facts)


# -- As the first kernel of Harish takes them ----------------------------------------------------------------

@dataclass(frozen=True)
class Relaxation:
    """The relaxation of a layout: an entry of paths/harish.cu, its macros, and its arguments before `marked`. items :
    number of items, with a thread each."""

    entry: str
    macros: dict[str, Define]
    arguments: tuple[Any, ...]
    items: int


def _rows(device: Device, weighted: WeightedGraph) -> Relaxation:
    graph, none = weighted.graph, device.empty(1, np.uint64)  # for a parameter that the layout does not have
    return Relaxation("harish_relax", {**weighted.macros, "LAYOUT": "LAYOUT_ROWS"}, (
        graph.offsets, none, np.uint64(0), graph.neighbours, weighted.weights,
        np.uint64(weighted.n_vertices)), weighted.n_vertices)


def _lists(device: Device, weighted: WeightedGraph) -> Relaxation:
    from ..variants.layouts import padded_lists  # loaded where such a layout is named, as all variants are

    lists = padded_lists(device, weighted.graph)
    assert lists.starts is not None
    return _of_lists(device, weighted, lists, lists.starts, "LAYOUT_LISTS")


def _list_matrix(device: Device, weighted: WeightedGraph) -> Relaxation:
    from ..variants.layouts import list_matrix  # as above

    lists = list_matrix(device, weighted.graph)
    starts = device.array(np.arange(lists.n_vertices + 1, dtype=np.uint64) * np.uint64(lists.width))
    return _of_lists(device, weighted, lists, starts, "LAYOUT_ELL")


def _of_lists(device: Device, weighted: WeightedGraph, lists: AdjacencyLists, starts: DeviceArray,
              layout: str) -> Relaxation:
    n, weights = weighted.n_vertices, device.empty(lists.entries.size, weighted.weights.dtype)
    kernels = KernelFile(device, "paths/layouts.cu", layout_macros(weighted))
    kernels.launch("copy_weights", n * device.warp, weighted.graph.offsets, weighted.weights, n, starts, weights)
    return Relaxation("harish_relax", {**weighted.macros, "INDEX": "u64", "LAYOUT": layout}, (
        starts, lists.sizes, np.uint64(lists.width), lists.entries, weights, np.uint64(n)), n)


def _matrix(device: Device, weighted: WeightedGraph) -> Relaxation:
    matrix, n, none = adjacency_matrix(device, weighted), weighted.n_vertices, device.empty(1, np.uint64)
    macros: dict[str, Define] = {"INDEX": "u64", "WEIGHT": matrix.macros["CELL"], "LAYOUT": "LAYOUT_MATRIX"}
    return Relaxation("harish_relax", {**weighted.macros, **macros}, (
        none, none, np.uint64(matrix.pitch), device.empty(1, weighted.graph.id_dtype), matrix.cells,
        np.uint64(n)), n)


def _edges(device: Device, rows: WeightedGraph, weighted: WeightedGraph) -> Relaxation:
    """weighted : the same arcs as `rows`, as pairs or as they are."""
    from ..variants.bfs_topology import arc_tails  # as above

    tails, m = arc_tails(device, rows.graph), rows.graph.n_arcs
    return Relaxation("edges_relax", {**weighted.macros, "LAYOUT": "LAYOUT_ROWS"}, (
        tails, weighted.graph.neighbours, weighted.weights, np.uint64(m)), m)


def _reverse(device: Device, weighted: WeightedGraph) -> Relaxation:
    turned, n = reverse_rows(device, weighted), weighted.n_vertices
    return Relaxation("reverse_relax", {**turned.macros, "LAYOUT": "LAYOUT_ROWS"}, (
        turned.graph.offsets, turned.graph.neighbours, turned.weights, np.uint64(n)), n)


@dataclass(frozen=True)
class ArcLayout:
    """prepare : makes the layout from rows on the device. title : its description. section : of the papers. bytes : on
    the device, in addition to the rows."""

    prepare: Callable[[Device, WeightedGraph], Relaxation]
    title: str
    section: str
    bytes: str


LAYOUTS: Mapping[str, ArcLayout] = MappingProxyType({
    "rows": ArcLayout(_rows, "Compressed rows, heads beside weights", "papers/004, 1.2", "0"),
    "pairs": ArcLayout(lambda device, weighted: _rows(device, paired(device, weighted)),
                       "Compressed rows of pairs (array of structures)", "papers/004, 1.2", "8 m"),
    "lists": ArcLayout(_lists, "Lists padded to whole segments", "papers/001, IV-B", "16 n + 8 m, padded"),
    "list-matrix": ArcLayout(_list_matrix, "Matrix of padded lists (ELL)", "papers/001, IV-B", "16 n + 8 n l"),
    "matrix": ArcLayout(_matrix, "Adjacency matrix with a pitch", "papers/004, 1.1", "8 n^2"),
    "edges": ArcLayout(lambda device, weighted: _edges(device, weighted, weighted), "Edge list (COO)",
                       "papers/004, 1.3", "4 m"),
    "paired-edges": ArcLayout(lambda device, weighted: _edges(device, weighted, paired(device, weighted)),
                              "Edge list, head and weight as pairs", "papers/004, 1.3", "12 m"),
    "reverse": ArcLayout(_reverse, "Compressed rows of the arcs that come in", "papers/004, 1.2", "8 n + 8 m"),
})


def find_layout(name: str) -> ArcLayout:
    """The layout of this name. Raises InputError with all names for an unknown one."""
    if name not in LAYOUTS:
        raise no_such("layout", name, LAYOUTS)
    return LAYOUTS[name]


_FILE = "paths/harish.cu"


def harish(device: Device, weighted: WeightedGraph, source: int, options: SearchOptions | None = None,
           layout: str | Relaxation = "rows", block: int | None = None) -> Paths:
    """Distances from `source`; weights may be negative.

    layout : a name of LAYOUTS, or the result of its `prepare`, to share it among sources. block : threads of a block.
    Raises InputError for an unknown or impossible layout, and for a negative cycle that the source reaches.
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
