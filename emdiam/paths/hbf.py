"""H-BF: frontiers, with the distance and the predecessor of a vertex in one word that is lowered by one atomic minimum.

A word is distance << 32 | predecessor, so that both are those of one relaxation, and a path is there at the end without
a further look at the arcs. Edge classification: a vertex whose row is empty, or only leads back to where its label came
from, never enters a frontier. A vertex that is in the next frontier is not put there again, whichever thread finds it.
Distances must be integers below 2^32 - 1; where weights are negative, from -2^31 on below 2^31 - 1, since what is in
the word is 2^31 more, and a cycle is looked for (negative_cycle.py). Rounds: frontiers. Bytes a vertex: 8 for the word,
those of frontier.py.
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
    """Distances and predecessors from `source`; weights may be negative. Raises InputError for floats, and for a
    distance that does not fit 32 bits; NegativeCycle."""
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
    """Whether the row of u may lower a label, once arc p from v has lowered that of u: it has an arc to another vertex
    than v, or one back whose weight takes more away than p adds."""
    offsets, heads, costs = graph
    begin = offsets[u]
    length = offsets[u + 1] - begin
    back = length == 1 and np.int64(heads[begin]) == v
    return length > 0 and (not back or np.int64(costs[p]) + np.int64(costs[begin]) < 0)


@kernel(allocates=False)
def relax_words(graph, words, frontier, ends, shares, out, marks, shared):
    """A thread's part of a round: parts of the frontier until all are taken. shares, ends : not used."""
    offsets, heads, costs = graph
    turn = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))
    while turn < len(frontier):
        for i in range(turn, min(turn + PART, len(frontier))):
            v = np.int64(frontier[i])
            distance = words[v] >> BITS
            for p in range(offsets[v], offsets[v + 1]):
                u = np.int64(heads[p])
                new = distance + np.uint64(costs[p])  # below 0 it is larger than any
                # Only a smaller distance replaces a word: among equal ones, paths of zero weights might close.
                if new < words[u] >> BITS:
                    word = (new << BITS) | np.uint64(v)
                    if new < atomic_lower(words, u, word) >> BITS and _leads_on(u, p, v, graph):
                        wait_for_next(u, out, marks, shared)
        turn = np.int64(atomic_count(shared, TAKEN, np.uint64(PART)))


@kernel
def leads_out(offsets, heads, words):
    """Whether an arc leads from a vertex with a path to one without: its distance did not fit."""
    for v in range(len(words)):
        if words[v] != _WORD:
            for p in range(offsets[v], offsets[v + 1]):
                if words[heads[p]] == _WORD:
                    return True
    return False


@kernel
def unpack(words, source, base, none, distances, before, found):
    """Distances and predecessors (-1 at the source and without a path) of `words`, which have distances and `base`.
    found : int64[2], for the smallest and the largest distance."""
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
