"""Reader of a sharded array through the store interface of zarr: HTTP, S3, zip, memory.

Bytes come by ranges from zarr's store and are checked and decoded here, not by zarr, because zarr
puts the fill value in place of a chunk that is missing. The index of a shard is read when the
shard is first touched and kept (16 bytes a chunk); after that a fetch is one range request.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..errors import StoreError
from .array_reader import ShardedArray
from .codec import ChunkCodec
from .shards import index_bytes, parse_index

_REMEDY = "check the server (it must answer range requests) and its copy of the store"


class ZarrArray(ShardedArray):
    """Reader of one array in a zarr store that is not a local folder.

    Parameters
    ----------
    array : zarr.Array, one-dimensional and sharded.
    codec : its chunk codec.
    place : what to call the array in errors.
    """

    def __init__(self, array: Any, codec: ChunkCodec, place: str) -> None:
        chunk_items = array.chunks[0]
        super().__init__(length=array.shape[0], chunk_items=chunk_items,
                         shard_chunks=array.shards[0] // chunk_items, codec=codec)
        self._store, self._key, self._place = array.store, array.path + "/c/", place
        self._indexes: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()

    def _index_of(self, shard: int) -> np.ndarray:
        with self._lock:
            index = self._indexes.get(shard)
        if index is None:
            from zarr.abc.store import SuffixByteRequest

            size = index_bytes(self.shard_chunks)
            data = self._get(shard, SuffixByteRequest(size), size)
            index = parse_index(data, self.shard_chunks, self.chunks_in(shard), None, self.shard_name(shard))
            with self._lock:
                self._indexes[shard] = index
        return index

    def _read(self, shard: int, offset: int, size: int) -> memoryview:
        from zarr.abc.store import RangeByteRequest

        return memoryview(self._get(shard, RangeByteRequest(offset, offset + size), size))

    def _get(self, shard: int, request: Any, size: int) -> bytes:
        """The `size` bytes that a range request of zarr asks for. Raises StoreError."""
        from zarr.buffer import default_buffer_prototype
        from zarr.core.sync import sync

        name = self.shard_name(shard)
        try:
            data = sync(self._store.get(self._key + str(shard), default_buffer_prototype(), request))
        except Exception as error:  # zarr and its stores raise many types; all mean the same to a user
            raise StoreError(f"the shard cannot be read ({type(error).__name__}: {error})", path=name,
                             remedy=_REMEDY) from error
        if data is None:
            raise StoreError("a shard file is missing", path=name, remedy=_REMEDY)
        if len(data) != size:
            raise StoreError(f"{len(data)} bytes came where {size} were asked for", path=name, remedy=_REMEDY)
        return bytes(data.to_bytes())

    def shard_name(self, shard: int) -> str:
        return f"{self._place}/c/{shard}"

    def prefetch(self, first: int, count: int) -> None:
        """Nothing: several threads keep requests in flight."""

    def close(self) -> None:
        """Nothing to close: the store closes its connections."""
