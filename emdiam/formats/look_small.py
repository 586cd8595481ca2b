"""Errors for texts of few lines that are several graphs by equal rights.

A long list of edges says by its own values how to read it. One line of three integers does not: it may be an edge and
its weight, a vertex before two neighbours, or a path. Nor do two rows, a matrix of two rows, or a question below edges.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import eq

from ..errors import InputError
from .look_sample import Records, is_integer, is_number, value_of, width_of
from .tables import is_count

_PAIR, _FEW, _MANY = 2, 3, 4
_NUMBERED = re.compile(r"\d+(?:[-:,]\d+)?", re.ASCII)
_NO_ID = re.compile(r'\d{10}|["\n]', re.ASCII)  # a time, or a quotation mark that is not closed
_OF_EDGES = re.compile(r"%\s*(?:a?sym|bip)\b|#\s*(?:Nodes:|FromNode)", re.IGNORECASE)
_BESIDE = re.compile(r"\d+[-:,]\d+", re.ASCII)
_DIGIT = re.compile(r"\d", re.ASCII)
_AN_EDGE = "say --columns 1,2 if each line is an edge"


def refuse_small(records: Records, comments: Sequence[str], marked: bool, weighted: bool, path: str) -> None:
    """Raise InputError if these, all lines of a text, are several graphs by equal rights.

    Parameters
    ----------
    records : the fields of the lines.
    comments : the lines above them, which of SNAP and KONECT say that they are edges.
    marked : whether commas or the like separate the fields.
    weighted : whether the user says that edges have weights.
    path : name of the input, for errors.
    """
    if any(map(_OF_EDGES.match, comments)):
        return
    text = " ".join(records[0])[:80]
    if len(records) == 1 and _may_be_several(records[0], marked, weighted):
        raise InputError(f"all of the text is one line of {len(records[0])} fields", path=path, text=text,
                         remedy="write an edge a line, or say --columns 1,2 if it is one, or --format adjlist if it is"
                         " a vertex before its neighbours")
    if are_two_rows(records):
        raise InputError("the lines may be sources, targets and weights, or edges with further fields", path=path,
                         text=text, remedy=f"write an edge a line, or {_AN_EDGE}")
    if _end_as_matrix(records):
        raise InputError("the last two lines may be a matrix, or edges", path=path, text=text,
                         remedy=f"{_AN_EDGE}, else write the matrix as a list of edges")
    if _have_question(records):
        raise InputError("the first line and the last have two fields, and all others more: they may be counts and a"
                         " question, or edges", path=path, text=text, remedy="delete both if they are no edges, or"
                         " say --header none if each line is an edge")
    uneven = len(records) == _PAIR and min(map(len, records)) > 1 > width_of(records) and "1" in records[0]
    if uneven and not weighted and all(map(is_integer, (*records[0], *records[1][:_PAIR]))):
        raise InputError("the first line may be counts, or a vertex and its neighbours", path=path, text=text,
                         remedy="say --header counts, or --format adjlist")
    if _have_number_of_graphs(records):
        raise InputError("the first line may be the number of graphs, and the second the counts of one", path=path,
                         text=text, remedy="delete the first if so, else say --format adjlist, where each line is a"
                         " vertex before its neighbours")


def is_of_konect(comments: Sequence[str]) -> bool:
    """Whether the first comment is KONECT's, which says that the lines are edges."""
    return bool(comments) and comments[0].startswith("%") and bool(_OF_EDGES.match(comments[0]))


def refuse_map(pairs: Records, comments: Sequence[str], path: str) -> None:
    """Raise InputError if the first of two integers numbers the lines, and the second may be a value of it: another
    number of it, or (where the first line is a loop) one of few, such as a group. comments : see refuse_small."""
    if any(map(_OF_EDGES.match, comments)):
        return
    first, second = zip(*pairs, strict=True)
    if not is_count(first) or not all(map(is_integer, second)):
        return
    steps = {value_of(other) - value_of(one) for one, other in pairs}
    if ({*first}.isdisjoint(second) and len(steps) > 1) or (
            first[0] == second[0] and _PAIR * len({*second}) <= len(pairs)):
        raise InputError("the first of two numbers is that of the line, and the second may be a value, such as a group"
                         " or another number of the vertex, or the other end of an edge", path=path,
                         text=" ".join(pairs[0]), remedy=f"give the file that has the edges, or {_AN_EDGE}")


def _may_be_several(fields: Sequence[str], marked: bool, weighted: bool) -> bool:
    """Whether a single line may be several edges, or a vertex before its neighbours, or a loop behind its number."""
    if any(map(_NO_ID.search, fields)) or len(fields) < _PAIR:
        return False
    parts, numbers = [field.split() for field in fields], all(map(_NUMBERED.fullmatch, fields))
    inside = [several for several in parts if len(several) > 1]
    if len(fields) == _PAIR and _BESIDE.fullmatch(fields[0]) and is_number(fields[1]):
        return True
    if len(inside) == len(parts) or any(all(map(_NUMBERED.fullmatch, several)) for several in inside):
        return True
    if len(fields) == _PAIR and any(map(_DIGIT.search, (field for field in fields if " " in field))):
        return True
    if len(fields) > _PAIR and is_integer(fields[2]) and fields[0] == fields[1] != fields[2]:
        return True
    numbers = numbers and (any("-" in field for field in fields) or not any("," in field for field in fields))
    names = not any(map(is_number, fields))
    if len(fields) == _FEW:
        return (numbers and not weighted) or (names and marked)
    return len(fields) > _FEW and (numbers or names or len(fields) > _MANY)


def are_two_rows(records: Records) -> bool:
    """Whether the lines are two of many integers or names, sources above targets, or a third one of numbers: weights.
    Three integers are such a row only if a line is a loop as an edge."""
    width, ends, third = width_of(records), records[:_PAIR], records[_PAIR:]
    if len(records) not in (_PAIR, _FEW) or width < _FEW or not all(is_number(field) for row in third for field in row):
        return False
    fields = [*ends[0], *ends[1]]
    integers = all(map(is_integer, fields))
    if width > _MANY and integers:
        return True
    names = not any(map(is_number, fields))
    if third or not (integers or names) or any(map(eq, *ends)) or any(map(_NO_ID.search, fields)):
        return False
    return width > _FEW or (integers and any(row[0] == row[1] for row in ends))


def _end_as_matrix(records: Records) -> bool:
    """Whether the last two lines are a symmetric matrix without loops, perhaps below names."""
    if len(records) not in (_PAIR, _FEW) or width_of(records) != _PAIR:
        return False
    (one, two), (three, four) = records[-_PAIR:]
    known = len(records) == _PAIR and two == "1"  # one edge, either way
    return {one, four} <= {"0", "0.0"} and two == three and is_number(two) and not known


def _have_question(records: Records) -> bool:
    """Whether the first line and the last are pairs of integers, and all others have more fields."""
    first, middle, last = records[0], records[1:-1], records[-1]
    return bool(middle) and width_of(middle) > _PAIR == len(first) == len(last) and all(
        map(is_integer, (*first, *last)))


def _have_number_of_graphs(records: Records) -> bool:
    """Whether a number is above two counts, and the second is the number of lines below."""
    if [len(row) for row in records[:_PAIR]] != [1, _PAIR] or not all(map(is_integer, (*records[0], *records[1]))):
        return False
    return value_of(records[1][1]) == len(records) - _PAIR > 0
