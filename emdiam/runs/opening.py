"""Opening an engine for a run: on the CPU, on GPUs, or over workers."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..engine.attempts import IN_MEMORY
from ..engine.cpu import LocalEngine, open_cpu_engine, plan_engine
from ..engine.needs import Needs
from ..errors import BudgetError, DeviceError, DeviceFullError, DeviceRoomError, InputError
from ..gpu.setting import AUTO, CPU, DEVICE_FAULTS, OnDevice, Selection, check_device_text, select_device
from ..kernel_progress import clock
from ..progress import Event, Listener
from ..store.store import Store
from ..stream.plan import Known, MemoryPlan, program_bytes
from ..units import format_size
from .option import DISK, QUEUE, RAM, STATES
from .registry import entry_of, method_options

if TYPE_CHECKING:
    from ..dask.engine import DaskEngine
    from ..dask.setting import OnCluster
    from ..external.engine import ExternalEngine
    from .task import Task

_Result = TypeVar("_Result")
_PLENTY = _FOREVER = 1 << 60
_LESS_ROOM = 7 / 8  # share of a device's free memory that a second attempt uses


def selection(run: Task) -> Selection:
    """The device of a run. It is opened now, so that the memory plan counts its host memory as the program's. Raises
    InputError for an unusable device, or a choice that the CPU does not have."""
    if run.cluster is not None:
        return _of_workers(run)
    selected = select_device(run.device)
    asked_for_cpu = selected.device is None and not selected.note
    for_gpus = next((one for one in (run.bfs, run.mapping, run.vram_bytes) if one not in (None, QUEUE)), None)
    if asked_for_cpu and for_gpus is not None:
        raise InputError("variants of BFS, load balancing and its memory are for a GPU", text=str(for_gpus),
                         remedy="compute on one with --device gpu")
    if run.direction is not None and selected.device is not None:
        raise _only_here(run.direction)
    return selected


def _of_workers(run: Task) -> Selection:
    """The device of this process (its CPU) in a run over workers, which choose their own devices."""
    if isinstance(run.device, Selection) and run.device.device is not None:
        raise InputError("workers look for their devices themselves", text=run.device.name,
                         remedy="name the device, as in --device gpu")
    for value in (run.bfs, run.mapping):
        if value is not None:
            raise InputError("variants of BFS and load balancing are for a GPU of this process", text=value,
                             remedy="leave --bfs and --mapping out, or --workers and --scheduler")
    if run.direction is not None:
        raise _only_here(run.direction)
    text = _device_text(run)
    check_device_text(text)
    if text == CPU and run.vram_bytes is not None:
        raise InputError("its memory is for a GPU", text=str(run.vram_bytes),
                         remedy="let workers have one with --device gpu")
    return Selection(None)


def _only_here(direction: str) -> InputError:
    return InputError("rules of directions are for the CPU of this process", text=direction,
                      remedy="leave --direction out, or --device, --workers and --scheduler")


def _device_text(run: Task) -> str:
    """The kind of device that workers should use."""
    return run.device if isinstance(run.device, str) else CPU


def recovered(fault: DeviceError | InputError, run: Task, selected: Selection,
              again: Callable[[Task, Selection], _Result]) -> _Result:
    """The result of again(run, selected) after a device fault: with 7/8 of the device's free memory, if it had less
    memory than it reported; else on the CPU, if the run has device "auto". Raises the fault otherwise."""
    if isinstance(fault, DeviceFullError) and selected.device is not None:  # and not of a worker
        gc.collect()
        free = selected.device.memory().free
        room = int(_LESS_ROOM * min(free, free if run.vram_bytes is None else run.vram_bytes))
        logging.getLogger("emdiam").info("%s: beginning again with %s of its memory", fault.what, format_size(room))
        try:
            return again(replace(run, vram_bytes=room), selected)
        except DeviceRoomError:
            pass  # the first fault explains more
        except DEVICE_FAULTS as error:
            fault = error
    if not selected.or_cpu:
        raise fault
    return again(run, selected.without_gpu(fault))


def device_of(run: Task, selected: Selection) -> OnDevice | None:
    """The engine's settings of the device; None for the CPU."""
    if selected.device is None:
        return None
    return OnDevice(selected.device, run.bfs or AUTO, run.mapping, vram_bytes=run.vram_bytes, others=selected.others)


def needs_of(store: Store, run: Task) -> Needs:
    """The memory needs of the run's method on the store."""
    return entry_of(run.method).definition().needs(run.method, store, run.options)


def open_for(
    store: Store, run: Task, selected: Selection, progress: Listener | None = None, program: int | None = None,
    needs: Needs | None = None, known: Known | None = None,
) -> AbstractContextManager[LocalEngine | ExternalEngine | DaskEngine]:
    """A context with an engine for the run, on the selected device or on the workers of the run. program : memory of
    this program, see stream.plan.make_plan. needs : memory needs; None: the method's. known : facts of the graph.
    Raises BudgetError, StoreError, InputError, DeviceError."""
    sizes: dict[str, Any] = {"memory_bytes": run.memory_bytes, "arena_bytes": run.arena_bytes, "threads": run.threads,
                             "progress": progress}
    needs = replace(needs_of(store, run) if needs is None else needs, known=known)
    if run.cluster is not None:
        cluster = replace(run.cluster, device=_device_text(run), vram_bytes=run.vram_bytes)
        return _open_on_workers(store, cluster, needs, **sizes)
    state = state_of(run, selected)
    if run.direction is not None:
        sizes["direction"] = run.direction
    if run.bfs == QUEUE and selected.device is None:
        sizes |= {"dense_arcs": _FOREVER, "shared_arcs": _FOREVER}
    if run.checkpoint is not None:
        needs = _without_another_attempt(store, needs, run, program)
    return _open_here(store, needs, device_of(run, selected), vertex_state=state, program=program,
                      scratch=run.options.scratch, **sizes)


def _without_another_attempt(store: Store, needs: Needs, run: Task, program: int | None) -> Needs:
    """The needs of a run that cannot start again with another plan: with the whole reserve, if memory suffices."""
    with suppress(BudgetError):
        plan_engine(store, needs.fixed(), memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                    threads=run.threads, program=program)
        return needs.fixed()
    return needs


def state_of(run: Task, selected: Selection) -> str:
    """The possible place of the run's vertex state: RAM, DISK or AUTO. Raises InputError for an impossible choice."""
    if run.vertex_state not in STATES:
        raise InputError(f"vertex state is one of {', '.join(STATES)}", text=run.vertex_state)
    other = ("a GPU" if selected.device is not None else "workers" if run.cluster is not None
             else "a checkpoint" if run.checkpoint is not None
             else "a rule of --direction" if run.direction is not None
             else "a BFS by a queue" if run.bfs == QUEUE else None)
    if other is None:
        return run.vertex_state
    if run.vertex_state == DISK:
        raise InputError(f"vertex state on disk does not go with {other}", text="--vertex-state disk",
                         remedy="leave one of both out")
    return RAM


def plan_here(store: Store, needs: Needs, vertex_state: str, **options: Any) -> MemoryPlan:
    """The memory plan of this process. Vertex state is on disk (plan.disk_bytes) if `vertex_state` is DISK, or if it is
    AUTO and memory is too small. For AUTO, the least memory is the smaller one of both. options : as in
    engine.cpu.plan_engine. Raises BudgetError, InputError."""
    def on_disk(**sizes: Any) -> MemoryPlan:
        from ..external.opening import plan_external

        return plan_external(store, needs, **sizes).plan

    if options.get("program") is None:  # measured once, so that both plans start from the same figure
        options["program"] = program_bytes()
    ways: dict[str, Callable[..., MemoryPlan]] = {RAM: partial(plan_engine, store, needs), DISK: on_disk}
    allowed = [way for state, way in ways.items() if vertex_state not in ways or state == vertex_state]
    plans = [_plan_or_refusal(way, options) for way in allowed]
    made = [plan for plan in plans if isinstance(plan, MemoryPlan)]
    if not made:
        # One that names no memory is the last choice.
        raise min((plan for plan in plans if not isinstance(plan, MemoryPlan)), key=lambda refusal: (
            refusal.least_bytes if isinstance(refusal, BudgetError) else 0) or _PLENTY)
    if len(allowed) == 1:
        return made[0]
    least = [_plan_or_refusal(way, {**options, "memory_bytes": _PLENTY}) for way in allowed]
    return replace(made[0], minimum_bytes=min(plan.minimum_bytes for plan in least if isinstance(plan, MemoryPlan)))


def _plan_or_refusal(plan: Callable[..., MemoryPlan], options: Mapping[str, Any]) -> MemoryPlan | InputError:
    """The plan, or the error that it raises."""
    try:
        return plan(**options)
    except InputError as error:
        return error


def open_engine(
    store: Store, *, method: str = "pivots", switches: Mapping[str, Any] | None = None, device: OnDevice | None = None,
    cluster: OnCluster | None = None, **options: Any,
) -> AbstractContextManager[Any]:
    """A context with an engine on `store` for a method with the options `switches`.

    device : None for the CPU. cluster : workers that run it. options : memory_bytes, arena_bytes, threads, progress,
    vertex_state (default: RAM) with scratch and sizes (see external/opening.py), and fields of traverse.core.Core
    (direction, dense_arcs). The engine has `plan` and `load_seconds`. If the whole graph fits in the arena, it is
    loaded at once, and with a device it is copied there. Raises BudgetError, StoreError, InputError.
    """
    needs = entry_of(method).definition().needs(method, store, method_options(method, switches or {}))
    if cluster is not None:
        return _open_on_workers(store, cluster, needs, **options)
    return _open_here(store, needs, device, **options)


@contextmanager
def _open_here(
    store: Store, needs: Needs, device: OnDevice | None, *, vertex_state: str = RAM, scratch: str | Path | None = None,
    **options: Any,
) -> Iterator[LocalEngine | ExternalEngine]:
    """An engine of this process."""
    if vertex_state != RAM:
        with _open_in_ram_or_on_disk(store, needs, vertex_state, scratch, **options) as chosen:
            yield chosen
        return
    if device is None:
        with open_cpu_engine(store, needs, **options) as engine:
            yield engine
        return
    from ..gpu.engine import engine_on_device
    from ..gpu.vram import plan_vram

    begin = clock()
    vram = plan_vram(store, device, needs.device)
    with open_cpu_engine(store, needs.fixed(), **options) as here, engine_on_device(here, device, vram) as engine:
        engine.load_seconds = clock() - begin
        yield engine


@contextmanager
def _open_in_ram_or_on_disk(
    store: Store, needs: Needs, vertex_state: str, scratch: str | Path | None, **options: Any
) -> Iterator[LocalEngine | ExternalEngine]:
    """An engine on the CPU, with vertex state in RAM or on disk."""
    with ExitStack() as stack:
        engine: LocalEngine | ExternalEngine | None = None
        if vertex_state != DISK and needs.known_on(store).attempts < IN_MEMORY:
            with suppress(BudgetError):
                engine = stack.enter_context(open_cpu_engine(store, needs, **options))
        if engine is None:
            from ..external.opening import open_external_engine

            sizes = ("memory_bytes", "arena_bytes", "threads", "program")
            plan_here(store, needs, vertex_state, **{name: options[name] for name in sizes if name in options})
            engine = stack.enter_context(open_external_engine(store, needs, scratch=scratch, **options))
        yield engine


def _open_on_workers(
    store: Store, cluster: OnCluster, needs: Needs, *, threads: int = 2, progress: Listener | None = None,
    **options: Any,
) -> AbstractContextManager[DaskEngine]:
    """An engine over workers; options : for this process. Raises InputError without Dask."""
    if progress is not None:  # importing Dask and starting processes takes seconds
        progress(Event("workers", 0, cluster.workers, "workers"))
    try:
        from ..dask.opening import open_dask_engine
    except ImportError as error:
        raise InputError(f"workers need dask.distributed ({error})",
                         remedy="install it with: pip install 'emdiam[dask]'") from None
    local = partial(open_cpu_engine, store, needs, threads=threads, progress=progress, **options)
    return open_dask_engine(store, cluster, needs, local, threads=threads, progress=progress, options=options)
