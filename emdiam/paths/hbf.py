"""H-BF: frontiers, with distance and predecessor of a vertex in one word, lowered by one atomic minimum.

A word is distance << 32 | predecessor, so both come from the same relaxation, and the paths need no further pass over
the arcs. Edge classification: a vertex whose row is empty, or leads only back to its predecessor, never enters a
frontier. A member of the next frontier is not added again by any thread. Distances must be integers below 2^32 - 1.
With negative weights they must be from -2^31 to 2^31 - 2, since the word has the distance plus 2^31, and the search
looks for a cycle (negative_cycle.py). Rounds: frontiers. Bytes a vertex: 8 for the word, and the bytes of frontier.py.
Source: Busato and Bombieri, An efficient implementation of the Bellman-Ford algorithm for Kepler GPU architectures
(2016).
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from ..errors import InputError
from ..jit import inlined, kernel
from ..traverse.atomics import atomic_count, atomic_lower
from .frontier import PART, TAKEN, FrontierRounds, look_into, wait_for_next
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

BITS = np.uint64(32)
_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_SIGNED = 1 << 31


def hbf(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances and predecessors from `source`; weights may be negative. Raises InputError for floats and for a
    distance that does not fit 32 bits, and NegativeCycle."""
    if rows.distance_dtype.kind == "f" or rows.n_vertices >= 1 << 32:
        raise InputError("h-bf has a distance and a vertex in one word of 64 bits: whole numbers of 32 bits alone",
                         remedy="use --method delta-stepping")
    words = np.full(rows.n_vertices, _WORD)
    base = _SIGNED if rows.least_weight < 0 else 0
    words[source] = np.uint64(base << int(BITS) | source)
    distances, before = np.empty(len(words), rows.distance_dtype), np.empty(len(words), np.int64)
    found = np.zeros(2, np.int64)

    def labels() -> np.ndarray:
        unpack(words, source, base, unreached(distances.dtype), distances, before, found)
        if int(found[0]) + int(rows.least_weight) < -_SIGNED:
            raise InputError(f"h-bf has 32 bits for a distance, and there may be smaller ones than {found[0]:,}",
                             remedy="use --method bellman-ford")
        return distances

    with closing(FrontierRounds(rows, words, options, relax_words)) as frontiers:
        frontiers.run(source, look_into(rows, labels, options))
    labels()
    if int(found[1]) + base + int(rows.largest_weight) >= int(_LOW) and leads_out(rows.offsets, rows.heads, words):
        raise InputError(f"h-bf has 32 bits for a distance, and there are larger ones than {found[1]:,}",
                         remedy=f"use --method {'bellman-ford' if base else 'delta-stepping'}")
    return Paths("h-bf", source, distances, frontiers.relaxations, frontiers.rounds, before)


@inlined
def _leads_on(u, p, v, graph):
    """Whether the row of u may lower a label after arc p from v has lowered the label of u: it has an arc to a vertex
    other than v, or an arc back to v whose negative weight exceeds the weight of p."""
    offsets, heads, costs = graph
    begin = offsets[u]
    length = offsets[u + 1] - begin
    back = length == 1 and np.int64(heads[begin]) == v
    return length > 0 and (not back or np.int64(costs[p]) + np.int64(costs[begin]) < 0)


@kernel
def relax_words(graph, words, frontier, ends, shares, out, marks, shared):
    """A thread's part of a round: take parts of the frontier until none remain. shares, ends : unused."""
    offsets, heads, costs = graph
    turn = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))
    while turn < len(frontier):
        for i in range(turn, min(turn + PART, len(frontier))):
            v = np.int64(frontier[i])
            distance = words[v] >> BITS
            for p in range(offsets[v], offsets[v + 1]):
                u = np.int64(heads[p])
                new = distance + np.uint64(costs[p])  # a sum below 0 wraps to a value above all distances
                # Only a smaller distance replaces a word: equal ones could close cycles of zero weight.
                if new < words[u] >> BITS:
                    word = (new << BITS) | np.uint64(v)
                    if new < atomic_lower(words, u, word) >> BITS and _leads_on(u, p, v, graph):
                        wait_for_next(u, out, marks, shared)
        turn = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))


@kernel
def leads_out(offsets, heads, words):
    """Whether an arc leads from a vertex with a path to a vertex without one: its distance did not fit."""
    for v in range(len(words)):
        if words[v] != _WORD:
            for p in range(offsets[v], offsets[v + 1]):
                if words[heads[p]] == _WORD:
                    return True
    return False


@kernel
def unpack(words, source, base, none, distances, before, found):
    """Unpack `words`, which have distances plus `base`, into distances and predecessors (-1 at the source and without a
    path). found : int64[2], set to the smallest and the largest distance."""
    found[:] = 0
    for v in range(len(words)):
        if words[v] == _WORD:
            distances[v] = none
            before[v] = -1
        else:
            distance = np.int64(words[v] >> BITS) - base
            found[0] = min(found[0], distance)
            found[1] = max(found[1], distance)
            distances[v] = distance
            before[v] = np.int64(words[v] & _LOW)
    before[source] = -1
