"""One run from its options to its result: memory is planned, the rows are read, distances searched, files written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .._version import __version__
from ..decimals import Number, number
from ..durable import check_file
from ..errors import InputError, NotWritten
from ..progress import Listener, Meter, timed
from ..store.store import Store, open_store
from ..units import available_cores, default_memory_bytes, parse_size, peak_rss_bytes
from ..vertex_tables import writing_bytes
from .bellman_ford import NegativeCycle
from .loading import load_rows
from .methods import AUTO, StoredLengths, check_lengths, shortest_paths
from .naming import vertex_of
from .paths import Paths, SearchOptions
from .plan import PathPlan, plan_paths
from .result import ShortestPaths
from .rows import WeightedRows, lengths_shown
from .streamed import StreamedSearch
from .table import write_paths


class Searcher(Protocol):
    """What searches in the place of the processors, as a device does. name : of it, for results."""

    name: str

    def __call__(self, rows: WeightedRows, source: int, method: str, options: SearchOptions) -> Paths:
        """See methods.shortest_paths."""


@dataclass(frozen=True)
class PathOptions:
    """source, target : ids of the user; target None: no path is asked for. method : of methods.METHODS, or "auto".
    delta : width of a bucket; None: the method's own. out : Parquet file, None: none. keep : whether the result has
    distances and predecessors. memory_bytes : peak RSS of the process; None: what machine and cgroup leave.
    arena_bytes : of decoded blocks, where they are streamed; it makes a run stream. threads : that search. searcher :
    what searches; None: the processors."""

    source: int | str
    target: int | str | None = None
    method: str = AUTO
    delta: float | None = None
    out: Path | None = None
    keep: bool = False
    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 1
    evict_page_cache: bool = False
    searcher: Searcher | None = None


def options_of(source: int | str, given: Mapping[str, Any]) -> PathOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError."""
    known = {name: value for name, value in given.items() if value is not None}
    if "delta" in known and not float(known["delta"]) > 0:
        raise InputError("--delta is more than 0, or inf", text=str(known["delta"]))
    fields: dict[str, Any] = {name: known[name] for name in ("target", "method", "keep", "evict_page_cache", "searcher")
                              if name in known}
    for name in ("memory", "arena"):
        if name in known:
            fields[f"{name}_bytes"] = parse_size(known[name])
    if "out" in known:
        fields["out"] = Path(known["out"])
    if "delta" in known:
        fields["delta"] = float(known["delta"])
    return PathOptions(source, threads=known.get("threads") or available_cores(), **fields)


def search(store: Store | str | Path, asked: PathOptions, progress: Listener | None = None) -> ShortestPaths:
    """Shortest paths in a store (opened, or a path), with or without weights and directions.

    Raises InputError (StoreError; BudgetError with the numbers; NegativeCycle; NotWritten with `result` where the file
    cannot be written in the end), OverflowError where distances may not fit 64 bits."""
    if asked.out is not None:
        check_file(asked.out)
    opening = (nullcontext(store) if isinstance(store, Store)
               else open_store(store, evict_page_cache=asked.evict_page_cache, directed=None))
    with opening as opened:
        if not opened.n_vertices:
            raise InputError("the graph has no vertices, so there is no source", path=opened.path)
        return _Run(opened, asked, progress).result()


class _Run:
    """The stages of one run. seconds : wall seconds of each."""

    def __init__(self, store: Store, asked: PathOptions, progress: Listener | None) -> None:
        self._store, self._asked, self._meter = store, asked, Meter(progress)
        self._begin = time.perf_counter()
        self.seconds: dict[str, float] = {}
        memory = default_memory_bytes() if asked.memory_bytes is None else asked.memory_bytes
        self._source = vertex_of(store, asked.source)
        self._target = None if asked.target is None else vertex_of(store, asked.target)
        self._memory = memory
        self._plan: PathPlan = plan_paths(store, asked.method, memory, asked.threads, tree=self._needs_tree,
                                          arena_bytes=asked.arena_bytes,
                                          writing=0 if asked.out is None else writing_bytes())
        if self._plan.streamed and asked.searcher is not None:
            raise InputError(f"{asked.searcher.name} takes all arcs from RAM, where there is no room for them",
                             remedy="give more --memory, or --device cpu, which reads them as it needs them")

    @property
    def _needs_tree(self) -> bool:
        return self._target is not None or self._asked.out is not None or self._asked.keep

    def result(self) -> ShortestPaths:
        """The answer, with every figure of it. Raises NotWritten."""
        if self._plan.streamed:
            paths, path, read = self._streamed()
        else:
            rows, read = self._loaded()
            paths, path = self._searched(rows)
        result = self._answer(paths, read)
        if self._target is not None and path is not None:
            result.path = list(self._store.user_ids(np.array(path)))
            result.distance = self._length(paths.distances[self._target].item())
        shown = lengths_shown(paths.distances, self._decimals)
        if self._asked.out is not None:
            self._write(result, shown, paths)
        if self._asked.keep:
            result.distances, result.predecessors = shown, paths.predecessors
        result.seconds = {"total": time.perf_counter() - self._begin, **self.seconds}
        result.peak_rss_bytes = peak_rss_bytes()
        if result.not_written:
            raise NotWritten("; ".join(result.not_written), result)
        return result

    @property
    def _decimals(self) -> int:
        """Of the weights."""
        record = self._store.record.weights
        return 0 if record is None else record.decimals

    @property
    def _delta(self) -> float | None:
        """The width of a bucket in the units of the store."""
        return None if self._asked.delta is None else self._asked.delta * 10.0**self._decimals

    def _length(self, distance: int | float) -> Number:
        """A distance as users see it."""
        return distance if isinstance(distance, float) else number(distance, self._decimals)

    def _loaded(self) -> tuple[WeightedRows, int]:
        """The rows in RAM, and the bytes read."""
        self._meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            rows, read = load_rows(self._store, self._asked.threads, lambda: self._meter.update(0))
        self._meter.end()
        return rows, read

    def _searched(self, rows: WeightedRows) -> tuple[Paths, list[int] | None]:
        """The paths, with their tree if one is needed, and the vertices of the path that was asked for."""
        asked = self._asked
        self._meter.begin("search", None, "rounds")
        options = SearchOptions(asked.threads, self._delta, lambda: self._meter.update(0))
        check_lengths(rows)
        with timed(self.seconds, "search"):
            try:
                paths = (asked.searcher or shortest_paths)(rows, self._source, asked.method, options)
            except NegativeCycle as error:
                raise error.told(self._store) from None
        self._meter.end()
        with timed(self.seconds, "tree"):
            if self._needs_tree:
                paths.add_tree(rows)
            path = None if self._target is None else paths.path_to(rows, self._target)
        return paths, path

    def _streamed(self) -> tuple[Paths, list[int] | None, int]:
        """The same, and the bytes read, with blocks read as they are needed."""
        asked = self._asked
        options = SearchOptions(asked.threads, self._delta, lambda: self._meter.update(0))
        check_lengths(StoredLengths.of(self._store))
        with timed(self.seconds, "load"):
            search = StreamedSearch(self._store, self._plan.arena_bytes, options)
        self._meter.begin("search", None, "rounds")
        try:
            with timed(self.seconds, "search"):
                paths = search.run(self._source, tree=self._needs_tree)
            path = None if self._target is None else paths.path_to(search.stored_rows(), self._target)
            return paths, path, search.bytes_read
        finally:
            self._meter.end()
            search.close()

    def _answer(self, paths: Paths, read: int) -> ShortestPaths:
        """The result without what was asked for beside."""
        store = self._store
        names = store.user_ids(np.array([self._source, paths.farthest]))
        record = store.record
        return ShortestPaths(
            source=names[0], method=paths.method, reached=paths.reached,
            largest_distance=self._length(paths.largest_distance), farthest=names[1],
            relaxations=paths.relaxations, rounds=paths.rounds, n_vertices=store.n_vertices,
            n_edges=record.n_edges, directed=store.directed, weights=None if record.weights is None else
            record.weights.dtype, weight=record.weight_name, target=None if self._target is None else
            store.user_ids(np.array([self._target]))[0], bytes_read=read,
            memory_limit_bytes=self._memory, planned_rss_bytes=self._plan.planned_rss_bytes,
            device="cpu" if self._asked.searcher is None else self._asked.searcher.name,
            streamed=self._plan.streamed, version=__version__, store_digest=store.digest, store_path=store.path,
            store_name=store.name)

    def _write(self, result: ShortestPaths, distances: np.ndarray, paths: Paths) -> None:
        """Write distances, as users see them, and predecessors of all vertices."""
        assert self._asked.out is not None and paths.predecessors is not None
        try:
            with timed(self.seconds, "write"):
                write_paths(self._asked.out, self._store, distances, paths.predecessors, self._meter)
            result.out = str(self._asked.out)
        except InputError as error:
            result.not_written.append(str(error))
