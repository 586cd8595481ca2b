"""One array of NumPy (.npy): pairs, edge_index, or an adjacency matrix (see arrays.py). Ids are its numbers.

Also the contents of .npz archives other than SciPy's csr, csc and coo: an edge_index or a list of pairs, columns of
sources and targets, and SciPy's dia and bsr, whose zeros are no edges since they only fill rows and blocks.
"""

from __future__ import annotations

import struct
import tokenize
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .arrays import MATRIX, ArrayEdges, form_of_array
from .base import FileSource
from .csr import ArrayStream, csr_batches
from .inputs import Input
from .source import SAID, EdgeBatch, SourceInfo, matrix_note, pairs_per_batch, two_sides
from .weights import checked_weights, name_a_column, weight_column

if TYPE_CHECKING:
    import zipfile

    from .npz import NpzSource

_HEAD_BYTES = 1 << 16
_REMEDY = "write it with numpy.save from an array of numbers"
# Errors of NumPy's reader of headers for damaged bytes.
DAMAGE = (struct.error, tokenize.TokenError, EOFError, OSError, ValueError, TypeError, LookupError, SyntaxError,
          RuntimeError, ArithmeticError)


def read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """(shape, whether the array is stored column by column, dtype) from the header of a NumPy file."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


@dataclass(frozen=True)
class ArrayHeader:
    """The header of a NumPy file. by_columns : whether the array is stored column by column. start : bytes before the
    values."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    start: int

    def check_size(self, source: Input) -> None:
        """Raise InputError if the size of an uncompressed file differs from the header."""
        size = self.start + int(np.prod(self.shape)) * self.dtype.itemsize
        if source.compression is None and source.size_bytes is not None and source.size_bytes != size:
            cut = ": it is cut short" if source.size_bytes < size else ""
            raise InputError(f"its header demands {size:,} bytes, and the file has {source.size_bytes:,}{cut}",
                             path=source.name, byte=min(size, source.size_bytes), remedy=_REMEDY)


def header_of_array(source: Input) -> ArrayHeader:
    """The header of an array of numbers. Raises InputError for other files."""
    head = BytesIO(source.peek(_HEAD_BYTES))
    try:
        shape, by_columns, dtype = read_header(head)
    except DAMAGE as error:
        why = str(error).partition("\n")[0]
        raise InputError(f"this is no array of NumPy, or cut short ({why})", path=source.name,
                         remedy=_REMEDY) from error
    if dtype.kind not in "biuf" or any(not 0 <= side < 2**40 for side in shape) or not all(shape):
        raise InputError(f"an array of {dtype} and shape {shape} has no edges", path=source.name,
                         remedy="write an edge of names a row, as CSV" if dtype.kind in "USO" else _REMEDY)
    return ArrayHeader(shape, by_columns, dtype, head.tell())


def facts_of(edges: ArrayEdges, dtype: np.dtype[Any], source: FileSource) -> SourceInfo:
    """The facts that an array declares; adds the ids of two sides to the notes of its source. Raises InputError if
    weights are wanted and the array has none."""
    kind = edges.weight_kind(dtype)
    if kind is None:
        raise source.no_weights("the array has none beside the edges")
    source.weight_kind = kind
    rows, columns = edges.shape
    sides: dict[str, Any] = {"id_kind": "string", "reading": SAID} if source.wishes.bipartite else {}
    if edges.kind == MATRIX:
        sides = {"n_vertices": rows + columns if source.wishes.bipartite else rows}
        source.notes = (matrix_note(rows, columns),) if source.wishes.bipartite else ()
    return source._facts(n_entries=edges.n_entries, directed=True, weights=kind, **sides)


def between_sides(edges: ArrayEdges, batch_bytes: int) -> Iterator[EdgeBatch]:
    """The edges of a bipartite array, with separate ids for the two sides."""
    for batch in edges.batches(batch_bytes):
        yield replace(batch, dst=batch.dst + edges.shape[0]) if edges.kind == MATRIX else two_sides(batch)


class NpySource(FileSource):
    """See the module."""

    format = "npy"
    takes_columns = takes_ends = takes_sides = True

    def _edges(self, stack: ExitStack) -> tuple[ArrayEdges, np.dtype[Any]]:
        header = header_of_array(self.input)
        header.check_size(self.input)
        shape, by_columns, dtype, start = header.shape, header.by_columns, header.dtype, header.start

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
        return facts_of(edges, dtype, self)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError with the byte for data that are cut short, and for invalid ids."""
        with ExitStack() as stack:
            edges, _ = self._edges(stack)
            yield from between_sides(edges, batch_bytes) if self.wishes.bipartite else edges.batches(batch_bytes)
        self.dropped = {"values": edges.n_values}


_NAMES = ("edge_index", "edges", "edge_list", "adj", "adjacency", "A")
_COLUMNS = (("src", "dst"), ("source", "target"), ("row", "col"))
_ARRAY_REMEDY = "write it with scipy.sparse.save_npz, or edge_index of shape (2, E) with numpy.savez"


def find_array(source: NpzSource, archive: zipfile.ZipFile) -> str:
    """The name of the member with the edges: one with a known name, or the only two-dimensional one. Raises InputError
    if there is none."""
    names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    shapes = {}
    for name in names:
        with source.member(archive, name) as member:
            shapes[name] = source.header(member, name)[0]
    flat = [name for name in names if len(shapes[name]) == 2]
    found = [name for name in _NAMES if name in flat] or flat
    if len(found) != 1 and not any(name in _NAMES for name in found):
        listed = ", ".join(f"{name}{list(shape)}" for name, shape in list(shapes.items())[:8])
        columns = len(names) > 1 and not flat and "indptr" not in names
        raise source.error("the archive has no member format, so no matrix of SciPy, and not one array of edges"
                           f" ({listed or 'no array'})", remedy=f"name two of its members, as in --columns {names[0]},"
                           f"{names[1]}" if columns else _ARRAY_REMEDY)
    return found[0]


def edges_of(source: NpzSource, archive: zipfile.ZipFile, stack: ExitStack) -> tuple[ArrayEdges, np.dtype[Any]]:
    """The edges in the member with edges, and its dtype."""
    name = find_array(source, archive)
    with source.member(archive, name) as member:
        shape, by_columns, dtype = source.whole_header(member, name)
    if dtype.kind not in "biuf" or any(not 0 < side < 2**40 for side in shape):
        raise source.error(f"its member {name} is {dtype}{list(shape)}, which has no edges", remedy=_ARRAY_REMEDY)

    def read(begin: int) -> Callable[[int], Any]:
        member = stack.enter_context(source.member(archive, name))
        source.header(member, name)
        _skip(lambda size: source.read(member, name, size), begin * dtype.itemsize)
        return ArrayStream(lambda size: source.read(member, name, size), dtype, int(np.prod(shape)) - begin,
                           lambda what, index, remedy=_ARRAY_REMEDY: source.error(
                               what, text=f"{name}, value {begin + index}", remedy=remedy)).items

    def small() -> Any:
        return read(0)(int(np.prod(shape))).reshape(shape, order="F" if by_columns else "C")

    form = form_of_array(shape, small, source.error, source.wishes, name)

    def refuse(what: str, place: int, text: str | None = None, remedy: str = _ARRAY_REMEDY) -> InputError:
        return source.error(f"{what} (value {place} of {name})", text=text, remedy=remedy)

    return ArrayEdges(form, shape, by_columns, read, source.weights, refuse), dtype


def named_weights(source: NpzSource, archive: zipfile.ZipFile, columns: tuple[str, str]) -> str:
    """The name of the member with the weights, if two others have the ends. Raises InputError if it is not clear."""
    assert source.weights is not None
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    others = [place for place, name in enumerate(names) if name not in columns]
    place = weight_column(names, others, source.weights.column)
    if place is None:
        what = f"no member {source.weights.column}" if source.weights.column else "not one member of weights"
        raise source.error(f"the archive has {what} beside the ids"
                           f" ({', '.join(names[i] for i in others) or 'there is no other member'})",
                           remedy=name_a_column([names[i] for i in others], source.weights.column, others))
    return names[place]


def _skip(read: Callable[[int], bytes], size: int) -> None:
    while size > 0 and (piece := read(min(size, 1 << 20))):
        size -= len(piece)


def named_columns(source: NpzSource, archive: zipfile.ZipFile) -> tuple[str, str] | None:
    """The names of the two members with the ends: the user's, or two with names of ends, or row and col; None if the
    edges are in one array. Raises InputError for missing members."""
    names = [name.removesuffix(".npy") for name in archive.namelist()]
    wanted = source.wishes.columns
    if wanted is not None:
        if set(wanted) <= set(names):
            return wanted
        if all(map(str.isdecimal, wanted)):
            return None
        raise source.error("the archive has no such two columns", text=",".join(wanted),
                           remedy=f"name two of its members: {', '.join(names[:8])}")
    return next((pair for pair in _COLUMNS if set(pair) <= set(names)), None)


def diagonals(source: NpzSource, offsets: Any, data: ArrayStream, width: int, sides: tuple[int, int],
              batch_bytes: int) -> Iterator[EdgeBatch]:
    """The entries of SciPy's dia: row k of `data`, of `width` values, has the entry in column j of diagonal offsets[k]
    at place j."""
    step = pairs_per_batch(batch_bytes) // 2 or 1
    for offset in offsets.tolist():
        for begin in range(0, width, step):
            values = data.items(min(step, width - begin))
            columns = begin + np.flatnonzero(values)
            rows = columns - offset
            inside = (rows >= 0) & (rows < sides[0]) & (columns < sides[1])
            kept = values[values != 0][inside]
            if len(kept):
                yield EdgeBatch(rows[inside], columns[inside], _weighed(source, kept))


def blocks(source: NpzSource, streams: tuple[ArrayStream, ArrayStream, ArrayStream], block: tuple[int, int],
           n_columns: int, batch_bytes: int) -> Iterator[EdgeBatch]:
    """The entries of SciPy's bsr: like csr, with blocks of this shape as values. streams : indptr, indices and data."""
    offsets, indices, data = streams
    size = block[0] * block[1]
    for batch in csr_batches(offsets, indices, max(16, batch_bytes // size), n_columns):
        values = data.items(len(batch.src) * size).reshape(-1, *block)
        which, row, column = np.nonzero(values)
        if len(which):
            yield EdgeBatch(batch.src[which] * block[0] + row, batch.dst[which] * block[1] + column,
                            _weighed(source, values[which, row, column]))


def _weighed(source: NpzSource, values: Any) -> Any:
    if source.weights is None:
        return None
    return checked_weights(values, source.weights, lambda what, _place, **more: source.error(what, **more))
