"""The parts of the variables of a MATLAB file, checked before scipy reads them: it trusts their sizes, and indices of
sparse matrices, so that a damaged file could end the process. ("MAT-File Format", MathWorks, version 5.)

Variables that are compressed are unpacked for that, a piece at a time, and their checksums compared.
"""

from __future__ import annotations

import zlib
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .streams import ByteStream

HEADER_BYTES, TAG_BYTES = 128, 8
COMPRESSED = 15
_SPARSE, _MATRIX = 5, 14
_PIECE = 1 << 20
# Types of values by their number.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8", 16: "u1"}


class DamageError(Exception):
    """What is wrong with a file."""


def check_parts(stream: ByteStream) -> None:
    """Read a file from its first byte to its last. Raises DamageError for parts that do not fill their variable, and
    for a sparse matrix whose indices are none."""
    head = stream.peek(HEADER_BYTES)
    order = ">" if head[126:128] == b"MI" else "<"
    stream.skip(HEADER_BYTES)
    while len(tag := _read(stream, TAG_BYTES)) == TAG_BYTES:
        kind, size = np.frombuffer(tag, order + "u4").tolist()
        if kind == COMPRESSED:
            inflated = _Inflated(stream, size)
            tag = _read(inflated, TAG_BYTES)
            _Parts(inflated, order, int(np.frombuffer(tag, order + "u4")[1]) if len(tag) == TAG_BYTES else 0).check()
            inflated.finish()
        else:
            _Parts(stream, order, size).check()


class _Bytes(Protocol):
    """What parts are read from: a file, or a variable that is unpacked."""

    def read(self, size: int) -> bytes:
        """At most so many bytes; none at the end."""
        ...

    def skip(self, size: int) -> int:
        """Pass over so many bytes; returns how many there were."""
        ...


class _Inflated:
    """The bytes of a variable that takes `size` bytes of the stream."""

    def __init__(self, stream: ByteStream, size: int) -> None:
        self._stream, self._left, self._inflate = stream, size, zlib.decompressobj()

    def read(self, size: int) -> bytes:
        """As of a file. Raises DamageError."""
        while size > 0:
            packed = self._inflate.unconsumed_tail or self._stream.read(min(self._left, _PIECE))
            if not self._inflate.unconsumed_tail:
                self._left -= len(packed)
            try:
                data = self._inflate.decompress(packed, min(size, _PIECE))
            except zlib.error as error:
                raise DamageError(str(error)) from error
            if data or not packed:
                return data
        return b""

    def skip(self, size: int) -> int:
        """Pass over so many bytes; returns how many there were."""
        passed = 0
        while passed < size and (data := self.read(size - passed)):
            passed += len(data)
        return passed

    def finish(self) -> None:
        """Raise DamageError unless all was read and has its checksum; the stream is behind the variable then."""
        if self.read(1) or not self._inflate.eof:
            raise DamageError("a compressed variable is longer or shorter than it says")
        self._stream.skip(self._left)


class _Parts:
    """The parts of a variable of `size` bytes."""

    def __init__(self, stream: _Bytes, order: str, size: int) -> None:
        self._stream, self._order, self._left = stream, order, size

    def check(self) -> None:
        """Pass over all of them."""
        if self._is_sparse():
            self._check_sparse()
        while self._left > 0:
            self._next(keep=False)

    def _is_sparse(self) -> bool:
        """Whether the first part, if there is one, says so. The parts of cells and structs may be variables, which are
        checked like others."""
        flags = self._next() if self._left > 0 else np.empty(0, np.uint32)
        return bool(len(flags) and int(flags[0]) & 0xFF == _SPARSE)

    def _check_sparse(self) -> None:
        sides, _name, rows, ends, values = (self._next() for _ in range(5))
        if len(sides) != 2 or len(ends) != int(sides[1]) + 1 or any(part.dtype.kind == "f" for part in (rows, ends)):
            raise DamageError("a sparse matrix has not as many columns as it says")
        wide = ends.astype(np.int64)
        if wide[0] != 0 or (np.diff(wide) < 0).any() or wide[-1] > min(len(rows), len(values)):
            raise DamageError("the columns of a sparse matrix have no ends that increase")
        if len(rows) and not (0 <= int(rows.min()) and int(rows[: wide[-1]].max(initial=0)) < int(sides[0])):
            raise DamageError("an index of a sparse matrix is outside its rows")

    def _next(self, keep: bool = True) -> npt.NDArray[Any]:
        """The values of the next part; none unless they are to be kept."""
        tag = _read(self._stream, TAG_BYTES)
        if len(tag) < TAG_BYTES or self._left < TAG_BYTES:
            raise DamageError("it is cut short")
        kind, size = np.frombuffer(tag, self._order + "u4").tolist()
        self._left -= TAG_BYTES
        if kind >> 16:  # a small part lies in its tag
            kind, size = kind & 0xFFFF, kind >> 16
            data = tag[4 : 4 + size]
        else:
            padded = -(-size // TAG_BYTES) * TAG_BYTES
            if padded > self._left:
                raise DamageError("a part is larger than its variable")
            if kind == _MATRIX and not keep:
                self._left -= size
                _Parts(self._stream, self._order, size).check()
                return np.empty(0)
            data = _read(self._stream, padded)[:size] if keep else b""
            if (len(data) if keep else self._stream.skip(padded)) < (size if keep else padded):
                raise DamageError("it is cut short")
            self._left -= padded
        if keep and kind not in _TYPES:
            raise DamageError(f"values of the type {kind}")
        values = np.dtype(self._order + _TYPES.get(kind, "u1"))
        return np.frombuffer(data, values, len(data) // values.itemsize)


def _read(stream: _Bytes, size: int) -> bytes:
    """That many bytes, fewer at the end."""
    pieces, have = [], 0
    while have < size and (piece := stream.read(size - have)):
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)
