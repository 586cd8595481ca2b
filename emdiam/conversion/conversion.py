"""One conversion under way: from its source, or the state that it is resumed from, to the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ..checkpoint.records import State
from ..errors import EmdiamError, InputError
from ..formats.source import EdgeBatch, EdgeSource, SourceInfo
from ..sorting.scratch import disk_full_is_said
from ..sorting.sort import SortContext
from ..store.layout import StoreRecord
from .intake import DeclaredIntake, Intake, IntIntake, Numbering
from .report import ConvertOptions, ConvertReport, Counts
from .resume import without_first
from .writing import StoreWriting

_SALTS = 16


class Conversion(StoreWriting[ConvertReport]):
    """One conversion under way. info : what the source says before it is read."""

    def __init__(
        self, source: EdgeSource, info: SourceInfo, target: Path, options: ConvertOptions, context: SortContext
    ) -> None:
        super().__init__(target, options, context)
        self._source, self._info = source, info
        self._intake: Intake | None = None
        self._numbering: Numbering | None = None
        self._salt, self._was_read = 0, False
        checkpoint = context.safe.checkpoint
        if checkpoint is not None and self._resumed is None and checkpoint.options.resume:
            self._notes.append("there was no checkpoint to go on from; it began anew")

    def _work_state(self) -> State:
        assert self._intake is not None
        return {
            "salt": self._salt, "read": self._was_read, "info": asdict(self._info), "intake": self._intake.state(),
            "numbering": None if self._numbering is None else asdict(self._numbering),
        }

    def _stop_sorting(self) -> None:
        if self._intake is not None:
            self._intake.abort()

    def _resume(self, state: State) -> None:
        """Go on from what `_state` returned."""
        self._restore_figures(state)
        self._salt, self._was_read = state["salt"], state["read"]
        if self._was_read:
            self._info = SourceInfo(**state["info"])
        # Taken out of the state, which stays: what was copied of it need not.
        self._intake = self._new_intake(state.pop("intake"))
        if state["numbering"] is not None:
            self._numbering = Numbering(**state["numbering"])
        self._notes.append(f"went on from a checkpoint; {self._intake.tally.pairs} pairs had been read before")

    def run(self) -> ConvertReport:
        intake, numbering = self._take_in()
        if not numbering.n_vertices:
            raise InputError(
                "the graph has no vertices", path=self._source.name,
                remedy="give at least one edge, or a format that declares the number of vertices",
            )
        with disk_full_is_said(self._target.absolute().parent, "the store"):
            unfinished = None if self._resumed is None else self._resumed["writer"]
            # The map of ids is written before the rows, and not in parts.
            rows_begun = unfinished is not None and unfinished["rows"] is not None
            writer, _ = self._open_writer(numbering.n_vertices, unfinished if rows_begun else None)
            self._context.meter.begin("merge", None, "arcs")
            n_arcs, n_reverse = intake.write(writer)
            counts = Counts(intake.tally.pairs, n_arcs // 2, intake.tally.loops, n_reverse)
            record = self._finish_store(writer, self._record(numbering, counts))
        return self._end(ConvertReport(
            record=record, pairs_read=counts.pairs, min_id=numbering.min_id, max_id=numbering.max_id,
            gaps=numbering.gaps, notes=(*self._notes, *self._counted(numbering, counts), *self._scratch_notes()),
            **self._figures(),
        ))

    def _take_in(self) -> tuple[Intake, Numbering]:
        """Read the source to its end and number the vertices."""
        if self._resumed is not None:
            self._resume(self._resumed)
        if self._intake is None or self._numbering is None:
            self._numbering = self._numbered_strings() if self._info.id_kind == "string" else self._numbered()
            self._context.safe.reached(always=True)
        assert self._intake is not None
        return self._intake, self._numbering

    def _new_intake(self, resumed: State | None = None) -> Intake:
        """The intake for the ids of the source."""
        name, context, info = self._source.name, self._context, self._info
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
        meter, safe, info = self._context.meter, self._context.safe, self._info
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
        self._info, self._was_read = self._source.info(), True
        meter.begin("sort", None, "keys")
        safe.reached(always=True)

    def _record(self, numbering: Numbering, counts: Counts) -> StoreRecord:
        """The record as far as the writer does not fill it."""
        info = self._info
        return StoreRecord(
            directed_input=_is_directed(info, counts), loops_dropped=counts.loops,
            duplicates_dropped=counts.duplicates, pairs_read=counts.pairs, reverse_dropped=counts.reverse,
            values_dropped=dict(info.dropped),
            id_kind=numbering.id_kind, first_id=numbering.first_id, source_format=info.format,
            source=list(getattr(self._source, "names", [self._source.name])),
        )

    def _counted(self, numbering: Numbering, counts: Counts) -> Iterator[str]:
        """Sentences about what was dropped of the input."""
        info = self._info
        if _is_directed(info, counts):
            yield (f"{counts.one_way:,} edges were listed in one direction only; if that was meant, it was dropped:"
                   " every edge is undirected")
        if info.dropped:
            values = ", ".join(f"{name} ({count:,})" for name, count in info.dropped.items())
            yield f"dropped, since distances are numbers of edges: {values}"
        if numbering.gaps:
            yield (f"{numbering.gaps} ids between {numbering.min_id} and {numbering.max_id} do not occur"
                   " and are no vertices")


def _is_directed(info: SourceInfo, counts: Counts) -> bool:
    """Whether some edge came in one direction only, where the format does not say that one stands for both."""
    return bool(counts.one_way) and (info.directed or info.both_directions)
