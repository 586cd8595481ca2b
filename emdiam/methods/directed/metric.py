"""Distances as numbers of arcs, along them or against them, on an engine of a store with directions.

Methods along arcs use only ArcVerbs, so that lengths of arcs (weighted.py) are another class of these
verbs, and need no other methods.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...engine.directed import DirectedEngine
from ...store.store import Store
from ...stream.counters import Counters
from ...traverse.arc_bounds import ArcBounds
from ...traverse.bfs import BfsResult
from ...traverse.columns import Column
from ..metric import Metric
from ..result import DirectedApproximation, DirectedResult, Witness
from ..run import MethodRun
from ..witness import check_witness


class ArcVerbs(Metric):
    """Verbs of methods along arcs. `back` : against the arcs. bound_dtype : of bounds on eccentricities, which may
    exceed those of any path by one. batch : number of sources whose eccentricities are requested at a time. phase : of
    a search, in events. store : for the ids of the answer. result_type, approximation_type : of an exact run, and of a
    run that bounds."""

    bound_dtype: np.dtype[Any]
    batch: int
    phase: str = "bfs"
    store: Store
    result_type: type[DirectedResult] = DirectedResult
    approximation_type: type[DirectedApproximation] = DirectedApproximation

    @abstractmethod
    def search(self, source: int, *, back: bool = False, within: np.ndarray | None = None,
               distances: bool = True) -> BfsResult:
        """Distances from a vertex (back: to it), in units; the largest is `levels`. within : bitmap of its strong
        component; distances outside it are not needed."""

    @abstractmethod
    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Eccentricities of sources (int64[k]), signed integers[k], in units."""

    def new_bounds(self, numbers: np.ndarray, above: int, sides: int = 2) -> ArcBounds:
        """Bounds on eccentricities in units; see ArcBounds."""
        return ArcBounds(numbers, above, self.bound_dtype, sides)

    @abstractmethod
    def components(self, start: int = 0) -> tuple[np.ndarray, int, int]:
        """The number of each vertex's strong component, in reverse topological order; the number of strong components,
        and that of components without directions."""

    def check_bound(self, bound: int) -> None:
        """Raise SumsTooLongError if `bound` is no bound because sums do not fit."""

    @abstractmethod
    def heads(self, vertices: np.ndarray, *, back: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The arcs of vertices, int64[k], row after row: ends of rows, int64[k + 1], heads and lengths."""

    @abstractmethod
    def degrees(self, vertices: np.ndarray, *, back: bool = False) -> np.ndarray:
        """Numbers of arcs of vertices, int64[k]."""

    @abstractmethod
    def inner_degrees(self, numbers: np.ndarray) -> np.ndarray:
        """For every vertex the product of its degrees in and out, with arcs whose both ends have the same number,
        int64[n]."""


class ArcMetric(ArcVerbs):
    """Numbers of arcs."""

    bound_dtype = np.dtype(np.uint32)
    batch = 1 << 12

    def __init__(self, engine: DirectedEngine) -> None:
        super().__init__()
        self.engine, self.store = engine, engine.store
        self.n_vertices, self.n_edges = engine.n_vertices, engine.store.n_arcs

    def search(self, source: int, *, back: bool = False, within: np.ndarray | None = None,
               distances: bool = True) -> BfsResult:
        """Distances from a vertex; see DirectedEngine.bfs."""
        return self.engine.bfs(source, back=back, within=within, distances=distances)

    def eccentricities(self, sources: np.ndarray, *, back: bool = False) -> np.ndarray:
        """See ArcVerbs; int32[k]."""
        return self.engine.eccentricities(sources, back=back)

    def new_bounds(self, numbers: np.ndarray, above: int, sides: int = 2) -> ArcBounds:
        """See ArcVerbs; where the engine has distances."""
        return self.engine.new_bounds(numbers, above, sides)

    def facts(self) -> dict[str, Any]:
        """See Metric."""
        return self.engine.details()

    def components(self, start: int = 0) -> tuple[np.ndarray, int, int]:
        """See ArcVerbs."""
        n_weak = self.engine.weak()[1]
        return *self.engine.strong, n_weak

    def heads(self, vertices: np.ndarray, *, back: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See ArcVerbs."""
        rows = self.engine.rows(vertices, back=back)
        heads = np.concatenate(rows)
        return np.cumsum([0, *map(len, rows)]), heads, np.ones(len(heads), np.uint8)

    def degrees(self, vertices: np.ndarray, *, back: bool = False) -> np.ndarray:
        """See ArcVerbs."""
        return self.engine.degrees(vertices, back=back)

    def inner_degrees(self, numbers: np.ndarray) -> np.ndarray:
        """See ArcVerbs."""
        product: np.ndarray = np.multiply(self.engine.inner_degrees(numbers),
                                          self.engine.inner_degrees(numbers, back=True), dtype=np.int64)
        return product

    def check(self, run: MethodRun) -> Witness | None:
        """See Metric and check_witness; uses distances to the second end."""
        best = run.best
        towards: Any = _TowardsTarget(self.engine)
        return check_witness(towards, best.source, best.target, best.length, run.options.path_file, run.not_written)

    def used(self) -> Counters:
        """See Metric."""
        return self.engine.reporter.stats()

    def tick(self, phase: str, **facts: Any) -> None:
        """See Metric."""
        self.engine.reporter.tick(phase, **facts)


class _TowardsTarget:
    """A graph with directions in the form that check_witness takes: distances are those to the target of a path."""

    def __init__(self, engine: DirectedEngine) -> None:
        self._engine, self.store, self.reporter = engine, engine.store, engine.reporter

    def bfs(self, target: int) -> BfsResult:
        """Distances to `target`."""
        return self._engine.bfs(target, back=True)

    def scan(self, name: str, labels: Column) -> int:
        """Number of arcs along which a label falls by more than 1, or that lead from an unlabelled vertex to a labelled
        one."""
        assert name == "steep-arcs"
        return self._engine.steep_steps(labels, back=True)

    def path_pieces(self, labels: Column, source: int) -> Iterator[np.ndarray]:
        """A path along arcs, source first."""
        return self._engine.path_pieces(labels, source)

    def all_edges_exist(self, tails: np.ndarray, heads: np.ndarray) -> bool:
        """Whether all pairs are arcs."""
        return self._engine.all_arcs_exist(tails, heads)
