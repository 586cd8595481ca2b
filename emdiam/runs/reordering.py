"""Decides whether a run reorders its store first, writes the reordered store, and removes it after the run.

Under `auto` the run starts on the store as it is and watches its own BFS (locality.py). If ids are not local and
reordering is clearly cheaper, the run drops its work, writes the store in the order `cluster` to the folder for
temporary files (or to --keep-reordered), and the method starts again on that store. Answers have the user's ids in any
order; certificates have the digest of the original store. If all edges are in memory, a BFS reads each block once at
most, so reordering never pays.

A checkpoint records the order, and its folder has the reordered store: a resumed run finds both.

A temporary reordered store has a folder among the temporary files, with the claim of this process (store/writer.py).
The folder is removed at the end of the run, also after an error; after `kill -9`, by the next run with the same
folder for temporary files.
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
# Only the first BFS are watched: later ones have less to gain.
_WATCHED = 3
# Memory that the process may have more after it has written a store: libraries, and memory that malloc caches.
_MORE_BYTES = 48 << 20
_LOG = logging.getLogger("emdiam")


@dataclass(frozen=True)
class Placed:
    """The store to solve in one attempt. listener : for the engine's events. program : bytes of the program for the
    memory plan; None: measured when planning. known : a lower bound from before the reordering. seconds : time of
    earlier attempts that ran out of memory."""

    store: Store
    listener: Listener | None
    program: int | None = None
    known: int = 0
    seconds: float = 0.0


class ReorderFirst(StateLost):
    """Raised within a traversal to start the run again on a reordered store. Methods end with their result so far."""


class _Watch(BfsReads):
    """Raises ReorderFirst at a BFS that shows that ids are not local, if `wanted` agrees; `found` is then its
    locality."""

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
    """The store of one run, in the original order or reordered; a context manager that removes a temporary store.

    store : the store that the method runs on. here : whether traversals run on the CPU of this process. Raises
    InputError for `always` on another engine, and for an impossible place of the reordered store.
    """

    def __init__(self, session: Session, here: bool, checkpoint: RunCheckpoint | None) -> None:
        run = session.task
        if run.reorder not in REORDER:
            raise InputError("a store is reordered first auto, never or always", text=run.reorder)
        if run.reorder == ALWAYS and not here:
            raise InputError("a store is reordered first for traversals on the CPU of this process alone",
                             text="--reorder always", remedy="leave it out, or reorder by itself: emdiam reorder")
        self.store = self._input = session.store
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
        """A context with the store to solve. If the run decides to reorder, the context ends without an error, and the
        next attempt has the reordered store."""
        self._prepare()
        may_watch = self._run.reorder == AUTO and self._possible() and not self._tried and not self._has_progress()
        watch = _Watch(self._input, self._progress, self._pays) if may_watch else None
        if watch is None:
            known = 0 if self._early is None else self._early.lower
            yield Placed(self.store, self._progress, self._program_now(), known)
            return
        from ..stream.plan import program_bytes

        self._program, begin, before = program_bytes(), time.perf_counter(), _disk_bytes()
        try:
            yield Placed(self.store, watch)
        except StoppedEarly as stop:  # its frames hold the arena until this handler ends
            if watch.found is None:
                raise
            self._found = watch.found
            self._early = stop.result if isinstance(stop.result, Result) else None
            self._seconds["look"], self._look_bytes = time.perf_counter() - begin, _disk_bytes()[0] - before[0]

    def _prepare(self) -> None:
        """Reorder the store if this attempt needs it."""
        if self._tried:
            return
        if self._found is not None:
            self._begin_again(self._found, str(self._found))
        elif self._checkpoint is not None and self._checkpoint.order is not None:
            self._begin_again(None, "the run before did so")
        elif self._wants_always():
            self._begin_again(None, "as asked")

    def completed(self, result: Any) -> Any:
        """The result with the figures of reordering, and the names of the original store."""
        if isinstance(result, Result):
            result.details.setdefault("reordered", self._details)
            if not self._seconds.keys() <= result.seconds.keys():  # else they were added before
                before, extra = self._input, sum(self._seconds.values())
                result.store_digest, result.store_path, result.store_name = before.digest, before.path, before.name
                result.seconds = {**self._seconds, **result.seconds, "total": result.seconds["total"] + extra}
                result.bytes_read += self._look_bytes + (0 if self._details is None else self._details["bytes_read"])
        return result

    def stopped(self, stop: StoppedEarly) -> StoppedEarly:
        """The error with a result: if it has none, with the bounds proved before the store was reordered."""
        if stop.result is None:
            apart = time.perf_counter() - self._begin - sum(self._seconds.values())
            result = self._early or nothing_yet(self._session, apart)
            stop = StoppedEarly(f"{stop}; {result.lower:,} <= D <= {result.upper:,} is proved", result)
        self.completed(stop.result)
        return stop

    # -- whether ----------------------------------------------------------------------------------
    def _possible(self) -> bool:
        """Whether reordering may help: it cannot for a store in memory, without arcs, or in this order already."""
        store = self._input
        return self._here and not store.indices.in_memory and store.n_arcs > 0 and store.record.ordering != ORDER

    def _has_progress(self) -> bool:
        """Whether the checkpoint has results of traversals on the original order, which reordering would lose."""
        return self._checkpoint is not None and self._checkpoint.n_before > 0

    def _wants_always(self) -> bool:
        """Whether `always` applies: it does if edges are streamed. Raises BudgetError if memory or disk is too
        small."""
        if self._run.reorder != ALWAYS or not self._possible() or self._has_progress():
            return False
        from ..engine.cpu import plan_engine
        from .opening import needs_of

        run = self._run
        plan = plan_engine(self._input, needs_of(self._input, run), memory_bytes=run.memory_bytes,
                           arena_bytes=run.arena_bytes, threads=run.threads)
        if plan.in_ram:
            _LOG.info("not reordered: all edges are in memory")
            return False
        self._check_room()
        _LOG.info("reordering first, as asked")
        return True

    def _pays(self, locality: Locality) -> bool:
        """Whether reordering first is clearly cheaper, and time, memory and disk suffice for it."""
        if self._run.reorder == NEVER:
            return False
        comparison = self._comparison(locality)
        left = None if self._deadline is None else self._deadline - time.monotonic()
        if not comparison.pays or (left is not None and comparison.reordered_seconds > left):
            return False
        try:
            self._check_room()
        except InputError as error:
            self._run = replace(self._run, reorder=NEVER)  # checked and logged once
            _LOG.info("%s; not reordered: %s", locality, error)
            return False
        _LOG.info("%s", reordering_text(locality, comparison))
        return True

    def _comparison(self, locality: Locality) -> Comparison:
        run = self._run
        return compare(self._input, entry_of(run.method).definition().cost_model(self._input, run.options), locality)

    def _check_room(self) -> None:
        """Raise InputError (BudgetError with the numbers) if memory or disk is too small for reordering, or for the run
        after it."""
        from ..conversion.reorder import check_reordering
        from ..engine.cpu import plan_engine
        from .opening import needs_of

        run = self._run
        folder = checked_folder(self._scratch()) if self._checkpoint is None else self._checkpoint.path
        target = run.keep_reordered or folder / _STORE
        check_reordering(self._input, target, ORDER, self._options(None), self._program)
        if run.memory_bytes is not None:
            plan_engine(self._input, needs_of(self._input, run), memory_bytes=max(1, run.memory_bytes - _MORE_BYTES),
                        arena_bytes=run.arena_bytes, threads=run.threads, program=self._program)

    # -- where ------------------------------------------------------------------------------------
    def _scratch(self) -> Path | None:
        named = self._run.options.scratch
        return None if named is None else Path(named)

    def _place(self) -> Path | None:
        """The path of a reordered store that outlasts the process; None for a temporary one."""
        if self._run.keep_reordered is not None:
            return self._run.keep_reordered
        return None if self._checkpoint is None else self._checkpoint.reordered / _STORE

    def _options(self, listener: Listener | None) -> ConvertOptions:
        """The options of writing the store."""
        from ..conversion.convert import ConvertOptions

        run, record, scratch, checkpoint = self._run, self._input.record, self._scratch(), self._checkpoint
        steps = None
        if checkpoint is not None:
            scratch = None
            steps = CheckpointOptions(checkpoint.reordered / "steps", checkpoint.every, resume=True, keep=True)
        return ConvertOptions(
            memory_bytes=run.memory_bytes, scratch=scratch, force=run.keep_reordered is None, codec=record.codec,
            chunk_ids=record.chunk_ids, threads=run.threads, progress=listener, checkpoint=steps)

    # -- doing it ---------------------------------------------------------------------------------
    def _begin_again(self, locality: Locality | None, why: str) -> None:
        """Reorder the store, and start the checkpoint on the new order. If the disk fills up, `auto` continues with the
        original order."""
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
        """Write the store and open it. Raises StoppedEarly on Ctrl-C and at the time limit, BudgetError."""
        from ..conversion.reorder import reorder

        program = self._program_now()
        begin, before = time.perf_counter(), _disk_bytes()
        target = self._place() or self._stack.enter_context(temporary_store(checked_folder(self._scratch())))
        if self._checkpoint is not None:
            self._checkpoint.reordered.mkdir(exist_ok=True)
        try:
            report = reorder(self._input, target, ORDER, options=self._options(until(self._deadline, self._progress)),
                             arena_bytes=self._run.arena_bytes, program=program)
        except KeyboardInterrupt:
            raise StoppedEarly("stopped by the user while the store was reordered") from None
        except TimeOver:
            raise StoppedEarly("the time limit is over before the store was reordered") from None
        finally:
            self._seconds["reorder"] = time.perf_counter() - begin
        gc.collect()  # the writer's objects form reference cycles
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
        """Bytes of the program for the plan of the run, without kernels that are loaded by now."""
        if self._program is None:
            return None
        from ..stream.plan import LOADED_BYTES, program_bytes

        return_freed_memory()
        return max(self._program, program_bytes() - LOADED_BYTES)


def _disk_bytes() -> tuple[int, int]:
    """Bytes that this process has read from files and written to files so far, with the page cache's."""
    counts = dict(line.split(": ") for line in system_text("/proc/self/io").splitlines())
    return int(counts["rchar"]), int(counts["wchar"])


_PREFIX, _GRAPH = "emdiam-reordered-", "graph.zarr"


def checked_folder(scratch: Path | None) -> Path:
    """The folder for temporary files: `scratch`, or the default. Raises InputError if it is missing or not writable, or
    if the default is in memory."""
    folder = Path(scratch_folder(scratch))
    check_scratch(folder)
    if scratch is None and file_system(folder) in MEMORY_FILE_SYSTEMS:
        raise InputError("the folder for temporary files is in memory, where a store would be beside --memory",
                         path=folder, remedy="name one on disk with --scratch DIR or TMPDIR")
    return folder


@contextmanager
def temporary_store(folder: Path) -> Iterator[Path]:
    """A context with the path of a temporary store, removed at its end. Raises InputError, BudgetError."""
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
    """Remove temporary stores of killed runs from the folder."""
    for place in folder.glob(f"{_PREFIX}*{PARTIAL_SUFFIX}"):
        try:
            remove_stale(place, _is_place)
        except (InputError, OSError):
            continue  # it belongs to a running process or another user, or is no store of ours


def _is_place(folder: Path) -> bool:
    """Whether the folder has exactly one store, complete or unfinished."""
    # A process may be about to claim an empty folder.
    return {path.name for path in folder.iterdir()} in ({_GRAPH}, {_GRAPH + PARTIAL_SUFFIX})
