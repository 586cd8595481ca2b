"""The largest component of a graph as a store of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from emdiam.conversion.convert import convert

from ..programs import rows_of


def largest_component(store: Path) -> Path:
    """The store of the largest component, made now if it is not there; the store itself, if it has one component."""
    target = store.with_name(f"{store.name.removesuffix('.zarr')}-largest.zarr")
    if target.exists():
        return target
    offsets, neighbours = rows_of(store)
    n = len(offsets) - 1
    ones = np.ones(len(neighbours), np.int8)
    ids = neighbours.astype(np.int32 if len(neighbours) < 2**31 else np.int64)
    _, labels = connected_components(sparse.csr_matrix((ones, ids, offsets.astype(ids.dtype)), shape=(n, n)),
                                     directed=False)
    sizes = np.bincount(labels)
    if len(sizes) == 1:
        return store
    inside = labels == int(np.argmax(sizes))
    tails = np.repeat(np.arange(n, dtype=np.uint32), np.diff(offsets))
    taken = inside[tails] & (tails < neighbours)
    file = target.with_suffix(".parquet")
    pyarrow.parquet.write_table(pa.table({"src": tails[taken], "dst": neighbours[taken].astype(np.uint32)}), file)
    convert([file], target)
    file.unlink()
    return target
