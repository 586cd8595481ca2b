"""One run from its options to its result: what distances need is planned, the method runs, the matrix is written."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..decimals import Number, number
from ..errors import InputError, MoreMemoryError, StoppedEarly, no_such
from ..progress import Listener, Meter, TimeOver, until
from ..sssp.bellman_ford import NegativeCycle
from ..store.place import check_target
from ..store.store import Store, open_store
from ..stream.plan import MARGIN, program_bytes
from ..stream.threads import Threads
from ..units import available_cores, default_memory_bytes, parse_duration, parse_size, peak_rss_bytes
from .arcs import StoreArcs, lengths_of
from .lengths import Lengths
from .matrix import FORMAT_VERSION, MatrixRecord, MatrixWriter
from .methods import AUTO, METHODS
from .plan import DISK, MEMORY, Budget, PairsPlan, Task, plan_pairs, with_room
from .potentials import potentials
from .result import AllPairs
from .solve import Found, Solver, Work, by_rows, chunk_of, in_ram, on_disk, write_rows


@dataclass(frozen=True)
class PairsOptions:
    """method : a key of methods.METHODS, or "auto". out : the Zarr group to write; None: the matrix stays in memory.
    force : replace it. memory_bytes : peak of the process; None: what machine and cgroup leave. time_limit :
    seconds. solver : what solves the matrix, in memory; None: the processors."""

    method: str = AUTO
    out: Path | None = None
    force: bool = False
    memory_bytes: int | None = None
    threads: int = 2
    time_limit: float | None = None
    solver: Solver | None = None


def _as_it_is(value: Any) -> Any:
    return value


def options_of(given: Mapping[str, Any]) -> PairsOptions:
    """The options from those by the names of the command line; None counts as not given. Raises InputError."""
    readers: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "memory": ("memory_bytes", parse_size), "time_limit": ("time_limit", parse_duration), "out": ("out", Path)}
    fields: dict[str, Any] = {"threads": available_cores()}
    for name, value in given.items():
        if value is not None:
            place, read = readers.get(name, (name, _as_it_is))
            fields[place] = read(value)
    return PairsOptions(**fields)


def all_pairs(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> AllPairs:
    """Distances between all pairs of vertices of a store (opened, or a path), along its arcs. options : by the names of
    the command line.

    Raises InputError (StoreError; BudgetError where memory, disk or time cannot do; NegativeCycle with the cycle;
    where a distance may not fit 64 bits), and StoppedEarly on Ctrl-C and at the end of the time: nothing
    is kept then."""
    asked = options_of(options)
    begin = time.perf_counter()
    deadline = None if asked.time_limit is None else time.monotonic() + asked.time_limit
    with ExitStack() as stack:
        opened = store if isinstance(store, Store) else stack.enter_context(open_store(store, directed=None))
        if not opened.n_vertices:
            raise InputError("the graph has no vertices, so there are no distances", path=opened.path)
        if asked.out is not None:
            check_target(asked.out, asked.force)
            import zarr  # noqa: F401 - what it takes counts as the program's own in the plan
        with _stopping():
            result = _Run(opened, asked, until(deadline, progress)).result()
    result.seconds["total"] = time.perf_counter() - begin
    return result


@contextmanager
def _stopping() -> Iterator[None]:
    """Turns Ctrl-C and the end of the time into StoppedEarly."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedEarly("stopped by the user; nothing was kept") from None
    except TimeOver:
        raise StoppedEarly("the time limit is over; nothing was kept") from None


class _Run:
    """One run on an opened store."""

    def __init__(self, store: Store, asked: PairsOptions, progress: Listener | None) -> None:
        self._store, self._asked, self._meter = store, asked, Meter(progress)
        self._steps = 0

    def result(self) -> AllPairs:
        """The result, with the matrix in place."""
        base = program_bytes() + MARGIN + self._store.ahead_bytes
        self._meter.begin("load", None, "")
        arcs = StoreArcs(self._store)
        try:
            lengths, negative = lengths_of(arcs)
        except OverflowError as error:
            raise InputError(str(error), path=self._store.path, remedy="divide the weights") from None
        asked = self._asked
        memory = default_memory_bytes() if asked.memory_bytes is None else asked.memory_bytes
        task = Task(arcs, lengths, negative)
        plan = plan_pairs(task, _method(asked), Budget(memory, base, asked.threads, asked.out, asked.time_limit))
        method = METHODS[plan.method]
        if asked.solver is not None and plan.where != MEMORY:
            raise InputError(f"{asked.solver.name} takes the matrix from memory, where there is no room for it",
                             remedy="give more --memory, or --device cpu")
        if negative:
            self._check_cycles(arcs)
            if not method.negative:
                raise InputError(f"{method.name} needs weights that are not negative", remedy="use --method johnson")
        threads = Threads(asked.threads, 0)
        self._meter.begin("solve", None, "steps")
        try:
            made = self._solved(Work(method, arcs, lengths, threads, self._tick, asked.solver), plan)
        except MoreMemoryError as error:
            raise with_room(error, plan, task) from None
        finally:
            threads.close()
        self._meter.end()
        return self._told(made, lengths, plan)

    def _tick(self) -> None:
        self._steps += 1
        self._meter.update(self._steps)

    def _check_cycles(self, arcs: StoreArcs) -> None:
        """Raise NegativeCycle, in the user's ids, if there is one."""
        try:
            potentials(arcs.rows(), self._asked.threads, self._tick)
        except NegativeCycle as error:
            raise error.told(self._store) from None

    def _solved(self, work: Work, plan: PairsPlan) -> _Made:
        """What the method finds, written if that is asked for."""
        if self._asked.out is None:
            return _in_memory(work, plan)
        n, edge = work.arcs.n_vertices, plan.edge
        chunk = (edge, edge) if plan.where == DISK else chunk_of(n, edge)
        writer = MatrixWriter(self._asked.out, n, work.lengths, chunk, self._asked.force,
                              whole=plan.where == DISK)
        try:
            made = _written(work, plan, writer)
            self._meter.begin("write", None, "")
            writer.finish(self._record(plan.method, made.found, work.lengths), self._ids())
        finally:
            writer.abort()
        return made

    def _ids(self) -> list[Any]:
        """The user's ids of all vertices."""
        return list(self._store.user_ids(np.arange(self._store.n_vertices)))

    def _record(self, method: str, found: Found, lengths: Lengths) -> MatrixRecord:
        return MatrixRecord(
            format_version=FORMAT_VERSION, n_vertices=self._store.n_vertices, dtype=str(lengths.given),
            unreachable=_finite(lengths.unreachable), largest_distance=_nearest(found, lengths),
            unreachable_pairs=found.unreachable, method=method, version=__version__, store_digest=self._store.digest)

    def _told(self, made: _Made, lengths: Lengths, plan: PairsPlan) -> AllPairs:
        """The result with what was planned and measured."""
        store, out = self._store, self._asked.out
        return AllPairs(
            device="cpu" if self._asked.solver is None else self._asked.solver.name,
            method=plan.method, n_vertices=store.n_vertices, largest_distance=_length(made.found, lengths),
            tiles=plan.tiles, out=None if out is None else str(out), n_arcs=store.n_arcs,
            unreachable_pairs=made.found.unreachable,
            dtype=str(lengths.given), unreachable=_finite(lengths.unreachable), weighted=store.weights is not None,
            directed=store.directed, where=plan.where, tile_edge=plan.edge,
            matrix_bytes=plan.matrix_bytes, disk_bytes=plan.disk_bytes, memory_limit_bytes=plan.memory_limit_bytes,
            planned_rss_bytes=plan.planned_rss_bytes, peak_rss_bytes=peak_rss_bytes(),
            seconds=dict(self._meter.seconds), version=__version__, store_digest=store.digest, store_path=store.path,
            store_name=store.name, details=made.details, weight=store.record.weight_name, distances=made.matrix,
            ids=None if made.matrix is None else self._ids())


def _method(asked: PairsOptions) -> str:
    """The method's name; where a device solves, the one it has. Raises InputError for one that it has not."""
    if asked.solver is None:
        return asked.method
    if asked.method not in (AUTO, *asked.solver.methods):
        raise no_such(f"method for all pairs on {asked.solver.name}", asked.method, [AUTO, *asked.solver.methods])
    return asked.solver.methods[0] if asked.method == AUTO else asked.method


@dataclass
class _Made:
    """What a method found. matrix : where it stays in memory. details : figures of its own."""

    found: Found
    matrix: np.ndarray | None = None
    details: dict[str, Any] = field(default_factory=dict)


def _in_memory(work: Work, plan: PairsPlan) -> _Made:
    """The matrix in memory."""
    if plan.where == MEMORY:
        matrix, found = in_ram(work)
        return _Made(found, matrix)
    kept: list[np.ndarray] = []
    found = by_rows(work, plan.edge, plan.room_bytes, lambda first, rows: kept.append(rows))
    return _Made(found, kept[0])


def _written(work: Work, plan: PairsPlan, writer: MatrixWriter) -> _Made:
    """The matrix in the array of `writer`."""
    if plan.where == DISK:
        found, tiles = on_disk(work, writer)
        return _Made(found, None, {"tiles_read": tiles.reads, "tiles_written": tiles.writes})
    if plan.where == MEMORY:
        matrix, found = in_ram(work)
        write_rows(writer, 0, matrix)
        return _Made(found)
    return _Made(by_rows(work, plan.edge, plan.room_bytes, lambda first, rows: write_rows(writer, first, rows)))


def _length(found: Found, lengths: Lengths) -> Number:
    """The largest distance as users see it."""
    return number(found.largest, lengths.decimals) if isinstance(found.largest, int) else found.largest


def _nearest(found: Found, lengths: Lengths) -> int | float:
    """The same as a matrix has it."""
    largest = _length(found, lengths)
    return float(largest) if isinstance(largest, Decimal) else largest


def _finite(value: int | float) -> int | None:
    """What JSON has of it."""
    return int(value) if math.isfinite(value) else None
