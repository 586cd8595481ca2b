"""Trees that become BFS trees by iterations of one scan each, and the bounds that follow from heights.

Definition: T_0 is a rooted spanning tree, h_i(u) the height of u, its distance to the root s in T_i.
In T_{i+1} the parent of a vertex is the neighbour v of the smallest h_i(v), ties to the smallest natural
rank; but the parent stays unless h_i(v) is smaller than its height. All choices depend on h_i
alone, and h_{i+1} are the heights in T_{i+1}: a subtree rises with the parent of its root.
In a graph with several components this holds for each. With d for distances in the graph:
- T_{i+1} is a tree: the parent in T_i has height h_i(u) - 1, so that the new one has at most that; h_i
  falls on every step to a parent, and no walk from parent to parent returns.
- h_{i+1} <= h_i, by induction over h_i: h_{i+1}(u) = 1 + h_{i+1}(p) <= 1 + h_i(p) <= h_i(u), with p
  the new parent; and it is smaller if p is not the old one. And h_i >= d(s, .), since tree paths
  are paths of the graph.
- Let t = 1 + min h_i(v) over the arcs (v, w) with h_i(v) + 1 < h_i(w). min(h_i, t) differs by at most
  1 across every arc, so that it is at most d(s, .): h_i(x) = d(s, x) if d(s, x) < t. If d(s, u) = t, it has a
  neighbour x with h_i(x) = t - 1, and h_{i+1}(u) <= 1 + h_i(x) = t. So min(h_{i+1}, t + 1) = min(d(s, .), t + 1);
  t + 1 is called `known`. It is at least i + 2: by induction heights up to i are distances,
  and there is no such arc from a vertex v with h_i(v) < i.
- If there is no such arc nothing changes, and heights differ by at most 1 across every arc: all are
  distances. They also are if none exceeds `known`.
There is such an arc only if v fell in the iteration before: otherwise w already has a parent as low as v,
and h_i(w) <= 1 + h_i(v). So only blocks with rows that fell are read.
I/O: at most one pass an iteration, and O(n) in RAM for heights. Bytes a vertex with uint32 ids: parents
4, heights 4, a bitmap 0.125; trees: labels 1, 2 or 4 by their number, and 16 a tree (there are at most n / 2).
Source: Brudaru (2007), as described by Ajwani, Beckmann, Meyer, Veith (2012), section 2, spanning tree heuristics
(the choice among several neighbours, and the rows to read again, are not described there).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..stream.offsets import row_length
from ..traverse.atomics import atomic_replace
from ..traverse.columns import Column
from ..traverse.core import Core
from ..traverse.paths import one_way
from ..traverse.ram_column import RamColumn
from ..traverse.rows import in_second, row_walk
from .rooted import UNKNOWN, climb_labels, fall_heights, in_slices, isolated_in_tree, number_roots
from .spanning import SpanningForest

EXACT = np.int64(1) << 62
_TREES = "labels and tables of trees"


class RamRefinement:
    """Trees that become BFS trees of their roots.

    parents : id[n], a rooted spanning forest; changed in place. ranks : natural rank of every vertex,
    id[n], or length 0 if every vertex is its own rank. heights : Column of uint32, heights in the trees now.
    iterations : the number done so far. known : distances up to this are exact: min(height, known) = min(distance,
    known). exact : whether all heights are known to be distances.
    """

    def __init__(self, core: Core, parents: np.ndarray, ranks: np.ndarray, tick: Tick = no_tick) -> None:
        self._core, self._parents, self._ranks, self._tick = core, parents, ranks, tick
        self.heights = RamColumn(np.full(len(parents), UNKNOWN, np.uint32))
        self._fell = np.empty_like(core.table.isolated)
        self.iterations, self.known, self.exact = 0, 0, False
        self._measure(1 if core.table.n_arcs else int(EXACT))

    def step(self) -> int:
        """Do one iteration; returns the number of vertices whose height fell. Uses the workspace's `before`."""
        lowest = self._choose()
        self.iterations += 1
        return self._measure(lowest + 1 if lowest < int(UNKNOWN) else int(EXACT))

    def _choose(self) -> int:
        """Make `parents` those of the next trees; returns t of the definition, or UNKNOWN if nothing changed."""
        core, begin = self._core, time.thread_time()
        blocks = core.blocks_with(self._fell)
        core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        heights, lowest = self.heights.raw(), [int(UNKNOWN)]

        def choose(*arguments: Any) -> int:
            arcs, least = choose_parents(*arguments)
            lowest.append(int(least))
            return int(arcs)

        arcs = core.sweep(blocks, choose, heights, self._fell, self._ranks, self._parents, tick=self._tick)
        core.count_sweep(len(blocks), arcs)
        return min(lowest)

    def _measure(self, known: int) -> int:
        """Compute heights from the parents; returns the number that fell. known : as in the definition, or EXACT."""
        begin = time.thread_time()
        fallen, highest = fall_heights(self._parents, self.heights.raw(), self._core.work.before, self._fell,
                                       self._tick)
        self._core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
        self.exact = highest <= known
        self.known = int(EXACT) if self.exact else known
        return fallen

    def take_labels(self) -> Column:
        """min(height, known) of every vertex; ends the refinement."""
        self._parents = np.empty(0, self._parents.dtype)
        if not self.exact:
            truncate(self.heights.raw(), self.known)
        return self.heights


@dataclass(frozen=True)
class TreeBounds:
    """Bounds on diameters from heights. height : the largest. lower, upper : proved interval of the
    largest diameter over all components. lower_largest, upper_largest : of that of `Trees.largest`.
    deepest : a tree whose root has an eccentricity of at least `lower`."""

    height: int
    lower: int
    upper: int
    lower_largest: int
    upper_largest: int
    deepest: int


def _label_dtype(n_trees: int) -> np.dtype[Any]:
    """The dtype for numbers of trees; its largest value means none."""
    return np.min_scalar_type(n_trees + 1)


def trees_bytes(n_vertices: int, n_trees: int, id_bytes: int) -> int:
    """Bytes of the labels of n_trees trees beyond one byte a vertex, and of their tables: vertices of the highest
    degree and sizes, and then degrees or the two largest heights."""
    labels = _label_dtype(n_trees).itemsize - 1
    return n_vertices * labels + n_trees * (2 * id_bytes + max(id_bytes, 2 * UNKNOWN.nbytes))


class RamTrees:
    """The trees with an edge of a forest, numbered. Their roots are their vertices of smallest rank.

    hubs : vertex of the highest degree of each, ties to the smallest rank, id[n_trees]. sizes :
    vertices of each, id[n_trees]. largest : the tree with most vertices, ties to the smallest rank.
    """

    def __init__(self, core: Core, forest: SpanningForest, ranks: np.ndarray, tick: Tick = no_tick) -> None:
        parents, dtype = forest.raw, forest.raw.dtype
        n = len(parents)
        self._ranks, self.n_trees = ranks, forest.n_trees
        core.hold(_TREES, trees_bytes(n, self.n_trees, dtype.itemsize))
        self._labels = np.empty(n, _label_dtype(self.n_trees))
        if number_roots(parents, core.table.isolated, self._labels, self.n_trees) != self.n_trees:
            raise one_way(int(isolated_in_tree(parents, core.table.isolated)))
        in_slices(n, climb_labels, (parents, self._labels), tick)
        self.hubs, self.sizes = np.zeros(self.n_trees, dtype), np.zeros(self.n_trees, dtype)
        degrees = np.zeros(self.n_trees, dtype)
        find_hubs(self._labels, ranks, *core.offsets, degrees, self.hubs, self.sizes)
        self.largest = int(find_largest(parents, self._labels, ranks, self.sizes))

    def number_of(self, vertices: np.ndarray) -> np.ndarray:
        """The trees of vertices (int64[k]) with an edge, int64[k]."""
        return self._labels[vertices].astype(np.int64)

    def bounds(self, heights: Column, known: int) -> TreeBounds:
        """Bounds from `heights` over the roots. Heights are upper bounds on the distances to the roots;
        min(height, known) is exact. There must be a tree.

        The eccentricity of a root is at least min(largest height, known). The distance of two vertices is at most the
        sum of their heights, so no distance exceeds the sum of the two largest heights of the
        component, nor its number of vertices minus 1."""
        first, second = np.zeros(self.n_trees, np.uint32), np.zeros(self.n_trees, np.uint32)
        tallest_two(self._labels, heights.raw(), first, second)
        found = np.zeros(6, np.int64)
        sum_up(first, second, self.sizes, np.int64(min(known, int(EXACT))), self.largest, found)
        return TreeBounds(*(int(value) for value in found))

    def farthest(self, tree: int, labels: Column, height: int) -> int:
        """The vertex of smallest rank in `tree` with at least this height."""
        best = np.full(2, -1, np.int64)
        first_so_high(self._labels, self._ranks, tree, labels.raw(), height, 0, best)
        return int(best[0])


@inlined
def _choose_along_row(state, ids, v, begin, end, whole):
    heights, _, ranks, parents, least = state
    offer = np.uint32(heights[v] + np.uint32(1))
    for p in range(begin, end):
        w = np.int64(ids[p])
        if offer < heights[w]:
            least[0] = min(least[0], offer)
            _take_parent(parents, heights, ranks, w, v)
    return end - begin, False


@inlined
def _take_parent(parents, heights, ranks, w, v):
    """Make v the parent of w if it is lower than the present parent, or as low and of smaller rank. v is lower
    than the parent that w had before the scan, so that there is no tie with that one."""
    above = parents[w]
    while True:
        u = np.int64(above)
        if heights[u] < heights[v] or (heights[u] == heights[v] and _rank(ranks, u) <= _rank(ranks, v)):
            return
        before = atomic_replace(parents, w, above, v)
        if before == above:
            return
        above = before


@inlined
def _rank(ranks, v):
    return np.int64(ranks[v]) if len(ranks) else v


_walk_fallen = row_walk(in_second, _choose_along_row)


@kernel
def choose_parents(piece, layout, heights, fell, ranks, parents):
    """Offer the rows v in `fell` as parents along their arcs. Returns arcs scanned, and the least
    heights[v] + 1 by which a vertex falls, or UNKNOWN."""
    least = np.full(1, UNKNOWN, np.uint32)
    arcs = _walk_fallen(piece, layout, (heights, fell, ranks, parents, least))
    return arcs, least[0]


@kernel
def truncate(heights, limit):
    """heights = min(heights, limit)."""
    for v in range(len(heights)):
        heights[v] = min(np.int64(heights[v]), np.int64(limit))


@kernel
def find_hubs(labels, ranks, group, row, hub, degrees, hubs, sizes):
    """sizes[t] = vertices of tree t; hubs[t] = its vertex of the highest degree, ties to the smallest rank.

    degrees : id[n_trees], zero; gets the degrees of the hubs."""
    for v in range(len(labels)):
        tree = np.int64(labels[v])
        if labels[v] != np.iinfo(labels.dtype).max:
            sizes[tree] = np.int64(sizes[tree]) + 1
            mine = row_length((group, row, hub), v)
            best = np.int64(degrees[tree])
            if mine > best or (mine == best and len(ranks) and ranks[v] < ranks[np.int64(hubs[tree])]):
                degrees[tree] = mine
                hubs[tree] = v


@kernel
def find_largest(parents, labels, ranks, sizes):
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
def tallest_two(labels, heights, first, second):
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
def sum_up(first, second, sizes, known, largest, found):
    """found, int64[6], zeros before: the fields of TreeBounds."""
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


@kernel
def first_so_high(labels, ranks, tree, heights, height, first, best):
    """best = (the vertex of smallest rank with labels[i] == tree and heights[i] >= height, that rank), -1 before.

    All arrays are of the vertices first, first + 1, ...; ranks of length 0: every vertex is its own rank."""
    for i in range(len(labels)):
        if np.int64(labels[i]) == tree and np.int64(heights[i]) >= height:
            rank = np.int64(ranks[i]) if len(ranks) else first + i
            if best[0] < 0 or rank < best[1]:
                best[0] = first + i
                best[1] = rank
