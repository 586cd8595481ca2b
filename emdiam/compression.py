"""LZ4 by the Blosc of numcodecs, and CRC-32C by the package crc32c, without what these import beside.

Importing crc32c reads the metadata of installed packages; importing numcodecs imports all of its codecs and looks for
those of other packages, however many are installed. That is 50 ms of CPU and more, a fifth of `emdiam info`, for two
functions of C. So the compiled module of crc32c is loaded without its package, and decoding is called by the interface
of C-Blosc in the library that numcodecs has compiled. Where a release has them in another place, the packages are
imported: tests/test_compression.py says so then.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

import numpy as np

_Decoder = Callable[[Any, np.ndarray], None]


def _compiled(package: str, name: str) -> ModuleSpec | None:
    """A compiled module of a package that is not imported; None where there is none of this name."""
    whole = importlib.util.find_spec(package)
    folders = None if whole is None else whole.submodule_search_locations
    spec = None if folders is None else PathFinder.find_spec(f"{package}.{name}", folders)
    return spec if spec is not None and spec.has_location else None


def _checksum() -> Callable[..., int]:
    """crc32c.crc32c."""
    spec = _compiled("crc32c", "_crc32c")
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "crc32c"):
            found: Callable[..., int] = module.crc32c
            return found
    from crc32c import crc32c as public

    return public


# crc32c(buffer, checksum of what precedes it = 0): a checksum, without a copy of the buffer.
crc32c = _checksum()


@cache
def _decoder() -> _Decoder:
    """decompress, by the library of C where it is found."""
    spec = _compiled("numcodecs", "blosc")
    function = getattr(ctypes.CDLL(spec.origin), "blosc_decompress_ctx", None) if spec and spec.origin else None
    if function is None:
        return _blosc().decompress  # type: ignore[no-any-return]
    function.restype = ctypes.c_int
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def decode(data: Any, out: np.ndarray) -> None:
        source = np.frombuffer(data, np.uint8)
        if function(source.ctypes.data, out.ctypes.data, out.nbytes, 1) != out.nbytes:
            raise RuntimeError("Blosc cannot decode it")

    return decode


def decompress(data: Any, out: np.ndarray) -> None:
    """Decode what `compress` gave, any buffer, into all of `out`, contiguous. The caller has seen that both have the
    sizes of the header; from any thread. Raises RuntimeError for what has such a header and is not Blosc's."""
    _decoder()(data, out)


def decompressed(data: Any) -> np.ndarray:
    """What `compress` was given, as uint8[size]; as decompress."""
    out = np.empty(int.from_bytes(data[4:8], "little"), np.uint8)
    decompress(data, out)
    return out


@cache
def _blosc() -> Any:
    """numcodecs.blosc, in context mode: safe from several threads at once, and without a pool of its own."""
    from numcodecs import blosc

    blosc.use_threads = False
    return blosc


def compress(values: np.ndarray, level: int) -> bytes:
    """Values, contiguous, after a byte shuffle by LZ4; from any thread."""
    blosc = _blosc()
    packed: bytes = blosc.compress(values, b"lz4", level, blosc.SHUFFLE)
    return packed
