"""A graph of any kind as a store, for the duration of a run, and the caller's names in the result."""

from __future__ import annotations

import glob
import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from .by_vertex import Names
from .conversion.convert import ConvertOptions, graph_in_memory, write_graph
from .distribution.result import Distances
from .durable import check_scratch
from .errors import EmdiamError, InputError, NotWritten, StoppedEarly, is_url
from .formats.registry import is_address_of_file
from .formats.source import EdgeSource
from .formats.weights import WeightChoice
from .kernel_progress import clock
from .methods.eccentricity.result import EccentricityResult
from .methods.result import Result
from .paths.pairs.matrix import AllPairs
from .paths.result import ShortestPaths
from .progress import BoundsSeen, Listener, TimeOver, until
from .store.layout import StoreRecord
from .store.store import Store, check_weighted, open_store
from .units import available_cores, scratch_folder

# Pairs and vertices of a graph whose store is kept in memory, at most 12 bytes each; a string counts as several.
_ITEMS_IN_MEMORY, _STRING_SHARE = 1 << 18, 8
# Chunk size for a store of an object with at most this number of items: buffers of full chunks take longer than a
# search of it. The store of a file must equal the one that `convert` makes, bit for bit, since its digest identifies
# results of the same graph.
_SMALL_CHUNK = 1 << 13
# Largest store for which a result has all eccentricities by default.
_MOST_KEPT = 1 << 18
_MOST_NAMES = 8  # in an error
_ROOTS = (("root", "hub"), ("root", "random"))  # choices that are no vertices

# Formats and kinds that do not declare whether pairs are arcs or edges.
_UNSAID = frozenset({"edgelist", "csv", "parquet", "arrow", "arrays", "pandas", "polars", "pyarrow", "duckdb", "ibis",
                     "datafusion", "lance"})

Rename = Callable[[Any], Any]


@dataclass(frozen=True)
class Kept:
    """Parts of a graph, besides its edges, that a store keeps: directions and weights. columns : of a table, the ones
    with the ends of edges; None: found by name."""

    directed: bool = False
    weights: WeightChoice | None = None
    columns: tuple[str, str] | None = None


@dataclass(frozen=True)
class Origin:
    """The origin of a temporary store.

    labels : the caller's name for each of its ids, None if they are equal. directions_dropped : whether the graph is
    declared as directed, some edge has no reverse edge, and the store has no directions. record : of the store; None if
    the graph was a store. seconds : duration of the conversion.
    """

    labels: Mapping[Any, Any] | None = None
    directions_dropped: bool = False
    record: StoreRecord | None = None
    seconds: float = 0.0

    @property
    def rename(self) -> Rename | None:
        """A function from ids to the caller's names; None if they are equal."""
        return None if self.labels is None else self.labels.__getitem__

    @cached_property
    def _ids(self) -> dict[Any, Any]:
        """The id of each name."""
        return {name: id_ for id_, name in (self.labels or {}).items()}

    def id_of(self, name: Any) -> Any:
        """The id of the vertex with this name. Raises InputError if there is none."""
        if self.labels is None:
            return name
        try:
            return self._ids[name]
        except (KeyError, TypeError):
            some = ", ".join(map(repr, islice(self._ids, _MOST_NAMES)))
            raise InputError("there is no such vertex", text=repr(name),
                             remedy=f"names of this graph are such as {some}") from None

    def in_ids(self, options: Any) -> Any:
        """The options of a task, with ids in place of the caller's names of vertices."""
        ids = {}
        for name in () if self.labels is None else ("source", "target", "root", "sources", "targets"):
            value = getattr(options, name, None)
            if name.endswith("s") and value is not None and not isinstance(value, str | Path):  # no file of ids
                ids[name] = list(map(self.id_of, value))
            elif not name.endswith("s") and value is not None and (name, value) not in _ROOTS:
                ids[name] = self.id_of(value)
        return replace(options, **ids) if ids else options

    @property
    def converted(self) -> dict[str, Any] | None:
        """See VerifyReport."""
        record = self.record
        return None if record is None else {
            "format": record.source_format, "reading": record.reading, "n_pairs": record.pairs_read,
            "seconds": self.seconds}


@dataclass(frozen=True)
class Means:
    """Limits for making a temporary store.

    memory_bytes, threads : of the conversion; None: the defaults. scratch : folder for the store, if it is not small.
    alone : whether no other process will open it. deadline : of time.monotonic, for the conversion.
    """

    memory_bytes: int | None = None
    threads: int | None = None
    scratch: str | Path | None = None
    alone: bool = True
    deadline: float | None = None


def _changed(work: Callable[[], Any], change: Callable[[Any], Any]) -> Any:
    """The result of a run, even of a stopped one, after `change`, which returns it."""
    try:
        return change(work())
    except (StoppedEarly, NotWritten) as stop:
        if stop.result is not None:
            change(stop.result)
        raise


def named(work: Callable[[], Any], graph: Any, origin: Origin, store: Store | str | Path | None = None) -> Any:
    """The result of a run, even of a stopped one, with the caller's names. store : from which the names of all vertices
    are read if the result has values for them; None: it has none."""
    return _changed(work, partial(_of_caller, graph=graph, origin=origin, store=store))


def with_history(work: Callable[[], Any], bounds: BoundsSeen) -> Any:
    """The result of a run, even of a stopped one, with the history of its bounds."""
    def add(result: Any) -> Any:
        if isinstance(result, Result):
            result.history = bounds.history
        return result

    return _changed(work, add)


def deadline_of(seconds: float | None) -> float | None:
    """The time.monotonic at the end of this number of seconds, or None."""
    return None if seconds is None else time.monotonic() + seconds


def seconds_left(deadline: float | None) -> float | None:
    """Seconds until the deadline, or None."""
    return None if deadline is None else max(0.0, deadline - time.monotonic())


@contextmanager
def as_store(
    graph: Any, means: Means, progress: Listener | None = None, keep: Kept | None = None,
) -> Iterator[tuple[Store | str | Path, Origin]]:
    """A store of a graph of any kind, for the duration of the context, with its origin. keep : for a graph that is not
    a store. Raises InputError if it lacks what must be kept, StoppedEarly if the time ends first."""
    keep, begin = keep or Kept(), clock()
    if is_store(graph):
        if keep.columns is not None:
            raise InputError("a store has no columns to choose the ends of edges from", remedy="leave out --columns")
        if keep.weights is not None:
            check_weights(graph, keep.weights)
        yield graph, Origin()
        return
    source = source_of(graph, keep.weights, keep.columns, keep.directed, memory_bytes=means.memory_bytes,
                       threads=means.threads)
    # Scratch is named here, so that the conversion accepts the folder even on a tmpfs: that does no harm, as the graph
    # is in memory anyway.
    folder = Path(scratch_folder(means.scratch))
    options = ConvertOptions(memory_bytes=means.memory_bytes, scratch=folder, directed=keep.directed,
                             weights=keep.weights, threads=means.threads or available_cores(),
                             progress=until(means.deadline, progress))
    labels: Mapping[Any, Any] | None = getattr(source, "labels", None)
    items = _items(source)
    if means.alone and items <= _ITEMS_IN_MEMORY:
        if means.scratch is not None:
            check_scratch(folder)
        with _in_time():
            tiny = items <= _SMALL_CHUNK and not isinstance(graph, str | Path)
            store = graph_in_memory(source, folder, replace(options, chunk_ids=_SMALL_CHUNK) if tiny else options)
        yield store, _origin(labels, store.record, begin)
        return
    check_scratch(folder)
    with tempfile.TemporaryDirectory(prefix="emdiam-", dir=folder) as inside:
        target = Path(inside) / "graph.zarr"
        with _in_time():
            report = write_graph(source, target, options=replace(options, scratch=Path(inside)))
        yield target, _origin(labels, report.record, begin)


def _origin(labels: Mapping[Any, Any] | None, record: StoreRecord, begin: float) -> Origin:
    """The origin of a store that was just made. begin : start of its making, of kernel_progress.clock."""
    return Origin(labels, _dropped(record), record, clock() - begin)


@contextmanager
def _in_time() -> Iterator[None]:
    """Raises StoppedEarly if the time ends before the store is complete."""
    try:
        yield
    except TimeOver:
        raise StoppedEarly("the time limit is over before the graph was a store") from None


def _names_of(result: Distances | ShortestPaths, graph: Any, store: Store | str | Path, rename: Rename | None) -> (
        Names | None):
    """A function that returns the names of all vertices, in the order of the result's values; None if it has no values.
    The names in a temporary store are read immediately."""
    by_rank = isinstance(result, Distances)
    kept = result.closeness if isinstance(result, Distances) else result.distances
    if kept is None:
        return None
    if is_store(graph):
        return partial(_read_names, graph.address if isinstance(graph, Store) else graph, by_rank)
    read = _read_names(store, by_rank)
    names = read if rename is None else [rename(one) for one in read]
    return lambda: names


def _read_names(place: Store | str | Path, by_rank: bool) -> Sequence[Any]:
    """The user's ids of all vertices, in the order of the store, or in increasing order."""
    with nullcontext(place) if isinstance(place, Store) else open_store(place, directed=None) as store:
        vertices = np.arange(store.n_vertices)
        return store.ids_of_ranks(vertices) if by_rank else store.user_ids(vertices)


def check_weights(graph: Store | str | Path, weights: WeightChoice) -> None:
    """Raise InputError if a store does not have these weights, StoreError if it is not a store."""
    if isinstance(graph, Store):
        check_weighted(graph, weights.column)
        return
    with open_store(graph, directed=None) as store:
        check_weighted(store, weights.column)


def is_store(graph: Any) -> TypeGuard[Store | str | Path]:
    """Whether it is a Store, or a path or address other than a file's, which can only be a store's."""
    return isinstance(graph, Store) or (
        isinstance(graph, str | Path) and not _has_edges(str(graph)))


def declared(name: str) -> dict[str, Any] | None:
    """The declarations of a file with edges before they are read: format, vertices, pairs (arcs if they have
    directions), bytes, and bits of each pair; None if it has no counts. Raises InputError."""
    info = source_of(name).info()
    if info.n_vertices is None or info.n_entries is None or info.size_bytes is None:
        return None
    bits = round(8 * info.size_bytes / info.n_entries, 3) if info.n_entries else None
    return {"path": name, "format": info.format, "n_vertices": info.n_vertices, "n_entries": info.n_entries,
            "directed": info.directed, "size_bytes": info.size_bytes, "bits_per_entry": bits}


def _has_edges(name: str) -> bool:
    """Whether the name is a file, a pipe, standard input, a member of an archive, a folder of files with edges, a
    pattern that matches files, or the address of a file."""
    if is_url(name):
        return is_address_of_file(name)
    path = Path(name)
    if (path / "zarr.json").is_file():
        return False
    from .formats.archives import split_member
    from .formats.folders import is_folder_of_edges
    from .formats.inputs import STDIN

    return (name == STDIN or (path.exists() and not path.is_dir()) or split_member(name) is not None
            or is_folder_of_edges(path) or (glob.has_magic(name) and bool(glob.glob(name))))


def files_of(inputs: Any, named: bool = False) -> list[str | Path] | None:
    """The names of files in an argument of `convert`; None for a store, its path or address, and for a graph in memory.
    named : whether the format is named, so that an address cannot be a store's."""
    if isinstance(inputs, str | Path):
        if is_url(str(inputs)):
            return [inputs] if named or is_address_of_file(str(inputs)) else None
        return None if (Path(inputs) / "zarr.json").is_file() else [inputs]
    names = list(inputs) if isinstance(inputs, list | tuple | Set) else None
    return names if names is not None and all(isinstance(name, str | Path) for name in names) else None


def edges_of(
    graph: Any, columns: tuple[str, str] | None, named: bool, weights: WeightChoice | None
) -> list[str | Path] | EdgeSource:
    """Files with edges, or the edges of a graph in memory, for a conversion. columns, weights : see source_of. named :
    whether the format is named, see files_of. Raises InputError."""
    files = files_of(graph, named)
    return source_of(graph, weights, columns) if files is None else files


def source_of(
    graph: Any, weights: WeightChoice | None = None, columns: tuple[str, str] | None = None, directed: bool = False,
    bipartite: bool = False, memory_bytes: int | None = None, threads: int | None = None,
) -> EdgeSource:
    """The edges of the file at a path, or of a graph in memory. weights : to keep. columns : the two ends of an edge in
    a table. directed : whether directions are kept. bipartite : whether the columns are two separately numbered sides.
    memory_bytes, threads : of the run. Raises InputError."""
    if isinstance(graph, str | Path):
        from .formats import open_source

        return open_source([graph], weights=weights, columns=columns, directed=directed, bipartite=bipartite,
                           memory_bytes=memory_bytes, threads=threads)
    from .formats.objects import as_source

    return as_source(graph, weights, columns, bipartite, directed)


def keeps_all(graph: Any) -> bool:
    """Whether eccentricities of all vertices are kept by default: for a graph that is not a store, and for a store with
    few vertices."""
    if not is_store(graph):
        return True
    if isinstance(graph, Store):
        return graph.n_vertices <= _MOST_KEPT
    with suppress(EmdiamError), open_store(graph, directed=None) as store:  # the run reports the error
        return store.n_vertices <= _MOST_KEPT
    return False


def _items(source: EdgeSource) -> float:
    """Number of pairs and vertices of a graph, if known before it is read; see _STRING_SHARE."""
    info = source.info()
    pairs = getattr(source, "most_pairs", None) if info.n_entries is None else info.n_entries
    share = _STRING_SHARE if info.id_kind == "string" else 1
    return math.inf if pairs is None else share * (pairs + (info.n_vertices or 0))


def _dropped(record: StoreRecord) -> bool:
    """Whether the store lost directions that its input declared."""
    return record.directed_input and not record.directed and record.source_format not in _UNSAID


def _of_caller(result: Any, graph: Any, origin: Origin, store: Store | str | Path | None) -> Any:
    """`result` with the caller's names, and without names of a temporary store."""
    rename = origin.rename
    if store is not None and isinstance(result, Distances | ShortestPaths):
        result.names = _names_of(result, graph, store, rename)
    if rename is not None and isinstance(result, ShortestPaths):
        result.source, result.farthest = rename(result.source), rename(result.farthest)
        result.target = None if result.target is None else rename(result.target)
        result.path = None if result.path is None else [rename(vertex) for vertex in result.path]
    if rename is not None and isinstance(result, AllPairs) and result.ids is not None:
        result.ids = [rename(one) for one in result.ids]
    if origin.directions_dropped and hasattr(result, "directions_dropped"):
        result.directions_dropped = True
    if not is_store(graph) and hasattr(result, "store_path"):
        result.store_path = result.store_name = ""
    if rename is not None and isinstance(result, EccentricityResult):
        result.rename(rename)
    listed = getattr(result, "details", {}).get("components")
    if rename is not None and isinstance(listed, list):
        for row in listed:
            row["vertex"] = rename(row["vertex"])
    witness = getattr(result, "witness", None)
    if witness is not None and rename is not None:
        witness.source, witness.target = rename(witness.source), rename(witness.target)
        witness.path = None if witness.path is None else [rename(vertex) for vertex in witness.path]
    return result
