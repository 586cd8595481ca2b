"""Make a union of factors simple: switch each repeated edge with a random one.

The switch (McKay, Wormald 1990) turns a repeated edge {u, v} and a random edge {x, y} into {u, x}
and {v, y}, if both are new; degrees stay. What it changes is a table of a few slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..hashing import below, draw
from .regular_factors import Factors, factor_edges, slot_of
from .source import Ids

TRIES_PER_EDGE = 200

Edge = tuple[int, int]


@dataclass(frozen=True)
class Replacements:
    """slots : int64[k], increasing; src, dst : int64[k], the edges in their place."""

    slots: Ids
    src: Ids
    dst: Ids

    @classmethod
    def from_dict(cls, edges: Mapping[int, Edge]) -> Replacements:
        """From {slot: (u, v)}."""
        slots = sorted(edges)
        ends = np.array([edges[s] for s in slots], np.int64).reshape(-1, 2)
        return cls(np.array(slots, np.int64), ends[:, 0].copy(), ends[:, 1].copy())

    def apply(self, first: int, src: Ids, dst: Ids) -> None:
        """Overwrite the edges of the slots first, first + 1, ... in src and dst where replaced."""
        low, high = np.searchsorted(self.slots, (first, first + len(src)))
        place = self.slots[low:high] - first
        src[place], dst[place] = self.src[low:high], self.dst[low:high]


class _Switched:
    """The graph of the factors with some slots replaced."""

    def __init__(self, factors: Factors) -> None:
        self.factors = factors
        self.edges: dict[int, Edge] = {}
        self._present: set[frozenset[int]] = set()

    def edge(self, slot: int) -> Edge:
        """The edge at `slot` now."""
        if slot in self.edges:
            return self.edges[slot]
        src, dst = np.empty(1, np.int64), np.empty(1, np.int64)
        factor_edges(*self.factors, slot, (src, dst))
        return int(src[0]), int(dst[0])

    def put(self, slot: int, edge: Edge) -> None:
        """Replace the edge at `slot`."""
        if slot in self.edges:
            self._present.discard(frozenset(self.edges[slot]))
        self.edges[slot] = edge
        self._present.add(frozenset(edge))

    def has(self, u: int, v: int) -> bool:
        """True if {u, v} is an edge now (or a loop)."""
        if u == v or frozenset((u, v)) in self._present:
            return True
        slots = (slot_of(*self.factors, j, u, v) for j in range(len(self.factors.keys)))
        return any(slot >= 0 and slot not in self.edges for slot in slots)


def replace_repeated(factors: Factors, repeated: list[int], key: np.uint64) -> dict[int, Edge] | None:
    """{slot: edge} that makes the union simple, or None if no switch was found in time.

    repeated : slots whose edge occurs in an earlier factor. key : hash key of the random choices.
    """
    graph = _Switched(factors)
    waiting = set(repeated)
    n_slots = factors.n * factors.n_cycles
    n_slots += factors.n // 2 if len(factors.keys) > factors.n_cycles else 0
    counter = 0
    for slot in repeated:
        u, v = graph.edge(slot)
        for _ in range(TRIES_PER_EDGE):
            number = draw(key, np.uint64(counter))
            counter += 1
            other = int(below(np.uint64(number), np.uint64(n_slots)))
            if other in waiting:
                continue
            x, y = graph.edge(other)
            if int(number) & 1:
                x, y = y, x
            if {u, x} != {v, y} and not graph.has(u, x) and not graph.has(v, y):
                break
        else:
            return None
        waiting.remove(slot)
        graph.put(slot, (u, x))
        graph.put(other, (v, y))
    return graph.edges
