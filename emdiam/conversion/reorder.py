"""Writing a store in another order: compute the new numbers, then write the graph with them.

    old store -> every row renumbered -> dealt to ranges of new numbers (dealing.py) -> each in order -> StoreWriter

The array of ids is copied unchanged, in natural order, and natural_id gives the entry of each vertex. Results do not
depend on the budget, the threads or the chunks. A checkpoint contains the new numbers, the rows dealt from the chunks
read so far, and the new store so far. RAM: the larger of the memory of the order (orders.py) and of writing: the new
numbers (4 bytes per vertex, 8 from 2^32 vertices on) besides the dealt rows; a budget that is too small is refused
before anything is read, with the numbers. I/O of writing: every array of the old store once (natural_id once for each
window of the new one, `indptr` up to four times), all rows to scratch files and back if they do not fit in RAM, every
array of the new store.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checkpoint.records import State
from ..compression import crc32c
from ..errors import BudgetError, InputError, MoreMemoryError, StoreError
from ..formats.source import SourceInfo
from ..malloc import return_freed_memory
from ..progress import Meter
from ..sorting.plan import LEAST_WORK_BYTES, SortPlan, plan_sort
from ..sorting.scratch import Checkpoint, Scratch, disk_faults_are_said
from ..sorting.sort import SortContext
from ..store.arc_runs import RUN_ARCS, ArcRun, Pauses, offset_pieces, run_weights, scan_arcs, scan_bytes
from ..store.check import ArcCheck, check_ranks
from ..store.layout import NATURAL, StoreRecord, sentinel
from ..store.place import check_target
from ..store.store import Store, check_directed, open_store
from ..store.writer import StoreWriter, writer_bytes
from ..stream.plan import Known, program_bytes, too_small
from ..unchanged import Watched
from ..units import BASE_JITTER, current_rss_bytes, program_rss_bytes
from .convert import check_outputs
from .dealing import dealt_bytes, least_work_bytes, work_bytes
from .orders import Order, order_named, rank_bytes
from .writing import ConvertOptions, ReorderReport, StoreWriting, memory_to_plan, resumable, sort_context

if TYPE_CHECKING:
    from .dealing import Dealer

_MARGIN = 8 << 20
# Additional memory that the process may use when the numbers are known, and (BASE_JITTER) variation between processes:
# a budget accepted now is not refused then, and the budget that a refusal names is accepted.
_JITTER = 16 << 20
# Bytes for an arc of a run that is dealt: the range of its row; with weights also the weight and the row.
_DEAL_BYTES, _WEIGHTED_DEAL_BYTES = 4, 24
# Memory, beyond the margin, for numba and the dealing kernels when they are compiled.
_KERNEL_BYTES = 32 << 20
_STORE_BYTES_PER_ARC = 1.5


def reorder(
    store: Store | str | Path, target: str | Path, order: str, *, seed: int = 0,
    options: ConvertOptions | None = None, arena_bytes: int | None = None, program: int | None = None,
) -> ReorderReport:
    """Write the graph of `store` (opened, or its path) to `target`, with its vertices in the named order.

    order : a key of ORDERS. seed : of random orders, 0 to 2^64 - 1. arena_bytes : cache of decoded edges for an order
    that traverses, None: the available memory. program : see check_reordering. options : memory_bytes, scratch, force,
    codec, chunk_ids, threads, progress (phases order, ids, read, sort, merge, write) as for a conversion. The same
    graph, order and seed give the same bytes for any order of the given store; the user's ids are unchanged. Raises
    InputError for an unknown order, an existing target, or a store that changes meanwhile, BudgetError if memory or
    disk are too small, StoreError. Then, and after Ctrl-C, there is no target. With options.checkpoint a later run can
    resume after the new numbers are known.
    """
    chosen, options, target = order_named(order), options or ConvertOptions(), Path(target)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**64:
        raise InputError("a seed is a whole number from 0 to 2^64 - 1", text=str(seed))
    if options.threads < 1:
        raise InputError("at least one thread is needed", text=str(options.threads))
    check_outputs(target, options)
    with nullcontext(store) if isinstance(store, Store) else open_store(store) as opened:
        check_directed(opened, False)
        settings, watched = _Traversing(seed, arena_bytes, program), files_of_store(opened)
        with watched.blamed():
            return resumable(
                ReorderReport, target, options, lambda: _key(opened, target, chosen, seed, options),
                lambda checkpoint: _reorder((watched, opened), target, chosen, settings, options, checkpoint))


def files_of_store(store: Store) -> Watched:
    """The present files of a store; none if it is in memory or behind an address."""
    local = Path(store.path.removeprefix("file://"))
    folders = os.walk(local) if (local / "zarr.json").is_file() else ()
    return Watched(Path(folder) / name for folder, _, names in folders for name in names)


def check_reordering(
    store: Store, target: Path, order: str, options: ConvertOptions, program: int | None = None
) -> None:
    """Raise BudgetError with the numbers, or InputError, if memory or disk are too small for `reorder` in an order that
    traverses; no edge is read. program : see stream.plan.make_plan."""
    options = replace(options, memory_bytes=memory_to_plan(options.memory_bytes, None))
    program = program_bytes() if program is None else program
    _check_memory(store, order_named(order), options, program)
    plan = options.plan or _sort_plan(store, options, program + rank_bytes(store))
    Scratch(options.scratch, target).check_room(*_planned_disk(store, plan), target)


def _planned_disk(store: Store, plan: SortPlan) -> tuple[int, int]:
    """Expected bytes of scratch files and of the new store. Low estimates, to refuse only what cannot succeed."""
    rows = dealt_bytes(store)
    return 0 if rows <= work_bytes(plan) // 2 else rows, int(store.n_arcs * _STORE_BYTES_PER_ARC)


@dataclass(frozen=True)
class _Traversing:
    """Arguments for an order that traverses: the seed, and the bytes of the arena and of the program."""

    seed: int
    arena_bytes: int | None
    program: int | None


def _key(store: Store, target: Path, order: Order, seed: int, options: ConvertOptions) -> dict[str, object]:
    """The values that must be the same to resume a reordering."""
    return {
        "store": [str(Path(store.path).absolute()), store.record.record_digest], "target": str(target.absolute()),
        "order (--order)": order.name, "seed (--seed)": seed, "codec (--codec)": options.codec,
        "chunk size (--chunk)": options.chunk_ids,
    }


def _reorder(
    read: tuple[Watched, Store], target: Path, order: Order, settings: _Traversing, options: ConvertOptions,
    checkpoint: Checkpoint | None,
) -> ReorderReport:
    """Compute the new numbers, unless the checkpoint has them, and write the store."""
    check_target(target, options.force)
    store = read[1]
    options = replace(options, memory_bytes=memory_to_plan(options.memory_bytes, checkpoint))
    meter = Meter(options.progress)
    _check_memory(store, order, options, settings.program)
    new_of, planned = None if checkpoint is None else _stored_numbers(store, checkpoint), 0
    if new_of is None:
        meter.begin("order", None, "")
        if not store.is_natural:
            check_ranks(store, store.natural_pieces())
        if order.needs is not None:
            new_of, planned = _traversed(store, order, settings, options)
        else:
            new_of = order.place(store)
        return_freed_memory()
    plan = options.plan or _sort_plan(store, options, program_rss_bytes())
    with sort_context(plan, target, options, checkpoint, meter, store.weights is not None) as context:
        info = SourceInfo(n_vertices=store.n_vertices, n_entries=store.n_arcs // 2)
        report = _Reordering(read, order, new_of, target, options, context).write(info)
    return replace(report, planned_rss_bytes=max(planned, report.planned_rss_bytes))


def _traversed(
    store: Store, order: Order, settings: _Traversing, options: ConvertOptions
) -> tuple[np.ndarray, int]:
    """The new numbers from an order that traverses, and the planned peak."""
    from ..engine.attempts import attempted, learned
    from ..engine.cpu import open_cpu_engine

    assert order.needs is not None
    needs = order.needs(store)

    def attempt(known: Known | None) -> tuple[np.ndarray, int]:
        with open_cpu_engine(store, replace(needs, known=known), memory_bytes=options.memory_bytes,
                             arena_bytes=settings.arena_bytes, threads=options.threads, progress=options.progress,
                             program=settings.program) as engine:
            try:
                return order.place(engine, settings.seed, options.scratch), engine.plan.planned_rss_bytes
            except MoreMemoryError as error:
                raise learned(error, known, engine.plan) from None

    return attempted(attempt)


def _check_memory(store: Store, order: Order, options: ConvertOptions, program: int | None = None) -> None:
    """Raise BudgetError with the numbers if computing the order or writing does not fit; it names a budget for both.
    program : see check_reordering."""
    assert options.memory_bytes is not None
    next(offset_pieces(store.indptr))  # loads the decoder of several chunks, if there is one
    checks = _checks(store, order, options, program)
    refused = next(filter(None, (_refusal(check, options.memory_bytes) for check in checks)), None)
    if refused is not None:
        least = max(refusal.least_bytes for refusal in (_refusal(check, 1) for check in checks) if refusal is not None)
        raise BudgetError(refused.what, remedy=f"give at least --memory {-(-least // 2**20)}MiB")


def _checks(
    store: Store, order: Order, options: ConvertOptions, program: int | None
) -> list[Callable[[int], object]]:
    """Checks for computing the order, and for writing: each raises BudgetError if the memory is too small for it."""
    checks: list[Callable[[int], object]] = []
    if order.needs is not None:
        from ..engine.cpu import plan_engine

        needs = order.needs(store)
        checks.append(lambda memory: plan_engine(store, needs, memory_bytes=memory, threads=options.threads,
                                                 program=program))
    if order.state_bytes is not None:
        checks.append(partial(_check_state, current_rss_bytes() + _MARGIN + order.state_bytes(store)))
    if options.plan is None:
        if program is None:
            program = program_rss_bytes() if order.needs is None else program_bytes()
        base = program + rank_bytes(store) + _JITTER
        checks.append(lambda memory: _sort_plan(store, replace(options, memory_bytes=memory), base))
    return checks


def _check_state(need: int, memory: int) -> None:
    if need > memory:
        raise too_small(memory, need + BASE_JITTER)


def _refusal(check: Callable[[int], object], memory: int) -> BudgetError | None:
    """The error if this memory is too small, else None."""
    try:
        check(memory)
    except BudgetError as error:
        return error
    return None


def _sort_plan(store: Store, options: ConvertOptions, base_bytes: int) -> SortPlan:
    """The memory plan of the writing. base_bytes : RSS at its start, including the new numbers. Raises BudgetError with
    the numbers."""
    assert options.memory_bytes is not None
    weighted = store.weights is not None
    dealing = options.threads * (_WEIGHTED_DEAL_BYTES if weighted else _DEAL_BYTES) * max(
        RUN_ARCS, store.record.chunk_ids)
    # One array more than a conversion writes: natural_id.
    writer = writer_bytes(options.threads, options.chunk_ids, weighted)
    more = max(0, least_work_bytes(store) - LEAST_WORK_BYTES)
    reading = scan_bytes(store, options.threads) + dealing + writer // 2 + _KERNEL_BYTES + more
    plan = plan_sort(options.memory_bytes, base_bytes, reading, options.threads, writer)
    # The additional minimum can be used for sorting.
    return replace(plan, run_keys=plan.run_keys + more // (2 * 8 * plan.n_buffers))


def _stored_numbers(store: Store, checkpoint: Checkpoint) -> np.ndarray | None:
    """The new numbers in a reordering's checkpoint for `store`, or None. Raises StoreError if they have changed on
    disk."""
    state = checkpoint.state
    if state is None or "numbers" not in state:
        return None
    name, check = state["numbers"]
    new_of = np.empty(store.n_vertices, store.id_dtype)
    checkpoint.scratch.restored(name, checkpoint.file_marks()[name]).read_array(0, new_of)
    if crc32c(new_of.data) != check:
        raise StoreError("the numbers of the vertices have changed on disk", path=checkpoint.path,
                         remedy="remove the folder and begin anew")
    return new_of


class _Reordering(StoreWriting[ReorderReport]):
    """One reordering in progress. read : the store's files as they were before, and the store. order : the new one.
    new_of : id_dtype[n], the new number of every vertex, a permutation of 0 to n - 1."""

    def __init__(
        self, read: tuple[Watched, Store], order: Order, new_of: np.ndarray, target: Path, options: ConvertOptions,
        context: SortContext,
    ) -> None:
        super().__init__(target, options, context)
        self._watched, self._store = read
        self._ordering, self._new_of = order.name, new_of
        self._dealer: Dealer | None = None
        self._n_down = self._n_chunks = self._placed = 0
        self._rows = ArcCheck(self._store)
        self._numbers: list[Any] = []

    def _planned_disk(self, info: SourceInfo) -> tuple[int, int]:
        return _planned_disk(self._store, self._context.plan)

    def _work_state(self) -> State:
        return {
            "numbers": self._numbers, "scan": [self._n_chunks, self._n_down],
            "rows": self._rows.state(self._n_chunks), "dealer": None if self._dealer is None else self._dealer.state(),
        }

    def _stop_sorting(self) -> None:
        """Does nothing: threads end with their tasks."""

    def _begin(self) -> None:
        """Continue from a resumed state; otherwise save the new numbers, which are the first result."""
        safe, state = self._context.safe, self._resumed
        if state is not None:
            self._restore_figures(state)
            self._numbers, (self._n_chunks, self._n_down) = state["numbers"], state["scan"]
            self._rows = ArcCheck(self._store, state["rows"])
            self._notes.append(f"went on from a checkpoint; {self._n_chunks:,} chunks had been read before")
        elif safe.active:
            file = self._context.scratch.file()
            file.append(self._new_of)
            self._numbers = [file.name, crc32c(self._new_of.data)]
            safe.reached(always=True)

    def run(self) -> ReorderReport:
        from .dealing import Dealer

        meter, resumed = self._context.meter, self._resumed
        self._begin()
        with disk_faults_are_said(self._target.absolute().parent, "the store"):
            meter.begin("ids", None, "")
            weights = self._store.record.weights
            writer, goes_on = self._open_writer(self._store.n_vertices, resumed and resumed["writer"],
                                                None if weights is None else weights.form)
            if not goes_on:
                self._copy_ids(writer)
                self._write_ranks(writer)
            self._dealer = dealer = Dealer(self._store, self._new_of, self._context, resumed and resumed["dealer"])
            self._take_in(dealer)
            meter.begin("merge", self._store.n_arcs, "arcs")
            self._write_rows(dealer, writer)
            if weights is not None:
                writer.edges_with_several = weights.edges_with_several
            self._watched.check()
            record = self._finish_store(writer, self._record())
        return self._end(ReorderReport(record=record, notes=(*self._notes, *self._scratch_notes()), **self._figures()))

    def _copy_ids(self, writer: StoreWriter) -> None:
        """Copy the arrays of ids unchanged."""
        for name in self._store.array_names():
            if name.startswith("vertex_id"):
                writer.append_ids(name, np.empty(0, self._store.array(name).dtype))
                for values in self._store.values(name):
                    writer.append_ids(name, values)

    def _write_ranks(self, writer: StoreWriter) -> None:
        """Write natural_id, in windows that fit the room of the later sort buffers."""
        if self._ordering == NATURAL:
            return
        plan = self._context.plan
        size = max(1, plan.run_keys * plan.n_buffers * 4 // writer.id_dtype.itemsize)
        writer.append_ids("natural_id", np.empty(0, writer.id_dtype))
        for ranks in _ranks_by_number(self._store, self._new_of, size):
            writer.append_ids("natural_id", ranks)

    def _take_in(self, dealer: Dealer) -> None:
        """Pass every row to the dealer, except the chunks done before."""
        lock, context, store = Lock(), self._context, self._store
        meter, n_chunks = context.meter, store.indices.n_chunks

        def work(run: ArcRun, ids: np.ndarray) -> None:
            weights = run_weights(store, run)
            n_up = self._checked(run, ids, weights)
            dealer.deal(run, ids, weights)
            with lock:
                self._n_down += len(ids) - n_up

        def tick(taken: int) -> None:
            dealer.handed_out(taken)
            meter.update(taken)

        def at_rest(taken: int) -> None:
            dealer.at_rest(taken)
            self._keep(dealer.n_chunks)

        if self._n_chunks < n_chunks:
            meter.begin("read", n_chunks, "chunks")
            pauses = Pauses(self._n_chunks, dealer.due, at_rest)
            scan_arcs(store, self._options.threads, work, tick, pauses, dealer.plan.run_chunks)
        meter.begin("sort", None, "")  # its remainder: the last rows go to disk, if any do
        if self._n_chunks < n_chunks:
            dealer.finish()
            self._keep(n_chunks)
        self._check_arcs(2 * self._n_down)
        self._rows.finish()

    def _keep(self, n_chunks: int) -> None:
        """Note that all chunks before this one have been dealt, and save a state if one is due."""
        if n_chunks > self._n_chunks:
            self._n_chunks = n_chunks
            self._context.safe.reached(always=n_chunks == self._store.indices.n_chunks)

    def _checked(self, run: ArcRun, ids: np.ndarray, weights: np.ndarray | None) -> int:
        """The number of arcs in a run that lead up. Raises StoreError for invalid rows."""
        from .renumbering import check_rows

        sums = np.zeros(2, np.uint64)
        n_up, wrong = check_rows(run.rows, run.starts, ids, sums)
        if wrong >= 0:
            raise self._rows.not_ascending(wrong)
        if weights is None:
            self._rows.join(run, ids, sums)
        else:
            self._rows.add(run, np.repeat(run.rows, np.diff(run.starts)), ids, weights)
        return int(n_up)

    def _write_rows(self, dealer: Dealer, writer: StoreWriter) -> None:
        """Write all rows, from the position at which the writer was resumed."""
        self._placed = 0 if writer.rows_resumed is None else writer.rows_resumed["placed"]
        writer.follow_rows(lambda: {"placed": self._placed})
        with closing(dealer.placed(self._placed)) as pieces:
            for piece in pieces:
                writer.append_neighbours(piece.ids, piece.weights)
                writer.append_degrees(piece.degrees)
                self._placed = piece.end
                self._context.meter.update(writer.n_arcs)
                self._context.safe.reached()
        self._check_arcs(writer.n_arcs)

    def _check_arcs(self, n_arcs: int) -> None:
        """Check the number of arcs: half of them must lead down, and half up. A store with loops, duplicates or edges
        in one direction only must not be repaired silently."""
        if n_arcs != self._store.n_arcs:
            raise StoreError("the rows are not those of an undirected simple graph", path=self._store.path,
                             remedy="the store is damaged: convert the graph again")

    def _record(self) -> StoreRecord:
        """The record, without the fields that the writer fills in."""
        old = self._store.record
        return StoreRecord(
            directed_input=old.directed_input, symmetric=old.symmetric, loops_dropped=old.loops_dropped,
            duplicates_dropped=old.duplicates_dropped, id_kind=old.id_kind, first_id=old.first_id,
            ordering=self._ordering, source=list(old.source), source_format=old.source_format,
            pairs_read=old.pairs_read, reverse_dropped=old.reverse_dropped, values_dropped=old.values_dropped,
        )


def _ranks_by_number(store: Store, new_of: np.ndarray, size: int) -> Iterator[np.ndarray]:
    """Natural ranks in the order of the new numbers, id_dtype[at most `size`] at a time, each window with a pass over
    all vertices. Raises RuntimeError if a number does not occur in new_of."""
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
