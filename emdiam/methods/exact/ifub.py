"""iFUB: exact diameter by the fringes of a central vertex, from the outermost inwards.

Definition: u is central; the fringe F_i(u) is the set of vertices at distance i from u, and B_i is the
largest eccentricity in it. Two vertices in fringes up to i are at most 2i apart. So once the
eccentricities of all fringes beyond i - 1 are known, with L the largest one so far,
D <= max(L, 2(i - 1)), and L is the diameter as soon as L >= 2(i - 1).
u comes from four sweeps: r1 has the highest degree; a1 is farthest from r1, b1 from a1; r2 is halfway
between a1 and b1; a2 is farthest from r2, b2 from a2; u is halfway between a2 and b2.
Source: Crescenzi, Grossi, Habib, Lanzi, Marino, On computing the diameter of real-world undirected
graphs, Theoretical Computer Science 514, 2013, algorithms 4-SWEEP and iFUB. Here a fringe also ends
as soon as L reaches 2i, and leaves out vertices that the sweeps have traversed. With start "random" r1 is a random
vertex, as in the experiments of that paper.

Passes: five BFS and one for each vertex of the fringes; with a batch, one multi-source BFS for
several of them. Bytes a vertex: shared state 3, distances from u 1 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.interface import first_with_edge, max_degree_vertex
from ...engine.needs import DeviceState, batch_state_bytes, distance_bytes, traversal_phases
from ...errors import InputError
from ...traverse.columns import Column
from ...traverse.components import Component
from ..definition import Method
from .cost_model import bfs_cost
from .method import BatchedOptions, Eccentricity, ExactMethod

STARTS = ("max-degree", "random")
_DRAWN = 64  # vertices with an edge, one of which is taken


@dataclass(frozen=True)
class IfubOptions(BatchedOptions):
    """batch : fringe vertices of one multi-source BFS (1: plain BFS, as published). start : r1, "max-degree" or
    "random". seed : of the random vertex."""

    start: str = STARTS[0]
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start not in STARTS:
            raise InputError("unknown start", text=self.start, remedy=f"use {' or '.join(STARTS)}")


class Ifub(ExactMethod):
    """One run of iFUB on an engine."""

    name = "ifub"
    fringe = 0
    options: IfubOptions

    def _start(self) -> int:
        if self.options.start == STARTS[0]:
            return max_degree_vertex(self.engine)
        drawn = self.engine.sample_vertices(self.options.seed, _DRAWN)
        random = np.random.default_rng(self.options.seed)
        return int(random.choice(drawn)) if len(drawn) else first_with_edge(self.engine)

    def _facts(self) -> dict[str, Any]:
        return {"fringe": self.fringe}

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        """iFUB from the centre found by four sweeps."""
        known = {first.source}
        middle = self._middle(first.farthest, known)
        middle = self._middle(self._visited(middle, known).farthest, known)
        last = self._visited(middle, known, distances=True)
        distances = last.take_distances()
        for self.fringe in range(last.eccentricity, 0, -1):
            self.upper_here = min(self.upper_here, max(floor, self.lower_here, 2 * self.fringe))
            for sources in self._members(distances, component, known):
                if self.upper_here <= max(floor, self.lower_here):
                    return max(floor, self.lower_here)
                if len(sources) == 1:
                    self.eccentricity(int(sources[0]))
                else:
                    self.eccentricities(sources)
        return max(floor, self.lower_here)

    def _visited(self, vertex: int, known: set[int], distances: bool = False) -> Eccentricity:
        known.add(vertex)
        return self.eccentricity(vertex, distances)

    def _middle(self, end: int, known: set[int]) -> int:
        """A vertex halfway between `end` and a vertex farthest from it."""
        return self.middle_of(self._visited(end, known, distances=True))

    def _members(self, distances: Column, component: Component, known: set[int]) -> Iterator[np.ndarray]:
        """Vertices of the fringe not yet traversed, ascending, a batch at a time."""
        vertex, stop = component.first - 1, component.last + 1
        sources: list[int] = []
        while True:
            vertex = distances.first((self.fringe,), vertex + 1, stop)
            if vertex >= 0 and vertex not in known:
                sources.append(vertex)
            if sources and (vertex < 0 or len(sources) == self.options.batch):
                yield np.array(sources, np.int64)
                sources = []
            if vertex < 0:
                return


METHOD = Method(
    IfubOptions, Ifub,
    lambda store, options: traversal_phases(
        store, lambda column: distance_bytes(store, column) + batch_state_bytes(store, options.batch)),
    lambda store, options: bfs_cost(4, 480), DeviceState(2, batches=True))
ifub = METHOD.solve
