"""Errors in a CSV, with their positions: misplaced quotes (RFC 4180), and a slow second pass over a block that pyarrow
refuses.

A field is quoted if it begins with a double quote; two double quotes inside it mean one. For pyarrow an unclosed quote
starts a field that extends to the end, and text after a closing quote belongs to the field, so that a damaged line
would join many records, or digits, to one id. This module treats both as errors.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..jit import kernel
from .base import MAX_ID
from .csv_table import WEIGHT_TEXT
from .lines import NO_UTF_8
from .look_ends import MISSING
from .look_sample import has_leading_zero, is_integer, whole_number
from .streams import MAX_LINE_BYTES, count_lines, line_text
from .weights import LARGEST_WHOLE, LEAST_WHOLE, NEGATIVE, NO_INFINITE, NO_NEGATIVE, NOT_FINITE, WeightChoice

if TYPE_CHECKING:
    from .csv_table import Header

_LF, _CR, _QUOTE, _SPACE, _TAB = 10, 13, 34, 32, 9
# States of the scan: at the beginning of a field, after blanks there, in an unquoted field, inside quotes, after a
# closing quote, after blanks that follow it.
_BEGIN, _BLANK, _PLAIN, _QUOTED, _CLOSED, _BEHIND = range(6)
# Slots of the result of _scan.
_CUT, _OPENED, _FAULT, _AT, _STATE, _CUT_CR = range(6)
_NONE, _TEXT_BEHIND, _QUOTE_BEHIND_BLANK = range(3)


@kernel
def _scan(buf, filled, separator, src, dst, weight, out):
    """Scan the records in buf[:filled], from the first byte. src, dst, weight : columns to read, -1 for none.

    out : int64[6] = the position after the last line feed outside quotes, the start of the last quoted field, the fault
    and its position, the state at the end of the block, the position after the last carriage return outside quotes that
    is not the last byte.
    """
    state, column = _BEGIN, 0
    out[_CUT], out[_OPENED], out[_FAULT], out[_AT], out[_CUT_CR] = 0, -1, _NONE, -1, 0
    for pos in range(filled):
        c = buf[pos]
        if state == _QUOTED:
            if c == _QUOTE:
                state = _CLOSED
        elif state == _CLOSED and c == _QUOTE:
            state = _QUOTED
        elif c == _LF or c == _CR:
            state, column = _BEGIN, 0
            if c == _LF:
                out[_CUT] = pos + 1
            elif pos + 1 < filled:
                out[_CUT_CR] = pos + 1
        elif c == separator:
            state, column = _BEGIN, column + 1
        elif state == _PLAIN:
            continue
        elif state == _CLOSED or state == _BEHIND:
            if c != _SPACE and c != _TAB:
                out[_FAULT], out[_AT] = _TEXT_BEHIND, pos
                break
            state = _BEHIND
        elif c == _QUOTE:
            if state == _BLANK and (column == src or column == dst or column == weight):
                out[_FAULT], out[_AT] = _QUOTE_BEHIND_BLANK, pos
                break
            if state == _BEGIN:
                out[_OPENED] = pos
                state = _QUOTED
            else:
                state = _PLAIN
        else:
            state = _BLANK if c == _SPACE or c == _TAB else _PLAIN
    out[_STATE] = state


class Quotes:
    """The quotes of one CSV input. separator : between fields. columns : columns of the two ids, and of the weights."""

    def __init__(self, name: str, separator: str, columns: tuple[int, ...]) -> None:
        self._name, self._separator, self._columns = name, ord(separator), (*columns, -1)[:3]
        self._out = np.zeros(6, np.int64)

    def _scanned(self, block: Any, filled: int) -> Any:
        _scan(block, filled, self._separator, *self._columns, self._out)
        return self._out

    def cut(self, buffer: bytearray, filled: int) -> int:
        """The position after the last line end outside quotes; see streams.Cut. With a fault it is the end of the
        block, since no line end after the fault is certain. An unclosed quote is a fault from 16 MiB on."""
        out = self._scanned(np.frombuffer(buffer, np.uint8, filled), filled)
        place = int(out[_CUT] or out[_CUT_CR])
        endless = out[_STATE] == _QUOTED and not place and filled >= MAX_LINE_BYTES
        return filled if out[_FAULT] or endless else place

    def check(self, block: Any, first_line: int) -> None:
        """Raise InputError with line and text if a quote of the records in `block`, uint8[k], is misplaced.
        first_line : the number of its first line."""
        out = self._scanned(block, len(block))
        opened = first_line + count_lines(block[: max(0, out[_OPENED])])
        if out[_FAULT] == _TEXT_BEHIND:
            what = f"text follows the closing quote of a field, which opens on line {opened}"
            raise self._error(what, block, int(out[_AT]), first_line)
        if out[_FAULT] == _QUOTE_BEHIND_BLANK:
            raise self._error("an id or a weight has a quote behind a blank", block, int(out[_AT]), first_line)
        if out[_STATE] == _QUOTED:
            raise self._error("a quote opens here and is never closed", block, int(out[_OPENED]), first_line)

    def _error(self, what: str, block: Any, at: int, first_line: int) -> InputError:
        before = block[:at].tobytes()
        begin = max(before.rfind(b"\n"), before.rfind(b"\r")) + 1
        return InputError(what, path=self._name, line=first_line + count_lines(block[:at]),
                          text=line_text(block, begin), remedy="fix the quotes")


_ZEROS = "say --ids string if ids are names, or --ids int if they are numbers"

Fault = tuple[str, str]
"""(what, remedy) of a record that is wrong."""


def find_fault(data: bytes, header: Header, ids: str, name: str, first_line: int,
               weights: WeightChoice | None = None) -> InputError | None:
    """The error for the first fault in the records of `data`. first_line : number of its first line. ids : "string",
    "int", or "auto" for integers without leading zeros."""
    def fault(record: list[str]) -> Fault | None:
        return _record_fault(record, header, ids) or (
            None if weights is None else _weight_fault(record[header.weight].strip(), weights))

    return _first(data, header, name, first_line, fault)


def large_weight(data: bytes, header: Header, name: str, first_line: int, negative: bool) -> InputError | None:
    """The error for the first whole weight out of range in the records of `data`. negative : whether weights may be
    below 0."""
    def fault(record: list[str]) -> Fault | None:
        text = record[header.weight].strip()
        if not text.lstrip("+-").isdecimal() or LEAST_WHOLE <= float(text) <= LARGEST_WHOLE:
            return None
        return (f"a whole weight is outside {LEAST_WHOLE if negative else 0}..{LARGEST_WHOLE}",
                "scale the weights down, or write one of them with a point to take all as floats")

    return _first(data, header, name, first_line, fault)


def _first(data: bytes, header: Header, name: str, first_line: int,
           fault_of: Callable[[list[str]], Fault | None]) -> InputError | None:
    """The error for the first record with a fault from `fault_of`."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=header.separator)
    line = 1
    try:
        for record in reader:
            fault = fault_of(record) if record else None
            if fault:
                what, remedy = fault
                shown = "".join(lines[line - 1 : reader.line_num]).rstrip()
                return InputError(what, path=name, line=first_line + line - 1, remedy=remedy,
                                  text=shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
            line = reader.line_num + 1
    except csv.Error as error:
        return InputError(f"the record cannot be parsed ({error})", path=name, line=first_line + line - 1,
                          remedy="fix the record")
    return None


def _weight_fault(text: str, weights: WeightChoice) -> Fault | None:
    """The fault of a weight, or None."""
    if not text:
        return "a weight is missing", "give every edge a weight, or leave out --weights"
    if text.lstrip("+-").lower() in ("nan", "inf", "infinity") or (
            re.match(WEIGHT_TEXT, text) and not math.isfinite(float(text))):
        return NOT_FINITE, NO_INFINITE
    if not re.match(WEIGHT_TEXT, text):
        return "a weight is not a number", "fix the record, or leave out --weights"
    return (NEGATIVE, NO_NEGATIVE) if not weights.negative and float(text) < 0 else None


def _record_fault(record: list[str], header: Header, ids: str) -> Fault | None:
    """The fault of the ids or the length of a record, or None."""
    if len(record) != header.n_columns:
        return f"a record of {len(record)} fields where {header.n_columns} are expected", "fix the record"
    as_names = "fix the record, or keep such ids as names with --ids string"
    for field in (record[header.src].strip(), record[header.dst].strip()):
        if not field or (ids == "auto" and field in MISSING):
            return "an id is missing", "fix the record, or delete it"
        if ids == "string":
            if any("\ud800" <= letter <= "\udfff" for letter in field):
                return "an id is not UTF-8 text", NO_UTF_8
        elif field.startswith("-") and field[1:].isdigit():
            return "an id is negative", as_names
        elif is_integer(field) and (len(field.lstrip("0")) > 19 or int(field.lstrip("0") or 0) > MAX_ID):
            return "an id is larger than 2^63 - 1", as_names
        elif whole_number(field) is None:
            return "an id is not an integer", as_names
        elif ids == "auto" and has_leading_zero(field):
            return "an id has leading zeros, and those before have none", _ZEROS
    return None
