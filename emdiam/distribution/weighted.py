"""The distribution of distances along weights, with or without directions, and centralities of vertices by them, for
samples also along arcs of length 1.

There is a search from each source, of a random sample or of all vertices. Pairs are unordered without directions; with
directions they are of a vertex and another one that it reaches. A pair of a vertex and itself is not counted; pairs at
distance 0, where weights are 0, are. The mean is that of all counted pairs, exactly. Distances are counted in ranges of
a whole number of units each: 1 if none exceeds 65,536 units, else 10, 100, ... units (distance_table.py), from
multiples of their width on. A quantile is the smallest distance within which that share of the pairs is. If ranges are
counted, it is interpolated within its range, so that it is off by less than a width.

Intervals for a sample: for mean and effective diameter as in numbers of edges (result.py). For a centrality of a
vertex, let x be 1 if a drawn source is another vertex joined by a path, else 0, y the distance, and h its inverse, 0
without a path. Then closeness is mean(x)^2 / mean(y), and harmonic centrality (n - 1) mean(h). The variance of
closeness is that of the linear terms (the delta method), with the correction for a finite population, and its interval
is normal. A few near vertices make up most of a harmonic centrality, and a sample without them gives no sign of it:
normal intervals were right for 77 % of samples of streets. So the 128 nearest vertices of each are counted exactly, by
a search that ends there. With h of all others, the interval is Student's through Hall's transformation, which removes
the skewness of the statistic: on roads 93 to 97 % are right (python -m bench.coverage). If arcs are not in RAM, only
single arcs are used: with m the shortest arc of a vertex and g that of the graph, a distance below m + g is an arc. In
that case, and if all drawn values are equal, the interval for the mean of the other h, which are at most 1 / (m + g),
is that of the empirical Bernstein-Serfling inequality. It is right at least as often as its level says, for every
sample without replacement and all sizes, and is many times wider.

Searches: one a source; along arcs two if centralities are wanted. Bytes a vertex: those of searches, 8 for a
column, and 64, along arcs 128, for centralities.
Sources: Cochran, Sampling Techniques, 1977, chapter 6, for the delta method of a ratio; Bardenet and Maillard,
Concentration inequalities for sampling without replacement, Bernoulli 2015, theorem 4.3; Hall, On the removal of
skewness by transformation, J. R. Statist. Soc. B 54, 1992.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InputError, StoppedEarly
from ..methods.directed.weighted import WeightedArcMetric, signed
from ..methods.weighted.metric import WeightMetric
from ..methods.weighted.units import SumsTooLongError, Units, scaled
from ..paths.rows import unreached
from ..progress import Meter, TimeOver, silent, timed
from ..traverse.distance_table import DistanceTable, PairCounts
from ..vertex_tables import PIECE, Piece, write_vertices
from .directed import DirectedDistances
from .result import (
    EXACT,
    HYPERBALL,
    LEVEL,
    SAMPLE,
    DistanceOptions,
    Distances,
    Figures,
    intervals,
    jackknife,
    options_of,
    student,
)
from .sources import MOST_GROUPS

if TYPE_CHECKING:
    from ..methods.run import Limits
    from ..paths.arcs import Arcs
    from ..runs.task import Session, Task

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
# Largest value in a table, so that the sum of amounts by which distances exceed the first of their range fits 64 bits.
_LARGEST = 1 << 31
# The width of ranges is chosen by the longest distance from the first source, times this.
_SPARE = 8
_VERTEX_BYTES, _SUMS_BYTES = 40, 64
# Vertices whose distances to another one are counted exactly for its harmonic centrality, beside a sample.
NEAR = 128
_LEAST_SKEW = 1e-9
_PIECE_ARCS = 1 << 16
_FAR = 2.0**62
# Weights of fewer units than 2 to this are too far from their rounded ones for their inverses.
_LEAST_BITS = 20


@dataclass(repr=False)
class WeightedDistances(Distances):
    """As Distances; distances are sums of weights: whole numbers, or floats if weights are. pairs : by the first
    distance of each range. histogram_width : width of the ranges; None if each range is one smallest unit of the
    weights. quantiles : by share of the pairs, the distance within which that share is. weights, weight : as in an
    exact result."""

    shown: ClassVar[tuple[str, ...]] = (*Distances.shown, "weight", "weights")

    quantiles: dict[str, Any] = field(default_factory=dict)
    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class WeightedArcDistances(WeightedDistances, DirectedDistances):
    """As WeightedDistances and DirectedDistances."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedDistances.shown, "weight", "weights")

    directed: bool = True  # if two base classes have different defaults, the field has that of the first


def options(task: Task, own: dict[str, Any], limits: Limits) -> DistanceOptions:
    """The options of distances along weights. Raises InputError."""
    asked = options_of(task, own)
    if asked.method == HYPERBALL:
        raise InputError("HyperBall counts edges, not weights", remedy="use --sample or --exact")
    return asked


def solve(session: Session, weighted: bool = True) -> Any:
    """The result, along weights that are rounded down if their sums are not exact. weighted : whether lengths are
    weights; else arcs have length 1, and the result is a DirectedDistances. Raises InputError
    (BudgetError), and StoppedEarly on Ctrl-C and when the time is over, with `result` if sources have been counted
    by then."""
    if session.task.options.of_table:
        from .table import solve as solve_table

        return solve_table(session, weighted=weighted)
    asked, directed = session.task.options, session.store.directed
    sums = _SUMS_BYTES * (1 + directed) + 16 * asked.keep if asked.centralities else 0
    with session.along_weights(_VERTEX_BYTES + sums, weighted=weighted) as (metric, plan):
        while True:
            count, why = _Count(session, metric, weighted), "the time limit is over"
            try:
                count.run()
            except KeyboardInterrupt:
                why = "stopped by the user"
            except TimeOver:
                pass
            except SumsTooLongError:
                least = _least_weight(metric.arcs) if asked.centralities else math.inf
                metric.round_down()
                if least < 2.0 ** (metric.units.exponent + _LEAST_BITS):
                    raise _inexact(least, metric.units) from None
                continue
            break
        if not count.samples:
            raise StoppedEarly(f"{why} before anything was counted")
        result = count.result()
        if asked.out is not None:
            session.write(result, "out", asked.out, lambda: write_vertices(
                asked.out, count.centralities(), "the table"))
        if asked.keep:
            result.closeness, result.harmonic = count.kept()
        session.tell(result, session.memory_bytes, plan.need)
        result.bytes_read = metric.used().bytes_read
        result.seconds = {**metric.seconds, **count.seconds, **result.seconds, "total": session.elapsed}
    if not result.complete:
        raise StoppedEarly(f"{why}; the answer is that of {result.samples:,} sources", result)
    return result


def _inexact(least: float, units: Units) -> InputError:
    """The error for inverses of distances in these units. least : the least weight above 0. Integers, as of weights
    with few decimals, have only some bits more than these units."""
    if least < 2.0**units.exponent:
        return InputError("the sizes of these weights differ too much for exact inverses of distances", text=str(least),
                          remedy="ask for no centralities, or leave out the edges with the smallest weights")
    return InputError("sums of these weights, and so the inverses of distances, are not exact", text=str(least),
                      remedy="round the weights to a few decimals, and convert again")


def _least_weight(arcs: Arcs) -> float:
    """The least weight above 0 of all arcs."""
    return min((float(piece.costs.min(initial=np.inf, where=piece.costs > 0)) for piece in arcs.pieces()),
               default=math.inf)


class _Nearest:
    """The near vertices of each vertex, which are counted exactly. sums : of the inverses of distances below `least`,
    float64[n]. least : infinite if no other vertex is farther. within : whether near vertices are from balls; else from
    single arcs. arcs : into vertices, or out of them, like the distances. count : vertices of a ball; 0: only arcs."""

    def __init__(self, arcs: Arcs, units: Units, count: int = 0) -> None:
        found = arcs.balls(count) if count else None
        self.within = found is not None
        self._by_arcs(arcs, units)
        if found is None:
            return
        radii, sums = found
        least = np.where(radii == unreached(radii.dtype), np.inf, units.lengths(radii) if units.whole else radii)
        farther = least > self.least
        self.least[farther], self.sums[farther] = least[farther], sums[farther] * 10.0**units.decimals

    def _by_arcs(self, arcs: Arcs, units: Units) -> None:
        """Use arcs: a distance below the sum of a vertex's shortest arc and the graph's shortest arc is an arc."""
        n = arcs.n_vertices
        self.sums, shortest, smallest = np.zeros(n), np.full(n, np.inf), np.inf
        for rows, lengths in _arc_lengths(arcs, units):
            np.minimum.at(shortest, rows, lengths)
            smallest = min(smallest, lengths.min(initial=np.inf, where=lengths > 0))
        # Slightly less, as sums of floats may be less than those of units.
        more = shortest.min(initial=np.inf)
        self.least = np.where(shortest > 0, shortest + more, smallest) * (1 - 1e-12)
        for rows, lengths in _arc_lengths(arcs, units):
            near = (lengths < self.least[rows]) & (lengths > 0)
            np.add.at(self.sums, rows[near], 1 / lengths[near])


def _arc_lengths(arcs: Arcs, units: Units) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The vertices of all arcs, int64[k], and their lengths, float64[k], in pieces."""
    for first, offsets, _, costs in arcs.pieces():
        begin = 0
        while begin < len(offsets) - 1:
            end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + _PIECE_ARCS, side="right")) - 1)
            some = costs[offsets[begin] : offsets[end]]
            # Weights beyond the limit are too long for these units, which are then given up.
            counted = some if units.whole else np.minimum(scaled(some, units), _FAR)
            yield (np.repeat(np.arange(first + begin, first + end), np.diff(offsets[begin : end + 1])),
                   np.asarray(units.lengths(counted.astype(np.int64)), np.float64))
            begin = end


class _Sums:
    """Sums over sources at every vertex, without the vertex itself, float64[6, n]: of x, y, y^2, h, h^2 and h^3, where
    h leaves out near vertices. nearest : the near vertices."""

    def __init__(self, nearest: _Nearest) -> None:
        self.nearest, self.values = nearest, np.zeros((6, len(nearest.sums)))

    def add(self, reached: np.ndarray, lengths: np.ndarray) -> None:
        """Add a source, with the others that it reaches, or that reach it, int64[k], at `lengths`, float64[k]."""
        far = (lengths > 0) & (lengths >= self.nearest.least[reached])
        inverse = np.divide(1, lengths, out=np.zeros(len(lengths)), where=far)
        for row, more in zip(self.values, (1, lengths, lengths**2, inverse, inverse**2, inverse**3), strict=True):
            row[reached] += more

    def columns(self, vertices: np.ndarray, drawn: np.ndarray, samples: int, exact: bool, suffix: str) -> Piece:
        """closeness and harmonic of vertices, with the ends of intervals if they are estimates. drawn : whether each
        was a source."""
        n = self.values.shape[1]
        x, y, y2, h, h2, h3 = self.values[:, vertices]
        k, near = np.maximum(1, samples - drawn), self.nearest.sums[vertices]
        mean_x, mean_y, mean_h = x / k, y / k, h / k
        closeness = np.divide(mean_x**2, mean_y, out=np.zeros(len(x)), where=mean_y > 0)
        found: dict[str, Any] = {f"closeness{suffix}": closeness, f"harmonic{suffix}": near + (n - 1) * mean_h}
        if exact:
            return found
        spread = NormalDist().inv_cdf((1 + LEVEL) / 2) * np.sqrt(np.maximum(0, 1 - k / max(1, n - 1)) / k)
        # closeness is about a x - b y.
        a, b = (np.divide(top, bottom, out=np.zeros(len(x)), where=mean_y > 0)
                for top, bottom in ((2 * mean_x, mean_y), (closeness, mean_y)))
        variance = a * a * mean_x - 2 * a * b * mean_y + b * b * y2 / k - (a * mean_x - b * mean_y)**2
        by = spread * np.sqrt(np.maximum(0, variance) * k / np.maximum(1, k - 1))
        variance = np.maximum(0, h2 / k - mean_h**2)
        reach = serfling(k, n - 1, variance, 1 / self.nearest.least[vertices])
        low, high = -reach, reach
        if self.nearest.within:
            third = h3 / k - 3 * mean_h * h2 / k + 2 * mean_h**3
            low, high = (np.where(variance > 0, end, side) for end, side in zip(
                skewed(k, n - 1, variance, third), (low, high), strict=True))
        # Drawn values are known; the others are between 0 and their largest possible value.
        most = h + (n - 1 - k) / self.nearest.least[vertices]
        return {**found, f"closeness{suffix}_low": np.maximum(0, closeness - by),
                f"closeness{suffix}_high": closeness + by,
                f"harmonic{suffix}_low": near + np.maximum(h, (n - 1) * (mean_h + low)),
                f"harmonic{suffix}_high": near + np.minimum(most, (n - 1) * (mean_h + high))}


def serfling(k: np.ndarray, n: int, variance: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Bound on the difference between the mean of n numbers from 0 to `largest` and the mean of a sample of k without
    replacement with this variance (divided by k), all float64[...], except with probability 1 - LEVEL: the empirical
    Bernstein-Serfling inequality. It fails on either side with 5 times the probability delta in its log(1 / delta)."""
    chance = math.log(10 / (1 - LEVEL))
    rest = np.where(k <= n / 2, 1 - (k - 1) / n, (1 - k / n) * (1 + 1 / k))
    return np.sqrt(2 * variance * rest * chance / k) + (7 / 3 + 3 / math.sqrt(2)) * largest * chance / k


def skewed(k: np.ndarray, n: int, variance: np.ndarray, third: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval for the mean of n numbers, minus the mean of a sample of k without replacement with this
    variance and third central moment (divided by k), both nonzero: Student's quantiles, through Hall's
    transformation, which removes the skewness of a t statistic."""
    share = k / n
    error = np.sqrt(variance * np.maximum(0, 1 - share) / np.maximum(1, k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.divide(third, variance**1.5) * (1 - 2 * share) / np.sqrt(1 - share) / np.sqrt(k)
    skew = np.where(np.isfinite(skew) & (np.abs(skew) > _LEAST_SKEW), skew, _LEAST_SKEW)
    quantile = student(LEVEL, int(k.max(initial=2)) - 1)
    low, high = (-error * 3 / skew * (np.cbrt(1 + skew * (at - skew / 6)) - 1) for at in (quantile, -quantile))
    return low, high


class _Count:
    """One run. samples : number of sources counted. seconds : wall seconds of its stages."""

    def __init__(self, session: Session, metric: WeightMetric, weighted: bool) -> None:
        self._weighted = weighted
        self._session, self._metric, self._asked = session, metric, session.task.options
        self.samples, self.seconds, self._complete = 0, dict[str, float](), False
        self._n, self._directed = metric.n_vertices, isinstance(metric, WeightedArcMetric)
        self._table, self._step, self._total, self._pairs = DistanceTable(MOST_GROUPS), 0, 0, 0
        ways = 1 + self._directed if self._asked.centralities else 0
        # Sums at the vertices that sources reach, and at those that reach sources.
        sides = [metric.into, metric.arcs] if isinstance(metric, WeightedArcMetric) else [metric.arcs]
        near = NEAR if self._asked.method == SAMPLE else 0
        self._sums = [_Sums(_Nearest(arcs, metric.units, near)) for arcs in sides[:ways]]
        self._drawn = np.zeros(self._n, np.bool_)

    def run(self) -> None:
        """Count from source after source. Raises SumsTooLongError."""
        sources, deadline = self._sources(), self._session.deadline
        meter = Meter(self._session.progress or silent)
        meter.begin("count", len(sources), "sources")
        with timed(self.seconds, "count"):
            for number, source in enumerate(sources.tolist()):
                if deadline is not None and time.monotonic() >= deadline:
                    return
                self._count(source, number * MOST_GROUPS // len(sources))
                meter.update(number + 1)
        meter.end()
        self._complete = True

    def _sources(self) -> np.ndarray:
        """Sources in random order, so that those done so far are a sample too; the same in every order of a store."""
        store, random = self._session.store, np.random.default_rng(self._asked.seed)
        ranks = random.permutation(self._n)
        if self._asked.method == SAMPLE:
            ranks = ranks[: self._asked.sample]
        placed = store.natural_ids()
        return ranks if placed is None else np.argsort(placed, kind="stable")[ranks]

    def _column(self, source: int, back: bool) -> np.ndarray:
        """Distances in units, the largest value without a path."""
        if isinstance(self._metric, WeightedArcMetric):
            found = self._metric.search(source, back=back).distances
            assert found is not None
            return found.raw()
        return signed(self._metric.in_units(*self._metric.search(np.array([source]))))

    def _count(self, source: int, group: int) -> None:
        for back, sums in enumerate(self._sums or [None]):
            column = self._column(source, bool(back))
            reached = np.flatnonzero(column != np.iinfo(column.dtype).max)
            reached = reached[reached != source]
            units = column[reached].astype(np.int64)
            if sums is not None:
                sums.add(reached, self._metric.units.lengths(units))
            if not back:
                self._add(units, group)
        self._drawn[source] = True
        self.samples += 1

    def _add(self, units: np.ndarray, group: int) -> None:
        """Count the distances from a source to others."""
        if not self._step:
            longest = _SPARE * int(units.max(initial=1))
            self._step = 10 ** max(0, math.ceil(math.log10(longest / _LARGEST)))
        self._table.add_values(group, units // self._step)
        self._pairs += len(units)
        # In two halves of 32 bits, so that no sum overflows.
        self._total += (int((units >> 32).sum()) << 32) + int((units & 0xFFFFFFFF).sum())

    # -- the answer -----------------------------------------------------------------------------
    def result(self) -> Distances:
        """The result of the sources counted so far."""
        n, asked, metric = self._n, self._asked, self._metric
        exact, pairs, units = self.samples == n, self._table.total(), metric.units
        share, width = n / self.samples / (1 if self._directed else 2), self._table.width * self._step
        quantiles = {share_of: self._quantile(pairs, share_of) for share_of in sorted({*SHARES, asked.quantile})}
        value = self._value
        mean = value(Fraction(self._total, self._pairs)) if self._pairs else None
        effective = None if mean is None else value(quantiles[asked.quantile])
        error = Figures(0.0, 0.0) if exact else self._errors()
        confidence = None if exact or mean is None or effective is None or error is None else intervals(
            Figures(mean, effective), error, self._table.groups)
        facts: dict[str, Any] = {
            "n_vertices": n, "n_edges": metric.n_edges, "method": EXACT if exact else SAMPLE, "samples": self.samples,
            "complete": self._complete, "seed": asked.seed, "quantile": asked.quantile, "mean": mean,
            "pairs": {units.length(i * width): round(share * count)
                      for i, count in enumerate(pairs.counts.tolist()) if count},
            "histogram_width": None if width == 1 else units.length(width), "effective_diameter": effective,
            "quantiles": {} if mean is None else {f"{one:g}": value(at) for one, at in quantiles.items()},
            "standard_error": None if mean is None else error, "edges_scanned": metric.used().edges_scanned,
            "confidence": confidence, "details": {**metric.facts(), **self._how()}, **self._components(share)}
        if not self._weighted:
            del facts["quantiles"]
            return DirectedDistances(**facts)
        return (WeightedArcDistances if self._directed else WeightedDistances)(**facts, **metric.fields())

    def _how(self) -> dict[str, Any]:
        """The method of intervals of harmonic centralities."""
        if not self._sums or self.samples == self._n:
            return {}
        return {"harmonic_interval": "Hall" if self._sums[0].nearest.within else "Bernstein-Serfling"}

    def _components(self, share: float) -> dict[str, Any]:
        """Facts on components, and pairs without a path: along arcs an estimate if not all vertices were sources."""
        n, metric = self._n, self._metric
        if isinstance(metric, WeightedArcMetric):
            strong = metric.strong
            return {"connected": strong.n_weak == 1, "n_components": strong.n_weak,
                    "unreachable_pairs": round(share * (self.samples * (n - 1) - self._pairs)),
                    "strongly_connected": strong.n_strong == 1, "n_strong_components": strong.n_strong}
        sizes = metric.parts.sizes.tolist()
        return {"connected": len(sizes) == 1, "n_components": len(sizes),
                "unreachable_pairs": n * (n - 1) // 2 - sum(size * (size - 1) // 2 for size in sizes)}

    def _value(self, units: Fraction | int) -> float:
        """A number of units, maybe fractional, as lengths are shown to users: the nearest float64."""
        one = self._metric.units
        unit = Fraction(1, 10**one.decimals) if one.whole else Fraction(2) ** one.exponent
        return float(units * unit)

    def _quantile(self, pairs: PairCounts, share: float) -> Fraction | int:
        """The distance within which this share of the pairs is, in units."""
        within = np.cumsum(pairs.counts)
        if not len(within) or not within[-1]:
            return 0
        wanted = share * int(within[-1])
        at = min(int(np.searchsorted(within, wanted)), len(within) - 1)
        width = pairs.width * self._step
        if width == 1:
            return at
        part = (wanted - int(within[at] - pairs.counts[at])) / int(pairs.counts[at])
        return Fraction(at * width) + Fraction(part) * min(width, (pairs.largest + 1) * self._step - at * width)

    def _errors(self) -> Figures | None:
        """Standard errors, as lengths."""
        found = jackknife(self._table.without_each(), self._asked.quantile, 1 - self.samples / self._n)
        if found is None:
            return None
        unit = self._value(self._step)
        return Figures(found.mean * unit, found.effective_diameter * unit)

    def centralities(self) -> Iterator[Piece]:
        """Rows of all vertices, in increasing order of ids."""
        suffixes = ("_in", "_out") if self._directed else ("",)
        for vertices in self._in_order():
            columns = {name: values for sums, suffix in zip(self._sums, suffixes, strict=True)
                       for name, values in self._columns(sums, vertices, suffix).items()}
            yield {"id": self._session.store.user_ids(vertices), **columns}

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Closeness and harmonic centrality of all vertices, in increasing order of ids; along arcs by distances to
        them."""
        found = [self._columns(self._sums[0], vertices, "") for vertices in self._in_order()]
        close, harmonic = (np.concatenate([np.asarray(one[name]) for one in found]) for name in (
            "closeness", "harmonic"))
        return close, harmonic

    def _in_order(self) -> Iterator[np.ndarray]:
        """All vertices in increasing order of ids, in pieces."""
        placed = self._session.store.natural_ids()
        order = np.arange(self._n) if placed is None else np.argsort(placed, kind="stable")
        for start in range(0, self._n, PIECE):
            yield order[start : start + PIECE]

    def _columns(self, sums: _Sums, vertices: np.ndarray, suffix: str) -> Piece:
        return sums.columns(vertices, self._drawn[vertices], self.samples, self.samples == self._n, suffix)
