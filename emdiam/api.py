"""The Python interface: a function for every command, with the same options by the same names.

Everything here is reachable from emdiam itself, as emdiam.exact. Sizes are bytes as int or texts like "4GiB". Distances
are hop counts of the undirected simple graph: directions, weights, loops and multiple edges are dropped whatever the
graph came as, but where a function is asked to go by directions or weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from .caller import (
    Kept,
    Means,
    as_store,
    check_weights,
    deadline_of,
    files_of,
    is_store,
    named,
    seconds_left,
    source_of,
)
from .certificates.documents import VerifyReport
from .checkpoint.options import chosen_checkpoint
from .compiling import WarmupReport, compile_kernels
from .conversion.convert import ConvertOptions, ConvertReport
from .conversion.convert import convert as convert_source
from .conversion.writing import ReorderReport
from .distribution.result import Distances, Profile
from .errors import EmdiamError, InputError, NotWritten, StoppedEarly
from .formats.source import EdgeSource, two_columns
from .formats.weights import WeightChoice, named_weights
from .generators.make import GenerateReport
from .gpu.setting import CPU
from .methods.approx.result import Approximation
from .methods.eccentricity.result import EccentricityResult
from .methods.result import Result
from .paths.pairs.matrix import AllPairs
from .paths.result import ShortestPaths
from .progress import BoundsSeen
from .runs.options import CHECKPOINT, check_keywords, keywords_of, parsed
from .runs.plan import Planned, plan_all, plan_one
from .runs.registry import ALL, METHODS, entry_of
from .runs.task import execute, task_of
from .store.layout import NATURAL
from .store.store import Store, open_store
from .terms import explicit
from .units import available_cores, parse_count, parse_duration

# Vertices of a store whose eccentricities a result has where nothing is said.
_MOST_KEPT = 1 << 18
_OF_FILES, _OF_TABLES = ("columns", "header", "encoding", "vertices", "bipartite"), {"columns", "bipartite"}
# Of all that write a store.
_WRITING = frozenset(keywords_of("reorder").keys() - {"order", "seed"})


def _chosen(function: str, given: dict[str, Any], *names: str) -> list[Any]:
    """The values of these keywords, which are taken out of what was given to a function, or their defaults."""
    known = keywords_of(function)
    return [given.pop(name, known[name].python_default) for name in names]


def open(path: str | Path, *, directed: bool | None = None) -> Store:  # read as emdiam.open
    """Open the store at `path`: a folder, or an address (https, s3, or another that fsspec knows).

    directed : whether its edges are to have directions; None: either way. Raises StoreError for a store that is
    missing, foreign, unfinished, damaged or too new, and InputError for one that is not as `directed` says.
    """
    return open_store(path, directed=directed)


@explicit
def convert(inputs: Any, target: str | Path, **options: Any) -> ConvertReport | ReorderReport:
    """Convert edge lists, or a graph in memory, into a store.

    inputs : a file, a glob, "-" for standard input, or several of them (together one graph); a graph of any kind that
    `diameter` takes, without format, ids and checkpoints; or a store, which is written in this order, as `reorder`
    does. target : the store to write. Options, all by name: memory : peak resident memory of this process; default:
    what machine and cgroup leave. scratch : folder for temporary files, default beside the target. force : replace the
    target. format : name of the input format, default from suffix and content. ids : "int", "string" or "auto". columns
    : the two ends of an edge in a table, by name or by number from 1 on, as "u,v" or ("u", "v"). header : what the
    first line of a text is: "none" (an edge), "counts" of vertices and edges, "names", or "auto". encoding : of texts.
    vertices : a file, or several, that lists the vertices: ids, or ids and names, which answers have then.
    bipartite : the two ends are two sides that are numbered apart. codec : "lz4", "pcodec" or "none". chunk : ids per
    chunk. order : of the vertices, see `reorder`; default "natural". directed : keep the directions of arcs, and their
    reverse beside them; in the natural order alone. weights : keep the weights of edges: True, or the name or number of
    the column, or attribute, that has them, or a WeightChoice, by which some may be negative; arrays of edges have a
    third column then, and tuples of arrays a third one. A store keeps those it has. weight : their name, as of other
    functions. threads : default: the cores this process may use. progress : called with progress.Event. checkpoint,
    checkpoint_every, resume, keep_checkpoint : a folder, to go on from what was done before a stop; see the command.

    Returns a report with the store's record and what was dropped or relabelled. Raises InputError
    for bad input (BudgetError where memory or disk cannot do); then there is no target.
    """
    check_keywords("convert", options)
    format, ids, order, directed, weights, weight = _chosen(
        "convert", options, "format", "ids", "order", "directed", "weights", "weight")
    writing = {name: value for name, value in options.items() if name in _WRITING}
    reading = {name: options[name] for name in _OF_FILES if options.get(name) not in (None, "", "auto", False)}
    if isinstance(inputs, Iterator) and not hasattr(inputs, "__arrow_c_stream__"):
        inputs = list(inputs)
    files = files_of(inputs, format is not None)
    is_store = isinstance(inputs, Store) or (files is None and isinstance(inputs, str | Path))
    of_files = reading.keys() - (set() if is_store else _OF_TABLES)
    if files is None and (format is not None or ids != "auto" or of_files):
        raise InputError(f"format, ids, {', '.join(_OF_FILES)} say how a file is read, and the input is none",
                         remedy="leave them out")
    if directed and (is_store or order != NATURAL):
        raise InputError("directions are kept by a conversion of edges in the natural order alone",
                         remedy="leave the order or the directions out")
    choice = weights if isinstance(weights, WeightChoice) else named_weights(weight, weights or False)
    if is_store:
        if choice is not None:
            check_weights(inputs, choice)
        return reorder(inputs, target, order, **writing)
    source = _graph_to_convert(inputs, writing, choice, reading) if files is None else files
    chosen = convert_options(writing, fmt=format, ids=ids, directed=directed, weights=choice, **reading)
    if order == NATURAL:
        return convert_source(source, Path(target), options=chosen)
    from .conversion.ordered import convert_ordered

    return convert_ordered(source, target, order, options=chosen)


def _graph_to_convert(graph: Any, options: dict[str, Any], weights: WeightChoice | None,
                      reading: dict[str, Any]) -> EdgeSource:
    """The source of a graph in memory, read as `reading` says, of which nothing is left. Raises InputError, also for
    options of checkpoints."""
    source = source_of(graph, weights, _columns(reading), reading.pop("bipartite", False))
    if chosen_checkpoint(options) is not None:
        raise InputError("a graph in memory is not there any more after a stop",
                         remedy="leave the options of checkpoints out, or write its edges to a file")
    return source


@explicit
def reorder(store: Store | str | Path, target: str | Path, order: str, **options: Any) -> ReorderReport:
    """Write the graph of a store to a new one, its vertices in another order; answers stay in your ids.

    store : opened, or the path of one. target : the store to write. order : "natural" (increasing ids),
    "degree" (descending degree), "bfs" (by component, then by distance from its hub), "cluster" (near
    vertices in the same blocks). Options, all by name: memory, scratch, force, threads, progress,
    checkpoint as for `convert`; codec, chunk : default those of the store; seed : of orders with chance.

    Returns a report with the record of the new store. Raises InputError (StoreError; BudgetError
    where memory or disk cannot do); then there is no target.
    """
    from .conversion.reorder import reorder as reorder_store

    check_keywords("reorder", options)
    (seed,), place = _chosen("reorder", options, "seed"), store.address if isinstance(store, Store) else store
    with open_store(place) as opened:
        record = opened.record
    options["codec"] = options.get("codec") or record.codec
    options["chunk"] = options.get("chunk") or record.chunk_ids
    return reorder_store(place, target, order, seed=seed, options=convert_options(options))


@explicit
def generate(name: str, target: str | Path, **parameters: Any) -> GenerateReport:
    """Generate a graph of a known class straight into a store; equal arguments give equal graphs.

    name : of the class, a key of emdiam.generators.CLASSES. target : the store to write. vertices : how many, or a
    text like "2^20"; None where the class has other parameters. seed : of the random numbers. weights : of the edges,
    as "uniform:1,100" (whole numbers, or floats where a bound has a point); None: none. Options by name: memory,
    scratch, force, codec, chunk, threads, progress as for `convert`, and the parameters of the class, such as
    sides="20x30".

    Returns a report with that of the conversion and known_diameter, where there is a formula. Raises InputError for
    an unknown class or parameter, and as `convert`.
    """
    from .generators.make import generate as generate_store

    vertices, seed, weights = _chosen("generate", parameters, "vertices", "seed", "weights")
    writing = {key: parameters.pop(key) for key in list(parameters) if key in _WRITING}
    count = parse_count(vertices) if isinstance(vertices, str) else vertices
    return generate_store(name, target, vertices=count, seed=seed, weights=weights, parameters=parameters,
                          options=convert_options(writing))


def convert_options(given: dict[str, Any], **more: Any) -> ConvertOptions:
    """The options of the conversion in the library's units, and `more` of them. Raises InputError for a bad size."""
    written = parsed({name: value for name, value in given.items() if name not in CHECKPOINT}, "convert")
    return ConvertOptions(**{"threads": available_cores(), "checkpoint": chosen_checkpoint(given), **more, **written})


@explicit
def diameter(graph: Any, **options: Any) -> Result:
    """The exact diameter of `graph`, in hops, with a witness.

    graph : a Store, the path of one, or of a file of edges; a list of pairs, an array of two columns, a tuple
        (src, dst) of one-dimensional arrays of ids; a table of pandas, polars or pyarrow, with columns source and
        target, src and dst, from and to, or two of one kind; a square scipy.sparse matrix or array (any format; int32
        or int64 indices, sorted or not, duplicates allowed; every stored entry is an edge, explicit zeros too); a
        graph of networkx, igraph or networkit. All but a store is first written to a temporary one, which lies in
        memory too if it is small.
    method : see emdiam.runs.registry.EXACT. Options, all by name:
    memory : peak resident memory of this process, default: what machine and cgroup leave.
    arena : memory for decoded edges alone. threads : default: the cores this process may use.
    device : what traversals run on: "cpu" (default), "gpu", "gpu:N", or "auto" for a GPU where there is
        one. bfs, mapping : variant and load balancing on a GPU, see docs/algorithms/gpu-bfs.md.
    workers : share the run out to N worker processes of dask.distributed on this machine, or, with
        scheduler="tcp://host:8786" (an address, the file of a scheduler, a cluster of Dask or a distributed.Client),
        N of its workers. worker_memory, worker_threads : of each. With a device other
        than "cpu" each does large levels on a GPU of its machine. dashboard : let every user of this machine look at
        the run in Dask's dashboard; the logger "emdiam" says where it is.
    scratch : folder for the temporary store of a graph in memory, and for what memory has no room for, default:
        $TMPDIR or /var/tmp. progress : called with progress.Event.
    require_connected : raise errors.DisconnectedError for a graph of several components.
    directed, weight, weighted : along arcs, or along weights, as of `exact`. Without them directions and weights are
        dropped; the result has directions_dropped, which says whether the graph had any.
    columns : of a file or a table, the two with the ends of edges, as of `convert`. Every function has it.

    The witness carries the caller's names: row numbers, the ids of arrays and tables, networkx nodes, igraph's names.
    Raises InputError (BudgetError where memory cannot do), and StoppedEarly on Ctrl-C, whose
    `result` holds the bounds so far. Raises TypeError for an option that there is not.
    """
    check_keywords("diameter", options)
    return exact(graph, **options)


@explicit
def exact(graph: Any, **options: Any) -> Result:
    """The run of `emdiam exact` on `graph` (see `diameter`), with all that the command takes.

    Options by name are those of `diameter` and of the command: time_limit (seconds or a text like "8h"), gap,
    bounds_only, components (how many of the largest are listed, with their diameters, in details["components"]),
    certificate and path (files), vram, evict_page_cache, reorder ("auto", "never", "always": whether a streamed store
    is put into another order first), keep_reordered (a store to write then), vertex_state ("auto", "ram", "disk":
    where what belongs to vertices is), direction ("work", "beamer", "paper": which way a level of a BFS goes),
    checkpoint (a folder), checkpoint_every, resume, keep_checkpoint, and the
    method's own, such as seed=3, batches=False, k=4. weighted : whether distances are sums of the weights that the
    store, or the graph in memory, has (methods "pivots" and "bounding"; memory, threads, certificate, path, time_limit
    and progress go with it). weight : the name of the column or attribute that has the weights, as "km", which asks for
    them too; a text as weighted is the name. A store has the weights that were converted, by their name.
    directed : whether paths go along the arcs of a store with directions, or of a graph that has them; the result is a
    DirectedResult then, with largest_distance, strongly_connected and n_strong_components (methods "pivots",
    "graph-diameter" and "apsp"; memory, arena, threads, scratch, require_connected, time_limit, evict_page_cache, gap,
    path, seed, sweeps and progress go with it). With weighted or weight too, lengths are sums of weights along arcs;
    the result is a WeightedArcResult then (of these, gap does not go with it).
    Returns the result of the command, which may be an interval.
    Raises as `diameter`, InputError for an option that the method has not, and
    NotWritten with `result` where the path or the certificate cannot be written in the end.
    """
    found: Result = _run("exact", graph, options)
    return found


@explicit
def approximate(graph: Any, **options: Any) -> Approximation:
    """An estimate of the diameter of `graph`, in hops, and bounds on it that are proved.

    graph, and by name memory, arena, threads, device, bfs, mapping, workers, scheduler, worker_memory, worker_threads,
    dashboard, scratch, progress, require_connected : as for `diameter`. method : see
    emdiam.runs.registry.APPROXIMATIONS. Further options : time_limit, vram, evict_page_cache, reorder, keep_reordered,
    vertex_state and those of checkpoints as for `exact`, and of the method, such as masters="2^20", seed=1,
    iterations=5 or known_diameter=40.

    weighted, weight : along weights, as of `exact` (methods "sweep" with iterations, "clusters" with masters and seed;
    memory, threads, scratch, time_limit, known_diameter, progress). directed : along arcs, with weights too ("sweep";
    also arena, require_connected, evict_page_cache); results are DirectedApproximation, WeightedArcApproximation.

    `estimate` is what the method reports; `lower` and `upper` are proved, over all components. Raises as `diameter`,
    and InputError for an option that the method does not have. StoppedEarly's `result` holds what is known so far.
    """
    found: Approximation = _run("approx", graph, options)
    return found


@explicit
def eccentricities(graph: Any, **options: Any) -> EccentricityResult:
    """The eccentricity of every vertex of `graph`, in hops, within its component.

    graph, and by name memory, arena, threads, device, bfs, mapping, workers, scheduler, worker_memory, worker_threads,
    dashboard, scratch, progress, require_connected, time_limit, vram, evict_page_cache, reorder, keep_reordered,
    vertex_state and those of checkpoints : as for `exact`. what : "all", or "radius" or "center" of the largest
    component alone, which take a few traversals. out : a file for the eccentricities, Parquet or, by its name, CSV.
    certificate : a file for the proof. keep : whether the result has them too (by_vertex(), ids, lower_bounds,
    upper_bounds); default: if `graph` is no store. directed : "out", the largest distance along arcs from every
    vertex to one that it reaches, or "in", to it from one that reaches it, of a store with directions, or of a
    graph that has them; the result is a DirectedEccentricities then (of the options, memory, arena, threads,
    scratch, require_connected, time_limit, evict_page_cache, out, keep and progress go with it). weighted : whether
    distances are sums of the weights that the store has; the result is a WeightedEccentricities then (memory,
    threads, scratch, time_limit, evict_page_cache, what, out, keep and progress go with it). weight : their name, as of
    `exact`. With directions and weights it is a WeightedArcEccentricities.

    The result has radius, diameter, center, periphery and histogram. Raises as `exact`; StoppedEarly's `result` has
    bounds.
    """
    found: EccentricityResult = _run("ecc", graph, {"keep": _is_small(graph), **options})
    return found


@explicit
def distances(graph: Any, **options: Any) -> Distances:
    """How the distances of `graph` (of any kind that `diameter` takes) are distributed: unordered pairs of different
    vertices by distance, pairs that no path joins, the mean, and the effective diameter.

    By name, one of: sample : count from K vertices, drawn at random (default 1,024; a graph of no more is
    counted whole). exact : count from all. hyperball : estimate from 2^hyperball counters a vertex. Further:
    quantile : share of the connected pairs within the effective diameter (default 0.9). seed : of the sample, or of
    the counters. out : a Parquet file for the closeness and harmonic centrality of every vertex, in the ids of the
    store (a graph in memory: its numbers). memory, arena, threads, time_limit, device, bfs, mapping, vram, workers,
    scheduler, worker_memory, worker_threads, dashboard, scratch, vertex_state, evict_page_cache, progress as for
    `exact`. directed : along the arcs of a store with directions, or of a graph that has them; pairs are ordered
    then, and devices and workers do not go with it. weighted : whether distances are sums of weights, as of
    `exact`; the result is a WeightedDistances, along arcs a WeightedArcDistances. keep : whether the result has the
    centralities of every vertex (by_vertex(), closeness, harmonic), along arcs those by distances to it. sources,
    targets : files with an id on every line, or ids: their distances are written to out, a table of origin, destination
    and distance.

    Raises InputError (BudgetError, NotWritten with `result`), and StoppedEarly on Ctrl-C and at the end of the time,
    whose `result` is what the sources show that were counted by then. Raises TypeError for an option that there is not.
    """
    check_keywords("distances", options)
    found: Distances = _run("distances", graph, options)
    return found


@explicit
def all_pairs(graph: Any, **options: Any) -> AllPairs:
    """Distances between all pairs of vertices of `graph` (of any kind that `diameter` takes), along the weights of a
    store that has them, and along its directions if it has those; else every edge has the length 1.

    By name: weighted, directed : whether a graph that is no store counts with its weights, negative ones too, and with
    its directions, which it must have then. weight : the name of the weights, as of `exact`. method : "auto" (searches,
    or Floyd-Warshall by tiles on dense graphs), or one of emdiam.paths.pairs.methods.METHODS. out : a Zarr group for
    the matrix, beside which the ids of the vertices are, in those of the store (a graph in memory: its numbers);
    without it the matrix is in memory, as `distances` of the result, with `ids`. force : replace `out`. memory,
    threads, time_limit, scratch, progress as for `exact`.

    Raises InputError (BudgetError where memory, disk or time cannot do; a negative cycle is shown; where a distance may
    not fit 64 bits), StoppedEarly on Ctrl-C and at the end of the time: nothing is kept then. Raises TypeError for an
    option that there is not.
    """
    check_keywords("all_pairs", options)
    found: AllPairs = _run("apsp", graph, options)
    return found


@explicit
def profile(graph: Any, **options: Any) -> Profile:
    """Profile of `graph` (of any kind that `diameter` takes): degrees, triangles, clustering, degeneracy, the mean
    distance and the effective diameter, and that over the diameter.

    Options, all by name: sample, seed : sources of the distances, as of `distances`. time_limit : of the exact
    diameter, whose bounds are given where it is over. memory, threads, scratch, progress as for `diameter`. Raises
    InputError (BudgetError), and TypeError for an option that there is not."""
    from .runs.probe import profile as make_profile

    check_keywords("profile", options)
    progress, keep = options.pop("progress", None), Kept(columns=_columns(options))
    asked = parsed(options, "info")
    means = Means(asked.get("memory_bytes"), asked.get("threads"), asked.get("scratch"))
    with as_store(graph, means, progress, keep) as (store, origin):
        return named(lambda: make_profile(store, options, progress), graph, origin)


@explicit
def shortest_paths(graph: Any, source: Any, **options: Any) -> ShortestPaths:
    """Shortest paths from the vertex `source` (an id of the store; of a graph in memory its number) along the weights
    of a store that has them, and along its directions if it has those; else every edge has the length 1.

    graph : of any kind that `diameter` takes. By name: weighted, directed : whether a graph that is no store counts
    with its weights, negative ones too, and with its directions, which it must have then. weight : their name, as of
    `exact`. method : a key of
    emdiam.paths.methods.METHODS, or "auto" (default), or of emdiam.gpu.paths.registry.SEARCHES on a GPU. device : "cpu"
    (default), "gpu", "gpu:N" or "auto". target : an id; the result has distance and path. delta : width of a bucket,
    for the methods that have them. out : a Parquet or CSV file for distances and predecessors. keep : whether the
    result has `distances` and `predecessors` of all vertices; default True. memory, threads, progress as for
    `diameter`; arena : memory for blocks that are read as they are needed.

    Raises InputError (StoreError, BudgetError, NegativeCycle with `cycle` and `weight`, NotWritten with `result`),
    OverflowError where distances may not fit 64 bits, and TypeError for an option that there is not."""
    check_keywords("shortest_paths", options)
    found: ShortestPaths = _run("sssp", graph, {"keep": True, **options, "source": source})
    return found


@explicit
def plan(store: Any, **more: Any) -> list[Planned]:
    """What runs on the store at a path, or on a graph of another kind that `diameter` takes, would take, without
    running them: one Planned for every method, each with its own default options; or for `method` alone.

    probe : look at the graph for at most N seconds (or "10s"), by four BFS at the arena of the plan; None: predict from
    its size alone. Options by name: memory, arena, threads, device as for `diameter`; of a single method its own too.
    Raises InputError (StoreError), BudgetError with the numbers where memory cannot do for it (`refused` of all).
    """
    method, probe = _chosen("plan", more, "method", "probe")
    device, keep = more.get("device"), Kept(columns=_columns(more))
    on_gpu = isinstance(device, str) and device != CPU  # where nobody looks, since the forecast is that of the CPU
    seconds = None if probe is None or on_gpu else parse_duration(probe)
    runs = (task_of(entry_of(name).family, more, name) for name in (METHODS if method == ALL else [method]))
    first = next(runs)
    with as_store(store, Means(first.memory_bytes, first.threads), keep=keep) as (opened, _):
        return plan_all(opened, chain([first], runs), seconds) if method == ALL else [plan_one(opened, first, seconds)]


@explicit
def verify(certificate: str | Path, store: Any, **options: Any) -> VerifyReport:
    """Prove again what the certificate (a path, or an address) claims of the store (opened, or a path), or of a graph
    of another kind that `diameter` takes, such as a file of edges.

    memory, scratch, threads, progress : as for `diameter`. weight, weighted : of a graph that is no store, as of
    `exact`; default: the weights that it has, if the certificate is along weights. A
    certificate that is intact and no proof gives a report with
    `verified` false and the reason. Raises InputError for a file that is no intact certificate (StoreError,
    BudgetError).
    """
    from .certificates.documents import read_certificate
    from .certificates.run import verify as verify_certificate

    check_keywords("verify", options)
    weights, columns, (progress,) = _weights(options), _columns(options), _chosen("verify", options, "progress")
    asked = parsed(options, "verify")
    memory_bytes, threads = asked.get("memory_bytes"), asked.get("threads")
    document = read_certificate(certificate)  # before anything is converted
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
    """Compile the kernels of the default methods ahead of the first run; all : of every method, for every width of
    distances, in memory and paged. Takes half a minute, or some minutes, where nothing is compiled yet."""
    check_keywords("warmup", options)
    return compile_kernels(*_chosen("warmup", options, "all", "progress"))


def _run(command: str, graph: Any, options: dict[str, Any]) -> Any:
    """The result of a command's task for a graph of any kind, with the caller's names in it."""
    paths = command in ("sssp", "apsp")
    weights, directed = _weights(options, negative=paths), options.get("directed", False)
    progress, scratch, keep = options.pop("progress", None), options.get("scratch"), Kept(
        bool(directed), weights, _columns(options))
    if paths or weights is not None:
        options.pop("scratch", None)  # of the temporary store alone
    if paths:
        options.pop("directed", None)  # as the store has them
    task = task_of(command, {**options, "weighted": weights is not None and not paths})
    deadline = deadline_of(task.time_limit)
    means = Means(task.memory_bytes, task.threads, scratch, task.cluster is None, deadline)
    with as_store(graph, means, progress, keep) as (store, origin):
        bounds, limited = BoundsSeen(progress), replace(task, time_limit=seconds_left(deadline))
        if command == "sssp":  # ends of paths by the caller's names
            limited = replace(limited, options=replace(limited.options, source=origin.id_of(limited.options.source),
                                                       target=origin.id_of(limited.options.target)))

        def run() -> Any:
            return execute(store, limited, bounds)

        return _with_history(lambda: named(run, graph, origin, store), bounds)


def _with_history(work: Callable[[], Any], bounds: BoundsSeen) -> Any:
    """The result of a run, also of one that is stopped, with the bounds that it had meanwhile."""
    try:
        result = work()
    except (StoppedEarly, NotWritten) as stop:
        if isinstance(stop.result, Result):
            stop.result.history = bounds.history
        raise
    if isinstance(result, Result):
        result.history = bounds.history
    return result


def _is_small(graph: Any) -> bool:
    """Whether eccentricities of all vertices are kept where nothing is said: of a graph that is no store, and of a
    store with few vertices."""
    if not is_store(graph):
        return True
    if isinstance(graph, Store):
        return graph.n_vertices <= _MOST_KEPT
    with suppress(EmdiamError), open_store(graph, directed=None) as store:  # the run says what is wrong with it
        return store.n_vertices <= _MOST_KEPT
    return False


def _weights(given: dict[str, Any], negative: bool = False) -> WeightChoice | None:
    """The weights that these options ask for, which are taken out; None: none. negative : whether some may be. Raises
    InputError."""
    return named_weights(given.pop("weight", None), given.pop("weighted", False), negative)


def _columns(given: dict[str, Any]) -> tuple[str, str] | None:
    """The columns with the ends of edges that these options name, which are taken out. Raises InputError."""
    return two_columns(given.pop("columns", None))
