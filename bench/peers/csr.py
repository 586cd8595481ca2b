"""A store as a scipy matrix, read by zarr alone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import scipy.sparse.csgraph
import zarr


def read_csr(store: str) -> sp.csr_matrix:
    """float64 CSR matrix of ones (scipy.sparse.csgraph converts anything else at every call)."""
    group = zarr.open_group(store, mode="r")
    indptr, indices = np.asarray(group["indptr"]), np.asarray(group["indices"])
    if len(indices) < 2**31:
        indptr, indices = indptr.astype(np.int32), indices.astype(np.int32)
    n = len(indptr) - 1
    return sp.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n))


def largest_component(csr: sp.csr_matrix) -> sp.csr_matrix:
    """The induced matrix of the component with the most vertices (ties: the smallest vertex)."""
    count, labels = scipy.sparse.csgraph.connected_components(csr, directed=False)
    if count == 1:
        return csr
    inside = np.flatnonzero(labels == np.bincount(labels).argmax())
    return csr[inside][:, inside]


def edge_list(csr: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """(smaller, larger) vertex of every edge once."""
    coo = csr.tocoo()
    once = coo.row < coo.col
    return coo.row[once], coo.col[once]
