"""A store of the same graph with its vertices numbered otherwise, within a memory budget.

    old store -> every edge with its ends renumbered -> sorted runs -> merge -> StoreWriter

The map of ids is copied as it is, in natural order, and natural_id says which entry belongs to a
vertex. Results do not depend on the budget, the threads or the chunks. Whatever stops it, threads
are joined, scratch files and NAME.partial removed.
RAM: the new numbers (4 bytes a vertex, 8 from 2^32 vertices on) beside what the sort is planned to
take. I/O: every array of the old store once (natural_id once a window of the new one), the runs of
the sort, every array of the new store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..errors import StoreError
from ..units import current_rss_bytes, default_memory_bytes, format_size, peak_rss_bytes
from .arc_runs import RUN_ARCS, ArcRun, scan_arcs, scan_bytes
from .convert import ConvertOptions, planned_disk
from .layout import NATURAL, StoreRecord, sentinel
from .meter import Meter
from .pack import ArcSorter
from .scratch import Scratch, disk_full_is_said
from .sort import SortContext, SortStats
from .sortplan import SortPlan, plan_sort
from .source import SourceInfo
from .store import Store
from .writer import StoreWriter, check_target, writer_bytes

# Of an arc whose ends are looked up: rows, which arcs lead up, and both ends before and after.
_LOOKUP_BYTES = 32


@dataclass(frozen=True)
class Renumbering:
    """ordering : name of the new order. new_of : id_dtype[n], the new number of every vertex, each
    number from 0 to n - 1 once."""

    ordering: str
    new_of: np.ndarray


@dataclass(frozen=True)
class ReorderReport:
    """What a reordering did.

    record : of the new store. seconds : by phase (order, ids, read, sort, merge, write).
    memory_limit_bytes, planned_rss_bytes, peak_rss_bytes : budget, plan and the peak of the process
    so far. scratch_bytes : most scratch on disk at a time. sort : counts of runs and passes.
    notes : what the user should know, one sentence each.
    """

    record: StoreRecord
    seconds: dict[str, float]
    memory_limit_bytes: int
    planned_rss_bytes: int
    peak_rss_bytes: int
    scratch_bytes: int
    sort: SortStats = field(default_factory=SortStats)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON."""
        return asdict(self)


def load_libraries() -> None:
    """Load now what is loaded later anyway, so that a measured base has it."""
    import zarr.codecs  # noqa: F401


def renumbering_bytes(store: Store) -> int:
    """Bytes of the new numbers of all vertices."""
    return store.n_vertices * store.id_dtype.itemsize


def reorder_plan(store: Store, options: ConvertOptions, base_bytes: int) -> SortPlan:
    """The memory plan of write_reordered.

    base_bytes : RSS when it begins, the new numbers included. Raises BudgetError with the numbers.
    """
    chunk_ids = max(options.chunk_ids, store.record.chunk_ids)
    reading = scan_bytes(store, options.threads) + options.threads * _LOOKUP_BYTES * max(RUN_ARCS, chunk_ids)
    # One array more than a conversion writes: natural_id.
    writing = writer_bytes(options.threads, options.chunk_ids) // 2
    memory = options.memory_bytes or default_memory_bytes()
    return plan_sort(memory, base_bytes, reading + writing, options.threads, options.chunk_ids)


def write_reordered(
    store: Store, renumbering: Renumbering, target: Path, *, options: ConvertOptions, meter: Meter | None = None
) -> ReorderReport:
    """Write the graph of `store` in the new numbering to `target`.

    options : format and ids of the input are not looked at. meter : hears of the phases ids, read,
    sort, merge, write (default: of options.progress). Raises InputError for an existing target,
    BudgetError where memory or disk cannot do, StoreError for a store that is damaged. Then, and
    after Ctrl-C, neither the target nor scratch files exist.
    """
    load_libraries()
    check_target(target, options.force)
    plan = options.plan or reorder_plan(store, options, current_rss_bytes())
    scratch = Scratch(options.scratch, target)
    context = SortContext(plan, scratch, options.threads, meter or Meter(options.progress))
    writing = _Writing(store, renumbering, target, options, context)
    try:
        info = SourceInfo(n_vertices=store.n_vertices, n_entries=store.n_arcs // 2)
        scratch.check_room(*planned_disk(info, plan), target)
        return writing.run()
    except BaseException:
        writing.abort()
        raise
    finally:
        scratch.close()


class _Writing:
    """One reordering under way: what has to be stopped when it fails."""

    def __init__(
        self, store: Store, renumbering: Renumbering, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        self._store, self._renumbering, self._target = store, renumbering, target
        self._options, self._context = options, context
        self._sorter: ArcSorter | None = None
        self._writer: StoreWriter | None = None

    def run(self) -> ReorderReport:
        """Everything from the new numbers to the finished store."""
        options, meter = self._options, self._context.meter
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            self._writer = writer = StoreWriter(
                self._target, n_vertices=self._store.n_vertices, force=options.force, codec=options.codec,
                chunk_ids=options.chunk_ids, threads=options.threads,
            )
            meter.begin("ids", None, "")
            self._copy_ids(writer)
            self._write_ranks(writer)
            self._sorter = sorter = ArcSorter(self._store.n_vertices, self._context)
            self._take_in(sorter)
            meter.begin("merge", None, "arcs")
            self._check_arcs(sorter.write_rows(writer))
            meter.begin("write", None, "")
            record = writer.finish(self._record())
        self._writer = None
        meter.end()
        return self._report(record)

    def _copy_ids(self, writer: StoreWriter) -> None:
        """The arrays of the map of ids, as they are."""
        for name in self._store.array_names():
            if name.startswith("vertex_id"):
                writer.append_stored_ids(name, np.empty(0, self._store.array(name).dtype))
                for values in self._store.values(name):
                    writer.append_stored_ids(name, values)

    def _write_ranks(self, writer: StoreWriter) -> None:
        """natural_id, in windows that fit the room which the sort buffers will take."""
        if self._renumbering.ordering == NATURAL:
            return
        plan = self._context.plan
        size = max(1, plan.run_keys * plan.n_buffers * 4 // writer.id_dtype.itemsize)
        writer.append_natural_ids(np.empty(0, writer.id_dtype))
        for ranks in _ranks_by_number(self._store, self._renumbering.new_of, size):
            writer.append_natural_ids(ranks)

    def _take_in(self, sorter: ArcSorter) -> None:
        """Give every edge to the sorter, with its new ends."""
        new_of, lock, meter = self._renumbering.new_of, Lock(), self._context.meter
        n_down = 0

        def work(run: ArcRun, ids: np.ndarray) -> None:
            nonlocal n_down
            rows = np.repeat(run.rows, np.diff(run.starts))
            up, down = np.flatnonzero(rows < ids), int(np.count_nonzero(rows > ids))
            src, dst = new_of[rows[up]].astype(np.uint64), new_of[ids[up]].astype(np.uint64)
            with lock:  # the sorter takes keys from one thread at a time
                sorter.add(src, dst)
                n_down += down

        meter.begin("read", self._store.indices.n_chunks, "chunks")
        scan_arcs(self._store, self._options.threads, work, meter.update)
        self._check_arcs(2 * n_down)
        meter.begin("sort", None, "keys")
        sorter.finish()

    def _check_arcs(self, n_arcs: int) -> None:
        """Half of the arcs lead down, and twice those that lead up are as many as there are: a store
        with loops, duplicates or edges in one direction only is not made good in silence."""
        if n_arcs != self._store.n_arcs:
            raise StoreError("the rows are not those of an undirected simple graph", path=self._store.path,
                             remedy="the store is damaged: convert the graph again")

    def _record(self) -> StoreRecord:
        """The record as far as the writer does not fill it."""
        old = self._store.record
        return StoreRecord(
            directed_input=old.directed_input, symmetric=old.symmetric, loops_dropped=old.loops_dropped,
            duplicates_dropped=old.duplicates_dropped, id_kind=old.id_kind, first_id=old.first_id,
            ordering=self._renumbering.ordering, source=list(old.source), source_format=old.source_format,
        )

    def _report(self, record: StoreRecord) -> ReorderReport:
        context, notes = self._context, []
        if context.scratch.in_memory and context.scratch.peak_bytes:
            notes.append(f"scratch files took {format_size(context.scratch.peak_bytes)} of RAM outside the memory"
                         " budget")
        return ReorderReport(
            record=record, seconds=dict(context.meter.seconds), memory_limit_bytes=context.plan.memory_bytes,
            planned_rss_bytes=context.plan.planned_bytes, peak_rss_bytes=peak_rss_bytes(),
            scratch_bytes=context.scratch.peak_bytes, sort=context.stats, notes=tuple(notes),
        )

    def abort(self) -> None:
        """Join all threads and remove NAME.partial."""
        try:
            if self._sorter is not None:
                self._sorter.abort()
        finally:
            if self._writer is not None:
                self._writer.abort()


def _ranks_by_number(store: Store, new_of: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Natural ranks in the order of the new numbers, id_dtype[`size` or fewer] at a time, each window
    by a pass over all vertices. Raises RuntimeError if a number does not occur in new_of."""
    none = sentinel(store.id_dtype)
    for low in range(0, store.n_vertices, size):
        window = np.full(min(size, store.n_vertices - low), none, store.id_dtype)
        begin = 0
        for ranks in store.natural_pieces():
            numbers = new_of[begin : begin + len(ranks)].astype(np.int64) - low
            here = np.flatnonzero((numbers >= 0) & (numbers < len(window)))
            window[numbers[here]] = ranks[here]
            begin += len(ranks)
        if (window == none).any():
            raise RuntimeError("the new numbers are no permutation, or natural_id is none")
        yield window
