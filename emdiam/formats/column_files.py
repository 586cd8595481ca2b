"""What files of Arrow columns share: which columns are read, and their edges batch by batch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from .arrow_edges import ArrowEdges
from .base import FileSource
from .source import EdgeBatch, SourceInfo
from .tables import Column, dropped_columns, edge_ends

# What pyarrow raises for files of any bytes.
DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError)
AGAIN = "fetch or write it again"


class ColumnFile(ArrowEdges, FileSource):
    """A file of columns, two of which have the ends of edges."""

    takes_strings = takes_columns = takes_ends = sides_by_ids = True
    _consumed = 0
    _as_names = "keep such ids as names with --ids string"

    @abstractmethod
    def _opened(self) -> AbstractContextManager[Any]:
        """The file, opened; raises InputError."""

    @abstractmethod
    def _schema(self, file: Any) -> pa.Schema:
        """Its columns."""

    @abstractmethod
    def _n_rows(self, file: Any) -> int | None:
        """How many rows it has, None where that is not known. Raises InputError for none."""

    @abstractmethod
    def _pieces(self, file: Any, places: list[int], batch_bytes: int, kind: str) -> Iterator[Any]:
        """Record batches with the columns in these places, in this order."""

    def _fixed_ends(self, columns: Sequence[Column]) -> tuple[int, int] | None:
        wanted = self.wishes.columns
        return None if wanted is None else edge_ends(columns, wanted, self.name)

    def _read_info(self) -> SourceInfo:
        with self._opened() as file:
            columns, rows = self._columns(self._schema(file)), self._n_rows(file)
        self.weight_kind = columns.weight_kind
        return self._facts(n_entries=None if columns.listed else rows, directed=True,
                           id_kind=columns.kind if self.ids == "auto" else self.ids, weights=columns.weight_kind,
                           weight_name=columns.weight_name)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged file, and for ids and weights that are none."""
        strings, size = self.info().id_kind == "string", self.input.size_bytes or 0
        self.declared = 0
        with self._opened() as file:
            schema, rows, done = self._schema(file), self._n_rows(file), 0
            columns = self._columns(schema)
            places = [*columns.ids, *([] if columns.weight is None else [columns.weight])]
            self._weight_name = "" if columns.weight is None else schema.names[columns.weight]
            for batch in self._pieces(file, places, batch_bytes, columns.kind):
                yield from self._batches_of(columns, batch.columns, done, strings, batch_bytes)
                done += batch.num_rows
                self._consumed = size * done // max(rows or done, 1)
        self.dropped = dict.fromkeys(dropped_columns(schema.names, columns.ids, columns.weight), done)

    def position_bytes(self) -> int:
        """Share of the file in proportion to the rows read."""
        return self._consumed
