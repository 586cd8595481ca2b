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


class DirectedGraphDiameter(DirectedMethod):
    """One run of graph-diameter."""

    name = "graph-diameter"

    def _solve(self) -> None:
        self.sweep()
        self.main_loop(self.no_bounds(self.n), self._order())

    def _details(self) -> dict[str, Any]:
        return {"published_count": self.sources} if self.n_strong is not None else {}

    sources = 0  # BFS along arcs in the main loop
    turned = False  # whether everything is done against arcs instead

    def _order(self) -> np.ndarray:
        """All vertices in the order of processing."""
        return np.lexsort((-self.metric.inner_degrees(self.numbers), self.numbers)).astype(self.numbers.dtype)

    def main_loop(self, bounds: np.ndarray, order: np.ndarray) -> None:
        """Process the vertices of `order`. bounds : B of all vertices; of ecc_in if the graph is turned."""
        least = self.no_bounds(self.sizes.size)
        for first in range(0, len(order), _MOST_ARCS):
            part = order[first : first + _MOST_ARCS]
            part = part[bounds[part] > self.best.length]
            for some in chunks(part, lambda ids: self.metric.degrees(ids, back=self.turned), _MOST_ARCS):
                self._look_at(some.astype(np.int64), bounds, least)
                self._tell(bounds, order[first:])
                if self.satisfied():
                    return
        self.bound = self.best.length

    def _look_at(self, vertices: np.ndarray, bounds: np.ndarray, least: np.ndarray) -> None:
        """Process a few vertices, in order."""
        arcs, at = self.metric.heads(vertices, back=self.turned), 0
        while True:
            about = np.array([at, self.best.length, self.above], np.int64)
            at = int(next_source(vertices, *arcs, bounds, self.numbers, least, about))
            if at == len(vertices):
                return
            if not self._closed(int(vertices[at]), bounds):
                self._source(int(vertices[at]), bounds)
            at += 1

    def _closed(self, vertex: int, bounds: np.ndarray) -> bool:
        """Whether something else proves that no pair of this vertex is longer than L; its bound is then L."""
        return False

    def _source(self, vertex: int, bounds: np.ndarray) -> None:
        """Do the BFS of a source, and update the bounds of its component."""
        self.sources += 1
        self.searched[self.turned][vertex] = None
        eccentricity = self.traverse(vertex, back=self.turned, distances=False).levels
        bounds[vertex] = eccentricity
        if self.sizes[self.numbers[vertex]] > 1:
            self.searched[not self.turned][vertex] = None
            back = self.traverse(vertex, back=not self.turned, within=self.members(vertex), counts=False).distances
            assert back is not None
            distances = back.raw()
            lower_by(bounds, distances, back.unreached, eccentricity)

    def _tell(self, bounds: np.ndarray, rest: np.ndarray) -> None:
        """Update the upper bound, from L and the bounds of vertices not yet processed."""
        step = 1 << 20
        most = max(int(bounds[rest[first : first + step]].max()) for first in range(0, len(rest), step))
        self.bound = min(self.bound, max(self.best.length, most))


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


@kernel
def lower_by(bounds, distances, unreached, eccentricity):
    """bounds[v] = min(bounds[v], distances[v] + eccentricity) if v has a distance."""
    for v in range(len(bounds)):
        d = np.int64(distances[v])
        if d != unreached and d + eccentricity < np.int64(bounds[v]):
            bounds[v] = d + eccentricity
