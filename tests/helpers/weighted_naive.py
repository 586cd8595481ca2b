"""The slow twins of weighted graphs, in plain Python, and the graphs that tests draw.

A graph is (n, edges): edges a list of (a, b, weight), parallel ones and loops allowed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from emdiam.paths.condensed.collect import BlockWriter, ScratchBlocks
from emdiam.paths.condensed.packed import Keys, Packing, keep_lightest
from emdiam.paths.rows import Piece, WeightedRows
from emdiam.sorting.scratch import Scratch

Edge = tuple[int, int, int]
Graph = tuple[int, list[Edge]]


def lightest(edges: Iterable[Edge]) -> dict[tuple[int, int], int]:
    """Weight of every arc: both directions, no loops, the lightest of parallel ones."""
    arcs: dict[tuple[int, int], int] = {}
    for a, b, w in edges:
        if a != b:
            for arc in ((a, b), (b, a)):
                arcs[arc] = min(w, arcs.get(arc, w))
    return arcs


def triples(edges: Iterable[Edge]) -> list[Edge]:
    """The arcs in storage order."""
    return [(a, b, w) for (a, b), w in sorted(lightest(edges).items())]


def nearest(graph: Graph, sources: Sequence[int]) -> list[tuple[int, int] | None]:
    """(distance to the nearest source, smallest index of such a source) of every vertex; None unreached."""
    n, edges = graph
    rows: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for (a, b), w in lightest(edges).items():
        rows[a].append((b, w))
    best: list[tuple[int, int] | None] = [None] * n
    heap = [(0, i, v) for i, v in enumerate(sources)]
    heapq.heapify(heap)
    while heap:
        d, i, v = heapq.heappop(heap)
        if best[v] is None:
            best[v] = (d, i)
            for u, w in rows[v]:
                heapq.heappush(heap, (d + w, i, u))
    return best


def distances(graph: Graph, sources: Sequence[int]) -> list[int | None]:
    """Distance of every vertex to the nearest source; None unreached."""
    return [None if label is None else label[0] for label in nearest(graph, sources)]


def tallest(graph: Graph, heights: Sequence[int]) -> int:
    """max of h(a) + d(a, b) + h(b) over a != b that are connected; 0 if there are none."""
    most = 0
    for a in range(graph[0]):
        for b, d in enumerate(distances(graph, [a])):
            if d is not None and a != b:
                most = max(most, heights[a] + d + heights[b])
    return most


SHAPES = {
    "path": nx.path_graph(9),
    "cycle": nx.cycle_graph(8),
    "star": nx.star_graph(9),
    "clique": nx.complete_graph(7),
    "torus": nx.grid_2d_graph(3, 4, periodic=True),
    "hypercube": nx.hypercube_graph(4),
    "two": nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(5)),
}
WEIGHTS = st.integers(1, 9) | st.integers(1, 5000) | st.integers(1, 1 << 40)


@st.composite
def graphs(draw: st.DrawFn, weights: st.SearchStrategy[int] = WEIGHTS, most: int = 16) -> Graph:
    """A shape of SHAPES or random pairs; ids with gaps; parallel edges and loops; often disconnected."""
    if draw(st.booleans()):
        shape = nx.convert_node_labels_to_integers(draw(st.sampled_from(sorted(SHAPES)).map(SHAPES.get)))
        ids = draw(st.permutations(range(len(shape) + draw(st.integers(0, 3)))))
        pairs = [(ids[a], ids[b]) for a, b in shape.edges]
        n = len(ids)
    else:
        n = draw(st.integers(1, most))
        ends = st.integers(0, n - 1)
        pairs = draw(st.lists(st.tuples(ends, ends), max_size=3 * n))
    pairs = pairs + draw(st.lists(st.sampled_from(pairs), max_size=4)) if pairs else []
    kind = draw(st.sampled_from([1, 7])) if draw(st.booleans()) else None
    return n, [(a, b, kind or draw(weights)) for a, b in pairs]


def large(n: int, n_edges: int, seed: int, largest: int = 60) -> Graph:
    """A random graph of `n` vertices, weights 1 to `largest`."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (n_edges, 2)).tolist()
    return n, [(a, b, int(w)) for (a, b), w in zip(ends, rng.integers(1, largest + 1, n_edges), strict=True)]


def grid(side: int, seed: int) -> Graph:
    """A square grid numbered row by row, weights 1 to 60."""
    shape = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side), ordering="sorted")
    rng = np.random.default_rng(seed)
    return side * side, [(a, b, int(rng.integers(1, 61))) for a, b in shape.edges]


def packed(graph: Graph) -> tuple[Packing, Keys]:
    """The graph's arcs as sorted words."""
    n, edges = graph
    packing = Packing(n, max([1, *(w for _, _, w in edges)]))
    keys = packing.pack(*np.array(edges, np.int64).reshape(-1, 3).T)
    keys.sort()
    return packing, keys[: keep_lightest(keys, packing.weight_bits)]


def in_ram(graph: Graph) -> WeightedRows:
    """The graph's arcs in RAM."""
    n, edges = graph
    tails, heads, weights = np.array(edges, np.int64).reshape(-1, 3).T
    return WeightedRows.from_edges(n, tails, heads, weights.astype(packed(graph)[0].weight_dtype))


def on_disk(graph: Graph, scratch: Scratch, block_arcs: int = 4) -> ScratchBlocks:
    """The same in a scratch file."""
    packing, keys = packed(graph)
    writer = BlockWriter(scratch.file(), packing, block_arcs)
    writer.add(keys)
    return writer.close()


def triples_in(pieces: Iterable[Piece]) -> list[Edge]:
    """The arcs of pieces, as they come."""
    return [(first + i, int(heads[p]), int(costs[p])) for first, offsets, heads, costs in pieces
            for i in range(len(offsets) - 1) for p in range(offsets[i], offsets[i + 1])]
