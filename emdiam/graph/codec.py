"""Chunk codecs: how a chunk of integers becomes checksummed bytes and comes back.

Encoding and decoding here give exactly the bytes of the Zarr v3 codec pipelines listed by
`zarr_pipeline`, but on buffers that the caller owns, so that the hot path decodes straight into
its arena. Each chunk ends in the 4-byte crc32c of what precedes it.
"""

from __future__ import annotations

from typing import Any

from crc32c import crc32c
import numpy as np
from numcodecs import blosc

from ..errors import InputError, StoreError

CRC_BYTES = 4
_BLOSC_LEVEL = 5
_PCODEC_LEVEL = 8

# Context mode: safe from several threads at once and without blosc's own pool.
blosc.use_threads = False


def _pcodec() -> Any:
    try:
        from numcodecs.pcodec import PCodec
    except ImportError:
        raise InputError(
            "the codec pcodec needs the package pcodec", remedy="pip install 'emdiam[pcodec]'"
        ) from None
    return PCodec(level=_PCODEC_LEVEL)


class ChunkCodec:
    """Encoder and decoder of one array's chunks.

    Parameters
    ----------
    name : "lz4" (blosc lz4 with byte shuffle), "pcodec" or "none".
    dtype : little-endian integer dtype of the array.
    """

    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name, self.dtype = name, np.dtype(dtype)
        if name not in ("lz4", "pcodec", "none"):
            raise InputError("unknown codec", text=name, remedy="use lz4, pcodec or none")
        # pcodec has no 8-bit numbers: byte arrays stay uncompressed under it.
        self._plain = name == "none" or (name == "pcodec" and self.dtype.itemsize == 1)
        self._pc = _pcodec() if name == "pcodec" and not self._plain else None

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

        Raises StoreError without a place: the caller knows file and chunk.
        """
        body, stored = data[:-CRC_BYTES], bytes(data[-CRC_BYTES:])
        if len(data) <= CRC_BYTES or crc32c(body) != int.from_bytes(stored, "little"):
            raise StoreError("checksum mismatch")
        if self._plain:
            if len(body) != out.nbytes:
                raise StoreError("chunk of a wrong length")
            out.view(np.uint8)[:] = np.frombuffer(body, np.uint8)
        elif self._pc is not None:
            self._pc.decode(bytes(body), out)
        else:
            blosc.decompress(body, out)

    def zarr_pipeline(self) -> dict[str, Any]:
        """Keyword arguments `serializer`/`compressors` for zarr.create_array."""
        import zarr.codecs as zc

        crc = zc.Crc32cCodec()
        if self._plain:
            return {"compressors": [crc]}
        if self._pc is not None:
            from numcodecs.zarr3 import PCodec

            return {"serializer": PCodec(level=_PCODEC_LEVEL), "compressors": [crc]}
        lz4 = zc.BloscCodec(
            cname="lz4", clevel=_BLOSC_LEVEL, shuffle="shuffle", typesize=self.dtype.itemsize
        )
        return {"compressors": [lz4, crc]}
