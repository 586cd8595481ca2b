"""One run from its options to its result: memory is planned, the engine opened, distances counted, files written."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._version import __version__
from ..durable import check_file
from ..engine.attempts import attempted, learned
from ..engine.needs import DeviceState, Needs, traversal_phases
from ..errors import BudgetError, InputError, MoreMemoryError, NotWritten, StoppedEarly, without_frames
from ..gpu.setting import DEVICE_FAULTS, Selection
from ..methods.definition import Limits, MethodOptions
from ..progress import Listener, Meter, TimeOver, timed, until
from ..runs.opening import open_for, plan_here, selection
from ..runs.options import DISK, RAM, SHARED
from ..runs.run import Run, say_weights_ignored, shared_fields, store_of
from ..store.store import Store
from ..stream.plan import Known, Pool, program_bytes
from ..traverse.hyperball import groups_of, hyperball_bytes
from ..traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ..traverse.tally import DistanceSums
from ..units import format_count, peak_rss_bytes
from ..vertex_tables import writing_bytes
from .centrality import write_centralities
from .counting import SourceCount
from .hyperball import BallCount
from .options import LEAST_REGISTERS, DistanceOptions, options_of
from .parts import connected_pairs
from .result import EXACT, HYPERBALL, Distances, counted_bytes
from .sources import MOST_GROUPS


def distances(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> Distances:
    """How the distances of a store (opened, or a path) are distributed. options : by the names of the command line;
    None counts as not given.

    Raises InputError (StoreError, BudgetError; NotWritten with `result` where the file of centralities cannot be
    written in the end), DeviceError, and StoppedEarly on Ctrl-C and at the end of the time, with `result` where a
    source has been counted by then."""
    asked, run = options_of(options), _run_of(options)
    if asked.out is not None:
        check_file(asked.out)
    seconds = run.options.limits.seconds
    deadline = None if seconds is None else time.monotonic() + seconds
    with ExitStack() as stack:
        opened = stack.enter_context(store_of(store, run))
        say_weights_ignored(opened)
        if not opened.n_vertices:
            raise InputError("the graph has no vertices, so there are no distances", path=opened.path)
        selected = selection(run)
        try:
            return _solve(opened, run, asked, selected, deadline, progress)
        except DEVICE_FAULTS as error:
            if not selected.or_cpu:
                raise
            fault = without_frames(error)
        return _solve(opened, run, asked, selected.without_gpu(fault), deadline, progress)


def _run_of(options: Mapping[str, Any]) -> Run:
    """What memory, threads and device a run has. Raises InputError."""
    fields = shared_fields({name: value for name, value in options.items() if name in SHARED}, "distances")
    limits = Limits(seconds=fields.pop("time_limit", None))
    return Run("distances", MethodOptions(limits=limits, scratch=options.get("scratch")), **fields)


def needs_of(store: Store, asked: DistanceOptions, log2_registers: int = 0) -> Needs:
    """What counting needs of memory: a batch of sources, their list, counts, and sums at vertices; or counters of so
    many registers in a run of HyperBall."""
    n = store.n_vertices
    if asked.method == HYPERBALL:
        rows = 1 + groups_of(log2_registers)
        held = hyperball_bytes(n, log2_registers) + counted_bytes(n, rows, rows) + (0 if asked.out is None else 32 * n)
        return Needs("distances", traversal_phases(store, lambda column: held, keeps_distances=False)).fixed()
    sums = 0 if asked.out is None else DistanceSums.bytes_for(n) + 9 * n
    held = sums + (16 * n if asked.method == EXACT else 0) + counted_bytes(n, MOST_GROUPS)
    return Needs("distances", traversal_phases(store, lambda column: held, keeps_distances=False),
                 Pool(batch_bytes(n, MOST_BITS), batch_bytes(n, NARROW_BITS), batch_bytes(n, WORD_BITS)),
                 tables_bytes=held, device=DeviceState(1, batches=True))


def _registers(store: Store, run: Run, asked: DistanceOptions, held: int) -> tuple[Run, int]:
    """The run of HyperBall, with counters in memory, and the logarithm of how many registers a vertex has in one of its
    runs: as many as there is room for beside `held` bytes. Raises BudgetError, and InputError for a run elsewhere."""
    if run.cluster is not None or run.vertex_state == DISK:
        raise InputError("HyperBall has its counters in the memory of this process",
                         remedy="leave --workers, --scheduler and --vertex-state disk out, or use --sample")
    for bits in range(asked.log2_registers, LEAST_REGISTERS, -1):
        with suppress(BudgetError):
            plan_here(store, needs_of(store, asked, bits), RAM, memory_bytes=run.memory_bytes,
                      arena_bytes=run.arena_bytes, threads=run.threads, program=program_bytes() + held)
            return replace(run, vertex_state=RAM), bits
    return replace(run, vertex_state=RAM), LEAST_REGISTERS


def _solve(store: Store, run: Run, asked: DistanceOptions, selected: Selection, deadline: float | None,
           progress: Listener | None) -> Distances:
    """The result on the selected device."""
    begin = time.perf_counter()
    result = attempted(lambda known: _attempt(store, run, asked, selected, deadline, progress, known))
    result.seconds["total"] = time.perf_counter() - begin
    return result


def _attempt(store: Store, run: Run, asked: DistanceOptions, selected: Selection, deadline: float | None,
             progress: Listener | None, known: Known | None) -> Distances:
    """The result with a plan by what is known of the graph; None: what its record says."""
    begin, held = time.perf_counter(), 0 if asked.out is None else writing_bytes()
    # Sums of vertices cannot do without the rest of a batch: the time is looked at between batches then.
    listener = until(deadline, progress) if asked.out is None else progress
    try:
        run, bits = _registers(store, run, asked, held) if asked.method == HYPERBALL else (run, 0)
        with open_for(store, run, selected, listener, program_bytes() + held, needs_of(store, asked, bits),
                      known) as opened:
            engine: Any = opened
            counting = _Counting(engine, asked, deadline, bits)
            try:
                result = counting.solved() if run.cluster is None else engine.repeated(counting.solved)
            except MoreMemoryError as error:
                if selected.device is not None or run.cluster is not None:
                    raise
                raise learned(error, known, engine.plan) from None
            _complete(result, engine, selected, counting.seconds)
            if asked.out is not None and not counting.interrupted:
                _write(counting, result, asked.out, progress)
            result.seconds = {"total": time.perf_counter() - begin, **counting.seconds}
    except TimeOver:
        raise StoppedEarly("the time limit is over before anything was counted") from None
    if not result.complete:
        done = format_count(result.samples, "source") if result.runs is None else format_count(result.runs, "run")
        raise StoppedEarly(f"{counting.why}; the answer is that of {done}", result)
    if result.not_written:
        raise NotWritten("; ".join(result.not_written), result)
    return result


class _Counting:
    """The stages of one run. seconds : wall seconds of each. why : a sentence, of a run that ended early. interrupted :
    by Ctrl-C, so that sums of vertices are not whole."""

    def __init__(self, engine: Any, asked: DistanceOptions, deadline: float | None, log2_registers: int) -> None:
        self.engine, self._asked, self._deadline, self._bits = engine, asked, deadline, log2_registers
        self.seconds: dict[str, float] = {"load": engine.load_seconds}
        self.why, self.interrupted = "the time limit is over", False
        self.count: SourceCount | BallCount | None = None

    def solved(self) -> Distances:
        """What is counted in the time. Raises StoppedEarly where that is nothing."""
        before = self.engine.reporter.stats()
        try:
            with timed(self.seconds, "components"):
                connected = connected_pairs(self.engine)
            self.count = (BallCount(self.engine, self._asked, connected, self._bits) if self._asked.method == HYPERBALL
                          else SourceCount(self.engine, self._asked, connected, self._deadline))
            with timed(self.seconds, "count"):
                self.count.run()
        except KeyboardInterrupt:
            self.why, self.interrupted = "stopped by the user", True
        if self.count is None or not self.count.begun:
            raise StoppedEarly(f"{self.why} before anything was counted")
        result, used = self.count.result(), self.engine.reporter.stats() - before
        result.levels, result.edges_scanned = used.levels, used.edges_scanned
        return result


def _complete(result: Distances, engine: Any, selected: Selection, seconds: dict[str, float]) -> None:
    """`result` with what was planned and measured, and the names of the store."""
    store, plan = engine.store, engine.plan
    result.bytes_read = engine.reporter.stats().bytes_read
    result.device = getattr(engine, "device_name", selected.name)  # workers look for theirs
    result.version, result.seconds = __version__, dict(seconds)
    result.memory_limit_bytes, result.planned_rss_bytes = plan.memory_limit_bytes, plan.planned_rss_bytes
    result.peak_rss_bytes = peak_rss_bytes()
    result.store_digest, result.store_path, result.store_name = store.digest, store.path, store.name
    result.details.update(engine.details())


def _write(counting: _Counting, result: Distances, path: Path, progress: Listener | None) -> None:
    """Write the centralities of all vertices."""
    assert counting.count is not None, "what is written was counted"
    try:
        with timed(counting.seconds, "write"):
            write_centralities(counting.engine, path, counting.count.vertex_sums(), Meter(progress))
        result.out = str(path)
    except InputError as error:
        result.not_written.append(str(error))
