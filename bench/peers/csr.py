"""A store as a scipy matrix, read by zarr alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

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


def components(csr: sp.csr_matrix) -> Iterator[sp.csr_matrix]:
    """The induced matrix of each component with an edge, the largest first."""
    count, labels = scipy.sparse.csgraph.connected_components(csr, directed=False)
    sizes = np.bincount(labels, minlength=count)
    rank = np.empty(count, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(count)
    order = np.argsort(rank[labels], kind="stable")
    sorted_rows = csr if count == 1 else csr[order][:, order]  # each component is now a range of rows
    begin = 0
    for size in np.sort(sizes)[::-1].tolist():
        if size < 2:
            return
        first, last = sorted_rows.indptr[begin], sorted_rows.indptr[begin + size]
        yield sp.csr_matrix(
            (sorted_rows.data[first:last], sorted_rows.indices[first:last] - begin,
             sorted_rows.indptr[begin : begin + size + 1] - first), shape=(size, size))
        begin += size


def largest_over(parts: Sequence[Any], diameter: Callable[[Any], int], size: Callable[[Any], int]) -> int:
    """The largest diameter of the components, which come largest first; those are left out that have
    too few vertices to hold a longer distance, as own methods do."""
    best = 0
    for part in parts:
        if size(part) <= best + 1:
            break
        best = max(best, diameter(part))
    return best


def edge_list(csr: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """(smaller, larger) vertex of every edge once."""
    coo = csr.tocoo()
    once = coo.row < coo.col
    return coo.row[once], coo.col[once]
