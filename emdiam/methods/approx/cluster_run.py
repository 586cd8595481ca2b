"""One run of the approximation by clusters: masters, growing, condensing, shortest paths, bounds."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.interface import Engine, Labels
from ...errors import MoreMemoryError
from ...sorting.scratch import Scratch
from ...stream.counters import Counters
from ...units import format_size, scratch_folder
from ..exact.method import ExactMethod
from ..metric import HopMetric
from ..result import Witness
from ..run import Best
from ..weighted.heights import HeightLimits, height_diameter, least_bytes
from . import cluster_order as local
from .cluster_bounds import Lower, Sweeps, double_sweep, lower_bounds
from .condensed import LEAST_ARC_BYTES, LEAST_SORT_BYTES, CondensedGraph, Room, condense_again, condensed_graph
from .masters import GROWTH, MOST_ROUNDS, most_by_itself, resolve_masters
from .rank_order import stream_key
from .result import Approximation, Condensed

if TYPE_CHECKING:
    from .clusters import ClusterOptions


SHRINKAGE = 2
_ENTRY_BYTES = 8
# Columns of pivots beside the least; fixed, so that the bound does not depend on the budget.
PIVOT_BYTES = 16 << 20


def searches_for(n_arcs: int) -> int:
    """Searches that the proof of the upper bound may take: fewer where each costs more."""
    return max(4, min(64, (1 << 28) // max(1, n_arcs)))


def room_in(engine: Engine, scratch: Scratch, taken: int = 0) -> Room:
    """What is planned at least, and a share of what is left beside `taken` bytes. Arcs of two levels lie side by
    side while the graph is condensed again or put in local order."""
    share = (engine.facts.room_bytes - taken) // 3
    return Room(LEAST_SORT_BYTES + share, LEAST_ARC_BYTES + share, scratch, min(2, engine.facts.threads),
                lambda: engine.reporter.tick("shortest paths"))


class MasterChoice:
    """How many masters, and the clusters around them. expected : on average, as it stands."""

    def __init__(self, run: ClusterRun) -> None:
        self._run, self._auto = run, run.options.masters == "auto"
        if not self._auto:
            self.expected = resolve_masters(run.options.masters, run.engine.facts.n_vertices)
            return
        from .clusters import most_with_room

        facts = run.engine.facts
        most = min(most_by_itself(facts.n_vertices - facts.n_isolated),
                   most_with_room(facts.n_vertices, run.options, facts.room_bytes))
        self.expected = self._least = max(1, min(most, math.isqrt(run.room.arcs_bytes // _ENTRY_BYTES)))
        self._most, self._shrunk = most, False
        self._steps = [f"{self.expected:,} masters: the square root of the room for arcs, so that they fit"]
        run.figures["auto"] = self._steps

    def grow(self) -> Labels:
        """The clusters; with "auto", around more masters while there are too many rounds."""
        while True:
            grows = self._auto and not self._shrunk and self.expected < self._most
            labels = _grow(self._run, self.expected, MOST_ROUNDS if grows else None)
            if labels is not None:
                return labels
            self.expected = min(self._most, GROWTH * self.expected)
            self._steps.append(f"{self.expected:,} masters: {MOST_ROUNDS} rounds did not reach all vertices")

    def fewer(self, n_arcs: int) -> bool:
        """The condensed graph, of so many arcs, did not fit: whether to try with fewer masters."""
        if not self._auto or self.expected <= self._least:
            return False
        self.expected, self._shrunk = max(self._least, self.expected // SHRINKAGE), True
        self._steps.append(f"{self.expected:,} masters: {n_arcs:,} arcs did not fit in memory")
        return True


def _grow(run: ClusterRun, expected: int, most_rounds: int | None) -> Labels | None:
    engine, options = run.engine, run.options
    with run.stages.timed("masters"):
        engine.reporter.tick("masters")
        masters = engine.sample_vertices(stream_key(options.seed, "masters"), expected)
        if options.euler:
            masters = _with_tour(run, masters, max(1, -(-engine.facts.n_vertices // expected)))
    with run.stages.timed("grow"):
        engine.reporter.tick("grow clusters", masters=len(masters))
        return engine.grow_clusters(masters, most_rounds)


def _with_tour(run: ClusterRun, masters: np.ndarray, k: int) -> np.ndarray:
    """The masters and every k-th vertex of an Euler tour of a random spanning tree."""
    engine = run.engine
    tour = engine.spanning_forest(stream_key(run.options.seed, "spanning tree")).euler_masters(k)
    both = np.union1d(masters, tour)
    return both[np.argsort(engine.ranks(both), kind="stable")]


class ClusterRun(ExactMethod):
    """One run; see clusters.py. It solves all components at once, so it has bounds of its own.

    lower : the longest real distance. largest : interval of the diameter of the component with the most vertices.
    """

    name = "clusters"
    options: ClusterOptions

    result_type = Approximation

    def __init__(self, metric: HopMetric, options: ClusterOptions) -> None:
        super().__init__(metric, options)
        engine = self.engine
        self.upper_bound = max(0, engine.facts.n_vertices - 1) if engine.facts.n_arcs else 0
        self.largest = 0, self.upper_bound
        self.lower: Lower | None = None
        self.n_parts = 0
        self.estimated: int | None = None
        self.labels: Labels | None = None
        self.graph: CondensedGraph | None = None
        self.facts: dict[str, Any] = {}
        self.figures: dict[str, Any] = {}
        self.scratch = Scratch(Path(scratch_folder(options.scratch)), Path())
        self.room = room_in(engine, self.scratch)
        self._scratch_counted = 0

    def solve(self) -> None:
        """Grow, condense and prove; fills the bounds and the estimate."""
        try:
            if self.engine.facts.n_arcs:
                self._solve()
            else:
                self.know_components()
                self.estimated = 0
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Close what lies on disk; the answer stays."""
        self._count_scratch()
        if self.graph is not None:
            self.graph.arcs.close()
        self.scratch.close()

    def _solve(self) -> None:
        choice = MasterChoice(self)
        while True:
            self.labels = None
            self.labels = choice.grow()
            self._leave_room(self.labels.n_groups)
            radii, sizes = self.labels.tally()
            graph = self._condense(radii, sizes)
            if graph.arcs.in_ram or not choice.fewer(graph.arcs.n_arcs):
                break
            graph.arcs.close()
        self.facts.update(masters=len(radii), rounds=int(radii.max()))
        owner_parts = graph.parts[graph.owners()]
        part_sizes = np.bincount(owner_parts, weights=sizes, minlength=graph.n_parts).astype(np.int64)
        self.n_parts = graph.n_parts
        self.know_components()
        with self.stages.timed("shortest paths"):
            self.engine.reporter.tick("shortest paths")
            sweeps = double_sweep(graph, self.room)
        largest = self._largest_part(part_sizes, owner_parts)
        self._estimate(graph, sweeps, largest)
        self._prove_upper(graph, sweeps, largest)
        self._prove_lower(graph, sweeps, largest)

    def _leave_room(self, n_clusters: int) -> None:
        """Take from the room what more clusters take than were planned for. Raises MoreMemoryError."""
        from .clusters import beyond_plan

        beyond, room = beyond_plan(self.engine.facts.n_vertices, self.options, n_clusters), self.engine.facts.room_bytes
        missing = beyond - room - self.engine.facts.spare_bytes
        if missing > 0:
            raise MoreMemoryError(f"{n_clusters:,} clusters, one in every component at least, take"
                                  f" {format_size(missing)} more than the memory that was planned", missing)
        self.room = replace(room_in(self.engine, self.scratch, min(room, beyond)), spent=self.room.spent)

    def _condense(self, radii: np.ndarray, sizes: np.ndarray) -> CondensedGraph:
        """The condensed graph, again and again as asked, in local order if it is large."""
        assert self.labels is not None
        seed = self.options.seed
        with self.stages.timed("condense"):
            self.engine.reporter.tick("condense", masters=len(radii))
            graph = self.graph = condensed_graph(self.engine, self.labels, radii, self.room)
            ranks = self.engine.ranks(self.labels.masters)
            if graph.arcs.n_arcs >= local.LOCAL_ARCS:
                positions = local.local_positions(graph, ranks, sizes, seed, self.room)
                graph = self.graph = local.in_local_order(graph, positions, self.room)
                ranks = ranks[np.argsort(positions)]
            for level in range(2, self.options.levels + 1):
                if len(ranks) <= graph.n_parts:
                    break
                below = graph.arcs
                graph, ranks = condense_again(graph, ranks, stream_key(seed, f"level {level}"), self.room)
                below.close()
                self.graph = graph
        arcs = graph.arcs
        self.facts["condensed"] = Condensed(arcs.n_vertices, arcs.n_arcs // 2, arcs.in_ram, graph.levels)
        return graph

    def _largest_part(self, sizes: np.ndarray, owner_parts: np.ndarray) -> int:
        """The component with the most vertices (ties: the one with the vertex of smallest rank)."""
        most = np.flatnonzero(sizes == sizes.max())
        if len(most) > 1:
            assert self.labels is not None
            first = np.full(len(sizes), self.engine.facts.n_vertices, np.int64)
            np.minimum.at(first, owner_parts, self.engine.ranks(self.labels.first_members()))
            most = most[[int(first[most].argmin())]]
        return int(most[0])

    def _estimate(self, graph: CondensedGraph, sweeps: Sweeps, largest: int) -> None:
        estimates = sweeps.estimates()
        self.facts.update(max_master_distance=int(graph.radii.max()), max_master_gap=int(sweeps.gaps.max()))
        self.figures["estimate_largest_component"] = int(estimates[largest])
        self.figures["span"] = int(sweeps.spans.max())
        self.estimated = int(estimates.max())

    def _prove_upper(self, graph: CondensedGraph, sweeps: Sweeps, largest: int) -> None:
        """Radii alone first, then weighted pivots."""
        self.upper_bound = min(self.upper_bound, int(sweeps.upper.max()))
        self.largest = 0, min(self.upper_bound, int(sweeps.upper[largest]))
        self.engine.reporter.tick("upper bound", upper=self.upper_bound)
        with self.stages.timed("upper bound"):
            smallest = np.unique(graph.parts, return_index=True)[1]
            limits = HeightLimits(searches_for(graph.arcs.n_arcs), least_bytes(len(graph.parts)) + PIVOT_BYTES)
            with closing(self.room.opened(graph.arcs)) as arcs:
                proof = height_diameter(arcs, graph.radii.astype(np.uint32), smallest[graph.parts], limits)
        self.upper_bound = min(self.upper_bound, max(2 * int(sweeps.widest.max()), proof.upper))
        self.largest = 0, min(self.upper_bound, self.largest[1])
        self.figures["condensed_diameter"] = [proof.lower, proof.upper]
        self.figures["condensed_traversals"] = proof.traversals + 2

    def _prove_lower(self, graph: CondensedGraph, sweeps: Sweeps, largest: int) -> None:
        """A real distance in every component that matters."""
        assert self.labels is not None
        with self.stages.timed("lower bound"):
            self.engine.reporter.tick("lower bound", upper=self.upper_bound)
            self.lower = lower = lower_bounds(self.engine, self.labels, graph, sweeps, largest, self.room)
        self.labels = None
        self.stages.bfs += lower.traversals
        self.best = Best(lower.length, lower.source, lower.target)
        self.largest = lower.own_length, max(lower.own_length, self.largest[1])

    def check(self) -> Witness | None:
        if self.lower is None:
            return None
        with self.stages.timed("verify"):
            return self.lower.check(self.engine)

    # -- its result -----------------------------------------------------------------------------
    def upper(self) -> int:
        return self.upper_bound

    def interval_largest(self) -> tuple[int, int]:
        return self.largest

    def n_components(self) -> int | None:
        return self.engine.facts.n_isolated + self.n_parts if self.components_known else None

    def _count_scratch(self) -> None:
        """What was read from scratch files is part of what the run has read."""
        read = self.scratch.bytes_read
        self.engine.reporter.count(bytes_read=read - self._scratch_counted)
        self._scratch_counted = read

    def _details(self) -> dict[str, Any]:
        return {**self.figures, "scratch_bytes_written": self.scratch.bytes_written,
                "path_searches": vars(self.room.spent)}

    def details(self, used: Counters) -> dict[str, Any]:
        return {**super().details(used), "passes": used.passes}

    def _fields(self) -> dict[str, Any]:
        return {"estimate": self.estimated, "known_diameter": self.options.known_diameter, "seed": self.options.seed,
                **self.facts}

    def result(self) -> Any:
        self._count_scratch()
        return super().result()

    def conclude(self, result: Approximation) -> None:
        result.rate()
