"""The metadata of the backend that networkx reads when it is imported: functions, and texts for their pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_BOUNDS = ("By bounds from a few searches; on small graphs, and mostly along weights, by a search from every node."
           " Weights are numbers of Python.")
_SEARCH = "By one search of a compiled kernel."
_SUMS = ("By a search of a compiled kernel from every node; on larger graphs without weights from many nodes at once."
         " Along weights by Dijkstra's algorithm.")
_PATHS = ("By a search of a compiled kernel, from every node unless you name one, while you iterate; without weights or"
          " by Dijkstra's algorithm. Between two nodes by networkx itself, on the converted graph.")

# Functions of networkx, by their names for dispatch, and the notes on this backend for their pages.
FUNCTIONS: Mapping[str, str] = MappingProxyType({
    "eccentricity": _BOUNDS, "diameter": _BOUNDS, "radius": _BOUNDS, "center": _BOUNDS, "periphery": _BOUNDS,
    "approximate_diameter": "Two searches, from the same random node as networkx.",
    "single_source_shortest_path_length": _SEARCH, "single_target_shortest_path_length": _SEARCH,
    "all_pairs_shortest_path_length": "One search of a compiled kernel for every node, while you iterate.",
    "single_source_dijkstra_path_length": _SEARCH,
    "all_pairs_dijkstra_path_length": "One search of a compiled kernel for every node, while you iterate.",
    "harmonic_diameter": "A search of a compiled kernel from every node.",
    "bfs_layers": _SEARCH, "descendants_at_distance": _SEARCH,
    "average_shortest_path_length": _SUMS, "wiener_index": _SUMS, "global_efficiency": _SUMS,
    "closeness_centrality": _SUMS, "harmonic_centrality": _SUMS, "barycenter": _SUMS + " Without attr and sp.",
    "shortest_path": _PATHS, "shortest_path_length": _PATHS,
})
# nx.config.backends.emdiam: networkx itself answers for graphs with fewer nodes if it may choose. The limits are for
# functions that search from every node, and for functions that search once.
DEFAULT_CONFIG: Mapping[str, Any] = MappingProxyType({"few_nodes": 30, "few_nodes_once": 1000})


def backend_info() -> dict[str, Any]:
    """The metadata of the backend (entry point networkx.backend_info)."""
    return {
        "backend_name": "emdiam", "project": "emdiam", "package": "emdiam.networkx",
        "short_summary": "Distances and exact diameters of graphs, including graphs larger than memory.",
        "url": "https://pypi.org/project/emdiam/", "default_config": dict(DEFAULT_CONFIG),
        "functions": {name: {"additional_docs": text} for name, text in FUNCTIONS.items()},
    }
