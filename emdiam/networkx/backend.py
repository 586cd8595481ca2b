"""The functions of the backend, by the names and with the parameters, results, orders and errors of networkx.

Entry point networkx.backends. What cannot run here, or should not, is said with a reason, which networkx logs; it then
answers itself, so that errors of such calls are its own.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import networkx as nx

from .info import FUNCTIONS

if TYPE_CHECKING:
    from .graph import BackendGraph

__all__ = [*FUNCTIONS, "can_run", "convert_from_nx", "convert_to_nx", "should_run"]

# Before, single_target_shortest_path_length gave an iterator, and a reason for False was taken for True.
_OLDEST = (3, 5)
_NOT_CONNECTED = "Found infinite path length because the graph is not connected"
# Below so many nodes networkx has answered before the graph is converted: functions that search from every node, and
# those that search once.
_FEW_NODES, _FEW_NODES_ONCE = 30, 1000
_ONCE = {"approximate_diameter", "single_source_shortest_path_length", "single_target_shortest_path_length",
         "bfs_layers", "descendants_at_distance"}


# -- what networkx asks of a backend --------------------------------------------------------------
def convert_from_nx(graph: Any, **_: Any) -> BackendGraph:
    """The graph as arrays. Attributes are none that functions here look at."""
    from .graph import ArrayGraph

    return ArrayGraph(graph)


def convert_to_nx(result: Any, **_: Any) -> Any:
    """A graph of the backend as one of networkx; any other result as it is."""
    return result.to_networkx() if getattr(result, "__networkx_backend__", None) == "emdiam" else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or the reason why a call is left to networkx; False to one that is too old."""
    if tuple(map(int, re.findall(r"\d+", nx.__version__)[:2])) < _OLDEST:
        return False
    try:
        given = _given(name, args, kwargs)
    except TypeError as error:
        return f"the arguments do not fit: {error}"
    graph = given["G"]
    if not (isinstance(graph, nx.Graph) or getattr(graph, "__networkx_backend__", None) == "emdiam"):
        return "this is no graph of networkx"
    if graph.is_directed():
        return "the graph is directed, and emdiam knows distances of undirected graphs"
    if given.get("weight") is not None:
        return "distances of emdiam are numbers of edges, without weights"
    if given.get("sp") is not None:
        return "the distances are given, and nothing is left to compute"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """True, or the reason why networkx has the answer sooner."""
    given = _given(name, args, kwargs)
    if given.get("e") is not None:
        return "eccentricities are given, and nothing is left to compute"
    n, few = len(given["G"]), _FEW_NODES_ONCE if name in _ONCE else _FEW_NODES
    return True if n >= few else f"networkx answers for {n} nodes before they are converted"


@cache
def _signature(name: str) -> inspect.Signature:
    return inspect.signature(globals()[name])


def _given(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names. Raises TypeError for those that the function does not have."""
    return _signature(name).bind(*args, **kwargs).arguments


# -- eccentricities -------------------------------------------------------------------------------
def eccentricity(G: BackendGraph, v: Any = None, sp: None = None, weight: None = None) -> Any:  # noqa: N803
    """networkx.eccentricity: of the node v, or a dict of those of many, in the order of `v` or of the graph."""
    nodes: list[Any] = []
    for node in G.nbunch_iter(v):
        if not nodes:  # as networkx, which finds this out at the first and looks at the others later
            _check_connected(G, _NOT_CONNECTED)
        nodes.append(node)
    positions = None if v is None and nodes else [G.index[node] for node in nodes]
    e = dict(zip(nodes, G.eccentricities(positions).tolist(), strict=True))
    return e[v] if v in G else e


def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: None = None) -> int:  # noqa: N803
    """networkx.diameter."""
    if e is not None or not len(G):
        return nx.diameter(nx.Graph(), e, usebounds, backend="networkx")
    largest = G.diameter()
    if largest is None:
        raise nx.NetworkXError(_without_metric(usebounds))
    return largest


def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: None = None) -> int:  # noqa: N803
    """networkx.radius."""
    if e is not None or not len(G):
        return nx.radius(nx.Graph(), e, usebounds, backend="networkx")
    _check_connected(G, _without_metric(usebounds))
    return G.radius()


def center(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: None = None) -> list[Any]:  # noqa: N803
    """networkx.center: the nodes whose eccentricity is the radius, in the order of the graph."""
    if e is not None or not len(G):
        return nx.center(nx.Graph(), e, usebounds, backend="networkx")
    _check_connected(G, _without_metric(usebounds))
    return G.center()


def periphery(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: None = None) -> list[Any]:  # noqa: N803
    """networkx.periphery: the nodes whose eccentricity is the diameter, in the order of the graph."""
    if e is not None or not len(G):
        return nx.periphery(nx.Graph(), e, usebounds, backend="networkx")
    _check_connected(G, _without_metric(usebounds))
    return G.periphery()


def approximate_diameter(G: BackendGraph, seed: Any = None) -> int:  # noqa: N803
    """networkx.approximation.diameter: the eccentricity of a node that is farthest from a random one. seed : the
    generator that networkx has made of it."""
    n = len(G)
    if not n:
        raise nx.NetworkXError("Expected non-empty NetworkX graph!")
    if n == 1:
        return 0
    n_reached, farthest = G.farthest(seed.choice(range(n)))
    if n_reached != n:
        raise nx.NetworkXError("Graph not connected.")
    return int(G.eccentricities([farthest])[0])


def _check_connected(graph: BackendGraph, message: str) -> None:
    """Raises NetworkXError for a graph of several components."""
    if not graph.is_connected():
        raise nx.NetworkXError(message)


def _without_metric(usebounds: object) -> str:
    """What networkx says of a graph of several components."""
    return ("Cannot compute metric because graph is not connected." if usebounds is True else _NOT_CONNECTED)


# -- distances ------------------------------------------------------------------------------------
def single_source_shortest_path_length(G: BackendGraph, source: Any,  # noqa: N803
                                       cutoff: float | None = None) -> dict[Any, int]:
    """networkx.single_source_shortest_path_length: in the order in which the search meets the nodes."""
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return _lengths(G, source, cutoff)


def single_target_shortest_path_length(G: BackendGraph, target: Any,  # noqa: N803
                                       cutoff: float | None = None) -> dict[Any, int]:
    """networkx.single_target_shortest_path_length: in the order in which the search meets the nodes."""
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return _lengths(G, target, cutoff)


def all_pairs_shortest_path_length(G: BackendGraph,  # noqa: N803
                                   cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, int]]]:
    """networkx.all_pairs_shortest_path_length: a node and its dict of lengths at a time."""
    for node in G:
        yield node, _lengths(G, node, cutoff)


def bfs_layers(G: BackendGraph, sources: Any) -> Iterator[list[Any]]:  # noqa: N803
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


def descendants_at_distance(G: BackendGraph, source: Any, distance: Any) -> set[Any]:  # noqa: N803
    """networkx.descendants_at_distance."""
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    return next((set(layer) for i, layer in enumerate(bfs_layers(G, source)) if i == distance), set())


def _lengths(graph: BackendGraph, source: Any, cutoff: float | None) -> dict[Any, int]:
    """Distances of the nodes within `cutoff` (beginning with whole steps below it) of a node of the graph."""
    limit = None if cutoff is None else math.ceil(min(cutoff, len(graph))) if cutoff > 0 else 0
    reached, distances = graph.search([graph.index[source]], limit)
    lengths = {source: 0}
    lengths.update(zip(graph.names(reached), distances.tolist(), strict=True))
    return lengths
