"""What methods on weighted graphs without directions answer, beside all distances (float64[n, n], infinite without a
path)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emdiam.methods.eccentricity.eccentricities import ALL, CENTER, RADIUS, EccentricityOptions
from emdiam.methods.weighted.clusters import WeightedClusters, grow, quotient_of
from emdiam.methods.weighted.eccentricities import EccentricitySearch
from emdiam.methods.weighted.metric import WeightMetric, checked_path
from emdiam.methods.weighted.search import WeightedSearch
from emdiam.methods.weighted.sweep import WeightedSweep
from emdiam.paths.arcs import Arcs
from emdiam.paths.rows import WeightedRows
from emdiam.runs.weights import methods_of
from tests.helpers.lengths import all_pairs

# Methods of exact diameters, with what they may hold; parts of eccentricities; approximations, with iterations.
DIAMETERS: tuple[tuple[str, int | None], ...] = (("pivots", None), ("bounding", None), ("pivots", 0))
PARTS = (ALL, RADIUS, CENTER)
BOUNDS: tuple[tuple[type[WeightedSweep] | type[WeightedClusters], int], ...] = (
    (WeightedSweep, 1), (WeightedSweep, 3), (WeightedClusters, 1))


def longest(distances: np.ndarray) -> float:
    """The largest that is finite."""
    return float(distances[np.isfinite(distances)].max())


def largest_component(distances: np.ndarray) -> np.ndarray:
    """The vertices of the component of the most (ties: the first)."""
    finite = np.isfinite(distances)
    return np.flatnonzero(finite[int(finite.sum(axis=1).argmax())])


def eccentricities(distances: np.ndarray) -> np.ndarray:
    """Of every vertex, float64[n]."""
    return np.where(np.isfinite(distances), distances, 0).max(axis=1)


def solved(arcs: Arcs, method: str, room: int | None = None) -> WeightedSearch:
    """A search for the diameter that is done. room : bytes that it may hold, None: its own."""
    search = methods_of("exact")[method](WeightMetric(arcs))
    if room is not None:
        search.room = room  # type: ignore[attr-defined]
    search.solve()
    return search


def check_diameter(arcs: Arcs, distances: np.ndarray,
                   ways: Sequence[tuple[str, int | None]] = DIAMETERS) -> None:
    """Of all components and of the largest, and the path of that length."""
    largest = largest_component(distances)
    want = longest(distances), distances[np.ix_(largest, largest)].max()
    for way in ways:
        search = solved(arcs, *way)
        number = search.metric.number
        assert [number(one) for one in (search.best.length, search.upper())] == [want[0]] * 2, way
        assert [number(one) for one in search.interval_largest()] == [want[1]] * 2, way
        path = checked_path(arcs, search.metric.units, search.best)
        assert (path[0], path[-1]) == (search.best.source, search.best.target)


def check_eccentricities(arcs: Arcs, distances: np.ndarray, parts: Sequence[str] = PARTS) -> None:
    """All of them, or what a part needs."""
    want, largest = eccentricities(distances), largest_component(distances)
    for what in parts:
        search = EccentricitySearch(WeightMetric(arcs), EccentricityOptions(what=what))
        search.solve()
        lower, upper = (search.metric.units.lengths(one) for one in search.intervals())
        assert (lower <= want).all() and (want <= upper).all(), what
        lower, upper = lower[largest], upper[largest]
        radius = want[largest].min()
        if what == ALL:
            assert search.best.length == search.upper()
            assert (search.intervals()[0] == search.intervals()[1]).all()
        else:
            assert lower.min() == upper.min() == radius
            assert what == RADIUS or ((lower == upper) | (lower > radius)).all()


def check_bounds(arcs: Arcs, distances: np.ndarray, masters: int,
                 ways: Sequence[tuple[type[WeightedSweep] | type[WeightedClusters], int]] = BOUNDS) -> None:
    """They hold, and the lower one is the distance of the pair that is named."""
    want = longest(distances)
    for kind, iterations in ways:
        search = kind(WeightMetric(arcs))
        search.iterations = iterations  # type: ignore[union-attr]
        if isinstance(search, WeightedClusters):
            search.masters = masters
        search.solve()
        lower, upper = (search.metric.number(one) for one in (search.best.length, search.upper()))
        assert lower <= want <= upper, kind
        assert distances[search.best.source, search.best.target] == lower


def check_clusters(arcs: Arcs, rows: WeightedRows, distances: np.ndarray, masters: int) -> None:
    """Every vertex has a path of its length to its master; the graph of clusters has all edges between two of them, and
    its distances with the radii are above those of the graph. rows : the same graph."""
    metric = WeightMetric(arcs)
    units, clusters = metric.units, grow(arcs, metric.parts, masters, 3)
    k, cluster, lengths = len(clusters.masters), clusters.cluster, clusters.lengths.astype(float)
    assert (clusters.masters[cluster[clusters.masters]] == clusters.masters).all()
    assert (lengths[clusters.masters] == 0).all()
    assert (distances[np.arange(rows.n_vertices), clusters.masters[cluster]] <= lengths).all()
    quotient = quotient_of(arcs, units, clusters, 1 << 40)
    want: dict[tuple[int, int], float] = {}
    for v in range(rows.n_vertices):
        for p in range(rows.offsets[v], rows.offsets[v + 1]):
            u = int(rows.heads[p])
            if cluster[v] != cluster[u]:
                pair = int(cluster[v]), int(cluster[u])
                want[pair] = min(want.get(pair, np.inf), lengths[v] + float(rows.costs[p]) + lengths[u])
    found = {(a, int(quotient.rows.heads[p])): units.length(int(quotient.rows.costs[p]))
             for a in range(k) for p in range(quotient.rows.offsets[a], quotient.rows.offsets[a + 1])}
    assert found == want
    radii = units.lengths(quotient.radii)
    assert radii.tolist() == [lengths[cluster == c].max() for c in range(k)]
    above = (radii[:, None] + all_pairs(k, want) + radii)[np.ix_(cluster, cluster)]
    different = np.isfinite(distances) & ~np.eye(len(distances), dtype=bool)
    assert (distances[different] <= above[different]).all()
