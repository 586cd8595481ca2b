"""Largest distances and eccentricities along weighted arcs, beside scipy, networkx and igraph.

A graph meets every method and both directions with its arcs in RAM, and one method and one direction by turns over
blocks of 8 arcs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from emdiam.errors import StoppedEarly
from emdiam.methods.directed.weighted import WeightedArcMetric, signed
from emdiam.paths.arcs import ArcsInRam, ArcsOnDisk
from emdiam.paths.blocks import StoreBlocks
from emdiam.paths.dijkstra import near
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows
from emdiam.progress import TimeOver
from tests.helpers.many_graphs import by_igraph, by_networkx, by_scipy, campaign
from tests.helpers.weighted_arcs import (
    METHODS,
    bounds,
    check_bounds,
    check_eccentricities,
    check_longest,
    eccentricities,
    in_blocks,
    longest,
    rows_of,
    stored,
    streets,
)
from tests.helpers.weighted_stores import TINY, arena_bytes

DIRECTIONS = ("out", "in")


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        rows, turn = rows_of(number), int(np.random.default_rng([number, 1]).integers(6))
        distances = by_scipy(rows)
        assert distances is not None
        if number % 7 < 6 and number % 5 == 0:
            assert (by_networkx(rows) == distances).all() and (by_igraph(rows) == distances).all()
        with stored(folder, rows, TINY) as store:
            for method in METHODS:
                check_longest(longest(store, method), rows, distances)
            for direction in DIRECTIONS:
                check_eccentricities(eccentricities(store, direction), distances)
            check_bounds(bounds(store, True, iterations=1 + turn % 3), distances)
            streamed = in_blocks(store, 8 + turn)
            if turn % 2:
                check_longest(longest(store, METHODS[turn // 2], **streamed), rows, distances)
            else:
                check_eccentricities(eccentricities(store, DIRECTIONS[turn // 2 % 2], **streamed), distances)


@pytest.mark.usefixtures("tiny_blocks")
def test_a_graph_of_every_kind(tmp_path: Path) -> None:
    """Whole weights, floats, decimals that sums have room for and that they have not; zeros among them."""
    many(range(1_000_000, 1_000_014), tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_blocks")
@campaign(10)
def test_many_digraphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)


def _stop_after(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over after so many searches."""
    search, done = WeightedArcMetric.search, [0]

    def counted(self, *arguments, **more):  # type: ignore[no-untyped-def]
        done[0] += 1
        if done[0] > count:
            raise TimeOver
        return search(self, *arguments, **more)

    monkeypatch.setattr(WeightedArcMetric, "search", counted)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_bounds_of_runs_that_are_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """They hold after any number of searches."""
    rows = streets(8)
    distances = by_scipy(rows)
    assert distances is not None
    with stored(tmp_path, rows) as store:
        for method in METHODS[:2]:
            with monkeypatch.context() as patch, pytest.raises(StoppedEarly, match="is proved") as stopped:
                _stop_after(count, patch)
                longest(store, method)
            result = stopped.value.result
            assert result.lower <= distances.max() <= result.upper and result.witness is None
        with monkeypatch.context() as patch, pytest.raises(StoppedEarly) as stopped:
            _stop_after(count, patch)
            eccentricities(store, "out", out=str(tmp_path / "e.csv"))
        result = stopped.value.result
        assert (result.lower_bounds <= distances.max(axis=1)).all() and not result.exact
        assert (distances.max(axis=1) <= result.upper_bounds).all()
        assert (tmp_path / "e.csv").read_text().splitlines()[0] == '"id","lower","upper","component"'


def wide_floats() -> WeightedRows:
    """Long arcs beside short ones, so that 62 bits have no room for both; where a run searches first there are none."""
    ends = np.array([(0, 1), (1, 0), (2, 3), *((v, v + 1) for v in range(4, 9))])
    return WeightedRows.from_edges(10, *ends.T, np.array([1e-7 / 3] * 4 + [0.1, 700.1, 700.2, 700.3]), directed=True)


def test_bounds_that_have_no_room_are_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that has not searched far enough to see it, and one that is stopped before its first search."""
    rows = wide_floats()
    distances = by_scipy(rows)
    assert distances is not None
    farthest = np.where(np.isinf(distances), 0, distances).max(axis=1)
    with stored(tmp_path, rows) as store:
        found = bounds(store, True)
        check_bounds(found, distances)
        assert found.details["rounded_to"] and found.upper < 1.01 * farthest.max()
        for run in (longest, eccentricities):
            with monkeypatch.context() as patch, pytest.raises(StoppedEarly) as stopped:
                _stop_after(0, patch)
                run(store, "pivots" if run is longest else "out")
            result = stopped.value.result
            assert result.upper >= farthest.max()
            assert run is longest or (result.upper_bounds >= farthest).all()


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("ends, weights", [
    ([(0, 1), (2, 3), (2, 4)], [1e20, 1234.0, 77.5]), ([(0, 1), (1, 0), (2, 3), (3, 2)], [1e20, 1e20, 1234.0, 77.5]),
    ([(0, 1), (2, 3)], [1e-300, 0.5])])
def test_weights_that_are_rounded_to_zero_prove_no_zero(
    ends: list[tuple[int, int]], weights: list[float], direction: str, tmp_path: Path
) -> None:
    """Only a vertex without arcs has an eccentricity of 0; that of the others is open."""
    rows = WeightedRows.from_edges(6, *np.array(ends).T, np.array(weights), directed=True)
    distances = by_scipy(rows)
    assert distances is not None
    finite = np.where(np.isfinite(distances), distances, 0)
    want = (finite.T if direction == "in" else finite).max(axis=1)
    with stored(tmp_path, rows) as store:
        found = eccentricities(store, direction)
    assert found.lower_bounds is not None and found.upper_bounds is not None
    check_eccentricities(found, distances)
    assert found.unresolved == np.count_nonzero(want) and sum(found.histogram.values()) == np.count_nonzero(want == 0)
    assert ((found.lower_bounds == found.upper_bounds) == (want == 0)).all() and found.periphery is None


@pytest.mark.usefixtures("tiny_blocks")
def test_rows_of_chosen_vertices(tmp_path: Path) -> None:
    """In RAM and in blocks, whatever their order is, and the vertices without an arc."""
    rows = rows_of(1_000_000)
    random = np.random.default_rng(5)
    with stored(tmp_path, rows, TINY) as store:
        in_ram = ArcsInRam(rows, SearchOptions())
        on_disk = ArcsOnDisk(StoreBlocks(store), arena_bytes(store, 2), SearchOptions())
        for count in (0, 1, 5, rows.n_vertices):
            chosen = random.permutation(rows.n_vertices)[:count]
            for arcs in (in_ram, on_disk):
                ends, heads, costs = arcs.rows(chosen)
                assert (np.diff(ends) == arcs.degrees(chosen)).all() and len(heads) == ends[-1]
                for i, v in enumerate(chosen.tolist()):
                    row = slice(rows.offsets[v], rows.offsets[v + 1])
                    found = sorted(zip(heads[ends[i] : ends[i + 1]].tolist(), costs[ends[i] : ends[i + 1]].tolist(),
                                       strict=True))
                    assert found == list(zip(rows.heads[row].tolist(), rows.costs[row].tolist(), strict=True))
        on_disk.close()


@pytest.mark.parametrize("number", range(1_000_000, 1_000_014))
def test_vertices_within_a_room_of_their_own(number: int) -> None:
    """Against a search that stops at every vertex that is too far."""
    rows, random = rows_of(number), np.random.default_rng(number)
    distances = by_scipy(rows)
    assert distances is not None
    dtype = np.float64 if rows.distance_dtype.kind == "f" else np.int64
    for source in random.integers(rows.n_vertices, size=5).tolist():
        spread = np.where(np.isinf(distances[source]), 9, distances[source])
        room = (spread + random.choice([-1, 0, 0, 1], rows.n_vertices)).astype(dtype)
        found, relaxed = near(rows, source, room)
        inside = nearest_within(rows, source, room)
        assert sorted(found.tolist()) == sorted(inside)
        assert relaxed == sum(int(rows.offsets[v + 1] - rows.offsets[v]) for v in inside)


def nearest_within(rows: WeightedRows, source: int, room: np.ndarray) -> dict[int, float]:
    """Distances along paths of which every vertex v is within room[v]."""
    found, waits = dict[int, float](), [source] * bool(room[source] >= 0)
    lengths = {source: 0.0}
    while waits:
        v = min(waits, key=lengths.__getitem__)
        waits.remove(v)
        found[v] = lengths[v]
        for p in range(rows.offsets[v], rows.offsets[v + 1]):
            u, length = int(rows.heads[p]), lengths[v] + rows.costs[p].item()
            if u not in found and length <= room[u] and length < lengths.get(u, np.inf):
                lengths[u] = length
                waits += [u] * (u not in waits)
    return found


def test_many_searches_of_a_small_graph_use_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, source = streets(8), np.array([3])
    arcs = ArcsInRam(rows, SearchOptions())
    distances, relaxed = arcs.nearest(source)
    monkeypatch.setattr("emdiam.paths.arcs._MANY_ARCS", relaxed - 1)
    monkeypatch.setattr("emdiam.paths.arcs.heap_distances", None)
    again, _ = arcs.nearest(source)
    assert again.dtype == distances.dtype and (again == distances).all()


def test_long_distances_are_signed() -> None:
    units = np.array([3, (1 << 64) - 1, 1 << 60], np.uint64)
    assert signed(units).tolist() == [3, (1 << 63) - 1, 1 << 60]


def test_few_searches_for_all_eccentricities(tmp_path: Path) -> None:
    """Of streets, strongly connected: far fewer than one from each."""
    rows = streets(24)
    distances = by_scipy(rows)
    assert distances is not None
    with stored(tmp_path, rows) as store:
        every = eccentricities(store, "out")
        check_eccentricities(every, distances)
        # A search back ends at vertices that it does not settle.
        assert every.traversals.partial > 0 and every.edges_scanned < 1.2 * every.traversals.bfs * rows.n_arcs
        largest = longest(store, "pivots")
        check_longest(largest, rows, distances)
        assert max(every.traversals.bfs, largest.traversals.bfs) < rows.n_vertices / 4
