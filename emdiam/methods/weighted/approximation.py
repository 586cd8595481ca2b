"""One approximation of the diameter of a weighted graph, from its options to its result: bounds that are proved.

Bytes: see stages.py; a vertex: 16 for two columns of a sweep, or 64 while clusters grow; the graph of clusters takes
what is left of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...engine.attempts import attempted
from ...errors import InputError, no_such
from ...progress import Listener
from ...store.store import Store
from ...units import parse_length
from ..approx.masters import AUTO, resolve_masters
from ..approx.result import Approximation, Condensed
from .clusters import WeightedClusters
from .growth import STATE_BYTES
from .stages import RunOptions, Stages, given_fields, opened
from .sweep import COLUMNS, WeightedSweep

METHODS: dict[str, type[WeightedSweep]] = {"sweep": WeightedSweep, "clusters": WeightedClusters}
# Of "auto": a master for so many vertices, and no more than so many.
_SHARE, _MOST = 16, 100_000
_LEAST_ROOM = 4 << 20


@dataclass(frozen=True)
class ApproximationOptions(RunOptions):
    """method : of METHODS. masters : how many there are to be, as resolve_masters takes it, or "auto"; None: that.
    seed : of their choice. iterations : sweeps. known_diameter : largest diameter of any component."""

    method: str = "clusters"
    masters: int | str | None = None
    seed: int | None = None
    iterations: int | None = None
    known_diameter: int | float | None = None

    def __post_init__(self) -> None:
        for name, of_method in (("masters", "clusters"), ("seed", "clusters"), ("iterations", "sweep")):
            if getattr(self, name) is not None and self.method != of_method:
                raise InputError(f"--{name} is of the method {of_method}", remedy="leave it out")
        if self.iterations is not None and self.iterations < 1:
            raise InputError("iterations are at least 1", text=str(self.iterations))


@dataclass(repr=False)
class WeightedApproximation(Approximation):
    """As Approximation, but lengths are sums of weights: whole numbers, or floats where weights are.

    max_master_distance : the longest path from a vertex to its master that was kept. max_master_gap : the longest edge
    of the graph of clusters. rounds : stages of growing. weights, weight : as in WeightedResult."""

    shown: ClassVar[tuple[str, ...]] = (*Approximation.shown, "weight", "weights")

    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


def options_of(given: Mapping[str, Any]) -> ApproximationOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError for those that a run on
    a weighted graph has not."""
    method, rest = given.get("method", "clusters"), {**given, "seed": None, "method": None}
    if method not in METHODS:
        raise no_such("approximation for weighted graphs", method, METHODS)
    fields = given_fields(rest, {"masters": ("masters", lambda item: item), "iterations": ("iterations", int),
                                 "known_diameter": ("known_diameter", parse_length)})
    return ApproximationOptions(method=method, seed=given.get("seed"), **fields)


def solve(store: Store | str | Path, asked: ApproximationOptions,
          progress: Listener | None = None) -> WeightedApproximation:
    """Bounds on the largest length of a shortest path between two vertices that are joined by one, and an estimate.

    Raises InputError (StoreError; BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the end of
    the time, OverflowError where distances may not fit 64 bits."""
    by_clusters = asked.method == "clusters"
    with opened(store, asked) as place:
        vertex_bytes = max(8 * COLUMNS, STATE_BYTES if by_clusters else 0)
        return attempted(lambda found: _solved(Stages(
            place, asked, progress, vertex_bytes, _LEAST_ROOM if by_clusters else 0, found=found), asked))


def _solved(stages: Stages, asked: ApproximationOptions) -> WeightedApproximation:
    """The answer, its lower bound checked. Raises StoppedEarly."""
    with stages.opened_arcs() as arcs:
        return stages.proved(lambda: _bounded(
            stages, stages.with_room(METHODS[asked.method](arcs, stages.units)), asked))


def _bounded(stages: Stages, search: WeightedSweep, asked: ApproximationOptions) -> WeightedApproximation:
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
    stages.end(result)
    return result


def _answer(stages: Stages, search: WeightedSweep, asked: ApproximationOptions) -> WeightedApproximation:
    """What is proved so far, without a witness."""
    told, length = stages.told(search), stages.units.length
    told["details"]["iterations"] = search.done
    result = WeightedApproximation(method=search.name, **told, known_diameter=asked.known_diameter)
    result.estimate = result.lower
    if isinstance(search, WeightedClusters):
        result.estimate, result.seed = result.upper, search.seed
        if search.clusters is not None:
            result.masters, result.rounds = len(search.clusters.masters), search.clusters.stages
            told["details"]["delta"] = search.clusters.delta
        if search.quotient is not None:
            rows = search.quotient.rows
            result.max_master_distance = length(int(search.quotient.radii.max()))
            result.max_master_gap = length(int(rows.largest_weight)) if rows.n_arcs else None
            result.condensed = Condensed(rows.n_vertices, rows.n_arcs // 2)
    result.rate()
    return result
