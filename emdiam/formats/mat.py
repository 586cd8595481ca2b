"""MATLAB files up to version 7, read by scipy: a square matrix, which is sparse, or the only one.

SuiteSparse has it as Problem.A. The size of every variable stands before its bytes, also of compressed ones, so that
what reading takes is known before, and refused where the budget is smaller. (Version 7.3 is HDF5: hdf5.py.)
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import BudgetError
from ..units import current_rss_bytes, default_memory_bytes, format_size
from .base import FileSource
from .in_memory import MatrixSource
from .mat_parts import COMPRESSED, HEADER_BYTES, TAG_BYTES, DamageError, check_parts
from .source import EdgeBatch, SourceInfo
from .whole import EXTRA, JITTER_BYTES, SORT_BYTES

_LOOKED_AT = 1 << 10
_MATRIX_COPIES = 3  # what scipy holds of a variable while it makes a matrix of it, and the matrix
_REMEDY = "save the adjacency matrix alone, sparse, with scipy.io.savemat or MATLAB's save -v7"


class MatSource(FileSource):
    """See the module. Vertex v is row and column v, from 0 on."""

    format = "mat"
    _matrix: MatrixSource | None = None

    def _read_info(self) -> SourceInfo:
        path = self._path_in_place("a MATLAB file", "MATLAB file")
        try:
            from scipy.io import loadmat
        except ImportError as error:
            raise self.error("MATLAB files are read by scipy, which is not installed", remedy=EXTRA) from error
        self._check_memory()
        self._check_parts()
        try:
            variables = loadmat(path, struct_as_record=True)
        except Exception as error:  # scipy raises whatever the bytes lead to
            raise self.error(f"this cannot be read as a MATLAB file ({error})", remedy="fetch it again") from error
        self._matrix = MatrixSource(self._chosen(variables), self.weights)
        return replace(self._matrix.info(), format=self.format, size_bytes=self.input.size_bytes)

    def batches(self, batch_bytes: int) -> Iterator[EdgeBatch]:
        """See EdgeSource."""
        self.info()
        assert self._matrix is not None
        yield from self._matrix.batches(batch_bytes)
        after = self._matrix.info()
        self.dropped, self.weight_kind = dict(after.dropped), after.weights

    def _chosen(self, variables: dict[str, Any]) -> Any:
        """The matrix that is the graph, sparse. Raises InputError where there is not one."""
        from scipy.sparse import coo_array, issparse

        found = {name: value for name, value in variables.items() if not name.startswith("__")}
        problem = found.get("Problem")
        if isinstance(problem, np.ndarray) and problem.size == 1 and "A" in (problem.dtype.names or ()):
            found = {"Problem.A": problem.item()[problem.dtype.names.index("A")]}
        square = {name: value for name, value in found.items() if _is_square(value)}
        sparse = {name: value for name, value in square.items() if issparse(value)}
        for some in (sparse, square):
            if len(some) == 1:
                value = next(iter(some.values()))
                return value if issparse(value) else coo_array(value)
        listed = ", ".join(f"{name} {getattr(value, 'shape', '')}" for name, value in list(found.items())[:8])
        raise self.error(f"the file has not one square matrix, but {listed or 'no variable'}", remedy=_REMEDY)

    def _check_memory(self) -> None:
        """Raise BudgetError where the variables take more than the memory that is left."""
        size = sum(self._variable_bytes()) * _MATRIX_COPIES
        memory = self.wishes.memory_bytes or default_memory_bytes()
        taken = current_rss_bytes() + SORT_BYTES
        room = max(0, memory - taken)
        if size > room:
            raise BudgetError(f"a MATLAB file is read whole, and its variables take about {format_size(size)} of"
                              f" memory, where {format_size(room)} are left", path=self.name,
                              remedy=f"give --memory {((taken + size + JITTER_BYTES) >> 20) + 1}MiB or more")

    def _variable_bytes(self) -> Iterator[int]:
        """Bytes of every variable, unpacked, by what stands before them."""
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
        """Raise InputError for damage that could end the process in scipy."""
        try:
            with closing(self.input.open()) as stream:
                check_parts(stream)
        except DamageError as error:
            raise self.error(f"its data are damaged ({error})", remedy="fetch it again") from error

    def _first_tag(self, packed: bytes) -> bytes:
        """The tag of a variable that is compressed."""
        with self._damage((zlib.error,), "its data are damaged", "fetch it again"):
            return zlib.decompressobj().decompress(packed, TAG_BYTES)


def _is_square(value: Any) -> bool:
    """Whether it is a square matrix of numbers with more than one row."""
    sides, dtype = list(getattr(value, "shape", ())), getattr(value, "dtype", None)
    return len(sides) == 2 and sides[0] == sides[1] > 1 and dtype is not None and dtype.kind in "biufc"
