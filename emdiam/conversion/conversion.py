"""One conversion under way: from its source, or the state that it is resumed from, to the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ..errors import EmdiamError, InputError, StoreError
from ..formats.source import EdgeBatch, EdgeSource, SourceInfo
from ..sorting.scratch import disk_full_is_said
from ..sorting.sort import SortContext
from ..state_file import State
from ..store.layout import StoreRecord
from ..store.writer import StoreWriter
from ..units import format_size, peak_rss_bytes
from .intake import DeclaredIntake, Intake, Numbering
from .intake_ints import IntIntake
from .report import ConvertOptions, ConvertReport, Counts
from .resume import DONE, done_state, without_first

_SALTS = 16


class Conversion:
    """One conversion under way: what has to be stopped when it fails."""

    def __init__(
        self, source: EdgeSource, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        self._source, self._target, self._options, self._context = source, target, options, context
        self._intake: Intake | None = None
        self._numbering: Numbering | None = None
        self._writer: StoreWriter | None = None
        self._salt, self._was_read = 0, False
        self._notes_before: list[str] = []
        checkpoint = context.safe.checkpoint
        self._resumed: State | None = None if checkpoint is None else checkpoint.state
        if checkpoint is not None:
            context.safe.told_by(self._state)
            self._notes_before += checkpoint.notes
            if self._resumed is None and checkpoint.asked_to_resume:
                self._notes_before.append("there was no checkpoint to go on from; it began anew")

    def _state(self) -> State:
        """All that was done so far."""
        assert self._intake is not None
        return {
            "memory": self._context.plan.memory_bytes, "salt": self._salt, "read": self._was_read,
            "info": asdict(self._source_info), "stats": asdict(self._context.stats),
            "seconds": self._context.meter.seconds_so_far(), "intake": self._intake.state(),
            "numbering": None if self._numbering is None else asdict(self._numbering),
            "writer": None if self._writer is None else self._writer.state(),
        }

    def _resume(self, state: State) -> None:
        """Go on from what `_state` told."""
        self._salt, self._was_read = state["salt"], state["read"]
        for name, value in state["stats"].items():
            setattr(self._context.stats, name, value)
        self._context.meter.seconds.update(state["seconds"])
        if self._was_read:
            self._source_info = SourceInfo(**state["info"])
        # Taken out of the state, which stays: what was copied of it need not.
        self._intake = self._new_intake(state.pop("intake"))
        if state["numbering"] is not None:
            self._numbering = Numbering(**state["numbering"])
        self._notes_before.append(f"went on from a checkpoint; {self._intake.tally.pairs} pairs had been read before")

    def run(self, info: SourceInfo) -> ConvertReport:
        """Everything from the first batch to the finished store."""
        meter, safe = self._context.meter, self._context.safe
        self._source_info = info
        intake, numbering = self._take_in(info)
        info = self._source_info
        if not numbering.n_vertices:
            raise InputError(
                "the graph has no vertices", path=self._source.name,
                remedy="give at least one edge, or a format that declares the number of vertices",
            )
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            self._writer = writer = self._new_writer(numbering.n_vertices)
            meter.begin("merge", None, "arcs")
            n_arcs, n_reverse = intake.write(writer)
            meter.begin("write", None, "")
            counts = Counts(intake.tally.pairs, n_arcs // 2, intake.tally.loops, n_reverse)
            told = self._state() if safe.active else {}
            record = writer.finish(self._record(info, numbering, counts), lambda made: self._before_rename(told, made))
        self._writer = None
        meter.end()
        report = self._report(info, record, numbering, counts)
        if safe.checkpoint is not None:
            assert self._options.checkpoint is not None
            safe.checkpoint.finish(done_state(asdict(report)), keep=self._options.checkpoint.keep)
        return report

    def _before_rename(self, told: State, record: StoreRecord) -> None:
        """Keep the state told before the writer ended, and by what to know the store."""
        checkpoint = self._context.safe.checkpoint
        if checkpoint is not None:
            checkpoint.save({**told, DONE: record.record_digest})

    def _new_writer(self, n_vertices: int) -> StoreWriter:
        """A writer that goes on with the unfinished store of the state, or else begins."""
        options = self._options
        told = None if self._resumed is None else self._resumed["writer"]

        def made(resumed: State | None) -> StoreWriter:
            return StoreWriter(
                self._target, n_vertices=n_vertices, force=options.force, codec=options.codec,
                chunk_ids=options.chunk_ids, threads=options.threads, resumed=resumed,
            )

        if told is not None and told["rows"] is not None:
            try:
                return made(told)
            except StoreError as error:
                self._notes_before.append(f"{error}; it was written again")
        return made(None)

    def _take_in(self, info: SourceInfo) -> tuple[Intake, Numbering]:
        """Read the source to its end and number the vertices."""
        if self._resumed is not None:
            self._resume(self._resumed)
        if self._intake is None or self._numbering is None:
            self._numbering = self._numbered_strings() if info.id_kind == "string" else self._numbered()
            self._context.safe.reached(always=True)
        assert self._intake is not None
        return self._intake, self._numbering

    def _new_intake(self, resumed: State | None = None) -> Intake:
        """The intake for the ids of the source."""
        name, context, info = self._source.name, self._context, self._source_info
        if info.id_kind == "string":
            from .intake_strings import StringIntake

            return StringIntake(name, context, self._salt, resumed)
        if info.n_vertices is None:
            return IntIntake(name, context, resumed)
        return DeclaredIntake(info, name, context, resumed)

    def _numbered(self) -> Numbering:
        """Give all batches to the intake, and have it number the vertices."""
        if self._intake is None:
            self._intake = self._new_intake()
        if not self._was_read:
            self._read(self._intake, self._source.batches(self._context.plan.batch_bytes))
        return self._intake.finish()

    def _numbered_strings(self) -> Numbering:
        """The same for strings, again with another salt when two of them share a hash."""
        from .intake_strings import HashCollisionError, KeptBatches

        batch_bytes = self._context.plan.batch_bytes
        kept = None if self._source.rewindable else KeptBatches(self._context)
        batches = self._source.batches(batch_bytes)
        if kept is not None:
            batches = kept.passing(batches)
        for salt in range(self._salt, _SALTS):
            self._salt = salt
            intake = self._intake = self._intake or self._new_intake()
            if not self._was_read:
                self._read(intake, batches)
            try:
                return intake.finish()
            except HashCollisionError:
                intake.abort()
            self._intake, self._was_read = None, False
            batches = self._source.batches(batch_bytes) if kept is None else kept.again()
        raise EmdiamError(f"{_SALTS} hash functions in turn gave two strings the same hash")

    def _read(self, intake: Intake, batches: Iterator[EdgeBatch]) -> None:
        """Give all batches to `intake`, but for the pairs that it has."""
        meter, safe, info = self._context.meter, self._context.safe, self._source_info
        by_bytes = info.n_entries is None
        meter.begin("read", info.size_bytes if by_bytes else info.n_entries, "B" if by_bytes else "edges")
        batches = without_first(batches, intake.tally.pairs) if intake.tally.pairs else batches
        try:
            for batch in batches:
                intake.add(batch)
                meter.update(self._source.position_bytes() if by_bytes else intake.tally.pairs)
                if len(batch.src):  # else it was taken in before
                    safe.reached()
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()
        # What a format has beside the edges is counted while they are read.
        self._source_info, self._was_read = self._source.info(), True
        meter.begin("sort", None, "keys")
        safe.reached(always=True)

    def _record(self, info: SourceInfo, numbering: Numbering, counts: Counts) -> StoreRecord:
        """The record as far as the writer does not fill it."""
        return StoreRecord(
            directed_input=_is_directed(info, counts), loops_dropped=counts.loops,
            duplicates_dropped=counts.duplicates, pairs_read=counts.pairs, reverse_dropped=counts.reverse,
            values_dropped=dict(info.dropped),
            id_kind=numbering.id_kind, first_id=numbering.first_id, source_format=info.format,
            source=list(getattr(self._source, "names", [self._source.name])),
        )

    def _report(
        self, info: SourceInfo, record: StoreRecord, numbering: Numbering, counts: Counts
    ) -> ConvertReport:
        context = self._context
        return ConvertReport(
            record=record, pairs_read=counts.pairs, min_id=numbering.min_id, max_id=numbering.max_id,
            gaps=numbering.gaps, seconds=dict(context.meter.seconds),
            memory_limit_bytes=context.plan.memory_bytes, planned_rss_bytes=context.plan.planned_bytes,
            peak_rss_bytes=peak_rss_bytes(), scratch_bytes=context.scratch.peak_bytes, sort=context.stats,
            notes=tuple(self._notes(info, numbering, counts)),
        )

    def _notes(self, info: SourceInfo, numbering: Numbering, counts: Counts) -> Iterator[str]:
        yield from self._notes_before
        if _is_directed(info, counts):
            yield (f"{counts.one_way:,} edges were listed in one direction only; if that was meant, it was dropped:"
                   " every edge is undirected")
        if info.dropped:
            values = ", ".join(f"{name} ({count:,})" for name, count in info.dropped.items())
            yield f"dropped, since distances are numbers of edges: {values}"
        if numbering.gaps:
            yield (f"{numbering.gaps} ids between {numbering.min_id} and {numbering.max_id} do not occur"
                   " and are no vertices")
        scratch = self._context.scratch
        if scratch.in_memory and scratch.peak_bytes:
            yield f"scratch files took {format_size(scratch.peak_bytes)} of RAM outside the memory budget"

    def abort(self) -> None:
        """Join all threads and remove NAME.partial, unless there is a state to go on from."""
        checkpoint = self._context.safe.checkpoint
        try:
            if self._intake is not None:
                self._intake.abort()
        finally:
            if self._writer is not None and checkpoint is not None and checkpoint.has_state:
                self._writer.leave()
            elif self._writer is not None:
                self._writer.abort()


def _is_directed(info: SourceInfo, counts: Counts) -> bool:
    """Whether some edge came in one direction only, where the format does not say that one stands for both."""
    return bool(counts.one_way) and (info.directed or info.both_directions)
