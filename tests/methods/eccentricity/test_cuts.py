"""Parts of a component that sources cut, against the definition, and runs that use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import Delaunay

from emdiam.methods.eccentricity import by_pairs
from emdiam.methods.eccentricity import eccentricities as module
from emdiam.methods.eccentricity.by_pairs import ByPairs, Level, Parts
from emdiam.methods.eccentricity.eccentricities import EccentricityOptions, eccentricities
from emdiam.methods.eccentricity.pairs import OpenPairs
from tests.helpers import naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, odd_graphs, write_store

from .test_eccentricities import check

pytestmark = pytest.mark.thin(8)
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD = odd_graphs()


def mesh(n: int) -> naive.Graph:
    """The Delaunay triangulation of n random points."""
    corners = Delaunay(np.random.default_rng(n).random((n, 2))).simplices
    return naive.graph_of(n, [(int(t[i]), int(t[i - 1])) for t in corners for i in range(3)])


@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32))
def test_distances_between_parts_are_known(tmp_path: Path, graph: naive.Graph, seed: int) -> None:
    """Cut at levels drawn at random, until there is none."""
    rng = np.random.default_rng(seed)
    inside = np.array(max(naive.components(graph), key=len))
    first, m = int(inside[0]), int(inside[-1] - inside[0] + 1)
    apart = np.array([naive.distances(graph, v) for v in range(len(graph))])
    sources = rng.choice(inside, min(2, len(inside)), replace=False).tolist()
    parts = Parts(first, m)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        for _ in range(8):
            columns = [np.where(apart[s] < 0, 255, apart[s]).astype(np.uint8)[first : first + m] for s in sources]
            is_source = np.isin(np.arange(m) + first, sources)
            near, far = rng.choice(inside, (2, 50))
            together = (parts.of[near - first] == parts.of[far - first]) & (near != far)
            pairs = OpenPairs(near[together], far[together], np.full(int(together.sum()), 99), first)
            level = parts.best_level(pairs, columns, is_source)
            if level is None:
                break
            check_level(level, pairs, columns[level.column], parts.of, is_source, first)
            cut = parts.cut(level, columns[level.column], is_source, engine)
            assert len(cut) <= level.size
            sources += cut.tolist()
            of, to = parts.of[inside - first], apart[np.ix_(sources, inside)]
            across = of[:, None] != of[None, :]
            ways = (to[:, :, None] + to[:, None, :]).min(axis=0)
            assert (ways == apart[np.ix_(inside, inside)])[across].all()


def check_level(
    level: Level, pairs: OpenPairs, column: np.ndarray, parts: np.ndarray, is_source: np.ndarray, first: int
) -> None:
    """What is said of a level is so."""
    assert level.size == sum(column[v] == level.distance and parts[v] == level.part and not is_source[v]
                             for v in range(len(column)))
    ended = 0
    for v, w in zip(pairs.near - first, pairs.far - first, strict=True):
        low, high = sorted((int(column[v]), int(column[w])))
        ended += parts[v] == level.part and low <= level.distance < high
    assert level.pairs == ended > 0


def test_the_best_level_is_small_and_between_many_pairs() -> None:
    """Of a path with a thick end: levels 0 to 5 have a vertex each, level 6 has eleven."""
    column = np.array([0, 1, 2, 3, 4, 5, *[6] * 11, 7], np.uint8)
    is_source = column == 0
    parts = Parts(0, len(column))
    pairs = OpenPairs(np.array([1, 2, 2, 17]), np.array([17, 16, 15, 3]), np.full(4, 9))
    assert parts.best_level(pairs, [column], is_source) == Level(0, 0, 3, 1, 4)
    assert parts.best_level(pairs, [column[::-1].copy()] * 3, is_source) is not None
    nothing = np.empty(0, np.int64)
    assert parts.best_level(OpenPairs(nothing, nothing, nothing), [column], is_source) is None
    same = OpenPairs(np.array([7]), np.array([8]), np.array([9]))
    assert parts.best_level(same, [column], is_source) is None


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Pairs are used as soon as they can be, and every cut is made. How many vertices each had."""
    made: list[int] = []
    cut = Parts.cut

    def counted(self: Parts, level: Level, *given: object) -> np.ndarray:
        made.append(len(found := cut(self, level, *given)))  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(by_pairs.Parts, "cut", counted)
    monkeypatch.setattr(ByPairs, "_pays", lambda self, level, pairs: True)
    monkeypatch.setattr(module, "SMALL", 1)
    monkeypatch.setattr(module.AllEccentricities, "_many_left", lambda self: True)
    for name, value in {"SAMPLE": 8, "ROUND": 2, "LEAST_COLUMNS": 1}.items():
        monkeypatch.setattr(by_pairs, name, value)
    return made


@pytest.mark.parametrize("kind", [*ENGINES, *EXTERNAL])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str, at_once: list[int]) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
        check(engine, ODD[name])
    assert at_once or name not in ("mesh", "torus", "hypercube")


@SETTINGS
@given(graph=graphs(most=120))
def test_random_graphs(tmp_path: Path, at_once: list[int], graph: naive.Graph) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        check(engine, graph)


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_source_by_source(tmp_path: Path, name: str, at_once: list[int],
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the first eccentricity is too large for batches: pairs are ended by fewer sources a round."""
    monkeypatch.setattr(module, "LOW", 0)
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name])) as engine:
        check(engine, ODD[name])


def test_a_mesh_is_cut_and_takes_fewer_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mesh(2000)
    starts, rows = naive.csr(graph)
    matrix = csr_matrix((np.ones(len(rows)), rows, starts))
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        result = eccentricities(engine, EccentricityOptions(keep=True))
        assert result.lower_bounds is not None and result.exact
        assert result.lower_bounds.tolist() == shortest_path(matrix, unweighted=True).max(axis=1).tolist()
        monkeypatch.setattr(ByPairs, "_cut", lambda self, pairs: None)
        assert result.sources < 0.8 * eccentricities(engine, EccentricityOptions()).sources
