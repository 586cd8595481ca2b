"""Many levels of thin frontiers in one call: next = N(frontier) - frontier - previous on short sorted lists.

Each level collects the heads of the frontier's rows, sorts them with a radix sort, and removes the vertices of the two
lists in a merge. A vertex has a mask of the sources that reached it in that level (for one source: 1). The kernel
returns if a chunk of offsets or a block is missing, if a level is too thick for its lists, or if the output is full.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..traverse.atomics import count_ones, count_trailing_zeros
from ..traverse.components import lower_bound
from ..traverse.rows import has_bit

# State, int64: the last completed level; stage of the next one (see below); number of rows to do; arcs examined, and
# the limit to return at; pairs written; pairs (source, target) not yet met; heads collected; the index of the
# frontier's list.
LEVEL, STAGE, LEFT, ARCS, STOP_ARCS, WRITTEN, REMAINING, GATHERED, CURRENT, ASKED, RADIUS = range(11)
STATE = 11
BOUNDS, HEADS, MERGE = range(3)
# Reasons for returning.
DONE, NO_OFFSETS, NO_BLOCK, THICK, FULL, SLICE, MET, AT_RADIUS = range(8)
_INSERT = 24
_NEW = np.uint64(0xFFFFFFFFFFFFFFFF)


@inlined
def _insertion_sort(keys, masks, count):
    for i in range(1, count):
        key, mask = keys[i], masks[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            masks[j + 1] = masks[j]
            j -= 1
        keys[j + 1] = key
        masks[j + 1] = mask


@inlined
def _radix_pass(keys, masks, count, shift, base, into, masks_into, counters):
    for d in range(257):
        counters[d] = 0
    for i in range(count):
        counters[(((keys[i] - base) >> shift) & 255) + 1] += 1
    for d in range(256):
        counters[d + 1] += counters[d]
    for i in range(count):
        d = ((keys[i] - base) >> shift) & 255
        into[counters[d]] = keys[i]
        masks_into[counters[d]] = masks[i]
        counters[d] += 1


@inlined
def _sort(keys, masks, count, counters):
    """Sort the pairs of row 0 of keys, masks (int64[2, k], uint64[2, k]) by key; returns the row that contains the
    result."""
    if count <= _INSERT:
        _insertion_sort(keys[0], masks[0], count)
        return 0
    low, high = keys[0, 0], keys[0, 0]
    for i in range(count):
        low, high = min(low, keys[0, i]), max(high, keys[0, i])
    row, shift = 0, 0
    while (high - low) >> shift:
        _radix_pass(keys[row], masks[row], count, shift, low, keys[1 - row], masks[1 - row], counters)
        row, shift = 1 - row, shift + 8
    return row


@inlined
def _taken(ids, masks, count, at, v):
    """(first position in ids[at:count] whose id is not below v, mask of v there or 0)."""
    while at < count and ids[at] < v:
        at += 1
    return at, masks[at] if at < count and ids[at] == v else np.uint64(0)


@inlined
def _find_bounds(lists, counts, bounds, todo, missing, offsets, state):
    """Find the bounds of the rows to do whose offsets are in memory; the other rows remain to do."""
    items, slot_of, shift = offsets
    mask = (1 << shift) - 1
    current, aside = state[CURRENT], 0
    state[ASKED] = 0
    for k in range(state[LEFT]):
        i = todo[k]
        v = lists[current, i]
        low, high = v >> shift, (v + 1) >> shift
        if slot_of[low] < 0 or slot_of[high] < 0:
            missing[state[ASKED]], missing[state[ASKED] + 1] = low, high
            state[ASKED] += 2
            todo[aside] = i
            aside += 1
        else:
            bounds[0, i] = items[(np.int64(slot_of[low]) << shift) + (v & mask)]
            bounds[1, i] = items[(np.int64(slot_of[high]) << shift) + ((v + 1) & mask)]
    state[LEFT] = aside


@inlined
def _gather(lists, masks, bounds, todo, missing, arcs, heads, head_masks, state):
    """Collect the heads of the rows to do whose blocks are in memory; returns False if they do not fit, or if a row has
    more blocks than the arena."""
    ids, slot_of, shift = arcs
    current, aside, count = state[CURRENT], 0, state[GATHERED]
    state[ASKED] = 0
    for k in range(state[LEFT]):
        i = todo[k]
        start, end = bounds[0, i], bounds[1, i]
        if count + end - start > heads.shape[1]:
            return False
        first, last = start >> shift, (end - 1) >> shift
        if (last - first + 1) << shift > len(ids):
            return False
        missed = False
        for block in range(first, last + 1):
            missed |= slot_of[block] < 0
        if missed:  # all its blocks are requested together, so that none evicts another
            todo[aside] = i
            aside += 1
            for block in range(first, min(last + 1, first + len(missing) - state[ASKED])):
                missing[state[ASKED]] = block
                state[ASKED] += 1
            continue
        for p in range(start, end):
            block = p >> shift
            heads[0, count] = ids[(np.int64(slot_of[block]) << shift) + p - (block << shift)]
            head_masks[0, count] = masks[current, i]
            count += 1
        state[ARCS] += end - start
    state[LEFT], state[GATHERED] = aside, count
    return True


@kernel
def thin_levels(offsets, arcs, work, lists, masks, counts, wanted, out, farthest, state):
    """Do levels until there is a reason to return.

    offsets, arcs : (items, slot of each chunk, shift), see Rows.paging. work : (bounds int64[2, c]; todo int64[c], rows
    to do; missing int64[k], requested chunks; heads int64[2, a] and their masks uint64[2, a]; counters int64[257]).
    lists, masks : int64[3, c], uint64[3, c], with counts[i] valid entries in row i: state[CURRENT] is the frontier, the
    list before it the previous one. wanted : (sorted int64[k], bitmap uint64), with the targets in one of them. out :
    (vertices int64[o], masks uint64[o], levels int64[o]). farthest : int64[bits], the last level of each source.
    """
    bounds, todo, missing, heads, head_masks, counters = work
    capacity = lists.shape[1]
    while True:
        current = state[CURRENT]
        count = counts[current]
        if state[STAGE] == BOUNDS:
            if count == 0:
                return DONE
            if state[LEVEL] == state[RADIUS]:
                return AT_RADIUS
            if state[ARCS] >= state[STOP_ARCS]:
                return SLICE
            if state[LEFT] < 0:
                for i in range(count):
                    todo[i] = i
                state[LEFT], state[GATHERED] = count, 0
            _find_bounds(lists, counts, bounds, todo, missing, offsets, state)
            if state[LEFT]:
                return NO_OFFSETS
            for i in range(count):
                todo[i] = i
            state[LEFT], state[STAGE] = count, HEADS
        if state[STAGE] == HEADS:
            if not _gather(lists, masks, bounds, todo, missing, arcs, heads, head_masks, state):
                return THICK
            if state[LEFT]:
                return NO_BLOCK
            state[STAGE] = MERGE
        gathered = state[GATHERED]
        if gathered > capacity:
            return THICK
        if state[WRITTEN] + gathered > len(out[0]):
            return FULL
        row = _sort(heads, head_masks, gathered, counters)
        _end_level(heads[row], head_masks[row], lists, masks, counts, wanted, out, farthest, state)
        if state[REMAINING] == 0:
            return MET


@inlined
def _end_level(heads, head_masks, lists, masks, counts, wanted, out, farthest, state):
    """Make the sorted heads, without the vertices of the frontier and the previous list, the new frontier."""
    current = state[CURRENT]
    previous, following = (current + 2) % 3, (current + 1) % 3
    here, there, i, count, alive = 0, 0, 0, 0, np.uint64(0)
    gathered = state[GATHERED]
    level = state[LEVEL] + 1
    while i < gathered:
        v, mask = heads[i], np.uint64(0)
        while i < gathered and heads[i] == v:
            mask |= head_masks[i]
            i += 1
        here, known = _taken(lists[current], masks[current], counts[current], here, v)
        there, before = _taken(lists[previous], masks[previous], counts[previous], there, v)
        mask &= ~(known | before)
        if mask:
            lists[following, count] = v
            masks[following, count] = mask
            at = state[WRITTEN] + count
            out[0][at], out[1][at], out[2][at] = v, mask, level
            count += 1
            alive |= mask
            if state[REMAINING] > 0 and _is_wanted(wanted, v):
                state[REMAINING] -= count_ones(mask)
    counts[following] = count
    state[WRITTEN] += count
    state[STAGE], state[LEFT] = BOUNDS, -1
    state[CURRENT] = following
    if count:
        state[LEVEL] = level
        while alive:
            farthest[count_trailing_zeros(alive)] = level
            alive &= alive - np.uint64(1)


@inlined
def _is_wanted(wanted, v):
    listed, words = wanted
    if len(words):
        return has_bit(words, v)
    at = lower_bound(listed, v, 0, len(listed))
    return at < len(listed) and listed[at] == v
