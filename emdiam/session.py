"""Opening an engine: memory planned, table built, arena allocated, blocks loaded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BudgetError, InputError
from .gpu.select import DEVICE_FAULTS
from .progress import Listener
from .store.store import Store
from .stream.plan import READERS, MemoryPlan, Phase, make_plan
from .units import default_memory_bytes

if TYPE_CHECKING:
    from .dask.engine import DaskEngine
    from .dask.setting import OnCluster
    from .engine.cpu import CpuEngine
    from .gpu.setting import OnDevice
    from .gpu.vram import VramPlan

# Options of plan_run, beside threads.
_PLANNED = ("memory_bytes", "arena_bytes", "method", "switches", "program")


def method_phases(
    method: str, switches: Mapping[str, Any] | None = None
) -> Callable[[Store], tuple[Phase, ...]]:
    """The function that states the vertex state of `method`, exact or not, by phase, with these options.

    Raises InputError for an unknown method or option."""
    registry = _registry(method)
    registry.method_options(method, switches or {})
    return lambda store: registry.memory_phases(store, method, switches or {})


def family(method: str) -> str:
    """"exact" or "approx", the kind of a method."""
    from .api_exact import METHODS

    return "exact" if method in METHODS else "approx"


def _registry(method: str) -> Any:
    """The module that knows `method`: exact.methods or approx.methods."""
    return import_module(f".methods.{family(method)}.methods", __package__)


def pool_wanted(store: Store, method: str) -> int:
    """Bytes beside vertex state and edges that `method` could make use of on `store`."""
    wanted: int = _registry(method).pool_wanted(store, method)
    return wanted


def plan_run(
    store: Store, *, memory_bytes: int | None = None, arena_bytes: int | None = None, threads: int = 2,
    method: str = "pivots", switches: Mapping[str, Any] | None = None, program: int | None = None,
) -> MemoryPlan:
    """The memory plan of `method`, with the options `switches`, on `store` in this process (see stream/plan.py).

    memory_bytes : peak RSS allowed (default: of the machine or its cgroup). program : see make_plan.
    Raises BudgetError, InputError.
    """
    from .engine import cpu  # noqa: F401 - so that the measured base has it

    if threads < 1:
        raise InputError("at least one thread is needed", text=str(threads))
    phases = method_phases(method, switches)(store)
    memory = default_memory_bytes() if memory_bytes is None else memory_bytes
    return make_plan(store, phases, memory_bytes=memory, arena_bytes=arena_bytes, threads=threads,
                     pool_wanted=pool_wanted(store, method), program=program)


def _plan_vram(store: Store, device: OnDevice, method: str) -> VramPlan:
    """See gpu.vram.plan_vram, which is imported only where there is a device."""
    from .gpu.vram import plan_vram

    return plan_vram(store, device, method)


def _blamed(store: Store) -> AbstractContextManager[None]:
    """See graph.check.blamed_on."""
    from .methods.exact.limits import TimeOver
    from .store.check import blamed_on

    return blamed_on(store, TimeOver, *DEVICE_FAULTS)


@contextmanager
def open_engine(
    store: Store, *, threads: int = 2, progress: Listener | None = None, device: OnDevice | None = None, **options: Any,
) -> Iterator[CpuEngine]:
    """An engine on `store`; leaving the context ends its threads.

    device : None for the CPU. options : those of plan_run, and fields of traverse.core.Core (direction,
    dense_arcs).
    The engine has `plan` and `load_seconds`. If the whole graph fits in the
    arena it is loaded now, and on a device it is put there. Raises BudgetError, StoreError, InputError.
    """
    from .engine.cpu import CpuEngine
    from .stream.arena import Arena
    from .stream.blocks import build_block_table
    from .stream.counters import SharedCounters
    from .stream.pager import Pager
    from .stream.rows import RowCheck
    from .stream.threads import Crew
    from .traverse.core import Core
    from .traverse.workspace import Workspace

    planned = {name: options.pop(name) for name in _PLANNED if name in options}
    begin = time.perf_counter()
    vram = None if device is None else _plan_vram(store, device, planned.get("method", "pivots"))
    plan = plan_run(store, threads=threads, **planned)
    try:
        table = build_block_table(store)
        arena = Arena(table.n_blocks, plan.arena_blocks, store.indices.chunk_items, store.id_dtype)
        work = Workspace(store.n_vertices, store.id_dtype)
    except MemoryError as error:
        raise BudgetError(f"the machine refuses the planned memory ({error})",
                          remedy="give a smaller --memory") from None
    crew = Crew(threads, READERS)
    counters = SharedCounters()
    pager = Pager(store.indices, RowCheck(table, store.id_dtype, store.path), arena, crew, counters, plan.run_blocks)
    engine = CpuEngine(store, Core(table, pager, crew, counters, work, **options), plan, progress)
    with ExitStack() as stack:
        stack.callback(crew.close)
        if plan.in_ram:
            engine.reporter.tick("load")
            pager.preload(lambda: engine.reporter.tick("load"))
        if device is not None and vram is not None:
            from .gpu.engine import engine_on_device

            engine = stack.enter_context(engine_on_device(engine, device, vram))
        engine.load_seconds = time.perf_counter() - begin
        stack.enter_context(_blamed(store))
        yield engine


def open_engine_on_workers(
    store: Store, cluster: OnCluster, *, threads: int = 2, progress: Listener | None = None, **options: Any
) -> AbstractContextManager[DaskEngine]:
    """An engine on `store` that is shared out to workers; options : those of open_engine, for this process.

    Raises InputError without Dask, and as open_engine."""
    try:
        from .dask.opening import open_dask_engine
    except ImportError as error:
        raise InputError(f"workers need dask.distributed ({error})",
                         remedy="install it with: pip install emdiam[dask]") from None

    def local() -> AbstractContextManager[CpuEngine]:
        return open_engine(store, threads=threads, progress=progress, **options)

    return open_dask_engine(store, cluster, local, threads=threads, progress=progress, options=options)
