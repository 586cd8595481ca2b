"""Graphs in HDF5, read by h5py in pieces: the neighbours of cells in AnnData (.h5ad, obsp/connectivities), and sparse
matrices of MATLAB 7.3.

Both are csr or csc (MATLAB: csc): two arrays, and values parallel to the second.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .base import FileSource
from .csr import ArrayStream, csr_batches
from .source import EdgeBatch, SourceInfo
from .weights import kind_of
from .whole import EXTRA

_PAIRS, _USUAL = "obsp", "connectivities"
_REMEDY = "write the graph as an edge list, or with scipy.sparse.save_npz"
_ARRAYS = ("indptr", "indices", "data")
_MATLAB = ("jc", "ir", "data")

# Prints the encoding of a group: csr_matrix or csc_matrix of AnnData, csr or csc of h5sparse.
_ENCODING = """import sys, h5py
with h5py.File(sys.argv[1]) as file:
    found = file[sys.argv[2]].attrs
    kind = found.get("encoding-type", found.get("h5sparse_format", "csr"))
    print(kind.decode() if isinstance(kind, bytes) else kind)"""
_SECONDS = 20

# Errors of h5py for damaged files.
_FAULTS = (OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError)
_DAMAGED = "the file is damaged", "fetch the file again"


class Hdf5Source(FileSource):
    """See the module. Vertex v is row and column v, from 0 on."""

    format = "hdf5"
    _consumed = 0
    _by_columns: bool | None = None

    def _open(self) -> Any:
        path = self._path_in_place("an HDF5 file", "HDF5 file")
        try:
            import h5py
        except ImportError as error:
            raise self.error("HDF5 files are read by h5py, which is not installed", remedy=EXTRA) from error
        with self._damage(_FAULTS, "this is no HDF5 file, or cut short", "fetch it again"):
            return h5py.File(path, "r")

    def _find(self, file: Any) -> tuple[Any, tuple[str, str, str], int]:
        """(group of the matrix, names of its arrays, n), and notes whether it is stored by columns. Raises InputError
        if there is no matrix."""
        groups = {name: group for name, group in self._pairs_of_cells(file) if self._has_rows(group)}
        if _USUAL in groups or len(groups) == 1:
            group = groups.get(_USUAL) or next(iter(groups.values()))
            if self._by_columns is None:
                self._by_columns = self.wishes.directed and self._is_csc(group)
            shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
            return group, _ARRAYS, self._side(shape)
        if groups:
            raise self.error(f"it has several graphs ({', '.join(groups)}) and none called {_USUAL}", remedy=_REMEDY)
        found = {name: group for name, group in file.items() if set(_MATLAB) >= set(group.keys() if hasattr(
            group, "keys") else ()) >= set(_MATLAB[:2])}
        if len(found) == 1:
            group = next(iter(found.values()))
            rows, self._by_columns = int(group.attrs.get("MATLAB_sparse", 0)), True
            return group, _MATLAB, self._side((rows, len(group["jc"]) - 1))
        raise self.error("this is an HDF5 file without a graph that is known: no obsp of AnnData, and not one sparse"
                         " matrix of MATLAB", remedy=_REMEDY)

    def _is_csc(self, group: Any) -> bool:
        """Whether the matrix is stored by columns, as an attribute says. A process of its own reads it, because HDF5
        does not return from some damaged texts. Raises InputError for these."""
        words = [sys.executable, "-c", _ENCODING, group.file.filename, group.name]
        try:
            return subprocess.run(words, capture_output=True, check=True, timeout=_SECONDS).stdout.startswith(b"csc")
        except subprocess.SubprocessError as error:
            raise self.error(_DAMAGED[0], remedy=_DAMAGED[1]) from error

    def _pairs_of_cells(self, file: Any) -> list[tuple[str, Any]]:
        return list(file[_PAIRS].items()) if _PAIRS in file and hasattr(file[_PAIRS], "items") else []

    def _has_rows(self, group: Any) -> bool:
        return hasattr(group, "keys") and set(_ARRAYS[:2]) <= set(group.keys())

    def _side(self, shape: Any) -> int:
        sides = [] if shape is None else [int(side) for side in np.asarray(shape).ravel()]
        if len(sides) != 2 or sides[0] != sides[1]:
            raise self.error(f"a matrix of shape {tuple(sides)} is not square, so no adjacency matrix", remedy=_REMEDY)
        return sides[0]

    def _read_info(self) -> SourceInfo:
        with self._open() as file, self._damage(_FAULTS, *_DAMAGED):
            group, names, n = self._find(file)
            entries = len(group[names[1]])
            if self.weights is not None:
                values = group.get(names[2])
                kind = None if values is None else kind_of(values.dtype)
                if kind is None or len(values) != entries:
                    raise self.no_weights("the matrix has no such values")
                self.weight_kind = kind
        return self._facts(n_vertices=n, n_entries=entries, directed=True, weights=self.weight_kind, adds_weights=True)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for damaged data and for indices outside n."""
        self._consumed = 0
        with self._open() as file:
            values, choice = None, self.weights
            with self._damage(_FAULTS, *_DAMAGED):
                group, names, n = self._find(file)
                offsets, neighbours = self._array(group, names[0]), self._array(group, names[1])
                if choice is not None:
                    values = self._array(group, names[2], "iufb")
                self.dropped = {"values": neighbours.length if values is None and names[2] in group else 0}
            if offsets.length != n + 1:
                raise self.error(f"{names[0]} has {offsets.length:,} items for {n:,} rows", remedy=_REMEDY)
            weigh = None if values is None or choice is None else lambda count: values.take_weights(count, choice)
            for batch in csr_batches(offsets, neighbours, batch_bytes, n, weigh):
                yield EdgeBatch(batch.dst, batch.src, batch.weights) if self._by_columns else batch

    def _array(self, group: Any, name: str, kinds: str = "iu") -> ArrayStream:
        """A one-dimensional array of numbers, read in pieces."""
        dataset = group[name]
        if len(dataset.shape) != 1 or dataset.dtype.kind not in kinds:
            raise self.error(f"{name} is {dataset.dtype}{list(dataset.shape)}, not a row of numbers", remedy=_REMEDY)
        return ArrayStream(self._reader(dataset, name), dataset.dtype, len(dataset), lambda what, index,
                           remedy="write it again": self.error(what, text=f"{name}[{index}]", remedy=remedy))

    def _reader(self, dataset: Any, name: str) -> Callable[[int], bytes]:
        at = 0

        def read(size: int) -> bytes:
            nonlocal at
            with self._damage(_FAULTS, f"{name} is damaged", "fetch the file again"):
                piece = dataset[at : at + max(1, size // dataset.dtype.itemsize)]
            at += len(piece)
            self._consumed += piece.nbytes
            return bytes(piece.tobytes())

        return read

    def position_bytes(self) -> int:
        """The bytes read so far, at most the size of the file."""
        return min(self._consumed, self.input.size_bytes or 0)
