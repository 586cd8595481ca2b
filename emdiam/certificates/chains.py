"""Proof of vertices inside a chain, from the distances of its two ends, which are sources.

A chain is a path of L edges whose inner vertices have degree 2, so every path that leaves it passes an end. Let x be
the vertex i edges from the end p and L - i from the end q. Its distance to any v outside the chain's interior is min(i
+ d(p, v), L - i + d(q, v)). Up to i = floor((L + d(q, v) - d(p, v)) / 2) the path over p is the shorter one, then the
path over q. So a table with the farthest v over either end, indexed by this i, gives all eccentricities of the chain in
one pass. For two inner vertices, the chain and a shortest path between its ends form a closed walk of L + d(p, q)
edges, and no other path is shorter. In a component that is a cycle one source is both ends.

Passes over the edges: one for the neighbours of vertices of degree 2, and one per group of ends for their labels,
besides the traversals that propose these. Bytes per vertex: two ids and 32.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..jit import kernel
from ..store.arc_runs import ArcRun, scan_arcs
from ..store.store import Store


@dataclass(frozen=True)
class SourceChain:
    """number : of the chain in `SourceChains.of`. inside : int64[k], the inner vertices from the end p on."""

    number: int
    p: int
    q: int
    inside: np.ndarray


class SourceChains:
    """of : int32[n], the number of the chain that contains a vertex in its interior, or 0."""

    def __init__(self, store: Store, threads: int) -> None:
        n = store.n_vertices
        self._beside = np.zeros((n, 2), store.id_dtype)
        self._degree = np.zeros(n, np.uint8)
        self.of = np.zeros(n, np.int32)
        self._lock = threading.Lock()
        scan_arcs(store, threads, self._add)

    @staticmethod
    def bytes_for(store: Store) -> int:
        """Bytes of all arrays: those of this class, and the inner vertices of chains with their results."""
        return store.n_vertices * (2 * store.id_dtype.itemsize + 32)

    def _add(self, run: ArcRun, ids: np.ndarray) -> None:
        with self._lock:
            note_neighbours(run.rows, run.starts, ids, self._beside, self._degree)

    def between(self, sources: np.ndarray, is_open: np.ndarray) -> Iterator[SourceChain]:
        """Chains with two sources as ends, and an open vertex inside."""
        is_source = np.zeros(len(self.of), bool)
        is_source[sources] = True
        inside = np.empty(len(self.of), np.int64)
        for number, (start, first) in enumerate(self._begins(sources, is_source), start=1):
            length, last = follow_chain(self._beside, self._degree, self.of, start, first, number, inside)
            vertices = inside[:length].copy()
            if last >= 0 and is_source[last] and is_open[vertices].any():
                yield SourceChain(number, start, int(last), vertices)

    def _begins(self, sources: np.ndarray, is_source: np.ndarray) -> Iterator[tuple[int, int]]:
        """(end, adjacent vertex) of chains: first for ends outside every chain, then around cycles."""
        near = np.flatnonzero((self._degree == 2) & is_source[self._beside].any(axis=1))
        for first in near.tolist():
            for start in self._beside[first].tolist():
                if is_source[start] and self._degree[start] != 2:
                    yield start, first
        for start in sources.tolist():
            if self._degree[start] == 2 and self.of[start] == 0:
                yield start, int(self._beside[start, 0])


@kernel
def note_neighbours(rows, starts, ids, beside, degree):
    """Record the first two neighbours of a run's rows, and their degrees, 3 for more."""
    for i in range(len(rows)):
        v = rows[i]
        for at in range(starts[i], starts[i + 1]):
            if degree[v] < 2:
                beside[v, degree[v]] = ids[at]
            if degree[v] < 3:
                degree[v] += 1


@kernel
def follow_chain(beside, degree, of, start, first, number, inside):
    """Follow the chain from `start` over its neighbour `first`. Returns (number of inner vertices, the other end); the
    end is -1 if the chain was followed before. The inner vertices get the number in `of`, and are listed in
    `inside`."""
    length, behind, at = 0, start, first
    while at != start and degree[at] == 2:
        if of[at] != 0:
            return 0, -1
        of[at] = number
        inside[length] = at
        length += 1
        ahead = np.int64(beside[at, 0])
        if ahead == behind:
            ahead = np.int64(beside[at, 1])
        behind, at = at, ahead
    return length, at


@kernel
def prove_chain(of, number, member, component, to_p, to_q, apart, found):
    """found[i - 1] = the eccentricity of the vertex i edges from the end p. to_p, to_q : distances from the ends, valid
    in the component. apart : d(p, q)."""
    length = len(found) + 1
    nothing = np.int64(-1) << 60
    over_p = np.full(length + 1, nothing)
    over_q = np.full(length + 1, nothing)
    for v in range(len(of)):
        if member[v] != component or of[v] == number:
            continue
        last = (length + np.int64(to_q[v]) - np.int64(to_p[v])) // 2
        over_p[last] = max(over_p[last], np.int64(to_p[v]))
        over_q[last] = max(over_q[last], np.int64(to_q[v]))
    farthest = nothing
    for i in range(length, 0, -1):
        farthest = max(farthest, over_p[i])
        if i < length:
            found[i - 1] = i + farthest
    farthest = over_q[0]
    around = length + apart
    for i in range(1, length):
        longer = max(i, length - i)
        found[i - 1] = max(found[i - 1], length - i + farthest, min(longer, around // 2))
        farthest = max(farthest, over_q[i])
