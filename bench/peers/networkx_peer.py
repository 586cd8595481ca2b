"""networkx: diameter with bounds (Takes and Kosters), in Python."""

from __future__ import annotations

import networkx as nx
import scipy.sparse as sp

from .csr import edge_list


def load(csr: sp.csr_matrix) -> nx.Graph:
    """An undirected networkx graph."""
    graph = nx.empty_graph(csr.shape[0])
    tails, heads = edge_list(csr)
    graph.add_edges_from(zip(tails.tolist(), heads.tolist(), strict=True))
    return graph


def _diameter(graph: nx.Graph) -> int:
    return int(nx.diameter(graph, usebounds=True))


TASKS = {"diameter": _diameter}
