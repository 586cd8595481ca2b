"""Asynchronous BFS for small levels: ranks run many levels without communication and correct each other.

Level by level, a path of a million vertices takes a million rounds of messages. Here each rank runs the levels of its
own range up to a common limit in one kernel call, sends the smallest distances that it found for vertices of other
ranks, and accepts received distances that are smaller than its own. Let `low` be the smallest distance that a rank
still has to expand or has just sent. Distances up to `low` are final, and the next limit is `low` + `lead`. So the
number of rounds is about the number of borders that shortest paths cross, or levels / lead. `lead` doubles while rounds
are cheap, and halves while more than half of the arcs are scanned again because a distance fell. The distances equal
those of BFS level by level for any lead, since they are the only fixed point. The search ends when no vertex remains to
expand; or at a level that is large for some rank (many arcs, or longer than its queue) or that has the last target:
then all distances up to that level are final, and larger ones are dropped (search.py).
Bytes: 1 to 5 and a distance for a vertex, 8 a message. State: the queues and the `before` bitmap of the range, which a
search has anyway, and 40 bytes for each vertex in the messages of a round. With 2 worker processes a path of 2^17 took
0.11 to 0.37 s, level by level 92 s (docs/scaling.md).
Source: label-correcting in Delta-stepping windows, Meyer and Sanders, Delta-stepping: a parallelizable shortest path
algorithm (2003), with unit lengths and windows that adapt.
"""

from __future__ import annotations

import time

import numpy as np

from ..jit import inlined, kernel
from ..stream.offsets import row_length
from ..traverse.rows import has_bit
from ..traverse.sparse import FIRST_ROW, queue_walk
from ..traverse.workspace import ARCS, COUNT, CURRENT, HEAD, LEVEL, LIMIT, MISSED, MISSING, NEXT, NEXT_ARCS
from .alltoall import Pairs, least_of_each
from .frontier import RankFrontier

FIRST_LEAD, LARGEST = 4, 1 << 40
_ROUND_ARCS = 1 << 18
_LEAST_REMEMBERED, _LEAST_MESSAGES = 1 << 12, 1 << 10
# Further slots of `state`, after those of traverse/workspace.py: seeds taken, messages listed, arcs of rows whose
# distance fell again, whether the list of messages was full.
TAKEN, LISTED, AGAIN, CROWDED = 11, 12, 13, 14
STATE = 15
# Reasons for a return, in addition to MISSING and LIMIT of traverse/workspace.py.
LARGE, FULL = 6, 7
# Facts of a round: 1 + the smallest waiting distance, 1 + the smallest sent distance, 1 + a level that is too large (0
# each: none), arcs scanned, arcs scanned again, targets without a final distance.
_WAITS, _SENT, _LARGE, _SCANNED, _AGAIN, _UNMET = 0, 1, 2, 3, 4, 5


class AsyncBfs:
    """A search that starts from the frontier of a level. Call `round` until `over`, `met` or `stopped`.

    distances : unsigned[n], final up to `level` in this range, unreached beyond. targets : targets of this range,
    int64[k]. low : all distances up to it are final. quiet : whether the last round sent nothing, so that a vertex has
    the distance `low`. stop_at : the level at which to stop, after a level was too large; before, -1. met : whether all
    targets have final distances.
    """

    def __init__(self, frontier: RankFrontier, distances: np.ndarray, level: int, targets: np.ndarray) -> None:
        self._frontier, self._core = frontier, frontier.core
        self.distances, self.low, self.stop_at = distances, level, -1
        self.over = self.met = self.quiet = False
        self._targets = targets
        self._lead, self._limit = FIRST_LEAD, level
        self._state = np.zeros(STATE, np.int64)
        self._seeds: Pairs = (frontier.vertices, np.full(len(frontier.vertices), level, np.int64))
        self._messages = np.empty((2, _LEAST_MESSAGES), np.int64)
        self._sent = _sent_table(frontier)

    @property
    def stopped(self) -> bool:
        """Whether all distances up to `stop_at` are final."""
        return 0 <= self.stop_at <= self.low

    def round(self, limit: int) -> None:
        """Run to a distance of at most `limit` (above `low`), and exchange messages."""
        self._limit = min(limit, self.stop_at if self.stop_at >= 0 else max(self._limit, self.low + self._lead))
        unmet = int(np.count_nonzero(self.distances[self._targets] > self.low))
        large = self._run()
        waiting, state = self._waiting(), self._state
        ids, values = least_of_each(*self._messages[:, : state[LISTED]].copy())
        facts = np.array([waiting[1].min(initial=LARGEST) + 1, values.min(initial=LARGEST) + 1, large + 1, state[ARCS],
                          state[AGAIN], unmet])
        facts[facts > LARGEST] = 0
        incoming, table = self._frontier.alltoall.tell(ids, values.astype(self.distances.dtype), facts)
        self._core.counters.add(edges_scanned=int(state[ARCS]))
        pairs = [waiting, *(self._take(*pair) for pair in incoming)]
        vertices, values = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        order = np.argsort(values, kind="stable")
        self._seeds = vertices[order], values[order]
        self._conclude(table)

    def _run(self) -> int:
        """Run levels up to the limit; return the level that is too large, or -1."""
        core, state, frontier, work = self._core, self._state, self._frontier, self._core.work
        state[:] = 0
        unreached = int(np.iinfo(self.distances.dtype).max)
        large = core.dense_arcs if self.stop_at < 0 else LARGEST
        limits = np.array([frontier.first, frontier.stop, self._limit, large, unreached], np.int64)
        while True:
            begin = time.thread_time()
            reason = run_levels(core.paging, core.offsets, self.distances, work.visited, work.queues, work.missed,
                                self._seeds, self._sent, self._messages, state, limits)
            core.counters.add(kernel_cpu_seconds=time.thread_time() - begin)
            if reason == MISSING:
                core.pager.load(np.unique(work.missed_p[: state[MISSED]] >> core.table.shift))
            elif reason == FULL:
                self._messages = np.concatenate((self._messages, np.empty_like(self._messages)), axis=1)
            else:
                return int(state[LEVEL]) if reason == LARGE and state[LEVEL] < self._limit else -1

    def _waiting(self) -> Pairs:
        """The remaining entries of the queues and seeds that still have their distance."""
        state, queues, (seeds, values) = self._state, self._core.work.queues, self._seeds
        here, there = queues[state[CURRENT], : state[COUNT]], queues[1 - state[CURRENT], : state[NEXT]]
        vertices = np.concatenate((here, there, seeds[state[TAKEN] :])).astype(np.int64)
        values = np.concatenate((np.full(len(here), state[LEVEL]), np.full(len(there), state[LEVEL] + 1),
                                 values[state[TAKEN] :]))
        valid = self.distances[vertices] == values
        return vertices[valid], values[valid]

    def _take(self, ids: np.ndarray, values: np.ndarray) -> Pairs:
        """Write the received distances that are smaller than the known ones; return these."""
        smaller = self.distances[ids] > values
        ids, values = ids[smaller], values[smaller]
        self.distances[ids] = values
        return ids, values.astype(np.int64)

    def _conclude(self, table: np.ndarray) -> None:
        """Update the common state from the facts of all ranks."""
        self.met = not table[:, _UNMET].any()
        self.quiet = not table[:, _SENT].any()
        lows, large = table[:, _WAITS : _SENT + 1], table[:, _LARGE]
        self.over = not lows.any()
        if self.over:
            return
        self.low = int(lows[lows > 0].min()) - 1
        if large.any():
            level = int(large[large > 0].min()) - 1
            self.stop_at = level if self.stop_at < 0 else min(level, self.stop_at)
        again, scanned, busiest = table[:, _AGAIN].sum(), table[:, _SCANNED].sum(), table[:, _SCANNED].max()
        if 2 * again > scanned:
            self._lead = max(1, self._lead // 2)
        elif busiest < _ROUND_ARCS and 8 * again <= scanned:
            self._lead = min(LARGEST, 2 * self._lead)


def _sent_table(frontier: RankFrontier) -> np.ndarray:
    """Zeros, uint64[2^k], in the bitmap `before` of the range, which is free during this search."""
    words = frontier.core.work.before[frontier.words]
    if len(words) < _LEAST_REMEMBERED:
        return np.zeros(_LEAST_REMEMBERED, np.uint64)
    table = words[: 1 << (len(words).bit_length() - 1)]
    table[:] = 0
    return table


@inlined
def _relax(args, v, w, there, tail):
    dist, visited, offsets, sent, messages, limits, state = args
    value = state[LEVEL] + 1
    if limits[0] <= w < limits[1]:
        if np.int64(dist[w]) > value:
            degree = row_length(offsets, w)
            if dist[w] != limits[4]:
                state[AGAIN] += degree
            dist[w] = value
            there[tail] = w
            return tail + 1, degree
    elif not has_bit(visited, w):
        _list_message(sent, messages, state, w, value)
    return tail, 0


@inlined
def _list_message(sent, messages, state, w, value):
    """List the message (w, value), unless `sent` shows that w was sent with a distance as small. Entry w mod 2^k of
    `sent` has the rest of w and the distance of the last vertex sent; a vertex that was overwritten may be sent
    again."""
    at = w & (len(sent) - 1)
    tag = np.uint64((w // len(sent) + 1) << 32)
    if sent[at] & np.uint64(0xFFFFFFFF00000000) == tag and sent[at] & np.uint64(0xFFFFFFFF) <= np.uint64(value):
        return
    if state[LISTED] == messages.shape[1]:
        state[CROWDED] = 1
        return
    sent[at] = tag | np.uint64(value)
    messages[0, state[LISTED]] = w
    messages[1, state[LISTED]] = value
    state[LISTED] += 1


_walk_relaxing = queue_walk(_relax)


@kernel
def run_levels(paging, offsets, dist, visited, queues, missed, seeds, sent, messages, state,
               limits):
    """Run levels in increasing order of distance; return the reason to stop.

    paging, offsets, queues, missed, state : as in traverse/sparse.py. dist : unsigned[n]. visited : bitmap; a set bit
    of another rank's vertex means that its owner knows its distance. seeds : (int64[s], int64[s]), vertices and
    distances, ascending by distance. sent : uint64[2^k], see _list_message. messages : int64[2, k], vertices of other
    ranks and their distances. limits : int64[5] = first, stop, distance to run to, arcs of a level that is too large,
    unreached. LIMIT: no vertex remains below the limit. LARGE: the level in the current queue is too large. FULL:
    `messages` is full, and the level must run again, which does not change its earlier results.
    """
    vertices, values = seeds
    near = FIRST_ROW
    while True:
        here = queues[state[CURRENT]]
        if state[HEAD] == 0 and state[MISSED] == 0 and state[NEXT] == 0:
            if state[COUNT] == 0:
                if state[TAKEN] == len(vertices):
                    return LIMIT
                state[LEVEL] = values[state[TAKEN]]
            if state[LEVEL] >= limits[2]:
                return LIMIT
            while state[TAKEN] < len(vertices) and values[state[TAKEN]] == state[LEVEL]:
                if state[COUNT] == len(here):
                    return LARGE
                v = vertices[state[TAKEN]]
                if np.int64(dist[v]) == state[LEVEL]:
                    here[state[COUNT]] = v
                    state[COUNT] += 1
                state[TAKEN] += 1
        full, near = _walk_relaxing(paging, offsets, queues, missed, state,
                                    (dist, visited, offsets, sent, messages, limits, state), near)
        if full:
            return LARGE
        if state[MISSED]:
            return MISSING
        state[HEAD] = 0
        if state[CROWDED]:
            state[CROWDED] = 0
            return FULL
        arcs = state[NEXT_ARCS]
        state[LEVEL] += 1
        state[CURRENT] = 1 - state[CURRENT]
        state[COUNT] = state[NEXT]
        state[NEXT] = state[NEXT_ARCS] = 0
        if arcs > limits[3]:
            return LARGE
