"""One exact run on a store: open, plan, solve, close, and the figures of the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError, StoppedEarly
from .graph.store import Store, open_store
from .progress import Event, Listener
from .units import peak_rss_bytes

if TYPE_CHECKING:
    from .exact.result import Result
    from .stream.plan import MemoryPlan
    from .traverse.cpu_engine import CpuEngine

METHODS = ("pivots", "fdiam", "bounding", "ifub", "graph-diameter", "korf", "apsp", "sweep-k")
# Kernels that are compiled already are there sooner, and then there is nothing to tell.
_SOONEST_COMPILE_EVENT_SECONDS = 0.5


@dataclass(frozen=True)
class ExactRun:
    """How to run an exact method.

    method : one of METHODS. memory_bytes : peak RSS of the process; None: what machine and cgroup
    leave. arena_bytes : cache of decoded edges; None: what memory leaves. evict_page_cache : drop
    what was read from the page cache (for honest benchmarks of disk speed). switches : further
    options of the method, by name; InputError for one that the method does not have. gap :
    bounds this close are enough. time_limit : wall seconds of the search, compiling and loading
    included; then StoppedEarly, with the bounds so far. bounds_only : a few BFS, no proof.
    certificate : file for the proof (method pivots; not with gap or bounds_only).
    """

    method: str = "pivots"
    memory_bytes: int | None = None
    arena_bytes: int | None = None
    threads: int = 2
    evict_page_cache: bool = False
    switches: Mapping[str, Any] = field(default_factory=dict)
    gap: int | None = None
    time_limit: float | None = None
    bounds_only: bool = False
    certificate: Path | None = None


def check_method(method: str) -> None:
    """Raises InputError for a method that does not exist."""
    if method not in METHODS:
        raise InputError("there is no such method", text=method, remedy="choose from: " + ", ".join(METHODS))


def exact(store: Store | str | Path, run: ExactRun, progress: Listener | None = None) -> Result:
    """The exact diameter of the store (opened, or a path), with every figure of the run.

    Raises InputError (StoreError, BudgetError), and StoppedEarly with `result` on Ctrl-C and at the
    end of the time.
    """
    check_method(run.method)
    deadline = None if run.time_limit is None else time.monotonic() + run.time_limit
    if run.certificate is not None and (run.method != "pivots" or run.gap is not None or run.bounds_only):
        raise InputError("a certificate needs a whole proof by pivots", text=str(run.certificate),
                         remedy="use --method pivots, without --gap and --bounds-only")
    if isinstance(store, Store):
        return _certified(store, run, progress, deadline)
    with open_store(store, evict_page_cache=run.evict_page_cache) as opened:
        return _certified(opened, run, progress, deadline)


def plan(store: str | Path, run: ExactRun, progress: Listener | None = None) -> MemoryPlan:
    """The memory plan of `exact` for the store at a path, without running it.

    Raises InputError (StoreError; BudgetError with the numbers where memory cannot do).
    """
    from .session import plan_run

    check_method(run.method)
    with open_store(store) as opened:
        _compile(opened, progress)
        return plan_run(opened, memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                        threads=run.threads, method=run.method, switches=run.switches)


def _certified(store: Store, run: ExactRun, progress: Listener | None, deadline: float | None) -> Result:
    """The result, after its certificate, if one is wanted, has been written."""
    result = _solve(store, run, progress, deadline)
    if run.certificate is not None:
        from .exact.certificate import claims_of, write_certificate

        assert result.proof is not None, "pivots that end leave a proof"
        write_certificate(run.certificate, result.proof, claims_of(result), store, threads=run.threads,
                          progress=progress)
        result.certificate = str(run.certificate)
        result.peak_rss_bytes = peak_rss_bytes()
    return result


def _solve(store: Store, run: ExactRun, progress: Listener | None, deadline: float | None) -> Result:
    # Imported here because these bring numba: a program that only converts never pays for it.
    from .exact.methods import METHODS as BY_NAME
    from .exact.methods import method_options
    from .exact.run import Limits, TimeOver
    from .session import open_engine

    method_options(run.method, run.switches)
    compile_seconds = _compile(store, progress)
    try:
        with open_engine(
            store, memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes, threads=run.threads,
            method=run.method, switches=run.switches, progress=_until(deadline, progress),
        ) as engine:
            seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
            limits = Limits(run.gap, seconds, run.bounds_only)
            options = method_options(run.method, {**run.switches, "limits": limits})
            try:
                return _completed(BY_NAME[run.method].run(engine, options), engine, compile_seconds)
            except StoppedEarly as stop:
                if stop.result is not None:
                    _completed(stop.result, engine, compile_seconds)
                raise
    except TimeOver:
        raise StoppedEarly("the time limit is over before there was a bound on the diameter") from None


def _until(deadline: float | None, progress: Listener | None) -> Listener | None:
    """A listener that ends a search in the middle of a traversal once the time is over. What has
    been found is still verified, since an answer without that is none."""
    if deadline is None:
        return progress
    from .exact.run import TimeOver

    def listen(event: Event) -> None:
        if progress is not None:
            progress(event)
        if time.monotonic() >= deadline and event.phase != "verify":
            raise TimeOver

    return listen


def _compile(store: Store, progress: Listener | None) -> float:
    """Compile the kernels unless that was done before, which may take half a minute and should not
    look like a standstill; returns the seconds."""
    from .traverse.warm import ensure_compiled

    if progress is None:
        return ensure_compiled(store.id_dtype)
    late = threading.Timer(_SOONEST_COMPILE_EVENT_SECONDS, progress, (Event("compile"),))
    late.daemon = True
    late.start()
    try:
        seconds = ensure_compiled(store.id_dtype)
    finally:
        late.cancel()
        late.join()
    if seconds > _SOONEST_COMPILE_EVENT_SECONDS:
        progress(Event("compile", finished=True))
    return seconds


def _completed(result: Any, engine: CpuEngine, compile_seconds: float) -> Any:
    """`result` with what the method cannot know: the memory, the store, the time before it began."""
    before = {"compile": compile_seconds, "load": engine.load_seconds}
    result.seconds = {**result.seconds, **before, "total": result.seconds["total"] + sum(before.values())}
    result.bytes_read = engine.stats().bytes_read  # of the whole run: loading belongs to it
    result.memory_limit_bytes = engine.plan.memory_limit_bytes
    result.planned_rss_bytes = engine.plan.planned_rss_bytes
    result.peak_rss_bytes = peak_rss_bytes()
    result.store_digest = engine.store.digest
    return result
