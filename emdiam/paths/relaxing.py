"""Relaxing what waits in blocks that are in memory, in windows of labels (Delta-stepping), until nothing does.

Which vertices wait to have their arcs relaxed, block by block, is kept in two bits a vertex. A vertex waits while its
label is smaller than when its row was last relaxed: a bit of `active`. `keys` has the smallest waiting label of 64
vertices, `groups` that of 4096, so that the smallest one in a block is found in a few steps. A row that spans blocks is
relaxed in pieces, in any order: the bit stands for the piece in the block where the row begins; for each block that a
row continues into, `relaxed` has the label that was used in it last, and the piece waits while the vertex has a smaller
one. So a lowered label needs no list of blocks.

Blocks are of heads and weights: `arena` is (heads, costs, group, row, hub), with compact offsets. Labels of floats are
the words of float64, which are in the order of the numbers where none is negative. A window is gone through in sweeps
over those words of 64 vertices in which a label below its end waits, or was lowered since: `hot` has a bit for each.
Arcs are relaxed in batches, as in batches.py: those of many rows are put one after another, those that shorten nothing
are left out without a branch, and the rest lower their labels.
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
    """Which rows blocks have. covers : int64[n_blocks + 1]; the rows of covers[i] to covers[i + 1] - 1 begin in
    block i (those without an arc among them). heads : int64[n_blocks], the vertex whose row continues
    into block i, or -1. block_arcs : arcs of a block."""

    covers: np.ndarray
    heads: np.ndarray
    block_arcs: int


@dataclass(frozen=True)
class Waiting:
    """active, keys : uint64[ceil(n / 64)]. groups, hot : uint64[ceil(n / 4096)]. relaxed : uint64[n_blocks]. hot :
    words that settle_blocks looks at again."""

    active: np.ndarray
    keys: np.ndarray
    groups: np.ndarray
    relaxed: np.ndarray
    hot: np.ndarray

    @classmethod
    def of(cls, seeds: np.ndarray, labels: np.ndarray, n_blocks: int) -> Waiting:
        """The `seeds` (int64[s]) wait with their `labels`."""
        n_words = -(-len(labels) // 64)
        made = cls(np.zeros(n_words, np.uint64), np.full(n_words, ONES), np.full(-(-n_words // 64), ONES),
                   np.full(n_blocks, np.iinfo(labels.dtype).max, np.uint64), np.zeros(-(-n_words // 64), np.uint64))
        wait_all(seeds, labels, made.active, made.keys, made.groups)
        return made


@kernel
def wait_all(seeds, labels, active, keys, groups):
    """All `seeds` wait."""
    for v in seeds:
        word = v >> 6
        active[word] |= ONE << np.uint64(v & 63)
        keys[word] = min(keys[word], np.uint64(labels[v]))
        groups[word >> 6] = min(groups[word >> 6], keys[word])


@inlined
def wait(v, label, waits, window):
    """Vertex v waits with this label; its word is marked if that is below `window`: it is already, if one that is
    as small waits there. waits : (active, keys, groups, hot)."""
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
    """The bits of a word that stand for vertices begin to end - 1 (some do)."""
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
    """The smallest label that waits in a block; ONES if none does."""
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
    """lowest_of[i] = smallest label that waits in block i (uint64[n_blocks])."""
    for block in range(len(lowest_of)):
        lowest_of[block] = waiting_in(block, covers, heads, labels, active, keys, groups, relaxed)


@intrinsic
def longer(typingctx: Any, label: Any, cost: Any) -> Any:
    """The label (uint64) of a distance that is longer by `cost`: a sum, of float64 in words where the cost is a
    float."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(sig.args[1], types.Float):
            return builder.add(args[0], context.cast(builder, args[1], sig.args[1], types.uint64))
        total = builder.fadd(builder.bitcast(args[0], ir.DoubleType()),
                             context.cast(builder, args[1], sig.args[1], types.float64))
        return builder.bitcast(total, ir.IntType(64))

    return types.uint64(types.uint64, cost), codegen


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
