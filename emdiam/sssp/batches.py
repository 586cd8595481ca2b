"""The rows of a chunk of a bin, relaxed in batches of arcs.

A row of a few arcs that is relaxed arc by arc costs most in branches that nobody foresees: where it ends, and which of
its arcs shorten a path. So the arcs of many rows are put one after another, heads and sums, those that shorten nothing
are left out without a branch, and the rest lower their labels. Rows that are needed soon are fetched meanwhile. On
USA-road-d.NY (730,100 arcs) a search takes 9.6 CPU milliseconds so on one thread, and 16.4 arc by arc. Rows of more
arcs, most of which shorten nothing, are relaxed arc by arc.
Bytes: 10 KiB a thread.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined
from ..traverse.atomics import atomic_lower
from ..traverse.wide_rows import fetch
from .bins import CHUNK, bucket_of, push
from .rows import WeightedRows

# Arcs from which a batch is full. A row of at most SHORT arcs is copied without a look at its length; one of more than
# LONG does not go into a batch.
FULL, SHORT, LONG = 512, 4, 12

Batches = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def new_batches(rows: WeightedRows, n_threads: int) -> Batches:
    """Room for every thread: (spans int64[threads, CHUNK + 1, 2], labels of rows, heads of arcs, sums of arcs)."""
    dtype, arcs = rows.distance_dtype, (n_threads, FULL + LONG)
    return (np.empty((n_threads, CHUNK + 1, 2), np.int64), np.empty((n_threads, CHUNK + 1), dtype),
            np.empty(arcs, rows.heads.dtype), np.empty(arcs, dtype))


@inlined
def relax_chunk(chunk, count, graph, labels, done, bins, batches, me, current,
                scale):  # type: ignore[no-untyped-def]
    """Relax the rows of the vertices in a chunk whose labels are new; returns the arcs."""
    _, heads, costs = graph
    spans, starts, ids, sums = batches
    n_rows = _new_rows(chunk, count, graph, labels, done, bins[0], spans, starts, me)
    arcs = np.int64(0)
    row = 0
    while row < n_rows:
        n_arcs = np.int64(0)
        while row < n_rows and n_arcs < FULL:
            begin = spans[me, row, 0]
            length = spans[me, row, 1] - begin
            label = starts[me, row]
            row += 1
            arcs += length
            if length > LONG:
                for p in range(begin, begin + length):
                    _lower(np.int64(heads[p]), label + costs[p], labels, bins, me, current, scale)
            else:
                n_arcs = _add_row(n_arcs, begin, length, label, heads, costs, ids, sums, me)
        n_arcs = _shorter(n_arcs, labels, ids, sums, me)
        for i in range(n_arcs):
            _lower(np.int64(ids[me, i]), sums[me, i], labels, bins, me, current, scale)
    return arcs


@inlined
def _new_rows(chunk, count, graph, labels, done, chunks, spans, starts, me):  # type: ignore[no-untyped-def]
    """Put the rows that were not relaxed with their labels yet, and these, at the front; returns how many. They count
    as relaxed from now on."""
    offsets, heads, costs = graph
    n_rows = 0
    for i in range(count):
        v = np.int64(chunks[chunk, i])
        label = labels[v]
        begin = offsets[v]
        fetch(heads, begin)
        fetch(costs, begin)
        spans[me, n_rows, 0] = begin
        spans[me, n_rows, 1] = offsets[v + 1]
        starts[me, n_rows] = label
        n_rows += label != done[v]
        done[v] = label
    return n_rows


@inlined
def _add_row(n_arcs, begin, length, label, heads, costs, ids, sums, me):  # type: ignore[no-untyped-def]
    """Put the arcs of a row at the end of the batch; returns how many it has then."""
    if length <= SHORT and begin + SHORT <= len(heads):
        for i in range(SHORT):
            ids[me, n_arcs + i] = heads[begin + i]
            sums[me, n_arcs + i] = label + costs[begin + i]
    else:
        for i in range(length):
            ids[me, n_arcs + i] = heads[begin + i]
            sums[me, n_arcs + i] = label + costs[begin + i]
    return n_arcs + length


@inlined
def _shorter(n_arcs, labels, ids, sums, me):  # type: ignore[no-untyped-def]
    """Keep the arcs that shorten a path; returns how many."""
    kept = 0
    for i in range(n_arcs):
        u = ids[me, i]
        new = sums[me, i]
        ids[me, kept] = u
        sums[me, kept] = new
        kept += new < labels[np.int64(u)]
    return kept


@inlined
def _lower(u, new, labels, bins, me, current, scale):  # type: ignore[no-untyped-def]
    """Lower the label of u to `new`, and push u, if that is less."""
    before = labels[u]
    if new < before:
        if len(bins[5]) == 1:
            labels[u] = new
        else:
            before = atomic_lower(labels, u, new)
        if new < before:
            push(u, max(current, bucket_of(new, scale)), current, bins, me)
