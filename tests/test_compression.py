"""Checksums and compression are those of crc32c and numcodecs, whose packages are not imported to read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import crc32c as crc32c_package
import numpy as np
import pytest
from numcodecs import blosc

from emdiam import compression

VALUES = np.sort(np.random.default_rng(5).integers(0, 1 << 20, 1 << 16)).astype(np.uint32)


@pytest.fixture
def no_compiled_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Releases of both packages that have their compiled modules under other names."""
    monkeypatch.setattr(compression, "_compiled", lambda *_: None)
    compression._blosc.cache_clear()
    yield
    compression._blosc.cache_clear()


@pytest.mark.parametrize("values", [VALUES, VALUES[:1], np.zeros(9, np.uint64), np.arange(70_000.0)], ids=len)
def test_values_come_back(values: np.ndarray) -> None:
    packed = compression.compress(values, 5)
    out = np.full_like(values, 77)
    compression.decompress(memoryview(packed), out)
    np.testing.assert_array_equal(out, values)
    np.testing.assert_array_equal(compression.decompressed(packed).view(values.dtype), values)
    blosc.use_threads = False
    assert packed == blosc.compress(values, b"lz4", 5, blosc.SHUFFLE)
    assert blosc.decompress(packed) == values.tobytes()


def test_threads_decode_at_the_same_time() -> None:
    pieces = [np.sort(np.random.default_rng(seed).integers(0, 1 << 40, 1 << 15)) for seed in range(8)]
    packed = [compression.compress(piece, 1) for piece in pieces]
    with ThreadPoolExecutor(4) as pool:
        for piece, found in zip(pieces * 20, pool.map(compression.decompressed, packed * 20), strict=True):
            np.testing.assert_array_equal(found.view(np.int64), piece)


def test_what_is_no_piece_is_refused() -> None:
    """A header of the right sizes, and then anything."""
    packed = bytearray(compression.compress(VALUES, 5))
    packed[16:200] = b"\xff" * 184
    with pytest.raises(RuntimeError):
        compression.decompress(packed, np.empty_like(VALUES))


@pytest.mark.parametrize("buffer", [bytes, bytearray, memoryview])
def test_checksums_are_those_of_the_package(buffer: type) -> None:
    data = VALUES.tobytes()
    assert compression.crc32c(buffer(data)) == crc32c_package.crc32c(data)
    assert compression.crc32c(buffer(data[9:]), compression.crc32c(data[:9])) == crc32c_package.crc32c(data)
    assert compression.crc32c(b"123456789") == 0xE3069283  # RFC 3720, the check value of CRC-32C


def test_packages_are_imported_where_their_compiled_modules_are_not_found(no_compiled_modules: None) -> None:
    assert compression._checksum() is crc32c_package.crc32c
    assert isinstance(compression._blosc(), compression._Package)
    packed, out = compression.compress(VALUES, 5), np.empty_like(VALUES)
    compression.decompress(packed, out)
    np.testing.assert_array_equal(out, VALUES)


def test_a_reader_imports_neither_package_and_they_can_be_imported_later() -> None:
    """In releases of crc32c and numcodecs that have other names for their compiled modules, emdiam/compression.py works
    all the same, but every command that opens a store takes 50 ms more: give it the new names."""
    code = ("import sys, numpy as np\nfrom emdiam import compression\n"
            "packed, out = bytes.fromhex(sys.argv[1]), np.empty(9, np.uint64)\n"
            "assert compression.compress(np.arange(9, dtype=np.uint64), 5) == packed\n"
            "compression.decompress(packed, out), compression.crc32c(packed)\n"
            "print({'crc32c', 'numcodecs', 'importlib.metadata'} & set(sys.modules), out.sum())\n"
            "import crc32c, numcodecs\nassert crc32c.crc32c(packed) == compression.crc32c(packed)\n"
            "assert np.frombuffer(numcodecs.blosc.decompress(packed), np.uint64).sum() == out.sum()")
    packed = compression.compress(np.arange(9, dtype=np.uint64), 5)
    done = subprocess.run([sys.executable, "-c", code, packed.hex()], capture_output=True, text=True, check=True)
    assert done.stdout == "set() 36\n"
