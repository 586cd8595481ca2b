"""Arrow files (.arrow, Feather of version 2) and Arrow streams: record batches of columns, as in Parquet.

A record batch is in memory as a whole, of the columns that are read alone, so that the largest one counts. The first is
looked at for the memory plan; one that is much larger is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from ..errors import BudgetError
from ..units import format_size
from .arrow_edges import rows_per_batch
from .column_files import AGAIN, DAMAGE, ColumnFile
from .source import SourceInfo

_FILE_MARK = b"ARROW1"
_LEAST_BYTES = 16 << 20
_COPIES = 2  # a batch as it is stored, and decompressed


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
            str([(field.name, field.type) for field in file.schema])  # all names are decoded
        return file.schema

    def _n_rows(self, file: Any) -> int | None:
        return None

    def _read_info(self) -> SourceInfo:
        info = super()._read_info()
        with self._opened() as file:
            columns = self._columns(file.schema)
            places = [*columns.ids, *([] if columns.weight is None else [columns.weight])]
        first = next(self._batches_with(places), None)
        if first is None:
            raise self.error("the table has no rows", remedy=AGAIN)
        self.memory_bytes = max(_LEAST_BYTES, _COPIES * first.nbytes)
        return info

    def _batches_with(self, places: list[int]) -> Iterator[Any]:
        """All record batches that have rows, with the columns in these places."""
        with self._opened(places) as file:
            count = getattr(file, "num_record_batches", None)
            number = 0
            while count is None or number < count:
                with self._damage(DAMAGE, "the data are damaged", AGAIN):
                    try:
                        batch = file.read_next_batch() if count is None else file.get_batch(number)
                        batch.validate(full=True)  # of damaged ones Arrow would read outside its buffers
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
