"""Reader of a sharded array behind an address: chunk bytes by range requests, checked and decoded here.

zarr itself puts the fill value in place of what is missing, so its arrays are not asked. The indexes of all shards are
read when the array is first touched, several at once, and with them the version of each shard: an answer from another
version is an error, and so is a store whose record has changed by then. After that a fetch is one range request.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from ..errors import StoreError
from .array_reader import ShardedArray
from .codec import CRC_BYTES
from .metadata import ArrayMeta
from .remote import Objects, Version, Wanted
from .shards import check_seals, end_bytes, parse_index, seal_of

_AT_ONCE, _ASKED = 16, 1 << 10
# Encoded bytes that are asked for before they are fetched, at most.
AHEAD_BYTES = 16 << 20
_SHORT = "check the server (it must answer range requests) and its copy of the store"
_REPLACED = "open the store again, and give a new store a new name rather than replace one that is read"


class RemoteArray(ShardedArray):
    """Reader of one array.

    Parameters
    ----------
    objects : of the store. name : of the array. meta, codec : see ShardedArray. seals : digest of
        its shards that the store record has; None: none.
    still_the_same : raises StoreError if the store's record is not what it was.
    """

    def __init__(
        self, objects: Objects, name: str, meta: ArrayMeta, codec: str, still_the_same: Callable[[], None],
        seals: str | None = None,
    ) -> None:
        super().__init__(meta, codec)
        self._objects, self._name, self._still_the_same, self._seals = objects, name, still_the_same, seals
        self._shards: list[tuple[np.ndarray, Version | None]] = []
        self._lock = threading.Lock()
        self._ahead = _Ahead(self._get)

    @property
    def ahead_bytes(self) -> int:
        return AHEAD_BYTES

    def _index_of(self, shard: int) -> np.ndarray:
        if not self._shards:
            with self._lock:
                if not self._shards:
                    self._shards = self._read_indexes()
        return self._shards[shard][0]

    def _read_indexes(self) -> list[tuple[np.ndarray, Version | None]]:
        """Index and version of every shard. The first error ends it. Raises StoreError if they are not those of
        the store record."""
        ends: list[tuple[np.ndarray, bytes, Version | None]] = []
        with ThreadPoolExecutor(max(1, min(_AT_ONCE, self.n_shards)), thread_name_prefix="indexes") as pool:
            # So many at a time, since the metadata may name any number of shards.
            for begin in range(0, self.n_shards, _ASKED):
                pending = [pool.submit(self._read_index, shard)
                           for shard in range(begin, min(begin + _ASKED, self.n_shards))]
                try:
                    ends += [future.result() for future in pending]
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
        self._still_the_same()
        check_seals(b"".join(seal for _, seal, _ in ends), self._seals, self._objects.name(self._name))
        return [(index, version) for index, _, version in ends]

    def _read_index(self, shard: int) -> tuple[np.ndarray, bytes, Version | None]:
        size = end_bytes(self.shard_chunks)
        data, version = self._get(shard, size, size)
        index = parse_index(bytes(data[CRC_BYTES:]), self.shard_chunks, self.chunks_in(shard),
                            None if version is None else version.size, self.shard_name(shard))
        return index, seal_of(bytes(data)), version

    def _read(self, shard: int, offset: int, size: int) -> memoryview:
        known = self._shards[shard][1]
        waiting = self._ahead.take(shard, offset, size)
        data, version = self._get(shard, (offset, offset + size), size) if waiting is None else waiting.result()
        if known is not None and version is not None and not known.agrees(version):
            raise StoreError("the object was replaced while the store was read", path=self.shard_name(shard),
                             remedy=_REPLACED)
        return data

    def _get(self, shard: int, wanted: Wanted, size: int) -> tuple[memoryview, Version | None]:
        """The `size` bytes wanted. Raises StoreError if another number comes."""
        data, version = self._objects.get(f"{self._name}/c/{shard}", wanted)
        if len(data) != size:
            raise StoreError(f"{len(data)} bytes came where {size} were asked for", path=self.shard_name(shard),
                             remedy=_SHORT)
        return data, version

    def shard_name(self, shard: int) -> str:
        return self._objects.name(f"{self._name}/c/{shard}")

    def prefetch(self, first: int, count: int) -> None:
        """Ask for these chunks now, if the index is known and there is room for them: beside what the fetching
        threads wait for themselves, requests are then under way while those compute."""
        if self._shards:
            shard, at = divmod(first, self.shard_chunks)
            places = self._shards[shard][0][at : at + count].tolist()
            self._ahead.ask(shard, places[0][0], places[-1][0] + places[-1][1] - places[0][0])

    def close(self) -> None:
        """End the requests that are under way; connections end when nobody uses them."""
        self._ahead.close()


Answer = tuple[memoryview, Version | None]


class _Ahead:
    """Requests that were made before somebody wants the answer, in the order of asking.

    get : of RemoteArray. Whoever asks for a place before the last one begins anew: what is still there
    was asked for in vain, as when a search stops early, and is dropped.
    """

    def __init__(self, get: Callable[[int, Wanted, int], Answer]) -> None:
        self._get, self._lock = get, threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: dict[tuple[int, int, int], Future[Answer]] = {}
        self._bytes, self._last = 0, (0, 0)

    def ask(self, shard: int, offset: int, size: int) -> None:
        """Begin a request for `size` bytes of the shard from `offset` on, if there is room."""
        with self._lock:
            if (shard, offset) <= self._last:
                self._drop()
            self._last = (shard, offset)
            if self._bytes + size > AHEAD_BYTES or (shard, offset, size) in self._waiting:
                return
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="ahead")
            self._waiting[shard, offset, size] = self._pool.submit(self._get, shard, (offset, offset + size), size)
            self._bytes += size

    def take(self, shard: int, offset: int, size: int) -> Future[Answer] | None:
        """The request for exactly these bytes, if there is one; the caller has it now."""
        with self._lock:
            request = self._waiting.pop((shard, offset, size), None)
            if request is not None:
                self._bytes -= size
        return request

    def _drop(self) -> None:
        for future in self._waiting.values():
            future.cancel()
        self._waiting, self._bytes = {}, 0

    def close(self) -> None:
        """Drop what waits, and end the threads."""
        with self._lock:
            self._drop()
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
