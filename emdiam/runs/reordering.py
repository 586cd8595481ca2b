"""Whether a run first puts its store into another order, and where that lies until the run has ended.

Under `auto` the run begins with the store as it is and watches its own BFS (locality.py). Where that shows that ids are
not local and reordering first is surely less, what was begun is dropped, the store is written in the order `cluster`
to the folder for temporary files, or to where it is to stay, and the method begins again on that. Answers are in the
user's ids, whatever the order; certificates have the digest of the store as it was given. Where all edges are in
memory, no BFS reads more than one store.

With a checkpoint the other order is noted in its folder, and so is the store: a run that goes on finds both.

A place for a reordered store that lasts as long as one run.

It is a folder of its own among the temporary files, with the claim of this process (store/writer.py). It is removed
whatever ends the run; what `kill -9` leaves is removed by the next run that makes one there.
"""

from __future__ import annotations

import gc
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ..checkpoint.options import CheckpointOptions
from ..durable import check_scratch
from ..errors import BudgetError, InputError, StateLost, StoppedEarly
from ..malloc import return_freed_memory
from ..methods.result import Result
from ..progress import Event, Listener, TimeOver, silent, until
from ..sorting.scratch import MEMORY_FILE_SYSTEMS, disk_faults_are_said, file_system
from ..store.layout import PARTIAL_SUFFIX
from ..store.place import claim, remove_stale
from ..store.store import Store, open_store
from ..units import scratch_folder, system_text
from .hops import nothing_yet
from .locality import ORDER, BfsReads, Comparison, Locality, compare, reordering_text
from .option import ALWAYS, AUTO, NEVER, REORDER
from .registry import entry_of
from .task import Session

if TYPE_CHECKING:
    from ..conversion.convert import ConvertOptions
    from ..journal.run import RunCheckpoint

PHASE, _STORE = "reorder", "graph.zarr"
# BFS that are watched: what comes later has less to gain.
_WATCHED = 3
# What the process may hold more after it has written a store: libraries, and what malloc keeps.
_MORE_BYTES = 48 << 20
_LOG = logging.getLogger("emdiam")


@dataclass(frozen=True)
class Placed:
    """store : to be solved. listener : to be told of it. program : bytes of the program for the memory plan; None:
    those that are measured then. known : a lower bound from before the store was reordered. seconds : that attempts
    with less memory have taken."""

    store: Store
    listener: Listener | None
    program: int | None = None
    known: int = 0
    seconds: float = 0.0


class ReorderFirst(StateLost):
    """Raised within a traversal: the run is to begin again on a reordered store. Methods end by it with what they
    have so far."""


class _Watch(BfsReads):
    """Ends the run by ReorderFirst once `wanted` says so of a BFS whose ids are not local; `found` has it then."""

    def __init__(self, store: Store, progress: Listener | None, wanted: Callable[[Locality], bool]) -> None:
        super().__init__(store, progress)
        self._wanted: Callable[[Locality], bool] | None = wanted
        self.found: Locality | None = None

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if self._wanted is None or self.locality is None or self.locality.local is not False:
            return
        if event.facts.get("traversals", 0) >= _WATCHED:
            self._wanted = None
        elif self._wanted(self.locality):
            self._wanted, self.found = None, self.locality
            raise ReorderFirst("the store is reordered first")


class Placing:
    """The store of one run, in the order in which it is solved; a context manager, at whose end a store among the
    temporary files is removed.

    store : what is solved in the end. here : whether traversals are on the CPU of this process. Raises InputError where
    `always` is asked for elsewhere, and for a place of the reordered store that cannot be.
    """

    def __init__(self, session: Session, here: bool, checkpoint: RunCheckpoint | None) -> None:
        run = session.task
        if run.reorder not in REORDER:
            raise InputError("a store is reordered first auto, never or always", text=run.reorder)
        if run.reorder == ALWAYS and not here:
            raise InputError("a store is reordered first for traversals on the CPU of this process alone",
                             text="--reorder always", remedy="leave it out, or reorder by itself: emdiam reorder")
        self.store = self._given = session.store
        self._session, self._run, self._here, self._checkpoint = session, run, here, checkpoint
        self._progress, self._deadline = session.progress, session.deadline
        self._stack = ExitStack()
        self._details: dict[str, Any] | None = None
        self._begin = time.perf_counter()
        self._seconds: dict[str, float] = {}
        self._program: int | None = None
        self._look_bytes, self._tried = 0, False
        self._found: Locality | None = None
        self._early: Result | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._stack.close()

    @contextmanager
    def attempt(self) -> Iterator[Placed]:
        """What to solve on, in the context. It ends without an error where the store is to be reordered first: then
        the next attempt is on that."""
        self._prepare()
        watch = _Watch(self._given, self._progress, self._pays) if self._may_watch() else None
        if watch is None:
            known = 0 if self._early is None else self._early.lower
            yield Placed(self.store, self._progress, self._program_now(), known)
            return
        from ..stream.plan import program_bytes

        self._program, begin, before = program_bytes(), time.perf_counter(), _disk_bytes()
        try:
            yield Placed(self.store, watch)
        except StoppedEarly as stop:  # with it go the frames that hold the arena, but only after this
            if watch.found is None:
                raise
            self._found = watch.found
            self._early = stop.result if isinstance(stop.result, Result) else None
            self._seconds["look"], self._look_bytes = time.perf_counter() - begin, _disk_bytes()[0] - before[0]

    def _prepare(self) -> None:
        """Reorder the store if that is to be done now."""
        if self._tried:
            return
        if self._found is not None:
            self._begin_again(self._found, str(self._found))
        elif self._checkpoint is not None and self._checkpoint.order is not None:
            self._begin_again(None, "the run before did so")
        elif self._wants_always():
            self._begin_again(None, "as asked")

    def told(self, result: Any) -> Any:
        """The result with what reordering did; that of the store as it was given."""
        if isinstance(result, Result):
            result.details.setdefault("reordered", self._details)
            if not self._seconds.keys() <= result.seconds.keys():  # else it was told before
                given, extra = self._given, sum(self._seconds.values())
                result.store_digest, result.store_path, result.store_name = given.digest, given.path, given.name
                result.seconds = {**self._seconds, **result.seconds, "total": result.seconds["total"] + extra}
                result.bytes_read += self._look_bytes + (0 if self._details is None else self._details["bytes_read"])
        return result

    def stopped(self, stop: StoppedEarly) -> StoppedEarly:
        """The same, with what was proved before the store was reordered, if nothing was after."""
        if stop.result is None:
            apart = time.perf_counter() - self._begin - sum(self._seconds.values())
            result = self._early or nothing_yet(self._session, apart)
            stop = StoppedEarly(f"{stop}; {result.lower:,} <= D <= {result.upper:,} is proved", result)
        self.told(stop.result)
        return stop

    # -- whether ----------------------------------------------------------------------------------
    def _possible(self) -> bool:
        """Whether the store may be written in another order at all: one in memory has no blocks that are far away."""
        store = self._given
        return self._here and not store.indices.in_memory and store.n_arcs > 0 and store.record.ordering != ORDER

    def _begun(self) -> bool:
        """Whether the checkpoint has verbs on the store as it is, which another order would lose."""
        return self._checkpoint is not None and self._checkpoint.n_before > 0

    def _may_watch(self) -> bool:
        return self._run.reorder == AUTO and self._possible() and not self._tried and not self._begun()

    def _wants_always(self) -> bool:
        """Whether it is to be reordered whatever a BFS reads: where edges are streamed. Raises BudgetError where memory
        or disk cannot do."""
        if self._run.reorder != ALWAYS or not self._possible() or self._begun():
            return False
        from ..engine.cpu import plan_engine
        from .opening import needs_of

        run = self._run
        plan = plan_engine(self._given, needs_of(self._given, run), memory_bytes=run.memory_bytes,
                           arena_bytes=run.arena_bytes, threads=run.threads)
        if plan.in_ram:
            _LOG.info("not reordered: all edges are in memory")
            return False
        self._check_room()
        _LOG.info("reordering first, as asked")
        return True

    def _pays(self, locality: Locality) -> bool:
        """Whether reordering first is surely less, and there is time, memory and disk for it."""
        if self._run.reorder == NEVER:
            return False
        comparison = self._comparison(locality)
        left = None if self._deadline is None else self._deadline - time.monotonic()
        if not comparison.pays or (left is not None and comparison.reordered_seconds > left):
            return False
        try:
            self._check_room()
        except InputError as error:
            self._run = replace(self._run, reorder=NEVER)  # asked and told once
            _LOG.info("%s; not reordered: %s", locality, error)
            return False
        _LOG.info("%s", reordering_text(locality, comparison))
        return True

    def _comparison(self, locality: Locality) -> Comparison:
        run = self._run
        return compare(self._given, entry_of(run.method).definition().cost_model(self._given, run.options), locality)

    def _check_room(self) -> None:
        """Raises InputError (BudgetError with the numbers) where memory or disk cannot do for reordering, or for what
        follows."""
        from ..conversion.reorder import check_reordering
        from ..engine.cpu import plan_engine
        from .opening import needs_of

        run = self._run
        folder = checked_folder(self._scratch()) if self._checkpoint is None else self._checkpoint.path
        target = run.keep_reordered or folder / _STORE
        check_reordering(self._given, target, ORDER, self._options(None), self._program)
        if run.memory_bytes is not None:
            plan_engine(self._given, needs_of(self._given, run), memory_bytes=max(1, run.memory_bytes - _MORE_BYTES),
                        arena_bytes=run.arena_bytes, threads=run.threads, program=self._program)

    # -- where ------------------------------------------------------------------------------------
    def _scratch(self) -> Path | None:
        named = self._run.options.scratch
        return None if named is None else Path(named)

    def _place(self) -> Path | None:
        """Where the reordered store stays beyond the process; None for one among the temporary files."""
        if self._run.keep_reordered is not None:
            return self._run.keep_reordered
        return None if self._checkpoint is None else self._checkpoint.reordered / _STORE

    def _options(self, listener: Listener | None) -> ConvertOptions:
        """How the store is written."""
        from ..conversion.convert import ConvertOptions

        run, record, scratch, checkpoint = self._run, self._given.record, self._scratch(), self._checkpoint
        steps = None
        if checkpoint is not None:
            scratch = None
            steps = CheckpointOptions(checkpoint.reordered / "steps", checkpoint.every, resume=True, keep=True)
        return ConvertOptions(
            memory_bytes=run.memory_bytes, scratch=scratch, force=run.keep_reordered is None, codec=record.codec,
            chunk_ids=record.chunk_ids, threads=run.threads, progress=listener, checkpoint=steps)

    # -- doing it ---------------------------------------------------------------------------------
    def _begin_again(self, locality: Locality | None, why: str) -> None:
        """Put the store into the other order, and let the checkpoint begin on that. Under `auto`, it stays as it is if
        the disk is full before the end."""
        (self._progress or silent)(Event(PHASE, facts={"why": why}))
        self._tried = True
        gc.collect()
        if self._checkpoint is not None:
            self._checkpoint.begin_in(ORDER)
        try:
            self._reorder(locality, why)
        except BudgetError as error:
            if self._run.reorder != AUTO:
                raise
            _LOG.info("not reordered: %s", error)
            if self._checkpoint is not None:
                self._checkpoint.begin_in(None)

    def _reorder(self, locality: Locality | None, why: str) -> None:
        """Write the store and open it. Raises StoppedEarly on Ctrl-C and at the end of the time, BudgetError."""
        from ..conversion.reorder import reorder

        program = self._program_now()
        begin, before = time.perf_counter(), _disk_bytes()
        target = self._place() or self._stack.enter_context(temporary_store(checked_folder(self._scratch())))
        if self._checkpoint is not None:
            self._checkpoint.reordered.mkdir(exist_ok=True)
        try:
            report = reorder(self._given, target, ORDER, options=self._options(until(self._deadline, self._progress)),
                             arena_bytes=self._run.arena_bytes, program=program)
        except KeyboardInterrupt:
            raise StoppedEarly("stopped by the user while the store was reordered") from None
        except TimeOver:
            raise StoppedEarly("the time limit is over before the store was reordered") from None
        finally:
            self._seconds["reorder"] = time.perf_counter() - begin
        gc.collect()  # what has written the store refers to itself
        return_freed_memory()
        self.store = self._stack.enter_context(open_store(target, evict_page_cache=self._run.evict_page_cache))
        used = [now - then for now, then in zip(_disk_bytes(), before, strict=True)]
        kept = self._run.keep_reordered
        self._details = {
            "order": ORDER, "why": why,
            "locality": None if locality is None else locality.to_dict(), "seconds": self._seconds["reorder"],
            "bytes_read": used[0], "bytes_written": used[1], "look_bytes": self._look_bytes,
            "peak_rss_bytes": report.peak_rss_bytes, "digest": self.store.digest,
            "store": None if kept is None else str(kept)}

    def _program_now(self) -> int | None:
        """Bytes of the program for the plan of the run: kernels that have been loaded by now are not to be loaded
        again."""
        if self._program is None:
            return None
        from ..stream.plan import LOADED_BYTES, program_bytes

        return_freed_memory()
        return max(self._program, program_bytes() - LOADED_BYTES)


def _disk_bytes() -> tuple[int, int]:
    """Bytes that this process has read from files and written to them so far, from the page cache or not."""
    counts = dict(line.split(": ") for line in system_text("/proc/self/io").splitlines())
    return int(counts["rchar"]), int(counts["wchar"])


_PREFIX, _GRAPH = "emdiam-reordered-", "graph.zarr"


def checked_folder(scratch: Path | None) -> Path:
    """The folder for temporary files, `scratch` if it is named. Raises InputError if it is missing, not writable, or in
    memory though nobody named it."""
    folder = Path(scratch_folder(scratch))
    check_scratch(folder)
    if scratch is None and file_system(folder) in MEMORY_FILE_SYSTEMS:
        raise InputError("the folder for temporary files is in memory, where a store would be beside --memory",
                         path=folder, remedy="name one on disk with --scratch DIR or TMPDIR")
    return folder


@contextmanager
def temporary_store(folder: Path) -> Iterator[Path]:
    """The path of a store to be written; it is removed at the end. Raises InputError, BudgetError."""
    import shutil
    import tempfile

    _remove_left(folder)
    with disk_faults_are_said(folder, "the reordered store"):
        place = Path(tempfile.mkdtemp(PARTIAL_SUFFIX, _PREFIX, folder))
    handle = claim(place)
    try:
        yield place / _GRAPH
    finally:
        try:
            shutil.rmtree(place)
        finally:
            os.close(handle)


def _remove_left(folder: Path) -> None:
    """Remove what runs that were killed have left in the folder."""
    for place in folder.glob(f"{_PREFIX}*{PARTIAL_SUFFIX}"):
        try:
            remove_stale(place, _is_place)
        except (InputError, OSError):
            continue  # of a run at work, of another user, or something else of that name


def _is_place(folder: Path) -> bool:
    """Whether there is a store in it, under way or whole, and nothing else."""
    # An empty folder may be claimed any moment.
    return {path.name for path in folder.iterdir()} in ({_GRAPH}, {_GRAPH + PARTIAL_SUFFIX})
