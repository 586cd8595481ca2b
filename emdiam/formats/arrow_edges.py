"""Edges in Arrow columns of files and of tables in memory: the choice of the two columns, and checked ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .arrays import arrow_ids, arrow_numbers, decoded, may_have_ids
from .base import Named
from .digits import are_long
from .directions import Directions
from .look_ends import MISSING, refuse_two_forms
from .look_sample import has_leading_zero
from .source import EdgeBatch, pairs_per_batch
from .tables import (
    TIMES,
    TableColumn,
    direction_column,
    edge_ends,
    in_slices,
    named_pair,
    refuse_two_sides,
    refuse_ways,
)
from .weights import FLOAT64, WeightChoice, checked_weights, kind_of, name_a_column, weight_column

_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary,
          pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
_LOOKED_AT = 1000  # rows
_STRING_SHARE = 4  # assumed size of a string relative to int64
_REMEDY = "give two integer (or two string) columns, e.g. named src and dst"


NAMES_OF_FILES = "delete such lines, or say --ids string if a vertex is called so"
"""A remedy for ids that may be missing ones."""


def rows_per_batch(batch_bytes: int, kind: str) -> int:
    """The number of rows whose two ids have about `batch_bytes` bytes. kind : as in EdgeColumns."""
    return max(1, pairs_per_batch(batch_bytes) // (1 if kind == "int" else _STRING_SHARE))


def column_kind(data_type: pa.DataType) -> str:
    """The kind of a type: "int" if its values may be whole numbers, "string" for texts, "" for other types."""
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
    if may_have_ids(data_type):
        return "int"
    return "string" if any(is_text(data_type) for is_text in _TEXTS) else ""


def is_list(data_type: pa.DataType) -> bool:
    """Whether the values are lists of possible ids."""
    lists = pa.types.is_list(data_type) or pa.types.is_large_list(data_type) or pa.types.is_fixed_size_list(data_type)
    return lists and bool(column_kind(data_type.value_type))


def weight_kind(data_type: pa.DataType) -> str:
    """The kind of weights in a column of this type (weights.KINDS), "" if it cannot have weights."""
    if pa.types.is_decimal(data_type):
        return FLOAT64
    if not (pa.types.is_integer(data_type) or pa.types.is_floating(data_type)):
        return ""
    return kind_of(np.dtype(data_type.to_pandas_dtype())) or ""


@dataclass(frozen=True)
class EdgeColumns:
    """The chosen columns. ids : places of the two columns. names : their names. kind : "int" or "string", as stored.
    weight : place of the weights, None without. weight_kind, weight_name : kind and name of the weights. listed :
    whether the second column has lists of neighbours. direction : place of the column that says which edges have a
    direction, None without. wanted : whether the user has named the ends."""

    ids: tuple[int, int]
    names: tuple[str, str]
    kind: str
    weight: int | None = None
    weight_kind: str = ""
    weight_name: str = ""
    listed: bool = False
    direction: int | None = None
    wanted: bool = False

    def said(self, format_name: str) -> str:
        """The columns that were read as the edges, in a source of this format."""
        return f"{format_name}; edges: {self.names[0]} and {self.names[1]}"

    @property
    def places(self) -> list[int]:
        """The places of the columns to read."""
        return [*self.ids, *(place for place in (self.weight, self.direction) if place is not None)]


def texts_of(words: Sequence[str]) -> Any:
    """A string array, from buffers, since pa.array imports pandas, which takes a quarter of a second."""
    data = [word.encode() for word in words]
    return pa.StringArray.from_buffers(len(data), pa.py_buffer(np.cumsum([0, *map(len, data)], dtype=np.int32)),
                                       pa.py_buffer(b"".join(data)))


_MISSING = texts_of(MISSING)


def refuse_missing(ids: Any, source: Named, remedy: str = NAMES_OF_FILES) -> None:
    """Raise InputError if one of these ids, a string array, is a word that programs write for a missing one."""
    missing = ids.filter(pc.is_in(ids, value_set=_MISSING))
    if len(missing):
        raise source.error(f"an id is {missing[0]}, as programs write for a missing one",
                           remedy=remedy)


class ArrowEdges(Named):
    """The base of sources of Arrow columns. ids : wanted kind of ids, "int", "string" or "auto". weights : the weights
    to keep."""

    ids: str
    weights: WeightChoice | None
    declared: int = 0
    bipartite = False
    """Whether sources and targets are two sides."""
    directed = False
    """Whether directions are kept."""
    notes: tuple[str, ...] = ()
    _directions: Directions | None = None
    _weight_name: str = ""
    _if_missing = "leave such rows out, or give a graph of networkx if a vertex is called so"
    _as_names: str = ""
    """What takes integers that are no ids as names, as a remedy."""

    def _columns(self, schema: pa.Schema) -> EdgeColumns:
        """The two id columns, see tables.edge_ends; or one of ids and one of lists of neighbours. Raises InputError,
        which lists the columns, if there are none, or if it is not clear which they are."""
        kinds = [column_kind(data_type) for data_type in schema.types]
        columns = [TableColumn(name, TIMES if pa.types.is_temporal(data_type) else
                               "float" if pa.types.is_floating(data_type) else kind)
                   for name, data_type, kind in zip(schema.names, schema.types, kinds, strict=True)]
        ids = self._fixed_ends(columns)
        wanted = ids is not None
        lists = [i for i, data_type in enumerate(schema.types) if is_list(data_type)]
        if len(lists) == 1 and lists[0] in (ids or named_pair(schema.names) or lists):
            return self._listed(schema, kinds, lists[0])
        if ids is None and sum(map(bool, kinds)) > 1:
            ids = edge_ends(columns, None, self.name, None if self.weights is None else self.weights.column)
            if not self.bipartite:
                refuse_two_sides(schema.names, ids, self.name)
            if self.directed:
                refuse_ways(schema.names, ids, self.name)
        if ids is None or not kinds[ids[0]] or kinds[ids[0]] != kinds[ids[1]]:
            there = ", ".join(f"{field.name}: {field.type}" for field in schema) or "none"
            raise self.error(f"no two id columns among its columns ({there})", remedy=_REMEDY)
        names = schema.names[ids[0]], schema.names[ids[1]]
        for name in names:
            if schema.names.count(name) > 1:
                raise self.error("two columns have the same name", text=name, remedy=_REMEDY)
        if self.ids == "int" and kinds[ids[0]] != "int":
            raise self.error(f"columns {names[0]} and {names[1]} hold strings, not integers",
                             remedy="leave out --ids int")
        arcs = direction_column(schema.names, self.directed)
        self._directions = None if arcs is None else Directions(schema.names[arcs], self.error)
        if self.weights is None:
            return EdgeColumns(ids, names, kinds[ids[0]], direction=arcs, wanted=wanted)
        place = self._weight_place(schema, ids, self.weights.column)
        return EdgeColumns(ids, names, kinds[ids[0]], place, weight_kind(schema.types[place]), schema.names[place],
                           direction=arcs, wanted=wanted)

    def _fixed_ends(self, columns: Sequence[TableColumn]) -> tuple[int, int] | None:
        """The places of the user's columns of the ends, None if the user names none."""
        return None

    def _listed(self, schema: pa.Schema, kinds: list[str], lists: int) -> EdgeColumns:
        """The column of ids beside one of lists of neighbours. Raises InputError if it is not clear."""
        nodes = [i for i, kind in enumerate(kinds) if kind]
        kind = column_kind(schema.types[lists].value_type)
        if len(nodes) != 1 or kinds[nodes[0]] != kind:
            columns = ", ".join(f"{field.name}: {field.type}" for field in schema)
            raise self.error(f"not one column of the kind of ids that its lists of neighbours have ({columns})",
                             remedy="give one column of ids and one of lists of neighbours")
        if self.weights is not None:
            raise self.error("lists of neighbours have no weights", remedy="keep no weights, or give an edge a row")
        return EdgeColumns((nodes[0], lists), (schema.names[nodes[0]], schema.names[lists]), kind, listed=True)

    def _batches_of(self, columns: EdgeColumns, arrays: Sequence[Any], done: int, strings: bool,
                    batch_bytes: int) -> Iterator[EdgeBatch]:
        """The edges in the columns at `columns.places`. done : number of rows before."""
        first, second = arrays[:2]
        if columns.listed:
            yield from self._of_lists(columns, first, second, done, strings, batch_bytes)
            return
        src, dst = (self._ids(column, name, done, strings)
                    for column, name in zip((first, second), columns.names, strict=True))
        if not done:
            self._check_first(columns, src, dst)
        weights = None if columns.weight is None else self._weights(arrays[2], self._weight_name, done)
        if self._directions is not None:
            src, dst, weights = self._directions.both(src, dst, weights, arrays[-1])
            self.notes = self._directions.notes()
        yield from in_slices(src, dst, batch_bytes, weights)

    def _check_first(self, columns: EdgeColumns, src: Any, dst: Any) -> None:
        """Raise InputError if the first rows may have two kinds of vertices, or two forms of one id."""
        pairs = list(zip(src[:_LOOKED_AT].tolist(), dst[:_LOOKED_AT].tolist(), strict=True))
        if not columns.wanted and not self.bipartite:
            refuse_two_sides(columns.names, (0, 1), self.name, pairs)
        if self.ids == "auto" and columns.kind == "string":
            texts = [text for pair in pairs for text in pair if not has_leading_zero(text)]  # 007 as a text is a name
            refuse_two_forms(texts, self.name, "write the ids in one form, or say --ids string if they are two")

    def _of_lists(self, columns: EdgeColumns, nodes: Any, lists: Any, done: int, strings: bool,
                  batch_bytes: int) -> Iterator[EdgeBatch]:
        """The edges of rows with a vertex and its neighbours; declares vertices without neighbours."""
        ids = self._ids(nodes, columns.names[0], done, strings)
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        lonely = np.flatnonzero(lengths == 0)
        if len(lonely):
            alone = _taken(ids, lonely)
            self.declared += len(lonely)
            yield EdgeBatch(alone, alone, declares=True)
        others = pc.list_flatten(lists)
        parents = np.repeat(np.arange(len(lengths)), lengths)
        if len(others):
            dst = self._ids(others, f"of lists {columns.names[1]}", done, strings)
            yield from in_slices(_taken(ids, parents), dst, batch_bytes)

    def _weight_place(self, schema: pa.Schema, ids: tuple[int, int], column: str) -> int:
        """The place of the column of weights. Raises InputError, which lists the columns, if there is none."""
        numbers = [i for i, data_type in enumerate(schema.types) if i not in ids and weight_kind(data_type)]
        place = weight_column(schema.names, numbers, column)
        if place is None:
            called = [schema.names[i] for i in numbers]
            others = ", ".join(f"{field.name}: {field.type}" for i, field in enumerate(schema) if i not in ids)
            what = f"no column {column} of numbers" if column else "not one column of weights"
            raise self.error(f"{what} beside the ids ({others or 'there is no other column'})",
                             remedy=name_a_column(called, column, numbers))
        if schema.names.count(schema.names[place]) > 1:
            raise self.error("two columns have the same name", text=schema.names[place], remedy="rename one")
        return place

    def _weights(self, column: Any, name: str, done: int) -> Any:
        """The weights in one column of a batch, as from Digits.taken. done : number of rows before."""
        assert self.weights is not None
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise self.error(f"column {name} has no weight in row {done + row + 1}",
                             remedy="give every edge a weight, or leave out --weights")

        def refusal(what: str, row: int, **more: str) -> InputError:
            return self.error(f"{what} in row {done + row + 1} of column {name}", **more)

        if pa.types.is_decimal(column.type):
            # Convert through texts, because Arrow multiplies by a rounded power of ten.
            texts = column.cast(pa.string())
            floats = checked_weights(texts.cast(pa.float64()).to_numpy(zero_copy_only=False), self.weights, refusal)
            long = are_long(texts, floats)
            return self.weights.digits.taken(floats, long, texts.take(pa.array(long)))
        return checked_weights(arrow_numbers(column), self.weights, refusal)

    def _ids(self, column: Any, name: str, done: int, strings: bool) -> Any:
        """One column of a batch as int64[k] or string array. done : number of rows before."""
        with self._damage((pa.ArrowException, ValueError, IndexError), f"column {name} has a damaged dictionary",
                          "write it again"):
            column = decoded(column)
        if strings:
            column = self._as_strings(column, name, done)
        if column.null_count:
            self._refuse(column.is_null().to_numpy(zero_copy_only=False), f"column {name} has no id", done)
        if strings:
            empty = pc.equal(pc.binary_length(column), 0).to_numpy(zero_copy_only=False)
            self._refuse(empty, f"column {name} has an empty id", done)
            if self.ids == "auto":
                refuse_missing(column, self, self._if_missing)
            return column
        return arrow_ids(column, self._refusal(name, done))

    def _as_strings(self, column: Any, name: str, done: int) -> Any:
        """A column of texts or of whole numbers as strings."""
        if (pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)) and not column.null_count:
            return pa.array(arrow_ids(column, self._refusal(name, done))).cast(pa.string())
        with self._damage((pa.ArrowException, ValueError, OSError),
                          f"column {name} has bytes that are not UTF-8 text", "write it again, as text"):
            if pa.types.is_fixed_size_binary(column.type):
                column = column.cast(pa.binary())
            column.validate(full=True)
            return column.cast(pa.string())

    def _refusal(self, name: str, done: int) -> Callable[..., InputError]:
        """A function that creates the error for an id in this column. done : number of rows before the batch."""
        def refusal(what: str, row: int, **more: str) -> InputError:
            if self._as_names and "negative" in what:
                more["remedy"] = self._as_names
            return self.error(f"{what} in row {done + row + 1} of column {name}", **more)

        return refusal

    def _refuse(self, wrong: Any, what: str, done: int) -> None:
        """Raise InputError for the first row of a batch with `wrong`, bool[k]. done : number of rows before."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(f"{what} in row {done + row + 1}", remedy="drop rows without an id")


def _taken(ids: Any, places: Any) -> Any:
    """The ids at these places of a NumPy or pyarrow array."""
    return ids[places] if isinstance(ids, np.ndarray) else ids.take(pa.array(places))
