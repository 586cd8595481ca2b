"""Edges in one two-dimensional array: its meaning from its shape, and its pairs, read in order.

    (E, 2)   a pair in each row; (E, 3) with a weight after it
    (E, k)   a pair in each row, in the columns that the user names
    (2, E)   sources above targets, the edge_index of PyTorch Geometric
    (n, n)   an adjacency matrix; each nonzero value is an edge
    (r, c)   a bipartite matrix whose rows and columns have separate ids, if the user says so

If two of these are possible (2 x 2, 2 x 3, 3 x 3) the values decide; if they do not, the array is refused.

Ids in columns of numbers: equal whole numbers of different types are the same vertex.

1, 1.0 and 1e0 are one id. Floats from 2^53 on are no ids, since they cannot represent all whole numbers. Texts with
leading zeros ("007") are names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..errors import InputError
from .source import EdgeBatch, Wishes, pairs_per_batch
from .weights import WeightChoice, checked_weights, kind_of

MATRIX, PAIRS, INDEX = "matrix", "pairs", "index"
"""What an array can be: an adjacency matrix, a pair a row, or sources above targets."""

_SHAPES = ("give an array of shape (E, 2) or (2, E), a square matrix, or say which two columns have the ends, as in"
           " --columns 1,3")
_TRIPLES = "triples"
_FEW_ROWS = 8  # a square array with at most this number may be edges
IN_FILES = {PAIRS: "--columns 1,2", _TRIPLES: "--columns 1,2",
            INDEX: "edge_index=a by numpy.savez", MATRIX: "a sparse matrix by scipy.sparse.save_npz"}
IN_MEMORY = {PAIRS: "a tuple (a[:, 0], a[:, 1]), or to convert columns=(1, 2)",
             _TRIPLES: "a tuple (a[:, 0], a[:, 1], a[:, 2]) with weighted=True, or to convert columns=(1, 2)",
             INDEX: "a tuple (a[0], a[1])", MATRIX: "scipy.sparse.csr_array(a)"}
IN_TABLE = {**IN_MEMORY, "": "of a = table.to_numpy()"}
IN_MATLAB = {PAIRS: "a text file of them", _TRIPLES: "a text file of them", INDEX: "a text file of them",
             MATRIX: "sparse(a)"}
"""How an array a that may be several graphs is given as each of them, in files, in Python, in a table, in MATLAB."""

Refuse = Callable[..., InputError]
"""(what, remedy=..., text=...) -> the error of the array."""


@dataclass(frozen=True)
class Form:
    """The meaning of an array. kind : MATRIX, PAIRS or INDEX. places : for PAIRS the columns, for INDEX the rows, with
    sources, targets and optionally weights."""

    kind: str
    places: tuple[int, ...] = ()


def form_of_array(shape: tuple[int, ...], small: Callable[[], Any], refuse: Refuse, wishes: Wishes,
                  name: str = "") -> Form:
    """The Form of an array in a file, from its shape and the user's settings.

    Parameters
    ----------
    shape, small, refuse, name : see kind_of_array.
    wishes : Wishes
        With columns: the array has a pair in each row. Else with bipartite: a matrix may have different numbers of rows
        and columns.

    Raises
    ------
    InputError
        As kind_of_array, and for missing columns of ends or weights.
    """
    column = "" if wishes.weights is None else wishes.weights.column
    if wishes.columns is not None:
        return Form(PAIRS, chosen_places(shape, wishes.columns, wishes.weights, refuse))
    kind = kind_of_two_sides(shape, refuse, name) if wishes.bipartite else kind_of_array(shape, small, refuse, name)
    if kind == PAIRS and column:
        return Form(PAIRS, chosen_places(shape, ("1", "2"), wishes.weights, refuse))
    if column:
        raise refuse("the array has no columns of weights to choose from", text=column,
                     remedy="give --weights alone")
    has_weights = kind == PAIRS and shape[1] == 3 and wishes.weights is not None
    return Form(kind, () if kind == MATRIX else (0, 1, 2) if has_weights else (0, 1))


def chosen_places(shape: tuple[int, ...], columns: tuple[str, str], weights: WeightChoice | None,
                  refuse: Refuse) -> tuple[int, ...]:
    """The places, from 0 on, of the columns of the ends, and of the weights (the named column, or the only other one).

    columns : numbers from 1 on. Raises InputError for a missing column."""
    width = shape[1] if len(shape) == 2 else 0
    wanted = [*columns, *([weights.column] if weights is not None and weights.column else [])]
    places = [int(number) - 1 if number.isdecimal() and len(number) < 10 else -1 for number in wanted]
    if len(set(places)) < len(places) or not all(0 <= place < width for place in places):
        raise refuse(f"an array of shape {shape} has no such columns", text=",".join(wanted),
                     remedy=f"give numbers of its columns, from 1 to {width}, as in --columns 1,2")
    others = [place for place in range(width) if place not in places]
    if weights is not None and len(places) == len(columns):
        if len(others) != 1:
            raise refuse(f"an array of shape {shape} has not one column of weights beside the ids",
                         remedy="give its number, as in --weights=3")
        places += others
    return tuple(places)


def kind_of_two_sides(shape: tuple[int, ...], refuse: Refuse, name: str = "",
                      forms: Mapping[str, str] = IN_FILES) -> str:
    """The kind of a bipartite array: MATRIX or INDEX. Parameters as in kind_of_array. Raises InputError if it may be a
    list of edges."""
    if len(shape) == 2 and name == "edge_index" and shape[0] == 2:
        return INDEX
    if len(shape) == 2 and 2 not in shape and shape[1] != 3:
        return MATRIX
    raise refuse(f"an array of shape {shape} may be a list of edges between two sides, or the matrix of both",
                 remedy="for a pair a row say --columns 1,2; " + _either(forms, INDEX, MATRIX))


def kind_of_array(shape: tuple[int, ...], small: Callable[[], Any], refuse: Refuse, name: str = "",
                  forms: Mapping[str, str] = IN_FILES) -> str:
    """The kind of an array of this shape: MATRIX, PAIRS or INDEX.

    Parameters
    ----------
    shape : tuple of int
        Its shape.
    small : callable
        Returns the array itself; called only if it has at most 64 values.
    refuse : callable
        Creates the error.
    name : str
        The array's name, if it has one: edge_index has sources above targets.
    forms : mapping
        IN_FILES or IN_MEMORY, for the remedy.

    Raises
    ------
    InputError
        For other shapes, and for small arrays whose values do not decide.
    """
    if len(shape) != 2:
        raise refuse(f"an array of shape {shape} is no list of edges and no matrix", remedy=_SHAPES)
    rows, columns = shape
    if name == "edge_index" and rows == 2:
        return INDEX
    if rows == columns and rows not in (2, 3):
        if rows <= _FEW_ROWS and not _is_certain_matrix(np.asarray(small())):
            raise refuse(f"an array of {rows} x {rows} may be a matrix with weights, or edges with further columns",
                         remedy=_either(forms, MATRIX, _TRIPLES))
        return MATRIX
    if rows == columns:
        return _kind_of_small(np.asarray(small()), refuse, forms)
    if (rows, columns) == (2, 3):
        if np.array_equal(values := np.asarray(small()), np.floor(values)):
            raise refuse("an array of 2 x 3 may be two edges with weights by rows, or three edges by columns",
                         remedy=_either(forms, _TRIPLES, INDEX))
        return PAIRS
    if columns in (2, 3):
        return PAIRS
    if rows == 2:
        return INDEX
    raise refuse(f"an array of shape {shape} is no list of edges and no square matrix", remedy=_SHAPES)


def kind_of_texts(values: Any, refuse: Refuse) -> str:
    """The kind of an array of texts or objects: PAIRS or INDEX. Raises InputError for other shapes, and if both are
    possible and are other edges."""
    shape = values.shape
    if len(shape) != 2 or 2 not in shape:
        if len(shape) == 2 and shape[1] == 3 != shape[0]:  # with weights
            return PAIRS
        raise refuse(f"an array of texts of shape {shape} is no list of edges", remedy="give two columns, or a tuple"
                     " (a[:, 0], a[:, 1]) of those of the ends")
    if shape == (2, 3) or (shape == (2, 2) and _arcs(values) != _arcs(values.T)):
        raise refuse(f"an array of {shape[0]} x {shape[1]} texts may be edges by rows, or by columns",
                     remedy=_either(IN_MEMORY, PAIRS, INDEX))
    return PAIRS if shape[1] == 2 else INDEX


def _either(forms: Mapping[str, str], *kinds: str) -> str:
    """The remedy with all readings of an array a."""
    called = {PAIRS: "two edges by rows", _TRIPLES: "edges with weights", INDEX: "edges by columns",
              MATRIX: "a matrix"}
    readings = "; ".join(f"for {called[kind]} {forms[kind]}" for kind in kinds)
    return f"{forms.get('', 'of this array a')}, give {readings}"


def _kind_of_small(values: Any, refuse: Refuse, forms: Mapping[str, str]) -> str:
    """The kind of a 2 x 2 or 3 x 3 array. A matrix has only 0 and 1 (other values are ids or weights), or is 2 x 2 with
    zeros on its diagonal. A 2 x 2 array is accepted only if all its readings have the same arcs."""
    ones = bool(np.isin(values, (0, 1)).all())
    if len(values) == 3:
        if ones:
            return MATRIX
        raise refuse("an array of 3 x 3 may be a matrix with weights, or three edges with weights",
                     remedy=_either(forms, MATRIX, _TRIPLES))
    by_rows, by_columns = _arcs(values), _arcs(values.T)
    hollow = not np.diagonal(values).any()
    as_matrix = ({0, 1}, _arcs(np.argwhere(values != 0))[1]) if ones or hollow else by_rows
    if not by_rows == by_columns == as_matrix:
        raise refuse("an array of 2 x 2 may be two edges by rows, two by columns, or a matrix, and here these differ",
                     remedy=_either(forms, PAIRS, INDEX, MATRIX))
    return PAIRS


def _is_certain_matrix(values: Any) -> bool:
    """Whether numbers in a square are surely no edges: the first two columns are no ids, or all numbers are 0 or 1,
    symmetric, or have a diagonal of 0."""
    ends = values[:, :2]
    ids = bool((np.isfinite(ends) & (ends == np.floor(ends)) & (ends >= 0)).all() and ends.any())
    return bool(not ids or np.isin(values, (0, 1)).all() or not values.diagonal().any()
                or np.array_equal(values, values.T) or 2 * np.count_nonzero(values) <= values.size)


def _arcs(pairs: Any) -> tuple[set[Any], set[Any]]:
    """(vertices, arcs) of pairs; with directions, because a conversion may keep them."""
    return set(pairs.ravel().tolist()), set(map(tuple, pairs.tolist()))


class ArrayEdges:
    """The edges in an array that is read in storage order.

    Parameters
    ----------
    form : Form
        Its meaning.
    shape, by_columns : its shape, and whether it is stored column by column.
    read : callable
        read(begin) -> a reader of the values from `begin` on, in storage order: reader(count) -> array [k].
    weights : WeightChoice or None
        The weights to keep.
    refuse : callable
        (what, place in storage order, text=..., remedy=...) -> the error for a value.
    """

    def __init__(self, form: Form, shape: tuple[int, ...], by_columns: bool,
                 read: Callable[[int], Callable[[int], Any]],
                 weights: WeightChoice | None, refuse: Callable[..., InputError]) -> None:
        self.kind, self.shape, self._by_columns, self._places = form.kind, shape, by_columns, form.places
        self._read, self._weights, self._refuse = read, weights, refuse
        self.n_values = 0
        """Values beside the edges that were not taken, so far."""

    @property
    def _width(self) -> int:
        return self.shape[1] if self.kind == PAIRS else self.shape[0]

    @property
    def n_entries(self) -> int | None:
        """The number of pairs, None for a matrix."""
        return None if self.kind == MATRIX else self.shape[0] if self.kind == PAIRS else self.shape[1]

    @property
    def has_weights(self) -> bool:
        """Whether the array may have weights."""
        return self.kind == MATRIX or len(self._places) == 3

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """The pairs. Raises the error from `refuse` for invalid ids and for values that are not finite."""
        if self.kind == MATRIX:
            return self._of_matrix(batch_bytes)
        return self._interleaved(batch_bytes) if (self.kind == PAIRS) != self._by_columns else self._apart(batch_bytes)

    def _of_matrix(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        size, read, count = self.shape[0] * self.shape[1], self._read(0), max(1, pairs_per_batch(batch_bytes) // 2)
        width = self.shape[0] if self._by_columns else self.shape[1]
        beside, minus = 0, 0
        for begin in range(0, size, count):
            values = read(min(count, size - begin))
            if values.dtype.kind in "fc" and not np.isfinite(values).all():
                place = int(np.argmin(np.isfinite(values)))
                raise self._refuse("a value of the matrix is not finite", begin + place, text=str(values[place]),
                                   remedy="write 0 for a pair without an edge")
            places = np.flatnonzero(values)
            if not len(places):
                continue
            major, minor = np.divmod(places + begin, width)
            src, dst = (minor, major) if self._by_columns else (major, minor)
            beside += len(src) if self.shape[0] != self.shape[1] else int((src != dst).sum())
            minus += int((values == -1).sum())
            yield EdgeBatch(src, dst, self._weighed(values[places], begin))
        pairs = size - width if self.shape[0] == self.shape[1] else size  # without the diagonal
        if beside == pairs > 2 and minus > 1:
            raise self._refuse("no value beside the diagonal of the matrix is 0, and several are -1, as for no edge", 0,
                               remedy="write 0 for a pair without an edge")

    def _interleaved(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        width, read, count = self._width, self._read(0), pairs_per_batch(batch_bytes)
        for begin in range(0, self.n_entries or 0, count):
            rows = read(width * min(count, (self.n_entries or 0) - begin)).reshape(-1, width)
            yield self._pairs([rows[:, i] for i in self._places], [(begin * width + i, width) for i in self._places])

    def _apart(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        n, count = self.n_entries or 0, pairs_per_batch(batch_bytes)
        readers = [self._read(i * n) for i in self._places]
        for begin in range(0, n, count):
            columns = [read(min(count, n - begin)) for read in readers]
            yield self._pairs(columns, [(i * n + begin, 1) for i in self._places])

    def _pairs(self, columns: list[Any], places: list[tuple[int, int]]) -> EdgeBatch:
        """A batch of sources, targets and optionally weights. places : (place of the first value, step) of each."""
        src, dst = (whole_numbers(np.ascontiguousarray(ids), self._refusal(*place))
                    for ids, place in zip(columns[:2], places[:2], strict=True))
        if len(columns) == 2:
            self.n_values += len(src) * (self._width - 2)
            return EdgeBatch(src, dst)
        return EdgeBatch(src, dst, self._weighed(columns[2], *places[2]))

    def _refusal(self, first: int, step: int) -> Callable[..., InputError]:
        """A function that creates the error for value number `at` of a sequence with this first place and step."""
        return lambda what, at, **more: self._refuse(what, first + step * at, **more)

    def _weighed(self, values: Any, first: int, step: int = 1) -> Any:
        if self._weights is None:
            self.n_values += len(values)
            return None
        return checked_weights(np.ascontiguousarray(values), self._weights, self._refusal(first, step))

    def weight_kind(self, dtype: np.dtype[Any]) -> str | None:
        """The kind of the weights, "" if none are kept; None if the array has no valid weights."""
        if self._weights is None:
            return ""
        return kind_of(dtype) if self.has_weights else None


EXACT_FLOAT = 2**53
"""Whole numbers below this, and no others, are certain as floats: 2^53 + 1 is read as 2^53."""

Refusal = Callable[..., InputError]
"""(what, place of the id in the array, text=..., remedy=...) -> the error that says where it is."""

_NOT_WHOLE = "give whole numbers, or keep the column as text"


def may_have_ids(data_type: pa.DataType) -> bool:
    """Whether values of this type may be whole numbers: integers, floats and decimals."""
    return bool(pa.types.is_integer(data_type) or pa.types.is_floating(data_type) or pa.types.is_decimal(data_type))


def whole_numbers(values: npt.NDArray[Any], refusal: Refusal) -> npt.NDArray[Any]:
    """The ids in a column of integers or floats, as int64[k], or uint64[k] if one is above 2^63 - 1.

    Parameters
    ----------
    values : integers or floats, [k].
    refusal : creates the error for a value that is no id.

    Raises
    ------
    InputError
        At the first value that is missing (NaN), negative, no whole number, or a float from 2^53 on (float32: 2^24).
    """
    if values.dtype.kind == "f":
        _refuse(np.isnan(values), values, refusal, "there is no id", "drop rows without an id")
        with np.errstate(invalid="ignore"):
            whole = np.floor(values) == values
        _refuse(~whole, values, refusal, "an id is no whole number", _NOT_WHOLE)
        digits = 1 + np.finfo(values.dtype).nmant
        most = 2 ** min(digits, 53) - 1  # 2^24 + 1 is 2^24 in float32
        _refuse(np.abs(values) > most, values, refusal,
                f"an id is a float beyond 2^{min(digits, 53)} - 1, where floats are no longer exact",
                "give the ids as integers or as text")
        _refuse(values < 0, values, refusal, "an id is negative", "ids are integers from 0 up, or texts")
        return values.astype(np.int64)
    if values.dtype.kind == "u":
        large = values.dtype.itemsize == 8 and len(values) and int(values.max()) >= 1 << 63
        return values.astype(np.uint64 if large else np.int64, copy=False)
    _refuse(values < 0, values, refusal, "an id is negative", "ids are integers from 0 up, or texts")
    return values.astype(np.int64, copy=False)


def arrow_numbers(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The numbers of an Arrow column without nulls, as a NumPy array. Avoids Arrow's `to_numpy`, which imports pandas
    if it is installed: half a second and 44 MiB without use."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return array.to_numpy(zero_copy_only=False)
    return np.from_dlpack(array)


def decoded(column: Any) -> Any:
    """The values of an Arrow array with a dictionary; another array unchanged. Raises pyarrow.ArrowException."""
    if not pa.types.is_dictionary(column.type):
        return column
    values = column.dictionary
    if pa.types.is_string_view(values.type) or pa.types.is_binary_view(values.type):  # cannot be decoded directly
        values = values.cast(pa.string())
    return pa.DictionaryArray.from_arrays(column.indices, values).dictionary_decode()


def arrow_ids(column: pa.Array, refusal: Refusal) -> npt.NDArray[Any]:
    """The ids in an Arrow column without nulls, of a type in `may_have_ids`; otherwise as `whole_numbers`."""
    if not pa.types.is_decimal(column.type):
        return whole_numbers(arrow_numbers(column), refusal)
    for wanted in (pa.int64(), pa.uint64()):
        try:
            return whole_numbers(arrow_numbers(column.cast(wanted)), refusal)
        except pa.ArrowInvalid:
            continue
    for place, value in enumerate(column.to_pylist()):
        if value != int(value):
            raise refusal("an id is no whole number", place, text=str(value), remedy=_NOT_WHOLE)
        if not 0 <= value < 1 << 64:
            raise refusal("an id is outside 0..2^64 - 1", place, text=str(value),
                          remedy="give the ids as integers of 64 bits, or as text")
    raise AssertionError("pyarrow refuses decimals that are ids")


def _refuse(wrong: npt.NDArray[np.bool_], values: npt.NDArray[Any], refusal: Refusal, what: str, remedy: str) -> None:
    if len(values) and wrong.any():
        place = int(np.argmax(wrong))
        raise refusal(what, place, text=str(values[place]), remedy=remedy)
