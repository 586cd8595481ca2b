"""Readers of one sharded array, chunk by chunk, into buffers that the caller owns.

LocalArray reads chunk bytes with pread and decodes them in place (about 20 times faster a chunk
than zarr's own read path); ZarrArray reads any store that zarr can open (HTTP, zip, memory).
Both raise StoreError with file and chunk for anything that is not the data that was written.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import StoreError
from .codec import ChunkCodec
from .shards import read_index

_REMEDY = "the store is damaged: convert the graph again or restore the file from a copy"


class ChunkedArray(Protocol):
    """length items of dtype in n_chunks chunks of chunk_items (the last padded)."""

    length: int
    dtype: np.dtype[Any]
    chunk_items: int
    n_chunks: int

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """Decode chunks first, first + 1, ... into rows (each dtype[chunk_items], contiguous);
        returns the bytes read. Thread-safe. Raises StoreError."""
        ...

    def run_length(self, first: int, most: int) -> int:
        """How many chunks from `first` on (at most `most`) one fetch should take."""
        ...

    def close(self) -> None:
        """Close open files."""
        ...


class LocalArray:
    """Direct reader of an array in a local folder.

    Parameters
    ----------
    folder : the array's folder (holding zarr.json and c/).
    length, chunk_items, shard_chunks : as in its metadata.
    codec : chunk codec of the array.
    evict : drop what was read from the page cache (for honest out-of-core measurements).
    """

    def __init__(
        self, folder: Path, *, length: int, chunk_items: int, shard_chunks: int, codec: ChunkCodec,
        evict: bool = False,
    ) -> None:
        self.length, self.dtype, self.chunk_items = length, codec.dtype, chunk_items
        self.n_chunks = -(-length // chunk_items)
        self._folder, self._codec, self._shard_chunks, self.evict = folder, codec, shard_chunks, evict
        self._local = threading.local()
        n_shards = -(-self.n_chunks // shard_chunks)
        self._files: list[int] = []
        parts = [np.empty((0, 2), np.uint64)]
        try:
            for shard in range(n_shards):
                count = min(shard_chunks, self.n_chunks - shard * shard_chunks)
                path = folder / "c" / str(shard)
                parts.append(read_index(path, shard_chunks, count))
                self._files.append(os.open(path, os.O_RDONLY))
        except BaseException:
            self.close()
            raise
        self._index = np.concatenate(parts)

    @property
    def stored_bytes(self) -> int:
        """Encoded bytes of all chunks (indexes not counted)."""
        return int(self._index[:, 1].sum())

    def run_length(self, first: int, most: int) -> int:
        """Chunks from `first` on that lie one after another in one shard, at most `most`."""
        end = min(first + most, (first // self._shard_chunks + 1) * self._shard_chunks, self.n_chunks)
        return end - first

    def _pread(self, shard: int, offset: int, size: int) -> memoryview:
        """`size` bytes in a buffer of this thread, valid until its next call."""
        buffer = getattr(self._local, "buffer", None)
        if buffer is None or len(buffer) < size:
            buffer = self._local.buffer = bytearray(size + size // 4)
        view = memoryview(buffer)[:size]
        done = 0
        while done < size:
            got = os.preadv(self._files[shard], [view[done:]], offset + done)
            if got == 0:
                raise StoreError("the shard file ends too early", path=self._path(shard),
                                 byte=offset + done, remedy=_REMEDY)
            done += got
        if self.evict:
            os.posix_fadvise(self._files[shard], offset, size, os.POSIX_FADV_DONTNEED)
        return view.toreadonly()

    def _path(self, shard: int) -> Path:
        return self._folder / "c" / str(shard)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See ChunkedArray.fetch; the chunks must lie in one shard (see run_length)."""
        last = first + len(rows) - 1
        shard = first // self._shard_chunks
        if last // self._shard_chunks != shard or last >= self.n_chunks:
            raise ValueError(f"chunks {first} to {last} are not in one shard of {self._folder}")
        start = int(self._index[first, 0])
        end = int(self._index[last, 0] + self._index[last, 1])
        data = self._pread(shard, start, end - start)
        for i, row in enumerate(rows):
            at = int(self._index[first + i, 0]) - start
            try:
                self._codec.decode(data[at : at + int(self._index[first + i, 1])], row)
            except (StoreError, RuntimeError, ValueError) as error:
                raise StoreError(f"chunk {first + i} cannot be decoded ({error})", path=self._path(shard),
                                 byte=start + at, remedy=_REMEDY) from error
        return end - start

    def close(self) -> None:
        """Close the shard files."""
        for handle in self._files:
            os.close(handle)
        self._files = []


class ZarrArray:
    """Reader through zarr's API, for stores that are not local folders.

    Parameters
    ----------
    array : zarr.Array, one-dimensional.
    chunk_items : chunk (not shard) length.
    place : what to call it in errors.
    """

    def __init__(self, array: Any, chunk_items: int, place: str) -> None:
        self._array, self._place = array, place
        self.length, self.dtype, self.chunk_items = array.shape[0], np.dtype(array.dtype), chunk_items
        self.n_chunks = -(-self.length // chunk_items)

    def run_length(self, first: int, most: int) -> int:
        """At most four chunks (1 MiB of ids): about what a remote read wants."""
        return min(most, 4, self.n_chunks - first)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See ChunkedArray.fetch. The bytes returned are decoded bytes."""
        begin = first * self.chunk_items
        end = min(self.length, begin + len(rows) * self.chunk_items)
        try:
            values = self._array[begin:end]
        except Exception as error:  # zarr and its stores raise many types; none is ours
            raise StoreError(f"chunk {first} cannot be read ({type(error).__name__}: {error})",
                             path=self._place, remedy="check the server and the store") from error
        for i, row in enumerate(rows):
            part = values[i * self.chunk_items : (i + 1) * self.chunk_items]
            row[: len(part)] = part
        return (end - begin) * self.dtype.itemsize

    def close(self) -> None:
        """Nothing to close: zarr's stores close themselves."""


class MemoryArray:
    """Chunks of a vector in memory: for graphs too small to be worth a store (kernel warm-up).

    Parameters
    ----------
    values : one-dimensional integers. chunk_items : chunk length.
    """

    def __init__(self, values: np.ndarray, chunk_items: int) -> None:
        self._values = values
        self.length, self.dtype, self.chunk_items = len(values), values.dtype, chunk_items
        self.n_chunks = -(-len(values) // chunk_items)

    def run_length(self, first: int, most: int) -> int:
        """Any number of chunks at once."""
        return min(most, self.n_chunks - first)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See ChunkedArray.fetch."""
        for i, row in enumerate(rows):
            part = self._values[(first + i) * self.chunk_items : (first + i + 1) * self.chunk_items]
            row[: len(part)] = part
        return sum(row.nbytes for row in rows)

    def close(self) -> None:
        """Nothing to close."""
