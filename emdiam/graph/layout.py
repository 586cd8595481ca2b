"""The layout of a store: names, dtypes, chunk sizes, codecs and the attributes record.

A store is a Zarr v3 group that AnnData (`csr_matrix`) and binsparse readers open:

    zarr.json    attributes: AnnData's three, a binsparse description, and `emdiam` (StoreRecord)
    indptr       int64[n+1], row offsets
    indices      uint32[m] (uint64 when n >= 2^32 - 1), rows sorted, both directions of every edge
    data         uint8[m] of ones, never written (fill value 1, zero bytes on disk)
    vertex_id    optional: int64/uint64[n], the user's ids, or for string ids
    vertex_id_offsets int64[n+1] and vertex_id_bytes uint8[...] (UTF-8)
    natural_id   only in a reordered store: id dtype[n], the natural rank of every vertex, that is
                 its position in increasing order of the user's ids; the map of ids goes by it

Every array is sharded (index at the end, crc32c on index and chunks). The fill values of indices
(the largest id, never a vertex) and of offsets (-1) are no valid data, so that a missing chunk,
which other readers fill in silently, cannot pass as such.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

FORMAT_VERSION = 1
CHUNK_IDS = 1 << 16
SHARD_BYTES = 64 << 20
# Keeps the index of a shard at 64 KiB when chunks are small; the default has 256 or 128.
MOST_SHARD_CHUNKS = 1 << 12
MISSING_OFFSET = -1
CODECS = ("lz4", "pcodec", "none")
PARTIAL_SUFFIX = ".partial"
NATURAL = "natural"


def id_dtype(n_vertices: int) -> np.dtype[Any]:
    """dtype of vertex ids: uint32 while the top value stays free for the sentinel."""
    return np.dtype(np.uint32 if n_vertices < 2**32 - 1 else np.uint64)


def shard_chunks(dtype: np.dtype[Any], chunk_ids: int) -> int:
    """Chunks of `chunk_ids` items of dtype in a shard: as many as SHARD_BYTES decoded hold, at
    most MOST_SHARD_CHUNKS."""
    return max(1, min(MOST_SHARD_CHUNKS, SHARD_BYTES // (dtype.itemsize * chunk_ids)))


def sentinel(dtype: np.dtype[Any]) -> int:
    """The id that is no vertex: the largest value of the id dtype."""
    return int(np.iinfo(dtype).max)


@dataclass
class StoreRecord:
    """Everything a store says of itself; kept in the group's attributes under "emdiam".

    id_kind : "identity" (ids are 0..n-1), "offset" (ids are first_id..first_id+n-1), "int" or
        "string" (map kept in the store). ordering : "natural" = increasing user ids; any other
        order has natural_id.
    chunk_digest : blake2b over the crc32c of every chunk of every array, in order.
    record_digest : blake2b over all other fields; a change of any of them is noticed.
    """

    format_version: int = FORMAT_VERSION
    n_vertices: int = 0
    n_arcs: int = 0
    n_edges: int = 0
    max_degree: int = 0
    n_isolated: int = 0
    directed_input: bool = False
    symmetric: bool = True
    loops_dropped: int = 0
    duplicates_dropped: int = 0
    id_kind: str = "identity"
    first_id: int = 0
    ordering: str = NATURAL
    codec: str = "lz4"
    chunk_ids: int = CHUNK_IDS
    shard_chunks: int = SHARD_BYTES // (4 * CHUNK_IDS)
    source: list[str] = field(default_factory=list)
    source_format: str = ""
    chunk_digest: str = ""
    record_digest: str = ""
    complete: bool = False

    def digest(self) -> str:
        """blake2b (32 hex digits) over every field but record_digest."""
        data = {k: v for k, v in asdict(self).items() if k != "record_digest"}
        text = json.dumps(data, sort_keys=True, separators=(",", ":"))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for the attributes."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StoreRecord:
        """The record in `data`; unknown keys are a KeyError, missing ones a TypeError."""
        names = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - names)
        missing = sorted(names - set(data))
        if unknown or missing:
            raise KeyError(f"unknown {unknown}, missing {missing}")
        return cls(**data)
