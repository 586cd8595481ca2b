"""Errors for texts whose parts are written in different ways: lines without the separator of the others, marks at the
ends of lines, arrows in some lines, and values of a program.

Read by another rule, such a text is another graph, without a contradiction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ..errors import InputError
from .look_sample import WORDS, Fields, Sample, commas_are_decimal, is_id_number, is_number, records_of
from .look_shape import ARROW, begins_as_lists_of_networkx, names_above_matrix
from .registry import format_suffix
from .tables import alike_pairs, certain_pair

_MARKS = "\t;|,"
_FEW, _FIRST = 3, 12
_INNER_BLANK = re.compile(r"\S[ \t]+\S")
_ASSIGNED = re.compile(r"\s*(?:(?:var|let|const)\s+)?[A-Za-z_]\w*\s*=\s*[\[({]")
_RANGES = re.compile(r"\s*\d+[-–:]\d+(?:\s*[,;]\s*\d+[-–:]\d+)+\s*", re.ASCII)
_BEHIND = re.compile(r"\S\s+(?:[#%]|//|[\[({]|\w+=)|\S:\s+\S")
_ZEROS = (".", "-", "")


def header_mark(sample: Sample) -> str:
    """The mark between the names in the first line, if two of these are the ends of edges by this mark, and most other
    lines have it too; else "". It separates then, also if a line lacks it."""
    lines = [line.strip() for line in sample.texts]
    for mark in _MARKS:
        names = [field.strip(' "') for field in lines[0].split(mark)]
        named = len(names) > 1 and (certain_pair(names) is not None or alike_pairs(names))
        if named and 2 * sum(mark in line for line in lines[1:]) > len(lines) - 1:
            return mark
    return ""


def list_mark(fields: Fields, sample: Sample, path: str) -> str:
    """The mark between the ids of lists of neighbours, if blanks are inside ids or a mark other than a comma is in the
    lines; "" if blanks and commas separate. Raises InputError if both may."""
    lines = [line.strip() for line in sample.texts]
    numbers = all(is_id_number(field) for row in fields.records for field in row if field)
    for mark in _MARKS:
        rows = [[field.strip() for field in line.split(mark)] for line in lines if mark in line]
        inside = any(_INNER_BLANK.search(field) for row in rows for field in row)
        if not rows or (mark in "\t," and (numbers or not inside)):
            continue
        heads = {row[0] for row in rows}
        if inside and any(part in heads for row in rows for field in row[1:] for part in field.split()
                          if _INNER_BLANK.search(field)):
            raise InputError(f"both blanks and {WORDS[mark]} may separate the ids", path=path, text=lines[0],
                             remedy="write blanks alone, or none within an id")
        return mark
    return ""


def refuse_contradictions(fields: Fields, sample: Sample, rewrite: str, path: str) -> None:
    """Raise InputError if a part of the lines is written in another way than the rest. rewrite : see Reading."""
    if rewrite in ("(", ":", "-"):
        return
    if rewrite:
        quoted = next((line for line in sample.texts if '"' in line), "")
        if quoted:
            raise InputError("ids are in quotes", path=path, text=quoted, remedy="delete the quotes")
        _refuse_behind_arrow(fields, path)
        return
    lists = format_suffix(path) in (".sif", ".adjlist") or begins_as_lists_of_networkx(sample)
    if not lists and fields.separator in ("", " "):
        _refuse_some_arrows(fields, path)
    _refuse_marked_rows(fields, path)
    _refuse_named_rows(fields.records, path)
    _refuse_short_rows(fields, path)
    if not lists:
        _refuse_odd_lines(fields, sample, path)
    _refuse_late_header(fields.records, sample, path)


def _refuse_short_rows(fields: Fields, path: str) -> None:
    """Raise InputError if a line below a header, between marks, has a single field, and most have one for each name."""
    width = len(fields.records[0])
    short = [row for row in fields.records if len(row) < 2 <= width]
    even = sum(len(row) == width for row in fields.records)
    if fields.separator in tuple(_MARKS) and short and 2 * even > len(fields.records) and (
            certain_pair(fields.records[0]) is not None):
        raise InputError(f"the header has {width} names, and a line has no field between {fields.words}",
                         path=path, text="".join(short[0]), remedy="mend it, or delete it if it is no edge")


def _refuse_odd_lines(fields: Fields, sample: Sample, path: str) -> None:
    """Raise InputError if most lines have the same number of fields between marks, with blanks inside some of them, and
    blanks have been found to separate because other lines lack the mark."""
    if fields.separator not in ("", " ") or len(sample.lines) < 2:
        return
    lines = [line.strip(" ") for line in sample.texts]
    if all(len(row) > 1 and all(map(is_id_number, row[:2])) for row in fields.records):
        return
    if all(is_id_number(field) for row in fields.records for field in row):
        return
    for mark in _MARKS:
        rows = records_of(lines, mark, fields.quoted)
        if len(rows) == len(lines) and not (mark == "," and commas_are_decimal(lines)):
            _refuse_odd_line(rows, mark, not fields.width, sample, path)


def _refuse_odd_line(rows: Sequence[Sequence[str]], mark: str, uneven: bool, sample: Sample, path: str) -> None:
    """The same for one mark. rows : the fields between it. uneven : whether blanks separate other numbers of fields."""
    width, count = Counter(map(len, rows)).most_common(1)[0]
    even = [row for row in rows if len(row) == width]
    if width < 2 or 2 * count <= len(rows) or count == len(rows):
        return
    blanks = any(_INNER_BLANK.search(field) for row in even for field in row)
    last = rows[-1]
    lonely = not blanks and count == len(rows) - 1 >= 2 and len(last) == 1 and not any(
        is_id_number(row[0]) or last[0] in row for row in even)
    if (blanks and uneven) or lonely:
        odd = next(i for i, row in enumerate(rows) if len(row) != width)
        raise InputError(f"most lines have {width} fields between {WORDS[mark]}, and this one has {len(rows[odd])}",
                         path=path, line=sample.lines[odd].number, text=sample.texts[odd],
                         remedy="mend it, or delete it if it is no edge")


def refuse_values(sample: Sample, path: str) -> None:
    """Raise InputError if the text is a value of a program, or several edges on a line."""
    text = "\n".join(sample.texts[:_FEW]).strip()
    inside = text.startswith("{") and text.rstrip(";").endswith("}") and any(mark in text for mark in ":,")
    if len(sample.lines) <= _FEW and (inside or _ASSIGNED.match(text) or _RANGES.fullmatch(text)):
        raise InputError("the text is a value of a program, or has several edges on a line", path=path,
                         text=sample.texts[0][:80], remedy="write an edge a line, two ids with a blank between them")
    if any(line.startswith("+--") and set(line) <= {"+", "-"} for line in sample.texts[:1]):
        raise InputError("the table has a frame of lines", path=path, text=sample.texts[0][:80],
                         remedy="write it as CSV, or with tabs alone")


def _refuse_some_arrows(fields: Fields, path: str) -> None:
    """Raise InputError if arrows stand between the ids of some lines, and other marks or none in others."""
    if fields.width == _FEW:  # the second field of every line is a relation
        return
    for row in fields.records:
        if any(ARROW.fullmatch(field) for field in row[1:-1]):
            raise InputError("an arrow is a field of a line, and other lines have others or none", path=path,
                             text=" ".join(row), remedy="write the same arrow in every line, or blanks alone")


def _refuse_behind_arrow(fields: Fields, path: str) -> None:
    """Raise InputError if a weight, an attribute or a comment may stand behind the second id of edges with an arrow."""
    rows: list[Sequence[str]] = [row for row in fields.records if len(row) == 2]
    first, second = {row[0] for row in rows}, {row[1] for row in rows}
    ids = {text for text in first | second if not _INNER_BLANK.search(text)}
    odd = next((row for row in rows if _BEHIND.search(row[1]) or any(
        _INNER_BLANK.search(text) and text.split()[place] in ids for text, place in ((row[0], -1), (row[1], 0)))), None)
    numbers = [row[1].split()[-1] for row in rows if _INNER_BLANK.search(row[1])]
    if len(numbers) == len(fields.records) and all(map(is_number, numbers)) and first.isdisjoint(second):
        odd = rows[0]
    if odd is None and not fields.width and len(rows) < len(fields.records):
        odd = next(row for row in fields.records if len(row) != 2)
    if odd is not None:
        raise InputError("the ids of a line may have a weight, a note or other ids beside them, or blanks inside",
                         path=path, text=" ".join(odd), remedy="write the edges as CSV, or say --format edgelist if"
                         " blanks are a part of ids")


def _refuse_marked_rows(fields: Fields, path: str) -> None:
    """Raise InputError if a mark ends each line of a matrix or of edges, or another sign than 0 is most of a matrix."""
    records = fields.records
    last = [row[-1] for row in records]
    n, width = len(records), len(records[0])
    cut = [row[:-1] if not row[-1] else row for row in records]
    if n >= _FEW and not any(last) and all(len(row) == n for row in cut) and _are_numbers(cut):
        raise InputError("a mark ends each row of the matrix", path=path, text=" ".join(records[0]),
                         remedy="delete the marks at the ends of the lines")
    ended = [row for row in records if len(row) == 2 and _INNER_BLANK.search(row[0]) and not row[1]]
    blanks = fields.separator in ("", " ")
    if len(ended) == n > 1 or (n > 1 and blanks and all(field.endswith(";") for field in last[:-1]) and last[0] != ";"):
        raise InputError("a mark ends each line", path=path, text=" ".join(records[0]),
                         remedy="delete the marks at the ends of the lines")
    if len({len(row) for row in records}) > 1 and all(len(row) > 2 and row[-1] == "{}" for row in records):
        raise InputError("attributes end each line, and ids may have blanks inside", path=path,
                         text=" ".join(records[0]), remedy="write the ids with a tab or a comma between them")
    if n >= _FEW and n == width and all(len(row) == n for row in records) and all(
            field in _ZEROS or is_number(field) for row in records for field in row) and any(
            field == "." for row in records for field in row):
        raise InputError("points stand for the zeros of a matrix", path=path, text=" ".join(records[0]),
                         remedy="write 0 in their places")


def _refuse_named_rows(records: Sequence[Sequence[str]], path: str) -> None:
    """Raise InputError if the rows of a matrix with names have another order than its columns, or a cell is no
    number."""
    names, heads = names_above_matrix(records)[1:], [row[0] for row in records[1:]]
    if len(heads) > 1 and not records[0][0] and sorted(names) == sorted(heads) and all(
            len(row) == len(names) + 1 for row in records[1:]):
        cell = next((field for row in records[1:] for field in row[1:] if field and not is_number(field)), None)
        if cell is not None or list(names) != heads:
            raise InputError("the rows of a matrix with names are in another order than its columns" if cell is None
                             else "a cell of a matrix with names is no number", path=path,
                             text=" ".join(heads) if cell is None else cell,
                             remedy="write both in one order" if cell is None else "write 0 for no edge")


def _refuse_late_header(records: Sequence[Sequence[str]], sample: Sample, path: str) -> None:
    """Raise InputError if one of the first lines, but not the first, is the header."""
    for place, row in enumerate(records[1:_FIRST], start=1):
        if certain_pair(row) is not None and certain_pair(records[0]) is None:
            number = sample.lines[place].number if place < len(sample.lines) else place + 1
            raise InputError("the names of the columns are not in the first line", path=path, line=number,
                             text=" ".join(row), remedy="delete the lines above them")


def _are_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return all(is_number(field) for row in rows for field in row)
