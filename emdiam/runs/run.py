"""One run of a method on a store, step by step: `make_run`, then `execute`, which opens the store and the checkpoint,
opens the engine and plans its memory (opening.py), solves, and finishes: figures, certificate, end of the checkpoint.
`run_with` makes a run of options by the names of the command line, which the Python interface shares.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checkpoint.options import CheckpointOptions, chosen_checkpoint
from ..dask.setting import OnCluster, chosen_cluster
from ..durable import check_file
from ..errors import (
    BudgetError,
    DeviceError,
    DeviceFullError,
    DeviceRoomError,
    InputError,
    MoreMemoryError,
    NotWritten,
    StoppedEarly,
    without_frames,
)
from ..gpu.setting import CPU, DEVICE_FAULTS, Selection
from ..methods.definition import Limits, MethodOptions
from ..methods.exact.result import Result, Traversals
from ..progress import Listener, TimeOver, until
from ..store.place import check_target
from ..store.store import Store, check_directed, open_store
from ..units import available_cores, current_rss_bytes, format_size, peak_rss_bytes
from ..vertex_tables import writing_bytes
from .options import AUTO, CHECKPOINT, SHARED, parsed
from .registry import entry_of, method_options

if TYPE_CHECKING:
    from ..journal.run import Checkpoint
    from ..methods.exact.certificate import Room
    from ..stream.plan import Known, MemoryPlan
    from .reordering import Placed

_LESS_ROOM = 7 / 8  # of the memory of a device, where not all of what is free can be had


@dataclass(frozen=True)
class Run:
    """How to run a method on a store; made by `make_run`, and passed down as it is.

    method : its name in registry.METHODS. options : its own, with path_file and the limits: gap, bounds_only,
    whether the graph must be connected, and the wall seconds of the search, compiling and loading included; then
    StoppedEarly, with the bounds so far.
    memory_bytes : peak RSS of the process; None: what machine and cgroup leave. arena_bytes : cache of decoded edges;
    None: what memory leaves. evict_page_cache : drop what was read from the page cache (for honest benchmarks of disk
    speed).
    device : what traversals run on, "cpu", "gpu", "gpu:N", "gpu:N,M,..." or "auto", or what select_device made of it.
    bfs, mapping : names of a BFS variant (gpu/variants/registry.py) and a load balancing (gpu/mappings.py), on a
    GPU only; None: as they are chosen from level to level. vram_bytes : memory of the GPU; None: all of it.
    checkpoint : keep one of the run; None: nothing is kept. On a CPU only.
    cluster : workers of dask.distributed that the run is shared out to; None: this process. memory_bytes and
    arena_bytes are of this process then. On CPUs only. certificate : file for the proof (pivots; not with gap or
    bounds_only).
    reorder : whether the store is put into another order first where that saves reads (reordering.py): "auto",
    "never" or "always". keep_reordered : the store to write then; None: one that is removed at the end.
    vertex_state : where what belongs to vertices is: "ram", "disk" (external/), or "auto", on disk only where memory
    has no room for it. On a CPU of this process, without a checkpoint.
    direction : which way a dense level of a BFS goes, a rule of traverse/direction.py; None: the usual one. On a CPU of
    this process, with vertex state in RAM.
    """

    method: str
    options: MethodOptions
    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 2
    evict_page_cache: bool = False
    device: str | Selection = CPU
    bfs: str | None = None
    mapping: str | None = None
    vram_bytes: int | None = None
    checkpoint: CheckpointOptions | None = None
    cluster: OnCluster | None = None
    certificate: Path | None = None
    reorder: str = AUTO
    keep_reordered: Path | None = None
    vertex_state: str = AUTO
    direction: str | None = None


def make_run(
    method: str, switches: Mapping[str, Any] | None = None, *, family: str | None = None, gap: int | None = None,
    bounds_only: bool = False, time_limit: float | None = None, require_connected: bool = False, **fields: Any,
) -> Run:
    """The run of a method with the options `switches`, by name, and these fields of Run.

    family : "exact", "approx" or "ecc", if it must be one of them. Raises InputError for an unknown method, or an
    option that it has not."""
    entry_of(method, family)
    limits = Limits(gap, time_limit, bounds_only, require_connected)
    return Run(method, method_options(method, {**(switches or {}), "limits": limits}), **fields)


def run_with(method: str, options: Mapping[str, Any], family: str | None = None) -> Run:
    """The run of a method with the options, by the names of the command line; None counts as not given. Those that are
    not of every run are the method's own. family : "exact", "approx" or "ecc", if it must be one of
    them.

    checkpoint : a folder, or CheckpointOptions. Sizes and times are numbers or texts. Raises InputError for a text
    that is no size, an unknown method, and an option that it has not."""
    command = entry_of(method, family).family
    fields = shared_fields({name: value for name, value in options.items() if name in SHARED}, command)
    return make_run(method, parsed({name: value for name, value in options.items() if name not in SHARED}, command),
                    family=family, **fields)


def shared_fields(given: Mapping[str, Any], command: str) -> dict[str, Any]:
    """What make_run takes beside the options of a method, of the options that all methods have. Raises InputError."""
    fields = parsed({name: value for name, value in given.items() if name not in CHECKPOINT}, command)
    cluster = chosen_cluster(*(fields.pop(name, None) for name in (
        "scheduler", "workers", "worker_memory_bytes", "worker_threads", "dashboard")))
    return {"threads": available_cores(), **fields, "cluster": cluster, "checkpoint": chosen_checkpoint(given)}


def execute(store: Store | str | Path, run: Run, progress: Listener | None = None) -> Result:
    """The result of the run on the store (opened, or a path), with every figure of it; an Approximation, if the method
    is one.

    Where a GPU has no room for what was planned, it is planned anew, once, with less; where one that was only welcome
    fails, the CPU does the run again, and the result says why. Raises InputError
    (StoreError, BudgetError; NotWritten with `result` where the path or the certificate cannot be written in the end),
    DeviceError, and StoppedEarly with `result` on Ctrl-C and at the end of the time.
    """
    from ..engine.attempts import Attempts
    from ..stream.plan import program_bytes
    from .opening import selection  # which brings numba: a program that only converts never pays for it
    from .reordering import Placed, Placing

    seconds = run.options.limits.seconds
    deadline = None if seconds is None else time.monotonic() + seconds
    _check_files(run)
    _writing_bytes(run)  # imports what writes, before memory is measured
    with ExitStack() as stack:
        opened = stack.enter_context(store_of(store, run))
        say_weights_ignored(opened)
        selected = selection(run)
        checkpoint = stack.enter_context(_checkpoint(opened, run, selected))
        here = selected.device is None and run.cluster is None
        placing = stack.enter_context(Placing(opened, run, here, checkpoint, progress, deadline))
        try:
            try:
                result: Result | None = None
                while result is None:  # once more where the store is reordered first
                    with placing.attempt() as placed:
                        attempts, program, begin = Attempts(), placed.program or program_bytes(), time.monotonic()
                        while result is None:  # once more where the graph takes more memory than was planned
                            with attempts.another() as known:
                                result = _solve(placed, run, selected, checkpoint, deadline, known)
                            placed = replace(placed, program=program, seconds=time.monotonic() - begin)
            except DEVICE_FAULTS as error:
                fault = without_frames(error)
                result = _solve_again(fault, Placed(opened, progress), run, selected, deadline)
            _finish(placing.told(result), run, (opened, placing.store), progress)
        except StoppedEarly as stop:
            stop = placing.stopped(stop)
            raise stop if checkpoint is None else checkpoint.stopped(stop) from None
        if checkpoint is not None:
            checkpoint.finish()
    return result


def nothing_yet(store: Store, run: Run, seconds: float) -> Result:
    """The result of a run that has ended before its method had begun."""
    from .._version import __version__
    from ..methods.approx.result import extended
    from ..methods.eccentricity.result import of_result
    from ..stream.counters import Counters

    upper = max(0, store.n_vertices - 1)
    result = Result(
        method=run.method, n_vertices=store.n_vertices, n_edges=store.n_arcs // 2, connected=None, n_components=None,
        diameter=None, diameter_largest_component=None, diameter_max_component=None, lower=0, upper=upper, exact=False,
        witness=None, traversals=Traversals(),
        seconds={"total": seconds, "compile": 0.0, "load": 0.0, "solve": 0.0, "verify": 0.0},
        memory_limit_bytes=run.memory_bytes, peak_rss_bytes=peak_rss_bytes(), version=__version__,
        store_digest=store.digest, store_path=store.path, store_name=store.name,
        details={"stage_seconds": {}, "interval_largest_component": [0, upper], "counters": Counters().to_dict()})
    family = entry_of(run.method).family
    if family == "ecc":
        return of_result(result, unresolved=store.n_vertices)
    if family == "exact":
        return result
    return extended(result, known_diameter=getattr(run.options, "known_diameter", None))


def _check_files(run: Run) -> None:
    """Raises InputError for a file that cannot be written, and for a certificate of what is no whole proof."""
    for file in (run.certificate, run.options.path_file, getattr(run.options, "out", None)):
        if file is not None:
            check_file(file)
    if run.keep_reordered is not None and not (run.checkpoint is not None and run.checkpoint.resume):
        check_target(run.keep_reordered, force=False)
    limits = run.options.limits
    if run.certificate is not None and getattr(run.options, "what", "all") != "all":
        raise InputError("a certificate needs all eccentricities", text=str(run.certificate),
                         remedy="leave --radius and --center out")
    if run.certificate is not None and (
            run.method not in ("pivots", "eccentricities") or limits.gap is not None or limits.bounds_only):
        raise InputError("a certificate needs a whole proof by pivots", text=str(run.certificate),
                         remedy="use --method pivots, without --gap and --bounds-only")


def say_weights_ignored(store: Store) -> None:
    """One line of the log for a store whose weights are not looked at."""
    if store.weights is not None:
        logging.getLogger("emdiam").info("the weights of the store are ignored: distances are numbers of edges")


@contextmanager
def store_of(store: Store | str | Path, run: Run) -> Iterator[Store]:
    """The store, opened (and closed again) if it is a path. Raises StoreError."""
    if isinstance(store, Store):
        check_directed(store, False)
        yield store
    else:
        with open_store(store, evict_page_cache=run.evict_page_cache) as opened:
            yield opened


@contextmanager
def _checkpoint(store: Store, run: Run, selected: Selection) -> Iterator[Checkpoint | None]:
    """The checkpoint of the run, if one is wanted. It is opened before memory is planned, so that what it
    takes counts as the program's own. Raises InputError."""
    if run.checkpoint is None:
        yield None
        return
    from ..journal.run import checkpointed, run_identity

    limits = run.options.limits
    asked = {"gap": limits.gap, "bounds_only": limits.bounds_only} if entry_of(run.method).family == "exact" else {}
    # Values of columns on a device are wider, so that neither goes on with what the other has left.
    where = {} if selected.device is None else {"device": "gpu"}
    identity = run_identity(store, run.method, run.options, {**asked, **where})
    with checkpointed(store, identity, run.checkpoint, run.options.scratch) as checkpoint:
        yield checkpoint


def _solve_again(
    fault: DeviceError | InputError, placed: Placed, run: Run, selected: Selection, deadline: float | None
) -> Result:
    """The result after a fault of the device: with a part of what is free there now, if it had less room than it
    said; or from the CPU, if the device was only welcome. Raises the fault otherwise."""
    if isinstance(fault, DeviceFullError) and selected.device is not None:  # and not of a worker
        gc.collect()
        free = selected.device.memory().free
        room = int(_LESS_ROOM * min(free, free if run.vram_bytes is None else run.vram_bytes))
        logging.getLogger("emdiam").info("%s: beginning again with %s of its memory", fault.what, format_size(room))
        try:
            return _solve(placed, replace(run, vram_bytes=room), selected, None, deadline)
        except DeviceRoomError:
            pass  # the first fault says more
        except DEVICE_FAULTS as error:
            fault = error
    if not selected.or_cpu:
        raise fault
    return _solve(placed, run, selected.without_gpu(fault), None, deadline)


def _writing_bytes(run: Run) -> int:
    """What a table that is asked for will take while it is written; see writing_bytes."""
    return 0 if getattr(run.options, "out", None) is None else writing_bytes()


def _program(placed: Placed, run: Run) -> int | None:
    """Bytes of the program for the memory plan; None: those that are measured then."""
    from ..stream.plan import program_bytes

    writing = _writing_bytes(run)
    if not writing:
        return placed.program
    return writing + (program_bytes() if placed.program is None else placed.program)


def _solve(
    placed: Placed, run: Run, selected: Selection, checkpoint: Checkpoint | None, deadline: float | None,
    known: Known | None = None
) -> Result:
    """The result on the selected device, and on no other; the engine is open no longer than that. known : of the
    graph; None: what its record says."""
    from ..jit import compile_seconds, kernel_seconds
    from .opening import open_for

    listener, compiled = until(deadline, placed.listener), compile_seconds()
    try:
        with open_for(placed.store, run, selected, listener, _program(placed, run), known=known) as opened:
            engine: Any = opened
            loaded = kernel_seconds()
            _tell_unmet_limit(placed.store, run, engine, deadline)
            solve, options = entry_of(run.method).definition().solve, _in_time(run.options, deadline, placed.known)

            def spent() -> tuple[float, float, float]:
                return compile_seconds() - compiled, kernel_seconds() - loaded, placed.seconds

            def attach() -> Any:
                nonlocal engine
                here: Any = opened  # none with vertex state on disk leaves a checkpoint
                engine = opened if checkpoint is None else checkpoint.attach(here, listener)
                return engine

            try:
                # Where workers are lost, the method begins again.
                result = (solve(attach(), options) if run.cluster is None
                          else engine.repeated(lambda: solve(attach(), options)))
            except StoppedEarly as stop:
                if isinstance(stop.result, Result):
                    _complete(stop.result, run, engine, spent(), selected)
                raise
            except MoreMemoryError as error:
                here = selected.device is None and run.cluster is None
                raise (_short_of(error, known, engine.plan, run) if here else error) from None
            _complete(result, run, engine, spent(), selected)
            if checkpoint is not None:
                result.details["checkpoint"] = checkpoint.details()
            return result
    except TimeOver:
        raise StoppedEarly("the time limit is over before there was a bound on the diameter") from None


def _short_of(error: MoreMemoryError, known: Known | None, plan: MemoryPlan, run: Run) -> BudgetError:
    """The error for another attempt; with a checkpoint, whose records are of this plan, for the user."""
    from ..engine.attempts import learned
    from ..stream.plan import with_budget

    return learned(error, known, plan) if run.checkpoint is None else with_budget(error, plan, run.threads)


def _tell_unmet_limit(store: Store, run: Run, engine: Any, deadline: float | None) -> None:
    """Say at the start what a time that is too short will leave, where that is known: on the CPU of this process."""
    if deadline is None or run.cluster is not None or not engine.plan.phases or engine.plan.disk_bytes:
        return
    from .plan import unmet_limit

    unmet = unmet_limit(store, run, engine.plan, deadline - time.monotonic())
    if unmet is not None:
        logging.getLogger("emdiam").warning(unmet)


def _in_time(options: MethodOptions, deadline: float | None, known: int) -> MethodOptions:
    """The options with the seconds that are left, and a lower bound that is known."""
    seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
    return replace(options, limits=replace(options.limits, seconds=seconds, known=known))


def _complete(result: Result, run: Run, engine: Any, spent: tuple[float, float, float], selected: Selection) -> None:
    """`result` with what the method cannot know: memory, store, device, the time before it began.

    spent : seconds of the run that kernels took to be compiled, in loading, solving and verifying; those after loading
    that they took to be compiled or loaded; and those of attempts before this one."""
    compiling, preparing, before = spent
    result.device = getattr(engine, "device_name", selected.name)  # workers look for theirs
    loading = engine.load_seconds
    result.seconds = {**result.seconds, "compile": compiling, "load": loading, "startup": loading + preparing,
                      "total": result.seconds["total"] + loading + before}
    result.bytes_read = engine.reporter.stats().bytes_read  # of the whole run: loading belongs to it
    result.memory_limit_bytes = engine.plan.memory_limit_bytes
    result.planned_rss_bytes = engine.plan.planned_rss_bytes
    result.peak_rss_bytes = peak_rss_bytes()
    store = engine.store
    result.store_digest, result.store_path, result.store_name = store.digest, store.path, store.name
    if engine.plan.phases:
        from .plan import forecast_of

        on_gpu = engine.details().get("vram", {}).get("resident", False)
        expected = forecast_of(engine.store, run, engine.plan, on_gpu=on_gpu)
        if selected.device is None:
            result.expected_rss_bytes = expected.predicted_rss_bytes
        result.planned_bytes_read = expected.predicted_bytes_read
    result.details.update(engine.details())


def _room(result: Result, run: Run) -> Room | None:
    """What the certificate may take for each vertex; None where vertex state was in memory."""
    from ..methods.exact.certificate import Room

    if "vertex_state" not in result.details:
        return None
    # Half, since what the engine has given back may still be the process's.
    return Room(max(0, (result.memory_limit_bytes or 0) - current_rss_bytes()) // 2, run.options.scratch)


def _write_certificate(path: Path, result: Result, solved: Store, reading: dict[str, Any]) -> None:
    """Write the proof of a result, in vertices of the store that was solved. Raises InputError."""
    from ..methods.eccentricity import certificate as eccentricities
    from ..methods.eccentricity.result import EccentricityResult
    from ..methods.exact.certificate import claims_of, write_certificate

    if isinstance(result, EccentricityResult):
        eccentricities.write_certificate(path, result, solved, **reading)
        return
    assert result.proof is not None, "pivots that end leave a proof"
    write_certificate(path, result.proof, claims_of(result), solved, **reading)


def _finish(result: Result, run: Run, stores: tuple[Store, Store], progress: Listener | None) -> None:
    """Write the certificate, if one is wanted. stores : the one that was given, and the one that was solved. Raises
    NotWritten for what could not be written, and StoppedEarly on Ctrl-C."""
    if run.certificate is not None:
        given, solved = stores
        reading = {"graph": given, "threads": run.threads, "room": _room(result, run), "progress": progress}
        begin = time.perf_counter()
        try:
            _write_certificate(run.certificate, result, solved, reading)
            result.certificate = str(run.certificate)
        except InputError as error:
            result.not_written.append(str(error))
        except KeyboardInterrupt:
            raise StoppedEarly("stopped by the user before the certificate was written;"
                               f" {result.lower:,} <= D <= {result.upper:,} is proved", result) from None
        finally:
            spent = time.perf_counter() - begin
            result.seconds = {**result.seconds, "certificate": spent, "total": result.seconds["total"] + spent}
        result.peak_rss_bytes = peak_rss_bytes()
    if result.not_written:
        raise NotWritten("; ".join(result.not_written), result)
