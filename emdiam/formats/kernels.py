"""Tokenizers for text graphs, compiled with numba.

A graph in text is irregular: comments anywhere, runs of blanks, weights on some lines only, rows of any length. A
parser of rectangular tables cannot report exactly the lines that it read. These kernels read each byte once and know
the line and the byte of the first fault. They release the GIL and run at some hundred MB/s.

Each kernel works on one block (uint8[k]) and stops at the end of the block or of the output. A block never cuts a line
and always ends with a line end, so that no inner loop has to check for the end of the block. The position is stored in
`state`, int64[STATE_SIZE], indexed by the names below.
"""

from __future__ import annotations

import numpy as np

from ..jit import inlined, kernel
from .base import MAX_ID
from .weights import LARGEST_WHOLE, LEAST_WHOLE

# Slots of `state`: next byte, 1-based line, pairs in the output, fault code, end of the block,
# first byte of the faulty line (or word), row (METIS: number of complete rows), number of words so far in this row,
# whether a comment is open, number of lines with more fields than the two ids and the weight, number of comment lines
# (not for METIS), number of used rows of `hard`, number of fractional weights, line of the first whole weight out of
# range.
POS, LINE, COUNT, FAULT, END, START, ROW, WORDS, COMMENT, MORE, COMMENTS, HARD, FRACTIONS, LARGE = range(14)
STATE_SIZE = 14

# Fault codes.
(OK, ONE_FIELD, NOT_INTEGER, NEGATIVE, TOO_LARGE, OUT_OF_RANGE, EMPTY_FIELD, WRONG_LETTER, FEW_FIELDS, OPEN_ROW,
 EXTRA_ROW, NO_WEIGHT, NO_NUMBER, NOT_FINITE, NEGATIVE_WEIGHT, LEADING_ZERO, MANY_FIELDS, INEXACT) = range(18)

# Slots of `options` of parse_pairs: letter at the start of each line (0: none), least and largest allowed id, fewest
# fields of a line, place of the weight from 1 on (0: none), whether it may be negative, whether ids with leading zeros
# are refused, whether fields beside the two ids and the weight are refused, separator of fields, whether each line may
# begin with a tab.
LETTER, LEAST, LARGEST, FIELDS, WEIGHT, MINUS, STRICT, CLOSED, SEPARATOR, INDENTED = range(10)
# Separators of fields: blanks or a comma, only blanks, only a tab, or only a comma, both with blanks around it. Blanks
# inside a field are a part of it, and two marks enclose an empty field.
BLANKS_OR_COMMA, BLANKS, TABS, COMMAS = range(4)
# Columns of `hard`, int64[k, 4], the weights that one correctly rounded operation cannot convert: begin and end of
# their text in the block, place in the output, line.
BEGIN, BEHIND, PLACE, AT_LINE = range(4)

_SAFE_DIGITS = 18
_LF, _CR, _SPACE, _TAB, _COMMA, _MINUS, _ZERO, _NINE, _PERCENT = 10, 13, 32, 9, 44, 45, 48, 57, 37
_PLUS, _POINT, _LOWER, _E, _I, _N = 43, 46, 32, 101, 105, 110
# Whole numbers below 2^53 are exact in float64, and no others are rounded to them; powers of ten are exact up to 10^22.
_EXACT, _EXACT_POWER = np.uint64(1 << 53), 22
# Below this number, different decimals with the same number of places have different float64 values.
_UNIQUE, _TEN = np.uint64(10**15), np.uint64(10)
_LARGEST_FLOAT = 1 << 53
_LARGEST_MINUS = -LEAST_WHOLE
_MOST_DIGITS, _MOST_POWER = np.uint64(10**18), 10_000
_POWERS = np.array([10.0**k for k in range(_EXACT_POWER + 1)])


@inlined
def _is_line_end(c):
    return c == _LF or c == _CR


@inlined
def _is_blank(c):
    return c == _SPACE or c == _TAB


@inlined
def _ends_field(c):
    return c == _SPACE or c == _LF or c == _TAB or c == _COMMA or c == _CR


@inlined
def _skip_blanks(buf, pos):
    while _is_blank(buf[pos]):
        pos += 1
    return pos


@inlined
def _skip_line(buf, pos):
    while not _is_line_end(buf[pos]):
        pos += 1
    return pos


@inlined
def _skip_spaces(buf, pos):
    while buf[pos] == _SPACE:
        pos += 1
    return pos


@inlined
def _skip_word(buf, pos):
    while not _ends_field(buf[pos]):
        pos += 1
    return pos


@inlined
def _skip_field(buf, pos, separator):
    """The position after the field at `pos`, before the blanks that follow it."""
    if separator == BLANKS_OR_COMMA:
        return _skip_word(buf, pos)
    behind, mark = pos, _TAB if separator == TABS else _COMMA
    while not _is_line_end(buf[pos]) and (separator == BLANKS or buf[pos] != mark):
        if not _is_blank(buf[pos]):
            behind = pos + 1
        elif separator == BLANKS:
            break
        pos += 1
    return behind


@inlined
def _skip_between(buf, pos, separator):
    """The position after the separator: blanks, and at most one mark among them."""
    if separator == TABS:
        pos = _skip_spaces(buf, pos)
        return _skip_spaces(buf, pos + 1) if buf[pos] == _TAB else pos
    pos = _skip_blanks(buf, pos)
    if buf[pos] == _COMMA and separator != BLANKS:
        pos = _skip_blanks(buf, pos + 1)
    return pos


@inlined
def _is_behind_field(buf, pos, separator):
    """Whether a field ends before `pos`."""
    if separator == BLANKS_OR_COMMA:
        return _ends_field(buf[pos])
    if separator == BLANKS:
        return _is_blank(buf[pos]) or _is_line_end(buf[pos])
    pos = _skip_spaces(buf, pos) if separator == TABS else _skip_blanks(buf, pos)
    return buf[pos] == (_TAB if separator == TABS else _COMMA) or _is_line_end(buf[pos])


@inlined
def _no_number(c, following):
    """The fault code for byte `c`, which cannot start an id."""
    if _is_line_end(c):
        return ONE_FIELD
    if c == _COMMA or c == _TAB:
        return EMPTY_FIELD
    if c == _MINUS and _ZERO <= following <= _NINE:
        return NEGATIVE
    return NOT_INTEGER


@inlined
def _number(buf, pos, separator):
    """(fault, value, pos after it) of the decimal number that must start at `pos`."""
    begin, value, fault = pos, np.int64(0), OK
    while _ZERO <= buf[pos] <= _NINE:
        digit = np.int64(buf[pos]) - _ZERO
        if pos - begin >= _SAFE_DIGITS and value > (MAX_ID - digit) // 10:
            fault = TOO_LARGE
            break
        value = value * 10 + digit
        pos += 1
    if pos == begin:
        fault = _no_number(buf[pos], 0 if _is_line_end(buf[pos]) else buf[pos + 1])
    elif fault == OK and not _is_behind_field(buf, pos, separator):
        fault, value, pos = _whole_float(buf, begin, separator)
    return fault, value, pos


@kernel
def _whole_float(buf, pos, separator):
    """(fault, value, pos after it) of the number at `pos`, which has a point or an exponent, and must be whole."""
    begin, value, digits, power = pos, np.int64(0), 0, np.int64(0)
    behind = False
    while _ZERO <= buf[pos] <= _NINE or (buf[pos] == _POINT and not behind):
        if buf[pos] == _POINT:
            behind = True
        else:
            if digits < _SAFE_DIGITS:
                value = value * 10 + np.int64(buf[pos]) - _ZERO
                digits += value > 0
                power -= behind
            elif buf[pos] != _ZERO:
                return INEXACT, value, pos
            else:
                power += not behind
        pos += 1
    if buf[pos] | _LOWER == _E:
        down, exponent, start = buf[pos + 1] == _MINUS, np.int64(0), pos + 1
        if down or buf[start] == _PLUS:
            start += 1
        pos = start
        while _ZERO <= buf[pos] <= _NINE:
            exponent = min(exponent * 10 + np.int64(buf[pos]) - _ZERO, _MOST_POWER)
            pos += 1
        if pos == start:
            return NOT_INTEGER, value, begin
        power += -exponent if down else exponent
    if not _is_behind_field(buf, pos, separator):
        return NOT_INTEGER, value, begin
    while power < 0 and value:
        if value % 10:
            return NOT_INTEGER, value, begin
        value //= 10
        power += 1
    while power > 0 and value:
        if value > _LARGEST_FLOAT:
            return INEXACT, value, begin
        value *= 10
        power -= 1
    return (INEXACT if value > _LARGEST_FLOAT else OK), value, pos


@inlined
def _digits(buf, pos, value):
    """(value with the digits from `pos` on appended, pos after them, number of digits that did not fit)."""
    lost = 0
    while _ZERO <= buf[pos] <= _NINE:
        if value < _MOST_DIGITS:
            value = value * np.uint64(10) + np.uint64(buf[pos] - _ZERO)
        else:
            lost += 1
        pos += 1
    return value, pos, lost


@inlined
def _weight(buf, pos, separator, minus, state, weights, count, hard):
    """(fault, pos after it) of the number at `pos`. Writes it to weights[count], or its place to `hard` for exact
    conversion later.

    minus : whether it may be negative."""
    begin, fault, fraction = pos, OK, False
    negative = buf[pos] == _MINUS
    if negative or buf[pos] == _PLUS:
        pos += 1
    start = pos
    value, pos, power = _digits(buf, pos, np.uint64(0))
    digits = pos - start
    if buf[pos] == _POINT:
        fraction, start = True, pos + 1
        value, pos, more = _digits(buf, start, value)
        digits += pos - start
        power -= pos - start - more
    if digits == 0:
        if pos == begin and _ends_field(buf[pos]):
            return NO_WEIGHT, pos
        letter = buf[pos] | _LOWER
        return (NOT_FINITE if letter == _I or letter == _N else NO_NUMBER), pos
    if buf[pos] | _LOWER == _E:
        fraction, pos = True, pos + 1
        down = buf[pos] == _MINUS
        if down or buf[pos] == _PLUS:
            pos += 1
        start, exponent = pos, np.int64(0)
        while _ZERO <= buf[pos] <= _NINE:
            exponent = min(exponent * 10 + np.int64(buf[pos]) - _ZERO, _MOST_POWER)
            pos += 1
        if pos == start:
            fault = NO_NUMBER
        power += -exponent if down else exponent
    if not _is_behind_field(buf, pos, separator):
        fault = NO_NUMBER
    elif negative and value and not minus:
        fault = NEGATIVE_WEIGHT
    if fault:
        return fault, pos
    number = np.float64(value)
    if fraction:
        state[FRACTIONS] += 1
    elif not state[LARGE] and number > (_LARGEST_MINUS if negative else LARGEST_WHOLE):
        state[LARGE] = state[LINE]
    while value >= _UNIQUE and power < 0 and value % _TEN == 0:
        value //= _TEN
        power += 1
    if value and (value >= _EXACT or power < -_EXACT_POWER or power > _EXACT_POWER or (value >= _UNIQUE and power < 0)):
        row = state[HARD]
        hard[row, PLACE], hard[row, BEGIN], hard[row, BEHIND], hard[row, AT_LINE] = count, begin, pos, state[LINE]
        state[HARD] = row + 1
    # A zero may have any power.
    number = np.float64(value)
    if power < 0:
        number /= _POWERS[min(-power, _EXACT_POWER)]
    else:
        number *= _POWERS[min(power, _EXACT_POWER)]
    # Never -0.0, which is the same weight as 0.0.
    weights[count] = -number if negative and value else number
    return OK, pos


@inlined
def _has_fields(buf, pos, separator, missing):
    """Whether at least `missing` more fields follow on this line."""
    while missing > 0:
        pos = _skip_between(buf, pos, separator)
        if _is_line_end(buf[pos]):
            return False
        pos = _skip_field(buf, pos, separator)
        missing -= 1
    return True


@inlined
def _find_line(buf, pos, end, line, comments, indented, state):
    """(pos, line) of the first line with data at or after `pos`, or of `end`. Counts comments. Unless `indented`, a tab
    at the beginning of a line is behind an empty field."""
    while pos < end:
        c = buf[pos]
        if c == _CR and pos + 1 < end and buf[pos + 1] == _LF:
            pos += 1
        elif _is_line_end(c):
            pos += 1
            line += 1
        elif c == _SPACE or (c == _TAB and (indented or _is_line_end(buf[_skip_blanks(buf, pos)]))):
            pos += 1
        elif comments[c]:
            pos = _skip_line(buf, pos)
            state[COMMENTS] += 1
        else:
            break
    return pos, line


@inlined
def _skip_marks(buf, pos, separator):
    """The position after blanks and separators, also if these enclose empty fields."""
    while _is_blank(buf[pos]) or (buf[pos] == _COMMA and separator != BLANKS and separator != TABS):
        pos += 1
    return pos


@inlined
def _rest_of_line(buf, pos, separator, weight, minus, closed, state, weights, count, hard):
    """(fault, pos after it) of the rest of a line after the second field: the weight in field number `weight`, if any,
    and further fields, which are counted, or are a fault if there are at least `closed` > 0 behind the second."""
    if weight:
        if not _has_fields(buf, pos, separator, weight - 2):
            return NO_WEIGHT, pos
        for _ in range(weight - 3):
            pos = _skip_field(buf, _skip_between(buf, pos, separator), separator)
        fault, pos = _weight(buf, _skip_between(buf, pos, separator), separator, minus, state, weights, count, hard)
        if fault:
            return fault, pos
    behind = _skip_marks(buf, pos, separator)
    if weight <= 3 and _is_line_end(buf[behind]):
        return OK, behind
    if closed and _has_fields(buf, pos, separator, closed - max(0, weight - 2)):
        return MANY_FIELDS, pos
    state[MORE] += 1
    return OK, _skip_line(buf, pos)


@kernel
def parse_pairs(buf, state, options, comments, src, dst, weights, hard):
    """Parse lines "a b ..." of `buf` into src, dst, and weights (from field number options[WEIGHT]).

    comments : bool[256], the first non-blank bytes of comment lines. options : int64[10]. src, dst : int64[k], and
    weights : float64[k], filled from state[COUNT] on; stops if `hard` is full. A bad line sets FAULT, LINE, START.
    """
    letter, least, largest, more = options[LETTER], options[LEAST], options[LARGEST], options[FIELDS] - 2
    weight, minus, strict, closed = options[WEIGHT], options[MINUS] != 0, options[STRICT] != 0, options[CLOSED]
    separator, indented = options[SEPARATOR], options[INDENTED] != 0
    pos, line, count, end = state[POS], state[LINE], state[COUNT], state[END]
    fault = OK
    while count < src.shape[0] and state[HARD] < hard.shape[0]:
        pos, line = _find_line(buf, pos, end, line, comments, indented, state)
        if pos >= end:
            break
        state[START] = pos
        if letter:
            if buf[pos] != letter or not _is_blank(buf[pos + 1]):
                fault = WRONG_LETTER
                break
            pos = _skip_blanks(buf, pos + 1)
        first = pos
        fault, a, pos = _number(buf, pos, separator)
        if fault:
            break
        pos = _skip_between(buf, pos, separator)
        second = pos
        fault, b, pos = _number(buf, pos, separator)
        if fault:
            break
        if strict and ((buf[first] == _ZERO and _ZERO <= buf[first + 1] <= _NINE)
                       or (buf[second] == _ZERO and _ZERO <= buf[second + 1] <= _NINE)):
            fault = LEADING_ZERO
            break
        if min(a, b) < least or max(a, b) > largest:
            fault = OUT_OF_RANGE
            break
        if more > 0 and not _has_fields(buf, pos, separator, more):
            fault = FEW_FIELDS
            break
        state[LINE] = line
        fault, pos = _rest_of_line(buf, pos, separator, weight, minus, closed, state, weights, count, hard)
        if fault:
            break
        src[count] = a
        dst[count] = b
        count += 1
    state[POS], state[LINE], state[COUNT], state[FAULT] = pos, line, count, fault


@kernel
def find_fields(buf, state, options, comments, spans, weights, hard):
    """Find the first two fields of each line of `buf`, for string ids; weights as in parse_pairs.

    spans : int64[k, 4], begin and end of both fields, filled from state[COUNT] on.
    """
    weight, minus, closed = options[WEIGHT], options[MINUS] != 0, options[CLOSED]
    separator, indented = options[SEPARATOR], options[INDENTED] != 0
    pos, line, count, end = state[POS], state[LINE], state[COUNT], state[END]
    fault = OK
    while count < spans.shape[0] and state[HARD] < hard.shape[0]:
        pos, line = _find_line(buf, pos, end, line, comments, indented, state)
        if pos >= end:
            break
        state[START] = pos
        first = pos
        pos = _skip_field(buf, pos, separator)
        first_end = pos
        pos = _skip_between(buf, pos, separator)
        second = pos
        pos = _skip_field(buf, pos, separator)
        if first == first_end or second == pos:
            fault = ONE_FIELD if first < first_end and _is_line_end(buf[pos]) else EMPTY_FIELD
            break
        spans[count, 0], spans[count, 1], spans[count, 2], spans[count, 3] = first, first_end, second, pos
        state[LINE] = line
        fault, pos = _rest_of_line(buf, pos, separator, weight, minus, closed, state, weights, count, hard)
        if fault:
            break
        count += 1
    state[POS], state[LINE], state[COUNT], state[FAULT] = pos, line, count, fault


@kernel
def gather_fields(buf, spans, field, offsets, data):
    """Copy field 0 or 1 of all spans into one array: `offsets` int32[k + 1], `data` uint8[...]."""
    at = 0
    offsets[0] = 0
    for i in range(spans.shape[0]):
        for pos in range(spans[i, 2 * field], spans[i, 2 * field + 1]):
            data[at] = buf[pos]
            at += 1
        offsets[i + 1] = at


@kernel
def parse_rows(buf, state, layout, src, dst, weights, hard):
    """Parse rows of a METIS graph in `buf` into src = row, dst = neighbour, from 0 or 1 on, and weights, float64[k].

    layout : int64[6] = (words before the first neighbour, words per neighbour, vertices, whether the word after a
    neighbour is a weight to keep, whether it may be negative, the first id). The block may end (with a blank) inside a
    row, but not inside a word; only LF ends a row.
    """
    lead, period, n_vertices, weighted, minus = layout[0], layout[1], layout[2], layout[3] != 0, layout[4] != 0
    least, pos, line, count, end = layout[5], state[POS], state[LINE], state[COUNT], state[END]
    row, words, comment, fault = state[ROW], state[WORDS], state[COMMENT], OK
    while pos < end and count < src.shape[0] and state[HARD] < hard.shape[0]:
        c = buf[pos]
        state[START] = pos
        if c == _LF:
            if not comment:
                if row < n_vertices and (words < lead or (words - lead) % period):
                    fault = OPEN_ROW
                    break
                row += 1
                words = 0
            comment = 0
            line += 1
            pos += 1
        elif comment or c == _SPACE or c == _TAB or c == _CR:
            pos += 1
        elif c == _PERCENT and words == 0:
            comment = 1
        elif row >= n_vertices:
            fault = EXTRA_ROW
            break
        elif weighted and words > lead and (words - lead) % period:
            state[LINE] = line
            fault, pos = _weight(buf, pos, BLANKS_OR_COMMA, minus, state, weights, count, hard)
            if fault:
                break
            count += 1
            words += 1
        elif words < lead or (words - lead) % period:
            pos = _skip_word(buf, pos)
            words += 1
        else:
            fault, value, pos = _number(buf, pos, BLANKS_OR_COMMA)
            if fault == OK and not least <= value < n_vertices + least:
                fault = OUT_OF_RANGE
            if fault:
                break
            src[count] = row + least
            dst[count] = value
            if not weighted:  # otherwise count the pair when its weight is read
                count += 1
            words += 1
    state[POS], state[LINE], state[COUNT], state[FAULT] = pos, line, count, fault
    state[ROW], state[WORDS], state[COMMENT] = row, words, comment
