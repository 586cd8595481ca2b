"""The distribution of distances in numbers of edges: plan memory, count distances, write a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.attempts import learned
from ..engine.needs import DeviceState, Needs, distance_bytes, traversal_phases
from ..errors import InputError, MoreMemoryError, StoppedEarly
from ..progress import Meter, TimeOver, timed
from ..store.store import Store
from ..stream.plan import Known, Phase, Pool
from ..traverse.hyperball import groups_of, hyperball_bytes
from ..traverse.multi import MOST_BITS, NARROW_BITS, WORD_BITS, batch_bytes
from ..traverse.tally import DistanceSums
from ..units import current_rss_bytes, format_count
from .centrality import all_centralities, write_centralities
from .counting import BallCount, SourceCount
from .result import (
    EXACT,
    HYPERBALL,
    DistanceOptions,
    Distances,
    counted_bytes,
    most_registers,
    options_of,
    proof_bytes,
)
from .sources import MOST_GROUPS, connected_pairs

if TYPE_CHECKING:
    from ..gpu.setting import Selection
    from ..methods.run import Limits
    from ..runs.task import Session, Task
    from .certified import MeanProof


def options(task: Task, own: dict[str, Any], limits: Limits) -> DistanceOptions:
    """See options_of."""
    return options_of(task, own)


def solve(session: Session) -> Any:
    """The result. Raises InputError (BudgetError), DeviceError, and StoppedEarly on Ctrl-C and when the time is over,
    with `result` if a source has been counted by then."""
    if session.task.options.of_table:
        from .table import solve as solve_table

        return solve_table(session, weighted=False)
    result = session.attempted(lambda task, selected, known: _attempt(session, task, selected, known))
    result.seconds["total"] = session.elapsed
    return result


def needs_of(store: Store, asked: DistanceOptions, log2_registers: int = 0) -> Needs:
    """The memory that counting needs: a batch of sources, their list, counts, and sums at vertices; or counters of
    2^log2_registers registers in a run of HyperBall."""
    n = store.n_vertices

    def phases(own: int) -> tuple[Phase, ...]:
        if not asked.proved:
            return traversal_phases(store, lambda column: own, keeps_distances=False)
        return traversal_phases(store, lambda column: own + distance_bytes(store, column) + proof_bytes(store, column))

    if asked.method == HYPERBALL:
        rows = 1 + groups_of(log2_registers)
        own = hyperball_bytes(n, log2_registers) + counted_bytes(n, rows, rows) + _bytes(asked, n, 32 * n)
        return Needs("distances", phases(own)).fixed()
    sums = _bytes(asked, n, DistanceSums.bytes_for(n) + 9 * n)
    proof = proof_bytes(store, 4) if asked.proved else 0
    own = sums + (16 * n if asked.method == EXACT else 0) + counted_bytes(n, MOST_GROUPS)
    pool = Pool(batch_bytes(n, MOST_BITS), batch_bytes(n, NARROW_BITS), batch_bytes(n, WORD_BITS))
    return Needs("distances", phases(own), pool, tables_bytes=own + proof,
                 device=DeviceState(1 + asked.proved, batches=True))


def _bytes(asked: DistanceOptions, n_vertices: int, sums: int) -> int:
    """Bytes of centralities: `sums` bytes for sums, and both arrays if they are kept."""
    return (sums if asked.centralities else 0) + (16 * n_vertices if asked.keep else 0)


def _registers(session: Session, task: Task, asked: DistanceOptions) -> tuple[Task, int]:
    """The task of HyperBall, with counters in memory, and log2 of the registers of a vertex in one of its runs: as many
    as there is room for. Raises InputError for a run on workers or with state on disk."""
    if task.cluster is not None or task.vertex_state == "disk":
        raise InputError("HyperBall has its counters in the memory of this process",
                         remedy="leave --workers, --scheduler and --vertex-state disk out, or use --sample")
    task = replace(task, vertex_state="ram")
    return task, most_registers(asked.log2_registers,
                                lambda bits: session.plan(task, needs_of(session.store, asked, bits)))


def _attempt(session: Session, task: Task, selected: Selection, known: Known | None) -> Distances:
    """The result, with a plan by `known`; None: from the store's record."""
    asked: DistanceOptions = task.options
    # Sums of vertices need whole batches, so the time is then checked only between batches.
    listener = session.progress if asked.centralities else session.listener
    task, bits = _registers(session, task, asked) if asked.method == HYPERBALL else (task, 0)
    with session.engine(task, selected, needs_of(session.store, asked, bits), known, listener) as opened:
        engine: Any = opened
        counting = _Counting(engine, asked, session.deadline, bits)
        try:
            result = counting.solved() if task.cluster is None else engine.repeated(counting.solved)
        except MoreMemoryError as error:
            if selected.device is not None or task.cluster is not None:
                raise
            raise learned(error, known, engine.plan) from None
        session.complete(result, engine, selected)
        result.details.update(engine.details())
        result.seconds = counting.seconds
        if asked.centralities and not counting.interrupted:
            count, file = counting.count, asked.out
            assert count is not None, "there is a count to write"
            if file is not None:
                session.write(result, "out", file, lambda: write_centralities(
                    engine, file, count.vertex_sums(), Meter(session.progress)))
            if asked.keep:
                result.closeness, result.harmonic = all_centralities(engine, count.vertex_sums())
        proof = _proved(session, engine, asked, counting) if asked.proved and result.complete else None
        on_disk = getattr(engine.plan, "disk_bytes", 0)
        result.seconds = {**counting.seconds, "total": session.elapsed}
    if proof is not None:
        _certify(session, result, proof, on_disk > 0)
    elif asked.proved and result.complete:
        raise StoppedEarly("the time limit is over before an interval of the mean was proved", result)
    if not result.complete:
        done = format_count(result.samples, "source") if result.runs is None else format_count(result.runs, "run")
        raise StoppedEarly(f"{counting.why}; the answer is that of {done}", result)
    return result


def _proved(session: Session, engine: Any, asked: DistanceOptions, counting: _Counting) -> MeanProof | None:
    """A proof of the mean; None if the time is over."""
    from .certified import prove_mean

    def solved() -> MeanProof:
        return prove_mean(engine, asked.certificate_sources, asked.seed)

    try:
        with timed(counting.seconds, "proof"):
            return solved() if session.task.cluster is None else engine.repeated(solved)
    except (TimeOver, KeyboardInterrupt):
        return None


def _certify(session: Session, result: Distances, proof: MeanProof, on_disk: bool) -> None:
    """Write the certificate."""
    from ..certificates.writing import HashRoom, write_mean

    task, result.proved_mean = session.task, proof.proved
    file, room = task.certificate, None
    assert file is not None, "it is proved for a file"
    if on_disk:  # half, since memory freed by the engine may still belong to the process
        room = HashRoom(max(0, session.memory_bytes - current_rss_bytes()) // 2, task.options.scratch)
    session.write(result, "certificate", file, lambda: write_mean(
        file, proof.claims, proof.sources, session.store, room=room, threads=task.threads, progress=session.progress),
        "certificate")


class _Counting:
    """The stages of one run. seconds : wall seconds of each. why : a sentence for a run that ended early. interrupted :
    by Ctrl-C, so that sums of vertices are incomplete."""

    def __init__(self, engine: Any, asked: DistanceOptions, deadline: float | None, log2_registers: int) -> None:
        self.engine, self._asked, self._deadline, self._bits = engine, asked, deadline, log2_registers
        self.seconds: dict[str, float] = {"load": engine.load_seconds}
        self.why, self.interrupted = "the time limit is over", False
        self.count: SourceCount | BallCount | None = None

    def solved(self) -> Distances:
        """The result of counting until the time is over. Raises StoppedEarly if nothing was counted."""
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
        if self.count is None or not self.count.started:
            raise StoppedEarly(f"{self.why} before anything was counted")
        result, used = self.count.result(), self.engine.reporter.stats() - before
        result.levels, result.edges_scanned = used.levels, used.edges_scanned
        return result
