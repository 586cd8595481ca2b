"""JSON objects of the neighbours of each vertex, as of networkx.to_dict_of_lists and to_dict_of_dicts.

{"a": ["b", "c"]}, {"a": {"b": 3.0}} and {"a": {"b": {"weight": 3.0}}}. A table that pandas writes has this form too: it
is refused where it may be either.
"""

from __future__ import annotations

import ast
import json
import re
from decimal import Decimal
from typing import Any

Neighbours = dict[str, dict[Any, Any]]
_NUMBERS = (int, float, Decimal)
_PYTHON = re.compile(r"\s*(?:\{\s*(?:\d|')|[\[{]\s*\()")


class JsonError(Exception):
    """Raised for an invalid JSON graph; args[1] is the remedy."""


def is_of_python(text: str) -> bool:
    """Whether the text begins as a dict, or a list or set of tuples, that Python prints."""
    return _PYTHON.match(text) is not None


def json_of_python(text: str) -> str:
    """The value that Python has printed as JSON, with sets and tuples as lists. Raises ValueError."""
    try:
        value = ast.literal_eval(text.strip())
    except (SyntaxError, MemoryError) as error:
        raise ValueError(f"no value that Python prints: {error}") from error
    if isinstance(value, dict) and len(set(map(type, value))) > 1:
        raise ValueError("its keys are of several types")
    try:
        return json.dumps(value, default=lambda items: sorted(items, key=repr))
    except TypeError as error:
        raise ValueError(str(error)) from error


def graph_of_neighbours(value: dict[str, Any]) -> tuple[list[Any], list[tuple[Any, Any, Any]]] | None:
    """(vertices, arcs with attributes or a weight) of an object of neighbours; None for other objects.

    Raises
    ------
    JsonError
        If it may be a table or a matrix.
    """
    rows = _rows(value)
    others = {other for row in (rows or {}).values() for other in row}
    if rows is None or not others:
        return None
    if all(isinstance(other, int) for other in others) and all(str(int(name)) == name for name in rows
                                                               if name.isascii() and name.isdigit()):
        if not all(name.isascii() and name.isdigit() for name in rows):
            return None
        rows = {int(name): row for name, row in rows.items()}  # type: ignore[misc]
    if not all(isinstance(other, type(next(iter(rows)))) for other in others) or others.isdisjoint(rows):
        return None
    _refuse_table(rows, isinstance(next(iter(value.values())), list))
    return list(dict.fromkeys([*rows, *(other for row in rows.values() for other in row)])), [
        (name, other, data if isinstance(data, dict) else [data]) for name, row in rows.items()
        for other, data in row.items()]


def _rows(value: dict[str, Any]) -> Neighbours | None:
    """The neighbours of each vertex with their attributes; None unless all values are lists, or all are objects."""
    if value and all(isinstance(row, list) for row in value.values()):
        fine = all(isinstance(other, int | str) and not isinstance(other, bool) for row in value.values()
                   for other in row)
        return {name: {other: {} for other in row} for name, row in value.items()} if fine else None
    fine = all(isinstance(row, dict) and all(_is_of_edge(data) for data in row.values()) for row in value.values())
    return value if value and fine else None


def _is_of_edge(data: Any) -> bool:
    """Whether this is a weight, or attributes of one edge."""
    if isinstance(data, dict):
        return not any(isinstance(inner, dict) for inner in data.values())
    return isinstance(data, _NUMBERS) and not isinstance(data, bool)


def _refuse_table(rows: dict[Any, dict[Any, Any]], lists: bool) -> None:
    """Raise JsonError if the rows may be those of a table or a matrix, or columns or communities (lists)."""
    kinds, sizes = {frozenset(row) for row in rows.values()}, {len(row) for row in rows.values()}
    columns = lists and list(map(str, rows)) == list(map(str, range(len(rows)))) and len(rows) in (2, 3)
    mutual = all(name in rows[other] for name, row in rows.items() for other in row if other in rows)
    members = [other for row in rows.values() for other in row]
    groups = lists and len({*members}) == len(members) > len(rows) and {*rows} <= {*members}
    columns = columns and len(sizes) == 1 and not mutual
    if len(rows) > 1 and (groups or columns or (len(kinds) == 1 and max(sizes) > 1)):
        raise JsonError("the object may have the neighbours of each vertex, or be a table, a matrix or groups",
                        "write a list of edges, each a list of its two ends")
