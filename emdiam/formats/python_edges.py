"""Edges in lists, tuples and dicts of Python: pairs, triples with weights, columns of ids, neighbours of vertices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from .in_memory import ArraySource, NodesSource
from .look_shape import may_be_rows
from .python_columns import refuse_masked
from .source import EdgeSource
from .tables import certain_pair, named_pair
from .weights import WeightChoice

Weights = WeightChoice | None
_MATRIX = "for a matrix scipy.sparse.csr_array(rows)"


def of_builtin(graph: Any, weights: Weights) -> EdgeSource | None:
    """A tuple (src, dst) of arrays, or a list of pairs; with weights (src, dst, weights), or triples. A list of two
    entries is also a list of pairs. A dict has the neighbours of each vertex."""
    if isinstance(graph, tuple) and len(graph) == (2 if weights is None else 3):
        edges = all(isinstance(part, tuple) and len(part) == len(graph) for part in graph)
        ends = [tuple(map(repr, part)) for part in graph] if edges else []
        if edges and {frozenset(part[:2]) for part in ends} != set(map(frozenset, zip(*ends[:2], strict=True))):
            raise InputError("a tuple of tuples may be edges, or sources and targets", text=repr(graph)[:80],
                             remedy="give a list of edges, or a tuple of arrays")
        return ArraySource(*graph, weights=weights)
    if isinstance(graph, dict):
        return _neighbours(graph, weights)
    return of_list(graph, weights) if isinstance(graph, list) else None


def of_list(edges: list[Any], weights: Weights) -> EdgeSource:
    """A list of pairs; with weights of triples. Raises InputError for other entries, and for rows of a matrix."""
    width = 2 if weights is None else 3
    _check_entries(edges, width)
    _check_rows(edges, weights)
    _check_kinds(edges)
    return ArraySource(*([edge[place] for edge in edges] for place in range(width)), weights=weights)


def _check_entries(edges: list[Any], width: int) -> None:
    """Raise InputError unless each entry has `width` parts, and the first two may be ids."""
    for place, edge in enumerate(edges):
        if not isinstance(edge, tuple | list | np.ndarray) or len(edge) != width:
            if width > 2:
                raise InputError(f"the entry at position {place} is no pair of ids with a weight", text=repr(edge),
                                 remedy="give a list of triples, or a tuple (src, dst, weights) of arrays")
            raise InputError(f"the entry at position {place} is no pair of ids", text=repr(edge),
                             remedy="give pairs, or triples with weighted=True, or a tuple (src, dst) of two arrays")
        if isinstance(edge, np.ndarray):
            refuse_masked(edge)
    kinds = {type(end) for edge in edges for end in edge[:2]}
    if any(issubclass(kind, Iterable) and not issubclass(kind, str) for kind in kinds):
        wrong = next((edge for edge in edges if np.ndim(edge[0]) or np.ndim(edge[1])), None)
        if wrong is not None:
            raise InputError("the ends of an edge are no ids", text=repr(wrong)[:80],
                             remedy="give a list of pairs of integers or strings, or a graph of networkx")


def _check_rows(edges: list[Any], weights: Weights) -> None:
    """Raise InputError if the entries may be names of columns, lists of neighbours, or rows of a matrix."""
    if len(edges) > 1 and isinstance(edges[0], tuple | list) and certain_pair(list(map(str, edges[0][:2]))):
        raise InputError("the first pair may be names of columns, or an edge", text=repr(edges[0]),
                         remedy="leave it out, or give a tuple (src, dst) of arrays")
    if not all(isinstance(edge, list | np.ndarray) for edge in edges):
        return
    if weights is None and may_be_rows([list(map(str, edge)) for edge in edges], True):
        raise InputError("the lists may be edges, or the neighbours of vertices 0 or 1 and so on",
                         text=repr(edges)[:80], remedy="give edges as tuples, or a dict of lists")
    if weights is not None and len(edges) == 3 and not any(isinstance(value, str) for edge in edges for value in edge):
        raise InputError("three lists of three numbers may be edges with weights, or a matrix with weights",
                         text=repr(edges)[:80], remedy=f"give edges as tuples, {_MATRIX}")


def _check_kinds(edges: list[Any]) -> None:
    """Raise InputError if some ids are strings and others are not."""
    strings = bool(edges) and any(isinstance(end, str) for end in edges[0][:2])
    for place, edge in enumerate(edges):
        if any(isinstance(end, str) != strings for end in edge[:2]):
            raise InputError(f"the pair at position {place} has an id of another kind", text=repr(edge),
                             remedy="give integers in all pairs or strings in all")


def _neighbours(graph: dict[Any, Any], weights: Weights) -> EdgeSource:
    """A dict of lists of neighbours, or of dicts from neighbours to attributes, as from networkx.to_dict_of_dicts."""
    wrong = next((node for node, others in graph.items() if isinstance(others, str) or not isinstance(
        others, Iterable)), None)
    if wrong is not None and named_pair([str(name) for name in graph]) is None:
        raise InputError("a vertex of a dict has no list of neighbours", text=str(wrong),
                         remedy="give a dict of lists, or of dicts")
    lists = {node: others if isinstance(others, Mapping) or not isinstance(others, Iterable) else list(others)
             for node, others in graph.items()}
    nodes = _nodes(lists)
    _check_nodes(lists, nodes)
    _check_values(lists)
    name = None if weights is None else weights.column or "weight"

    def edges() -> Iterator[tuple[Any, Any, Any]]:
        for node, others in lists.items():
            for other in others:
                data = others[other] if isinstance(others, Mapping) else {}
                yield node, other, data if name is None else data.get(name) if isinstance(data, Mapping) else data

    return NodesSource("a dict of neighbours", nodes, edges, sum(map(len, lists.values())), True, weights=weights)


def _nodes(lists: dict[Any, Any]) -> list[Any]:
    """All vertices in a dict of neighbours. Raises InputError if it may be the columns of a table, or if the neighbours
    cannot be vertices."""
    try:
        others = [other for others in lists.values() if isinstance(others, Iterable) for other in others]
        nodes = list(dict.fromkeys([*lists, *others]))
    except TypeError as error:
        raise InputError("a neighbour in a dict is no vertex, but a list or the like", text=repr(lists)[:80],
                         remedy="give ids alone, and for weights a dict of dicts") from error
    if others and named_pair([str(name) for name in lists]) is not None and not any(other in lists for other in others):
        raise InputError("a dict with such names may be the columns of a table or lists of neighbours",
                         text=", ".join(map(str, lists)),
                         remedy="give a tuple (src, dst) of arrays, or a table of pandas, polars or pyarrow")
    return nodes


def _check_nodes(lists: dict[Any, Any], nodes: list[Any]) -> None:
    """Raise InputError for keys that may be edges, for neighbours that may be none or have weights, and for vertices
    whose texts are equal."""
    tuples = [any(isinstance(node, tuple) for node in some)
              for some in (lists, (other for others in lists.values() for other in others))]
    if tuples[0] and not tuples[1]:
        raise InputError("the keys of a dict may be edges, or vertices that are tuples", text=repr(lists)[:80],
                         remedy="give the graph itself, or its edges as list(graph)")
    if any(map(_is_missing, nodes)) or (tuples[1] and not tuples[0]):
        raise InputError("neighbours in a dict are None or NaN, or tuples unlike its vertices", text=repr(lists)[:80],
                         remedy="give ids alone, or for weights a dict of dicts")
    texts = {node for node in nodes if isinstance(node, str)}
    both = next((node for node in nodes if not isinstance(node, str) and str(node) in texts), None)
    if both is not None:
        raise InputError(f"a vertex of a dict is called {both!r} and {str(both)!r}, as JSON makes texts of numbers",
                         remedy="call it the same everywhere")


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or NA of pandas."""
    return value is None or type(value).__name__ == "NAType" or (isinstance(value, float | np.floating) and
                                                                 value != value)


def _check_values(lists: dict[Any, Any]) -> None:
    """Raise InputError if an edge in a dict of dicts has a value that may say that there is none: 0, False, NaN."""
    for node, others in lists.items():
        for other, value in others.items() if isinstance(others, Mapping) else ():
            if not isinstance(value, Mapping | str) and np.ndim(value) == 0 and (_is_missing(value) or not value):
                raise InputError(f"{value} of {node!r} and {other!r} in a dict may be a weight, or no edge",
                                 remedy="leave out entries without an edge, or give weights as a list of triples")
