"""Parts of a stored array as vectors, for those who want some of it rather than every block."""

from __future__ import annotations

import numpy as np

from .array_reader import ChunkedArray

# Decoded bytes asked for in one fetch, at least one chunk.
_FETCH_BYTES = 4 << 20


def read_slice(array: ChunkedArray, begin: int, stop: int) -> np.ndarray:
    """Items begin, ..., stop - 1 of the array, a copy, dtype[stop - begin]; 0 <= begin <= stop <= length.

    Reads the chunks that hold them. Raises StoreError, and ValueError for positions outside.
    """
    if not 0 <= begin <= stop <= array.length:
        raise ValueError(f"items {begin} to {stop} of {array.length}")
    out, size = np.empty(stop - begin, array.dtype), array.chunk_items
    if begin == stop:
        return out
    most = max(1, _FETCH_BYTES // (size * array.dtype.itemsize))
    chunk, end = begin // size, -(-stop // size)
    buffer = np.empty((min(most, end - chunk), size), array.dtype)
    while chunk < end:
        count = array.run_length(chunk, min(most, end - chunk))
        array.fetch(chunk, list(buffer[:count]))
        low, high = max(begin, chunk * size), min(stop, (chunk + count) * size)
        out[low - begin : high - begin] = buffer.reshape(-1)[low - chunk * size : high - chunk * size]
        chunk += count
    return out
