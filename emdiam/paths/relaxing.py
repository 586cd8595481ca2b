"""Relaxes waiting vertices in resident blocks, in windows of labels (Delta-stepping), until no vertex waits.

A vertex waits while its label is smaller than when its row was last relaxed; `active` has a bit for it. `keys` has the
smallest waiting label of 64 vertices, `groups` of 4096, so the smallest one of a block is found in a few steps. A row
that spans blocks is relaxed in pieces, in any order. The bit stands for the piece in the row's first block. For each
block that a row continues into, `relaxed` has the label with which this piece was last relaxed; the piece waits while
the label of the vertex is smaller. So a lowered label needs no list of blocks.

Blocks have heads and weights: `arena` is (heads, costs, group, row, hub), with compact offsets. Labels of floats are
the words of float64, which have the order of the numbers if none is negative. A window is relaxed in sweeps over words
of 64 vertices with a waiting label below its end; `hot` has a bit for each of these words. Arcs are relaxed in batches,
as in batches.py: a batch has the arcs of many rows, a pass without branches drops the arcs that shorten nothing, and
the others lower their labels.
Bytes: 1/8 + 1/8 + 1/256 a vertex, 24 a block, and 9 KiB. Source: Meyer and Sanders (2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..jit import inlined, intrinsic, ir, kernel, types
from ..stream.offsets import row_span
from ..traverse.atomics import count_trailing_zeros
from .batches import FULL, LONG, SHORT

ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)


@dataclass(frozen=True)
class BlockRows:
    """The rows of blocks. covers : int64[n_blocks + 1]; the rows of vertices covers[i] to covers[i + 1] - 1 begin in
    block i (also rows without arcs). heads : int64[n_blocks], the vertex whose row continues into block i, or -1.
    block_arcs : arcs of a block."""

    covers: np.ndarray
    heads: np.ndarray
    block_arcs: int


@dataclass(frozen=True)
class Waiting:
    """The waiting vertices. active, keys : uint64[ceil(n / 64)]. groups, hot : uint64[ceil(n / 4096)]. relaxed :
    uint64[n_blocks]. hot : words that settle_blocks will visit."""

    active: np.ndarray
    keys: np.ndarray
    groups: np.ndarray
    relaxed: np.ndarray
    hot: np.ndarray

    @classmethod
    def of(cls, seeds: np.ndarray, labels: np.ndarray, n_blocks: int) -> Waiting:
        """The state in which `seeds` (int64[s]) wait with their `labels`."""
        n_words = -(-len(labels) // 64)
        made = cls(np.zeros(n_words, np.uint64), np.full(n_words, ONES), np.full(-(-n_words // 64), ONES),
                   np.full(n_blocks, np.iinfo(labels.dtype).max, np.uint64), np.zeros(-(-n_words // 64), np.uint64))
        wait_all(seeds, labels, made.active, made.keys, made.groups)
        return made


@kernel
def wait_all(seeds, labels, active, keys, groups):
    """Make all `seeds` wait."""
    for v in seeds:
        word = v >> 6
        active[word] |= ONE << np.uint64(v & 63)
        keys[word] = min(keys[word], np.uint64(labels[v]))
        groups[word >> 6] = min(groups[word >> 6], keys[word])


@inlined
def wait(v, label, waits, window):
    """Make vertex v wait with this label, and mark its word as hot if the label is below `window` (it is hot already if
    it has a label as small). waits : (active, keys, groups, hot)."""
    active, keys, groups, hot = waits
    word = v >> 6
    active[word] |= ONE << np.uint64(v & 63)
    if label < keys[word]:
        keys[word] = label
        hot[word >> 6] |= np.uint64(label < window) << np.uint64(word & 63)
        if label < groups[word >> 6]:
            groups[word >> 6] = label


@inlined
def within(word, begin, end):
    """The bits of a word for vertices begin to end - 1, at least one of which is in it."""
    mask = ONES
    if word == begin >> 6:
        mask &= ONES << np.uint64(begin & 63)
    if word == (end - 1) >> 6:
        mask &= ONES >> np.uint64(63 - ((end - 1) & 63))
    return mask


@inlined
def lowest(word, bits, labels):
    """The smallest label of the vertices of `bits`."""
    low = ONES
    while bits:
        label = np.uint64(labels[(word << 6) + count_trailing_zeros(bits)])
        bits &= bits - ONE
        low = min(low, label)
    return low


@inlined
def waiting_in(block, covers, heads, labels, active, keys, groups, relaxed):
    """The smallest waiting label of a block; ONES if no vertex waits."""
    low = ONES
    if heads[block] >= 0:
        label = np.uint64(labels[heads[block]])
        if label < relaxed[block]:
            low = label
    begin = covers[block]
    end = covers[block + 1]
    word = begin >> 6
    while word << 6 < end:
        if word & 63 == 0 and groups[word >> 6] >= low:
            word += 64
            continue
        if keys[word] < low:
            mask = within(word, begin, end)
            if mask == ONES:
                low = keys[word]
            else:
                low = min(low, lowest(word, active[word] & mask, labels))
        word += 1
    return low


@kernel
def waiting_labels(covers, heads, labels, active, keys, groups, relaxed, lowest_of):
    """Set lowest_of[i] to the smallest waiting label of block i (uint64[n_blocks])."""
    for block in range(len(lowest_of)):
        lowest_of[block] = waiting_in(block, covers, heads, labels, active, keys, groups, relaxed)


@intrinsic
def longer(typingctx: Any, label: Any, cost: Any) -> Any:
    """The label (uint64) of a distance that is longer by `cost`; for floats, the word of the float64 sum."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(sig.args[1], types.Float):
            return builder.add(args[0], context.cast(builder, args[1], sig.args[1], types.uint64))
        total = builder.fadd(builder.bitcast(args[0], ir.DoubleType()),
                             context.cast(builder, args[1], sig.args[1], types.float64))
        return builder.bitcast(total, ir.IntType(64))

    return types.uint64(types.uint64, cost), codegen


Batch = tuple[np.ndarray, np.ndarray]


def new_batch() -> Batch:
    """An empty batch: heads (int64) and sums (uint64) of arcs."""
    size = FULL + 64 * LONG
    return np.empty(size, np.int64), np.empty(size, np.uint64)


@inlined
def add_row(arena, batch, count, slot, block, v, label, block_arcs, labels, waits, window, state):
    """Append the arcs of v in a block to the batch, or relax the arcs of a long row at once; return the size of the
    batch."""
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
    """Copy `length` arcs of a block, from `begin` on, into a batch from `count` on. For short rows it copies SHORT
    arcs, if that is safe, in a loop of constant length."""
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
    """Keep the arcs of a batch that shorten a path; return their number."""
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
    """Lower labels by the arcs of a batch; vertices whose labels fall then wait."""
    ends, sums = batch
    for i in range(shorter(batch, count, labels)):
        u = ends[i]
        if sums[i] < np.uint64(labels[u]):
            labels[u] = sums[i]
            wait(u, sums[i], waits, window)


# Finding the vertices of a window with fewer than THIN arcs a block costs more than relaxing them: the next window is
# twice as wide, up to WIDEST times the least width.
THIN, WIDEST = 32, 1 << 10


@kernel
def settle_blocks(arena, batch, slots, resident, block_arcs, covers, heads, labels, waits, relaxed, limits, widths,
                  state):
    """Relax the waiting vertices with labels below limits[0] in the blocks `resident` until none waits (True) or
    state[2] more arcs were scanned (False: call again).

    Windows start at the smallest waiting label and have the width widths[1], at least widths[0] (uint64 or float64[2]);
    the width doubles after a window with few arcs for the visited blocks. limits[1] : end of the open window (0: none).
    waits : (active, keys, groups, hot) of Waiting. state : int64[3], arcs scanned, sweeps, arcs of a call.
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
    """Open a window that starts at `low`. thin : whether the window before had few arcs. limits, widths : as in
    settle_blocks."""
    if limits[1]:
        widths[1] = min(2 * widths[1], widths[0] * WIDEST) if thin else max(widths[0], widths[1] / 2)
    limits[1] = limits[0]
    if longer(low, widths[1]) > low:
        limits[1] = min(limits[1], longer(low, widths[1]))


@inlined
def _heat(begin, end, waits, window):
    """Mark as hot the words of vertices begin to end - 1 with a waiting label below `window`."""
    _, keys, _, hot = waits
    for word in range(begin >> 6, (end + 63) >> 6):
        if keys[word] < window:
            hot[word >> 6] |= ONE << np.uint64(word & 63)


@inlined
def end_block(begin, end, waits):
    """Clear the hot words of a block, and set the groups of its vertices to their smallest waiting labels."""
    _, keys, groups, hot = waits
    for group in range(begin >> 12, (end + 4095) >> 12):
        hot[group] = np.uint64(0)
        low = ONES
        for word in range(group << 6, min((group + 1) << 6, len(keys))):
            low = min(low, keys[word])
        groups[group] = low


@inlined
def _relax_block(arena, batch, slot, block, block_arcs, covers, heads, labels, waits, relaxed, window, state):
    """Relax the rows (and the piece of a continued row) of a block that wait with labels below `window`; return whether
    one did."""
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
    """Relax the waiting rows of a word among vertices begin to end - 1; (arcs of the batch, whether one was
    relaxed)."""
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
