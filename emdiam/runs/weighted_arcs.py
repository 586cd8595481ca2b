"""Runs of the largest finite distance and of eccentricities along weighted arcs, on stores with directions and weights.

An engine along arcs finds the strong components. It is closed before the weighted rows of both directions are loaded,
or read in blocks on demand. Bytes: the rows of both directions, or the arenas of blocks; a vertex: the state of a
search (paths/plan.py), 4 for the number of its component, and the state of the method.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import BudgetError, InputError
from ..malloc import return_freed_memory
from ..progress import silent, timed
from ..store.store import Store
from ..units import BASE_JITTER
from . import arcs
from .arcs import options as options
from .task import Session, Task
from .weights import check_certificate, metric_over

if TYPE_CHECKING:
    from ..methods.directed.method import DirectedMethod
    from ..methods.directed.weighted import StrongParts, WeightedArcMetric
    from ..methods.weighted.metric import WeightMetric
    from ..methods.weighted.units import Units
    from ..paths.arcs import Arcs
    from ..paths.plan import ArcsPlan

# Bytes a vertex of each method in addition to searches: columns, bounds, orders, and copies during sorts.
_VERTEX_BYTES = {"pivots": 160, "graph-diameter": 88, "apsp": 48, "eccentricities": 88, "sweep": 160}


def method_of(task: Task) -> type[DirectedMethod]:
    """The class of the task's method."""
    from ..methods.directed.eccentricities import BoundedEccentricities

    return BoundedEccentricities if task.command == "ecc" else arcs.method_of(task)


def solve(session: Session) -> Any:
    """The result. Weights are rounded down if their sums would not be exact.

    Raises InputError (BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the time limit,
    OverflowError if distances may not fit 64 bits."""
    from ..methods.weighted.units import SumsTooLongError

    kind = method_of(session.task)
    with opened(session, _VERTEX_BYTES[kind.name]) as (metric, plan):
        while True:
            try:
                return _solved(session, kind, metric, plan)
            except SumsTooLongError:
                metric.round_down()


def planned(session: Session, store: Store, vertex_bytes: int, both_ways: bool, program: int | None = None) -> ArcsPlan:
    """The place of the arcs (of one or both directions), the memory of a run with the program, and the arena of each
    direction. program : bytes of the program from an earlier plan; None: measured now. Raises BudgetError."""
    from ..paths.plan import ArcsPlan, plan_arcs
    from ..stream.plan import base_bytes, too_small

    task = session.task
    base = base_bytes(store, program) + task.writing_bytes
    plan = plan_arcs(store, task.threads, session.memory_bytes - base, vertex_bytes * store.n_vertices, 0,
                     task.arena_bytes, both_ways=both_ways)
    if base + plan.need > session.memory_bytes:
        raise too_small(session.memory_bytes, base + plan.need + BASE_JITTER)
    return ArcsPlan(base + plan.need, None if plan.arena_bytes is None else plan.arena_bytes // (1 + both_ways))


def plan_of(session: Session) -> ArcsPlan:
    """The plan of a run. Raises BudgetError."""
    from ..stream.plan import program_bytes

    return _planned_at_once(session, session.store, _VERTEX_BYTES[method_of(session.task).name], True, program_bytes())


@contextmanager
def opened(session: Session, vertex_bytes: int, *, weighted: bool = True, along: bool = True) -> Iterator[
        tuple[Any, ArcsPlan]]:
    """A context with the metric and the plan; `plan.need` includes the program. vertex_bytes : state in addition to
    searches. weighted : whether lengths are the weights; else all are 1. along : whether searches follow arcs forwards
    and backwards if the store has directions; else the metric is a WeightMetric. Raises InputError for weights below
    0."""
    from ..methods.directed.weighted import WeightedArcMetric
    from ..methods.weighted.metric import WeightMetric
    from ..stream.plan import program_bytes

    store, listener, seconds = session.store, session.listener or silent, dict[str, float]()
    both_ways = along and store.directed
    if not weighted:
        store = store.unweighted
    weights, strong = store.record.weights, None
    if weights is not None and weights.least < 0:
        raise InputError("there are weights below 0, along which longest shortest paths are found by all pairs alone",
                         path=store.path, remedy="use emdiam apsp, or emdiam sssp from one vertex")

    program = program_bytes()  # includes kernels for components, which are loaded later
    _planned_at_once(session, store, vertex_bytes, both_ways, program)
    if both_ways:
        with timed(seconds, "components"):
            strong = _strong_parts(session)
        return_freed_memory()
    plan = planned(session, store, vertex_bytes, both_ways, program)

    def made(arcs: list[Arcs], units: Units) -> WeightMetric:
        return (WeightMetric(arcs[0], units, listener, store) if strong is None else
                WeightedArcMetric(arcs[0], arcs[1], strong, units, store, listener))

    with metric_over(session, [store, store.reverse][: 1 + both_ways], plan.arena_bytes, made) as metric:
        metric.seconds.update(seconds)
        yield metric, plan


def _planned_at_once(session: Session, store: Store, vertex_bytes: int, both_ways: bool, program: int) -> ArcsPlan:
    """The plan of searches and component numbers, before either starts. Raises BudgetError for the larger need."""
    from ..methods.directed.method import phases

    plans, refusals = list[Any](), list[BudgetError]()
    for plan in (lambda: planned(session, store, vertex_bytes + store.id_dtype.itemsize, both_ways, program),
                 lambda: session.plan_along_arcs(phases(session.store)) if both_ways else None):
        try:
            plans.append(plan())
        except BudgetError as refusal:
            refusals.append(refusal)
    if refusals:
        raise max(refusals, key=lambda refusal: refusal.least_bytes)
    return plans[0]


def _strong_parts(session: Session) -> StrongParts:
    from ..methods.directed.method import phases
    from ..methods.directed.weighted import StrongParts

    with session.engine_along_arcs(phases(session.store)) as engine:
        engine.reporter.tick("components")
        numbers, n_strong = engine.strong
        return StrongParts(numbers, n_strong, engine.weak()[1])


def _solved(session: Session, kind: type[DirectedMethod], metric: WeightedArcMetric, plan: ArcsPlan) -> Any:
    """The answer. Raises SumsTooLongError."""
    method = kind(metric, session.in_time(session.task.options))
    check_certificate(session.task, metric)
    metric.run = method
    with session.answered(method, partial(_complete, session, plan, method)):
        method.solve()
    return method.answer


def _complete(session: Session, plan: ArcsPlan, method: Any, result: Any) -> Any:
    """Complete the result of a method, also of a stopped one, with the figures of the run. For eccentricities, add the
    values of all vertices and write their file."""
    options = session.task.options
    if session.task.command == "ecc":
        result = method.described(result, bool(options.keep))
        if options.out is not None:
            _write_table(session, method, result)
    session.tell(result, session.memory_bytes, plan.need)
    result.device = method.metric.arcs.device
    result.bytes_read = method.metric.used().bytes_read  # with loading
    return result


def _write_table(session: Session, method: Any, result: Any) -> None:
    from ..methods.eccentricity.output import in_pieces, write_table

    lower, upper = method.intervals()
    lengths, file = method.metric.lengths, session.task.options.out
    session.write(result, "out", file, lambda: write_table(
        file, session.store, ((start, lengths(low), lengths(high)) for start, low, high in in_pieces(lower, upper)),
        method.first_of(), intervals=bool((lower != upper).any())))
