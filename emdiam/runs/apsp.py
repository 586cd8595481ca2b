"""Runs of distances between all pairs: plan the memory, run the method, write the matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._version import __version__
from ..decimals import Number, number
from ..errors import InputError, MoreMemoryError, StoppedEarly, no_such
from ..gpu.setting import CPU, select_device
from ..paths.negative_cycle import NegativeCycle
from ..paths.pairs.arcs import Lengths, StoreArcs, lengths_of
from ..paths.pairs.johnson import potentials
from ..paths.pairs.matrix import FORMAT_VERSION, AllPairs, MatrixRecord, MatrixWriter
from ..paths.pairs.methods import AUTO, METHODS
from ..paths.pairs.min_plus import padded
from ..paths.pairs.plan import DISK, MEMORY, Budget, Pairs, PairsPlan, plan_pairs, with_room
from ..paths.pairs.solve import MatrixFigures, PairsWork, Solver, by_rows, chunk_of, in_ram, on_disk, write_rows
from ..progress import Meter
from ..store.place import check_target
from ..stream.plan import base_bytes
from ..stream.threads import Threads

if TYPE_CHECKING:
    from ..methods.run import Limits
    from .task import Session, Task


@dataclass(frozen=True)
class PairsOptions:
    """target : the Zarr group to write; None: the matrix stays in memory. force : replace an existing one. solver : a
    device that computes the matrix in memory; None: the CPU."""

    target: Path | None = None
    force: bool = False
    solver: Solver | None = None


def options(task: Task, own: dict[str, Any], limits: Limits) -> PairsOptions:
    """The options object from options by name. Raises InputError for an unusable device."""
    solver = None
    if task.device != CPU:
        from ..gpu.paths.all_pairs import solver_on

        solver = solver_on(select_device(task.device))
    return PairsOptions(own.pop("out", None), solver=solver, **own)


def solve(session: Session) -> AllPairs:
    """The result. Raises InputError (BudgetError if memory, disk or time is too small; NegativeCycle with the cycle; an
    InputError if a distance may not fit 64 bits), and StoppedEarly on Ctrl-C, which keeps nothing."""
    asked: PairsOptions = session.task.options
    if asked.target is not None:
        check_target(asked.target, asked.force)
        import zarr  # noqa: F401 - so that the plan counts its memory as the program's
    try:
        result = _Run(session).result()
    except KeyboardInterrupt:
        raise StoppedEarly("stopped by the user; nothing was kept") from None
    result.seconds["total"] = session.elapsed
    return result


class _Run:
    """One run on an open store."""

    def __init__(self, session: Session) -> None:
        self._session, self._store, self._task = session, session.store, session.task
        self._asked: PairsOptions = session.task.options
        self._meter, self._steps = Meter(session.listener), 0

    def result(self) -> AllPairs:
        """The result, with the matrix in place."""
        base = base_bytes(self._store)
        self._meter.begin("load", None, "")
        arcs = StoreArcs(self._store)
        try:
            lengths, negative = lengths_of(arcs)
        except OverflowError as error:
            raise InputError(str(error), path=self._store.path, remedy="divide the weights") from None
        asked, task = self._asked, self._task
        pairs = Pairs(arcs, lengths, negative)
        name, more = _method(task, pairs)
        plan = plan_pairs(pairs, name, Budget(
            self._session.memory_bytes, base + more, task.threads, asked.target, task.time_limit))
        method = METHODS[plan.method]
        if asked.solver is not None and plan.where == DISK:
            raise InputError(f"{asked.solver.name} needs the matrix in memory, which is too small for it",
                             remedy="give more --memory, or --device cpu")
        if negative:
            self._check_cycles(arcs)
            if not method.negative:
                raise InputError(f"{method.name} needs weights that are not negative", remedy="use --method johnson")
        threads = Threads(task.threads, 0)
        self._meter.begin("solve", None, "steps")
        try:
            made = self._solved(PairsWork(method, arcs, lengths, threads, self._tick, asked.solver), plan)
        except MoreMemoryError as error:
            raise with_room(error, plan, pairs) from None
        finally:
            threads.close()
        self._meter.end()
        return self._completed(made, lengths, plan)

    def _tick(self) -> None:
        self._steps += 1
        self._meter.update(self._steps)

    def _check_cycles(self, arcs: StoreArcs) -> None:
        """Raise NegativeCycle, in the user's ids, if the graph has a negative cycle."""
        try:
            potentials(arcs.rows(), self._task.threads, self._tick)
        except NegativeCycle as error:
            raise error.in_user_units(self._store) from None

    def _solved(self, work: PairsWork, plan: PairsPlan) -> _Made:
        """The matrix by the method, in memory or written."""
        if self._asked.target is None:
            return _in_memory(work, plan)
        n, edge = work.arcs.n_vertices, plan.edge
        chunk = (edge, edge) if plan.where == DISK else chunk_of(n, edge)
        writer = MatrixWriter(self._asked.target, n, work.lengths, chunk, self._asked.force,
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

    def _record(self, method: str, found: MatrixFigures, lengths: Lengths) -> MatrixRecord:
        return MatrixRecord(
            format_version=FORMAT_VERSION, n_vertices=self._store.n_vertices, dtype=str(lengths.output_dtype),
            unreachable=_finite(lengths.unreachable), largest_distance=_nearest(found, lengths),
            unreachable_pairs=found.unreachable, method=method, version=__version__, store_digest=self._store.digest)

    def _completed(self, made: _Made, lengths: Lengths, plan: PairsPlan) -> AllPairs:
        """The result with the figures of plan and measurement."""
        store, out = self._store, self._asked.target
        result = AllPairs(
            device=CPU if self._asked.solver is None else self._asked.solver.name,
            method=plan.method, n_vertices=store.n_vertices, largest_distance=_length(made.found, lengths),
            tiles=plan.tiles, out=None if out is None else str(out), n_arcs=store.n_arcs,
            unreachable_pairs=made.found.unreachable,
            dtype=str(lengths.output_dtype), unreachable=_finite(lengths.unreachable),
            weighted=store.weights is not None, directed=store.directed, where=plan.where, tile_edge=plan.edge,
            matrix_bytes=plan.matrix_bytes, disk_bytes=plan.disk_bytes, seconds=dict(self._meter.seconds),
            details=made.details, weight=store.record.weight_name, distances=made.matrix,
            ids=None if made.matrix is None else self._ids())
        self._session.tell(result, plan.memory_limit_bytes, plan.planned_rss_bytes)
        return result


def _method(task: Task, pairs: Pairs) -> tuple[str, int]:
    """The method's name, and its memory in addition to the matrix. Raises InputError for a method that the device does
    not have."""
    solver = task.options.solver
    if solver is None:
        return task.method, 0
    if task.method not in (AUTO, *solver.methods):
        raise no_such(f"method for all pairs on {solver.name}", task.method, [AUTO, *solver.methods])
    p, item = padded(pairs.arcs.n_vertices), pairs.lengths.dtype.itemsize
    method = solver.usual(p * p * item) if task.method == AUTO else task.method
    return method, solver.host_bytes(method, p, item)


@dataclass
class _Made:
    """The outcome of a method. matrix : the matrix, if it stays in memory. details : figures of the method."""

    found: MatrixFigures
    matrix: np.ndarray | None = None
    details: dict[str, Any] = field(default_factory=dict)


def _in_memory(work: PairsWork, plan: PairsPlan) -> _Made:
    """The matrix in memory."""
    if plan.where == MEMORY:
        matrix, found = in_ram(work)
        return _Made(found, matrix)
    kept: list[np.ndarray] = []
    found = by_rows(work, plan.edge, plan.room_bytes, lambda first, rows: kept.append(rows))
    return _Made(found, kept[0])


def _written(work: PairsWork, plan: PairsPlan, writer: MatrixWriter) -> _Made:
    """The matrix in the array of `writer`."""
    if plan.where == DISK:
        found, tiles = on_disk(work, writer)
        return _Made(found, None, {"tiles_read": tiles.reads, "tiles_written": tiles.writes})
    if plan.where == MEMORY:
        matrix, found = in_ram(work)
        write_rows(writer, 0, matrix)
        return _Made(found)
    return _Made(by_rows(work, plan.edge, plan.room_bytes, lambda first, rows: write_rows(writer, first, rows)))


def _length(found: MatrixFigures, lengths: Lengths) -> Number:
    """The largest distance in the user's units."""
    return number(found.largest, lengths.decimals) if isinstance(found.largest, int) else found.largest


def _nearest(found: MatrixFigures, lengths: Lengths) -> int | float:
    """The largest distance as a value of the matrix."""
    largest = _length(found, lengths)
    return float(largest) if isinstance(largest, Decimal) else largest


def _finite(value: int | float) -> int | None:
    """The value for JSON, which has no infinity."""
    return int(value) if math.isfinite(value) else None
