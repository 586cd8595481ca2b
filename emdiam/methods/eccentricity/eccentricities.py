"""All eccentricities, by bounds from few full traversals.

After a traversal from s: max(d, ecc(s) - d) <= ecc(v) <= d + ecc(s), with d = d(v, s). The next source is the open
vertex with the smallest lower bound (ties: highest degree, then smallest vertex). As long as lower bounds are
eccentricities no source is wasted: if another vertex proved the upper bound of the source, it would have a smaller
eccentricity, so it would be closed, and the traversal that closed it would have closed the source too. If the
eccentricity of a source exceeds its lower bound, lower bounds are loose there: its farthest vertex is traversed next.
So there are sources of both kinds, central ones for upper bounds and far ones for lower bounds.

A vertex of degree 1 is never chosen: in a component of more than two vertices its eccentricity is that of its neighbour
plus 1. In components of few vertices all other vertices are sources, in multi-source batches.

Passes: one BFS a source; if distances are short, multi-source batches of sources with the same lower bound. Bytes a
vertex: shared state 3, two bounds and a distance 1 to 4 each, and from the pool another distance for each source of a
batch. Sources: Takes and Kosters, Computing the eccentricity distribution of large graphs, Algorithms 6 (2013); the two
kinds: Iwabuchi, Sanders, Henderson, Pearce, Computing exact vertex eccentricity on massive-scale distributed graphs,
CLUSTER 2018.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.needs import MOST_ON_DISK, DeviceState, batch_state_bytes, distance_bytes, traversal_phases
from ...errors import EmdiamError, InputError
from ...histogram import histogram
from ...store.store import Store
from ...stream.plan import Phase, Pool
from ...traverse.columns import PIECE, Column
from ...traverse.components import Component
from ..definition import Method
from ..exact.cost_model import bfs_cost
from ..exact.method import NOWHERE, Eccentricity, ExactMethod
from ..metric import HopMetric
from ..run import UNKNOWN, MethodOptions
from ..witness import REPORT
from .bounds import Bounds, Summary, count_eccentricities
from .by_pairs import MOST_PAIRS, PAIR_BYTES, ByPairs
from .chains import Chains, chains_of
from .output import write_table
from .result import MOST_ANEW, NAME_BYTES, EccentricityResult, most_ids

ALL, RADIUS, CENTER = "all", "radius", "center"
# Sources of a batch with distances, and the eccentricity up to which they share most of their reads.
BATCH, LOW = 64, 64
# Fewer sources are traversed one by one.
LEAST_BATCH = 8
# In a component with at most this number of vertices every vertex except leaves is a source; a certificate
# leaves these components out.
SMALL = MOST_ANEW
_LEAVES = 1 << 16
# Sources before pairs are considered; pairs are used if the rest would need MANY times the second half of these.
TRIAL, MANY = 64, 8
# After this number of sources, all of which closed enough, only bounds are used.
LAST_TRIAL = 512
# Number of columns for pairs that the memory plan may include.
_PAIR_COLUMNS = 1 << 10


@dataclass(frozen=True)
class EccentricityOptions(MethodOptions):
    """what : "all", or "radius" or "center" only of the component with the most vertices. out : a file for the
    eccentricities, Parquet or, by its name, CSV. keep : whether the result has the bounds of all vertices. provers :
    whether it has the proof of them, which needs more sources."""

    what: str = ALL
    out: Path | None = None
    keep: bool = False
    provers: bool = False

    def __post_init__(self) -> None:
        if self.what not in (ALL, RADIUS, CENTER):
            raise InputError("unknown part of the eccentricities", text=self.what,
                             remedy=f"use {ALL}, {RADIUS} or {CENTER}")


class AllEccentricities(ExactMethod):
    """One run on an engine."""

    name = "eccentricities"
    keeps_distances = True
    result_type = EccentricityResult
    options: EccentricityOptions

    def __init__(self, metric: HopMetric, options: EccentricityOptions) -> None:
        super().__init__(metric, options)
        self.bounds: Bounds | None = None
        self.summary = Summary(self.engine.store, most_ids(self.options.keep))
        self.radius = self.upper_here  # smallest eccentricity so far in the current component
        self.centre = 0
        self.radius_largest: int | None = None  # once it is proved
        self._centre_largest = 0
        self.written: str | None = None
        self.n_sources = 0
        self._farthest: list[int] = []  # vertices to be traversed next, for lower bounds
        self._leaves: list[np.ndarray] = []
        self.visited: set[int] = set()
        self.batches = False
        self._open_before: list[int] = []

    # -- the whole graph ------------------------------------------------------------------------
    def solve(self) -> None:
        """Settle all components, the one with the most vertices first."""
        engine, options = self.engine, self.options
        if engine.facts.n_arcs == 0:
            super().solve()
            self.bounds = Bounds(engine, 1, options.provers)
            self.radius = 0
            self._settle_small()
            self.radius_largest = 0
            self.summary.of_largest(self.bounds, 0, 0, most=1)
            self._finish()
            return
        start = self._start()
        first = self.eccentricity(start, distances=True)
        with self.stages.timed("components"):
            self.tick("components")
            self.components = self.metric.components(start)
        self.know_components()
        of_start = Component(start, 0, engine.facts.n_vertices - 1, first.n_reached, start)
        rival = self._larger_rival(start, first.n_reached)
        others = max(self._rest_size(), 0 if rival is None else rival.size)
        self._largest_size = max(first.n_reached, 0 if rival is None else rival.size)
        self.bounds = Bounds(engine, min(engine.facts.n_vertices, max(2 * first.eccentricity, others)),
                             options.provers)
        if rival is None:
            self._upper_rest = max(0, others - 1)
            self._solve_reported(of_start, first)
        else:
            first.distances = None
            self._upper_rest = max(first.n_reached, self._rest_size()) - 1
            self._solve_reported(rival, None)
        if options.what == ALL:
            for component in ([] if rival is None else [of_start]):
                self._run(component, None)
            for component in self._others():
                self._upper_rest = component.size - 1
                self._run(component, None)
            self._settle_small()
            self.upper_here = self._upper_rest = self._upper_left = 0
        self._finish()

    def _solve_reported(self, component: Component, first: Eccentricity | None) -> None:
        """Solve the component with the most vertices."""
        assert self.bounds is not None
        self.reported = True
        self._run(component, first)
        self.reported = False
        self.radius_largest, self._centre_largest = self.radius, self.centre
        if self.options.what != RADIUS:
            self.summary.of_largest(self.bounds, self.radius, self.lower_here if self.options.what == ALL else None)

    def _finish(self) -> None:
        """Write the file, if requested."""
        if self.options.out is not None and self.bounds is not None:
            with self.stages.timed("write"):
                try:
                    last = self.engine.facts.n_vertices - 1
                    write_table(self.options.out, self.engine.store, (
                        (start, np.maximum(lower, 0), np.where(lower < 0, last, upper))
                        for start, lower, upper in self.bounds.pieces()), self._first_of(), self.unresolved() > 0)
                    self.written = str(self.options.out)
                except InputError as error:
                    self.not_written.append(str(error))

    def _first_of(self) -> Callable[[np.ndarray], np.ndarray]:
        """See write_table: labels are the first vertices of components, except for the component of the first BFS."""
        engine, components, reached = self.engine, self.components, -1

        def first_of(ids: np.ndarray) -> np.ndarray:
            nonlocal reached
            labels = (np.full(len(ids), -1) if components is None
                      else np.asarray(components.labels[int(ids[0]) : int(ids[-1]) + 1], np.int64))
            alone = engine.degrees(ids) == 0
            labels[alone] = ids[alone]
            inside = np.flatnonzero(labels == (-1 if components is None else components.reached_label))
            if reached < 0 and len(inside):
                reached = int(ids[inside[0]])
            labels[inside] = reached
            return labels

        return first_of

    def unresolved(self) -> int:
        """Number of vertices with unknown eccentricity."""
        n = self.engine.facts.n_vertices
        return n if self.bounds is None else count_eccentricities(self.bounds)[1]

    def _others(self) -> Iterator[Component]:
        """Further components with more than SMALL vertices."""
        while self.components is not None:
            batch = [one for one in self._waiting if one.size > SMALL] or self.components.larger_than(SMALL)
            self._waiting = []
            if not batch:
                return
            yield from batch

    # -- one component --------------------------------------------------------------------------
    def _run(self, component: Component, first: Eccentricity | None) -> None:
        """Settle one component, or only its radius or centre, if no more is wanted."""
        assert self.bounds is not None
        self.component, self.lower_here, self.upper_here = component, 0, component.size - 1
        self.radius, self.centre = self.upper_here, component.hub
        self.visited.clear()
        self._farthest = []
        if first is None:
            first = self.eccentricity(component.hub, distances=True)
        else:
            self.record(first.eccentricity, first.source, first.farthest)
        distances = first.take_distances()
        self.batches = first.eccentricity <= LOW
        with self.stages.timed("bounds"):
            # The size is no eccentricity of any vertex: no vertex closes at a bound that no source has proved.
            self.bounds.begin(component, distances, min(2 * first.eccentricity, component.size))
        self._known([first.source], [distances], [first.eccentricity], [first.farthest])
        pairs, chains = self._by_pairs(component), chains_of(self, component)
        while self.bounds.n_open:
            sources = self._choose(component)
            if not len(sources):
                break
            self.traverse(sources, None if pairs is None else pairs.keep)
            if (chains is not None or pairs is not None) and self._many_left():
                pairs, chains = self._settle_otherwise(pairs, chains), None
            if len(self._open_before) > LAST_TRIAL:
                pairs = chains = None
        if not self.bounds.n_open:
            self._note_longest(component)
            self._settle_leaves()
            self.upper_here = self.lower_here
            if self.reported:  # no other component has been traversed, so that all bounds are of this one
                self.centre = self.bounds.lower.argbest(False, component.first, component.last + 1)
                self.radius = int(self.bounds.lower.gather([self.centre])[0])
        if self.reported:
            self._largest = self.lower_here, self.upper_here
        self.component = NOWHERE

    def _note_longest(self, component: Component) -> None:
        """Note the largest eccentricity, which may be that of no source."""
        assert self.bounds is not None
        at = self.bounds.lower.argbest(True, component.first, component.last + 1)
        self.longer(int(self.bounds.lower.gather([at])[0]), at, UNKNOWN)

    def _choose(self, component: Component) -> np.ndarray:
        """The next sources, int64[k]; empty if the wanted part is known."""
        if self._farthest:
            return self.take_farthest()
        assert self.bounds is not None
        count, span = self._most() if self.batches else 1, {"start": component.first, "stop": component.last + 1}
        while self.bounds.n_open:
            ranked = self.bounds.upper.ranked(self.engine.degrees, self.bounds.lower, count, smallest=True, **span)
            lower = self.bounds.lower.gather(ranked)
            if self._enough(int(lower[0])):
                break
            leaves = np.zeros(len(ranked), bool)
            if component.size > 2 and not self.options.provers:  # in a proof they are treated like other vertices
                leaves = self.engine.degrees(ranked) == 1
            alike = ranked[~leaves & (lower == lower[0])]
            if len(alike):
                alike = self.earlier.first(alike)
                return alike if len(alike) >= LEAST_BATCH else alike[:1]
            self._leaves.append(ranked[leaves])
            self.bounds.close(ranked[leaves])
            count = min(2 * count, _LEAVES)
        return np.empty(0, np.int64)

    def _enough(self, lower: int) -> bool:
        """Whether open vertices do not matter for the wanted part. lower : the smallest of their lower bounds."""
        what = self.options.what
        return (what == RADIUS and lower >= self.radius) or (what == CENTER and lower > self.radius)

    def _most(self) -> int:
        """Maximal number of sources of a batch."""
        facts = self.engine.facts
        if not (self.batches or facts.apart):
            return 1
        assert self.bounds is not None
        if facts.columns_on_disk:
            return MOST_ON_DISK
        a_source = facts.n_vertices * self.bounds.lower.dtype.itemsize
        room = facts.pool_bytes - batch_state_bytes(self.engine.store, BATCH)
        return max(1, min(BATCH if self.batches else facts.apart, room // max(1, a_source)))

    def _by_pairs(self, component: Component) -> ByPairs | None:
        """A ByPairs for the component, if pairs are of use and have room."""
        assert self.bounds is not None
        self._open_before = []
        if self.options.what != ALL or self.options.provers:
            return None
        of_batch = BATCH * self.engine.facts.n_vertices * self.bounds.lower.dtype.itemsize
        state = batch_state_bytes(self.engine.store, BATCH)
        pairs = ByPairs(self, component, self.engine.facts.room_bytes - of_batch - state)
        return pairs if pairs.possible() else None

    def _settle_otherwise(self, pairs: ByPairs | None, chains: Chains | None) -> ByPairs | None:
        """Settle by chains, or else the rest by pairs, if possible; returns the ByPairs for later use."""
        if chains is not None and chains.settle(self._closed_lately()):
            return pairs
        if pairs is not None:
            pairs.settle()
        return None

    def _many_left(self) -> bool:
        """Whether bounds alone will probably need many more sources, judged by the second half of the sources so
        far."""
        assert self.bounds is not None
        self._open_before += [self.bounds.n_open] * (len(self.visited) - len(self._open_before))
        done = len(self._open_before)
        if done < TRIAL:
            return False
        return MANY * (done - done // 2) * self._closed_lately() < self.bounds.n_open

    def _closed_lately(self) -> float:
        """Number of vertices that a source of the second half so far has closed, on average."""
        assert self.bounds is not None
        later = self._open_before[len(self._open_before) // 2 :]
        return (later[0] - self.bounds.n_open) / len(later) if later else 0.0

    def take_leaves(self, vertices: np.ndarray) -> None:
        """Take out the leaves among the open vertices, to be settled at the end."""
        assert self.bounds is not None
        if self.component.size > 2:
            leaves = vertices[self.engine.degrees(vertices) == 1]
            self._leaves.append(leaves)
            self.bounds.close(leaves)

    def take_farthest(self) -> np.ndarray:
        """The vertices to be traversed for lower bounds, int64[k]; empties the list."""
        farthest, self._farthest = self._farthest, []
        return np.array(farthest, np.int64)

    def traverse(self, sources: np.ndarray, keep: Callable[[int, Column, int], None] | None = None) -> None:
        """Traverse sources of the current component. keep : called with source, distances and eccentricity."""
        assert self.bounds is not None
        most = self._most()
        for begin in range(0, len(sources), most):
            some = sources[begin : begin + most]
            if len(some) < min(most, LEAST_BATCH if self.batches else 2):
                for source in some.tolist():
                    run = self.eccentricity(source, distances=True)
                    columns = [run.take_distances()]
                    if keep is not None:
                        keep(source, columns[0], run.eccentricity)
                    self._known([source], columns, [run.eccentricity], [run.farthest])
                continue
            columns = [self.engine.new_column(2 * self.radius) for _ in some]
            eccentricities = self.eccentricities(some, columns=columns, apart=not self.batches).tolist()
            if keep is not None:
                for source, column, eccentricity in zip(some.tolist(), columns, eccentricities, strict=True):
                    keep(source, column, eccentricity)
            self._known(some.tolist(), columns, eccentricities)

    def _known(
        self, sources: list[int], columns: list[Column], eccentricities: list[int], farthest: list[int] | None = None
    ) -> None:
        """Fold traversals into the bounds. farthest : a vertex farthest from each source."""
        assert self.bounds is not None
        span = self.component.first, self.component.last + 1
        with self.stages.timed("bounds"):
            loose = self.bounds.lower.gather(sources) < eccentricities
            self.visited.update(sources)
            for i in np.flatnonzero(loose).tolist():
                far = columns[i].argbest(True, *span) if farthest is None else farthest[i]
                far = self.earlier.instead(far, columns[i].gather)
                if far not in self.visited and far not in self._farthest:
                    self._farthest.append(far)
            self.bounds.tighten(self.component, sources, columns, eccentricities)
        self.n_sources += len(sources)
        self.earlier.searched(sources)
        least = int(np.argmin(eccentricities))
        if eccentricities[least] < self.radius:
            self.radius, self.centre = eccentricities[least], sources[least]

    # -- small components, and leaves -----------------------------------------------------------
    def _settle_small(self) -> None:
        """Settle every vertex not yet traversed, also isolated ones."""
        assert self.bounds is not None
        bounds, n = self.bounds, self.engine.facts.n_vertices
        for start in range(0, n, PIECE):
            stop = min(start + PIECE, n)
            left = np.flatnonzero(bounds.lower.part(start, stop) == bounds.lower.unreached) + start
            if not len(left):
                continue
            degrees = self.engine.degrees(left)
            bounds.settle(left[degrees == 0], np.zeros(int(np.count_nonzero(degrees == 0)), np.int64))
            sources = left[(degrees > 0 if self.options.provers else degrees > 1)]
            for begin in range(0, len(sources), self.engine.facts.batch_bits):
                some = sources[begin : begin + self.engine.facts.batch_bits]
                bounds.settle(some, self.eccentricities(some).astype(np.int64))
                self.n_sources += len(some)
            if not self.options.provers:
                self._leaves.append(left[degrees == 1])
                self._settle_leaves()

    def _settle_leaves(self) -> None:
        """Settle leaves. A leaf is one step farther from all vertices than its neighbour, unless that is a leaf too."""
        assert self.bounds is not None
        for leaves in self._leaves:
            for begin in range(0, len(leaves), _LEAVES):
                some = leaves[begin : begin + _LEAVES]
                neighbours = np.array([int(row[0]) for row in self.engine.rows(some)], np.int64)
                values = 1 + self.bounds.lower.gather(neighbours)
                values[self.engine.degrees(neighbours) == 1] = 1
                self.bounds.settle(some, values)
                at = int(values.argmax())
                self.longer(int(values[at]), int(some[at]), UNKNOWN)
        self._leaves = []

    # -- the answer -----------------------------------------------------------------------------
    def _facts(self) -> dict[str, Any]:
        return {} if self.bounds is None else {"active": self.bounds.n_open}

    def _details(self) -> dict[str, Any]:
        return {"what": self.options.what}

    def name_target(self) -> None:
        """Name the pair of the diameter, if wanted."""
        if self.options.what == ALL:
            super().name_target()

    def check(self) -> Any:
        """The witness of the diameter, if wanted; the radius is checked by a BFS from a centre."""
        if self.radius_largest is not None and self.engine.facts.n_arcs:
            self.tick("verify")
            run = self.engine.bfs(self._central_vertex())
            assert run.distances is not None
            if run.eccentricity != self.radius_largest or self.engine.scan("steep-arcs", run.distances):
                raise EmdiamError(f"a second traversal does not find the radius {self.radius_largest}: {REPORT}")
        return super().check() if self.options.what == ALL else None

    def _central_vertex(self) -> int:
        """A vertex of the largest component, of smallest eccentricity once that is known."""
        return self.summary.centre if self.summary.centre >= 0 else self._centre_largest

    def stopped(self) -> EccentricityResult:
        """The bounds so far, which are also written to the file."""
        if self.bounds is not None:
            for leaves in self._leaves:
                self.bounds.upper.put(leaves, 2 * self.radius)
            self._leaves = []
            if self.written is None:
                self._finish()
        result: EccentricityResult = super().stopped()
        return result

    def _fields(self) -> dict[str, Any]:
        fields = {"radius": self.radius_largest, "sources": self.n_sources, "out": self.written,
                  "center": self.summary.center, "periphery": self.summary.periphery,
                  "unresolved": self.engine.facts.n_vertices}
        if self.bounds is None:
            return fields
        counts, unresolved = count_eccentricities(self.bounds)
        numbers, width = histogram(counts) if self.options.what == ALL else ({}, None)
        kept: dict[str, Any] = {}
        if self.options.keep:
            lower, upper = self.bounds.vectors()
            kept = {"lower_bounds": lower, "upper_bounds": upper,
                    "ids": list(self.engine.store.user_ids(np.arange(self.engine.facts.n_vertices)))}
        return {**fields, "unresolved": unresolved, "histogram": numbers, "histogram_width": width,
                "eccentricity_proof": None if unresolved else self.bounds.proof(),
                "traversed": self.bounds.traversed, "of_largest": self._central_vertex(), **kept}

    def conclude(self, result: EccentricityResult) -> None:
        """See MethodRun."""
        result.exact = self.radius_largest is not None and (self.options.what != ALL or result.unresolved == 0)
        if self.options.what == ALL and result.exact:
            result.diameter_max_component = self.best.length
            result.diameter = self.best.length if result.connected else None


def _phases(store: Store, options: EccentricityOptions) -> tuple[Phase, ...]:
    """Two bounds, and the current distances."""
    n, of_proof = store.n_vertices, 8 * store.n_vertices if options.provers else 0
    kept, names = (2 * n, NAME_BYTES * n) if options.keep else (0, 0)

    def state(column: int) -> int:
        return 2 * n * column + distance_bytes(store, column) + of_proof + kept * column + names

    return traversal_phases(store, state, keeps_labels=True)


def _pool(store: Store) -> Pool:
    """Distances of a batch, and memory for pairs, which are few in small graphs."""
    n = store.n_vertices
    return Pool(BATCH * n + batch_state_bytes(store, BATCH)
                + 4 * _PAIR_COLUMNS * n + min(4 * MOST_PAIRS * PAIR_BYTES, 4 * _PAIR_COLUMNS * n))


METHOD = Method(EccentricityOptions, AllEccentricities, _phases, lambda store, options: bfs_cost(3, 300),
                DeviceState(4, batches=True), _pool)
eccentricities = METHOD.solve
