"""Graphs in JSON, in the shapes of common programs, also a vertex a line (Giraph); and in DOT, parsed by pydot.

All edges of a DOT file are read, also those inside and between subgraphs.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .digits import float_or_decimal
from .tables import certain_pair, weak_pair
from .whole import WholeGraph, unique

_NAMES = ("id", "key")
_CYTOSCAPE = "a graph of Cytoscape"
_SHAPES = ("write nodes with an id, and links or edges with source and target, as networkx.node_link_data does, or a"
           " list of edges")


class JsonError(Exception):
    """Raised for an invalid JSON graph; args[1] is the remedy."""


def graph_of_json(text: str, attribute: str | None) -> WholeGraph:
    """The graph in a JSON document, or in one document per line.

    Parameters
    ----------
    text : str
        The document.
    attribute : str or None
        The edge attribute with the weights; None without.

    Raises
    ------
    JsonError
        For documents of another shape.
    ValueError
        For a text that is no JSON.
    """
    value = _parsed(text)
    if isinstance(value, list):
        if value and all(map(_is_row_of_giraph, value)):
            arcs = [_both(row[0], other, weight) for row in value for other, weight in row[2]]
            return WholeGraph(unique([*(_end(row[0]) for row in value), *(arc[1] for arc in arcs)]), arcs, True)
        _refuse_rows(value)
        edges = [_edge(entry, attribute) for entry in value]
        return WholeGraph(unique(end for edge in edges for end in edge[:2]), edges, True)
    if not isinstance(value, dict):
        raise JsonError("the JSON document is no graph", _SHAPES)
    return _of_object(_graph_in(value), attribute)


def _is_row_of_giraph(row: Any) -> bool:
    """Whether this is [vertex, value, [[neighbour, weight], ...]], as Giraph writes it."""
    return isinstance(row, list) and len(row) == len(("vertex", "value", "arcs")) and isinstance(row[2], list) and all(
        isinstance(arc, list) and len(arc) == len(("neighbour", "weight")) for arc in row[2])


def _refuse_rows(value: list[Any]) -> None:
    """Raise JsonError for lists that may be rows of a matrix, or neighbours of vertices 0, 1 and so on."""
    n = len(value)
    if n < 3 or not all(isinstance(row, list) and all(map(_is_whole, row)) for row in value):
        return
    bits = all(len(row) == n and set(row) <= {0, 1} for row in value)
    lists = all(0 <= other < n and other != vertex and vertex in value[other]
                for vertex, row in enumerate(value) for other in row)
    if bits or (lists and {frozenset(row) for row in value if len(row) == len(("src", "dst"))} != {
            frozenset((vertex, other)) for vertex, row in enumerate(value) for other in row}):
        raise JsonError("the lists may be edges, or the rows of a matrix or of neighbours", "write nodes and links, or"
                        " the graph as an edge list")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from name-value pairs. Raises JsonError for a name that occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonError("an object has a name twice", "write each once")
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_float=float_or_decimal, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not error.msg.startswith("Extra data"):
            raise
        return [json.loads(line, parse_float=float_or_decimal, object_pairs_hook=_once) for line in lines]


def _graph_in(value: dict[str, Any]) -> dict[str, Any]:
    """The object with the edges: the document, or the inner object of Cytoscape and the JSON Graph Format."""
    for name in ("elements", "graph"):
        inner = value.get(name)
        if isinstance(inner, dict) and ("edges" in inner or "links" in inner):
            return {"directed": value.get("directed"), _CYTOSCAPE: name == "elements", **inner}
    return value


def _of_object(value: dict[str, Any], attribute: str | None) -> WholeGraph:
    listed = value.get("links", value.get("edges"))
    if "adjacency" in value and listed is None:
        return _of_adjacency(value, attribute)
    nodes = value.get("nodes", [])
    if not isinstance(listed, list) or not isinstance(nodes, list | dict):
        raise JsonError("the JSON document has no list of links or edges, or of nodes", _SHAPES)
    if "links" in value and "edges" in value:
        raise JsonError("the JSON document has links, and edges too", "keep one of the lists")
    names = list(nodes) if isinstance(nodes, dict) else [_node(entry) for entry in nodes]
    edges = [_edge(entry, attribute) for entry in listed]
    both = [edge for edge, entry in zip(edges, listed, strict=True) if _has_no_direction(entry)]
    edges += [(dst, src, data) for src, dst, data in both]
    ends = unique(end for edge in edges for end in edge[:2])
    if names and all(name is None for name in names):  # D3: ends are places in the list of nodes
        wrong = [end for end in ends if not _is_whole(end) or not 0 <= end < len(names)]
        if wrong:
            raise JsonError(f"nodes have no id, and {wrong[0]!r} is no place among them", _SHAPES)
        names = list(range(len(names)))
    elif None in names:
        raise JsonError("some nodes have an id and others have none", "give every node an id")
    elif value.get(_CYTOSCAPE) and all(isinstance(name, str) for name in names):  # the ids of Cytoscape are texts
        edges = [(str(src), str(dst), data) for src, dst, data in edges]
        ends = list(map(str, ends))
    known, all_ids = set(names), {*names, *ends}
    if len(known) < len(names) or len(set(map(str, all_ids))) < len(all_ids) or (
            ends and known and known.isdisjoint(ends)):
        what = "two nodes have the same id" if len(known) < len(names) else "the ends of edges are not the ids of nodes"
        raise JsonError(what, "write the ids of nodes as the ends of edges")
    directed = value.get("directed")
    return WholeGraph(unique([*names, *ends]), edges, directed is not False and directed != 0)


def _of_adjacency(value: dict[str, Any], attribute: str | None) -> WholeGraph:
    """The graph in a document from networkx.adjacency_data."""
    names = [_node(entry) for entry in value.get("nodes", [])]
    rows = value["adjacency"]
    if not isinstance(rows, list) or len(rows) != len(names) or None in names:
        raise JsonError("the JSON document has not a row of neighbours for every node", _SHAPES)
    edges = [(name, _node(entry), _data(entry, attribute))
             for name, row in zip(names, rows, strict=True) for entry in row]
    return WholeGraph(unique([*names, *(edge[1] for edge in edges)]), edges, bool(value.get("directed")))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _inner(entry: Any) -> Any:
    """The inner `data` of Cytoscape, or the entry itself."""
    return entry["data"] if isinstance(entry, dict) and isinstance(entry.get("data"), dict) else entry


def _node(entry: Any) -> Any:
    """The name of a node; None without a name."""
    entry = _inner(entry)
    if isinstance(entry, dict):
        return _end(next((entry[name] for name in _NAMES if name in entry), None))
    return _end(entry)


def _end(value: Any) -> Any:
    """The name of a vertex. Raises JsonError for an invalid one."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is not None and (not isinstance(value, int | str) or isinstance(value, bool)):
        raise JsonError(f"{str(value)[:80]!r} is no id of a vertex", "ids are integers or texts")
    return value


def _edge(entry: Any, attribute: str | None) -> tuple[Any, Any, Any]:
    """(source, target, weight) of an edge; without weights (source, target, attributes)."""
    entry = _inner(entry)
    if isinstance(entry, dict):
        names = list(entry)
        ends = certain_pair(names) or weak_pair(names)
        if ends is not None:
            return _both(entry[names[ends[0]]], entry[names[ends[1]]], _data(entry, attribute))
    elif isinstance(entry, list) and 2 <= len(entry) <= 3 and not isinstance(entry[-1], list):
        data = entry[2] if len(entry) > 2 else None
        return _both(entry[0], entry[1], entry[2:] if attribute is None else data.get(attribute) if isinstance(
            data, dict) else data)
    raise JsonError(f"{str(entry)[:80]!r} is no edge", _SHAPES)


def _has_no_direction(entry: Any) -> bool:
    """Whether an edge says that it has no direction, as in graphology and the JSON Graph Format."""
    entry = _inner(entry)
    return isinstance(entry, dict) and (entry.get("undirected") is True or entry.get("directed") is False)


def _both(src: Any, dst: Any, data: Any) -> tuple[Any, Any, Any]:
    ends: Sequence[Any] = (_end(src), _end(dst))
    if None in ends:
        raise JsonError("an edge has no name of an end", "name both ends of every edge")
    return ends[0], ends[1], data


def _data(entry: Any, attribute: str | None) -> Any:
    """The weight of an edge, or without weights all its attributes."""
    entry = _inner(entry)
    if attribute is not None:
        return entry.get(attribute) if isinstance(entry, dict) else None
    return {name: value for name, value in entry.items() if name not in ("source", "target", "id", "key", "from", "to")}


_DEFAULTS = ("node", "edge", "graph")
# Attributes whose names have another meaning in pydot, outside of quotes and comments.
_TAKEN = ("name", "src", "dst", "obj_dict", "self", "graph_name", "graph_type", "strict", "simplify",
          "suppress_disconnected")
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|(?<![\w.])(?:' + "|".join(_TAKEN) + r")(?=\s*=)",
                     re.DOTALL)


# Texts, comments and labels of HTML.
_ASIDE = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|^\s*#[^\n]*|<(?:[^<>]|<[^<>]*>)*>', re.DOTALL | re.MULTILINE)
_NAMED_END = re.compile(r"\bsubgraph\s+\w+\s*-[->]|-[->]\s*subgraph\s+\w+\s*[^\s\w{]", re.IGNORECASE)


class DotError(Exception):
    """Raised for an invalid DOT text."""


def graph_of_dot(text: str, attribute: str | None) -> WholeGraph:
    """The graph of a DOT text. attribute : the edge attribute with the weights, None without. Raises DotError, and
    ImportError without pydot."""
    import pydot

    said = io.StringIO()  # pydot prints its errors
    with contextlib.redirect_stdout(said):
        try:
            graphs = pydot.graph_from_dot_data(_renamed(text))
        except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
            raise DotError(str(error)) from error
    if not graphs:
        raise DotError(said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "it has no graph")
    if len(graphs) != 1:
        raise DotError(f"it has {len(graphs)} graphs, and each needs a file of its own")
    if _NAMED_END.search(text):
        raise DotError("an edge ends at a subgraph that stands elsewhere")
    wrong = "--" if graphs[0].get_type() == "digraph" else "->"
    if wrong in _ASIDE.sub(" ", text):
        raise DotError(f"an edge of a {graphs[0].get_type()} is written {wrong}, as graphviz refuses it")
    nodes, edges = list[str](), list[tuple[Any, ...]]()
    for source, target, attributes in _edges(graphs[0]):
        data = attributes if attribute is None else _number(attributes.get(attribute))
        edges += ((a, b, data) for a in _ends(source) for b in _ends(target))
    for name in _nodes(graphs[0]):
        nodes.append(name)
    ends = (end for edge in edges for end in edge[:2])
    return WholeGraph(unique([*nodes, *ends]), edges, graphs[0].get_type() == "digraph")


def _renamed(text: str) -> str:
    """The text with an underscore appended to the attributes in _TAKEN."""
    return _PIECES.sub(lambda piece: piece[0] + ("_" if piece[0] in _TAKEN else ""), text)


def _edges(graph: Any) -> Iterator[tuple[Any, Any, Mapping[str, Any]]]:
    """Ends and attributes of all edges, also of nested subgraphs."""
    for edge in graph.get_edge_list():
        yield edge.get_source(), edge.get_destination(), edge.get_attributes()
        for end in (edge.get_source(), edge.get_destination()):
            if isinstance(end, Mapping):
                yield from _edges_inside(end)
    for inner in graph.get_subgraph_list():
        yield from _edges(inner)


def _edges_inside(graph: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Mapping[str, Any]]]:
    """The edges inside a subgraph that is the end of an edge (a mapping in pydot)."""
    for (source, target), several in graph.get("edges", {}).items():
        for edge in several:
            yield source, target, edge.get("attributes", {})
    for several in graph.get("subgraphs", {}).values():
        for inner in several:
            yield from _edges_inside(inner)


def _nodes(graph: Any) -> Iterator[str]:
    """The names of all declared nodes."""
    for node in graph.get_node_list():
        if node.get_name() not in _DEFAULTS:
            yield _name(node.get_name())
    for inner in graph.get_subgraph_list():
        yield from _nodes(inner)


def _ends(end: Any) -> list[str]:
    """The vertices at an end of an edge: one, or all of a subgraph."""
    if not isinstance(end, Mapping):
        return [_name(str(end))]
    names = [_name(name) for name in end.get("nodes", {}) if name not in _DEFAULTS]
    names += [name for pair in end.get("edges", {}) for each in pair for name in _ends(each)]
    names += [name for several in end.get("subgraphs", {}).values() for inner in several for name in _ends(inner)]
    return unique(names)


def _name(text: str) -> str:
    """A name without its quotes and its port."""
    if text.startswith('"'):
        behind = 1
        while behind < len(text) and text[behind] != '"':
            behind += 2 if text[behind] == "\\" else 1
        return text[1:behind].replace('\\"', '"')
    return text if text.startswith("<") else text.partition(":")[0]


def _number(text: Any) -> int | float | Decimal | None:
    """The weight in a text; None without a weight. Raises DotError unless it is a number."""
    if text is None:
        return None
    plain = str(text).strip('"')
    try:
        return int(plain) if plain.lstrip("+-").isdigit() else float_or_decimal(plain)
    except ValueError:
        raise DotError(f"the weight {plain!r} is no number") from None
