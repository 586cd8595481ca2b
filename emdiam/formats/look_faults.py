"""Errors for texts whose parts are written in different ways: lines without the separator of the others, marks at the
ends of lines, arrows in some lines, and values of a program.

Read by another rule, such a text is another graph, without a contradiction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..errors import InputError
from .look_ends import refuse_fixed_width, refuse_marks
from .look_header import refuse_odd_first
from .look_sample import (
    IN_ONE_FORM,
    LOOK_THE_SAME,
    WORDS,
    Fields,
    Sample,
    are_lists_of_commas,
    as_seen,
    commas_are_decimal,
    has_leading_zero,
    is_id_number,
    is_number,
    records_of,
    width_of,
)
from .look_shape import (
    ADJLIST,
    ARROW,
    PAIRS,
    SIF,
    DoubtError,
    begin_with_colons,
    begins_as_lists_of_networkx,
    names_above_matrix,
    refuse_padded,
)
from .look_squares import are_numbers
from .reading import TUPLES
from .registry import OF_EDGES, OF_VERTICES, format_suffix
from .tables import alike_pairs, certain_pair

_MARKS = "\t;|,"
_FEW, _FIRST = 3, 12
_INNER_BLANK = re.compile(r"\S[ \t]+\S")
_ASSIGNED = re.compile(r"\s*(?:(?:var|let|const)\s+)?[A-Za-z_]\w*\s*=\s*[\[({]")
_CALL = re.compile(r"\s*(?:[A-Za-z_][\w.]*\s*=\s*)?[A-Za-z_][\w.]*\(\s*[\[({].*", re.DOTALL)
# Lines that are a call or a fact, such as Row(src=1, dst=2) and edge(a,b), or an item of YAML.
_FACT = re.compile(r"\s*(?:(?!Edge\()[A-Za-z_]\w*\([^(),]*,[^()]*\).*|[-*][ \t]+[\[({].*|<[^<>,]*,[^<>]*>\s*)")
_BESIDE = re.compile(r"\s*([^\s,:=;|]+)[:=;|]([^\s,:=;|]+)(?:,([^\s:=;|]*))?")
_TWO_TUPLES = re.compile(r"\s*[(\[][^()\[\]]*,[^()\[\]]*[)\]]\s*,?\s*[(\[][^()\[\]]*,[^()\[\]]*[)\]]\s*"
                         r"(?:\{.*\})?\s*")
_WORD_IN_TUPLE = re.compile(r"\s*[(\[]\s*[^\s\d-]")
_RULE_BELOW = re.compile(r"-{2,}(?:\+-{2,})+")  # as psql draws it
_ASSIGNMENT = re.compile(r"[A-Za-z_][\w.-]*=.+")
_POINTED = re.compile(r"\d+\.", re.ASCII)
_PART = re.compile(r"\{[^{}]*\}|'[^',]*'|\"[^\",]*\"")
_SECTION = re.compile(rf"[#%/*\s]*(?:{OF_VERTICES}|{OF_EDGES})(?:[ _](?:list|section))?[\s:=\d]*", re.IGNORECASE)
_MODULES = re.compile(r"[#%]\s*(?:node|node_id|path)[\s,]+(?:flow|module|community|cluster)\b", re.IGNORECASE)
_TIME = re.compile(r"\d\d?:\d\d(?::\d\d(?:\.\d+)?)?", re.ASCII)
_LENGTH = re.compile(r"([^\s:=@/|;(]+)(?:[:=@/|;]|\()[-+]?\d+(?:\.\d+)?\)?", re.ASCII)
_PAIR = re.compile(r"[^\s,]+(?:,[-+]?(?:\d+(?:\.\d*)?|\.\d+))+", re.ASCII)
_MARK_ALONE = re.compile(r"[-=<>]*[<>=][-=<>]*|\\+|\.{3}|…|→|⇒|--+")
_ARROWS = re.compile(rf"{ARROW.pattern}|(?<=\s)[<>=](?=\s)")
_PARTS = {")": "(", "]": "[", "}": "{"}
_KONECT, _NUMBERS = re.compile(r"%\s*(?:a?sym|bip)\b"), re.compile(r"[-+.\d]+(?:[ \t]+[-+.\d]+)+", re.ASCII)
_A_LINE = "write an edge a line, two ids with a blank between them"
_WORDS_OF_CELLS = ("inf", "+inf", "-inf", "infinity", "nan", "na", "none", "null", "∞", "x")
_RANGES = re.compile(r"\s*\d+[-–:]\d+(?:\s*[,;]\s*\d+[-–:]\d+)+\s*", re.ASCII)
_BEHIND = re.compile(r"\S\s+(?:[#%]|//|[\[({]|\w+=)|\S:\s+\S")
_BETWEEN = re.compile(r"[ \t]*,[ \t]*|[ \t]+")
_ZEROS = (".", "-", "")


def header_mark(sample: Sample) -> str:
    """The mark between the names in the first line, if two of these are the ends of edges by this mark, and most other
    lines have it too: it separates then, also if a line lacks it. A blank for KONECT's numbers; else ""."""
    lines = [line.strip() for line in sample.texts]
    if any(map(_KONECT.match, sample.comments)) and all(map(_NUMBERS.fullmatch, lines)):
        return " "
    for mark in _MARKS:
        names = [field.strip(' "') for field in lines[0].split(mark)]
        named = len(names) > 1 and (certain_pair(names) is not None or alike_pairs(names))
        if named and 2 * sum(mark in line for line in lines[1:]) > len(lines) - 1:
            return mark
    return ""


def list_mark(fields: Fields, sample: Sample, path: str) -> str:
    """The mark between the ids of lists of neighbours, if blanks are inside ids or a mark other than a comma is in the
    lines; else that of the fields, "" if blanks and commas separate. Raises InputError if both may."""
    lines = [line.strip() for line in sample.texts]
    parts = [_BETWEEN.split(field) for row in fields.records for field in row if field]
    numbers, tabs = all(is_id_number(part) for field in parts for part in field), any("\t" in line for line in lines)
    for mark in _MARKS:
        rows = [[field.strip() for field in line.split(mark)] for line in lines if mark in line]
        inside = any(_INNER_BLANK.search(field) for row in rows for field in row)
        if not rows or (mark in "\t," and (numbers or not inside)):
            continue
        heads = {row[0] for row in rows}
        if inside and mark == "," and tabs:
            raise InputError("both tabs and commas may separate the ids", path=path, text=lines[0],
                             remedy="write tabs alone, or commas alone")
        if inside and any(part in heads for row in rows for field in row[1:] for part in field.split()
                          if _INNER_BLANK.search(field)):
            raise InputError(f"both blanks and {WORDS[mark]} may separate the ids", path=path, text=lines[0],
                             remedy="write blanks alone, or none within an id")
        return mark
    return "" if max(map(len, parts), default=0) > 1 else fields.separator


def relation_mark(fields: Fields, sample: Sample, path: str) -> str:
    """The mark between the fields of relations: a tab if any line has one, as for Cytoscape; "" for no other mark than
    before. Raises InputError if blanks separate the fields of some lines, and tabs those of others."""
    rows = [[field.strip(" ") for field in line.strip().split("\t")] for line in sample.texts]
    if max(map(len, rows)) > 1:
        odd = next((row for row in rows if len(row) < _FEW <= len(" ".join(row).split())), None)
        if odd is not None and max(map(len, rows)) >= _FEW:
            raise InputError("tabs separate the fields of some lines, and blanks may separate those of others",
                             path=path, text=" ".join(odd), remedy="write tabs alone, or blanks alone")
        return "\t"
    return fields.separator or (" " if all(len(row[0].split()) != 2 for row in rows) else "")


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
    if all(map(_TWO_TUPLES.fullmatch, sample.texts)):
        raise InputError("each line has two tuples, which may be the ids of an edge, or two edges", path=path,
                         text=sample.texts[0][:80], remedy="number the vertices first, e.g. by"
                         " networkx.convert_node_labels_to_integers, or write an edge a line")
    _refuse_facts(sample, path)
    inside = text.startswith("{") and text.rstrip(";").endswith("}") and any(mark in text for mark in ":,")
    if len(sample.lines) <= _FEW and (
            inside or _ASSIGNED.match(text) or _RANGES.fullmatch(text) or _CALL.fullmatch(text)):
        raise InputError("the text is a value of a program, or has several edges on a line", path=path,
                         text=sample.texts[0][:80], remedy=_A_LINE)
    if any(line.startswith("+--") and set(line) <= {"+", "-"} for line in sample.texts[:1]) or any(
            map(_RULE_BELOW.fullmatch, sample.texts[1:2])) or all(
            line.startswith("| ") and line.endswith(" |") for line in sample.texts):
        raise InputError("the table has a frame of lines", path=path, text=sample.texts[0][:80],
                         remedy="write it as CSV, or with tabs alone")


def _refuse_facts(sample: Sample, path: str) -> None:
    """Raise InputError if each line is a call or a fact, a list behind a mark without a blank, or has several
    arrows."""
    lines, several = sample.texts, [len(_ARROWS.findall(line)) > 1 for line in sample.texts]
    rows = [match.groups() for line in lines if (match := _BESIDE.fullmatch(line))]
    heads, commas = [row[0] for row in rows], [field for row in rows if row[2] for field in row[2].split(",")]
    met = {row[1] for row in rows}
    lists = len(rows) == len(lines) > 1 and len(set(heads)) == len(rows) and bool(commas) and not (
        met.isdisjoint(commas) and met.union(commas).isdisjoint(heads)) and not begin_with_colons(lines)
    pairs = [[field.partition("=")[0] for field in line.split() if _ASSIGNMENT.fullmatch(field)] for line in lines]
    if len(lines) > 1 and len(pairs[0]) > 1 and len({tuple(row) for row in pairs}) == 1 and all(
            len(row) == len(line.split()) for row, line in zip(pairs, lines, strict=True)):
        raise InputError("every field has a name and an equals sign before it", path=path, line=sample.lines[0].number,
                         remedy="write the ids alone")
    if all(map(_FACT.fullmatch, lines)) or all(several) or lists:
        raise InputError("lists of neighbours stand behind a mark without a blank" if lists else
                         "several arrows or signs stand in a line" if all(several) else
                         "every line is a call, a fact or a list of a program", path=path, text=lines[0][:80],
                         remedy=_A_LINE)


def refuse_sections(sample: Sample, path: str) -> None:
    """Raise InputError if a comment parts vertices from edges, or says that the lines have the modules of vertices."""
    if any(map(_MODULES.match, sample.comments)):
        raise InputError("the lines are vertices and their modules", path=path, text=sample.comments[0],
                         remedy="hand in the network itself")
    if not sample.later:
        return
    above, below = (records_of([line.text.replace(",", " ") for line in sample.lines
                                if (line.number < sample.at) == first], " ", False) for first in (True, False))
    heads = {row[0] for row in above}
    alone = sample.later[0].strip("#% ") == "" and len(heads) == len(above) > 0 < len(below) and (
        0 < width_of(above) != width_of(below) > 0 or all(field in heads for row in below for field in row[:2]))
    word = next(filter(_SECTION.fullmatch, sample.later), sample.later[0] if alone else "")
    if word and below:
        raise InputError("a comment seems to part vertices from edges", path=path, line=sample.at, text=word,
                         remedy="keep the lines of edges alone, and write the ids above them to a file of their own for"
                         " --vertices, or delete it if all lines are edges")


def refuse_tuples(lines: Sequence[str], path: str) -> None:
    """Raise InputError unless each line is one pair of brackets about the same number of ids and other values."""
    counts = set()
    if any(_WORD_IN_TUPLE.match(line) and line[max(map(line.rfind, ")]")) + 1 :].strip(", ") for line in lines):
        raise InputError("a value is behind a pair of names in brackets", path=path, text=lines[0][:80],
                         remedy="write it within the brackets, behind the names")
    for line in lines:
        plain = line.replace("Edge(", "(") if "," in line else line.replace("[[", "[").replace("]]", "]")
        inside = _PART.sub("0", plain[: max(map(plain.rfind, ")]"))].strip()[1:]).rstrip(", ")
        counts.add(0 if any(mark in inside for mark in "()[]{}'\"") else len(
            inside.split(",") if "," in inside else inside.split()))
    if len(counts) > 1 or 0 in counts:
        raise InputError("the brackets of a line have a list, several edges or a comma within quotes in them, or more"
                         " fields than others", path=path, text=lines[0][:80], remedy="write an edge a line, two ids"
                         " with a comma between them, and names with commas inside in double quotes")


def refuse_odd_lists(fields: Fields, sample: Sample, relations: bool, rewrite: str, path: str) -> None:
    """Raise InputError if lists of neighbours, or relations, may have another meaning. rewrite : see Reading."""
    refuse_marks(fields.records, path)
    if relations and len(fields.records[0]) == 1 < len(fields.records) and format_suffix(path) != ".sif":
        raise InputError("the first line may be a title, or a vertex without edges", path=path,
                         text=fields.records[0][0], remedy="delete it if it is a title, else say --format sif")
    if relations:
        return
    refuse_padded(fields.records, True, path)
    if rewrite == ":":
        _refuse_lists_behind(fields.records, sample, path)
    if not all(is_id_number(row[0]) and not has_leading_zero(row[0]) for row in fields.records):
        refuse_odd_first(fields.records, path)
        if fields.separator == " ":
            refuse_fixed_width(sample.texts, path)
    elif not all(is_id_number(field) for row in fields.records for field in row if field):
        raise InputError("lists of neighbours have marks that are part of their ids", path=path,
                         text=" ".join(fields.records[0][:9]), remedy="separate ids by blanks alone")


def in_doubt(doubt: DoubtError, path: str, fields: Fields) -> InputError:
    """The error for lines that fit two shapes."""
    marked = fields.separator not in ("", " ")  # the format separates by blanks too
    choices = ["--columns 1,2" if marked and one == PAIRS else f"--format {one}" for one in doubt.formats] or [
        "--columns 1,2", "--columns 1,3"]
    if not doubt.formats and not fields.width:
        choices += [f"--format {SIF}", f"--format {ADJLIST}"]
    return InputError(doubt.what, path=path, text=" ".join(fields.records[0][:9]),
                      remedy="say which with " + ", or ".join(choices))


def _refuse_lists_behind(records: Sequence[Sequence[str]], sample: Sample, path: str) -> None:
    """Raise InputError if the fields behind colons may be no lists of neighbours, or separated otherwise."""
    heads = [row[0] for row in records]
    behind = [field for row in records for field in row[1:]]
    parts = [field.split() for field in behind if _INNER_BLANK.search(field)]
    met = {*heads, *(field for field in behind if not _INNER_BLANK.search(field))}
    if {len(row) for row in records} == {2} and all(map(is_number, behind)) and not all(
            map(is_id_number, heads)) and set(heads).isdisjoint(behind):
        raise InputError("a number is behind every colon, which may be a length or another value",
                         path=path, text=sample.texts[0], remedy="write an edge a line, two ids and the value behind"
                         " them, with blanks between them")
    if len(records) > 1 and len({*behind}) == len(behind) and {*heads}.isdisjoint(behind) and not all(
            map(is_id_number, heads)):
        raise InputError("no id before a colon is behind another one: these may be names of fields and their values",
                         path=path, text=sample.texts[0], remedy="hand in the graph, or write an edge a line")
    numbered = len(records) > 1 and {len(row) for row in records} == {_FEW} and set(heads).isdisjoint(behind)
    if numbered:
        raise InputError("two ids are behind every colon, and the ids before colons are others: each line may be an"
                         " edge behind its number", path=path, text=sample.texts[0], remedy="delete the numbers and"
                         " colons if so, else say --format adjlist")
    marked = any(field.startswith("'") or any(mark in field for mark in ';|"') for field in behind)
    if marked or any(
            is_number(words[-1]) or is_number(words[0]) or not met.isdisjoint(words) for words in parts):
        raise InputError("it is not clear what separates the ids behind a colon", path=path, text=sample.texts[0],
                         remedy="write commas or blanks alone, and no weights or quotes")


def refuse_lengths(records: Sequence[Sequence[str]], sample: Sample, path: str, names: bool) -> None:
    """Raise InputError if a length may stand beside each neighbour, as in b:5, b(5) and b,5. names : whether the user
    says that ids are names, which may have marks inside."""
    heads = {row[0] for row in records}
    numbers = all(is_id_number(head.split(" ")[0]) for head in heads)
    rows = list(records_of(sample.texts, " ", False))
    second = [row[1] for row in (rows if all(is_id_number(row[0]) and len(row) > 1 for row in rows) else records)
              if len(row) > 1]
    marked = [match[1] for field in second if (match := _LENGTH.fullmatch(field)) and not _TIME.fullmatch(field)]
    known = [part for part in marked if part in heads or (numbers and is_id_number(part))]
    pairs = [["://" not in field and bool(_PAIR.fullmatch(field)) for field in row] for row in rows]
    certain = all(len(row) > 1 and not row[0] and row[1] for row in pairs) and all(is_id_number(row[0]) for row in rows)
    few = len({field.count(",") for row in rows for field in row if "," in field}) == 1
    certain = certain and not are_lists_of_commas(rows)
    commas = certain or (few and any(sum(row) > 1 and any(row[:2]) for row in pairs) and all(
        pair or "," not in field for row, fits in zip(rows, pairs, strict=True) for field, pair in zip(
            row, fits, strict=True)))
    if commas:
        raise InputError("fields may be an id and a length, coordinates, or numbers with a comma inside", path=path,
                         text=sample.texts[0], remedy="write an edge a line, two ids without commas and the length"
                         " behind them")
    if 2 * len(known) >= len(second) > 0 and known and not names:
        raise InputError("a field may be an id with a length, a port or another number behind it, or one id", path=path,
                         text=sample.texts[0], remedy="write the number behind a blank, or leave it out, or say --ids"
                         " string if it is a part of the id")


def refuse_numbered(lines: Sequence[str], rewrite: str, path: str) -> None:
    """Raise InputError if each line begins with its number and a mark, perhaps behind one word, and the next field has
    another mark or none. rewrite : see Reading."""
    rows = [line.split() for line in lines]
    if rewrite in (":", TUPLES, "-") or len(rows) < 2 or min(map(len, rows)) < _FEW:
        return
    word = len({row[0] for row in rows}) == 1 and not is_id_number(rows[0][0].strip("()[].:|#"))
    first, second = ([row[word + place] for row in rows] for place in (0, 1))
    plain = [field.strip("()[].:|#") for field in first]
    ends = word + 2
    if first != plain == [str(place) for place in range(1, len(plain) + 1)] and min(map(len, rows)) > ends and (
            first[0].strip("0123456789") != second[0].strip("0123456789")):
        remedy = "delete these" if rewrite else (
            f"say --columns {ends},{ends + 1} if edges are behind it, else delete the marks")
        raise InputError(f"every line begins with {'a word, ' if word else ''}its number and a mark", path=path,
                         text=lines[0], remedy=remedy)


def refuse_marked_ids(ends: Sequence[Sequence[str]], path: str) -> None:
    """Raise InputError if an id has a bracket without the other, or is a mark such as an arrow."""
    for row in ends:
        for field in row:
            if _MARK_ALONE.fullmatch(field) or (field.endswith((":", ";")) and len(field) > 1) or any(
                    field.count(one) != field.count(other) for one, other in _PARTS.items()):
                raise InputError("an id is a mark, or has a bracket without the other one", path=path, text=field,
                                 remedy=f"{_A_LINE}, or say --ids string if it is a part of ids")
    _refuse_unseen((field for row in ends for field in row), path)


def _refuse_unseen(ids: Iterable[str], path: str) -> None:
    """Raise InputError if two names look the same, but one has a letter that is not seen or an accent of its own."""
    forms: dict[str, str] = {}
    for text in ids:
        plain = text if text.isascii() else as_seen(text)
        if forms.setdefault(plain, text) != text:
            raise InputError(LOOK_THE_SAME, path=path, text=plain, remedy=IN_ONE_FORM)


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
    ends, third = ({text for row in fields.records for text in row[part]} for part in (slice(2), slice(2, 3)))
    thirds = fields.width == _FEW and len(third) > 1 and not third.isdisjoint(ends) and all(
        map(is_id_number, ends | third))
    odd = fields.records[0] if thirds else odd or next((row for row in rows if "," in row[1] and not first.isdisjoint(
        map(str.strip, row[1].split(",")))), None)
    remedy = "the third number of a line is no id" if thirds else "blanks are a part of ids"
    if odd is None and not fields.width and len(rows) < len(fields.records):
        odd = next(row for row in fields.records if len(row) != 2)
    if odd is not None:
        raise InputError("the ids of a line may have a weight, a note or other ids beside them, or blanks inside",
                         path=path, text=" ".join(odd),
                         remedy=f"write the edges as CSV, or say --format edgelist if {remedy}")


def _refuse_marked_rows(fields: Fields, path: str) -> None:
    """Raise InputError if a mark ends each line of a matrix or of edges, or another sign than 0 is most of a matrix."""
    records = fields.records
    last = [row[-1] for row in records]
    n, width = len(records), len(records[0])
    cut = [row[:-1] if not row[-1] else row for row in records]
    if n >= _FEW and not any(last) and all(len(row) == n for row in cut) and are_numbers(cut):
        raise InputError("a mark ends each row of the matrix", path=path, text=" ".join(records[0]),
                         remedy="delete the marks at the ends of the lines")
    ended = [row for row in records if len(row) == 2 and _INNER_BLANK.search(row[0]) and not row[1]]
    blanks = fields.separator in ("", " ")
    pointed = not fields.width and all(map(_POINTED.fullmatch, last)) and not any(
        field.endswith(".") for row in records for field in row[:-1])
    marked = pointed or (all(field.endswith(";") for field in last[:-1]) and last[0] != ";")
    if len(ended) == n > 1 or (n > 1 and blanks and marked):
        raise InputError("a mark ends each line", path=path, text=" ".join(records[0]),
                         remedy="delete the marks at the ends of the lines")
    if len({len(row) for row in records}) > 1 and all(len(row) > 2 and row[-1] == "{}" for row in records):
        raise InputError("attributes end each line, and ids may have blanks inside", path=path,
                         text=" ".join(records[0]), remedy="write the ids with a tab or a comma between them")
    if n >= _FEW and n == width and all(len(row) == n for row in records):
        odd = [field for row in records for field in row if not is_number(field)]
        words = len({row[place] for place, row in enumerate(records)}) == 1 and any(odd)
        if odd and ((all(field in _ZEROS for field in odd) and "." in odd) or (words and all(
                field.lower() in _WORDS_OF_CELLS for field in odd))):
            raise InputError("points or words stand for the zeros of a matrix", path=path, text=" ".join(records[0]),
                             remedy="write 0 in their places")


def _refuse_named_rows(records: Sequence[Sequence[str]], path: str) -> None:
    """Raise InputError if the rows of a matrix with names have another order than its columns, or a cell is no
    number."""
    names, heads = names_above_matrix(records)[1:], [row[0] for row in records[1:]]
    if len(heads) > 1 and not names_above_matrix(records)[0] and sorted(names) == sorted(heads) and all(
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
