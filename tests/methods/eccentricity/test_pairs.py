"""Open pairs against the definition, and runs that settle vertices by them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emdiam.methods.eccentricity import by_pairs
from emdiam.methods.eccentricity import eccentricities as module
from emdiam.methods.eccentricity.pairs import OpenPairs, PairTable
from tests.helpers import naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, write_store

from .test_eccentricities import ODD, check

pytestmark = pytest.mark.thin(8)
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("longest", [60, 250, 70_000])
@SETTINGS
@given(seed=st.integers(0, 2**32), m=st.integers(2, 40), k=st.integers(1, 20))
@example(seed=26, m=10, k=1)
def test_open_pairs_are_those_that_no_source_proves(longest: int, seed: int, m: int, k: int) -> None:
    """Distances in lanes of 8, 16 and 32 bits; some vertices are in another component. Distances between parts raise
    lower bounds."""
    rng = np.random.default_rng(seed)
    dtype = np.uint8 if longest < 255 else np.uint32
    first, outside = int(rng.integers(100)), rng.random(m) < 0.1
    columns = rng.integers(0, longest // 2 + 1, (k, m)).astype(dtype)
    columns[:, outside] = np.iinfo(dtype).max
    eccentricities = rng.integers(longest // 2, longest + 1, k)
    table = PairTable(first, 2)
    for column, eccentricity in zip(columns, eccentricities.tolist(), strict=True):
        table.add(0, column, eccentricity)
    vertices, is_source = np.flatnonzero(~outside & (rng.random(m) < 0.7)), rng.random(m) < 0.2
    if not len(vertices):
        return
    parts = rng.integers(0, 1 + int(rng.integers(3)), m).astype(np.int32)
    lower = rng.integers(0, int(eccentricities.max()) + 1, len(vertices))
    through = np.minimum.reduce([d[:, None] + d[None, :] for d in columns.astype(np.int64)])
    candidates = ~outside & ~is_source & ~np.eye(m, dtype=bool)
    across = candidates & (parts[:, None] != parts[None, :])
    raised = np.maximum(lower, np.where(across, through, 0).max(axis=1)[vertices])
    want = {(int(v), w) for v, limit in zip(vertices, raised, strict=True) for w in range(m)
            if candidates[v, w] and not across[v, w] and through[v, w] > limit}
    pairs = table.open_pairs(vertices + first, lower, parts, is_source, 1 << 20, lambda: None)
    assert pairs is not None and lower.tolist() == raised.tolist()
    assert {(v - first, w - first) for v, w in zip(pairs.near.tolist(), pairs.far.tolist(), strict=True)} == want
    assert len(pairs) == len(want)
    exact = through[pairs.near - first, pairs.far - first]
    fits = pairs.bound < 1 << 60  # a sum that does not fit a lane is unknown
    assert (pairs.bound[fits] == exact[fits]).all() and (exact[~fits] >= np.iinfo(table._kind).max).all()
    if want:
        assert table.open_pairs(vertices + first, lower, parts, is_source, len(want) - 1, lambda: None) is None


def test_sums_that_do_not_fit_a_lane() -> None:
    """They prove nothing; as a distance between parts, one is known exactly."""
    for parts, lower, pairs in (([0, 0, 0], 200, [(5, 6)]), ([0, 1, 0], 400, [])):
        table, bounds = PairTable(5, 1), np.array([200])
        table.add(7, np.array([200, 200, 0], np.uint8), 200)
        found = table.open_pairs(np.array([5]), bounds, np.array(parts, np.int32), np.array([False, False, True]), 9,
                                 lambda: None)
        assert found is not None and bounds.tolist() == [lower]
        assert list(zip(found.near.tolist(), found.far.tolist(), strict=True)) == pairs
        assert (found.bound > 200).all()


def test_heaviest_are_in_the_most_pairs_that_are_left() -> None:
    near, far = np.array([1, 1, 1, 2, 3, 4]), np.array([7, 8, 9, 9, 9, 5])
    pairs = OpenPairs(near, far, np.full(6, 9), 0)
    assert pairs.heaviest(9).tolist() == [1, 9, 4]
    assert pairs.heaviest(1).tolist() == [1]
    distances = np.array([9, 3, 2, 1, 0, 6, 9, 1, 2, 3])
    pairs.tighten([distances, np.full(10, 5)], 9)
    assert pairs.bound.tolist() == [4, 5, 6, 5, 4, 6]
    pairs.drop(np.array([0, 4, 5, 3, 5, 0, 0, 0, 0, 0]), np.arange(10) != 3)
    assert (pairs.near.tolist(), pairs.far.tolist(), pairs.bound.tolist()) == ([1, 1, 4], [8, 9, 5], [5, 6, 6])
    assert pairs.near_ones().tolist() == [1, 4]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs are used as soon as they can be."""
    for name, value in {"TRIAL": 2, "MANY": 0, "SMALL": 1}.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(module.AllEccentricities, "_many_left", lambda self: True)
    for name, value in {"SAMPLE": 8, "ROUND": 4, "LEAST_COLUMNS": 1}.items():
        monkeypatch.setattr(by_pairs, name, value)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("kind", [*ENGINES, *EXTERNAL])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
        check(engine, ODD[name])


@pytest.mark.usefixtures("at_once")
@SETTINGS
@given(graph=graphs(most=120), most=st.sampled_from([8, 1 << 20]))
def test_random_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: naive.Graph, most: int) -> None:
    monkeypatch.setattr(by_pairs, "MOST_PAIRS", most)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        check(engine, graph)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("n, degree", [(400, 3), (400, 6)])
def test_graphs_without_a_centre_take_fewer_sources_than_bounds_alone(
    tmp_path: Path, n: int, degree: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(degree)
    graph = naive.graph_of(n, [(rng.randrange(n), rng.randrange(n)) for _ in range(n * degree // 2)])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        by_pairs_sources = check(engine, graph).sources
        monkeypatch.setattr(module.AllEccentricities, "_by_pairs", lambda self, component: None)
        assert by_pairs_sources <= check(engine, graph).sources + 40
