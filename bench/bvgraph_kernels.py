"""Rows to bits of a BVGraph with the usual codes, compiled: what giant.py runs.

Every row of up to WINDOW before is tried as the one to copy from, by the bits that it would take, as WebGraph does.
Bits are put into words that are 0 before, highest first.
"""

from __future__ import annotations

import numpy as np

from emdiam.formats.bvgraph_kernels import leading_zeros
from emdiam.jit import inlined, kernel

WINDOW, CHAIN, LEAST_INTERVAL, ZETA = 7, 3, 4, 3
"""Rows that one may be copied from; how many are copied one from another; ids of an interval; k of the zeta code."""

_SLOTS = WINDOW + 1


@inlined
def _width(x):
    """Bits of a number above 0."""
    return 64 - leading_zeros(np.uint64(x))


@inlined
def _natural(x):
    """0, 1, 2, 3, ... of 0, -1, 1, -2, ..."""
    return x << 1 if x >= 0 else -(x << 1) - 1


@inlined
def _gamma_bits(x):
    return 2 * _width(x + 1) - 1


@inlined
def _zeta_bits(x):
    width = _width(x + 1)
    h = (width - 1) // ZETA
    return (h + 1) * (ZETA + 1) - (width == h * ZETA + 1)


@inlined
def _put(words, pos, value, n):
    """Put a number in n bits, 1 to 64, and return the place behind them."""
    at, free, bits = pos >> 6, 64 - (pos & 63), np.uint64(value)
    if n <= free:
        words[at] |= bits << np.uint64(free - n)
    else:
        words[at] |= bits >> np.uint64(n - free)
        words[at + 1] |= bits << np.uint64(64 - n + free)
    return pos + n


@inlined
def _put_gamma(words, pos, x):
    width = _width(x + 1)
    return _put(words, pos + width - 1, x + 1, width)


@inlined
def _put_zeta(words, pos, x):
    width = _width(x + 1)
    h = (width - 1) // ZETA
    n = (h + 1) * ZETA - 1
    if width == h * ZETA + 1:  # below 2 * 2^(h k): one bit less
        return _put(words, pos + h, (np.int64(1) << n) + x + 1 - (np.int64(1) << (h * ZETA)), n + 1)
    return _put(words, pos + h, (np.int64(2) << n) + x + 1, n + 2)


@inlined
def _compared(ids, row, other, blocks, rest):
    """(blocks, ids of the row that are not in the other one, their number of bits for the blocks). row, other : first
    and last place + 1 in `ids`. Lengths of blocks, copied and left out by turns, go to `blocks`, ids to `rest`."""
    at, stop, count, n_rest, bits = row[0], row[1], np.int64(0), np.int64(0), np.int64(0)
    keeps, size = True, np.int64(0)
    for place in range(other[0], other[1]):
        id_ = ids[place]
        while at < stop and ids[at] < id_:
            rest[n_rest] = ids[at]
            n_rest += 1
            at += 1
        is_copied = at < stop and ids[at] == id_
        at += is_copied
        if is_copied != keeps:
            blocks[count] = size - (count > 0)
            bits += _gamma_bits(blocks[count])
            count += 1
            keeps, size = is_copied, np.int64(0)
        size += 1
    if not keeps:  # what follows the last block that is left out is copied anyhow
        blocks[count] = size - (count > 0)
        bits += _gamma_bits(blocks[count])
        count += 1
    for place in range(at, stop):
        rest[n_rest] = ids[place]
        n_rest += 1
    return count, n_rest, bits + _gamma_bits(count)


@inlined
def _behind_run(ids, place, stop):
    """The place behind ids that follow one another from this one on."""
    behind = place + 1
    while behind < stop and ids[behind] == ids[behind - 1] + 1:
        behind += 1
    return behind


@inlined
def _rest_bits(ids, first, stop, v):
    """(bits, intervals) of ids[first:stop] of node v without a row to copy from."""
    bits, intervals, place = np.int64(0), np.int64(0), first
    behind, before = np.int64(-1), np.int64(-1)
    while place < stop:
        end = _behind_run(ids, place, stop)
        if end - place >= LEAST_INTERVAL:
            bits += _gamma_bits(_natural(ids[place] - v) if behind < 0 else ids[place] - behind - 1)
            bits += _gamma_bits(end - place - LEAST_INTERVAL)
            behind = ids[end - 1] + 1
            intervals += 1
        else:
            bits += _zeta_bits(_natural(ids[place] - v) if before < 0 else ids[place] - before - 1)
            bits += (end - place - 1) * ZETA  # gaps of 0
            before = ids[end - 1]
        place = end
    return bits + (_gamma_bits(intervals) if stop > first else 0), intervals


@inlined
def _put_rest(words, pos, ids, first, stop, v, intervals):
    """Put what _rest_bits has counted."""
    pos, place, behind, before = _put_gamma(words, pos, intervals), first, np.int64(-1), np.int64(-1)
    while place < stop and intervals:
        end = _behind_run(ids, place, stop)
        if end - place >= LEAST_INTERVAL:
            pos = _put_gamma(words, pos, _natural(ids[place] - v) if behind < 0 else ids[place] - behind - 1)
            pos = _put_gamma(words, pos, end - place - LEAST_INTERVAL)
            behind = ids[end - 1] + 1
        place = end
    place = first
    while place < stop:
        end = _behind_run(ids, place, stop)
        if end - place < LEAST_INTERVAL:
            for at in range(place, end):
                pos = _put_zeta(words, pos, _natural(ids[at] - v) if before < 0 else ids[at] - before - 1)
                before = ids[at]
        place = end
    return pos


@inlined
def _best(ids, starts, row, v, depths, spare):
    """(rows back, 0 for none, of the one to copy from; blocks; ids that are not in it; intervals). The row of node v is
    number `row`. They are in the last two rows of `spare`."""
    first, stop = starts[row], starts[row + 1]
    least, intervals = _rest_bits(ids, first, stop, v)
    least += 1  # of the reference
    found, n_blocks, n_rest = np.int64(0), np.int64(0), stop - first
    for back in range(1, min(WINDOW, row) + 1):
        other = (starts[row - back], starts[row - back + 1])
        if depths[(row - back) % _SLOTS] >= CHAIN or other[0] == other[1]:
            continue
        count, n, bits = _compared(ids, (first, stop), other, spare[0], spare[1])
        if n == stop - first:
            continue
        rest, runs = _rest_bits(spare[1], 0, n, v)
        bits += rest + back + 1
        if bits < least:
            least, found, n_blocks, n_rest, intervals = bits, np.int64(back), count, n, runs
            for i in range(count):
                spare[2, i] = spare[0, i]
            for i in range(n):
                spare[3, i] = spare[1, i]
    return found, n_blocks, n_rest, intervals


@kernel
def encode_rows(ids, starts, v, words, lengths, spare):
    """Put the rows of nodes v, v + 1, ... ; returns their bits, of all and, in `lengths`, of each.

    ids : int64[k], rising within each row. starts : int64[rows + 1], where in `ids` each row begins. words : uint64[k],
    zeros. spare : int64[4, length of the longest row + 1]."""
    pos, depths = np.int64(0), np.zeros(_SLOTS, np.int64)
    for row in range(starts.shape[0] - 1):
        begin, degree = pos, starts[row + 1] - starts[row]
        pos = _put_gamma(words, pos, degree)
        depths[row % _SLOTS] = 0
        if degree:
            back, count, n, intervals = _best(ids, starts, row, v + row, depths, spare)
            pos = _put(words, pos + back, 1, 1)
            if back:
                depths[row % _SLOTS] = depths[(row - back) % _SLOTS] + 1
                pos = _put_gamma(words, pos, count)
                for block in range(count):
                    pos = _put_gamma(words, pos, spare[2, block])
                if n:
                    pos = _put_rest(words, pos, spare[3], 0, n, v + row, intervals)
            else:
                pos = _put_rest(words, pos, ids, starts[row], starts[row + 1], v + row, intervals)
        lengths[row] = pos - begin
    return pos


@kernel
def encode_gaps(gaps, words):
    """Put numbers, int64[k], by the code of offsets; returns their bits."""
    pos = np.int64(0)
    for i in range(gaps.shape[0]):
        pos = _put_gamma(words, pos, gaps[i])
    return pos
