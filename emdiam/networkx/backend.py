"""The functions of the backend, with the names, parameters, results, orders and errors of networkx.

Entry point networkx.backends. The backend declines a call that it cannot or should not run with a reason, which
networkx logs. networkx then answers itself, with its own errors.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import networkx as nx

from .centrality import (
    OTHER_METHODS,
    average_shortest_path_length,
    barycenter,
    closeness_centrality,
    global_efficiency,
    harmonic_centrality,
    wiener_index,
)
from .paths import hop_lengths, shortest_path, shortest_path_length, weighted_lengths

if TYPE_CHECKING:
    from .graph import BackendGraph

# Listed, since tools that read the source do not accept starred names. A test compares them with FUNCTIONS.
__all__ = [
    "all_pairs_dijkstra_path_length", "all_pairs_shortest_path_length", "approximate_diameter",
    "average_shortest_path_length", "barycenter", "bfs_layers", "can_run", "center", "closeness_centrality",
    "convert_from_nx", "convert_to_nx", "descendants_at_distance", "diameter", "eccentricity", "global_efficiency",
    "harmonic_centrality", "harmonic_diameter", "periphery", "radius", "shortest_path", "shortest_path_length",
    "should_run", "single_source_dijkstra_path_length", "single_source_shortest_path_length",
    "single_target_shortest_path_length", "wiener_index",
]

# In earlier releases single_target_shortest_path_length returned an iterator, and a reason counted as True.
_OLDEST = (3, 5)
_ONCE = {"approximate_diameter", "single_source_shortest_path_length", "single_target_shortest_path_length",
         "single_source_dijkstra_path_length", "bfs_layers", "descendants_at_distance"}
# Arguments that make a function search once.
_ENDS = ("source", "target", "u")
# Integers below it are exact as floats.
_MOST_CUTOFF = 1 << 53


# -- interface of a backend of networkx -----------------------------------------------------------
def convert_from_nx(graph: Any, edge_attrs: Mapping[str, Any] | None = None, **_: Any) -> BackendGraph:
    """The graph as arrays, with these attributes of edges and their defaults. For an attribute that cannot be an array,
    raises an error after which networkx answers itself (see weights.py)."""
    from .graph import ArrayGraph

    return ArrayGraph(graph, edge_attrs)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """A graph of the backend as one of networkx; any other result unchanged."""
    return result.to_networkx() if getattr(result, "__networkx_backend__", None) == "emdiam" else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or the reason why networkx must answer; False for a networkx that is too old."""
    if tuple(map(int, re.findall(r"\d+", nx.__version__)[:2])) < _OLDEST:
        return False
    try:
        keywords = _keywords(name, args, kwargs)
    except TypeError as error:
        return f"the arguments do not fit: {error}"
    graph, weight = keywords["G"], keywords.get("distance" if name.endswith("_centrality") else "weight")
    if not (isinstance(graph, nx.Graph) or getattr(graph, "__networkx_backend__", None) == "emdiam"):
        return "this is no graph of networkx"
    if keywords.get("sp") is not None:
        return "the distances are given, so the answer is known"
    if keywords.get("attr") is not None:
        return "the sums of distances are to be attributes of the nodes of a graph of networkx"
    method = keywords.get("method")
    if method in OTHER_METHODS and not (weight is None and name.startswith("shortest_path")):
        return f"the method is {method}, which does other sums"
    if name.endswith("dijkstra_path_length") and not _is_cutoff(keywords.get("cutoff")):
        return "the cutoff is no number below 2^53"
    return True if weight is None else _can_weigh(graph, weight, keywords)


def _is_cutoff(cutoff: Any) -> bool:
    """Whether a cutoff can be compared with floats exactly."""
    return cutoff is None or isinstance(cutoff, float) or (isinstance(cutoff, int) and abs(cutoff) < _MOST_CUTOFF)


def _can_weigh(graph: Any, weight: Any, keywords: Mapping[str, Any]) -> bool | str:
    """True, or the reason why networkx must compute distances along weights."""
    if not isinstance(weight, str):
        return "the weight is no name of an attribute, but a function or the like"
    if not isinstance(graph, nx.Graph) and weight not in ("weight", graph.weight_name):
        return f"a store has its weights by the name {graph.weight_name!r}, and by 'weight'"
    if keywords.get("usebounds") is True and not graph.is_directed():
        return "bounds of networkx on sums of weights round as they are added"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or the reason why networkx answers faster."""
    keywords = _keywords(name, args, kwargs)
    if keywords.get("e") is not None:
        return "eccentricities are given, so the answer is known"
    ends = sum(keywords.get(end) is not None for end in _ENDS)
    if ends == 2:
        return "networkx searches from both nodes, and meets few others"
    config = nx.config.backends.emdiam
    n, few = len(keywords["G"]), config.few_nodes_once if ends or name in _ONCE else config.few_nodes
    return True if n >= few else f"networkx answers for {n} nodes before they are converted"


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(globals()[name])


def _keywords(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name. Raises TypeError for unknown ones."""
    return _signature(name).bind(*args, **kwargs).arguments


# -- eccentricities -------------------------------------------------------------------------------
def eccentricity(G: BackendGraph, v: Any = None, sp: None = None, weight: str | None = None) -> Any:
    """networkx.eccentricity: a number for a node v, or a dict for several nodes, in the order of `v` or of the
    graph."""
    if not len(G):  # networkx 3.7 raises for a graph without nodes, before that it returns an empty dict
        return nx.eccentricity(_empty(G), v, None, weight, backend="networkx")
    nodes: list[Any] = []
    fault = None
    try:
        nodes.extend(G.nbunch_iter(v))  # keeps the nodes before an invalid one
    except nx.NetworkXError as error:
        fault = error
    positions = None if v is None and nodes else [G.index[node] for node in nodes]
    if nodes and weight is None and (v is None or not G.is_directed()):
        _check_connected(G)
    values = (G.eccentricities(positions).tolist() if weight is None else G.along(weight).eccentricities(positions))
    if len(values) < len(nodes):
        raise nx.NetworkXError(_infinite(G))
    if fault is not None:
        raise fault
    e = dict(zip(nodes, values, strict=True))
    return e[v] if v in G else e


def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """networkx.diameter."""
    if e is not None or not len(G):
        return nx.diameter(_empty(G), e, usebounds, weight, backend="networkx")
    largest = G.diameter() if weight is None else G.along(weight).diameter()
    if largest is None:
        raise nx.NetworkXError(_infinite(G, usebounds))
    return largest


def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: str | None = None) -> Any:
    """networkx.radius."""
    return _extreme("radius", G, e, usebounds, weight, min)


def center(G: BackendGraph, e: Any = None, usebounds: bool = False,
           weight: str | None = None) -> list[Any]:
    """networkx.center: the nodes whose eccentricity is the radius, in the order of the graph."""
    return _extreme("center", G, e, usebounds, weight, min)


def periphery(G: BackendGraph, e: Any = None, usebounds: bool = False,
              weight: str | None = None) -> list[Any]:
    """networkx.periphery: the nodes whose eccentricity is the diameter, in the order of the graph."""
    return _extreme("periphery", G, e, usebounds, weight, max)


def harmonic_diameter(G: BackendGraph, sp: None = None, *, weight: str | None = None) -> float:
    """networkx.harmonic_diameter."""
    n = len(G)
    total = G.sum_of_inverses() if weight is None else G.along(weight).sum_of_inverses()
    if total != 0:
        return n * (n - 1) / total
    return math.inf if n > 1 else math.nan


def approximate_diameter(G: BackendGraph, seed: Any = None) -> int:
    """networkx.approximation.diameter: the eccentricity of a node that is farthest from a random one. seed : the random
    generator made by networkx."""
    n = len(G)
    if not n:
        raise nx.NetworkXError("Expected non-empty NetworkX graph!")
    if n == 1:
        return 0
    source = seed.choice(range(n))
    n_reached, farthest = G.farthest(source)
    if not G.is_directed():
        if n_reached != n:
            raise nx.NetworkXError("Graph not connected.")
        return int(G.eccentricities([farthest])[0])
    n_back, other = G.farthest(source, "reversed")
    if not n_reached == n_back == n:
        raise nx.NetworkXError("DiGraph not strongly connected.")
    return max(int(G.search([farthest], rows="reversed")[1][-1]), int(G.eccentricities([other])[0]))


def _empty(graph: BackendGraph) -> nx.Graph:
    """A graph of networkx without nodes, of this kind."""
    return nx.DiGraph() if graph.is_directed() else nx.Graph()


def _extreme(name: str, graph: BackendGraph, e: Any, usebounds: bool, weight: str | None,
             end: Callable[[list[Any]], Any]) -> Any:
    """The named function of networkx: the radius, or the nodes with the smallest or largest eccentricity, by `end`.
    Raises NetworkXError if a node does not reach all others."""
    if e is not None or not len(graph):
        return getattr(nx, name)(_empty(graph), e, usebounds, weight, backend="networkx")
    if weight is None:
        _check_connected(graph, usebounds)
        return getattr(graph, name)()
    values = graph.along(weight).eccentricities()
    if len(values) < len(graph):
        raise nx.NetworkXError(_infinite(graph))
    wanted = end(values)
    return wanted if name == "radius" else [node for node, value in zip(graph, values, strict=True) if value == wanted]


def _check_connected(graph: BackendGraph, usebounds: object = False) -> None:
    """Raise NetworkXError for a graph that is not connected, or not strongly connected."""
    if not graph.is_connected():
        raise nx.NetworkXError(_infinite(graph, usebounds))


def _infinite(graph: BackendGraph, usebounds: object = False) -> str:
    """The message of networkx for a graph that is not connected."""
    if graph.is_directed():
        return "Found infinite path length because the digraph is not strongly connected"
    return ("Cannot compute metric because graph is not connected." if usebounds is True else
            "Found infinite path length because the graph is not connected")


# -- distances ------------------------------------------------------------------------------------
def single_source_shortest_path_length(G: BackendGraph, source: Any,
                                       cutoff: float | None = None) -> dict[Any, int]:
    """networkx.single_source_shortest_path_length: in the order in which the search meets the nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return hop_lengths(G, source, cutoff)


def single_target_shortest_path_length(G: BackendGraph, target: Any,
                                       cutoff: float | None = None) -> dict[Any, int]:
    """networkx.single_target_shortest_path_length: in the order in which the search meets the nodes."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return hop_lengths(G, target, cutoff, "in")


def all_pairs_shortest_path_length(G: BackendGraph,
                                   cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    """networkx.all_pairs_shortest_path_length: yields each node with its dict of lengths."""
    for node in G:
        yield node, hop_lengths(G, node, cutoff)


def single_source_dijkstra_path_length(G: BackendGraph, source: Any, cutoff: float | None = None,
                                       weight: str | None = "weight") -> dict[Any, Any]:
    """networkx.single_source_dijkstra_path_length: by increasing distance, as the search settles the nodes."""
    for node in {source}:  # raises the error of networkx for an unhashable node
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    return weighted_lengths(G, source, cutoff, weight)


def all_pairs_dijkstra_path_length(G: BackendGraph, cutoff: float | None = None,
                                   weight: str | None = "weight") -> Iterator[tuple[Any, dict[Any, Any]]]:
    """networkx.all_pairs_dijkstra_path_length: yields each node with its dict of distances."""
    for node in G:
        yield node, weighted_lengths(G, node, cutoff, weight)


def bfs_layers(G: BackendGraph, sources: Any) -> Iterator[list[Any]]:
    """networkx.bfs_layers: lists of nodes, by the distance to the nearest source. Layers are yielded after the whole
    search."""
    first = list({sources} if sources in G else set(sources))
    for node in first:
        if node not in G:
            raise nx.NetworkXError(f"The node {node} is not in the graph.")
    if not first:
        return
    reached, distances = G.search([G.index[node] for node in first])
    nodes = [*first, *G.names(reached[len(first):])]
    begin = 0
    for end in [*(distances[1:] > distances[:-1]).nonzero()[0] + 1, len(nodes)]:
        yield nodes[begin:end]
        begin = end


def descendants_at_distance(G: BackendGraph, source: Any, distance: Any) -> set[Any]:
    """networkx.descendants_at_distance."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return next((set(layer) for i, layer in enumerate(bfs_layers(G, source)) if i == distance), set())
