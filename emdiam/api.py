"""The Python interface: a function for every command, whose options have the same names.

All functions are exported by emdiam itself, for example as emdiam.exact; docstrings.py adds the keywords to the
docstrings. Distances count edges of the undirected simple graph, unless a function is asked to use directions or
weights. Loops and multiple edges are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, cast

from .api_stores import apply as apply
from .api_stores import chosen, columns_of
from .api_stores import convert as convert
from .api_stores import generate as generate
from .api_stores import reorder as reorder
from .caller import (
    Kept,
    Means,
    as_store,
    deadline_of,
    is_store,
    keeps_all,
    named,
    seconds_left,
    with_history,
)
from .certificates.documents import VerifyReport
from .compiling import WarmupReport, compile_kernels
from .distribution.result import Distances, Profile
from .errors import InputError
from .formats.weights import WeightChoice, named_weights
from .gpu.setting import CPU
from .methods.eccentricity.result import EccentricityResult
from .methods.result import Approximation, Result
from .paths.pairs.matrix import AllPairs
from .paths.result import ShortestPaths
from .progress import BoundsSeen
from .runs.options import check_keywords, keywords_of, parsed
from .runs.places import check_outputs
from .runs.plan import Planned, plan_all, plan_one, tasks_along
from .runs.registry import ALL
from .runs.task import execute, task_of
from .runs.tradeoff import Tradeoff
from .store.store import Store, open_store
from .terms import explicit
from .units import available_cores, parse_duration


def open(path: str | Path, *, directed: bool | None = None) -> Store:  # read as emdiam.open
    """Open a store.

    Parameters
    ----------
    path : str or Path
        A folder, or an address (https, s3, or another that fsspec supports).
    directed : bool, optional
        Whether the store must have directions. Default: either way.

    Returns
    -------
    Store
        A context manager with the vertices and arcs of the graph.

    Raises
    ------
    StoreError
        The store is missing, unfinished, damaged or too new; InputError if it does not match `directed`.
    """
    return open_store(path, directed=directed)


@explicit
def diameter(graph: Any, **options: Any) -> Result:
    """The exact diameter of a graph and a longest shortest path.

    Edges have the length 1 and no direction, unless `directed`, `weight` or `weighted` say otherwise. `exact` has more
    options.

    Parameters
    ----------
    graph : object
        - a Store, or the path of a store or of a file of edges;
        - a list of pairs, an array of two columns, or a tuple (src, dst) of two arrays of ids;
        - a table of pandas, polars or pyarrow, or a stream of record batches;
        - a square matrix or array of scipy.sparse; every stored entry is an edge, explicit zeros too;
        - a graph of networkx, igraph or networkit.

        All except stores are first written to a temporary store, in memory if it is small.

    Returns
    -------
    Result
        `diameter` is None for a disconnected graph; `witness` has the path, in your names of the vertices.

    Examples
    --------
    >>> emdiam.diameter([("a", "b"), ("b", "c"), ("c", "d")]).diameter
    3
    """
    check_keywords("diameter", options)
    return exact(graph, **options)


@explicit
def exact(graph: Any, **options: Any) -> Result:
    """The exact diameter of a graph, with all options of the command `emdiam exact`.

    Returns
    -------
    Result
        The diameter, or with `gap` and `bounds_only` an interval. With `directed` a DirectedResult with
        `largest_distance`, `strongly_connected` and `n_strong_components`; with weights too a WeightedArcResult.

    Raises
    ------
    NotWritten
        The path or the certificate cannot be written; `result` has the answer.

    Examples
    --------
    >>> result = emdiam.exact([(1, 2), (2, 3), (3, 4), (4, 1)])
    >>> result.diameter, result.exact, len(result.witness.path)
    (2, True, 3)
    """
    found: Result = _run("exact", graph, options)
    return found


@explicit
def approximate(graph: Any, **options: Any) -> Approximation:
    """An estimate of the diameter of a graph, and proved bounds on it.

    Returns
    -------
    Approximation
        `estimate` is that of the method, and no bound; `lower` and `upper` are proved, over all components.
        With `directed` a DirectedApproximation, with weights too a WeightedArcApproximation.

    Examples
    --------
    >>> result = emdiam.approximate([(1, 2), (2, 3), (3, 4)], masters=2)
    >>> result.lower <= 3 <= result.upper
    True
    """
    found: Approximation = _run("approx", graph, options)
    return found


@explicit
def eccentricities(graph: Any, **options: Any) -> EccentricityResult:
    """The eccentricity of every vertex, within its component.

    Returns
    -------
    EccentricityResult
        With `radius`, `diameter`, `center`, `periphery`, `histogram`, and `by_vertex()` if they are kept. With
        `directed` or weights a DirectedEccentricities, WeightedEccentricities or WeightedArcEccentricities.

    Examples
    --------
    >>> found = emdiam.eccentricities([("a", "b"), ("b", "c")])
    >>> found.radius, list(found.center), found.by_vertex()["a"]
    (1, ['b'], 2)
    """
    found: EccentricityResult = _run("ecc", graph, {"keep": keeps_all(graph), **options})
    return found


@explicit
def distances(graph: Any, **options: Any) -> Distances:
    """The distribution of distances: pairs of vertices by distance, mean, and effective diameter.

    Returns
    -------
    Distances
        With `pairs`, `mean`, `effective_diameter`, and their standard errors for a sample. With weights a
        WeightedDistances or WeightedArcDistances.

    Raises
    ------
    NotWritten
        `out` cannot be written; `result` has the answer.

    Examples
    --------
    >>> emdiam.distances([("a", "b"), ("b", "c")], exact=True).pairs
    {1: 2, 2: 1}
    """
    check_keywords("distances", options)
    found: Distances = _run("distances", graph, options)
    return found


@explicit
def all_pairs(graph: Any, **options: Any) -> AllPairs:
    """The distances between all pairs of vertices. A store with weights or directions is used with them.

    Returns
    -------
    AllPairs
        With `distances`, a matrix, and `ids`; with `out` the matrix is a Zarr group with the ids of the vertices.

    Raises
    ------
    NegativeCycle
        With `cycle` and `weight`.

    Examples
    --------
    >>> emdiam.all_pairs([("a", "b"), ("b", "c")]).distances.tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """
    check_keywords("all_pairs", options)
    found: AllPairs = _run("apsp", graph, options)
    return found


@explicit
def profile(graph: Any, **options: Any) -> Profile:
    """Degrees, triangles, clustering, degeneracy, mean distance, effective diameter and diameter of a graph.

    Returns
    -------
    Profile
        At the end of `time_limit` with bounds on the diameter.
    """
    from .runs.probe import profile as make_profile

    check_keywords("profile", options)
    progress, keep = options.pop("progress", None), Kept(columns=columns_of(options))
    asked = parsed(options, "info")
    means = Means(asked.get("memory_bytes"), asked.get("threads"), asked.get("scratch"))
    with as_store(graph, means, progress, keep) as (store, origin):
        return named(lambda: make_profile(store, options, progress), graph, origin)


@explicit
def shortest_paths(graph: Any, source: Any, **options: Any) -> ShortestPaths:
    """Shortest paths from one vertex. A store with weights or directions is used with them.

    Parameters
    ----------
    source : object
        The first vertex of all paths, by your name for it.

    Returns
    -------
    ShortestPaths
        With `distances`, `predecessors` and `paths`; with `target` also `distance` and `path`.

    Raises
    ------
    NegativeCycle
        With `cycle` and `weight`.
    OverflowError
        Distances may not fit 64 bits.

    Examples
    --------
    >>> emdiam.shortest_paths([("a", "b"), ("b", "c")], "a", target="c").path
    ['a', 'b', 'c']
    """
    check_keywords("shortest_paths", options)
    if source is None:
        raise InputError("paths begin at a vertex", text=repr(source), remedy="name it")
    found: ShortestPaths = _run("sssp", graph, {"keep": True, **options, "source": source})
    return found


@explicit
def plan(store: Any, **more: Any) -> list[Planned]:
    """The memory and the reads of runs, without running them.

    Parameters
    ----------
    store : object
        A store, or a graph of another kind that `diameter` takes.

    Returns
    -------
    list of Planned
        One for each method, or for `method` alone; `refused` has the reason if memory is too small.
    """
    asked, ends = more.get("probe"), columns_of(more)
    method, probe = chosen("plan", more, "method", "probe")
    weights, directed, device = _weights(more), bool(more.pop("directed", False)), more.get("device")
    # Only runs along edges on the CPU are forecast by a probe.
    probes = not directed and weights is None and device in (None, CPU)
    if asked is not None and not probes:
        raise InputError("a probe is for plans along edges on the CPU", text=str(asked), remedy="leave --probe out")
    seconds = parse_duration(probe) if probes and probe is not None else None
    runs = tasks_along([method] if method != ALL else None, more, directed, weights is not None)
    first = next(runs)
    with as_store(store, Means(first.memory_bytes, first.threads), keep=Kept(directed, weights, ends)) as (opened, _):
        return plan_all(opened, chain([first], runs), seconds) if method == ALL else [plan_one(opened, first, seconds)]


@explicit
def tradeoff(store: Store | str | Path, out: str | Path, **options: Any) -> Tradeoff:
    """Compare cost and quality of approximations of a store: every method, with every number of masters and every
    seed, in a separate process with all of the memory.

    Parameters
    ----------
    store : Store or str or Path
        Opened, or its path.
    out : str or Path
        A folder for the results, tables and plots; the same call continues from its contents.

    Returns
    -------
    Tradeoff
        `rows`, one per run, to_pandas() and plot().
    """
    check_keywords("tradeoff", options)
    grid = import_module(".report.tradeoff", __package__)  # imported late, since its runs are commands
    grid.check_used(options)
    asked = dict(zip(known := keywords_of("tradeoff"), chosen("tradeoff", options, *known), strict=True))
    if not isinstance(store, Store | str | Path):
        raise InputError("a trade-off is of a store, which every run opens",
                         remedy="convert it first: emdiam convert GRAPH STORE")
    place = store.address if isinstance(store, Store) else store
    check_outputs("tradeoff", {"store": place, "out": out})
    return cast("Tradeoff", grid.tradeoff(place, out, grid.options_of(asked), asked["progress"]))


@explicit
def verify(certificate: str | Path, store: Any, **options: Any) -> VerifyReport:
    """Prove again the claims of a certificate about a graph.

    Parameters
    ----------
    certificate : str or Path
        The file of the certificate, or its address.
    store : object
        A store, or a graph of another kind that `diameter` takes, such as a file of edges.

    Returns
    -------
    VerifyReport
        `verified` is False, with a `reason`, for an intact certificate that proves nothing.
    """
    from .certificates.documents import read_certificate
    from .certificates.run import verify as verify_certificate

    check_keywords("verify", options)
    weights, columns, (progress,) = _weights(options), columns_of(options), chosen("verify", options, "progress")
    asked = parsed(options, "verify")
    memory_bytes, threads = asked.get("memory_bytes"), asked.get("threads")
    document = read_certificate(certificate)  # before any conversion
    if document.weighted and weights is None and not is_store(store):
        weights = WeightChoice()
    means = Means(memory_bytes, threads, asked.get("scratch"))
    with as_store(store, means, progress, Kept(document.directed, weights, columns)) as (opened, origin):
        report = verify_certificate(document, opened, memory_bytes=memory_bytes, threads=threads or available_cores(),
                                    progress=progress)
    report.converted = origin.converted
    return report


@explicit
def warmup(**options: Any) -> WarmupReport:
    """Compile kernels ahead of the first run. Without any compiled kernels this takes half a minute, or some minutes.

    Returns
    -------
    WarmupReport
        With the number of `kernels` that were compiled.
    """
    check_keywords("warmup", options)
    return compile_kernels(*chosen("warmup", options, "all", "progress"))


def _run(command: str, graph: Any, options: dict[str, Any]) -> Any:
    """The result of a command's task for a graph of any kind, with the caller's names."""
    check_outputs(command, {**options, "store": graph})
    paths = command in ("sssp", "apsp")
    weights, directed = _weights(options, negative=paths), options.get("directed", False)
    progress, scratch, keep = options.pop("progress", None), options.get("scratch"), Kept(
        bool(directed), weights, columns_of(options))
    if paths or weights is not None:
        options.pop("scratch", None)  # only of the temporary store
    if paths:
        options.pop("directed", None)  # the store determines this
    task = task_of(command, {**options, "weighted": weights is not None and not paths})
    deadline = deadline_of(task.time_limit)
    means = Means(task.memory_bytes, task.threads, scratch, task.cluster is None, deadline)
    with as_store(graph, means, progress, keep) as (store, origin):
        bounds, limited = BoundsSeen(progress), replace(task, time_limit=seconds_left(deadline))
        limited = replace(limited, options=origin.in_ids(limited.options))
        return with_history(lambda: named(lambda: execute(store, limited, bounds), graph, origin, store), bounds)


def _weights(options: dict[str, Any], negative: bool = False) -> WeightChoice | None:
    """The weights that these options ask for, or None; the options are removed. negative : whether weights may be
    negative. Raises InputError."""
    return named_weights(options.pop("weight", None), options.pop("weighted", False), negative)
