"""Cycles of negative weight, which searches by rounds of relaxing look for now and then.

One thread relaxes all arcs a few times and keeps the predecessor of every label that falls; a cycle of predecessors has
a negative weight, which is added up again before it is shown. A fall may go one arc of a cycle in a round, so there are
more such passes the longer it takes, and n from round n on: then a label that falls in the last has n predecessors in a
row, of which one comes twice. Work: m a pass, after rounds 1, 2, 4, 8, ... Bytes a vertex: 16.
Source: Cherkassky and Goldberg, Negative-cycle detection algorithms (1999).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..decimals import Number, number
from ..errors import InputError
from ..jit import kernel
from ..progress import Tick
from ..store.store import Store
from .paths import length_of
from .rows import WeightedRows

# A look for a cycle takes one pass for so many rounds.
_LOOKS = 8


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
