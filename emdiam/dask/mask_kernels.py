"""Kernels of multi-source BFS on the vertices of one rank: masks that go out, come in and are committed.

As traverse/multi_dense.py and multi_sparse.py, with the frontier in a compact form that can be sent: the masks of its
vertices, ascending, and a bitmap. State of a rank (of which only its own rows and words take memory, see ranges.py):
- words : unsigned[2, n + 1, w]. Plane SEEN: sources that have seen the vertex; plane NEXT: those that reach it for the
  first time in this level. Row n: the mask of all sources, and in plane NEXT which of them reached anything.
- marks : uint64[3, ceil(n / 64)]. FULL: seen by every source; FRESH: plane NEXT is not zero; ACTIVE: in the frontier.
offsets : the three arrays of Offsets. w words make a mask. Source: Then et al., PVLDB 2014 (MS-BFS).
"""

from __future__ import annotations

import numpy as np

from ..jit import kernel, visitor
from ..stream.offsets import row_start
from ..traverse.atomics import atomic_add, atomic_or, count_ones, count_trailing_zeros
from ..traverse.multi_dense import see
from ..traverse.rows import row_walk

SEEN, NEXT = 0, 1
FULL, FRESH, ACTIVE = 0, 1, 2
MARKS = 3

# Slots of `state` of push_masks: next frontier entry, rows put aside, arcs scanned, entries of the table.
HEAD, ASIDE, ARCS, USED = 0, 1, 2, 3
STATE = 4
# Why it returned: nothing is left; blocks of the rows put aside are missing; the table is full.
DONE, MISSING, CROWDED = 0, 1, 2

# Slots of `out` of commit_masks: vertices of the next frontier, arcs of their rows, (target, source) pairs met, arcs of
# rows that are FULL now.
VERTICES, ROW_ARCS, MET, CLOSED = 0, 1, 2, 3
OUT = 4

_HASH = np.uint64(0x9E3779B97F4A7C15)


@kernel
def place_of(keys, vertex):  # type: ignore[no-untyped-def]
    """Where `vertex` is, or belongs, in keys (int64[power of two], -1 where free)."""
    last = len(keys) - 1
    at = np.int64((np.uint64(vertex) * _HASH) >> np.uint64(32)) & last
    while keys[at] >= 0 and keys[at] != vertex:
        at = (at + 1) & last
    return at


@visitor
def _join(words, marks, u, masks, i):  # type: ignore[no-untyped-def]
    """OR mask i into plane NEXT of vertex u."""
    hit = False
    for j in range(words.shape[2]):
        new = masks[i, j] & ~words[SEEN, u, j]
        if new:
            hit = True
            words[NEXT, u, j] |= new
    if hit:
        marks[FRESH, u >> 6] |= np.uint64(1) << np.uint64(u & 63)


@kernel
def push_masks(ids, slot_of, shift, offsets, vertices, masks, words, marks, span, keys, found, aside,
               state):  # type: ignore[no-untyped-def]
    """OR the masks of a frontier into plane NEXT of neighbours in span[0]..span[1]-1, one thread; those of other
    neighbours into a table. Returns why it stopped; call it again to go on.

    vertices : int64[k]; masks : unsigned[k, w]; keys : int64[t], found : unsigned[t, w], the table, half of which is
    used at most; aside : int64[2, k], rows put aside as (frontier entry, arc position); state : int64[STATE]."""
    group, row, hub = offsets
    w = words.shape[2]
    pending = state[ASIDE]
    head = state[HEAD]
    used = state[USED]
    resumed = 0
    kept = 0
    crowded = False
    while not crowded and (resumed < pending or head < len(vertices)):
        if resumed < pending:
            i = aside[0, resumed]
            p = aside[1, resumed]
            resumed += 1
        else:
            i = head
            p = row_start(group, row, hub, vertices[i])
            head += 1
        end = row_start(group, row, hub, vertices[i] + 1)
        begin = p
        while p < end and not crowded:
            slot = np.int64(slot_of[p >> shift])
            if slot < 0:
                break
            low = (p >> shift) << shift
            stop = min(end, low + (1 << shift))
            base = (slot << shift) - low
            while p < stop:
                u = np.int64(ids[base + p])
                if span[0] <= u < span[1]:
                    _join(words, marks, u, masks, i)
                else:
                    at = place_of(keys, u)
                    if keys[at] < 0:
                        if 2 * used >= len(keys):
                            crowded = True
                            break
                        keys[at] = u
                        used += 1
                    for j in range(w):
                        found[at, j] |= masks[i, j]
                p += 1
        state[ARCS] += p - begin
        if p < end:
            aside[0, kept] = i
            aside[1, kept] = p
            kept += 1
    while resumed < pending:
        aside[0, kept] = aside[0, resumed]
        aside[1, kept] = aside[1, resumed]
        kept += 1
        resumed += 1
    state[HEAD] = head
    state[ASIDE] = kept
    state[USED] = used
    if crowded:
        return CROWDED
    return MISSING if kept else DONE


@kernel
def join_masks(vertices, masks, words, marks):  # type: ignore[no-untyped-def]
    """OR masks that came from another rank into plane NEXT. vertices : int64[k]; masks : unsigned[k, w]."""
    for i in range(len(vertices)):
        _join(words, marks, vertices[i], masks, i)


@visitor
def _not_full(state, word):  # type: ignore[no-untyped-def]
    return ~state[1][FULL, word]


@visitor
def _mark_fresh(state, word, hits):  # type: ignore[no-untyped-def]
    atomic_or(state[1][FRESH], word, hits)


@visitor
def _pull_row(state, ids, v, begin, end, whole):  # type: ignore[no-untyped-def]
    words, _, flat, index, masks, collected = state
    n = words.shape[1] - 1
    w = words.shape[2]
    for j in range(w):
        collected[j] = words[NEXT, v, j]
    hit = False
    stop = end
    for p in range(begin, end):
        u = np.int64(ids[p])
        there = index[u >> 6, 0]
        bit = np.uint64(1) << np.uint64(u & 63)
        if not there & bit:
            continue
        r = np.int64(index[u >> 6, 1]) + count_ones(there & (bit - np.uint64(1)))
        hit = True
        want = False
        for j in range(w):
            collected[j] |= masks[r, j]
            want |= (collected[j] | words[SEEN, v, j]) != words[SEEN, n, j]
        if not want:
            stop = p + 1
            break
    if not hit:
        return stop - begin, False
    hit = False
    for j in range(w):
        new = collected[j] & ~words[SEEN, v, j]
        hit |= new != 0
        if whole:
            words[NEXT, v, j] = new
        else:
            atomic_or(flat, (NEXT * (n + 1) + v) * w + j, new)
    return stop - begin, hit


_walk_pull = row_walk(_not_full, _pull_row, _mark_fresh)


@kernel
def pull_masks(piece, layout, words, marks, index, masks):  # type: ignore[no-untyped-def]
    """Every vertex of the blocks that some source has not seen ORs the masks of its neighbours in a (part of a)
    frontier into plane NEXT, and stops when nothing more can come. Returns arcs scanned.

    index : uint64[ceil(n / 64), 2], bits of the frontier, and how many bits are set before; masks : unsigned[k, w],
    in the order of the bits. A row that spans blocks is written atomically, since two threads may hold pieces."""
    collected = np.zeros(words.shape[2], words.dtype)
    return _walk_pull(piece, layout, (words, marks, words.reshape(-1), index, masks, collected))


@kernel
def commit_masks(turn, grain, stop_word, offsets, words, marks, targets, sinks, about, out):  # type: ignore[no-untyped-def]
    """Threads share this pass over the FRESH vertices below word stop_word: what is in plane NEXT is seen now.

    targets : bitmap or of length 0. sinks : int64[2, k], in row 1 the addresses of distance columns. about : int64[2],
    the distance and the bytes of a column's item (0: no columns). out : int64[OUT], added to."""
    group, row, hub = offsets
    n = words.shape[1] - 1
    w = words.shape[2]
    flat = words.reshape(-1)
    alive = np.zeros(w, words.dtype)
    sums = np.zeros(OUT, np.int64)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= stop_word:
            break
        for word in range(begin, min(begin + grain, stop_word)):
            bits = marks[FRESH, word]
            while bits:
                bit = bits & (~bits + np.uint64(1))
                v = (word << 6) + count_trailing_zeros(bits)
                bits ^= bit
                wanted = len(targets) > 0 and (targets[word] & bit) != 0
                full, met = see(words, NEXT, v, alive, sinks, about[0], about[1], wanted)
                sums[MET] += met
                degree = row_start(group, row, hub, v + 1) - row_start(group, row, hub, v)
                sums[VERTICES] += 1
                sums[ROW_ARCS] += degree
                if full:
                    marks[FULL, word] |= bit
                    sums[CLOSED] += degree
    for j in range(w):
        atomic_or(flat, (NEXT * (n + 1) + n) * w + j, alive[j])
    for i in range(OUT):
        atomic_add(out, i, sums[i])
    return 0


@kernel
def take_masks(turn, grain, stop_word, words, marks, places, masks):  # type: ignore[no-untyped-def]
    """Threads share this pass: the FRESH vertices become the ACTIVE ones, and plane NEXT of them goes to `masks`.

    turn begins at the first word; places : int64[words], where the masks of a word's vertices begin."""
    w = words.shape[2]
    origin = stop_word - len(places)
    while True:
        begin = atomic_add(turn, 0, grain)
        if begin >= stop_word:
            return 0
        for word in range(begin, min(begin + grain, stop_word)):
            bits = marks[FRESH, word]
            marks[ACTIVE, word] = bits
            marks[FRESH, word] = np.uint64(0)
            at = places[word - origin]
            while bits:
                v = (word << 6) + count_trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                for j in range(w):
                    masks[at, j] = words[NEXT, v, j]
                    words[NEXT, v, j] = 0
                at += 1
