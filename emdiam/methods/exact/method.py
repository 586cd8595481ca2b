"""What all exact methods share: components one after another, bounds, limits, and the result.

A method is a subclass of ExactMethod that solves one connected component. This class goes through the components: the
one with the most vertices first, with a bound of its own, because its diameter is reported; any other only while it can
hold a longer distance than the longest so far. An unexplored component of s vertices has a diameter of at most s - 1;
one with a vertex of eccentricity e has at most 2e.

Bytes: labels, 4 for each vertex of further components with an edge, beside what the method keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..._version import __version__
from ...engine.interface import Components, Engine, max_degree_vertex
from ...errors import DisconnectedError, InputError, StateLost, StoppedEarly
from ...progress import TimeOver, timed
from ...stream.counters import Counters
from ...traverse.columns import PIECE, Column
from ...traverse.components import Component
from ..definition import MethodOptions
from .component_list import MOST_LISTED, ComponentList
from .result import Result, Traversals, Witness
from .witness import KeptLabels, check_witness

UNKNOWN = -1
# Sources of a batch, at most: lists of so many take no memory that a plan would have to know of.
MOST_BATCH = 1 << 16


@dataclass
class Best:
    """The longest distance so far, over all components, and its pair; target may be UNKNOWN."""

    length: int = 0
    source: int = 0
    target: int = 0


@dataclass
class Eccentricity:
    """A complete BFS. farthest : smallest vertex at the largest distance. distances : Column, if it
    was asked for and not taken."""

    source: int
    eccentricity: int
    farthest: int
    n_reached: int
    distances: Column | None = None

    def take_distances(self) -> Column:
        """The distances, which are then no longer kept here."""
        column, self.distances = self.distances, None
        if column is None:
            raise ValueError("this BFS has no distances")
        return column


@dataclass
class Stages:
    """Counts for Result.traversals, and wall seconds by stage."""

    bfs: int = 0
    multi_source: int = 0
    multi_source_sources: int = 0
    partial: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Add the wall time of the block to `stage`."""
        return timed(self.seconds, stage)

    def traversals(self) -> Traversals:
        return Traversals(self.bfs, self.multi_source, self.multi_source_sources, self.partial)


class Enough(Exception):
    """The component's interval is what was asked for; args[0] says why. Caught by ExactMethod."""


def path_middle(engine: Engine, distances: Column, target: int, length: int, *, by_rank: bool = False) -> int:
    """The vertex floor(length / 2) steps from `target` on a shortest path to the source of
    `distances`, which is `length` away. by_rank : see Engine.path_pieces."""
    steps = length // 2
    for piece in engine.path_pieces(distances, target, by_rank=by_rank):
        if steps < len(piece):
            return int(piece[steps])
        steps -= len(piece)
    raise AssertionError("the path is shorter than the distance")


def check_batch(batch: int) -> None:
    """Raises InputError for a batch without a source, and for one of too many."""
    if not 1 <= batch <= MOST_BATCH:
        raise InputError(f"a batch has 1 to {MOST_BATCH} sources", text=str(batch))


@dataclass(frozen=True)
class BatchOptions(MethodOptions):
    """batch : sources of one multi-source BFS (1: plain BFS)."""

    batch: int = 1

    def __post_init__(self) -> None:
        check_batch(self.batch)


class ExactMethod:
    """One run of an exact method on an engine; `solver` makes the Result.

    A subclass has `name`, and `_solve_component`; it may have `_start`, `_prepare`, `_release`, `_details`, `_facts`, a
    larger Stages, and `keeps_distances` when the first BFS of a component shall come with its distances. One that does
    not look at component labels sets `needs_labels` to False, and they are freed where that can be.

    component : the one at hand; reported : it is the largest, whose diameter is told. lower_here, upper_here : proved
    interval of its diameter; eccentricity() keeps them, and a method may lower upper_here further.
    """

    name: ClassVar[str] = ""
    keeps_distances: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = True
    options: Any

    def __init__(self, engine: Engine, options: MethodOptions) -> None:
        limits = options.limits
        if (limits.gap or 0) < 0 or (limits.seconds or 0) < 0:
            raise InputError("a limit cannot be negative", text=str(limits))
        if not 0 <= options.components <= MOST_LISTED:
            raise InputError(f"0 to {MOST_LISTED:,} components can be listed", text=str(options.components))
        self.engine, self.options, self.limits, self.gap = engine, options, limits, limits.gap or 0
        self.deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
        self.best, self.kept = Best(), KeptLabels(getattr(options, "scratch", None))
        self.stages = self._new_stages()
        self.components: Components | None = None
        self.components_known = False
        self.component: Component | None = None
        self.lower_here, self.upper_here = 0, max(0, engine.facts.n_vertices - 1)
        self.enough: str | None = None
        self.not_written: list[str] = []
        self.reported = False
        self._waiting: list[Component] = []
        self._listed = ComponentList(engine.store)
        self._alone = False  # whether the diameter of the component at hand is wanted, however short
        self._largest = (0, self.upper_here)
        self._largest_size: int | None = None
        self._unreachable: int | None = None  # pairs of vertices without a path
        self._upper_rest = self.upper_here  # of components that were not begun
        self._upper_left = 0  # of components that are done with

    # -- what a method is -----------------------------------------------------------------------
    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        """Prove and return max(floor, diameter of the component), given the BFS from its hub.

        floor : what its diameter must exceed to matter (0 when it is to be reported). The longest
        pair must be in self.best when it is longer than the floor, as eccentricity() sees to.
        """
        raise AssertionError("a method solves components")

    def _start(self) -> int:
        """Where the first BFS begins; there is an edge."""
        return max_degree_vertex(self.engine)

    def _prepare(self, largest: int) -> None:
        """Allocate; `largest` is the largest diameter that any component may have."""

    def _release(self) -> None:
        """Free what was allocated; the answer stays."""

    def _details(self) -> dict[str, Any]:
        """For Result.details."""
        return {}

    def _facts(self) -> dict[str, Any]:
        """For progress events, beside the bounds."""
        return {}

    def _new_stages(self) -> Stages:
        return Stages()

    # -- what a method uses ---------------------------------------------------------------------
    def eccentricity(self, vertex: int, distances: bool = False, into: Column | None = None) -> Eccentricity:
        """A counted BFS from `vertex`, which updates the longest pair and the bounds here. distances, into : as in
        Engine.bfs. Raises what checkpoint() raises, before the BFS."""
        self.checkpoint()
        with self.stages.timed("eccentricity"):
            self.tick("bfs")
            run = self.engine.bfs(vertex, distances=distances or into is not None, into=into)
            self.stages.bfs += 1
        assert run.eccentricity is not None
        self.record(run.eccentricity, vertex, run.farthest)
        return Eccentricity(vertex, run.eccentricity, run.farthest, run.n_reached, run.distances)

    def eccentricities(
        self, sources: np.ndarray, *, columns: Sequence[Column] | None = None, targets: np.ndarray | None = None
    ) -> np.ndarray:
        """A counted multi-source BFS from `sources` (int64[k]); see Engine.eccentricities. One from a
        single source counts as a BFS.

        Updates the longest pair and, where all are eccentricities because there are no `targets`,
        the upper bound. Raises what checkpoint() raises, before the BFS.
        """
        self.checkpoint()
        with self.stages.timed("eccentricity"):
            self.tick("multi-source")
            result = self.engine.eccentricities(sources, targets=targets, columns=columns)
        if len(sources) == 1:
            self.stages.bfs += 1
        else:
            self.stages.multi_source += -(-len(sources) // self.engine.facts.batch_bits)
            self.stages.multi_source_sources += len(sources)
        at = int(result.argmax())
        self.longer(int(result[at]), int(sources[at]), UNKNOWN)
        if targets is None:
            self.upper_here = min(self.upper_here, 2 * int(result.min()))
        return result

    def record(self, eccentricity: int, source: int, farthest: int) -> None:
        """The eccentricity of `source`, a vertex of the component at hand, is known."""
        self.longer(eccentricity, source, farthest)
        self.upper_here = min(self.upper_here, 2 * eccentricity)

    def longer(self, length: int, source: int, target: int) -> None:
        """Two vertices of the component at hand are `length` apart."""
        if length > self.best.length:
            self.best = Best(length, source, target)
        self.lower_here = max(self.lower_here, length)

    def checkpoint(self) -> None:
        """Call it between traversals: raises Enough when the interval is as narrow as asked for,
        and ends the run with StoppedEarly when the time is over."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            raise TimeOver
        if self.component is None or self.limits.gap is None:
            return
        lower = self.lower_here if self._alone else self.best.length
        if self.upper_here - lower <= self.gap:
            raise Enough("gap")

    def tick(self, phase: str) -> None:
        """Report progress, with the bounds so far."""
        self.engine.reporter.tick(phase, lower=self.best.length, upper=self.upper(), **self._facts())

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Solve every component that matters; fills self.best and the bounds."""
        engine = self.engine
        if engine.facts.n_arcs == 0:
            self.know_components()
            self._largest = (0, 0)
            self._largest_size = min(1, engine.facts.n_vertices)
            self._unreachable = _pairs(engine.facts.n_vertices)
            self.upper_here = self._upper_rest = 0
            return
        start = self._start()
        first = self.eccentricity(start, self.keeps_distances)
        with self.stages.timed("components"):
            self.tick("components")
            self.components = engine.components(start)
        self.know_components()
        self._unreachable = _pairs(engine.facts.n_vertices) - _pairs(first.n_reached) - (
            self.components.n_pairs() if self.components else 0)
        others = self.components.largest_size() if self.components else 0
        self.upper_here, self._upper_rest = 2 * first.eccentricity, max(0, others - 1)
        of_start = Component(start, 0, engine.facts.n_vertices - 1, first.n_reached, start)
        rival = self._larger_rival(start, first.n_reached)
        self._largest_size = first.n_reached if rival is None else rival.size
        self._list_components([of_start] if rival is None else [of_start, rival])
        if self.components is not None and not self.needs_labels:
            self.components.compact(self.best.length + 1 + self.gap)
        if not self.limits.bounds_only:
            self._prepare(min(engine.facts.n_vertices - 1, max(2 * first.eccentricity, others - 1)))
        if rival is None:
            self._largest = (first.eccentricity, self.upper_here)
            self._run_component(of_start, first, reported=True)
        else:
            self._largest = (0, rival.size - 1)
            self._upper_rest = max(self.upper_here, self._rest_size() - 1)
            first.distances = None
            self._run_component(rival, None, reported=True)
            self._upper_rest = self._rest_size() - 1
            self._run_component(of_start, first, reported=False)
        self._run_others()
        self._upper_rest = max(0, self._rest_size() - 1)
        if self.enough is None and self.upper() > self.best.length:
            self.enough = "gap"  # components were left out that could exceed the longest distance by that little

    def know_components(self) -> None:
        """The number of components is known from now on. Raises DisconnectedError if there must be one alone."""
        self.components_known = True
        number = self.n_components()
        if self.limits.connected and number != 1:
            raise DisconnectedError(f"the graph is disconnected: it has {number:,} components",
                               remedy="leave --require-connected out for the largest diameter of any component")

    def _list_components(self, taken: list[Component]) -> None:
        """Begin the list that was asked for, if one was. taken : those that are solved anyway, the largest among
        them."""
        limit = self.options.components
        if limit and self.components is not None:
            self._waiting += self.components.larger_than(1, most=limit)
        if limit:
            self._listed = ComponentList(self.engine.store, [*taken, *self._waiting], limit)

    def _rest_size(self) -> int:
        left = self.components.largest_size() if self.components else 0
        return max([left, *(component.size for component in self._waiting)])

    def _larger_rival(self, start: int, size: int) -> Component | None:
        """The component with the most vertices (ties: the smallest vertex) unless it is that of
        `start`, which has `size` vertices."""
        if self.components is None or self._rest_size() < size:
            return None
        rival = self.components.larger_than(self._rest_size() - 1, most=1)[0]
        if rival.size > size:
            return rival
        for first in range(0, rival.root, PIECE):
            part = self.components.labels[first : min(first + PIECE, rival.root)]
            alike = np.flatnonzero(part == self.components.reached_label) + first
            if self.engine.degrees(alike).any():  # not isolated ones alone
                self._waiting.append(rival)
                return None
        return rival

    def _run_others(self) -> None:
        """Components that could hold a longer distance; the bound over all components prunes."""
        while self.components is not None:
            batch = self._waiting or self.components.larger_than(self.best.length + 1 + self.gap)
            self._waiting = []
            if not batch:
                return
            for component in batch:
                self._upper_rest = component.size - 1
                if component not in self._listed and component.size - 1 <= self.best.length + self.gap:
                    self._upper_left = max(self._upper_left, component.size - 1)
                    break
                self._run_component(component, None, reported=False)

    def _run_component(self, component: Component, first: Eccentricity | None, reported: bool) -> None:
        """One component. reported : its diameter is reported."""
        self.component, self.reported, self.lower_here = component, reported, 0
        self._alone = reported or component in self._listed
        self.upper_here = component.size - 1
        try:
            if first is not None:
                self.record(first.eccentricity, first.source, first.farthest)
            if first is None or (self.keeps_distances and first.distances is None):
                first = self.eccentricity(component.hub, self.keeps_distances)
            floor = 0 if self._alone else self.best.length
            if self._alone or 2 * first.eccentricity > floor + self.gap:
                if self.limits.bounds_only:
                    self._bound_component(first)
                self.upper_here = min(self.upper_here, self._solve_component(component, first, floor))
        except Enough as enough:
            self.enough = str(enough)
        if reported:
            self._largest = (self.lower_here, self.upper_here)
        self._listed.narrow(component, self.lower_here, self.upper_here)
        self._upper_left = max(self._upper_left, self.upper_here)
        self.component, self.reported, self.upper_here = None, False, 0

    def _bound_component(self, first: Eccentricity) -> None:
        first.distances = None
        second = self.eccentricity(first.farthest, distances=True)
        if self.upper_here > self.best.length:
            assert second.distances is not None
            self.eccentricity(path_middle(self.engine, second.distances, second.farthest, second.eccentricity))
        raise Enough("bounds")

    def name_target(self) -> None:
        """A BFS from the longest pair's source, if a multi-source BFS found it without its target."""
        if self.best.target == UNKNOWN:
            run, self.stages.bfs = self.engine.bfs(self.best.source), self.stages.bfs + 1
            self.kept.hold(self.best.source, run.distances)
            # A multi-source BFS that stopped at its targets may not have seen the whole eccentricity.
            self.best = Best(run.levels, self.best.source, run.farthest)

    def release(self) -> None:
        """Free labels and what the method holds; the answer stays."""
        if self.components is not None:
            self.components.release()
        self._release()

    # -- the answer -----------------------------------------------------------------------------
    def upper(self) -> int:
        """Proved upper bound on the largest distance, over all components."""
        return max(self.best.length, self.upper_here, self._upper_rest, self._upper_left)

    def interval_largest(self) -> tuple[int, int]:
        """Proved interval of the diameter of the component with the most vertices."""
        return (self.lower_here, self.upper_here) if self.reported else self._largest

    def n_components(self) -> int | None:
        """Number of components, isolated vertices included; None while unknown."""
        if not self.components_known:
            return None
        others = self.components.n_others if self.components else 0
        return self.engine.facts.n_isolated + others + (1 if self.engine.facts.n_arcs else 0)

    # -- its result -----------------------------------------------------------------------------
    def result(self, before: Counters, begin: float) -> Result:
        """What is proved so far, without a witness. before : counters, begin : time.perf_counter(), when the method
        began."""
        engine, stages = self.engine, self.stages
        used = engine.reporter.stats() - before
        listed = {"components": self._listed.rows()} if self.options.components else {}
        components = self.n_components()
        elapsed = time.perf_counter() - begin
        lower, upper = self.interval_largest()
        return Result(
            method=self.name, n_vertices=engine.facts.n_vertices, n_edges=engine.facts.n_arcs // 2,
            connected=None if components is None else components == 1, n_components=components, diameter=None,
            diameter_largest_component=lower if lower == upper else None, diameter_max_component=None,
            lower=self.best.length, upper=self.upper(), exact=False, witness=None,
            traversals=stages.traversals(), levels=used.levels, edges_scanned=used.edges_scanned,
            bytes_read=used.bytes_read, seconds={"total": elapsed, "solve": elapsed, "verify": 0.0},
            version=__version__,
            details={**self._details(), "stage_seconds": dict(stages.seconds),
                     "interval_largest_component": [lower, upper], "vertices_largest_component": self._largest_size,
                     "unreachable_pairs": self._unreachable, **listed, "counters": used.to_dict()})

    def stopped(self, before: Counters, begin: float) -> Result:
        """The result of a run that ends early; a traversal has a vertex, unnamed, at the last level it finished."""
        self.longer(max(self.limits.known, self.engine.reporter.level or 0), UNKNOWN, UNKNOWN)
        return self.result(before, begin)

    def check(self) -> Witness | None:
        """The witness of the longest pair, checked. Raises EmdiamError if it does not hold."""
        self.tick("verify")  # with the bounds as they are at the end
        best, labels = self.best, self.kept.labels(self.best.source)
        return check_witness(self.engine, best.target, best.source, best.length, self.options.path_file,
                             self.not_written, labels)

    def conclude(self, result: Any) -> None:
        """Complete the result at the end."""
        result.exact, result.not_written = result.lower == result.upper, self.not_written
        if result.exact:
            result.diameter_max_component = self.best.length
            result.diameter = self.best.length if result.connected else None
        if self.enough and (not result.exact or result.diameter_largest_component is None):
            result.details["enough"] = self.enough


def _pairs(n_vertices: int) -> int:
    """Unordered pairs of so many vertices."""
    return n_vertices * (n_vertices - 1) // 2


@contextmanager
def stopping(interim: Callable[[], Result]) -> Iterator[None]:
    """Turns Ctrl-C, the end of the time and the loss of workers into StoppedEarly with the interval so far."""
    try:
        yield
        return
    except KeyboardInterrupt:
        why = "stopped by the user"
    except TimeOver:
        why = "the time limit is over"
    except StateLost as lost:
        why = str(lost)
    result = interim()
    raise StoppedEarly(f"{why}; {result.lower:,} <= D <= {result.upper:,} is proved", result)


def solver(kind: type[ExactMethod], options_type: type[MethodOptions]) -> Callable[..., Any]:
    """solve(engine, options=None) -> the Result of the method, with the witness of its lower bound, which is checked.
    options : an `options_type`.

    It is exact unless the limits asked for less. Raises InputError for a graph without vertices (its diameter is
    undefined), StoppedEarly with `result` (the interval so far, without a witness) on Ctrl-C and at the end of the
    time, EmdiamError if the witness does not check out.
    """
    def solve(engine: Engine, options: MethodOptions | None = None) -> Any:
        method = kind(engine, options or options_type())
        reporter = method.engine.reporter
        if method.engine.facts.n_vertices == 0:
            raise InputError("the graph has no vertices, so its diameter is undefined")
        begin, before = time.perf_counter(), reporter.stats()
        with stopping(lambda: method.stopped(before, begin)):
            method.solve()
            solved = time.perf_counter()
            method.release()
            method.name_target()
            witness = method.check()
        result = method.result(before, begin)
        result.witness = witness
        result.seconds["solve"], result.seconds["verify"] = solved - begin, time.perf_counter() - solved
        method.conclude(result)
        return result

    return solve
