"""networkx: diameter with bounds (Takes and Kosters) of component after component, in Python."""

from __future__ import annotations

import networkx as nx
import scipy.sparse as sp

from .csr import components, edge_list, largest_over


def load(csr: sp.csr_matrix) -> nx.Graph:
    """An undirected networkx graph."""
    graph = nx.empty_graph(csr.shape[0])
    tails, heads = edge_list(csr)
    graph.add_edges_from(zip(tails.tolist(), heads.tolist(), strict=True))
    return graph


def _load_components(csr: sp.csr_matrix) -> list[nx.Graph]:
    return [load(part) for part in components(csr)]


def _diameter(parts: list[nx.Graph]) -> int:
    return largest_over(parts, lambda part: int(nx.diameter(part, usebounds=True)), len)


TASKS = {"diameter": (_load_components, _diameter)}
