"""Written by scripts/make_signatures.py from emdiam/runs/options.py and the docstrings of emdiam/api.py."""
# ruff: noqa: I001

from collections.abc import Sequence
from emdiam.certificates.documents import VerifyReport
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.compiling import WarmupReport
from emdiam.conversion.writing import ConvertReport
from emdiam.conversion.writing import ReorderReport
from emdiam.distribution.result import Distances
from emdiam.distribution.result import Profile
from emdiam.errors import BudgetError as BudgetError
from emdiam.errors import DeviceError as DeviceError
from emdiam.errors import DisconnectedError as DisconnectedError
from emdiam.errors import EmdiamError as EmdiamError
from emdiam.errors import InputError as InputError
from emdiam.errors import StoppedEarly as StoppedEarly
from emdiam.errors import StoreError as StoreError
from emdiam.formats.weights import WeightChoice
from emdiam.generators.make import GenerateReport
from emdiam.methods.approx.result import Approximation
from emdiam.methods.eccentricity.result import EccentricityResult
from emdiam.methods.result import Result
from emdiam.paths.pairs.matrix import AllPairs
from emdiam.paths.result import ShortestPaths
from emdiam.progress import Event as Event
from emdiam.progress import Listener
from emdiam.runs.plan import Planned
from emdiam.store.store import Store
from pathlib import Path
from typing import Any

__all__ = [
    "BudgetError",
    "DeviceError",
    "DisconnectedError",
    "EmdiamError",
    "Event",
    "InputError",
    "StoppedEarly",
    "StoreError",
    "__version__",
    "all_pairs",
    "approximate",
    "convert",
    "diameter",
    "distances",
    "eccentricities",
    "exact",
    "generate",
    "open",
    "plan",
    "profile",
    "reorder",
    "shortest_paths",
    "verify",
    "warmup",
]

__version__: str

def all_pairs(
    graph: Any, *, out: str | Path | None = None, method: str = 'auto', force: bool = False,
    weighted: bool | str = False, weight: str | None = None, directed: bool = False,
    time_limit: float | str | None = None, memory: int | str | None = None, threads: int | None = None,
    columns: str | Sequence[str | int] | None = None, scratch: str | Path | None = None,
    progress: Listener | bool | None = None,
) -> AllPairs:
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

def approximate(
    graph: Any, *, method: str | None = None, masters: int | str | None = None, seed: int | None = None,
    euler: bool | None = None, levels: int | str | None = None, shrink: int | None = None,
    iterations: int | None = None, root: int | str | None = None, directed: bool = False, weighted: bool | str = False,
    weight: str | None = None, known_diameter: int | float | None = None, memory: int | str | None = None,
    arena: int | str | None = None, threads: int | None = None, device: str = 'cpu', vram: int | str | None = None,
    bfs: str | None = None, mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, reorder: str = 'auto',
    keep_reordered: str | Path | None = None, require_connected: bool = False, time_limit: float | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, evict_page_cache: bool = False, gap: int | None = None,
    direction: str | None = None, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Approximation:
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

def convert(
    inputs: Any, target: str | Path, *, memory: int | str | None = None, scratch: str | Path | None = None,
    force: bool = False, format: str | None = None, ids: str = 'auto', columns: str | Sequence[str | int] | None = None,
    header: str = 'auto', encoding: str | None = None, vertices: str | Path | Sequence[str | Path] | None = None,
    codec: str | None = 'lz4', chunk: int | str | None = None, order: str = 'natural', directed: bool = False,
    bipartite: bool = False, weights: bool | str | WeightChoice | None = False,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, threads: int | None = None, weight: str | None = None,
    progress: Listener | bool | None = None,
) -> ConvertReport | ReorderReport:
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

def diameter(
    graph: Any, *, method: str = 'pivots', memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', bfs: str | None = None, mapping: str | None = None,
    workers: int | None = None, scheduler: Any = None, worker_memory: int | str | None = None,
    worker_threads: int | None = None, dashboard: bool | None = None, scratch: str | Path | None = None,
    require_connected: bool = False, directed: bool = False, weight: str | None = None, weighted: bool | str = False,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> Result:
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

def distances(
    graph: Any, *, sample: int | str | None = None, exact: bool = False, hyperball: int | None = None,
    directed: bool = False, weighted: bool | str = False, weight: str | None = None, quantile: float = 0.9,
    seed: int = 0, out: str | Path | None = None, sources: str | Path | Sequence[Any] | None = None,
    targets: str | Path | Sequence[Any] | None = None, time_limit: float | str | None = None,
    memory: int | str | None = None, arena: int | str | None = None, threads: int | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, evict_page_cache: bool = False, device: str = 'cpu',
    vram: int | str | None = None, bfs: str | None = None, mapping: str | None = None, workers: int | None = None,
    scheduler: Any = None, worker_memory: int | str | None = None, worker_threads: int | None = None,
    dashboard: bool | None = None, keep: bool = False, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Distances:
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

def eccentricities(
    graph: Any, *, out: str | Path | None = None, certificate: str | Path | None = None, directed: str | None = None,
    weighted: bool | str = False, weight: str | None = None, memory: int | str | None = None,
    arena: int | str | None = None, threads: int | None = None, device: str = 'cpu', vram: int | str | None = None,
    bfs: str | None = None, mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    require_connected: bool = False, time_limit: float | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, vertex_state: str = 'auto', scratch: str | Path | None = None,
    reorder: str = 'auto', keep_reordered: str | Path | None = None, evict_page_cache: bool = False, what: str = 'all',
    direction: str | None = None, seed: int | None = None, keep: bool | None = None,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> EccentricityResult:
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

def exact(
    graph: Any, *, method: str = 'pivots', memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', vram: int | str | None = None, bfs: str | None = None,
    mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    path: str | Path | None = None, certificate: str | Path | None = None, directed: bool = False,
    bounds_only: bool = False, gap: int | None = None, weighted: bool | str = False, weight: str | None = None,
    components: int | None = None, require_connected: bool = False, time_limit: float | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, seed: int | None = None, batches: bool | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, reorder: str = 'auto',
    keep_reordered: str | Path | None = None, winnow: bool | None = None, eliminate: bool | None = None,
    chains: bool | None = None, start: str | None = None, order: str | None = None, first: str | None = None,
    batch: int | None = None, k: int | None = None, direction: str | None = None, evict_page_cache: bool = False,
    sweeps: int | None = None, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Result:
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

def generate(
    name: str, target: str | Path, *, vertices: int | str | None = None, seed: int = 0, weights: str | None = None,
    memory: int | str | None = None, scratch: str | Path | None = None, force: bool = False, threads: int | None = None,
    codec: str | None = 'lz4', chunk: int | str | None = None, progress: Listener | bool | None = None,
    **parameters: Any,
) -> GenerateReport:
    """Generate a graph of a known class straight into a store; equal arguments give equal graphs.

    name : of the class, a key of emdiam.generators.CLASSES. target : the store to write. vertices : how many, or a
    text like "2^20"; None where the class has other parameters. seed : of the random numbers. weights : of the edges,
    as "uniform:1,100" (whole numbers, or floats where a bound has a point); None: none. Options by name: memory,
    scratch, force, codec, chunk, threads, progress as for `convert`, and the parameters of the class, such as
    sides="20x30".

    Returns a report with that of the conversion and known_diameter, where there is a formula. Raises InputError for
    an unknown class or parameter, and as `convert`.
    """

def open(
    path: str | Path, *, directed: bool | None = None,
) -> Store:
    """Open the store at `path`: a folder, or an address (https, s3, or another that fsspec knows).

    directed : whether its edges are to have directions; None: either way. Raises StoreError for a store that is
    missing, foreign, unfinished, damaged or too new, and InputError for one that is not as `directed` says.
    """

def plan(
    store: Any, *, memory: int | str | None = None, arena: int | str | None = None, vertex_state: str = 'auto',
    method: str = 'all', batch: int | None = None, masters: int | str | None = None, euler: bool | None = None,
    probe: float | str | None = '10s', threads: int | None = None, device: str = 'cpu',
    columns: str | Sequence[str | int] | None = None, **more: Any,
) -> list[Planned]:
    """What runs on the store at a path, or on a graph of another kind that `diameter` takes, would take, without
    running them: one Planned for every method, each with its own default options; or for `method` alone.

    probe : look at the graph for at most N seconds (or "10s"), by four BFS at the arena of the plan; None: predict from
    its size alone. Options by name: memory, arena, threads, device as for `diameter`; of a single method its own too.
    Raises InputError (StoreError), BudgetError with the numbers where memory cannot do for it (`refused` of all).
    """

def profile(
    graph: Any, *, sample: int | str | None = None, seed: int | None = None, time_limit: float | str | None = None,
    memory: int | str | None = None, threads: int | None = None, scratch: str | Path | None = None,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> Profile:
    """Profile of `graph` (of any kind that `diameter` takes): degrees, triangles, clustering, degeneracy, the mean
    distance and the effective diameter, and that over the diameter.

    Options, all by name: sample, seed : sources of the distances, as of `distances`. time_limit : of the exact
    diameter, whose bounds are given where it is over. memory, threads, scratch, progress as for `diameter`. Raises
    InputError (BudgetError), and TypeError for an option that there is not.
    """

def reorder(
    store: Store | str | Path, target: str | Path, order: str, *, seed: int = 0, memory: int | str | None = None,
    scratch: str | Path | None = None, force: bool = False, codec: str | None = None, chunk: int | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, threads: int | None = None,
    progress: Listener | bool | None = None,
) -> ReorderReport:
    """Write the graph of a store to a new one, its vertices in another order; answers stay in your ids.

    store : opened, or the path of one. target : the store to write. order : "natural" (increasing ids),
    "degree" (descending degree), "bfs" (by component, then by distance from its hub), "cluster" (near
    vertices in the same blocks). Options, all by name: memory, scratch, force, threads, progress,
    checkpoint as for `convert`; codec, chunk : default those of the store; seed : of orders with chance.

    Returns a report with the record of the new store. Raises InputError (StoreError; BudgetError
    where memory or disk cannot do); then there is no target.
    """

def shortest_paths(
    graph: Any, source: Any, *, target: int | str | None = None, method: str = 'auto', delta: float | None = None,
    out: str | Path | None = None, weighted: bool | str = False, weight: str | None = None, directed: bool = False,
    device: str = 'cpu', memory: int | str | None = None, arena: int | str | None = None, threads: int | None = None,
    evict_page_cache: bool = False, columns: str | Sequence[str | int] | None = None, keep: bool = True,
    scratch: str | Path | None = None, progress: Listener | bool | None = None,
) -> ShortestPaths:
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
    OverflowError where distances may not fit 64 bits, and TypeError for an option that there is not.
    """

def verify(
    certificate: str | Path, store: Any, *, memory: int | str | None = None, threads: int | None = None,
    scratch: str | Path | None = None, columns: str | Sequence[str | int] | None = None, weight: str | None = None,
    weighted: bool | str = False, progress: Listener | bool | None = None,
) -> VerifyReport:
    """Prove again what the certificate (a path, or an address) claims of the store (opened, or a path), or of a graph
    of another kind that `diameter` takes, such as a file of edges.

    memory, scratch, threads, progress : as for `diameter`. weight, weighted : of a graph that is no store, as of
    `exact`; default: the weights that it has, if the certificate is along weights. A
    certificate that is intact and no proof gives a report with
    `verified` false and the reason. Raises InputError for a file that is no intact certificate (StoreError,
    BudgetError).
    """

def warmup(
    *, all: bool = False, progress: Listener | bool | None = None,
) -> WarmupReport:
    """Compile the kernels of the default methods ahead of the first run; all : of every method, for every width of
    distances, in memory and paged. Takes half a minute, or some minutes, where nothing is compiled yet.
    """
