"""Kernels of windows of levels: waiting vertices in resident blocks grow as far as their rows reach (level_windows.py).

Nearly all rows are in groups of 64 whose arcs are all in one block. For each such group, `place` says where its arcs
begin in the arena (-1: not resident). So one look-up finds whether the row of a vertex is there, and where. Other rows
(of a group in two blocks, or with 255 arcs or more) take a longer way. Bytes: 8 a group of 64 vertices, in a bitmap of
the workspace that windows do not need.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_span, row_start, sum_first
from .atomics import count_trailing_zeros
from .rows import range_mask

NOTHING = np.int64(1) << 62
# One call takes seeds with a span of labels from the lowest on: one label for each seed, but at least this number.
_LEAST_SPAN = 1 << 10


@inlined
def _row_is_here(slot_of, start, end, shift):
    for block in range(start >> shift, ((end - 1) >> shift) + 1):
        if slot_of[block] < 0:
            return False
    return True


@inlined
def _wait(v, start, end, label, active, keys, shift):
    """Let vertex v wait with `label` in every block of its row."""
    active[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
    for block in range(start >> shift, ((end - 1) >> shift) + 1):
        keys[block] = min(keys[block], label)


@inlined
def _wait_no_more(v, active):
    active[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@kernel
def waiting_keys(active, dist, shift, group, row, hub, keys):
    """keys[c] = smallest label of a waiting vertex with an arc in block c."""
    for word in range(len(active)):
        bits = active[word]
        while bits:
            v = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            start, end = row_span(group, row, hub, v)
            _wait(v, start, end, np.int64(dist[v]), active, keys, shift)


@kernel
def place_groups(slot_of, layout, place, placed):
    """Update `place`. slot_of : int32[n_blocks]. placed : int32[n_blocks], the slots that `place` refers to, all -1 at
    first. place : int64[n / 64], for each group of 64 rows where its arcs begin in the arena, or -1 if they are not all
    in one resident block."""
    shift, first_vertex, group, row, hub = layout
    for block in range(len(slot_of)):
        slot = np.int64(slot_of[block])
        if slot == placed[block]:
            continue
        placed[block] = slot
        low, high = block << shift, (block + 1) << shift
        for g in range(first_vertex[block] >> 6, min((first_vertex[block + 1] >> 6) + 1, len(group) - 1)):
            begin = group[g]
            if begin >= low and row_start(group, row, hub, (g + 1) << 6) <= high:
                place[g] = (slot << shift) + begin - low if slot >= 0 else -1


@inlined
def _take_seeds(slot_of, layout, place, dist, active, keys, blocks, seeds, bounds):
    """Move waiting vertices of `blocks` below the window, whose rows are resident, to `seeds`; returns their number."""
    shift, first_vertex, group, row, hub = layout
    n_last = first_vertex[len(first_vertex) - 1] - 1
    count = 0
    for block in blocks:
        first = first_vertex[block]
        last = min(first_vertex[block + 1], n_last)
        lowest = NOTHING
        for word in range(first >> 6, (last >> 6) + 1):
            bits = active[word] & range_mask(word, first, last)
            while bits:
                v = (word << 6) + count_trailing_zeros(bits)
                bits &= bits - np.uint64(1)
                label = np.int64(dist[v])
                here = place[word] >= 0
                inside = here and place[word] >> shift == slot_of[block]
                if not here:
                    start, end = row_span(group, row, hub, v)
                    here = _row_is_here(slot_of, start, end, shift)
                    inside = start >> shift <= block <= (end - 1) >> shift
                if here and label < bounds[0] and count < bounds[1]:
                    _wait_no_more(v, active)
                    seeds[count] = v
                    count += 1
                elif inside:
                    lowest = min(lowest, label)
        keys[block] = lowest
    return count


@inlined
def _put_back_far_ones(layout, dist, active, keys, seeds, count, limit):
    """Let seeds with labels of `limit` or more wait again; returns the number of remaining seeds."""
    shift, _, group, row, hub = layout
    left = 0
    for i in range(count):
        v = np.int64(seeds[i])
        label = np.int64(dist[v])
        if label < limit:
            seeds[left] = v
            left += 1
        else:
            start, end = row_span(group, row, hub, v)
            _wait(v, start, end, label, active, keys, shift)
    return left


@inlined
def _by_label(dist, seeds, count, lowest, ends, order):
    """Sort seeds[:count] into `order` by label; those with the label lowest + i end before ends[i] (all 0 at first)."""
    for i in range(count):
        ends[np.int64(dist[seeds[i]]) - lowest] += 1
    total = 0
    for i in range(len(ends)):
        ends[i], total = total, total + ends[i]
    for i in range(count):
        label = np.int64(dist[seeds[i]]) - lowest
        order[ends[label]] = seeds[i]
        ends[label] += 1


@kernel
def grow(paging, layout, place, dist, active, keys, blocks, queues, seeds, bounds):
    """Expand vertices that wait in `blocks` (int64[k], resident) below bounds[0], level by level, as far as rows are
    resident and queues (of bounds[1] entries) have room; the rest waits. Returns arcs scanned.

    paging, layout : of Core. place : see place_groups. dist : unsigned[n], labels. active : bitmap of waiting vertices.
    keys : int64[n_blocks], a lower bound on the labels that wait in each. queues : id[2, k]. seeds : id[k]."""
    ids, slot_of, shift = paging
    _, _, group, row, hub = layout
    window, capacity = bounds[0], bounds[1]
    none = np.int64(np.iinfo(dist.dtype).max)
    count = _take_seeds(slot_of, layout, place, dist, active, keys, blocks, seeds, bounds)
    lowest = none
    for i in range(count):
        lowest = min(lowest, np.int64(dist[seeds[i]]))
    span = min(window - lowest, max(_LEAST_SPAN, count)) if count else 0
    count = _put_back_far_ones(layout, dist, active, keys, seeds, count, lowest + span)
    ends, order = np.zeros(span, np.int64), np.empty(count, seeds.dtype)
    _by_label(dist, seeds, count, lowest, ends, order)
    level = lowest
    here, there = queues[0], queues[1]
    taken = n_here = arcs = 0
    while (taken < count or n_here) and level < window:
        if n_here == 0:
            while ends[level - lowest] == taken:
                level += 1
        stop_seeds = ends[level - lowest] if level - lowest < span else taken
        label = dist.dtype.type(level + 1)
        n_there = 0
        i = 0
        while i < n_here or taken < stop_seeds:
            if i < n_here:
                v = np.int64(here[i])
                i += 1
            else:
                v = np.int64(order[taken])
                taken += 1
            if np.int64(dist[v]) != level:
                continue
            active[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))  # it may have waited with a larger label
            begin, length = place[v >> 6], np.int64(row[v])
            if begin >= 0 and n_there + length <= capacity:
                before, _ = sum_first(row, v & ~63, v & 63)
                begin += before
                # No branch on whether w is new, which cannot be predicted: entries that are not new are overwritten.
                for p in range(begin, begin + length):
                    w = np.int64(ids[p])
                    known = dist[w]
                    there[n_there] = w
                    n_there += known > label
                    dist[w] = min(known, label)
                arcs += length
                continue
            start, end = row_span(group, row, hub, v)
            if not _row_is_here(slot_of, start, end, shift):
                _wait(v, start, end, level, active, keys, shift)
                continue
            arcs += end - start
            while start < end:
                block = start >> shift
                stop = min(end, (block + 1) << shift)
                base = (np.int64(slot_of[block]) << shift) - (block << shift)
                for p in range(base + start, base + stop):
                    w = np.int64(ids[p])
                    if dist[w] > label:
                        dist[w] = label
                        if n_there < capacity:
                            there[n_there] = w
                            n_there += 1
                        else:
                            first, last = row_span(group, row, hub, w)
                            _wait(w, first, last, level + 1, active, keys, shift)
                start = stop
        here, there = there, here
        n_here = n_there
        level += 1
    for i in range(n_here):
        v = np.int64(here[i])
        start, end = row_span(group, row, hub, v)
        _wait(v, start, end, level, active, keys, shift)
    return arcs


@kernel
def place_and_grow(paging, layout, places, dist, active, keys, blocks, queues, seeds, bounds):
    """Call place_groups with places = (place, placed), then grow, in one call without the GIL."""
    place, placed = places
    place_groups(paging[1], layout, place, placed)
    return grow(paging, layout, place, dist, active, keys, blocks, queues, seeds, bounds)
