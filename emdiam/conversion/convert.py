"""Conversion of a stream of edges into a store, within a memory budget, by external sort.

    source -> intake (pairs to sort keys, ids to vertices) -> sorted runs -> merge -> StoreWriter

Results do not depend on the budget, the threads or the batches: the same edges give the same bytes. However a
conversion ends, threads are joined, and scratch files and NAME.partial removed; with a checkpoint they are kept for
a conversion that resumes from it, and gives the same bytes too:

    while reading    every checkpoint-every: runs and pairs so far; a resumed conversion skips those pairs
    after reading    the same; and for wide ids and strings after their table and each piece of the join
    while writing    shards so far and the next key
    before renaming  so that a conversion killed then is known to be complete
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..checkpoint.records import State
from ..decimals import MOST_PLACES
from ..errors import BudgetError, EmdiamError, InputError
from ..formats.digits import SHORT, Digits, ReadAgainError
from ..formats.source import EdgeBatch, EdgeSource, SortedRows, SourceInfo, what_is_read
from ..progress import Meter
from ..sorting.plan import SortPlan, plan_sort
from ..sorting.scratch import Checkpoint, Scratch, disk_faults_are_said
from ..sorting.sort import SortContext
from ..store.layout import StoreRecord
from ..store.memory import MemoryWriter
from ..store.place import check_target
from ..store.store import Store
from ..store.weights import ROUNDED, WeightForm
from ..store.writer import StoreWriter, writer_bytes
from ..units import format_count, format_size, program_rss_bytes
from .arcs import ReadyArcs
from .intake import DeclaredIntake, HashCollisionError, Intake, IntIntake, VertexNumbering
from .writing import ConvertOptions, ConvertReport, Counts, StoreWriting, memory_to_plan, resumable, sort_context

__all__ = ["ConvertOptions", "ConvertReport", "check_outputs", "convert", "graph_in_memory", "write_graph"]

if TYPE_CHECKING:
    from .strings import StoredBatches

# Bytes per vertex of row offsets and bitmaps in every run, whatever it traverses (memory.md).
LEAST_VERTEX_BYTES = 2
# Largest ratio of a text to its gzip file, which is above that of its pairs.
_MOST_EXPANSION = 1032
_SALTS = 16
_SMALL_BYTES = 1 << 30  # for a graph kept in memory, which uses only a few MiB of them
_FIRST_PAIRS, _PAIR_BYTES = 5, 16
_PINNED_BYTES = 1 << 16


Inputs = Sequence[str | Path] | EdgeSource


def convert(inputs: Inputs, target: Path, *, options: ConvertOptions | None = None) -> ConvertReport:
    """Convert files, globs or "-" (together one graph), or the edges of a source, into a store at `target`.

    Raises InputError for bad input or an existing target, BudgetError if memory or disk are too small. Then, and after
    Ctrl-C, neither the target nor scratch files exist, except for a checkpoint.
    """
    import pyarrow as pa

    from ..formats import open_source

    options = options or ConvertOptions()
    check_outputs(Path(target), options)
    # The default pool keeps freed memory, which counts as RSS.
    pa.set_memory_pool(pa.system_memory_pool())
    if not isinstance(inputs, EdgeSource):
        inputs = open_source(inputs, fmt=options.fmt, ids=options.ids, weights=options.weights,
                             directed=options.directed, memory_bytes=options.memory_bytes, columns=options.columns,
                             header=options.header, encoding=options.encoding, bipartite=options.bipartite,
                             threads=options.threads, vertices=options.vertices)
    return write_graph(inputs, target, options=options)


def check_outputs(target: Path, options: ConvertOptions) -> None:
    """Raise InputError unless the store and scratch files could be made in their places. With a checkpoint, which may
    know that the target is complete, this is checked when it is opened."""
    if options.checkpoint is None:
        check_target(target, options.force)
        Scratch(options.scratch, target).close()


def write_graph(source: EdgeSource, target: Path, *, options: ConvertOptions | None = None) -> ConvertReport:
    """Convert the edges of `source` into a store at `target`. Raises like `convert`, and what the source raises."""
    options, target = options or ConvertOptions(), Path(target)
    return resumable(ConvertReport, target, options, lambda: _key(source, target, options),
                     lambda checkpoint: _write(source, target, options, checkpoint))


def _key(source: EdgeSource, target: Path, options: ConvertOptions) -> dict[str, Any]:
    """The values that must be the same to resume a conversion."""
    return {
        "input": _input_pins(source), "target": str(target.absolute()), "format (--format)": options.fmt,
        "kind of ids (--ids)": options.ids, "columns (--columns)": options.columns, "header (--header)": options.header,
        "encoding (--encoding)": options.encoding,
        "vertices (--vertices)": None if options.vertices is None else str(options.vertices),
        "sides (--bipartite)": options.bipartite, "codec (--codec)": options.codec,
        "chunk size (--chunk)": options.chunk_ids, "directions (--directed)": options.directed,
        "weights (--weights, --allow-negative)": None if options.weights is None else [
            options.weights.column, options.weights.negative],
    }


def _input_pins(source: EdgeSource) -> list[list[Any]]:
    """Values that identify the input: for every file its path, size in bytes, time of change (ns) and a digest of its
    first and last 64 KiB; for a source without files its name and its declarations.

    Raises InputError for an input that cannot be read twice.
    """
    if not source.rewindable:
        raise InputError("what comes through a pipe cannot be read again after a stop", path=source.name,
                         remedy="save it as a file, or convert without --checkpoint")
    paths: list[Path] = getattr(source, "paths", [])
    addresses: list[list[Any]] = getattr(source, "addresses", [])
    if paths or addresses:
        return [*(_pin(path) for path in paths), *addresses]
    info = source.info()
    return [[source.name, info.format, info.id_kind, info.n_vertices, info.first_id]]


def _pin(path: Path) -> list[Any]:
    digest = hashlib.blake2b(digest_size=16)
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        digest.update(file.read(_PINNED_BYTES))
        file.seek(max(0, status.st_size - _PINNED_BYTES))
        digest.update(file.read(_PINNED_BYTES))
    return [str(path.absolute()), status.st_size, status.st_mtime_ns, digest.hexdigest()]


def _write(source: EdgeSource, target: Path, options: ConvertOptions, checkpoint: Checkpoint | None) -> ConvertReport:
    """Convert, from the checkpoint's state if there is one."""
    check_target(target, options.force)
    info, plan = _planned(source, options, checkpoint)
    with sort_context(plan, target, options, checkpoint, Meter(options.progress), bool(info.weights)) as context:
        return Conversion(source, info, target, options, context).write(info)


def graph_in_memory(source: EdgeSource, folder: Path, options: ConvertOptions) -> Store:
    """The edges of `source` as a store in memory (store/memory.py). folder : for scratch files, if any. options :
    without a checkpoint. Raises like write_graph."""
    if options.memory_bytes is None:  # a small graph needs no measurement of the machine
        needed = program_rss_bytes() + _SMALL_BYTES + getattr(source, "memory_bytes", 0)
        options = replace(options, memory_bytes=needed)
    info, plan = _planned(source, options, None)
    target = folder / "graph"  # nothing with that name is made
    with sort_context(plan, target, options, None, Meter(options.progress), bool(info.weights), False) as context:
        conversion = _ConversionInMemory(source, info, target, options, context)
        conversion.write(info)
    assert conversion.store is not None
    return conversion.store


def _planned(source: EdgeSource, options: ConvertOptions, checkpoint: Checkpoint | None) -> tuple[SourceInfo, SortPlan]:
    """The source's info, and the memory plan."""
    info = source.info()
    if options.directed and not (info.directed or info.both_directions):
        raise InputError(f"the edges of this graph have no directions (its format: {info.format})", path=source.name,
                         remedy="leave --directed out")
    if info.id_kind == "string":  # loaded later anyway; now it counts in the measured base
        from .strings import warm_up

        warm_up()
    plan = options.plan or plan_sort(
        memory_to_plan(options.memory_bytes, checkpoint), program_rss_bytes(),
        getattr(source, "memory_bytes", 0), options.threads,
        writer_bytes(options.threads, options.chunk_ids, bool(info.weights)), bool(info.weights),
    )
    _check_declared(info, source.name, plan)
    return info, plan


def _check_declared(info: SourceInfo, name: str, plan: SortPlan) -> None:
    """Raise BudgetError if the declared vertices that cannot have an edge would alone exceed the memory: a header of a
    hundred bytes may declare any number, and each vertex is written to the store. (With edges, the graph may be meant
    for a larger machine.)"""
    entries = info.n_entries
    if entries is None and info.size_bytes is not None:
        entries = info.size_bytes * _MOST_EXPANSION
    if info.n_vertices is None or entries is None or not plan.memory_bytes:
        return
    need = (info.n_vertices - 2 * entries) * LEAST_VERTEX_BYTES
    if need > plan.memory_bytes:
        edges = f"{entries:,}" if info.n_entries is not None else "few"
        raise BudgetError(
            f"{info.n_vertices:,} vertices are declared, and {edges} edges; the vertices without an edge alone take"
            f" {format_size(need)} in any run, and the memory is {format_size(plan.memory_bytes)}",
            path=name, remedy=f"correct the number of vertices, or give --memory {-(-need >> 20)}MiB or more")


class Conversion(StoreWriting[ConvertReport]):
    """One conversion in progress. info : the source's, before it is read."""

    def __init__(
        self, source: EdgeSource, info: SourceInfo, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        super().__init__(target, options, context)
        self._source, self._info = source, info
        self._digits = Digits() if options.weights is None else options.weights.digits
        self._digits.reset()
        self._intake: Intake | None = None
        self._numbering: VertexNumbering | None = None
        self._salt, self._was_read = 0, False
        self._first_pairs: tuple[tuple[Any, Any], ...] = ()
        checkpoint = context.safe.checkpoint
        if checkpoint is not None and self._resumed is None and checkpoint.options.resume:
            self._notes.append("there was no checkpoint to go on from; it began anew")

    def _work_state(self) -> State:
        assert self._intake is not None
        return {
            "salt": self._salt, "read": self._was_read, "info": asdict(self._info), "intake": self._intake.state(),
            "numbering": None if self._numbering is None else asdict(self._numbering), "digits": asdict(self._digits),
        }

    def _stop_sorting(self) -> None:
        if self._intake is not None:
            self._intake.abort()

    def _resume(self, state: State) -> None:
        """Continue from a result of `_state`."""
        self._restore_figures(state)
        self._salt, self._was_read = state["salt"], state["read"]
        if self._was_read:
            self._info = SourceInfo(**state["info"])
        for name, value in state.get("digits", {}).items():
            setattr(self._digits, name, value)
        # Removed from the state, which stays in memory, as its contents were copied.
        self._intake = self._new_intake(state.pop("intake"))
        if state["numbering"] is not None:
            self._numbering = VertexNumbering(**state["numbering"])
        self._notes.append(f"went on from a checkpoint; {self._intake.tally.pairs:,} pairs had been read before")

    def run(self) -> ConvertReport:
        intake, numbering = self._take_in()
        if not numbering.n_vertices:
            raise InputError(
                "the graph has no vertices", path=self._source.name,
                remedy="give at least one edge, or a format that declares the number of vertices",
            )
        with disk_faults_are_said(self._target.absolute().parent, "the store"):
            unfinished = None if self._resumed is None else self._resumed["writer"]
            # The ids are written before the rows, and in one step.
            rows_begun = unfinished is not None and unfinished["rows"] is not None
            writer, _ = self._open_writer(numbering.n_vertices, unfinished if rows_begun else None,
                                          self._weight_form(intake, numbering.n_vertices))
            self._context.meter.begin("merge", None, "arcs")
            n_arcs, n_reverse = intake.write(writer)
            n_edges = n_arcs if self._options.directed else n_arcs // 2
            declared = self._info.declared
            counts = Counts(intake.tally.pairs - declared, n_edges, intake.tally.loops - declared, n_reverse)
            counts.check(self._info, numbering.n_vertices, self._source.name)
            record = self._finish_store(writer, self._record(numbering, counts))
        return self._end(ConvertReport(
            record=record, pairs_read=counts.pairs, min_id=numbering.min_id, max_id=numbering.max_id,
            gaps=numbering.gaps, first_pairs=self._first_pairs, lines_skipped=self._info.skipped,
            notes=(*self._notes, *self._counted(numbering, counts, record), *self._scratch_notes()),
            **self._figures(),
        ))

    def _weight_form(self, intake: Intake, n_vertices: int) -> WeightForm | None:
        """The form of the weights in the store; None if whole numbers have no common one. Raises InputError."""
        info = self._info
        return intake.tally.weights.form(info, n_vertices, self._source.name) if info.weights else None

    def _take_in(self) -> tuple[Intake, VertexNumbering]:
        """Read the source to its end and number the vertices."""
        if self._resumed is not None:
            self._resume(self._resumed)
        if self._intake is None or self._numbering is None:
            self._numbering = self._numbered()
            self._context.safe.reached(always=True)
        assert self._intake is not None
        return self._intake, self._numbering

    def _new_intake(self, resumed: State | None = None) -> Intake:
        """The intake for the source's ids and digits."""
        intake = self._intake_of_ids(resumed)
        if self._digits.places is not None:
            intake.tally.weights.counted, intake.tally.weights.places = True, self._digits.places
        return intake

    def _intake_of_ids(self, resumed: State | None) -> Intake:
        name, context, info = self._source.name, self._context, self._info
        vertices = getattr(self._source, "named_vertices", None)
        if vertices is not None:
            from .names import NamedIntake

            return NamedIntake(name, context, vertices, info.n_vertices, resumed)
        if info.id_kind == "string":
            from .strings import StringIntake

            seen = self._options.ids == "auto" and getattr(self._source, "of_files", False)
            return StringIntake(name, context, self._salt, resumed, seen)
        if info.n_vertices is None:
            return IntIntake(name, context, resumed)
        return DeclaredIntake(info, name, context, resumed)

    def _numbered(self) -> VertexNumbering:
        """Read all batches and number the vertices; start again if weights turn out to need other digits."""
        while True:
            try:
                numbering = self._numbered_once()
                assert self._intake is not None
                if self._info.weights and self._weight_form(self._intake, numbering.n_vertices) is None:
                    raise self._digits.to_floats()
                return numbering
            except ReadAgainError as again:
                self._begin_again(again)

    def _begin_again(self, again: ReadAgainError) -> None:
        """Drop all pairs read. Raises InputError for a source that cannot be read again."""
        if not self._source.rewindable:
            raise InputError("weights have more digits than float64 keeps, and a stream cannot be read again for them",
                             path=self._source.name, remedy="save it as a file and convert that, or write weights with"
                             f" at most {SHORT} digits") from None
        before, self._digits = self._intake, again.digits
        self._was_read, self._first_pairs = False, ()
        self._intake = self._new_intake()
        self._context.safe.reached(always=True)  # before removing files that an older state refers to
        if before is not None:
            before.abort()

    def _numbered_once(self) -> VertexNumbering:
        """Pass all batches to the intake, which numbers the vertices; again with another salt if two strings have the
        same hash. If the source already has the rows of a store, these are used."""
        if (rows := self._rows()) is not None:
            return self._taken(rows).finish()
        stored: StoredBatches | None = None
        for salt in range(self._salt, _SALTS):
            self._salt = salt
            intake = self._intake = self._intake or self._new_intake()
            if not self._was_read:
                batches = stored.again() if stored is not None else self._digits.batches(
                    self._source.batches(self._context.plan.batch_bytes))
                if salt == 0 and self._info.id_kind == "string" and not self._source.rewindable:
                    from .strings import StoredBatches

                    stored = StoredBatches(self._context)
                    batches = stored.passing(batches)
                self._read(intake, batches)
            try:
                return intake.finish()
            except HashCollisionError:
                intake.abort()
            self._intake, self._was_read = None, False
        raise EmdiamError(f"{_SALTS} hash functions in turn gave two strings the same hash")

    def _rows(self) -> SortedRows | None:
        """The rows of a source that has them, if the conversion saves no states."""
        if self._options.directed or self._info.weights or self._context.safe.active:
            return None
        found: SortedRows | None = getattr(self._source, "rows", lambda: None)()
        return found

    def _taken(self, rows: SortedRows) -> Intake:
        """An intake with all these rows."""
        self._context.meter.begin("read", rows.n_pairs, "edges")
        for batch in self._source.batches(_FIRST_PAIRS * _PAIR_BYTES):
            self._first_pairs += _first_pairs(batch, _FIRST_PAIRS - len(self._first_pairs), self._info.labels)
            if len(self._first_pairs) == _FIRST_PAIRS:
                break
        self._info = self._source.info()
        self._intake = intake = DeclaredIntake(self._info, self._source.name, self._context, arcs=ReadyArcs(rows))
        intake.tally.pairs, intake.tally.loops = rows.n_pairs, len(rows.loops)
        self._context.meter.update(rows.n_pairs)
        self._was_read = True
        return intake

    def _read(self, intake: Intake, batches: Iterator[EdgeBatch]) -> None:
        """Pass all batches to `intake`, without the pairs that it already has."""
        meter, safe, info = self._context.meter, self._context.safe, self._info
        total, unit, done = what_is_read(self._source, info, lambda: intake.tally.pairs)
        meter.begin("read", total, unit)
        declared = 0
        batches = _without_first(batches, intake.tally.pairs) if intake.tally.pairs else batches
        try:
            for batch in batches:
                declared += len(batch.src) if batch.declares else 0
                before = intake.tally.pairs - declared  # negative in a batch that declares vertices
                if before == len(self._first_pairs) < _FIRST_PAIRS:  # not when resuming or reading again
                    self._first_pairs += _first_pairs(batch, _FIRST_PAIRS - len(self._first_pairs), self._info.labels)
                intake.add(batch)
                meter.update(done())
                if len(batch.src):  # otherwise it was read before
                    safe.reached()
        except InputError:
            self._check_unchanged()  # a changed file may be the only cause of the error
            raise
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()
        self._check_unchanged()
        # Contents other than edges are counted during reading.
        self._info = self._source.info()
        if self._info.more_ids is not None and isinstance(intake, IntIntake):
            self._declare(intake, *self._info.more_ids)
        self._was_read = True
        meter.begin("sort", None, "keys")
        safe.reached(always=True)

    def _check_unchanged(self) -> None:
        """Raise InputError if an input file has changed; does nothing for sources without files."""
        check = getattr(self._source, "check_unchanged", None)
        if check is not None:
            check()

    def _declare(self, intake: IntIntake, first: int, last: int) -> None:
        """Make all integers from `first` to `last` vertices, as the first line of the input declares."""
        n = last + 1 - first
        _check_declared(replace(self._info, n_vertices=n, n_entries=intake.tally.pairs), self._source.name,
                        self._context.plan)
        intake.declare(first, last)

    def _record(self, numbering: VertexNumbering, counts: Counts) -> StoreRecord:
        """The record, without the fields that the writer fills in."""
        info = self._info
        return StoreRecord(
            directed_input=_is_directed(info, counts), loops_dropped=counts.loops,
            duplicates_dropped=counts.duplicates, pairs_read=counts.pairs, reverse_dropped=counts.reverse,
            values_dropped={**info.dropped, **({ROUNDED: self._digits.rounded} if self._digits.rounded else {})},
            id_kind=numbering.id_kind, first_id=numbering.first_id, source_format=info.format, reading=info.reading,
            # A record cannot contain names that are not UTF-8.
            source=[name.encode("utf-8", "backslashreplace").decode()
                    for name in getattr(self._source, "names", [self._source.name])],
        )

    def _counted(self, numbering: VertexNumbering, counts: Counts, record: StoreRecord) -> Iterator[str]:
        """Sentences about dropped parts of the input."""
        info = self._info
        yield from info.notes
        if 0 < info.listed < numbering.n_vertices:
            more = format_count(numbering.n_vertices - info.listed, "vertex", "vertices")
            yield f"edges end at {more} that the list of vertices does not have"
        if _is_directed(info, counts) and not self._options.directed:
            yield (f"{format_count(counts.one_way, 'edge')} came in one direction only; directions are dropped"
                   " (--directed keeps them): every edge is undirected")
        if record.unread:
            yield record.unread
        if record.weights is not None and record.weights.edges_with_several:
            yield (f"{format_count(record.weights.edges_with_several, 'edge')} came with several weights; the least of"
                   " each was kept")
        if self._digits.rounded:
            yield (f"{format_count(self._digits.rounded, 'weight')} rounded to the nearest float64: not all weights are"
                   f" decimals of up to {MOST_PLACES} places with sums below 2^61 of the last place")
        if numbering.gaps:
            yield (f"ids from {numbering.min_id} to {numbering.max_id} that do not occur, and are no vertices:"
                   f" {numbering.gaps:,}")


class _ConversionInMemory(Conversion):
    """A Conversion to `store`, a store in memory."""

    _writer_class = MemoryWriter
    store: Store | None = None

    def _check_room(self, scratch_bytes: int, store_bytes: int) -> None:
        """Does nothing: a small graph needs no disk."""

    def _finish_store(self, writer: StoreWriter, record: StoreRecord) -> StoreRecord:
        done = super()._finish_store(writer, record)
        self.store = cast(MemoryWriter, writer).store(done)
        return done


def _is_directed(info: SourceInfo, counts: Counts) -> bool:
    """Whether some edge came in one direction only, in a format in which this does not stand for both directions."""
    return bool(counts.one_way) and (info.directed or info.both_directions)


def _first_pairs(batch: EdgeBatch, count: int, labels: Any = None) -> tuple[tuple[Any, Any], ...]:
    """The first `count` pairs, to show users whether the right columns were read. labels : the ids of the numbers in
    the batch; None: these are ids."""
    first = (ids[:count] if labels is None else labels.take(ids[:count]) for ids in (batch.src, batch.dst))
    return tuple(zip(*(ids.to_pylist() if hasattr(ids, "to_pylist") else ids.tolist() for ids in first), strict=True))


def _without_first(batches: Iterator[EdgeBatch], n_pairs: int) -> Iterator[EdgeBatch]:
    """The batches without their first `n_pairs` pairs, which are read anyway."""
    left = n_pairs
    try:
        for batch in batches:
            skipped = min(left, len(batch.src))
            left -= skipped
            yield EdgeBatch(batch.src[skipped:], batch.dst[skipped:],
                            None if batch.weights is None else batch.weights[skipped:])
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()
