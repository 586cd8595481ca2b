"""Korf: exact diameter by BFS that stop as soon as they have reached all vertices that still matter.

Definition: S is the set of vertices of the component that were not yet the source of a BFS. A BFS
from v stops as soon as all of S has been reached; then v leaves S. L is the largest distance to a
vertex of S that these BFS have found. When the first of two vertices becomes a source, the other is
in S, so L is at least their distance: when S is empty, L is the diameter.
Sources are taken by decreasing distance from the first one (ties: highest degree, then smallest vertex), so that S
becomes a ball around it, and BFS become shorter. With r the largest distance from the first source to a vertex of S,
two vertices of S are at most 2r apart: the run ends when 2r <= L.
Source: Korf, Finding the Exact Diameter of a Graph with Partial Breadth-First Searches, SoCS 2021.
The order and the end at 2r are not from the paper.

Passes: at most one partial BFS a vertex; with a batch, one multi-source BFS for several vertices,
which stops when all of them have reached all of S. Bytes a vertex: shared state 3, distances from the
first source 1 to 4, 3.5 for a BFS of up to 8 sources, 24.5 for 64.
"""

from __future__ import annotations

from ...engine.needs import DeviceState, batch_state_bytes, distance_bytes, traversal_phases
from ...store.store import Store
from ...stream.plan import Phase
from ...traverse.components import Component
from ..definition import Method
from .cost_model import bfs_cost
from .method import BatchedOptions, Eccentricity, ExactMethod


class KorfOptions(BatchedOptions):
    """batch : sources of one multi-source BFS (1 as published)."""


class Korf(ExactMethod):
    """One run of partial BFS on an engine."""

    name = "korf"
    keeps_distances = True

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        remaining = first.take_distances()  # open at S
        remaining.put([first.source], remaining.unreached)
        start, stop = component.first, component.last + 1
        while True:
            radius = remaining.largest(start, stop)
            bound = max(floor, self.lower_here)
            self.upper_here = min(self.upper_here, max(bound, 2 * radius))
            if self.upper_here <= bound:
                return bound
            sources = remaining.ranked(self.engine.degrees, remaining, self.options.batch, start=start, stop=stop)
            self.eccentricities(sources, targets=remaining.open_bitmap())
            remaining.put(sources, remaining.unreached)


def _phases(store: Store, options: KorfOptions) -> tuple[Phase, ...]:
    """Distances, the set S, and the state of a batch."""
    bitmap = store.n_vertices // 8 + 8
    beside = bitmap + batch_state_bytes(store, max(2, options.batch))
    return traversal_phases(store, lambda column: distance_bytes(store, column) + beside)


METHOD = Method(KorfOptions, Korf, _phases, lambda store, options: bfs_cost(4, 110), DeviceState(2, batches=True))
korf = METHOD.solve
