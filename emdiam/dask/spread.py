"""Spread over all ranks: bounds fall level by level, as in traverse/spread.py.

A vertex is offered its smallest bound first, since bounds are taken in ascending order. So a rank tells an owner of a
neighbour at most once in a whole spread, the bound being that of the level, and the owner lowers the vertex or prunes
it: the same vertices get the same bounds as on one machine. Dense levels look back at the frontiers of all, from
vertices whose bound is larger. Bytes sent are those of a BFS (search.py).
Source: F-Diam, Algorithm 5, section 4.5.
"""

from __future__ import annotations

import numpy as np

from ..traverse.direction import Front
from ..traverse.spread import bounded_bits, equal_bits
from ..traverse.workspace import set_bits
from .frontier_codec import add_to_words, decode_ids, encode_ids, list_words
from .rank import Part
from .search import Work

_NO_BITS, _NO_FACTS, _NOTHING = np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.int64)
_PIECE_WORDS = 1 << 10


class Spread:
    """A spread: every rank calls `start` or `start_at`, and `run`.

    work : of this rank. bound : unsigned[n], of which this range is right. limit : no bound above it is written.
    seeds, values : int64[k], of this range. levels : distinct values of the seeds of all ranks, ascending, none above
    the limit. lowered : vertices of this range whose bound fell. level : bound of the frontier.
    """

    def __init__(
        self, work: Work, bound: np.ndarray, limit: int, *, seeds: np.ndarray, values: np.ndarray, levels: np.ndarray
    ) -> None:
        self._work, self._core, self._frontier = work, work.core, work.frontier
        self._bound, self._limit = bound, limit
        self._seeds, self._values, self._levels = seeds, values, levels.tolist()
        self._frontier.restart()
        self._front, self._everywhere = Front(0, 0, 0), 0
        self.dense = self.finished = False
        self.lowered = self.level = 0

    def start(self) -> None:
        """Begin with the smallest seeds."""
        self._next_seeds()

    def start_at(self, value: int) -> None:
        """Begin with all vertices whose bound is exactly `value` as seeds; without other seeds."""
        self.level = value
        if value >= self._limit:
            self.finished = True
            return
        frontier, words = self._frontier, self._core.work.frontier[self._frontier.own]
        count = int(equal_bits(self._bound[self._own], value, words))
        self._core.work.visited[frontier.own] |= words
        arcs = sum(self._arcs_of(list_words(part, first, int(np.bitwise_count(part).sum())))
                   for first, part in self._pieces(words))
        self.dense = True  # so far it is a bitmap
        self._direct(count, arcs)

    @property
    def _own(self) -> slice:
        return slice(self._frontier.first, self._frontier.stop)

    def _pieces(self, words: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """(first vertex, words) of parts of a bitmap of this range."""
        return [(self._frontier.first + 64 * at, words[at : at + _PIECE_WORDS])
                for at in range(0, len(words), _PIECE_WORDS)]

    def run(self) -> None:
        """All levels."""
        while not self.finished:
            first, dense = int(self._work.rank == 0), self.dense
            scanned = self._dense_level() if dense else self._sparse_level()
            self._core.counters.add(levels=first, passes=first * dense, dense_levels=first * dense,
                                    edges_scanned=scanned)

    # -- seeds ----------------------------------------------------------------------------------
    def _admit(self) -> np.ndarray:
        """The seeds that are due at this level, their bounds lowered: those not below it, int64[k] ascending."""
        if not self._levels or self._levels[0] != self.level:
            return np.empty(0, np.int64)
        del self._levels[0]
        due = np.unique(self._seeds[self._values == self.level])
        lower = due[self._bound[due] > self.level]
        self._bound[lower] = self.level
        self.lowered += len(lower)
        due = due[self._bound[due] == self.level]
        self._frontier.visit(due)
        return due

    def _next_seeds(self) -> None:
        """Nothing grows: go on with the next seeds that do, or finish."""
        while not self.finished:
            if not self._levels:
                self.finished = True
                return
            self.level = int(self._levels[0])
            self._frontier.vertices, self.dense = self._admit(), False
            if self.level >= self._limit:
                self.finished = True
            elif self._direct(len(self._frontier.vertices), self._arcs_of(self._frontier.vertices)):
                return

    # -- levels ---------------------------------------------------------------------------------
    def _sparse_level(self) -> int:
        """One level top-down; arcs scanned."""
        frontier, work = self._frontier, self._work
        new, others, arcs = frontier.expand()
        incoming, _ = work.mail.swap(self._letters(others), _NO_FACTS)
        parts = [new, *(frontier.visit(decode_ids(message, frontier.first)) for message in incoming.values())]
        self.level += 1
        new = np.concatenate(parts)
        new = new[self._bound[new] > self.level]
        self._bound[new] = self.level
        self.lowered += len(new)
        due = self._admit()
        frontier.vertices = np.concatenate((new, due[~np.isin(due, new)])) if len(due) else new
        self._end_level(len(frontier.vertices), self._arcs_of(frontier.vertices))
        return arcs

    def _letters(self, others: np.ndarray) -> dict[int, np.ndarray]:
        """Messages to the owners of `others`, ascending."""
        ranges = self._work.ranges
        cuts = np.searchsorted(others, ranges).tolist()
        return {rank: encode_ids(others[cuts[rank] : cuts[rank + 1]], int(ranges[rank]), int(ranges[rank + 1]))
                for rank in self._work.mail.others if cuts[rank] < cuts[rank + 1]}

    def _dense_level(self) -> int:
        """One level bottom-up; arcs scanned."""
        frontier, work, state = self._frontier, self._work, self._core.work
        letter = frontier.message()
        incoming, _ = work.mail.swap(dict.fromkeys(work.mail.others, letter), _NO_FACTS)
        for rank, theirs in incoming.items():
            part = state.frontier[(work.ranges[rank] + 63) >> 6 : (work.ranges[rank + 1] + 63) >> 6]
            part[:] = 0
            add_to_words(theirs, part)
        self.level += 1
        bounded_bits(self._bound[self._own], self.level, state.before[frontier.own])
        state.visited[frontier.own] |= state.before[frontier.own]
        vertices, arcs, _, scanned = frontier.look_back(self._bound, self.level, _NO_BITS)
        self.lowered += vertices
        due = self._admit()
        if len(due):
            there = (state.frontier[due >> 6] >> (due & 63).astype(np.uint64)) & np.uint64(1)
            due = due[there == 0]
            set_bits(state.frontier, due, len(due))
            vertices, arcs = vertices + len(due), arcs + self._arcs_of(due)
        self._end_level(vertices, arcs)
        return scanned

    def _end_level(self, vertices: int, arcs: int) -> None:
        """Go on with the frontier of this rank, if there is something to grow."""
        if self.level >= self._limit:
            self.finished = True
        elif not self._direct(vertices, arcs):
            self._next_seeds()

    def _direct(self, vertices: int, arcs: int) -> bool:
        """Choose the direction of the next level from the frontiers of all ranks; False if all are empty."""
        vertices, arcs = self._work.mail.total(np.array([vertices, arcs], np.int64)).tolist()
        front, core = self._front, self._core
        front.vertices, front.arcs = vertices, arcs
        front.visited_arcs += arcs
        self._everywhere += vertices
        few = core.dense_arcs // 2 if front.bottom_up else core.dense_arcs
        up = vertices > 0 and front.turn(core, self._everywhere)
        front.bottom_up = vertices > 0 and arcs > few and (up or vertices > core.work.capacity)
        if front.bottom_up and not self.dense:
            self._frontier.to_words()
        elif self.dense and not front.bottom_up:
            self._frontier.to_list()
        self.dense = front.bottom_up
        return bool(vertices > 0)

    def _arcs_of(self, vertices: np.ndarray) -> int:
        return int(self._core.degrees(vertices).sum()) if len(vertices) else 0




# -- as asked of a rank ---------------------------------------------------------------------------
def spread(part: Part, key: int, limit: int, seeds: np.ndarray, values: np.ndarray, levels: np.ndarray) -> int:
    """A whole spread, on all ranks together; see Spread. key : of the column. Vertices of this range whose bound
    fell."""
    run = part.under_way = Spread(part.work, part.values[key], limit, seeds=seeds, values=values, levels=levels)
    run.start()
    run.run()
    return run.lowered


def extend(part: Part, key: int, old: int, limit: int) -> int:
    """A whole spread from all vertices with bound `old`."""
    run = part.under_way = Spread(part.work, part.values[key], limit, seeds=_NOTHING, values=_NOTHING, levels=_NOTHING)
    run.start_at(old)
    run.run()
    return run.lowered
