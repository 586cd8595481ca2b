"""The common part of approximations made of BFS: the order of components, and the check.

They go through the components as exact methods do (methods/exact/method.py). The lower bound is checked
independently of the traversal that found it: labels that are 0 at one vertex, L at another, and
differ by at most 1 across every arc show a distance of at least L (one scan over all arcs).
Bytes a vertex: shared state 2, a column of distances of 1 to 4 (the column of the longest pair is on disk while others
are made), and for a tree two ids and a height more (trees/diameter.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...engine.interface import Engine, max_degree_vertex
from ...engine.needs import label_bytes, phases_of
from ...errors import EmdiamError, InputError
from ...store.store import Store
from ...stream.blocks import table_bytes
from ...stream.plan import Phase
from ...traverse.columns import Column
from ...traverse.components import Component
from ...traverse.ram_column import RamColumn
from ...traverse.workspace import workspace_bytes
from ..exact.method import Eccentricity, ExactMethod
from ..metric import HopMetric
from ..result import Approximation, Witness, check_known
from ..run import UNKNOWN, Best, MethodOptions
from .rank_order import first_by_rank, hub_of, members


@dataclass(frozen=True)
class ApproxOptions(MethodOptions):
    """Options of every approximation. known_diameter : the largest diameter of any component, if
    known, for the ratio."""

    known_diameter: int | None = None

    def __post_init__(self) -> None:
        check_known(self.known_diameter)
        if self.known_diameter is not None and self.known_diameter != int(self.known_diameter):
            raise InputError("a diameter without weights is a whole number", text=str(self.known_diameter),
                             remedy="give a whole number, or --weighted")


def labels_of_components(store: Store) -> dict[str, int]:
    """Bytes for labels in the phases of approximations by BFS."""
    return dict.fromkeys(("components", "solve"), label_bytes(store.n_vertices, store.id_dtype.itemsize))


def phases_with(
    state: Callable[[Store, Any, int], dict[str, int]], more: Callable[[Store], dict[str, int]] = labels_of_components,
    parts: Callable[[Store], dict[str, int]] = labels_of_components
) -> Callable[[Store, Any], tuple[Phase, ...]]:
    """The phases of a method: open, with offsets; then its own phases, each with offsets, the state of traversals, and
    the ranks of a reordered store. state : (store, options, bytes of a column entry) -> bytes of vertex
    state by phase. more : further bytes that phases may take. parts : the part of these that a connected graph does not
    take; see engine.needs.phases_of."""
    def phases(store: Store, options: Any) -> tuple[Phase, ...]:
        n, ids = store.n_vertices, store.id_dtype.itemsize
        table = table_bytes(store)
        shared = table + (0 if store.is_natural else n * ids) + workspace_bytes(n, ids)

        def of(column: int) -> dict[str, int]:
            states = state(store, options, column)
            return {"open": table} | {phase: shared + size for phase, size in states.items()}

        return phases_of(store, of, more(store), parts(store))

    return phases


def tree_bytes(store: Store, column: int) -> int:
    """Bytes of the parents, children and heights of a BFS tree. column : of a distance, and of a height."""
    return store.n_vertices * (2 * store.id_dtype.itemsize + column)


class SweepingMethod(ExactMethod):
    """An approximation made of BFS; run.solved makes the Approximation.

    A subclass solves one component, only by eccentricity() and eccentricities(), and may set
    `estimate` and `seed`. It need not close the interval: it raises Enough when it is done. All
    choices are by natural rank: hubs, farthest vertices, trees.
    """

    result_type = Approximation

    def __init__(self, metric: HopMetric, options: ApproxOptions) -> None:
        super().__init__(metric, options)
        self.seed: int | None = None
        self.trees = self.trees_left_out = 0
        self.labels: Column | None = None  # distances from best.source
        self._labels_length = self._labels_source = -1

    def eccentricity(self, vertex: int, distances: bool = False, into: Column | None = None) -> Eccentricity:
        """As ExactMethod.eccentricity, but always with distances; those of the longest pair are kept.
        `farthest` is the farthest vertex of smallest rank."""
        self._put_labels_away()
        run = super().eccentricity(vertex, True, into)
        assert run.distances is not None
        run.farthest = int(first_by_rank(self.engine, members(run.distances, run.eccentricity))[0])
        if self.best.source == vertex and self.best.length > self._labels_length:
            self.best = Best(run.eccentricity, vertex, run.farthest)
            self.labels, self._labels_length = run.distances, run.eccentricity
            self._labels_source = vertex
        return run

    def _put_labels_away(self) -> None:
        """Free the memory of the labels for other distances, unless they are on workers or on a device."""
        if isinstance(self.labels, RamColumn):
            self.kept.put_away(self._labels_source, self.labels)
            self.labels = None

    def lower_by_tree(self, run: Eccentricity) -> None:
        """Lower upper_here to the diameter of the BFS tree of `run`, which has its distances.

        It is an upper bound: the distance of two vertices is at most the length of the path between
        them in a spanning tree, and that is at most the diameter of the tree. Skipped if the pool has no
        room for a tree."""
        assert run.distances is not None
        self.checkpoint()
        facts, item = self.engine.facts, run.distances.dtype.itemsize
        if not facts.columns_on_disk and facts.pool_bytes < tree_bytes(self.engine.store, item):
            self.trees_left_out += 1
            return
        with self.stages.timed("tree"):
            self.tick("tree")
            longest = self.engine.scan("tree-diameter", run.distances, run.source)
        self.trees += 1
        self.upper_here = min(self.upper_here, longest)

    def estimate(self) -> int | None:
        """The diameter that the method reports: the proved lower bound, unless a subclass overrides it.
        None before there is one."""
        return self.best.length if self.components_known or self.stages.bfs else None

    def name_target(self) -> None:
        if self.best.target == UNKNOWN:
            self.labels, self._labels_source = None, -1
            run = self.engine.bfs(self.best.source)
            self.stages.bfs += 1
            assert run.distances is not None
            farthest = int(first_by_rank(self.engine, members(run.distances, run.levels))[0])
            self.best, self.labels = Best(run.levels, self.best.source, farthest), run.distances

    def _start(self) -> int:
        degree = int(self.engine.degrees(np.array([max_degree_vertex(self.engine)]))[0])
        return int(first_by_rank(self.engine, self.engine.vertices_of_degree(degree))[0])

    def _run_component(self, component: Component, first: Eccentricity | None, reported: bool) -> None:
        if first is None:
            assert self.components is not None
            component = replace(component, hub=hub_of(self.engine, self.components.labels, component))
        super()._run_component(component, first, reported)

    def _details(self) -> dict[str, Any]:
        left_out = {"trees_left_out": self.trees_left_out} if self.trees_left_out else {}
        return {"trees": self.trees, **left_out}

    def _fields(self) -> dict[str, Any]:
        return {"estimate": self.estimate(), "seed": self.seed, "known_diameter": self.options.known_diameter}

    def check(self) -> Witness | None:
        if self.labels is None and self._labels_source == self.best.source != UNKNOWN:
            self.labels = self.kept.labels(self.best.source)
            if self.labels is None:  # there was no room on disk
                self.labels = self.engine.bfs(self.best.source).distances
                self.stages.bfs += 1
        if self.labels is None:
            return None
        return check_lower(self.engine, self.labels, self.best.source, self.best.target, self.best.length)

    def conclude(self, result: Approximation) -> None:
        result.conclude()


def check_lower(engine: Engine, labels: Column, source: int, target: int, length: int) -> Witness:
    """The witness of d(source, target) >= length, by the distances `labels` from source, checked by a
    scan. Without a path, which a lower bound does not need, and which costs a block a vertex if a
    store has no locality. Raises EmdiamError if it does not hold (a fault of emdiam)."""
    engine.reporter.tick("verify")
    if labels.gather([source, target]).tolist() != [0, length] or engine.scan("steep-arcs", labels) != 0:
        raise EmdiamError("the distances of the lower bound are not distances: this is a fault of emdiam: "
                          "please report it with the store")
    ends = engine.store.user_ids(np.array([source, target]))
    return Witness(ends[0], ends[1], length)
