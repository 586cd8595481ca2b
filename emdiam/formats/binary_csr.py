"""Raw binary CSR files (ECL .egr, GAPBS .sg): where their arrays lie and whether all bytes are there."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .csr_stream import ArrayStream, csr_batches
from .inputs import Input
from .source import EdgeBatch
from .streams import ByteStream

REMEDY = "fetch or write the file again"


@dataclass(frozen=True)
class Layout:
    """header_bytes, then n + 1 offsets, then n_entries neighbours, then nothing or one of `tails`.

    tails : sizes in bytes of what may follow. id_field : as in ArrayStream.
    """

    header_bytes: int
    n_vertices: int
    n_entries: int
    offset_dtype: np.dtype[Any]
    id_dtype: np.dtype[Any]
    tails: tuple[int, ...] = (0,)
    id_field: str | None = None

    @property
    def neighbours_at(self) -> int:
        """Byte where the neighbours begin."""
        return self.header_bytes + (self.n_vertices + 1) * self.offset_dtype.itemsize

    @property
    def end(self) -> int:
        """Byte behind the neighbours."""
        return self.neighbours_at + self.n_entries * self.id_dtype.itemsize


def check_size(source: Input, layout: Layout) -> None:
    """Raises InputError if an uncompressed file is not exactly as long as its header demands."""
    if source.compression is None and source.size_bytes is not None:
        _check_tail(source, layout, source.size_bytes)


def _check_tail(source: Input, layout: Layout, size: int) -> None:
    if size < layout.end:
        raise InputError(f"the file is cut short: its header ({layout.n_vertices} vertices, {layout.n_entries} "
                         f"entries) demands {layout.end} bytes", path=source.name, byte=size, remedy=REMEDY)
    if size - layout.end not in layout.tails:
        raise InputError(f"{size - layout.end} bytes follow the neighbour list, where "
                         f"{' or '.join(map(str, layout.tails))} are expected", path=source.name, byte=layout.end,
                         remedy=REMEDY)


def _error_at(source: Input, start: int, itemsize: int) -> Callable[[str, int], InputError]:
    return lambda what, index: InputError(what, path=source.name, byte=start + index * itemsize, remedy=REMEDY)


def layout_batches(source: Input, layout: Layout, batch_bytes: int) -> Generator[EdgeBatch, None, int]:
    """Pairs of the graph; reads the rest of the file too, so that damage there is noticed. Returns how many bytes
    that is."""
    check_size(source, layout)
    tables, lists = source.open_second(), source.open()
    try:
        tables.skip(layout.header_bytes)
        lists.skip(layout.neighbours_at)
        offsets = _array(source, tables, layout.header_bytes, layout.offset_dtype, layout.n_vertices + 1)
        neighbours = _array(source, lists, layout.neighbours_at, layout.id_dtype, layout.n_entries)
        neighbours.field = layout.id_field
        yield from csr_batches(offsets, neighbours, batch_bytes, layout.n_vertices)
        rest = lists.skip(None if source.compression else max(layout.tails))
        _check_tail(source, layout, layout.end + rest)
        return rest
    finally:
        tables.close()
        lists.close()


def _array(source: Input, stream: ByteStream, start: int, dtype: np.dtype[Any], length: int) -> ArrayStream:
    return ArrayStream(stream, dtype, length, _error_at(source, start, dtype.itemsize))
