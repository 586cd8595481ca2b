"""One run for all eccentricities of a weighted graph, from its options to its result and its file.

Bytes: see stages.py; a vertex: 41, most of it for what is told of all together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...durable import check_file
from ...engine.attempts import attempted
from ...errors import EmdiamError, InputError
from ...progress import Listener, timed
from ...sssp.rows import unreached
from ...store.store import Store
from ...vertex_tables import PIECE, Piece, write_vertices, writing_bytes
from ...weighted.heights import NEVER
from ..exact.witness import REPORT
from .eccentricities import ALL, CENTER, RADIUS
from .eccentricities import WeightedEccentricities as Search
from .eccentricity_certificate import write_certificate
from .eccentricity_result import WeightedEccentricities, histogram, interval_of_radius, of_largest
from .stages import RunOptions, Stages, given_fields, opened

_TOLD_BYTES = 41


@dataclass(frozen=True)
class EccentricityOptions(RunOptions):
    """what : ALL, or RADIUS or CENTER of the component with the most vertices. out : a file for the eccentricities.
    certificate : a file for the proof of all of them. keep : whether the result has them."""

    what: str = ALL
    out: Path | None = None
    certificate: Path | None = None
    keep: bool = False

    def __post_init__(self) -> None:
        if self.what not in (ALL, RADIUS, CENTER):
            raise InputError("unknown part of the eccentricities", text=self.what,
                             remedy=f"use {ALL}, {RADIUS} or {CENTER}")
        if self.certificate is not None and self.what != ALL:
            raise InputError("a certificate needs all eccentricities", text=str(self.certificate),
                             remedy="leave out --radius and --center")


def options_of(given: Mapping[str, Any]) -> EccentricityOptions:
    """The options by the names of the command line; None counts as not given. Raises InputError for those that a run on
    a weighted graph has not."""
    rest = {name: value for name, value in given.items() if name not in ("what", "keep")}
    return EccentricityOptions(what=given.get("what") or ALL, keep=bool(given.get("keep")),
                               **given_fields(rest, {"out": ("out", Path), "certificate": ("certificate", Path)}))


def solve(store: Store | str | Path, asked: EccentricityOptions,
          progress: Listener | None = None) -> WeightedEccentricities:
    """The largest length of a shortest path from every vertex, within its component.

    Raises InputError (StoreError; BudgetError with the numbers; NotWritten with `result`), StoppedEarly with `result`
    on Ctrl-C and at the end of the time, OverflowError where distances may not fit 64 bits."""
    for file in (asked.out, asked.certificate):
        if file is not None:
            check_file(file)
    held = 0 if asked.out is None else writing_bytes()
    with opened(store, asked) as place:
        return attempted(lambda found: _solved(
            Stages(place, asked, progress, _TOLD_BYTES, held_bytes=held, found=found), asked))


def _solved(stages: Stages, asked: EccentricityOptions) -> WeightedEccentricities:
    """The answer, checked. Raises StoppedEarly, NotWritten."""
    with stages.opened_arcs() as arcs:
        return stages.proved(
            lambda: _settled(stages, stages.with_room(Search(arcs, stages.units, asked.what)), asked))


def _settled(stages: Stages, search: Search, asked: EccentricityOptions) -> WeightedEccentricities:
    if asked.certificate is not None and stages.units.rounded:  # known once a sum of weights was too long
        raise InputError("sums of these weights have more digits than 64 bits, and a certificate has no intervals",
                         remedy="leave out --certificate, or round the weights to a few decimals and convert again")
    with stages.solving(search, lambda: _answer(stages, search, asked, whole=False)):
        search.solve()
    path = stages.checked(search) if asked.what == ALL else None
    _check_radius(stages, search)
    result = _answer(stages, search, asked, whole=True)
    result.witness = None if path is None else stages.witness(search, path)
    if asked.certificate is not None:
        stages.certify(result, asked.certificate, lambda file: write_certificate(file, result, search, stages.store))
    stages.end(result)
    return result


def _answer(stages: Stages, search: Search, asked: EccentricityOptions, whole: bool) -> WeightedEccentricities:
    """What is proved, and the file of it. whole : whether the run came to its end."""
    told, parts = stages.told(search), search.parts
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
    told["details"].update(what=asked.what, interval_radius=interval_of_radius(lower, upper, vertices, stages.units))
    result = WeightedEccentricities(
        method=search.name, **{**told, "exact": whole and not stages.units.rounded}, **largest, histogram=counts,
        histogram_width=width,
        unresolved=len(lower) - int(np.count_nonzero(proved)), sources=search.work.n_sources)
    if asked.keep:
        result.ids = list(stages.store.user_ids(np.arange(len(lower))))
        result.lower_bounds, result.upper_bounds = stages.units.lengths(lower), stages.units.lengths(upper)
    if asked.out is not None:
        try:
            with timed(result.seconds, "write"):
                write_vertices(asked.out, _pieces(stages, search, lower, upper), "the table of eccentricities")
            result.seconds["total"] += result.seconds["write"]
            result.out = str(asked.out)
        except InputError as error:
            result.not_written.append(str(error))
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


def _pieces(stages: Stages, search: Search, lower: np.ndarray, upper: np.ndarray) -> Iterator[Piece]:
    """A row for every vertex in the order of the store, in pieces: id, eccentricity (lower and upper where some bounds
    differ), component (the id of its smallest vertex). lower, upper : see Search.intervals."""
    store, units, parts = stages.store, stages.units, search.parts
    bounds = {"eccentricity": lower} if (lower == upper).all() else {"lower": lower, "upper": upper}
    for start in range(0, len(lower), PIECE):
        ids = np.arange(start, min(start + PIECE, len(lower)))
        yield {"id": store.user_ids(ids), **{name: units.lengths(values[ids]) for name, values in bounds.items()},
               "component": store.user_ids(parts.roots[parts.component[ids]])}
