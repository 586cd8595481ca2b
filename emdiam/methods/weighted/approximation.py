"""One approximation of the diameter of a weighted graph, from its options to its result: bounds that are proved.

Bytes: see stages.py; a vertex: 16 for two columns of a sweep, or 64 while clusters grow; the graph of clusters takes
what is left of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import InputError, no_such
from ..approx.masters import AUTO, resolve_masters
from ..approx.result import Approximation, Condensed
from .clusters import WeightedClusters
from .growth import STATE_BYTES
from .stages import Stages, solved
from .sweep import COLUMNS, WeightedSweep

if TYPE_CHECKING:
    from ...runs.task import Session, Task
    from ..definition import Limits

METHODS: dict[str, type[WeightedSweep]] = {"sweep": WeightedSweep, "clusters": WeightedClusters}
# Of "auto": a master for so many vertices, and no more than so many.
_SHARE, _MOST = 16, 100_000
_LEAST_ROOM = 4 << 20


@dataclass(frozen=True)
class ApproximationOptions:
    """masters : how many there are to be, as resolve_masters takes it, or "auto"; None: that. seed : of their choice.
    iterations : sweeps. known_diameter : largest diameter of any component."""

    masters: int | str | None = None
    seed: int | None = None
    iterations: int | None = None
    known_diameter: int | float | None = None


@dataclass(repr=False)
class WeightedApproximation(Approximation):
    """As Approximation, but lengths are sums of weights: whole numbers, or floats where weights are.

    max_master_distance : the longest path from a vertex to its master that was kept. max_master_gap : the longest edge
    of the graph of clusters. rounds : stages of growing. weights, weight : as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*Approximation.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


def options(task: Task, own: dict[str, Any], limits: Limits) -> ApproximationOptions:
    """The options of those that were given by name. Raises InputError for a method that there is not, and for an option
    that it has not."""
    if task.method not in METHODS:
        raise no_such("approximation for weighted graphs", task.method, METHODS)
    for name, of_method in (("masters", "clusters"), ("seed", "clusters"), ("iterations", "sweep")):
        if name in own and task.method != of_method:
            raise InputError(f"--{name} is of the method {of_method}", remedy="leave it out")
    if own.get("iterations", 1) < 1:
        raise InputError("iterations are at least 1", text=str(own["iterations"]))
    return ApproximationOptions(**own)


def solve(session: Session) -> WeightedApproximation:
    """Bounds on the largest length of a shortest path between two vertices that are joined by one, and an estimate.

    Raises InputError (BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the end of the time,
    OverflowError where distances may not fit 64 bits."""
    by_clusters = session.task.method == "clusters"
    return solved(session, max(8 * COLUMNS, STATE_BYTES if by_clusters else 0), METHODS[session.task.method], _bounded,
                  _LEAST_ROOM if by_clusters else 0)


def _bounded(stages: Stages, search: WeightedSweep) -> WeightedApproximation:
    asked: ApproximationOptions = stages.task.options
    search.iterations = asked.iterations or 1
    if isinstance(search, WeightedClusters):
        n, item = stages.store.n_vertices, AUTO if asked.masters is None else asked.masters
        masters = min(_MOST, 1 + n // _SHARE) if item == AUTO else resolve_masters(item, n)
        search.masters, search.seed, search.room = masters, asked.seed or 0, stages.room
        search.or_fewer = item == AUTO
        stages.planned = stages.memory
    with stages.solving(search, lambda: _answer(stages, search, asked)):
        search.solve()
    path = stages.checked(search)
    result = _answer(stages, search, asked)
    result.witness = stages.witness(search, path)
    result.witness.path = None
    return stages.end(result)


def _answer(stages: Stages, search: WeightedSweep, asked: ApproximationOptions) -> WeightedApproximation:
    """What is proved so far, without a witness."""
    length = stages.units.length
    result = stages.answer(WeightedApproximation, search, known_diameter=asked.known_diameter)
    result.details["iterations"] = search.done
    result.estimate = result.lower
    if isinstance(search, WeightedClusters):
        result.estimate, result.seed = result.upper, search.seed
        if search.clusters is not None:
            result.masters, result.rounds = len(search.clusters.masters), search.clusters.stages
            result.details["delta"] = search.clusters.delta
        if search.quotient is not None:
            rows = search.quotient.rows
            result.max_master_distance = length(int(search.quotient.radii.max()))
            result.max_master_gap = length(int(rows.largest_weight)) if rows.n_arcs else None
            result.condensed = Condensed(rows.n_vertices, rows.n_arcs // 2)
    result.rate()
    return result
