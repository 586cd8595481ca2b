"""Parquet tables with two columns of ids, or one of ids and one of lists of neighbours; fields of a struct are columns.

Read row group by row group in batches, buffered by the page, without threads and without
pre-fetching, so that memory is that of one batch and one page per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .arrow_edges import rows_per_batch
from .column_files import AGAIN, DAMAGE, ColumnFile

_BUFFER_BYTES = 1 << 20
_MAX_ROWS = 1 << 19


class ParquetSource(ColumnFile):
    """See the module."""

    format = "parquet"

    def _opened(self) -> pq.ParquetFile:
        path = self._path_in_place("a Parquet file", "Parquet file")
        with self._damage(DAMAGE, "not a Parquet file, or cut short", AGAIN):
            try:
                file = pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER_BYTES,
                                      page_checksum_verification=True)
                str([(field.name, field.type) for field in file.schema_arrow])  # all names are decoded
                return file
            except UnicodeDecodeError as error:
                raise self.error("the name of a column is not UTF-8 text", text=repr(error.object),
                                 remedy="rename the column") from error

    def _schema(self, file: pq.ParquetFile) -> pa.Schema:
        return pa.Table.from_batches([], file.schema_arrow).flatten().schema

    def _n_rows(self, file: pq.ParquetFile) -> int:
        if file.metadata.num_rows <= 0:
            raise self.error("the table has no rows", remedy=AGAIN)
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
