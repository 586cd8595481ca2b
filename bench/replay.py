"""What the disk alone takes: the reads of a run, recorded and repeated without decoding."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from emdiam.store.array_reader import LocalArray, ShardedArray
from emdiam.store.metadata import ArrayMeta
from emdiam.store.store import Store

from .cache import evict


class Recorder:
    """A ShardedArray that notes which chunks are fetched. reads : (first chunk, how many)."""

    def __init__(self, array: ShardedArray) -> None:
        self._array, self._lock = array, threading.Lock()
        self.reads: list[tuple[int, int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._array, name)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See ShardedArray.fetch."""
        with self._lock:
            self.reads.append((first, len(rows)))
        return self._array.fetch(first, rows)


class _Reads(LocalArray):
    """Leaves the bytes alone: what remains of a fetch is the read."""

    def decode(self, chunk: int, data: memoryview, row: np.ndarray) -> None:
        """Nothing."""


def cold_seconds(store: Store, reads: list[tuple[int, int]], threads: int) -> tuple[float, int]:
    """(wall seconds, bytes) of the same reads in the same order, from a page cache that has none of
    them, each dropped again behind itself, by `threads` threads that only read."""
    folder = Path(store.path)
    indices = store.indices
    meta = ArrayMeta(store.id_dtype, indices.length, indices.chunk_items, store.record.shard_chunks)
    array = _Reads(folder / "indices", meta, store.record.codec, evict=True)
    row = np.empty(1, store.id_dtype)
    queue, lock = iter(reads), threading.Lock()

    def work() -> int:
        total = 0
        while True:
            with lock:
                read = next(queue, None)
            if read is None:
                return total
            total += array.fetch(read[0], [row] * read[1])

    evict(folder)
    try:
        with ThreadPoolExecutor(threads) as pool:
            begin = time.perf_counter()
            futures = [pool.submit(work) for _ in range(threads)]
            n_bytes = sum(future.result() for future in futures)
            return time.perf_counter() - begin, n_bytes
    finally:
        array.close()
