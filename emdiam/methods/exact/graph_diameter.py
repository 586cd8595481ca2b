"""graph-diameter: exact diameter by double sweeps and a BFS from every vertex whose bound exceeds the largest distance.

Definition: L is the largest eccentricity seen. Ten double sweeps (a BFS from a random vertex, one from a vertex
farthest from it) make L large. Then all vertices are processed in order of decreasing degree (ties: smallest vertex):
a vertex with B(v) <= L is skipped, any other is the source of a BFS. B(v) = min of ecc(r) + d(r, v) over these sources
r is an upper bound on ecc(v). At the end every vertex was a source or has ecc(v) <= B(v) <= L.
Source: Akiba, Iwata, Kawata, An Exact Algorithm for Diameters of Large Real Directed Graphs, SEA
2015. An undirected component is strongly connected, so the steps for directed graphs are not needed: there is one
strong component, the product of degrees is the degree squared, and the bound from the neighbours says nothing new,
since B differs by at most 1 across an edge. The first of these BFS, from the vertex of the highest degree, comes
before the sweeps here, and sweeps begin at vertices with B > L; no BFS is repeated. Published counts of BFS (Bradley,
Mongandampulath Akathoott, Burtscher, Fast Exact Diameter Computation of Sparse Graphs, ICPP 2025, Table 3) leave out
the sweeps, and have a BFS in each component with an edge, even if it has too few vertices for a longer distance;
details.published_count counts in the same way.

Passes: one BFS a source. Bytes a vertex: shared state 3, B and a distance 1 to 4 each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.needs import DeviceState, distance_bytes, traversal_phases
from ...errors import InputError
from ...store.store import Store
from ...stream.plan import Phase
from ...traverse.columns import Column
from ...traverse.components import Component
from ..definition import Method
from ..metric import HopMetric
from ..run import MethodOptions
from .cost_model import bfs_cost
from .method import Eccentricity, ExactMethod

# Vertices ranked by degree in one pass; the next pass follows when they are used up.
_RANKED = 4096
_TRIES = 64


@dataclass(frozen=True)
class GraphDiameterOptions(MethodOptions):
    """sweeps : double sweeps a component. seed : of their random start vertices."""

    sweeps: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.sweeps < 0:
            raise InputError("the number of double sweeps cannot be negative", text=str(self.sweeps))


class GraphDiameter(ExactMethod):
    """One run of graph-diameter on an engine."""

    name = "graph-diameter"
    keeps_distances = True

    def __init__(self, metric: HopMetric, options: GraphDiameterOptions) -> None:
        super().__init__(metric, options)
        self.random = np.random.default_rng(options.seed)
        self.swept = 0  # BFS of double sweeps
        self.bounds: Column | None = None  # open where B > L, in the current component

    def _prepare(self, largest: int) -> None:
        self.bounds = self.engine.new_column(largest)

    def _release(self) -> None:
        self.bounds = None

    def _details(self) -> dict[str, Any]:
        with_edge = (self.n_components() or self.n_solved) - self.engine.facts.n_isolated
        return {"published_count": self.stages.bfs - self.swept + max(0, with_edge - self.n_solved)}

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        assert self.bounds is not None
        bounds, start, stop = self.bounds, component.first, component.last + 1
        try:
            distances = first.take_distances()
            bounds.open_at(distances, self.upper_here, start, stop)
            self._fold(distances, first.eccentricity, floor)
            del distances
            self._sweep(floor)
            # The BFS of a sweep may prove the diameter before the bounds do; to stop then would change the count.
            while len(sources := bounds.ranked(self.engine.degrees, None, _RANKED, start=start, stop=stop)):
                for vertex in sources.tolist():
                    if bounds.gather([vertex])[0] >= 0:
                        run = self.eccentricity(vertex, distances=True)
                        self._fold(run.take_distances(), run.eccentricity, floor)
        finally:
            bounds.close(start, stop)
        return max(floor, self.lower_here)

    def _sweep(self, floor: int) -> None:
        """The double sweeps, as long as a vertex may be a source. Many end at the same few vertices: no BFS is
        repeated."""
        ends: dict[int, int] = {}
        for _ in range(self.options.sweeps):
            vertex = self._draw()
            if vertex < 0:
                return
            for _ in range(2):
                if vertex not in ends:
                    ends[vertex] = self.eccentricity(vertex).farthest
                    self.swept += 1
                vertex = ends[vertex]
            self._close(floor)

    def _fold(self, distances: Column, eccentricity: int, floor: int) -> None:
        assert self.bounds is not None and self.component is not None
        with self.stages.timed("bounds"):
            self.bounds.tighten_upper(distances, eccentricity, self.component.first, self.component.last + 1)
            self._close(floor)

    def _close(self, floor: int) -> None:
        """Close the vertices with B <= L, which will not be sources."""
        assert self.bounds is not None and self.component is not None
        start, stop = self.component.first, self.component.last + 1
        bound = max(floor, self.lower_here)
        self.bounds.close_at_most(bound, start, stop)
        self.upper_here = min(self.upper_here, max(bound, self.bounds.largest(start, stop)))

    def _draw(self) -> int:
        """A random vertex of the component that may still be a source, or -1."""
        assert self.bounds is not None and self.component is not None
        ids = self.random.integers(self.component.first, self.component.last + 1, _TRIES)
        hits = ids[self.bounds.gather(ids) >= 0]
        if len(hits):
            return int(hits[0])
        return self.bounds.argbest(start=self.component.first, stop=self.component.last + 1)


def _phases(store: Store, options: GraphDiameterOptions) -> tuple[Phase, ...]:
    """One bound and distances."""
    return traversal_phases(store, lambda column: store.n_vertices * column + distance_bytes(store, column))


METHOD = Method(GraphDiameterOptions, GraphDiameter, _phases, lambda store, options: bfs_cost(4, 140), DeviceState(3))
graph_diameter = METHOD.solve
