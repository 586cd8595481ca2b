"""The minimum spanning forest under random weights, out of core: filtered Kruskal in scans.

Definition: edges weigh what light_edges.py says, a hash of (key, natural ranks of the ends). So the
forest is unique: the same for any number of threads, any budget and any order of the store.
A scan reads the blocks once and keeps the lightest edges between different trees, as many as the
buffer holds; they are sorted and joined in RAM, and what was too heavy is left to the next scan. The
last scan is the first one that leaves nothing out. As soon as a tree is larger than a quarter of a
sample, only rows outside it are looked at, and only their blocks read.
What is kept of the forest is the degree and the XOR of the neighbours of every vertex in it; leaves
peel off in RAM without further I/O (rooted.py), and leave parents, rooted at the vertex of smallest
rank of every tree.
I/O: as many passes as scans (docs/algorithms/spanning.md). Bytes a vertex with uint32 ids: union-find and XOR 8,
degrees 1, and the buffer, 2 to 8; 4 of them remain.
Sources: Ajwani, Beckmann, Meyer, Veith (2012), section 2, spanning tree heuristics (weights independent
and uniform in (0, 1]); those of light_edges.py.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..jit import kernel
from ..stream.pager import Tick
from .components import _find
from .core import Core
from .light_edges import NO_GIANT, LightEdges, collect, stream_of
from .rooted import ForestDegrees, hang_from, peel_forest

# Edges of the buffer at least, a share of the vertices; and what one thread finds between two visits to it.
_LEAST_SHARE = 4
_FOUND = 1 << 13
_SAMPLE = 1 << 10
_MIB = 1 << 20


@dataclass
class SpanningForest:
    """A rooted spanning forest.

    n_trees : trees with an edge. scans : passes over blocks. bytes_read : in them. raw : parents,
    id[n], for kernels of the engine; a root and an isolated vertex is its own parent.
    """

    raw: np.ndarray
    n_trees: int
    scans: int
    bytes_read: int

    def hang_from(self, vertices: np.ndarray) -> None:
        """Make each of `vertices` (integers [k]) the root of its tree: the parents along its way to the
        root are turned round."""
        hang_from(self.raw, vertices)

    def release(self) -> None:
        """Free the parents; the counts stay."""
        self.raw = np.empty(0, self.raw.dtype)


def spanning_bytes(n_vertices: int, id_bytes: int) -> int:
    """Vertex state of spanning_forest with its least buffer, beside what a core shares."""
    degrees = n_vertices + n_vertices * id_bytes // 128
    return n_vertices * 2 * id_bytes + degrees + buffer_sizes(n_vertices, id_bytes)[0] + 2 * _MIB


def buffer_sizes(n_vertices: int, id_bytes: int) -> tuple[int, int]:
    """Bytes of the buffer at least, and from which on more does not take fewer scans: for an edge a vertex."""
    return n_vertices // _LEAST_SHARE * 2 * id_bytes, n_vertices * 2 * id_bytes


def spanning_forest(
    core: Core, key: int, ranks: np.ndarray, buffer_bytes: int | None = None, tick: Tick | None = None
) -> SpanningForest:
    """The minimum spanning forest under the random weights of `key` (below 2^64).

    ranks : natural rank of every vertex, id[n], or length 0 where it is its number. buffer_bytes : for
    edges at hand (default: the least of buffer_sizes; at least 16 edges); it changes the number of scans only.
    """
    n, dtype = core.table.n_vertices, core.work.queues.dtype
    read = core.counters.snapshot().bytes_read
    room = buffer_sizes(n, dtype.itemsize)[0] if buffer_bytes is None else buffer_bytes
    edges = LightEdges(room // (2 * dtype.itemsize), stream_of(key), ranks, dtype)
    roots, degrees, near = np.arange(n, dtype=dtype), ForestDegrees(n, dtype), np.zeros(n, dtype)
    n_trees, scans, complete = n - core.n_isolated, 0, core.table.n_arcs == 0
    while not complete and n_trees > 1:
        giant = _giant(roots) if scans else NO_GIANT
        edges.begin(0 if scans else core.table.n_arcs // 2, giant)
        _scan(core, edges, roots, giant, tick)
        begin = time.thread_time()
        joined, complete = edges.join(roots, degrees, near, tick)
        flatten_roots(roots)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        n_trees -= joined
        scans += 1
    del edges
    parents = peel_forest(roots, degrees, near, tick)
    return SpanningForest(parents, n_trees, scans, core.counters.snapshot().bytes_read - read)


def _scan(core: Core, edges: LightEdges, roots: np.ndarray, giant: np.uint64, tick: Tick | None) -> None:
    """One pass over the blocks with a row outside the giant tree."""
    table = core.table
    begin = time.thread_time()
    outside_tree(roots, giant, table.isolated, core.work.frontier)
    blocks = core.blocks_with(core.work.frontier)
    core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        found = np.empty((_FOUND, 2), roots.dtype)
        state = np.array([-1, 0, 0, 0, 0], np.int64)
        more = True
        while more:
            more = collect(chunks, position, turn, ids, table.shift, table.first_vertex, *core.offsets, roots,
                           edges.ranks, edges.limits, found, state)
            edges.push(found[: state[3]])
        return int(state[4])

    arcs = core.pager.sweep(blocks, run, tick)
    core.counters.add(passes=1, edges_scanned=arcs)
    if tick is not None:
        tick()


def _giant(roots: np.ndarray) -> np.uint64:
    """Root of the tree that holds most of an even sample of vertices, if that is a quarter of it."""
    sample = roots[:: -(-len(roots) // _SAMPLE)]
    found, count = np.unique(sample, return_counts=True)
    most = int(count.argmax())
    return np.uint64(found[most]) if 4 * count[most] >= len(sample) else NO_GIANT


@kernel
def flatten_roots(roots):
    """roots[v] = the root of v itself."""
    for v in range(len(roots)):
        roots[v] = _find(roots, v)


@kernel
def outside_tree(roots, giant, isolated, bitmap):
    """bitmap = the vertices with an edge whose root is not `giant`."""
    for word in range(len(bitmap)):
        bits = np.uint64(0)
        for v in range(word << 6, min((word + 1) << 6, len(roots))):
            if np.uint64(roots[v]) != giant:
                bits |= np.uint64(1) << np.uint64(v & 63)
        bitmap[word] = bits & ~isolated[word]
