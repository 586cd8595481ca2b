"""What exact and approximate runs on a store share: opening, time limit, memory figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .checkpoint.options import CheckpointOptions
from .dask.setting import OnCluster
from .errors import InputError, MoreMemoryError, StoppedEarly
from .gpu.select import CPU, DEVICE_FAULTS, Selection, select_device
from .gpu.setting import AUTO, OnDevice
from .progress import Event, Listener
from .store.store import Store, open_store
from .units import peak_rss_bytes

if TYPE_CHECKING:
    from .checkpoint.run import Checkpoint
    from .dask.engine import DaskEngine
    from .engine.cpu import CpuEngine
    from .stream.plan import MemoryPlan


@dataclass(frozen=True)
class StoreRun:
    """How to run a method on a store.

    method : its name. memory_bytes : peak RSS of the process; None: what machine and cgroup leave.
    arena_bytes : cache of decoded edges; None: what memory leaves. evict_page_cache : drop what was
    read from the page cache (for honest benchmarks of disk speed). switches : further options of
    the method, by name; InputError for one that the method does not have. time_limit : wall seconds
    of the search, compiling and loading included; then StoppedEarly, with the bounds so far.
    device : what traversals run on, "cpu", "gpu", "gpu:N", "gpu:N,M,..." or "auto", or what select_device made of it.
    bfs, mapping : names of a BFS variant (gpu/variants/registry.py) and a load balancing (gpu/mappings.py), on a
    GPU only; None: as they are chosen from level to level. vram_bytes : memory of the GPU; None: all of it.
    checkpoint : keep one of the run; None: nothing is kept. On a CPU only.
    cluster : workers of dask.distributed that the run is shared out to; None: this process. memory_bytes and
    arena_bytes are of this process then. On CPUs only.
    """

    method: str
    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 2
    evict_page_cache: bool = False
    switches: Mapping[str, Any] = field(default_factory=dict)
    time_limit: float | None = None
    device: str | Selection = CPU
    bfs: str | None = None
    mapping: str | None = None
    vram_bytes: int | None = None
    checkpoint: CheckpointOptions | None = None
    cluster: OnCluster | None = None

    def deadline(self) -> float | None:
        """time.monotonic() at the end of the time, when it starts now; None without a limit."""
        return None if self.time_limit is None else time.monotonic() + self.time_limit


@contextmanager
def opened(store: Store | str | Path, run: StoreRun) -> Iterator[Store]:
    """The store, opened (and closed again) if it is a path. Raises StoreError."""
    if isinstance(store, Store):
        yield store
    else:
        with open_store(store, evict_page_cache=run.evict_page_cache) as mine:
            yield mine


def plan_on(store: str | Path, run: StoreRun, progress: Listener | None) -> MemoryPlan:
    """The memory plan of a run, which is not run. Raises InputError (StoreError; BudgetError with the
    numbers where memory cannot do)."""
    from .session import plan_run

    selected = selection(run)
    with open_store(store) as mine:
        on_device = _on_device(run, selected)
        if on_device is not None:
            from .gpu.vram import plan_vram

            try:
                plan_vram(mine, on_device, run.method)
            except DEVICE_FAULTS:
                if not selected.or_cpu:
                    raise
        return plan_run(mine, memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                        threads=run.threads, method=run.method, switches=run.switches)


def selection(run: StoreRun) -> Selection:
    """The device of a run, opened now, so that what it takes of the host counts as the program's own in the
    memory plan. Raises InputError for one that cannot be used, or a choice that the CPU does not have."""
    selected = run.device if isinstance(run.device, Selection) else select_device(run.device)
    if run.cluster is not None and selected.device is not None:
        raise InputError("workers compute on their CPUs", text=selected.name,
                         remedy="leave --device out, or --workers and --scheduler")
    asked_for_cpu = selected.device is None and not selected.note
    for_gpus = next((value for value in (run.bfs, run.mapping, run.vram_bytes) if value is not None), None)
    if asked_for_cpu and for_gpus is not None:
        raise InputError("variants of BFS, load balancing and its memory are for a GPU", text=str(for_gpus),
                         remedy="compute on one with --device gpu")
    return selected


def _on_device(run: StoreRun, selected: Selection) -> OnDevice | None:
    """How the engine is to use the device; None for the CPU."""
    if selected.device is None:
        return None
    return OnDevice(selected.device, run.bfs or AUTO, run.mapping, vram_bytes=run.vram_bytes,
                    others=selected.others)


def solve_on(
    store: Store, run: StoreRun, package: str, progress: Listener | None, deadline: float | None,
    after: Callable[[Any], None] | None = None, **limits: Any,
) -> Any:
    """The result of the method on the open store, with every figure of the run.

    package : "exact" or "approx", where the method lives. after : called with the result while its
    checkpoint is still there. limits : further ones, by the names of exact.run.Limits.
    Where a GPU that was only welcome fails, the CPU does the run again, and the result says why.
    Raises InputError (BudgetError), DeviceError, and StoppedEarly with `result` on Ctrl-C and at the end of the time.
    """
    methods = import_module(f".methods.{package}.methods", __package__)
    options = methods.method_options(run.method, run.switches)
    selected = selection(run)
    with _kept(store, run, options, selected, limits) as kept:
        try:
            try:
                result = _solve(store, run, _Solving(methods, selected, kept, limits), progress, deadline)
            except DEVICE_FAULTS as error:
                if not selected.or_cpu:
                    raise
                solving = _Solving(methods, selected.without_gpu(error), kept, limits)
                result = _solve(store, run, solving, progress, deadline)
            if after is not None:
                after(result)
        except StoppedEarly as stop:
            raise stop if kept is None else kept.stopped(stop) from None
        if kept is not None:
            kept.done()
    return result


@dataclass(frozen=True)
class _Solving:
    """What a run on an open store has beside its options."""

    methods: Any
    selected: Selection
    kept: Checkpoint | None
    limits: Mapping[str, Any]


def _solve(store: Store, run: StoreRun, solving: _Solving, progress: Listener | None, deadline: float | None) -> Any:
    """The same on the selected device, and on no other; the engine is open no longer than that."""
    # Imported here because these bring numba: a program that only converts never pays for it.
    from .jit import compile_seconds
    from .methods.exact.method import Limits, TimeOver
    from .session import open_engine, open_engine_on_workers
    from .stream.plan import with_budget

    selected, listener = solving.selected, until(deadline, progress)
    try:
        compiled = compile_seconds()
        options: dict[str, Any] = {
            "memory_bytes": run.memory_bytes, "arena_bytes": run.arena_bytes, "threads": run.threads,
            "method": run.method, "switches": run.switches, "progress": listener}
        with ExitStack() as stack:
            opened: Any = stack.enter_context(
                open_engine(store, device=_on_device(run, selected), **options) if run.cluster is None
                else open_engine_on_workers(store, run.cluster, **options))
            engine = opened if solving.kept is None else solving.kept.attach(opened, listener)
            seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
            own = solving.methods.method_options(
                run.method, {**run.switches, "limits": Limits(seconds=seconds, **solving.limits)})
            try:
                result = solving.methods.METHODS[run.method].run(engine, own)
                completed(result, engine, compile_seconds() - compiled, selected)
            except StoppedEarly as stop:
                if stop.result is not None:
                    completed(stop.result, engine, compile_seconds() - compiled, selected)
                raise
            except MoreMemoryError as error:
                here = selected.device is None and run.cluster is None
                raise (with_budget(error, engine.plan, run.threads) if here else error) from None
            if solving.kept is not None:
                result.details["checkpoint"] = solving.kept.told()
            return result
    except TimeOver:
        raise StoppedEarly("the time limit is over before there was a bound on the diameter") from None


@contextmanager
def _kept(
    store: Store, run: StoreRun, options: Any, selected: Selection, limits: Mapping[str, Any]
) -> Iterator[Checkpoint | None]:
    """The checkpoint of the run, if one is wanted. It is opened before memory is planned, so that what it
    takes counts as the program's own. Raises InputError."""
    if run.checkpoint is None:
        yield None
        return
    if selected.device is not None:
        raise InputError("traversals on a GPU leave no checkpoint",
                         remedy="leave the options of checkpoints out, or compute with --device cpu")
    from .checkpoint.run import checkpointed, run_identity

    identity = run_identity(store, run.method, options, limits)
    with checkpointed(store, identity, run.checkpoint, run.switches.get("scratch")) as kept:
        yield kept


def until(deadline: float | None, progress: Listener | None) -> Listener | None:
    """A listener that ends a search in the middle of a traversal once the time is over. What has
    been found is still verified, since an answer without that is none."""
    if deadline is None:
        return progress
    from .methods.exact.method import TimeOver

    def listen(event: Event) -> None:
        if progress is not None:
            progress(event)
        if time.monotonic() >= deadline and event.phase != "verify":
            raise TimeOver

    return listen


def completed(result: Any, engine: CpuEngine | DaskEngine, compiling: float, selected: Selection) -> Any:
    """`result` with what the method cannot know: memory, store, device, the time before it began.

    compiling : seconds of the run that kernels took to be compiled, in loading, solving and verifying."""
    result.device = selected.name
    result.seconds = {**result.seconds, "compile": compiling, "load": engine.load_seconds,
                      "total": result.seconds["total"] + engine.load_seconds}
    result.bytes_read = engine.reporter.stats().bytes_read  # of the whole run: loading belongs to it
    result.memory_limit_bytes = engine.plan.memory_limit_bytes
    result.planned_rss_bytes = engine.plan.planned_rss_bytes
    result.peak_rss_bytes = peak_rss_bytes()
    result.store_digest = engine.store.digest
    if selected.device is None and engine.plan.phases:
        from .forecast import forecast_of

        forecast = forecast_of(engine.store, result.method, engine.plan)
        result.expected_rss_bytes = forecast.predicted_rss_bytes
        result.planned_bytes_read = forecast.predicted_bytes_read
    result.details.update(engine.details())
    return result
