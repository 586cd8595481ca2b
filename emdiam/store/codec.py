"""Chunk codecs: from a chunk of numbers to checksummed bytes and back.

Encoding and decoding produce exactly the bytes of the Zarr v3 codec pipelines in `zarr_codecs`, but on buffers that the
caller owns, so that the hot path decodes straight into its arena. Each chunk ends with the 4-byte crc32c of the bytes
before it.

A Zarr v3 shard file (sharding_indexed) holds its chunks one after another, then the index.

A shard is identified by its seal: the checksum of its index and that of its last chunk, which is just before the index.
Both are read with the index, and distinguish the arrays of different stores without reading them.

The index holds (offset, nbytes) as two little-endian uint64 per chunk slot, both 2^64 - 1 if the chunk is missing,
followed by the crc32c of those bytes. Source: Zarr v3 specification, sharding codec, index_location "end".
"""

from __future__ import annotations

import errno
import os
import resource
import threading
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np

from ..compression import compress, crc32c, decompress
from ..errors import InputError, StoreError
from ..malloc import keep_remnants
from .private import blake2b

CRC_BYTES = 4
_BLOSC_LEVEL = 5
_PCODEC_LEVEL = 8
# The checksum; and the sizes, decoded and encoded, in a blosc header.
_CRC, _BLOSC = Struct("<I"), Struct("<4xI4xI")


_CRC_CODEC: dict[str, Any] = {"name": "crc32c"}
# Codecs of a shard's index.
INDEX_CODECS: list[dict[str, Any]] = [{"name": "bytes", "configuration": {"endian": "little"}}, _CRC_CODEC]


def bytes_codec(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Zarr's codec for numbers as they are in memory; single bytes have no endianness."""
    return {"name": "bytes"} if dtype.itemsize == 1 else INDEX_CODECS[0]


class _Pcodec:
    """The format of numcodecs' PCodec, with a check of the number of decoded values."""

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
        """Decode `body` into all of `out`. Raises StoreError if it has fewer or more numbers."""
        progress = self._decompress_into(bytes(body), out)
        if progress.n_processed != len(out) or not progress.finished:
            raise StoreError("chunk of a wrong length")


class _OnThread(threading.local):
    """State of a thread, made when it decodes for the first time."""

    def __init__(self) -> None:
        keep_remnants()
        self.decompress = decompress


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
        # pcodec does not support 8-bit numbers: byte arrays stay uncompressed.
        self._plain = name == "none" or (name == "pcodec" and self.dtype.itemsize == 1)
        self._pc = _Pcodec() if name == "pcodec" and not self._plain else None

    def encode(self, chunk: np.ndarray) -> bytes:
        """The bytes of a full chunk (contiguous, of this dtype), with the checksum."""
        data: bytes | memoryview
        if self._plain:
            data = chunk.tobytes()
        elif self._pc is not None:
            data = self._pc.encode(chunk)
        else:
            data = compress(chunk, _BLOSC_LEVEL)
        return b"".join((data, crc32c(data).to_bytes(CRC_BYTES, "little")))

    def decode(self, data: memoryview, out: np.ndarray) -> None:
        """Verify the checksum of `data` and decode it into `out` (a full chunk).

        Raises StoreError without a place, since the caller knows file and chunk; or a decoder's RuntimeError, for bytes
        with the right checksum that are not a chunk.
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
            # blosc trusts its header, and if that names fewer bytes, leaves the rest of `out` unchanged.
            if len(body) < _BLOSC.size or _BLOSC.unpack_from(body) != (out.nbytes, len(body)):
                raise StoreError("chunk of a wrong length")
            _on_thread.decompress(body, out)

    def zarr_codecs(self) -> list[dict[str, Any]]:
        """The codecs of a chunk, as Zarr's metadata name them. pcodec is not in the specification of Zarr v3, but in
        the package numcodecs."""
        if self._pc is not None:
            return [{"name": "numcodecs.pcodec", "configuration": {"level": _PCODEC_LEVEL}}, _CRC_CODEC]
        lz4 = {"typesize": self.dtype.itemsize, "cname": "lz4", "clevel": _BLOSC_LEVEL, "shuffle": "shuffle",
               "blocksize": 0}
        compressed = [] if self._plain else [{"name": "blosc", "configuration": lz4}]
        return [bytes_codec(self.dtype), *compressed, _CRC_CODEC]


MISSING = 2**64 - 1
REMEDY = "the store is damaged: convert the graph again or restore the file from a copy"


def index_bytes(shard_chunks: int) -> int:
    """Size of the index of a shard with `shard_chunks` slots, in bytes."""
    return 16 * shard_chunks + CRC_BYTES


def pack_index(sizes: list[int], shard_chunks: int) -> bytes:
    """The index of a shard whose first len(sizes) chunks are stored consecutively from byte 0."""
    index = np.full((shard_chunks, 2), MISSING, dtype="<u8")
    if sizes:
        ends = np.cumsum(np.array(sizes, dtype=np.uint64))
        index[: len(sizes), 0] = ends - np.array(sizes, dtype=np.uint64)
        index[: len(sizes), 1] = sizes
    data = index.tobytes()
    return data + crc32c(data).to_bytes(CRC_BYTES, "little")


def end_bytes(shard_chunks: int) -> int:
    """Bytes read of a shard on opening: its last chunk's checksum, and the index."""
    return CRC_BYTES + index_bytes(shard_chunks)


def seal_of(end: bytes) -> bytes:
    """The seal of a shard that ends in `end`, see end_bytes."""
    return end[-CRC_BYTES:] + end[:CRC_BYTES]


def seal_digest(seals: bytes) -> str:
    """blake2b (32 hex digits) over the seals of all shards of an array, in order."""
    return blake2b(seals, digest_size=16).hexdigest()


def check_seals(seals: bytes, expected: str | None, path: str | Path) -> None:
    """Raise StoreError if seal_digest differs from `expected` (None: unknown)."""
    if expected is not None and seal_digest(seals) != expected:
        raise StoreError("the shards are not those of the store record", path=path, remedy=REMEDY)


def parse_index(data: bytes, shard_chunks: int, n_chunks: int, file_bytes: int | None, path: str) -> np.ndarray:
    """The index in `data` as uint64[n_chunks, 2] (offset, nbytes), checked.

    n_chunks : the number of chunks that the shard must contain. file_bytes : the size of the shard file, or None if
    unknown. Raises StoreError for a bad checksum, a missing chunk, an entry outside the file or chunks that do not
    follow one another.
    """
    body = data[:-CRC_BYTES]
    if len(data) != index_bytes(shard_chunks):
        raise StoreError("the shard is shorter than its index", path=path, remedy=REMEDY)
    if crc32c(body) != int.from_bytes(data[-CRC_BYTES:], "little"):
        raise StoreError("checksum mismatch in the shard index", path=path,
                         byte=None if file_bytes is None else file_bytes - len(data), remedy=REMEDY)
    index = np.frombuffer(body, dtype="<u8").reshape(shard_chunks, 2)[:n_chunks]
    gone = index[:, 0] == MISSING
    if gone.any():
        raise StoreError(f"chunk {int(gone.argmax())} of the shard is missing", path=path, remedy=REMEDY)
    limit = np.uint64((1 << 62) if file_bytes is None else file_bytes - len(data))
    starts, sizes = index[:, 0], index[:, 1]
    outside = (sizes <= CRC_BYTES) | (sizes > limit)
    outside |= starts > limit - np.minimum(sizes, limit)
    outside[1:] |= starts[1:] < starts[:-1] + sizes[:-1]
    if outside.any():
        raise StoreError(f"chunk {int(outside.argmax())} is not where it must be in the shard", path=path,
                         remedy=REMEDY)
    return index


def open_remedy(error: OSError) -> str:
    """Advice about a store file that cannot be opened."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return (f"every shard is kept open, and this process may open {limit:,} files: raise the limit of open files"
                " (ulimit -n)")
    if error.errno in (errno.EACCES, errno.EPERM):
        return "get the right to read it from its owner, or copy it"
    return "check its permissions and the disk"


def file_fault(what: str, error: OSError, path: str | Path) -> StoreError:
    """The StoreError for a system error about a file or folder of a store. what : the fault, a clause."""
    return StoreError(f"{what} ({error.strerror or error})", path=path, remedy=open_remedy(error))


def read_end(path: Path, shard_chunks: int) -> tuple[bytes, int]:
    """The last end_bytes of a shard file (fewer if it is shorter), and the file's size. Raises OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - end_bytes(shard_chunks)))
        return file.read(end_bytes(shard_chunks)), size


def read_index(path: Path, shard_chunks: int, n_chunks: int) -> tuple[np.ndarray, bytes]:
    """The checked index of a shard file (see parse_index) and its seal."""
    try:
        data, size = read_end(path, shard_chunks)
    except FileNotFoundError:
        raise StoreError("a shard file is missing", path=path, remedy=REMEDY) from None
    except OSError as error:
        raise file_fault("a shard file cannot be read", error, path) from error
    return parse_index(data[CRC_BYTES:], shard_chunks, n_chunks, size, str(path)), seal_of(data)
