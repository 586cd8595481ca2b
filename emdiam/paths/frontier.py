"""Frontiers: the vertices whose labels fell in the last round, each relaxed once by one of all threads.

A vertex is in a frontier once: a bit marks members of the next frontier. No bit is set when a round starts, so a label
that falls at any time in a round puts its vertex into the next frontier. Threads take parts of 64 vertices of a
frontier, or share it by merge path: each thread gets the same number of vertices plus arcs, independent of row lengths,
and finds the start of its share by one binary search.
Bytes: 2 ids and a bit a vertex; 16 a vertex of the frontier, 24 with merge path.
Source: Busato and Bombieri, H-BF (2016), and papers it builds on; merge path: Green, McColl, Bader (2012).

Bellman and Ford's algorithm on a frontier: a round relaxes the rows of the vertices whose labels have fallen.

Rows that are relaxed later in a round use labels that fell earlier in it. Rounds: frontiers. Work: at worst m a round.
With negative weights, the search looks for a cycle (negative_cycle.py). Source: papers on H-BF, algorithm 5.

Workfront sweep: frontiers without duplicates, each shared among threads by merge path.

Every thread gets the same number of arcs, independent of degrees. Rounds and work: as for the frontier form of Bellman
and Ford. Source: Davidson, Baxter, Garland, Owens (2014), section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import numpy as np

from ..jit import inlined, kernel
from ..stream.threads import Threads
from ..traverse.atomics import atomic_count, atomic_lower, atomic_or
from .negative_cycle import look_for_cycle
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

ONE = np.uint64(1)
# Slots of `shared`, uint64[16]: parts taken, vertices of the next frontier.
TAKEN, NEXT = 0, 8
PART = 64
# A round uses one thread for each _SHARE_ARCS arcs.
_SHARE_ARCS = 1 << 14

# kernel(graph, labels, frontier, ends, shares, out, marks, shared) -> arcs
Round = Callable[..., int]


class FrontierRounds:
    """Rounds over `rows` that lower `labels`. relax_round : by_vertices, or another kernel of this kind. merge_path :
    whether threads share a round by arcs. `relaxations` and `rounds` count the work. Call `close` at the end."""

    def __init__(self, rows: WeightedRows, labels: np.ndarray, options: SearchOptions, relax_round: Round,
                 merge_path: bool = False) -> None:
        self._graph, self._labels = (rows.offsets, rows.heads, rows.costs), labels
        self._round, self._merge_path, self._tick = relax_round, merge_path, options.tick
        self._out = np.empty(rows.n_vertices, rows.heads.dtype)
        self._marks = np.zeros(-(-rows.n_vertices // 64), np.uint64)
        self._threads = Threads(options.threads, 0)
        self.relaxations = self.rounds = 0

    def begin(self, source: int) -> np.ndarray:
        """The first frontier: the source."""
        return np.array([source], self._out.dtype)

    def relax(self, frontier: np.ndarray) -> np.ndarray:
        """Relax the rows of the vertices (id[k], distinct); return the vertices whose labels fell, each once, in a new
        array."""
        degrees = self._graph[0][frontier.astype(np.int64) + 1] - self._graph[0][frontier]
        ends = np.cumsum(degrees) if self._merge_path else np.zeros(1, np.int64)
        n_arcs, shared = int(degrees.sum()), np.zeros(16, np.uint64)
        shares = min(self._threads.compute, 1 + (n_arcs + len(frontier)) // _SHARE_ARCS)
        self._share_out(frontier, ends, shares, shared)
        self.relaxations += n_arcs
        self.rounds += 1
        self._tick()
        woken = self._out[: int(shared[NEXT])].copy()
        clear_marks(self._marks, woken)
        return woken

    def _share_out(self, frontier: np.ndarray, ends: np.ndarray, shares: int, shared: np.ndarray) -> None:
        """Run the kernel of a round on all threads."""
        self._threads.everywhere(lambda: self._round(self._graph, self._labels, frontier, ends, shares, self._out,
                                                     self._marks, shared), shares)

    def run(self, source: int, look: Callable[[int], object] | None = None) -> None:
        """All rounds from `source` on. look : called with the number of rounds after 1, 2, 4, 8, ... rounds."""
        frontier = self.begin(source)
        while len(frontier):
            frontier = self.relax(frontier)
            if look is not None and len(frontier) and self.rounds & (self.rounds - 1) == 0:
                look(self.rounds)

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()


@inlined
def wait_for_next(u, out, marks, shared):
    """Put vertex u into the next frontier, unless it is a member."""
    bit = ONE << np.uint64(u & 63)
    if not atomic_or(marks, u >> 6, bit) & bit:
        out[np.int64(atomic_count(shared, NEXT, ONE))] = u


@inlined
def relax_arcs(v, begin, end, graph, labels, out, marks, shared):
    """Relax the arcs begin to end - 1 of v."""
    _, heads, costs = graph
    label = labels[v]
    for p in range(begin, end):
        u = np.int64(heads[p])
        new = label + costs[p]
        if new < labels[u] and new < atomic_lower(labels, u, new):
            wait_for_next(u, out, marks, shared)


@kernel
def by_vertices(graph, labels, frontier, ends, shares, out, marks, shared):
    """A thread's part of a round: take parts of the frontier until none remain. shares, ends : unused."""
    offsets = graph[0]
    begin = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))
    while begin < len(frontier):
        for i in range(begin, min(begin + PART, len(frontier))):
            v = np.int64(frontier[i])
            relax_arcs(v, offsets[v], offsets[v + 1], graph, labels, out, marks, shared)
        begin = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))


@inlined
def merge_place(ends, diagonal):
    """The number of rows that end within the first `diagonal` steps of the merge of `ends` (arcs up to the end of each
    row) with the numbers of the arcs; the other steps are arcs."""
    low = max(np.int64(0), diagonal - ends[len(ends) - 1])
    high = min(diagonal, len(ends))
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] <= diagonal - middle - 1:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def by_merge_path(graph, labels, frontier, ends, shares, out, marks, shared):
    """A thread's part of a round: one of `shares` equal pieces of the path through rows and arcs.

    ends : int64[k], arcs up to the end of each row of the frontier. Pieces of a split row use the label at the time."""
    offsets = graph[0]
    total = ends[len(ends) - 1] + len(frontier)
    share = np.int64(atomic_count(shared, TAKEN, ONE))
    while share < shares:
        first = total * share // shares
        last = total * (share + 1) // shares
        row = merge_place(ends, first)
        arc = first - row
        stop_row = merge_place(ends, last)
        stop_arc = last - stop_row
        while row < stop_row or (row == stop_row and arc < stop_arc):
            v = np.int64(frontier[row])
            row_begin = ends[row] - (offsets[v + 1] - offsets[v])
            end = min(ends[row], stop_arc)
            begin = offsets[v] + (arc - row_begin)
            relax_arcs(v, begin, begin + (end - arc), graph, labels, out, marks, shared)
            arc = end
            row += 1
        share = np.int64(atomic_count(shared, TAKEN, ONE))


@kernel
def clear_marks(marks, vertices):
    """Clear the bits of `vertices`."""
    for v in vertices:
        marks[v >> 6] &= ~(ONE << np.uint64(v & 63))


def frontier_bellman_ford(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`; weights may be negative. Raises NegativeCycle."""
    return by_frontiers("frontier-bellman-ford", rows, source, options, by_vertices)


def by_frontiers(name: str, rows: WeightedRows, source: int, options: SearchOptions, relax_round: Round,
                 merge_path: bool = False) -> Paths:
    """A search of one frontier after another. relax_round, merge_path : see FrontierRounds."""
    labels = first_labels(rows, source)
    with closing(FrontierRounds(rows, labels, options, relax_round, merge_path)) as frontiers:
        frontiers.run(source, look_into(rows, labels.copy, options))
        return Paths(name, source, labels, frontiers.relaxations, frontiers.rounds)


def look_into(rows: WeightedRows, labels: Callable[[], np.ndarray],
              options: SearchOptions) -> Callable[[int], object] | None:
    """A function of the number of rounds that looks for a negative cycle; None if no weight is negative. labels :
    returns a copy of the labels, since the search changes its own."""
    if rows.least_weight >= 0:
        return None
    none = unreached(rows.distance_dtype)
    return lambda rounds: look_for_cycle(rows, labels(), none, rounds, options.tick)


def with_woken(waiting: np.ndarray, woken: np.ndarray, waits: np.ndarray) -> np.ndarray:
    """The waiting vertices, id[k], followed by woken vertices that did not wait. waits : bool[n], updated."""
    fresh = woken[~waits[woken]]
    waits[fresh] = True
    return np.concatenate([waiting, fresh])


def first_labels(rows: WeightedRows, source: int) -> np.ndarray:
    """0 at the source, unreached elsewhere: distances[n_vertices]."""
    labels = np.full(rows.n_vertices, unreached(rows.distance_dtype), rows.distance_dtype)
    labels[source] = 0
    return labels


def workfront_sweep(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`; weights may be negative. Raises NegativeCycle."""
    return by_frontiers("workfront-sweep", rows, source, options, by_merge_path, merge_path=True)
