"""CSV with a header line, read by pyarrow in blocks of whole records.

The edge is in the columns whose names say so (src/dst, source/target, from/to, id_1/id_2, ...),
else in the first two; other columns are ignored but must be there. The separator is the comma,
semicolon, tab, bar or blank that the header has. Lines that start with # before the header are
comments. A first line of two integers is no header, and all lines are data then.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from ..source import EdgeBatch, SourceInfo
from .base import FileSource, in_slices, text_head
from .blocks import after_record, block_bytes_for, text_blocks
from .columns import named_pair
from .csv_faults import find_fault
from .text_head import is_integer_line

_SEPARATORS = ",\t;| "
_NUMBER = r"^[ \t]*[0-9]+[ \t]*$"


@dataclass(frozen=True)
class Header:
    """separator : between fields. n_columns : fields per record. src, dst : columns of the ids.
    offset : first byte after the header. line : number of the line there. record : the first record
    behind the header, "" if there is none."""

    separator: str
    n_columns: int
    src: int
    dst: int
    offset: int
    line: int
    record: str


def split_record(line: str, separator: str) -> list[str]:
    """The fields of one record."""
    return next(csv.reader([line], delimiter=separator), [])


def read_header(head: bytes, complete: bool) -> Header | None:
    """The header and the record behind it, None if they are not wholly in `head`."""
    offset, line = 0, 1
    rows: list[tuple[str, int, int]] = []
    while len(rows) < 2 and offset < len(head):
        end = head.find(b"\n", offset)
        if end < 0 and not complete:
            return None
        end = len(head) if end < 0 else end
        text = head[offset:end].rstrip(b"\r").decode("utf-8", "replace")
        if text.strip() and not (text.startswith("#") and not rows):
            rows.append((text, offset, line))
        offset, line = end + 1, line + 1
    if not rows or (len(rows) < 2 and not complete):
        return None
    (first, start, first_line), second = rows[0], rows[1][0] if len(rows) > 1 else ""
    separator = next((mark for mark in _SEPARATORS if mark in first), ",")
    names = split_record(first, separator)
    src, dst = named_pair(names) or (0, 1)
    if is_integer_line(first.replace(separator, ",").encode()):
        return Header(separator, len(names), src, dst, start, first_line, first)
    behind = start + len(head[start:].partition(b"\n")[0]) + 1
    return Header(separator, len(names), src, dst, behind, first_line + 1, second)


class CsvSource(FileSource):
    """See the module."""

    format = "csv"
    takes_strings = True

    def _header(self) -> Header:
        header = text_head(self.input, read_header)
        if header.n_columns < 2:
            raise self.error(
                "the first line has one column where two are needed",
                remedy="separate the columns by commas",
            )
        if not header.record:
            raise self.error("no record follows the header", remedy="fetch or write it again")
        return header

    def _read_info(self) -> SourceInfo:
        header = self._header()
        fields = split_record(header.record, header.separator)
        ids = [
            field.strip()
            for field in (fields[i] if i < len(fields) else "" for i in (header.src, header.dst))
        ]
        integers = all(text.removeprefix("-").isdigit() for text in ids)
        kind = self.ids if self.ids != "auto" else "int" if integers else "string"
        return SourceInfo(directed=True, id_kind=kind, size_bytes=self.input.size_bytes, format=self.format)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with line number and text at the first bad record."""
        header, strings = self._header(), self.info().id_kind == "string"
        line = header.line
        with self.input.text(header.offset) as stream:
            for block in text_blocks(stream, block_bytes_for(batch_bytes), after_record):
                data = block.tobytes()
                if data.strip():
                    src, dst = self._parse(data, header, strings, line)
                    yield from in_slices(src, dst, batch_bytes)
                line += data.count(b"\n")

    def _parse(self, data: bytes, header: Header, strings: bool, line: int) -> tuple[Any, Any]:
        """The ids of the records in `data`, whose first line has the number `line`."""
        as_text = strings or b"0x" in data or b"0X" in data
        try:
            table = _read_table(data, header, pa.string() if as_text else pa.int64())
            columns = [table.column(name) for name in (f"f{header.src}", f"f{header.dst}")]
            if strings:
                ids = [_checked_strings(column) for column in columns]
            else:
                ids = [_checked_integers(column) for column in columns]
        except pa.ArrowInvalid as error:
            fault = find_fault(data, header, strings, self.name, line)
            if fault is None:
                raise self.error(
                    f"the records cannot be parsed ({str(error).splitlines()[0]})",
                    line=line,
                    remedy="mend the records behind this line",
                ) from error
            raise fault from error
        return ids[0], ids[1]


def _read_table(data: bytes, header: Header, id_type: pa.DataType) -> pa.Table:
    names = [f"f{i}" for i in range(header.n_columns)]
    wanted = [names[header.src], names[header.dst]]
    return pa_csv.read_csv(
        pa.BufferReader(data),
        pa_csv.ReadOptions(use_threads=False, column_names=names, block_size=len(data) + 1),
        pa_csv.ParseOptions(delimiter=header.separator, newlines_in_values=b'"' in data),
        pa_csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, id_type),
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _checked_integers(column: Any) -> Any:
    """int64[k] of a column of int64, or of text where hexadecimal numbers may lurk: pyarrow reads 0x10
    as 16, and here that is a fault like -1."""
    if pa.types.is_string(column.type):
        if not pc.all(pc.match_substring_regex(column, _NUMBER), min_count=0).as_py():
            raise pa.ArrowInvalid("an id is not a whole number")
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
