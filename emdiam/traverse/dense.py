"""Dense levels: one step of a level-synchronous traversal over blocks in storage order.

Frontier and visited set are bitmaps. A step walks over blocks (chunks of `indices`): top-down
over frontier rows, bottom-up over unvisited rows, each clipped to the block, so that a hub row
may span blocks. New vertices are only marked in `visited`; `commit_level` then compares with the
visited set before the level, which gives the next frontier whatever threads and blocks did.
Threads share the counter `turn` and take `grain` blocks at a time.

Sources: Beamer, Asanovic, Patterson, Direction-optimizing BFS (2012); F-Diam, Algorithm 2.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length
from .atomics import atomic_add, atomic_or, count_ones, count_trailing_zeros
from .rows import has_bit, row_walk


@inlined
def _in_frontier(state, word):
    return state[0][word]


@inlined
def unvisited(state, word):
    """Select unvisited rows."""
    return ~state[1][word]


@inlined
def _mark_neighbours(state, ids, v, begin, end, whole):
    visited = state[1]
    for p in range(begin, end):
        w = np.int64(ids[p])
        bit = np.uint64(1) << np.uint64(w & 63)
        if not visited[w >> 6] & bit:
            atomic_or(visited, w >> 6, bit)
    return end - begin, False


@inlined
def in_frontier_row(state, ids, v, begin, end, whole):
    """(arcs scanned, whether one leads into the frontier)."""
    for p in range(begin, end):
        if has_bit(state[0], np.int64(ids[p])):
            return p + 1 - begin, True
    return end - begin, False


@inlined
def mark_hits(state, word, hits):
    """The rows with a hit are visited."""
    atomic_or(state[1], word, hits)


_walk_down = row_walk(_in_frontier, _mark_neighbours)
_walk_up = row_walk(unvisited, in_frontier_row, mark_hits)


@kernel
def top_down(piece, layout, frontier, visited):
    """Mark the neighbours of frontier rows in `visited` (atomically). Returns arcs scanned."""
    return _walk_down(piece, layout, (frontier, visited))


@kernel
def bottom_up(piece, layout, frontier, visited):
    """Mark unvisited vertices that have a frontier neighbour in `visited`. Returns arcs scanned."""
    return _walk_up(piece, layout, (frontier, visited))


@kernel
def commit_level(turn, grain, visited, before, frontier, dist, level, targets, group, row, hub,
                 out):
    """Next frontier = visited - before; write its distances; before = visited.

    dist : unsigned[n] or length 0 (no distances wanted). targets : bitmap or length 0.
    out : int64[3], added to atomically: vertices, arcs of their rows, targets met. Returns the
    smallest new vertex this thread has seen.
    """
    n_words = len(visited)
    vertices = 0
    arcs = 0
    met = 0
    smallest = np.int64(0x7FFFFFFFFFFFFFFF)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= n_words:
            break
        for word in range(begin, min(begin + grain, n_words)):
            new = visited[word] & ~before[word]
            frontier[word] = new
            if not new:
                continue
            before[word] = visited[word]
            vertices += count_ones(new)
            if len(targets):
                met += count_ones(new & targets[word])
            smallest = min(smallest, (word << 6) + count_trailing_zeros(new))
            while new:
                v = (word << 6) + count_trailing_zeros(new)
                new &= new - np.uint64(1)
                arcs += row_length((group, row, hub), v)
                if len(dist):
                    dist[v] = level
    atomic_add(out, 0, vertices)
    atomic_add(out, 1, arcs)
    atomic_add(out, 2, met)
    return smallest
