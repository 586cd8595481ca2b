"""graph-diameter: exact diameter by double sweeps and a BFS from every vertex that a bound lets through.

Definition: L is the largest eccentricity seen. B(v) = min over BFS sources r of ecc(r) + d(r, v) is
an upper bound on ecc(v). Ten double sweeps (a BFS from a random vertex, one from a vertex farthest
from it) make L large. Then all vertices are looked at in order of decreasing degree (ties: smallest
vertex): one with B(v) <= L is skipped, any other is the source of a BFS. At the end every vertex
was a source or has ecc(v) <= B(v) <= L.
Source: Akiba, Iwata, Kawata, An Exact Algorithm for Diameters of Large Real Directed Graphs, SEA
2015. An undirected component is strongly connected, so what the paper does for directed graphs
falls away: strong components in reverse topological order are one, the product of degrees is the
degree squared, and the bound by way of the neighbours says nothing new, since B differs by at most
1 across an edge. Here the BFS of the sweeps lower B as well, and the run ends once no B(v) > L.

Passes: one BFS a source. Bytes a vertex: shared state 3, B and a distance 1 to 4 each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine import Engine
from ..errors import InputError
from ..traverse import folds
from ..traverse.columns import Column
from ..traverse.components import Component
from .result import Result
from .run import Eccentricity, ExactMethod, MethodOptions, run_method

# Vertices ranked by degree in one pass; the next pass comes when they are used up.
_RANKED = 4096
_TRIES = 64


@dataclass(frozen=True)
class GraphDiameterOptions(MethodOptions):
    """sweeps : double sweeps a component. seed : of their random start vertices."""

    sweeps: int = 10
    seed: int = 0


class GraphDiameter(ExactMethod):
    """One run of graph-diameter on an engine."""

    name = "graph-diameter"
    keeps_distances = True

    def __init__(self, engine: Engine, options: GraphDiameterOptions) -> None:
        if options.sweeps < 0:
            raise InputError("the number of double sweeps cannot be negative", text=str(options.sweeps))
        super().__init__(engine, options)
        self.sweeps = options.sweeps
        self.random = np.random.default_rng(options.seed)
        self.bounds: Column | None = None  # open where B > L, in the component at hand

    def _prepare(self, largest: int) -> None:
        self.bounds = self.engine.new_column(largest)

    def _release(self) -> None:
        self.bounds = None

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        assert self.bounds is not None
        bounds, start, stop = self.bounds, component.first, component.last + 1
        try:
            distances = first.take_distances()
            folds.open_at(bounds, distances, self.upper_here, start, stop)
            self._fold(distances, first.eccentricity, floor)
            del distances
            for _ in range(self.sweeps):
                source = self._draw()
                if source < 0:
                    break
                self._traverse(self._traverse(source, floor), floor)
            while self.upper_here > max(floor, self.lower_here):
                for vertex in folds.ranked(self.engine, bounds, None, _RANKED, start=start, stop=stop).tolist():
                    if bounds.gather([vertex])[0] >= 0:
                        self._traverse(vertex, floor)
        finally:
            folds.close(bounds, start, stop)
        return max(floor, self.lower_here)

    def _traverse(self, source: int, floor: int) -> int:
        """BFS from `source`; returns a farthest vertex."""
        run = self.eccentricity(source, distances=True)
        self._fold(run.take_distances(), run.eccentricity, floor)
        return run.farthest

    def _fold(self, distances: Column, eccentricity: int, floor: int) -> None:
        assert self.bounds is not None and self.component is not None
        start, stop = self.component.first, self.component.last + 1
        with self.stages.timed("bounds"):
            folds.tighten_upper(self.bounds, distances, eccentricity, start, stop)
            bound = max(floor, self.lower_here)
            folds.close_at_most(self.bounds, bound, start, stop)
            self.upper_here = min(self.upper_here, max(bound, folds.largest(self.bounds, start, stop)))

    def _draw(self) -> int:
        """A random vertex of the component that may still be a source, or -1."""
        assert self.bounds is not None and self.component is not None
        ids = self.random.integers(self.component.first, self.component.last + 1, _TRIES)
        hits = ids[self.bounds.gather(ids) >= 0]
        if len(hits):
            return int(hits[0])
        return self.bounds.argbest(start=self.component.first, stop=self.component.last + 1)


def graph_diameter(engine: Engine, options: GraphDiameterOptions | None = None) -> Result:
    """The exact diameter by graph-diameter. Raises as run_method."""
    options = options or GraphDiameterOptions()
    return run_method(GraphDiameter(engine, options), options.path_file)
