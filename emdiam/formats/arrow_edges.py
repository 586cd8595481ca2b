"""Edges in Arrow columns, of files and of tables in memory: which two columns they are, and their ids, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from .base import Named
from .source import pairs_per_batch
from .tables import named_pair
from .weights import WeightChoice, checked_weights, kind_of, weight_column

_STRING_SHARE = 4  # strings are taken to be this much larger than int64
_REMEDY = "give two integer (or two string) columns, e.g. named src and dst"


def rows_per_batch(batch_bytes: int, kind: str) -> int:
    """Rows whose two ids take about so many bytes. kind : as in EdgeColumns."""
    return max(1, pairs_per_batch(batch_bytes) // (1 if kind == "int" else _STRING_SHARE))


def column_kind(data_type: pa.DataType) -> str:
    """ "int", "string" or "" for other types."""
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
        return "string" if pa.types.is_string(data_type) or pa.types.is_large_string(data_type) else ""
    if pa.types.is_integer(data_type):
        return "int"
    texts = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return "string" if any(is_text(data_type) for is_text in texts) else ""


def weight_kind(data_type: pa.DataType) -> str:
    """Kind of the weights in such a column (weights.KINDS), "" if it can have none."""
    if not (pa.types.is_integer(data_type) or pa.types.is_floating(data_type)):
        return ""
    return kind_of(np.dtype(data_type.to_pandas_dtype())) or ""


@dataclass(frozen=True)
class EdgeColumns:
    """ids : places of the two columns. names : theirs. kind : "int" or "string", as stored. weight : place of the
    weights, None without. weight_kind : theirs."""

    ids: tuple[int, int]
    names: tuple[str, str]
    kind: str
    weight: int | None = None
    weight_kind: str = ""


class ArrowEdges(Named):
    """What sources of Arrow columns have in common. ids : "int", "string" or "auto", what ids are to be. weights :
    those to keep."""

    ids: str
    weights: WeightChoice | None

    def _columns(self, schema: pa.Schema) -> EdgeColumns:
        """The two id columns: those named like an edge, else the first two integers, else the first
        two strings. Raises InputError that lists what there is."""
        kinds, ids = [column_kind(data_type) for data_type in schema.types], named_pair(schema.names)
        if ids is None:
            alike = ([i for i, kind in enumerate(kinds) if kind == wanted] for wanted in ("int", "string"))
            ids = next(((places[0], places[1]) for places in alike if self._are_ends(places)), None)
        if ids is None or not kinds[ids[0]] or kinds[ids[0]] != kinds[ids[1]]:
            columns = ", ".join(f"{field.name}: {field.type}" for field in schema) or "none"
            raise self.error(f"no two id columns among its columns ({columns})", remedy=_REMEDY)
        names = schema.names[ids[0]], schema.names[ids[1]]
        for name in names:
            if schema.names.count(name) > 1:
                raise self.error("two columns have the same name", text=name, remedy=_REMEDY)
        if self.ids == "int" and kinds[ids[0]] != "int":
            raise self.error(f"columns {names[0]} and {names[1]} hold strings, not integers",
                             remedy="leave out --ids int")
        if self.weights is None:
            return EdgeColumns(ids, names, kinds[ids[0]])
        place = self._weight_place(schema, ids, self.weights.column)
        return EdgeColumns(ids, names, kinds[ids[0]], place, weight_kind(schema.types[place]))

    def _weight_place(self, schema: pa.Schema, ids: tuple[int, int], column: str) -> int:
        """Which column has the weights. Raises InputError that lists what there is."""
        numbers = [i for i, data_type in enumerate(schema.types) if i not in ids and weight_kind(data_type)]
        place = weight_column(schema.names, numbers, column)
        if place is None:
            others = ", ".join(f"{field.name}: {field.type}" for i, field in enumerate(schema) if i not in ids)
            what = f"no column {column} of numbers" if column else "not one column of weights"
            raise self.error(f"{what} beside the ids ({others or 'there is no other column'})",
                             remedy="name a column of integers or floats, as in --weights=length")
        if schema.names.count(schema.names[place]) > 1:
            raise self.error("two columns have the same name", text=schema.names[place], remedy="rename one")
        return place

    def _weights(self, column: Any, name: str, done: int) -> Any:
        """The weights in one column of a batch, float64[k]; `done` rows came before."""
        assert self.weights is not None
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise self.error(f"column {name} has no weight in row {done + row + 1}",
                             remedy="give every edge a weight, or leave out --weights")

        def refusal(what: str, row: int, **more: str) -> InputError:
            return self.error(f"{what} in row {done + row + 1} of column {name}", **more)

        return checked_weights(column.to_numpy(zero_copy_only=False), self.weights, refusal)

    def _are_ends(self, places: Sequence[int]) -> bool:
        """Whether the first two of these columns, which are of one kind and have other names, are taken for the ids."""
        return len(places) > 1

    def _ids(self, column: Any, name: str, done: int, strings: bool) -> Any:
        """One column of a batch as int64[k] or string array; `done` rows came before."""
        if strings:
            with self._damage((pa.ArrowException, ValueError, OSError),
                              f"column {name} holds what is not UTF-8 text", "write it again"):
                column.validate(full=True)
                column = column.cast(pa.string())
        if column.null_count:
            self._refuse(column.is_null().to_numpy(zero_copy_only=False), f"column {name} has no id", done)
        if strings:
            empty = pc.equal(pc.binary_length(column), 0).to_numpy(zero_copy_only=False)
            self._refuse(empty, f"column {name} has an empty id", done)
            return column
        ids = column.to_numpy()
        wrong = ids < 0 if ids.dtype.kind == "i" else ids > np.uint64(2**63 - 1)
        self._refuse(wrong, f"column {name} has an id outside 0..2^63 - 1", done, ids)
        return ids.astype(np.int64, copy=False)

    def _refuse(self, wrong: Any, what: str, done: int, ids: Any = None) -> None:
        """Raise InputError for the first row of a batch where `wrong`, bool[k], says so; `done` rows came before."""
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(f"{what} in row {done + row + 1}", text=None if ids is None else str(ids[row]),
                             remedy="drop rows without an id" if ids is None
                             else "keep such ids as names with --ids string")
