"""APSP: exact diameter by a BFS from every vertex of every component that matters.

The definition of the diameter, and the oracle for the other methods. Passes: one BFS a vertex; with a batch, one
multi-source BFS for several vertices. Bytes a vertex: shared state 3, a column that marks the component 1 to 4.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...engine.needs import DeviceState, batch_state_bytes, distance_bytes, traversal_phases
from ...traverse.columns import Column
from ...traverse.components import Component
from ..definition import Method
from .cost_model import apsp_cost
from .method import BatchedOptions, Eccentricity, ExactMethod


class ApspOptions(BatchedOptions):
    """batch : sources of one multi-source BFS (1: plain BFS)."""


class Apsp(ExactMethod):
    """One run over all vertices of an engine."""

    name = "apsp"
    keeps_distances = True

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        for sources in self._sources(component, first.source, first.take_distances()):
            if self.options.batch == 1:
                self.eccentricity(int(sources[0]))
            else:
                self.eccentricities(sources)
        return max(floor, self.lower_here)

    def _sources(self, component: Component, done: int, inside: Column) -> Iterator[np.ndarray]:
        """All vertices of the component except `done`, ascending, a batch at a time."""
        rest = np.empty(0, np.int64)
        for ids in inside.open_vertices(component.first, component.last + 1):
            rest = np.concatenate((rest, ids[ids != done]))
            whole = len(rest) // self.options.batch * self.options.batch
            yield from rest[:whole].reshape(-1, self.options.batch)
            rest = rest[whole:]
        if len(rest):
            yield rest


METHOD = Method(
    ApspOptions, Apsp,
    lambda store, options: traversal_phases(
        store, lambda column: distance_bytes(store, column) + batch_state_bytes(store, options.batch)),
    lambda store, options: apsp_cost(-(-store.n_vertices // max(1, options.batch))), DeviceState(1, batches=True))
apsp = METHOD.solve
