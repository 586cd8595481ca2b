"""Kernels of components over one range of vertices. parent, labels : id[n] of which the range takes memory."""

from __future__ import annotations

import numpy as np

from ..jit import kernel
from ..stream.offsets import row_start
from ..traverse.atomics import atomic_add
from ..traverse.components import _find
from ..traverse.rows import range_mask


@kernel
def unite_range(chunks, position, turn, ids, shift, first_vertex, group, row, hub, seen, parent, span, tails,
                heads):  # type: ignore[no-untyped-def]
    """Unite the ends of the arcs of unseen rows of one block (the next of `turn`) within the range; list the others.

    seen : uint64[words of the range]. span : int64[4], first and end of the range; arcs listed, blocks taken (0 or 1).
    tails, heads : int64[ids of a block], arcs that leave the range. One thread at a time."""
    first, stop = span[0], span[1]
    k = atomic_add(turn, 0, 1)
    span[2] = span[3] = 0
    if k >= len(chunks):
        return
    span[3] = 1
    n_last = first_vertex[len(first_vertex) - 1]
    low = chunks[k] << shift
    high = min(low + (1 << shift), row_start(group, row, hub, n_last))
    base = position[k] - low
    begin = first_vertex[chunks[k]]
    last = min(first_vertex[chunks[k] + 1], n_last - 1)
    count = 0
    for word in range(begin >> 6, (last >> 6) + 1):
        bits = ~seen[word - (first >> 6)] & range_mask(word, begin, last)
        if not bits:
            continue
        for b in range(64):
            if not (bits >> np.uint64(b)) & np.uint64(1):
                continue
            v = (word << 6) + b
            start = max(row_start(group, row, hub, v), low)
            end = min(row_start(group, row, hub, v + 1), high)
            root = _find(parent, v)
            for p in range(base + start, base + end):
                w = np.int64(ids[p])
                if w < first or w >= stop:
                    tails[count] = v
                    heads[count] = w
                    count += 1
                    continue
                other = _find(parent, w)
                if other < root:
                    parent[root] = other
                    root = other
                elif root < other:
                    parent[other] = root
    span[2] = count


@kernel
def find_roots(parent, vertices, roots):  # type: ignore[no-untyped-def]
    """roots[i] = the root of vertices[i], int64[k] each."""
    for i in range(len(vertices)):
        roots[i] = _find(parent, vertices[i])


@kernel
def flatten_range(parent, seen, span, reached, roots, labels):  # type: ignore[no-untyped-def]
    """parent[v] = label of every vertex of the range: `reached` where it was seen, labels[i] where its root is
    roots[i] (int64[k] ascending), else its root. span : int64[2], the range."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        at = v - first
        if (seen[at >> 6] >> np.uint64(at & 63)) & np.uint64(1):
            parent[v] = reached
            continue
        root = np.int64(parent[v])
        if root != v:  # what is smaller and of this range has its label already
            parent[v] = parent[root]
        elif len(roots):
            i = np.searchsorted(roots, v)
            if i < len(roots) and roots[i] == v:
                parent[v] = labels[i]


@kernel
def tally_range(labels, seen, span, sizes, away, counts):  # type: ignore[no-untyped-def]
    """Count the unseen vertices of the range by label: sizes[label - first] where the label is in the range, else
    counts[i] where it is away[i] (int64[k] ascending)."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        at = v - first
        if (seen[at >> 6] >> np.uint64(at & 63)) & np.uint64(1):
            continue
        label = np.int64(labels[v])
        if first <= label < stop:
            sizes[label - first] += 1
        else:
            counts[np.searchsorted(away, label)] += 1


@kernel
def describe_range(labels, roots, group, row, hub_offsets, span, last, hub, degree):  # type: ignore[no-untyped-def]
    """last[i], hub[i], degree[i] = largest vertex, smallest vertex of the largest degree, and that degree, of the
    component roots[i] (int64[k] ascending) in the range; -1 where it has none here."""
    for v in range(span[0], span[1]):
        label = np.int64(labels[v])
        i = np.searchsorted(roots, label)
        if i < len(roots) and roots[i] == label:
            mine = row_start(group, row, hub_offsets, v + 1) - row_start(group, row, hub_offsets, v)
            if mine == 0:
                continue
            last[i] = v
            if mine > degree[i]:
                degree[i] = mine
                hub[i] = v


@kernel
def smallest_ranks(labels, seen, span, ranks, names, best):  # type: ignore[no-untyped-def]
    """best[i, 0], best[i, 1] = the smallest natural rank, and its vertex, of the component names[i] (int64[k]
    ascending, all labels of unseen vertices) in the range; -1 where it has none here. ranks : of the range, or length 0
    where they are the vertices."""
    first, stop = span[0], span[1]
    for v in range(first, stop):
        at = v - first
        if (seen[at >> 6] >> np.uint64(at & 63)) & np.uint64(1):
            continue
        rank = np.int64(ranks[at]) if len(ranks) else v
        i = np.searchsorted(names, np.int64(labels[v]))
        if best[i, 0] < 0 or rank < best[i, 0]:
            best[i, 0] = rank
            best[i, 1] = v
