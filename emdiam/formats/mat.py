"""MATLAB files up to version 7, read by scipy: the only sparse square matrix, or the only square matrix.

In SuiteSparse it is Problem.A. The size of each variable is stored before its bytes, even if compressed, so the memory
for reading is known before; it is refused if the budget is smaller. (Version 7.3 is HDF5: hdf5.py.)

`check_parts` checks the parts of a MATLAB file before scipy reads them ("MAT-File Format", MathWorks, version 5). scipy
trusts the sizes of parts and the indices of sparse matrices, so a damaged file could crash the process. The check
decompresses variables in pieces and compares their checksums.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .arrays import IN_MATLAB, MATRIX, kind_of_array
from .in_memory import ArraySource, DenseSource, MatrixSource
from .source import EdgeSource, SourceInfo
from .streams import ByteStream
from .whole import EXTRA, HeldSource

_LOOKED_AT = 1 << 10
_MATRIX_COPIES = 3  # copies of a variable in memory while scipy converts it to a matrix, with the matrix
_REMEDY = ("save the adjacency matrix alone, sparse, with scipy.io.savemat or MATLAB's save -v7, or a list of edges"
           " with writematrix")


class MatSource(HeldSource):
    """See the module. Vertex v is row and column v, from 0 on."""

    format = "mat"

    def _read_info(self) -> SourceInfo:
        path = self._path_in_place("a MATLAB file", "MATLAB file")
        try:
            from scipy.io import loadmat
        except ImportError as error:
            raise self.error("MATLAB files are read by scipy, which is not installed", remedy=EXTRA) from error
        self._check_room("a MATLAB file is read whole, and its variables",
                         sum(self._variable_bytes()) * _MATRIX_COPIES)
        self._check_parts()
        try:
            variables = loadmat(path, struct_as_record=True)
        except Exception as error:  # scipy may raise anything for damaged bytes
            raise self.error(f"this cannot be read as a MATLAB file ({error})", remedy="fetch it again") from error
        self._edges = self._edges_in(self._chosen(variables))
        return replace(self._edges.info(), format=self.format, size_bytes=self.input.size_bytes)

    def _edges_in(self, matrix: Any) -> EdgeSource:
        """The edges in a square matrix. Raises InputError for a full one that may be a list of edges."""
        if not isinstance(matrix, np.ndarray):
            return MatrixSource(matrix, self.weights)
        if kind_of_array(matrix.shape, lambda: matrix, self.error, forms=IN_MATLAB) == MATRIX:
            return DenseSource(matrix, self.weights)
        if self.weights is not None:
            raise self.no_weights("its array has pairs alone")
        return ArraySource(matrix[:, 0], matrix[:, 1])

    def _chosen(self, variables: dict[str, Any]) -> Any:
        """The matrix of the graph, sparse or full. Raises InputError unless there is exactly one."""
        from scipy.sparse import issparse

        found = {name: value for name, value in variables.items() if not name.startswith("__")}
        problem = found.get("Problem")
        if isinstance(problem, np.ndarray) and problem.size == 1 and "A" in (problem.dtype.names or ()):
            found = {"Problem.A": problem.item()[problem.dtype.names.index("A")]}
        square = {name: value for name, value in found.items() if _is_square(value)}
        sparse = {name: value for name, value in square.items() if issparse(value)}
        for some in (sparse, square):
            if len(some) == 1:
                return next(iter(some.values()))
        listed = ", ".join(f"{name} {getattr(value, 'shape', '')}" for name, value in list(found.items())[:8])
        raise self.error(f"the file has not one square matrix, but {listed or 'no variable'}", remedy=_REMEDY)

    def _variable_bytes(self) -> Iterator[int]:
        """The decompressed size of each variable in bytes, from the tag before it."""
        with closing(self.input.open()) as stream:
            head = stream.peek(HEADER_BYTES)
            number = np.dtype((">" if head[126:128] == b"MI" else "<") + "u4")
            stream.skip(HEADER_BYTES)
            while len(tag := stream.peek(TAG_BYTES)[:TAG_BYTES]) == TAG_BYTES:
                kind, size = np.frombuffer(tag, number).tolist()
                stream.skip(TAG_BYTES)
                if kind == COMPRESSED:
                    inner = self._first_tag(stream.peek(min(size, _LOOKED_AT)))
                    yield int(np.frombuffer(inner, number)[1]) if len(inner) == TAG_BYTES else size
                else:
                    yield size
                stream.skip(size)

    def _check_parts(self) -> None:
        """Raise InputError for damage that could crash scipy."""
        try:
            with closing(self.input.open()) as stream:
                check_parts(stream)
        except DamageError as error:
            raise self.error(f"its data are damaged ({error})", remedy="fetch it again") from error

    def _first_tag(self, packed: bytes) -> bytes:
        """The tag of a compressed variable."""
        with self._damage((zlib.error,), "its data are damaged", "fetch it again"):
            return zlib.decompressobj().decompress(packed, TAG_BYTES)


def _is_square(value: Any) -> bool:
    """Whether the value is a square matrix of numbers with more than one row."""
    sides, dtype = list(getattr(value, "shape", ())), getattr(value, "dtype", None)
    kinds = "biuf" if isinstance(value, np.ndarray) else "biufc"
    return len(sides) == 2 and sides[0] == sides[1] > 1 and dtype is not None and dtype.kind in kinds


HEADER_BYTES, TAG_BYTES = 128, 8
COMPRESSED = 15
_FLAGS, _MATRIX = 6, 14
# Classes of variables: cells, structs, objects, functions and classes of MATLAB contain variables.
_CELL, _STRUCT, _OBJECT, _TEXT, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17
_NESTED = (_CELL, _STRUCT, _OBJECT, _FUNCTION, _OPAQUE)
_COMPLEX = 1 << 11
_LEAST_SIDES, _MOST_SIDES, _MOST_NESTED = 2, 32, 64
# Number of entries that a cell, struct or text may have without matching bytes: some writers leave texts empty.
_FEW = 1 << 16
_PIECE = 1 << 20
# Dtypes by the number of the type in the file.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8", 16: "u1",
          17: "u2", 18: "u4"}


class DamageError(Exception):
    """Raised for a damaged file; the text describes the damage."""


def check_parts(stream: ByteStream) -> None:
    """Read and check a whole file.

    Parameters
    ----------
    stream : ByteStream
        The file, at its start.

    Raises
    ------
    DamageError
        If the parts of a variable do not fill it, or a sparse matrix has an index outside its rows or columns.
    """
    head = stream.peek(HEADER_BYTES)
    order = ">" if head[126:128] == b"MI" else "<"
    stream.skip(HEADER_BYTES)
    while len(tag := _read(stream, TAG_BYTES)) == TAG_BYTES:
        kind, size = np.frombuffer(tag, order + "u4").tolist()
        if kind == COMPRESSED:
            inflated = _Inflated(stream, size)
            inner = np.frombuffer(_read(inflated, TAG_BYTES).ljust(TAG_BYTES, b"\0"), order + "u4")
            _Parts(inflated, order, int(inner[1])).check()
            inflated.finish()
        else:
            _Parts(stream, order, size).check()


class _Bytes(Protocol):
    """A file, or a compressed variable: the source of parts."""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty only at the end."""
        ...

    def skip(self, size: int) -> int:
        """Skip `size` bytes; returns the number of skipped bytes."""
        ...


class _Inflated:
    """The decompressed bytes of a variable. size : its compressed bytes in the stream."""

    def __init__(self, stream: ByteStream, size: int) -> None:
        self._stream, self._left, self._inflate = stream, size, zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """At most `size` bytes; empty only at the end. Raises DamageError."""
        while size > 0 and not self._inflate.eof:
            packed = self._inflate.unconsumed_tail
            if not packed:
                packed = self._stream.read(min(self._left, _PIECE))
                self._left -= len(packed)
            try:
                data = self._inflate.decompress(packed, min(size, _PIECE))
            except zlib.error as error:
                raise DamageError(str(error)) from error
            if data or not packed:
                return data
        return b""

    def skip(self, size: int) -> int:
        """Skip `size` bytes; returns the number of skipped bytes."""
        passed = 0
        while passed < size and (data := self.read(size - passed)):
            passed += len(data)
        return passed

    def finish(self) -> None:
        """Raise DamageError unless all was read and the checksum is right; moves the stream after the variable."""
        if self.read(1) or not self._inflate.eof:
            raise DamageError("a compressed variable is longer or shorter than its size")
        self._stream.skip(self._left)


@dataclass(frozen=True)
class _Part:
    """A part of a variable. kind : number of the type of its values. size : bytes. data : the bytes, if kept."""

    kind: int
    size: int
    data: bytes
    order: str

    def whole_numbers(self) -> list[int]:
        """The values. Raises DamageError unless they are whole numbers."""
        return self.indices().tolist()

    def indices(self) -> npt.NDArray[np.int64]:
        """The values as an array. Raises DamageError unless they are whole numbers."""
        values = np.dtype(self.order + _TYPES[self.kind])
        if values.kind == "f" or values == np.uint64:
            raise DamageError("a size or an index is no whole number")
        return np.frombuffer(self.data, values, len(self.data) // values.itemsize).astype(np.int64)

    def holds(self, count: int) -> bool:
        """Whether the part has `count` values; logical values may have one byte each, for any type."""
        return count in (0, self.size) or count <= self.size // np.dtype(_TYPES[self.kind]).itemsize


class _Parts:
    """The parts of a variable of `size` bytes. depth : number of variables around it."""

    def __init__(self, stream: _Bytes, order: str, size: int, depth: int = 0) -> None:
        self._stream, self._order, self._left, self._depth = stream, order, size, depth
        if depth > _MOST_NESTED:
            raise DamageError(f"variables inside each other, more than {_MOST_NESTED} deep")

    def check(self) -> None:
        """Check all parts. Raises DamageError unless they match the class of the variable."""
        if not self._left:  # a cell without a value
            return
        flags = self._next(keep=True)
        if (flags.kind, flags.size) != (_FLAGS, TAG_BYTES):
            raise DamageError("a variable without a class")
        word = flags.whole_numbers()[0]
        kind, values = word & 0xFF, 2 if word & _COMPLEX else 1
        if kind != _OPAQUE:
            sides = self._next(keep=True).whole_numbers()
            if not _LEAST_SIDES <= len(sides) <= _MOST_SIDES:
                raise DamageError(f"a variable of {len(sides)} dimensions")
            self._next()
        if kind in (_CELL, _STRUCT, _OBJECT, _TEXT):
            self._check_entries(sides)
        if kind in _NESTED:
            while self._left > 0:
                self._next(nested=True)
            return
        if kind == _SPARSE:
            self._check_sparse(sides)
            values -= 1
        for _ in range(values):
            self._next()
        if self._left:
            raise DamageError("a variable has more parts than its class")

    def _check_entries(self, sides: list[int]) -> None:
        """Check the number of entries, because scipy allocates an array of this size before it reads them."""
        if min(sides, default=0) < 0 or math.prod(sides) > max(_FEW, self._left):
            raise DamageError("a cell, struct or text has fewer entries than its size")

    def _check_sparse(self, sides: list[int]) -> None:
        rows, ends, values = self._next(keep=True).indices(), self._next(keep=True).indices(), self._next()
        if len(sides) != 2 or min(sides) < 0 or len(ends) <= sides[1]:
            raise DamageError("a sparse matrix has fewer columns than its size")
        ends = ends[: sides[1] + 1]
        count = int(ends[-1])
        if ends[0] != 0 or (np.diff(ends) < 0).any() or count > len(rows) or not values.holds(count):
            raise DamageError("the columns of a sparse matrix have ends that decrease or are outside its entries")
        used = rows[:count]
        if count and not 0 <= used.min() <= used.max() < sides[0]:
            raise DamageError("an index of a sparse matrix is outside its rows")

    def _next(self, *, keep: bool = False, nested: bool = False) -> _Part:
        """The next part. keep : store its bytes. nested : it may be a variable, which is then checked."""
        tag = _read(self._stream, TAG_BYTES)
        if len(tag) < TAG_BYTES or self._left < TAG_BYTES:
            raise DamageError("it is cut short")
        kind, size = np.frombuffer(tag, self._order + "u4").tolist()
        self._left -= TAG_BYTES
        if kind >> 16:  # the tag of a small part includes its size and its bytes
            kind, size = kind & 0xFFFF, kind >> 16
            data = tag[TAG_BYTES // 2 :][:size]
        elif kind == _MATRIX and nested and size <= self._left:
            self._left -= size
            _Parts(self._stream, self._order, size, self._depth + 1).check()
            return _Part(kind, size, b"", self._order)
        else:
            data = self._large(size, keep)
        if kind not in _TYPES:
            raise DamageError(f"values of the type {kind}")
        return _Part(kind, size, data, self._order)

    def _large(self, size: int, keep: bool) -> bytes:
        """The bytes of a part after its tag, padded to a multiple of 8; empty unless `keep`."""
        padded = -(-size // TAG_BYTES) * TAG_BYTES
        if padded > self._left:
            raise DamageError("a part is larger than its variable")
        self._left -= padded
        data = _read(self._stream, padded) if keep else b""
        if (len(data) if keep else self._stream.skip(padded)) < padded:
            raise DamageError("it is cut short")
        return data[:size]


def _read(stream: _Bytes, size: int) -> bytes:
    """The next `size` bytes; fewer only at the end."""
    pieces, have = [], 0
    while have < size and (piece := stream.read(size - have)):
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)
