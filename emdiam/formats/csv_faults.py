"""Where exactly a CSV block is wrong: a slow second look at a block that pyarrow refuses."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ..errors import InputError
from .base import MAX_ID

if TYPE_CHECKING:
    from .csv_table import Header


def find_fault(data: bytes, header: Header, strings: bool, name: str, first_line: int) -> InputError | None:
    """The first fault among the records of `data`, whose first line is number `first_line`."""
    text = data.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=header.separator)
    line = 1
    try:
        for record in reader:
            fault = _record_fault(record, header, strings) if record else None
            if fault:
                what, remedy = fault
                shown = "".join(lines[line - 1 : reader.line_num]).rstrip()
                return InputError(what, path=name, line=first_line + line - 1,
                                  text=shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
                                  remedy=remedy)
            line = reader.line_num + 1
    except csv.Error as error:
        return InputError(f"the record cannot be parsed ({error})", path=name, line=first_line + line - 1,
                          remedy="mend the record")
    return None


def _record_fault(record: list[str], header: Header, strings: bool) -> tuple[str, str] | None:
    """(what, remedy) if the record is wrong."""
    if len(record) != header.n_columns:
        return f"a record of {len(record)} fields where {header.n_columns} are expected", "mend the record"
    for field in (record[header.src].strip(), record[header.dst].strip()):
        if not field:
            return "an id is missing", "mend the record"
        if strings:
            if any("\ud800" <= letter <= "\udfff" for letter in field):
                return "an id is not UTF-8 text", "convert the file to UTF-8"
        elif field.removeprefix("-").isdigit() and field.startswith("-"):
            return "an id is negative", "mend the record, or keep such ids as names with --ids string"
        elif not (field.isascii() and field.isdigit()):
            return ("an id is not a whole number", "mend the record, or keep such ids as names with --ids string")
        elif len(field.lstrip("0")) > 19 or int(field.lstrip("0") or 0) > MAX_ID:
            return ("an id is larger than 2^63 - 1", "mend the record, or keep such ids as names with --ids string")
    return None
