"""CSV with a header line, read by pyarrow in blocks of whole records.

The edge is in the columns whose names say so (src/dst, source/target, from/to, id_1/id_2, ...),
else in the first two; other columns must be there, and are dropped and counted. The separator is the comma,
semicolon, tab, bar or blank that the header has. Weights to keep are the column of that name, or the only one that can
be meant. Lines that start with # before the header are
comments. A first line of two integers is no header, and all lines are data then.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ..errors import InputError
from .base import FileSource
from .blocks import after_line, block_bytes_for, count_lines, text_blocks
from .heads import is_integer_line, lines_with_text, text_head
from .source import EdgeBatch, SourceInfo
from .streams import BOM
from .tables import dropped_columns, in_slices, named_pair
from .weights import FLOAT64, LARGEST_WHOLE, LEAST_WHOLE, WHOLE, WeightChoice, weight_column

if TYPE_CHECKING:
    from .csv_faults import Quotes

_SEPARATORS = ",\t;| "
_NUMBER = r"^[ \t]*[0-9]+[ \t]*$"
_WHOLE = r"^-?[0-9]+$"
WEIGHT_TEXT = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""A weight as text."""


@dataclass(frozen=True)
class Header:
    """separator : between fields. names : of the columns. src, dst : columns of the ids. weight : that of the weights
    to keep, -1 without. offset : first byte after the
    header. line : number of the line there. record : the first record behind the header, "" if there is none."""

    separator: str
    names: tuple[str, ...]
    src: int
    dst: int
    offset: int
    line: int
    record: str
    weight: int = -1

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that are read."""
        return (self.src, self.dst) if self.weight < 0 else (self.src, self.dst, self.weight)

    @property
    def n_columns(self) -> int:
        """Fields per record."""
        return len(self.names)


def read_header(name: str, head: bytes, complete: bool) -> Header | None:
    """The header and the record behind it in the first bytes of the input `name`, None if they are not wholly there.
    Raises InputError."""
    mark = b"\n" if b"\n" in head else b"\r"
    rows: list[tuple[str, int, int]] = []
    for start, number in lines_with_text(head, mark):
        end = head.find(mark, start)
        if end < 0 and not complete:
            return None
        text = head[start : len(head) if end < 0 else end].rstrip(b"\r").decode("utf-8", "replace")
        if not (text.startswith("#") and not rows):
            rows.append((text, start, number))
        if len(rows) == 2:
            break
    if not rows or (len(rows) < 2 and not complete):
        return None
    (first, start, first_line), second = rows[0], rows[1][0] if len(rows) > 1 else ""
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    is_data = is_integer_line(first.replace(separator, ",").encode())
    try:
        # A record may go on in the next line, between quotes; a header does not.
        names = next(csv.reader([first], delimiter=separator, strict=not is_data), [])
    except csv.Error as error:
        raise InputError(f"the header cannot be parsed ({error})", path=name, line=first_line,
                         remedy="fix this line") from error
    src, dst = named_pair(names) or (0, 1)
    if is_data:
        return Header(separator, ("",) * len(names), src, dst, start, first_line, first)
    behind = start + len(head[start:].partition(mark)[0]) + 1
    return Header(separator, tuple(names), src, dst, behind, first_line + 1, second)


class CsvSource(FileSource):
    """See the module."""

    format = "csv"
    takes_strings = takes_columns = True
    _large: InputError | None = None

    def _header(self) -> Header:
        header = text_head(self.input, partial(read_header, self.name))
        if header.n_columns < 2:
            raise self.error("the first line has one column where two are needed",
                             remedy="separate the columns by commas")
        if not header.record:
            raise self.error("no record follows the header", remedy="fetch or write it again")
        return header if self.weights is None else replace(header, weight=self._weight_place(header, self.weights))

    def _weight_place(self, header: Header, choice: WeightChoice) -> int:
        """Which column has the weights. Raises InputError that lists what there is."""
        others = [i for i in range(header.n_columns) if i not in (header.src, header.dst)]
        place = weight_column(header.names, others, choice.column)
        if place is None:
            there = ", ".join(header.names[i].strip() or str(i + 1) for i in others) or "there is no other column"
            what = f"no column {choice.column}" if choice.column else "not one column of weights"
            raise self.error(f"{what} beside the ids ({there})", remedy="name one of them, as in --weights=length")
        return place

    def _read_info(self) -> SourceInfo:
        header = self._header()
        kind = self.ids if self.ids != "auto" else "int" if _has_integers(header) else "string"
        weighed = {} if self.weights is None else {"weights": WHOLE, "weight_name": header.names[header.weight].strip()}
        return self._facts(directed=True, id_kind=kind, **weighed)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad record."""
        header, strings = self._header(), self.info().id_kind == "string"
        line, records = header.line, 0
        self._large, self.weight_kind = None, "" if self.weights is None else WHOLE

        @cache  # its kernel loads numba, which tables without quotes do not need
        def quotes() -> Quotes:
            from .csv_faults import Quotes

            return Quotes(self.name, header.separator, header.columns)

        def cut(buffer: bytearray, filled: int) -> int:
            return (after_line if buffer.find(b'"', 0, filled) < 0 else quotes().cut)(buffer, filled)

        with self.input.text(header.offset) as stream:
            for block in text_blocks(stream, block_bytes_for(batch_bytes), cut):
                data = block.tobytes()
                if b'"' in data:
                    quotes().check(block, line)
                if data.strip(b"\r\n"):
                    src, dst, weights = self._parse(data, header, strings, line)
                    records += len(src)
                    yield from in_slices(src, dst, batch_bytes, weights)
                line += count_lines(block)
        if self._large is not None and self.weight_kind == WHOLE:
            raise self._large
        self.dropped = dict.fromkeys(
            dropped_columns(header.names, (header.src, header.dst), header.weight), records)

    def _parse(self, data: bytes, header: Header, strings: bool, line: int) -> tuple[Any, Any, Any]:
        """The ids and weights of the records in `data`, whose first line has the number `line`."""
        as_text = strings or b"0x" in data or b"0X" in data
        try:
            table = _read_table(data, header, pa.string() if as_text else pa.int64())
            columns = [table.column(f"f{place}") for place in header.columns]
            check = _checked_strings if strings else _checked_integers
            weights = None if self.weights is None else self._weights(columns[2], data, header, line)
            return check(columns[0]), check(columns[1]), weights
        except pa.ArrowInvalid as error:
            from .csv_faults import find_fault

            fault = find_fault(data, header, strings, self.name, line, self.weights)
            if fault is None:
                raise self.error(f"the records cannot be parsed ({str(error).splitlines()[0]})", line=line,
                                 remedy="fix the records behind this line") from error
            raise fault from error

    def _weights(self, column: Any, data: bytes, header: Header, line: int) -> Any:
        """The weights in a column of text, float64[k]. Raises ArrowInvalid for one that is none."""
        texts = pc.utf8_trim_whitespace(column)
        if not pc.all(pc.match_substring_regex(texts, WEIGHT_TEXT), min_count=0).as_py():
            raise pa.ArrowInvalid("a weight is not a number")
        weights = texts.cast(pa.float64()).to_numpy() + 0.0  # 0.0, not -0.0
        assert self.weights is not None
        if not np.isfinite(weights).all() or (not self.weights.negative and len(weights) and weights.min() < 0):
            raise pa.ArrowInvalid("a weight is not finite, or negative")
        if self.weight_kind == WHOLE and not pc.all(pc.match_substring_regex(texts, _WHOLE), min_count=0).as_py():
            self.weight_kind = FLOAT64
        if self._large is None and ((weights > LARGEST_WHOLE) | (weights < LEAST_WHOLE)).any():
            from .csv_faults import large_weight

            self._large = large_weight(data, header, self.name, line)
        return weights


def _has_integers(header: Header) -> bool:
    """Whether the ids of the first record look like integers."""
    try:
        table = _read_table(header.record.encode() + b"\n", header, pa.string())
    except pa.ArrowInvalid:  # a part of a record, or a faulty one, of which more is said when it is read
        return False
    ids = [table.column(name)[0].as_py().strip() for name in table.column_names[:2]]
    return all(text.removeprefix("-").isdigit() for text in ids)


def _read_table(data: bytes, header: Header, id_type: pa.DataType) -> pa.Table:
    names = [f"f{i}" for i in range(header.n_columns)]
    wanted = [names[place] for place in header.columns]
    types = dict.fromkeys(wanted[:2], id_type) | dict.fromkeys(wanted[2:], pa.string())
    if data.startswith(BOM):  # not that of the file: Arrow would drop it from the first id
        data = b"\n" + data
    return pa_csv.read_csv(pa.BufferReader(data),
                           pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
                           pa_csv.ParseOptions(delimiter=header.separator, newlines_in_values=b'"' in data),
                           pa_csv.ConvertOptions(include_columns=wanted, column_types=types,
                                                 null_values=[], strings_can_be_null=False))


def _checked_integers(column: Any) -> Any:
    """int64[k] of a column of int64, or of text where hexadecimal numbers may lurk: pyarrow reads 0x10
    as 16, and here that is a fault like -1."""
    if pa.types.is_string(column.type):
        if not pc.all(pc.match_substring_regex(column, _NUMBER), min_count=0).as_py():
            raise pa.ArrowInvalid("an id is not an integer")
        column = pc.utf8_trim_whitespace(column).cast(pa.int64())
    ids = column.to_numpy()
    if len(ids) and ids.min() < 0:
        raise pa.ArrowInvalid("an id is negative")
    return ids.astype(np.int64, copy=False)


def _checked_strings(column: Any) -> Any:
    """A string column as one string array without empty ids; blanks around ids are dropped."""
    strings = pc.utf8_trim_whitespace(column.combine_chunks())
    strings = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    if pc.any(pc.equal(pc.binary_length(strings), 0), min_count=0).as_py():
        raise pa.ArrowInvalid("an id is empty")
    return strings
