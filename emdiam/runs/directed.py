"""Runs on stores with directions, from their options to their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..durable import check_file
from ..errors import InputError, NotWritten, StoppedEarly
from ..progress import Listener, TimeOver, timed, until
from ..store.store import Store, check_directed, open_store
from ..units import available_cores, parse_duration, parse_size, peak_rss_bytes
from ..vertex_tables import PIECE, Piece, write_vertices, writing_bytes
from .options import taken

if TYPE_CHECKING:
    from ..engine.directed import DirectedEngine
    from ..methods.directed.apsp import DirectedEccentricities
    from ..methods.directed.method import DirectedMethod, DirectedOptions
    from ..methods.directed.result import DirectedResult
    from ..stream.plan import Phase

DIRECTED = ("pivots", "graph-diameter", "apsp")
_IN_BATCHES = ("apsp", "eccentricities")


@contextmanager
def opened(store: Store, given: Mapping[str, Any], phases: tuple[Phase, ...], progress: Listener | None,
           batches: bool = False) -> Iterator[DirectedEngine]:
    """An engine on the store. given : by the names of the command line. batches : of many sources are wanted. Raises
    InputError (StoreError, BudgetError)."""
    from ..engine.directed import open_directed_engine, plan_directed
    from ..stream.plan import Pool
    from ..traverse.multi import MOST_BITS, NARROW_BITS, batch_bytes

    threads, n = given.get("threads") or available_cores(), store.n_vertices
    memory, arena = (None if given.get(name) is None else parse_size(given[name]) for name in ("memory", "arena"))
    pool = Pool(batch_bytes(n, MOST_BITS), batch_bytes(n, NARROW_BITS), batch_bytes(n, NARROW_BITS))
    held = writing_bytes() if given.get("out") is not None else 0
    plan = plan_directed(store, phases, memory_bytes=memory, arena_bytes=arena, threads=threads,
                         pool=pool if batches else None, held_bytes=held)
    with open_directed_engine(store, plan, threads=threads, progress=progress) as engine:
        yield engine


def solve_directed(store: Store | str | Path, method: str, options: Mapping[str, Any],
                   progress: Listener | None = None) -> DirectedResult:
    """The largest finite distance of a store with directions (opened, or a path), by one of DIRECTED. options : by the
    names of the command line; None counts as not given.

    Raises InputError (StoreError, BudgetError; NotWritten with `result` where the path cannot be written), and
    StoppedEarly with `result` on Ctrl-C and at the end of the time."""
    from ..methods.directed.apsp import Apsp
    from ..methods.directed.graph_diameter import GraphDiameter
    from ..methods.directed.pivots import KEPT, Pivots

    classes: dict[str, type[DirectedMethod]] = {one.name: one for one in (Pivots, GraphDiameter, Apsp)}
    if method not in classes:
        raise InputError(f"the method {method} is for undirected graphs", remedy=f"use one of {', '.join(DIRECTED)}")
    given = taken(options, "exact", "arcs")
    columns = 2 + 2 * KEPT if method == "pivots" else 2
    return _solved(store, classes[method], given, (columns, 8), progress)


def eccentricities_directed(store: Store | str | Path, direction: str, options: Mapping[str, Any],
                            progress: Listener | None = None) -> DirectedEccentricities:
    """The eccentricities of all vertices along arcs ("out") or against them ("in"); as solve_directed, with the option
    out : a file for them, a row a vertex: id, eccentricity, component (the number of its strong component); and keep :
    whether the result has ids and bounds of all vertices."""
    from ..methods.directed.apsp import Eccentricities, EccentricitiesIn

    if direction not in ("out", "in"):
        raise InputError("eccentricities are those of distances out or in", text=direction)
    given = taken(options, "ecc", "arcs")
    if given.get("out") is not None:
        check_file(given["out"])
    kind = EccentricitiesIn if direction == "in" else Eccentricities

    def told(method: Any, result: DirectedResult) -> DirectedEccentricities:
        known: DirectedEccentricities = method.told(result, bool(given.get("keep")))
        if given.get("out") is not None and not known.unresolved:
            try:
                with timed(known.seconds, "write"):
                    write_vertices(Path(given["out"]), _pieces(method), "the table of eccentricities")
                known.out = str(given["out"])
            except InputError as error:
                known.not_written.append(str(error))
            known.seconds["total"] += known.seconds["write"]
        return known

    return cast("DirectedEccentricities", _solved(store, kind, given, (2, 2), progress, told))


def component_counts(store: Store | str | Path, options: Mapping[str, Any],
                     progress: Listener | None = None) -> dict[str, Any]:
    """Strong and weak components of a store with directions: n_strong_components, largest_strong_component,
    strongly_connected, n_components, largest_component (vertices). options : memory, arena, threads. Raises InputError
    (StoreError, BudgetError)."""
    import numpy as np

    from ..methods.directed.method import phases

    with directed_store(store, options) as place, opened(place, options, phases(place), progress) as engine:
        engine.reporter.tick("components")
        numbers, n_strong = engine.strong
        largest = int(np.bincount(numbers, minlength=1).max())
        roots, n_weak = engine.weak()
        return {"n_strong_components": n_strong, "largest_strong_component": largest,
                "strongly_connected": n_strong == 1, "n_components": n_weak,
                "largest_component": int(np.bincount(roots, minlength=1).max())}


def _solved(store: Store | str | Path, kind: type[DirectedMethod], given: Mapping[str, Any], held: tuple[int, int],
            progress: Listener | None,
            told: Callable[[Any, DirectedResult], DirectedResult] = lambda _, result: result) -> DirectedResult:
    """The result of a method. held : columns and vectors that it holds. told(method, result) : what is told, also of a
    run that was stopped."""
    from ..methods.directed.method import phases

    if given.get("path") is not None:
        check_file(given["path"])
    seconds = None if given.get("time_limit") is None else parse_duration(given["time_limit"])
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        with directed_store(store, given) as place, opened(
                place, given, phases(place, *held), until(deadline, progress), kind.name in _IN_BATCHES) as engine:
            return _told(kind(engine, _options(given, deadline)), told)
    except TimeOver:
        raise StoppedEarly("the time limit is over before there was a bound") from None


def _told(method: DirectedMethod, told: Callable[[Any, DirectedResult], DirectedResult]) -> DirectedResult:
    """What a method finds, as it is told."""
    from ..methods.directed.method import run_directed

    try:
        result = run_directed(method)
    except StoppedEarly as stop:
        if stop.result is not None:
            _complete(stop.result, method.engine)
            stop.result = told(method, cast("DirectedResult", stop.result))
        raise
    _complete(result, method.engine)
    result = told(method, result)
    if result.not_written:
        raise NotWritten("; ".join(result.not_written), result)
    return result


@contextmanager
def directed_store(store: Store | str | Path, given: Mapping[str, Any]) -> Iterator[Store]:
    """The store, opened (and closed again) if it is a path. Raises StoreError, InputError without directions."""
    if isinstance(store, Store):
        check_directed(store, True)
        yield store
        return
    with open_store(store, directed=True, evict_page_cache=bool(given.get("evict_page_cache"))) as place:
        yield place


def _options(given: Mapping[str, Any], deadline: float | None) -> DirectedOptions:
    from ..methods.definition import Limits
    from ..methods.directed.method import DirectedOptions

    limits = Limits(gap=given.get("gap"), seconds=None if deadline is None else max(0.0, deadline - time.monotonic()),
                    connected=bool(given.get("require_connected")))
    more = {name: given[name] for name in ("seed", "sweeps") if name in given}
    path = given.get("path")
    return DirectedOptions(path_file=None if path is None else Path(path), limits=limits, **more)


def _complete(result: Any, engine: DirectedEngine) -> None:
    """`result` with what the method cannot know."""
    store, plan = engine.store, engine.plan
    result.seconds = {**result.seconds, "load": engine.load_seconds, "total": result.seconds["total"]
                      + engine.load_seconds}
    result.bytes_read = engine.reporter.stats().bytes_read
    result.memory_limit_bytes, result.planned_rss_bytes = plan.memory_limit_bytes, plan.planned_rss_bytes
    result.peak_rss_bytes = peak_rss_bytes()
    result.store_digest, result.store_path, result.store_name = store.digest, store.path, store.name


def _pieces(method: Any) -> Iterator[Piece]:
    """The file of all eccentricities, in pieces."""
    import numpy as np

    for start in range(0, method.n, PIECE):
        ids = np.arange(start, min(start + PIECE, method.n))
        yield {"id": method.engine.store.user_ids(ids), "eccentricity": method.values[ids],
               "component": method.numbers[ids]}
