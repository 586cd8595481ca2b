"""Relaxing rows of a block of heads and weights, as a store has them, in batches of arcs.

As in batches.py: arcs of many rows are put one after another, those that shorten nothing are left out without a
branch, and the rest lower their labels. Bytes: 9 KiB.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined
from ..stream.offsets import row_span
from .batches import FULL, LONG, SHORT
from .waiting import longer, wait

Batch = tuple[np.ndarray, np.ndarray]


def new_batch() -> Batch:
    """Room for a batch: heads (int64) and sums (uint64) of arcs."""
    size = FULL + 64 * LONG
    return np.empty(size, np.int64), np.empty(size, np.uint64)


@inlined
def add_row(arena, batch, count, slot, block, v, label, block_arcs, labels, waits, window, state):
    """Put the arcs of v that are in a block at the end of the batch, or relax those of a long row at once; returns how
    many are in the batch then."""
    heads, costs, group, row, hub = arena
    ends, sums = batch
    base = block * block_arcs
    begin, end = row_span(group, row, hub, v)
    begin = max(begin - base, np.int64(0))
    length = max(np.int64(0), min(end - base, block_arcs) - begin)
    state[0] += length
    if length <= LONG:
        copy_row(heads, costs, slot, begin, length, label, ends, sums, count)
    else:
        for p in range(begin, begin + length):
            u = np.int64(heads[slot, p])
            new = longer(label, costs[slot, p])
            if new < np.uint64(labels[u]):
                labels[u] = new
                wait(u, new, waits, window)
        length = np.int64(0)
    return count + length


@inlined
def copy_row(heads, costs, slot, begin, length, label, ends, sums, count):
    """Put so many arcs of a block, from `begin` on, into a batch from `count` on. Where that is safe it is always SHORT
    of a short row, in a loop of a length that is known."""
    if length <= SHORT and begin + SHORT <= heads.shape[1]:
        for i in range(SHORT):
            ends[count + i] = heads[slot, begin + i]
            sums[count + i] = longer(label, costs[slot, begin + i])
    else:
        for i in range(length):
            ends[count + i] = heads[slot, begin + i]
            sums[count + i] = longer(label, costs[slot, begin + i])


@inlined
def shorter(batch, count, labels):
    """Keep the arcs of a batch that shorten a path; returns how many."""
    ends, sums = batch
    kept = 0
    for i in range(count):
        u = ends[i]
        new = sums[i]
        ends[kept] = u
        sums[kept] = new
        kept += new < np.uint64(labels[u])
    return kept


@inlined
def lower_all(batch, count, labels, waits, window):
    """Lower labels by the arcs of a batch; vertices whose labels fall wait."""
    ends, sums = batch
    for i in range(shorter(batch, count, labels)):
        u = ends[i]
        if sums[i] < np.uint64(labels[u]):
            labels[u] = sums[i]
            wait(u, sums[i], waits, window)
