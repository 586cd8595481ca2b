"""Parquet tables with two integer columns, or two string columns.

Read row group by row group in batches, buffered by the page, without threads and without
pre-fetching, so that memory is that of one batch and one page per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .arrow_edges import ArrowEdges, EdgeColumns, rows_per_batch
from .base import FileSource
from .source import EdgeBatch, SourceInfo
from .tables import dropped_columns, in_slices

_BUFFER_BYTES = 1 << 20
_MAX_ROWS = 1 << 19
# What pyarrow raises for files of any bytes.
_DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError)
_AGAIN = "fetch or write it again"


class ParquetSource(ArrowEdges, FileSource):
    """See the module."""

    format = "parquet"
    takes_strings = takes_columns = True
    _consumed = 0

    def _open(self) -> pq.ParquetFile:
        path = self._path_in_place("a Parquet file", "Parquet file")
        with self._damage(_DAMAGE, "not a Parquet file, or cut short", _AGAIN):
            try:
                file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES,
                                      page_checksum_verification=True)
                str([(field.name, field.type) for field in file.schema_arrow])  # all names are decoded
                return file
            except UnicodeDecodeError as error:
                raise self.error("the name of a column is not UTF-8 text", text=repr(error.object),
                                 remedy="rename the column") from error

    def _read_info(self) -> SourceInfo:
        with self._open() as file:
            columns = self._columns(file.schema_arrow)
            rows = file.metadata.num_rows
        if rows <= 0:
            raise self.error("the table has no rows", remedy=_AGAIN)
        self.weight_kind = columns.weight_kind
        return self._facts(n_entries=rows, directed=True, id_kind=columns.kind if self.ids == "auto" else self.ids,
                           weights=columns.weight_kind)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged file, missing, negative or too large ids."""
        strings = self.info().id_kind == "string"
        size = self.input.size_bytes or 0
        with self._open() as file:
            columns, rows, done = self._columns(file.schema_arrow), file.metadata.num_rows, 0
            names = file.schema_arrow.names
            weight = None if columns.weight is None else names[columns.weight]
            for batch in self._arrow_batches(file, columns, batch_bytes, [] if weight is None else [weight]):
                src, dst = (self._ids(batch.column(name), name, done, strings) for name in columns.names)
                weights = None if weight is None else self._weights(batch.column(weight), weight, done)
                done += batch.num_rows
                self._consumed = size * done // max(rows, 1)
                yield from in_slices(src, dst, batch_bytes, weights)
            self.dropped = dict.fromkeys(dropped_columns(names, columns.ids, columns.weight), done)

    def _arrow_batches(self, file: pq.ParquetFile, columns: EdgeColumns, batch_bytes: int,
                       more: list[str]) -> Iterator[Any]:
        """Batches of the ids, and of `more` columns."""
        size = min(_MAX_ROWS, rows_per_batch(batch_bytes, columns.kind))
        batches = file.iter_batches(size, columns=[*columns.names, *more], use_threads=False)
        while True:
            with self._damage(_DAMAGE, "the data are damaged", _AGAIN):
                batch = next(batches, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch

    def position_bytes(self) -> int:
        """Share of the file in proportion to the rows read."""
        return self._consumed
