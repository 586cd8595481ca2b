"""The diameter of a BFS tree, from its distances alone: one scan chooses parents, then heights are folded in RAM.

Definition: the parent of a vertex is its neighbour of smallest natural rank among those nearer by one to
the source, so that neither threads nor blocks nor the order of a store change the tree. The longest
path of a rooted tree has a highest vertex, and consists of the two tallest branches below it. When
branches are folded into their parent one by one, its length is the largest (height so far) + (height of the
branch) + 1. A vertex is folded once all its children are; the last child's fold continues upwards with
the parent, so no order by level is needed.
I/O: one pass. Work: O(n + m). Bytes a vertex: parent and number of children, 4 or 8 each as ids
have, and the height, as wide as the distances.
Sources: Magnien, Latapy, Habib, Fast computation of empirically tight bounds for the diameter of
massive graphs (2009), tree upper bound; Ajwani, Beckmann, Meyer, Veith (2012), section 2.
"""

from __future__ import annotations

import time

import numpy as np

from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..traverse.core import Core
from ..traverse.rows import buffered_walk, every_row

_SLICE = 1 << 22


def tree_diameter(core: Core, dist: np.ndarray, ranks: np.ndarray, tick: Tick = no_tick) -> int:
    """Number of edges on the longest path of the canonical BFS tree of the distances `dist`.

    dist : unsigned[n], 0 at the source, the largest value if unreached. ranks : natural rank of
    every vertex, id[n], or length 0 if every vertex is its own rank. Raises RuntimeError if `dist` are
    no distances.
    """
    n = core.table.n_vertices
    parents = np.arange(n, dtype=core.work.queues.dtype)
    choose_parents(core, dist, (0, dist, ranks), (parents, ranks[:0]), tick)
    core.counters.add(passes=1, edges_scanned=core.table.n_arcs)
    children, heights = np.zeros(n, parents.dtype), np.zeros(n, dist.dtype)
    longest, out = 0, np.empty((0, 2), np.int64)
    begin = time.thread_time()
    for start in range(0, n, _SLICE):
        orphan = int(count_children(parents, dist, children, 0, start, min(start + _SLICE, n)))
        if orphan >= 0:
            raise RuntimeError(f"no neighbour of vertex {orphan} is nearer to the source")
        tick()
    for start in range(0, n, _SLICE):
        longest = max(longest, fold_leaves(parents, children, heights, 0, start, min(start + _SLICE, n), out)[1])
        tick()
    core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
    return int(longest)


def choose_parents(
    core: Core, dist: np.ndarray, heads: tuple[int, np.ndarray, np.ndarray], best: tuple[np.ndarray, np.ndarray],
    tick: Tick = no_tick,
) -> None:
    """Give the vertices of the core's span the best of the heads nearer by one as parent. One scan.

    dist : of all vertices, correct in the span. heads : (first vertex, distances, ranks or length 0) of consecutive
    vertices; successive calls may pass parts, until all vertices were heads. best : parents of the span, id[k] (the
    vertex itself: none yet), and with both ranks and several parts their ranks, else length 0.
    """
    pieces = list[np.ndarray]()
    core.gather(core.blocks, nearest_heads, dist, heads, best, np.array(core.span), tick=tick,
                new_buffer=lambda: np.empty((2 << core.table.shift, 3), np.int64),
                take=lambda rows: pieces.append(rows.copy()))
    cut = np.concatenate([np.empty((0, 3), np.int64), *pieces])
    cut = cut[np.lexsort((cut[:, 2], cut[:, 0]))]
    hang_rows(cut[np.unique(cut[:, 0], return_index=True)[1]], best, core.span[0])


@inlined
def _hang(best, v, first, head, rank):
    """Make the head the parent of v if its rank is smaller than that of the present parent."""
    parents, ranks = best
    i = v - first
    if np.int64(parents[i]) == v or rank < (np.int64(ranks[i]) if len(ranks) else np.int64(parents[i])):
        parents[i] = head
        if len(ranks):
            ranks[i] = rank


@inlined
def _hang_row(state, ids, v, begin, end, whole):
    dist, heads, best, span, cut, count = state
    low, near, ranks = heads
    mine = np.int64(dist[v])
    if mine == 0 or mine == np.int64(np.iinfo(dist.dtype).max):
        return 0, False
    head = np.int64(-1)
    rank = np.int64(-1)
    for p in range(begin, end):
        w = np.int64(ids[p])
        at = w - low
        if np.uint64(at) < np.uint64(len(near)) and np.int64(near[at]) + 1 == mine:
            its = np.int64(ranks[at]) if len(ranks) else w
            if head < 0 or its < rank:
                head = w
                rank = its
            if len(ranks) == 0:  # rows ascend
                break
    if head >= 0 and whole:
        _hang(best, v, span[0], head, rank)
    elif head >= 0:
        cut[count[0], 0] = v
        cut[count[0], 1] = head
        cut[count[0], 2] = rank
        count[0] += 1
    return end - begin, False


_walk_hanging = buffered_walk(every_row, _hang_row)


@kernel
def nearest_heads(piece, layout, dist, heads, best, span, cut, count):
    """Set the parents of vertices whose rows are whole; list (vertex, head, rank) for rows that are cut. See
    choose_parents.

    cut : int64[k, 3]. count : see buffered_walk."""
    return _walk_hanging(piece, layout, (dist, heads, best, span, cut, count), len(cut), count)


@kernel
def hang_rows(cut, best, first):
    """Set the parents of vertices whose rows are cut, (vertex, head, rank), int64[k, 3]."""
    for i in range(len(cut)):
        _hang(best, cut[i, 0], first, cut[i, 1], cut[i, 2])


@kernel
def count_children(parents, dist, children, first, start, stop):
    """children[p - first] += 1 for the parents p, of first, first + 1, ..., of other vertices in start..stop-1.

    parents, dist, children : of first, first + 1, .... A parent outside the span is not counted. Returns -1, or a
    reached vertex that is not the source and has no parent."""
    unreached = np.int64(np.iinfo(dist.dtype).max)
    for v in range(start - first, stop - first):
        p = np.int64(parents[v]) - first
        if p != v:
            if 0 <= p < len(children):
                children[p] = np.int64(children[p]) + 1
        elif dist[v] != 0 and np.int64(dist[v]) != unreached:
            return v + first
    return np.int64(-1)


@inlined
def _fold(v, parents, children, heights, first, out, count):
    """From v (minus first), fold upwards as far as all children are folded; (branches listed so far, longest path)."""
    longest = np.int64(0)
    while np.int64(children[v]) == 0 and np.int64(parents[v]) != v + first:
        reach = np.int64(heights[v]) + 1
        p = np.int64(parents[v]) - first
        parents[v] = v + first  # marks it as folded
        if p < 0 or p >= len(parents):
            out[count, 0] = p + first
            out[count, 1] = reach
            return count + 1, longest
        longest = max(longest, reach + np.int64(heights[p]))
        heights[p] = max(np.int64(heights[p]), reach)
        children[p] = np.int64(children[p]) - 1
        v = p
    return count, longest


@kernel
def fold_leaves(parents, children, heights, first, start, stop, out):
    """Fold upwards from every vertex of start..stop-1 whose children are all folded; it becomes its own parent.

    parents, children, heights : of first, first + 1, .... out : int64[k, 2], gets (parent, reach) of the branches
    that leave this range, at most stop - start. Returns (their number, longest path met, in edges)."""
    count = 0
    longest = np.int64(0)
    for v in range(start - first, stop - first):
        count, path = _fold(v, parents, children, heights, first, out, count)
        longest = max(longest, path)
    return count, longest


@kernel
def fold_branches(branches, parents, children, heights, first, out):
    """Fold branches (parent, reach), int64[k, 2], into their parents, and upwards; as fold_leaves."""
    count = 0
    longest = np.int64(0)
    for i in range(len(branches)):
        p = branches[i, 0] - first
        reach = branches[i, 1]
        longest = max(longest, reach + np.int64(heights[p]))
        heights[p] = max(np.int64(heights[p]), reach)
        children[p] = np.int64(children[p]) - 1
        count, path = _fold(p, parents, children, heights, first, out, count)
        longest = max(longest, path)
    return count, longest
