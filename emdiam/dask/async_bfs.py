"""Thin searches: ranks run many levels by themselves and correct each other, where levels have few vertices.

Level by level, a path of a million vertices takes a million rounds of messages. Here every rank runs the levels of
its own range to a common limit in one kernel call, sends the smallest distances of others' vertices that it came to,
takes what comes in where it is smaller than what it has, and goes on. With `low` the smallest distance that any rank
still has to go on from or has just sent, distances up to `low` are final, and the next limit is `low` + `lead`: so
the rounds are about as many as borders that shortest paths cross, or levels / lead. `lead` doubles while rounds are
cheap and halves while more than half of the arcs are scanned again because a distance fell.
Distances are the same as level by level, whatever the lead: they are the only fixed point. The search ends when
nothing is left to go on from; or at a level that is no longer thin, or that has the last target: then everything up
to that level is made final and what is beyond is forgotten.
Bytes: a letter takes 1 to 5 bytes for the vertex, and 1 to 5 more where the distance is not that of the letter before
(thin_kernels.py). State: queues and bitmaps that a search has anyway (what was sent is remembered in the bitmap of
the frontier, or in 32 KiB where that is smaller), and 40 bytes a letter of one round.
Measured with 2 worker processes on one machine of two cores that was busy otherwise, two to three sources each, against
one engine on it: path of 2^17 0.11 to 0.37 s (level by level 92 s; one engine 0.01 to 0.09 s), of 2^20 0.25 to 0.51 s
(0.08 to 0.17 s), grid 800x800 0.16 to 0.25 s (0.03 to 0.04 s), USA-road-d.NY 0.16 to 0.36 s (0.01 s), luxembourg_osm
0.22 to 0.50 s (0.003 to 0.011 s); 28 to 69 rounds each; arcs scanned 1.00, 1.00, 1.00, 1.04 to 1.12 and 1.63 to 1.71
times; payload 6 bytes to 40 KB. With 4: 30 to 103 rounds, arcs 1.0 to 2.3 times, payload up to 86 KB.
Source: label-correcting in Delta-stepping windows, Meyer and Sanders, Delta-stepping: a parallelizable shortest path
algorithm (2003), with unit lengths and windows that adapt.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..traverse.core import Core
from .async_bfs_kernels import (
    AGAIN,
    COUNT,
    CURRENT,
    FULL,
    LOOK_FROM,
    LOOK_TO,
    MISSED,
    MISSING,
    OUT,
    ROOM,
    SCANNED,
    STATE,
    TAKEN,
    THICK,
    VALUE,
    cut_off,
    read_letters,
    take_letters,
    thin_levels,
    write_letters,
)
from .ranges import virtual_zeros

if TYPE_CHECKING:
    from .search import Work

FIRST_LEAD, MOST_LEAD = 4, 1 << 40
_ROUND_ARCS = 1 << 18
_LEAST_REMEMBERED, _LEAST_LETTERS = 1 << 12, 1 << 10
# Facts of a round: 1 + the smallest distance that waits here, 1 + the smallest that is sent, 1 + a level that is not
# thin (0 each: none), arcs scanned, and again, targets without a final distance.
_WAITS, _SENT, _THICK, _SCANNED, _AGAIN, _UNMET = 0, 1, 2, 3, 4, 5
Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Cut:
    """What this range has up to a level: vertices with a distance, arcs of their rows, the largest distance or -1."""

    reached: int
    arcs: int
    longest: int


class Thin:
    """A search that goes on from the frontier of a level.

    distances : unsigned[n], final up to `level` in this range, unreached beyond. targets : those of this range,
    int64[k]. thick_arcs : arcs of a level of this range that is no longer thin. Call `round` until `over`.
    low : all distances up to it are final. quiet : whether nothing was sent in the last round, so that some vertex is
    at `low`. stop_at : the level to stop at, once one is not thin; until then -1. met : whether all targets have
    final distances.
    """

    def __init__(self, work: Work, distances: np.ndarray, level: int, targets: np.ndarray, thick_arcs: int) -> None:
        self._work, self._frontier, self._core = work, work.frontier, work.core
        self.distances, self.low, self.stop_at = distances, level, -1
        self.over = self.met = self.quiet = False
        self._targets, self._thick = targets, thick_arcs
        self._lead, self._limit = FIRST_LEAD, level
        self._state = np.zeros(STATE, np.int64)
        self._state[LOOK_TO] = -1
        vertices = self._frontier.vertices
        self._seeds: Pair = (vertices, np.full(len(vertices), level, np.int64))
        self._letters = _room(_LEAST_LETTERS)
        self._sent = _memory(self._core)

    def round(self, most: int) -> None:
        """Run to a distance of at most `most` (above `low`), and exchange letters."""
        self._limit = min(most, self.stop_at if self.stop_at >= 0 else max(self._limit, self.low + self._lead))
        unmet = int(np.count_nonzero(self.distances[self._targets] > self.low))
        state = self._state
        state[SCANNED] = state[AGAIN] = 0
        thick = self._run()
        waiting = self._waiting()
        vertices, values = self._outgoing()
        facts = np.array([self._least(waiting) + 1, int(values.min(initial=MOST_LEAD)) + 1, thick + 1,
                          state[SCANNED], state[AGAIN], unmet])
        facts[facts > MOST_LEAD] = 0
        incoming, table = self._work.mail.swap(self._written(vertices, values), facts)
        self._core.counters.add(edges_scanned=int(state[SCANNED]))
        state[SCANNED] = state[AGAIN] = 0
        self._take(incoming, waiting)
        self._conclude(table)

    def cut(self, longest: int) -> Cut:
        """Forget distances above `longest` in this range, and that their vertices were visited."""
        span = np.array([self._frontier.first, self._frontier.stop], np.int64)
        numbers = cut_off(self.distances, self._core.work.visited, self._core.offsets, span, longest, self._unreached)
        return Cut(*(int(number) for number in numbers))

    # -- one round ------------------------------------------------------------------------------
    @property
    def _unreached(self) -> int:
        return int(np.iinfo(self.distances.dtype).max)

    def _run(self) -> int:
        """Levels up to the limit; the level that is not thin, or -1."""
        core, state, frontier = self._core, self._state, self._frontier
        work = core.work
        state[VALUE] = state[COUNT] = state[TAKEN] = state[OUT] = 0
        thick = self._thick if self.stop_at < 0 else MOST_LEAD
        limits = np.array([frontier.first, frontier.stop, self._limit, thick, self._unreached], np.int64)
        while True:
            begin = time.thread_time()
            reason = thin_levels(core.paging, core.offsets, self.distances, work.visited, work.queues,
                                 (work.missed_v, work.missed_p), self._seeds, self._sent, self._letters, state, limits)
            core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            if reason == MISSING:
                missing = np.unique(work.missed_p[: state[MISSED]] >> core.table.shift)
                core.pager.load(missing)
            elif reason == FULL:
                self._letters = _room(max(int(state[ROOM]), 2 * len(self._letters[0])), self._letters)
            else:
                return int(state[VALUE]) if reason == THICK and state[VALUE] < self._limit else -1

    def _waiting(self) -> Pair:
        """What is left in the queue and of the seeds, where it still has that distance."""
        state = self._state
        queue = self._core.work.queues[int(state[CURRENT]), : int(state[COUNT])].astype(np.int64)
        vertices = np.concatenate((queue, self._seeds[0][state[TAKEN] :]))
        values = np.concatenate((np.full(len(queue), state[VALUE]), self._seeds[1][state[TAKEN] :]))
        valid = self.distances[vertices] == values
        return vertices[valid], values[valid]

    def _least(self, waiting: Pair) -> int:
        """The smallest distance that there is to go on from."""
        least = int(waiting[1].min(initial=MOST_LEAD))
        low, high = int(self._state[LOOK_FROM]), int(self._state[LOOK_TO])
        if high >= 0:
            own = self.distances[self._frontier.first : self._frontier.stop]
            least = min([least, *(value for value in range(low, high + 1) if (own == value).any())])
        return least

    def _outgoing(self) -> Pair:
        """Letters by vertex, the smallest distance of each."""
        count = int(self._state[OUT])
        vertices, values = (part[:count] for part in self._letters)
        order = np.lexsort((values, vertices))
        vertices, values = vertices[order], values[order]
        first = np.ones(count, bool)
        first[1:] = vertices[1:] != vertices[:-1]
        return vertices[first], values[first]

    def _written(self, vertices: np.ndarray, values: np.ndarray) -> dict[int, np.ndarray]:
        """Messages by rank."""
        if len(vertices) == 0:
            return {}
        cuts, messages = np.searchsorted(vertices, self._work.ranges), {}
        for rank in self._work.mail.others:
            low, high = int(cuts[rank]), int(cuts[rank + 1])
            if low < high:
                out = np.empty(20 * (high - low), np.uint8)
                size = write_letters(vertices[low:high], values[low:high], int(self._work.ranges[rank]), out)
                messages[rank] = out[:size].copy()
        return messages

    def _take(self, incoming: dict[int, np.ndarray], waiting: Pair) -> None:
        """Seeds of the next round: what waits, and what comes in and is news."""
        pairs = [waiting]
        for message in incoming.values():
            if len(message):
                letters = _room(len(message))
                count = read_letters(message, self._frontier.first, *letters)
                seeds = _room(count)
                kept = take_letters((letters[0][:count], letters[1][:count]), self.distances, self._core.work.visited,
                                    self._core.offsets, self._unreached, seeds, self._state)
                pairs.append((seeds[0][:kept], seeds[1][:kept]))
        vertices, values = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        order = np.argsort(values, kind="stable")
        self._seeds = vertices[order], values[order]

    def _conclude(self, table: np.ndarray) -> None:
        """What follows for all from the facts of all."""
        self.met = not table[:, _UNMET].any()
        self.quiet = not table[:, _SENT].any()
        lows = table[:, _WAITS : _SENT + 1]
        self.over = not lows.any()
        if self.over:
            return
        self.low = int(lows[lows > 0].min()) - 1
        thick = table[:, _THICK]
        if self.stop_at < 0 and thick.any():
            self.stop_at = int(thick[thick > 0].min()) - 1
        again, scanned, most = int(table[:, _AGAIN].sum()), int(table[:, _SCANNED].sum()), int(table[:, _SCANNED].max())
        if 2 * again > scanned:
            self._lead = max(1, self._lead // 2)
        elif most < _ROUND_ARCS and 8 * again <= scanned:
            self._lead = min(MOST_LEAD, 2 * self._lead)


def _room(count: int, old: Pair | None = None) -> Pair:
    """Two arrays int64[count] that begin with the old ones."""
    new = np.empty(count, np.int64), np.empty(count, np.int64)
    if old is not None:
        for mine, theirs in zip(new, old, strict=True):
            mine[: len(theirs)] = theirs
    return new


def _memory(core: Core) -> np.ndarray:
    """Zeros, uint64[2^k], in the bitmap of the frontier, which a thin search has no use for."""
    words = core.work.frontier
    size = 1 << (len(words).bit_length() - 1) if len(words) else 0
    if size < _LEAST_REMEMBERED:
        return virtual_zeros(_LEAST_REMEMBERED, np.uint64)
    words[:size] = 0
    return words[:size]
