"""scipy.sparse.csgraph: breadth_first_order (serial C)."""

from __future__ import annotations

import scipy.sparse as sp
from scipy.sparse import csgraph


def load(csr: sp.csr_matrix) -> sp.csr_matrix:
    """The matrix itself."""
    return csr


def _bfs(graph: sp.csr_matrix, source: int) -> object:
    return csgraph.breadth_first_order(graph, source, directed=True, return_predecessors=False)


TASKS = {"bfs": (load, _bfs)}
