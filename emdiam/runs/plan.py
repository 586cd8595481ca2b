"""Plans and forecasts of runs, without running them; a probe takes at most four traversals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BudgetError
from ..gpu.setting import CPU, DEVICE_FAULTS
from ..shown import Shown
from ..store.store import Store
from ..units import format_seconds, format_size
from .registry import ALONG_ARCS, ALONG_WEIGHTS, ARCS, BOTH, HOPS, METHODS, entry_of, method_options
from .task import Session, Task, store_of, task_of

if TYPE_CHECKING:
    from ..gpu.vram import VramPlan
    from ..methods.forecast import Forecast, Probe
    from ..methods.result import Approximation
    from ..stream.plan import Known, MemoryPlan
    from .locality import Comparison, Locality

# The most stored bytes a second that a thread was measured to read, check and decode.
FASTEST_READ = 5 << 28

@dataclass(frozen=True, repr=False)
class Planned(Shown):
    """A method, the memory that it needs, and a forecast.

    Attributes
    ----------
    method : str
        The method.
    plan, forecast : MemoryPlan, Forecast, optional
        None if memory is too small.
    refused : str, optional
        The reason then, and the memory that works.
    vram : VramPlan, optional
        Memory of a GPU.
    probe : Probe, optional
        Results of a look at the graph; None if there was none, or if it took too long.
    locality : Locality, optional
        Reads of a BFS, as far as it was probed.
    comparison : Comparison, optional
        The run as the store is, and with reordering; None in memory, or if it is unknown.
    """

    shown = ("method", "refused", "plan.minimum_bytes", "plan.planned_rss_bytes", "plan.in_ram",
             "vram.planned_bytes", "vram.resident", "forecast.predicted_rss_bytes", "forecast.reads")

    method: str
    plan: MemoryPlan | None
    forecast: Forecast | None
    refused: str | None = None
    probe: Probe | None = None
    locality: Locality | None = None
    comparison: Comparison | None = None
    vram: VramPlan | None = None

    def to_dict(self) -> dict[str, Any]:
        kind = {"approx": "approximation", "ecc": "eccentricities"}
        family = METHODS[self.method].family
        return {
            "method": self.method, "kind": kind.get(family, family),
            "refused": self.refused, "plan": None if self.plan is None else self.plan.to_dict(),
            "forecast": None if self.forecast is None else self.forecast.to_dict(),
            "comparison": None if self.comparison is None else self.comparison.to_dict(),
            "vram": None if self.vram is None else self.vram.to_dict()}


def plan_run(store: Store, run: Task) -> MemoryPlan:
    """The memory plan of the run in this process. Raises InputError (BudgetError with the numbers if the memory of the
    machine or of the GPU is too small)."""
    return _plans(store, run)[0]


def _plans(
    store: Store, run: Task, known: Known | None = None, program: int | None = None
) -> tuple[MemoryPlan, VramPlan | None]:
    """The memory plan of this process, and the one of the run's GPU, or None. known : facts of the graph; program : as
    in engine.cpu.plan_engine."""
    from .opening import device_of, needs_of, plan_here, selection, state_of

    if run.metric != HOPS:
        return _plan_along(store, run), None
    selected = selection(run)
    needs, device, vram = replace(needs_of(store, run), known=known), device_of(run, selected), None
    if device is not None:
        from ..gpu.vram import plan_vram

        needs = needs.fixed()
        try:
            vram = plan_vram(store, device, needs.device)
        except DEVICE_FAULTS:
            if not selected.or_cpu:
                raise
    return plan_here(store, needs, state_of(run, selected), memory_bytes=run.memory_bytes, arena_bytes=run.arena_bytes,
                     threads=run.threads, program=program), vram


def forecast_of(
    store: Store, run: Task, plan: MemoryPlan, probe: Probe | None = None, on_gpu: bool = False
) -> Forecast:
    """The predicted cost of the run with this plan, without the memory of a GPU. probe : the result of a probe
    (probe.py), if any. on_gpu : whether the run has a GPU with the whole graph."""
    from ..methods.forecast import CostInputs, make_forecast

    method = entry_of(run.method).definition()
    return make_forecast(CostInputs(store, plan, probe), method.cost_model(store, run.options), on_gpu)


def unmet_limit(store: Store, run: Task, plan: MemoryPlan, seconds: float) -> str | None:
    """A sentence with the bounds that an exact run will end with, if it streams its edges and cannot end within
    `seconds`. None if it may end in time, or if that is unknown, as for a graph in memory."""
    forecast = forecast_of(store, run, plan)
    if METHODS[run.method].family != "exact" or forecast.certain or not forecast.least_bytes_read:
        return None
    pace = FASTEST_READ * run.threads
    needed = forecast.least_bytes_read / pace
    if needed <= seconds:
        return None
    first = needed / forecast.least_reads
    left = (f"the levels that the first traversal finishes <= D <= {store.n_vertices - 1:,}" if first > seconds
            else "the eccentricity of the first source <= D <= twice that")
    return (f"the time limit will be over before the answer: {format_size(forecast.least_bytes_read)} or more are to be"
            f" read, which takes at least {format_seconds(needed)}; expect {left}")


def tasks_along(methods: Sequence[str] | None, options: Mapping[str, Any], directed: bool, weighted: bool
                ) -> Iterator[Task]:
    """The tasks of the named methods, or of all methods, along edges, arcs, weights or weighted arcs."""
    for name in methods or (ALONG_ARCS if directed else ALONG_WEIGHTS if weighted else METHODS):
        family = entry_of(name).family
        yield task_of(family, {**options, "weighted": weighted,
                               "directed": ("out" if family == "ecc" else True) if directed else None}, name)


def plan_one(store: Store | str | Path, run: Task, probe_seconds: float | None = None) -> Planned:
    """Plan and forecast of a run on the store (open, or a path). probe_seconds : probe the graph for at most this time
    (probe.py), with the arena of the plan; None: no probe. Raises InputError (StoreError, BudgetError)."""
    with store_of(store, run) as opened:
        plans = _plans(opened, run)
        return _planned(opened, run, plans, _look(opened, run, probe_seconds))


def plan_all(store: Store | str | Path, tasks: Iterable[Task], probe_seconds: float | None = None) -> list[Planned]:
    """Plans of several runs. A memory limit that is too small for a run is in its `refused`, not raised. The probe has
    the plan of the run that needs the least memory. Raises InputError (StoreError).

    tasks : better an iterator that makes them one by one: all plans take the memory of the program at the first run,
    before the modules of the others (40 MiB) are imported."""
    waiting = iter(tasks)
    first = next(waiting)
    with store_of(store, first) as opened:
        program = _program_with(opened, first)
        runs = [first, *waiting]
        planned = [_plans_or_refusal(opened, run, program) for run in runs]
        plans = [(plan[0], run) for plan, run in zip(planned, runs, strict=True) if not isinstance(plan, str)]
        # After the plans, since memory that the probe does not free must not count as the program's.
        smallest = min(plans, key=lambda pair: pair[0].minimum_bytes, default=None)
        found = (None, None) if smallest is None else _look(opened, smallest[1], probe_seconds)
        return [Planned(run.method, None, None, plan) if isinstance(plan, str) else _planned(opened, run, plan, found)
                for plan, run in zip(planned, runs, strict=True)]


def _planned(store: Store, run: Task, plans: tuple[MemoryPlan, VramPlan | None],
             found: tuple[Probe | None, Locality | None]) -> Planned:
    """The plan of a method with enough memory. plans : by `_plans`; found : by `_look`."""
    from ..gpu.vram import resident_bytes

    (plan, vram), (probe, locality) = plans, found
    if run.metric != HOPS:
        return Planned(run.method, plan, _forecast_along(store, run, plan))
    if probe is not None:
        plan = replace(plan, minimum_bytes=_least_knowing(store, run, plan, probe))
    forecast = forecast_of(store, run, plan, probe, vram is not None and vram.resident)
    forecast = replace(forecast, vram_bytes=resident_bytes(store, entry_of(run.method).definition().device))
    comparison = None
    if plan.in_ram:
        locality = None
    if locality is not None and locality.local is not None:
        from .locality import ORDER, compare

        if store.record.ordering != ORDER:
            model = entry_of(run.method).definition().cost_model(store, run.options)
            comparison = compare(store, model, locality, None if probe is None else forecast.reads)
    return Planned(run.method, plan, forecast, None, probe, locality, comparison, vram)


def _least_knowing(store: Store, run: Task, plan: MemoryPlan, probe: Probe) -> int:
    """The least memory that works, with the facts that the probe has found."""
    from ..stream.plan import Known, known_of, program_of

    said = known_of(store)
    longest = probe.longest if said.longest is None else min(said.longest, probe.longest)
    known = Known(longest, probe.connected or said.connected)
    return _plans(store, run, known, program_of(plan, store))[0].minimum_bytes


def exact_instead(store: Store, run: Task, result: Approximation) -> tuple[float, float] | None:
    """How many times an exact run by pivots would probably read all edges (scan them, if the graph is in memory), and
    how many times the approximation has, if the first is less.

    None otherwise, if the bounds are equal, and if it is unknown without a traversal: on workers or a GPU, behind a
    URL, and for streamed edges of a graph of large diameter. Costs no traversal.
    """
    from ..methods.approx.cost_model import DEEP
    from ..methods.exact.cost_model import PIVOT_SCANS
    from ..methods.forecast import CostInputs

    exact = replace(run, method="pivots", options=method_options("pivots", {}), checkpoint=None)
    if result.exact or result.device != CPU or run.cluster is not None or not store.n_arcs:
        return None
    try:
        plan = plan_run(store, exact)
    except BudgetError:
        return None
    stored = CostInputs(store, plan).stored_bytes
    if not stored:
        return None
    if result.bytes_read <= stored:  # each block once: the graph was in memory
        expected, done = float(PIVOT_SCANS), result.edges_scanned / store.n_arcs
    elif result.lower < DEEP:
        expected, done = forecast_of(store, exact, plan).reads, result.bytes_read / stored
    else:
        return None
    return (expected, done) if expected < done else None


def _program_with(store: Store, run: Task) -> int:
    """Memory of the program in the plan of a run; loads the run's modules."""
    from ..stream.plan import program_bytes
    from .opening import needs_of

    needs_of(store, run)
    return program_bytes()


def _plans_or_refusal(store: Store, run: Task, program: int) -> tuple[MemoryPlan, VramPlan | None] | str:
    """The plans, or the reason why memory is too small."""
    try:
        return _plans(store, run, program=program)
    except BudgetError as error:
        return str(error)


def _look(store: Store, run: Task, seconds: float | None) -> tuple[Probe | None, Locality | None]:
    """The probe of at most `seconds`, if any, and the locality of its BFS."""
    if seconds is None or run.metric != HOPS:
        return None, None
    from .locality import BfsReads
    from .probe import probe_store

    reads = BfsReads(store)
    return probe_store(store, run, seconds, reads), reads.locality


def _plan_along(store: Store, run: Task) -> MemoryPlan:
    """The plan of a run along arcs, along weights, or along both. Raises BudgetError."""
    from ..store.store import check_weighted

    session = Session(store, run)
    if run.metric == ARCS:
        from .arcs import plan_of

        return plan_of(session)
    check_weighted(store)
    from ..paths.blocks import rows_bytes
    from ..paths.plan import block_bytes
    from ..stream.plan import MemoryPlan, Phase, base_bytes, program_bytes
    from . import weighted_arcs, weights

    plan_of_searches = weighted_arcs.plan_of if run.metric == BOTH else weights.plan_of
    try:
        plan_of_searches(Session(store, replace(run, memory_bytes=1 << 20)))
        least = 1 << 20
    except BudgetError as error:
        least = int(error.least_bytes or 0)
    found, ways, n = plan_of_searches(session), 1 + store.directed, max(1, store.n_vertices)
    base, blocks = base_bytes(store, program_bytes()), ways * store.indices.n_chunks
    arcs = ways * (rows_bytes(store) if found.arena_bytes is None else found.arena_bytes)
    state = max(0, found.need - base - arcs)
    return MemoryPlan(
        session.memory_bytes, base, (Phase("search", state / n, state, state, state, state),), 0, arcs, found.need,
        least, blocks, blocks if found.arena_bytes is None else min(blocks, arcs // max(1, block_bytes(store))), 0, 0,
        found.arena_bytes is None)


# The least number of searches of a run along arcs or weights, except for runs from all vertices.
_SEARCHES = {"pivots": 4, "graph-diameter": 20, "sweep": 3, "bounding": 2, "clusters": 2, "eccentricities": 2}
_BATCH = 512


def _forecast_along(store: Store, run: Task, plan: MemoryPlan) -> Forecast:
    """A lower bound of the cost: every block is read once in memory, else once a search."""
    from ..methods.forecast import Forecast

    every = -(-store.n_vertices // (_BATCH if run.metric == ARCS else 1))
    of_all = run.method == "apsp" or (run.method, run.metric) == ("eccentricities", ARCS)
    searches = 1.0 if plan.in_ram else float(every if of_all else _SEARCHES[run.method])
    sizes = [one.indices.stored_bytes for one in (store, *((store.reverse,) if store.directed else ()))]
    stored = None if None in sizes else sum(size for size in sizes if size is not None)
    return Forecast(
        predicted_rss_bytes=plan.planned_rss_bytes, reads=searches, least_reads=searches,
        predicted_bytes_read=stored if plan.in_ram else None,
        least_bytes_read=None if stored is None else int(searches * stored), scratch_bytes=0, vram_bytes=0,
        certain=plan.in_ram, probed=False)
