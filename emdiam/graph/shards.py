"""The Zarr v3 shard file (sharding_indexed): chunks one after another, then the index.

The index holds (offset, nbytes) as two little-endian uint64 per chunk slot, both 2^64 - 1 where
the chunk is missing, followed by the crc32c of those bytes. Source: Zarr v3 specification,
sharding codec, index_location "end".
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
from crc32c import crc32c

from ..errors import StoreError
from .codec import CRC_BYTES

MISSING = 2**64 - 1
_REMEDY = "the store is damaged: convert the graph again or restore the file from a copy"


def index_bytes(shard_chunks: int) -> int:
    """Size of the index of a shard with `shard_chunks` slots, bytes."""
    return 16 * shard_chunks + CRC_BYTES


def pack_index(sizes: list[int], shard_chunks: int) -> bytes:
    """Index of a shard whose first len(sizes) chunks lie one after another from byte 0."""
    index = np.full((shard_chunks, 2), MISSING, dtype="<u8")
    if sizes:
        ends = np.cumsum(np.array(sizes, dtype=np.uint64))
        index[: len(sizes), 0] = ends - np.array(sizes, dtype=np.uint64)
        index[: len(sizes), 1] = sizes
    data = index.tobytes()
    return data + crc32c(data).to_bytes(CRC_BYTES, "little")


def parse_index(
    data: bytes, shard_chunks: int, n_chunks: int, file_bytes: int | None, path: str
) -> np.ndarray:
    """The index in `data` as uint64[n_chunks, 2] (offset, nbytes), checked.

    n_chunks is how many chunks this shard must hold; file_bytes the size of the shard file, None
    where nobody says. Raises StoreError for a bad checksum, a missing chunk, an entry outside the
    file or chunks that do not follow one another.
    """
    body = data[:-CRC_BYTES]
    if len(data) != index_bytes(shard_chunks):
        raise StoreError("the shard is shorter than its index", path=path, remedy=_REMEDY)
    if crc32c(body) != int.from_bytes(data[-CRC_BYTES:], "little"):
        raise StoreError("checksum mismatch in the shard index", path=path,
                         byte=None if file_bytes is None else file_bytes - len(data), remedy=_REMEDY)
    index = np.frombuffer(body, dtype="<u8").reshape(shard_chunks, 2)[:n_chunks]
    gone = np.flatnonzero(index[:, 0] == MISSING)
    if gone.size:
        raise StoreError(f"chunk {int(gone[0])} of the shard is missing", path=path, remedy=_REMEDY)
    limit = np.uint64((1 << 62) if file_bytes is None else file_bytes - len(data))
    starts, sizes = index[:, 0], index[:, 1]
    outside = (sizes <= CRC_BYTES) | (sizes > limit)
    outside |= starts > limit - np.minimum(sizes, limit)
    outside[1:] |= starts[1:] < starts[:-1] + sizes[:-1]
    bad = np.flatnonzero(outside)
    if bad.size:
        raise StoreError(f"chunk {int(bad[0])} does not lie where it must in the shard", path=path,
                         remedy=_REMEDY)
    return index


def open_remedy(error: OSError) -> str:
    """What to do about a shard file that does not open."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return "every shard is kept open: raise the limit of open files (ulimit -n)"
    return "check its permissions and the disk"


def read_index(path: Path, shard_chunks: int, n_chunks: int) -> np.ndarray:
    """Open the shard file and return its checked index (see parse_index)."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            need = index_bytes(shard_chunks)
            file.seek(max(0, size - need))
            data = file.read(need)
    except FileNotFoundError:
        raise StoreError("a shard file is missing", path=path, remedy=_REMEDY) from None
    except OSError as error:
        raise StoreError(f"a shard file cannot be read ({error.strerror})", path=path,
                         remedy=open_remedy(error)) from error
    return parse_index(data, shard_chunks, n_chunks, size, str(path))
