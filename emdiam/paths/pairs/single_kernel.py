"""Blocked Floyd-Warshall as one kernel: tiles wait for tiles, not for the end of a phase.

All tiles of all rounds are in one sequence, within a round in the order of its three phases (floyd_warshall.py). A
thread takes the next tile, waits until the tiles that it needs are ready, relaxes it, and records its round. So the
first tiles of a round overlap with the last ones of the round before. A tile waits only for earlier tiles of the
sequence, which other threads have, so there is no deadlock. Two rounds have panels; the panels of a round are
overwritten two rounds later, after all tiles of the earlier round.
Work and memory as for `blocked`, with panels for two rounds. In memory only.
Source: Takafuji, Nakano and Ito, Efficient GPU Implementations to Compute the Diameter of a Graph (2019), whose blocks
of threads take tiles by a counter in global memory.
"""

from __future__ import annotations

import numpy as np

from ...jit import inlined, kernel
from ...stream.threads import Threads
from ...traverse.atomics import atomic_add, atomic_count
from .min_plus import close_tile, pack_band_of_columns, pack_band_of_rows, relax_tile
from .tiles import RamTiles

# Sums between two calls of the listener.
_AT_ONCE = 1 << 36


def single_kernel(tiles: RamTiles) -> None:
    """Turn the adjacency matrix into the matrix of distances."""
    closing = Closing(tiles, tiles.threads)
    step = max(1, _AT_ONCE // max(1, len(tiles.matrix) ** 2 * tiles.edge))
    for first in range(0, tiles.count, step):
        closing.rounds(first, min(first + step, tiles.count))
        tiles.tick()


class Closing:
    """The state that the threads share. Bytes: the panels of two rounds."""

    def __init__(self, tiles: RamTiles, threads: Threads) -> None:
        self._tiles, self._threads = tiles, threads
        size = len(tiles.matrix)
        self._rows, self._columns = (np.empty((2, size * tiles.edge), tiles.matrix.dtype) for _ in range(2))
        # Completed rounds of each tile, and completed tiles of each round.
        self._done = np.zeros(tiles.count * tiles.count, np.int64)
        self._ended = np.zeros(tiles.count, np.int64)

    def rounds(self, first: int, last: int) -> None:
        """Run the rounds first to last - 1."""
        turn = np.array([first * self._tiles.count**2], np.int64)
        self._threads.everywhere(lambda: close_rounds(
            self._tiles.matrix, self._tiles.edge, last, self._rows, self._columns, self._done, self._ended, turn))


@inlined
def _await(counts, place, number):
    """Wait until counts[place] has reached `number`."""
    while atomic_count(counts, place, 0) < number:
        pass


@inlined
def _tile_of(k, place, count):
    """(row, column) of the tile at this position in the sequence of round k."""
    others = count - 1
    if place == 0:
        return k, k
    if place <= 2 * others:
        other = (place - 1) % others
        other += other >= k
        return (k, other) if place <= others else (other, k)
    i, j = (place - 1 - 2 * others) // others, (place - 1 - 2 * others) % others
    return i + (i >= k), j + (j >= k)


@kernel
def close_rounds(matrix, edge, last, rows, columns, done, ended, turn):
    """Take tiles until all tiles of rounds before `last` are taken.

    rows, columns : panels [2, m] of even and odd rounds. done : int64[count * count]. ended : int64[count]. turn :
    int64[1], next position in the sequence."""
    count = len(ended)
    size = len(matrix)
    while True:
        taken = atomic_add(turn, 0, 1)
        k = taken // (count * count)
        if k >= last:
            return
        i, j = _tile_of(k, taken - k * count * count, count)
        begin, end = k * edge, min((k + 1) * edge, size)
        left, right = rows[k & 1], columns[k & 1]
        _await(done, i * count + j, k)
        if k > 1:
            _await(ended, k - 2, count * count)
        if i == k and j == k:
            close_tile(matrix, begin, end, begin, end)
        else:
            if i != k:
                _await(done, (i if j != k else k) * count + k, k + 1)
            if j != k:
                _await(done, k * count + (j if i != k else k), k + 1)
            if i == k:
                pack_band_of_columns(matrix, j, edge, begin, end, right)
            elif j == k:
                pack_band_of_rows(matrix, i, edge, begin, end, left)
            relax_tile(matrix, i, j, edge, left, right, end - begin)
        if i == k:
            pack_band_of_columns(matrix, j, edge, begin, end, right)
        if j == k:
            pack_band_of_rows(matrix, i, edge, begin, end, left)
        atomic_count(done, i * count + j, 1)
        atomic_count(ended, k, 1)
