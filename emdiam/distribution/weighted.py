"""How distances along weights are distributed, and along weighted arcs; and centralities of vertices by them, along
arcs of the length 1 too.

A search from each source, of a random sample of all vertices, or from all. Pairs are unordered without directions, else
of a vertex and another one that it reaches; none is counted of a vertex and itself, and those at the distance 0, where
weights are 0, are. The mean is that of all pairs that were counted, exactly. Distances are counted in ranges of a whole
number of units each: 1 where none exceeds 65,536 units, else 10, 100, ... of them (distance_table.py), from multiples
of their width on. A quantile is the smallest distance within which that share of the pairs is, or where ranges are
counted interpolated within the one that it lies in, so that it is off by less than a width.

Intervals of a sample: of mean and effective diameter as by numbers of edges (result.py). Of a centrality of a vertex:
with a source drawn, let x be whether it is another vertex and a path joins them, y the distance, and h its inverse, 0
without a path; then closeness is mean(x)^2 / mean(y), and harmonic centrality (n - 1) mean(h). The variance of
closeness is that of the linear terms (the delta method), with the correction for a finite population, and its interval
is normal. A few near vertices make most of a harmonic centrality, and a sample that lacks them cannot tell: normal
intervals held in 77 % of samples of streets. So the 128 nearest vertices of each are counted exactly, by a search that
ends there, and with h of all others, the interval is Student's through Hall's transformation, which takes the skewness
out of the statistic: on roads 93 to 97 % hold (python -m bench.coverage). Where arcs are not in RAM, what an arc alone
tells is known: with m the shortest arc of a vertex and g that of the graph, a distance below m + g is an arc. There,
and where all that was drawn is equal, the interval of the mean of the other h, which are at most 1 / (m + g), is that
of the empirical Bernstein-Serfling inequality: it holds at least as often as its level says, for every sample without
replacement and all sizes, and is many times wider.

Searches: one a source; along arcs two where centralities are asked for. Bytes a vertex: those of searches, 8 for a
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
    from ..methods.weighted.units import Units
    from ..paths.arcs import Arcs
    from ..runs.task import Session, Task

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
# Of largest values that a table counts, so that by how much distances exceed the first of their range fits 64 bits.
_LARGEST = 1 << 31
# The first source's longest distance, times this, is what the width of ranges is chosen by.
_SPARE = 8
_VERTEX_BYTES, _SUMS_BYTES = 40, 64
# Vertices whose distances to another one are counted exactly for its harmonic centrality, beside a sample.
NEAR = 128
_LEAST_SKEW = 1e-9
_PIECE_ARCS = 1 << 16


@dataclass(repr=False)
class WeightedDistances(Distances):
    """As Distances; distances are sums of weights: whole numbers, or floats where weights are. pairs : by the first
    distance of each range, of which histogram_width is the width; None where each whole number of the smallest unit of
    weights is alone. quantiles : the distance within which a share of the pairs is, by the share. weights, weight : as
    of an exact result."""

    shown: ClassVar[tuple[str, ...]] = (*Distances.shown, "weight", "weights")

    quantiles: dict[str, Any] = field(default_factory=dict)
    weighted: bool = True
    weights: str | None = None
    weight: str | None = None


@dataclass(repr=False)
class WeightedArcDistances(WeightedDistances, DirectedDistances):
    """As WeightedDistances and DirectedDistances."""

    shown: ClassVar[tuple[str, ...]] = (*DirectedDistances.shown, "weight", "weights")

    directed: bool = True  # of two classes with other defaults the first one has the field's


def options(task: Task, own: dict[str, Any], limits: Limits) -> DistanceOptions:
    """Those that distances along weights have. Raises InputError."""
    asked = options_of(own)
    if asked.method == HYPERBALL:
        raise InputError("HyperBall counts edges, not weights", remedy="use --sample or --exact")
    return asked


def solve(session: Session, weighted: bool = True) -> Any:
    """The result, along weights that are rounded down where sums of them are not exact. weighted : whether lengths are
    weights; else those of arcs are 1, and the result is a DirectedDistances. Raises InputError
    (BudgetError), and StoppedEarly on Ctrl-C and at the end of the time, with `result` where sources have been counted
    by then."""
    if session.task.options.of_table:
        from .table import solve as solve_table

        return solve_table(session, weighted=weighted)
    from ..methods.weighted.units import SumsTooLongError

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
                metric.round_down()
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


class _Nearest:
    """The near vertices of each, which are counted exactly. sums : of the inverses of distances below `least`,
    float64[n]; infinite where that is all. within : whether they are in balls; else they are what arcs alone tell. arcs
    : into vertices, or out of them, as distances go. count : vertices of a ball; 0 where arcs alone shall tell."""

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
        """A distance below the shortest arc of a vertex and that of the graph together is an arc."""
        n = arcs.n_vertices
        self.sums, shortest, smallest = np.zeros(n), np.full(n, np.inf), np.inf
        for rows, lengths in _arc_lengths(arcs, units):
            np.minimum.at(shortest, rows, lengths)
            smallest = min(smallest, lengths.min(initial=np.inf, where=lengths > 0))
        # A little less, as sums of floats may be less than those of units.
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
            counted = some if units.whole else np.ldexp(some.astype(np.float64), -units.exponent)
            yield (np.repeat(np.arange(first + begin, first + end), np.diff(offsets[begin : end + 1])),
                   np.asarray(units.lengths(counted.astype(np.int64)), np.float64))
            begin = end


class _Sums:
    """Sums over sources at every vertex, itself left out, float64[6, n]: of x, y, y^2, h, h^2 and h^3, these of what is
    not near. nearest : that."""

    def __init__(self, nearest: _Nearest) -> None:
        self.nearest, self.values = nearest, np.zeros((6, len(nearest.sums)))

    def add(self, reached: np.ndarray, lengths: np.ndarray) -> None:
        """A source that these others reach, or are reached from, int64[k], at lengths, float64[k]."""
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
        # What was drawn is known; the others are between 0 and the largest that they may be.
        most = h + (n - 1 - k) / self.nearest.least[vertices]
        return {**found, f"closeness{suffix}_low": np.maximum(0, closeness - by),
                f"closeness{suffix}_high": closeness + by,
                f"harmonic{suffix}_low": near + np.maximum(h, (n - 1) * (mean_h + low)),
                f"harmonic{suffix}_high": near + np.minimum(most, (n - 1) * (mean_h + high))}


def serfling(k: np.ndarray, n: int, variance: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """By how much the mean of n numbers from 0 to `largest` may be off that of a sample of k without replacement with
    this variance (divided by k), float64[...] all, but for a chance of 1 - LEVEL: the empirical Bernstein-Serfling
    inequality, which fails on either side with five times the chance that its logarithm is of."""
    chance = math.log(10 / (1 - LEVEL))
    rest = np.where(k <= n / 2, 1 - (k - 1) / n, (1 - k / n) * (1 + 1 / k))
    return np.sqrt(2 * variance * rest * chance / k) + (7 / 3 + 3 / math.sqrt(2)) * largest * chance / k


def skewed(k: np.ndarray, n: int, variance: np.ndarray, third: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the interval of the mean of n numbers, less that of a sample of k without replacement with this
    variance and third central moment (divided by k), which are not 0: Student's quantiles, through Hall's
    transformation, which takes the skewness out of a t statistic."""
    share = k / n
    error = np.sqrt(variance * np.maximum(0, 1 - share) / np.maximum(1, k - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = third / variance**1.5 * (1 - 2 * share) / np.sqrt(1 - share) / np.sqrt(k)
    skew = np.where(np.isfinite(skew) & (np.abs(skew) > _LEAST_SKEW), skew, _LEAST_SKEW)
    quantile = student(LEVEL, int(k.max(initial=2)) - 1)
    low, high = (-error * 3 / skew * (np.cbrt(1 + skew * (at - skew / 6)) - 1) for at in (quantile, -quantile))
    return low, high


class _Count:
    """One run. samples : sources that were counted. seconds : wall seconds of its stages."""

    def __init__(self, session: Session, metric: WeightMetric, weighted: bool) -> None:
        self._weighted = weighted
        self._session, self._metric, self._asked = session, metric, session.task.options
        self.samples, self.seconds, self._complete = 0, dict[str, float](), False
        self._n, self._directed = metric.n_vertices, isinstance(metric, WeightedArcMetric)
        self._table, self._step, self._total, self._pairs = DistanceTable(MOST_GROUPS), 0, 0, 0
        ways = 1 + self._directed if self._asked.centralities else 0
        # At the vertices that sources reach, and at those that reach them.
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
        """In random order, so that those that are done are a sample, too; the same in every order of a store."""
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
        """The distances of a source to others."""
        if not self._step:
            longest = _SPARE * int(units.max(initial=1))
            self._step = 10 ** max(0, math.ceil(math.log10(longest / _LARGEST)))
        self._table.add_values(group, units // self._step)
        self._pairs += len(units)
        # Halves, so that no sum is too long.
        self._total += (int((units >> 32).sum()) << 32) + int((units & 0xFFFFFFFF).sum())

    # -- the answer -----------------------------------------------------------------------------
    def result(self) -> Distances:
        """What is known by now."""
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
        """How intervals of harmonic centralities are made."""
        if not self._sums or self.samples == self._n:
            return {}
        return {"harmonic_interval": "Hall" if self._sums[0].nearest.within else "Bernstein-Serfling"}

    def _components(self, share: float) -> dict[str, Any]:
        """Of the graph, and pairs without a path: along arcs an estimate where not all vertices were sources."""
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
        """A number of units, maybe a part of one, as users see lengths: to the nearest float64."""
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
        """Closeness and harmonic centrality of all vertices, in increasing order of ids, along arcs those by distances
        to them."""
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
