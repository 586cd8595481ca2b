"""Graphs in JSON as a table or an export: columns of pandas, with source and target among their names; a matrix; rows
of Neo4j's APOC; and the JSON Graph Format with a list of one graph."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .tables import certain_pair

_TABLE = {"columns", "index", "data"}
_OTHERS = {"nodes", "vertices", "edges", "links"}
_NODE, _RELATIONSHIP = "node", "relationship"
_LEAST = 4  # rows of a matrix: fewer may be edges


def plain_graph(value: Any) -> Any:
    """The same graph as a list of edges, or as nodes and edges; other values unchanged."""
    if isinstance(value, list):
        return _of_apoc(value) if value and all(map(_is_of_apoc, value)) else _of_matrix(value)
    if not isinstance(value, dict):
        return value
    graphs = value.get("graphs")
    if isinstance(graphs, list) and len(graphs) == 1 and len(value) == 1:
        return graphs[0]
    if "columns" in value and "data" in value and value.keys() <= _TABLE:
        names, rows = value["columns"], value["data"]
        fits = isinstance(names, list) and isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == len(names) for row in rows)
        return _of_columns(names, list(zip(*rows, strict=True)), value) if fits else value
    columns = list(value.values())
    if all(isinstance(column, dict) for column in columns) and len({tuple(column) for column in columns}) == 1:
        columns = [list(column.values()) for column in columns]
    fits = all(isinstance(column, list) for column in columns) and len({len(column) for column in columns}) == 1
    return _of_columns(list(value), columns, value) if fits else value


def _of_columns(names: list[Any], columns: list[Any], value: Any) -> Any:
    """The rows as a list of edges; `value` if no two columns are the ends by their names, or a name is an end or a
    list of another kind."""
    pair = certain_pair(names) if all(isinstance(name, str) for name in names) else None
    others = not _OTHERS.isdisjoint(names) or len(columns) != len(names)
    if pair is None or others or any(name in columns[place] for name in names for place in pair):
        return value
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _of_matrix(rows: list[Any]) -> Any:
    """The graph of a square of numbers, which are no ids as an edge has two or three fields; else the rows."""
    n = len(rows)
    if n < _LEAST or not all(isinstance(row, list) and len(row) == n and all(
            isinstance(cell, int | float | Decimal) for cell in row) for row in rows):
        return rows
    return {"nodes": list(range(n)), "edges": [
        [place, other, cell] for place, row in enumerate(rows) for other, cell in enumerate(row) if cell]}


def _is_of_apoc(row: Any) -> bool:
    """Whether this is a node, or a relationship with two nodes."""
    if not isinstance(row, dict) or row.get("type") not in (_NODE, _RELATIONSHIP):
        return False
    ends = (row,) if row["type"] == _NODE else (row.get("start"), row.get("end"))
    return all(isinstance(end, dict) and "id" in end for end in ends)


def _of_apoc(rows: list[Any]) -> Any:
    return {"directed": True, "nodes": [{"id": row["id"]} for row in rows if row["type"] == _NODE],
            "edges": [{"source": row["start"]["id"], "target": row["end"]["id"], "properties": row.get("properties")}
                      for row in rows if row["type"] == _RELATIONSHIP]}
