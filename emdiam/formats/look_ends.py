"""The choice of the two fields of a line that are the ends of an edge, and errors if it is not clear.

The functions check the first lines. If a line number, a time, a name of a vertex or a mark of another language may be
read as an end, the error says so, and how to name the ends.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from ..errors import InputError
from .look_behind import are_alike, are_mutual, is_kind_between, number_layers, number_lines
from .look_sample import Records, Sample, is_id_number, is_integer, is_number, whole_number, width_of
from .tables import (
    DATE,
    TableColumn,
    alike_pairs,
    are_of_two_kinds,
    certain_pair,
    edge_ends,
    example_columns,
    is_count,
    listed,
    named_pair,
    weak_pair,
)
from .weights import NAMES, WeightChoice, weight_column

_INT, _STRING = "int", "string"
# Seconds or milliseconds since 1970, for times from 2001 to 2033.
_TIME = re.compile(r"1\d{9}(?:\d{3})?(?:\.\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)
_POINTED, _COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+", re.ASCII), re.compile(r"[+-]?\d+,\d+", re.ASCII)
_PARTED = re.compile(r"[1-9]\d{0,2}(?:[, \u00a0\u202f']\d{3})+", re.ASCII)
_WHOLE = re.compile(r"\{[\w-]+\}|\[[\w-]+\]|\([\w-]+\)|<[\w-]+>", re.ASCII)
_KEY = re.compile(r"([A-Za-z_]\w*)=.")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}", ";")
_ONE_BLANK, _MANY_BLANKS = re.compile(r"(?<=\S) (?=\S)"), re.compile(r"\S[ ]{2,}\S")
_MARK_BEHIND = re.compile(r"\S +[:=\[({-]|\S:\s+\S")
_RULE = re.compile(r"[-:+=]{2,}|<\w{2,5}>")  # also the types that R prints below names
_LETTER = re.compile("[A-Z]")
_COMMENTS = ("#", "%", "//")
_ABSENT = "none null nil undefined missing nat n/a #n/a (null) [null] <null> <none> <na> \\n".split()
MISSING = ("nan", "NaN", "NAN", "NA", "NaT", "?", "-", "--", *(
    form for word in _ABSENT for form in dict.fromkeys((word, word.upper(), word.title()))))
"""Words that programs write for a missing id."""
# The last line of a table, which counts the others.
_TOTAL = re.compile(r"\(?\d+ (?:rows?|records?|lines?|edges?)\)?(?: .*)?|(?:totals?|sum|count) ?:? [\d.,]+",
                    re.ASCII | re.IGNORECASE)
# Pairs of values that are the only ones in many matrices.
_BITS = tuple(map(frozenset, (("0", "1"), ("0.0", "1.0"), ("True", "False"), ("TRUE", "FALSE"), ("T", "F"))))
_POINTS = re.compile(r"[1-9]\d{0,2}(?:\.000)+", re.ASCII)
# A float that a program has rounded if it stands for more digits: 1.23457e+11, and 1.2E+11 of Excel.
_ROUNDED = re.compile(r"\d(?:\.(\d{1,30}))?([eE]\+?)(\d{1,3})", re.ASCII)
_SHOWN, _LEAST_OF_EXCEL, _MOST_OF_FLOATS = (5, 6), 11, 15
_NAMES_ABOVE = re.compile(r"#[^#\d]*", re.ASCII)
_FEW_COMMENTS, _SEPARATORS = 4, re.compile(r"[\s,;|\"]+")
_SEVERAL = re.compile(r"[,;|] ?| ")
# If at least this share of the first lines have different first fields, these may be times or numbers of edges.
_MOSTLY = 0.9
_FEW, _THIRD = 3, 2
_SEVERAL_LINES = 6


def ends_of(names: Sequence[str], rest: Records, wanted: tuple[str, str] | None, path: str,
            above: Sequence[str] = (), weight: str | None = None) -> tuple[int, int]:
    """The places of the two ends.

    Parameters
    ----------
    names : names of the columns; empty without a header.
    rest : the fields of the first lines; at least one line has two.
    wanted : the two columns that the user wants, or None.
    path : name of the input, for errors.
    above : fields of a comment above the lines, one for each column; empty without.
    weight : name of the column with the weights, "" if unknown; None without weights.

    Raises
    ------
    InputError
        If columns other than the first two may be the ends, or no column can be one.
    """
    width = max(map(len, rest))
    columns = [TableColumn(names[i] if i < len(names) else "", *_values(rest, i)) for i in range(width)]
    if wanted is not None:
        return edge_ends(columns, wanted, path)
    pair = named_pair(names) if names else None
    ends_only = [[row[i] for i in pair] for row in rest if len(row) > max(pair)] if pair is not None else []
    refuse_marks(ends_only or rest, path)
    if list(names) == ["", "0", "1"]:  # the index of pandas, and two columns without names
        return 1, 2
    if list(names) == [str(place) for place in range(len(names))]:
        names = ()
    if names:
        ends = edge_ends(columns, None, path, weight)
        _refuse_root(names, ends, rest, path)
        if certain_pair(names) is None:
            _refuse(_Doubt(_no_ids(columns, ends)), columns, rest, path)
        if pair is None:
            _refuse(_other_columns(_without(weight, columns, ends), rest, ends), columns, rest, path)
        return ends
    if above:
        _refuse(_called_otherwise(columns, above, path), columns, rest, path)
    _refuse_missing(columns[:2], path)
    behind = len(columns) > 2 and columns[1].kind == columns[2].kind != columns[0].kind
    _refuse(_Doubt(_kinds_differ(columns), behind), columns, rest, path)
    _refuse(_Doubt(_no_ids(columns, (0, 1))), columns, rest, path)
    if certain_pair(above) != (0, 1):
        _refuse(_other_columns(_without(weight, columns, (0, 1)), rest, (0, 1)), columns, rest, path)
    return 0, 1


class _Doubt(NamedTuple):
    """A reason why other columns than the first two may be the ends; empty without. behind : whether the first column
    is none. pair : places of the likely ends, if known."""

    why: str = ""
    behind: bool = False
    pair: tuple[int, int] | None = None


def _called_otherwise(columns: Sequence[TableColumn], above: Sequence[str], path: str) -> _Doubt:
    """The doubt by the names in a comment above the columns, one for each."""
    named = [replace(column, name=name) for column, name in zip(columns, above, strict=True)]
    try:
        called = edge_ends(named, None, path)
    except InputError:
        return _Doubt("the names in a comment above them do not say it")
    if called != (0, 1):
        return _Doubt("a comment above them has names of others", pair=called)
    return _Doubt() if named_pair(above) else _Doubt("the names in a comment above them do not say it")


def named_above(sample: Sample, separator: str, width: int, directed: bool) -> Sequence[str]:
    """The names of columns in the comment above the lines, one for each; empty without. Between blanks, where a comment
    may be a sentence, two have to be names of ends; two columns matter for the directions alone."""
    if width < 2 or (width == 2 and not directed):
        return ()
    for comment in reversed(sample.comments[-_FEW_COMMENTS:]):
        text = comment.lstrip("#%/ ")
        above = text.split(separator if separator.strip(" ") else None)
        if len(above) == width and separator.strip(" ") and comment == sample.comments[-1]:
            return above
        words = [word for word in _SEPARATORS.split(text) if word[-1:] != ":"]
        if len(words) == width and (certain_pair(words) is not None or alike_pairs(words) or weak_pair(words)):
            return words
    return ()


def _without(weight: str | None, columns: list[TableColumn], ends: tuple[int, int]) -> list[TableColumn]:
    """The columns without that of the weights, which is no end, if the user has named it and it is behind the ends."""
    place = weight_column([column.name for column in columns], range(len(columns)), weight) if weight else None
    return columns if place is None or place < max(ends) else columns[:place] + columns[place + 1:]


def weights_of(names: Sequence[str], rest: Records, ends: tuple[int, int], choice: WeightChoice, path: str) -> str:
    """A phrase that names the column of weights; "" if the reader decides.

    Parameters
    ----------
    names : names of the columns; empty without a header.
    rest : the fields of the first lines.
    ends : places of the two ends.
    choice : the weights that the user wants.
    path : name of the input, for errors.

    Raises
    ------
    InputError
        If the column's name does not say that it has weights, and its numbers may be times.
    """
    width = max(map(len, rest))
    places = [i for i in range(width) if i not in ends]
    place = weight_column(names if len(names) == width else [""] * width, places, choice.column)
    if place is None and not names and not choice.column and max(ends) < _THIRD < width:
        place = _THIRD
    if place is None:
        return ""
    name = names[place].strip() if place < len(names) else ""
    values = [row[place] for row in rest if len(row) > place]
    commas = [value for value in values if "," in value]
    if commas and all(map(_THOUSANDS.fullmatch, commas)):
        raise InputError("the commas of weights may be decimal, or separate thousands", path=path, text=commas[0],
                         remedy="write a point in place of the first, and nothing in place of the second")
    _refuse_points(values, [field for row in rest for field in row], path)
    if not choice.column and name.lower() not in NAMES and len(values) > 1 and all(map(_TIME.fullmatch, values)):
        raise InputError("which column has the weights is not clear: this one may have times", path=path,
                         text=listed(rest[0]), remedy=f"give its name or number, as in --weights={place + 1}")
    return f"weights: {name or f'column {place + 1}'}"


def _refuse_points(weights: Sequence[str], fields: Sequence[str], path: str) -> None:
    """Raise InputError if the points of weights may separate thousands, because some weights have none and are below
    1,000, or several; or because commas are decimal in other fields. fields : all of the first lines."""
    points = [text for text in weights if "." in text]
    whole = [text for text in weights if is_integer(text)]
    signs = (whole and all(len(text) <= _FEW for text in whole)) or any(text.count(".") > 1 for text in points) or any(
        map(_COMMA.fullmatch, fields))
    if points and signs and all(map(_POINTED.fullmatch, points)):
        raise InputError("the points of weights may be decimal, or separate thousands", path=path, text=points[0],
                         remedy="delete them if they separate thousands, else write all weights with a point, as in"
                         " 5.0 for 5")


def refuse_weights_above(above: Sequence[str], ends: tuple[int, int], choice: WeightChoice, path: str) -> None:
    """Raise InputError if a comment calls another column than the usual one by the name of the weights. above : its
    names, one for each column; empty without."""
    others = [place for place in range(len(above)) if place not in ends]
    if not others or choice.column.isdecimal():
        return
    place = weight_column(above, others, choice.column)
    if place is None and not choice.column:
        place = others[0]
    elif place is None or (place == _THIRD and not choice.column):
        return
    raise InputError(f"a comment calls column {place + 1} {above[place]}", path=path, text=" ".join(above),
                     remedy=f"give the number of the weights, as in --weights={place + 1}")


def refuse_comments(ends: Records, sample: Sample, width: int, path: str) -> None:
    """Raise InputError if a comment may be an edge; but not if it is the last one above the lines, as of BioSNAP, and
    the only one without a blank behind its mark.

    Parameters
    ----------
    ends : the two ends of each of the first lines; they are names.
    sample : the first lines and the comments.
    width : fields of each line, 0 if it varies.
    path : name of the input, for errors.
    """
    comments = (*sample.comments, *sample.later)
    for mark in _COMMENTS:
        marked = next((row[-1] for row in ends if row[-1].startswith(mark)), None)
        if marked and any(comment.startswith(mark) for comment in comments):
            raise InputError(f"lines that begin with {mark} are comments, but an id does so too", path=path,
                             text=marked, remedy="put ids that begin so in double quotes")
    odd = [comment for comment in comments if comment[1:2].strip() and len(comment.split()) == width
           and named_pair(comment[1:].split()) is None]
    title = [*filter(_NAMES_ABOVE.fullmatch, odd)] == odd == [*sample.comments[-1:]] and not any(
        text.startswith("#") for row in ends for text in row)
    edge = None if title or not odd else odd[0]
    if edge:
        raise InputError("a line among the edges may be a comment, or an edge of an id that begins with"
                         f" {edge[0]}", path=path, text=edge,
                         remedy="delete it if it is a comment, else put the id in double quotes")


def is_total(pair: Sequence[str], before: Sequence[str]) -> bool:
    """Whether the last pair of names may be the count of the others. before : the pair before it, empty without."""
    return bool(_TOTAL.fullmatch(" ".join(pair))) and not any(map(is_number, before))


def refuse_bits(rows: Records, path: str) -> None:
    """Raise InputError if several lines have only two values, like a 0-1 matrix. rows : the ends of each line if there
    is a header, else all fields of lines with more than two."""
    met = {text for row in rows for text in row}
    if len(rows) >= _FEW and any(met <= bits for bits in _BITS):
        raise InputError("the ends of all edges are 0 and 1, as if these were the rows of a matrix", path=path,
                         text=" ".join(rows[0]), remedy="write a matrix with as many rows as columns and no line above,"
                         " or say --columns 1,2 if each line is an edge")


def refuse_rounded(ids: Sequence[str], path: str) -> None:
    """Raise InputError if an id is a rounded float, or a point may separate its thousands."""
    points, rounded = next(filter(_POINTS.fullmatch, ids), None), next(filter(_is_rounded, ids), None)
    if points and any(len(text) >= _FEW and is_integer(text) for text in ids):
        raise InputError("the points in ids may separate thousands, or be decimal", path=path, text=points,
                         remedy="write ids without points")
    if rounded:
        raise InputError("an id is a float of which a program has left out the last digits", path=path, text=rounded,
                         remedy="write ids as integers, or say --ids string if no digit is missing")


def _is_rounded(text: str) -> bool:
    match = _ROUNDED.fullmatch(text)
    digits, power = (len(match[1] or ""), int(match[3])) if match else (0, 0)
    return match is not None and ((digits > 0 and power > _MOST_OF_FLOATS) or (power > digits and (
        digits in _SHOWN or (match[2] == "E+" and power >= _LEAST_OF_EXCEL))))


def refuse_two_forms(ids: Sequence[str], path: str, remedy: str) -> None:
    """Raise InputError if two ids are one number, such as 7 and 007: one vertex, or two."""
    forms: dict[int, str] = {}
    for text in ids:
        value = whole_number(text)
        if value is not None and forms.setdefault(value, text) != text:
            raise InputError("ids with leading zeros and without, or with a point and without, may be one vertex, as"
                             " numbers, or two, as names", path=path, text=text, remedy=remedy)


def refuse_lists(rest: Records, ends: Records, path: str) -> None:
    """Raise InputError if the second of two fields has several ids, such as 2,3: whole numbers, or names and one of
    them is the first field of a line; or if the second end of each line has, and no first one. ends : of each line."""
    for mark in ",;" if len(ends) > 1 and all(ends) else "":
        if all(mark in row[-1] and mark not in row[0] for row in ends):
            raise InputError("the second end of every line may be several ids", path=path, text=" ".join(rest[0]),
                             remedy="write a row for each edge, or say --ids string if each is one name")
    parted = [text for row in ends for text in row if not is_id_number(text)]
    if parted and all(map(_PARTED.fullmatch, parted)):
        raise InputError("the commas or blanks in ids may separate thousands, or several ids", path=path,
                         text=parted[0], remedy="write ids without them, or say --ids string if each is one id")
    heads = {row[0] for row in rest}
    for row in rest:
        parts = _SEVERAL.split(row[1]) if len(row) == len(("head", "list")) else []
        if len(parts) > 1 and (all(map(is_id_number, parts)) or not heads.isdisjoint(parts)):
            lists = all(is_id_number(text) for row in rest for field in row for text in _SEVERAL.split(field))
            raise InputError("the second field of a line has several ids", path=path, text=" ".join(row),
                             remedy="write an edge a line" + (", or say --format adjlist" if lists else ""))


def refuse_counted_lists(records: Records, path: str, lists: bool = False) -> None:
    """Raise InputError if lists of neighbours have their length in front, or a mark at the end. lists : whether the
    lines are lists."""
    widths = {len(row) for row in records}
    if len(records) < _THIRD or min(widths) < _THIRD:
        return
    what, uneven = "", len(widths) > 1
    counted = all(row[1] == str(len(row) - 2) for row in records)
    heads = {row[0] for row in records}
    known = heads == {field for row in records for field in row[_THIRD:]}
    if counted and (uneven or lists or known or max(widths) > _FEW) and not are_mutual(records):
        what = "the second field of every line is the number of those behind it, as if these were lists"
    elif uneven and len(records) >= _FEW < max(widths) and len({row[-1] for row in records}) == 1 and (
            records[0][-1] in ("0", "-1")):
        what = f"every line ends with {records[0][-1]}, which may be a mark"
    if what:
        raise InputError(what, path=path, text=" ".join(records[0][:9]),
                         remedy="delete that field, or say --columns 1,2 if each line is an edge")


def refuse_fixed_width(lines: Sequence[str], path: str) -> None:
    """Raise InputError if the lines may be columns of fixed width, with blanks inside names."""
    text = next((line for line in lines if _ONE_BLANK.search(line) and _MANY_BLANKS.search(line)), None)
    if text is not None:
        raise InputError("fields may be separated by one blank, or by more, with one blank within a name", path=path,
                         text=text, remedy="separate them by tabs or commas")


def refuse_marks(rest: Records, path: str) -> None:
    """Raise InputError if marks of another language are part of the ids."""
    first, second = [row[0] for row in rest], [row[1] for row in rest if len(row) > 1]
    if any(any(row) and all(_RULE.fullmatch(field) for field in row if field) for row in rest):
        raise InputError("a line is a rule that is drawn below a header", path=path,
                         remedy="write the table as CSV, without rules")
    whole = len(second) > 1 and all(map(_WHOLE.fullmatch, (*first, *second)))  # such as {0A1B-...}
    opened = not whole and any(
        all(field.startswith(_OPENING) for field in column) for column in (first, second) if len(column) > 1)
    closed = not whole and len(second) > 1 and all(field.endswith(_CLOSING) for field in second)
    ended = all(len(row) > 2 and row[-1] in (".", ";", ",", "\\\\") for row in rest) or any(
        len(row) == 1 and row[0].startswith(_OPENING) and row[0].endswith(_CLOSING) for row in rest) or (
        len(first) > 1 and any(field[-1:] == ":" for field in first))
    behind = any(all(map(_MARK_BEHIND.search, column)) for column in (first, second) if len(column) > 1)
    if opened or closed or ended or behind:
        raise InputError("brackets or other marks are part of every id", path=path, text=" ".join(rest[0]),
                         remedy="write an edge a line, two ids with a blank between them")
    keys = [{match[1] if (match := _KEY.match(field)) else "" for field in column} for column in (first, second)]
    if all(len(one) == 1 and "" not in one for one in keys):
        raise InputError("every id has a name and an equals sign before it", path=path, remedy="write the ids alone")
    letters = width_of(rest) == 2 and len(first) > 2 and first[0] != first[1] and first[0] in first[2:] and all(
        map(_LETTER.fullmatch, first)) and not any(map(_LETTER.fullmatch, second))  # as in the posts of memetracker
    if letters or ["p", "aux"] in [list(row[:2]) for row in rest] or (
            "v" in first and set(first) <= set("ctveadp") and (len(set(first)) > 1 or width_of(rest) > _FEW)):
        raise InputError("the first field of a line says what it is, such as v for a vertex", path=path,
                         text=" ".join(rest[0]), remedy="keep the lines of edges, without this field")


def refuse_backward(marks: Sequence[str], path: str) -> None:
    """Raise InputError if a mark between two ids is no arrow from the first to the second: <-, <-> and --."""
    wrong = next((mark for mark in marks if mark.strip("([:") and not any(map(str.isalnum, mark))
                  and (mark.startswith("<") or not mark.endswith((">", "→", "⇒")))), None)
    if wrong:
        raise InputError(f"directions are to be kept, and edges are written with {wrong}", path=path,
                         remedy="write every arc as p -> q, or leave out --directed")


def refuse_word(rest: Records, path: str) -> None:
    """Raise InputError if each line of edges with an arrow begins with the same word, which is no part of an id."""
    first, second = [row[0] for row in rest], [row[1] for row in rest if len(row) > 1]
    word = first[0].split(" ")[0]
    blanks = any(map(_ONE_BLANK.search, second))
    if len(first) > 1 and not blanks and all(field.startswith(f"{word} ") for field in first):
        raise InputError("every line begins with the same word", path=path, text=" ".join(rest[0]),
                         remedy="delete it")


def _refuse_root(names: Sequence[str], ends: tuple[int, int], rest: Records, path: str) -> None:
    """Raise InputError if 0 may stand for no parent, in a column of parents of vertices that have a line each."""
    rows = [row for row in rest if len(row) > max(ends)]
    for end, other in (ends, ends[::-1]):
        ids = [row[other] for row in rows]
        if "parent" in names[end].lower() and len(set(ids)) == len(ids) and "0" not in ids and any(
                row[end] == "0" for row in rows):
            pair = ",".join(names[place] for place in ends)
            raise InputError("0 may stand for no parent, or be a vertex", path=path, text=" ".join(rows[0]),
                             remedy=f"delete its lines if it is none, or say --columns {pair}")


def _values(rest: Records, place: int) -> tuple[str, list[str]]:
    """(kind, values) of a column in the first lines."""
    values = [row[place] for row in rest if len(row) > place]
    return _INT if values and all(map(is_id_number, values)) else _STRING, values


def _refuse_missing(columns: Sequence[TableColumn], path: str) -> None:
    """Raise InputError if all ids of two columns that are no integers are words for a missing one."""
    values = [text for column in columns for text in column.values]
    others = [text for text in values if not is_id_number(text)]
    if others and 2 * len(others) <= len(values) and set(others) <= set(MISSING):
        raise InputError(f"an id is {others[0]}, as programs write for a missing one", path=path,
                         remedy="delete such lines")


def _kinds_differ(columns: Sequence[TableColumn]) -> str:
    two = columns[:2]
    dicts = len(columns) == _FEW and set(columns[2].values) == {"{}"}  # behind an edge, as networkx writes it
    differ = len({column.kind for column in two}) > 1 and not dicts and (
        len(columns) > 2 or are_of_two_kinds([column.values for column in two]))
    return "the first two columns are integers and names" if differ else ""


def _no_ids(columns: Sequence[TableColumn], ends: tuple[int, int]) -> str:
    """The reason why the values of an end are no ids; "" without a reason."""
    if any(all(map(DATE.fullmatch, columns[end].values)) for end in ends):
        return "one of both columns has dates or times"
    fractions = sum(_are_fractions(columns[end].values) for end in ends)
    if all(is_id_number(columns[end].values[0]) for end in ends):  # the reader refuses others below
        return ""
    if fractions == 1 or (fractions and len(columns) >= _FEW):  # 1.1 and 1.2 may be ids
        return "one of both columns has fractions"
    return ""


def _are_fractions(values: Sequence[str]) -> bool:
    """Whether these are numbers, and not all of them are whole."""
    return all(map(is_number, values)) and not all(is_id_number(text.removeprefix("+")) for text in values)


def _other_columns(columns: Sequence[TableColumn], rest: Records, ends: tuple[int, int]) -> _Doubt:
    """The doubt whether other columns are the ends, if no name says which."""
    if len(columns) < _FEW:
        return _Doubt()
    if odd := _no_ids(columns, ends):
        return _Doubt(odd)
    values = [set(column.values) for column in columns]
    first = columns[ends[0]].values
    apart = values[ends[0]].isdisjoint(values[ends[1]])
    if ends == (0, 1) and apart and all(map(_TIME.fullmatch, first)) and not all(map(_TIME.fullmatch, values[1])):
        return _Doubt("the first column may have times", behind=True)
    others = [pair for pair in combinations(range(len(columns)), 2) if apart and ends[0] not in pair
              and columns[pair[0]].kind == columns[pair[1]].kind]
    if (is_count(first) and any(not values[i].isdisjoint(values[j]) for i, j in others)) or (
            ends == (0, 1) and number_lines(columns, values, rest, apart)):
        return _Doubt("the first column numbers the lines", behind=True)
    if len(set(first)) >= _MOSTLY * len(rest) and any(len(values[i] & values[j]) > 1 for i, j in others):
        return _Doubt("no id of the first column is in the second, and other columns share theirs", behind=True)
    again = len(rest) - len({tuple(row[:2]) for row in rest})
    unlike = apart or again > 1 or (len(rest) >= _SEVERAL_LINES and not are_alike(*values[:2]))
    if ends == (0, 1) and len(columns) > _FEW and not values[1] ^ values[3] and _FEW * len(values[1]) <= len(rest) and (
            are_alike(values[0], values[2])):
        return _Doubt("the second and the fourth column have the same few values, as layers have")
    if ends == (0, 1) and columns[1].kind == columns[2].kind and unlike and are_alike(*values[1:3]):
        return _Doubt("the second and the third column have the same values")
    if len(columns) > _FEW and all(are_alike(values[0] | values[1], more) for more in values[2:]):
        return _Doubt("all columns have the same values")
    if ends == (0, 1) and is_kind_between(columns, values, rest):
        return _Doubt("the first and the third column have the same values, and the second few, as kinds of edges",
                      pair=(0, 2))
    if ends == (0, 1) and number_layers(columns, values, rest):
        return _Doubt("the first column may number layers, with the ends in the second and third", behind=True)
    return _Doubt()


def _refuse(doubt: _Doubt, columns: Sequence[TableColumn], rest: Records, path: str) -> None:
    """Raise InputError for a doubt with a reason."""
    if doubt.why:
        likely = [replace(columns[0], kind="", values=()), *columns[1:]] if doubt.behind else columns
        next_two = doubt.behind and columns[1].kind == columns[2].kind and {*columns[1].values} & {*columns[2].values}
        pair = (1, 2) if next_two and not columns[0].name else doubt.pair
        named = f"{pair[0] + 1},{pair[1] + 1}" if pair else example_columns(likely)
        other = (doubt.behind or doubt.pair) and not columns[0].name
        raise InputError(f"which columns are the ends of an edge is not clear: {doubt.why}", path=path,
                         text=listed(rest[0]), remedy=f"name both, as in --columns {named}"
                         + (", or --columns 1,2" if other else ""))
