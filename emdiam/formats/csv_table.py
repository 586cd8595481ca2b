"""Tables in text, read by pyarrow in blocks of whole records.

look.py finds the separator, the header and the columns of the ends from the first lines. Each record must have the
other columns too; they are dropped and counted. Weights to keep are in the column with the given name, or the only
possible one. Lines that start with # before the first record are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ..errors import InputError
from .arrays import arrow_numbers
from .digits import are_long
from .directions import Directions
from .look_sample import whole_number
from .source import EdgeBatch, SourceInfo
from .streams import BOM, after_line, block_bytes_for, count_lines, text_blocks
from .tables import direction_column, dropped_columns, id_spaces, in_slices
from .text_source import TextSource
from .weights import FLOAT64, LARGEST_WHOLE, LEAST_WHOLE, WHOLE, WeightChoice, name_a_column, weight_column

if TYPE_CHECKING:
    from .csv_faults import Quotes

_DIGITS, _LEADING_ZERO = r"^[0-9]+$", r"^0[0-9]"
_ZERO, _NINE, _POINT = 48, 57, 46
_WHOLE = r"^[+-]?[0-9]+$"
WEIGHT_TEXT = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""A weight as text."""


@dataclass(frozen=True)
class Header:
    """The header. separator : between fields. names : names of the columns. src, dst : columns of the ids. weight :
    column of the weights to keep, -1 without. direction : column that says which edges have a direction, -1 without.
    offset : first byte after the header. line : number of its line."""

    separator: str
    names: tuple[str, ...]
    src: int
    dst: int
    offset: int
    line: int
    weight: int = -1
    direction: int = -1

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns to read."""
        return (self.src, self.dst, *(place for place in (self.weight, self.direction) if place >= 0))

    @property
    def n_columns(self) -> int:
        """The number of fields per record."""
        return len(self.names)


class CsvSource(TextSource):
    """See the module."""

    format = "csv"
    sides_by_ids = True
    _large: InputError | None = None
    _directions: Directions

    def _header(self) -> Header:
        reading = self.look()
        width = reading.width or len(reading.names) or len(reading.record)
        if width < 2:
            raise self.error("the first line has one column where two are needed",
                             remedy="separate the columns by commas")
        names = reading.names[:width] + ("",) * (width - len(reading.names))
        arcs = direction_column(names, self.wishes.directed)
        header = Header(reading.separator or ",", names, *reading.columns, reading.skip, reading.line,
                        direction=-1 if arcs is None else arcs)
        return header if self.weights is None else replace(header, weight=self._weight_place(header, self.weights))

    def _weight_place(self, header: Header, choice: WeightChoice) -> int:
        """The column of the weights. Raises InputError, which lists the columns, if there is none."""
        others = [i for i in range(header.n_columns) if i not in (header.src, header.dst)]
        place = weight_column(header.names, others, choice.column)
        if place is None:
            called = [header.names[i].strip() or str(i + 1) for i in others]
            there = ", ".join(called) or "there is no other column"
            what = f"no column {choice.column}" if choice.column else "not one column of weights"
            raise self.error(f"{what} beside the ids ({there})", remedy=name_a_column(called, choice.column, others))
        return place

    def _read_info(self) -> SourceInfo:
        header, reading = self._header(), self.look()
        self.column_names = reading.names
        spaces = id_spaces([header.names[header.src], header.names[header.dst]])
        if len(set(spaces)) > 1 and not self.wishes.bipartite:
            raise self.error("the ids of the two ends are of several spaces, so that equal ones are other vertices",
                             text=", ".join(spaces), remedy="take them as two sides with --bipartite, or write ids that"
                             " differ")
        weighed = {} if self.weights is None else {"weights": WHOLE, "weight_name": header.names[header.weight].strip()}
        return self._facts(directed=self.has_directions, id_kind=reading.id_kind, reading=reading.why, **weighed)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad record."""
        strings = self.info().id_kind == "string"
        yield from self._checked(self._records(batch_bytes, strings))

    def _records(self, batch_bytes: int, strings: bool) -> Iterator[EdgeBatch]:
        header, self._records_read = self._header(), 0
        line = header.line
        self._large, self.weight_kind = None, "" if self.weights is None else WHOLE
        self._directions = Directions(header.names[header.direction], self.error)

        @cache  # imported on use, because tables without quotes do not need its kernel
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
                if data.strip(b"\r\n\t ,;"):
                    src, dst, weights = self._parse(data, header, strings, line)
                    yield from in_slices(src, dst, batch_bytes, weights)
                line += count_lines(block)
        if self._large is not None and self.weight_kind == WHOLE:
            raise self._large
        self.dropped = dict.fromkeys(dropped_columns(header.names, header.columns), self._records_read)
        self.notes = self._directions.notes()

    def _parse(self, data: bytes, header: Header, strings: bool, line: int) -> tuple[Any, Any, Any]:
        """The ids and weights of the records in `data`. line : number of its first line."""
        strict = self.ids == "auto"
        as_text = strings or b"0x" in data or b"0X" in data or (strict and _may_have_leading_zeros(data))
        try:
            try:
                columns = _read_columns(data, header, pa.string() if as_text else pa.int64())
            except pa.ArrowInvalid:
                if as_text:
                    raise
                columns = _read_columns(data, header, pa.string())  # pyarrow does not read 1.0 as an integer
            weights = None if self.weights is None else self._weights(columns[2], data, header, line)
            src, dst = (_checked_strings(ids) if strings else _checked_integers(ids, strict) for ids in columns[:2])
            self._records_read += len(columns[0])
            if header.direction >= 0:
                return self._directions.both(src, dst, weights, columns[-1])
            return src, dst, weights
        except pa.ArrowInvalid as error:
            plain = _without_empty_rows(data, header.separator)
            if plain != data:
                return self._parse(plain, header, strings, line)
            from .csv_faults import find_fault

            fault = find_fault(data, header, "string" if strings else self.ids, self.name, line, self.weights)
            if fault is None:
                raise self.error(f"the records cannot be parsed ({str(error).splitlines()[0]})", line=line,
                                 remedy="fix the records behind this line") from error
            raise fault from error

    def _weights(self, column: Any, data: bytes, header: Header, line: int) -> Any:
        """The weights in a column of text, as from Digits.taken. Raises ArrowInvalid for an invalid one."""
        texts = pc.utf8_trim_whitespace(column)
        if header.separator != ",":
            texts = pc.replace_substring(texts, ",", ".")
        if not pc.all(pc.match_substring_regex(texts, WEIGHT_TEXT), min_count=0).as_py():
            raise pa.ArrowInvalid("a weight is not a number")
        weights = arrow_numbers(texts.cast(pa.float64())) + 0.0  # turns -0.0 into 0.0
        assert self.weights is not None
        if not np.isfinite(weights).all() or (not self.weights.negative and len(weights) and weights.min() < 0):
            raise pa.ArrowInvalid("a weight is not finite, or negative")
        if self.weight_kind == WHOLE and not pc.all(pc.match_substring_regex(texts, _WHOLE), min_count=0).as_py():
            self.weight_kind = FLOAT64
        if self._large is None and ((weights > LARGEST_WHOLE) | (weights < LEAST_WHOLE)).any():
            from .csv_faults import large_weight

            self._large = large_weight(data, header, self.name, line, self.weights.negative)
        long = are_long(texts, weights)
        return self.weights.digits.taken(weights, long, texts.take(pa.array(long)))


def _without_empty_rows(data: bytes, separator: str) -> bytes:
    """The records with an empty line in place of each that has separators alone, as spreadsheets write them; records
    with quotes may have such lines inside, and stay."""
    mark = separator.encode()
    if separator not in ",;" or b'"' in data:
        return data
    return re.sub(rb"(?:^|(?<=[\r\n]))[ \t]*%b[ \t%b]*(?=[\r\n]|$)" % (mark, mark), b"", data)


def _may_have_leading_zeros(data: bytes) -> bool:
    """Whether a number in `data` begins with a zero and another digit."""
    letters = np.frombuffer(data, np.uint8)
    zeros = np.flatnonzero(letters[:-1] == _ZERO)
    behind, before = letters[zeros + 1], letters[zeros - 1]
    begins = ((before < _ZERO) | (before > _NINE)) & (before != _POINT)
    return bool((begins & (behind >= _ZERO) & (behind <= _NINE)).any())


def _read_columns(data: bytes, header: Header, id_type: pa.DataType) -> list[Any]:
    table = _read_table(data, header, id_type)
    return [table.column(f"f{place}") for place in header.columns]


def _read_table(data: bytes, header: Header, id_type: pa.DataType) -> pa.Table:
    names = [f"f{i}" for i in range(header.n_columns)]
    wanted = [names[place] for place in dict.fromkeys(header.columns)]
    types = {name: pa.string() for name in wanted} | {names[place]: id_type for place in (header.src, header.dst)}
    if data.startswith(BOM):  # part of an id, not the file's mark: Arrow would drop it
        data = b"\n" + data
    return pa_csv.read_csv(pa.BufferReader(data),
                           pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
                           pa_csv.ParseOptions(delimiter=header.separator, newlines_in_values=b'"' in data),
                           pa_csv.ConvertOptions(include_columns=wanted, column_types=types,
                                                 null_values=[], strings_can_be_null=False))


def _checked_integers(column: Any, strict: bool) -> Any:
    """The ids in a column of int64 or of text (digits, or whole numbers written as floats), as int64[k].

    Refuses -1, 0x10 (which pyarrow reads as 16) and, if `strict`, leading zeros."""
    if pa.types.is_string(column.type):
        texts = pc.utf8_trim(column.combine_chunks(), " \t\r\n")
        texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        if not pc.all(pc.match_substring_regex(texts, _DIGITS), min_count=0).as_py():
            texts = _digits_of_floats(texts)
        if strict and pc.any(pc.match_substring_regex(texts, _LEADING_ZERO), min_count=0).as_py():
            raise pa.ArrowInvalid("an id has leading zeros")
        column = texts.cast(pa.int64())
    ids = arrow_numbers(column)
    if len(ids) and ids.min() < 0:
        raise pa.ArrowInvalid("an id is negative")
    return ids.astype(np.int64, copy=False)


def _digits_of_floats(texts: Any) -> Any:
    """The texts with whole floats replaced by their digits. Raises ArrowInvalid for other texts."""
    encoded = texts.dictionary_encode()
    values = []
    for text in encoded.dictionary.to_pylist():
        value = whole_number(text)
        if value is None:
            raise pa.ArrowInvalid("an id is not an integer")
        values.append(text if text.isdigit() else str(value))
    return pa.array(values, pa.string()).take(encoded.indices)


def _checked_strings(column: Any) -> Any:
    """A string column as one string array; strips blanks around ids and refuses empty ones."""
    strings = pc.utf8_trim(column.combine_chunks(), " \t\r\n")
    strings = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    if pc.any(pc.equal(pc.binary_length(strings), 0), min_count=0).as_py():
        raise pa.ArrowInvalid("an id is empty")
    return strings
