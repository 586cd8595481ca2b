"""sweep: the double sweep lower bound by BFS, iterated, and the tree upper bound.

Definition: from a start r to a farthest vertex v', from there to a farthest vertex v'': ecc(v') = d(v', v'') is a lower
bound on the diameter, exact in a tree. Each of the two traversals has a BFS tree, whose diameter is an upper bound;
another is twice an eccentricity. The first r is the vertex of the largest degree, further ones are drawn at random from
the component. No vertex is v' twice: otherwise the next farthest vertex from r is taken, and if there is none, the next
start. Ties go to the smallest natural rank. It ends after `iterations`, or as soon as the bounds meet.

Passes: two BFS, and a scan for each tree, an iteration; one scan to check the lower bound. Bytes a
vertex: shared state 2; a column of distances of 1 to 4; for a tree two ids and a height besides.
Sources: Ajwani, Beckmann, Meyer, Veith (2012), section 2 (EM BFS DSLB in its tables); Magnien,
Latapy, Habib (2009), double sweep lower bound and tree upper bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...engine.needs import DeviceState, widening_bytes
from ...errors import InputError
from ...store.store import Store
from ...stream.plan import Pool
from ...traverse.components import Component
from ...traverse.workspace import column_bytes
from ..definition import Method
from ..exact.method import Eccentricity, Enough
from ..metric import HopMetric
from .cost_model import SWEEP
from .method import ApproxOptions, SweepingMethod, labels_of_components, phases_with, tree_bytes
from .rank_order import drawn, first_by_rank, members, stream_key

MOST_ITERATIONS = 1 << 16


@dataclass(frozen=True)
class SweepOptions(ApproxOptions):
    """iterations : largest number of double sweeps a component. seed : of the starts after the first."""

    iterations: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise InputError(f"iterations are at least 1 and at most {MOST_ITERATIONS}", text=str(self.iterations))


class DoubleSweeps(SweepingMethod):
    """Iterated double sweeps. A subclass defines in _use_start and _use_end the further use of a traversal. Their
    argument has its distances, which are not needed afterwards."""

    keeps_distances = True

    def __init__(self, metric: HopMetric, options: SweepOptions) -> None:
        super().__init__(metric, options)
        self.iterations, self.seed = options.iterations, options.seed
        self.iteration, self.floor = 0, 0
        self._iterations_here = 0

    def _use_start(self, run: Eccentricity) -> None:
        """Use the traversal from r."""

    def _use_end(self, run: Eccentricity) -> None:
        """Use the traversal from v'."""

    def closed(self) -> bool:
        """Whether the component is solved, or can have no distance that matters."""
        return self.upper_here <= max(self.floor, self.lower_here)

    def _facts(self) -> dict[str, Any]:
        return {"iteration": self.iteration}

    def _details(self) -> dict[str, Any]:
        return {**super()._details(), "iterations": self._iterations_here}

    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        self.floor = floor
        starts, ends = self._starts(first), set[int]()
        run: Eccentricity | None = first
        for self.iteration, start in enumerate(starts, 1):
            if run is None and self.closed():
                break
            self._iterations_here += self.reported
            run = run or self.eccentricity(start)
            self._use_start(run)
            end = -1 if self.closed() else self._farthest_but(run, ends)
            run.distances = None  # to free their memory for the next traversal
            run = None
            if end >= 0:
                ends.add(end)
                self._use_end(self.eccentricity(end))
        if not self.closed():
            raise Enough("iterations")
        return max(floor, self.lower_here)

    def _starts(self, first: Eccentricity) -> list[int]:
        """r of every iteration: the source of `first`, then vertices drawn from its component."""
        assert first.distances is not None and self.seed is not None
        if self.iterations == 1:
            return [first.source]
        more = drawn(self.engine, first.distances, stream_key(self.seed, "starts"), self.iterations)
        return [first.source, *more[more != first.source][: self.iterations - 1].tolist()]

    def _farthest_but(self, run: Eccentricity, ends: set[int]) -> int:
        """The farthest vertex of smallest rank that is not in `ends`, or -1."""
        assert run.distances is not None
        if run.farthest not in ends:
            return run.farthest
        result = first_by_rank(self.engine, members(run.distances, run.eccentricity), len(ends) + 1)
        return next((vertex for vertex in result.tolist() if vertex not in ends), -1)


class Sweep(DoubleSweeps):
    """One run of sweep on an engine."""

    name = "sweep"

    def _use_start(self, run: Eccentricity) -> None:
        if not self.closed():
            self.lower_by_tree(run)

    def _use_end(self, run: Eccentricity) -> None:
        if not self.closed():
            self.lower_by_tree(run)


def sweep_bytes(store: Store, options: SweepOptions, column: int) -> dict[str, int]:
    """Vertex state by phase: distances that widen. Those of the longest pair are on disk meanwhile."""
    kept, widening = store.n_vertices * column, widening_bytes(store, column)
    return {"bfs": widening, "components": kept, "solve": widening, "verify": widening}


def sweep_more(store: Store) -> dict[str, int]:
    """Bytes that phases may take in addition: labels of components, and a second column if distances are on workers."""
    labels = labels_of_components(store)
    return {**labels, "solve": labels["solve"] + store.n_vertices * column_bytes(store.n_vertices)}


def tree_pool(store: Store) -> Pool:
    """Room for a tree beside the distances, or for none."""
    return Pool(tree_bytes(store, column_bytes(store.n_vertices)), smallest=tree_bytes(store, 1))


METHOD = Method(SweepOptions, Sweep, phases_with(sweep_bytes, sweep_more), lambda store, options: SWEEP, DeviceState(3),
                tree_pool)
sweep = METHOD.solve
