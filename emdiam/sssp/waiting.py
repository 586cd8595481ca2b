"""Which vertices wait to have their arcs relaxed, block by block, in two bits a vertex.

A vertex waits while its label is smaller than when its row was last relaxed: a bit of `active`. `keys` has the smallest
waiting label of 64 vertices, `groups` that of 4096, so that the smallest one in a block is found in a few steps. A row
that spans blocks is relaxed in pieces, in any order: the bit stands for the piece in the block where the row begins;
for each block that a row continues into, `relaxed` has the label that was used there last, and the piece waits while
the vertex has a smaller one. So a lowered label needs no list of blocks.
Blocks are of packed arcs (weighted/packed.py), or of heads and weights as a store has them; which, is known where a
kernel is compiled, by the length of `arena`: (words,), or (heads, costs, group, row, hub) with compact offsets. Labels
of floats are the words of float64, which are in the order of the numbers where none is negative.
Bytes: 1/8 + 1/8 + 1/512 a vertex, 24 a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ..jit import inlined, kernel
from ..stream.offsets import row_span
from ..traverse.atomics import count_trailing_zeros
from ..traverse.search import lower_bound

ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)
# A window that had fewer arcs than this a block costs more to look for than to relax: the next is twice
# as wide, up to WIDEST times the least width.
THIN, WIDEST = 32, 1 << 10


@dataclass(frozen=True)
class Rows:
    """Where rows lie. covers : int64[n_blocks + 1]; the rows of covers[i] to covers[i + 1] - 1 begin in
    block i (those without an arc among them). heads : int64[n_blocks], the vertex whose row continues
    into block i, or -1. shape : int64[4] = arcs of a block, all arcs, bits of an id, of a weight (0 where arcs are not
    packed)."""

    covers: np.ndarray
    heads: np.ndarray
    shape: np.ndarray


@dataclass(frozen=True)
class Waiting:
    """active, keys : uint64[ceil(n / 64)]. groups : uint64[ceil(n / 4096)]. relaxed : uint64[n_blocks]."""

    active: np.ndarray
    keys: np.ndarray
    groups: np.ndarray
    relaxed: np.ndarray

    @classmethod
    def of(cls, seeds: np.ndarray, labels: np.ndarray, n_blocks: int) -> Waiting:
        """The `seeds` (int64[s]) wait with their `labels`."""
        n_words = -(-len(labels) // 64)
        made = cls(np.zeros(n_words, np.uint64), np.full(n_words, ONES), np.full(-(-n_words // 64), ONES),
                   np.full(n_blocks, np.iinfo(labels.dtype).max, np.uint64))
        wait_all(seeds, labels, made.active, made.keys, made.groups)
        return made


@kernel
def wait_all(seeds, labels, active, keys, groups):  # type: ignore[no-untyped-def]
    """All `seeds` wait."""
    for v in seeds:
        _wait(v, np.uint64(labels[v]), active, keys, groups)


@inlined
def _wait(v, label, active, keys, groups):  # type: ignore[no-untyped-def]
    word = v >> 6
    active[word] |= ONE << np.uint64(v & 63)
    if label < keys[word]:
        keys[word] = label
        if label < groups[word >> 6]:
            groups[word >> 6] = label


@inlined
def _within(word, begin, end):  # type: ignore[no-untyped-def]
    """The bits of a word that stand for vertices begin to end - 1 (some do)."""
    mask = ONES
    if word == begin >> 6:
        mask &= ONES << np.uint64(begin & 63)
    if word == (end - 1) >> 6:
        mask &= ONES >> np.uint64(63 - ((end - 1) & 63))
    return mask


@inlined
def _lowest(word, bits, labels):  # type: ignore[no-untyped-def]
    """The smallest label of the vertices of `bits`."""
    low = ONES
    while bits:
        label = np.uint64(labels[(word << 6) + count_trailing_zeros(bits)])
        bits &= bits - ONE
        low = min(low, label)
    return low


@inlined
def waiting_in(block, covers, heads, labels, active, keys, groups, relaxed):  # type: ignore[no-untyped-def]
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
            mask = _within(word, begin, end)
            if mask == ONES:
                low = keys[word]
            else:
                low = min(low, _lowest(word, active[word] & mask, labels))
        word += 1
    return low


@kernel
def waiting_labels(covers, heads, labels, active, keys, groups, relaxed, lowest_of):  # type: ignore[no-untyped-def]
    """lowest_of[i] = smallest label that waits in block i (uint64[n_blocks])."""
    for block in range(len(lowest_of)):
        lowest_of[block] = waiting_in(block, covers, heads, labels, active, keys, groups, relaxed)


@kernel
def settle_blocks(arena, slots, resident, shape, covers, heads, labels, active, keys, groups, relaxed, limits, widths,
                  state):  # type: ignore[no-untyped-def]
    """Relax what waits below limits[0] in the blocks `resident`, again and again, until nothing does
    (True) or state[3] more arcs were scanned (False: call again).

    Labels rise in windows above the smallest that waits, of the width widths[1], at least widths[0] (uint64 or
    float64[2]); twice as wide after a window that had few arcs for the blocks that were looked at. limits[2] : end of
    the open window (0: none). limits[1] : largest distance that fits. shape : as in Rows, then the bits of an
    owner. state : int64[4], arcs scanned, sweeps, 1 if a distance did not fit, arcs of a call.
    """
    stop = state[0] + state[3]
    opened = state[0]
    while state[0] < stop:
        low = ONES
        quiet = True
        for block in resident:
            label = waiting_in(block, covers, heads, labels, active, keys, groups, relaxed)
            if label < limits[2]:
                quiet = False
                relax_block(arena, slots[block], block, shape, covers, heads, labels, active, keys, groups,
                            relaxed, limits, state)
            else:
                low = min(low, label)
        state[1] += 1
        if quiet:
            if low >= limits[0]:
                return True
            if limits[2]:
                thin = state[0] - opened < THIN * len(resident)
                widths[1] = min(2 * widths[1], widths[0] * WIDEST) if thin else max(widths[0], widths[1] / 2)
            opened = state[0]
            limits[2] = limits[0]
            if longer(low, widths[1]) > low:
                limits[2] = min(limits[2], longer(low, widths[1]))
    return False


@inlined
def relax_block(arena, slot, block, shape, covers, heads, labels, active, keys, groups, relaxed, limits,
                state):  # type: ignore[no-untyped-def]
    """Relax the rows, and the piece of a row, that wait in a block below limits[2]; see settle_blocks.
    Rows are taken in storage order, and a label that falls in a later one is used at once."""
    window = limits[2]
    position = 0
    if heads[block] >= 0:
        label = np.uint64(labels[heads[block]])
        if label < relaxed[block] and label < window:
            relaxed[block] = label
            position = scan_row(arena, slot, block, position, heads[block], label, shape, labels, active, keys, groups,
                                limits, state)
    begin = covers[block]
    end = covers[block + 1]
    if begin == end:
        return
    for word in range(begin >> 6, ((end - 1) >> 6) + 1):
        if keys[word] >= window:
            continue
        mask = _within(word, begin, end)
        while active[word] & mask:
            bit = count_trailing_zeros(active[word] & mask)
            mask &= (ONES << np.uint64(bit)) << ONE
            v = (word << 6) + bit
            label = np.uint64(labels[v])
            if label < window:
                active[word] &= ~(ONE << np.uint64(bit))
                position = scan_row(arena, slot, block, position, v, label, shape, labels, active, keys, groups, limits,
                                    state)
        keys[word] = _lowest(word, active[word], labels)
    for group in range(begin >> 12, ((end - 1) >> 12) + 1):
        low = ONES
        for word in range(group << 6, min((group + 1) << 6, len(keys))):
            low = min(low, keys[word])
        groups[group] = low


@inlined
def scan_row(arena, slot, block, position, v, label, shape, labels, active, keys, groups, limits,
             state):  # type: ignore[no-untyped-def]
    """Relax the arcs of v that are in a block with its `label`; returns where they end, if arcs are packed: they are
    looked for from `position` on."""
    if len(arena) == 1:
        position = scan_packed(arena[0], slot, block, position, v, label, shape, labels, active, keys, groups, limits,
                               state)
    else:
        scan_stored(arena, slot, block, v, label, shape, labels, active, keys, groups, state)
    return position


@inlined
def scan_stored(arena, slot, block, v, label, shape, labels, active, keys, groups,
                state):  # type: ignore[no-untyped-def]
    """Relax the arcs of v in a block of heads and costs."""
    heads, costs, group, row, hub = arena
    base = block * shape[0]
    begin, end = row_span(group, row, hub, v)
    begin = max(begin - base, np.int64(0))
    end = min(end - base, shape[0])
    for p in range(begin, end):
        u = np.int64(heads[slot, p])
        new = longer(label, costs[slot, p])
        if new < np.uint64(labels[u]):
            labels[u] = new
            _wait(u, new, active, keys, groups)
    state[0] += max(np.int64(0), end - begin)


@inlined
def first_arc(words, slot, position, count, least):  # type: ignore[no-untyped-def]
    """The first of words[slot, position:count] that is not below `least`, found in steps that double."""
    step = 1
    while position + step <= count and words[slot, position + step - 1] < least:
        position += step
        step *= 2
    return lower_bound(words[slot], least, position, min(count, position + step - 1))


@inlined
def scan_packed(words, slot, block, position, v, label, shape, labels, active, keys, groups, limits,
                state):  # type: ignore[no-untyped-def]
    """Relax the arcs of v in a block of packed arcs, from `position` on; returns where they end."""
    count = min(shape[0], shape[1] - block * shape[0])
    id_bits = np.uint64(shape[2])
    weight_bits = np.uint64(shape[3])
    owner_bits = np.uint64(shape[4])
    row_bits = id_bits + weight_bits
    position = first_arc(words, slot, position, count, np.uint64(v) << row_bits)
    start = position
    room = limits[1] - (label >> owner_bits)
    while position < count and words[slot, position] >> row_bits == np.uint64(v):
        arc = words[slot, position]
        position += 1
        weight = arc & ((ONE << weight_bits) - ONE)
        if weight > room:
            state[2] = 1
            continue
        u = np.int64((arc >> weight_bits) & ((ONE << id_bits) - ONE))
        new = label + (weight << owner_bits)
        if new < np.uint64(labels[u]):
            labels[u] = new
            _wait(u, new, active, keys, groups)
    state[0] += position - start
    return position


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
