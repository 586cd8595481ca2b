"""The per-vertex state that every traversal of one engine shares, allocated once.

Bytes a vertex: three bitmaps 0.375, queues and rows put aside 0.16 (uint32 ids).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from ..stream.offsets import Zeros
from .atomics import count_trailing_zeros
from .sparse import STATE

MIN_QUEUE = 4096
QUEUE_SHARE = 128
# A BFS of a graph of at most so many vertices and arcs has no dense levels: queues on one thread take as long as
# bitmaps on two (measured; not so batches of sources), and a first run has fewer kernels to compile.
SMALL_VERTICES, SMALL_ARCS = 1 << 16, 1 << 19


def queue_capacity(n_vertices: int) -> int:
    """Entries of one queue: a frontier that does not fit is dense. In small graphs any frontier and a row fit."""
    return 2 * n_vertices if n_vertices <= SMALL_VERTICES else thin_capacity(n_vertices)


def thin_capacity(n_vertices: int) -> int:
    """Entries of a queue for thin frontiers alone."""
    return max(MIN_QUEUE, n_vertices // QUEUE_SHARE)


def workspace_bytes(n_vertices: int, id_bytes: int) -> int:
    """Bytes of a Workspace."""
    return 3 * ((n_vertices + 63) // 64) * 8 + queue_capacity(n_vertices) * (3 * id_bytes + 8)


def column_bytes(n_vertices: int) -> int:
    """Worst-case bytes of one entry of a distance or bound column."""
    return 1 if n_vertices < 2**8 else 2 if n_vertices < 2**16 else 4


class Workspace:
    """visited, before, frontier : uint64 bitmaps. queues : id[2, capacity]. missed_v, missed_p :
    rows put aside (id[capacity], int64[capacity]). state : int64[STATE].

    capacity : of a queue (0: queue_capacity). zeros : makes the arrays."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any], capacity: int = 0, zeros: Zeros = np.zeros) -> None:
        n_words = (n_vertices + 63) // 64
        self.capacity = capacity or queue_capacity(n_vertices)
        self.visited, self.before, self.frontier = (zeros(n_words, np.uint64) for _ in range(3))
        self.queues = zeros(2 * self.capacity, dtype).reshape(2, -1)
        self.missed_v, self.missed_p = zeros(self.capacity, dtype), zeros(self.capacity, np.int64)
        self.state = np.zeros(STATE, np.int64)

    @property
    def missed(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows put aside, as the kernels take them."""
        return self.missed_v, self.missed_p


def bits_at(bitmap: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Whether the bit of each of `vertices` (int64[k]) is set, bool[k]."""
    hit: np.ndarray = bitmap[vertices >> 6] >> (vertices & 63).astype(np.uint64) & np.uint64(1) != 0
    return hit


def pairs_to_meet(targets: np.ndarray, sources: np.ndarray) -> int:
    """How many pairs of a source (int64[k]) and another vertex of the bitmap there are."""
    return int(np.bitwise_count(targets).sum()) * len(sources) - int(bits_at(targets, sources).sum())


@kernel
def set_bits(bitmap, vertices, count):
    """Set the bits of vertices[:count]."""
    for i in range(count):
        v = np.int64(vertices[i])
        bitmap[v >> 6] |= np.uint64(1) << np.uint64(v & 63)


@kernel
def clear_bits(bitmap, vertices, count):
    """Clear the bits of vertices[:count]."""
    for i in range(count):
        v = np.int64(vertices[i])
        bitmap[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))


@kernel
def list_bits(bitmap, vertices):
    """Write the set bits' vertices, ascending, to `vertices` (long enough); returns how many."""
    count = 0
    for word in range(len(bitmap)):
        bits = bitmap[word]
        while bits:
            vertices[count] = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            count += 1
    return count
