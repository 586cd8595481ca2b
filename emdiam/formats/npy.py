"""One array of NumPy (.npy): pairs, edge_index, or an adjacency matrix (see arrays.py). Ids are its numbers."""

from __future__ import annotations

import struct
import tokenize
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np

from ..errors import InputError
from .arrays import MATRIX, ArrayEdges, form_of_array
from .base import FileSource
from .csr import ArrayStream
from .sides import SAID, matrix_note, two_sides
from .source import EdgeBatch, SourceInfo

_HEAD_BYTES = 1 << 16
_REMEDY = "write it with numpy.save from an array of numbers"
# What NumPy's reader of headers raises for any bytes.
DAMAGE = (struct.error, tokenize.TokenError, EOFError, OSError, ValueError, TypeError, LookupError, SyntaxError,
          RuntimeError, ArithmeticError)


def read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """(shape, whether columns are stored one after another, dtype) of what a file of NumPy begins with."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def sides_of(edges: ArrayEdges, source: FileSource) -> dict[str, Any]:
    """What an array declares, as facts of SourceInfo; the notes of its source say how two sides are called."""
    rows, columns = edges.shape
    if edges.kind != MATRIX:
        return {"id_kind": "string", "reading": SAID} if source.wishes.bipartite else {}
    if source.wishes.bipartite:
        source.notes = (matrix_note(rows, columns),)
    return {"n_vertices": rows + columns if source.wishes.bipartite else rows}


def between_sides(edges: ArrayEdges, batch_bytes: int) -> Iterator[EdgeBatch]:
    """The edges of an array between two sides that are numbered apart."""
    for batch in edges.batches(batch_bytes):
        yield replace(batch, dst=batch.dst + edges.shape[0]) if edges.kind == MATRIX else two_sides(batch)


class NpySource(FileSource):
    """See the module."""

    format = "npy"
    takes_columns = takes_ends = takes_sides = True

    def _header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
        """(shape, whether columns are stored one after another, dtype, bytes before the values)."""
        head = BytesIO(self.input.peek(_HEAD_BYTES))
        with self._damage(DAMAGE, "this is no array of NumPy, or cut short", _REMEDY):
            shape, by_columns, dtype = read_header(head)
        if dtype.kind not in "biuf" or any(not 0 <= side < 2**40 for side in shape) or not all(shape):
            raise self.error(f"an array of {dtype} and shape {shape} has no edges", remedy=_REMEDY)
        return shape, by_columns, dtype, head.tell()

    def _edges(self, stack: ExitStack) -> tuple[ArrayEdges, np.dtype[Any]]:
        shape, by_columns, dtype, start = self._header()

        def read(begin: int) -> Callable[[int], Any]:
            stream = stack.enter_context(closing(self.input.open_second() if self.input.rewindable
                                                 else self.input.open()))
            stream.skip(start + begin * dtype.itemsize)
            length = int(np.prod(shape)) - begin
            return ArrayStream(stream.read, dtype, length, lambda what, index, remedy=_REMEDY: self.error(
                what, byte=start + (begin + index) * dtype.itemsize, remedy=remedy)).items

        def refuse(what: str, place: int, **more: Any) -> InputError:
            return self.error(what, byte=start + place * dtype.itemsize, **more)

        form = form_of_array(shape, lambda: self._small(shape, by_columns, dtype, start), self.error, self.wishes)
        return ArrayEdges(form, shape, by_columns, read, self.weights, refuse), dtype

    def _small(self, shape: tuple[int, ...], by_columns: bool, dtype: np.dtype[Any], start: int) -> Any:
        n = int(np.prod(shape))
        data = self.input.peek(start + n * dtype.itemsize)[start:]
        if len(data) < n * dtype.itemsize:
            raise self.error("the data are cut short", byte=start + len(data), remedy=_REMEDY)
        return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")

    def _read_info(self) -> SourceInfo:
        with ExitStack() as stack:
            edges, dtype = self._edges(stack)
        kind = edges.weight_kind(dtype)
        if kind is None:
            raise self.no_weights("the array has none beside the edges")
        self.weight_kind = kind
        return self._facts(n_entries=edges.n_entries, directed=True, weights=kind, **sides_of(edges, self))

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the byte for data that are cut short, and values that are no ids."""
        with ExitStack() as stack:
            edges, _ = self._edges(stack)
            yield from between_sides(edges, batch_bytes) if self.wishes.bipartite else edges.batches(batch_bytes)
        self.dropped = {"values": edges.n_values}
