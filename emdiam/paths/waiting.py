"""Which vertices wait to have their arcs relaxed, block by block, in two bits a vertex.

A vertex waits while its label is smaller than when its row was last relaxed: a bit of `active`. `keys` has the smallest
waiting label of 64 vertices, `groups` that of 4096, so that the smallest one in a block is found in a few steps. A row
that spans blocks is relaxed in pieces, in any order: the bit stands for the piece in the block where the row begins;
for each block that a row continues into, `relaxed` has the label that was used there last, and the piece waits while
the vertex has a smaller one. So a lowered label needs no list of blocks.
Blocks are of heads and weights: `arena` is (heads, costs, group, row, hub), with compact offsets. Labels of floats are
the words of float64, which are in the order of the numbers where none is negative.
Bytes: 1/8 + 1/8 + 1/256 a vertex, 24 a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ..jit import inlined, kernel
from ..traverse.atomics import count_trailing_zeros

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
