"""Graphs that are in memory already as sources of edges: scipy matrices, arrays, networkx graphs.

Each source yields slices of what the caller holds, so that beyond the graph itself about one
batch is in memory. Directions, weights and multiplicities say nothing about hop distances and
are dropped by the conversion; every stored entry of a matrix is an edge, explicit zeros too.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InputError
from .source import EdgeBatch, EdgeSource, SourceInfo, WithoutFile, pairs_per_batch

_STRING_SHARE = 8  # strings are taken to be this much larger than int64, with their offsets


class MatrixSource(WithoutFile):
    """The entries of a square scipy.sparse matrix or array; vertex v is row and column v.

    Every format is taken; csr, csc and coo are read in place, the others are turned into coo,
    which costs their caller memory. Indices may be int32 or int64, sorted or not, with duplicates.
    """

    def __init__(self, matrix: Any) -> None:
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            shape = " x ".join(map(str, matrix.shape))
            raise InputError(f"an adjacency matrix must be square, this one is {shape}")
        self.name = f"scipy.sparse {matrix.format}"
        self._matrix = matrix if matrix.format in ("csr", "csc", "coo") else matrix.tocoo()

    def info(self) -> SourceInfo:
        """n is declared by the shape: rows without an entry are isolated vertices."""
        values = 0 if self._matrix.dtype.kind == "b" else self._n_entries()
        return SourceInfo(n_vertices=int(self._matrix.shape[0]), n_entries=self._n_entries(),
                          directed=True, format="scipy.sparse", dropped={"values": values} if values else {})

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Entries in storage order, int64 [k] each. Raises InputError for an index array that is no valid one."""
        matrix, n_entries, step = self._matrix, self._n_entries(), pairs_per_batch(batch_bytes)
        for begin in range(0, n_entries, step):
            end = min(begin + step, n_entries)
            if matrix.format == "coo":
                major, minor = (ids[begin:end].astype(np.int64) for ids in (matrix.row, matrix.col))
            else:
                major = _major_indices(matrix.indptr, begin, end)
                minor = matrix.indices[begin:end].astype(np.int64)
            yield EdgeBatch(minor, major) if matrix.format == "csc" else EdgeBatch(major, minor)

    def _n_entries(self) -> int:
        # nnz of a matrix with spare room is smaller than its arrays, so it is not asked.
        matrix = self._matrix
        return len(matrix.row) if matrix.format == "coo" else int(matrix.indptr[-1])


def _major_indices(indptr: np.ndarray, begin: int, end: int) -> np.ndarray:
    """int64 [end - begin]: the row of each entry begin..end-1 of a matrix with offsets `indptr`."""
    first = int(np.searchsorted(indptr, begin, side="right")) - 1
    stop = int(np.searchsorted(indptr, end, side="left"))
    lengths = np.diff(np.clip(indptr[first:stop + 1], begin, end))
    return np.repeat(np.arange(first, stop, dtype=np.int64), lengths)


class ArraySource(WithoutFile):
    """Pairs (src[i], dst[i]) of two equally long arrays of integers or of strings; the vertices
    are the ids that occur, so that gaps in the ids make no vertices."""

    name = "arrays"

    def __init__(self, src: Any, dst: Any) -> None:
        self._src, self._dst = _id_array(src, "src"), _id_array(dst, "dst")
        if len(self._src) != len(self._dst):
            raise InputError(f"src has {len(self._src)} ids and dst has {len(self._dst)}",
                             remedy="give two arrays of equal length")
        self._strings = self._src.dtype.kind in "UOT"
        if self._strings != (self._dst.dtype.kind in "UOT"):
            raise InputError(f"src holds {self._src.dtype} and dst {self._dst.dtype}",
                             remedy="give integers in both or strings in both")

    def info(self) -> SourceInfo:
        """No n is declared."""
        return SourceInfo(n_entries=len(self._src), directed=True,
                          id_kind="string" if self._strings else "int", format="arrays")

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Slices as int64 or uint64 [k], or as pyarrow string arrays. Raises InputError for a
        negative id or an entry that is no string."""
        step = pairs_per_batch(batch_bytes // (_STRING_SHARE if self._strings else 1))
        checked = _arrow_strings if self._strings else _natural_numbers
        for begin in range(0, len(self._src), step):
            yield EdgeBatch(*(checked(ids[begin:begin + step], begin) for ids in (self._src, self._dst)))


def _id_array(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} has {array.ndim} dimensions",
                         remedy="give one-dimensional arrays, as in (edges[:, 0], edges[:, 1])")
    if len(array) and array.dtype.kind not in "iuUOT":
        raise InputError(f"{name} holds {array.dtype}, not ids", remedy="give integers or strings")
    return array if len(array) else array.astype(np.int64)


def _natural_numbers(ids: np.ndarray, begin: int) -> np.ndarray:
    if ids.dtype.kind == "i" and len(ids) and int(ids.min()) < 0:
        place = int(np.argmax(ids < 0))
        raise InputError(f"the id at position {begin + place} is negative", text=str(ids[place]),
                         remedy="ids are natural numbers or strings")
    return ids.astype(np.uint64 if ids.dtype == np.uint64 else np.int64)


def _arrow_strings(ids: np.ndarray, begin: int) -> Any:
    import pyarrow as pa

    for place, value in enumerate(ids.tolist(), start=begin):
        if not isinstance(value, str):
            raise InputError(f"the id at position {place} is no string", text=repr(value),
                             remedy="give integers in both arrays or strings in both")
    return pa.array(ids.tolist(), type=pa.string())


class NetworkxSource(WithoutFile):
    """The edges of a networkx graph of any kind; vertex i is the i-th node of the graph.

    labels : the nodes in that order. Beside the graph, the numbering costs a dict of n entries.
    """

    name = "networkx"

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.labels: Sequence[Hashable] = list(graph)
        self._number = {node: i for i, node in enumerate(self.labels)}
        self._dropped: dict[str, int] = {}

    def info(self) -> SourceInfo:
        """n is declared: nodes without an edge are isolated vertices."""
        return SourceInfo(n_vertices=len(self.labels), n_entries=self._graph.number_of_edges(),
                          directed=bool(self._graph.is_directed()), format="networkx", dropped=self._dropped)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Edges as int64 [k] node numbers."""
        number, attributed = self._number, 0
        edges = iter(self._graph.edges(data=True))
        while some := list(islice(edges, pairs_per_batch(batch_bytes))):
            attributed += sum(bool(attributes) for _, _, attributes in some)
            both = np.array([(number[u], number[v]) for u, v, _ in some], dtype=np.int64)
            yield EdgeBatch(np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1]))
        self._dropped = {"edges with attributes": attributed} if attributed else {}


def as_source(graph: Any) -> EdgeSource:
    """The source for a graph in memory: a scipy.sparse matrix, a tuple (src, dst) of arrays, a list of pairs or an
    array of two columns, or a networkx graph. Raises InputError for anything else."""
    sparse, networkx = sys.modules.get("scipy.sparse"), sys.modules.get("networkx")
    # A graph of a package that nobody has imported cannot exist, so none is imported to look.
    if sparse is not None and sparse.issparse(graph):
        return MatrixSource(graph)
    if networkx is not None and isinstance(graph, networkx.Graph):
        return NetworkxSource(graph)
    if isinstance(graph, tuple) and len(graph) == 2:
        return ArraySource(*graph)
    # A list is one of pairs even where it has two of them; only a tuple tells sources from targets.
    if isinstance(graph, list | np.ndarray):
        return ArraySource(*_columns(graph))
    raise InputError(
        f"{type(graph).__module__}.{type(graph).__qualname__} is not a kind of graph that emdiam knows",
        remedy="give a store, its path, a scipy.sparse matrix, a tuple (src, dst) of arrays, a list of pairs"
               " or a networkx graph")


def _columns(edges: list[Any] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sources and targets of a list of pairs or an array [m, 2]. Raises InputError for another shape."""
    if isinstance(edges, list):
        _check_pairs(edges)
    array = np.asarray(edges)
    if not len(edges):
        array = np.empty((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"edges are pairs of ids, but this array has the shape {array.shape}",
                         remedy="give a list of pairs, an array with two columns, or a tuple (src, dst)")
    return array[:, 0], array[:, 1]


def _check_pairs(edges: list[Any]) -> None:
    """Raise InputError unless every entry has two ids, all of them strings or none: NumPy would turn a number among
    strings into one."""
    strings = bool(edges) and isinstance(edges[0], tuple | list) and any(isinstance(end, str) for end in edges[0])
    for place, edge in enumerate(edges):
        if not isinstance(edge, tuple | list | np.ndarray) or len(edge) != 2:
            raise InputError(f"the entry at position {place} is no pair of ids", text=repr(edge),
                             remedy="give a list of pairs, or a tuple (src, dst) of two arrays")
        if any(isinstance(end, str) != strings for end in edge):
            raise InputError(f"the pair at position {place} has an id of another kind", text=repr(edge),
                             remedy="give integers in all pairs or strings in all")
