"""Bounds on the eccentricities of one component after another, from full traversals.

After a traversal from s, every vertex v of its component has max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), d = d(v, s).
A vertex is *open* while its bounds differ. Bytes a vertex: two columns; with provers 8 more.
Source: Takes and Kosters, Computing the eccentricity distribution of large graphs, Algorithms 6 (2013), section 4.

Also a summary of all eccentricities: centre and periphery of the largest component, and the histogram.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...engine.interface import Engine
from ...store.store import Store
from ...traverse.columns import Column
from ...traverse.components import Component
from .result import EccentricityProof, VertexSet


class Bounds:
    """Bounds of all vertices. largest : no eccentricity exceeds it. provers : whether to note the source of each proved
    bound.

    lower : reached at traversed components; at vertices that are not open it is the eccentricity. upper : open
    (reached) only at open vertices. n_open : of the current component. traversed : sources so far. sources,
    eccentricities : of these, and with provers of vertices that were settled otherwise."""

    def __init__(self, engine: Engine, largest: int, provers: bool = False) -> None:
        self._engine = engine
        self.lower, self.upper = engine.new_column(largest), engine.new_column(largest)
        self.n_open = 0
        self.traversed: list[int] = []
        self.sources: list[int] = []
        self.eccentricities: list[int] = []
        n = engine.facts.n_vertices
        self._by = [np.full(n, -1, np.int32) for _ in range(2)] if provers else []

    def begin(self, component: Component, distances: Column, cap: int) -> None:
        """Open the vertices of a component, which `distances` reach. cap : an upper bound on their eccentricities."""
        span = component.first, component.last + 1
        self.lower.open_at(distances, 0, *span)
        self.upper.open_at(distances, cap, *span)
        self.n_open = component.size

    def tighten(
        self, component: Component, sources: Sequence[int], columns: Sequence[Column], eccentricities: Sequence[int]
    ) -> None:
        """Fold full traversals of a component into the bounds."""
        span = component.first, component.last + 1
        for source, distances, eccentricity in zip(sources, columns, eccentricities, strict=True):
            if self._by:
                self._note(len(self.sources), distances, eccentricity, *span)
            self.traversed.append(int(source))
            self.sources.append(int(source))
            self.eccentricities.append(int(eccentricity))
            self.lower.tighten_lower(distances, int(eccentricity), *span)
            self.upper.tighten_upper(distances, int(eccentricity), *span)
        # No open vertex has an upper bound of 0, so this closes only vertices with equal bounds.
        self.n_open = self.upper.close_known(self.lower, 0, 0, *span)

    def _note(self, number: int, distances: Column, eccentricity: int, start: int, stop: int) -> None:
        """Note which bounds the traversal with this number will tighten."""
        for begin in range(start, stop, distances.piece):
            piece = begin, min(begin + distances.piece, stop)
            d = distances.part(*piece).astype(np.int64)
            lower, upper = self.lower.part(*piece).astype(np.int64), self.upper.part(*piece).astype(np.int64)
            reached, is_open = d != distances.unreached, upper != self.upper.unreached
            first = slice(*piece)
            for by, better in zip(self._by, (is_open & (d + eccentricity < upper),
                                             is_open & (np.maximum(d, eccentricity - d) > lower)), strict=True):
                by[first][reached & (better | (by[first] < 0))] = number

    def close(self, vertices: np.ndarray) -> None:
        """Close open vertices of the current component, which are settled otherwise."""
        self.upper.put(vertices, self.upper.unreached)
        self.n_open -= len(vertices)

    def raise_lower(self, vertices: np.ndarray, values: np.ndarray) -> None:
        """Set lower bounds of some vertices, int64[k], not below the present ones."""
        order = np.argsort(values, kind="stable")
        cuts = np.flatnonzero(np.diff(values[order])) + 1
        for some in np.split(order, cuts) if len(order) else []:
            self.lower.put(vertices[some], int(values[some[0]]))

    def settle(self, vertices: np.ndarray, values: np.ndarray) -> None:
        """Set the eccentricities of some vertices, int64[k]."""
        self.raise_lower(vertices, values)
        if self._by:
            numbers = len(self.sources) + np.arange(len(vertices))
            for by in self._by:
                by[vertices] = numbers
            self.sources += vertices.tolist()
            self.eccentricities += values.tolist()

    def pieces(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """(first vertex, lower, upper) of pieces of all vertices, int64; both equal if proved, -1 if not yet
        traversed."""
        n = self._engine.facts.n_vertices
        for start in range(0, n, self.lower.piece):
            stop = min(start + self.lower.piece, n)
            lower, upper = self.lower.part(start, stop).astype(np.int64), self.upper.part(start, stop).astype(np.int64)
            lower[lower == self.lower.unreached] = -1
            yield start, lower, np.where(upper == self.upper.unreached, lower, upper)

    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of all vertices, unsigned[n] each; equal if proved."""
        lower, upper = (np.empty(self._engine.facts.n_vertices, self.lower.dtype) for _ in range(2))
        for start, low, high in self.pieces():
            lower[start : start + len(low)] = np.maximum(low, 0)
            upper[start : start + len(low)] = np.where(low < 0, np.iinfo(upper.dtype).max, high)
        return lower, upper

    def proof(self) -> EccentricityProof | None:
        """The source of each proved bound; None if sources were not noted."""
        if not self._by:
            return None
        return EccentricityProof(np.array(self.sources, np.int64), np.array(self.eccentricities, np.int64), *self._by)


class Summary:
    """Summary of one run. center, periphery : None if unknown; at most `most` vertices are named, None: all.
    centre : a vertex of the centre, -1 : unknown."""

    def __init__(self, store: Store, most: int | None) -> None:
        self._store, self._most = store, store.n_vertices if most is None else most
        self.center: VertexSet | None = None
        self.periphery: VertexSet | None = None
        self.centre = -1

    def of_largest(self, bounds: Bounds, radius: int, diameter: int | None, most: int | None = None) -> None:
        """Note the vertices with these eccentricities. To be called before another component is traversed. diameter :
        None: without its vertices. most : only look at the first `most` vertices."""
        sets: dict[int, list[np.ndarray]] = {radius: []} if diameter is None else {radius: [], diameter: []}
        sizes = dict.fromkeys(sets, 0)
        for start, lower, upper in bounds.pieces():
            for value, ids in sets.items():
                here = np.flatnonzero((lower[:most] == value) & (upper[:most] == value)) + start
                room = self._most - sum(map(len, ids))
                ids.append(here[:room])
                sizes[value] += len(here)
            if most is not None:
                break
        named = {value: np.concatenate(ids) for value, ids in sets.items()}
        self.centre = int(named[radius][0])
        self.center = VertexSet(sizes[radius], list(self._store.user_ids(named[radius])))
        if diameter is not None:
            self.periphery = VertexSet(sizes[diameter], list(self._store.user_ids(named[diameter])))


def count_eccentricities(bounds: Bounds) -> tuple[np.ndarray, int]:
    """Number of vertices with each proved eccentricity, int64[largest + 1]; and number of vertices whose bounds differ,
    or that have none."""
    largest = max(int(lower.max(initial=0)) for _, lower, _ in bounds.pieces())
    counts, unresolved = np.zeros(largest + 1, np.int64), 0
    for _, lower, upper in bounds.pieces():
        values = lower[(lower == upper) & (lower >= 0)]
        unresolved += len(lower) - len(values)
        if len(values):
            first = int(values.min())
            here = np.bincount(values - first)
            counts[first : first + len(here)] += here
    return counts, unresolved
