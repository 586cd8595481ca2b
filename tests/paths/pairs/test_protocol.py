"""Every method in every way: a matrix in memory, tiles on disk, rows as they are found; against twins and scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

from emdiam.paths.pairs.methods import METHODS
from emdiam.paths.rows import WeightedRows
from tests.helpers.pairs_ways import INFINITE, WAYS, pairs, twin
from tests.helpers.path_twins import FLOATS, WHOLE, Graph, graphs, rows_of
from tests.helpers.stores import odd_graphs

NEGATIVE = st.integers(-3, 30)


def unit_rows(graph: list[list[int]]) -> WeightedRows:
    """An undirected graph without weights."""
    tails = [v for v, row in enumerate(graph) for _ in row]
    return WeightedRows.from_edges(len(graph), tails, [u for row in graph for u in row], directed=True)


def by_scipy(rows: WeightedRows) -> np.ndarray:
    """The distances that scipy finds."""
    # scipy takes an explicit 0 as an arc of the length 0.
    matrix = sparse.csr_array((rows.costs.astype(float), rows.heads.astype(np.int32), rows.offsets.astype(np.int32)),
                              shape=(rows.n_vertices,) * 2)
    return csgraph.johnson(matrix) if rows.least_weight < 0 else csgraph.dijkstra(matrix)


def check(graph: Graph, dtype: type, method: str) -> None:
    """Distances, the largest of them and the pairs without a path are right."""
    truth = twin(graph)
    assert truth is not None
    expected = np.array(truth, float).reshape(graph[0], graph[0])
    found, about = pairs(rows_of(graph, dtype), method, "memory")
    if dtype == np.float64:
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)
    there = found[found < INFINITE]
    assert about.largest == (there.max() if len(there) else 0)
    assert about.unreachable == np.count_nonzero(found == INFINITE)


@pytest.mark.parametrize("method", METHODS)
def test_a_path_of_all_arcs_whose_sum_is_rounded_up(method: str) -> None:
    """1.0 + 0.1 + 0.1 is more than the sum of the three in another order."""
    check((4, [(0, 1, 1.0), (1, 2, 0.1), (2, 3, 0.1)], True), np.float64, method)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=12)
@given(graphs(WHOLE, most=10))
def test_whole_weights(method: str, graph: Graph) -> None:
    check(graph, np.uint32, method)


@pytest.mark.parametrize("method", METHODS)
@settings(deadline=None, max_examples=10)
@given(graphs(FLOATS, most=10))
def test_floats(method: str, graph: Graph) -> None:
    check(graph, np.float64, method)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.negative])
@settings(deadline=None, max_examples=12)
@given(graphs(NEGATIVE, most=8).filter(lambda graph: twin((*graph[:2], True)) is not None))
def test_negative_weights(method: str, graph: Graph) -> None:
    check((*graph[:2], True), np.int32, method)


@pytest.mark.thin(12)
@pytest.mark.parametrize("name", odd_graphs())
@pytest.mark.parametrize(("method", "way"), WAYS)
def test_odd_graphs(method: str, way: str, name: str, tmp_path: Path) -> None:
    rows = unit_rows(odd_graphs()[name])
    found, _ = pairs(rows, method, way, tmp_path)
    np.testing.assert_array_equal(found, by_scipy(rows))


def random_rows(kind: str, n: int, seed: int) -> WeightedRows:
    """A directed graph of n vertices and about 3 n arcs, with unreachable pairs, weights of this kind."""
    random = np.random.default_rng(seed)
    tails, heads = random.integers(0, n, (2, 3 * n))
    weights: np.ndarray | None = None
    if kind == "whole":
        weights = random.integers(0, 200, len(tails)).astype(np.uint8)
    elif kind == "wide":
        weights = random.integers(0, 1 << 32, len(tails)).astype(np.uint32)
    elif kind == "floats":
        weights = random.random(len(tails)).astype(np.float32)
    elif kind == "negative":
        height = random.integers(0, 1000, n)
        weights = (random.integers(0, 100, len(tails)) + height[tails] - height[heads]).astype(np.int32)
    return WeightedRows.from_edges(n, tails, heads, weights, directed=True)


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", ["unit", "whole", "wide", "floats", "negative"])
@pytest.mark.parametrize(("method", "way"), WAYS)
def test_against_scipy(method: str, way: str, kind: str, tmp_path: Path) -> None:
    """Of several tiles, the last of them smaller."""
    if kind == "negative" and not METHODS[method].negative:
        pytest.skip("not for negative weights")
    rows = random_rows(kind, 203, seed=len(method))
    found, _ = pairs(rows, method, way, tmp_path)
    if kind in ("floats", "negative"):
        np.testing.assert_allclose(found, by_scipy(rows), rtol=1e-12, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, by_scipy(rows))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unit", "whole", "wide", "floats", "negative"])
@pytest.mark.parametrize("seed", range(40))
def test_many_random_graphs(seed: int, kind: str) -> None:
    """All methods in memory on many graphs."""
    random = np.random.default_rng(seed)
    rows = random_rows(kind, int(random.integers(1, 300)), seed)
    expected = by_scipy(rows)
    for name, method in METHODS.items():
        if kind != "negative" or method.negative:
            np.testing.assert_allclose(pairs(rows, name, "memory", threads=1 + seed % 3)[0], expected, rtol=1e-12,
                                       atol=1e-9)
