"""Tables in memory (pandas, polars, pyarrow) as sources of edges: two columns, a piece after another through Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from .arrow_edges import ArrowEdges, EdgeColumns, column_kind, is_list, rows_per_batch, weight_kind
from .source import EdgeBatch, SourceInfo, WithoutFile
from .tables import Column, dropped_columns, edge_ends, named_pair
from .weights import WHOLE, WeightChoice

_LOOKED_AT = 1000  # rows by which the types of columns are known that hold any objects
_CHOOSE = "choose the two columns of the edges' ends, as in table[['source', 'target']]"
_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError)


class TableSource(WithoutFile, ArrowEdges):
    """The rows of a table, whose edge is in two columns: those with names like source and target, else the only two of
    integers, else the only two of strings; vertices are the ids that occur.

    kind : of what library. names : of its columns. n_rows : how many rows. rows : rows(begin, end, places) -> the table
    of these rows and columns, which pyarrow can take. weights : those to keep. Raises InputError where the columns are
    not plain.
    """

    ids = "auto"

    def __init__(self, kind: str, names: Sequence[Any], n_rows: int,
                 rows: Callable[[int, int, Sequence[int]], Any], weights: WeightChoice | None = None) -> None:
        self.name, self._n, self._rows, self.weights = f"the table of {kind}", n_rows, rows, weights
        self._names = [str(name) for name in names]
        self._format, self.dropped = kind, dict[str, int]()
        self._fixed: tuple[int, int] | None = None
        self._chosen = EdgeColumns((0, 0), ("", ""), "int", weight_kind="" if weights is None else WHOLE)

    def choose(self, wanted: tuple[str, str] | None = None) -> None:
        """Choose the columns of the edges: those that are wanted, by names or numbers from 1 on, or those that look so.

        Raises InputError where there are none, or they are not plain.
        """
        if not self._n:
            return
        pair = named_pair(self._names)
        if wanted is not None:
            pair = edge_ends([Column(name, "") for name in self._names], wanted, self.name)
            self._fixed = pair if self.weights is not None else (0, 1)
        self._chosen = self._choose(pair)

    def _fixed_ends(self, columns: Sequence[Column]) -> tuple[int, int] | None:
        return self._fixed

    def _choose(self, pair: tuple[int, int] | None) -> EdgeColumns:
        """The columns of the edges, of which these may be known."""
        places = range(len(self._names)) if self.weights is not None or pair is None else pair
        found = self._columns(self._arrow(0, min(self._n, _LOOKED_AT), places).schema)
        return replace(found, ids=(places[found.ids[0]], places[found.ids[1]]))

    def _are_ends(self, places: Sequence[int]) -> bool:
        return len(places) == 2 or (self.weights is not None and len(places) > 2)

    def _arrow(self, begin: int, end: int, places: Sequence[int]) -> Any:
        """The rows as a table of pyarrow, with these columns, in this order, and no others. Raises InputError."""
        with self._damage(_FAULTS, "a column has objects that are no ids, or of several kinds", _CHOOSE):
            return pa.table(self._rows(begin, end, places)).select(list(range(len(places))))

    def info(self) -> SourceInfo:
        """No n is declared."""
        return SourceInfo(n_entries=None if self._chosen.listed else self._n, directed=True,
                          id_kind=self._chosen.kind, format=self._format,
                          dropped=self.dropped, weights=self._chosen.weight_kind, weight_name=self._chosen.weight_name,
                          declared=self.declared)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for missing, negative or too large ids, and ids of another kind."""
        chosen, step = self._chosen, rows_per_batch(batch_bytes, self._chosen.kind)
        places = [*chosen.ids, *([] if chosen.weight is None else [chosen.weight])]
        self._weight_name, self.declared = "" if chosen.weight is None else self._names[chosen.weight], 0
        for begin in range(0, self._n, step):
            table, done = self._arrow(begin, min(begin + step, self._n), places), begin
            for batch in table.to_batches():
                self._check_kinds(batch.columns, done)
                yield from self._batches_of(chosen, batch.columns, done, chosen.kind == "string", batch_bytes)
                done += batch.num_rows
        if self._n:
            self.dropped = dict.fromkeys(dropped_columns(self._names, chosen.ids, chosen.weight), self._n)

    def _check_kinds(self, columns: Sequence[Any], done: int) -> None:
        """Raise InputError for columns that are of other types than before, as those of Python objects may be."""
        chosen = self._chosen
        for column, name in zip(columns[:2], chosen.names, strict=False):
            if not column.null_count and not is_list(column.type) and column_kind(column.type) != chosen.kind:
                raise self.error(f"column {name} has ids of another kind from row {done + 1} on",
                                 remedy="give integers or strings in the whole column")
        if len(columns) > 2 and not columns[2].null_count and weight_kind(columns[2].type) != chosen.weight_kind:
            raise self.error(f"column {self._weight_name} has weights of another kind from row {done + 1} on",
                             remedy="give integers or floats in the whole column")
