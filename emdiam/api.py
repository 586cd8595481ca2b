"""The Python interface: open a store, convert edge lists, ask for a diameter.

Everything here is also reachable as emdiam.open, emdiam.conversion, emdiam.reorder, emdiam.diameter and
emdiam.approximate. Sizes are bytes as int or texts like "4GiB". Distances are hop counts of the
undirected simple graph: directions, weights, loops and multiple edges are dropped whatever the graph
came as.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

from .api_approx import ApproxRun, approx
from .api_exact import ExactRun, exact
from .conversion.convert import ConvertOptions, ConvertReport, write_graph
from .conversion.convert import convert as convert_files
from .conversion.resume import CheckpointOptions
from .dask.setting import chosen_cluster
from .errors import StoppedEarly
from .methods.approx.result import Approximation
from .methods.exact.result import Result
from .order.rewrite import ReorderReport
from .progress import Listener
from .store.layout import NATURAL
from .store.store import Store, open_store
from .store_run import StoreRun
from .units import parse_size, scratch_folder


def open(path: str | Path) -> Store:  # noqa: A001 - read as emdiam.open
    """Open the store at `path`: a folder, or an address (https, s3, or another that fsspec knows).

    Raises StoreError for a store that is missing, foreign, unfinished, damaged or too new.
    """
    return open_store(path)


class WritingKeywords(TypedDict, total=False):
    """What `convert` and `reorder` take by name; see there."""

    memory: int | str | None
    scratch: str | Path | None
    force: bool
    codec: str | None
    chunk: int | None
    threads: int | None
    progress: Listener | None
    checkpoint: CheckpointOptions | None


class ConvertKeywords(WritingKeywords, total=False):
    """What `convert` takes by name; see there."""

    format: str | None
    ids: str
    order: str


class ReorderKeywords(WritingKeywords, total=False):
    """What `reorder` takes by name; see there."""

    seed: int


def convert(
    inputs: str | Path | Sequence[str | Path], target: str | Path, **options: Unpack[ConvertKeywords]
) -> ConvertReport:
    """Convert edge lists into a store.

    inputs : a file, a glob, "-" for standard input, or several of them (together one graph).
    target : the store to write. Options, all by name:
    memory : peak resident memory of this process; default: what machine and cgroup leave.
    scratch : folder for temporary files, default beside the target. force : replace the target.
    format : name of the input format, default from suffix and content.
    ids : "int", "string" or "auto". codec : "lz4", "pcodec" or "none". chunk : ids per chunk.
    order : of the vertices, see `reorder`; default "natural".
    threads : default: the cores this process may use. progress : called with progress.Event.
    checkpoint : an emdiam.conversion.resume.CheckpointOptions, to go on from what was done before a stop.

    Returns a report with the store's record and what was dropped or relabelled. Raises InputError
    for bad input (BudgetError where memory or disk cannot do); then there is no target.
    """
    files = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    order = options.pop("order", NATURAL)
    if order == NATURAL:
        return convert_files(files, Path(target), options=convert_options(options))
    from .order.convert import convert_ordered

    return convert_ordered(files, target, order, options=convert_options(options))


def reorder(
    store: str | Path, target: str | Path, order: str, **options: Unpack[ReorderKeywords]
) -> ReorderReport:
    """Write the graph of a store to a new one, its vertices in another order; answers stay in your ids.

    store : the path of one. target : the store to write. order : "natural" (increasing ids),
    "degree" (descending degree), "bfs" (by component, then by distance from its hub), "cluster" (near
    vertices in the same blocks). Options, all by name: memory, scratch, force, threads, progress,
    checkpoint as for `convert`; codec, chunk : default those of the store; seed : of orders with chance.

    Returns a report with the record of the new store. Raises InputError (StoreError; BudgetError
    where memory or disk cannot do); then there is no target.
    """
    from .order.run import reorder as reorder_store

    seed = options.pop("seed", 0)
    with open_store(store) as opened:
        record = opened.record
    options["codec"] = options.get("codec") or record.codec
    options["chunk"] = options.get("chunk") or record.chunk_ids
    return reorder_store(store, target, order, seed=seed, options=convert_options(options))


def convert_options(given: WritingKeywords) -> ConvertOptions:
    """The options of the conversion in the library's units. Raises InputError for a bad size."""
    renamed: dict[str, Any] = {
        {"memory": "memory_bytes", "format": "fmt", "chunk": "chunk_ids"}.get(name, name): value
        for name, value in given.items() if value is not None
    }
    if "memory_bytes" in renamed:
        renamed["memory_bytes"] = parse_size(renamed["memory_bytes"])
    if "scratch" in renamed:
        renamed["scratch"] = Path(renamed["scratch"])
    renamed.setdefault("threads", available_cores())
    return ConvertOptions(**renamed)


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


class RunKeywords(TypedDict, total=False):
    """What `diameter` and `approximate` take by name; see `diameter`."""

    memory: int | str | None
    arena: int | str | None
    threads: int | None
    device: str
    bfs: str | None
    mapping: str | None
    workers: int | None
    scheduler: str | None
    worker_memory: int | str | None
    worker_threads: int | None
    scratch: str | Path | None
    progress: Listener | None


def diameter(graph: Any, *, method: str = "pivots", **options: Unpack[RunKeywords]) -> Result:
    """The exact diameter of `graph`, in hops, with a witness.

    graph : a Store, the path of one, a square scipy.sparse matrix or array (any format; int32 or
        int64 indices, sorted or not, duplicates allowed; every stored entry is an edge, explicit
        zeros too), a tuple (src, dst) of one-dimensional arrays of ids, a list of pairs or an array of
        two columns, or a networkx graph of any kind. A graph in memory is first written to a temporary store.
    method : see emdiam.api_exact.METHODS. Options, all by name:
    memory : peak resident memory of this process, default: what machine and cgroup leave.
    arena : memory for decoded edges alone. threads : default: the cores this process may use.
    device : what traversals run on: "cpu" (default), "gpu", "gpu:N", or "auto" for a GPU where there is
        one. bfs, mapping : variant and load balancing on a GPU, see docs/algorithms/gpu-bfs.md.
    workers : share the run out to so many worker processes of dask.distributed on this machine, or, with
        scheduler="tcp://host:8786", of those that it has. worker_memory, worker_threads : of each.
    scratch : folder for the temporary store of a graph in memory, default: $TMPDIR or /var/tmp.
    progress : called with progress.Event.

    The witness carries the caller's names: row numbers, the ids of the arrays, networkx nodes.
    Raises InputError (BudgetError where memory cannot do), and StoppedEarly on Ctrl-C, whose
    `result` holds the bounds so far. Raises TypeError for an option that there is not.
    """
    run = ExactRun(method=method, **_run_fields(options))
    return cast(Result, _on_graph(graph, lambda store: exact(store, run, options.get("progress")), run, options))


def approximate(graph: Any, *, method: str = "clusters", **options: Any) -> Approximation:
    """An estimate of the diameter of `graph`, in hops, and bounds on it that are proved.

    graph, and by name memory, arena, threads, device, bfs, mapping, workers, scheduler, worker_memory,
    worker_threads, progress : as for `diameter`. method :
    see emdiam.api_approx.METHODS. scratch : folder for the temporary store of a graph in memory, and for
    a condensed graph that memory has no room for. Further options : of the method, such as
    masters="2^20", seed=1, iterations=5 or known_diameter=40.

    `estimate` is what the method reports; `lower` and `upper` are proved, over all components.
    Raises as `diameter`, and InputError for an option that the method does not have. StoppedEarly's
    `result` holds what is known so far.
    """
    own = {name: options.pop(name) for name in list(options) if name not in RunKeywords.__annotations__}
    shared = cast("RunKeywords", options)
    scratch = shared.get("scratch")
    if scratch is not None and method == "clusters":
        own["scratch"] = str(scratch)
    run = ApproxRun(method=method, switches=own, **_run_fields(shared))
    return cast(Approximation, _on_graph(
        graph, lambda store: approx(store, run, shared.get("progress")), run, shared))


def _run_fields(options: RunKeywords) -> dict[str, Any]:
    """Fields of a StoreRun in the library's units. Raises TypeError for an option that there is not."""
    unknown = options.keys() - RunKeywords.__annotations__.keys()
    if unknown:
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    memory, arena, threads = options.get("memory"), options.get("arena"), options.get("threads")
    per_worker = options.get("worker_memory")
    return {
        "memory_bytes": None if memory is None else parse_size(memory),
        "arena_bytes": None if arena is None else parse_size(arena),
        "threads": available_cores() if threads is None else threads,
        "device": options.get("device", "cpu"), "bfs": options.get("bfs"), "mapping": options.get("mapping"),
        "cluster": chosen_cluster(options.get("scheduler"), options.get("workers"),
                                  None if per_worker is None else parse_size(per_worker),
                                  options.get("worker_threads")),
    }


def _on_graph(graph: Any, solve: Callable[[Any], Any], run: StoreRun, options: RunKeywords) -> Any:
    """solve(store) for a graph of any kind, with the caller's names in the result."""
    if isinstance(graph, Store | str | Path):
        return solve(graph)
    with _temporary_store(graph, run, options.get("scratch"), options.get("progress")) as (store, rename):
        try:
            return _renamed(solve(store), rename)
        except StoppedEarly as stop:
            if stop.result is not None:
                _renamed(stop.result, rename)
            raise


@contextmanager
def _temporary_store(
    graph: Any, run: StoreRun, scratch: str | Path | None, progress: Listener | None
) -> Iterator[tuple[Path, Callable[[Any], Any]]]:
    """A store of the graph in memory, removed at the end, and the function from its ids to the
    caller's names."""
    from .formats.in_memory import NetworkxSource, as_source

    source = as_source(graph)
    with tempfile.TemporaryDirectory(prefix="emdiam-", dir=scratch_folder(scratch)) as folder:
        # Named here, so that the conversion takes the folder even where it is a tmpfs: a graph
        # that is in memory anyway does no harm there.
        options = convert_options({"scratch": Path(folder), "threads": run.threads, "progress": progress})
        options = replace(options, memory_bytes=run.memory_bytes)
        target = Path(folder) / "graph.zarr"
        write_graph(source, target, options=options)
        labels = source.labels if isinstance(source, NetworkxSource) else None
        yield target, (lambda vertex: vertex) if labels is None else labels.__getitem__


def _renamed(result: Any, rename: Callable[[Any], Any]) -> Any:
    """`result` with the caller's names in its witness."""
    witness = result.witness
    if witness is not None:
        witness.source, witness.target = rename(witness.source), rename(witness.target)
        witness.path = None if witness.path is None else [rename(vertex) for vertex in witness.path]
    return result
