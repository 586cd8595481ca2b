"""Runs of exact diameters, approximations and eccentricities along weights: memory plan, arcs, and output files.

Bytes: the rows, or an arena of blocks; a vertex: the state of a search (paths/plan.py), 28 for bounds, and the state of
the method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MoreMemoryError, no_such
from ..gpu.setting import Selection, select_device
from ..methods.run import Limits, MethodOptions
from ..progress import Event, Meter, silent, timed
from ..units import BASE_JITTER, format_size
from .task import Session, Task

if TYPE_CHECKING:
    from ..methods.weighted.metric import WeightMetric
    from ..methods.weighted.search import WeightedSearch
    from ..methods.weighted.units import Units
    from ..paths.arcs import Arcs
    from ..paths.paths import SearchOptions
    from ..paths.plan import ArcsPlan
    from ..paths.rows import WeightedRows
    from ..store.store import Store


def methods_of(command: str) -> dict[str, type[WeightedSearch]]:
    """The methods of a command along weights, by name."""
    from ..methods.weighted.bounding import WeightedBounding
    from ..methods.weighted.clusters import WeightedClusters
    from ..methods.weighted.eccentricities import EccentricitySearch
    from ..methods.weighted.pivots import WeightedPivots
    from ..methods.weighted.sweep import WeightedSweep

    kinds: dict[str, tuple[type[WeightedSearch], ...]] = {
        "exact": (WeightedPivots, WeightedBounding), "approx": (WeightedSweep, WeightedClusters),
        "ecc": (EccentricitySearch,)}
    return {kind.name: kind for kind in kinds[command]}


def options(task: Task, own: dict[str, Any], limits: Limits) -> MethodOptions:
    """The options object from options by name. Raises InputError for an unknown method, and for an option that it does
    not have."""
    if task.command == "exact" and task.method == "fdiam":
        raise InputError("F-Diam is for graphs without weights: it counts edges", remedy="use --method pivots")
    kinds = methods_of(task.command)
    if task.method not in kinds:
        kind = "method" if task.command == "exact" else "approximation"
        raise no_such(f"{kind} for weighted graphs", task.method, kinds)
    if task.command == "exact":
        return MethodOptions(limits=limits, **own)
    if task.command == "approx":
        return _of_approximation(task, own, limits)
    from ..methods.eccentricity.eccentricities import ALL, EccentricityOptions

    asked = EccentricityOptions(limits=limits, **own)
    if task.certificate is not None and asked.what != ALL:
        raise InputError("a certificate needs all eccentricities", text=str(task.certificate),
                         remedy="leave out --radius and --center")
    return asked


def _of_approximation(task: Task, own: dict[str, Any], limits: Limits) -> MethodOptions:
    from ..methods.weighted.sweep import WeightedBoundOptions

    for name, of_method in (("masters", "clusters"), ("seed", "clusters"), ("iterations", "sweep")):
        if name in own and task.method != of_method:
            raise InputError(f"--{name} is of the method {of_method}", remedy="leave it out")
    if own.get("iterations", 1) < 1:
        raise InputError("iterations are at least 1", text=str(own["iterations"]))
    return WeightedBoundOptions(limits=limits, **own)


@contextmanager
def metric_over(session: Session, stores: Sequence[Store], arena_bytes: int | None,
                made: Callable[[list[Arcs], Units], Any]) -> Iterator[Any]:
    """A context with a metric over the arcs of stores with the same weights, in RAM, or each in an arena of blocks.
    made : made(arcs, units) -> metric. Searches run on the task's device, if the arcs are in RAM. Raises InputError for
    weights below 0 and an unusable device, OverflowError if distances may not fit 64 bits."""
    from ..methods.weighted.units import units_of
    from ..paths.arcs import ArcsOnDisk
    from ..paths.blocks import StoreBlocks, load_rows
    from ..paths.paths import SearchOptions

    task, listener, seconds, metric = session.task, session.listener or silent, dict[str, float](), None
    selected = select_device(task.device)
    if selected.device is not None and arena_bytes is not None:
        refused = InputError(f"{selected.name} needs all arcs in memory, which is too small for them",
                             remedy="give more --memory, or --device cpu, which reads them as it needs them")
        if not selected.or_cpu:
            raise refused
        selected = selected.without_gpu(refused)

    def beat() -> None:
        if metric is None:
            listener(Event("search"))
        else:
            metric.beat()

    meter, options = Meter(session.progress or silent), SearchOptions(task.threads, tick=beat)
    arcs: list[Arcs] = []
    with ExitStack() as stack:
        meter.begin("load", None, "arcs")
        with timed(seconds, "load"):
            for store in stores:
                if arena_bytes is None:
                    rows, read = load_rows(store, task.threads, lambda: meter.update(0))
                    arcs.append(_arcs_in_ram(rows, options, read, selected))
                else:
                    arcs.append(ArcsOnDisk(StoreBlocks(store), arena_bytes, options))
                    arcs[-1].device = selected.name
                stack.callback(arcs[-1].close)
            weights = stores[0].record.weights
            units = units_of(arcs[0], 0 if weights is None else weights.decimals)
        meter.end()
        metric = made(arcs, units)
        metric.seconds.update(seconds)
        yield metric


def _arcs_in_ram(rows: WeightedRows, options: SearchOptions, read: int, selected: Selection) -> Arcs:
    """Arcs whose searches run on the selected device."""
    from ..paths.arcs import ArcsInRam

    if selected.device is None:
        arcs = ArcsInRam(rows, options, read)
        arcs.device = selected.name
        return arcs
    from ..gpu.paths.registry import DeviceArcs

    return DeviceArcs(rows, options, read, selected)


def check_certificate(task: Task, metric: WeightMetric) -> None:
    """Raise InputError for a certificate of all eccentricities along rounded weights."""
    if task.certificate is not None and task.command == "ecc" and metric.units.rounded:
        raise InputError("sums of these weights have more digits than 64 bits, and a certificate has no intervals",
                         remedy="leave out --certificate, or round the weights to a few decimals and convert again")


def solve(session: Session) -> Any:
    """The result. Weights are rounded down if their sums would not be exact. A run starts again if the graph has more
    components than planned.

    Raises InputError (BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the time limit,
    OverflowError if distances may not fit 64 bits."""
    from ..engine.attempts import Attempts
    from ..methods.weighted.units import SumsTooLongError

    attempts = Attempts()
    while True:
        with attempts.another() as found:
            attempt = _Attempt(session, found)
            with attempt.opened() as metric:
                try:
                    return attempt.solved(metric)
                except SumsTooLongError:
                    metric.round_down()
                    return attempt.solved(metric)


@dataclass(frozen=True)
class PlannedComponents:
    """components : number of components that memory is planned for. program : bytes of the process before anything was
    read."""

    components: int
    program: int


def plan_of(session: Session) -> ArcsPlan:
    """The plan of a run on a graph of one component. Raises BudgetError."""
    from ..paths.plan import ArcsPlan

    attempt = _Attempt(session, None)
    return ArcsPlan(attempt.planned, attempt.arena)


class _Attempt:
    """One run with a plan for a known number of components. Raises BudgetError with the numbers."""

    def __init__(self, session: Session, known: PlannedComponents | None) -> None:
        from ..methods.weighted.search import COMPONENT_BYTES, STATE_BYTES
        from ..paths.plan import plan_arcs
        from ..stream.plan import base_bytes, most_parts, program_bytes, too_small

        store, task = session.store, session.task
        self._session, self._kind = session, methods_of(task.command)[task.method]
        self._known = PlannedComponents(1, program_bytes()) if known is None else known
        writing_bytes, spare = task.writing_bytes, self._kind.least_room
        self.memory, base = session.memory_bytes, base_bytes(store, self._known.program) + writing_bytes
        beside = (STATE_BYTES + self._kind.vertex_bytes) * store.n_vertices + COMPONENT_BYTES * (
            self._known.components - 1)
        plan = plan_arcs(store, task.threads, self.memory - base, beside, spare, task.arena_bytes)
        need = base + plan.need + spare
        if need > self.memory:
            most = most_parts(store) + store.record.n_isolated if known is None else known.components
            more = COMPONENT_BYTES * (most - self._known.components)
            several = "" if more <= 0 else f", and with very many components {format_size(need + more + BASE_JITTER)}"
            raise too_small(self.memory, need + BASE_JITTER, several, need + more + BASE_JITTER)
        self.arena, self.planned = plan.arena_bytes, base + plan.need
        self._room = self.memory - base - plan.need

    def opened(self) -> AbstractContextManager[WeightMetric]:
        """The metric over the arcs, in RAM or on disk. Raises InputError for weights below 0, OverflowError if
        distances may not fit 64 bits."""
        session, store = self._session, self._session.store
        return metric_over(session, [store], self.arena, lambda arcs, units: session.metric(
            arcs[0], units, session.listener or silent, store))

    def solved(self, metric: WeightMetric) -> Any:
        """The answer. Raises SumsTooLongError."""
        run = self._kind(metric, self._session.task.options)
        self._leave_room(run)
        check_certificate(self._session.task, metric)
        with self._session.answered(run, partial(self._complete, run)):
            run.solve()
        return run.answer

    def _leave_room(self, run: WeightedSearch) -> None:
        """Set the run's memory, less the excess of its components over the plan. Raises MoreMemoryError if too little
        remains."""
        from ..methods.weighted.search import COMPONENT_BYTES

        count = run.n_components()
        beyond = COMPONENT_BYTES * max(0, count - self._known.components)
        if beyond > self._room:
            error = MoreMemoryError(f"{count:,} components take {format_size(beyond)} more than the memory that was"
                                    " planned", beyond - self._room)
            error.known = replace(self._known, components=count)
            raise error
        if run.room is not None:
            run.room, self.planned = self._room - beyond, self.memory

    def _complete(self, run: Any, result: Any) -> Any:
        """Complete the result with the figures of the whole run, and write its table, if the task has one."""
        session, file = self._session, getattr(run.options, "out", None)
        session.tell(result, self.memory, self.planned)
        result.device = run.metric.arcs.device
        if file is not None:
            session.write(result, "out", file, lambda: run.write(file))
        return result
