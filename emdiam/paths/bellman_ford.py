"""Bellman and Ford's algorithm: rounds over all arcs until no label falls, at most as many as there are vertices.

After round k every label is at most the length of the shortest walk of k arcs. So without a negative cycle nothing
changes in round n at the latest, and a single pass is not enough. Where weights are negative, a cycle is looked for
after rounds 1, 2, 4, 8, ...: one thread relaxes all arcs a few times and keeps the predecessor of every label that
falls; a cycle of predecessors has a negative weight, which is added up again before it is shown. A fall may go one arc
of a cycle in a round, so there are more such passes the longer it takes, and n from round n on: then a label that falls
in the last has n predecessors in a row, of which one comes twice. Others than Bellman-Ford refuse negative weights.
Labels are lowered atomically, threads have ranges of vertices with equally many arcs. Work: m a round. Rounds: all of
them, the last without a change. Source: Ford (1956), Bellman (1958); Cherkassky and Goldberg (1999) for the cycle.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from ..decimals import Number, number
from ..errors import InputError
from ..jit import kernel
from ..progress import Tick
from ..store.store import Store
from ..stream.threads import Threads
from ..traverse.atomics import atomic_count, atomic_lower
from .frontier import first_labels
from .paths import Paths, SearchOptions, length_of
from .rows import WeightedRows, unreached

# Of the threads' ranges. A look for a cycle takes one pass for so many rounds.
_PARTS, _LOOKS = 16, 8


class NegativeCycle(InputError):
    """A cycle of negative weight that a source reaches. cycle : its vertices, the first once more at the end.
    weight : of its arcs together."""

    def __init__(self, cycle: list[Any], weight: Number) -> None:
        self.cycle, self.weight = cycle, weight
        shown = " ".join(map(str, cycle if len(cycle) <= 12 else [*cycle[:11], "..."]))
        super().__init__(f"there are no shortest paths: there is a way into a cycle of weight {weight}", text=shown,
                         remedy="an undirected edge of negative weight is such a cycle by itself")

    def told(self, store: Store) -> NegativeCycle:
        """The same in the user's ids, and the length as users see it. store : that the rows are of."""
        record = store.record.weights
        length = self.weight
        if record is not None and isinstance(length, int):
            length = number(length, record.decimals)
        return NegativeCycle(list(store.user_ids(np.array(self.cycle))), length)


def bellman_ford(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances from `source`; weights may be negative. Raises NegativeCycle."""
    labels = first_labels(rows, source)
    rounds = lower_labels(rows, labels, options)
    return Paths("bellman-ford", source, labels, rounds * rows.n_arcs, rounds)


def lower_labels(rows: WeightedRows, labels: np.ndarray, options: SearchOptions) -> int:
    """Lower `labels`, of rows.distance_dtype, until no arc lowers one; how many rounds that took. Raises
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


def look_for_cycle(rows: WeightedRows, labels: np.ndarray, none: int | float, rounds: int, tick: Tick) -> bool:
    """Relax all arcs some times more with one thread, after so many rounds; whether labels fall still. Raises
    NegativeCycle where that shows one, and InputError for floats that fall for ever as they are rounded."""
    n = rows.n_vertices
    before, seen = np.full(n, -1, np.int64), np.empty(n, np.int64)
    for _ in range(max(2, rounds // _LOOKS if rounds < n else n)):
        if not relax_with_tree(rows.offsets, rows.heads, rows.costs, labels, none, before):
            return False
        tick()
        v = vertex_of_cycle(before, seen)
        if v < 0:
            continue
        cycle = [v, int(before[v])]
        while cycle[-1] != v:
            cycle.append(int(before[cycle[-1]]))
        cycle.reverse()
        weight = length_of(rows, cycle)
        if weight < 0:
            raise NegativeCycle(cycle, weight)
    if rounds >= n:
        raise InputError("sums of these weights do not end to fall, since they are rounded",
                         remedy="round the weights, to float32 or to whole numbers")
    return True


@kernel(allocates=False)
def relax_all(graph, labels, none, starts, taken):
    """A thread's part of a round: ranges of vertices until all are taken; whether a label has fallen. starts :
    int64[k + 1], where ranges begin. taken : uint64[1], 0."""
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


@kernel
def relax_with_tree(offsets, heads, costs, labels, none, before):
    """A round of one thread, with the tail of the arc that lowered each label last in `before`, int64[n]; whether one
    has fallen."""
    changed = False
    for v in range(len(labels)):
        if labels[v] == none:
            continue
        for p in range(offsets[v], offsets[v + 1]):
            u = np.int64(heads[p])
            if labels[v] + costs[p] < labels[u]:
                labels[u] = labels[v] + costs[p]
                before[u] = v
                changed = True
    return changed


@kernel
def vertex_of_cycle(before, seen):
    """A vertex on a cycle of predecessors; -1 if there is none. seen : int64[n], which walk met each vertex."""
    seen.fill(-1)
    for start in range(len(before)):
        v = np.int64(start)
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            v = before[v]
        if v >= 0 and seen[v] == start:
            return v
    return np.int64(-1)
