"""A store as dask arrays, read when they are computed, in any process.

A worker opens the store itself, once, by its address, and reads chunks like every reader of the package: they are
checked, and a missing chunk is an error, not a fill value. Only the address, the digest and an array's name are sent to
the worker.
"""

from __future__ import annotations

import functools
import operator
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, StoreError, redacted
from .array_reader import read_slice

if TYPE_CHECKING:
    from dask.array import Array

    from .store import Store

_IDS = "ids"
_OPENING = threading.Lock()


@dataclass(frozen=True)
class DaskGraph:
    """indptr : int64[n_vertices + 1]. indices : vertex ids[n_arcs]. ids : the user's id of every vertex, int64 or
    uint64, or objects (str) for string ids. weights : of the arcs, [n_arcs]; None in a store without weights. All are
    dask arrays; indices[indptr[v] : indptr[v + 1]] are the neighbours of v, ascending."""

    indptr: Array
    indices: Array
    ids: Array
    weights: Array | None = None


class StoredVector:
    """One array of a store, with the part of numpy's interface that dask needs: shape, dtype, ndim and slicing.

    Parameters
    ----------
    address : the store's, with which a worker opens it. digest : the digest that the store must have. name : the
    array's, or "ids" for the user's ids. length, dtype : of the array.
    """

    ndim = 1

    def __init__(self, address: str, digest: str, name: str, length: int, dtype: np.dtype[Any]) -> None:
        self._address, self._digest, self._name = address, digest, name
        self.shape, self.dtype = (length,), dtype

    def __getitem__(self, key: slice | tuple[slice]) -> np.ndarray:
        """The items of a slice. Raises StoreError, and TypeError for another key."""
        part = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        if not isinstance(part, slice):
            raise TypeError("a stored vector is read by slices")
        wanted = range(self.shape[0])[part]
        if not wanted:
            return np.empty(0, self.dtype)
        low, high = min(wanted[0], wanted[-1]), max(wanted[0], wanted[-1]) + 1
        items = self._read(low, high)
        return items[:: wanted.step] if wanted.step > 0 else items[::-1][:: -wanted.step]

    def _read(self, begin: int, stop: int) -> np.ndarray:
        with _OPENING:
            store = _opened(self._address, self._digest)
        if self._name != _IDS:
            return read_slice(store.array(self._name), begin, stop)
        out = np.empty(stop - begin, self.dtype)
        out[:] = store.user_ids(np.arange(begin, stop))
        return out

    def __repr__(self) -> str:
        return f"<{self._name} of {redacted(self._address)}: {self.dtype}[{self.shape[0]}]>"


@functools.cache
def _opened(address: str, digest: str) -> Store:
    """The store, opened once per process and kept open. Raises StoreError if it has been replaced."""
    from .store import open_store

    store = open_store(address)
    if store.digest != digest:
        store.close()
        raise StoreError("this is another store than the arrays were made from", path=store.path,
                         remedy="make the arrays again")
    return store


def dask_graph(store: Store, chunks: int | None = None) -> DaskGraph:
    """The arrays of `store`. Nothing is read yet.

    chunks : stored chunks in each chunk of dask, by default those of a shard. Raises InputError if dask is not
    installed or `chunks` is not positive.
    """
    try:
        from dask.array import from_array
    except ImportError:
        raise InputError("the arrays need dask, which is not installed", remedy="pip install 'emdiam[dask]'") from None
    if chunks is not None and operator.index(chunks) < 1:
        raise InputError("a chunk of dask has at least one chunk of the store", text=str(chunks))
    dtypes = {"indptr": store.indptr.dtype, "indices": store.id_dtype, _IDS: _id_dtype(store)}
    lengths = {"indptr": store.n_vertices + 1, "indices": store.n_arcs, _IDS: store.n_vertices}
    if store.weights is not None:
        dtypes["data"], lengths["data"] = store.weights.dtype, store.n_arcs

    def made(name: str) -> Array:
        array = store.indices if name in ("indices", "data") else store.indptr
        step = (chunks or array.shard_chunks) * array.chunk_items
        vector = StoredVector(store.address, store.digest, name, lengths[name], dtypes[name])
        # Named after the digest: equal stores give equal keys, and the keys do not reveal the address.
        return from_array(vector, chunks=(step,), name=f"emdiam-{name}-{store.digest}-{step}", asarray=False,
                          fancy=False, meta=np.empty(0, dtypes[name]))

    return DaskGraph(made("indptr"), made("indices"), made(_IDS), made("data") if "data" in dtypes else None)


def _id_dtype(store: Store) -> np.dtype[Any]:
    """dtype of the user's ids as an array."""
    kind = store.record.id_kind
    if kind == "string":
        return np.dtype(object)
    return store.array("vertex_id").dtype if kind == "int" else np.dtype(np.int64)
