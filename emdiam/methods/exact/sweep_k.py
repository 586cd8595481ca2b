"""sweep-k: an interval around the diameter from k BFS with sources far from each other.

Definition: the first source has the highest degree; every further one is a vertex farthest from all
earlier sources (ties: smallest vertex). With sources p_1 to p_k:
    L = max ecc(p_i) <= D <= U = max over vertices v of min over i of ecc(p_i) + d(p_i, v).
U <= L + r, where r, the covering radius, is the largest distance from a vertex to its nearest source, and r <= 2 s / (k
+ 1) in a component of s vertices: an additive error of O(s / k). For k = 1 the interval is [ecc, 2 ecc].
Source: the order is that of Gonzalez, Clustering to minimize the maximum intercluster distance,
1985; the bounds are the triangle inequality (docs/algorithms/sweep-k.md has the proofs).

Passes: k BFS. Bytes a vertex: shared state 3, distance to the nearest source, upper bound and a distance 1 to 4 each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.needs import DeviceState, distance_bytes, traversal_phases
from ...errors import InputError
from ...store.store import Store
from ...stream.plan import Phase
from ...traverse.columns import Column
from ...traverse.components import Component
from ..definition import Method
from ..run import MethodOptions
from .cost_model import bfs_cost
from .method import Eccentricity, Enough, ExactMethod


@dataclass(frozen=True)
class SweepKOptions(MethodOptions):
    """k : BFS a component."""

    k: int = 16

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError("at least one source is needed", text=str(self.k))


class SweepK(ExactMethod):
    """One run of k sweeps on an engine; exact only when the interval closes."""

    name = "sweep-k"
    keeps_distances = True
    sources, radius = 0, 0  # of the largest component
    nearest: Column | None = None  # open in the current component, as is `bounds`
    bounds: Column | None = None

    def _prepare(self, largest: int) -> None:
        self.nearest, self.bounds = self.engine.new_column(largest), self.engine.new_column(largest)

    def _release(self) -> None:
        self.nearest = self.bounds = None

    def _details(self) -> dict[str, Any]:
        return {
            "sources": self.sources, "covering_radius": self.radius,
            "additive_error": self.upper() - self.best.length,
        }

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        assert self.nearest is not None and self.bounds is not None
        start, stop = component.first, component.last + 1
        try:
            distances = first.take_distances()
            self.nearest.open_at(distances, self.upper_here, start, stop)
            self.bounds.open_at(distances, self.upper_here, start, stop)
            farthest = self._fold(distances, first.eccentricity, 1, floor)
            del distances
            for count in range(2, self.options.k + 1):
                if self.upper_here <= max(floor, self.lower_here):
                    break
                run = self.eccentricity(farthest, distances=True)
                farthest = self._fold(run.take_distances(), run.eccentricity, count, floor)
        finally:
            self.nearest.close(start, stop)
            self.bounds.close(start, stop)
        if self.upper_here > max(floor, self.lower_here):
            raise Enough("sources")
        return max(floor, self.lower_here)

    def _fold(self, distances: Column, eccentricity: int, count: int, floor: int) -> int:
        """Fold the distances of a BFS into the bounds; returns a vertex farthest from all sources."""
        assert self.nearest is not None and self.bounds is not None and self.component is not None
        start, stop = self.component.first, self.component.last + 1
        with self.stages.timed("bounds"):
            self.nearest.tighten_upper(distances, 0, start, stop)
            self.bounds.tighten_upper(distances, eccentricity, start, stop)
            self.upper_here = min(self.upper_here, self.bounds.largest(start, stop))
            farthest = self.nearest.argbest(start=start, stop=stop)
            if self.reported:
                self.sources, self.radius = count, int(self.nearest.gather([farthest])[0])
        return farthest


def _phases(store: Store, options: SweepKOptions) -> tuple[Phase, ...]:
    """Two columns and distances."""
    return traversal_phases(store, lambda column: 2 * store.n_vertices * column + distance_bytes(store, column))


METHOD = Method(SweepKOptions, SweepK, _phases, lambda store, options: bfs_cost(16, 60), DeviceState(4))
sweep_k = METHOD.solve
