"""Which vertices wait to have their arcs relaxed, block by block, in two bits a vertex.

A vertex waits while its label is smaller than when its row was last relaxed: a bit of `active`. `keys` has the smallest
waiting label of 64 vertices, `groups` that of 4096, so that the smallest one in a block is found in a few steps. A row
that spans blocks is relaxed in pieces, in any order: the bit stands for the piece in the block where the row begins;
for each block that a row continues into, `relaxed` has the label that was used there last, and the piece waits while
the vertex has a smaller one. So a lowered label needs no list of blocks.
Bytes: 1/8 + 1/8 + 1/512 a vertex, 24 a block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..jit import inlined, kernel
from ..traverse.atomics import count_trailing_zeros
from ..traverse.search import lower_bound
from .labels import unreached
from .packed import WeightedArcs, head_of, weight_of

ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)
# A window that had fewer arcs than this a block costs more to look for than to relax: the next is twice
# as wide, up to 2^WIDEST of the least width.
THIN, WIDEST = 32, np.uint64(10)


@dataclass(frozen=True)
class Rows:
    """Where rows lie. covers : int64[n_blocks + 1]; the rows of covers[i] to covers[i + 1] - 1 begin in
    block i (those without an arc among them). heads : int64[n_blocks], the vertex whose row continues
    into block i, or -1. shape : int64[4] = arcs of a block, all arcs, bits of an id, of a weight."""

    covers: np.ndarray
    heads: np.ndarray
    shape: np.ndarray

    @classmethod
    def of(cls, arcs: WeightedArcs) -> Rows:
        """The rows of `arcs`, which must have a block."""
        covers = np.zeros(arcs.n_blocks + 1, np.int64)
        covers[1:] = arcs.last_vertex + 1
        heads = np.where(arcs.first_vertex[:-1] < covers[:-1], arcs.first_vertex[:-1], -1)
        covers[-1] = arcs.n_vertices
        packing = arcs.packing
        shape = np.array([arcs.block_arcs, arcs.n_arcs, packing.id_bits, packing.weight_bits], np.int64)
        return cls(covers, heads, shape)


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
                   np.full(n_blocks, unreached(labels.dtype), np.uint64))
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
def settle_blocks(arena, slots, resident, shape, covers, heads, labels, active, keys, groups, relaxed, limits,
                  state):  # type: ignore[no-untyped-def]
    """Relax what waits below limits[0] in the blocks `resident`, again and again, until nothing does
    (True) or state[3] more arcs were scanned (False: call again).

    Labels rise in windows above the smallest that waits, of the width limits[4], at least limits[1]; twice
    as wide after a window that had few arcs for the blocks that were looked at. limits[3] : end of the
    open window (0: none). limits[2] : largest distance that fits. shape : as in Rows, then the bits of an
    owner. state : int64[4], arcs scanned, sweeps, 1 if a distance did not fit, arcs of a call.
    """
    stop = state[0] + state[3]
    opened = state[0]
    while state[0] < stop:
        low = ONES
        quiet = True
        for block in resident:
            label = waiting_in(block, covers, heads, labels, active, keys, groups, relaxed)
            if label < limits[3]:
                quiet = False
                n_arcs = min(shape[0], shape[1] - block * shape[0])
                relax_block(arena[slots[block], :n_arcs], block, shape, covers, heads, labels, active, keys, groups,
                            relaxed, limits, state)
            else:
                low = min(low, label)
        state[1] += 1
        if quiet:
            if low >= limits[0]:
                return True
            if limits[3]:
                thin = state[0] - opened < THIN * len(resident)
                limits[4] = min(limits[4] << ONE, limits[1] << WIDEST) if thin else max(limits[1], limits[4] >> ONE)
            opened = state[0]
            limits[3] = limits[0]
            if low + limits[4] > low:
                limits[3] = min(limits[3], low + limits[4])
    return False


@inlined
def relax_block(arcs, block, shape, covers, heads, labels, active, keys, groups, relaxed, limits,
                state):  # type: ignore[no-untyped-def]
    """Relax the rows, and the piece of a row, that wait in a block below limits[3]; see settle_blocks.
    Rows are taken in storage order, and a label that falls in a later one is used at once."""
    window = limits[3]
    position = 0
    if heads[block] >= 0:
        label = np.uint64(labels[heads[block]])
        if label < relaxed[block] and label < window:
            relaxed[block] = label
            position = scan_row(arcs, position, heads[block], label, shape, labels, active, keys, groups, limits, state)
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
                position = first_arc(arcs, position, v, shape)
                position = scan_row(arcs, position, v, label, shape, labels, active, keys, groups, limits, state)
        keys[word] = _lowest(word, active[word], labels)
    for group in range(begin >> 12, ((end - 1) >> 12) + 1):
        low = ONES
        for word in range(group << 6, min((group + 1) << 6, len(keys))):
            low = min(low, keys[word])
        groups[group] = low


@inlined
def first_arc(arcs, position, v, shape):  # type: ignore[no-untyped-def]
    """The first arc from `position` on of a vertex >= v, found in steps that double."""
    least = np.uint64(v) << np.uint64(shape[2] + shape[3])
    step = 1
    while position + step <= len(arcs) and arcs[position + step - 1] < least:
        position += step
        step *= 2
    end = min(len(arcs), position + step - 1)
    return lower_bound(arcs, least, position, end)


@inlined
def scan_row(arcs, position, v, label, shape, labels, active, keys, groups, limits, state):  # type: ignore[no-untyped-def]
    """Relax the arcs of v from `position` on with its `label`; returns where they end."""
    start = position
    id_bits = shape[2]
    weight_bits = shape[3]
    owner_bits = np.uint64(shape[4])
    row_bits = np.uint64(id_bits + weight_bits)
    room = limits[2] - (label >> owner_bits)
    while position < len(arcs) and arcs[position] >> row_bits == np.uint64(v):
        arc = arcs[position]
        position += 1
        weight = np.uint64(weight_of(arc, weight_bits))
        if weight > room:
            state[2] = 1
            continue
        u = head_of(arc, id_bits, weight_bits)
        new = label + (weight << owner_bits)
        if new < np.uint64(labels[u]):
            labels[u] = new
            _wait(u, new, active, keys, groups)
    state[0] += position - start
    return position


@kernel
def mean_weight(arcs, weight_bits):  # type: ignore[no-untyped-def]
    """Mean weight of packed arcs (some), rounded up."""
    total = np.int64(0)
    for arc in arcs:
        total += weight_of(arc, weight_bits)
    return (total + len(arcs) - 1) // len(arcs)
