"""Runs of the largest finite distance and of eccentricities along arcs, on stores with directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..gpu.setting import OnDevice, Selection
from ..methods.run import Limits
from ..progress import Listener
from ..store.store import Store
from .registry import ARCS
from .task import Session, Task, shared_fields, store_of

if TYPE_CHECKING:
    from ..engine.directed import DirectedEngine
    from ..methods.directed.method import DirectedMethod, DirectedOptions
    from ..methods.result import DirectedResult
    from ..stream.plan import MemoryPlan, Phase

DIRECTED = ("pivots", "graph-diameter", "apsp")
_IN_BATCHES = ("apsp", "eccentricities")
# Columns that each method has on a device at a time, with the numbers of components: bounds, distances of pivots and of
# the searches of a round, and a list.
DEVICE_COLUMNS = {"pivots": 16, "graph-diameter": 4, "sweep": 8, "apsp": 1, "eccentricities": 1}


def options(task: Task, own: dict[str, Any], limits: Limits) -> DirectedOptions:
    """The options object of an exact method, an approximation, or eccentricities. Raises InputError."""
    from ..methods.directed.apsp import DirectionOptions
    from ..methods.directed.method import DirectedOptions
    from ..methods.directed.sweep import DirectedSweepOptions

    if task.command == "ecc":
        return DirectionOptions(limits=limits, **own)
    if task.command == "approx":
        if task.method != "sweep":
            raise InputError(f"the approximation {task.method} is for undirected graphs", remedy="use --method sweep")
        return DirectedSweepOptions(limits=limits, **own)
    if task.method not in DIRECTED:
        raise InputError(f"the method {task.method} is for undirected graphs",
                         remedy=f"use one of {', '.join(DIRECTED)}")
    for name in ("seed", "sweeps"):
        if name in own and task.method == "apsp":
            raise InputError(f"--{name} is of the methods pivots and graph-diameter", remedy="leave it out")
    return DirectedOptions(limits=limits, **own)


def solve(session: Session) -> Any:
    """The result. If the GPU of `auto` fails, the CPU runs everything again. Raises InputError (BudgetError),
    DeviceError, and StoppedEarly with `result` on Ctrl-C and at the time limit."""
    return session.attempted(lambda task, selected, known: _solved(session, task, selected))


def _solved(session: Session, task: Task, selected: Selection) -> Any:
    """The result on the selected device alone."""
    from .opening import device_of

    selected.check_single("a search along arcs")
    kind = method_of(task)
    with opened(session, *_state(session), device_of(task, selected), DEVICE_COLUMNS[kind.name]) as engine:
        method = kind(session.metric(engine), session.in_time(task.options))
        with session.answered(method, partial(_completed, session, engine, method, selected)):
            method.solve()
    return method.answer


def method_of(task: Task) -> type[DirectedMethod]:
    """The class of the task's method along arcs."""
    from ..methods.directed.apsp import DirectedApsp, Eccentricities, EccentricitiesIn
    from ..methods.directed.graph_diameter import DirectedGraphDiameter
    from ..methods.directed.pivots import DirectedPivots
    from ..methods.directed.sweep import DirectedSweep

    if task.command == "ecc":
        return EccentricitiesIn if task.options.direction == "in" else Eccentricities
    kinds = (DirectedPivots, DirectedGraphDiameter, DirectedApsp, DirectedSweep)
    return {one.name: one for one in kinds}[task.method]


def _state(session: Session) -> tuple[tuple[Phase, ...], bool]:
    """The phases of vertex state, and whether the method uses multi-source BFS."""
    from ..methods.directed.method import phases
    from ..methods.directed.pivots import KEPT

    name = method_of(session.task).name
    columns, arrays = {"pivots": (2 + 2 * KEPT, 8), "sweep": (2, 32), "eccentricities": (2, 2)}.get(name, (2, 8))
    return phases(session.store, columns, arrays), name in _IN_BATCHES


def plan_of(session: Session) -> MemoryPlan:
    """The plan of a run. Raises InputError (StoreError, BudgetError)."""
    return planned(session, *_state(session))


def planned(session: Session, phases: tuple[Phase, ...], batches: bool = False) -> MemoryPlan:
    """The memory plan. batches : whether multi-source BFS are used. Raises InputError (StoreError, BudgetError)."""
    from ..engine.directed import plan_directed
    from ..stream.plan import Pool
    from ..traverse.multi import MOST_BITS, NARROW_BITS, batch_bytes

    task, n = session.task, session.store.n_vertices
    pool = Pool(batch_bytes(n, MOST_BITS), batch_bytes(n, NARROW_BITS), batch_bytes(n, NARROW_BITS))
    return plan_directed(session.store, phases, memory_bytes=task.memory_bytes, arena_bytes=task.arena_bytes,
                         threads=task.threads, pool=pool if batches else None, held_bytes=task.writing_bytes)


@contextmanager
def opened(session: Session, phases: tuple[Phase, ...], batches: bool = False, device: OnDevice | None = None,
           columns: int = 0) -> Iterator[DirectedEngine]:
    """A context with an engine on the store, as planned. device : None: the CPU. columns : on the device, at a time.
    Raises InputError (StoreError, BudgetError), DeviceError."""
    from ..engine.directed import open_directed_engine

    plan, store = planned(session, phases, batches), session.store
    with ExitStack() as stack:
        if device is not None:
            from ..engine.needs import DeviceState
            from ..gpu.directed import engine_both_ways
            from ..gpu.vram import plan_both_ways

            vram = plan_both_ways(store, device, DeviceState(columns, batches=batches))
        engine = stack.enter_context(open_directed_engine(
            store, plan, threads=session.task.threads, progress=session.listener))
        yield engine if device is None else stack.enter_context(engine_both_ways(engine, device, vram))


def component_counts(store: Store | str | Path, options: Mapping[str, Any],
                     progress: Listener | None = None) -> dict[str, Any]:
    """Strong and weak components of a store with directions: n_strong_components, largest_strong_component,
    strongly_connected, n_components, largest_component (vertices). options : memory, arena, threads. Raises InputError
    (StoreError, BudgetError)."""
    import numpy as np

    from ..methods.directed.method import phases

    shared = shared_fields({name: options[name] for name in ("memory", "arena", "threads") if name in options}, "info")
    task = Task("components", None, metric=ARCS, **shared)
    with store_of(store, task) as place, opened(Session(place, task, progress), phases(place)) as engine:
        engine.reporter.tick("components")
        numbers, n_strong = engine.strong
        largest = int(np.bincount(numbers, minlength=1).max())
        roots, n_weak = engine.weak()
        return {"n_strong_components": n_strong, "largest_strong_component": largest,
                "strongly_connected": n_strong == 1, "n_components": n_weak,
                "largest_component": int(np.bincount(roots, minlength=1).max())}


def _completed(session: Session, engine: DirectedEngine, method: DirectedMethod, selected: Selection,
          result: DirectedResult) -> DirectedResult:
    """Complete the result of a method, also of a stopped one, with the figures of the run. For eccentricities, add the
    values of all vertices and write their file."""
    session.complete(result, engine, selected)
    result.seconds["load"] = engine.load_seconds
    if session.task.command != "ecc":
        return result
    from ..methods.eccentricity.output import in_pieces, write_table

    all_of: Any = method
    options, known = session.task.options, all_of.with_eccentricities(result, bool(session.task.options.keep))
    if options.out is not None and not known.unresolved:
        session.write(known, "out", options.out, lambda: write_table(
            options.out, session.store, in_pieces(all_of.values, all_of.values), all_of.first_of()))
    return known
