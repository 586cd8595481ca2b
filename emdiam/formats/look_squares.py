"""Squares of numbers below a line, or behind the names of their rows: matrices with names, and errors for others."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from .look_sample import WORDS_OF_CELLS, Records, is_number, width_of
from .tables import named_pair

_FEW, _LEAST = 3, 4


def is_headed_matrix(records: Records, whole: bool) -> bool:
    """Whether a symmetric matrix without loops is below its number of rows, or below the names of its columns; the
    names of rows may be missing, or their numbers as R writes them beside V1, V2 and so on."""
    first, rows = list(records[0]), records[1:]
    n, width = len(rows), width_of(rows)
    heads = [row[0] for row in rows] if width == n + 1 else []
    names = first[-n:] if heads else first
    numbered = names == [f"V{place}" for place in range(1, n + 1)]  # also of any table in R
    named = len(set(names)) == n and not any(map(is_number, names)) and "" not in names and named_pair(names) is None
    fits = numbered and heads == [name[1:] for name in names] if heads else width == n and (
        (named and not numbered) or first == [str(n)])
    if not whole or n < _LEAST or not fits:
        return False
    cells = [[field or "0" for field in row[-n:]] for row in rows]
    return are_numbers(cells) and [list(column) for column in zip(*cells, strict=True)] == cells and not any(
        float(row[place].replace(",", ".")) for place, row in enumerate(cells))


def names_of_matrix(records: Records) -> tuple[str, ...]:
    """The names of the columns of a matrix; empty without names."""
    first, width = tuple(records[0]), width_of(records[1:])
    if first[0] and all(is_number(field) or field.lower() in WORDS_OF_CELLS for field in first):
        return ()
    return first[1:] if len(first) == width != len(records) - 1 else first


def refuse_headed_rows(records: Sequence[Sequence[str]], whole: bool, path: str) -> None:
    """Raise InputError if a square of numbers, symmetric or of 0 and 1 alone, is behind the names of its rows, or below
    a line with other names than these or with their number; or a table of 0 and 1 alone is both."""
    if is_headed_matrix(records, whole):
        return
    for above, rows in (((), records), (records[0], records[1:])):
        n = len(rows)
        if not whole or n < _FEW or (above and named_pair(above) is not None):
            continue
        for heads in (0, 1):
            cells = [[field or "0" for field in row[heads:]] for row in rows]
            two_modes = heads and above and not above[0] and width_of(cells) > 1 and _are_bits(cells)
            square = (above or heads) and width_of(cells) == n and are_numbers(cells)
            if not two_modes and not square:
                continue
            names, first = [row[0] for row in rows], list(above)[-n:]
            if heads and (first == names or (not above and not _are_names_of_rows(names))):
                continue
            if above and len(above) > 1 and all(map(is_number, above)) and not _are_names_of_rows(first):
                continue
            if _are_bits(cells) or [list(column) for column in zip(*cells, strict=True)] == cells:
                raise InputError("a square of numbers, like a matrix, is below a line or behind the names of its rows",
                                 path=path, text=" ".join(records[0]), remedy="delete the line and the fields"
                                 " beside the matrix, or write its names above and before its rows, or say --columns"
                                 " 1,2 if each line is an edge")


def _are_names_of_rows(names: Sequence[str]) -> bool:
    """Whether these are distinct names, or numbers from 0 or 1 on."""
    counted = any(list(names) == [str(place) for place in range(first, first + len(names))] for first in (0, 1))
    return counted or (len(set(names)) == len(names) and not any(map(is_number, names)))


def _are_bits(cells: Sequence[Sequence[str]]) -> bool:
    """Whether a table has only 0 and 1, both of them."""
    return {field for row in cells for field in row} == {"0", "1"}


def are_numbers(rows: Records) -> bool:
    """Whether all fields are numbers."""
    return all(is_number(field) for row in rows for field in row)
