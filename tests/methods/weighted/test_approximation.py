"""Bounds on diameters of weighted graphs: they hold, by sweeps and by clusters, whose graph is that of a plain twin."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.cli.main import group
from emdiam.errors import BudgetError, InputError, StoppedEarly
from emdiam.methods.weighted import clusters as module
from emdiam.methods.weighted.clusters import WeightedClusters, grow, quotient_of
from emdiam.methods.weighted.metric import WeightMetric
from emdiam.methods.weighted.units import Units
from emdiam.paths.arcs import Arcs
from tests.conftest import ROOT
from tests.helpers.lengths import ODD, Edges, all_pairs, in_ram, on_disk, random_edges, rows_of, two_parts
from tests.helpers.weighted_answers import check_bounds, check_clusters
from tests.helpers.weighted_answers import longest as longest_of
from tests.helpers.weighted_stores import make_weighted_store


def longest(n: int, edges: Edges) -> float:
    return longest_of(all_pairs(n, edges))


def check(n: int, edges: Edges, dtype: str, count: int) -> None:
    check_arcs(in_ram(n, edges, dtype), n, edges, count)


def check_arcs(arcs: Arcs, n: int, edges: Edges, count: int) -> None:
    distances = all_pairs(n, edges)
    check_bounds(arcs, distances, count)
    check_clusters(arcs, rows_of(n, edges, "float64"), distances, count)


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(name: str) -> None:
    n, edges = ODD[name]
    for dtype in ("uint8", "uint32", "float32"):
        check(n, edges, dtype, 1 + n // 8)
    with on_disk(n, edges, "uint8") as arcs:
        check_arcs(arcs, n, edges, 1 + n // 8)


@settings(deadline=None)
@given(seed=st.integers(0, 1 << 30), dtype=st.sampled_from(["uint8", "uint32", "float32"]))
def test_random_graphs(seed: int, dtype: str) -> None:
    generator = random.Random(seed)
    n = generator.randint(1, 30)
    check(n, random_edges(generator, n, dtype), dtype, generator.randint(1, n))


def test_a_known_diameter_is_of_the_kind_of_the_weights(tmp_path: Path) -> None:
    edges: Edges = {(v, v + 1): 0.75 for v in range(9)}
    place = make_weighted_store(tmp_path / "g.zarr", edges, n_vertices=10, dtype="float32")
    found: Any = emdiam.approximate(place, method="sweep", weighted=True, known_diameter=6.75)
    assert (found.lower, found.known_diameter, found.ratio) == (6.75, 6.75, 1.0)
    command = ("approx", str(place), "--quiet", "--method", "sweep", "--known-diameter")
    done = CliRunner().invoke(group, [*command, "6.75", "--weighted"])
    assert done.exit_code == 0 and "ratio: 1.0000" in done.output, done.output
    for text, said in (("-1", "from 0 on"), ("inf", "from 0 on"), ("x", "not a length")):
        assert said in CliRunner().invoke(group, [*command, text, "--weighted"]).output
    with pytest.raises(InputError, match="whole number"):
        emdiam.approximate(place, method="sweep", known_diameter=6.75)


def test_few_searches_of_the_clusters_bound_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pivots are stopped, what they have bounded holds."""
    monkeypatch.setattr(module, "MOST_SEARCHES", 2)
    generator = random.Random(1)
    for _ in range(30):
        n = generator.randint(20, 40)
        edges = random_edges(generator, n, "uint8")
        arcs = in_ram(n, edges, "uint8")
        search = WeightedClusters(WeightMetric(arcs))
        search.masters = 15
        search.solve()
        assert search.best.length <= longest(n, edges) <= search.upper()


def test_by_itself_there_are_fewer_clusters_where_memory_is_short(store: tuple[Path, int, Edges]) -> None:
    arcs = in_ram(*store[1:], "uint16")
    search = WeightedClusters(WeightMetric(arcs))
    search.masters, search.or_fewer, search.room = 120, True, 170 * 120
    search.solve()
    assert search.quotient is not None and search.masters < 120
    assert search.best.length <= longest(*store[1:]) <= search.upper()


def test_bounds_beyond_floats_are_rounded_up() -> None:
    """A bound may be a number that float64 has not, above all distances."""
    units, large = Units(0, False), (1 << 53) + 1
    assert units.length(large) >= large and units.lengths(np.array([large]))[0] >= large
    assert units.length(3) == units.lengths(np.array([3]))[0] == 3.0


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Edges]:
    return two_parts(tmp_path_factory.mktemp("weighted") / "g.zarr")


@pytest.mark.parametrize("method", ["sweep", "clusters"])
def test_a_run(store: tuple[Path, int, Edges], method: str) -> None:
    place, n, edges = store
    want = longest(n, edges)
    result: Any = emdiam.approximate(place, method=method, weighted=True, known_diameter=int(want))
    assert (result.weighted, result.weights, result.method, result.n_components) == (True, "uint16", method, 3)
    assert result.lower <= want <= result.upper and result.witness.length == result.lower
    distances = all_pairs(n, edges)
    assert distances[result.witness.source, result.witness.target] == result.lower
    assert result.estimate == (result.lower if method == "sweep" else result.upper)
    assert result.ratio == result.estimate / want and result.traversals.bfs
    if method == "clusters":
        assert result.condensed.n_vertices == result.masters >= 3 and result.rounds and result.max_master_distance > 0
        again: Any = emdiam.approximate(place, weighted=True, seed=0)
        assert (again.lower, again.upper, again.masters) == (result.lower, result.upper, result.masters)


@pytest.mark.parametrize("method", ["sweep", "clusters"])
def test_a_run_on_disk(store: tuple[Path, int, Edges], method: str) -> None:
    in_ram, streamed = (emdiam.approximate(store[0], method=method, weighted=True, arena=arena)
                        for arena in (None, 2 * 64 * 6))
    assert (streamed.lower, streamed.upper) == (in_ram.lower, in_ram.upper)
    assert streamed.bytes_read > in_ram.bytes_read


def test_sweeps_close_the_bounds(store: tuple[Path, int, Edges]) -> None:
    uppers = [emdiam.approximate(store[0], method="sweep", iterations=k, weighted=True).upper for k in (1, 3, 40)]
    assert uppers == sorted(uppers, reverse=True) and uppers[-1] == longest(*store[1:])


def test_what_is_refused(store: tuple[Path, int, Edges]) -> None:
    for options, why in (({"method": "fringe"}, "for weighted graphs"), ({"method": "fdiam"}, "for weighted graphs"),
                         ({"method": "sweep", "masters": 3}, "clusters"), ({"iterations": 3}, "sweep"),
                         ({"euler": True}, "not for weighted"), ({"method": "sweep", "iterations": 0}, "at least 1"),
                         ({"masters": 152}, "cannot be 152 masters")):
        with pytest.raises(InputError, match=why):
            emdiam.approximate(store[0], weighted=True, **options)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="give at least memory="):
        emdiam.approximate(store[0], weighted=True, memory=1 << 20)
    with pytest.raises(StoppedEarly) as stopped:
        emdiam.approximate(store[0], weighted=True, time_limit=1e-6)
    result: Any = stopped.value.result  # type: ignore[attr-defined]
    assert result.lower <= longest(*store[1:]) <= result.upper
    arcs = in_ram(*store[1:], "uint16")
    with pytest.raises(BudgetError, match="at least 1 MiB more with --memory, or fewer --masters"):
        quotient_of(arcs, WeightMetric(arcs).units, grow(arcs, WeightMetric(arcs).parts, 9, 0), 100)


def test_command(store: tuple[Path, int, Edges]) -> None:
    place, n, edges = str(store[0]), *store[1:]
    done = CliRunner().invoke(group, ["approx", place, "--weighted", "--json", "--quiet"])
    found = json.loads(done.stdout)
    assert found["weighted"] and found["lower"] <= longest(n, edges) <= found["upper"]
    text = CliRunner().invoke(group, ["approx", place, "--weighted", "--method", "clusters", "--quiet"]).stdout
    assert "masters (cluster centres)" in text and "edges apart" not in text and "searches" in text
    several = CliRunner().invoke(group, ["approx", place, "--weighted", "--masters", "4,9", "--csv", "--quiet"])
    assert len(several.stdout.splitlines()) == 3 and not several.exception
    sweep = CliRunner().invoke(group, ["approx", place, "--weighted", "--method", "sweep", "--quiet"])
    assert not sweep.exception and "the lower bound" in sweep.stdout


@pytest.mark.slow
def test_road_map(tmp_path: Path) -> None:
    """USA-road-d.NY with its lengths: how close a few searches come."""
    data = ROOT.parent / "shared" / "data" / "USA-road-d.NY.gr.gz"
    if not data.exists():
        pytest.skip("the data are not here")
    emdiam.convert(data, tmp_path / "ny.zarr", weights=True)
    for options, share in (({"method": "sweep"}, 1.13), ({"method": "sweep", "iterations": 4}, 1.05), ({}, 1.03)):
        result: Any = emdiam.approximate(tmp_path / "ny.zarr", weighted=True, **options)  # type: ignore[arg-type]
        assert result.lower == 1_652_818 <= result.upper <= share * result.lower
        assert result.traversals.bfs <= 12
