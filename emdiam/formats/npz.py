"""Archives of NumPy arrays (.npz): sparse matrices of SciPy (scipy.sparse.save_npz), and arrays of edges.

The members are read as streams, stored or deflated; zipfile checks their CRC at the end. Each stored entry of csr, csc
and coo is an edge for any value. Other contents: npy.py.
"""

from __future__ import annotations

import lzma
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, Any

import numpy as np

from .base import MAX_ID, FileSource
from .csr import ArrayStream, csr_batches
from .npy import DAMAGE, between_sides, blocks, diagonals, edges_of, facts_of, named_columns, named_weights, read_header
from .source import SAID, EdgeBatch, SourceInfo, matrix_note, pairs_per_batch, two_sides
from .weights import kind_of

_REMEDY = "write it with scipy.sparse.save_npz "
_CSR = ("indptr", "indices")
_ARRAYS = {"csr": _CSR, "csc": _CSR, "coo": ("row", "col"), "bsr": _CSR, "dia": ("offsets", "data")}
_FORMAT, _ROWS = "format.npy", "indptr.npy"
_OF_ROWS = {_ROWS, "indices.npy", "data.npy"}
_MOST_DIAGONALS = 1 << 20
_SMALL = 16
_MAX_ITEM_BYTES = 64
_VERTICES = ("num_nodes", "n_nodes", "num_vertices", "n_vertices")
# Errors of zipfile and of NumPy's reader of headers for damaged archives and headers.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, *DAMAGE)


class NpzSource(FileSource):
    """See the module. Ids are 0-based, and n is the number of rows of the matrix, which must be square."""

    format = "npz"
    takes_columns = takes_ends = takes_sides = True
    _consumed = 0
    _declared: int | None = None
    _prefix = ""
    """The beginning of the names of a matrix's members, as in adj_indptr."""

    def _open(self) -> zipfile.ZipFile:
        path = self._path_in_place("an .npz archive", ".npz")
        with self._damage(_DAMAGE, "not an .npz archive, or cut short", _REMEDY):
            return zipfile.ZipFile(path)

    def member(self, archive: zipfile.ZipFile, name: str) -> IO[bytes]:
        """A member, opened for reading. Raises InputError if it is missing."""
        with self._damage(_DAMAGE, f"its member {name} cannot be read", _REMEDY):
            try:
                return archive.open(f"{self._prefix}{name}.npy")
            except KeyError as error:
                raise self.error(f"the archive has no member {name}: no SciPy sparse matrix",
                                 remedy=_REMEDY) from error

    def whole_header(self, member: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        """(shape, whether it is stored column by column, dtype) of a member."""
        with self._damage(_DAMAGE, f"its member {name} is no NumPy array", _REMEDY):
            return read_header(member)

    def header(self, member: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """(shape, dtype) of a member."""
        shape, _, dtype = self.whole_header(member, name)
        return shape, dtype

    def read(self, member: IO[bytes], name: str, size: int) -> bytes:
        """The next bytes of a member."""
        with self._damage(_DAMAGE, f"its member {name} is damaged", "fetch or write it again"):
            data = member.read(size)
        self._consumed += len(data)
        return data

    def _small(self, archive: zipfile.ZipFile, name: str) -> Any:
        """A small member as an array."""
        with self.member(archive, name) as member:
            shape, dtype = self.header(member, name)
            items = math.prod(shape)
            if dtype.kind not in "iuSU" or not 1 <= items <= _SMALL or not 1 <= dtype.itemsize <= _MAX_ITEM_BYTES:
                raise self.error(f"its member {name} is not as SciPy writes it", remedy=_REMEDY)
            data = self.read(member, name, items * dtype.itemsize)
            if len(data) < items * dtype.itemsize:
                raise self.error(f"its member {name} is cut short", remedy="fetch or write it again")
            return np.frombuffer(data, dtype)

    def _is_matrix(self, archive: zipfile.ZipFile) -> bool:
        """Whether the archive has a matrix of SciPy, or without a format: coordinates and a shape, or rows. Sets
        `_prefix`."""
        members = set(archive.namelist())
        plain = self.wishes.columns is None and not (self.weights is not None and self.weights.column)
        if _FORMAT in members or not plain:
            return _FORMAT in members
        self._prefix, rows = "", [name.removesuffix(_ROWS) for name in members if name.endswith(_ROWS)
                                  and name.removesuffix(_ROWS) + "indices.npy" in members]
        square = [prefix for prefix in rows if self._is_square(archive, prefix)]
        self._prefix = square[0] if len(square) == 1 else ""
        return len(square) == 1 or {"row.npy", "col.npy", "shape.npy"} <= members

    def _is_square(self, archive: zipfile.ZipFile, prefix: str) -> bool:
        """Whether a matrix is square; without a shape, whether it is alone in the archive."""
        if f"{prefix}shape.npy" not in archive.namelist():
            return {name.removeprefix(prefix) for name in archive.namelist()} <= _OF_ROWS
        sides = self._small(archive, f"{prefix}shape").tolist()
        return len(sides) == 2 and sides[0] == sides[1]

    def _header_facts(self, archive: zipfile.ZipFile) -> tuple[str, int, int]:
        """(kind of the matrix, rows, columns)."""
        # An old SciPy wrote text with four bytes per letter.
        rows, shaped = (self._prefix + name in archive.namelist() for name in (_ROWS, "shape.npy"))
        kind = ("csr" if rows else "coo") if _FORMAT not in archive.namelist() else self._small(
            archive, "format").tobytes().replace(b"\0", b"").decode("ascii", "replace")
        if kind == "csr" and not shaped:
            with self.member(archive, "indptr") as member:
                n = max(math.prod(self.header(member, "indptr")[0]) - 1, 0)
            return kind, n, n
        if kind not in _ARRAYS:
            raise self.error(f"a sparse matrix of kind {kind!r} is not supported", remedy=_REMEDY)
        sides = self._small(archive, "shape")
        if sides.dtype.kind not in "iu":
            raise self.error(f"the sides of its matrix are {sides.dtype}, not integers", remedy=_REMEDY)
        shape = sides.tolist()
        if len(shape) != 2 or (shape[0] != shape[1] and not self.wishes.bipartite) or not all(
                0 <= side < 2**62 for side in shape):
            raise self.error(f"a matrix of shape {tuple(shape)} is not square, so no adjacency matrix",
                             remedy="give a square matrix, or take rows and columns as two sides with --bipartite")
        return kind, shape[0], shape[1]

    def _n_vertices(self, rows: int, columns: int) -> int:
        """The number of vertices of a matrix, whose rows and columns may be two sides."""
        if not self.wishes.bipartite:
            return rows
        self.notes = (matrix_note(rows, columns),)
        return rows + columns

    def _array(self, stack: ExitStack, archive: zipfile.ZipFile, name: str, kinds: str = "iu") -> ArrayStream:
        """The one-dimensional array `name` of integers, or of these dtype kinds, opened for reading."""
        member = stack.enter_context(self.member(archive, name))
        shape, dtype = self.header(member, name)
        if len(shape) != 1 or not 0 <= shape[0] < 2**60 or dtype.kind not in kinds:
            what = "integers" if kinds == "iu" else "numbers"
            raise self.error(f"its member {name} is {dtype}{list(shape)}, not a row of {what}", remedy=_REMEDY)
        return ArrayStream(lambda size: self.read(member, name, size), dtype, shape[0],
                           lambda what, index, remedy="write it again": self.error(
                               what, text=f"{name}[{index}]", remedy=remedy))

    def _weights(self, stack: ExitStack, archive: zipfile.ZipFile) -> ArrayStream | None:
        """The values of the entries, opened for reading; None if no weights are kept. Raises InputError if they cannot
        be weights."""
        if self.weights is None:
            return None
        if f"{self._prefix}data.npy" not in archive.namelist():
            raise self.no_weights("the archive has no values")
        values = self._array(stack, archive, "data", "iufb")
        kind = kind_of(values.dtype)
        if kind is None:
            raise self.no_weights(f"its values are {values.dtype}")
        self.weight_kind = kind
        return values

    def _n_values(self, archive: zipfile.ZipFile) -> int:
        """The number of values of entries in the archive, without values that only mark an entry."""
        if f"{self._prefix}data.npy" not in archive.namelist():
            return 0
        with self.member(archive, "data") as member:
            shape, dtype = self.header(member, "data")
        return 0 if dtype.kind == "b" else math.prod(shape)

    def _read_info(self) -> SourceInfo:
        with self._open() as archive, ExitStack() as stack:
            if not self._is_matrix(archive):
                info = self._info_of_arrays(archive, stack)
                if info.n_vertices is None and not self.wishes.bipartite:
                    self._declared = self._declared_vertices(archive)
                return info if self._declared is None else replace(info, n_vertices=self._declared)
            if self.wishes.columns is not None or (self.weights is not None and self.weights.column):
                raise self.error("a matrix of SciPy has no columns to choose from",
                                 remedy="leave out --columns, and give --weights alone")
            kind, rows, columns = self._header_facts(archive)
            n = self._n_vertices(rows, columns)
            if kind in ("dia", "bsr"):
                return self._info_of_filled(archive, n)
            entries = self._array(stack, archive, _ARRAYS[kind][1]).length
            weights = self._weights(stack, archive)
        if weights is not None and weights.length != entries:
            raise self.error(f"its member data has {weights.length:,} items for {entries:,} entries", remedy=_REMEDY)
        return self._facts(n_vertices=n, n_entries=entries, directed=True, weights=self.weight_kind, adds_weights=True)

    def _info_of_arrays(self, archive: zipfile.ZipFile, stack: ExitStack) -> SourceInfo:
        columns = named_columns(self, archive)
        if columns is not None:
            length = self._array(stack, archive, columns[0]).length
            named = {} if self.weights is None else {"weight_name": named_weights(self, archive, columns)}
            if named:
                self.weight_kind = self._kind_of_member(archive, named["weight_name"])
            sides = {"id_kind": "string", "reading": SAID} if self.wishes.bipartite else {}
            return self._facts(n_entries=length, directed=True, weights=self.weight_kind, **named, **sides)
        edges, dtype = edges_of(self, archive, stack)
        return facts_of(edges, dtype, self)

    def _declared_vertices(self, archive: zipfile.ZipFile) -> int | None:
        """The number of vertices beside arrays of edges, as PyTorch Geometric and OGB keep it; None without."""
        name = next((name for name in _VERTICES if f"{name}.npy" in archive.namelist()), None)
        found = None if name is None else self._small(archive, name)
        if found is not None and (found.dtype.kind not in "iu" or len(found) != 1 or int(found[0]) < 0):
            raise self.error(f"its member {name} is no number of vertices", remedy="write it again without it")
        return None if found is None else int(found[0])

    def _check_declared(self, batch: EdgeBatch) -> None:
        """Raise InputError if an edge ends beyond the declared vertices."""
        if self._declared is None:
            return
        largest = max(batch.src.max(initial=0), batch.dst.max(initial=0))
        if largest >= self._declared:
            raise self.error(f"the archive declares {self._declared:,} vertices, and an edge ends at {largest}",
                             remedy="write it again with their number, or without")

    def _kind_of_member(self, archive: zipfile.ZipFile, name: str) -> str:
        """The kind of the weights in a member. Raises InputError if they cannot be weights."""
        with self.member(archive, name) as member:
            dtype = self.header(member, name)[1]
        kind = kind_of(dtype)
        if kind is None:
            raise self.no_weights(f"its member {name} has {dtype}")
        return kind

    def _info_of_filled(self, archive: zipfile.ZipFile, n: int) -> SourceInfo:
        with self.member(archive, "data") as member:
            kind = kind_of(self.header(member, "data")[1])
        if self.weights is not None and kind is None:
            raise self.no_weights("its values are none")
        self.weight_kind = kind or "" if self.weights is not None else ""
        return self._facts(n_vertices=n, directed=True, weights=self.weight_kind)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged archive and for indices outside n."""
        self._consumed = 0
        with self._open() as archive, ExitStack() as stack:
            if not self._is_matrix(archive):
                for batch in self._of_arrays(archive, stack, batch_bytes):
                    self._check_declared(batch)
                    yield batch
                return
            kind, rows, columns = self._header_facts(archive)
            batches = (self._of_filled if kind in ("dia", "bsr") else self._of_entries)(
                archive, stack, kind, (rows, columns), batch_bytes)
            for batch in batches:
                yield EdgeBatch(batch.src, batch.dst + rows, batch.weights) if self.wishes.bipartite else batch

    def _of_entries(self, archive: zipfile.ZipFile, stack: ExitStack, kind: str, sides: tuple[int, int],
                    batch_bytes: int) -> Iterator[EdgeBatch]:
        """The entries of csr, csc and coo."""
        first, second = (self._array(stack, archive, name) for name in _ARRAYS[kind])
        values, choice = self._weights(stack, archive), self.weights
        self.dropped = {"values": self._n_values(archive) if values is None else 0}
        weigh = None if values is None or choice is None else lambda count: values.take_weights(count, choice)
        count = pairs_per_batch(batch_bytes)
        if kind == "coo":
            if first.length != second.length:
                raise self.error(f"its members row and col have {first.length} and {second.length} items",
                                 remedy=_REMEDY)
            while first.index < first.length:
                yield EdgeBatch(first.take_ids(count, sides[0], "index"), second.take_ids(count, sides[1], "index"),
                                weigh and weigh(count))
            return
        major, minor = sides if kind == "csr" else sides[::-1]
        if first.length != major + 1:
            raise self.error(f"its member indptr has {first.length:,} items for {major:,} rows", remedy=_REMEDY)
        for batch in csr_batches(first, second, batch_bytes, minor, weigh):
            yield batch if kind == "csr" else EdgeBatch(batch.dst, batch.src, batch.weights)

    def _of_arrays(self, archive: zipfile.ZipFile, stack: ExitStack, batch_bytes: int) -> Iterator[EdgeBatch]:
        columns = named_columns(self, archive)
        if columns is None:
            edges, _ = edges_of(self, archive, stack)
            yield from between_sides(edges, batch_bytes) if self.wishes.bipartite else edges.batches(batch_bytes)
            self.dropped = {"values": edges.n_values}
            return
        first, second = (self._array(stack, archive, name) for name in columns)
        if first.length != second.length:
            raise self.error(f"its members {columns[0]} and {columns[1]} have {first.length} and {second.length} items",
                             remedy=_REMEDY)
        values = None if self.weights is None else self._array(
            stack, archive, named_weights(self, archive, columns), "iufb")
        if values is not None and values.length != first.length:
            raise self.error(f"the archive has {values.length:,} weights of {first.length:,} edges", remedy=_REMEDY)
        count = pairs_per_batch(batch_bytes)
        while first.index < first.length:
            src, dst = (each.take_ids(count, MAX_ID, "id") for each in (first, second))
            batch = EdgeBatch(src, dst, values and self.weights and values.take_weights(count, self.weights))
            yield two_sides(batch) if self.wishes.bipartite else batch

    def _of_filled(self, archive: zipfile.ZipFile, stack: ExitStack, kind: str, sides: tuple[int, int],
                   batch_bytes: int) -> Iterator[EdgeBatch]:
        """The entries of dia and bsr."""
        with self.member(archive, "data") as member:
            shape, dtype = self.header(member, "data")
        if len(shape) != (2 if kind == "dia" else 3) or not all(0 < side < 2**40 for side in shape):
            raise self.error(f"its member data is {dtype}{list(shape)}, not as SciPy writes it", remedy=_REMEDY)
        data = self._values(stack, archive, math.prod(shape), dtype)
        if kind == "dia":
            offsets = self._array(stack, archive, "offsets")
            if offsets.length != shape[0] or offsets.length > _MOST_DIAGONALS:
                raise self.error(f"its members offsets and data have {offsets.length} and {shape[0]} rows",
                                 remedy=_REMEDY)
            yield from diagonals(self, offsets.take(offsets.length), data, shape[1], sides, batch_bytes)
            return
        rows, columns = self._array(stack, archive, "indptr"), self._array(stack, archive, "indices")
        if (columns.length != shape[0] or sides[0] % shape[1] or sides[1] % shape[2]
                or rows.length != sides[0] // shape[1] + 1):
            raise self.error("its members indptr, indices and data do not fit each other", remedy=_REMEDY)
        yield from blocks(self, (rows, columns, data), (shape[1], shape[2]), sides[1] // shape[2], batch_bytes)

    def _values(self, stack: ExitStack, archive: zipfile.ZipFile, length: int, dtype: np.dtype[Any]) -> ArrayStream:
        """The values of the member `data`, of any shape, in order."""
        member = stack.enter_context(self.member(archive, "data"))
        if self.whole_header(member, "data")[1] or dtype.kind not in "biufc":
            raise self.error("its member data is not as SciPy writes it", remedy=_REMEDY)
        return ArrayStream(lambda size: self.read(member, "data", size), dtype, length,
                           lambda what, index, remedy="write it again": self.error(
                               what, text=f"data[{index}]", remedy=remedy))

    def position_bytes(self) -> int:
        """The uncompressed bytes read so far, at most the size of the archive."""
        return min(self._consumed, self.input.size_bytes or 0)
