"""igraph: distances from one vertex, and diameter (a BFS from every vertex, all components at once)."""

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


TASKS = {"bfs": (load, _bfs), "diameter": (load, _diameter)}
