"""H-BF: frontiers, with the distance and the predecessor of a vertex in one word that is lowered by one atomic minimum.

A word is distance << 32 | predecessor, so that both are those of one relaxation, and a path is there at the end without
a further look at the arcs. Edge classification: a vertex whose row is empty, or only leads back to where its label came
from, never enters a frontier. A vertex that is in the next frontier is not put there again, whichever thread finds it.
Distances must be integers below 2^32 - 1. Rounds: frontiers. Bytes a vertex: 8 for the word, those of frontier.py.
Source: Busato and Bombieri, An efficient implementation of the Bellman-Ford algorithm for Kepler GPU architectures
(2016).
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from ..errors import InputError
from ..jit import inlined, kernel
from ..traverse.atomics import atomic_count, atomic_lower
from .frontier import PART, TAKEN, FrontierRounds, wait_for_next
from .paths import Paths, SearchOptions
from .rows import WeightedRows, unreached

BITS = np.uint64(32)
_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)


def hbf(rows: WeightedRows, source: int, options: SearchOptions) -> Paths:
    """Distances and predecessors from `source`. Raises InputError for floats, and for a distance that does not fit 32
    bits."""
    if rows.distance_dtype.kind == "f" or rows.n_vertices >= 1 << 32:
        raise InputError("h-bf has a distance and a vertex in one word of 64 bits: whole numbers of 32 bits alone",
                         remedy="use --method delta-stepping")
    words = np.full(rows.n_vertices, _WORD)
    words[source] = np.uint64(source)
    with closing(FrontierRounds(rows, words, options, relax_words)) as frontiers:
        frontiers.run(source)
    dtype = rows.distance_dtype
    distances, before = np.empty(len(words), dtype), np.empty(len(words), np.int64)
    largest = unpack(words, source, unreached(dtype), distances, before)
    if largest + int(rows.largest_weight) >= int(_LOW) and leads_out(rows.offsets, rows.heads, words):
        raise InputError(f"h-bf has 32 bits for a distance, and there are larger ones than {largest:,}",
                         remedy="use --method delta-stepping")
    return Paths("h-bf", source, distances, frontiers.relaxations, frontiers.rounds, before)


@inlined
def _leads_on(u, v, offsets, heads):
    """Whether u has an arc to another vertex than v."""
    begin = offsets[u]
    length = offsets[u + 1] - begin
    return length > 1 or (length == 1 and np.int64(heads[begin]) != v)


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
                new = distance + np.uint64(costs[p])
                # Only a smaller distance replaces a word: among equal ones, paths of zero weights might close.
                if new < words[u] >> BITS:
                    word = (new << BITS) | np.uint64(v)
                    if new < atomic_lower(words, u, word) >> BITS and _leads_on(u, v, offsets, heads):
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
def unpack(words, source, none, distances, before):
    """Distances and predecessors (-1 at the source and without a path) of `words`; returns the largest distance."""
    largest = np.int64(0)
    for v in range(len(words)):
        if words[v] == _WORD:
            distances[v] = none
            before[v] = -1
        else:
            largest = max(largest, np.int64(words[v] >> BITS))
            distances[v] = words[v] >> BITS
            before[v] = np.int64(words[v] & _LOW)
    before[source] = -1
    return largest
