"""What distances count: edges (HopMetric), arcs (directed/metric.py), or sums of weights (weighted/metric.py).

A run (run.py) adds and compares lengths as whole numbers of a unit, and asks its metric for all that depends on what
they count: searches, the components that they stay within, how lengths are told, and the check of a longest pair. A
further metric is a class here or beside these, and a row of runs/registry.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..engine.interface import Engine, Traversal
from ..store.store import Store
from ..stream.counters import Counters
from ..traverse.components import Components
from .result import Witness
from .witness import check_witness

if TYPE_CHECKING:
    from .run import MethodRun


class Metric(ABC):
    """n_vertices, n_edges : of the graph; arcs, where these count. store : of the ids of the answer; None where it has
    none. seconds : wall seconds of a run by stage."""

    n_vertices: int
    n_edges: int
    store: Store | None = None

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @abstractmethod
    def search(self, source: Any, *how: Any, **more: Any) -> Any:
        """Distances from a vertex, and the vertex farthest from it; or from one in each of some components."""

    @abstractmethod
    def components(self, start: int) -> Any:
        """The components of the graph, as the runs of this metric go through them. start : where a run begins."""

    @abstractmethod
    def check(self, run: MethodRun) -> Witness | None:
        """The longest pair of a run, found again and proved. Raises EmdiamError if it does not hold (a fault of
        ours)."""

    @abstractmethod
    def used(self) -> Counters:
        """What searches did so far."""

    @abstractmethod
    def tick(self, phase: str, **facts: Any) -> None:
        """A sign of life; facts : lower and upper in units, and others."""

    def number(self, length: int) -> Any:
        """A length in units as the number that users see."""
        return length

    def fields(self) -> dict[str, Any]:
        """Of every result along this metric."""
        return {}

    def facts(self) -> dict[str, Any]:
        """For the details of every result."""
        return {}

    def proved(self, lower: int, upper: int) -> tuple[int, int]:
        """Bounds on lengths of the graph, from those on lengths as searches have them."""
        return lower, upper

    def most(self, steps: int) -> int:
        """No path of so many edges is longer."""
        return steps


class HopMetric(Metric):
    """Numbers of edges, on an engine."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine, self.store = engine, engine.store
        self.n_vertices, self.n_edges = engine.facts.n_vertices, engine.facts.n_arcs // 2

    @property
    def search(self) -> Callable[..., Traversal]:
        """A BFS; see Engine.bfs."""
        return self.engine.bfs

    def components(self, start: int) -> Components | None:
        """Those beside that of `start`, from which the last BFS came; see Engine.components."""
        return self.engine.components(start)

    def check(self, run: MethodRun) -> Witness | None:
        """See check_witness; by labels that were kept."""
        best = run.best
        return check_witness(self.engine, best.target, best.source, best.length, run.options.path_file,
                             run.not_written, run.kept_labels())

    def used(self) -> Counters:
        """See Metric."""
        return self.engine.reporter.stats()

    def tick(self, phase: str, **facts: Any) -> None:
        """See Metric."""
        self.engine.reporter.tick(phase, **facts)
