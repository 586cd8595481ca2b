"""Delta-stepping as printed: light arcs within a bucket until it is empty, heavy ones once after that.

A light arc has a weight of at most Delta, so its head may be in the bucket of its tail; the head of a heavy arc is in a
later bucket, so the arc is relaxed once, with the final label of its tail. delta_stepping.py relaxes both kinds at
once, which reads a row once. `relaxations` counts each arc when it is relaxed. Delta: as in Delta-stepping. Rounds:
frontiers of light and of heavy arcs. Bytes a vertex: the bytes of frontier.py, and 33 while a bucket is emptied.
Source: Meyer and Sanders, Delta-stepping: a parallelizable shortest path algorithm (2003).
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from ..distinct import distinct
from ..jit import kernel
from ..traverse.atomics import atomic_count, atomic_lower
from .delta_stepping import usual_delta
from .frontier import PART, TAKEN, FrontierRounds, by_vertices, first_labels, wait_for_next, with_woken
from .paths import Paths, SearchOptions
from .rows import WeightedRows

# Slot of `shared`, uint64[16]: relaxed arcs.
_ARCS = 4


class KindsOfArcs(FrontierRounds):
    """Rounds that relax arcs of one kind. delta : the largest weight of a light arc. See FrontierRounds."""

    def __init__(self, rows: WeightedRows, labels: np.ndarray, options: SearchOptions, delta: float) -> None:
        super().__init__(rows, labels, options, by_vertices)
        self._delta, self._heavy, self._arcs = delta, False, 0

    def relax_kind(self, frontier: np.ndarray, heavy: bool) -> np.ndarray:
        """See FrontierRounds.relax."""
        self._heavy, before = heavy, self.relaxations
        woken = self.relax(frontier)
        self.relaxations = before + self._arcs
        return woken

    def _share_out(self, frontier: np.ndarray, ends: np.ndarray, shares: int, shared: np.ndarray) -> None:
        self._threads.everywhere(lambda: by_weight(self._graph, self._labels, frontier, self._delta, self._heavy,
                                                   self._out, self._marks, shared), shares)
        self._arcs = int(shared[_ARCS])


@kernel
def by_weight(graph, labels, frontier, delta, heavy, out, marks, shared):
    """A thread's part of a round: take parts of the frontier until none remain. delta : float64. heavy : relax the arcs
    above delta; else the other arcs."""
    offsets, heads, costs = graph
    begin = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))
    while begin < len(frontier):
        arcs = np.uint64(0)
        for i in range(begin, min(begin + PART, len(frontier))):
            v = np.int64(frontier[i])
            label = labels[v]
            for p in range(offsets[v], offsets[v + 1]):
                if (costs[p] > delta) != heavy:
                    continue
                arcs += np.uint64(1)
                u = np.int64(heads[p])
                new = label + costs[p]
                if new < labels[u] and new < atomic_lower(labels, u, new):
                    wait_for_next(u, out, marks, shared)
        atomic_count(shared, _ARCS, arcs)
        begin = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))


def light_heavy(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`. Weights must not be negative."""
    delta = usual_delta(rows) if options.delta is None else options.delta
    labels = first_labels(rows, source)
    waits = np.zeros(rows.n_vertices, np.bool_)
    with closing(KindsOfArcs(rows, labels, options, float(delta))) as rounds:
        waiting = rounds.begin(source)
        while len(waiting):
            least, taken = np.floor(labels[waiting].min() / delta), list[np.ndarray]()
            while (first := np.floor(labels[waiting] / delta) == least).any():
                frontier, waiting = waiting[first], waiting[~first]
                waits[frontier] = False
                taken.append(frontier)
                waiting = with_woken(waiting, rounds.relax_kind(frontier, False), waits)
            settled = distinct(np.concatenate(taken))
            waiting = with_woken(waiting, rounds.relax_kind(settled, True), waits)
        return Paths("light-heavy", source, labels, rounds.relaxations, rounds.rounds)
