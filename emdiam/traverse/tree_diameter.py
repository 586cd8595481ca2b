"""The diameter of a BFS tree, from its distances alone: one scan chooses parents, heights fold in RAM.

Definition: the parent of a vertex is its neighbour of smallest natural rank among those one nearer to
the source, so that neither threads nor blocks nor the order of a store change the tree. The longest
path of a rooted tree has a highest vertex, and is made of the two tallest branches below it: when
branches are folded into their parent one by one, it is the largest (height so far) + (height of the
branch) + 1. A vertex is folded once all its children are: the last child goes on upwards itself, so
no order by level is needed.
I/O: one pass. Work: O(n + m). Bytes a vertex: parent and number of children, 4 or 8 each with the
ids, and the height, as wide as the distances.
Sources: Magnien, Latapy, Habib, Fast computation of empirically tight bounds for the diameter of
massive graphs (2009), tree upper bound; Ajwani, Beckmann, Meyer, Veith (2012), section 2.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

from ..jit import kernel
from ..stream.offsets import row_start
from ..stream.pager import Tick
from .atomics import atomic_add
from .core import Core

_SLICE = 1 << 22


def tree_diameter(core: Core, dist: np.ndarray, ranks: np.ndarray, tick: Tick | None = None) -> int:
    """Number of edges on the longest path of the canonical BFS tree of the distances `dist`.

    dist : unsigned[n], 0 at the source, the largest value where unreached. ranks : natural rank of
    every vertex, id[n], or length 0 where it is the vertex itself. Raises RuntimeError if `dist` are
    no distances.
    """
    parent = _parents(core, dist, ranks, tick)
    n = core.table.n_vertices
    children, height = np.zeros(n, parent.dtype), np.zeros(n, dist.dtype)
    longest = 0
    begin = time.thread_time()
    for start in range(0, n, _SLICE):
        orphan = int(count_children(parent, dist, children, start, min(start + _SLICE, n)))
        if orphan >= 0:
            raise RuntimeError(f"no neighbour of vertex {orphan} is nearer to the source")
        if tick is not None:
            tick()
    for start in range(0, n, _SLICE):
        longest = max(longest, int(fold_branches(parent, children, height, start, min(start + _SLICE, n))))
        if tick is not None:
            tick()
    core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
    return longest


def _parents(core: Core, dist: np.ndarray, ranks: np.ndarray, tick: Tick | None) -> np.ndarray:
    """Parent of every vertex, id[n]; itself for the source and what is unreached. One scan."""
    table = core.table
    parent = np.arange(table.n_vertices, dtype=core.work.queues.dtype)
    # Of each block: (vertex, parent in this block) of a row begun before it, and of one that goes on.
    cut = np.full((table.n_blocks, 4), -1, np.int64)

    def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
        arcs: int = choose_parents(chunks, position, turn, grain, ids, table.shift, table.first_vertex,
                                   *core.offsets, dist, ranks, parent, cut)
        return arcs

    arcs = core.pager.sweep(np.arange(table.n_blocks), run, tick) if table.n_blocks else 0
    core.counters.add(passes=1, edges_scanned=arcs)
    join_cut_rows(cut, ranks, parent)
    return parent


@njit(inline="always")
def _precedes(ranks, w, other):  # type: ignore[no-untyped-def]
    """Whether w has the smaller natural rank."""
    return ranks[w] < ranks[other] if len(ranks) else w < other


@kernel
def choose_parents(chunks, position, turn, grain, ids, shift, first_vertex, group, row, hub, dist, ranks, parent,
                   cut):  # type: ignore[no-untyped-def]
    """Write the parents of whole rows, and into `cut` what a row that is cut has in this block.

    A block kernel; cut : int64[blocks, 4]. Returns arcs scanned."""
    arcs = 0
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    unreached = np.int64(np.iinfo(dist.dtype).max)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return arcs
        for k in range(begin, min(begin + grain, len(chunks))):
            low = chunks[k] << shift
            high = min(low + (1 << shift), n_arcs)
            base = position[k] - low
            for v in range(first_vertex[chunks[k]], min(first_vertex[chunks[k] + 1], n_vertices - 1) + 1):
                mine = np.int64(dist[v])
                if mine == 0 or mine == unreached:
                    continue
                start = row_start(group, row, hub, v)
                end = row_start(group, row, hub, v + 1)
                best = np.int64(-1)
                for p in range(base + max(start, low), base + min(end, high)):
                    w = np.int64(ids[p])
                    arcs += 1
                    if np.int64(dist[w]) + 1 == mine and (best < 0 or _precedes(ranks, w, best)):
                        best = w
                        if len(ranks) == 0:  # rows ascend
                            break
                if start >= low and end <= high:
                    if best >= 0:
                        parent[v] = best
                else:
                    side = 0 if start < low else 2
                    cut[chunks[k], side] = v
                    cut[chunks[k], side + 1] = best


@kernel
def join_cut_rows(cut, ranks, parent):  # type: ignore[no-untyped-def]
    """parent[v] = the best of what the blocks of a row hold, for the rows that are cut."""
    for k in range(len(cut)):
        for side in range(0, 4, 2):
            v = cut[k, side]
            best = cut[k, side + 1]
            if v >= 0 and best >= 0:
                old = np.int64(parent[v])
                if old == v or _precedes(ranks, best, old):
                    parent[v] = best


@kernel
def count_children(parent, dist, children, start, stop):  # type: ignore[no-untyped-def]
    """children[parent[v]] += 1 for v in [start, stop). Returns -1, or a reached vertex that is neither
    the source nor has a parent."""
    unreached = np.int64(np.iinfo(dist.dtype).max)
    for v in range(start, stop):
        p = np.int64(parent[v])
        if p != v:
            children[p] = np.int64(children[p]) + 1
        elif dist[v] != 0 and np.int64(dist[v]) != unreached:
            return v
    return -1


@kernel
def fold_branches(parent, children, height, start, stop):  # type: ignore[no-untyped-def]
    """From every vertex in [start, stop) whose children are all folded, fold upwards as far as that
    holds; a folded vertex becomes its own parent. Returns the longest path seen, in edges."""
    longest = np.int64(0)
    for leaf in range(start, stop):
        v = np.int64(leaf)
        while np.int64(children[v]) == 0 and np.int64(parent[v]) != v:
            p = np.int64(parent[v])
            parent[v] = v
            reach = np.int64(height[v]) + 1
            longest = max(longest, reach + np.int64(height[p]))
            if reach > np.int64(height[p]):
                height[p] = reach
            children[p] = np.int64(children[p]) - 1
            v = p
    return longest
