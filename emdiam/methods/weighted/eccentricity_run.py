"""One run for all eccentricities of a weighted graph, from its options to its result and its file.

Bytes: see stages.py; a vertex: 41, most of it for what is told of all together.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import EmdiamError, InputError
from ...paths.rows import unreached
from ...progress import timed
from ..eccentricity.output import in_pieces, write_table
from ..witness import REPORT
from .eccentricities import ALL, CENTER, RADIUS
from .eccentricities import WeightedEccentricities as Search
from .eccentricity_result import WeightedEccentricities, histogram, interval_of_radius, of_largest
from .heights import NEVER
from .stages import Stages, solved

if TYPE_CHECKING:
    from ...runs.task import Session, Task
    from ..definition import Limits

_TOLD_BYTES = 41


@dataclass(frozen=True)
class WeightedEccentricityOptions:
    """what : ALL, or RADIUS or CENTER of the component with the most vertices. out : a file for the eccentricities.
    keep : whether the result has them."""

    what: str = ALL
    out: Path | None = None
    keep: bool = False


def options(task: Task, own: dict[str, Any], limits: Limits) -> WeightedEccentricityOptions:
    """The options of those that were given by name. Raises InputError."""
    asked = WeightedEccentricityOptions(**own)
    if asked.what not in (ALL, RADIUS, CENTER):
        raise InputError("unknown part of the eccentricities", text=asked.what,
                         remedy=f"use {ALL}, {RADIUS} or {CENTER}")
    if task.certificate is not None and asked.what != ALL:
        raise InputError("a certificate needs all eccentricities", text=str(task.certificate),
                         remedy="leave out --radius and --center")
    return asked


def solve(session: Session) -> WeightedEccentricities:
    """The largest length of a shortest path from every vertex, within its component.

    Raises InputError (BudgetError with the numbers), StoppedEarly with `result` on Ctrl-C and at the end of the time,
    OverflowError where distances may not fit 64 bits."""
    return solved(session, _TOLD_BYTES, lambda arcs, units: Search(arcs, units, session.task.options.what), _settled)


def _settled(stages: Stages, search: Search) -> WeightedEccentricities:
    asked = stages.task.options
    if stages.task.certificate is not None and stages.units.rounded:  # known once a sum of weights was too long
        raise InputError("sums of these weights have more digits than 64 bits, and a certificate has no intervals",
                         remedy="leave out --certificate, or round the weights to a few decimals and convert again")
    with stages.solving(search, lambda: _answer(stages, search, asked, whole=False)):
        search.solve()
    path = stages.checked(search) if asked.what == ALL else None
    _check_radius(stages, search)
    result = _answer(stages, search, asked, whole=True)
    result.witness = None if path is None else stages.witness(search, path)
    stages.session.certify(result, stages.store, search)
    return stages.end(result)


def _answer(stages: Stages, search: Search, asked: WeightedEccentricityOptions, whole: bool) -> WeightedEccentricities:
    """What is proved, and the file of it. whole : whether the run came to its end."""
    parts = search.parts
    lower, upper = search.intervals()
    if stages.units.rounded:  # a path has fewer edges than its component has vertices
        lost = parts.sizes[parts.component].astype(np.int64) - 1
        upper = np.where(upper > NEVER - lost, NEVER, upper + lost)
    proved = lower == upper
    counts, width = histogram(lower[proved], stages.units) if asked.what == ALL else ({}, None)
    vertices = np.flatnonzero(parts.component == parts.largest)
    largest = of_largest(lower, upper, vertices, stages.units, stages.store)
    for name, needs in (("center", (ALL, CENTER)), ("periphery", (ALL,))):
        if asked.what not in needs:
            largest[name] = None
    result = stages.answer(
        WeightedEccentricities, search, exact=whole and not stages.units.rounded, **largest, histogram=counts,
        histogram_width=width,
        unresolved=len(lower) - int(np.count_nonzero(proved)), sources=search.work.n_sources)
    result.details.update(what=asked.what, interval_radius=interval_of_radius(lower, upper, vertices, stages.units))
    if asked.keep:
        result.ids = list(stages.store.user_ids(np.arange(len(lower))))
        result.lower_bounds, result.upper_bounds = stages.units.lengths(lower), stages.units.lengths(upper)
    if asked.out is not None:
        file = asked.out
        stages.session.write(result, "out", file, lambda: write_table(
            file, stages.store, ((start, stages.units.lengths(low), stages.units.lengths(high))
                                  for start, low, high in in_pieces(lower, upper)),
            lambda ids: parts.roots[parts.component[ids]], intervals=not proved.all()))
        result.seconds["total"] += result.seconds["write"]
    return result


def _check_radius(stages: Stages, search: Search) -> None:
    """Search again from a vertex of the smallest eccentricity of the largest component. Raises EmdiamError if it has
    another one (a fault of ours)."""
    vertices = np.flatnonzero(search.parts.component == search.parts.largest)
    vertex = int(vertices[search.upper[vertices].argmin()])
    with timed(stages.seconds, "verify"):
        distances = stages.units.counted(search.arcs.again(vertex))
        found = int(distances[distances != unreached(distances.dtype)].max())
    if found != int(search.upper[vertex]):
        raise EmdiamError(f"a second search from {vertex} finds another eccentricity, {found}: {REPORT}")
