"""All eccentricities against a BFS from every vertex."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.eccentricity import eccentricities as module
from emdiam.methods.eccentricity.eccentricities import EccentricityOptions, eccentricities
from emdiam.methods.eccentricity.result import EccentricityResult
from emdiam.methods.run import Limits
from tests.helpers import naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(8)

ODD = odd_graphs()
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def truth(graph: naive.Graph) -> list[int]:
    """The eccentricity of every vertex."""
    return [max(naive.distances(graph, v)) for v in range(len(graph))]


def check(engine: Any, graph: naive.Graph, **options: Any) -> EccentricityResult:
    """A run, all of whose answers are right."""
    want = truth(graph)
    result: EccentricityResult = eccentricities(engine, EccentricityOptions(keep=True, **options))
    assert result.lower_bounds is not None and result.upper_bounds is not None
    assert result.lower_bounds.tolist() == want == result.upper_bounds.tolist()
    parts = naive.components(graph)
    largest = max(parts, key=lambda part: (len(part), -part[0]))
    inside = [want[v] for v in largest]
    assert result.exact and result.unresolved == 0
    assert (result.n_components, result.connected) == (len(parts), len(parts) == 1)
    assert (result.radius, result.diameter_largest_component) == (min(inside), max(inside))
    assert result.diameter_max_component == max(want)
    assert result.diameter == (max(want) if len(parts) == 1 else None)
    assert result.center is not None and result.periphery is not None
    for vertices, value in ((result.center, min(inside)), (result.periphery, max(inside))):
        assert vertices.ids == [v for v in largest if want[v] == value][:1000]
        assert vertices.size == inside.count(value)
    assert result.histogram == {e: want.count(e) for e in sorted(set(want))}
    assert result.witness is not None and result.witness.length == max(want)
    return result


@pytest.mark.parametrize("kind", [*ENGINES, *EXTERNAL])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
        check(engine, ODD[name])


@pytest.mark.parametrize("kind", ["in-ram", "streamed", "external"])
@pytest.mark.parametrize("small", [0, 1024])
@SETTINGS
@given(graph=graphs(most=120))
def test_random_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, small: int, graph: naive.Graph
) -> None:
    """small : components of so many vertices are not solved by bounds."""
    monkeypatch.setattr(module, "SMALL", max(1, small))
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        check(engine, graph)


@pytest.mark.parametrize("kind", ["in-ram", "external"])
@SETTINGS
@given(graph=graphs(most=80), small=st.sampled_from([1, 1024]))
def test_every_bound_has_a_source_that_proves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, graph: naive.Graph, small: int
) -> None:
    monkeypatch.setattr(module, "SMALL", small)
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        result = check(engine, graph, provers=True)
    proof, want = result.eccentricity_proof, truth(graph)
    assert proof is not None
    assert [want[s] for s in proof.sources] == proof.eccentricities.tolist()
    away = [naive.distances(graph, int(s)) for s in proof.sources]
    for v, (upper, lower) in enumerate(zip(proof.upper_by.tolist(), proof.lower_by.tolist(), strict=True)):
        assert away[upper][v] >= 0 and away[upper][v] + proof.eccentricities[upper] == want[v]
        assert max(away[lower][v], int(proof.eccentricities[lower]) - away[lower][v]) == want[v]


@pytest.mark.parametrize("name", ["grid", "large-tree", "path-and-star", "mesh", "no-edges", "edge"])
def test_radius_and_centre_alone_cost_less(tmp_path: Path, name: str) -> None:
    graph = ODD[name]
    want, largest = truth(graph), max(naive.components(graph), key=lambda part: (len(part), -part[0]))
    radius = min(want[v] for v in largest)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        runs = {what: eccentricities(engine, EccentricityOptions(what=what)) for what in ("radius", "center", "all")}
    for result in runs.values():
        assert (result.radius, result.exact) == (radius, True)
    assert runs["center"].center.ids == [v for v in largest if want[v] == radius]
    assert runs["radius"].sources <= runs["center"].sources <= runs["all"].sources
    with pytest.raises(InputError):
        EccentricityOptions(what="middle")


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_table(tmp_path: Path, suffix: str) -> None:
    graph = ODD["clique-and-path"] + [[]]
    file = tmp_path / f"out.{suffix}"
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        result = eccentricities(engine, EccentricityOptions(out=file))
    assert result.out == str(file)
    table = (pyarrow.parquet if suffix == "parquet" else pyarrow.csv)
    rows = (table.read_table if suffix == "parquet" else table.read_csv)(file).to_pydict()
    assert rows["id"] == list(range(len(graph))) and rows["eccentricity"] == truth(graph)
    for part in naive.components(graph):
        assert {rows["component"][v] for v in part} == {min(part)}


def test_a_run_that_is_stopped_has_bounds(tmp_path: Path) -> None:
    graph, file = ODD["mesh"] + [[]], tmp_path / "out.parquet"
    want = truth(graph)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        rest, bfs = [4], engine.bfs

        def few(*args: Any, **options: Any) -> Any:
            rest[0] -= 1
            if rest[0] < 0:
                raise KeyboardInterrupt
            return bfs(*args, **options)

        engine.bfs = few
        with pytest.raises(StoppedEarly) as stop:
            eccentricities(engine, EccentricityOptions(keep=True, out=file))
    result = stop.value.result
    assert isinstance(result, EccentricityResult) and not result.exact and 0 < result.unresolved < len(graph)
    assert result.lower_bounds is not None and result.upper_bounds is not None
    assert all(low <= e <= high for low, e, high in zip(result.lower_bounds, want, result.upper_bounds, strict=True))
    rows = pyarrow.parquet.read_table(file).to_pydict()
    assert all(low <= e <= high for low, e, high in zip(rows["lower"], want, rows["upper"], strict=True))
    assert sum(low < high for low, high in zip(rows["lower"], rows["upper"], strict=True)) == result.unresolved


def test_no_time_is_no_answer(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"])) as engine, pytest.raises(StoppedEarly) as stop:
        eccentricities(engine, EccentricityOptions(limits=Limits(seconds=0)))
    assert stop.value.result.unresolved == len(ODD["grid"])


def test_few_sources_of_a_large_grid_and_tree(tmp_path: Path) -> None:
    rng = random.Random(3)
    tree = naive.graph_of(1200, [(v, rng.randrange(v)) for v in range(1, 1200)])
    with engine_on(write_store(tmp_path / "t.zarr", tree)) as engine:
        assert check(engine, tree).sources <= 8


def test_bounds_of_others_are_not_asked_for_twice(tmp_path: Path) -> None:
    """Each vertex is at most once a source."""
    with engine_on(write_store(tmp_path / "g.zarr", ODD["torus"])) as engine:
        result = check(engine, ODD["torus"], provers=True)
    assert result.eccentricity_proof is not None
    sources = result.eccentricity_proof.sources
    assert len(np.unique(sources)) == len(sources) == result.sources


def test_a_bound_of_twice_an_eccentricity_fits_the_columns() -> None:
    """Of a long graph of 200 vertices: bytes have room for its eccentricities, not for twice the one of an end."""
    found = emdiam.eccentricities([(v, v + 1) for v in range(199)])
    assert found.radius == 100 and found.diameter == 199


@pytest.mark.parametrize("n", [200, 254, 255, 256, 257])
def test_sources_prove_the_bounds_of_long_graphs(tmp_path: Path, n: int) -> None:
    """Whose eccentricities, and twice them, are about as large as the numbers of a byte."""
    graph = naive.graph_of(n, [(v, v + 1) for v in range(n - 1)])
    with engine_on(write_store(tmp_path / "g.zarr", graph), "in-ram") as engine:
        proof = check(engine, graph, provers=True).eccentricity_proof
    assert proof is not None
    away = [naive.distances(graph, int(s)) for s in proof.sources]
    assert all(away[s][v] + proof.eccentricities[s] == max(v, n - 1 - v) for v, s in enumerate(proof.upper_by.tolist()))
