"""networkit: BFS without paths, Diameter EXACT (a SumSweep variant) of component after component, and Eccentricity of
vertex after vertex."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np
import scipy.sparse as sp

from .csr import components, edge_list, largest_over


def load(csr: sp.csr_matrix) -> Any:
    """An undirected networkit graph."""
    tails, heads = edge_list(csr)
    # 64-bit ids: with 32-bit ones GraphFromCoo of networkit 11.2 reads beyond the arrays.
    graph = nk.GraphFromCoo((tails.astype(np.int64), heads.astype(np.int64)), n=csr.shape[0])
    if graph.numberOfEdges() != len(tails):
        raise ValueError(f"networkit made {graph.numberOfEdges()} of {len(tails)} edges")
    return graph


def _bfs(graph: Any, source: int) -> object:
    return nk.distance.BFS(graph, source, storePaths=False).run()


def _load_components(csr: sp.csr_matrix) -> list[Any]:
    return [load(part) for part in components(csr)]


def _diameter(parts: list[Any]) -> int:
    return largest_over(parts, _diameter_of, lambda part: part.numberOfNodes())


def _diameter_of(graph: Any) -> int:
    run = nk.distance.Diameter(graph, algo=nk.distance.DiameterAlgo.EXACT)
    run.run()
    return int(run.getDiameter()[0])


def _eccentricities(graph: Any, vertices: list[int]) -> list[int]:
    value = nk.distance.Eccentricity.getValue
    return [int(value(graph, vertex)[1]) for vertex in vertices]


TASKS = {"bfs": (load, _bfs), "diameter": (_load_components, _diameter), "eccentricities": (load, _eccentricities)}
