"""graph-diameter on directed graphs, as published: double sweeps, then a BFS from every vertex above the bound.

Definition: L is the largest distance seen. Ten double sweeps (along arcs from a random vertex, back from a vertex
farthest from it) make L large. Then all vertices are processed: strong components in reverse topological order, within
one by decreasing product of the inner degrees in and out (ties: smallest vertex). B(v) is an upper bound on
ecc_out(v), infinite at first. A vertex u with B(u) <= L is skipped. Otherwise let the bound by heads be the largest,
over the components C of heads of its arcs, of min over these heads w in C of B(w) + 1: each of these w reaches all that
u reaches through C. If it is at most L, it becomes B(u). Otherwise there is a BFS from u along arcs, which may raise L,
and one back within the component of u: ecc_out(v) <= d(v, u) + ecc_out(u) there.
Source: Akiba, Iwata, Kawata, An Exact Algorithm for Diameters of Large Real Directed Graphs, SEA 2015. Their program
counts the BFS along arcs of the main loop, and so does details.published_count.

Passes: a BFS a sweep and direction, two for a source. Bytes a vertex: shared state 4, components 4, order, B and a
value of every component 12, two columns of 1 to 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...jit import kernel
from .method import DirectedMethod, chunks

_MOST_ARCS = 1 << 18
_FEW = 64


class DirectedGraphDiameter(DirectedMethod):
    """One run of graph-diameter."""

    name = "graph-diameter"

    def _solve(self) -> None:
        self.sweep()
        self.bounds = self.metric.new_bounds(self.numbers, self.above, sides=1)
        self.main_loop(self._order())

    def _details(self) -> dict[str, Any]:
        return {"published_count": self.sources} if self.n_strong is not None else {}

    sources = 0  # BFS along arcs in the main loop
    turned = False  # whether everything is done against arcs instead

    def _order(self) -> np.ndarray:
        """All vertices in the order of processing."""
        return np.lexsort((-self.metric.inner_degrees(self.numbers), self.numbers)).astype(self.numbers.dtype)

    def main_loop(self, order: np.ndarray) -> None:
        """Process the vertices of `order`. B is the upper bound on ecc_out, on ecc_in if the graph is turned."""
        side, least = int(self.turned), self.no_bounds(self.sizes.size)
        for first in range(0, len(order), _MOST_ARCS):
            part = order[first : first + _MOST_ARCS]
            part = part[self.bounds.values(side, part)[part] > self.best.length]
            for some in chunks(part, lambda ids: self.metric.degrees(ids, back=self.turned), _MOST_ARCS):
                self._look_at(some.astype(np.int64), least)
                # Vertices that are done have bounds of at most L.
                self.bound = min(self.bound, max(self.best.length, self.bounds.largest(side)))
                if self.satisfied():
                    return
        self.bound = self.best.length

    def _look_at(self, vertices: np.ndarray, least: np.ndarray) -> None:
        """Process a few vertices, in order."""
        side, (ends, heads, lengths) = int(self.turned), self.metric.heads(vertices, back=self.turned)
        at, step = 0, _FEW
        while at < len(vertices):
            some = vertices[: at + step]  # bounds of few vertices are read, if the next source is near
            about = np.array([at, self.best.length, self.above], np.int64)
            values = self.bounds.values(side, some[at:], heads[ends[at] : ends[len(some)]])
            before, at = at, int(next_source(some, ends, heads, lengths, values, self.numbers, least, about))
            self.bounds.changed(side, vertices[before:at])
            if at == len(some):
                step *= 2
                continue
            step = _FEW
            if self._closed(at):
                self.bounds.put(side, int(vertices[at]), self.best.length)
            else:
                self._source(int(vertices[at]))
            at += 1

    def _closed(self, at: int) -> bool:
        """Whether something else proves that no pair of vertex number `at` of the few is longer than L."""
        return False

    def _source(self, vertex: int) -> None:
        """Do the BFS of a source, and update the bounds of its component."""
        self.sources += 1
        self.searched[self.turned][vertex] = None
        eccentricity = self.traverse(vertex, back=self.turned, distances=False).levels
        self.bounds.put(int(self.turned), vertex, eccentricity)
        if self.sizes[self.numbers[vertex]] > 1:
            self.searched[not self.turned][vertex] = None
            back = self.traverse(vertex, back=not self.turned, within=self.members(vertex), counts=False).distances
            assert back is not None
            self.bounds.fold(int(self.turned), vertex, back, eccentricity)


@kernel
def next_source(vertices, ends, heads, lengths, bounds, numbers, least, about):
    """Index of the first vertex from about[0] on whose bound, and whose bound by heads, exceed about[1]; len(vertices)
    if there is none. Bounds by heads replace others. heads[ends[i] : ends[i + 1]] are those of vertices[i]. least :
    about[2], more than any bound, for every component, before and after."""
    limit, none = about[1], about[2]
    for i in range(about[0], len(vertices)):
        v = vertices[i]
        if np.int64(bounds[v]) <= limit:
            continue
        for p in range(ends[i], ends[i + 1]):
            w = heads[p]
            least[numbers[w]] = min(np.int64(least[numbers[w]]), np.int64(bounds[w]) + np.int64(lengths[p]))
        bound = np.int64(0)
        for p in range(ends[i], ends[i + 1]):
            bound = max(bound, np.int64(least[numbers[heads[p]]]))
        for p in range(ends[i], ends[i + 1]):
            least[numbers[heads[p]]] = none
        if bound > limit:
            return i
        bounds[v] = bound
    return len(vertices)
