"""A vector in memory that is read like an array of a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class MemoryArray:
    """Chunks of a vector in memory, with as much of ShardedArray as those need who read it by chunks.

    Parameters
    ----------
    values : one-dimensional integers. chunk_items : chunk length.
    """

    def __init__(self, values: Any, chunk_items: int) -> None:
        self._values = values
        self.length, self.dtype, self.chunk_items = len(values), values.dtype, chunk_items
        self.n_chunks = -(-len(values) // chunk_items)

    def run_length(self, first: int, most: int) -> int:
        """Any number of chunks at once."""
        return min(most, self.n_chunks - first)

    def prefetch(self, first: int, count: int) -> None:
        """It is in memory already."""

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See ShardedArray.fetch."""
        for i, row in enumerate(rows):
            part = self._values[(first + i) * self.chunk_items : (first + i + 1) * self.chunk_items]
            row[: len(part)] = part
        return sum(row.nbytes for row in rows)

    def close(self) -> None:
        """Nothing to close."""
