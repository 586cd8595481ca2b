"""Runs of exact diameters, approximations and eccentricities in numbers of edges, with the methods of the registry.

A run opens checkpoint and engine (opening.py), which plans the memory. The method solves, and solves again on a
reordered store if that saves reads (reordering.py). Figures, certificate and the end of the checkpoint follow.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import BudgetError, MoreMemoryError, StoppedEarly, without_frames
from ..gpu.setting import DEVICE_FAULTS, Selection
from ..methods.result import Result, Traversals
from ..methods.run import Limits, MethodOptions, answering
from ..progress import TimeOver, until
from ..store.store import Store
from ..units import current_rss_bytes, peak_rss_bytes
from .registry import entry_of, method_options
from .task import Session, Task

if TYPE_CHECKING:
    from ..certificates.writing import HashRoom
    from ..journal.run import RunCheckpoint
    from ..stream.plan import Known, MemoryPlan
    from .reordering import Placed


def options(task: Task, own: dict[str, Any], limits: Limits) -> MethodOptions:
    """The options of the task's method. Raises InputError for an unknown method, or an option that it does not have."""
    entry_of(task.method, task.command)
    return replace(method_options(task.method, {**own, "limits": limits}), certified=task.certificate is not None)


def solve(session: Session) -> Result:
    """The result: a Result, Approximation or EccentricityResult, by the method.

    If a GPU has less room than planned, the run is planned once more with less. If the GPU of `auto` fails, the CPU
    runs everything again, and the result has the reason. Raises InputError (BudgetError), DeviceError, and StoppedEarly
    with `result` on Ctrl-C and at the time limit.
    """
    from ..engine.attempts import Attempts
    from ..stream.plan import program_bytes
    from .opening import recovered, selection  # imports engines, which a program that only converts does not need
    from .reordering import Placed, Placing

    task, store = session.task, session.store
    _ = task.writing_bytes  # imports the writers of tables before memory is measured
    selected = selection(task)
    here = selected.device is None and task.cluster is None
    with ExitStack() as stack:
        checkpoint = stack.enter_context(_checkpoint(store, task, selected))
        placing = stack.enter_context(Placing(session, here, checkpoint))
        try:
            try:
                result: Result | None = None
                while result is None:  # a second time if the store is reordered first
                    with placing.attempt() as placed:
                        attempts, program, begin = Attempts(), placed.program or program_bytes(), time.monotonic()
                        while result is None:  # again if the graph takes more memory than was planned
                            with attempts.another() as known:
                                result = _solve(session, placed, task, selected, checkpoint, known)
                            placed = replace(placed, program=program, seconds=time.monotonic() - begin)
            except DEVICE_FAULTS as error:
                fault, first = without_frames(error), Placed(store, session.progress)
                result = recovered(fault, task, selected, lambda task, selected: _solve(session, first, task, selected))
            _certify(session, placing.completed(result), placing.store)
        except StoppedEarly as stop:
            stop = placing.stopped(stop)
            raise stop if checkpoint is None else checkpoint.stopped(stop) from None
        if checkpoint is not None and not result.not_written:
            checkpoint.finish()
    return result


def nothing_yet(session: Session, seconds: float) -> Result:
    """The result of a run that ended before its method started."""
    from ..methods.eccentricity.result import of_result
    from ..methods.result import extended
    from ..stream.counters import Counters

    store, task, upper = session.store, session.task, max(0, session.store.n_vertices - 1)
    result = Result(
        method=task.method, n_vertices=store.n_vertices, n_edges=store.n_arcs // 2, connected=None, n_components=None,
        diameter=None, diameter_largest_component=None, diameter_max_component=None, lower=0, upper=upper, exact=False,
        witness=None, traversals=Traversals(),
        seconds={"total": seconds, "compile": 0.0, "load": 0.0, "solve": 0.0, "verify": 0.0},
        details={"stage_seconds": {}, "interval_largest_component": [0, upper], "counters": Counters().to_dict()})
    session.tell(result, task.memory_bytes, None)
    family = entry_of(task.method).family
    if family == "ecc":
        return of_result(result, unresolved=store.n_vertices)
    if family == "exact":
        return result
    return extended(result, known_diameter=getattr(task.options, "known_diameter", None))


@contextmanager
def _checkpoint(store: Store, run: Task, selected: Selection) -> Iterator[RunCheckpoint | None]:
    """A context with the checkpoint of the run, or None. It is opened before memory is planned, so that the plan counts
    its memory as the program's. Raises InputError."""
    if run.checkpoint is None:
        yield None
        return
    from ..journal.run import checkpointed, run_identity

    limits = run.options.limits
    asked = {"gap": limits.gap, "bounds_only": limits.bounds_only} if entry_of(run.method).family == "exact" else {}
    # Columns on a device have wider values, so that CPU and GPU cannot continue each other's checkpoints.
    where = {} if selected.device is None else {"device": "gpu"}
    identity = run_identity(store, run.method, run.options, {**asked, **where})
    with checkpointed(store, identity, run.checkpoint, run.options.scratch) as checkpoint:
        yield checkpoint


def _program(placed: Placed, run: Task) -> int | None:
    """Bytes of the program for the memory plan; None: measured when planning."""
    from ..stream.plan import program_bytes

    writing = run.writing_bytes
    if not writing:
        return placed.program
    return writing + (program_bytes() if placed.program is None else placed.program)


def _solve(
    session: Session, placed: Placed, run: Task, selected: Selection, checkpoint: RunCheckpoint | None = None,
    known: Known | None = None
) -> Result:
    """The result on the selected device alone. The engine is closed at the end. known : facts of the graph for the
    plan; None: from its record."""
    from ..jit import compile_seconds, kernel_seconds
    from .opening import open_for

    listener, compiled = until(session.deadline, placed.listener), compile_seconds()
    try:
        with open_for(placed.store, run, selected, listener, _program(placed, run), known=known) as opened:
            engine: Any = opened
            opening, loaded = compile_seconds() - compiled, kernel_seconds()
            _tell_unmet_limit(placed.store, run, engine, session.deadline)
            kind, options = entry_of(run.method).definition().run, session.in_time(run.options, placed.known)

            def spent() -> tuple[float, float, float]:
                return compile_seconds() - compiled, opening + kernel_seconds() - loaded, opening + placed.seconds

            def answer() -> Any:
                nonlocal engine
                here: Any = opened  # runs with vertex state on disk have no checkpoint
                engine = opened if checkpoint is None else checkpoint.attach(here, listener)
                method = kind(session.metric(engine), options)
                with answering(method):
                    method.solve()
                return method.answer

            try:
                # The method starts again if workers are lost.
                result = answer() if run.cluster is None else engine.repeated(answer)
            except StoppedEarly as stop:
                if isinstance(stop.result, Result):
                    _complete(session, stop.result, run, engine, spent(), selected)
                raise
            except MoreMemoryError as error:
                here = selected.device is None and run.cluster is None
                raise (_short_of(error, known, engine.plan, run) if here else error) from None
            _complete(session, result, run, engine, spent(), selected)
            if checkpoint is not None:
                result.details["checkpoint"] = checkpoint.details()
            return result
    except TimeOver:
        raise StoppedEarly(run.kind.unfinished) from None


def _short_of(error: MoreMemoryError, known: Known | None, plan: MemoryPlan, run: Task) -> BudgetError:
    """The error that starts another attempt; with a checkpoint, whose records depend on this plan, the error for the
    user."""
    from ..engine.attempts import learned
    from ..stream.plan import with_budget

    return learned(error, known, plan) if run.checkpoint is None else with_budget(error, plan, run.threads)


def _tell_unmet_limit(store: Store, run: Task, engine: Any, deadline: float | None) -> None:
    """Log at the start which bounds a time limit that is too short will give, if they are known: on the CPU of this
    process."""
    if deadline is None or run.cluster is not None or not engine.plan.phases or engine.plan.disk_bytes:
        return
    from .plan import unmet_limit

    unmet = unmet_limit(store, run, engine.plan, deadline - time.monotonic())
    if unmet is not None:
        logging.getLogger("emdiam").warning(unmet)


def _complete(session: Session, result: Result, run: Task, engine: Any, spent: tuple[float, float, float],
              selected: Selection) -> None:
    """Add what the method cannot know to `result`: memory, store, device, and the time before it started.

    spent : seconds of the run spent on compiling kernels; on compiling, or loading kernels after the graph was loaded;
    and on no part of the result: earlier attempts, and compiling while the graph was loaded."""
    (compiling, preparing, before), loading = spent, engine.load_seconds
    session.complete(result, engine, selected)
    result.seconds = {**result.seconds, "compile": compiling, "load": loading, "startup": loading + preparing,
                      "total": result.seconds["total"] + loading + before}
    if engine.plan.phases:
        from .plan import forecast_of

        on_gpu = engine.details().get("vram", {}).get("resident", False)
        expected = forecast_of(engine.store, run, engine.plan, on_gpu=on_gpu)
        if selected.device is None:
            result.expected_rss_bytes = expected.predicted_rss_bytes
        result.planned_bytes_read = expected.predicted_bytes_read
    result.details.update(engine.details())


def _room(result: Result, run: Task) -> HashRoom | None:
    """The memory that hashes of the certificate may take; None if vertex state was in memory."""
    from ..certificates.writing import HashRoom

    if "vertex_state" not in result.details:
        return None
    # Half of it, since the process may still have memory that the engine has freed.
    return HashRoom(max(0, (result.memory_limit_bytes or 0) - current_rss_bytes()) // 2, run.options.scratch)


def _certify(session: Session, result: Result, solved: Store) -> None:
    """Write the certificate, if the task has one. solved : the store that was solved. Raises StoppedEarly on Ctrl-C."""
    task = session.task
    if task.certificate is None:
        return
    try:
        session.certify(result, solved, graph=session.store, threads=task.threads, room=_room(result, task),
                        progress=session.progress)
    except KeyboardInterrupt:
        raise StoppedEarly("stopped by the user before the certificate was written;"
                           f" {result.lower:,} <= D <= {result.upper:,} is proved", result) from None
    finally:
        result.seconds["total"] += result.seconds.get("certificate", 0.0)
    result.peak_rss_bytes = peak_rss_bytes()
