"""Spread over all ranks: bounds fall level by level, as in traverse/spread.py.

Bounds are processed in ascending order, so the first offer for a vertex is its smallest. A rank therefore sends a
neighbour to its owner at most once in a spread (with the bound of the level), and the owner lowers or prunes the
vertex: the same vertices get the same bounds as on one machine. On dense levels, vertices with a larger bound search
for neighbours in the frontiers of all ranks. Bytes sent: as in a BFS (search.py).
Source: F-Diam, Algorithm 5, section 4.5.
"""

from __future__ import annotations

import numpy as np

from ..traverse.spread import bounded_bits, equal_bits
from ..traverse.workspace import set_bits
from .frontier import NO_IDS, RankFrontier
from .frontier_codec import list_words
from .rank import Rank

_NO_BITS = np.empty(0, np.uint64)
_PIECE_WORDS = 1 << 10


class Spread:
    """A spread: every rank calls `start` and `run`.

    bound : unsigned[n], valid in this range. limit : larger bounds are not written. seeds, values : int64[k], of this
    range. levels : distinct values of the seeds of all ranks, ascending, at most the limit. lowered : number of
    vertices of this range whose bound fell. level : bound of the frontier.
    """

    def __init__(
        self, frontier: RankFrontier, bound: np.ndarray, limit: int, seeds: np.ndarray, values: np.ndarray,
        levels: np.ndarray
    ) -> None:
        self._frontier, self._core = frontier, frontier.core
        self._bound, self._limit = bound, limit
        self._span = slice(frontier.first, frontier.stop)
        self._seeds, self._values, self._levels = seeds, values, levels.tolist()
        frontier.restart(0)
        self.finished = False
        self.lowered = self.level = 0

    def start(self, value: int | None = None) -> None:
        """Start with the smallest seeds, or with all vertices whose bound is exactly `value` (then without seeds)."""
        if value is None:
            self._next_seeds()
            return
        self.level = value
        if value >= self._limit:
            self.finished = True
            return
        frontier, work = self._frontier, self._core.work
        words = work.frontier[frontier.words]
        count = int(equal_bits(self._bound[self._span], value, words))
        work.visited[frontier.words] |= words
        arcs = sum(frontier.sum_degrees(list_words(words[at : at + _PIECE_WORDS], frontier.first + 64 * at))
                   for at in range(0, len(words), _PIECE_WORDS))
        frontier.dense = True  # the first frontier is a bitmap
        self._direct(count, arcs)

    def run(self) -> None:
        """Run all levels."""
        while not self.finished:
            dense = self._frontier.dense
            self._frontier.count_level(1, self._dense_level() if dense else self._sparse_level(), dense)

    # -- seeds ----------------------------------------------------------------------------------
    def _admit(self) -> np.ndarray:
        """Lower the bounds of the seeds of this level; return the seeds whose bounds are not smaller, int64[k]
        ascending."""
        if not self._levels or self._levels[0] != self.level:
            return NO_IDS
        del self._levels[0]
        due = np.unique(self._seeds[self._values == self.level])
        lower = due[self._bound[due] > self.level]
        self._bound[lower] = self.level
        self.lowered += len(lower)
        due = due[self._bound[due] == self.level]
        self._frontier.visit(due)
        return due

    def _next_seeds(self) -> None:
        """The frontier is empty: continue with the next seeds, or finish."""
        frontier = self._frontier
        while not self.finished:
            if not self._levels:
                self.finished = True
                return
            self.level = int(self._levels[0])
            frontier.vertices, frontier.dense = self._admit(), False
            if self.level >= self._limit:
                self.finished = True
            elif self._direct(len(frontier.vertices), frontier.sum_degrees(frontier.vertices)):
                return

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> int:
        """One level top-down; return the arcs scanned."""
        frontier = self._frontier
        new, others, arcs = frontier.expand()
        came, _ = frontier.tell_owners(others)
        self.level += 1
        new = np.concatenate((new, came))
        new = new[self._bound[new] > self.level]
        self._bound[new] = self.level
        self.lowered += len(new)
        due = self._admit()
        frontier.vertices = np.concatenate((new, due[~np.isin(due, new)])) if len(due) else new
        self._end_level(len(frontier.vertices), frontier.sum_degrees(frontier.vertices))
        return arcs

    def _dense_level(self) -> int:
        """One level bottom-up; return the arcs scanned."""
        frontier, work = self._frontier, self._core.work
        frontier.join_words()
        self.level += 1
        bounded_bits(self._bound[self._span], self.level, work.before[frontier.words])
        work.visited[frontier.words] |= work.before[frontier.words]
        vertices, arcs, _, scanned = frontier.look_back(self._bound, self.level, _NO_BITS)
        self.lowered += vertices
        due = self._admit()
        if len(due):
            there = (work.frontier[due >> 6] >> (due & 63).astype(np.uint64)) & np.uint64(1)
            due = due[there == 0]
            set_bits(work.frontier, due, len(due))
            vertices, arcs = vertices + len(due), arcs + frontier.sum_degrees(due)
        self._end_level(vertices, arcs)
        return scanned

    def _end_level(self, vertices: int, arcs: int) -> None:
        """Continue with the frontiers of all ranks, if one is not empty."""
        if self.level >= self._limit:
            self.finished = True
        elif not self._direct(vertices, arcs):
            self._next_seeds()

    def _direct(self, vertices: int, arcs: int) -> bool:
        """Choose the direction of the next level from the frontiers of all ranks; False if all are empty."""
        sums = self._frontier.alltoall.total(np.array([vertices, arcs], np.int64)).tolist()
        self._frontier.count(*sums)
        self._frontier.choose_direction()
        return bool(sums[0] > 0)


# -- verbs ----------------------------------------------------------------------------------------
def spread(
    rank: Rank, key: int, limit: int, seeds: np.ndarray = NO_IDS, values: np.ndarray = NO_IDS,
    levels: np.ndarray = NO_IDS, old: int | None = None
) -> int:
    """A complete spread on all ranks, from seeds or from all vertices with bound `old`; see Spread. key : of the
    column. Returns the number of vertices of this range whose bound fell."""
    run = rank.under_way = Spread(rank.frontier, rank.values[key], limit, seeds, values, levels)
    run.start(old)
    run.run()
    return run.lowered
