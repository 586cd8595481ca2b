"""Relaxing what waits in blocks that are in memory, in windows of labels (Delta-stepping), until nothing does.

A window is gone through in sweeps over those words of 64 vertices in which a label below its end waits, or was lowered
since: `hot` has a bit for each. Arcs are relaxed in batches (stored_rows.py).
Source: Meyer and Sanders (2003).
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from ..traverse.atomics import count_trailing_zeros
from .batches import FULL
from .stored_rows import add_row, lower_all
from .waiting import ONE, ONES, longer, lowest, waiting_in, within

# A window that had fewer arcs than this a block costs more to look for than to relax: the next is twice
# as wide, up to WIDEST times the least width.
THIN, WIDEST = 32, 1 << 10


@kernel
def settle_blocks(arena, batch, slots, resident, block_arcs, covers, heads, labels, waits, relaxed, limits, widths,
                  state):
    """Relax what waits below limits[0] in the blocks `resident`, again and again, until nothing does
    (True) or state[2] more arcs were scanned (False: call again).

    Labels rise in windows above the smallest that waits, of the width widths[1], at least widths[0] (uint64 or
    float64[2]); twice as wide after a window that had few arcs for the blocks that were looked at. limits[1] : end of
    the open window (0: none). waits : (active, keys, groups, hot) of Waiting. state : int64[3], arcs scanned, sweeps,
    arcs of a call.
    """
    stop = state[0] + state[2]
    opened = state[0]
    active, keys, groups, _ = waits
    while state[0] < stop:
        low = ONES
        for block in resident:
            low = min(low, waiting_in(block, covers, heads, labels, active, keys, groups, relaxed))
        if low >= limits[1]:
            if low >= limits[0]:
                for block in resident:
                    end_block(covers[block], covers[block + 1], waits)
                return True
            open_window(low, state[0] - opened < THIN * len(resident), limits, widths)
            opened = state[0]
        for block in resident:
            _heat(covers[block], covers[block + 1], waits, limits[1])
        relaxes = True
        while relaxes and state[0] < stop:
            relaxes = False
            for block in resident:
                relaxes |= _relax_block(arena, batch, slots[block], block, block_arcs, covers, heads, labels, waits,
                                        relaxed, limits[1], state)
            state[1] += 1
    return False


@inlined
def open_window(low, thin, limits, widths):
    """The open window begins at `low` from now on. thin : whether the one before had few arcs. limits, widths : as
    settle_blocks has them."""
    if limits[1]:
        widths[1] = min(2 * widths[1], widths[0] * WIDEST) if thin else max(widths[0], widths[1] / 2)
    limits[1] = limits[0]
    if longer(low, widths[1]) > low:
        limits[1] = min(limits[1], longer(low, widths[1]))


@inlined
def _heat(begin, end, waits, window):
    """Mark the words of vertices begin to end - 1 in which a label below `window` waits."""
    _, keys, _, hot = waits
    for word in range(begin >> 6, (end + 63) >> 6):
        if keys[word] < window:
            hot[word >> 6] |= ONE << np.uint64(word & 63)


@inlined
def end_block(begin, end, waits):
    """Nothing is marked in a block, and the groups of its vertices have the smallest labels that wait in them."""
    _, keys, groups, hot = waits
    for group in range(begin >> 12, (end + 4095) >> 12):
        hot[group] = np.uint64(0)
        low = ONES
        for word in range(group << 6, min((group + 1) << 6, len(keys))):
            low = min(low, keys[word])
        groups[group] = low


@inlined
def _relax_block(arena, batch, slot, block, block_arcs, covers, heads, labels, waits, relaxed, window, state):
    """Relax the rows, and the piece of a row, that wait in a block below `window`; whether there was one."""
    hot = waits[3]
    before = state[0]
    count = 0
    if heads[block] >= 0:
        label = np.uint64(labels[heads[block]])
        if label < relaxed[block] and label < window:
            relaxed[block] = label
            count = add_row(arena, batch, count, slot, block, heads[block], label, block_arcs, labels, waits, window,
                            state)
    begin = covers[block]
    end = covers[block + 1]
    some = False
    if begin < end:
        first = begin >> 6
        last = (end - 1) >> 6
        for group in range(first >> 6, (last >> 6) + 1):
            bits = hot[group] & within(group, first, last + 1)
            while bits:
                word = (group << 6) + count_trailing_zeros(bits)
                bits &= bits - ONE
                count, found = _relax_word(arena, batch, slot, block, count, word, begin, end, block_arcs, labels,
                                           waits, window, state)
                some |= found
                if count >= FULL:
                    lower_all(batch, count, labels, waits, window)
                    count = 0
    lower_all(batch, count, labels, waits, window)
    return some or state[0] > before


@inlined
def _relax_word(arena, batch, slot, block, count, word, begin, end, block_arcs, labels, waits, window, state):
    """Relax the rows that wait in a word among vertices begin to end - 1; (arcs of the batch, whether there was a
    row)."""
    active, keys, _, hot = waits
    mask = within(word, begin, end)
    bits = active[word] & mask
    low = lowest(word, active[word] & ~mask, labels)
    if low >= window:
        hot[word >> 6] &= ~(ONE << np.uint64(word & 63))
    keys[word] = ONES
    some = False
    while bits:
        bit = count_trailing_zeros(bits)
        bits &= bits - ONE
        v = (word << 6) + bit
        label = np.uint64(labels[v])
        if label < window:
            some = True
            active[word] &= ~(ONE << np.uint64(bit))
            count = add_row(arena, batch, count, slot, block, v, label, block_arcs, labels, waits, window, state)
        else:
            low = min(low, label)
    keys[word] = min(keys[word], low)
    return count, some
