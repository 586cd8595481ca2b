"""Takafuji: the distances of every component as a matrix, by blocked Floyd-Warshall in a single kernel.

Definition: the matrix of arcs becomes that of distances (paths/pairs/single_kernel.py), whose largest entry is the
diameter. Published for directed graphs; here for undirected ones. n^3 sums and 4 n^2 bytes, so only small graphs are
accepted. Passes: one BFS, the rows, and the check of the witness.
Source: Takafuji, Nakano and Ito, Efficient GPU Implementations to Compute the Diameter of a Graph, CANDAR 2019.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np

from ...engine.needs import DeviceState, distance_bytes, traversal_phases
from ...paths.pairs.arcs import lengths_of
from ...paths.pairs.min_plus import Product
from ...paths.pairs.single_kernel import single_kernel
from ...paths.pairs.tiles import RamTiles, matrix_in_ram, ram_bytes
from ...store.store import Store
from ...stream.plan import Phase
from ...stream.threads import Threads
from ...traverse.components import Component
from ..definition import Method
from ..run import MethodOptions
from .cost_model import bfs_cost
from .method import Eccentricity, ExactMethod
from .small_graph import check_small, local_rows, rows_bytes

MOST_VERTICES = 1 << 15
_SECONDS = 1000.0


class Takafuji(ExactMethod):
    """One run over the components of an engine."""

    name = "takafuji"
    keeps_distances = True

    def _prepare(self, largest: int) -> None:
        check_small(self.name, self.engine.facts.n_vertices, MOST_VERTICES, _SECONDS)

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        vertices = first.take_distances().open_list(component.first, component.last + 1)
        matrix = self._closed(vertices)
        farthest = matrix[: len(vertices), : len(vertices)].max(axis=1)
        at = int(farthest.argmax())
        self.longer(int(farthest[at]), int(vertices[at]), int(vertices[matrix[at, : len(vertices)].argmax()]))
        return max(floor, self.lower_here)

    def _closed(self, vertices: np.ndarray) -> np.ndarray:
        """The padded matrix of distances between the vertices of a component."""
        arcs = local_rows(self.engine, vertices)
        lengths, _ = lengths_of(arcs)
        with closing(Threads(self.engine.facts.threads, 0)) as threads:
            matrix = matrix_in_ram(arcs, lengths)
            single_kernel(RamTiles(matrix, lengths, Product(threads, matrix.dtype, len(matrix)), self._between))
        return matrix

    def _between(self) -> None:
        """Called between two parts of the rounds."""
        self.checkpoint()
        self.tick("matrix")


def _phases(store: Store, options: MethodOptions) -> tuple[Phase, ...]:
    """The matrix of a component of all vertices, and the panels of two rounds."""
    n = store.n_vertices
    check_small("takafuji", n, MOST_VERTICES, _SECONDS)
    matrix = 2 * ram_bytes(n, 4) - 4 * n * n + rows_bytes(store)
    return traversal_phases(store, lambda column: distance_bytes(store, column) + matrix)


METHOD = Method(MethodOptions, Takafuji, _phases, lambda store, options: bfs_cost(3, 6), DeviceState(1))
takafuji = METHOD.solve
