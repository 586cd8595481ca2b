"""Shapes of lines that are not one edge each: rows of a matrix, lists of neighbours, triples and others.

The functions use only the fields. If these fit two shapes, `DoubtError` names both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import InputError
from .look_ends import MISSING
from .look_header import MOST_COUNTS, counts_before
from .look_sample import (
    LIST_OF_NUMBERS,
    WORDS_OF_CELLS,
    Records,
    Sample,
    is_id_number,
    is_integer,
    is_number,
    value_of,
    whole_number,
    width_of,
)
from .registry import format_suffix

METIS = "metis"
ADJLIST, MATRIX, SIF, LGL, MULTILINE, PYCGR, ATTRIBUTES, PAIRS = (
    "adjlist", "matrix", "sif", "lgl", "multiline-adjlist", "pycgr", "attributes", "edgelist")

ARROW = re.compile(r"<?(?<![-=])[-=]+>|<?--(?![->])|→|⇒")
SECOND_OR_THIRD = "the other end of an edge may be the second field of a line, or the third"
_DASHED = re.compile(r"\s*\d+(?:[-–]|\s+[-–]\s+)\d+\s*", re.ASCII)  # not 1 -2, which has a negative number
# Optionally with a value after it, as sparse matrices are printed.
_TUPLE = re.compile(r"\s*(?:Edge\(|[(\[]).*[)\]]\s*,?(?:\s+[-+\d.eE]+)?\s*")
_COLON = re.compile(r"\s*(?:[^\s,]*[^\s:,])\s*:(?:\s|$)")
_NAMES_COLON = re.compile(r"\s*([^\s:,][^:,]*):(?:\s|$)")
_BITS = re.compile("[01]+")
_ATTRIBUTES = re.compile(r"\s*([^\s{][^{]*)(?<=[\s,;|])\{(?:[^:]*:.*)?\}\s*$")
_NETWORKX = re.compile(r"[#%] GMT \w{3} \w{3} +\d+ [\d:]{8} \d{4}", re.ASCII)
_METIS_HEAD = re.compile(r"\d+ \d+(?: [01]{1,3}(?: \d)?)?", re.ASCII)
_FEW = 3
# Least number of columns: of a matrix; of one recognised as square (tables of edges seldom are); of a matrix whose end
# is beyond the sample.
_LEAST_MATRIX, _LEAST_SQUARE, _LEAST_WIDE = 3, 5, 8
_FAR = 100  # a value of a matrix that is larger than all others by this factor may stand for no edge

# A vertex, a mark, and several numbers.
_BEHIND_MARK = re.compile(r"\d+[ ]*[\t,;|][ ]*\d+(?:[ ]+\d+)+", re.ASCII)
PADS = ("", "NA", *MISSING)


class DoubtError(Exception):
    """Raised for lines that fit two shapes. what : the two readings. formats : their names, in the same order."""

    def __init__(self, what: str, formats: Sequence[str]) -> None:
        super().__init__(what)
        self.what, self.formats = what, tuple(formats)


def arrow_of(lines: Sequence[str]) -> str:
    """The arrow that occurs once in each line, "-" for dashes between integers, "" without one."""
    if lines and all(_DASHED.fullmatch(line) for line in lines):
        return "-"
    found = [ARROW.findall(line) for line in lines]
    arrows = {arrow[0].strip() for arrow in found if len(arrow) == 1}
    return arrows.pop() if len(arrows) == 1 and all(len(arrow) == 1 for arrow in found) and all(
        all(end.strip() for end in ARROW.split(line, maxsplit=1)) for line in lines) else ""


def are_tuples(lines: Sequence[str]) -> bool:
    """Whether each line is a pair in brackets, as in (1, 2), perhaps with a value, as in (1, 2)  0.5."""
    return bool(lines) and all(_TUPLE.fullmatch(line) for line in lines)


def begin_with_colons(lines: Sequence[str]) -> bool:
    """Whether each line begins with a vertex and a colon, as in 1: 2 3; or with other names, also with blanks inside,
    if commas are behind some of them."""
    if not lines or all(_COLON.match(line) for line in lines):
        return bool(lines)
    plain = [match[2] for line in lines if (match := LIST_OF_NUMBERS.fullmatch(line))]
    if len(plain) == len(lines) and len({behind.count(",") for behind in plain}) > 1 and (
            any(behind.count(",") > 1 or not behind[:1].isdecimal() for behind in plain)):  # not 1:2 and 2:3,5
        return True
    names = [match[1] for line in lines if (match := _NAMES_COLON.match(line))]
    return len(set(names)) == len(lines) and any("," in line for line in lines)


def are_in_single_quotes(lines: Sequence[str], separator: str) -> bool:
    """Whether all fields of all lines are in single quotes."""
    return bool(separator.strip(" ")) and all(
        line.startswith("'") and line.endswith("'") and f"'{separator}'" in line for line in lines)


def is_lgl(name: str, sample: Sample) -> bool:
    """Whether the text is LGL: lines "# vertex", each before its neighbours, one a line, with or without weights."""
    comments = (*sample.comments, *sample.later)
    heads = [comment for comment in comments if comment.startswith("#")]
    rows = [line.split() for line in sample.texts]
    fits = (len(heads) == len(comments)
            and all(len(head.split()) == 2 and head[1] == " " for head in heads)
            and all(len(row) == 1 or (len(row) == 2 and is_number(row[1])) for row in rows))
    if not heads or not fits:
        return False
    if format_suffix(name) == ".lgl":
        return True
    words, others = [head.split()[-1] for head in heads], {row[0] for row in rows}
    # A comment of one word above edges is no head. Several comments are heads if one of them is also a neighbour.
    plain = not any(mark in line for line in sample.texts for mark in ",;|\t")
    return plain and bool(sample.later) and len(set(words)) == len(words) > 1 and any(word in others for word in words)


def begins_as_lists_of_networkx(sample: Sample) -> bool:
    """Whether the text begins with the comments of networkx above lists of neighbours."""
    return len(sample.comments) >= _FEW and bool(
        _NETWORKX.fullmatch(sample.comments[1]))


def is_pycgr(records: Records) -> bool:
    """Whether the text begins with two counts and vertices with coordinates, as OsmToRoadGraph writes it."""
    if len(records) < _FEW or [len(record) for record in records[:_FEW]] != [1, 1, 3]:
        return False
    return is_integer(records[0][0]) and is_integer(records[1][0]) and all(
        "." in field and is_number(field) for field in records[2][1:])


def is_multiline(records: Records) -> bool:
    """Whether each line "vertex degree" is followed by that number of lines "neighbour {...}"."""
    at, dicts = 0, 0
    while at < len(records):
        if len(records[at]) != 2 or not is_integer(records[at][1]):
            return False
        degree = value_of(records[at][1])
        rows = records[at + 1 : at + 1 + degree]
        if not all(len(row) > 1 and row[1].startswith("{") for row in rows):
            return False
        dicts += len(rows)
        at += 1 + degree
    return dicts > 0


def ids_before_attributes(lines: Sequence[str]) -> list[str]:
    """The texts before the dicts of attributes at the ends of lines; empty unless the first line and most others have a
    dict."""
    found = [line[: match.end(1)].rstrip(" \t,;|") for line in lines if (match := _ATTRIBUTES.match(line))]
    return found if 2 * len(found) > len(lines) and _ATTRIBUTES.match(lines[0]) else []


def is_in_brackets(lines: Sequence[str], records: Records, whole: bool) -> bool:
    """Whether the lines are a square matrix as NumPy or Sage prints it, with each row in square brackets."""
    return all(line.lstrip().startswith("[") and "," not in line for line in lines) and is_matrix(records, whole)


def are_bits(lines: Sequence[str], whole: bool) -> bool:
    """Whether the lines are the rows of a matrix of 0 and 1, with nothing between these."""
    n = len(lines)
    return n >= _FEW and {len(line) for line in lines} == {n} and whole and all(map(_BITS.fullmatch, lines))


def is_named_matrix(records: Records, whole: bool) -> bool:
    """Whether the text is a matrix with names: a row of names, then rows of numbers, each after its name."""
    first, rows = names_above_matrix(records), records[1:]
    names = first[1:]
    if len(names) < 2 or len(set(names)) < len(names) or not rows or first[0] in names:
        return False
    heads = [row[0] for row in rows]
    square = len(rows) == len(names) if whole else len(rows) <= len(names)
    found = (square and all(len(row) == len(first) for row in rows) and heads == list(names[: len(heads)])
            and all(is_number(field) or not field for row in rows for field in row[1:])
            and not all(is_number(field) for field in first))
    if found and whole and len(rows) > _FEW and _are_sums(rows):
        raise DoubtError("the last row of the matrix has the sums of the others, and may be totals (then delete it and"
                         " the last column), or a vertex", (MATRIX,))
    return found


def names_above_matrix(records: Records) -> Sequence[str]:
    """The first line, with an empty field above the names of rows where R has written none."""
    first = records[0]
    return ("", *first) if width_of(records[1:]) == len(first) + 1 else first


def _are_sums(rows: Records) -> bool:
    """Whether the last of these rows of numbers, each after its name, is the sum of the others."""
    values = [[float(field.replace(",", ".") or 0) for field in row[1:]] for row in rows]
    return any(values[-1]) and values[-1] == [sum(column) for column in zip(*values[:-1], strict=True)]


def is_matrix(records: Records, whole: bool) -> bool:
    """Whether a square of numbers is an adjacency matrix. Raises DoubtError if its rows may also be edges with further
    fields."""
    width = len(records[0])
    if width < _LEAST_MATRIX or len(records) > width or any(len(row) != width for row in records):
        return False
    records = [[WORDS_OF_CELLS.get(field.lower(), field) for field in row] for row in records]
    if not all(is_number(field) for row in records for field in row):
        return False
    values = [[float(field.replace(",", ".")) for field in row] for row in records]
    if not whole:
        zeros = sum(row.count(0.0) for row in values)
        return width >= _LEAST_WIDE and 2 * zeros >= width * len(values) and not any(
            row[i] for i, row in enumerate(values[:width]))
    if len(records) < width:
        return False
    hollow = not any(values[i][i] for i in range(width))
    symmetric = all(values[i][j] == values[j][i] for i in range(width) for j in range(i))
    plain = {value for row in values for value in row} <= {0.0, 1.0}
    ones = [sum(column) for column in zip(*values, strict=True)]
    if plain and not (symmetric and hollow) and {*ones} <= {1, 2} and ones.count(1) < 2:  # a loop has a single one
        raise DoubtError("each column has two ones, as in a matrix whose columns are the edges; else", (MATRIX,))
    wide, narrow = width >= _LEAST_SQUARE, width == _LEAST_MATRIX
    zeros = sum(row.count(0.0) for row in values)
    no_ids = any(whole_number(field) is None for row in records for field in row[:2])
    if symmetric and hollow and _begins_with_numbers(values):
        raise DoubtError("the first row and column of the matrix may be the numbers of the others (then delete both),"
                         " or a vertex", (MATRIX,))
    if (symmetric and (hollow or plain or not narrow or no_ids)) or (not narrow and plain) or (
            wide and 2 * zeros >= width**2):
        if _has_marks(values):
            raise DoubtError("a value of the matrix, at many places, may stand for no edge; write 0 there if so, else",
                             (MATRIX,))
        return True
    if wide or hollow or plain or (not narrow and zeros >= width):
        if zeros >= width and no_ids:
            return True
        raise DoubtError("its lines may be the rows of an adjacency matrix, or edges with further fields",
                         (MATRIX, PAIRS))
    return False


def _begins_with_numbers(values: Sequence[Sequence[float]]) -> bool:
    """Whether the first row of a matrix has the numbers of its columns, and no other value is above 1."""
    return len(values) > _FEW and list(values[0]) == list(range(len(values))) and {
        value for row in values[1:] for value in row[1:]} <= {0.0, 1.0}


def may_be_metis(records: Records, whole: bool) -> bool:
    """Whether the lines may be METIS: two counts above the neighbours of vertices 1, 2 and so on.

    The number of neighbours agrees with the counts, and all known neighbour lists are mutual. Blank lines are not among
    the records."""
    head, rows = records[0], records[1:]
    if not _METIS_HEAD.fullmatch(" ".join(head)) or len(rows) < (_FEW if len(head) == 2 else 2):
        return False
    if not all(is_integer(field) for row in records for field in row):
        return False
    n, m = map(value_of, head[:2])
    sizes, weights, lengths = map(int, "".join(head[2:3]).zfill(3))
    before = sizes + weights * value_of("".join(head[3:]) or "1")
    rows = [row[before :: 1 + lengths] for row in rows]
    ids = [[value_of(field) for field in row] for row in rows]
    if len(rows) > n or any(not 1 <= other <= n for row in ids for other in row):
        return False
    if whole and sum(map(len, rows)) != 2 * m:
        return False
    return _are_mutual_rows(ids, 1)


def _are_mutual_rows(rows: Sequence[Sequence[int]], first: int) -> bool:
    """Whether the rows are neighbours of vertices `first` and so on: each known neighbour has the vertex in its own."""
    known = {vertex: set(row) for vertex, row in enumerate(rows, first)}
    pairs = [(vertex, other) for vertex, row in known.items() for other in row if other in known and other != vertex]
    loops = sum(vertex in row for vertex, row in known.items())  # in most rows: the vertex before its neighbours
    return len(pairs) > 1 and 2 * loops < len(known) and all(vertex in known[other] for vertex, other in pairs)


def may_be_rows(records: Records, whole: bool) -> bool:
    """Whether the lines, perhaps below their number and that of edges, may be the neighbours of vertices 0 or 1 and so
    on, and edges are then others."""
    counted = whole and bool(records) and len(records[0]) in (1, 2) and records[0][0] == str(len(records) - 1)
    return _may_be_lists(records, whole) or (counted and _may_be_lists(records[1:], whole))


def _may_be_lists(rows: Records, whole: bool) -> bool:
    """The same for the lines of vertices alone."""
    if len(rows) < _FEW + 1 or not all(is_integer(field) for row in rows for field in row):
        return False
    ids = [[value_of(field) for field in row] for row in rows]
    for first in (0, 1):
        inside = all(first <= other < first + len(rows) for row in ids for other in row)
        if inside and whole and _are_mutual_rows(ids, first):
            edges = {frozenset((vertex, other)) for vertex, row in enumerate(ids, first) for other in row}
            return edges != {frozenset(row) for row in ids}
    return False


def refuse_rows(records: Records, whole: bool, path: str) -> None:
    """Raise InputError or DoubtError if the lines may be rows of a graph that is written in another way."""
    if _may_be_rectangle(records, whole):
        raise InputError("the first line may be the numbers of rows, columns and entries of a matrix that is not"
                         " square, or an edge", path=path, text=" ".join(records[0]), remedy="say --header none if it"
                         " is an edge, else write the matrix as Matrix Market and say --bipartite")
    if _may_be_more_counts(records, whole):
        raise InputError("the first line has counts and more, or is a vertex before its neighbours", path=path,
                         text=" ".join(records[0]), remedy="say --header counts, or --format adjlist")
    if whole and list(records[0]) == [str(len(records) - 1)] and not width_of(records[1:]) and all(
            is_integer(field) for row in records for field in row):
        raise InputError("the first line may be the number of those behind it, or a vertex", path=path,
                         text=records[0][0], remedy="say --format adjlist if each line is a vertex before its"
                         " neighbours, or --header counts if it is an edge, else write an edge a line")
    if len(records[0]) == 1 and is_integer(records[0][0]) and len(records) > 2 and width_of(records[1:]) > 1 and not (
            counts_before(records)):
        raise InputError("the first line may be the number of those behind it, or a vertex", path=path,
                         text=records[0][0], remedy="delete it if it is a number, else say --format adjlist, where each"
                         " line is a vertex before its neighbours")
    if _may_be_hmetis(records, whole):
        raise DoubtError("the lines may be the vertices of hyperedges, below the numbers of both (hMETIS), or lists of"
                         " neighbours, or edges", (ADJLIST, PAIRS))


def filled(records: Records, sample: Sample) -> Records:
    """The records with an empty one for every empty line between two of them."""
    if sample.later or len(records) != len(sample.lines):
        return records
    rows: list[Sequence[str]] = []
    for row, line in zip(records, sample.lines, strict=True):
        rows += [()] * (line.number - sample.lines[0].number - len(rows))
        rows.append(row)
    return rows


def refuse_neighbours(records: Records, whole: bool, path: str) -> None:
    """Raise InputError or DoubtError if the lines may be the neighbours of vertices in order. records : see filled."""
    if may_be_metis(records, whole):
        raise DoubtError("the lines may be the neighbours of vertices 1, 2 and so on, below their counts, or edges",
                         (METIS, PAIRS))
    if may_be_rows(records, whole):
        raise InputError("the lines may be edges, or the neighbours of vertices 0 or 1 and so on", path=path,
                         text=" ".join(records[0][:9]), remedy="say --columns 1,2 if each line is an edge, else write"
                         " each vertex before its neighbours, and say --format adjlist")


def _may_be_more_counts(records: Records, whole: bool) -> bool:
    """Whether the first line may be n, the number of lines below it, and further numbers; or three counts above pairs
    that are no lists of neighbours."""
    first, rows = records[0], records[1:]
    if not 1 < width_of(rows) < len(first) or not all(map(is_integer, first)) or counts_before(records):
        return False
    agree = whole and value_of(first[1]) == len(rows)
    if len(first) > MOST_COUNTS:
        return agree
    ids = [field for row in rows for field in row[:2]]
    fit = all(map(is_integer, ids)) and max(map(value_of, ids)) <= value_of(first[0])
    return len({row[0] for row in rows}) < len(rows) or (agree and fit)


def _may_be_rectangle(records: Records, whole: bool) -> bool:
    """Whether the first of lines of three numbers may be the rows, columns and entries of a matrix, not square."""
    first, rows = records[0], records[1:]
    if not whole or width_of(records) != len(("row", "column", "value")) or len(rows) < 2:
        return False
    if not all(is_integer(field) for row in [first, *(row[:2] for row in rows)] for field in row):
        return False
    n, m, entries = map(value_of, first)
    return n != m and entries == len(rows) and all(
        value_of(row[0]) <= n and value_of(row[1]) <= m for row in rows)


def _may_be_hmetis(records: Records, whole: bool) -> bool:
    """Whether the text may be a hypergraph: m and n, then m lines of vertices from 1 to n, not all of them two."""
    head, rows = records[0], records[1:]
    if not whole or len(head) != 2 or len(rows) < 2 or width_of(rows) == 2:
        return False
    if not all(is_integer(field) for row in records for field in row):
        return False
    m, n = map(value_of, head)
    return len(rows) == m and all(1 <= value_of(field) <= n for row in rows for field in row)


def _has_marks(values: Sequence[Sequence[float]]) -> bool:
    """Whether a matrix has no 0 beside its diagonal, and several values -1 or far above all others."""
    beside = sorted(value for i, row in enumerate(values) for j, value in enumerate(row) if i != j)
    others = [value for value in beside if value != beside[-1]]
    far = bool(others) and beside.count(beside[-1]) > 1 and beside[-1] >= _FAR * max(1.0, others[-1])
    return 0.0 not in beside and len(beside) > 2 and (beside.count(-1.0) > 1 or far)


def is_adjlist(records: Records) -> bool:
    """Whether each line has a vertex and all its neighbours. Raises DoubtError if this is not certain."""
    heads = [row[0] for row in records]
    if not width_of(records) and max(map(len, records)) > _FEW and len(set(heads)) < len(heads) and all(
            is_integer(field) for row in records for field in row):
        raise DoubtError("its lines may be lists of neighbours in several parts, groups of vertices, or edges with"
                         " further fields on some of them", (ADJLIST, PAIRS))
    if len(set(heads)) < len(heads) or not any(len(row) > 2 for row in records):
        return False
    if any(not field for row in records for field in row[:2]):
        return False
    if len({len(row) for row in records}) == 1:
        return _are_mutual(records)
    numbers = is_id_number(heads[0])
    behind = [field for row in records for field in row[2:]]
    if numbers and not all(map(is_integer, behind)):
        if any(map(is_integer, behind)):
            raise DoubtError("the integers behind the first two fields of some lines, beside words or fractions, may be"
                             " neighbours (then write an edge a line), or notes", (PAIRS,))
        return False
    known = set(heads) | {row[1] for row in records if len(row) > 1}
    certain = any(len(row) > _FEW or len(row) == 1 for row in records) and (
        numbers or any(field in known for field in behind))
    if certain or all(field in known for field in behind):
        return True
    raise DoubtError("its lines may have a vertex and all its neighbours each, or an edge each, with further fields on"
                     " some of them", (ADJLIST, PAIRS))


def may_be_lists_behind_mark(lines: Sequence[str], records: Records) -> bool:
    """Whether each line is a number, a tab or another mark, and several numbers with blanks between: a vertex and its
    neighbours, as programs on Hadoop write them, or an edge with a further field, of one number in all lines."""
    heads = [row[0] for row in records]
    return width_of(records) > 2 and len(set(heads)) == len(heads) > 1 and all(map(_BEHIND_MARK.fullmatch, lines))


def refuse_padded(records: Records, lists: bool, path: str) -> None:
    """Raise InputError if 0 or -1 may stand at the ends of lists of neighbours for a missing one. lists : whether the
    lines are lists."""
    heads = [row[0] for row in records]
    for mark in ("0", "-1"):
        cut = [without_end(row, (mark,)) for row in records]
        ended = sum(map(len, records)) - sum(map(len, cut))
        if ended < 2 or len(set(heads)) < len(heads) or any(mark in row for row in cut) or not all(
                is_integer(field) for row in cut for field in row):
            continue
        if lists or (len(set(map(len, cut))) > 1 and width_of(records) > 2 and _are_mutual(cut)):
            other = "--format adjlist if it is one" if lists else "--columns 1,2 if each line is an edge"
            raise InputError(f"{mark} is at the ends of lists of neighbours, and may be no vertex", path=path,
                             text=" ".join(records[0][:9]), remedy="delete it" + (
                                 "" if mark == "-1" and lists else f" if it is none, or say {other}"))


def without_end(row: Sequence[str], marks: Sequence[str] = PADS) -> Sequence[str]:
    """The fields without the marks at their end; at least the first."""
    return row[: max(place + 1 for place, field in enumerate(row) if field not in marks or not place)]


def third_may_be_end(records: Records) -> bool:
    """Whether fields of one line are the second, and first fields of lines the third, of names between commas."""
    heads = {row[0] for row in records}
    names = width_of(records) == _FEW and not any(is_number(field) for row in records for field in row)
    return names and 1 < len(records) == len(heads) and any(row[2] in heads for row in records)


def _are_mutual(records: Records) -> bool:
    """Whether rows of one length are mutual neighbour lists, so that all their fields are vertices."""
    rows = {row[0]: set(row[1:]) for row in records}
    pairs = [(head, other) for head, row in rows.items() for other in row if other in rows and other != head]
    behind = sum(field in rows for row in records for field in row[2:])
    mutual = behind > 1 and all(head in rows[other] for head, other in pairs)
    edges = {frozenset(row[:2]) for row in records}
    if mutual and len(records) == _FEW == width_of(records) and len(pairs) == _FEW * (_FEW - 1) and len(edges) < _FEW:
        raise DoubtError("its lines may be three vertices, each before its neighbours, or edges with a further field",
                         (ADJLIST, PAIRS))
    return mutual and len(records) > _FEW


def middle_is_relation(records: Records) -> bool:
    """Whether the second field of each line is the kind of the edges from the first field to the later ones, as in
    Cytoscape's SIF. Raises DoubtError if the second or the third field may be the other end."""
    rows = [row for row in records if len(row) > 1]
    if not rows or any(len(row) < _FEW for row in rows) or any(is_number(row[1]) for row in rows):
        return False
    heads, middles = {row[0] for row in records}, {row[1] for row in rows}
    behind = {field for row in rows for field in row[2:]}
    if all(is_number(field) or field.startswith("{") for field in behind):
        return False
    if len(heads) == len(records) > _FEW and not width_of(rows) and heads == middles | behind:  # lists of neighbours
        return False
    wide = width_of(rows) > _FEW and len(rows) > 1
    if middles.isdisjoint(heads) and middles.isdisjoint(behind) and not wide:
        if len(rows) > 1 and len(middles) == 1 and not _one_third(rows):
            return True
        if not heads.isdisjoint(behind):
            return True
    elif heads.isdisjoint(behind) and not heads.isdisjoint(middles):
        return False
    if _one_third(rows) and len(rows) > 1 and len(middles) > 1:
        return False
    raise DoubtError(SECOND_OR_THIRD, ())


def _one_third(rows: Records) -> bool:
    """Whether the fields after the second are the same in all rows."""
    return len({tuple(row[2:]) for row in rows}) == 1
