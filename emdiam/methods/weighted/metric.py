"""Distances as sums of weights, along the arcs of a graph without directions, in RAM or elsewhere.

A longest pair is checked by a search from its first end
that shares nothing with earlier searches. No arc leads to a vertex in less than its distance, so no distance is too
large. And along a path, the weights are summed again, edge by edge, to the distance of the second end, so that it is
not too small.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import EmdiamError, InputError
from ...jit import kernel
from ...paths.arcs import Arcs, WeightedComponents, components_of
from ...paths.rows import unreached
from ...progress import Event, Listener, silent, timed
from ...store.store import Store
from ...stream.counters import Counters
from ..metric import Metric
from ..result import Witness
from ..run import Best, MethodRun
from ..witness import LONGEST_KEPT_PATH, REPORT, write_path
from .bounds import NEVER
from .units import Units, exact_exponent, round_down, units_of


class WeightMetric(Metric):
    """arcs : of at least one vertex. units : of lengths. parts : components. run : the run whose bounds are reported.
    store : for the ids of a witness."""

    def __init__(self, arcs: Arcs, units: Units | None = None, listener: Listener = silent,
                 store: Store | None = None) -> None:
        super().__init__()
        self.arcs, self.units = arcs, units_of(arcs) if units is None else units
        self.n_vertices, self.n_edges, self.store = arcs.n_vertices, arcs.n_arcs // 2, store
        self.run: MethodRun | None = None
        self._listener, self._relaxed, self._phase = listener, 0, "search"

    @property
    def search(self) -> Callable[..., Any]:
        """Distances of every vertex from the nearest source, and arcs relaxed, for in_units; see Arcs.nearest."""
        return self.arcs.nearest

    def in_units(self, distances: np.ndarray, relaxed: int) -> np.ndarray:
        """The distances found by a search, in units, the largest value without a path; counts its work. Raises
        SumsTooLongError if sums are not exact."""
        self._relaxed += relaxed
        return self.units.counted(distances)

    def summed(self, distances: np.ndarray, relaxed: int) -> np.ndarray:
        """As in_units; along floats the sums that the search has found, which may be rounded."""
        if self.units.whole:
            return self.in_units(distances, relaxed)
        self._relaxed += relaxed
        return distances

    @cached_property
    def parts(self) -> WeightedComponents:
        """See components."""
        return self.components()

    def components(self, start: int = 0) -> WeightedComponents:
        """The components, by one pass."""
        return components_of(self.arcs)

    def round_down(self) -> None:
        """Restart with weights that are rounded down, so that all sums are exact."""
        with timed(self.seconds, "round"):
            self.units = round_down(self.arcs, exact_exponent(self.arcs, self.parts.roots))
        self._relaxed = 0

    def fields(self) -> dict[str, Any]:
        """See Metric: dtype and name of the weights."""
        if self.store is None:
            return {}
        weights = self.store.record.weights
        return {"weights": None if weights is None else weights.dtype, "weight": self.store.record.weight_name}

    def facts(self) -> dict[str, Any]:
        """See Metric: the rounding."""
        rounded = {"rounded_to": 2.0**self.units.exponent} if self.units.rounded else {}
        return rounded if self.store is None else {**rounded, **self.store.record.rounded_weights}

    def number(self, length: int) -> Any:
        """See Metric; a bound that was cut (see most) becomes that of a path with every vertex."""
        return self.units.length(length) if length < NEVER else self._longest

    def lengths(self, bounds: np.ndarray) -> np.ndarray:
        """As `number`, for bounds in units, integers[k]."""
        found, cut = self.units.lengths(bounds), bounds >= NEVER
        return np.where(cut, self._longest, found) if cut.any() else found

    @property
    def _longest(self) -> Any:
        """A length above that of any path."""
        units, steps = self.units, max(0, self.n_vertices - 1)
        if units.whole:
            return units.length(steps * int(self.arcs.largest_weight))
        return float(np.nextafter(steps * (float(self.arcs.largest_weight) + 2.0**units.exponent), np.inf))

    def proved(self, lower: int, upper: int) -> tuple[int, int]:
        """See Metric. A path has fewer edges than its component has vertices, and each has lost less than a
        unit."""
        return lower, upper + (int(self.parts.sizes.max()) - 1 if self.units.rounded else 0)

    def most(self, steps: int) -> int:
        """See Metric."""
        return min(int(NEVER), steps * self.largest_weight)

    @property
    def largest_weight(self) -> int:
        """The largest weight of an arc, in units; it may exceed any distance."""
        return min(int(NEVER), self.units.of_weight(self.arcs.largest_weight))

    def used(self) -> Counters:
        """See Metric; includes the bytes read to load the arcs."""
        return Counters(edges_scanned=self._relaxed, bytes_read=self.arcs.bytes_read)

    def beat(self) -> None:
        """Called within searches, several times a second."""
        if self.run is not None:
            self.run.tick(self._phase)

    def tick(self, phase: str, **facts: Any) -> None:
        """See Metric; later searches belong to this phase."""
        self._phase = phase
        lower, upper = self.proved(facts.pop("lower"), facts.pop("upper"))
        self._listener(Event(phase, facts={"lower": self.number(lower), "upper": self.number(upper), **facts}))

    def check(self, run: MethodRun) -> Witness | None:
        """See Metric; writes the path, if requested, and leaves it out of the witness if it is long."""
        assert self.store is not None, "an answer needs the ids of a store"
        path = checked_path(self.arcs, self.units, run.best)
        kept = len(path) <= LONGEST_KEPT_PATH
        names = self.store.user_ids(np.array(path if kept else [path[0], path[-1]]))
        witness = Witness(names[0], names[-1], self.number(run.best.length), list(names) if kept else None)
        file = run.options.path_file
        if file is not None:
            try:
                write_path(self.store, [np.array(path)], file)
                witness.path_file = str(file)
            except InputError as error:
                run.not_written.append(str(error))
        return witness


def checked_path(arcs: Arcs, units: Units, longest: Best) -> list[int]:
    """The vertices of a shortest path between the ends of the longest distance. Raises EmdiamError if a check fails
    (a fault of emdiam)."""
    distances = arcs.again(longest.source)
    found = int(units.counted(distances[[longest.target]])[0])
    if found != longest.length:
        raise EmdiamError(f"the second search finds {units.length(found)} in place of"
                          f" {units.length(longest.length)}: {REPORT}")
    none = unreached(distances.dtype)
    if any(first_shorter(*piece, distances, none) >= 0 for piece in arcs.pieces()):
        raise EmdiamError(f"the distances from the witness are not distances: {REPORT}")
    path = _path(arcs.forest(distances, np.array([longest.source])), longest)
    if path[0] != longest.source or _length(arcs, path) != distances[longest.target]:
        raise EmdiamError(f"no path joins the witness: {REPORT}")
    return path


def _path(before: np.ndarray, longest: Best) -> list[int]:
    """The path from the second end back as far as possible, in the order from the first end."""
    path = [longest.target]
    while path[-1] != longest.source and len(path) <= len(before) and before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    path.reverse()
    return path


def _length(arcs: Arcs, path: list[int]) -> int | float:
    """The sum of the weights along a path; -1 if it has an edge that does not exist."""
    after = np.full(arcs.n_vertices, -1, np.int64)
    after[path[:-1]] = path[1:]
    weights = np.full(arcs.n_vertices, unreached(arcs.distance_dtype), arcs.distance_dtype)
    found = sum(weigh_path(*piece, after, weights) for piece in arcs.pieces())
    return weights[path[:-1]].sum().item() if found == len(path) - 1 else -1


@kernel
def first_shorter(first, offsets, heads, costs, distances, none):
    """The first vertex with an arc to a vertex whose distance is larger by more than its weight, -1 if there is none;
    an arc from a reached vertex to an unreached one also counts."""
    for i in range(len(offsets) - 1):
        v = first + i
        if distances[v] == none:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            if distances[v] + costs[p] < distances[np.int64(heads[p])]:
                return v
    return -1


@kernel
def weigh_path(first, offsets, heads, costs, after, weights):
    """weights[v] = weight of the arc from v to after[v], if that is 0 or more; returns their number in this piece."""
    found = 0
    for i in range(len(offsets) - 1):
        v = first + i
        if after[v] < 0:
            continue
        for p in range(offsets[i], offsets[i + 1]):
            if np.int64(heads[p]) == after[v]:
                weights[v] = costs[p]
                found += 1
    return found
