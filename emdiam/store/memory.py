"""A store in memory, for a small graph that lives as long as one run.

Its shards are the bytes of a stored folder, with all checksums, so that it is read, checked and identified by digests
like any other store. It has no files, no syncs and no zarr metadata, which are most of the cost of a small store. Other
processes cannot open it.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from io import BytesIO
from typing import Any, BinaryIO, cast

from ..sorting.sort import done_here
from .array_reader import ShardedArray
from .array_writer import ArrayWriter
from .codec import check_seals, end_bytes, index_bytes, parse_index, seal_of
from .layout import StoreRecord
from .metadata import ArrayMeta
from .store import Store
from .writer import StoreWriter

_PLACE = "a graph in memory"


class _MemoryArrayWriter(ArrayWriter):
    """An ArrayWriter that keeps its shards in memory."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._shards: list[bytes] = []

    def _new_shard(self) -> BinaryIO:
        return BytesIO()

    def _stored_later(self, file: BinaryIO) -> Future[None]:
        return done_here(self._store_shard, file)

    def _store_shard(self, file: BinaryIO) -> None:
        self._shards.append(cast(BytesIO, file).getvalue())

    def _write_metadata(self) -> None:
        pass

    def reader(self, record: StoreRecord) -> MemoryArray:
        """A reader of the written array, which must be closed."""
        meta = ArrayMeta(self._codec.dtype, self.length, self._chunk_items, self._shard_chunks)
        return MemoryArray(self.name, meta, record, self._shards)


class MemoryArray(ShardedArray):
    """Reader of an array whose shards are in memory. record : the store's. shards : their bytes, in order."""

    in_memory = True

    def __init__(self, name: str, meta: ArrayMeta, record: StoreRecord, shards: Sequence[bytes]) -> None:
        super().__init__(meta, record.codec)
        self._name, self._shards = name, shards
        self._index = [
            parse_index(data[-index_bytes(self.shard_chunks):], self.shard_chunks, self.chunks_in(shard), len(data),
                        self.shard_name(shard)) for shard, data in enumerate(shards)]
        check_seals(b"".join(seal_of(data[-end_bytes(self.shard_chunks):]) for data in shards),
                    record.shard_digests[name], _PLACE)

    def _read(self, shard: int, offset: int, size: int) -> memoryview:
        return memoryview(self._shards[shard])[offset : offset + size]

    def prefetch(self, first: int, count: int) -> None:
        """Nothing to do: the data is in memory."""

    def shard_name(self, shard: int) -> str:
        return f"{_PLACE}: {self._name} {shard}"

    def close(self) -> None:
        """Nothing to do: the memory is freed with the object."""


class MemoryWriter(StoreWriter):
    """A StoreWriter without a folder: `store` returns the finished store."""

    _array_writer = _MemoryArrayWriter

    def _check_place(self) -> None:
        pass

    def _take_place(self) -> None:
        pass

    def _add_group(self) -> None:
        pass

    def _complete(self, record: StoreRecord) -> None:
        pass

    def _rename(self) -> None:
        pass

    def store(self, record: StoreRecord) -> Store:
        """The store. record : the result of `finish`."""
        arrays = {name: cast(_MemoryArrayWriter, writer).reader(record) for name, writer in self._arrays.items()}
        return Store(_PLACE, record, cast("dict[str, ShardedArray]", arrays), address=_PLACE)
