"""Parquet tables with two integer columns, or two string columns.

Read row group by row group in batches, buffered by the page, without threads and without
pre-fetching, so that memory is that of one batch and one page per column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .base import FileSource
from .source import EdgeBatch, SourceInfo, pairs_per_batch
from .tables import dropped_columns, in_slices, named_pair

_BUFFER_BYTES = 1 << 20
_MAX_ROWS = 1 << 19
_STRING_SHARE = 4  # strings are taken to be this much larger than int64
# What pyarrow raises for files of any bytes.
_DAMAGE = (pa.ArrowException, OSError, ValueError, TypeError, LookupError, ArithmeticError)
_REMEDY = "give two integer (or two string) columns, e.g. named src and dst"
_AGAIN = "fetch or write it again"


def _kind(data_type: pa.DataType) -> str:
    """ "int", "string" or "" for other types."""
    if pa.types.is_dictionary(data_type):
        data_type = data_type.value_type
        return "string" if pa.types.is_string(data_type) or pa.types.is_large_string(data_type) else ""
    if pa.types.is_integer(data_type):
        return "int"
    texts = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return "string" if any(is_text(data_type) for is_text in texts) else ""


@dataclass(frozen=True)
class _Columns:
    """ids : places of the two columns. names : theirs. kind : "int" or "string", as stored."""

    ids: tuple[int, int]
    names: tuple[str, str]
    kind: str


class ParquetSource(FileSource):
    """See the module."""

    format = "parquet"
    takes_strings = True
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

    def _columns(self, schema: pa.Schema) -> _Columns:
        """The two id columns: those named like an edge, else the first two integers, else the first
        two strings. Raises InputError that lists what there is."""
        kinds, ids = [_kind(data_type) for data_type in schema.types], named_pair(schema.names)
        if ids is None:
            alike = ([i for i, kind in enumerate(kinds) if kind == wanted] for wanted in ("int", "string"))
            ids = next(((places[0], places[1]) for places in alike if len(places) > 1), None)
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
        return _Columns(ids, names, kinds[ids[0]])

    def _read_info(self) -> SourceInfo:
        with self._open() as file:
            columns = self._columns(file.schema_arrow)
            rows = file.metadata.num_rows
        if rows <= 0:
            raise self.error("the table has no rows", remedy=_AGAIN)
        return self._facts(n_entries=rows, directed=True, id_kind=columns.kind if self.ids == "auto" else self.ids)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged file, missing, negative or too large ids."""
        strings = self.info().id_kind == "string"
        size = self.input.size_bytes or 0
        with self._open() as file:
            columns, rows, done = self._columns(file.schema_arrow), file.metadata.num_rows, 0
            for batch in self._arrow_batches(file, columns, batch_bytes):
                src, dst = (self._ids(batch.column(name), name, done, strings) for name in columns.names)
                done += batch.num_rows
                self._consumed = size * done // max(rows, 1)
                yield from in_slices(src, dst, batch_bytes)
            self.dropped = dict.fromkeys(dropped_columns(file.schema_arrow.names, columns.ids), done)

    def _arrow_batches(self, file: pq.ParquetFile, columns: _Columns, batch_bytes: int) -> Iterator[Any]:
        share = 1 if columns.kind == "int" else _STRING_SHARE
        size = max(1, min(_MAX_ROWS, pairs_per_batch(batch_bytes)) // share)
        batches = file.iter_batches(size, columns=list(columns.names), use_threads=False)
        while True:
            with self._damage(_DAMAGE, "the data are damaged", _AGAIN):
                batch = next(batches, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch

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

    def position_bytes(self) -> int:
        """Share of the file in proportion to the rows read."""
        return self._consumed
