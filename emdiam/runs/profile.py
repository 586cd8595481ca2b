"""The profile of a graph: triangles, clustering, degeneracy, degrees, and how large the distances are beside D.

The clustering coefficient of a vertex of degree d >= 2 with t triangles is 2 t / (d (d - 1)), of others 0; the average
is over all vertices. The transitivity is 3 triangles / (paths of two edges). D90 is the effective diameter at 0.9
(statistics.py), D the largest diameter of any component. As in papers/001, Table II and Figure 7, which has them for
connected graphs. Triangles and degeneracy: traverse/triangles.py, traverse/cores.py.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..distribution.result import Profile
from ..engine.cpu import LocalEngine, open_cpu_engine
from ..engine.needs import Needs, traversal_phases
from ..errors import MoreMemoryError, StoppedEarly
from ..methods.result import Result
from ..progress import Listener, timed
from ..store.store import Store, open_store
from ..stream.plan import Pool, with_budget
from ..traverse.cores import core_bytes
from ..traverse.triangles import triangle_bytes
from ..units import peak_rss_bytes
from .task import execute, shared_fields, task_of

_PIECE = 1 << 16
_UNIT = 2.0**46  # of sums of coefficients, so that the order of the vertices does not matter


@dataclass(frozen=True)
class _Structure:
    """What needs no distances."""

    degrees: dict[int, int]
    triangles: int
    average_clustering: float | None
    transitivity: float | None
    degeneracy: int


def profile(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> Profile:
    """The profile of a store (opened, or a path). options : by name, memory, threads and scratch as for `exact`; sample
    and seed of the distances, as for `distances`; time_limit of the exact diameter, whose bounds are told where it is
    over. Raises InputError (StoreError, BudgetError), StoppedEarly without a result on Ctrl-C before there are
    distances."""
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
    """The exact diameter, or what is proved of it in the time."""
    try:
        found: Result = execute(store, task_of("exact", options), progress)
        return found
    except StoppedEarly as stop:
        if isinstance(stop.result, Result):
            return stop.result
        raise


def structure_needs(store: Store) -> Needs:
    """What triangles and degeneracy need of memory; room for the oriented rows of all vertices makes them read the
    store twice."""
    n = store.n_vertices
    rows = (store.n_arcs // 2 + 1) * store.id_dtype.itemsize
    held = max(triangle_bytes(n), core_bytes(n)) + 24 * _PIECE
    return Needs("profile", traversal_phases(store, lambda column: held, keeps_distances=False),
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
    """What follows from the triangles of every vertex and the degrees."""
    n, total, coefficients, paths = len(triangles), 0, 0, 0
    counts = np.zeros(engine.core.longest_row + 1, np.int64)
    for start in range(0, n, _PIECE):
        here = triangles[start : start + _PIECE]
        degrees = engine.degrees(np.arange(start, start + len(here)))
        counts += np.bincount(degrees, minlength=len(counts))
        pairs = degrees * (degrees - 1) // 2
        shares = np.divide(here, pairs, out=np.zeros(len(here)), where=pairs > 0)
        coefficients += int(np.rint(shares * _UNIT).astype(np.int64).sum())
        total, paths = total + int(here.sum()), paths + int(pairs.sum())
    return _Structure({degree: int(count) for degree, count in enumerate(counts.tolist()) if count}, total // 3,
                      coefficients / _UNIT / n if n else None, total / paths if paths else None, degeneracy)
