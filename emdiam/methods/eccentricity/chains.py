"""Settling all vertices inside long chains, by the distances from the two ends of each.

A *chain* is a path of L edges whose inner vertices have degree 2, between two ends a and b, which may be the same
vertex; in a component that is a cycle, one vertex is both. Let x be the inner vertex i edges from a. A path from x to a
vertex v outside leaves the chain through one end, so d(x, v) = min(i + d(a, v), L - i + d(b, v)). The smaller term
depends only on d(b, v) - d(a, v), and of vertices with equal differences only the farthest matters. The chain closes a
cycle of L + d(a, b) edges, which gives distances along the chain. So two traversals settle every vertex of a chain.

Chains are used if one has more open vertices for each traversal than traversals have closed lately. Bytes a vertex:
two distances, and 96 for each of degree 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...jit import inlined, kernel
from ...traverse.columns import Column
from ...traverse.components import Component

if TYPE_CHECKING:
    from .eccentricities import AllEccentricities

_VERTEX_BYTES, _TRAVERSALS, _BATCHED = 96, 2, 8
LEAST_VERTICES = 1 << 10  # of a component; a smaller one gains too little to compile further kernels


@dataclass(frozen=True)
class Chain:
    """inner : int64[k], vertices from the end a on to the end b."""

    a: int
    b: int
    inner: np.ndarray


class Chains:
    """The chains of the current component."""

    def __init__(self, method: AllEccentricities, component: Component) -> None:
        assert method.bounds is not None
        self._method, self._bounds, self._component = method, method.bounds, component
        self._columns: dict[int, np.ndarray] = {}
        self._wanted: tuple[int, ...] = ()

    def possible(self) -> bool:
        """Whether there are enough vertices and enough room."""
        facts, item = self._method.engine.facts, self._bounds.lower.dtype.itemsize
        taken = facts.n_vertices * (_TRAVERSALS * item + _VERTEX_BYTES)
        return self._component.size >= LEAST_VERTICES and taken <= facts.room_bytes

    def settle(self, closed: float) -> bool:
        """Settle the vertices of chains with more open vertices than two traversals close; returns whether there were
        any. closed : number of vertices that one traversal has closed lately."""
        # A source settles at least itself; in a batch, this number of sources costs the same as one alone.
        n_open, least = self._bounds.n_open, _TRAVERSALS * max(1.0, closed) * (_BATCHED if self._method.batches else 1)
        some = self._open_chains()
        for _, chain in sorted(some, key=lambda one: (-one[0], one[1].a, one[1].b)):
            is_open = self._is_open(chain.inner)
            if np.count_nonzero(is_open) > least:
                self._settle_one(chain)
        return self._bounds.n_open < n_open

    def _is_open(self, vertices: np.ndarray) -> np.ndarray:
        return self._bounds.upper.take(vertices) != self._bounds.upper.unreached

    def _open_chains(self) -> list[tuple[int, Chain]]:
        """Chains with an open vertex, with their numbers of open vertices."""
        engine, pieces = self._method.engine, list(self._method.engine.vertices_of_degree(2))
        if not pieces:
            return []
        vertices = np.concatenate(pieces)
        beside = np.concatenate([np.concatenate(engine.rows(piece)) for piece in pieces]).reshape(-1, 2)
        order, starts = np.empty(len(vertices), np.int64), np.empty(len(vertices) + 1, np.int64)
        ends = np.empty((len(vertices), 2), np.int64)
        count = int(walk_chains(vertices, beside, order, starts, ends))
        found = []
        for number in range(count):
            inner = order[starts[number] : starts[number + 1]]
            n_open = int(np.count_nonzero(self._is_open(inner))) if len(inner) else 0
            if n_open:
                found.append((n_open, Chain(int(ends[number, 0]), int(ends[number, 1]), inner)))
        return found

    def _settle_one(self, chain: Chain) -> None:
        self._wanted = chain.a, chain.b
        self._columns = {end: column for end, column in self._columns.items() if end in self._wanted}
        missing = [end for end in dict.fromkeys(self._wanted) if end not in self._columns]
        for end in missing:
            self._method.traverse(np.array([end]), self._keep)
        first = self._component.first
        inside, (near, far) = chain.inner - first, (self._columns[end] for end in self._wanted)
        kept = near[inside], far[inside]
        none = np.iinfo(near.dtype).max
        near[inside] = none
        length, apart = len(chain.inner) + 1, int(far[chain.a - first])
        values = np.empty(len(chain.inner), np.int64)
        farthest_from_chain(near, far, none, length, apart, values)
        near[inside], far[inside] = kept
        is_open = self._is_open(chain.inner)
        self._bounds.raise_lower(chain.inner[is_open], values[is_open])
        self._bounds.close(chain.inner[is_open])

    def _keep(self, source: int, distances: Column, eccentricity: int) -> None:
        self._columns[source] = distances.part(self._component.first, self._component.last + 1).copy()


def chains_of(method: AllEccentricities, component: Component) -> Chains | None:
    """A Chains for the component, or None if chains cannot be used."""
    chains = Chains(method, component)
    return chains if not method.options.provers and chains.possible() else None


@inlined
def _place(vertices, v):
    """Index of v in `vertices`, ascending; -1 if it is not there."""
    at = np.searchsorted(vertices, v)
    return at if at < len(vertices) and vertices[at] == v else -1


@kernel
def walk_chains(vertices, beside, order, starts, ends):
    """The chains of these vertices, all those of degree 2, ascending, with their neighbours (int64[k, 2]): chain c has
    the inner vertices order[starts[c]:starts[c + 1]] between ends[c]. Returns the number of chains."""
    k = len(vertices)
    seen = np.zeros(k, np.bool_)
    count = placed = 0
    starts[0] = 0
    for cycles in range(2):
        for begin in range(k):
            if seen[begin]:
                continue
            side = 0
            if cycles == 0:
                if _place(vertices, beside[begin, 0]) >= 0:
                    side = 1
                if _place(vertices, beside[begin, side]) >= 0:
                    continue
            at, before = begin, beside[begin, side]
            ends[count, 0] = before
            if cycles == 1:  # this vertex is both ends, and not inner
                seen[begin] = True
                ends[count, 0] = before = vertices[begin]
                at = _place(vertices, beside[begin, 0])
            while at >= 0 and not seen[at]:
                seen[at] = True
                order[placed] = vertices[at]
                placed += 1
                after = beside[at, 1] if beside[at, 0] == before else beside[at, 0]
                before = vertices[at]
                ends[count, 1] = after
                at = _place(vertices, after)
            count += 1
            starts[count] = placed
    return count


@kernel
def farthest_from_chain(near, far, none, length, apart, values):
    """values[i - 1] = the eccentricity of the vertex i edges from the end a. near, far : distances from a and b, `none`
    in near for vertices to be ignored. apart : d(a, b)."""
    lowest = np.int64(-4) * length - (np.int64(1) << 40)
    by_near = np.full(2 * apart + 1, lowest)
    by_far = np.full(2 * apart + 1, lowest)
    for v in range(len(near)):
        if near[v] == none:
            continue
        through, other = np.int64(near[v]), np.int64(far[v])
        at = other - through + apart
        by_near[at] = max(by_near[at], through)
        by_far[at] = max(by_far[at], other)
    for at in range(2 * apart - 1, -1, -1):
        by_near[at] = max(by_near[at], by_near[at + 1])
    for at in range(1, 2 * apart + 1):
        by_far[at] = max(by_far[at], by_far[at - 1])
    half = (length + apart) // 2
    for i in range(1, length):
        cut = 2 * i - length + apart  # paths through a from this difference on
        most = min(half, max(i, length - i))
        if cut <= 2 * apart:
            most = max(most, i + by_near[max(0, cut)])
        if cut > 0:
            most = max(most, length - i + by_far[min(cut, 2 * apart + 1) - 1])
        values[i - 1] = most
