"""What separates the fields of a text: the mark that splits many lines alike."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

_SEPARATED_BY = re.compile(r"\"?sep=(.)\"?", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_BLANK = re.compile(r"[ \t]+")
_QUOTED = re.compile(r"(?:^|[,;|\t ])\"")
_WORDS = {",": "commas", ";": "semicolons", "|": "bars", "\t": "tabs", " ": "blanks", "": "blanks or commas"}


@dataclass(frozen=True)
class Fields:
    """The lines of a sample, split.

    separator : "," ";" "|" "\\t"; " " for runs of blanks; "" for blanks or commas, by turns. records : fields of each
    line; one that goes on in the next line, between quotes, is one record. quoted : whether there are quotes around
    fields.
    """

    separator: str
    records: tuple[tuple[str, ...], ...]
    quoted: bool = False

    @property
    def width(self) -> int:
        """How many fields all records have, 0 where they have not the same number."""
        return width_of(self.records)

    @property
    def words(self) -> str:
        """The separator in words."""
        return _WORDS[self.separator]


def width_of(records: Sequence[Sequence[str]]) -> int:
    """How many fields all records have, 0 where they have not the same number."""
    widths = {len(record) for record in records}
    return widths.pop() if len(widths) == 1 else 0


def declared_separator(line: str) -> str:
    """The separator that a line "sep=;" of a spreadsheet declares, "" for other lines."""
    match = _SEPARATED_BY.fullmatch(line)
    return match[1] if match and match[1] in _WORDS else ""


def split(lines: Sequence[str], declared: str = "") -> Fields:
    """The fields of lines. declared : their separator, if it is known.

    A mark separates if every line has as many of it: the tab before the semicolon, the bar and the comma; a semicolon
    beside commas where these are decimal; the first line may have a number of its own. Else blanks do.
    """
    lines = [line.rstrip(" \t") for line in lines]
    quoted = any(_QUOTED.search(line) for line in lines)
    if declared:
        return Fields(declared, _records(lines, declared, quoted), quoted)
    for lacking in (False, True):  # a mark in all lines goes before one that the first has not
        for mark in "\t;|,":
            fields = _split_by(mark, lines, quoted, lacking)
            if fields is not None:
                return fields
    if quoted and width_of(_records(lines, " ", quoted)) > 1:
        return Fields(" ", _records(lines, " ", quoted), quoted)
    mixed = any("," in line for line in lines)
    plain = [line.strip(" \t") for line in lines]
    return Fields("" if mixed else " ",
                  tuple(tuple(_split_mixed(line) if mixed else _BLANK.split(line)) for line in plain))


def _split_by(mark: str, lines: Sequence[str], quoted: bool, lacking: bool) -> Fields | None:
    """The fields of lines by a mark; None if it does not separate all of them alike. lacking : whether it is a mark
    that all lines but the first have."""
    with_mark = sum(mark in line for line in lines)
    header_lacks_it = len(lines) > 2 and with_mark == len(lines) - 1 and mark not in lines[0]
    fits = header_lacks_it if lacking else with_mark == len(lines) or (quoted and not header_lacks_it)
    if not with_mark or not fits:
        return None
    records = _records(lines, mark, quoted)
    if mark == ";" and not _commas_are_decimal(lines):
        if width_of(_records(lines, ",", quoted)) > 1:
            return None
    even = width_of(records) > 1 or width_of(records[1:]) > 1 or (
        quoted and min(map(len, records), default=0) > 1)
    if _blanks_separate_too(records):
        return None
    if even or (with_mark == len(lines) and mark != "\t" and not _split_evenly_by_blanks(lines)):
        return Fields(mark, records, quoted)
    return None


def _records(lines: Sequence[str], mark: str, quoted: bool) -> tuple[tuple[str, ...], ...]:
    if quoted:
        try:
            return tuple(tuple(field.strip() for field in record)
                         for record in csv.reader((line + "\n" for line in lines), delimiter=mark) if record)
        except csv.Error:
            pass  # the reader says what is wrong with the quotes, and where
    if mark == " ":
        return tuple(tuple(_BLANK.split(line.strip(" \t"))) for line in lines)
    if mark == "\t" and all(line.startswith("\t") for line in lines):
        lines = [line.lstrip(" \t") for line in lines]
    return tuple(tuple(field.strip(" \t") for field in line.split(mark)) for line in lines)


def _blanks_separate_too(records: Sequence[Sequence[str]]) -> bool:
    """Whether half of the records or more are a number and, behind the mark, several with blanks between: an edge and
    its weight."""
    rows = [row for row in records if len(row) > 1]
    fits = [row[0].isdigit() and bool(_NUMBERS.fullmatch(row[1])) for row in rows]
    return bool(fits) and 2 * sum(fits) >= len(records)


def _commas_are_decimal(lines: Sequence[str]) -> bool:
    """Whether every comma stands between two digits, or there is none."""
    return not any("," in _DECIMAL_COMMA.sub(".", line) for line in lines)


def _split_evenly_by_blanks(lines: Sequence[str]) -> bool:
    return width_of([_BLANK.split(line.strip(" \t")) for line in lines]) > 1


_NUMBERS = re.compile(r"\d+(?:[ \t]+[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)+", re.ASCII)
_MIXED = re.compile(r"[ \t]*,[ \t]*|[ \t]+")


def _split_mixed(line: str) -> list[str]:
    fields = _MIXED.split(line)
    return fields[:-1] if len(fields) > 2 and not fields[-1] else fields
