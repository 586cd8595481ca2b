"""Stores made by hand: checksums, digests and metadata agree, whatever the arrays and the record say."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from emdiam.store import writer as store_writer
from emdiam.store.array_writer import ArrayWriter
from emdiam.store.codec import ChunkCodec
from emdiam.store.layout import MISSING_OFFSET, StoreRecord, id_dtype, sentinel, shard_chunks


def csr(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """indptr and indices, int64, of these rows, whatever they hold."""
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64)))
    return indptr, np.array([v for row in rows for v in row], np.int64)


def forge(
    path: Path, indptr: np.ndarray, indices: np.ndarray, *, chunk: int = 64, codec: str = "lz4",
    ids: Mapping[str, np.ndarray] | None = None, record: Mapping[str, Any] | None = None,
) -> Path:
    """A store of these offsets and neighbours, which need not be those of a graph.

    ids : further arrays (vertex_id, natural_id, ...). record : fields that the record has instead of the right ones.
    """
    shutil.rmtree(path, ignore_errors=True)
    zarr.open_group(str(path), mode="w", zarr_format=3)
    n, degrees = len(indptr) - 1, np.diff(indptr)
    dtype = id_dtype(n)
    arrays = {"indptr": (np.asarray(indptr, np.int64), MISSING_OFFSET),
              "indices": (np.asarray(indices).astype(dtype), sentinel(dtype)),
              **{name: (values, 0) for name, values in (ids or {}).items()}}
    chunks, shards = hashlib.blake2b(digest_size=16), {}
    with ThreadPoolExecutor(1) as pool:
        for name, (values, fill) in sorted(arrays.items()):
            writer = ArrayWriter(path, name, ChunkCodec(codec, values.dtype), chunk_items=chunk,
                                 shard_chunks=shard_chunks(values.dtype, chunk), fill_value=fill, pool=pool)
            writer.append(values)
            chunks.update(name.encode() + writer.close())
            shards[name] = writer.shard_digest
    said = StoreRecord(
        n_vertices=n, n_arcs=len(indices), n_edges=len(indices) // 2, max_degree=int(degrees.max(initial=0)),
        n_isolated=int(np.count_nonzero(degrees == 0)), codec=codec, chunk_ids=chunk,
        shard_chunks=shard_chunks(dtype, chunk), chunk_digest=chunks.hexdigest(), shard_digests=shards, complete=True)
    for name, value in (record or {}).items():
        setattr(said, name, value)
    said.record_digest = said.digest()
    group = zarr.open_group(str(path), mode="r+", zarr_format=3)
    group.attrs.update(store_writer._attributes(said, dtype))
    return path
