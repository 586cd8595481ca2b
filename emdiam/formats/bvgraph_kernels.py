"""Decoding of the bits of a BVGraph, compiled with numba; called by bvgraph.py.

If the lowest bits come first in a stream, bvgraph.py reverses each byte before, so that codes always begin at the high
bit of a byte; only the order of bits within a number then differs.

A kernel stops, with a reason, at the first row that it cannot decode completely, and starts with that row at the next
call. Each count, reference and id is checked before its use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import inlined, intrinsic, ir, kernel, types

UNARY, GAMMA, DELTA, ZETA, NIBBLE, GOLOMB = range(6)
"""Codes; a number of Settings.CODES has one of them, and above the lowest 8 bits the parameter of zeta or Golomb."""

# Slots of `state`: next bit of `data`; next node, and the end of the nodes; next place in `ids`, and the first one of
# this batch; number of arcs still allowed; missing room; bit of the fault in a row.
POS, NODE, STOP, AT, FIRST, ARCS, NEED, WHERE = range(8)
# Slots of `settings`: bits of `data`; nodes; number of earlier rows in the window; least length of an interval, 0
# without intervals; whether the lowest bit of a number comes first; codes.
(LIMIT, NODES, WINDOW, LEAST_INTERVAL, LITTLE,
 OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, INTERVALS, RESIDUALS) = range(11)
# Reasons to stop: the last node is done; no room for a row in `ids`, or in `spare`; `data` end within a row; and faults
# of a row.
(DONE, ROOM, SPARE, BITS, BAD_DEGREE, TOO_MANY, BAD_REFERENCE, BAD_BLOCKS, BAD_INTERVALS, BAD_ID,
 TWICE) = range(11)
PADDING = 64
"""Bytes that `data` have behind their bits: what one code may read ahead."""

_ONE = np.uint64(1)
_ZETA_3 = ZETA | 3 << 8
_MOST_BITS = 62  # largest number of bits of a number


@intrinsic
def _word(typingctx: Any, data: Any, at: Any) -> Any:
    """The eight bytes of uint8[:] from `at` on as a big-endian uint64."""
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.bswap(builder.load(pointer, align=1))

    return types.uint64(data, types.int64), codegen


def _one_word(operation: str) -> Any:
    """A function of a word: its bits in reverse order (bitreverse), or the zeros above its highest 1 (ctlz; word > 0).
    """
    @intrinsic
    def function(typingctx: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            more = [ir.Constant(ir.IntType(1), 1)] if operation == "ctlz" else []
            return getattr(builder, operation)(args[0], *more)

        return (types.int64 if operation == "ctlz" else types.uint64)(types.uint64), codegen

    return function


leading_zeros, _reversed = _one_word("ctlz"), _one_word("bitreverse")


@inlined
def _window(data, pos):
    """The bits from `pos` on, highest first: at least 57, then zeros."""
    return _word(data, pos >> 3) << np.uint64(pos & 7)


@inlined
def _top(window, n, little):
    """The number in the first n <= 57 bits of a window."""
    if little:
        return np.int64(_reversed(window) & ((_ONE << np.uint64(n)) - _ONE))
    return np.int64(window >> _ONE >> np.uint64(63 - n))


@inlined
def _bits(data, pos, n, little):
    """The number in n <= 62 bits."""
    if n <= 56:
        return _top(_window(data, pos), n, little)
    first, last = _top(_window(data, pos), 32, little), _top(_window(data, pos + 32), n - 32, little)
    return first | last << 32 if little else first << (n - 32) | last


@inlined
def _zeros(data, pos, limit):
    """The number of zero bits from `pos` on; if there is no 1 before bit `limit`, a number that leads beyond it."""
    n = 0
    while pos + n <= limit:
        zeros = leading_zeros(_window(data, pos + n) | _ONE)
        if zeros < 57:
            return n + zeros
        n += 56
    return n


@inlined
def _gamma(data, pos, limit, little):
    window = _window(data, pos) | _ONE
    n = leading_zeros(window)
    if n <= 28:
        return (np.int64(1) << n) - 1 + _top(window << np.uint64(n + 1), n, little), pos + 2 * n + 1
    n = _zeros(data, pos, limit)
    if n > _MOST_BITS:
        return -1, pos + n
    return (np.int64(1) << n) - 1 + _bits(data, pos + n + 1, n, little), pos + 2 * n + 1


@inlined
def _delta(data, pos, limit, little):
    n, pos = _gamma(data, pos, limit, little)
    if n < 0 or n > _MOST_BITS:
        return -1, pos
    return (np.int64(1) << n) - 1 + _bits(data, pos, n, little), pos + n


@inlined
def _zeta(data, pos, limit, little, k):
    zeros = _zeros(data, pos, limit)
    n = (zeros + 1) * k - 1
    if zeros > _MOST_BITS or n > _MOST_BITS:
        return -1, pos + zeros
    pos += zeros + 1
    least, value = np.int64(1) << (n + 1 - k), _bits(data, pos, n, little)
    if value < least:
        return value + least - 1, pos + n
    return (value << 1) + _top(_window(data, pos + n), 1, little) - 1, pos + n + 1


@inlined
def _nibbles(data, pos, limit, little):
    value, nibble = np.int64(0), np.int64(0)
    while nibble < 8 and pos <= limit:
        nibble = _top(_window(data, pos), 4, little)
        pos += 4
        if value >> (_MOST_BITS - 3):
            return -1, pos
        value = value << 3 | (nibble & 7)
    return value, pos


@inlined
def _golomb(data, pos, limit, little, modulus):
    times = _zeros(data, pos, limit)
    pos += times + 1
    if times > (np.int64(1) << _MOST_BITS) // modulus:
        return -1, pos
    n = 63 - leading_zeros(np.uint64(modulus))
    short, rest = (np.int64(2) << n) - modulus, _bits(data, pos, n, little)
    if rest >= short:
        rest = (rest << 1) + _bits(data, pos + n, 1, little) - short
        pos += 1
    return times * modulus + rest, pos + n


@kernel
def _read(data, pos, limit, code, little):
    """(value, next bit) of the code at `pos`. The value is negative if it has more than 62 bits. For a code that is
    incomplete at `limit`, the next bit is beyond it."""
    kind = code & 255
    if kind == GAMMA:
        return _gamma(data, pos, limit, little)
    if kind == ZETA:
        return _zeta(data, pos, limit, little, code >> 8)
    if kind == UNARY:
        zeros = _zeros(data, pos, limit)
        return zeros, pos + zeros + 1
    if kind == DELTA:
        return _delta(data, pos, limit, little)
    if kind == NIBBLE:
        return _nibbles(data, pos, limit, little)
    return _golomb(data, pos, limit, little, code >> 8)


@inlined
def _coded(data, pos, limit, code, little):
    """As _read, but inline for the usual code, gamma."""
    if code == GAMMA:
        return _gamma(data, pos, limit, little)
    return _read(data, pos, limit, code, little)


@inlined
def _residual(data, pos, limit, code, little):
    """As _read, but inline for the usual code, zeta_3, unless it is very long."""
    window = _window(data, pos)
    zeros = leading_zeros(window | _ONE)
    if code != _ZETA_3 or little or zeros > 12:
        return _read(data, pos, limit, code, little)
    n, rest = 3 * zeros + 2, window << np.uint64(zeros + 1)
    value, least = np.int64(rest >> np.uint64(64 - n)), np.int64(1) << (n - 2)
    is_longer, longer = value >= least, np.int64(rest >> np.uint64(63 - n))
    return (longer if is_longer else value + least) - 1, pos + zeros + 1 + n + is_longer  # without a branch


@inlined
def _signed(x):
    """The signed number for a code: 0, -1, 1, -2, ... for 0, 1, 2, 3, ..."""
    return (x >> 1) ^ -(x & 1)


@inlined
def _copy_blocks(data, pos, row, settings, spare, ids, state):
    """(reason to stop, bit after the blocks, number of copied ids) for a row that copies from another one. row : place
    and length of the row, then of the other row. The ids are written at the end of the row."""
    at, d, other, length = row
    limit, little = settings[LIMIT], settings[LITTLE]
    count, pos = _coded(data, pos, limit, settings[BLOCK_COUNT], little)
    if pos > limit:
        return BITS, pos, 0
    if count < 0 or count > length + 1:
        return BAD_BLOCKS, pos, 0
    if count > spare.shape[0]:
        state[NEED] = count
        return SPARE, pos, 0
    covered, copied = np.int64(0), np.int64(0)
    for block in range(count):
        size, pos = _coded(data, pos, limit, settings[BLOCKS], little)
        if pos > limit:
            return BITS, pos, 0
        size += size >= 0 and block > 0
        if size < 0 or size > length - covered:
            return BAD_BLOCKS, pos, 0
        spare[block] = size
        covered += size
        if block & 1 == 0:
            copied += size
    rest = length - covered if count & 1 == 0 else 0
    copied += rest
    if copied > d:
        return BAD_BLOCKS, pos, 0
    to = at + d - copied
    for block in range(count):
        size = spare[block]
        if block & 1 == 0:
            for i in range(size):
                ids[to + i] = ids[other + i]
            to += size
        other += size
    for i in range(rest):
        ids[to + i] = ids[other + i]
    return DONE, pos, copied


@inlined
def _read_intervals(data, pos, v, most, settings, spare, state):
    """(reason to stop, bit after the intervals, their number, number of their ids) for the row of node v, with at most
    `most` ids. Writes pairs of first id and length to `spare`."""
    limit, little, least, nodes = settings[LIMIT], settings[LITTLE], settings[LEAST_INTERVAL], settings[NODES]
    count, pos = _coded(data, pos, limit, settings[INTERVALS], little)
    if pos > limit:
        return BITS, pos, 0, 0
    if count < 0 or count > most // least:
        return BAD_INTERVALS, pos, 0, 0
    if 2 * count > spare.shape[0]:
        state[NEED] = 2 * count
        return SPARE, pos, 0, 0
    behind, total = np.int64(0), np.int64(0)
    for i in range(count):
        gap, pos = _coded(data, pos, limit, settings[INTERVALS], little)
        length, pos = _coded(data, pos, limit, settings[INTERVALS], little) if pos <= limit else (0, pos)
        if pos > limit:
            return BITS, pos, 0, 0
        if gap < 0 or gap > 2 * nodes:
            return BAD_ID, pos, 0, 0
        if length < 0 or length > most - total - least:
            return BAD_INTERVALS, pos, 0, 0
        length += least
        first = v + _signed(gap) if i == 0 else behind + 1 + gap
        if first < 0 or first > nodes - length:
            return BAD_ID, pos, 0, 0
        spare[2 * i], spare[2 * i + 1] = first, length
        behind = first + length
        total += length
    return DONE, pos, count, total


@inlined
def _merge_intervals(ids, at, end, to, spare, count):
    """Merge the intervals in `spare` with ids[at:end], from place `to` on; returns whether no id occurs twice."""
    for i in range(count):
        first, length = spare[2 * i], spare[2 * i + 1]
        while at < end and ids[at] < first:
            ids[to] = ids[at]
            to += 1
            at += 1
        if at < end and ids[at] < first + length:
            return False
        for j in range(length):
            ids[to + j] = first + j
        to += length
    return True


@inlined
def _merge_residuals(data, pos, v, row, settings, ids):
    """(reason to stop, bit after them) for residuals, merged with the ids at the end of a row. row : its place, its
    length, the number of residuals."""
    to, d, count = row
    limit, little, nodes, code = settings[LIMIT], settings[LITTLE], settings[NODES], settings[RESIDUALS]
    at, end, id_ = to + count, to + d, np.int64(-1)
    for i in range(count):
        gap, pos = _residual(data, pos, limit, code, little)
        if pos > limit:
            return BITS, pos
        if gap < 0 or gap > 2 * nodes:
            return BAD_ID, pos
        id_ = v + _signed(gap) if i == 0 else id_ + 1 + gap
        if id_ < 0 or id_ >= nodes:
            return BAD_ID, pos
        while at < end and ids[at] < id_:
            ids[to] = ids[at]
            to += 1
            at += 1
        if at < end and ids[at] == id_:
            return TWICE, pos
        ids[to] = id_
        to += 1
    return DONE, pos


@inlined
def _decode_row(data, pos, v, d, at, settings, rows, spare, ids, state):
    """(reason to stop, bit after it) for the row of node v with d > 0 ids, written to ids[at:at + d]."""
    limit, window, copied, total = settings[LIMIT], settings[WINDOW], np.int64(0), np.int64(0)
    if window > 0:
        back, pos = _read(data, pos, limit, settings[REFERENCES], settings[LITTLE])
        if pos > limit:
            return BITS, pos
        slot = (v - back) % (window + 1)
        if back < 0 or back > min(window, v) or (back > 0 and rows[1, slot] < 0):
            return BAD_REFERENCE, pos
        if back > 0:
            row = (at, d, rows[0, slot], rows[1, slot])
            status, pos, copied = _copy_blocks(data, pos, row, settings, spare, ids, state)
            if status != DONE:
                return status, pos
    if d > copied and settings[LEAST_INTERVAL] > 0:
        status, pos, count, total = _read_intervals(data, pos, v, d - copied, settings, spare, state)
        if status != DONE:
            return status, pos
        if count and not _merge_intervals(ids, at + d - copied, at + d, at + d - copied - total, spare, count):
            return TWICE, pos
    return _merge_residuals(data, pos, v, (at, d, d - copied - total), settings, ids)


@kernel
def decode_rows(data, state, settings, rows, spare, ids, sources):
    """Decode the rows of nodes state[NODE] to state[STOP] - 1 as far as possible; returns the reason to stop.

    data : uint8[k], decoded from bit state[POS] to settings[LIMIT]. rows : int64[2, window + 1], place in `ids` and
    length of the row of node v in column v mod (window + 1); a negative length without a row. spare : int64[k], work
    space. ids : int64[k]. sources : int64[k], the sources of ids[state[FIRST]:], as far as there is room."""
    pos, v, at, slots, limit = state[POS], state[NODE], state[AT], rows.shape[1], settings[LIMIT]
    status = DONE
    while v < state[STOP]:
        d, pos = _coded(data, pos, limit, settings[OUTDEGREES], settings[LITTLE])
        if pos > limit:
            status = BITS
        elif d < 0 or d > settings[NODES]:
            status = BAD_DEGREE
        elif d > state[ARCS]:
            status = TOO_MANY
        elif d > ids.shape[0] - at:
            state[NEED], status = d, ROOM
        elif d > 0:
            status, pos = _decode_row(data, pos, v, d, at, settings, rows, spare, ids, state)
        if status != DONE:
            break
        rows[0, v % slots], rows[1, v % slots] = at, d
        behind = min(at + d - state[FIRST], sources.shape[0])
        for i in range(at - state[FIRST], behind):
            sources[i] = v
        at += d
        v += 1
        state[ARCS] -= d
        state[POS] = pos
    state[NODE], state[AT], state[WHERE] = v, at, pos
    return status


@kernel
def references(data, positions, v, settings):
    """Replace each row's bit offset in `positions` by the node that the row copies from, for nodes v, v + 1, ....

    The result is the node itself without a copy, and -1 if the row has a fault or does not begin in `data`."""
    limit = settings[LIMIT]
    for i in range(positions.shape[0]):
        if positions[i] < 0 or positions[i] > limit:
            positions[i] = -1
            continue
        d, pos = _read(data, positions[i], limit, settings[OUTDEGREES], settings[LITTLE])
        back = np.int64(0)
        if d > 0 and settings[WINDOW] > 0 and pos <= limit:
            back, pos = _read(data, pos, limit, settings[REFERENCES], settings[LITTLE])
        positions[i] = -1 if pos > limit or back < 0 or back > settings[WINDOW] else v + i - back


@kernel
def sums_of_gaps(data, pos, limit, code, total, out):
    """Write to `out` the prefix sums, starting at `total`, of the gaps in a stream of offsets from bit `pos` on.

    Returns (number of sums, next bit). Stops before an incomplete gap, or one that leads beyond 2^62."""
    for i in range(out.shape[0]):
        gap, behind = _read(data, pos, limit, code, False)
        if behind > limit or gap < 0 or gap > (np.int64(1) << _MOST_BITS) - total:
            return i, pos
        total += gap
        out[i], pos = total, behind
    return out.shape[0], pos
