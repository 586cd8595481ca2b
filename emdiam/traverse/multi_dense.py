"""Levels of bit-parallel multi-source BFS: dense ones, by push or pull, and sparse ones on queues.

One traversal serves up to 64 w sources: bit b of a vertex's words stands for source b. All state
is in two arrays.
- words : unsigned[3, n + 1, w]. Plane 0: the sources that have seen the vertex. Planes 1 and 2: the
  sources whose frontier contains the vertex, now and next; they change places after each level
  (state[FLIP] is the current one). Row n: plane 0 has the mask of all sources; the next plane
  collects the sources that reached a vertex in this level.
- marks : uint64[4, ceil(n / 64)], bitmaps. ACTIVE: in the frontier. FRESH: in the next one (after
  a push: reached, perhaps again). FULL: seen by every source. STALE: the next plane may have old
  words.
A row that spans blocks is never written by plain stores, since two threads may work on pieces of it.
Sources: Then, Kaufmann, Chirigati et al., The More the
Merrier: Efficient Multi-Source Graph Traversal (PVLDB 2014), for bit-parallel sources; Beamer,
Asanovic, Patterson 2012, for the two directions.

Sparse levels are like those of sparse.py, many in one call on one thread, with words instead of bits. A vertex is in
the queue once, whatever the number of sources with it in their frontier. If a level turns out dense, or misses too many
blocks, it is done again as a push: a second OR changes nothing.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length, row_start
from . import uncompiled
from .atomics import atomic_add, atomic_or, count_ones, count_trailing_zeros, prefetch, store_unsigned
from .rows import ALL, bit_walk, row_walk
from .sparse import FIRST_ROW, queue_walk
from .workspace import (
    ARCS,
    COUNT,
    CURRENT,
    DENSE,
    DONE,
    HEAD,
    LEVEL,
    MET,
    MISSED,
    MISSING,
    NEXT,
    NEXT_ARCS,
    SLICE,
)

ACTIVE, FRESH, FULL, STALE = 0, 1, 2, 3
MARKS = 4
AHEAD = 24  # distance in arcs at which the rows of neighbours are prefetched

# Slots of `state`, beside those of workspace.py up to NEXT_ARCS.
FLIP, ITEM_BYTES, REMAINING, STOP_ARCS, DENSE_ARCS, STATE = 7, 8, 9, 11, 12, 13


@inlined
def _in_frontier(state, word):
    return state[1][ACTIVE, word]


@inlined
def _not_full(state, word):
    return ~state[1][FULL, word]


@inlined
def _mark_fresh(state, word, hits):
    atomic_or(state[2], word, hits)


@inlined
def _push_row(state, ids, v, begin, end, whole):
    words, _, fresh, flat, here = state
    n = words.shape[1] - 1
    w = words.shape[2]
    there = 3 - here
    for p in range(begin, end):
        u = np.int64(ids[p])
        hit = False
        for j in range(w):
            new = words[here, v, j] & ~words[0, u, j] & ~words[there, u, j]
            if new:
                hit = True
                atomic_or(flat, ((there * (n + 1)) + u) * w + j, new)
        if hit:
            bit = np.uint64(1) << np.uint64(u & 63)
            if not fresh[u >> 6] & bit:
                atomic_or(fresh, u >> 6, bit)
    return end - begin, False


@inlined
def _pull_row(state, ids, v, begin, end, whole):
    words, _, _, flat, here, collected = state
    n = words.shape[1] - 1
    w = words.shape[2]
    there = 3 - here
    for j in range(w):
        collected[j] = 0
    stop = end
    for p in range(min(begin + AHEAD, len(ids)), min(end + AHEAD, len(ids))):
        prefetch(flat, (here * (n + 1) + np.int64(ids[p])) * w)
    if w == 1:
        seen, everyone = words[0, v, 0], words[0, n, 0]
        some = seen ^ seen
        for p in range(begin, end):
            some |= words[here, np.int64(ids[p]), 0]
            if some | seen == everyone:
                stop = p + 1
                break
        collected[0] = some
    else:
        for p in range(begin, end):
            u = np.int64(ids[p])
            want = False
            for j in range(w):
                collected[j] |= words[here, u, j]
                want |= (collected[j] | words[0, v, j]) != words[0, n, j]
            if not want:
                stop = p + 1
                break
    if not whole:
        for j in range(w):
            atomic_or(flat, (there * (n + 1) + v) * w + j, collected[j])
        return stop - begin, False
    hit = False
    for j in range(w):
        new = collected[j] & ~words[0, v, j]
        words[there, v, j] = new
        if new:
            hit = True
            words[0, v, j] |= new
    return stop - begin, hit


_walk_push = row_walk(_in_frontier, _push_row)
_walk_pull = row_walk(_not_full, _pull_row, _mark_fresh)


@kernel
def push(piece, layout, words, marks, state):
    """Top-down: OR the words of frontier rows into the next plane of their neighbours, and mark
    those FRESH. Returns arcs scanned."""
    return _walk_push(piece, layout, (words, marks, marks[FRESH], words.reshape(-1), state[FLIP]))


@kernel
def pull(piece, layout, words, marks, state, collected):
    """Bottom-up: every vertex that some source has not seen ORs the words of its neighbours, until no source is
    missing, and is finished at once. collected : unsigned[w], of this thread. Returns arcs
    scanned."""
    return _walk_pull(piece, layout, (words, marks, marks[FRESH], words.reshape(-1), state[FLIP], collected))


@inlined
def see(words, plane, v, alive, sinks, distance, item_bytes, wanted):
    """Mark vertex v as seen by the sources whose bits are in `plane`. Returns (whether all sources have now seen it,
    number of new ones, counted only if wanted).

    alive : unsigned[w], gets the new bits. sinks : int64[2, k]; row 1 has the addresses of distance columns, with items
    of item_bytes (0: no columns), which get `distance`."""
    n = words.shape[1] - 1
    size = words.itemsize * 8
    full = True
    met = 0
    for j in range(words.shape[2]):
        new = words[plane, v, j]
        seen = words[0, v, j] | new
        if seen != words[0, v, j]:
            words[0, v, j] = seen
        full &= seen == words[0, n, j]
        alive[j] |= new
        bits = np.uint64(new)
        if wanted:
            met += count_ones(bits)
        while item_bytes and bits:
            b = count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            store_unsigned(sinks[1, j * size + b], v, distance, item_bytes)
    return full, met


@kernel
def settle_rows(vertices, words, marks, state):
    """Finish the rows that span blocks after a pull, on one thread: new = next - seen."""
    w = words.shape[2]
    there = 3 - state[FLIP]
    for i in range(len(vertices)):
        v = vertices[i]
        hit = False
        for j in range(w):
            new = words[there, v, j] & ~words[0, v, j]
            words[there, v, j] = new
            words[0, v, j] |= new
            hit |= new != 0
        if hit:
            marks[FRESH, v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@inlined
def _fresh(state, word):
    return state[1][FRESH, word]


@inlined
def _finish(state, v, word, bit):
    words, marks, there, merge, targets, sinks, about, offsets, alive, met = state
    wanted = len(targets) > 0 and (targets[word] & bit) != 0
    for j in range(words.shape[2] if merge else 0):
        words[there, v, j] &= ~words[0, v, j]
    full, pairs = see(words, there, v, alive, sinks, about[0], about[1], wanted)
    if wanted:
        met[0] += pairs
    if full:
        marks[FULL, word] |= bit
    return row_length(offsets, v)


_walk_fresh = bit_walk(_fresh, _finish)


@kernel
def end_level(turn, grain, words, marks, state, targets, sinks, merge, offsets, alive, met, out):
    """Finish the FRESH vertices after a level; threads share the work.

    merge : the level was pushed, so words may repeat sources that have seen the vertex before. Sets FULL, collects in
    row n of the next plane the sources that reached a vertex, writes distances, and adds to out (int64[3]): vertices of
    the next frontier, arcs of their rows, (target, source) pairs met. sinks : int64[2, k], eccentricities and addresses
    of distance columns, 0 for none. alive : unsigned[w], met : int64[1], zeros, of this thread.
    """
    n = words.shape[1] - 1
    w = words.shape[2]
    there = 3 - state[FLIP]
    about = state[LEVEL] + 1, state[ITEM_BYTES]
    vertices, arcs = _walk_fresh(turn, grain, marks.shape[1],
                                 (words, marks, there, merge, targets, sinks, about, offsets, alive, met))
    flat = words.reshape(-1)
    for j in range(w):
        atomic_or(flat, (there * (n + 1) + n) * w + j, alive[j])
    atomic_add(out, 0, vertices)
    atomic_add(out, 1, arcs)
    atomic_add(out, 2, met[0])


@inlined
def _in_both(state, word):
    bits = state[0][word]
    return bits & state[1][word] if len(state[1]) else bits


@inlined
def _clear(state, v, word, bit):
    _, _, words, plane = state
    for j in range(words.shape[2]):
        words[plane, v, j] = 0
    return 0


_walk_stale = bit_walk(_in_both, _clear)


@kernel
def clear_rows(turn, grain, words, bitmap, within, plane):
    """Zero the words of a plane at the vertices of `bitmap` (and of `within`, if it has bits); threads share the
    work."""
    _walk_stale(turn, grain, len(bitmap), (bitmap, within, words, plane))


@kernel
def open_arcs(turn, grain, bitmap, offsets, out):
    """Add to out[0] the arcs of the rows whose bit is clear; threads share the work."""
    group, row, hub = offsets
    arcs = 0
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= len(bitmap):
            break
        for word in range(begin, min(begin + grain, len(bitmap))):
            bits = ~bitmap[word]
            if bits == ALL:
                arcs += row_start(group, row, hub, (word + 1) << 6) - row_start(group, row, hub, word << 6)
                continue
            while bits:
                arcs += row_length(offsets, (word << 6) + count_trailing_zeros(bits))
                bits &= bits - np.uint64(1)
    atomic_add(out, 0, arcs)


@inlined
def _reach(args, v, u, there, tail):
    words, offsets, now = args
    then = 3 - now
    hit = False
    known = False
    for j in range(words.shape[2]):
        known |= words[then, u, j] != 0
        new = words[now, v, j] & ~words[0, u, j]
        if new:
            hit = True
            words[then, u, j] |= new
    if hit and not known:
        there[tail] = u
        return tail + 1, row_length(offsets, u)
    return tail, 0


_walk_multi = queue_walk(_reach)


@kernel(uncompiled=uncompiled.sparse_multi)
def sparse_multi(paging, offsets, words, marks, queues, missed, state, sinks, targets):
    """Run levels; returns why it stopped (DONE, MISSING, DENSE, SLICE, MET)."""
    near = FIRST_ROW
    while True:
        full, near = _walk_multi(paging, offsets, queues, missed, state, (words, offsets, state[FLIP]), near)
        if full:
            return DENSE
        if state[MISSED]:
            return MISSING
        tail, next_arcs = state[NEXT], state[NEXT_ARCS]
        finish_level(queues[state[CURRENT]], queues[1 - state[CURRENT]], words, marks, state, sinks, targets)
        if tail == 0:
            return DONE
        if len(targets) and state[REMAINING] <= 0:
            return MET
        if next_arcs > state[DENSE_ARCS]:
            return DENSE
        if state[ARCS] >= state[STOP_ARCS]:
            return SLICE


@inlined
def finish_level(here, there, words, marks, state, sinks, targets):
    """Make the next queue the current one, and write its distances."""
    n = words.shape[1] - 1
    w = words.shape[2]
    now = state[FLIP]
    then = 3 - now
    alive = words[then, n]
    level = state[LEVEL] + 1
    for i in range(state[COUNT]):
        for j in range(w):
            words[now, here[i], j] = 0
    for i in range(state[NEXT]):
        u = np.int64(there[i])
        bit = np.uint64(1) << np.uint64(u & 63)
        wanted = len(targets) > 0 and (targets[u >> 6] & bit) != 0
        full, pairs = see(words, then, u, alive, sinks, level, state[ITEM_BYTES], wanted)
        state[REMAINING] -= pairs
        if full:
            marks[FULL, u >> 6] |= bit
    reach(words, then, level, sinks)
    state[FLIP] = then
    state[CURRENT] = 1 - state[CURRENT]
    state[HEAD] = 0
    state[COUNT] = state[NEXT]
    state[NEXT] = 0
    state[NEXT_ARCS] = 0
    if state[COUNT]:
        state[LEVEL] = level


@kernel
def reach(words, plane, level, sinks):
    """Set the eccentricity of the sources in row n of the plane to `level`; clear that row."""
    n = words.shape[1] - 1
    size = words.itemsize * 8
    for j in range(words.shape[2]):
        alive = np.uint64(words[plane, n, j])
        while alive:
            b = count_trailing_zeros(alive)
            alive &= alive - np.uint64(1)
            sinks[0, j * size + b] = level
        words[plane, n, j] = 0
