"""Pennycuff and Weninger: all eccentricities at once, by vertices that send messages to each other.

Definition: every vertex sends its name to its neighbours, and they pass on names that are new to them, according to
their history. When no message is on its way any more, the last superstep in which a vertex got a new name is its
eccentricity; the largest is the diameter (traverse/messages.py). As published, each message has a history; here
each vertex has one, which stops the same messages. Takes a row of n bits an arc and superstep, and 3 n^2 / 8 bytes, so
only small graphs are accepted. Passes: one BFS, the rows, and the check of the witness.
Source: Pennycuff and Weninger, Fast, Exact Graph Diameter Computation with Vertex Programming, HPGM 2015.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial

import numpy as np

from ...engine.needs import DeviceState, distance_bytes, traversal_phases
from ...store.store import Store
from ...stream.plan import Phase
from ...stream.threads import Threads
from ...traverse.components import Component
from ...traverse.messages import first_messages, superstep
from ..definition import Method
from ..run import UNKNOWN, MethodOptions
from .cost_model import bfs_cost
from .method import Eccentricity, ExactMethod
from .small_graph import check_small, local_rows, rows_bytes

MOST_VERTICES = 1 << 16
_SECONDS = 100.0


class PennycuffWeninger(ExactMethod):
    """One run over the components of an engine. supersteps : of all components."""

    name = "pennycuff-weninger"
    keeps_distances = True
    supersteps = 0

    def _prepare(self, largest: int) -> None:
        check_small(self.name, self.engine.facts.n_vertices, MOST_VERTICES, _SECONDS)

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        vertices = first.take_distances().open_list(component.first, component.last + 1)
        eccentricities = self._eccentricities(vertices)
        at = int(eccentricities.argmax())
        self.longer(int(eccentricities[at]), int(vertices[at]), UNKNOWN)
        return max(floor, self.lower_here)

    def _eccentricities(self, vertices: np.ndarray) -> np.ndarray:
        """Eccentricities of the vertices of a component, int64[k]."""
        rows = local_rows(self.engine, vertices)
        history = first_messages(len(vertices))
        sent, sending = history.copy(), np.empty_like(history)
        found = np.zeros(len(vertices), np.int64)
        step, busy = 0, True
        with closing(Threads(self.engine.facts.threads, 0)) as threads:
            while busy:
                step += 1
                self.checkpoint()
                self.tick("messages")
                task = partial(superstep, rows.offsets, rows.heads, history, sent, sending, found, step,
                               np.zeros(1, np.int64))
                busy = any(threads.everywhere(task))
                sent, sending = sending, sent
        self.supersteps += step
        return found

    def _details(self) -> dict[str, int]:
        return {"supersteps": self.supersteps}


def _phases(store: Store, options: MethodOptions) -> tuple[Phase, ...]:
    """Three bitmaps of all vertices for each vertex, and the rows."""
    n = store.n_vertices
    check_small("pennycuff-weninger", n, MOST_VERTICES, _SECONDS)
    beside = 24 * n * -(-n // 64) + rows_bytes(store)
    return traversal_phases(store, lambda column: distance_bytes(store, column) + beside)


METHOD = Method(MethodOptions, PennycuffWeninger, _phases, lambda store, options: bfs_cost(3, 6), DeviceState(1))
pennycuff_weninger = METHOD.solve
