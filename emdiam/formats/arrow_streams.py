"""Streams of Arrow record batches from other libraries: objects with `__arrow_c_stream__` (relations of DuckDB, readers
of pyarrow, tables of ibis, DataFusion, Lance and others), datasets of pyarrow, and lazy tables of polars.

One record batch is in memory at a time, beside the memory of its library. The memory plan uses the size of the first
batch; a much larger one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from ..errors import BudgetError, InputError
from ..units import format_size
from .arrow_edges import ArrowEdges, EdgeColumns, column_kind, rows_per_batch
from .source import EdgeBatch, SourceInfo
from .tables import TableColumn, dropped_columns, edge_ends
from .weights import WeightChoice

_LEAST_BYTES = 16 << 20
_COPIES = 2  # the received batch, and the one that is made from it
_ROWS = 1 << 17  # rows of a record batch, if the size can be chosen
# Packages whose objects create a new stream at each request.
_AGAIN = frozenset({"duckdb", "_duckdb", "ibis", "datafusion", "lance", "deltalake", "pyiceberg"})

Batches = tuple[pa.Schema, Iterator[Any]]


class StreamSource(ArrowEdges):
    """The rows of a sequence of record batches; the columns of the ends are chosen as in a table.

    kind : name of the library. opened : opened(names) -> (schema, record batches), with at least these columns; None:
    all. rewindable : whether `opened` can be called again. weights : the weights to keep. selects : whether `opened`
    returns only the named columns, and without names only the schema.
    """

    ids = "auto"

    def __init__(self, kind: str, opened: Callable[[Sequence[str] | None], Batches], rewindable: bool,
                 weights: WeightChoice | None = None, *, selects: bool = False) -> None:
        self.name, self._format, self.weights = f"the stream of {kind}", kind, weights
        self._opened, self.rewindable, self.dropped = opened, rewindable, dict[str, int]()
        self._selects = selects
        self._fixed: tuple[int, int] | None = None
        self._bytes, self._is_read = 0, False
        self._schema, self._waiting = self._open(None)
        self._chosen: EdgeColumns | None = None
        self._first: Any = None
        self.memory_bytes = _LEAST_BYTES
        """What a record batch takes beside the batches of edges."""

    def choose(self, wanted: tuple[str, str] | None = None) -> None:
        """Choose the columns of the edges: the wanted ones, by names or numbers from 1 on, or by names and types.

        Raises InputError if there are no such columns, or if they are not clear.
        """
        schema = self._schema
        if wanted is not None:
            kinds = map(column_kind, schema.types)
            self._fixed = edge_ends([TableColumn(*one) for one in zip(schema.names, kinds, strict=True)], wanted,
                                    self.name)
        self._chosen = self._columns(schema)
        if self._selects:
            self._waiting = self._open([schema.names[place] for place in self._ends.places])[1]
        self._first = next(self._with_rows(self._waiting), None)
        if self._first is not None:
            self.memory_bytes = max(_LEAST_BYTES, _COPIES * self._first.nbytes)

    @property
    def _ends(self) -> EdgeColumns:
        if self._chosen is None:
            self.choose()
        assert self._chosen is not None
        return self._chosen

    def _open(self, names: Sequence[str] | None) -> Batches:
        with self._damage((pa.ArrowException, ValueError, TypeError, OSError),
                          "it gives no record batches", "hand a table of pyarrow, or a file of Parquet"):
            return self._opened(names)

    def _with_rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The record batches with rows. Raises InputError if the library fails."""
        while True:
            try:
                batch = next(batches, None)
            except Exception as error:  # any error of any library
                why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
                raise InputError(f"the library that makes it fails ({why})", path=self.name,
                                 remedy="run its query alone") from error
            if batch is None:
                return
            self._bytes += batch.nbytes
            if batch.num_rows:
                yield batch

    def _fixed_ends(self, columns: Sequence[TableColumn]) -> tuple[int, int] | None:
        return self._fixed

    def info(self) -> SourceInfo:
        """The facts, without n."""
        ends = self._ends
        return SourceInfo(directed=True, id_kind=ends.kind, format=self._format, dropped=self.dropped,
                          reading=ends.said(self._format), weights=ends.weight_kind, weight_name=ends.weight_name,
                          declared=self.declared, notes=self.notes)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for invalid ids, a failed stream, or one that was already read, BudgetError
        for a record batch that is too large."""
        ends, names = self._ends, self._schema.names
        step, done, self.declared, self._bytes = rows_per_batch(batch_bytes, ends.kind), 0, 0, 0
        wanted = [names[place] for place in self._ends.places]
        self._weight_name = "" if ends.weight is None else names[ends.weight]
        for batch in self._pass(wanted):
            if batch.nbytes > self.memory_bytes:
                raise BudgetError(f"a record batch takes {format_size(batch.nbytes)}, and"
                                  f" {format_size(self.memory_bytes)} are planned for it", path=self.name,
                                  remedy="have it made in smaller record batches")
            for begin in range(0, batch.num_rows, step):
                columns = batch.select(wanted).slice(begin, step).columns
                yield from self._batches_of(ends, columns, done + begin, ends.kind == "string", batch_bytes)
            done += batch.num_rows
        self.dropped = dict.fromkeys(dropped_columns(names, ends.places), done) if done else {}

    def _pass(self, names: Sequence[str]) -> Iterator[Any]:
        """All record batches; a second pass starts from the beginning."""
        first, waiting, self._first, self._waiting = self._first, self._waiting, None, iter(())
        if first is not None:
            self._is_read = True
            return chain([first], self._with_rows(waiting))
        if not self.rewindable:
            if self._is_read:
                raise InputError("it can only be read once", path=self.name, remedy="save it as a file first")
            self._is_read = True
            return iter(())
        return self._with_rows(self._open(names)[1])

    def position_bytes(self) -> int:
        """The bytes of record batches so far."""
        return self._bytes


def of_reader(reader: Any, weights: WeightChoice | None) -> StreamSource:
    """The source for a pyarrow reader of record batches, which can be read once."""
    return StreamSource("pyarrow", lambda _: (reader.schema, iter(reader)), False, weights)


def of_dataset(dataset: Any, weights: WeightChoice | None) -> StreamSource:
    """The source for a pyarrow dataset; only the needed columns of its files are read."""
    def opened(names: Sequence[str] | None) -> Batches:
        if names is None:
            return dataset.schema, iter(())
        scanner = dataset.scanner(columns=list(names), batch_size=_ROWS, batch_readahead=1, fragment_readahead=1,
                                  use_threads=False)
        return dataset.schema, scanner.to_batches()

    return StreamSource("pyarrow", opened, True, weights, selects=True)


def of_lazy(frame: Any, weights: WeightChoice | None) -> StreamSource:
    """The source for a lazy table of polars, which yields its rows in batches."""
    schema = frame.head(0).collect().to_arrow().schema

    def opened(names: Sequence[str] | None) -> Batches:
        if names is None:
            return schema, iter(())
        pieces = frame.select(names).collect_batches(chunk_size=_ROWS, maintain_order=True, lazy=True)
        return schema, (batch for piece in pieces for batch in piece.to_arrow().to_batches())

    return StreamSource("polars", opened, True, weights, selects=True)


def of_capsule(graph: Any, weights: WeightChoice | None) -> StreamSource:
    """The source for an object with `__arrow_c_stream__`."""
    package = type(graph).__module__.partition(".")[0]

    def opened(_: Sequence[str] | None) -> Batches:
        reader = pa.RecordBatchReader.from_stream(graph)
        return reader.schema, iter(reader)

    return StreamSource(package.strip("_"), opened, package in _AGAIN, weights)
