"""LZ4 through the Blosc of numcodecs, and CRC-32C through the package crc32c, without their other imports.

Importing crc32c reads the metadata of installed packages; importing numcodecs imports all of its codecs and searches
the installed packages for others. That is 50 ms of CPU and more, a fifth of `emdiam info`, for three C functions. So
the compiled module of crc32c is loaded without its package, and the Blosc functions are called through the interface of
C-Blosc in the library that numcodecs has compiled. If a release has them in another place, the packages are imported,
and tests/test_compression.py reports it.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

import numpy as np


def _compiled(package: str, name: str) -> ModuleSpec | None:
    """A compiled module of a package that is not imported, or None."""
    whole = importlib.util.find_spec(package)
    folders = None if whole is None else whole.submodule_search_locations
    spec = None if folders is None else PathFinder.find_spec(f"{package}.{name}", folders)
    return spec if spec is not None and spec.has_location else None


def _checksum() -> Callable[..., int]:
    """The function crc32c.crc32c."""
    spec = _compiled("crc32c", "_crc32c")
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "crc32c"):
            found: Callable[..., int] = module.crc32c
            return found
    from crc32c import crc32c as public

    return public


# crc32c(buffer, checksum of the preceding bytes = 0): a checksum, computed without copying the buffer.
crc32c = _checksum()


class _Library:
    """Blosc in the library that numcodecs has compiled. Each call has a separate context, so it is thread-safe and
    needs no pool. Raises AttributeError if the library lacks the functions of C-Blosc (blosc.h)."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        number, size, place = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
        self._compress, self._decompress = library.blosc_compress_ctx, library.blosc_decompress_ctx
        self._compress.argtypes = number, number, size, size, place, place, size, ctypes.c_char_p, size, number
        self._decompress.argtypes = place, place, size, number
        self._compress.restype = self._decompress.restype = number

    def compress(self, values: np.ndarray, level: int) -> memoryview:
        """See compress."""
        out = np.empty(values.nbytes + _MOST_MORE, np.uint8)
        length = self._compress(level, _SHUFFLE, values.itemsize, values.nbytes, values.ctypes.data, out.ctypes.data,
                                out.nbytes, _NAME, 0, 1)
        if length <= 0:
            raise RuntimeError("Blosc cannot encode it")
        return out[:length].data

    def decompress(self, data: Any, out: np.ndarray) -> None:
        """See decompress."""
        source = np.frombuffer(data, np.uint8)
        if self._decompress(source.ctypes.data, out.ctypes.data, out.nbytes, 1) != out.nbytes:
            raise RuntimeError("Blosc cannot decode it")


class _Package:
    """The same through numcodecs' own functions."""

    def __init__(self) -> None:
        from numcodecs import blosc

        blosc.use_threads = False  # each call has a separate context
        self._blosc = blosc

    def compress(self, values: np.ndarray, level: int) -> memoryview:
        """See compress."""
        return memoryview(self._blosc.compress(values, _NAME, level, _SHUFFLE))

    def decompress(self, data: Any, out: np.ndarray) -> None:
        """See decompress."""
        self._blosc.decompress(data, out)


# From blosc.h: byte shuffle, and the largest overhead of an encoded piece.
_NAME, _SHUFFLE, _MOST_MORE = b"lz4", 1, 16


@cache
def _blosc() -> _Library | _Package:
    """The library that encodes and decodes."""
    spec = _compiled("numcodecs", "blosc")
    if spec is not None and spec.origin is not None:
        with suppress(AttributeError, OSError):
            return _Library(spec.origin)
    return _Package()


def compress(values: np.ndarray, level: int) -> memoryview:
    """The contiguous values after a byte shuffle and LZ4, as a view of new memory; thread-safe."""
    return _blosc().compress(values, level)


def decompress(data: Any, out: np.ndarray) -> None:
    """Decode a result of `compress`, any buffer, into all of `out`, contiguous; thread-safe. The caller must have
    checked both sizes against the header. Raises RuntimeError for data with a valid header that Blosc cannot decode."""
    _blosc().decompress(data, out)


def decompressed(data: Any) -> np.ndarray:
    """The values that `compress` encoded, as uint8[size]; see decompress."""
    out = np.empty(int.from_bytes(data[4:8], "little"), np.uint8)
    decompress(data, out)
    return out
