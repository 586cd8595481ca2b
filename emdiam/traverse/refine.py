"""Trees refined towards BFS trees: heights that fall, one scan an iteration; and what heights tell.

Definition: h_0(u) is the height of u in a rooted spanning tree. An iteration scans the arcs and sets
    h_{i+1}(u) = min(h_i(u), 1 + min over the neighbours v of h_i(v)),
from h_i alone, whatever order arcs come in: h_i is one array and h_{i+1} another. By induction h_i(u)
is the least of h_0(v) + d(v, u) over the vertices v at most i steps from u, so that, s being the root
in the component of u and d distances in the graph:
- h_i(u) >= d(s, u), since h_0(v) >= d(s, v);
- if d(s, u) <= i, then h_i(u) = d(s, u) (take v = s); so h_i(u) > i tells that d(s, u) > i, and
  min(h_i(u), i + 1) = min(d(s, u), i + 1) is exact for every u;
- where no height exceeds i, or an iteration changes nothing, all heights are distances.
A row offers its neighbours its height plus 1. Only rows that fell in the iteration before can lower
one, since others have offered theirs already: only their blocks are read.
I/O: at most one pass an iteration. Bytes a vertex: two heights of 4, a bitmap 0.125; Trees: labels
4, and 4 for 2 entries of every tree, of which there are at most n / 2.
Source: Brudaru (2007), as told by Ajwani, Beckmann, Meyer, Veith (2012), section 2, spanning tree heuristics.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..stream.pager import Tick
from .atomics import atomic_add, atomic_min, atomic_raise, count_trailing_zeros
from .columns import Column
from .core import Core
from .dense import _range_mask, mark_blocks
from .rooted import climb_labels, in_slices, number_roots
from .spanning import SpanningForest

EXACT = np.int64(1) << 62


class HeightRefinement:
    """Heights that fall by iterations.

    heights : Column of uint32, of a rooted spanning forest; it stays the current one. iterations :
    done so far. exact : whether all heights are known to be distances now.
    """

    def __init__(self, core: Core, heights: Column, tick: Tick | None = None) -> None:
        self._core, self.heights, self.iterations, self._tick = core, heights, 0, tick
        self._lowered = heights.raw().copy()
        self._fell = ~core.table.isolated
        self.exact = core.table.n_arcs == 0

    def step(self) -> int:
        """One iteration; how many vertices fell. The workspace's `before` is used."""
        core, table, falls = self._core, self._core.table, self._core.work.before
        begin = time.thread_time()
        falls[:] = 0
        needed = np.empty(table.n_blocks, np.uint8)
        mark_blocks(table.first_vertex, table.shift, *core.offsets, self._fell, False, needed)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        blocks = np.flatnonzero(needed)
        heights = self.heights.raw()

        def run(chunks: np.ndarray, position: np.ndarray, turn: np.ndarray, grain: int, ids: np.ndarray) -> int:
            arcs: int = offer_heights(chunks, position, turn, grain, ids, table.shift, table.first_vertex,
                                      *core.offsets, heights, self._fell, self._lowered, falls)
            return arcs

        arcs = core.pager.sweep(blocks, run, self._tick) if len(blocks) else 0
        core.count_sweep(len(blocks), arcs)
        begin = time.thread_time()
        fallen, highest = settle_heights(falls, heights, self._lowered)
        np.copyto(self._fell, falls)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        if self._tick is not None:
            self._tick()
        self.iterations += 1
        self.exact = fallen == 0 or highest <= self.iterations
        return int(fallen)

    @property
    def known(self) -> int:
        """Distances up to this are exact: min(height, known) = min(distance, known)."""
        return int(EXACT) if self.exact else self.iterations + 1

    def take_labels(self) -> Column:
        """min(height, known) of every vertex; the refinement is over."""
        self._lowered = np.empty(0, np.uint32)
        if not self.exact:
            truncate(self.heights.raw(), self.known)
        return self.heights


@dataclass(frozen=True)
class TreeBounds:
    """What heights tell of diameters. height : the largest. lower, upper : proved interval of the
    largest diameter over all components; lower_largest, upper_largest : of that of `Trees.largest`.
    deepest : a tree whose root has the eccentricity `lower` at least."""

    height: int
    lower: int
    upper: int
    lower_largest: int
    upper_largest: int
    deepest: int


class Trees:
    """The trees with an edge of a forest that hangs from its vertices of smallest rank, numbered.

    hubs : vertex of the highest degree of each, ties to the smallest rank, id[n_trees]. sizes :
    vertices of each, id[n_trees]. largest : the one with most vertices, ties to the smallest rank.
    """

    def __init__(self, core: Core, forest: SpanningForest, ranks: np.ndarray, tick: Tick | None = None) -> None:
        parents, dtype = forest.raw, forest.raw.dtype
        n = len(parents)
        self._labels, self._ranks = np.empty(n, dtype), ranks
        self.n_trees = int(number_roots(parents, core.table.isolated, self._labels))
        in_slices(n, climb_labels, (parents, self._labels), tick)
        self.hubs, self.sizes = np.zeros(self.n_trees, dtype), np.zeros(self.n_trees, dtype)
        degrees = np.zeros(self.n_trees, dtype)
        find_hubs(self._labels, ranks, *core.offsets, degrees, self.hubs, self.sizes)
        self.largest = int(find_largest(parents, self._labels, ranks, self.sizes))

    def bounds(self, heights: Column, known: int) -> TreeBounds:
        """What `heights` over the hubs tell: upper bounds on the distances to them, for which
        min(height, known) is exact. There is a tree.

        The eccentricity of a hub is at least min(largest height, known). Two vertices are at most the
        sum of their heights apart, so no two are farther apart than the two largest heights of the
        component sum up to, nor than it has vertices less one."""
        first, second = np.zeros(self.n_trees, np.uint32), np.zeros(self.n_trees, np.uint32)
        tallest_two(self._labels, heights.raw(), first, second)
        found = sum_up(first, second, self.sizes, np.int64(min(known, int(EXACT))), self.largest)
        return TreeBounds(*(int(value) for value in found))

    def farthest(self, tree: int, labels: Column, height: int) -> int:
        """The vertex of smallest rank in `tree` with at least this height."""
        return int(first_so_high(self._labels, self._ranks, tree, labels.raw(), height))


@kernel
def offer_heights(chunks, position, turn, grain, ids, shift, first_vertex, group, row, hub, heights, fell, lowered,
                  falls):  # type: ignore[no-untyped-def]
    """lowered[w] = min(lowered[w], heights[v] + 1) along the arcs of the rows v in `fell`; their w in
    `falls`. A block kernel; returns arcs scanned."""
    arcs = 0
    n_vertices = first_vertex[len(first_vertex) - 1]
    n_arcs = row_start(group, row, hub, n_vertices)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(chunks):
            return arcs
        for k in range(begin, min(begin + grain, len(chunks))):
            low = chunks[k] << shift
            high = min(low + (1 << shift), n_arcs)
            base = position[k] - low
            first = first_vertex[chunks[k]]
            last = min(first_vertex[chunks[k] + 1], n_vertices - 1)
            for word in range(first >> 6, (last >> 6) + 1):
                bits = fell[word] & _range_mask(word, first, last)
                while bits:
                    v = (word << 6) + count_trailing_zeros(bits)
                    bits &= bits - np.uint64(1)
                    start = max(row_start(group, row, hub, v), low)
                    end = min(row_start(group, row, hub, v + 1), high)
                    arcs += max(end - start, 0)
                    offer = np.uint32(heights[v] + np.uint32(1))
                    for p in range(base + start, base + end):
                        w = np.int64(ids[p])
                        if offer < lowered[w] and offer < atomic_min(lowered, w, offer):
                            atomic_raise(falls, w >> 6, np.uint64(1) << np.uint64(w & 63))


@kernel
def settle_heights(falls, heights, lowered):  # type: ignore[no-untyped-def]
    """heights = lowered at the set bits of falls; (how many these are, the largest height of all)."""
    fallen = 0
    highest = np.int64(0)
    for word in range(len(falls)):
        bits = falls[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            heights[v] = lowered[v]
            fallen += 1
    for v in range(len(heights)):
        highest = max(highest, np.int64(heights[v]))
    return fallen, highest


@kernel
def truncate(heights, limit):  # type: ignore[no-untyped-def]
    """heights = min(heights, limit)."""
    for v in range(len(heights)):
        heights[v] = min(np.int64(heights[v]), np.int64(limit))


@kernel
def find_hubs(labels, ranks, group, row, hub, degrees, hubs, sizes):  # type: ignore[no-untyped-def]
    """sizes[t] = vertices of tree t; hubs[t] = the one of the highest degree, ties to the smallest rank.

    degrees : id[n_trees], zero; theirs in the end."""
    for v in range(len(labels)):
        tree = np.int64(labels[v])
        if labels[v] != np.iinfo(labels.dtype).max:
            sizes[tree] = np.int64(sizes[tree]) + 1
            mine = row_start(group, row, hub, v + 1) - row_start(group, row, hub, v)
            best = np.int64(degrees[tree])
            if mine > best or (mine == best and len(ranks) and ranks[v] < ranks[np.int64(hubs[tree])]):
                degrees[tree] = mine
                hubs[tree] = v


@kernel
def find_largest(parents, labels, ranks, sizes):  # type: ignore[no-untyped-def]
    """The tree with most vertices, ties to the smallest rank of a root; -1 if there is none."""
    best = np.int64(-1)
    best_root = np.int64(-1)
    for v in range(len(parents)):
        if np.int64(parents[v]) == v and labels[v] != np.iinfo(labels.dtype).max:
            tree = np.int64(labels[v])
            if best >= 0 and sizes[tree] == sizes[best]:
                closer = len(ranks) > 0 and ranks[v] < ranks[best_root]
            else:
                closer = best < 0 or sizes[tree] > sizes[best]
            if closer:
                best = tree
                best_root = v
    return best


@kernel
def tallest_two(labels, heights, first, second):  # type: ignore[no-untyped-def]
    """first[t] >= second[t] = the two largest heights in tree t, of two vertices; zero before."""
    for v in range(len(labels)):
        if labels[v] != np.iinfo(labels.dtype).max:
            tree = np.int64(labels[v])
            if heights[v] > first[tree]:
                second[tree] = first[tree]
                first[tree] = heights[v]
            elif heights[v] > second[tree]:
                second[tree] = heights[v]


@kernel
def sum_up(first, second, sizes, known, largest):  # type: ignore[no-untyped-def]
    """The fields of TreeBounds, int64[6]."""
    found = np.zeros(6, np.int64)
    found[5] = -1
    for tree in range(len(first)):
        low = min(np.int64(first[tree]), known)
        high = min(np.int64(first[tree]) + np.int64(second[tree]), np.int64(sizes[tree]) - 1)
        found[0] = max(found[0], np.int64(first[tree]))
        if low > found[1]:
            found[1] = low
            found[5] = tree
        found[2] = max(found[2], high)
        if tree == largest:
            found[3] = low
            found[4] = high
    return found


@kernel
def first_so_high(labels, ranks, tree, heights, height):  # type: ignore[no-untyped-def]
    """The vertex of smallest rank with labels[v] == tree and heights[v] >= height, or -1."""
    best = np.int64(-1)
    for v in range(len(labels)):
        if np.int64(labels[v]) == tree and np.int64(heights[v]) >= height:
            if best < 0 or (len(ranks) and ranks[v] < ranks[best]):
                best = v
    return best
