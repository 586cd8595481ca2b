"""The Zarr v3 shard file (sharding_indexed): chunks one after another, then the index.

A shard is known by its seal: the checksum of its index and that of its last chunk, which lies just before it. Both
are read with the index, and tell the arrays of one store from those of another without reading them.

The index holds (offset, nbytes) as two little-endian uint64 per chunk slot, both 2^64 - 1 where the chunk is missing,
followed by the crc32c of those bytes. Source: Zarr v3 specification, sharding codec, index_location "end".
"""

from __future__ import annotations

import errno
import hashlib
import os
import resource
from pathlib import Path

import numpy as np
from crc32c import crc32c

from ..errors import StoreError
from .codec import CRC_BYTES

MISSING = 2**64 - 1
REMEDY = "the store is damaged: convert the graph again or restore the file from a copy"


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


def end_bytes(shard_chunks: int) -> int:
    """Size of what is read of a shard on opening: its last chunk's checksum, and the index."""
    return CRC_BYTES + index_bytes(shard_chunks)


def seal_of(end: bytes) -> bytes:
    """The seal of a shard that ends in `end`, see end_bytes."""
    return end[-CRC_BYTES:] + end[:CRC_BYTES]


def seal_digest(seals: bytes) -> str:
    """blake2b (32 hex digits) over the seals of all shards of an array, in order."""
    return hashlib.blake2b(seals, digest_size=16).hexdigest()


def check_seals(seals: bytes, expected: str | None, path: str | Path) -> None:
    """Raise StoreError if seal_digest is another one than `expected` (None: it is not known)."""
    if expected is not None and seal_digest(seals) != expected:
        raise StoreError("the shards are not those of the store record", path=path, remedy=REMEDY)


def parse_index(data: bytes, shard_chunks: int, n_chunks: int, file_bytes: int | None, path: str) -> np.ndarray:
    """The index in `data` as uint64[n_chunks, 2] (offset, nbytes), checked.

    n_chunks is how many chunks this shard must hold; file_bytes the size of the shard file, None
    where nobody says. Raises StoreError for a bad checksum, a missing chunk, an entry outside the
    file or chunks that do not follow one another.
    """
    body = data[:-CRC_BYTES]
    if len(data) != index_bytes(shard_chunks):
        raise StoreError("the shard is shorter than its index", path=path, remedy=REMEDY)
    if crc32c(body) != int.from_bytes(data[-CRC_BYTES:], "little"):
        raise StoreError("checksum mismatch in the shard index", path=path,
                         byte=None if file_bytes is None else file_bytes - len(data), remedy=REMEDY)
    index = np.frombuffer(body, dtype="<u8").reshape(shard_chunks, 2)[:n_chunks]
    gone = np.flatnonzero(index[:, 0] == MISSING)
    if gone.size:
        raise StoreError(f"chunk {int(gone[0])} of the shard is missing", path=path, remedy=REMEDY)
    limit = np.uint64((1 << 62) if file_bytes is None else file_bytes - len(data))
    starts, sizes = index[:, 0], index[:, 1]
    outside = (sizes <= CRC_BYTES) | (sizes > limit)
    outside |= starts > limit - np.minimum(sizes, limit)
    outside[1:] |= starts[1:] < starts[:-1] + sizes[:-1]
    bad = np.flatnonzero(outside)
    if bad.size:
        raise StoreError(f"chunk {int(bad[0])} does not lie where it must in the shard", path=path, remedy=REMEDY)
    return index


def open_remedy(error: OSError) -> str:
    """What to do about a file of a store that does not open."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return (f"every shard is kept open, and this process may open {limit:,} files: raise the limit of open files"
                " (ulimit -n)")
    if error.errno in (errno.EACCES, errno.EPERM):
        return "get the right to read it from its owner, or copy it"
    return "check its permissions and the disk"


def file_fault(what: str, error: OSError, path: str | Path) -> StoreError:
    """The StoreError for what the system says of a file or folder of a store. what : as a clause."""
    return StoreError(f"{what} ({error.strerror or error})", path=path, remedy=open_remedy(error))


def read_end(path: Path, shard_chunks: int) -> tuple[bytes, int]:
    """The last end_bytes of a shard file (fewer if it is shorter), and its size. Raises OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - end_bytes(shard_chunks)))
        return file.read(end_bytes(shard_chunks)), size


def read_index(path: Path, shard_chunks: int, n_chunks: int) -> tuple[np.ndarray, bytes]:
    """Open the shard file; its checked index (see parse_index) and its seal."""
    try:
        data, size = read_end(path, shard_chunks)
    except FileNotFoundError:
        raise StoreError("a shard file is missing", path=path, remedy=REMEDY) from None
    except OSError as error:
        raise file_fault("a shard file cannot be read", error, path) from error
    return parse_index(data[CRC_BYTES:], shard_chunks, n_chunks, size, str(path)), seal_of(data)
