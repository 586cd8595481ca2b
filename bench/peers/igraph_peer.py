"""igraph: distances from one vertex; diameter and eccentricities (a BFS from every vertex, all components at once)."""

from __future__ import annotations

import igraph
import numpy as np
import scipy.sparse as sp

from .csr import edge_list


def load(csr: sp.csr_matrix) -> igraph.Graph:
    """An undirected igraph graph."""
    return igraph.Graph(n=csr.shape[0], edges=np.column_stack(edge_list(csr)))


def _bfs(graph: igraph.Graph, source: int) -> object:
    return graph.distances(source=[source])


def _diameter(graph: igraph.Graph) -> int:
    return int(graph.diameter(directed=False, unconn=True))


def _eccentricities(graph: igraph.Graph, vertices: list[int]) -> list[int]:
    return [int(value) for value in graph.eccentricity(vertices)]


TASKS = {"bfs": (load, _bfs), "diameter": (load, _diameter), "eccentricities": (load, _eccentricities)}
