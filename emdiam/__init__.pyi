"""Written by scripts/make_signatures.py from emdiam/runs/options.py and the docstrings of emdiam/api.py."""
# ruff: noqa: I001

from collections.abc import Sequence
from emdiam.certificates.documents import VerifyReport
from emdiam.checkpoint.options import CheckpointOptions
from emdiam.compiling import WarmupReport
from emdiam.conversion.writing import ApplyReport
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
from emdiam.methods.eccentricity.result import EccentricityResult
from emdiam.methods.result import Approximation
from emdiam.methods.result import Result
from emdiam.paths.pairs.matrix import AllPairs
from emdiam.paths.result import ShortestPaths
from emdiam.progress import Event as Event
from emdiam.progress import Listener
from emdiam.runs.plan import Planned
from emdiam.runs.tradeoff import Tradeoff
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
    "apply",
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
    "tradeoff",
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
    """The distances between all pairs of vertices. A store with weights or directions is used with them.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    out : str or Path, optional
        Write the matrix of distances to `out`, a Zarr group.
    method : str, default 'auto'
        Method, as docs/commands describes them. One of "auto", "blocked", "recursive", "squaring",
        "lazy-minimum", "single-kernel", "floyd-warshall", "johnson", "harish", "ortega", "separators".
    force : bool, default False
        Replace an existing target.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.

    Returns
    -------
    AllPairs
        With `distances`, a matrix, and `ids`; with `out` the matrix is a Zarr group with the ids of the vertices.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
    NegativeCycle
        With `cycle` and `weight`.
    Examples
    --------
    >>> emdiam.all_pairs([("a", "b"), ("b", "c")]).distances.tolist()
    [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    """

def apply(
    store: Store | str | Path, target: str | Path, *, add: Any = None, remove: Any = None, strict: bool = False,
    weights: str | None = None, memory: int | str | None = None, scratch: str | Path | None = None, force: bool = False,
    format: str | None = None, columns: str | Sequence[str | int] | None = None, header: str = 'auto',
    encoding: str | None = None, threads: int | None = None, progress: Listener | bool | None = None,
) -> ApplyReport:
    """Write a store with edges added and removed. Edges are removed first, and then added.

    Parameters
    ----------
    store : Store, str or Path
        The store as it was.
    target : str or Path
        The new one.
    add : object, optional
        Edges that the new store gets, in any format that `emdiam.convert` reads, or - for standard input.
    remove : object, optional
        Edges of STORE that it does not get.
    strict : bool, default False
        Refuse an edge to remove that is not in STORE. Default: it is counted.
    weights : str, optional
        The column with the weights of add=, by name or number. Default: as they are called in STORE.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    force : bool, default False
        Replace an existing target.
    format : str, optional
        Format of the input: edgelist, csv, attributes, columns, adjlist, multiline-adjlist, matrix, sif, lgl,
        pycgr, matrix-market, dimacs, metis, graph-txt, ecl, gapbs, galois, adj, csr, bvgraph, npz, npy,
        parquet, arrow, hdf5, mat, graphml, gexf, pajek, leda, dl, ntriples, gml, dot, json, graph6. Default:
        from suffix and content.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    header : {"auto", "none", "counts", "names"}, default 'auto'
        Kind of the first line of a text: an edge (none), counts of vertices and edges, or names.
    encoding : str, optional
        Encoding of texts, such as latin-1. Default: UTF-8, or by its mark.

    Returns
    -------
    ApplyReport
        With the record of the new store, and the numbers of edges added and removed.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def approximate(
    graph: Any, *, method: str | None = None, masters: int | str | None = None, seed: int | None = None,
    euler: bool | None = None, levels: int | str | None = None, shrink: int | None = None,
    condensed_sssp: str | None = None, iterations: int | None = None, root: int | str | None = None,
    directed: bool = False, weighted: bool | str = False, weight: str | None = None,
    known_diameter: int | float | None = None, memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', vram: int | str | None = None, bfs: str | None = None,
    mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, reorder: str = 'auto',
    keep_reordered: str | Path | None = None, require_connected: bool = False, time_limit: float | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, evict_page_cache: bool = False, gap: int | None = None,
    direction: str | None = None, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Approximation:
    """An estimate of the diameter of a graph, and proved bounds on it.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    method : {"clusters", "sweep", "spanning", "fringe"}, optional
        Method, as docs/commands describes them.
    masters : int or str, optional
        clusters: expected number of masters (cluster centres): a count, a share of the vertices like 10%, or
        auto. A list, as 2^10,2^14,10%, makes a run of each. Default: auto.
    seed : int, optional
        Seed of all random choices. Default: 0.
    iterations : int, optional
        sweep, fringe, spanning: most iterations. Default: the method's.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    known_diameter : int or float, optional
        Largest diameter of any component, if it is known: the answer has estimate / `known_diameter`.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    require_connected : bool, default False
        Raise DisconnectedError if the graph has several components.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    gap : int, optional
        Stop once the bounds differ by at most `gap`.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    euler : bool, optional
        clusters: further masters along an Euler tour, so that every vertex is near one.
    levels : int or str, optional
        clusters: how often they condense the graph, or auto: until it fits in memory. Default: 1.
    shrink : int, optional
        clusters: of how many one is a master of the next level. Default: 16.
    condensed_sssp : {"auto", "label-correcting", "semi-external"}, optional
        clusters: shortest paths in the condensed graph: auto, in memory if it fits; or on disk with labels that
        are corrected, or with one bit a vertex (semi-external). Default: auto.
    root : int or str, optional
        spanning: what the tree hangs from: hub, the vertex of the highest degree; random; or the id of a
        vertex. Default: hub.
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    vram : int or str, optional
        Memory of the GPU to use; a larger graph is paged. Default: all that is free. In bytes, or as a text
        such as "4GiB".
    bfs : str, optional
        Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.
    mapping : str, optional
        Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    dashboard : bool, optional
        With workers: start Dask's dashboard, which every user of this machine can see.
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch=), or auto, on disk where memory has
        no room for them.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    reorder : {"auto", "never", "always"}, default 'auto'
        Reorder a store that memory has no room for first, so that neighbours are close together: auto, as soon
        as a BFS shows that this is faster. Answers stay in your ids.
    keep_reordered : str or Path, optional
        Keep the store in that order as `keep_reordered`, if one is made. Default: a temporary one.
    checkpoint : CheckpointOptions or str or Path, optional
        Folder for the state of the work, from which a call with resume=True continues.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    resume : bool, default False
        Continue from the checkpoint of the same call, or begin if there is none.
    keep_checkpoint : bool, default False
        Leave the checkpoint in place at the end.
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.
    direction : {"work", "beamer", "paper"}, optional
        Rule for top-down and bottom-up levels of a BFS: least work, the rule of Beamer et al., or the rule of
        the F-Diam paper (bottom-up from a tenth of the vertices on). Default: work.

    Returns
    -------
    Approximation
        `estimate` is that of the method, and no bound; `lower` and `upper` are proved, over all components.
        With `directed` a DirectedApproximation, with weights too a WeightedArcApproximation.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.

    Examples
    --------
    >>> result = emdiam.approximate([(1, 2), (2, 3), (3, 4)], masters=2)
    >>> result.lower <= 3 <= result.upper
    True
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

    Parameters
    ----------
    inputs : object
        A file, a glob pattern, "-" for standard input, or a list of these, which make one graph together; a graph of
        any kind that `diameter` takes; or a store, which is written in another order.
    target : str or Path
        The store to write.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    force : bool, default False
        Replace an existing target.
    format : str, optional
        Format of the input: edgelist, csv, attributes, columns, adjlist, multiline-adjlist, matrix, sif, lgl,
        pycgr, matrix-market, dimacs, metis, graph-txt, ecl, gapbs, galois, adj, csr, bvgraph, npz, npy,
        parquet, arrow, hdf5, mat, graphml, gexf, pajek, leda, dl, ntriples, gml, dot, json, graph6. Default:
        from suffix and content.
    ids : {"auto", "int", "string"}, default 'auto'
        Whether vertex ids are integers or strings; auto: as the first edge has them.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    vertices : str or Path or list, optional
        A file that lists the vertices, also those without an edge: ids, or ids and names, which answers then
        have.
    order : {"natural", "degree", "bfs", "cluster"}, default 'natural'
        Order of the vertices in the store, as `emdiam.reorder` has them.
    directed : bool, default False
        Keep the direction of every edge, in the natural order of the vertices.
    bipartite : bool, default False
        Take sources and targets, or rows and columns, as two sides that are numbered apart.
    weights : bool or str or WeightChoice, default False
        Keep the weights of edges: True, the name or number of their column or attribute, or a WeightChoice.
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    weight : str, optional
        Name of the weights to keep, as `weights`.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    header : {"auto", "none", "counts", "names"}, default 'auto'
        Kind of the first line of a text: an edge (none), counts of vertices and edges, or names.
    encoding : str, optional
        Encoding of texts, such as latin-1. Default: UTF-8, or by its mark.
    codec : {"lz4", "pcodec", "none"}, default 'lz4'
        Compression of the store; pcodec is smaller and slower than lz4.
    chunk : int or str, optional
        Vertex ids in a chunk. Default: 2^16. A number, or a text such as "2^20".
    checkpoint : CheckpointOptions or str or Path, optional
        Folder for the state of the work, from which a call with resume=True continues.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    resume : bool, default False
        Continue from the checkpoint of the same call, or begin if there is none.
    keep_checkpoint : bool, default False
        Leave the checkpoint in place at the end.

    Returns
    -------
    ConvertReport
        With the record of the store, and the numbers of edges that were dropped. A ReorderReport for a store.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def diameter(
    graph: Any, *, method: str = 'pivots', memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', bfs: str | None = None, mapping: str | None = None,
    workers: int | None = None, scheduler: Any = None, worker_memory: int | str | None = None,
    worker_threads: int | None = None, dashboard: bool | None = None, scratch: str | Path | None = None,
    require_connected: bool = False, directed: bool = False, weight: str | None = None, weighted: bool | str = False,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> Result:
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
    method : str, default 'pivots'
        Method, as docs/commands describes them. One of "pivots", "fdiam", "bounding", "ifub", "graph-diameter",
        "korf", "apsp", "takafuji", "pennycuff-weninger", "sweep-k".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    require_connected : bool, default False
        Raise DisconnectedError if the graph has several components.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    bfs : str, optional
        Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.
    mapping : str, optional
        Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    dashboard : bool, optional
        With workers: start Dask's dashboard, which every user of this machine can see.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.

    Returns
    -------
    Result
        `diameter` is None for a disconnected graph; `witness` has the path, in your names of the vertices.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.

    Examples
    --------
    >>> emdiam.diameter([("a", "b"), ("b", "c"), ("c", "d")]).diameter
    3
    """

def distances(
    graph: Any, *, sample: int | str | None = None, exact: bool = False, hyperball: int | None = None,
    directed: bool = False, weighted: bool | str = False, weight: str | None = None, quantile: float = 0.9,
    seed: int = 0, out: str | Path | None = None, certificate: str | Path | None = None,
    certificate_sources: int | None = None, sources: str | Path | Sequence[Any] | None = None,
    targets: str | Path | Sequence[Any] | None = None, time_limit: float | str | None = None,
    memory: int | str | None = None, arena: int | str | None = None, threads: int | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, evict_page_cache: bool = False, device: str = 'cpu',
    vram: int | str | None = None, bfs: str | None = None, mapping: str | None = None, workers: int | None = None,
    scheduler: Any = None, worker_memory: int | str | None = None, worker_threads: int | None = None,
    dashboard: bool | None = None, keep: bool = False, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Distances:
    """The distribution of distances: pairs of vertices by distance, mean, and effective diameter.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    sample : int or str, optional
        Count distances from this many vertices, drawn at random. Default: 1,024. A number, or a text such as
        "2^20".
    exact : bool, default False
        Count distances from all vertices. Give one of `sample`, `exact` and `hyperball`.
    hyperball : int, optional
        Estimate from HyperLogLog counters of 2^hyperball registers at every vertex, 4 to 16.
    directed : bool, default False
        Follow the directions of arcs; pairs are ordered then.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    quantile : float, default 0.9
        Share of the connected pairs within the effective diameter.
    seed : int, default 0
        Seed of all random choices.
    out : str or Path, optional
        Write the closeness and the harmonic centrality of every vertex to `out`, as CSV if its name ends in
        .csv, else Parquet.
    certificate : str or Path, optional
        Write a proved interval of the mean distance to `certificate`, for `emdiam.verify`.
    certificate_sources : int, optional
        Sources that the interval of certificate= is proved by. Default: 64.
    sources : str or Path or list, optional
        A file with an id on every line, or a list of ids. The distances from these vertices to `targets` are
        written to `out`: origin, destination, distance.
    targets : str or Path or list, optional
        See `sources`. Default: all vertices.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    keep : bool, default False
        Whether the result has the closeness and the harmonic centrality of every vertex.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch=), or auto, on disk where memory has
        no room for them.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    vram : int or str, optional
        Memory of the GPU to use; a larger graph is paged. Default: all that is free. In bytes, or as a text
        such as "4GiB".
    bfs : str, optional
        Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.
    mapping : str, optional
        Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    dashboard : bool, optional
        With workers: start Dask's dashboard, which every user of this machine can see.

    Returns
    -------
    Distances
        With `pairs`, `mean`, `effective_diameter`, and their standard errors for a sample. With weights a
        WeightedDistances or WeightedArcDistances.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
    NotWritten
        `out` cannot be written; `result` has the answer.
    Examples
    --------
    >>> emdiam.distances([("a", "b"), ("b", "c")], exact=True).pairs
    {1: 2, 2: 1}
    """

def eccentricities(
    graph: Any, *, out: str | Path | None = None, certificate: str | Path | None = None,
    from_proof: str | Path | None = None, directed: str | None = None, weighted: bool | str = False,
    weight: str | None = None, memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', vram: int | str | None = None, bfs: str | None = None,
    mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    require_connected: bool = False, time_limit: float | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, vertex_state: str = 'auto', scratch: str | Path | None = None,
    reorder: str = 'auto', keep_reordered: str | Path | None = None, evict_page_cache: bool = False, what: str = 'all',
    direction: str | None = None, seed: int | None = None, keep: bool | None = None,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> EccentricityResult:
    """The eccentricity of every vertex, within its component.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    out : str or Path, optional
        Write the eccentricities to `out`, a row a vertex: id, eccentricity, component. CSV if its name ends in
        .csv, else Parquet.
    certificate : str or Path, optional
        Write the proof to `certificate`, for `emdiam.verify`.
    from_proof : str or Path, optional
        Begin with the sources of `from_proof`, a certificate of an earlier version of the graph.
    directed : {"out", "in"}, optional
        Follow the directions of arcs: the largest distance from every vertex ("out"), or to it ("in").
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    require_connected : bool, default False
        Raise DisconnectedError if the graph has several components.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    what : str, default 'all'
        "all" eccentricities, or only the "radius" or the "center" of the largest component, which take a few
        BFS.
    seed : int, optional
        Seed of all random choices. Default: 0.
    keep : bool, optional
        Whether the result has the eccentricity of every vertex. Default: except for stores of more than 262,144
        vertices.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    vram : int or str, optional
        Memory of the GPU to use; a larger graph is paged. Default: all that is free. In bytes, or as a text
        such as "4GiB".
    bfs : str, optional
        Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.
    mapping : str, optional
        Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    dashboard : bool, optional
        With workers: start Dask's dashboard, which every user of this machine can see.
    checkpoint : CheckpointOptions or str or Path, optional
        Folder for the state of the work, from which a call with resume=True continues.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    resume : bool, default False
        Continue from the checkpoint of the same call, or begin if there is none.
    keep_checkpoint : bool, default False
        Leave the checkpoint in place at the end.
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch=), or auto, on disk where memory has
        no room for them.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    reorder : {"auto", "never", "always"}, default 'auto'
        Reorder a store that memory has no room for first, so that neighbours are close together: auto, as soon
        as a BFS shows that this is faster. Answers stay in your ids.
    keep_reordered : str or Path, optional
        Keep the store in that order as `keep_reordered`, if one is made. Default: a temporary one.
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.
    direction : {"work", "beamer", "paper"}, optional
        Rule for top-down and bottom-up levels of a BFS: least work, the rule of Beamer et al., or the rule of
        the F-Diam paper (bottom-up from a tenth of the vertices on). Default: work.

    Returns
    -------
    EccentricityResult
        With `radius`, `diameter`, `center`, `periphery`, `histogram`, and `by_vertex()` if they are kept. With
        `directed` or weights a DirectedEccentricities, WeightedEccentricities or WeightedArcEccentricities.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.

    Examples
    --------
    >>> found = emdiam.eccentricities([("a", "b"), ("b", "c")])
    >>> found.radius, list(found.center), found.by_vertex()["a"]
    (1, ['b'], 2)
    """

def exact(
    graph: Any, *, method: str = 'pivots', memory: int | str | None = None, arena: int | str | None = None,
    threads: int | None = None, device: str = 'cpu', vram: int | str | None = None, bfs: str | None = None,
    mapping: str | None = None, workers: int | None = None, scheduler: Any = None,
    worker_memory: int | str | None = None, worker_threads: int | None = None, dashboard: bool | None = None,
    path: str | Path | None = None, certificate: str | Path | None = None, from_proof: str | Path | None = None,
    directed: bool = False, bounds_only: bool = False, gap: int | None = None, weighted: bool | str = False,
    weight: str | None = None, components: int | None = None, require_connected: bool = False,
    time_limit: float | str | None = None, checkpoint: CheckpointOptions | str | Path | None = None,
    checkpoint_every: float | str | None = None, resume: bool = False, keep_checkpoint: bool = False,
    seed: int | None = None, batches: bool | None = None, vertex_state: str = 'auto', scratch: str | Path | None = None,
    reorder: str = 'auto', keep_reordered: str | Path | None = None, winnow: bool | None = None,
    eliminate: bool | None = None, chains: bool | None = None, start: str | None = None, order: str | None = None,
    first: str | None = None, batch: int | None = None, k: int | None = None, direction: str | None = None,
    evict_page_cache: bool = False, sweeps: int | None = None, columns: str | Sequence[str | int] | None = None,
    progress: Listener | bool | None = None,
) -> Result:
    """The exact diameter of a graph, with all options of the command `emdiam exact`.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    method : str, default 'pivots'
        Method, as docs/commands describes them. One of "pivots", "fdiam", "bounding", "ifub", "graph-diameter",
        "korf", "apsp", "takafuji", "pennycuff-weninger", "sweep-k".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    path : str or Path, optional
        Write a longest shortest path to `path`, one vertex id a line. A path of more than 10,000 vertices is
        shown nowhere else.
    certificate : str or Path, optional
        Write the proof to `certificate`, for `emdiam.verify`.
    from_proof : str or Path, optional
        Begin with the sources of `from_proof`, a certificate of an earlier version of the graph.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    bounds_only : bool, default False
        Stop at the bounds of a few BFS.
    gap : int, optional
        Stop once the bounds differ by at most `gap`.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    components : int, optional
        List this many of the largest components in `details["components"]`, with their diameters.
    require_connected : bool, default False
        Raise DisconnectedError if the graph has several components.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    seed : int, optional
        Seed of all random choices. Default: 0.
    order : {"ascending", "random"}, optional
        fdiam: order of the BFS from the remaining vertices. Default: ascending.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    vram : int or str, optional
        Memory of the GPU to use; a larger graph is paged. Default: all that is free. In bytes, or as a text
        such as "4GiB".
    bfs : str, optional
        Variant of BFS on a GPU, see docs/algorithms/gpu-bfs.md; on the CPU "queue". Default: by the device.
    mapping : str, optional
        Load balancing of a BFS on a GPU, see docs/algorithms/gpu-bfs.md. Default: by the variant.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    dashboard : bool, optional
        With workers: start Dask's dashboard, which every user of this machine can see.
    checkpoint : CheckpointOptions or str or Path, optional
        Folder for the state of the work, from which a call with resume=True continues.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    resume : bool, default False
        Continue from the checkpoint of the same call, or begin if there is none.
    keep_checkpoint : bool, default False
        Leave the checkpoint in place at the end.
    batches : bool, optional
        pivots: whether to search from many sources at once. Default: True.
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch=), or auto, on disk where memory has
        no room for them.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    reorder : {"auto", "never", "always"}, default 'auto'
        Reorder a store that memory has no room for first, so that neighbours are close together: auto, as soon
        as a BFS shows that this is faster. Answers stay in your ids.
    keep_reordered : str or Path, optional
        Keep the store in that order as `keep_reordered`, if one is made. Default: a temporary one.
    winnow : bool, optional
        fdiam: whether to use Winnow. Default: True.
    eliminate : bool, optional
        fdiam: whether to use Eliminate. Default: True.
    chains : bool, optional
        fdiam: whether to use Chain Processing. Default: True.
    start : {"max-degree", "first", "center", "auto", "random"}, optional
        fdiam: centre of Winnow, center being that of four sweeps, auto the better one of it and max-degree;
        ifub: where the sweeps begin, max-degree or random. Default: max-degree.
    first : {"upper", "lower"}, optional
        bounding: begin at the largest upper bound, or at the smallest lower one. Default: upper.
    batch : int, optional
        bounding, ifub, korf, apsp: sources of one multi-source BFS. Default: 1.
    k : int, optional
        sweep-k: number of BFS in a component. Default: 16.
    direction : {"work", "beamer", "paper"}, optional
        Rule for top-down and bottom-up levels of a BFS: least work, the rule of Beamer et al., or the rule of
        the F-Diam paper (bottom-up from a tenth of the vertices on). Default: work.
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.
    sweeps : int, optional
        Along arcs: number of double sweeps at the start. Default: 10.

    Returns
    -------
    Result
        The diameter, or with `gap` and `bounds_only` an interval. With `directed` a DirectedResult with
        `largest_distance`, `strongly_connected` and `n_strong_components`; with weights too a WeightedArcResult.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
    NotWritten
        The path or the certificate cannot be written; `result` has the answer.
    Examples
    --------
    >>> result = emdiam.exact([(1, 2), (2, 3), (3, 4), (4, 1)])
    >>> result.diameter, result.exact, len(result.witness.path)
    (2, True, 3)
    """

def generate(
    name: str, target: str | Path, *, vertices: int | str | None = None, seed: int = 0, weights: str | None = None,
    memory: int | str | None = None, scratch: str | Path | None = None, force: bool = False, threads: int | None = None,
    codec: str | None = 'lz4', chunk: int | str | None = None, progress: Listener | bool | None = None,
    **parameters: Any,
) -> GenerateReport:
    """Generate a graph of a known class as a store. Equal arguments give equal graphs.

    Parameters
    ----------
    name : str
        The class, a key of emdiam.generators.CLASSES, such as "grid" or "rmat".
    target : str or Path
        The store to write.
    **parameters
        Parameters of the class, such as sides="20x30".
    vertices : int or str, optional
        Number of vertices. A number, or a text such as "2^20".
    seed : int, default 0
        Seed of all random choices. A number, or a text such as "2^20".
    weights : str, optional
        Give every edge a weight, a whole number, or a float if a bound has a point.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    force : bool, default False
        Replace an existing target.
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    codec : {"lz4", "pcodec", "none"}, default 'lz4'
        Compression of the store; pcodec is smaller and slower than lz4.
    chunk : int or str, optional
        Vertex ids in a chunk. Default: 2^16. A number, or a text such as "2^20".

    Returns
    -------
    GenerateReport
        With the report of the conversion, and `known_diameter` for classes with a formula.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def open(
    path: str | Path, *, directed: bool | None = None,
) -> Store:
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

def plan(
    store: Any, *, memory: int | str | None = None, arena: int | str | None = None, vertex_state: str = 'auto',
    method: str = 'all', batch: int | None = None, masters: int | str | None = None, euler: bool | None = None,
    directed: bool = False, weighted: bool | str = False, weight: str | None = None, probe: float | str | None = '10s',
    threads: int | None = None, device: str = 'cpu', columns: str | Sequence[str | int] | None = None, **more: Any,
) -> list[Planned]:
    """The memory and the reads of runs, without running them.

    Parameters
    ----------
    store : object
        A store, or a graph of another kind that `diameter` takes.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    method : str, default 'all'
        Method, as docs/commands describes them. One of "all", "pivots", "fdiam", "bounding", "ifub",
        "graph-diameter", "korf", "apsp", "takafuji", "pennycuff-weninger", "sweep-k", "clusters", "sweep",
        "spanning", "eccentricities", "fringe".
    masters : int or str, optional
        clusters: number of masters, as for `emdiam.approximate`. Default: auto.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    probe : float or str, default '10s'
        Look at the graph by four BFS, for at most this time; None: predict from its size alone. In seconds, or
        as a text such as "10min".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.

    Other Parameters
    ----------------
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch= of emdiam.exact), or auto, on disk
        where memory has no room for them.
    batch : int, optional
        bounding, ifub, korf, apsp: sources of one multi-source BFS. Default: 1.
    euler : bool, optional
        clusters: further masters along an Euler tour.
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.

    Returns
    -------
    list of Planned
        One for each method, or for `method` alone; `refused` has the reason if memory is too small.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def profile(
    graph: Any, *, sample: int | str | None = None, seed: int | None = None, time_limit: float | str | None = None,
    memory: int | str | None = None, threads: int | None = None, scratch: str | Path | None = None,
    columns: str | Sequence[str | int] | None = None, progress: Listener | bool | None = None,
) -> Profile:
    """Degrees, triangles, clustering, degeneracy, mean distance, effective diameter and diameter of a graph.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    sample : int or str, optional
        Count distances from this many vertices, drawn at random. Default: 1,024. A number, or a text such as
        "2^20".
    seed : int, optional
        Seed of all random choices. Default: 0.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.

    Returns
    -------
    Profile
        At the end of `time_limit` with bounds on the diameter.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
    """

def reorder(
    store: Store | str | Path, target: str | Path, order: str, *, seed: int = 0, memory: int | str | None = None,
    scratch: str | Path | None = None, force: bool = False, codec: str | None = None, chunk: int | str | None = None,
    checkpoint: CheckpointOptions | str | Path | None = None, checkpoint_every: float | str | None = None,
    resume: bool = False, keep_checkpoint: bool = False, threads: int | None = None,
    progress: Listener | bool | None = None,
) -> ReorderReport:
    """Write a store with its vertices in another order. Answers have the same ids as before.

    Parameters
    ----------
    store : Store, str or Path
        The store to read.
    target : str or Path
        The store to write.
    order : {"natural", "degree", "bfs", "cluster"}
        By increasing ids; by descending degree; by component, then by distance from its hub; or neighbours close
        together.
    seed : int, default 0
        Seed of all random choices. A number, or a text such as "2^20".
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    force : bool, default False
        Replace an existing target.
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    codec : {"lz4", "pcodec", "none"}, optional
        Compression of the new store. Default: as STORE.
    chunk : int or str, optional
        Vertex ids in a chunk. Default: as STORE. A number, or a text such as "2^20".
    checkpoint : CheckpointOptions or str or Path, optional
        Folder for the state of the work, from which a call with resume=True continues.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    resume : bool, default False
        Continue from the checkpoint of the same call, or begin if there is none.
    keep_checkpoint : bool, default False
        Leave the checkpoint in place at the end.

    Returns
    -------
    ReorderReport
        With the record of the new store.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def shortest_paths(
    graph: Any, source: Any, *, target: int | str | None = None, method: str = 'auto', delta: float | None = None,
    out: str | Path | None = None, weighted: bool | str = False, weight: str | None = None, directed: bool = False,
    device: str = 'cpu', memory: int | str | None = None, arena: int | str | None = None, threads: int | None = None,
    evict_page_cache: bool = False, columns: str | Sequence[str | int] | None = None, keep: bool = True,
    scratch: str | Path | None = None, progress: Listener | bool | None = None,
) -> ShortestPaths:
    """Shortest paths from one vertex. A store with weights or directions is used with them.

    Parameters
    ----------
    graph : object
        A graph of any kind that `diameter` takes.
    source : object
        The first vertex of all paths, by your name for it.
    target : int or str, optional
        A vertex; the result has the distance to it and a shortest path.
    method : str, default 'auto'
        Method, as docs/commands describes them. One of "auto", "dijkstra", "bellman-ford",
        "frontier-bellman-ford", "delta-stepping", "light-heavy", "sorted-buckets", "near-far",
        "workfront-sweep", "h-bf", "harish", "harish-pairs", "harish-lists", "harish-list-matrix",
        "harish-matrix", "harish-edges", "harish-paired-edges", "harish-reverse", "workfront-sweep-pairs",
        "near-far-pairs", "delta-stepping-pairs", "h-bf-pairs", "sorted-buckets-pairs", "ortega",
        "ortega-pairs".
    out : str or Path, optional
        Write distance and predecessor of every vertex to `out`, as CSV if its name ends in .csv, else Parquet.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    directed : bool, default False
        Follow the directions of arcs. A store must have been converted with directions.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    keep : bool, default True
        Whether the result has the distances and predecessors of all vertices.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    delta : float, optional
        Width of a bucket of distances: inf is a single one. Default: 32 x mean weight / mean degree.
    device : str, default 'cpu'
        Device of searches: cpu, gpu, gpu:N (the GPU of number N), or auto: a GPU if there is one, else the CPU.
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.

    Returns
    -------
    ShortestPaths
        With `distances`, `predecessors` and `paths`; with `target` also `distance` and `path`.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    NegativeCycle
        With `cycle` and `weight`.
    OverflowError
        Distances may not fit 64 bits.
    Examples
    --------
    >>> emdiam.shortest_paths([("a", "b"), ("b", "c")], "a", target="c").path
    ['a', 'b', 'c']
    """

def tradeoff(
    store: Store | str | Path, out: str | Path, *, methods: str | Sequence[str] = 'clusters,sweep,spanning,fringe',
    masters: int | str | Sequence[int | str] = '2^8..2^24:4', seeds: int | str | Sequence[int] = '0',
    exact: bool = False, known_diameter: int | None = None, iterations: int | None = None, euler: bool = False,
    levels: int | str | None = None, weighted: bool = False, memory: int | str | None = None,
    arena: int | str | None = None, threads: int | None = None, device: str = 'cpu', workers: int | None = None,
    scheduler: Any = None, worker_memory: int | str | None = None, worker_threads: int | None = None,
    vertex_state: str = 'auto', scratch: str | Path | None = None, reorder: str = 'auto',
    time_limit: float | str | None = None, checkpoint_every: float | str | None = None, evict_page_cache: bool = False,
    retry: bool = False, plots: bool | None = None, progress: Listener | bool | None = None,
) -> Tradeoff:
    """Compare cost and quality of approximations of a store: every method, with every number of masters and every
    seed, in a separate process with all of the memory.

    Parameters
    ----------
    store : Store or str or Path
        Opened, or its path.
    out : str or Path
        A folder for the results, tables and plots; the same call continues from its contents.
    methods : str or list, default 'clusters,sweep,spanning,fringe'
        Approximations, separated by commas.
    masters : int or str or list, default '2^8..2^24:4'
        clusters: numbers of masters (cluster centres), separated by commas: counts, shares like 10%, auto, and
        ranges FIRST..LAST:FACTOR.
    seeds : int or str or list, default '0'
        Seeds of all random choices, separated by commas: every run once with each.
    exact : bool, default False
        First an exact run, which proves the diameter.
    known_diameter : int, optional
        Largest diameter of any component, if it is known: for the ratios estimate / `known_diameter`.
    iterations : int, optional
        sweep, fringe, spanning: most iterations. Default: the method's.
    weighted : bool, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    time_limit : float or str, optional
        Stop after this time: StoppedEarly is raised, whose `result` has the bounds so far. In seconds, or as a
        text such as "10min".
    retry : bool, default False
        Run failed and stopped runs again.
    plots : bool, optional
        Write tables, but no plots.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    euler : bool, default False
        clusters: further masters along an Euler tour.
    levels : int or str, optional
        clusters: how often they condense the graph, or auto: until it fits in memory. Default: 1.
    arena : int or str, optional
        Memory for decoded edges alone. Default: the rest of `memory`. In bytes, or as a text such as "4GiB".
    device : str, default 'cpu'
        Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a GPU if there
        is one, else the CPU. Each worker uses one of its machine.
    workers : int, optional
        Run on this many Dask processes on this machine, or on this many workers of the scheduler.
    scheduler : object, optional
        Run on the workers of a Dask scheduler: an address, the file of a scheduler, a cluster, or a
        distributed.Client.
    worker_memory : int or str, optional
        Peak resident memory of a worker process. Default: its share of nine tenths of the available memory of
        its machine. In bytes, or as a text such as "4GiB".
    worker_threads : int, optional
        Threads of a worker. Default: its share of `threads`, or as Dask started it.
    vertex_state : {"auto", "ram", "disk"}, default 'auto'
        Where distances and bounds of vertices are: ram, disk (in scratch=), or auto, on disk where memory has
        no room for them.
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.
    reorder : {"auto", "never", "always"}, default 'auto'
        Reorder a store that memory has no room for first, so that neighbours are close together: auto, as soon
        as a BFS shows that this is faster. Answers stay in your ids.
    checkpoint_every : float or str, optional
        How often the state is saved, also within a long phase. Default: 5 minutes. In seconds, or as a text
        such as "10min".
    evict_page_cache : bool, default False
        Drop the pages that were read from the page cache, so that every read is from disk: for benchmarks.

    Returns
    -------
    Tradeoff
        `rows`, one per run, to_pandas() and plot().

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    StoppedEarly
        On Ctrl-C and at the end of a time limit; its `result` has the bounds or counts so far.
    """

def verify(
    certificate: str | Path, store: Any, *, memory: int | str | None = None, threads: int | None = None,
    scratch: str | Path | None = None, columns: str | Sequence[str | int] | None = None, weight: str | None = None,
    weighted: bool | str = False, progress: Listener | bool | None = None,
) -> VerifyReport:
    """Prove again the claims of a certificate about a graph.

    Parameters
    ----------
    certificate : str or Path
        The file of the certificate, or its address.
    store : object
        A store, or a graph of another kind that `diameter` takes, such as a file of edges.
    memory : int or str, optional
        Peak resident memory of this process. Default: nine tenths of the available memory. In bytes, or as a
        text such as "4GiB".
    threads : int, optional
        Threads that read, decode and compute. Default: all cores that this process may use.
    columns : str or list, optional
        The two columns of a table or a text with the ends of edges: by name, or by number from 1, as "u,v" or
        ("u", "v"). Default: found by their names.
    weight : str, optional
        Name of the weights whose sums are the lengths of paths: an attribute of edges, a column (or its number
        from 1), or the name that a store was converted with.
    weighted : bool or str, default False
        Lengths of paths are sums of the weights of the store or the graph: the entries of a matrix, the only
        attribute or column, or one with a usual name, such as weight or length.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Other Parameters
    ----------------
    scratch : str or Path, optional
        Folder for temporary files, and for the temporary store of a graph in memory. Default: $TMPDIR or
        /var/tmp.

    Returns
    -------
    VerifyReport
        `verified` is False, with a `reason`, for an intact certificate that proves nothing.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """

def warmup(
    *, all: bool = False, progress: Listener | bool | None = None,
) -> WarmupReport:
    """Compile kernels ahead of the first run. Without any compiled kernels this takes half a minute, or some minutes.

    Parameters
    ----------
    all : bool, default False
        Compile the kernels of every method, not of the default methods alone, also for larger graphs.
    progress : callable or bool, optional
        True: show a bar; False: show nothing. A function is called with an emdiam.Event a few times a second,
        not always from the same thread. Default: a bar in notebooks, for calls of more than two seconds.

    Returns
    -------
    WarmupReport
        With the number of `kernels` that were compiled.

    Raises
    ------
    InputError
        The input or an option is at fault. StoreError: a store is. BudgetError: memory or disk is too small.
    """
