"""A store of the same graph with its vertices numbered otherwise, within a memory budget.

    old store -> every edge with its ends renumbered -> sorted runs -> merge -> StoreWriter

The map of ids is copied as it is, in natural order, and natural_id says which entry belongs to a
vertex. Results do not depend on the budget, the threads or the chunks. Whatever stops it, threads
are joined, scratch files and NAME.partial removed; or, with a checkpoint, left for one that goes on from
it: the new numbers, the chunks of the old store read and the runs made of them, the new store so far.
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
from crc32c import crc32c

from ..conversion.convert import ConvertOptions, planned_disk
from ..conversion.pack import ArcSorter
from ..conversion.resume import ALREADY_DONE, DONE, done_state
from ..errors import StoreError
from ..formats.source import SourceInfo
from ..phases import Meter
from ..sorting.checkpoint import Checkpoint, SafePoints
from ..sorting.plan import SortPlan, plan_sort
from ..sorting.scratch import Scratch, disk_full_is_said
from ..sorting.sort import SortContext, SortStats
from ..state_file import State
from ..store.arc_check import ArcCheck
from ..store.arc_runs import RUN_ARCS, ArcRun, Pauses, scan_arcs, scan_bytes
from ..store.layout import NATURAL, StoreRecord, sentinel
from ..store.store import Store, open_store
from ..store.writer import StoreWriter, check_target, writer_bytes
from ..units import MemoryFigures, current_rss_bytes, default_memory_bytes, format_size, peak_rss_bytes

# Of an arc whose ends are looked up: rows, which arcs lead up, and both ends before and after.
_LOOKUP_BYTES = 32


@dataclass(frozen=True)
class Renumbering:
    """ordering : name of the new order. new_of : id_dtype[n], the new number of every vertex, each
    number from 0 to n - 1 once."""

    ordering: str
    new_of: np.ndarray


@dataclass(frozen=True)
class ReorderReport(MemoryFigures):
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
        return {**asdict(self), "memory_limit_exceeded": self.memory_limit_exceeded}


def report_of(done: State, target: Path) -> ReorderReport:
    """The report of a reordering that was complete before. Where it was killed between the renaming and
    its report, only what the store's record tells is known of it."""
    with open_store(str(target)) as store:
        record = store.record
    told = done.get("report")
    if told is None:
        told = {"seconds": done["seconds"], "memory_limit_bytes": done["memory"], "planned_rss_bytes": 0,
                "peak_rss_bytes": peak_rss_bytes(), "scratch_bytes": 0, "sort": done["stats"]}
    told = {**told, "sort": SortStats(**told["sort"]), "notes": (*told.get("notes", ()), ALREADY_DONE)}
    return ReorderReport(record=record, **told)


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
    writer = writer_bytes(options.threads, options.chunk_ids)
    memory = options.memory_bytes or default_memory_bytes()
    return plan_sort(memory, base_bytes, reading + writer // 2, options.threads, writer)


def kept_numbers(store: Store, checkpoint: Checkpoint) -> np.ndarray | None:
    """The new numbers that a reordering of `store` has left with its checkpoint, None if it has none.
    Raises StoreError if they have changed on disk."""
    state = checkpoint.state
    if state is None or "numbers" not in state:
        return None
    name, check = state["numbers"]
    new_of = np.empty(store.n_vertices, store.id_dtype)
    checkpoint.scratch.restored(name, checkpoint.file_marks()[name]).read_array(0, new_of)
    if crc32c(new_of.data) != check:
        raise StoreError("the numbers of the vertices have changed on disk", path=checkpoint.folder,
                         remedy="remove the folder and begin anew")
    return new_of


def write_reordered(
    store: Store, renumbering: Renumbering, target: Path, *, options: ConvertOptions, meter: Meter | None = None,
    checkpoint: Checkpoint | None = None,
) -> ReorderReport:
    """Write the graph of `store` in the new numbering to `target`.

    options : format and ids of the input are not looked at. meter : hears of the phases ids, read,
    sort, merge, write (default: of options.progress). checkpoint : what to go on from, with the same
    numbers, and to keep states in; options.checkpoint says whether its last state stays. Raises
    InputError for an existing target, BudgetError where memory or disk cannot do, StoreError for a
    store that is damaged. Then, and after Ctrl-C, neither the target nor scratch files exist, but for
    the checkpoint.
    """
    load_libraries()
    check_target(target, options.force)
    plan = options.plan or reorder_plan(store, options, current_rss_bytes())
    scratch = checkpoint.scratch if checkpoint is not None else Scratch(options.scratch, target)
    context = SortContext(plan, scratch, options.threads, meter or Meter(options.progress),
                          safe=SafePoints(checkpoint))
    writing = _Writing(store, renumbering, target, options, context)
    try:
        info = SourceInfo(n_vertices=store.n_vertices, n_entries=store.n_arcs // 2)
        need, store_bytes = planned_disk(info, plan)
        # What was written before a stop is no longer needed.
        scratch.check_room(max(0, need - scratch.peak_bytes), store_bytes, target)
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
        self._n_down = self._n_chunks = 0
        self._rows = ArcCheck(store)
        self._numbers: list[Any] = []
        self._notes: list[str] = []
        checkpoint = context.safe.checkpoint
        self._resumed: State | None = None if checkpoint is None else checkpoint.state
        if checkpoint is not None:
            self._notes += checkpoint.notes
            context.safe.told_by(self._state)

    def _state(self) -> State:
        """All that was done so far."""
        return {
            "memory": self._context.plan.memory_bytes, "numbers": self._numbers,
            "scan": [self._n_chunks, self._n_down], "rows": self._rows.state(self._n_chunks),
            "stats": asdict(self._context.stats), "seconds": self._context.meter.seconds_so_far(),
            "sorter": None if self._sorter is None else self._sorter.state(),
            "writer": None if self._writer is None else self._writer.state(),
        }

    def _begin(self) -> None:
        """Go on from what `_state` told; without that keep the new numbers, the first to be known."""
        safe, state = self._context.safe, self._resumed
        if state is not None:
            self._numbers, (self._n_chunks, self._n_down) = state["numbers"], state["scan"]
            self._rows = ArcCheck(self._store, state["rows"])
            for name, value in state["stats"].items():
                setattr(self._context.stats, name, value)
            self._context.meter.seconds.update(state["seconds"])
            self._notes.append(f"went on from a checkpoint; {self._n_chunks} chunks had been read before")
        elif safe.active:
            file = self._context.scratch.file()
            file.append(self._renumbering.new_of)
            self._numbers = [file.name, crc32c(self._renumbering.new_of.data)]
            safe.reached(always=True)

    def run(self) -> ReorderReport:
        """Everything from the new numbers to the finished store."""
        meter, safe, resumed = self._context.meter, self._context.safe, self._resumed
        self._begin()
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            meter.begin("ids", None, "")
            self._writer = writer = self._writer_with_ids()
            self._sorter = sorter = ArcSorter(self._store.n_vertices, self._context, resumed and resumed["sorter"])
            self._take_in(sorter)
            meter.begin("merge", None, "arcs")
            self._check_arcs(sorter.write_rows(writer))
            meter.begin("write", None, "")
            told = self._state() if safe.active else {}
            record = writer.finish(self._record(), lambda made: self._before_rename(told, made))
        self._writer = None
        meter.end()
        report = self._report(record)
        if safe.checkpoint is not None:
            keep = self._options.checkpoint is not None and self._options.checkpoint.keep
            safe.checkpoint.finish(done_state(asdict(report)), keep=keep)
        return report

    def _before_rename(self, told: State, record: StoreRecord) -> None:
        """Keep the state told before the writer ended, and by what to know the store."""
        checkpoint = self._context.safe.checkpoint
        if checkpoint is not None:
            checkpoint.save({**told, DONE: record.record_digest})

    def _writer_with_ids(self) -> StoreWriter:
        """A writer that goes on with the unfinished store of the state, or else one to which the map
        of ids has been written."""
        options = self._options

        def made(resumed: State | None) -> StoreWriter:
            return StoreWriter(
                self._target, n_vertices=self._store.n_vertices, force=options.force, codec=options.codec,
                chunk_ids=options.chunk_ids, threads=options.threads, resumed=resumed,
            )

        if self._resumed is not None and self._resumed["writer"] is not None:
            try:
                return made(self._resumed["writer"])
            except StoreError as error:
                self._notes.append(f"{error}; it was written again")
        writer = made(None)
        try:
            self._copy_ids(writer)
            self._write_ranks(writer)
        except BaseException:
            writer.abort()
            raise
        return writer

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
        """Give every edge to the sorter, with its new ends; but for the chunks done before."""
        new_of, lock, context = self._renumbering.new_of, Lock(), self._context
        meter, n_chunks = context.meter, self._store.indices.n_chunks

        def work(run: ArcRun, ids: np.ndarray) -> None:
            rows = np.repeat(run.rows, np.diff(run.starts))
            self._rows.add(run, rows, ids)
            up, down = np.flatnonzero(rows < ids), int(np.count_nonzero(rows > ids))
            src, dst = new_of[rows[up]].astype(np.uint64), new_of[ids[up]].astype(np.uint64)
            with lock:  # the sorter takes keys from one thread at a time
                sorter.add(src, dst)
                self._n_down += down

        if self._n_chunks < n_chunks:
            meter.begin("read", n_chunks, "chunks")
            pauses = Pauses(self._n_chunks, lambda: context.safe.due, self._at_rest)
            scan_arcs(self._store, self._options.threads, work, meter.update, pauses)
            self._n_chunks = n_chunks
            context.safe.reached(always=True)
        self._check_arcs(2 * self._n_down)
        self._rows.finish()
        meter.begin("sort", None, "keys")
        sorter.finish()

    def _at_rest(self, n_chunks: int) -> None:
        """All chunks before this one have been given to the sorter."""
        if n_chunks > (0 if self._resumed is None else self._resumed["scan"][0]):
            self._n_chunks = n_chunks
            self._context.safe.reached()

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
            pairs_read=old.pairs_read, reverse_dropped=old.reverse_dropped, values_dropped=old.values_dropped,
        )

    def _report(self, record: StoreRecord) -> ReorderReport:
        context, notes = self._context, list(self._notes)
        if context.scratch.in_memory and context.scratch.peak_bytes:
            notes.append(f"scratch files took {format_size(context.scratch.peak_bytes)} of RAM outside the memory"
                         " budget")
        return ReorderReport(
            record=record, seconds=dict(context.meter.seconds), memory_limit_bytes=context.plan.memory_bytes,
            planned_rss_bytes=context.plan.planned_bytes, peak_rss_bytes=peak_rss_bytes(),
            scratch_bytes=context.scratch.peak_bytes, sort=context.stats, notes=tuple(notes),
        )

    def abort(self) -> None:
        """Join all threads and remove NAME.partial, unless there is a state to go on from."""
        checkpoint = self._context.safe.checkpoint
        try:
            if self._sorter is not None:
                self._sorter.abort()
        finally:
            if self._writer is not None and checkpoint is not None and checkpoint.has_state:
                self._writer.leave()
            elif self._writer is not None:
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
