"""Every method against plain Bellman-Ford, on graphs of every kind of weights."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.paths import delta_stepping
from emdiam.paths.bins import CHUNK, refill
from emdiam.paths.methods import METHODS, shortest_paths
from emdiam.paths.negative_cycle import NegativeCycle
from emdiam.paths.pairs.johnson import potentials
from emdiam.paths.paths import Paths, SearchOptions, length_of
from emdiam.paths.rows import WeightedRows
from tests.helpers.many_graphs import drawn
from tests.helpers.path_twins import FLOATS, Graph, bellman_ford, graphs, rows_of

# What h-bf has no room for.
NARROW = (1 << 32) - 1


def listed(paths: Paths) -> list[float]:
    """Distances, infinity without a path."""
    return [float("inf") if not there else d
            for there, d in zip(paths.has_path.tolist(), paths.distances.tolist(), strict=True)]


def check(graph: Graph, dtype: type, method: str, source: int) -> None:
    """Distances and all paths are right."""
    rows, truth = rows_of(graph, dtype), bellman_ford(graph, source)
    assert truth is not None
    if method == "h-bf" and (dtype == np.float64 or max(d for d in truth if d < float("inf")) >= NARROW):
        with pytest.raises(InputError, match="h-bf has"):
            shortest_paths(rows, source, method)
        return
    paths = shortest_paths(rows, source, method)
    assert paths.method == method
    assert listed(paths) == truth
    assert paths.reached == sum(d < float("inf") for d in listed(paths))
    for target in range(rows.n_vertices):
        path = paths.path_to(rows, target)
        assert (path is None) == (listed(paths)[target] == float("inf"))
        if path is not None:
            assert path[0] == source and path[-1] == target and length_of(rows, path) == listed(paths)[target]


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=20)
@given(graphs(), st.data())
def test_whole_weights(method: str, graph: Graph, data: st.DataObject) -> None:
    check(graph, np.uint32, method, data.draw(st.integers(0, graph[0] - 1)))


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=20)
@given(graphs(FLOATS), st.data())
def test_floats(method: str, graph: Graph, data: st.DataObject) -> None:
    check(graph, np.float64, method, data.draw(st.integers(0, graph[0] - 1)))


@pytest.mark.parametrize("method", ["delta-stepping", "light-heavy", "sorted-buckets", "near-far"])
@settings(deadline=None, max_examples=15)
@given(graphs(), st.sampled_from([0.01, 1.0, 7.5, 1e6, float("inf")]), st.integers(1, 2))
def test_any_delta(method: str, graph: Graph, delta: float, threads: int) -> None:
    """Far beyond the circle of buckets, one distance a bucket, and one bucket."""
    rows = rows_of(graph)
    assert listed(shortest_paths(rows, 0, method, SearchOptions(threads, delta))) == bellman_ford(graph, 0)


@pytest.mark.parametrize("delta", [3, 40, 400])
def test_many_vertices_in_a_bucket(delta: float) -> None:
    rng = np.random.default_rng(8)
    ends = rng.integers(0, 2000, (5000, 2))
    rows = WeightedRows.from_edges(2000, ends[:, 0], ends[:, 1], rng.integers(0, 100, 5000).astype(np.uint8))
    expected = shortest_paths(rows, 0, "dijkstra").distances
    for method in METHODS:
        assert np.array_equal(shortest_paths(rows, 0, method, SearchOptions(2, delta)).distances, expected)


# Each kind of weights is a kernel of its own: sums that widen, no weights and floats are quick.
@pytest.mark.thin(2)
@pytest.mark.parametrize("weights", ["none", pytest.param("uint16", marks=pytest.mark.slow), "uint32",
                                     pytest.param("int64", marks=pytest.mark.slow), "float32"])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_all_lengths(weights: str, threads: int) -> None:
    """Those copied at once, short ones, long ones, more than a batch holds, and the last of the arrays; sums of large
    weights do not fit 32 bits."""
    rng, lengths = np.random.default_rng(4), [0, 1, 3, 4, 5, 11, 12, 13, 40, 700]
    tails = np.repeat(np.arange(900), rng.choice(lengths[:-1], 900))
    tails = np.concatenate([tails, np.full(700, 7), np.repeat(899, 2)])
    heads = rng.integers(0, 900, len(tails))
    kinds = {"none": None, "uint16": rng.integers(0, 100, len(tails), np.uint16),
             "uint32": rng.integers(1 << 30, 1 << 32, len(tails), np.uint32),
             "int64": rng.integers(0, 1 << 40, len(tails)), "float32": rng.random(len(tails), np.float32)}
    rows = WeightedRows.from_edges(900, tails, heads, kinds[weights], directed=True)
    expected = shortest_paths(rows, 7, "dijkstra").distances
    for delta in (None, float(rows.mean_weight) / 4):
        found = shortest_paths(rows, 7, "delta-stepping", SearchOptions(threads, delta))
        assert np.array_equal(found.distances, expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_stop_before_a_thread_has_begun(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others do not wait for it."""
    run, main = delta_stepping.run_buckets, threading.main_thread()

    def stopped(*arguments: Any) -> Any:
        if threading.current_thread() is main:
            time.sleep(0.05)
            raise KeyboardInterrupt
        return run(*arguments)

    monkeypatch.setattr(delta_stepping, "run_buckets", stopped)
    rows = rows_of((3, [(0, 1, 2), (1, 2, 5)], False))
    with pytest.raises(KeyboardInterrupt):
        shortest_paths(rows, 0, "delta-stepping", SearchOptions(threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_bins_without_room_are_filled_again(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(3), 3000
    ends = rng.integers(0, n, (4 * n, 2))
    rows = WeightedRows.from_edges(n, ends[:, 0], ends[:, 1], rng.integers(1, 1 << 16, 4 * n).astype(np.uint32))
    refills, made = [], delta_stepping.new_bins

    def few_chunks(*sizes: Any) -> Any:
        """What holds every vertex once, in one bucket."""
        chunks, after, *others = made(*sizes)
        room = n // CHUNK + 1 + 2 * threads
        return (chunks[:room], after[:room], *others)

    monkeypatch.setattr(delta_stepping, "new_bins", few_chunks)
    monkeypatch.setattr(delta_stepping, "refill", lambda *given: (refills.append(1), refill(*given)))
    found = shortest_paths(rows, 0, "delta-stepping", SearchOptions(threads, float("inf")))
    assert refills or threads == 2
    assert np.array_equal(found.distances, shortest_paths(rows, 0, "dijkstra").distances)


def test_unit_weights() -> None:
    rows = WeightedRows.from_edges(5, [0, 1, 2], [1, 2, 3])
    paths = shortest_paths(rows, 0)
    assert listed(paths) == [0, 1, 2, 3, float("inf")]
    assert (paths.reached, paths.farthest, paths.largest_distance) == (4, 3, 3)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [2, 3, 30, 300])
def test_a_negative_cycle_against_the_order_of_vertices(n: int, threads: int) -> None:
    """A fall goes one arc of it in a round."""
    v, weights = np.arange(n), np.zeros(n, np.int32)
    weights[0] = -1
    rows = WeightedRows.from_edges(n, v, (v - 1) % n, weights, directed=True)
    methods = [name for name, method in METHODS.items() if method.negative]
    assert len(methods) == 4
    searches = [partial(shortest_paths, rows, 0, name, SearchOptions(threads)) for name in methods]
    for find in (*searches, lambda: potentials(rows, threads, lambda: None)):
        with pytest.raises(NegativeCycle) as shown:
            find()
        assert (len(shown.value.cycle), shown.value.weight) == (n + 1, -1)


def test_a_dense_graph_with_a_negative_cycle() -> None:
    """Of which a few passes showed none, however many rounds had been."""
    with pytest.raises(NegativeCycle):
        potentials(drawn(8599).rows, 1, lambda: None)


def test_sums_that_fall_for_ever_as_they_are_rounded() -> None:
    """Beside 1e16 the weights 0.9, 0.9 and -1.8 are 0, 0 and -2."""
    rows = WeightedRows.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 1], [-1e16, 0.9, 0.9, -1.8], directed=True)
    for method in ("bellman-ford", "frontier-bellman-ford", "workfront-sweep"):
        with pytest.raises(InputError, match="since they are rounded"):
            shortest_paths(rows, 0, method)


def test_negative_distances_that_do_not_fit_the_word_of_h_bf() -> None:
    for weights, match in (([-(1 << 30)] * 3, "smaller ones"), ([-5, (1 << 31) - 2, 8], "larger ones")):
        rows = WeightedRows.from_edges(4, [0, 1, 2], [1, 2, 3], np.array(weights, np.int64), directed=True)
        with pytest.raises(InputError, match=match):
            shortest_paths(rows, 0, "h-bf")
        assert shortest_paths(rows, 0, "bellman-ford").distances[3] == sum(weights)


def test_what_cannot_be() -> None:
    rows = WeightedRows.from_edges(2, [0], [1], [-1])
    with pytest.raises(InputError, match="not negative"):
        shortest_paths(rows, 0, "dijkstra")
    with pytest.raises(InputError, match="no such method"):
        shortest_paths(rows, 0, "dijkstar")
    with pytest.raises(ValueError, match="must be a vertex"):
        shortest_paths(rows, 2)
