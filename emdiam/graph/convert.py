"""From a stream of edges to a store, within a memory budget, by external sort.

    source -> intake (pairs to sort keys, ids to vertices) -> sorted runs -> merge -> StoreWriter

Results do not depend on the budget, the threads or the batches: the same edges give the same
bytes. Whatever stops a conversion, threads are joined, scratch files and NAME.partial removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import EmdiamError, InputError
from ..progress import Listener
from ..units import current_rss_bytes, default_memory_bytes, format_size, peak_rss_bytes
from .intake import DeclaredIntake, Intake, Numbering, Tally
from .intake_ints import IntIntake
from .layout import CHUNK_IDS, StoreRecord
from .meter import Meter
from .scratch import Scratch, disk_full_is_said
from .sort import SortContext, SortStats
from .sortplan import SortPlan, plan_sort
from .source import EdgeBatch, EdgeSource, SourceInfo
from .writer import StoreWriter, check_target

_BYTES_PER_TEXT_EDGE = 12
_SCRATCH_BYTES_PER_KEY = 2.5
_STORE_BYTES_PER_ARC = 1.5
_SALTS = 16


@dataclass(frozen=True)
class ConvertOptions:
    """memory_bytes : peak RSS of this process, None: what machine and cgroup leave. scratch :
    folder for temporary files, None: beside the target. force : replace the target. fmt, ids :
    see open_source. codec, chunk_ids : see layout. threads : how many sort, merge and encode.
    progress : called with progress.Event. plan : buffer sizes by hand, memory_bytes is then not
    looked at (for tests: results never depend on it)."""

    memory_bytes: int | None = None
    scratch: Path | None = None
    force: bool = False
    fmt: str | None = None
    ids: str = "auto"
    codec: str = "lz4"
    chunk_ids: int = CHUNK_IDS
    threads: int = 2
    progress: Listener | None = None
    plan: SortPlan | None = None


@dataclass(frozen=True)
class ConvertReport:
    """What a conversion did.

    record : the store's own record, with the loops and duplicates dropped. pairs_read : pairs the
    source gave. min_id, max_id, gaps : see Numbering. seconds : by phase (read, relabel, sort,
    merge, write). memory_limit_bytes, planned_rss_bytes, peak_rss_bytes : budget, plan and the
    peak of the process so far. scratch_bytes : most scratch on disk at a time. sort : counts of
    runs and passes. notes : what the user should know, one sentence each.
    """

    record: StoreRecord
    pairs_read: int
    min_id: int | str | None
    max_id: int | str | None
    gaps: int
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


def convert(
    inputs: Sequence[str | Path], target: Path, *, options: ConvertOptions | None = None
) -> ConvertReport:
    """Convert files, globs or "-" (together one graph) into a store at `target`.

    Raises InputError for bad input or an existing target, BudgetError where memory or disk cannot
    do. Then, and after Ctrl-C, neither the target nor scratch files exist.
    """
    import pyarrow as pa

    from .formats import open_source

    options = options or ConvertOptions()
    check_target(Path(target), options.force)
    # The default pool keeps freed memory, which counts as RSS.
    pa.set_memory_pool(pa.system_memory_pool())
    return write_graph(open_source(inputs, fmt=options.fmt, ids=options.ids), target, options=options)


def write_graph(source: EdgeSource, target: Path, *, options: ConvertOptions | None = None) -> ConvertReport:
    """Convert the edges of `source` into a store at `target`; raises what `convert` raises, and
    whatever the source raises."""
    options, target = options or ConvertOptions(), Path(target)
    check_target(target, options.force)
    info = source.info()
    _load_libraries(info)
    plan = options.plan or plan_sort(
        options.memory_bytes or default_memory_bytes(), current_rss_bytes(),
        getattr(source, "memory_bytes", 0), options.threads, options.chunk_ids,
    )
    scratch = Scratch(options.scratch, target)
    context = SortContext(plan, scratch, options.threads, Meter(options.progress))
    conversion = _Conversion(source, target, options, context)
    try:
        scratch.check_room(*planned_disk(info, plan), target)
        return conversion.run(info)
    except BaseException:
        conversion.abort()
        raise
    finally:
        scratch.close()


def _load_libraries(info: SourceInfo) -> None:
    """Load now what is loaded later anyway, so that the measured base has it."""
    import zarr.codecs  # noqa: F401

    if info.id_kind == "string":
        from .strings import warm_up

        warm_up()


def planned_disk(info: SourceInfo, plan: SortPlan) -> tuple[int, int]:
    """Bytes of scratch files and of the store to expect; 0 where the source does not say. Low
    figures: refused is only what has no chance."""
    entries = info.n_entries
    if entries is None:
        entries = (info.size_bytes or 0) // _BYTES_PER_TEXT_EDGE
    n_keys = 2 * entries
    fits = n_keys < plan.run_keys * (plan.n_buffers - 1)
    n_arcs = entries if info.both_directions else n_keys
    return 0 if fits else int(n_keys * _SCRATCH_BYTES_PER_KEY), int(n_arcs * _STORE_BYTES_PER_ARC)


class _Conversion:
    """One conversion under way: what has to be stopped when it fails."""

    def __init__(
        self, source: EdgeSource, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        self._source, self._target, self._options, self._context = source, target, options, context
        self._intake: Intake | None = None
        self._writer: StoreWriter | None = None

    def run(self, info: SourceInfo) -> ConvertReport:
        """Everything from the first batch to the finished store."""
        meter = self._context.meter
        intake, numbering = self._take_in(info)
        # Some formats find out only while reading whether both directions are listed.
        info = self._source.info()
        if not numbering.n_vertices:
            raise InputError(
                "the graph has no vertices", path=self._source.name,
                remedy="give at least one edge, or a format that declares the number of vertices",
            )
        options = self._options
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            self._writer = StoreWriter(
                self._target, n_vertices=numbering.n_vertices, force=options.force, codec=options.codec,
                chunk_ids=options.chunk_ids, threads=options.threads,
            )
            meter.begin("merge", None, "arcs")
            n_arcs = intake.write(self._writer)
            meter.begin("write", None, "")
            counts = _Counts.of(info, intake.tally, n_arcs)
            record = self._writer.finish(self._record(info, numbering, counts))
        self._writer = None
        meter.end()
        return self._report(info, record, numbering, counts)

    def _take_in(self, info: SourceInfo) -> tuple[Intake, Numbering]:
        """Read the source to its end and number the vertices."""
        if info.id_kind == "string":
            return self._take_in_strings(info)
        self._intake = (IntIntake(self._source.name, self._context) if info.n_vertices is None
                        else DeclaredIntake(info, self._source.name, self._context))
        self._read(self._intake, self._source.batches(self._context.plan.batch_bytes), info)
        return self._intake, self._intake.finish()

    def _take_in_strings(self, info: SourceInfo) -> tuple[Intake, Numbering]:
        """The same for strings, again with another salt when two of them share a hash."""
        from .intake_strings import HashCollisionError, KeptBatches, StringIntake

        batch_bytes = self._context.plan.batch_bytes
        kept = None if self._source.rewindable else KeptBatches(self._context)
        batches = self._source.batches(batch_bytes)
        if kept is not None:
            batches = kept.passing(batches)
        for salt in range(_SALTS):
            self._intake = StringIntake(self._source.name, self._context, salt)
            self._read(self._intake, batches, info)
            try:
                return self._intake, self._intake.finish()
            except HashCollisionError:
                self._intake.abort()
            batches = self._source.batches(batch_bytes) if kept is None else kept.again()
        raise EmdiamError(f"{_SALTS} hash functions in turn gave two strings the same hash")

    def _read(self, intake: Intake, batches: Iterator[EdgeBatch], info: SourceInfo) -> None:
        """Give all batches to `intake`."""
        meter = self._context.meter
        by_bytes = info.n_entries is None
        meter.begin("read", info.size_bytes if by_bytes else info.n_entries, "B" if by_bytes else "edges")
        try:
            for batch in batches:
                intake.add(batch)
                meter.update(self._source.position_bytes() if by_bytes else intake.tally.pairs)
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()
        meter.begin("sort", None, "keys")

    def _record(self, info: SourceInfo, numbering: Numbering, counts: _Counts) -> StoreRecord:
        """The record as far as the writer does not fill it."""
        return StoreRecord(
            directed_input=info.directed, loops_dropped=counts.loops, duplicates_dropped=counts.duplicates,
            id_kind=numbering.id_kind, first_id=numbering.first_id, source_format=info.format,
            source=list(getattr(self._source, "names", [self._source.name])),
        )

    def _report(
        self, info: SourceInfo, record: StoreRecord, numbering: Numbering, counts: _Counts
    ) -> ConvertReport:
        context = self._context
        return ConvertReport(
            record=record, pairs_read=counts.pairs, min_id=numbering.min_id, max_id=numbering.max_id,
            gaps=numbering.gaps, seconds=dict(context.meter.seconds),
            memory_limit_bytes=context.plan.memory_bytes, planned_rss_bytes=context.plan.planned_bytes,
            peak_rss_bytes=peak_rss_bytes(), scratch_bytes=context.scratch.peak_bytes, sort=context.stats,
            notes=tuple(self._notes(info, numbering, counts)),
        )

    def _notes(self, info: SourceInfo, numbering: Numbering, counts: _Counts) -> Iterator[str]:
        if info.directed:
            yield "the input is directed; every arc was taken as an undirected edge"
        if counts.one_way:
            yield f"at least {counts.one_way} edges were listed in one direction only; both were stored"
        if numbering.gaps:
            yield (f"{numbering.gaps} ids between {numbering.min_id} and {numbering.max_id} do not occur"
                   " and are no vertices")
        scratch = self._context.scratch
        if scratch.in_memory and scratch.peak_bytes:
            yield f"scratch files took {format_size(scratch.peak_bytes)} of RAM outside the memory budget"

    def abort(self) -> None:
        """Join all threads and remove NAME.partial."""
        try:
            if self._intake is not None:
                self._intake.abort()
        finally:
            if self._writer is not None:
                self._writer.abort()


@dataclass(frozen=True)
class _Counts:
    """pairs : read. loops : dropped. duplicates : dropped beyond the first of every edge (where
    the format lists both directions: beyond the first two). one_way : with such formats, edges
    that lack their second direction, a lower bound."""

    pairs: int
    loops: int
    duplicates: int
    one_way: int

    @classmethod
    def of(cls, info: SourceInfo, tally: Tally, n_arcs: int) -> _Counts:
        """n_arcs : stored, two for every edge."""
        expected = n_arcs if info.both_directions else n_arcs // 2
        extra = tally.pairs - tally.loops - expected
        return cls(tally.pairs, tally.loops, max(0, extra), max(0, -extra))
