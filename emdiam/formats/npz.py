"""SciPy sparse matrices in .npz archives (scipy.sparse.save_npz): csr, csc and coo.

The members are read as streams, stored or deflated; zipfile checks their CRC at the end. Every
stored entry is an edge whatever its value.
"""

from __future__ import annotations

import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, Any

import numpy as np

from .base import FileSource
from .csr import ArrayStream, csr_batches
from .source import EdgeBatch, SourceInfo, pairs_per_batch
from .weights import kind_of

_REMEDY = "write it with scipy.sparse.save_npz from a csr, csc or coo matrix"
_ARRAYS = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
_SMALL = 16
_MAX_ITEM_BYTES = 64
# What zipfile, and NumPy's reader of headers, raise for archives and headers of any bytes.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, tokenize.TokenError, EOFError, OSError,
           ValueError, TypeError, LookupError, SyntaxError, RuntimeError, ArithmeticError)


class NpzSource(FileSource):
    """See the module. Ids are 0-based and n is the side of the matrix, which must be square."""

    format = "npz"
    _consumed = 0

    def _open(self) -> zipfile.ZipFile:
        path = self._path_in_place("an .npz archive", ".npz")
        with self._damage(_DAMAGE, "not an .npz archive, or cut short", _REMEDY):
            return zipfile.ZipFile(path)

    def _member(self, archive: zipfile.ZipFile, name: str) -> IO[bytes]:
        with self._damage(_DAMAGE, f"its member {name} cannot be read", _REMEDY):
            try:
                return archive.open(name + ".npy")
            except KeyError as error:
                raise self.error(f"the archive has no member {name}: no SciPy sparse matrix",
                                 remedy=_REMEDY) from error

    def _header(self, member: IO[bytes], name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        with self._damage(_DAMAGE, f"its member {name} is no NumPy array", _REMEDY):
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read(member)
        return shape, dtype

    def _read(self, member: IO[bytes], name: str, size: int) -> bytes:
        with self._damage(_DAMAGE, f"its member {name} is damaged", "fetch or write it again"):
            data = member.read(size)
        self._consumed += len(data)
        return data

    def _small(self, archive: zipfile.ZipFile, name: str) -> Any:
        """A member of few items as an array."""
        with self._member(archive, name) as member:
            shape, dtype = self._header(member, name)
            items = math.prod(shape)
            if dtype.kind not in "iuSU" or not 1 <= items <= _SMALL or not 1 <= dtype.itemsize <= _MAX_ITEM_BYTES:
                raise self.error(f"its member {name} is not as SciPy writes it", remedy=_REMEDY)
            data = self._read(member, name, items * dtype.itemsize)
            if len(data) < items * dtype.itemsize:
                raise self.error(f"its member {name} is cut short", remedy="fetch or write it again")
            return np.frombuffer(data, dtype)

    def _header_facts(self, archive: zipfile.ZipFile) -> tuple[str, int]:
        """(csr, csc or coo; n)."""
        # An old SciPy wrote text here, of four bytes a letter.
        kind = self._small(archive, "format").tobytes().replace(b"\0", b"").decode("ascii", "replace")
        if kind not in _ARRAYS:
            raise self.error(f"a sparse matrix of kind {kind!r} is not supported", remedy=_REMEDY)
        sides = self._small(archive, "shape")
        if sides.dtype.kind not in "iu":
            raise self.error(f"the sides of its matrix are {sides.dtype}, not integers", remedy=_REMEDY)
        shape = sides.tolist()
        if len(shape) != 2 or shape[0] != shape[1] or not 0 <= shape[0] < 2**63:
            raise self.error(f"a matrix of shape {tuple(shape)} is not square, so no adjacency matrix",
                             remedy="give a square matrix")
        return kind, shape[0]

    def _array(self, stack: ExitStack, archive: zipfile.ZipFile, name: str, kinds: str = "iu") -> ArrayStream:
        """The one-dimensional array `name` of integers, or of numbers of these kinds, ready to be read."""
        member = stack.enter_context(self._member(archive, name))
        shape, dtype = self._header(member, name)
        if len(shape) != 1 or not 0 <= shape[0] < 2**60 or dtype.kind not in kinds:
            what = "integers" if kinds == "iu" else "numbers"
            raise self.error(f"its member {name} is {dtype}{list(shape)}, not a row of {what}", remedy=_REMEDY)
        return ArrayStream(lambda size: self._read(member, name, size), dtype, shape[0],
                           lambda what, index, remedy="write it again": self.error(
                               what, text=f"{name}[{index}]", remedy=remedy))

    def _weights(self, stack: ExitStack, archive: zipfile.ZipFile) -> ArrayStream | None:
        """The values of the entries, ready to be read; None where weights are not to be kept. Raises InputError where
        they are no weights."""
        if self.weights is None:
            return None
        if "data.npy" not in archive.namelist():
            raise self.no_weights("the archive has no values")
        values = self._array(stack, archive, "data", "iufb")
        kind = kind_of(values.dtype)
        if kind is None:
            raise self.no_weights(f"its values are {values.dtype}")
        self.weight_kind = kind
        return values

    def _n_values(self, archive: zipfile.ZipFile) -> int:
        """Values of the entries that the archive holds, but for those that only say that there is an entry."""
        if "data.npy" not in archive.namelist():
            return 0
        with self._member(archive, "data") as member:
            shape, dtype = self._header(member, "data")
        return 0 if dtype.kind == "b" else math.prod(shape)

    def _read_info(self) -> SourceInfo:
        with self._open() as archive, ExitStack() as stack:
            kind, n = self._header_facts(archive)
            entries = self._array(stack, archive, _ARRAYS[kind][1]).length
            weights = self._weights(stack, archive)
        if weights is not None and weights.length != entries:
            raise self.error(f"its member data has {weights.length:,} items for {entries:,} entries", remedy=_REMEDY)
        return self._facts(n_vertices=n, n_entries=entries, directed=True, weights=self.weight_kind)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource. Raises InputError for a damaged archive and for indices outside n."""
        self._consumed = 0
        with self._open() as archive, ExitStack() as stack:
            kind, n = self._header_facts(archive)
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
                    yield EdgeBatch(first.take_ids(count, n, "index"), second.take_ids(count, n, "index"),
                                    weigh and weigh(count))
                return
            if first.length != n + 1:
                raise self.error(f"its member indptr has {first.length:,} items for {n:,} rows", remedy=_REMEDY)
            for batch in csr_batches(first, second, batch_bytes, n, weigh):
                yield batch if kind == "csr" else EdgeBatch(batch.dst, batch.src, batch.weights)

    def position_bytes(self) -> int:
        """Uncompressed bytes read so far, at most the size of the archive."""
        return min(self._consumed, self.input.size_bytes or 0)
