"""Append-only writer of one sharded, checksummed one-dimensional Zarr array.

Chunks are encoded in a thread pool and appended to the current shard file in order, so that memory is limited to a few
chunks for any array (zarr's own pipeline keeps the whole decoded shard in memory). Metadata is written at close, when
the length is known.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..checkpoint.records import State
from ..durable import sync_path, write_whole
from ..errors import StoreError
from ..sorting.sort import done_here
from .codec import CRC_BYTES, ChunkCodec, pack_index, read_end, seal_digest, seal_of
from .metadata import array_text, sharding
from .private import blake2b

IN_FLIGHT = 4
_FEW = 1 << 13  # encoded sooner than a thread would start


class ArrayWriter:
    """Writes array `name` of the group in folder `group`.

    Parameters
    ----------
    group : folder of the Zarr group (with its zarr.json).
    name : array name.
    codec : chunk codec; its dtype is the array's.
    chunk_items, shard_chunks : items per chunk, chunks per shard.
    fill_value : pads the last chunk and marks missing chunks for other readers.
    pool : executor that encodes; at most IN_FLIGHT chunks wait at a time.

    `go_on_from` cuts off data written after a `state`, and continues the array from that state.
    """

    def __init__(
        self, group: Path, name: str, codec: ChunkCodec, *, chunk_items: int, shard_chunks: int,
        fill_value: int | float, pool: ThreadPoolExecutor,
    ) -> None:
        self.name, self.length = name, 0
        self._group, self._codec, self._pool = group, codec, pool
        self._chunk_items, self._shard_chunks, self._fill = chunk_items, shard_chunks, fill_value
        self._buffer = np.empty(chunk_items, codec.dtype)
        self._used = 0
        self._pending: deque[Future[bytes]] = deque()
        self._sizes: list[int] = []
        self._n_shards = 0
        self._file: BinaryIO | None = None
        # The previous shard, while a thread writes it to disk.
        self._storing: tuple[BinaryIO, Future[None]] | None = None
        # The checksums of all chunks, 4 bytes each: a state cannot contain a running digest.
        self._checks = bytearray()
        self._seals = bytearray()  # of finished shards, see codec.py

    @property
    def _folder(self) -> Path:
        """The folder of the shards."""
        return self._group / self.name / "c"

    @property
    def shard_digest(self) -> str:
        """The digest of the seals of all shards, after close."""
        return seal_digest(bytes(self._seals))

    def state(self) -> State:
        """The array so far, as a state; the written part is synced to disk first."""
        self._write_pending(0)
        self._await_shard()
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())
        if self._folder.is_dir():
            for folder in (self._folder, self._folder.parent):
                sync_path(folder)
        return {
            "dtype": self._codec.dtype.str, "fill": self._fill, "length": self.length, "n_shards": self._n_shards,
            "sizes": np.array(self._sizes, np.int64), "buffer": self._buffer[: self._used].copy(),
            "checks": np.frombuffer(bytes(self._checks), np.uint8),
            "seals": np.frombuffer(bytes(self._seals), np.uint8),
        }

    def go_on_from(self, state: State) -> None:
        """Continue an array that had this `state`; nothing may have been appended yet.

        Raises StoreError if a shard of that moment is missing or different.
        """
        sizes, seals, n_shards = state["sizes"].tolist(), state["seals"].tobytes(), state["n_shards"]
        whole = [self._folder / str(number) for number in range(n_shards)]
        last = self._folder / str(n_shards)
        needed = [*whole, last] if sizes else whole
        for path in needed:
            if not path.is_file() or (path == last and path.stat().st_size < sum(sizes)):
                raise StoreError("a shard of the unfinished store is missing or cut", path=path)
        for number, path in enumerate(whole):
            if seal_of(read_end(path, self._shard_chunks)[0]) != seals[8 * number : 8 * number + 8]:
                raise StoreError("a shard of the unfinished store is another one", path=path)
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path not in needed:
                path.unlink()
        (self._group / self.name / "zarr.json").unlink(missing_ok=True)
        if sizes:
            self._file = open(last, "r+b")
            self._file.truncate(sum(sizes))
            self._file.seek(0, os.SEEK_END)
        self.length, self._n_shards, self._sizes = state["length"], n_shards, sizes
        self._used = len(state["buffer"])
        self._buffer[: self._used] = state["buffer"]
        self._checks, self._seals = bytearray(state["checks"].tobytes()), bytearray(seals)

    def append(self, values: np.ndarray) -> None:
        """Append integers (any number), or floats of the array's dtype. Raises OverflowError for an integer that the
        array's dtype cannot hold."""
        values = np.ascontiguousarray(values)
        if values.dtype != self._codec.dtype:
            values = self._converted(values)
        start = 0
        while start < len(values):
            take = min(self._chunk_items - self._used, len(values) - start)
            self._buffer[self._used : self._used + take] = values[start : start + take]
            self._used += take
            start += take
            if self._used == self._chunk_items:
                self._submit()
        self.length += len(values)

    def _converted(self, values: np.ndarray) -> np.ndarray:
        """`values` in the array's dtype, which may be narrower than theirs."""
        limits = np.iinfo(self._codec.dtype)
        if len(values) and (int(values.min()) < limits.min or int(values.max()) > limits.max):
            raise OverflowError(f"{self.name} holds {self._codec.dtype}, which {int(values.min())} to "
                                f"{int(values.max())} exceed")
        return values.astype(self._codec.dtype)

    def _submit(self) -> None:
        submit = done_here if self._used <= _FEW else self._pool.submit
        self._pending.append(submit(self._codec.encode, self._buffer))
        self._buffer = np.empty(self._chunk_items, self._codec.dtype)
        self._used = 0
        self._write_pending(IN_FLIGHT)

    def _write_pending(self, limit: int) -> None:
        """Write encoded chunks in order until at most `limit` are pending."""
        while len(self._pending) > limit:
            self._write(self._pending.popleft().result())

    def _write(self, data: bytes) -> None:
        if self._file is None:
            self._file = self._new_shard()
        self._file.write(data)
        self._checks += data[-CRC_BYTES:]
        self._sizes.append(len(data))
        if len(self._sizes) == self._shard_chunks:
            self._end_shard()

    def _new_shard(self) -> BinaryIO:
        """The file of the next shard."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return open(self._folder / str(self._n_shards), "wb")

    def _store_shard(self, file: BinaryIO) -> None:
        """Sync a finished shard; runs in a thread."""
        file.flush()
        os.fsync(file.fileno())

    def _stored_later(self, file: BinaryIO) -> Future[None]:
        """The future of a shard that a thread writes to disk."""
        return self._pool.submit(self._store_shard, file)

    def _end_shard(self) -> None:
        if self._file is None:
            return
        index = pack_index(self._sizes, self._shard_chunks)
        self._file.write(index)
        self._seals += index[-CRC_BYTES:] + self._checks[-CRC_BYTES:]
        self._await_shard()
        self._storing = self._file, self._stored_later(self._file)
        self._file, self._sizes = None, []
        self._n_shards += 1

    def _await_shard(self) -> None:
        """Wait until all shards before the present one are stored."""
        if self._storing is not None:
            file, stored = self._storing
            stored.result()
            file.close()
            self._storing = None

    def close(self) -> bytes:
        """Write the rest and the metadata; returns the digest of the chunk checksums."""
        if self._used:
            self._buffer[self._used :] = self._fill
            self._submit()
        self._write_pending(0)
        self._end_shard()
        self._await_shard()
        self._write_metadata()
        return blake2b(self._checks, digest_size=16).digest()

    def _write_metadata(self) -> None:
        if self._folder.is_dir():  # each shard was synced, but its name was not
            sync_path(self._folder)
        text = array_text((self.length,), self._codec.dtype, (self._chunk_items * self._shard_chunks,), self._fill,
                          [sharding(self._chunk_items, self._codec.zarr_codecs())])
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._folder.parent / "zarr.json", text)

    def abort(self) -> None:
        """Drop pending work and close the file (the owner removes the folder)."""
        for future in self._pending:
            future.cancel()
        self._pending.clear()
        if self._storing is not None and not self._storing[1].cancel():
            wait([self._storing[1]])
        for file in (self._file, self._storing and self._storing[0]):
            if file is not None:
                with suppress(OSError):  # closing flushes the buffer, which fails on a full disk
                    file.close()
        self._file = self._storing = None
