"""Kernels for renumbering rows: they examine the rows of a run, deal them to ranges of new numbers, and put the rows of
a range in order."""

from __future__ import annotations

import numpy as np

from ..hashing import draw
from ..jit import inlined, kernel

# Rows up to this length are sorted by comparing all pairs of entries.
SHORT = 48


@kernel
def count_in_bins(rows, starts, new_of, shift, bins):
    """Add the arcs of every row of a run (store/arc_runs.py) to the bin of its new number."""
    for k in range(len(rows)):
        bins[np.int64(new_of[rows[k]]) >> shift] += starts[k + 1] - starts[k]


@kernel
def count_numbers(rows, starts, new_of, shift, place, inside):
    """Add the arcs of every row to its own count, if its bin has a place in `inside`, int64[bins, 2^shift]."""
    for k in range(len(rows)):
        number = np.int64(new_of[rows[k]])
        at = place[number >> shift]
        if at >= 0:
            inside[at, number & ((1 << shift) - 1)] += starts[k + 1] - starts[k]


@inlined
def _range_of(number, lookup):
    bounds, first, shift = lookup
    k = np.int64(first[number >> shift])
    while number >= bounds[k + 1]:
        k += 1
    return k


@kernel
def count_rows(rows, starts, new_of, lookup, ranges, counts):
    """ranges[k] = the range of the new number of rows[k]; adds the arcs and rows of each range to counts, int64[2,
    B]."""
    for k in range(len(rows)):
        found = _range_of(np.int64(new_of[rows[k]]), lookup)
        ranges[k] = found
        counts[0, found] += starts[k + 1] - starts[k]
        counts[1, found] += 1


@kernel
def check_rows(rows, starts, ids, sums):
    """The number of arcs that lead up, and a row that does not ascend or contains its own vertex, or -1.

    sums : uint64[2]; the fingerprints of the arcs that lead up, and of those down, are added, as for ArcCheck
    (store/check.py).
    """
    n_up, none = 0, np.uint64(0)
    total = up_only = none
    for k in range(len(rows)):
        one, before = np.uint64(rows[k]), np.int64(-1)
        for p in range(starts[k], starts[k + 1]):
            other = np.uint64(ids[p])
            if other == one or np.int64(other) <= before:
                return n_up, rows[k]
            before = np.int64(other)
            # Without a branch, which could not be predicted.
            up = np.uint64(one < other)
            fingerprint = draw(draw(min(one, other), none) ^ max(one, other), none)
            total += fingerprint
            up_only += fingerprint * up
            n_up += np.int64(up)
    sums[0] += up_only
    sums[1] += total - up_only
    return n_up, -1


@kernel
def deal_rows(run, weights, new_of, ranges, at, heads, out, out_weights):
    """Write the rows of a run, with their new numbers, to the positions of their ranges.

    run : (rows, starts, ids). ranges : from count_rows. at : int64[2, B], the next position of each range in `out` and
    in `heads`, advanced. heads : id_dtype[r, 2], (number, arcs) of each row. weights, out_weights : of the arcs, or
    empty.
    """
    rows, starts, ids = run
    # All lookups are in one loop, so that many of their cache misses overlap.
    others = np.empty(len(ids), out.dtype)
    for i in range(len(ids)):
        others[i] = new_of[np.int64(ids[i])]
    for k in range(len(rows)):
        p, head = at[0, ranges[k]], at[1, ranges[k]]
        begin, size = starts[k], starts[k + 1] - starts[k]
        at[0, ranges[k]] = p + size
        at[1, ranges[k]] = head + 1
        heads[head, 0] = new_of[rows[k]]
        heads[head, 1] = size
        for i in range(size):
            out[p + i] = others[begin + i]
        if len(weights):
            for i in range(size):
                out_weights[p + i] = weights[begin + i]


@kernel
def count_degrees(heads, low, ends):
    """ends[number - low + 1] += arcs, for every head."""
    for i in range(len(heads)):
        ends[np.int64(heads[i, 0]) - low + 1] += np.int64(heads[i, 1])


@kernel
def place_rows(heads, ids, weights, low, free, out, out_weights):
    """Copy the rows of `heads` to their positions. free : int64[numbers], the next free position of each row,
    advanced."""
    p = 0
    for i in range(len(heads)):
        row = np.int64(heads[i, 0]) - low
        at, size = free[row], np.int64(heads[i, 1])
        free[row] = at + size
        for j in range(size):
            out[at + j] = ids[p + j]
        if len(weights):
            for j in range(size):
                out_weights[at + j] = weights[p + j]
        p += size


@kernel
def sort_short_rows(starts, ids, weights):
    """Sort the rows of at most SHORT arcs, starts[k] to starts[k + 1] - 1 of `ids`; returns the number of longer rows.

    The position of each arc is the number of smaller ones in its row: no branch depends on an id.
    """
    n_long, row, with_row = 0, np.empty(SHORT, ids.dtype), np.empty(SHORT, weights.dtype)
    for k in range(len(starts) - 1):
        begin, size = starts[k], starts[k + 1] - starts[k]
        if size > SHORT:
            n_long += 1
            continue
        for i in range(size):
            row[i] = ids[begin + i]
        if len(weights):
            for i in range(size):
                with_row[i] = weights[begin + i]
        for i in range(size):
            place = 0
            for j in range(size):
                place += np.int64(row[j] < row[i])
            ids[begin + place] = row[i]
            if len(weights):
                weights[begin + place] = with_row[i]
    return n_long
