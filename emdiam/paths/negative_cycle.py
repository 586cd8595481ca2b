"""Detection of negative cycles during searches by rounds.

One thread relaxes all arcs in a few passes and stores the predecessor of each label that falls. A cycle of predecessors
has a negative weight, which is summed again before the cycle is shown. A fall may advance only one arc of a cycle a
round, so the number of passes grows with the rounds, to n passes from round n on: a label that falls in the last of n
passes has a chain of n predecessors, so one of them occurs twice. Work: m a pass, after rounds 1, 2, 4, 8, ... Bytes a
vertex: 16.
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

# Looking for a cycle takes one pass for each _LOOKS rounds.
_LOOKS = 8


class NegativeCycle(InputError):
    """The source reaches a cycle of negative weight. cycle : its vertices, with the first one again at the end.
    weight : sum of the weights of its arcs."""

    def __init__(self, cycle: list[Any], weight: Number) -> None:
        self.cycle, self.weight = cycle, weight
        shown = " ".join(map(str, cycle if len(cycle) <= 12 else [*cycle[:11], "..."]))
        super().__init__(f"there are no shortest paths: there is a way into a cycle of weight {weight}", text=shown,
                         remedy="an undirected edge of negative weight is such a cycle by itself")

    def in_user_units(self, store: Store) -> NegativeCycle:
        """The same error in the user's ids and units. store : the store of the rows."""
        record = store.record.weights
        length = self.weight
        if record is not None and isinstance(length, int):
            length = number(length, record.decimals)
        return NegativeCycle(list(store.user_ids(np.array(self.cycle))), length)


def look_for_cycle(rows: WeightedRows, labels: np.ndarray, none: int | float, rounds: int, tick: Tick) -> bool:
    """Relax all arcs a few more times on one thread, after `rounds` rounds; return whether labels still fall. Raises
    NegativeCycle if it finds a cycle, and InputError for floats that fall without end by rounding."""
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
    """A round of one thread; before : int64[n], set to the tail of the last arc that lowered each label. Returns
    whether a label fell."""
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
    """A vertex on a cycle of predecessors, or -1. seen : int64[n], number of the walk that met each vertex."""
    seen.fill(-1)
    for start in range(len(before)):
        v = np.int64(start)
        while v >= 0 and seen[v] < 0:
            seen[v] = start
            v = before[v]
        if v >= 0 and seen[v] == start:
            return v
    return np.int64(-1)
