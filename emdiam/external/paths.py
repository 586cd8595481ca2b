"""Paths and chains through rows, distances and ranks that are not in memory, except a few chunks.

The kernels correspond to those of traverse/paths.py, but besides a block, a chunk of offsets, distances or ranks may be
missing: they report it, and continue after it is loaded.

Also single passes over all arcs that compare values of both ends: values are sent along arcs, by ranges of heads. I/O:
every block once, and every arc (half of the arcs, if both directions are equivalent) through buckets.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..distinct import distinct
from ..jit import inlined, kernel
from ..progress import Tick, no_tick
from ..store.array_reader import Chunks, ShardedArray
from ..stream.pager import Arena, Pager
from ..traverse.columns import Column
from ..traverse.paths import one_way, start_walks
from .buckets import Fold
from .columns import DiskColumn
from .disk import Disk
from .rows import Rows, pieces


def all_values(disk: Disk, column: Column) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All vertices with their values (uint32), for Rows.send."""
    for start, stop in pieces(disk.n):
        yield np.arange(start, stop), column.part(start, stop).astype(np.uint32)


def steep_arcs(disk: Disk, column: Column, tick: Tick = no_tick) -> int:
    """The number of arcs whose ends differ by more than 1 in `column` (two unreached ends are equal)."""
    steep = 0

    def count(*pairs: Any) -> None:
        nonlocal steep
        steep += int(count_steep(*pairs))

    met = Fold(lambda first, stop: column.part(first, stop).astype(np.uint32), count)
    disk.rows.bring(all_values(disk, column), disk.buckets(met, 4, np.uint32), up=True, tick=tick)
    return 2 * steep


@kernel
def count_steep(part, first, keys, values):
    """The number of values[i] that differ by more than 1 from part[keys[i] - first]."""
    count = 0
    for i in range(len(keys)):
        if abs(np.int64(values[i]) - np.int64(part[np.int64(keys[i]) - first])) > 1:
            count += 1
    return count


_PIECE = 1 << 16
# State of a walk down: vertex, its distance, the next arc (-1: the row must be looked up) and end of the row, entries
# written, best neighbour so far (-1: none) and its rank; the kind of the missing chunk, and its number.
_VERTEX, _LEFT, _ARC, _END, _WRITTEN, _BEST, _RANK, _KIND, _NUMBER, _STATE = range(10)
_OFFSETS, _BLOCK, _DISTANCES, _RANKS = range(4)
_PAGE_SLOTS = 64


class _Pages(Chunks):
    """A column as chunks for a pager."""

    def __init__(self, column: DiskColumn) -> None:
        self._column = column
        self.dtype, self.length, self.chunk_items = column.dtype, len(column), column.piece
        self.n_chunks = -(-len(column) // column.piece)

    def fetch(self, first: int, rows: Sequence[np.ndarray]) -> int:
        """See Chunks."""
        for chunk, row in enumerate(rows, start=first):
            values = self._column.part(chunk * self.chunk_items, (chunk + 1) * self.chunk_items)
            row[: len(values)] = values
        return 0


def _paged(array: Any, rows: Rows) -> Pager:
    """A pager with a few slots."""
    arena = Arena(array.n_chunks, max(1, min(_PAGE_SLOTS, array.n_chunks)), array.chunk_items, array.dtype)
    return Pager(array, None, arena, rows.threads, rows.counters)


def _paging(pager: Pager) -> tuple[np.ndarray, np.ndarray, int]:
    return pager.arena.ids, pager.arena.slot_of, pager.arena.block_ids.bit_length() - 1


def path_pieces(disk: Disk, distances: DiskColumn, target: int, ranks: ShardedArray | None) -> Iterator[np.ndarray]:
    """See traverse.paths.path_pieces. ranks : the store's; None: by vertex number."""
    rows = disk.rows
    pagers = [rows.offsets, rows.arcs, _paged(_Pages(distances), rows)]
    pagers.append(pagers[2] if ranks is None else _paged(ranks, rows))
    path, state = np.empty(_PIECE, np.int64), np.full(_STATE, -1, np.int64)
    state[_VERTEX], state[_LEFT] = target, int(distances.take(np.array([target]))[0])
    yield np.array([target], np.int64)
    while state[_LEFT] > 0:
        reason = walk_down(*(_paging(pager) for pager in pagers), ranks is not None, path, state)
        if reason == -2:
            raise RuntimeError(f"no neighbour of vertex {int(state[_VERTEX])} is nearer to the source")
        if state[_WRITTEN]:
            yield path[: state[_WRITTEN]].copy()
        if reason == 1:
            pagers[state[_KIND]].load(np.arange(state[_NUMBER], state[_NUMBER] + (2 if state[_KIND] == _OFFSETS and (
                state[_VERTEX] + 1) >> rows.offset_shift > state[_NUMBER] else 1)))


@inlined
def _missing(state, kind, slot_of, number):
    """Whether a chunk is missing; then it is recorded in the state."""
    if slot_of[number] >= 0:
        return False
    state[_KIND], state[_NUMBER] = kind, number
    return True


@inlined
def _at(paging, place):
    """The entry at a position whose chunk is in memory."""
    items, slot_of, shift = paging
    chunk = place >> shift
    return np.int64(items[(np.int64(slot_of[chunk]) << shift) + place - (chunk << shift)])


@kernel
def walk_down(offsets, arcs, distances, ranks, by_rank, path, state):
    """Walk from a vertex, always to the nearer neighbour of smallest rank, until distance 0.

    offsets, arcs, distances, ranks : (items, slot of each chunk, shift). path : int64[k], receives the visited
    vertices. Returns 0 at the end or when `path` is full, 1 if a chunk is missing, -2 if no neighbour is nearer.
    """
    state[_WRITTEN] = 0
    while state[_LEFT] > 0 and state[_WRITTEN] < len(path):
        v = state[_VERTEX]
        if state[_ARC] < 0:
            # The lower chunk is loaded with the higher one, so that neither evicts the other.
            if _missing(state, _OFFSETS, offsets[1], (v + 1) >> offsets[2]):
                state[_NUMBER] = v >> offsets[2]
                return 1
            if _missing(state, _OFFSETS, offsets[1], v >> offsets[2]):
                return 1
            state[_ARC], state[_END], state[_BEST] = _at(offsets, v), _at(offsets, v + 1), -1
        while state[_ARC] < state[_END] and (state[_BEST] < 0 or by_rank):  # without ranks the first match will do
            if _missing(state, _BLOCK, arcs[1], state[_ARC] >> arcs[2]):
                return 1
            w = _at(arcs, state[_ARC])
            if _missing(state, _DISTANCES, distances[1], w >> distances[2]):
                return 1
            if _at(distances, w) + 1 == state[_LEFT]:
                if by_rank and _missing(state, _RANKS, ranks[1], w >> ranks[2]):
                    return 1
                rank = _at(ranks, w) if by_rank else w
                if state[_BEST] < 0 or rank < state[_RANK]:
                    state[_BEST], state[_RANK] = w, rank
            state[_ARC] += 1
        if state[_BEST] < 0:
            return -2
        path[state[_WRITTEN]] = state[_BEST]
        state[_VERTEX] = state[_BEST]
        state[_ARC] = -1
        state[_LEFT] -= 1
        state[_WRITTEN] += 1
    return 0


def follow_chains(rows: Rows, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """See traverse.paths.follow_chains. Follows a few chains at a time, so that their chunks fit in the arenas."""
    walks = start_walks(tips)
    # A step needs two chunks of offsets and two blocks.
    group = max(1, min(rows.offsets.arena.n_slots, rows.arcs.arena.n_slots) // 2)
    for start in range(0, len(walks), group):
        some = walks[start : start + group]
        pending, counts = np.ones(len(some), np.uint8), np.zeros(2, np.int64)
        asked = np.empty((2, 2 * len(some)), np.int64)
        while pending.any():
            wrong = follow(some, pending, *rows.paging, asked, counts)
            if wrong >= 0:
                raise one_way(int(wrong))
            for pager, chunks, count in zip((rows.offsets, rows.arcs), asked, counts.tolist(), strict=True):
                if count:
                    pager.load(distinct(chunks[:count]))
    return walks[:, 1].copy(), walks[:, 3].copy()


@inlined
def _ask(asked, counts, kind, paging, low, high):
    """Whether one of two chunks is missing; then both are requested."""
    if paging[1][low] >= 0 and paging[1][high] >= 0:
        return False
    asked[kind, counts[kind]], asked[kind, counts[kind] + 1] = low, high
    counts[kind] += 2
    return True


@kernel
def follow(walks, pending, offsets, arcs, asked, counts):
    """Follow every chain i with pending[i], as far as the chunks in memory allow.

    walks, pending : see traverse.paths.follow. asked : int64[2, 2k], missing chunks of offsets and of arcs; counts :
    int64[2], their numbers. Returns -1, or a vertex that its neighbour's row does not contain.
    """
    counts[:] = 0
    for i in range(len(walks)):
        while pending[i]:
            v = walks[i, 1]
            if _ask(asked, counts, 0, offsets, v >> offsets[2], (v + 1) >> offsets[2]):
                break
            start, end = _at(offsets, v), _at(offsets, v + 1)
            if walks[i, 2] >= 0 and end - start != 2:
                pending[i] = 0
                break
            if _ask(asked, counts, 1, arcs, start >> arcs[2], (end - 1) >> arcs[2]):
                break
            w, other = _at(arcs, start), _at(arcs, end - 1)
            if walks[i, 2] >= 0:
                if w == walks[i, 2]:
                    w = other
                elif other != walks[i, 2]:
                    return walks[i, 2]
            walks[i, 2] = v
            walks[i, 1] = w
            walks[i, 3] += 1
    return -1
