"""Dense levels: one step of a level-synchronous traversal over blocks in storage order.

Frontier and visited set are bitmaps. A step walks over blocks (chunks of `indices`): top-down
over frontier rows, bottom-up over unvisited rows, each clipped to the block, so that a hub row
may span blocks. New vertices are only marked in `visited`; `commit_level` then compares with the
visited set before the level, which gives the next frontier whatever threads and blocks did.
Threads share the counter `turn` and take `grain` blocks at a time.

Common arguments: chunks int64[k] (block numbers), position int64[k] (where the block's ids start
in `ids`), shift (log2 of ids a block), first_vertex int64[n_blocks + 1] (vertex whose row holds
the block's first arc), n_arcs, then the three arrays of Offsets.
Sources: Beamer, Asanovic, Patterson, Direction-optimizing BFS (2012); F-Diam, Algorithm 2.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..jit import kernel
from ..stream.offsets import row_start
from .atomics import atomic_add, atomic_or, count_ones, count_trailing_zeros

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(inline="always")
def _range_mask(word, first, last):  # type: ignore[no-untyped-def]
    """Bits of `word` (index) that stand for vertices first..last."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF)
    if word == first >> 6:
        mask &= np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(first & 63)
    if word == last >> 6:
        mask &= np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(63 - (last & 63))
    return mask


@kernel
def top_down(chunks, position, turn, grain, ids, shift, first_vertex, n_arcs, group, row, hub,
             frontier, visited):  # type: ignore[no-untyped-def]
    """Mark the neighbours of frontier rows in `visited` (atomically). Returns arcs scanned."""
    arcs = 0
    count = len(chunks)
    n_last = first_vertex[len(first_vertex) - 1]
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= count:
            return arcs
        for k in range(begin, min(begin + grain, count)):
            low = chunks[k] << shift
            high = min(low + (1 << shift), n_arcs)
            base = position[k] - low
            first = first_vertex[chunks[k]]
            last = min(first_vertex[chunks[k] + 1], n_last - 1)
            for word in range(first >> 6, (last >> 6) + 1):
                bits = frontier[word] & _range_mask(word, first, last)
                while bits:
                    v = (word << 6) + count_trailing_zeros(bits)
                    bits &= bits - np.uint64(1)
                    start = max(row_start(group, row, hub, v), low)
                    end = min(row_start(group, row, hub, v + 1), high)
                    arcs += max(end - start, 0)
                    for p in range(base + start, base + end):
                        w = np.int64(ids[p])
                        bit = np.uint64(1) << np.uint64(w & 63)
                        if not visited[w >> 6] & bit:
                            atomic_or(visited, w >> 6, bit)


@kernel
def bottom_up(chunks, position, turn, grain, ids, shift, first_vertex, n_arcs, group, row, hub,
              frontier, visited):  # type: ignore[no-untyped-def]
    """Mark unvisited vertices that have a frontier neighbour in `visited`. Returns arcs scanned."""
    arcs = 0
    count = len(chunks)
    n_last = first_vertex[len(first_vertex) - 1]
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= count:
            return arcs
        for k in range(begin, min(begin + grain, count)):
            low = chunks[k] << shift
            high = min(low + (1 << shift), n_arcs)
            base = position[k] - low
            first = first_vertex[chunks[k]]
            last = min(first_vertex[chunks[k] + 1], n_last - 1)
            for word in range(first >> 6, (last >> 6) + 1):
                bits = ~visited[word] & _range_mask(word, first, last)
                found = np.uint64(0)
                while bits:
                    low_bit = bits & (~bits + np.uint64(1))
                    v = (word << 6) + count_trailing_zeros(bits)
                    bits ^= low_bit
                    start = base + max(row_start(group, row, hub, v), low)
                    end = base + min(row_start(group, row, hub, v + 1), high)
                    for p in range(start, end):
                        w = np.int64(ids[p])
                        if (frontier[w >> 6] >> np.uint64(w & 63)) & np.uint64(1):
                            found |= low_bit
                            end = p + 1
                            break
                    arcs += max(end - start, 0)
                if found:
                    atomic_or(visited, word, found)


@kernel
def commit_level(turn, grain, visited, before, frontier, dist, level, targets, group, row, hub,
                 out):  # type: ignore[no-untyped-def]
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
                arcs += row_start(group, row, hub, v + 1) - row_start(group, row, hub, v)
                if len(dist):
                    dist[v] = level
    atomic_add(out, 0, vertices)
    atomic_add(out, 1, arcs)
    atomic_add(out, 2, met)
    return smallest


@kernel
def mark_blocks(first_vertex, shift, group, row, hub, bitmap, invert, needed):  # type: ignore[no-untyped-def]
    """needed[c] = 1 if block c has an arc of a set bit's row (of a clear one's if invert).

    needed : uint8[n_blocks]. Vertices without arcs count as having one where they lie."""
    n_blocks = len(first_vertex) - 1
    n_last = first_vertex[n_blocks]
    flip = _ALL if invert else np.uint64(0)
    for c in range(n_blocks):
        first = first_vertex[c]
        last = first_vertex[c + 1]
        if last == n_last or row_start(group, row, hub, last) == (c + 1) << shift:
            last -= 1  # its row begins with the next block
        hit = 0
        for word in range(first >> 6, (last >> 6) + 1):
            if (bitmap[word] ^ flip) & _range_mask(word, first, last):
                hit = 1
                break
        needed[c] = hit
