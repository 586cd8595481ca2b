"""Graphs in DOT (Graphviz), parsed by pydot: all edges, those of subgraphs and between subgraphs too."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from .digits import float_or_decimal
from .whole import WholeGraph, unique

_DEFAULTS = ("node", "edge", "graph")
# Attributes that have the name of something else in pydot, outside of quotes and comments.
_TAKEN = ("name", "src", "dst", "obj_dict", "self", "graph_name", "graph_type", "strict", "simplify",
          "suppress_disconnected")
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|(?<![\w.])(?:' + "|".join(_TAKEN) + r")(?=\s*=)",
                     re.DOTALL)


class DotError(Exception):
    """What is wrong with a text."""


def graph_of_dot(text: str, attribute: str | None) -> WholeGraph:
    """The graph of a text in DOT. attribute : that has the weights, None without. Raises DotError, and ImportError
    without pydot."""
    import pydot

    said = io.StringIO()  # pydot prints what is wrong
    with contextlib.redirect_stdout(said):
        try:
            graphs = pydot.graph_from_dot_data(_renamed(text))
        except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
            raise DotError(str(error)) from error
    if not graphs:
        raise DotError(said.getvalue().strip().splitlines()[-1] if said.getvalue().strip() else "it has no graph")
    if len(graphs) != 1:
        raise DotError(f"it has {len(graphs)} graphs, and each needs a file of its own")
    nodes, edges = list[str](), list[tuple[Any, ...]]()
    for source, target, attributes in _edges(graphs[0]):
        data = attributes if attribute is None else _number(attributes.get(attribute))
        edges += ((a, b, data) for a in _ends(source) for b in _ends(target))
    for name in _nodes(graphs[0]):
        nodes.append(name)
    ends = (end for edge in edges for end in edge[:2])
    return WholeGraph(unique([*nodes, *ends]), edges, graphs[0].get_type() == "digraph")


def _renamed(text: str) -> str:
    """The text with an underscore behind the attributes in _TAKEN."""
    return _PIECES.sub(lambda piece: piece[0] + ("_" if piece[0] in _TAKEN else ""), text)


def _edges(graph: Any) -> Iterator[tuple[Any, Any, Mapping[str, Any]]]:
    """Ends and attributes of all edges, also of subgraphs, wherever these stand."""
    for edge in graph.get_edge_list():
        yield edge.get_source(), edge.get_destination(), edge.get_attributes()
        for end in (edge.get_source(), edge.get_destination()):
            if isinstance(end, Mapping):
                yield from _edges_inside(end)
    for inner in graph.get_subgraph_list():
        yield from _edges(inner)


def _edges_inside(graph: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Mapping[str, Any]]]:
    """The edges of a subgraph that is the end of an edge, which pydot has as a mapping."""
    for (source, target), several in graph.get("edges", {}).items():
        for edge in several:
            yield source, target, edge.get("attributes", {})
    for several in graph.get("subgraphs", {}).values():
        for inner in several:
            yield from _edges_inside(inner)


def _nodes(graph: Any) -> Iterator[str]:
    """The names of all nodes that are declared."""
    for node in graph.get_node_list():
        if node.get_name() not in _DEFAULTS:
            yield _name(node.get_name())
    for inner in graph.get_subgraph_list():
        yield from _nodes(inner)


def _ends(end: Any) -> list[str]:
    """The vertices that an end of an edge stands for: one, or all of a subgraph."""
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
    """The weight that a text is; None for no weight. Raises DotError for anything but a number."""
    if text is None:
        return None
    plain = str(text).strip('"')
    try:
        return int(plain) if plain.lstrip("+-").isdigit() else float_or_decimal(plain)
    except ValueError:
        raise DotError(f"the weight {plain!r} is no number") from None
