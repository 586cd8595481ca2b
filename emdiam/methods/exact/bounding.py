"""Bounding: exact diameter by lower and upper bounds on every vertex's eccentricity.

Definition: after a BFS from v, every vertex w has max(d(v, w), ecc(v) - d(v, w)) <= ecc(w) <= ecc(v) + d(v, w). A
*candidate* is a vertex that may still be a source. It is dropped when its bounds meet, or when its upper bound is at
most the largest lower bound L and twice its lower bound at least the largest upper bound U. Sources are taken in turn
from the candidates with the largest upper and with the smallest lower bound (ties: highest degree, then smallest
vertex). The run ends when L = U, or without candidates: a dropped vertex has an eccentricity of at most L.
Source: Dal, Kosters, Takes, Fast Diameter Computation of Large Sparse Graphs using GPUs, PDP 2014,
Algorithms 1 and 2; Takes, Kosters, CIKM 2011.

Passes: one BFS a source; with a batch, one multi-source BFS for several sources. Bytes a vertex:
shared state 3, two bounds and a distance 1 to 4 each, another distance for each source of a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ...engine.interface import CandidateBounds
from ...engine.needs import DeviceState, batch_state_bytes, distance_bytes, traversal_phases
from ...errors import InputError
from ...store.store import Store
from ...stream.plan import Phase
from ...traverse.columns import FOLD_BYTES, Column
from ...traverse.components import Component
from ..definition import Method
from ..metric import HopMetric
from ..run import MethodOptions
from .cost_model import bfs_cost
from .method import Eccentricity, ExactMethod, check_batch


@dataclass(frozen=True)
class BoundingOptions(MethodOptions):
    """first : the end from which the source after the start vertex is taken, "upper" or "lower". batch :
    sources a round (1 as published; more in one multi-source BFS)."""

    first: str = "upper"
    batch: int = 1

    def __post_init__(self) -> None:
        if self.first not in ("upper", "lower"):
            raise InputError("unknown end", text=self.first, remedy="use upper or lower")
        check_batch(self.batch)


class Bounding(ExactMethod):
    """One run of the bounding algorithm on an engine."""

    name = "bounding"
    keeps_distances = True
    options: BoundingOptions

    def __init__(self, metric: HopMetric, options: BoundingOptions) -> None:
        super().__init__(metric, options)
        self.lower: Column | None = None
        self.upper_bounds: Column | None = None  # open at candidates only
        self.iterations = 0
        # As papers/001 does on a GPU.
        self._on_engine = self.engine.facts.keeps_candidates and options.batch == 1
        self.n_candidates = metric.n_vertices

    def _prepare(self, largest: int) -> None:
        if not self._on_engine:
            self.lower, self.upper_bounds = self.engine.new_column(largest, 0), self.engine.new_column(largest)

    def _release(self) -> None:
        self.lower = self.upper_bounds = None

    def _facts(self) -> dict[str, Any]:
        return {"active": self.n_candidates}

    def _details(self) -> dict[str, Any]:
        return {"iterations": self.iterations}

    # -- one component --------------------------------------------------------------------------
    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        """Algorithm 1, after its first BFS."""
        if self._on_engine:
            return self._by_candidates(first, floor)
        assert self.upper_bounds is not None
        start, stop = component.first, component.last + 1
        try:
            self._begin(first, floor)
            high = self.options.first == "upper"
            while self.upper_here > max(floor, self.lower_here) and self.n_candidates:
                sources = self._choose(high)
                high ^= len(sources) % 2 == 1
                self._traverse(sources, floor)
        finally:
            self.upper_bounds.close(start, stop)
        return max(floor, self.lower_here)

    def _by_candidates(self, first: Eccentricity, floor: int) -> int:
        """The same with bounds and candidates kept by the engine, which takes the smallest vertex among equals."""
        run, high, distances = first, self.options.first == "upper", first.take_distances()
        bounds = cast(CandidateBounds, self.engine).open_candidates(distances)
        while True:
            self.iterations += self.reported
            with self.stages.timed("bounds"):
                bounds.update(distances, run.eccentricity)
            self.n_candidates = bounds.n_candidates
            self.upper_here = min(self.upper_here, max(floor, bounds.largest_upper))
            source = bounds.select(high) if self.upper_here > max(floor, self.lower_here) else None
            if source is None:
                return max(floor, self.lower_here)
            high, run = not high, self.eccentricity(source, distances=True)
            distances = run.take_distances()

    def _begin(self, first: Eccentricity, floor: int) -> None:
        assert self.upper_bounds is not None and self.component is not None
        distances = first.take_distances()
        # No bound above this one is written, so that none comes near the sentinel.
        self.upper_bounds.open_at(distances, self.upper_here, self.component.first, self.component.last + 1)
        self._known([distances], [first.eccentricity], floor)

    def _traverse(self, sources: np.ndarray, floor: int) -> None:
        if len(sources) == 1:
            run = self.eccentricity(int(sources[0]), distances=True)
            self._known([run.take_distances()], [run.eccentricity], floor)
            return
        columns = [self.engine.new_column(self.upper_here) for _ in sources]
        self._known(columns, self.eccentricities(sources, columns=columns).tolist(), floor)

    def _known(self, columns: list[Column], eccentricities: list[int], floor: int) -> None:
        """Algorithm 2, after BFSs with these distances and eccentricities."""
        assert self.lower is not None and self.upper_bounds is not None and self.component is not None
        start, stop = self.component.first, self.component.last + 1
        self.iterations += len(columns) if self.reported else 0
        with self.stages.timed("bounds"):
            for distances, eccentricity in zip(columns, eccentricities, strict=True):
                self.lower.tighten_lower(distances, eccentricity, start, stop)
                self.upper_bounds.tighten_upper(distances, eccentricity, start, stop)
            bound = max(floor, self.lower_here)
            # Upper bounds of dropped vertices are at most `bound`, so candidates suffice.
            widest = max(bound, self.upper_bounds.largest(start, stop))
            self.n_candidates = self.upper_bounds.close_known(self.lower, bound, widest, start, stop)
        self.upper_here = min(self.upper_here, widest if self.n_candidates else bound)

    def _choose(self, high: bool) -> np.ndarray:
        """The next sources, in turn from the two ends, distinct (int64[k])."""
        assert self.lower is not None and self.upper_bounds is not None and self.component is not None
        n_sources = min(self.options.batch, self.n_candidates)
        bounds = {"start": self.component.first, "stop": self.component.last + 1}
        ends = [iter(self.upper_bounds.ranked(
            self.engine.degrees, self.upper_bounds if upper else self.lower, n_sources, smallest=not upper,
            **bounds).tolist()) for upper in (high, not high)[:n_sources]]
        chosen: dict[int, None] = {}
        while len(chosen) < n_sources:
            end = ends[len(chosen) % 2]
            chosen[next(v for v in end if v not in chosen)] = None
        return np.array(list(chosen), np.int64)


def _phases(store: Store, options: BoundingOptions) -> tuple[Phase, ...]:
    """Two bounds, and distances of one source or of a batch with its state."""
    batch, sources = batch_state_bytes(store, options.batch), 0 if options.batch == 1 else options.batch

    def state(column: int) -> int:
        size = store.n_vertices * column
        return 2 * size + max(distance_bytes(store, column), sources * size + FOLD_BYTES) + batch

    return traversal_phases(store, state)


METHOD = Method(BoundingOptions, Bounding, _phases, lambda store, options: bfs_cost(3, 110),
                DeviceState(4, batches=True))
bounding = METHOD.solve
