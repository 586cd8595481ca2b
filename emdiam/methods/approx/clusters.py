"""clusters: Meyer's parametrized approximation by parallel cluster growing (PAR_APPROX).

Definition: masters are drawn at random, every vertex joins the cluster of its nearest master, and the clusters become
the vertices of a condensed graph. Its edge between two clusters has the weight d(u) + 1 + d(w), the least over the
edges {u, w} between them. A double sweep of shortest paths on it gives S; the estimate is S + 2 d, with d the largest
distance between two masters whose clusters touch. (The paper's table of the sqrt(n)-level graph confirms this reading
of d: its S is then the same for all numbers of masters.) In a component of one cluster of radius r the estimate is 2 r.

Proved as well, with r_C the radius of cluster C, and d' the distance in the condensed graph, which is
the length of a walk between masters in the graph:
- Upper: vertices x, y of different clusters A, B are at most r_A + d'(A, B) + r_B apart, those of
  one cluster 2 r_A. So D is at most max(2 max r_C, the diameter of the condensed graph with
  heights r_C, or any upper bound on that); see methods/weighted/heights.py.
- Lower: the eccentricity of the master at the far end of the double sweep, a real distance. If
  the graph is in RAM that is one BFS. If it is streamed, the distances d'(s, C) + d(v) are upper
  bounds from which a label growth starts (Labels.restart). It ends with exact distances after few
  passes: it corrects the errors of the clusters, instead of doing all levels.

Passes: one a round of growing (fewer if streamed), one to condense, a few for the lower bound, one to
check it. Bytes a vertex: 4, or 8 (traverse/labels.py), beside the shared 3; 8 an arc of the condensed graph if
that is in RAM.
Sources: Meyer, On trade-offs in external-memory diameter-approximation, SWAT 2008; Ajwani, Beckmann, Meyer, Veith,
I/O-efficient approximation of graph diameters by parallel cluster growing, 2012, sections 2 and 3 and Tables 3 and 4.

This file has one run: masters, growing, condensing, shortest paths, bounds.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.interface import Engine, Labels
from ...engine.needs import DeviceState, label_bytes, widening_bytes
from ...errors import InputError, MoreMemoryError
from ...sorting.scratch import Scratch
from ...store.store import Store
from ...stream.counters import Counters
from ...stream.plan import Pool, most_parts
from ...traverse.labels import NARROW, WIDE
from ...units import format_size, scratch_folder
from ..definition import Method
from ..exact.method import ExactMethod
from ..metric import HopMetric
from ..result import Approximation, Condensed, Witness
from ..run import Best
from ..weighted.heights import HeightLimits, height_diameter, least_bytes
from . import cluster_order as local
from .cluster_bounds import Lower, Sweeps, double_sweep, lower_bounds
from .condensed import (
    LEAST_ARC_BYTES,
    LEAST_SORT_BYTES,
    SHRINK,
    CondensedGraph,
    Room,
    condense_again,
    condensed_graph,
)
from .cost_model import CLUSTERS, condensed_pool
from .masters import AUTO, GROWTH, MOST_ROUNDS, most_by_itself, resolve_masters
from .method import ApproxOptions, phases_with
from .rank_order import stream_key

SHRINKAGE = 2
_ENTRY_BYTES = 8
# Bytes for columns of pivots beyond the least; fixed, so that the bound does not depend on the budget.
PIVOT_BYTES = 16 << 20


def searches_for(n_arcs: int) -> int:
    """Number of searches that the proof of the upper bound may take: fewer if each costs more."""
    return max(4, min(64, (1 << 28) // max(1, n_arcs)))


def room_in(engine: Engine, scratch: Scratch, sssp: str, taken: int = 0) -> Room:
    """The least planned room, and a share of what remains beside `taken` bytes. Arcs of two levels exist at the same
    time while the graph is condensed again or put in local order."""
    share = (engine.facts.room_bytes - taken) // 3
    return Room(LEAST_SORT_BYTES + share, LEAST_ARC_BYTES + share, scratch, min(2, engine.facts.threads),
                lambda: engine.reporter.tick("shortest paths"), sssp)


class MasterChoice:
    """The number of masters, and the clusters around them. expected : the present number, on average."""

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
        """The clusters. With "auto", more masters are taken while there are too many rounds."""
        while True:
            grows = self._auto and not self._shrunk and self.expected < self._most
            labels = _grow(self._run, self.expected, MOST_ROUNDS if grows else None)
            if labels is not None:
                return labels
            self.expected = min(self._most, GROWTH * self.expected)
            self._steps.append(f"{self.expected:,} masters: {MOST_ROUNDS} rounds did not reach all vertices")

    def fewer(self, n_arcs: int) -> bool:
        """Whether to try with fewer masters, after a condensed graph of n_arcs arcs did not fit."""
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
    """One run; see the top of this file. It solves all components at once, so it has its own bounds.

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
        self.room = room_in(engine, self.scratch, options.condensed_sssp)
        self._scratch_counted = 0

    def solve(self) -> None:
        """Grow, condense and prove; sets the bounds and the estimate."""
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
        """Close files on disk; the answer remains."""
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
            if self.room.fits(graph.arcs) or not choice.fewer(graph.arcs.n_arcs):
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
        """Take from the room the memory of clusters beyond the planned number. Raises MoreMemoryError."""
        from .clusters import beyond_plan

        beyond, room = beyond_plan(self.engine.facts.n_vertices, self.options, n_clusters), self.engine.facts.room_bytes
        missing = beyond - room - self.engine.facts.spare_bytes
        if missing > 0:
            raise MoreMemoryError(f"{n_clusters:,} clusters, one in every component at least, take"
                                  f" {format_size(missing)} more than the memory that was planned", missing)
        self.room = replace(room_in(self.engine, self.scratch, self.options.condensed_sssp, min(room, beyond)),
                            spent=self.room.spent)

    def _condense(self, radii: np.ndarray, sizes: np.ndarray) -> CondensedGraph:
        """The condensed graph, condensed again as often as the options say, in local order if it is large."""
        assert self.labels is not None
        seed = self.options.seed
        with self.stages.timed("condense"):
            self.engine.reporter.tick("condense", masters=len(radii))
            graph = self.graph = condensed_graph(self.engine, self.labels, radii, self.room)
            ranks = self.engine.ranks(self.labels.masters)
            if graph.arcs.n_arcs >= (0 if self.room.one_bit else local.LOCAL_ARCS):
                positions = local.local_positions(graph, ranks, sizes, seed, self.room)
                graph = self.graph = local.in_local_order(graph, positions, self.room)
                ranks = ranks[np.argsort(positions)]
            while len(ranks) > graph.n_parts and self.options.goes_on(graph.levels, self.room.fits(graph.arcs)):
                below, key = graph.arcs, stream_key(seed, f"level {graph.levels + 1}")
                graph, ranks = condense_again(graph, ranks, key, self.room, self.options.shrink)
                below.close()
                self.graph = graph
        arcs = graph.arcs
        self.facts["condensed"] = Condensed(arcs.n_vertices, arcs.n_arcs // 2, arcs.in_ram, graph.levels)
        return graph

    def _largest_part(self, sizes: np.ndarray, owner_parts: np.ndarray) -> int:
        """The component with the most vertices (ties: the one with the vertex of smallest rank)."""
        most = np.flatnonzero(sizes == sizes.max())
        self._several_largest = len(most) > 1
        if self._several_largest:
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
        """First by radii alone, then by weighted pivots."""
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
        """Find a real distance in every component that matters."""
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
        """Count the bytes read from scratch files as bytes read by the run."""
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
        result.conclude()


# Bytes a cluster: masters, radii, sizes, parts, offsets of rows, distances and owners.
CLUSTER_BYTES = 72
# Masters of "auto" in the plan: at least _PLANNED_LEAST and 1 / _PLANNED_SHARE of the vertices; more if there is room.
_PLANNED_LEAST, _PLANNED_SHARE = 1 << 12, 256
# Bytes a component, if there are very many: the results of double sweeps for each, and their computation.
PART_BYTES = 48


@dataclass(frozen=True)
class ClusterOptions(ApproxOptions):
    """masters : expected number (int), or a text: "2^20", "1e6", "10%", or "auto". seed : of the
    random choice. euler : whether every k-th vertex of an Euler tour of a spanning tree is also a master, k =
    vertices / masters, so that no vertex is farther than k from a master. levels : how often the graph is condensed,
    a number, or "auto": until it fits in memory. shrink : clusters of a level for each of the next.
    condensed_sssp : see condensed.Room."""

    masters: int | str = "auto"
    seed: int = 0
    euler: bool = False
    levels: int | str = 1
    shrink: int = SHRINK
    condensed_sssp: str = AUTO

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.levels != AUTO and not (str(self.levels).isdecimal() and int(self.levels) > 0):
            raise InputError("the graph is condensed at least once", text=str(self.levels),
                             remedy="give a number from 1 on, or auto: until it fits in memory")
        if self.shrink < 2:
            raise InputError("a level needs fewer masters than clusters", text=str(self.shrink))

    def goes_on(self, levels: int, fits: bool) -> bool:
        """Whether to condense again a graph that was condensed `levels` times. fits : whether it is in memory."""
        return not fits if self.levels == AUTO else levels < int(self.levels)


def cluster_bytes(store: Store, options: ClusterOptions, column: int) -> dict[str, int]:
    """Vertex state by phase, beside offsets and the state of traversals."""
    n, ids = store.n_vertices, store.id_dtype.itemsize
    count, labels = _expected(options, n), NARROW.itemsize * n
    tables = _least_tables(count)
    sizes = {"grow": labels + CLUSTER_BYTES * count, "condense": labels + tables["condense"],
             "paths": labels + tables["paths"],
             "lower": max(labels, widening_bytes(store, column)) + tables["condense"]}
    if options.euler:
        from .spanning import spanning_bytes_of_tour

        sizes["euler tour"] = spanning_bytes_of_tour(n, ids)
    return sizes


def _reserved_bytes(store: Store) -> dict[str, int]:
    """Bytes that phases may take in addition: wide labels, labels of components without a master, order of the
    labels."""
    wider = (WIDE.itemsize - NARROW.itemsize) * store.n_vertices
    parts = _parts_bytes(store)
    return {phase: wider + parts.get(phase, 0) for phase in ("grow", "condense", "paths", "lower")}


def _parts_bytes(store: Store) -> dict[str, int]:
    """The part of these bytes that only a graph of several components takes."""
    return dict.fromkeys(("grow", "lower"), label_bytes(store.n_vertices, store.id_dtype.itemsize))


def _pool(store: Store) -> Pool:
    """Room for condensed arcs, and for the clusters of the largest possible number of components, of two vertices
    each."""
    n, options = store.n_vertices, ClusterOptions()
    most = _expected(options, n) + most_parts(store)
    return Pool(condensed_pool(store), of_parts=beyond_plan(n, options, most))


def tables_bytes(store: Store, options: ClusterOptions) -> tuple[int, int]:
    """Memory beside vertex state, if that is elsewhere: least bytes, and further bytes that the method could use
    for condensed arcs."""
    return max(_least_tables(_expected(options, store.n_vertices)).values()), condensed_pool(store)


def _least_tables(count: int) -> dict[str, int]:
    """The least bytes of `count` clusters and their arcs, beside vertex state."""
    kept = CLUSTER_BYTES * count + 2 * LEAST_ARC_BYTES
    return {"condense": kept + LEAST_SORT_BYTES, "paths": kept + least_bytes(count) + PIVOT_BYTES}


def beyond_plan(store_vertices: int, options: ClusterOptions, count: int) -> int:
    """Bytes of `count` clusters beyond the plan. Every component has a cluster, and the number of components is not
    known in advance. Each cluster beyond the planned number counts as a separate component."""
    expected = _expected(options, store_vertices)
    planned, taken = _least_tables(expected), _least_tables(count)
    more = max(taken[name] - planned[name] for name in taken)
    return more + PART_BYTES * (count - expected) if count > expected else 0


def most_with_room(store_vertices: int, options: ClusterOptions, room: int) -> int:
    """Number of masters, on average, if half of the room is spent on masters beyond the planned ones."""
    planned = _expected(options, store_vertices)
    if planned == store_vertices:
        return planned
    each = beyond_plan(store_vertices, options, planned + (1 << 10)) / (1 << 10)
    return int((planned - 64 + room // 2 / each) / 1.1)


def _expected(options: ClusterOptions, n: int) -> int:
    """Number of clusters to plan for; a tour has about two entries a vertex. Additional clusters in components
    without a drawn master are not included."""
    if options.masters == "auto":
        return min(n, int(max(_PLANNED_LEAST, n // _PLANNED_SHARE) * 1.1) + 64)
    count: Any = resolve_masters(options.masters, n) if n else 1
    return min(n, int(count * (3 if options.euler else 1) * 1.1) + 64)


METHOD = Method(ClusterOptions, ClusterRun, phases_with(cluster_bytes, _reserved_bytes, _parts_bytes),
                lambda store, options: CLUSTERS, DeviceState(4), _pool, tables_bytes)
clusters = METHOD.solve
