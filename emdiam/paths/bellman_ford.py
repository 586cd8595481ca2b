"""Bellman and Ford's algorithm: rounds over all arcs until no label falls, at most n rounds.

After round k every label is at most the length of the shortest walk of k arcs. So without a negative cycle, round n
changes nothing. With negative weights, the search looks for a cycle after rounds 1, 2, 4, 8, ...; see
negative_cycle.py. Labels are lowered atomically; the ranges of threads have equal numbers of arcs. Work: m a round.
Rounds: all rounds, with the last one, which changes nothing. Source: Ford (1956), Bellman (1958).
"""

from __future__ import annotations

from contextlib import closing
from functools import partial

import numpy as np

from ..jit import kernel
from ..stream.threads import Threads
from ..traverse.atomics import atomic_count, atomic_lower
from .frontier import first_labels
from .negative_cycle import look_for_cycle
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

# Number of ranges of vertices a thread.
_PARTS = 16


def bellman_ford(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`; weights may be negative. Raises NegativeCycle."""
    labels = first_labels(rows, source)
    rounds = lower_labels(rows, labels, options)
    return Paths("bellman-ford", source, labels, rounds * rows.n_arcs, rounds)


def lower_labels(rows: WeightedRows, labels: np.ndarray, options: SearchOptions) -> int:
    """Lower `labels` (of rows.distance_dtype) until no arc lowers one; return the number of rounds. Raises
    NegativeCycle."""
    graph, none = (rows.offsets, rows.heads, rows.costs), unreached(rows.distance_dtype)
    starts = np.searchsorted(rows.offsets, np.linspace(0, rows.n_arcs, _PARTS * options.threads + 1)[1:-1])
    starts = np.concatenate([[0], starts, [rows.n_vertices]]).astype(np.int64)
    rounds, changed = 0, True
    with closing(Threads(options.threads, 0)) as threads:
        while changed:
            taken = np.zeros(1, np.uint64)
            changed = any(threads.everywhere(partial(relax_all, graph, labels, none, starts, taken)))
            rounds += 1
            if changed and rows.least_weight < 0 and rounds & (rounds - 1) == 0:
                changed = look_for_cycle(rows, labels, none, rounds, options.tick)
            options.tick()
    return rounds


@kernel
def relax_all(graph, labels, none, starts, taken):
    """A thread's part of a round: take ranges of vertices until none remain; return whether a label fell. starts :
    int64[k + 1], first vertices of the ranges. taken : uint64[1], 0 before the round."""
    offsets, heads, costs = graph
    changed = False
    part = np.int64(atomic_count(taken, 0, np.uint64(1)))
    while part < len(starts) - 1:
        for v in range(starts[part], starts[part + 1]):
            if labels[v] == none:
                continue
            for p in range(offsets[v], offsets[v + 1]):
                u = np.int64(heads[p])
                new = labels[v] + costs[p]
                if new < labels[u] and new < atomic_lower(labels, u, new):
                    changed = True
        part = np.int64(atomic_count(taken, 0, np.uint64(1)))
    return changed
