"""Chunk codecs: how a chunk of numbers becomes checksummed bytes and comes back.

Encoding and decoding here give exactly the bytes of the Zarr v3 codec pipelines listed by
`zarr_pipeline`, but on buffers that the caller owns, so that the hot path decodes straight into
its arena. Each chunk ends in the 4-byte crc32c of what precedes it.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

import numpy as np
from crc32c import crc32c
from numcodecs import blosc

from ..errors import InputError, StoreError
from ..malloc import keep_remnants

CRC_BYTES = 4
_BLOSC_LEVEL = 5
_PCODEC_LEVEL = 8
# The checksum, and what a header of blosc says of bytes decoded and encoded.
_CRC, _BLOSC = Struct("<I"), Struct("<4xI4xI")

# Context mode: safe from several threads at once and without blosc's own pool.
blosc.use_threads = False


@contextmanager
def quiet_about_numcodecs() -> Iterator[None]:
    """No warning from zarr that pcodec is not in the Zarr v3 specification: docs say so, once."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3")
        yield


class _Pcodec:
    """The bytes of numcodecs' PCodec, decoded with a count of what was decoded."""

    def __init__(self) -> None:
        try:
            from numcodecs.pcodec import PCodec
            from pcodec import standalone
        except ImportError:
            raise InputError(
                "the codec pcodec needs the package pcodec", remedy="pip install 'emdiam[pcodec]'"
            ) from None
        self.encode = PCodec(level=_PCODEC_LEVEL).encode
        self._decompress_into = standalone.simple_decompress_into

    def decode(self, body: memoryview, out: np.ndarray) -> None:
        """Decode `body` into all of `out`; StoreError if it holds fewer or more numbers."""
        progress = self._decompress_into(bytes(body), out)
        if progress.n_processed != len(out) or not progress.finished:
            raise StoreError("chunk of a wrong length")


class _OnThread(threading.local):
    """Made in every thread when it decodes for the first time."""

    def __init__(self) -> None:
        keep_remnants()
        self.decompress = blosc.decompress


_on_thread = _OnThread()


class ChunkCodec:
    """Encoder and decoder of one array's chunks.

    Parameters
    ----------
    name : "lz4" (blosc lz4 with byte shuffle), "pcodec" or "none".
    dtype : little-endian dtype of the array, of integers or floats.
    """

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name, self.dtype = name, np.dtype(dtype)
        if name not in ("lz4", "pcodec", "none"):
            raise InputError("unknown codec", text=name, remedy="use lz4, pcodec or none")
        # pcodec has no 8-bit numbers: byte arrays stay uncompressed under it.
        self._plain = name == "none" or (name == "pcodec" and self.dtype.itemsize == 1)
        self._pc = _Pcodec() if name == "pcodec" and not self._plain else None

    def encode(self, chunk: np.ndarray) -> bytes:
        """Bytes of a full chunk (contiguous, dtype as given), checksum included."""
        if self._plain:
            data = chunk.tobytes()
        elif self._pc is not None:
            data = bytes(self._pc.encode(chunk))
        else:
            data = blosc.compress(chunk, b"lz4", _BLOSC_LEVEL, blosc.SHUFFLE)
        return data + crc32c(data).to_bytes(CRC_BYTES, "little")

    def decode(self, data: memoryview, out: np.ndarray) -> None:
        """Verify the checksum of `data` and decode it into `out` (a full chunk).

        Raises StoreError without a place, since the caller knows file and chunk, or RuntimeError
        from a decoder for bytes that carry the right checksum and are no chunk all the same.
        """
        body = data[:-CRC_BYTES]
        if len(data) <= CRC_BYTES or crc32c(body) != _CRC.unpack(data[-CRC_BYTES:])[0]:
            raise StoreError("checksum mismatch")
        if self._plain:
            if len(body) != out.nbytes:
                raise StoreError("chunk of a wrong length")
            out.view(np.uint8)[:] = np.frombuffer(body, np.uint8)
        elif self._pc is not None:
            self._pc.decode(body, out)
        else:
            # blosc trusts its header, and leaves the rest of `out` as it was when that says less.
            if len(body) < _BLOSC.size or _BLOSC.unpack_from(body) != (out.nbytes, len(body)):
                raise StoreError("chunk of a wrong length")
            _on_thread.decompress(body, out)

    def zarr_pipeline(self) -> dict[str, Any]:
        """Keyword arguments `serializer`/`compressors` for zarr.create_array."""
        import zarr.codecs as zc

        crc = zc.Crc32cCodec()
        if self._plain:
            return {"compressors": [crc]}
        if self._pc is not None:
            from zarr.codecs.numcodecs import PCodec

            with quiet_about_numcodecs():
                return {"serializer": PCodec(level=_PCODEC_LEVEL), "compressors": [crc]}
        lz4 = zc.BloscCodec(cname="lz4", clevel=_BLOSC_LEVEL, shuffle="shuffle", typesize=self.dtype.itemsize)
        return {"compressors": [lz4, crc]}
