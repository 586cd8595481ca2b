"""The walk over the rows of blocks, shared by kernels: visitors select rows and process them.

A walk goes over blocks (chunks of `indices`) in the order of the piece, and over the rows of each, clipped to the
block, so that a hub row may span blocks. One visitor selects rows by bitmap words, another processes a row. Visitors
are compiled into the walk, and the walk into the kernel that calls it:
- select(state, word): uint64, the bits of the selected rows among the vertices 64 word, ..., 64 word + 63. With `again`
  it is called after every row, so that processing a row may select a later one of the same word;
- visit(state, ids, v, begin, end, whole): processes ids[begin:end], the arcs of row v in this block (whole: all arcs of
  the row), and returns (amount, hit). The walk returns the sum of the amounts;
- settle(state, word, hits): called after the rows of a word, with the bits of rows with a hit, if any.
state : a tuple of arrays and numbers, shared by the visitors.
A walk belongs to a span of vertices: one process has [0, n), a worker its range, and its table ends rows and blocks at
the ends of the range.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_span, row_start
from . import uncompiled
from .atomics import atomic_add, atomic_or, count_leading_zeros, count_trailing_zeros

Visitor = Callable[..., Any]
ALL, NONE = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0)


@inlined
def range_mask(word, first, last):
    """Bits of `word` (index) that stand for vertices first..last."""
    mask = ALL
    if word == first >> 6:
        mask &= ALL << np.uint64(first & 63)
    if word == last >> 6:
        mask &= ALL >> np.uint64(63 - (last & 63))
    return mask


@inlined
def has_bit(bitmap, v):
    """Whether bit v is set."""
    return (bitmap[v >> 6] >> np.uint64(v & 63)) & np.uint64(1) != 0


@inlined
def every_row(state, word):
    """Select all rows."""
    return ALL


# Further visitors, for states that begin with bitmaps.
@inlined
def in_first(state, word):
    """Select the rows in the first bitmap."""
    return state[0][word]


@inlined
def in_second(state, word):
    """Select the rows in the second bitmap."""
    return state[1][word]


@inlined
def not_in_first(state, word):
    """Select the rows that are not in the first bitmap."""
    return ~state[0][word]


@inlined
def not_in_second(state, word):
    """Select the rows that are not in the second bitmap."""
    return ~state[1][word]


@inlined
def hits_to_second(state, word, hits):
    """Add the rows with a hit to the second bitmap."""
    atomic_or(state[1], word, hits)


@inlined
def _no_hits(state, word, hits):
    """Settle nothing."""


@inlined
def lowest_bit(bits):
    """The lowest set bit, alone."""
    return bits & (~bits + np.uint64(1))


@inlined
def _bits_above(bit):
    """All bits above this one."""
    return ~(bit | (bit - np.uint64(1)))


# Helpers that do not depend on the visitors, compiled once for all walks.
@inlined
def _block_bounds(piece, k, layout):
    """For block k of the piece: its first arc and end, the position of arc 0 in `ids`, its first and last vertex."""
    chunks, position, _, _, _ = piece
    shift, first_vertex, _, _, _ = layout
    low = chunks[k] << shift
    last = min(first_vertex[chunks[k] + 1], first_vertex[len(first_vertex) - 1] - 1)
    return low, low + (1 << shift), position[k] - low, first_vertex[chunks[k]], last


@inlined
def _row_in_block(layout, low, high, base, v):
    """(begin, end, whole) of row v in `ids`, clipped to the block."""
    _, _, group, row, hub = layout
    start, end = row_span(group, row, hub, v)
    begin = base + max(start, low)
    return begin, max(begin, base + min(end, high)), start >= low and end <= high


@inlined
def _index(bits):
    """Index of the lowest set bit; 63 if there is none."""
    return count_trailing_zeros(bits | (np.uint64(1) << np.uint64(63)))


@inlined
def _highest_bit(bits):
    """The highest set bit, alone; 0 if there is none."""
    return np.uint64(1) << np.uint64(63 - count_leading_zeros(bits)) if bits else NONE


@inlined
def _highest_index(bits):
    """Index of the highest set bit; 0 if there is none."""
    return 63 - count_leading_zeros(bits | np.uint64(1))


def block_walk(
    select: Visitor, visit: Visitor, settle: Visitor = _no_hits, again: bool = False, back: bool = False
) -> Visitor:
    """A walk with these visitors over one block: walk(piece, k, layout, state) goes over the rows of block k of the
    piece and returns the sum of the amounts. piece, layout : see row_walk. back : from the last row to the first; not
    with `again`."""
    assert not (again and back)
    pick, index = (_highest_bit, _highest_index) if back else (lowest_bit, _index)

    @inlined
    def walk(piece, k, layout, state):
        low, high, base, first, last = _block_bounds(piece, k, layout)
        total = 0
        n_words = (last >> 6) + 1 - (first >> 6)
        for step in range(n_words):
            word = (last >> 6) - step if back else (first >> 6) + step
            mask = range_mask(word, first, last)
            bits = select(state, word) & mask
            hits = NONE
            bit, v, begin, until, whole = NONE, first, low, low, np.bool_(False)  # no row yet
            while True:
                # Before the visit, for the reason in queue_walk, unless the visit may select another row.
                following = _row_in_block(layout, low, high, base, (word << 6) + index(bits))
                if bit:
                    amount, hit = visit(state, piece[4], v, begin, until, whole)
                    total += amount
                    if hit:
                        hits |= bit
                    if again:
                        mask &= _bits_above(bit)
                        bits = select(state, word) & mask
                        following = _row_in_block(layout, low, high, base, (word << 6) + index(bits))
                if not bits:
                    break
                begin, until, whole = following
                bit = pick(bits)
                v = (word << 6) + index(bits)
                bits ^= bit
            if hits:
                settle(state, word, hits)
        return total

    return walk


def row_walk(select: Visitor, visit: Visitor, settle: Visitor = _no_hits, back: bool = False) -> Visitor:
    """A walk with these visitors over all blocks: walk(piece, layout, state) returns the sum of the amounts of this
    thread. Threads share `turn` and take `grain` blocks at a time. back : from the last block of a piece, and the last
    row of a block, to the first.

    piece : (chunks int64[k], block numbers; position int64[k], begin of each block's ids in `ids`; turn int64[1];
    grain; ids), from Pager.sweep. layout : of Core."""
    one_block = block_walk(select, visit, settle, back=back)

    @inlined
    def walk(piece, layout, state):
        chunks, _, turn, grain, _ = piece
        total = 0
        while True:
            begin = atomic_add(turn, 0, grain)
            if begin >= len(chunks):
                return total
            for k in range(begin, min(begin + grain, len(chunks))):
                total += one_block(piece, len(chunks) - 1 - k if back else k, layout, state)

    return walk


def buffered_walk(select: Visitor, visit: Visitor, again: bool = False) -> Visitor:
    """As row_walk, for visitors that write to a buffer, at most one entry an arc.

    walk(piece, layout, state, room, count) takes blocks as long as `room` entries suffice for all arcs of another block
    (room < 0: nothing is written).

    count : int64[2]: entries so far, incremented by visitors; 1 while more blocks may remain, 0 at the end."""
    one_block = block_walk(select, visit, again=again)

    @inlined
    def walk(piece, layout, state, room, count):
        total = 0
        while room < 0 or count[0] + (1 << layout[0]) <= room:
            k = atomic_add(piece[2], 0, 1)
            if k >= len(piece[0]):
                count[1] = 0
                break
            total += one_block(piece, k, layout, state)
        return total

    return walk


def bit_walk(select: Visitor, visit: Visitor) -> Visitor:
    """A walk over the selected bits of bitmap words: walk(turn, grain, stop_word, state) on all threads returns the
    number of bits that this thread has visited, and the sum of the amounts.

    Threads share `turn`, int64[1], which begins at the first word, and take `grain` words at a time. select : as above.
    visit(state, v, word, bit) processes vertex v, whose bit of the word is `bit`; returns an amount."""
    @inlined
    def walk(turn, grain, stop_word, state):
        count = total = 0
        while True:
            begin = atomic_add(turn, 0, grain)
            if begin >= stop_word:
                return count, total
            for word in range(begin, min(begin + grain, stop_word)):
                bits = select(state, word)
                while bits:
                    bit = lowest_bit(bits)
                    bits ^= bit
                    total += visit(state, (word << 6) + count_trailing_zeros(bit), word, bit)
                    count += 1

    return walk


@kernel(uncompiled=uncompiled.mark_blocks)
def mark_blocks(blocks, span, layout, bitmap, invert, needed):
    """needed[i] = 1 if blocks[i] has an arc of a set bit's row (of a clear one's if invert) in span[0]..span[1]-1.

    needed : uint8[k]. A vertex without arcs counts as if it had one at its place."""
    shift, first_vertex, group, row, hub = layout
    flip = ALL if invert else np.uint64(0)
    for i in range(len(blocks)):
        c = blocks[i]
        first = max(span[0], first_vertex[c])
        last = min(first_vertex[c + 1], span[1] - 1)
        if last > first and row_start(group, row, hub, last) == (c + 1) << shift:
            last -= 1  # its row begins in the next block
        needed[i] = 0
        for word in range(first >> 6, (last >> 6) + 1):
            if (bitmap[word] ^ flip) & range_mask(word, first, last):
                needed[i] = 1
                break
