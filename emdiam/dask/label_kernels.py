"""Kernels of label growth over one range of vertices (see traverse/labels.py).

labels : uint64[n], right in the range."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..traverse.atomics import atomic_add, atomic_and, atomic_min, atomic_raise, count_trailing_zeros
from ..traverse.labels import OWNER_BITS, UNREACHED
from ..traverse.rows import range_mask

# Places where offers to one vertex meet before they are listed.
SLOTS = 1 << 10
_STEP = np.uint64(1) << np.uint64(OWNER_BITS)


@kernel
def grow_range(chunks, position, turn, ids, shift, first_vertex, group, row, hub, labels, words, span, slots,
               found):  # type: ignore[no-untyped-def]
    """Offer the labels of taken rows of one block (the next of `turn`), and of waiting ones that lie in it, along their
    arcs: within the range as traverse.labels.grow_labels does, to others by `found`.

    words : (taken, waiting, settled), uint64[words]; of others' vertices those settled are told nothing. span :
    int64[6], first and end of the range, end of the window, then what comes back: offers listed, blocks taken (0 or 1),
    arcs scanned. slots : (int64[SLOTS] of -1, uint64[SLOTS]), the same after it. found : (int64[k], uint64[k]),
    vertices of others and offers, k = ids of a block + SLOTS."""
    taken, waiting, settled = words
    k = atomic_add(turn, 0, 1)
    span[3] = span[4] = span[5] = 0
    if k >= len(chunks):
        return
    span[4] = 1
    count = 0
    n_vertices = first_vertex[len(first_vertex) - 1]
    low = chunks[k] << shift
    high = min(low + (1 << shift), row_start(group, row, hub, n_vertices))
    base = position[k] - low
    first = first_vertex[chunks[k]]
    last = min(first_vertex[chunks[k] + 1], n_vertices - 1)
    for word in range(first >> 6, (last >> 6) + 1):
        mask = range_mask(word, first, last)
        bits = (taken[word] | waiting[word]) & mask
        while bits:
            bit = bits & (~bits + np.uint64(1))
            v = (word << 6) + count_trailing_zeros(bits)
            start = row_start(group, row, hub, v)
            end = row_start(group, row, hub, v + 1)
            whole = start >= low and end <= high
            now = (taken[word] & bit) != 0
            if whole and waiting[word] & bit:
                if now or np.int64(labels[v] >> np.uint64(OWNER_BITS)) < span[2]:
                    atomic_and(waiting, word, ~bit)
                    now = True
            if now:
                offer = labels[v] + _STEP
                start = max(start, low)
                end = min(end, high)
                span[5] += max(end - start, 0)
                for p in range(base + start, base + end):
                    w = np.int64(ids[p])
                    if w < span[0] or w >= span[1]:
                        if (settled[w >> 6] >> np.uint64(w & 63)) & np.uint64(1):
                            continue
                        i = w & (SLOTS - 1)
                        if slots[0][i] != w:
                            if slots[0][i] >= 0:
                                found[0][count] = slots[0][i]
                                found[1][count] = slots[1][i]
                                count += 1
                            slots[0][i] = w
                            slots[1][i] = offer
                        elif offer < slots[1][i]:
                            slots[1][i] = offer
                    elif offer < labels[w] and offer < atomic_min(labels, w, offer):
                        atomic_raise(waiting, w >> 6, np.uint64(1) << np.uint64(w & 63))
            mask &= ~(bit | (bit - np.uint64(1)))
            bits = (taken[word] | waiting[word]) & mask
    for i in range(SLOTS):
        if slots[0][i] >= 0:
            found[0][count] = slots[0][i]
            found[1][count] = slots[1][i]
            slots[0][i] = -1
            count += 1
    span[3] = count


@kernel
def take_offers(ids, offers, labels, waiting):  # type: ignore[no-untyped-def]
    """Lower labels[ids[i]] to offers[i] (int64[k], uint64[k]) where that is smaller; what falls waits."""
    for i in range(len(ids)):
        w = ids[i]
        if offers[i] < labels[w]:
            labels[w] = offers[i]
            waiting[w >> 6] |= np.uint64(1) << np.uint64(w & 63)


@kernel
def mark_unreached(labels, bitmap):  # type: ignore[no-untyped-def]
    """Clear the bits of unreached vertices in `bitmap`, all of whose bits are set; labels of one range."""
    for v in range(len(labels)):
        if labels[v] == UNREACHED:
            bitmap[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@kernel
def count_distances(labels, counts):  # type: ignore[no-untyped-def]
    """counts[d] = vertices at distance d, int64[longest + 2]; the last entry counts the unreached."""
    last = len(counts) - 1
    for v in range(len(labels)):
        d = last if labels[v] == UNREACHED else np.int64(labels[v] >> np.uint64(OWNER_BITS))
        counts[d] += 1


@kernel
def place_range(labels, starts, places):  # type: ignore[no-untyped-def]
    """places[v] = the next place of its distance, of `starts` (int64[longest + 2], counted on; the last entry is of
    the unreached)."""
    last = len(starts) - 1
    for v in range(len(labels)):
        d = last if labels[v] == UNREACHED else np.int64(labels[v] >> np.uint64(OWNER_BITS))
        places[v] = starts[d]
        starts[d] += 1
