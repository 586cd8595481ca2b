"""The common part of all exact methods: components one after another, bounds, limits, and the result.

A method is a subclass of ExactMethod that solves one connected component. This class goes through the components. The
one with the most vertices comes first, with separate bounds, because its diameter is reported; any other is solved only
while it may have a longer distance than the longest so far. An unexplored component of s vertices has a diameter of at
most s - 1; one with a vertex of eccentricity e, at most 2e.

Bytes: labels, 4 for each vertex of further components with an edge, beside the memory of the method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ...engine.interface import Engine, max_degree_vertex
from ...errors import DisconnectedError, InputError
from ...store.store import Store
from ...stream.counters import Counters
from ...traverse.columns import PIECE, Column
from ...traverse.components import Component, Components
from ..metric import HopMetric
from ..run import UNKNOWN, Best, MethodOptions, MethodRun
from ..witness import KeptLabels

# The largest number of components that may be listed.
MOST_LISTED = 1 << 16


class ComponentList:
    """A list of components with the bounds of their diameters, some of which may be solved. components : the largest
    ones, in any order. limit : maximal length of the list."""

    def __init__(self, store: Store, components: Sequence[Component] = (), limit: int = 0) -> None:
        listed = sorted(components, key=lambda component: (-component.size, component.root))[:limit]
        names = store.user_ids(np.array([component.hub for component in listed], np.int64)) if listed else []
        self._rows: dict[int, dict[str, Any]] = {
            component.root: {"vertex": name, "vertices": component.size, "lower": min(1, component.size - 1),
                             "upper": component.size - 1}
            for component, name in zip(listed, names, strict=True)}

    def __contains__(self, component: Component) -> bool:
        return component.root in self._rows

    def narrow(self, component: Component, lower: int, upper: int) -> None:
        """Set the proved bounds of a component's diameter, if it is listed."""
        if component in self:
            self._rows[component.root].update(lower=lower, upper=upper)

    def rows(self) -> list[dict[str, Any]]:
        """For JSON, the largest first: vertex (the user's id of a vertex of largest degree), vertices, lower, upper."""
        return list(self._rows.values())


# The most sources of a batch: lists of this length need no place in the memory plan.
MOST_BATCH = 1 << 16
# The component between two components.
NOWHERE = Component(-1, 0, -1, 0, -1)


@dataclass
class Eccentricity:
    """A complete BFS. farthest : smallest vertex at the largest distance. distances : Column, if asked for and not yet
    taken. level_counts : vertices of each level, if asked for."""

    source: int
    eccentricity: int
    farthest: int
    n_reached: int
    distances: Column | None = None
    level_counts: Sequence[int] = ()

    def take_distances(self) -> Column:
        """The distances, which this object then no longer refers to."""
        column, self.distances = self.distances, None
        if column is None:
            raise ValueError("this BFS has no distances")
        return column


class Enough(Exception):
    """The component's interval is as narrow as demanded; args[0] says why. Caught by ExactMethod."""


def path_middle(engine: Engine, distances: Column, target: int, length: int, *, by_rank: bool = False) -> int:
    """The vertex floor(length / 2) steps from `target` on a shortest path to the source of
    `distances`, whose distance is `length`. by_rank : see Engine.path_pieces."""
    steps = length // 2
    for piece in engine.path_pieces(distances, target, by_rank=by_rank):
        if steps < len(piece):
            return int(piece[steps])
        steps -= len(piece)
    raise AssertionError("the path is shorter than the distance")


def check_batch(batch: int) -> None:
    """Raise InputError for a batch without a source, or with too many."""
    if not 1 <= batch <= MOST_BATCH:
        raise InputError(f"a batch has 1 to {MOST_BATCH} sources", text=str(batch))


@dataclass(frozen=True)
class BatchedOptions(MethodOptions):
    """batch : sources of one multi-source BFS (1: plain BFS)."""

    batch: int = 1

    def __post_init__(self) -> None:
        check_batch(self.batch)


class ExactMethod(MethodRun):
    """One run of an exact method on an engine; `solved` makes the Result.

    A subclass has `name` and `_solve_component`. It may have `_start`, `_prepare`, `release`, `_details`, `_facts`,
    larger stage_counts, `keeps_distances` if it needs the distances of the first BFS of a component, and
    `counts_levels` while BFS should count the vertices of their levels. A method that does not use component labels
    sets `needs_labels` to False, and they are freed if possible.

    component : the current one. span : a range that contains its vertices, begin and end. reported : whether it is the
    largest, whose diameter is reported. lower_here, upper_here : proved interval of its diameter; eccentricity()
    updates them, and a method may lower upper_here further.
    """

    keeps_distances: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = True
    counts_levels = False
    metric: HopMetric
    component: Component

    def __init__(self, metric: HopMetric, options: MethodOptions) -> None:
        super().__init__(metric, options)
        if not 0 <= options.components <= MOST_LISTED:
            raise InputError(f"0 to {MOST_LISTED:,} components can be listed", text=str(options.components))
        engine = self.engine = metric.engine
        self.kept = KeptLabels(getattr(options, "scratch", None), engine.facts.spare_bytes)
        self.components: Components | None = None
        self.components_known = self.reported = False
        self.component = NOWHERE
        self.lower_here, self.upper_here = 0, max(0, engine.facts.n_vertices - 1)
        self.n_solved = 0  # components with a BFS
        self._waiting: list[Component] = []
        self._listed = ComponentList(engine.store)
        self._alone = False  # whether the diameter of the current component is wanted, however short
        self._largest = (0, self.upper_here)
        self._largest_size: int | None = None
        self._several_largest = None if engine.facts.n_arcs else engine.facts.n_vertices > 1
        self._unreachable: int | None = None  # pairs of vertices without a path
        self._upper_rest = self.upper_here  # of components not yet begun
        self._upper_left = 0  # of finished components

    # -- to be defined by subclasses ------------------------------------------------------------
    def _solve_component(self, component: Component, first: Eccentricity, floor: int) -> int:
        """Prove and return max(floor, diameter of the component), given the BFS from its hub.

        floor : the diameter matters only above it (0 when it is reported). If the longest pair is longer than the
        floor, it must be in self.best; eccentricity() puts it there.
        """
        raise AssertionError("a method solves components")

    def _start(self) -> int:
        """The source of the first BFS; there is an edge."""
        return max_degree_vertex(self.engine)

    def _prepare(self, largest: int) -> None:
        """Allocate memory; `largest` is the largest possible diameter of any component."""

    def _release(self) -> None:
        """Free the allocated memory, but not the answer."""

    @property
    def span(self) -> tuple[int, int]:
        """A range that contains the vertices of the current component, begin and end."""
        return self.component.first, self.component.last + 1

    # -- for methods ----------------------------------------------------------------------------
    def eccentricity(self, vertex: int, distances: bool = False, into: Column | None = None) -> Eccentricity:
        """A counted BFS from `vertex`, which updates the longest pair and the bounds here. distances, into : as in
        Engine.bfs. Raises what checkpoint() raises, before the BFS."""
        self.checkpoint()
        with self.stages.timed("eccentricity"):
            self.tick("bfs")
            run = self.metric.search(vertex, distances=distances or into is not None, into=into,
                                     profile=self.counts_levels)
            self.stages.bfs += 1
        assert run.eccentricity is not None
        self.record(run.eccentricity, vertex, run.farthest)
        return Eccentricity(vertex, run.eccentricity, run.farthest, run.n_reached, run.distances, run.level_counts)

    def eccentricities(
        self, sources: np.ndarray, *, columns: Sequence[Column] | None = None, targets: np.ndarray | None = None,
        apart: bool = False
    ) -> np.ndarray:
        """A counted multi-source BFS from `sources` (int64[k]); see Engine.eccentricities. One from a
        single source counts as a BFS, and so does each source if they are traversed `apart` (Facts.apart).

        Updates the longest pair, and without `targets`, when all results are eccentricities, the upper bound. Raises
        what checkpoint() raises, before the BFS.
        """
        self.checkpoint()
        with self.stages.timed("eccentricity"):
            self.tick("multi-source")
            result = self.engine.eccentricities(sources, targets=targets, columns=columns)
        if len(sources) == 1 or apart:
            self.stages.bfs += len(sources)
        else:
            self.stages.multi_source += -(-len(sources) // self.engine.facts.batch_bits)
            self.stages.multi_source_sources += len(sources)
        at = int(result.argmax())
        self.longer(int(result[at]), int(sources[at]), UNKNOWN)
        if targets is None:
            self.upper_here = min(self.upper_here, 2 * int(result.min()))
        return result

    def middle_of(self, run: Eccentricity) -> int:
        """The vertex halfway between the source of `run` and the vertex farthest from it; takes its distances."""
        return path_middle(self.engine, run.take_distances(), run.farthest, run.eccentricity)

    def record(self, eccentricity: int, source: int, farthest: int) -> None:
        """Note the eccentricity of `source`, a vertex of the current component."""
        self.longer(eccentricity, source, farthest)
        self.upper_here = min(self.upper_here, 2 * eccentricity)

    def longer(self, length: int, source: int, target: int) -> None:
        """Note that two vertices of the current component are `length` apart."""
        if length > self.best.length or Best(length, source, UNKNOWN) == self.best:
            self.best = Best(length, source, target)
        self.lower_here = max(self.lower_here, length)

    def checkpoint(self) -> None:
        """To be called between traversals. Raises Enough when the interval is as narrow as demanded,
        and ends the run with StoppedEarly when the time is over."""
        self.check_time()
        if self.component is NOWHERE or self.limits.gap is None:
            return
        lower = self.lower_here if self._alone else self.best.length
        if self.upper_here - lower <= self.gap:
            raise Enough("gap")

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Solve every component that matters; sets self.best and the bounds."""
        engine = self.engine
        if engine.facts.n_arcs == 0:
            self.know_components()
            self._largest, self._largest_size = (0, 0), min(1, engine.facts.n_vertices)
            self._list_components([])
            self._unreachable = _pairs(engine.facts.n_vertices)
            self.upper_here = self._upper_rest = 0
            return
        start = self._start()
        first = self.eccentricity(start, self.keeps_distances)
        with self.stages.timed("components"):
            self.tick("components")
            self.components = self.metric.components(start)
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
            self.enough = "gap"  # components were left out that could exceed the longest distance by at most the gap

    def know_components(self) -> None:
        """Note that the number of components is known. Raises DisconnectedError if there must be only one."""
        self.components_known = True
        number = self.n_components()
        if self.limits.connected and number != 1:
            raise DisconnectedError(f"the graph is disconnected: it has {number:,} components",
                               remedy="leave --require-connected out for the largest diameter of any component")

    def _list_components(self, taken: list[Component]) -> None:
        """Begin the list of components, if asked for. taken : components that are solved anyway, among them the
        largest."""
        limit = self.options.components
        if limit and self.components is not None:
            self._waiting += self.components.larger_than(1, most=limit)
        if limit:
            isolated = (v for part in self.engine.vertices_of_degree(0) for v in part.tolist())
            listed = [*taken, *self._waiting]
            alone = [Component(v, v, v, 1, v) for v in islice(isolated, max(0, limit - len(listed)))]
            self._listed = ComponentList(self.engine.store, listed + alone, limit)

    def _rest_size(self) -> int:
        left = self.components.largest_size() if self.components else 0
        return max([left, *(component.size for component in self._waiting)])

    def _larger_rival(self, start: int, size: int) -> Component | None:
        """The component with the most vertices (ties: the smallest vertex) unless it is that of
        `start`, which has `size` vertices."""
        rest = self._rest_size()
        self._several_largest = rest == size
        if self.components is None or rest < size:
            return None
        rival = self.components.larger_than(rest - 1, most=1)[0]
        if rival.size > size:
            self._several_largest = self._rest_size() == rival.size
            return rival
        for first in range(0, rival.root, PIECE):
            part = self.components.labels[first : min(first + PIECE, rival.root)]
            alike = np.flatnonzero(part == self.components.reached_label) + first
            if self.engine.degrees(alike).any():  # not only isolated vertices
                self._waiting.append(rival)
                return None
        return rival

    def _run_others(self) -> None:
        """Solve components that may have a longer distance, pruned by the bound over all components."""
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
        """Solve one component. reported : whether its diameter is reported."""
        self.component, self.reported, self.lower_here = component, reported, 0
        self.n_solved += 1
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
        self.component, self.reported, self.upper_here = NOWHERE, False, 0

    def _bound_component(self, first: Eccentricity) -> None:
        first.distances = None
        second = self.eccentricity(first.farthest, distances=True)
        if self.upper_here > self.best.length:
            self.eccentricity(self.middle_of(second))
        raise Enough("bounds")

    def name_target(self) -> None:
        """A BFS from the longest pair's source, if a multi-source BFS found it without its target."""
        if self.best.target == UNKNOWN:
            run, self.stages.bfs = self.metric.search(self.best.source), self.stages.bfs + 1
            self.kept.hold(self.best.source, run.distances)
            # A multi-source BFS that stopped at its targets may not have seen the whole eccentricity.
            self.best = Best(run.levels, self.best.source, run.farthest)

    def release(self) -> None:
        """Free labels and the memory of the method, but not the answer."""
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
    def details(self, used: Counters) -> dict[str, Any]:
        """See MethodRun."""
        listed = {"components": self._listed.rows()} if self.options.components else {}
        counted = super().details(used)
        counters = counted.pop("counters")
        return {**counted, "interval_largest_component": list(self.interval_largest()),
                "vertices_largest_component": self._largest_size,
                "several_largest_components": self._several_largest, "unreachable_pairs": self._unreachable, **listed,
                "counters": counters}

    def stopped(self) -> Any:
        """See MethodRun; the last level that a traversal finished has a vertex, not named."""
        self.longer(max(self.limits.known, self.engine.reporter.level or 0), UNKNOWN, UNKNOWN)
        return super().stopped()

    def kept_labels(self) -> Column | None:
        """See MethodRun."""
        return self.kept.labels(self.best.source)

    def conclude(self, result: Any) -> None:
        """See MethodRun."""
        super().conclude(result)
        if self.enough and (not result.exact or result.diameter_largest_component is None):
            result.details["enough"] = self.enough


def _pairs(n_vertices: int) -> int:
    """Number of unordered pairs of n_vertices vertices."""
    return n_vertices * (n_vertices - 1) // 2
