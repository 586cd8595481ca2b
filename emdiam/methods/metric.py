"""The meaning of distances: numbers of edges (HopMetric), of arcs (directed/metric.py), or sums of weights
(weighted/metric.py).

A run (run.py) adds and compares lengths as whole numbers of a unit. It leaves to its metric all that depends on their
meaning: searches, the components that they stay within, the display of lengths, and the check of a longest pair. A
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
    """n_vertices, n_edges : of the graph; arcs, if distances follow them. store : for the ids of the answer; None if
    there is none. seconds : wall seconds of a run by stage."""

    n_vertices: int
    n_edges: int
    store: Store | None = None

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @abstractmethod
    def search(self, source: Any, *how: Any, **more: Any) -> Any:
        """Distances from a vertex, and the vertex farthest from it; or from one vertex in each of some components."""

    @abstractmethod
    def components(self, start: int) -> Any:
        """The components of the graph, in the form that runs of this metric use. start : where a run begins."""

    @abstractmethod
    def check(self, run: MethodRun) -> Witness | None:
        """The longest pair of a run, found again and proved. Raises EmdiamError if it does not hold (a fault of
        emdiam)."""

    @abstractmethod
    def used(self) -> Counters:
        """The work of all searches so far."""

    @abstractmethod
    def tick(self, phase: str, **facts: Any) -> None:
        """Report progress. facts : lower and upper in units, and others."""

    def number(self, length: int) -> Any:
        """A length in units as the number shown to users."""
        return length

    def fields(self) -> dict[str, Any]:
        """Fields of every result along this metric."""
        return {}

    def facts(self) -> dict[str, Any]:
        """Entries for the details of every result."""
        return {}

    def proved(self, lower: int, upper: int) -> tuple[int, int]:
        """Bounds on lengths of the graph, from bounds on the lengths of searches."""
        return lower, upper

    def most(self, steps: int) -> int:
        """An upper bound on the length of a path with `steps` edges."""
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
        """The components other than that of `start`, the source of the last BFS; see Engine.components."""
        return self.engine.components(start)

    def check(self, run: MethodRun) -> Witness | None:
        """See check_witness; uses stored labels if there are any."""
        best = run.best
        return check_witness(self.engine, best.target, best.source, best.length, run.options.path_file,
                             run.not_written, run.kept_labels())

    def used(self) -> Counters:
        """See Metric."""
        return self.engine.reporter.stats()

    def tick(self, phase: str, **facts: Any) -> None:
        """See Metric."""
        self.engine.reporter.tick(phase, **facts)
