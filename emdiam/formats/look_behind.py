"""Whether the first column has numbers of lines, layers or kinds, and the ends of edges are behind it."""

from __future__ import annotations

from collections.abc import Sequence

from .look_sample import Records, is_integer, value_of
from .tables import TableColumn, is_count

_INT = "int"
_FEW, _LEAST = 3, 2
# Two columns may be both ends of edges if at least one in this number of their values is in both.
_SIDES = 3
_KINDS = 4  # the same, if the column between these has few values
# Up to this number of lines, one value that two columns share is enough.
_FEW_LINES = 6


def number_lines(columns: Sequence[TableColumn], values: Sequence[set[str]], rest: Records, apart: bool) -> bool:
    """Whether the first column may number the lines, with the ends in the second and the third: no number is an id,
    loops vanish, or both columns share values. apart : whether no number is in the second column."""
    if not is_count(columns[0].values, _LEAST) or columns[1].kind != columns[2].kind:
        return False
    shared, simple = bool(values[1] & values[2]), _are_simple(rest)
    if apart and columns[1].kind == _INT and (simple or len(rest) > _FEW):
        return True
    if _loops_vanish(rest):
        return shared or simple
    if len(columns) > _FEW and (are_alike(*values[1:3]) or (shared and simple and len(rest) <= _FEW_LINES)):
        return True
    return len(rest) >= _FEW and shared and simple and not _is_path(rest) and _are_all(values[1] | values[2])


def number_layers(columns: Sequence[TableColumn], values: Sequence[set[str]], rest: Records) -> bool:
    """Whether the first column may have layers (few whole numbers, in ascending order) before two ends with the same
    values: a value is behind these, or loops vanish. Or few lines have one number, or such as are below all ids, before
    ends that share a value."""
    layers = columns[0].values
    shared, apart = bool(values[1] & values[2]), values[0].isdisjoint(values[1])
    alike = are_alike(*values[1:3])
    if not all(map(is_integer, layers)) or columns[1].kind != columns[2].kind or not (alike or (apart and shared)):
        return False
    numbers = list(map(value_of, layers))
    if (len(columns) > _FEW or _loops_vanish(rest)) and numbers == sorted(numbers) and 2 * len(values[0]) <= len(rest):
        return True
    if not _are_simple(rest) or len(rest) < _LEAST:
        return False
    ids = values[1] | values[2]
    below = len(values[0]) == 1 or (all(map(is_integer, ids)) and max(numbers) < min(map(value_of, ids)))
    return (alike and _loops_vanish(rest)) or (apart and below and len(rest) <= _FEW_LINES)


def is_kind_between(columns: Sequence[TableColumn], values: Sequence[set[str]], rest: Records) -> bool:
    """Whether the second of three columns of integers may have few kinds of edges, between the ends."""
    both, met = values[0] & values[2], len(values[0] & values[1])
    return (len(columns) == _FEW <= len(rest) and all(column.kind == _INT for column in columns)
            and len(both) > met and _KINDS * len(both) >= len(values[0] | values[2])
            and 2 * len(values[1]) <= min(len(values[0]), len(values[2])))


def _are_simple(rest: Records) -> bool:
    """Whether the second and the third fields are edges, each once, with no more loops than the first two have."""
    pairs = {frozenset(row[1:_FEW]) for row in rest}
    return len(pairs) == len(rest) and _n_loops(rest, 1) <= _n_loops(rest, 0)


def _n_loops(rest: Records, place: int) -> int:
    """The number of lines with the same field at this place and behind it."""
    return sum(row[place : place + 1] == row[place + 1 : place + 2] for row in rest)


def are_mutual(records: Records) -> bool:
    """Whether the lines are lists of neighbours of their first fields, which have the second ones among them, and two
    neighbours have each other."""
    rows = {row[0]: row[1:] for row in records}
    return all(row[1] in rows and len({*row}) == len(row) for row in records) and all(
        head in rows[other] for head, row in rows.items() for other in row if other in rows)


def _is_path(rest: Records) -> bool:
    """Whether the second field of all lines but one is the number behind the first."""
    return sum(str(value_of(row[0]) + 1) == row[1] for row in rest) >= len(rest) - 1


def _are_all(ids: set[str]) -> bool:
    """Whether these are all numbers from 0 or 1 on."""
    return any(ids == set(map(str, range(first, first + len(ids)))) for first in (0, 1))


def _loops_vanish(rest: Records) -> bool:
    """Whether some lines are loops if the first two columns are the ends, and few or none if the next two are."""
    return 2 * _n_loops(rest, 1) < _n_loops(rest, 0)


def are_alike(one: set[str], other: set[str]) -> bool:
    """Whether enough values are in both columns for these to be the two ends of edges."""
    return len(other) > 2 and _SIDES * len(one & other) >= len(one | other)
