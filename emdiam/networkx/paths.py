"""Functions of networkx for shortest paths, or their lengths, between any nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import networkx as nx

from .centrality import check_node

if TYPE_CHECKING:
    from .graph import BackendGraph, Rows

__all__ = ["shortest_path", "shortest_path_length"]

METHODS = ("dijkstra", "bellman-ford")


def shortest_path(G: BackendGraph, source: Any = None, target: Any = None, weight: str | None = None,
                  method: str = "dijkstra") -> Any:
    """networkx.shortest_path: for two nodes a list; for one a dict of lists, by increasing length; else an iterator."""
    _check(method)
    if source is not None and target is not None:
        _check_both(G, source, target)
        return [source] if source == target else G.path(source, target, weight)
    if source is not None:
        check_node(G, source, weight, "not in G")
        return _paths(G, source, weight)
    if target is None:
        return _all_paths(G, weight)
    check_node(G, target, weight, "not in G")
    return {node: path[::-1] for node, path in _paths(G, target, weight, "in").items()}


def shortest_path_length(G: BackendGraph, source: Any = None, target: Any = None, weight: str | None = None,
                         method: str = "dijkstra") -> Any:
    """networkx.shortest_path_length: for two nodes a number; for one a dict, by increasing length; else an
    iterator."""
    _check(method)
    if source is not None and target is not None:
        return _length(G, source, target, weight)
    if source is not None:
        check_node(G, source, weight, "is not in G")
        return _lengths(G, source, weight)
    if target is None:
        return ((node, _lengths(G, node, weight)) for node in G)
    check_node(G, target, weight, "is not in G")
    return _lengths(G, target, weight, "in")


def hop_lengths(graph: BackendGraph, source: Any, cutoff: float | None = None, rows: Rows = "out") -> dict[Any, int]:
    """Distances of the nodes within `cutoff`, rounded up to whole steps, of a node of the graph."""
    limit = None if cutoff is None else math.ceil(min(cutoff, len(graph))) if cutoff > 0 else 0
    reached, distances = graph.search([graph.index[source]], limit, rows)
    return {source: 0, **dict(zip(graph.names(reached), distances.tolist(), strict=True))}


def weighted_lengths(graph: BackendGraph, source: Any, cutoff: float | None, weight: str | None,
                     rows: Rows = "out") -> dict[Any, Any]:
    """Distances along weights of the nodes within `cutoff` of a node of the graph."""
    reached, distances = graph.along(weight, rows).search(graph.index[source], cutoff)
    return {source: 0, **dict(zip(graph.names(reached), distances, strict=True))}


def _lengths(graph: BackendGraph, source: Any, weight: str | None, rows: Rows = "out") -> dict[Any, Any]:
    """Distances of the nodes that a node of the graph reaches."""
    return (hop_lengths(graph, source, rows=rows) if weight is None else
            weighted_lengths(graph, source, None, weight, rows))


def _check(method: str) -> None:
    """Raise ValueError for a method that networkx lacks."""
    if method not in METHODS:
        raise ValueError(f"method not supported: {method}")


def _check_both(graph: BackendGraph, source: Any, target: Any) -> None:
    """Raise NodeNotFound for an unknown node."""
    if source not in graph:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if target not in graph:
        raise nx.NodeNotFound(f"Target {target} is not in G")


def _length(graph: BackendGraph, source: Any, target: Any, weight: str | None) -> Any:
    """The distance of two nodes."""
    if weight is None:
        _check_both(graph, source, target)
        return 0 if source == target else len(graph.path(source, target, None)) - 1
    if source not in graph:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    length = graph.along(weight).distance(graph.index[source], graph.index[target] if target in graph else -1)
    hash(target)  # a TypeError for an unhashable object
    if length is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return length


def _paths(graph: BackendGraph, source: Any, weight: str | None, rows: Rows = "out") -> dict[Any, list[Any]]:
    """A shortest path from a node to each reachable node, by increasing length."""
    reached, before = graph.along(weight, rows).tree(graph.index[source])
    others = before >= 0
    above = dict(zip(graph.names(reached[others]), graph.names(before[others]), strict=True))
    paths = {source: [source]}
    for node in above:
        missing = []
        while node not in paths:  # with edges of weight 0, a node may come before its predecessor
            missing.append(node)
            node = above[node]
        for each in reversed(missing):
            paths[each] = [*paths[above[each]], each]
    return paths


def _all_paths(graph: BackendGraph, weight: str | None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    """Yield each node with its dict of paths."""
    for node in graph:
        yield node, _paths(graph, node, weight)
