"""Functions of networkx that add up distances: means, indices, centralities, the barycentre."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import networkx as nx

if TYPE_CHECKING:
    import numpy as np

    from .graph import BackendGraph, Rows

__all__ = ["average_shortest_path_length", "barycenter", "closeness_centrality", "global_efficiency",
           "harmonic_centrality", "wiener_index"]

UNWEIGHTED, DIJKSTRA = "unweighted", "dijkstra"
# The other methods of networkx, which sum in another order.
OTHER_METHODS = ("bellman-ford", "floyd-warshall", "floyd-warshall-numpy")


def average_shortest_path_length(G: BackendGraph, weight: str | None = None, method: str | None = None) -> float:
    """networkx.average_shortest_path_length."""
    if method is None:
        method = UNWEIGHTED if weight is None else DIJKSTRA
    if method not in (UNWEIGHTED, DIJKSTRA, *OTHER_METHODS):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length")
    if n == 1:
        return 0
    if not G.is_connected():
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    total: float = _total(G, None if method == UNWEIGHTED else weight)
    return total / (n * (n - 1))


def wiener_index(G: BackendGraph, weight: str | None = None) -> float:
    """networkx.wiener_index."""
    if not len(G):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    if not G.is_connected():
        return math.inf
    total: float = _total(G, weight)
    return total if G.is_directed() else total / 2


def global_efficiency(G: BackendGraph) -> float:
    """networkx.global_efficiency."""
    pairs = len(G) * (len(G) - 1)
    return (G.sum_of_inverses() or 0) / pairs if pairs else 0


def closeness_centrality(G: BackendGraph, u: Any = None, distance: str | None = None,
                         wf_improved: bool = True) -> Any:
    """networkx.closeness_centrality; in a directed graph from distances to the node."""
    nodes = G if u is None else [u]
    if u is not None:
        check_node(G, u, distance, "is not in G")
    positions = None if u is None else [G.index[u]]
    n, values = len(G), {}
    for node, (reached, total) in zip(nodes, _sums(G, positions, distance, "reversed"), strict=True):
        value = 0.0
        if total > 0.0 and n > 1:
            value = (reached - 1.0) / total
            if wf_improved:
                value *= (reached - 1.0) / (n - 1)
        values[node] = value
    return values if u is None else values[u]


def harmonic_centrality(G: BackendGraph, nbunch: Any = None, distance: str | None = None,
                        sources: Any = None) -> dict[Any, float]:
    """networkx.harmonic_centrality; in a directed graph from distances to the node. Searches start from `nbunch` or
    from `sources`, whichever has fewer nodes."""
    import numpy as np

    everything = nbunch is None and sources is None and distance is None
    nodes = set(G.nbunch_iter(nbunch) if nbunch is not None else G)
    others = set(G.nbunch_iter(sources) if sources is not None else G)
    inverses = G.inverses() if everything else None
    if inverses is not None:
        return {node: inverses[G.index[node]].item() or 0 for node in nodes}
    centrality: dict[Any, float] = dict.fromkeys(nodes, 0)
    if len(nodes) < len(others):
        wanted = np.zeros(len(G), bool)
        wanted[[G.index[node] for node in others]] = True
        for node in nodes:
            reached, inverse = _inverses(G, G.index[node], distance, "in")
            found = inverse[wanted[reached]]
            if len(found):
                centrality[node] = found.cumsum()[-1].item()  # in the order of networkx
        return centrality
    totals, counted = np.zeros(len(G)), np.zeros(len(G), bool)
    for node in others:
        reached, inverse = _inverses(G, G.index[node], distance, "out")
        totals[reached] += inverse
        counted[reached] = True
    for node in nodes:
        if counted[G.index[node]]:
            centrality[node] = totals[G.index[node]].item()
    return centrality


def barycenter(G: BackendGraph, weight: str | None = None, attr: None = None, sp: None = None) -> list[Any]:
    """networkx.barycenter: the nodes with the smallest sum of distances, in the order of the graph; in a tree, the node
    nearer to the first one comes first."""
    if weight is None and not G.is_directed():
        if not len(G):
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        if len(G) - 1 == G.number_of_edges() and G.is_connected():
            return _centroid(G)
    smallest, nodes = math.inf, list[Any]()
    for node, (reached, total) in zip(G, _sums(G, None, weight, "out"), strict=True):
        if reached < len(G):
            raise nx.NetworkXNoPath(f"Input graph {G} is disconnected, so every induced subgraph has infinite"
                                    " barycentricity.")
        if total < smallest:
            smallest, nodes = total, [node]
        elif total == smallest:
            nodes.append(node)
    return nodes


def _centroid(tree: BackendGraph) -> list[Any]:
    """The centroid of a tree: nodes whose removal leaves no part with more than half of the nodes."""
    import numpy as np

    order, before = tree.along(None).tree(0)
    n = len(order)
    sizes = [1] * n
    for vertex, above in zip(order[:0:-1].tolist(), before[:0:-1].tolist(), strict=True):
        sizes[above] += sizes[vertex]
    last = max(place for place, vertex in enumerate(order) if 2 * sizes[vertex] > n)
    half = [vertex for vertex in range(n) if 2 * sizes[vertex] == n]
    return tree.names(np.array([order[last], *half]))


def check_node(graph: BackendGraph, node: Any, weight: str | None, what: str) -> None:
    """Raise NodeNotFound for an unknown node, like searches of networkx. what : the message of a search without
    weights."""
    if weight is not None:
        for each in {node}:  # raises the error of networkx for an unhashable node
            if each not in graph:
                raise nx.NodeNotFound(f"Node {each} not found in graph")
    elif node not in graph:
        raise nx.NodeNotFound(f"Source {node} {what}")


def _total(graph: BackendGraph, weight: str | None) -> Any:
    """The sum of all distances."""
    return graph.total() if weight is None else graph.along(weight).total()


def _sums(graph: BackendGraph, positions: list[int] | None, weight: str | None,
          rows: Rows) -> Iterable[tuple[int, Any]]:
    """For each vertex at `positions` (None: all), the number of reached vertices and the sum of their distances."""
    if weight is None:
        yield from graph.sums(positions, rows)
        return
    along = graph.along(weight, rows)
    for position in range(len(graph)) if positions is None else positions:
        distances = along.search(position)[1]
        yield len(distances), sum(distances)


def _inverses(graph: BackendGraph, position: int, weight: str | None, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The positions at nonzero distances from `position`, and the inverses of these distances."""
    import numpy as np

    if weight is None:
        reached, distances = graph.search([position], rows=rows)
    else:
        reached, lengths = graph.along(weight, rows).search(position)
        distances = np.array(lengths, np.float64)
    apart = distances != 0
    with np.errstate(over="ignore"):
        return reached[apart], 1 / distances[apart]
