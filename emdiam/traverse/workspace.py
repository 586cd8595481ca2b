"""The per-vertex state that every traversal of one engine shares, allocated once.

Bytes a vertex: three bitmaps 0.375, queues and rows put aside 0.16 (uint32 ids).
The scalars of a BFS that kernels use are in one array, `state` (int64[STATE]): kernels that run many levels a call
continue from it. At its end is the frontier profile, the number of vertices of each level, thinned to at most 1,024
figures, since a path has a level for each vertex. Bins are of 1, 2, 4, ... levels: when a level exceeds the last
bin, bins are added in pairs. Work: an addition a level. Bytes: 8 KiB.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..jit import kernel
from ..stream import uncompiled
from ..stream.offsets import Zeros
from .atomics import count_trailing_zeros

BINS = 1 << 10
# Slots of `state`.
LEVEL = 0  # level of the vertices in the current queue
CURRENT = 1  # 0 or 1: which of the two queues is current
HEAD = 2  # first entry of the current queue not yet expanded
COUNT = 3  # entries of the current queue
NEXT = 4  # entries of the next queue
MISSED = 5  # rows put aside
ARCS = 6  # arcs scanned so far
REACHED = 7  # vertices reached so far, seeds included
TARGETS = 8  # targets still unreached
FARTHEST = 9  # smallest vertex of the last non-empty level
NEXT_ARCS = 10  # arcs of the rows in the next queue
PROFILE = 11  # vertices a level, thinned
STATE = PROFILE + 1 + BINS
# Why a call returned; THIN : the next level is too short for several threads (shared_levels.py).
DONE, MISSING, DENSE, LIMIT, SLICE, MET, THIN = range(7)


@kernel
def count_level(state, first, level, vertices):
    """Add the vertices of a level to the profile. state : int64[first + 1 + BINS], with log2 of the levels a bin at
    `first`, followed by the bins."""
    while (level >> state[first]) >= BINS:
        for i in range(BINS // 2):
            state[first + 1 + i] = state[first + 1 + 2 * i] + state[first + 2 + 2 * i]
        state[first + 1 + BINS // 2 : first + 1 + BINS] = 0
        state[first] += 1
    state[first + 1 + (level >> state[first])] += vertices


@kernel
def count_labels(labels, unreached, longest, state, first):
    """Replace the profile by that of finished distances (unsigned[n]) up to `longest`."""
    state[first : first + 1 + BINS] = 0
    while (longest >> state[first]) >= BINS:
        state[first] += 1
    for v in range(len(labels)):
        if labels[v] != unreached:
            state[first + 1 + (np.int64(labels[v]) >> state[first])] += 1


def thinned(state: np.ndarray, first: int, levels: int) -> list[list[int]]:
    """[[first level, vertices], ...] of the bins up to the level `levels`."""
    shift = int(state[first])
    used = state[first + 1 : first + 2 + (levels >> shift)]
    return [[i << shift, count] for i, count in enumerate(used.tolist())]


MIN_QUEUE = 4096
QUEUE_SHARE = 128
# A BFS of a graph with at most this number of vertices and arcs has no dense levels: queues on one thread take as long
# as bitmaps on two (measured; not so for batches of sources), and a first run has fewer kernels to compile.
SMALL_VERTICES, SMALL_ARCS = 1 << 16, 1 << 19


def queue_capacity(n_vertices: int) -> int:
    """Entries of one queue: a frontier that does not fit is dense. In small graphs any frontier and a row fit."""
    return 2 * n_vertices if n_vertices <= SMALL_VERTICES else thin_capacity(n_vertices)


def thin_capacity(n_vertices: int) -> int:
    """Entries of a queue used only for thin frontiers."""
    return max(MIN_QUEUE, n_vertices // QUEUE_SHARE)


def workspace_bytes(n_vertices: int, id_bytes: int) -> int:
    """Bytes of a Workspace."""
    return 3 * ((n_vertices + 63) // 64) * 8 + queue_capacity(n_vertices) * (3 * id_bytes + 8)


def column_bytes(n_vertices: int) -> int:
    """Worst-case bytes of one entry of a distance or bound column."""
    return 1 if n_vertices < 2**8 else 2 if n_vertices < 2**16 else 4


class Workspace:
    """visited, before, frontier : uint64 bitmaps. fronts : the last two, uint64[2, words]. queues : id[2, capacity].
    missed_v, missed_p : rows put aside (id[capacity], int64[capacity]). state : int64[STATE]. rows_aside : those
    of the last BFS (rows_aside.py), or None; their memory may have been reused since.

    capacity : of a queue (0: queue_capacity). zeros : makes the arrays."""

    def __init__(self, n_vertices: int, dtype: np.dtype[Any], capacity: int = 0, zeros: Zeros = np.zeros) -> None:
        n_words = (n_vertices + 63) // 64
        self.capacity = capacity or queue_capacity(n_vertices)
        self.visited, self.fronts = zeros(n_words, np.uint64), zeros(2 * n_words, np.uint64).reshape(2, n_words)
        self.frontier, self.before = self.fronts
        self.queues = zeros(2 * self.capacity, dtype).reshape(2, -1)
        self.missed_v, self.missed_p = zeros(self.capacity, dtype), zeros(self.capacity, np.int64)
        self.state = np.zeros(STATE, np.int64)
        self.rows_aside: Any = None

    def frontier_from_queue(self) -> None:
        """Set `frontier` to the rows of the current queue that remain to be expanded; queues are not read again."""
        state = self.state
        head, count = int(state[HEAD]), int(state[COUNT])
        self.frontier[:] = 0
        set_bits(self.frontier, self.queues[state[CURRENT], head:], count - head)
        set_bits(self.frontier, self.missed_v, int(state[MISSED]))
        state[HEAD] = state[NEXT] = state[MISSED] = state[NEXT_ARCS] = 0

    @property
    def missed(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows put aside, in the form that kernels take."""
        return self.missed_v, self.missed_p


def bits_at(bitmap: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Whether the bit of each of `vertices` (int64[k]) is set, bool[k]."""
    hit: np.ndarray = bitmap[vertices >> 6] >> (vertices & 63).astype(np.uint64) & np.uint64(1) != 0
    return hit


def pairs_to_meet(targets: np.ndarray, sources: np.ndarray) -> int:
    """Number of pairs of a source (int64[k]) and another vertex of the bitmap."""
    return int(np.bitwise_count(targets).sum()) * len(sources) - int(bits_at(targets, sources).sum())


@kernel(uncompiled=uncompiled.set_bits)
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


@kernel(uncompiled=uncompiled.list_bits)
def list_bits(bitmap, vertices):
    """Write the vertices of set bits, ascending, to `vertices` (long enough); returns their number."""
    count = 0
    for word in range(len(bitmap)):
        bits = bitmap[word]
        while bits:
            vertices[count] = (word << 6) + count_trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            count += 1
    return count
