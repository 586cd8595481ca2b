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
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from crc32c import crc32c

from ..conversion.convert import ConvertOptions
from ..conversion.pack import ArcSorter
from ..conversion.report import ReorderReport
from ..conversion.writing import StoreWriting, sort_context
from ..errors import StoreError
from ..formats.source import SourceInfo
from ..phases import Meter
from ..sorting.checkpoint import Checkpoint
from ..sorting.plan import SortPlan, plan_sort
from ..sorting.scratch import disk_full_is_said
from ..sorting.sort import SortContext
from ..state_file import State
from ..store.arc_check import ArcCheck
from ..store.arc_runs import RUN_ARCS, ArcRun, Pauses, scan_arcs, scan_bytes
from ..store.layout import NATURAL, StoreRecord, sentinel
from ..store.store import Store
from ..store.writer import StoreWriter, check_target, writer_bytes
from ..units import current_rss_bytes, default_memory_bytes

# Of an arc whose ends are looked up: rows, which arcs lead up, and both ends before and after.
_LOOKUP_BYTES = 32


@dataclass(frozen=True)
class Renumbering:
    """ordering : name of the new order. new_of : id_dtype[n], the new number of every vertex, each
    number from 0 to n - 1 once."""

    ordering: str
    new_of: np.ndarray


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
    with sort_context(plan, target, options, checkpoint, meter or Meter(options.progress)) as context:
        return _Reordering(store, renumbering, target, options, context).write(
            SourceInfo(n_vertices=store.n_vertices, n_entries=store.n_arcs // 2))


class _Reordering(StoreWriting[ReorderReport]):
    """One reordering under way."""

    def __init__(
        self, store: Store, renumbering: Renumbering, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        super().__init__(target, options, context)
        self._store, self._renumbering = store, renumbering
        self._sorter: ArcSorter | None = None
        self._n_down = self._n_chunks = 0
        self._rows = ArcCheck(store)
        self._numbers: list[Any] = []

    def _work_state(self) -> State:
        return {
            "numbers": self._numbers, "scan": [self._n_chunks, self._n_down],
            "rows": self._rows.state(self._n_chunks), "sorter": None if self._sorter is None else self._sorter.state(),
        }

    def _stop_sorting(self) -> None:
        if self._sorter is not None:
            self._sorter.abort()

    def _begin(self) -> None:
        """Go on from what `_state` returned; without that keep the new numbers, the first to be known."""
        safe, state = self._context.safe, self._resumed
        if state is not None:
            self._restore_figures(state)
            self._numbers, (self._n_chunks, self._n_down) = state["numbers"], state["scan"]
            self._rows = ArcCheck(self._store, state["rows"])
            self._notes.append(f"went on from a checkpoint; {self._n_chunks} chunks had been read before")
        elif safe.active:
            file = self._context.scratch.file()
            file.append(self._renumbering.new_of)
            self._numbers = [file.name, crc32c(self._renumbering.new_of.data)]
            safe.reached(always=True)

    def run(self) -> ReorderReport:
        meter, resumed = self._context.meter, self._resumed
        self._begin()
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            meter.begin("ids", None, "")
            writer, goes_on = self._open_writer(self._store.n_vertices, resumed and resumed["writer"])
            if not goes_on:
                self._copy_ids(writer)
                self._write_ranks(writer)
            self._sorter = sorter = ArcSorter(self._store.n_vertices, self._context, resumed and resumed["sorter"])
            self._take_in(sorter)
            meter.begin("merge", None, "arcs")
            self._check_arcs(sorter.write_rows(writer))
            record = self._finish_store(writer, self._record())
        return self._end(ReorderReport(record=record, notes=(*self._notes, *self._scratch_notes()), **self._figures()))

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
