"""Common parts of converting and reordering, which write a store: options, progress, checkpoints and reports.

However it ends, threads are joined, and scratch files and NAME.partial removed; with a checkpoint they are kept for a
run that resumes from its last state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from ..checkpoint.options import CheckpointOptions
from ..checkpoint.records import State
from ..errors import BudgetError, InputError, StoreError
from ..formats.source import SourceInfo
from ..formats.weights import WeightChoice
from ..progress import Listener, Meter
from ..shown import Shown
from ..sorting.plan import SortPlan
from ..sorting.scratch import Checkpoint, SafePoints, Scratch
from ..sorting.sort import SortContext, SortStats
from ..store.layout import CHUNK_IDS, StoreRecord
from ..store.store import open_store
from ..store.weights import WeightForm
from ..store.writer import StoreWriter
from ..units import MemoryFigures, default_memory_bytes, format_count, format_size, peak_rss_bytes

# Key in a state: the record_digest of the store that is complete, or that only has to be renamed.
DONE = "done"
ALREADY_DONE = "it was complete already; nothing was left to do"
_BYTES_PER_TEXT_EDGE = 12
_SCRATCH_BYTES_PER_KEY = 2.5
_STORE_BYTES_PER_ARC = 1.5


@dataclass(frozen=True)
class ConvertOptions:
    """memory_bytes : peak RSS of this process, None: what machine and cgroup allow. scratch : folder for temporary
    files, None: beside the target. force : replace the target. fmt, ids, columns, header, encoding, bipartite, weights
    : see source.py. vertices : files that list the vertices. codec, chunk_ids : see layout. directed : keep the
    directions of arcs. threads : number that sort, merge and encode. progress : called with progress.Event. plan :
    buffer sizes set by hand, which make memory_bytes irrelevant (for tests: results never depend on it). checkpoint :
    save progress for a later run, and resume from it (see writing.py); it contains the scratch files."""

    memory_bytes: int | None = None
    scratch: Path | None = None
    force: bool = False
    fmt: str | None = None
    ids: str = "auto"
    columns: tuple[str, str] | None = None
    header: str = "auto"
    encoding: str = ""
    vertices: str | Path | Sequence[str | Path] | None = None
    codec: str = "lz4"
    chunk_ids: int = CHUNK_IDS
    directed: bool = False
    bipartite: bool = False
    weights: WeightChoice | None = None
    threads: int = 2
    progress: Listener | None = None
    plan: SortPlan | None = None
    checkpoint: CheckpointOptions | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class WritingReport(Shown, MemoryFigures):
    """The result of writing a store.

    Attributes
    ----------
    record : StoreRecord
        Numbers of vertices, edges, and dropped pairs; order, codec, weights.
    notes : tuple of str
        Sentences for the user.
    seconds : dict of float
        Wall seconds by phase.
    memory_limit_bytes, planned_rss_bytes, peak_rss_bytes : int
        Limit, plan and measured peak of resident memory.
    scratch_bytes : int
        Largest size of temporary files.
    sort : SortStats
        Counts of runs and passes.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "record.n_vertices", "record.n_edges", "record.loops_dropped", "record.duplicates_dropped", "record.ordering",
        "notes", "seconds")

    record: StoreRecord
    seconds: dict[str, float]
    memory_limit_bytes: int
    planned_rss_bytes: int
    peak_rss_bytes: int
    scratch_bytes: int
    sort: SortStats = field(default_factory=SortStats)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A plain dict for JSON: the fields, and values derived from them."""
        return {**asdict(self), "memory_limit_exceeded": self.memory_limit_exceeded}

    @classmethod
    def of_done(cls, done: State, target: Path) -> Self:
        """The report of a store that was complete before. If that run was killed between renaming and reporting, only
        the store's record and the last state are known."""
        with open_store(str(target), directed=None) as store:
            record = store.record
        fields = done.get("report") or {
            **cls._of_state(done), "seconds": done["seconds"], "memory_limit_bytes": done["memory"],
            "planned_rss_bytes": 0, "peak_rss_bytes": peak_rss_bytes(), "scratch_bytes": 0, "sort": done["stats"],
        }
        fields = {**fields, "sort": SortStats(**fields["sort"]), "notes": (*fields.get("notes", ()), ALREADY_DONE)}
        return cls(record=record, **fields)

    @classmethod
    def _of_state(cls, done: State) -> dict[str, Any]:
        """The additional fields of a subclass, from the last state."""
        return {}


@dataclass(frozen=True, kw_only=True, repr=False)
class ConvertReport(WritingReport):
    """The result of a conversion: the fields of WritingReport, and these.

    Attributes
    ----------
    pairs_read : int
        Pairs in the input.
    min_id, max_id, gaps : int or str, int
        Smallest and largest id, and the number of missing integers between them.
    first_pairs : tuple
        The first pairs, as they were read; empty after a resumed conversion.
    lines_skipped : dict of int
        Comments and empty lines of a text.
    """

    pairs_read: int
    min_id: int | str | None
    max_id: int | str | None
    gaps: int
    first_pairs: tuple[tuple[Any, Any], ...] = ()
    lines_skipped: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "record": self.record.to_dict(), "directions": self.record.directions}

    @classmethod
    def _of_state(cls, done: State) -> dict[str, Any]:
        numbering, tally = done["numbering"], done["intake"]["tally"]
        return {"pairs_read": tally[0], **{name: numbering[name] for name in ("min_id", "max_id", "gaps")}}


@dataclass(frozen=True, kw_only=True, repr=False)
class ReorderReport(WritingReport):
    """The result of a reordering; `record` is that of the new store."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ApplyReport(WritingReport):
    """The result of changing a store: the fields of WritingReport, and these.

    Attributes
    ----------
    added, removed : int
        Edges that were added, and removed.
    present : int
        Edges to add that the store already had; with weights they now have those of the list.
    absent : int
        Edges to remove that were not in the store.
    new_vertices : int
        New vertices.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "record.n_vertices", "record.n_edges", "added", "removed", "present", "absent", "new_vertices", "notes",
        "seconds")

    added: int
    removed: int
    present: int
    absent: int
    new_vertices: int


@dataclass(frozen=True)
class Counts:
    """The fate of the pairs that were read: pairs = edges + loops + duplicates + reverse.

    duplicates : repeat an edge in the same direction. reverse : have the second direction of an edge.
    """

    pairs: int
    edges: int
    loops: int
    reverse: int

    @property
    def duplicates(self) -> int:
        """Pairs that are in none of the other counts."""
        return self.pairs - self.edges - self.loops - self.reverse

    @property
    def one_way(self) -> int:
        """Edges that came in one direction only."""
        return self.edges - self.reverse

    def check(self, info: SourceInfo, n_vertices: int, name: str) -> None:
        """Raise InputError if edges end at vertices that are not declared, or a matrix has several weights in a place.
        name : of the source."""
        missing = n_vertices - info.declared if info.declared and info.all_declared else 0
        if missing:
            count = format_count(abs(missing), "vertex", "vertices")
            what = f"edges end at {count} without a declaration" if missing > 0 else f"{count} declared twice"
            raise InputError(what, path=name, remedy="declare every vertex once, or drop the edges to others")
        if info.adds_weights and info.weights and self.duplicates:
            count = format_count(self.duplicates, "entry", "entries")
            raise InputError(f"{count} of the matrix in a place that has one: a matrix has their sum there, and paths"
                             " take the least", path=name, remedy="add them up, as matrix.sum_duplicates() of scipy"
                             " does, or give the edges as a list of triples or a text for the least")


Report = TypeVar("Report", bound=WritingReport)


class StoreWriting(ABC, Generic[Report]):
    """The writing of one store, with cleaning up after a failure. Subclasses provide its arcs."""

    _writer_class = StoreWriter

    def __init__(self, target: Path, options: ConvertOptions, context: SortContext) -> None:
        self._target, self._options, self._context = target, options, context
        self._writer: StoreWriter | None = None
        self._notes: list[str] = []
        checkpoint = context.safe.checkpoint
        self._resumed: State | None = None if checkpoint is None else checkpoint.state
        if checkpoint is not None:
            self._notes += checkpoint.notes
            context.safe.save_by(self._state)

    def write(self, info: SourceInfo) -> Report:
        """Write the whole store. info : has the expected number of edges. Raises BudgetError if the disk is too
        small."""
        scratch = self._context.scratch
        try:
            scratch_bytes, store_bytes = self._planned_disk(info)
            # Files written before a stop need no further space.
            self._check_room(max(0, scratch_bytes - scratch.peak_bytes), store_bytes)
            return self.run()
        except BaseException:
            self._abort()
            raise

    def _check_room(self, scratch_bytes: int, store_bytes: int) -> None:
        """Raise BudgetError if the disk has less space than that."""
        self._context.scratch.check_room(scratch_bytes, store_bytes, self._target)

    def _planned_disk(self, info: SourceInfo) -> tuple[int, int]:
        """See planned_disk."""
        return planned_disk(info, self._context.plan, self._options.directed)

    @abstractmethod
    def run(self) -> Report:
        """Write the whole store, after the check of disk space; an exception leads to `_abort`."""

    @abstractmethod
    def _work_state(self) -> State:
        """The progress so far, besides the parts that `_state` adds for every writing."""

    @abstractmethod
    def _stop_sorting(self) -> None:
        """Join the sorting threads."""

    def _state(self) -> State:
        """The whole progress so far."""
        return {
            "memory": self._context.plan.memory_bytes, "stats": asdict(self._context.stats),
            "seconds": self._context.meter.seconds_so_far(), **self._work_state(),
            "writer": None if self._writer is None else self._writer.state(),
        }

    def _restore_figures(self, state: State) -> None:
        """Continue the counts from a result of `_state`."""
        for name, value in state["stats"].items():
            setattr(self._context.stats, name, value)
        self._context.meter.seconds.update(state["seconds"])

    def _open_writer(
        self, n_vertices: int, resumed: State | None, weights: WeightForm | None
    ) -> tuple[StoreWriter, bool]:
        """A writer, and whether it continues the unfinished store of `resumed`, a writer's state; otherwise it starts a
        new one. weights : their form, or None."""
        options = self._options

        def opened(state: State | None) -> StoreWriter:
            return self._writer_class(self._target, n_vertices=n_vertices, force=options.force,
                                      codec=options.codec, chunk_ids=options.chunk_ids, threads=options.threads,
                                      resumed=state)

        if resumed is not None:
            try:
                self._writer = opened(resumed)
                return self._writer, True
            except StoreError as error:
                self._notes.append(f"{error}; it was written again")
        self._writer = opened(None)
        if options.directed:
            self._writer.keep_directions()
        if weights is not None:
            self._writer.keep_weights(weights)
        return self._writer, False

    def _finish_store(self, writer: StoreWriter, record: StoreRecord) -> StoreRecord:
        """Complete the store. Just before the renaming, the previous state is saved together with the digest that
        identifies the store."""
        checkpoint = self._context.safe.checkpoint
        self._context.meter.begin("write", None, "")
        state = self._state() if checkpoint is not None else {}

        def before_rename(record: StoreRecord) -> None:
            if checkpoint is not None:
                checkpoint.save({**state, DONE: record.record_digest})

        record = writer.finish(record, before_rename)
        self._writer = None
        self._context.meter.end()
        return record

    def _end(self, report: Report) -> Report:
        """Remove the checkpoint, or keep its last state if the options say so."""
        checkpoint = self._context.safe.checkpoint
        return report if checkpoint is None else _finished(report, checkpoint, done_state(asdict(report)))

    def _figures(self) -> dict[str, Any]:
        """The measured fields of a WritingReport."""
        plan, scratch = self._context.plan, self._context.scratch
        return {
            "seconds": dict(self._context.meter.seconds), "memory_limit_bytes": plan.memory_bytes,
            "planned_rss_bytes": plan.planned_bytes, "peak_rss_bytes": peak_rss_bytes(),
            "scratch_bytes": scratch.peak_bytes, "sort": self._context.stats,
        }

    def _scratch_notes(self) -> list[str]:
        """A sentence about scratch files in memory."""
        scratch = self._context.scratch
        if not scratch.peak_bytes or not scratch.in_memory:
            return []
        return [f"scratch files took {format_size(scratch.peak_bytes)} of RAM outside the memory budget"]

    def _abort(self) -> None:
        """Join all threads and remove NAME.partial, unless a state needs it for resuming."""
        checkpoint = self._context.safe.checkpoint
        try:
            self._stop_sorting()
        finally:
            if self._writer is not None and checkpoint is not None and checkpoint.has_state:
                self._writer.leave()
            elif self._writer is not None:
                self._writer.abort()


def memory_to_plan(named: int | None, checkpoint: Checkpoint | None) -> int:
    """Bytes of memory to plan for: the number named, else what machine and cgroup allow; when resuming at least as much
    as before, since the checkpoint's files were made for that. Raises BudgetError if a smaller number is named."""
    before = 0 if checkpoint is None or checkpoint.state is None else int(checkpoint.state["memory"])
    if named is None:
        return max(before, default_memory_bytes())
    if named < before:
        raise BudgetError(f"the checkpoint was made with {format_size(before)} of memory, not {format_size(named)}",
                          remedy=f"give --memory {-(-before >> 20)}MiB or more, or begin anew")
    return named


def done_before(checkpoint: Checkpoint, target: Path) -> State | None:
    """The state of `checkpoint` if its store is complete at `target`, else None."""
    digest = None if checkpoint.state is None else checkpoint.state.get(DONE)
    if digest is None or not target.exists():
        return None
    try:
        with open_store(str(target), directed=None) as store:
            return checkpoint.state if store.record.record_digest == digest else None
    except StoreError:
        return None


def done_state(report: Mapping[str, Any]) -> State:
    """The final state of a complete conversion or reordering, made from the dict of its report: enough to report it
    again."""
    rest = dict(report)
    return {DONE: rest.pop("record")["record_digest"], "memory": report["memory_limit_bytes"], "report": rest}


def _finished(report: Report, checkpoint: Checkpoint, done: State) -> Report:
    """The report, after removing the checkpoint, or all but its last state if that is kept. If that fails, a note says
    so: the store is complete and has its name, and nothing remains to resume."""
    try:
        checkpoint.finish(done)
    except (OSError, InputError) as error:
        return replace(report, notes=(*report.notes, f"the store is complete, but its checkpoint stays: {error}"))
    return report


def resumable(
    report_type: type[Report], target: Path, options: ConvertOptions, identity: Callable[[], dict[str, Any]],
    write: Callable[[Checkpoint | None], Report],
) -> Report:
    """Call write(checkpoint), with None if options.checkpoint is None; if the checkpoint's store is already complete,
    return only its report. identity : see Checkpoint. Raises like `write` and Checkpoint, and InputError if a scratch
    folder is named besides a checkpoint."""
    if options.checkpoint is None:
        return write(None)
    if options.scratch is not None:
        raise InputError("with a checkpoint the scratch files are in its folder", path=options.scratch,
                         remedy="leave out --scratch, and name a folder with room by --checkpoint")
    checkpoint = Checkpoint(options.checkpoint.folder_for(target), identity(), options.checkpoint)
    try:
        done = done_before(checkpoint, target)
        if done is None:
            return write(checkpoint)
        return _finished(report_type.of_done(done, target), checkpoint, done)
    finally:
        checkpoint.release()


@contextmanager
def sort_context(
    plan: SortPlan, target: Path, options: ConvertOptions, checkpoint: Checkpoint | None, meter: Meter,
    weighted: bool, scratch_is_likely: bool = True,
) -> Iterator[SortContext]:
    """The context of one writing; its scratch files are closed at the end. weighted : whether arcs have weights.
    scratch_is_likely : see Scratch."""
    made = Scratch(options.scratch, target, scratch_is_likely) if checkpoint is None else checkpoint.scratch
    with closing(made) as scratch:
        yield SortContext(plan, scratch, options.threads, meter, safe=SafePoints(checkpoint),
                          directed=options.directed, weighted=weighted)


def planned_disk(info: SourceInfo, plan: SortPlan, directed: bool = False) -> tuple[int, int]:
    """Expected bytes of scratch files and of the store; 0 if the source does not say. These are low estimates, to
    refuse only what cannot succeed."""
    entries = info.n_entries
    if entries is None:
        entries = (info.size_bytes or 0) // _BYTES_PER_TEXT_EDGE
    n_keys = 2 * entries
    fits = n_keys < plan.run_keys * (plan.n_buffers - 1)
    n_arcs = entries if info.both_directions and not directed else n_keys
    return 0 if fits else int(n_keys * _SCRATCH_BYTES_PER_KEY), int(n_arcs * _STORE_BYTES_PER_ARC)
