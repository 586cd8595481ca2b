"""Files of Arrow columns: the choice of columns, and their edges in batches.

Arrow files (.arrow, Feather of version 2) and Arrow streams: record batches of columns, as in Parquet. The needed
columns of one whole record batch are in memory. The memory plan uses the size of the first batch; a much larger one is
refused.

Parquet tables have two columns of ids, or one of ids and one of lists of neighbours; fields of a struct are columns.
Row groups are read in batches, buffered by the page, without threads and without prefetching, so that memory is one
batch and one page per column.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import BudgetError
from ..units import format_size
from .arrow_edges import NAMES_OF_FILES, ArrowEdges, EdgeColumns, rows_per_batch
from .base import FileSource
from .inputs import EmptyInputError
from .source import EdgeBatch, SourceInfo
from .tables import TableColumn, dropped_columns, edge_ends

# Errors of pyarrow for damaged files.
DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError)
AGAIN = "fetch or write it again"


class ColumnFile(ArrowEdges, FileSource):
    """A file of columns, two of them with the ends of edges."""

    takes_strings = takes_columns = takes_ends = sides_by_ids = True
    _consumed = 0
    _if_missing = NAMES_OF_FILES
    _as_names = "keep such ids as names with --ids string"

    def _columns(self, schema: pa.Schema) -> EdgeColumns:
        self.bipartite, self.directed = self.wishes.bipartite, self.wishes.directed
        return super()._columns(schema)

    @abstractmethod
    def _opened(self) -> AbstractContextManager[Any]:
        """A context with the opened file. Raises InputError."""

    @abstractmethod
    def _schema(self, file: Any) -> pa.Schema:
        """The schema of its columns."""

    @abstractmethod
    def _n_rows(self, file: Any) -> int | None:
        """The number of rows, None if unknown. Raises InputError for a file without rows."""

    @abstractmethod
    def _pieces(self, file: Any, places: list[int], batch_bytes: int, kind: str) -> Iterator[Any]:
        """The record batches with the columns at these places, in this order."""

    def _fixed_ends(self, columns: Sequence[TableColumn]) -> tuple[int, int] | None:
        wanted = self.wishes.columns
        return None if wanted is None else edge_ends(columns, wanted, self.name)

    def _read_info(self) -> SourceInfo:
        with self._opened() as file:
            schema = self._schema(file)
            self.column_names = tuple(schema.names)
            columns, rows = self._columns(schema), self._n_rows(file)
        self.weight_kind, self.said = columns.weight_kind, columns.said(self.format)
        return self._facts(n_entries=None if columns.listed else rows, directed=True,
                           id_kind=columns.kind if self.ids == "auto" else self.ids, weights=columns.weight_kind,
                           weight_name=columns.weight_name, reading=self.said)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged file, and for invalid ids and weights."""
        strings, size = self.info().id_kind == "string", self.input.size_bytes or 0
        self.declared = 0
        with self._opened() as file:
            schema, rows, done = self._schema(file), self._n_rows(file), 0
            columns = self._columns(schema)
            self._weight_name = "" if columns.weight is None else schema.names[columns.weight]
            for batch in self._pieces(file, columns.places, batch_bytes, columns.kind):
                yield from self._batches_of(columns, batch.columns, done, strings, batch_bytes)
                done += batch.num_rows
                self._consumed = size * done // max(rows or done, 1)
        self.dropped = dict.fromkeys(dropped_columns(schema.names, columns.places), done)

    def position_bytes(self) -> int:
        """The bytes of the file in proportion to the rows read."""
        return self._consumed


_FILE_MARK = b"ARROW1"
_LEAST_BYTES = 16 << 20
_COPIES = 2  # a batch as stored, and decompressed


class ArrowSource(ColumnFile):
    """See the module."""

    format = "arrow"
    memory_bytes = _LEAST_BYTES
    """What a record batch takes beside the batches of edges."""

    @contextmanager
    def _opened(self, places: list[int] | None = None) -> Iterator[Any]:
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=sorted(places) if places else None)
        if self.input.peek(len(_FILE_MARK)) == _FILE_MARK:
            path = self._path_in_place("an Arrow file", "Arrow file")
            with self._damage(DAMAGE, "not an Arrow file, or cut short", AGAIN):
                file = pa.OSFile(str(path))
                reader = pa.ipc.open_file(file, options=options)
            with file:
                yield reader
            return
        self.input.require_file("the first record batch of a table is looked at before it is read")
        stream = self.input.open()
        try:
            with self._damage(DAMAGE, "not an Arrow stream, or cut short", AGAIN):
                reader = pa.ipc.open_stream(pa.PythonFile(stream, mode="r"), options=options)
            yield reader
        finally:
            self.input.close()

    def _schema(self, file: Any) -> pa.Schema:
        with self._damage(DAMAGE, "the names of its columns are damaged", AGAIN):
            str([(field.name, field.type) for field in file.schema])  # decodes all names
        return file.schema

    def _n_rows(self, file: Any) -> int | None:
        return None

    def _read_info(self) -> SourceInfo:
        info = super()._read_info()
        with self._opened() as file:
            places = self._columns(file.schema).places
        first = next(self._batches_with(places), None)
        if first is None:
            raise EmptyInputError("the table has no rows", path=self.name, remedy=AGAIN)
        self.memory_bytes = max(_LEAST_BYTES, _COPIES * first.nbytes)
        return info

    def _batches_with(self, places: list[int]) -> Iterator[Any]:
        """All record batches with rows, with the columns at these places."""
        with self._opened(places) as file:
            count = getattr(file, "num_record_batches", None)
            number = 0
            while count is None or number < count:
                with self._damage(DAMAGE, "the data are damaged", AGAIN):
                    try:
                        batch = file.read_next_batch() if count is None else file.get_batch(number)
                        batch.validate(full=True)  # Arrow would read outside the buffers of damaged batches
                    except StopIteration:
                        return
                number += 1
                if batch.num_rows:
                    yield batch.select([sorted(places).index(place) for place in places])

    def _pieces(self, file: Any, places: list[int], batch_bytes: int, kind: str) -> Iterator[Any]:
        step = rows_per_batch(batch_bytes, kind)
        for batch in self._batches_with(places):
            if batch.nbytes > self.memory_bytes:
                raise BudgetError(f"a record batch takes {format_size(batch.nbytes)}, and"
                                  f" {format_size(self.memory_bytes)} are planned for it", path=self.name,
                                  remedy="write the table again in smaller record batches, or as Parquet")
            for begin in range(0, batch.num_rows, step):
                yield batch.slice(begin, step)


_BUFFER_BYTES = 1 << 20
_MAX_ROWS = 1 << 19


class ParquetSource(ColumnFile):
    """See the module."""

    format = "parquet"

    def _opened(self) -> pq.ParquetFile:
        remote = self.input.remote
        place = (self._path_in_place("a Parquet file", "Parquet file") if remote is None
                 else pa.PythonFile(remote.anywhere(), mode="r"))
        with self._damage(DAMAGE, "not a Parquet file, or cut short", AGAIN):
            try:
                file = pq.ParquetFile(place, pre_buffer=False, buffer_size=_BUFFER_BYTES,
                                      page_checksum_verification=True)
                str([(field.name, field.type) for field in file.schema_arrow])  # decodes all names
                return file
            except UnicodeDecodeError as error:
                raise self.error("the name of a column is not UTF-8 text", text=repr(error.object),
                                 remedy="rename the column") from error

    def _schema(self, file: pq.ParquetFile) -> pa.Schema:
        return pa.Table.from_batches([], file.schema_arrow).flatten().schema

    def _n_rows(self, file: pq.ParquetFile) -> int:
        if file.metadata.num_rows <= 0:
            raise EmptyInputError("the table has no rows", path=self.name, remedy=AGAIN)
        return int(file.metadata.num_rows)

    def _pieces(self, file: pq.ParquetFile, places: list[int], batch_bytes: int, kind: str) -> Iterator[Any]:
        names = [self._schema(file).names[place] for place in places]
        size = min(_MAX_ROWS, rows_per_batch(batch_bytes, kind))
        batches = file.iter_batches(size, columns=names, use_threads=False)
        while True:
            with self._damage(DAMAGE, "the data are damaged", AGAIN):
                batch = next(batches, None)
            if batch is None:
                return
            if batch.num_rows:
                yield from pa.Table.from_batches([batch]).flatten().select(names).to_batches()
