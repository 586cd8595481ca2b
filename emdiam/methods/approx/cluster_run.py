"""One run of the approximation by clusters: masters, growing, condensing, shortest paths, bounds."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._version import __version__
from ...engine.interface import Engine, Labels
from ...errors import InputError, MoreMemoryError
from ...sorting.scratch import Scratch
from ...units import format_size, scratch_folder
from ...weighted.heights import HeightLimits, height_diameter, least_bytes
from ..exact.limits import Stages
from ..exact.method import stopping
from ..exact.result import Witness
from . import cluster_order as local
from .cluster_bounds import Sweeps, double_sweep
from .cluster_lower import lower_bounds
from .cluster_masters import MasterChoice
from .condensed import LEAST_ARC_BYTES, LEAST_SORT_BYTES, CondensedGraph, Room, condense_again, condensed_graph
from .hashing import stream_key
from .result import Approximation, Condensed

if TYPE_CHECKING:
    from .clusters import ClusterOptions


@dataclass
class Found:
    """What is known so far. lower, upper : proved, over all components. largest : interval of the
    component with the most vertices."""

    lower: int
    upper: int
    largest: tuple[int, int]
    estimate: int | None = None
    witness: Witness | None = None
    n_components: int | None = None


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


class ClusterRun:
    """One run; see clusters.py."""

    def __init__(self, engine: Engine, options: ClusterOptions) -> None:
        if engine.facts.n_vertices == 0:
            raise InputError("the graph has no vertices, so its diameter is undefined")
        self.engine, self.options, self.stages = engine, options, Stages()
        most = engine.facts.n_vertices - 1 if engine.facts.n_arcs else 0
        self.found = Found(0, most, (0, most))
        self.labels: Labels | None = None
        self.graph: CondensedGraph | None = None
        self.facts: dict[str, Any] = {}
        self.details: dict[str, Any] = {}
        self.scratch = Scratch(Path(scratch_folder(options.scratch)), Path())
        self.room = room_in(engine, self.scratch)
        self._scratch_counted = 0
        self._begin, self._before = time.perf_counter(), engine.reporter.stats()

    def run(self) -> Approximation:
        """The approximation. Raises StoppedEarly on Ctrl-C and at the end of the time."""
        try:
            with stopping(self.result):
                if self.engine.facts.n_arcs:
                    self._solve()
                else:
                    self.found = Found(0, 0, (0, 0), 0, None, self.engine.facts.n_vertices)
        finally:
            if self.graph is not None:
                self.graph.arcs.close()
            self.scratch.close()
        return self.result()

    def _solve(self) -> None:
        choice = MasterChoice(self)
        while True:
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
        self.found.n_components = self.engine.facts.n_isolated + graph.n_parts
        with self.stages.timed("shortest paths"):
            self.engine.reporter.tick("shortest paths")
            sweeps = double_sweep(graph, self.room)
        own = self._largest_part(part_sizes, owner_parts)
        self._estimate(graph, sweeps, own)
        self._prove_upper(graph, sweeps, own)
        self._prove_lower(graph, sweeps, own)

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

    def _estimate(self, graph: CondensedGraph, sweeps: Sweeps, own: int) -> None:
        estimates = sweeps.estimates()
        self.facts.update(max_master_distance=int(graph.radii.max()), max_master_gap=int(sweeps.gaps.max()))
        self.details["estimate_largest_component"] = int(estimates[own])
        self.details["span"] = int(sweeps.spans.max())
        self.found.estimate = int(estimates.max())

    def _prove_upper(self, graph: CondensedGraph, sweeps: Sweeps, own: int) -> None:
        """Radii alone first, then weighted pivots."""
        found = self.found
        found.upper = min(found.upper, int(sweeps.upper.max()))
        found.largest = (0, min(found.upper, int(sweeps.upper[own])))
        self.engine.reporter.tick("upper bound", upper=found.upper)
        with self.stages.timed("upper bound"):
            smallest = np.unique(graph.parts, return_index=True)[1]
            limits = HeightLimits(searches_for(graph.arcs.n_arcs), least_bytes(len(graph.parts)) + PIVOT_BYTES)
            proof = height_diameter(graph.arcs, graph.radii.astype(np.uint32), smallest[graph.parts].astype(np.uint32),
                                    limits, self.room.paths())
        found.upper = min(found.upper, max(2 * int(sweeps.widest.max()), proof.upper))
        found.largest = (0, min(found.upper, found.largest[1]))
        self.details["condensed_diameter"] = [proof.lower, proof.upper]
        self.details["condensed_traversals"] = proof.traversals + 2

    def _prove_lower(self, graph: CondensedGraph, sweeps: Sweeps, own: int) -> None:
        """A real distance in every component that matters, and its check."""
        assert self.labels is not None
        with self.stages.timed("lower bound"):
            self.engine.reporter.tick("lower bound", upper=self.found.upper)
            lower = lower_bounds(self.engine, self.labels, graph, sweeps, own, self.room)
        self.labels = None
        self.stages.bfs += lower.traversals
        with self.stages.timed("verify"):
            self.found.witness = lower.check(self.engine)
        self.found.lower = lower.length
        self.found.largest = (lower.own_length, max(lower.own_length, self.found.largest[1]))

    def _count_scratch(self) -> None:
        """What was read from scratch files is part of what the run has read."""
        read = self.scratch.bytes_read
        self.engine.reporter.count(bytes_read=read - self._scratch_counted)
        self._scratch_counted = read

    def result(self) -> Approximation:
        """All that is known now."""
        engine, found = self.engine, self.found
        self._count_scratch()
        used = engine.reporter.stats() - self._before
        elapsed, verify = time.perf_counter() - self._begin, self.stages.seconds.get("verify", 0.0)
        lower, upper = found.largest
        result = Approximation(
            method="clusters", n_vertices=engine.facts.n_vertices, n_edges=engine.facts.n_arcs // 2,
            connected=None if found.n_components is None else found.n_components == 1,
            n_components=found.n_components, diameter=None,
            diameter_largest_component=lower if lower == upper else None, diameter_max_component=None,
            lower=found.lower, upper=found.upper, exact=False, witness=found.witness,
            traversals=self.stages.traversals(), levels=used.levels, edges_scanned=used.edges_scanned,
            bytes_read=used.bytes_read, seed=self.options.seed, version=__version__,
            seconds={"total": elapsed, "solve": elapsed - verify, "verify": verify},
            details={**self.details, "stage_seconds": dict(self.stages.seconds), "passes": used.passes,
                     "scratch_bytes_written": self.scratch.bytes_written, "path_searches": vars(self.room.spent),
                     "interval_largest_component": [lower, upper], "counters": used.to_dict()},
            estimate=found.estimate, known_diameter=self.options.known_diameter, **self.facts,
        )
        result.rate()
        return result
