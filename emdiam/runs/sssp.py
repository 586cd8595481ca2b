"""Runs of shortest paths from one vertex: plan the memory, read the rows, search, write files.

The vertex of an id is found by bisection, since natural ranks follow the order of the ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..decimals import Number, number
from ..errors import InputError
from ..gpu.setting import CPU, select_device
from ..paths.arcs import ArcsOnDisk
from ..paths.blocks import StoreBlocks, load_rows, sliced_rows
from ..paths.methods import AUTO, METHODS, check_lengths, chosen_method, shortest_paths
from ..paths.negative_cycle import NegativeCycle
from ..paths.paths import Paths, SearchOptions
from ..paths.plan import PathPlan, plan_paths
from ..paths.result import ShortestPaths
from ..paths.rows import WeightedRows, lengths_shown, unreached
from ..progress import Meter, timed
from ..store.names import vertex_of
from ..store.store import Store
from ..vertex_tables import PIECE, Piece, write_vertices
from .option import DEVICE_SEARCHES

if TYPE_CHECKING:
    from ..methods.run import Limits
    from .task import Session, Task


def write_paths(path: Path, store: Store, distances: np.ndarray, predecessors: np.ndarray, meter: Meter) -> None:
    """Write a table of id, distance (null without a path) and predecessor (null without a path and at the source).
    Raises InputError if it cannot be written."""
    meter.begin("write", len(distances), "vertices")
    try:
        write_vertices(path, _pieces(store, distances, predecessors, meter))
    finally:
        meter.end()


def _pieces(store: Store, distances: np.ndarray, predecessors: np.ndarray, meter: Meter) -> Iterator[Piece]:
    """The rows in pieces."""
    none = unreached(distances.dtype)
    for begin in range(0, len(distances), PIECE):
        part = slice(begin, min(begin + PIECE, len(distances)))
        before, there = predecessors[part], distances[part]
        # Without a predecessor, the id of vertex 0 fills the place and is masked.
        yield {"id": store.user_ids(np.arange(part.start, part.stop)), "distance": (there, there == none),
               "predecessor": (store.user_ids(np.maximum(before, 0)), before < 0)}
        meter.update(part.stop)


class Searcher(Protocol):
    """A search on a device. name : of the device, for results."""

    name: str

    def __call__(self, rows: WeightedRows, source: int, method: str, options: SearchOptions) -> Paths:
        """See sssp.methods.shortest_paths."""


@dataclass(frozen=True)
class PathOptions:
    """source, target : the user's ids; target None: no path. delta : width of a bucket; None: the method's default.
    out : Parquet file; None: no file. keep : whether the result has distances and predecessors. searcher : a device
    that searches; None: the CPU."""

    source: int | str
    target: int | str | None = None
    delta: float | None = None
    out: Path | None = None
    keep: bool = False
    searcher: Searcher | None = None


def options(task: Task, own: dict[str, Any], limits: Limits) -> PathOptions:
    """The options object from options by name. Raises InputError, also for an unusable device, and for a method of
    devices on the CPU."""
    if "delta" in own:
        own["delta"] = float(own["delta"])
        if not own["delta"] > 0:
            raise InputError("--delta is more than 0, or inf", text=str(own["delta"]))
        if task.method != AUTO:
            _check_buckets(task.method)
    return PathOptions(searcher=_searcher(task), **own)


def _check_buckets(method: str) -> None:
    """Raise InputError for a method without a width of buckets."""
    known = METHODS.get(method.removesuffix("-pairs"))
    if known is None or not known.buckets:
        raise InputError(f"the method {method} has no buckets, and so no --delta",
                         remedy="leave that out, or use --method delta-stepping")


def _searcher(task: Task) -> Searcher | None:
    """The device that searches; None for the CPU."""
    if task.device != CPU:
        from ..gpu.paths.registry import searcher_on

        searcher = searcher_on(select_device(task.device))
        if searcher is not None:
            return searcher
    if task.method in DEVICE_SEARCHES:
        raise InputError("this method of shortest paths is for a GPU alone", text=task.method,
                         remedy="give --device gpu, or another --method")
    return None


def solve(session: Session) -> ShortestPaths:
    """The result. Raises InputError (BudgetError with the numbers; NegativeCycle), OverflowError if distances may not
    fit 64 bits."""
    return _Run(session).result()


class _Run:
    """The stages of one run. seconds : wall seconds of each."""

    def __init__(self, session: Session) -> None:
        self._session, self._store, self._task = session, session.store, session.task
        self._asked: PathOptions = session.task.options
        self._meter, self.seconds = Meter(session.progress), dict[str, float]()
        self._source = vertex_of(self._store, self._asked.source)
        self._target = None if self._asked.target is None else vertex_of(self._store, self._asked.target)
        self._plan: PathPlan = plan_paths(
            self._store, self._task.method, session.memory_bytes, self._task.threads, tree=self._needs_tree,
            arena_bytes=self._task.arena_bytes, writing=self._task.writing_bytes)
        if self._plan.streamed and self._asked.searcher is not None:
            raise InputError(f"{self._asked.searcher.name} needs all arcs in memory, which is too small for them",
                             remedy="give more --memory, or --device cpu, which reads them as it needs them")

    @property
    def _needs_tree(self) -> bool:
        return self._target is not None or self._asked.out is not None or self._asked.keep

    def result(self) -> ShortestPaths:
        """The complete result."""
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
        result.seconds, file, before = self.seconds, self._asked.out, paths.predecessors
        if file is not None and before is not None:
            self._session.write(result, "out", file, lambda: write_paths(
                file, self._store, shown, before, self._meter))
        if self._asked.keep:
            result.distances, result.predecessors = shown, paths.predecessors
        result.seconds = {"total": self._session.elapsed, **self.seconds}
        self._session.tell(result, self._session.memory_bytes, self._plan.planned_rss_bytes)
        return result

    @property
    def _decimals(self) -> int:
        """Decimal places of the weights."""
        record = self._store.record.weights
        return 0 if record is None else record.decimals

    @property
    def _delta(self) -> float | None:
        """The width of a bucket in the units of the store."""
        return None if self._asked.delta is None else self._asked.delta * 10.0**self._decimals

    def _length(self, distance: int | float) -> Number:
        """A distance in the user's units."""
        return distance if isinstance(distance, float) else number(distance, self._decimals)

    def _loaded(self) -> tuple[WeightedRows, int]:
        """The rows in RAM, and the bytes read."""
        self._meter.begin("load", None, "arcs")
        with timed(self.seconds, "load"):
            rows, read = load_rows(self._store, self._task.threads, lambda: self._meter.update(0))
        self._meter.end()
        return rows, read

    def _searched(self, rows: WeightedRows) -> tuple[Paths, list[int] | None]:
        """The paths (with their tree, if the result needs one), and the vertices of the path to the target."""
        asked = self._asked
        self._meter.begin("search", None, "rounds")
        options = SearchOptions(self._task.threads, self._delta, lambda: self._meter.update(0))
        check_lengths(rows)
        if asked.delta is not None and self._task.method == AUTO and (asked.searcher is None or rows.least_weight < 0):
            _check_buckets(chosen_method(rows, AUTO).name)
        with timed(self.seconds, "search"):
            try:
                paths = (asked.searcher or shortest_paths)(rows, self._source, self._task.method, options)
            except NegativeCycle as error:
                raise error.in_user_units(self._store) from None
        self._meter.end()
        with timed(self.seconds, "tree"):
            if self._needs_tree:
                paths.add_tree(rows)
            path = None if self._target is None else paths.path_to(rows, self._target)
        return paths, path

    def _streamed(self) -> tuple[Paths, list[int] | None, int]:
        """The same, and the bytes read, with blocks read on demand."""
        options = SearchOptions(self._task.threads, self._delta, lambda: self._meter.update(0))
        with timed(self.seconds, "load"):
            search = ArcsOnDisk(StoreBlocks(self._store), self._plan.arena_bytes, options)
        self._meter.begin("search", None, "rounds")
        try:
            with timed(self.seconds, "search"):
                paths = search.run(self._source, tree=self._needs_tree)
            path = None if self._target is None else paths.path_to(sliced_rows(self._store), self._target)
            return paths, path, search.bytes_read
        finally:
            self._meter.end()
            search.close()

    def _answer(self, paths: Paths, read: int) -> ShortestPaths:
        """The result without path, table and kept values."""
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
            device=CPU if self._asked.searcher is None else self._asked.searcher.name,
            streamed=self._plan.streamed)
