"""The probe of `emdiam plan`: four traversals at the arena of the plan, within a time limit.

Let d_1, d_2, d_3 be the distances to the first three sources p_i, and L the largest of their eccentricities. Every
vertex v has ecc(v) >= l(v) = max over i of max(d_i(v), ecc(p_i) - d_i(v)); the fourth source has the smallest l. v is
settled if d_i(v) + ecc(p_i) <= L for one of the four, as in the first steps of pivots (methods/exact/pivots.py). F-Diam
(Bradley, Akathoott, Burtscher, 2025) winnows all v with 2 d_1(v) <= L; evaluating another v removes a ball of radius
L - ecc(v). If balls around peripheral vertices have the size of the ball of equal radius around p_2, F-Diam evaluates
the sum of 1 / |ball(L - l(v))| over all remaining v.
Work: four BFS, two passes over the distances, and, if the hub is in a small component, one more BFS and a scan for
components. Bytes a vertex: four columns of distances beside the state of traversals; counts by level have at most 2^16
entries. The probe writes nothing.

The profile of a graph: triangles, clustering, degeneracy, degrees, and its distances in relation to D.

The clustering coefficient of a vertex of degree d >= 2 with t triangles is 2 t / (d (d - 1)), of others 0; the average
is over all vertices. The transitivity is 3 triangles / (paths of two edges). D90 is the effective diameter at 0.9
(statistics.py), D the largest diameter of any component. Source: papers/001, Table II and Figure 7, for connected
graphs. Triangles and degeneracy: traverse/triangles.py, traverse/cores.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..distinct import distinct
from ..distribution.result import Profile
from ..engine.cpu import LocalEngine, open_cpu_engine
from ..engine.interface import Engine, Traversal, max_degree_vertex
from ..engine.needs import Needs, traversal_phases
from ..errors import BudgetError, MoreMemoryError, StoppedEarly
from ..methods.forecast import BALL_ROUNDS, Probe
from ..methods.result import Result
from ..progress import Listener, TimeOver, timed, until
from ..store.store import Store, open_store
from ..stream.plan import MIN_BLOCKS, Pool, with_budget
from ..traverse.columns import Column
from ..traverse.cores import core_bytes
from ..traverse.triangles import triangle_bytes
from ..units import peak_rss_bytes
from .locality import BfsReads, Locality
from .opening import needs_of
from .option import PROBE_SECONDS
from .task import Task, execute, make_task, shared_fields, task_of

_PIECE, _LEVEL_BITS = 1 << 17, 16
# Levels are counted in a sample of at most this number of blocks of vertices.
_MOST_PIECES = 1 << 10
# `look_at_ids` has 1 / _TENTH of the edges in memory.
_TENTH = 10


def probe_store(
    store: Store, run: Task, seconds: float = PROBE_SECONDS, reads: BfsReads | None = None
) -> Probe | None:
    """Probe the graph within `seconds` of wall time, with loading. None if the time is too short, if the graph has no
    edges, or if the planned memory is too small for a probe.

    run : the task whose memory and arena the probe uses. reads : measures the bytes of each BFS, also of one that the
    time limit stops. Raises StoreError for a damaged store.
    """
    if store.n_arcs == 0:
        return None
    try:
        with open_cpu_engine(store, needs_of(store, run), memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                             threads=run.threads, progress=until(time.monotonic() + seconds, reads)) as engine:
            return probe_graph(engine, engine.plan.arena_blocks)
    except (TimeOver, BudgetError):
        return None


def look_at_ids(store: Store, seconds: float = PROBE_SECONDS, threads: int = 2) -> Locality | None:
    """The reads of one BFS from the vertex of highest degree with a tenth of the edges in memory, stopped after
    `seconds`. None if the store has too few blocks to measure it. Raises StoreError, BudgetError."""
    n_blocks = store.indices.n_chunks
    share = max(MIN_BLOCKS, n_blocks // _TENTH)
    if share >= n_blocks:
        return None
    run = make_task("ifub", arena_bytes=share * store.indices.chunk_items * store.id_dtype.itemsize, threads=threads)
    reads = BfsReads(store)
    try:
        with open_cpu_engine(store, needs_of(store, run), arena_bytes=run.arena_bytes, threads=threads,
                             progress=until(time.monotonic() + seconds, reads)) as engine:
            _search(engine, max_degree_vertex(engine))
            engine.reporter.tick("end")  # reports the traversal before it
    except TimeOver:
        pass  # `reads` has the measurements up to here, if any
    return reads.locality


def _search(engine: Engine, source: int) -> Traversal:
    """A BFS that is reported as one to listeners."""
    engine.reporter.tick("bfs")
    return engine.bfs(source)


def probe_graph(engine: Engine, arena_blocks: int) -> Probe:
    """The probe on an engine whose graph has an edge. arena_blocks : capacity of the arena in blocks. Passes on errors
    of the engine's listener."""
    begin, before = time.perf_counter(), engine.reporter.stats()
    first, outside, connected = _first(engine)
    runs = [first]
    if not connected:
        before = engine.reporter.stats()
    for _ in range(2):
        runs.append(_search(engine, runs[-1].farthest))
    used, n_counted = engine.reporter.stats() - before, 3 if connected else 2
    tally = _tally(runs)
    unsettled = _unsettled([*runs, _search(engine, tally.centre)], tally.bound)
    levels = _levels_met(_column(runs[1]), tally, engine.facts.n_blocks)
    # If the blocks of a level fit in the arena, the next level finds them there.
    stay = int(levels.sum()) <= arena_blocks * (_eccentricity(runs[1]) + 1)
    reads = levels.cumsum() / engine.facts.n_blocks
    if stay:
        reads = np.minimum(1.0, reads)
    left = max(1, int(tally.slacks.sum()))
    return Probe(
        lower_bound=tally.bound, longest=max(outside, min(2 * _eccentricity(first), engine.facts.n_vertices - 1)),
        n_reached=first.n_reached, connected=connected, reads=used.blocks_read / (n_counted * engine.facts.n_blocks),
        unsettled=unsettled, evaluations=float((tally.slacks / np.maximum(1, tally.balls)).sum()),
        spread_reads=float((tally.slacks * reads).sum() / left), balls=tally.near, seconds=time.perf_counter() - begin)


def _first(engine: Engine) -> tuple[Traversal, int, bool]:
    """The BFS from the hub of the largest component, an upper bound of distances in other components, and whether the
    graph is connected (isolated vertices apart)."""
    run = _search(engine, max_degree_vertex(engine))
    if run.n_reached == engine.facts.n_vertices - engine.facts.n_isolated:
        return run, 0, True
    others = engine.components(run.source)
    assert others is not None, "vertices with an edge were not reached"
    size = others.largest_size()
    hub = others.larger_than(size - 1, most=1)[0].hub
    others.release()
    return _search(engine, hub) if size > run.n_reached else run, size - 1, False


@dataclass(frozen=True)
class _Tally:
    """Counts by level. bound : L. shift : level numbers are shifted right by it. slacks : int64[k], numbers of vertices
    that Winnow does not remove, by L - l(v). balls : int64[k], sizes of the balls around p_2 by radius. near : sizes of
    the balls of radius 0 to BALL_ROUNDS, not shifted. centre : the smallest vertex with the smallest l(v)."""

    bound: int
    shift: int
    slacks: np.ndarray
    balls: np.ndarray
    near: tuple[int, ...]
    centre: int


def _tally(runs: list[Traversal]) -> _Tally:
    """The counts from the distances of the three traversals."""
    eccentricities = [_eccentricity(run) for run in runs]
    bound = max(eccentricities)
    shift = max(0, bound.bit_length() - _LEVEL_BITS)
    bins = (bound >> shift) + 1
    slacks, counts = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    near, most_central = np.zeros(BALL_ROUNDS + 1, np.int64), (bound + 1, -1)
    for vertices, distances in _pieces([_column(run) for run in runs]):
        lower = np.zeros_like(vertices)
        for distance, eccentricity in zip(distances, eccentricities, strict=True):
            np.maximum(lower, np.maximum(distance, eccentricity - distance), out=lower)
        if len(lower):
            most_central = min(most_central, (int(lower.min()), int(vertices[lower.argmin()])))
        slacks += np.bincount((bound - lower[2 * distances[0] > bound]) >> shift, minlength=bins)
        counts += np.bincount(distances[1] >> shift, minlength=bins)
        near += np.bincount(np.minimum(distances[1], BALL_ROUNDS + 1), minlength=BALL_ROUNDS + 2)[:-1]
    return _Tally(bound, shift, slacks, counts.cumsum(), tuple(near.cumsum().tolist()), most_central[1])


def _unsettled(runs: list[Traversal], bound: int) -> int:
    """The number of vertices whose eccentricity may exceed the bound."""
    count = 0
    for vertices, distances in _pieces([_column(run) for run in runs]):
        upper = np.full_like(vertices, 2 * bound)
        for distance, run in zip(distances, runs, strict=True):
            np.minimum(upper, distance + _eccentricity(run), out=upper)
        count += int(np.count_nonzero(upper > bound))
    return count


def _pieces(columns: list[Column]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Reached vertices, int64[k], and their distances in each column, int64[k], piece by piece."""
    for start in range(0, len(columns[0]), _PIECE):
        parts = [column.part(start, start + _PIECE) for column in columns]
        reached = parts[0] != columns[0].unreached
        yield np.flatnonzero(reached) + start, [part[reached].astype(np.int64) for part in parts]


def _levels_met(distances: Column, tally: _Tally, n_blocks: int) -> np.ndarray:
    """The number of blocks with a vertex of each level, int64[k], levels shifted as in the tally. It assumes that
    vertices are spread evenly over the blocks, and samples at most _MOST_PIECES blocks."""
    n = len(distances)
    pieces = min(n, n_blocks)
    chosen = distinct(np.linspace(0, pieces - 1, min(pieces, _MOST_PIECES)).astype(np.int64)).tolist()
    parts = []
    for i in chosen:
        levels = distinct(distances.part(i * n // pieces, (i + 1) * n // pieces)).astype(np.int64)
        parts.append(levels[levels != distances.unreached] >> tally.shift)
    met = np.bincount(np.concatenate(parts), minlength=len(tally.slacks))
    return np.asarray(met * pieces // len(chosen), np.int64)


def _column(run: Traversal) -> Column:
    assert run.distances is not None, "distances were asked for"
    return run.distances


def _eccentricity(run: Traversal) -> int:
    assert run.eccentricity is not None, "the traversal went to its end"
    return run.eccentricity


_DEGREES_AT_A_TIME = 1 << 16
_UNIT = 2.0**46  # sums of coefficients are integers in this unit, so the order of the vertices does not matter


@dataclass(frozen=True)
class _Structure:
    """The figures of a profile that need no distances."""

    degrees: dict[int, int]
    triangles: int
    average_clustering: float | None
    transitivity: float | None
    degeneracy: int


def profile(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> Profile:
    """The profile of a store (open, or a path). options : memory, threads and scratch as for `exact`; sample and seed
    as for `distances`; time_limit of the exact diameter, after which the profile has its bounds. Raises InputError
    (StoreError, BudgetError), and StoppedEarly without a result on Ctrl-C before the distances are computed."""
    if not isinstance(store, Store):
        with open_store(store) as opened:
            return profile(opened, options, progress)
    begin, seconds = time.perf_counter(), dict[str, float]()
    shared = {name: options.get(name) for name in ("memory", "threads", "scratch")}
    with timed(seconds, "distances"):  # first: it refuses a graph without vertices
        found = execute(store, task_of("distances", {
            **shared, **{name: options.get(name) for name in ("sample", "seed")}}), progress)
    with timed(seconds, "structure"):
        fields = shared_fields({name: shared[name] for name in ("memory", "threads")}, "info")
        structure = _structure(store, fields.get("memory_bytes"), fields["threads"], progress)
    with timed(seconds, "diameter"):
        exact = _diameter(store, {**shared, "time_limit": options.get("time_limit")}, progress)
    longest = exact.lower if exact.lower == exact.upper else None
    error = found.standard_error
    result = Profile(
        found.n_vertices, found.n_edges, found.n_components, **vars(structure), mean=found.mean,
        effective_diameter=found.effective_diameter,
        standard_error={"mean": None, "effective_diameter": None} if error is None else {**error.to_dict()},
        pairs=found.pairs, histogram_width=found.histogram_width, unreachable_pairs=found.unreachable_pairs,
        method=found.method, samples=found.samples, seed=found.seed, diameter=longest, lower=exact.lower,
        upper=exact.upper, memory_limit_bytes=found.memory_limit_bytes, store_digest=store.digest)
    if found.effective_diameter is not None and longest:
        result.effective_ratio = found.effective_diameter / longest
    result.peak_rss_bytes = peak_rss_bytes()
    result.seconds = {"total": time.perf_counter() - begin, **seconds}
    return result


def _diameter(store: Store, options: dict[str, Any], progress: Listener | None) -> Result:
    """The exact diameter, or its bounds at the time limit."""
    try:
        found: Result = execute(store, task_of("exact", options), progress)
        return found
    except StoppedEarly as stop:
        if isinstance(stop.result, Result):
            return stop.result
        raise


def structure_needs(store: Store) -> Needs:
    """The memory needs of triangles and degeneracy. With room for the oriented rows of all vertices they read the store
    only twice."""
    n = store.n_vertices
    rows = (store.n_arcs // 2 + 1) * store.id_dtype.itemsize
    table_bytes = max(triangle_bytes(n), core_bytes(n)) + 24 * _DEGREES_AT_A_TIME
    return Needs("profile", traversal_phases(store, lambda column: table_bytes, keeps_distances=False),
                 Pool(rows, min(rows, 1 << 20), min(rows, 1 << 22))).fixed()


def _structure(store: Store, memory_bytes: int | None, threads: int, progress: Listener | None) -> _Structure:
    with open_cpu_engine(store, structure_needs(store), memory_bytes=memory_bytes,
                         threads=threads, progress=progress) as engine:
        engine.reporter.tick("cores")
        degeneracy = engine.degeneracy()
        engine.reporter.tick("triangles")
        try:
            triangles = engine.triangles()
        except MoreMemoryError as error:
            raise with_budget(error, engine.plan, threads) from None
        return _summed(engine, triangles, degeneracy)


def _summed(engine: LocalEngine, triangles: np.ndarray, degeneracy: int) -> _Structure:
    """The figures that follow from the triangles and the degree of every vertex."""
    n, total, coefficients, paths = len(triangles), 0, 0, 0
    counts = np.zeros(engine.core.longest_row + 1, np.int64)
    for start in range(0, n, _DEGREES_AT_A_TIME):
        here = triangles[start : start + _DEGREES_AT_A_TIME]
        degrees = engine.degrees(np.arange(start, start + len(here)))
        counts += np.bincount(degrees, minlength=len(counts))
        pairs = degrees * (degrees - 1) // 2
        shares = np.divide(here, pairs, out=np.zeros(len(here)), where=pairs > 0)
        coefficients += int(np.rint(shares * _UNIT).astype(np.int64).sum())
        total, paths = total + int(here.sum()), paths + int(pairs.sum())
    return _Structure({degree: int(count) for degree, count in enumerate(counts.tolist()) if count}, total // 3,
                      coefficients / _UNIT / n if n else None, total / paths if paths else None, degeneracy)
