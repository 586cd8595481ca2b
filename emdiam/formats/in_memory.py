"""Sources of edges for graphs in memory: matrices, arrays and graph objects (tables: objects.py).

Each source yields slices of the caller's graph, so that only about one batch is in memory beside it. Directions,
weights and multiplicities do not change hop distances; the conversion drops them, unless weights are wanted (argument
`weights`, a WeightChoice, of each source). Each stored entry of a matrix is an edge, also an explicit zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ..errors import InputError
from .arrays import MATRIX, ArrayEdges, Form
from .base import MAX_ID
from .look_ends import MISSING
from .python_columns import as_float, id_column, weight_column
from .source import EdgeBatch, SortedRows, SourceInfo, WithoutFile, matrix_note, pairs_per_batch
from .symmetry import Balance
from .weights import (
    FLOAT64,
    LARGEST_WHOLE,
    LEAST_WHOLE,
    WHOLE,
    WeightChoice,
    checked_weights,
    common_kind,
    kind_of,
)

_PIECE = 1 << 18  # entries of rows that are checked together
_OFFSETS = 1 << 14  # offsets of rows that are checked together
_STRING_SHARE = 8  # assumed size of a string with its offset, relative to int64


def _kept_kind(name: str, values: np.ndarray, weights: WeightChoice | None) -> str:
    """The kind of the weights in `values`, "" without `weights`. Raises InputError if they cannot be weights."""
    if weights is None:
        return ""
    if weights.column:
        raise InputError(f"{name} has no columns of weights to choose from", text=weights.column,
                         remedy="say weighted=True without a name; in emdiam.convert weights=True")
    kind = kind_of(values.dtype)
    if kind is None:
        raise InputError(f"the values of {name} are {values.dtype}, not weights",
                         remedy="give integers or floats, or leave weights out")
    return kind


def _refusal(begin: int, what: str, place: int, **more: str) -> InputError:
    """The error for the weight at position begin + place."""
    return InputError(f"{what}, at position {begin + place}", **more)  # type: ignore[arg-type]


class MatrixSource(WithoutFile):
    """The entries of a square scipy.sparse matrix or array; vertex v is row and column v. With two_sides any shape is
    valid, and column j is vertex (number of rows) + j.

    All formats are accepted. csr, csc and coo are read in place; others are converted to coo, which takes memory.
    Indices may be int32 or int64, sorted or not, with duplicates.
    """

    def __init__(self, matrix: Any, weights: WeightChoice | None = None, *, two_sides: bool = False) -> None:
        if len(matrix.shape) != 2 or (matrix.shape[0] != matrix.shape[1] and not two_sides):
            shape = " x ".join(map(str, matrix.shape))
            raise InputError(f"an adjacency matrix must be square, this one is {shape}",
                             remedy="give a square one, or take rows and columns as two sides with --bipartite")
        self._behind = int(matrix.shape[0]) if two_sides else 0
        self.name = f"scipy.sparse {matrix.format}"
        self._matrix = matrix if matrix.format in ("csr", "csc", "coo") else matrix.tocoo()
        if matrix.format == "bsr":  # its zeros only fill blocks
            self._matrix.eliminate_zeros()
        self._weights, self._kind = weights, _kept_kind(self.name, self._matrix.data, weights)
        self._check_arrays()

    def _check_arrays(self) -> None:
        """Raise InputError for arrays that are no sparse matrix, which scipy does not check."""
        one = self._matrix
        if one.format == "coo":
            fine = len(one.row) == len(one.col) == len(one.data)
        else:
            starts, major = one.indptr, one.shape[one.format == "csc"]
            fine = len(starts) == major + 1 and starts[0] == 0 and starts[-1] <= min(map(len, (one.indices, one.data)))
            fine = fine and all((np.diff(starts[begin : begin + _OFFSETS + 1]) >= 0).all()
                                for begin in range(0, len(starts), _OFFSETS))
        if not fine:
            raise InputError(f"the arrays of the {self.name} matrix are damaged: offsets fall or go beyond the entries,"
                             " or lengths differ", remedy="make it again, as by scipy.sparse.csr_array(dense)")

    def info(self) -> SourceInfo:
        """The facts. The shape declares n: rows without an entry are isolated vertices."""
        values = 0 if self._matrix.dtype.kind == "b" or self._kind else self._n_entries()
        rows, columns = self._matrix.shape
        return SourceInfo(n_vertices=self._behind + int(columns), n_entries=self._n_entries(), directed=True,
                          notes=(matrix_note(rows, columns),) if self._behind else (), format="scipy.sparse",
                          adds_weights=True,
                          dropped={"values": values} if values else {}, weights=self._kind)

    def rows(self) -> SortedRows | None:
        """The rows of a symmetric csr or csc matrix with sorted indices and no duplicates; None for others."""
        matrix = self._matrix
        if self._behind or self._weights is not None or matrix.format == "coo":
            return None
        return _sorted_rows(matrix.indptr, matrix.indices[: int(matrix.indptr[-1])])

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Entries in storage order, int64 [k] each. Raises InputError for an invalid index array."""
        matrix, n_entries, step = self._matrix, self._n_entries(), pairs_per_batch(batch_bytes)
        for begin in range(0, n_entries, step):
            end = min(begin + step, n_entries)
            if matrix.format == "coo":
                major, minor = (ids[begin:end].astype(np.int64) for ids in (matrix.row, matrix.col))
            else:
                major = _major_indices(matrix.indptr, begin, end)
                minor = matrix.indices[begin:end].astype(np.int64)
            weights = None if self._weights is None else checked_weights(
                np.asarray(matrix.data[begin:end]), self._weights, partial(_refusal, begin))
            src, dst = (minor, major) if matrix.format == "csc" else (major, minor)
            yield EdgeBatch(src, dst + self._behind, weights)

    def _n_entries(self) -> int:
        # Not nnz, which is smaller than the arrays of a matrix with spare room.
        matrix = self._matrix
        return len(matrix.row) if matrix.format == "coo" else int(matrix.indptr[-1])


def _major_indices(indptr: np.ndarray, begin: int, end: int) -> np.ndarray:
    """The row of each entry begin..end-1 of a matrix with offsets `indptr`, int64 [end - begin]."""
    first = int(np.searchsorted(indptr, begin, side="right")) - 1
    stop = int(np.searchsorted(indptr, end, side="left"))
    lengths = np.diff(np.clip(indptr[first:stop + 1], begin, end))
    return np.repeat(np.arange(first, stop, dtype=np.int64), lengths)


def _sorted_rows(starts: np.ndarray, ids: np.ndarray, n_pairs: int | None = None) -> SortedRows | None:
    """SortedRows if the arrays are sorted symmetric rows, else None (the general path then builds rows or reports
    errors). n_pairs : number of pairs of a source with one for each edge; None: one for each entry."""
    n, degrees = len(starts) - 1, np.diff(starts)
    if ids.dtype.kind not in "iu" or starts[0] != 0 or (degrees < 0).any() or starts[-1] != len(ids):
        return None
    loops, balance, last = [np.empty(0, np.int64)], Balance(), (-1, -1)
    for begin in range(0, len(ids), _PIECE):
        part = ids[begin : begin + _PIECE]
        major = _major_indices(starts, begin, begin + len(part))
        if part.min() < 0 or part.max() >= n or not np.all((part[1:] > part[:-1]) | (major[1:] > major[:-1])):
            return None
        if last[0] == major[0] and last[1] >= part[0]:
            return None
        last = int(major[-1]), int(part[-1])
        loops.append(np.flatnonzero(part == major) + begin)
        if len(ids) <= _PIECE:  # without a kernel: the arcs sorted by head are the reversed arcs sorted by tail
            turned = np.argsort(part, kind="stable")
            if not np.array_equal(part[turned], major) or not np.array_equal(major[turned], part):
                return None
        else:
            balance.add(major, part.astype(np.int64))
    if not balance.symmetric:
        return None
    places = np.concatenate(loops)
    n_edges = (len(ids) - len(places)) // 2
    return SortedRows(starts, ids, places, *((len(ids), n_edges) if n_pairs is None else (n_pairs, 0)))


class DenseSource(WithoutFile):
    """The nonzero values of a square array; vertex v is row and column v. With two_sides any shape is valid, and column
    j is vertex (number of rows) + j. An array that is neither C nor Fortran contiguous is copied."""

    name = "a matrix"

    def __init__(self, matrix: np.ndarray, weights: WeightChoice | None = None, *, two_sides: bool = False) -> None:
        self._kind, by_columns = _kept_kind(self.name, matrix, weights), matrix.flags.f_contiguous
        flat = (matrix.T if by_columns else np.ascontiguousarray(matrix)).reshape(-1)
        self._shape, self._behind, self._dropped = matrix.shape, len(matrix) if two_sides else 0, dict[str, int]()
        rows, columns = matrix.shape

        def read(begin: int) -> Callable[[int], np.ndarray]:
            pieces = {"at": begin}

            def take(count: int) -> np.ndarray:
                pieces["at"] += count
                return flat[pieces["at"] - count : pieces["at"]]

            return take

        def refuse(what: str, place: int, **more: Any) -> InputError:
            return InputError(f"{what}, in row {place % rows if by_columns else place // columns}", **more)

        self._edges = ArrayEdges(Form(MATRIX), matrix.shape, by_columns, read, weights, refuse)

    def info(self) -> SourceInfo:
        """The facts. The shape declares n: rows without an entry are isolated vertices."""
        return SourceInfo(n_vertices=self._behind + self._shape[1], directed=True, format=self.name, weights=self._kind,
                          notes=(matrix_note(*self._shape),) if self._behind else (), dropped=self._dropped)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Entries in storage order. Raises InputError for a value that is not finite."""
        self._edges.n_values = 0
        for batch in self._edges.batches(batch_bytes):
            yield replace(batch, dst=batch.dst + self._behind) if self._behind else batch
        self._dropped = {"values": self._edges.n_values} if self._edges.n_values else {}


class NamedMatrixSource(DenseSource):
    """The nonzero values of a square array whose rows and columns have the same names in the same order; the names are
    the ids of vertices. Raises InputError for names that cannot be ids."""

    name = "a matrix of names"

    def __init__(self, matrix: np.ndarray, names: Sequence[Any], weights: WeightChoice | None = None) -> None:
        ids = _ids_of_labels(names)
        if ids is None:
            raise InputError("rows and columns have names that can be no ids", path=self.name,
                             remedy="call them by whole numbers or by strings, all different")
        self._ids, place = _in_order(ids)
        order = np.argsort(place)
        super().__init__(matrix[np.ix_(order, order)], weights)

    def info(self) -> SourceInfo:
        """The facts of a matrix, with the ids of its vertices."""
        return replace(super().info(), labels=self._ids)


class ArraySource(WithoutFile):
    """Pairs (src[i], dst[i]) of two arrays of integers or of strings, of equal length. The vertices are the ids that
    occur, so gaps in the ids are no vertices. values : weights of the pairs, [k], if weights are wanted."""

    name = "arrays"

    def __init__(self, src: Any, dst: Any, values: Any = None, *, weights: WeightChoice | None = None) -> None:
        self._src, self._dst = id_column(src, "src"), id_column(dst, "dst")
        self._weights, self._values = weights, weight_column(() if values is None else values)
        self._kind = _kept_kind(self.name, self._values, weights)
        if weights is not None and self._values.shape != self._src.shape:
            raise InputError(f"src has {len(self._src):,} ids and there are weights of shape {self._values.shape}",
                             remedy="give a tuple (src, dst, weights) of arrays of equal length")
        if len(self._src) != len(self._dst):
            raise InputError(f"src has {len(self._src):,} ids and dst has {len(self._dst):,}",
                             remedy="give two arrays of equal length")
        self._strings = self._src.dtype.kind in "UOT"
        if self._strings != (self._dst.dtype.kind in "UOT"):
            raise InputError(f"{'src' if self._strings else 'dst'} holds strings, and the other integers",
                             remedy="give integers in both or strings in both")

    def info(self) -> SourceInfo:
        """The facts, without n."""
        return SourceInfo(n_entries=len(self._src), directed=True,
                          id_kind="string" if self._strings else "int", format="arrays", weights=self._kind)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Slices as int64 or uint64 [k], or as pyarrow string arrays. Raises InputError for a negative id, or for an
        entry that is no string."""
        step = pairs_per_batch(batch_bytes // (_STRING_SHARE if self._strings else 1))
        checked = _arrow_strings if self._strings else _natural_numbers
        for begin in range(0, len(self._src), step):
            src, dst = (checked(ids[begin:begin + step], begin) for ids in (self._src, self._dst))
            yield EdgeBatch(src, dst, None if self._weights is None else checked_weights(
                self._values[begin:begin + step], self._weights, partial(_refusal, begin)))


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
        if not value or value in MISSING:
            raise InputError(f"the id at position {place} is {value or 'empty'}, as programs write for a missing one",
                             remedy="leave such pairs out, or give a dict of lists if a vertex is called so")
        if not _is_utf8(value):
            raise InputError(f"the id at position {place} is no text that UTF-8 has", text=repr(value),
                             remedy="give the name in other letters")
    return pa.array(ids.tolist(), type=pa.string())


class NodesSource(WithoutFile):
    """The edges of a graph object whose vertices are nodes with names.

    kind : name of the library. nodes : the vertices as they occur in edges; range(n) for numbers. edges : returns an
    iterator of (node, node) or (node, node, attributes); edges with non-empty attributes are counted. If weights are
    wanted, the iterator yields (node, node, weight), with None for a missing weight. labels : names of the vertices, in
    the order of `nodes`; default: the nodes. If the labels are all natural numbers or all strings, and all different,
    they become the ids of the store, and its vertices are sorted by id. Otherwise the ids are their texts; then the
    attribute `labels` has the label of each id (else None), and `renamed` says so. If labels or texts occur twice, the
    ids are numbers in the order of `nodes`. The numbering needs a dict of n entries.

    The attribute `neighbours` may be set to a function that returns, for each node, a mapping from its neighbours to
    the attributes of the edges.
    """

    def __init__(self, kind: str, nodes: Sequence[Any], edges: Callable[[], Iterable[Sequence[Any]]], n_edges: int,
                 directed: bool, labels: Sequence[Any] | None = None, weights: WeightChoice | None = None) -> None:
        self.neighbours: Callable[[], Iterable[Mapping[Any, Any]]] | None = None
        self._weights, self._kind = weights, "" if weights is None else WHOLE
        self._weight_name = "" if weights is None else weights.column
        self.name, self._edges, self._n_edges, self._directed = kind, edges, n_edges, directed
        self._number = None if isinstance(nodes, range) else {node: i for i, node in enumerate(nodes)}
        labels = nodes if labels is None else labels
        ids = None if isinstance(labels, range) else _ids_of_labels(labels)
        self._ids: Any = None
        self._place: np.ndarray | None = None
        self.labels: Mapping[Any, Any] | None = None
        self.renamed = ""
        if ids is None and not isinstance(labels, range):
            ids = self._texts(labels)
        if ids is not None:
            self._ids, self._place = _in_order(ids)
        self._n, self._dropped = len(nodes), dict[str, int]()

    def _texts(self, labels: Sequence[Any]) -> np.ndarray | None:
        """The texts of labels that are no ids, object[n]; None if labels or texts occur twice."""
        texts = (_ids_of_labels(list(map(write, labels))) for write in (str, repr))
        ids = next((some for some in texts if some is not None), None)
        try:
            twice = len(set(labels)) < len(labels)
        except TypeError:  # labels without a hash
            twice = True
        if ids is None or twice:
            self.renamed = ("names of vertices occur twice, or are the same as texts: the ids are numbers from 0 on, in"
                            f" the order of the graph of {self.name}")
            self.labels = None if self._number is None else dict(enumerate(labels))
            return None
        self.renamed = f"names are not all natural numbers, nor all strings: the ids are their texts, such as {ids[0]}"
        self.labels = dict(zip(ids.tolist(), labels, strict=True))
        return ids

    def info(self) -> SourceInfo:
        """The facts. n is declared: nodes without an edge are isolated vertices."""
        return SourceInfo(n_vertices=self._n, n_entries=self._n_edges, directed=self._directed, format=self.name,
                          dropped=self._dropped, labels=self._ids, weights=self._kind, weight_name=self._weight_name,
                          notes=(self.renamed,) if self.renamed else ())

    def rows(self) -> SortedRows | None:
        """The rows of a small undirected graph; None for others. The rows of a large graph would take more memory than
        a batch."""
        if self.neighbours is None or self._weights is not None or self._directed or 2 * self._n_edges > _PIECE:
            return None
        lists = list(self.neighbours())
        heads = chain.from_iterable(lists)
        ids = np.fromiter(heads if self._number is None else map(self._number.__getitem__, heads), np.int64)
        degrees = np.fromiter(map(len, lists), np.int64, self._n)
        tails = np.repeat(np.arange(self._n), degrees)
        if self._place is not None:
            ids, tails = self._place[ids], self._place[tails]
        order = np.lexsort((ids, tails))
        starts = np.searchsorted(tails[order], np.arange(self._n + 1))
        found = _sorted_rows(starts, ids[order], self._n_edges)
        if found is None or len(ids) + len(found.loops) != 2 * self._n_edges:
            return None
        named = list(map(bool, chain.from_iterable(row.values() for row in lists)))
        of_loops = sum(map(named.__getitem__, order[found.loops].tolist()))
        attributed = (sum(named) + of_loops) // 2
        self._dropped = {"edges with attributes": attributed} if attributed else {}
        return found

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """Edges as int64 [k] vertex numbers. Raises InputError for an invalid weight."""
        number, attributed, begin, edges = self._number, 0, 0, iter(self._edges())
        kinds: set[str] = set()
        self._large: int | None = None
        while some := list(islice(edges, pairs_per_batch(batch_bytes))):
            weights = None
            if self._weights is None:
                attributed += sum(len(edge) > 2 and bool(edge[2]) for edge in some)
            else:
                weights = self._weighed([edge[2] for edge in some], begin, kinds)
            begin += len(some)
            ends = (end for edge in some for end in edge[:2])
            both = np.fromiter(ends if number is None else map(number.__getitem__, ends), np.int64, 2 * len(some))
            both = both if self._place is None else self._place[both]
            yield EdgeBatch(np.ascontiguousarray(both[::2]), np.ascontiguousarray(both[1::2]), weights)
        self._kind = common_kind(kinds) or self._kind
        if self._kind == WHOLE and self._large is not None:
            least = LEAST_WHOLE if self._weights is not None and self._weights.negative else 0
            raise InputError(f"the weight of edge number {self._large} is outside {least}..{LARGEST_WHOLE}",
                             remedy="scale the weights down, or give them as floats")
        self._dropped = {"edges with attributes": attributed} if attributed else {}

    def _weighed(self, values: list[Any], begin: int, kinds: set[str]) -> np.ndarray:
        """The weights of the edges from number `begin` on; adds their kinds to `kinds`. Raises InputError."""
        assert self._weights is not None
        for place, value in enumerate(values):
            if value is None:
                what = f"attribute {self._weight_name}" if self._weight_name else "weight"
                raise InputError(f"edge number {begin + place} of {self.name} has no {what}",
                                 remedy="give every edge one, or name the attribute that has the weights")
            if not isinstance(value, int | float | Decimal | np.integer | np.floating) or isinstance(value, bool):
                raise InputError(f"the weight of edge number {begin + place} is no number", text=repr(value),
                                 remedy="weights are integers, floats or decimals")
        floats = checked_weights(np.array(list(map(as_float, values))), self._weights, partial(_refusal, begin))
        long = [place for place, value in enumerate(values) if _is_long(value)]
        weights = self._weights.digits.taken(floats, long, [str(values[place]) for place in long])
        whole = np.array([isinstance(value, int | np.integer) for value in values])
        kinds |= ({WHOLE} if whole.any() else set()) | (set() if whole.all() else {FLOAT64})
        large = np.flatnonzero(whole & ((floats < LEAST_WHOLE) | (floats > LARGEST_WHOLE)))
        if len(large) and self._large is None:
            self._large = begin + int(large[0])
        return weights


def _is_long(value: Any) -> bool:
    """Whether the value may differ from the nearest float64."""
    if isinstance(value, int | np.integer):
        return abs(int(value)) > 1 << 53
    return isinstance(value, Decimal | np.longdouble)


def _ids_of_labels(labels: Sequence[Any]) -> np.ndarray | None:
    """The labels as int64[n], or as object[n] of strings; None if they cannot be ids of a store."""
    whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in set(map(type, labels)))
    if whole and min(labels, default=0) >= 0 and max(labels, default=0) <= MAX_ID:
        ids = np.array(labels, np.int64)
    elif all(map(_is_utf8, labels)):
        ids = np.array(labels, object)
    else:
        return None
    return ids if len(set(labels)) == len(labels) else None


def _is_utf8(label: Any) -> bool:
    """Whether the label is a string that UTF-8 can encode."""
    try:
        return isinstance(label, str) and label.encode() is not None
    except UnicodeEncodeError:
        return False


def _in_order(ids: np.ndarray) -> tuple[Any, np.ndarray]:
    """(ids in increasing order, int64[n] or a pyarrow string array; the place of each id in it, int64[n]).

    Strings are ordered by code points, which is the order of their UTF-8 bytes."""
    order = np.argsort(ids, kind="stable")
    place = np.empty(len(ids), np.int64)
    place[order] = np.arange(len(ids))
    if ids.dtype.kind != "O":
        return ids[order], place
    import pyarrow as pa

    return pa.array(ids[order].tolist(), pa.string()), place


