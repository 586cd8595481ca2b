"""Distances along weights, with directions and without, beside scipy and networkx; samples, their intervals, and tables
of chosen distances."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import emdiam
from emdiam.distribution.result import student
from emdiam.distribution.weighted import _Nearest, serfling, skewed
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.weighted.units import units_of
from emdiam.paths.arcs import ArcsInRam
from emdiam.paths.dijkstra import balls
from emdiam.paths.paths import SearchOptions
from emdiam.paths.rows import WeightedRows, unreached
from emdiam.runs.task import execute, task_of
from emdiam.store.store import Store, open_store
from tests.helpers.many_graphs import arcs_of, by_scipy, campaign, drawn
from tests.helpers.weighted_arcs import KINDS, in_blocks, streets
from tests.helpers.weighted_stores import write_rows
from tests.runs.test_directed import command


def counted(store: Store, directed: bool, **options: Any) -> Any:
    """How distances along weights are distributed."""
    return execute(store, task_of("distances", {"weighted": True, "directed": directed, "exact": True, **options}))


def check(result: Any, distances: np.ndarray, directed: bool) -> None:
    """Of all vertices as sources: the mean, ranges, and quantiles within the width of these."""
    n = len(distances)
    others = distances[~np.eye(n, dtype=bool)] if directed else distances[np.triu_indices(n, 1)]
    lengths = np.sort(others[np.isfinite(others)])
    assert result.method == "exact" and result.complete and result.samples == n
    assert result.unreachable_pairs == len(others) - len(lengths)
    assert sum(result.pairs.values()) == len(lengths)
    if not len(lengths):
        assert result.mean is None and result.effective_diameter is None and result.quantiles == {}
        return
    assert result.mean == pytest.approx(lengths.mean(), rel=1e-12)
    width = result.histogram_width
    for share, found in result.quantiles.items():
        want = float(lengths[max(0, math.ceil(float(share) * len(lengths) - 1e-9) - 1)])
        assert found == pytest.approx(want, abs=1e-9 * want if width is None else float(width) * 1.000001), share
    if width is not None:
        edges, counts = np.unique(np.floor(lengths / float(width) + 1e-9), return_counts=True)
        assert list(result.pairs.values()) == counts.tolist()
        assert [float(one) for one in result.pairs] == pytest.approx((edges * float(width)).tolist())
    else:
        values, counts = np.unique(lengths, return_counts=True)
        assert [float(one) for one in result.pairs] == values.tolist()
        assert list(result.pairs.values()) == counts.tolist()


def graph_of(rows: WeightedRows) -> nx.DiGraph:
    """Both arcs of an edge where there are no directions."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(rows.n_vertices))
    graph.add_weighted_edges_from(arcs_of(rows))
    return graph


def check_centralities(file: Path, rows: WeightedRows, directed: bool) -> None:
    """As networkx has them; along arcs its own are those by distances to a vertex."""
    table, graph = pyarrow.parquet.read_table(file).to_pydict(), graph_of(rows)
    assert table["id"] == list(range(rows.n_vertices))
    for suffix, twin in (("_in", graph), ("_out", graph.reverse())) if directed else (("", graph),):
        close, harmonic = (list(found.values()) for found in (
            nx.closeness_centrality(twin, distance="weight"), nx.harmonic_centrality(twin, distance="weight")))
        assert table[f"closeness{suffix}"] == pytest.approx(close)
        assert table[f"harmonic{suffix}"] == pytest.approx(harmonic)


def many(numbers: range, folder: Path) -> None:
    for number in numbers:
        directed = bool(number % 2)
        rows = drawn(number // 2, 40, [kind for kind in KINDS if kind != "int64"], (directed,)).rows
        distances, file = by_scipy(rows), folder / "c.parquet"
        assert distances is not None
        with open_store(write_rows(folder / "g.zarr", rows, directed=directed), directed=directed) as store:
            result = counted(store, directed, out=str(file))
            check(result, distances, directed)
            check_centralities(file, rows, directed)
            if number % 5 == 0:
                check(counted(store, directed, **in_blocks(store, 4)), distances, directed)


def test_every_kind(tmp_path: Path) -> None:
    many(range(1_000_000, 1_000_012), tmp_path)


@pytest.mark.slow
@campaign(10)
def test_many_graphs(numbers: range, tmp_path: Path) -> None:
    many(numbers, tmp_path)


@pytest.fixture
def town(tmp_path: Path) -> tuple[Path, WeightedRows]:
    """Streets whose vertices have names, in another order than theirs."""
    rows = streets(6)
    lines = "".join(f"v{a:02},v{b:02},{w / 4}\n" for a, b, w in arcs_of(rows))
    (tmp_path / "town.csv").write_text("from,to,km\n" + lines)
    command("convert", tmp_path / "town.csv", tmp_path / "town.zarr", "--directed", "--weights", "km")
    return tmp_path / "town.zarr", rows


def test_commands_and_python(town: tuple[Path, WeightedRows], tmp_path: Path) -> None:
    path, rows = town
    distances = by_scipy(rows)
    assert distances is not None
    mean = distances.sum() / 4 / (36 * 35)
    text = command("distances", path, "--directed", "--weighted", "--exact", "--quantile", "0.5")
    assert f"mean distance: {mean:.4f}" in text and "sums of km" in text and "quantiles: " in text
    sampled = ("distances", path, "--directed", "--weighted", "--sample", "20", "--seed", "3")
    found = json.loads(command(*sampled, "--json"))
    assert (found["samples"], found["method"], found["weight"]) == (20, "sample", "km") and found["strongly_connected"]
    assert found["directed"] and found["weighted"]
    assert found["confidence"]["level"] == 0.95 and "jackknife" in found["confidence"]["method"]
    low, high = found["confidence"]["mean"]
    assert low < found["mean"] < high
    assert "95 % interval" in command(*sampled)
    command("convert", tmp_path / "town.csv", tmp_path / "edges.zarr", "--weights", "km", "--order", "degree")
    kept = emdiam.distances(tmp_path / "edges.zarr", weighted=True, exact=True, keep=True).by_vertex()
    graph = nx.Graph()
    for a, b, w in arcs_of(rows):
        known = graph.get_edge_data(f"v{a:02}", f"v{b:02}", {"km": math.inf})["km"]
        graph.add_edge(f"v{a:02}", f"v{b:02}", km=min(known, w / 4))
    assert dict(kept) == pytest.approx(nx.closeness_centrality(graph, distance="km"))
    assert emdiam.distances(graph, weight="km", exact=True).weight == "km"
    command("distances", path, "--directed", "--exact", "--out", tmp_path / "arcs.csv")
    arcs, table = graph_of(rows), pyarrow.csv.read_csv(tmp_path / "arcs.csv").to_pydict()
    assert table["closeness_in"] == pytest.approx(list(nx.closeness_centrality(arcs).values()))
    assert table["harmonic_out"] == pytest.approx(list(nx.harmonic_centrality(arcs.reverse()).values()))
    in_memory = emdiam.distances(arcs, directed=True, exact=True, keep=True)
    assert dict(in_memory.by_vertex()) == pytest.approx(nx.closeness_centrality(arcs))
    assert in_memory.harmonic == pytest.approx(list(nx.harmonic_centrality(arcs).values()))
    with pytest.raises(InputError, match="HyperBall counts edges"):
        emdiam.distances(path, directed=True, weighted=True, hyperball=6)


def test_a_run_that_is_stopped(town: tuple[Path, WeightedRows]) -> None:
    """Sources that were counted are a sample."""
    with pytest.raises(StoppedEarly, match="before anything"):
        emdiam.distances(town[0], directed=True, weighted=True, time_limit=1e-9)


def test_digits_that_sums_have_no_room_for(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    rows = streets(5)
    weights = random.random(rows.n_arcs) * 10.0 ** random.integers(-6, 4, rows.n_arcs)
    rows = WeightedRows(rows.offsets, rows.heads, weights)
    distances = by_scipy(rows)
    assert distances is not None
    with open_store(write_rows(tmp_path / "g.zarr", rows, directed=True), directed=True) as store:
        result = counted(store, True)
    unit = result.details["rounded_to"]
    mean = distances.sum() / (25 * 24)
    assert mean - 24 * unit <= result.mean * (1 + 1e-12) and result.mean <= mean * (1 + 1e-12)


# -- intervals ------------------------------------------------------------------------------------
def test_quantiles_of_student() -> None:
    """Those of tables."""
    for freedom, want in ((4, 2.776), (10, 2.228), (30, 2.042), (255, 1.969)):
        assert student(0.95, freedom) == pytest.approx(want, rel=0.01)


@pytest.mark.parametrize("count", [0, 1, 3, 8, 100])
def test_near_vertices(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest ones are counted, all others are as far as is said; in balls there are so many, or all at one
    distance are not."""
    monkeypatch.setattr("emdiam.paths.dijkstra._BALL_ARCS", 1 << 20)
    for number in range(1_000_000, 1_000_012):
        rows = drawn(number, 40, [kind for kind in KINDS if kind != "int64"], (True,)).rows
        distances, arcs = by_scipy(rows), ArcsInRam(rows, SearchOptions())
        assert distances is not None
        nearest = _Nearest(arcs, units_of(arcs, 0), count)
        assert nearest.within == (count > 0)
        for v, row in enumerate(distances):
            others = row[np.isfinite(row) & (row > 0)]
            near = others < nearest.least[v]
            assert nearest.sums[v] == pytest.approx((1 / others[near]).sum())
            inverse = 1 / others[~near]
            assert len(inverse) == 0 or inverse.max() <= 1 / nearest.least[v]
            if count:
                at = np.sort(np.delete(row[np.isfinite(row)], row[np.isfinite(row)].argmin()))[count:]
                assert nearest.least[v] >= at[at > 0].min(initial=np.inf) * (1 - 1e-9)


def test_vertices_with_many_arcs_end_a_ball() -> None:
    """Of a star, and with a hub beside, which is not passed; from the hub itself there are all."""
    rows = WeightedRows.from_edges(100, np.zeros(98, np.int64), np.arange(1, 99), np.arange(1, 99).astype(np.uint8))
    radii, sums = balls(rows, 2, lambda: None)
    assert radii[0] == 3 and sums[0] == 1.5
    assert radii[7] == 7 and sums[7] == 0 and sums[99] == 0 and radii[99] == unreached(radii.dtype)


def test_intervals_of_skewed_values() -> None:
    """By Hall's formula: g, which is nearly normal, is Student's quantile at both ends; without skewness the interval
    is that of Student, and of all values it is a point."""
    k, n, random = 30, 1000, np.random.default_rng(2)
    values = random.exponential(size=k)
    centred = values - values.mean()
    variance, third = (centred**2).mean(), (centred**3).mean()
    ends = skewed(np.array([k]), n, np.array([variance]), np.array([third]))
    error, share = math.sqrt(variance * (1 - k / n) / (k - 1)), k / n
    gamma = third / variance**1.5 * (1 - 2 * share) / math.sqrt(1 - share)
    for end, sign in zip(ends, (1, -1), strict=True):
        t = -end[0] / error
        g = t + gamma * t**2 / 3 / math.sqrt(k) + gamma**2 * t**3 / 27 / k + gamma / 6 / math.sqrt(k)
        assert g == pytest.approx(sign * student(0.95, k - 1))
    low, high = skewed(np.array([k]), n, np.array([variance]), np.zeros(1))
    assert high[0] == pytest.approx(student(0.95, k - 1) * error) == -low[0]
    assert [end[0] for end in skewed(np.array([n]), n, np.ones(1), np.ones(1))] == [0, 0]


@pytest.mark.parametrize(("side", "in_ram"), [(10, True), (16, True), (10, False)])
def test_intervals_of_harmonic_centrality(tmp_path: Path, side: int, in_ram: bool) -> None:
    """Most have the true value, on disk, and where all vertices are near, all have; a sample of all has no interval."""
    rows = streets(side)
    distances = by_scipy(rows)
    assert distances is not None
    inverse, held = np.divide(1, distances, out=np.zeros_like(distances), where=distances > 0), list[float]()
    with open_store(write_rows(tmp_path / "g.zarr", rows, directed=True, chunk_ids=64), directed=True) as store:
        for seed in range(10 if side == 16 else 1):
            sampled = counted(store, True, exact=False, sample=60, seed=seed, out=str(tmp_path / "s.parquet"),
                              **({} if in_ram else in_blocks(store)))
            table = pyarrow.parquet.read_table(tmp_path / "s.parquet").to_pydict()
            for name, truth in (("harmonic_in", inverse.sum(axis=0)), ("harmonic_out", inverse.sum(axis=1))):
                low, middle, high = (np.array(table[f"{name}{end}"]) for end in ("_low", "", "_high"))
                held.append(float(((low <= truth * (1 + 1e-12)) & (truth * (1 - 1e-12) <= high)).mean()))
                assert (low <= middle).all() and (middle <= high).all()
                assert (high - low).max() < 99 * inverse.max()
                assert np.abs(middle - truth).mean() < 0.2 * truth.mean()
        counted(store, True, out=str(tmp_path / "w.parquet"))
    assert np.mean(held) >= (0.88 if side == 16 else 1)
    assert sampled.details["harmonic_interval"] == ("Hall" if in_ram else "Bernstein-Serfling")
    assert "harmonic_in_low" not in pyarrow.parquet.read_table(tmp_path / "w.parquet").column_names


def test_the_inequality_of_serfling() -> None:
    """By its formula, and 0 from a sample of all values."""
    chance = math.log(200)
    few, most = serfling(np.array([100, 1000]), 1000, np.array([0.04, 0.04]), np.array([1.0, 0.0]))
    assert few == pytest.approx(math.sqrt(0.08 * 0.901 * chance / 100) + (7 / 3 + 3 / math.sqrt(2)) * chance / 100)
    assert most == 0


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say(tmp_path: Path) -> None:
    """Of 1,000 samples 95 % +- 2 of the intervals of the mean, of the effective diameter, and of the centralities of a
    vertex have the true values."""
    rows = streets(20)
    distances = by_scipy(rows)
    assert distances is not None
    n, hits, inside = len(distances), np.zeros(2), []
    with open_store(write_rows(tmp_path / "g.zarr", rows, directed=True), directed=True) as store:
        whole = counted(store, True, out=str(tmp_path / "w.parquet"))
        truth = pyarrow.parquet.read_table(tmp_path / "w.parquet").to_pydict()
        for seed in range(1000):
            found = counted(store, True, exact=False, sample=64, seed=seed, out=str(tmp_path / "s.parquet"))
            for place, name in enumerate(("mean", "effective_diameter")):
                low, high = getattr(found.confidence, name)
                hits[place] += low <= getattr(whole, name) <= high
            table = pyarrow.parquet.read_table(tmp_path / "s.parquet").to_pydict()
            inside.append([np.mean([low <= value <= high for low, value, high in zip(
                table[f"{name}_low"], truth[name], table[f"{name}_high"], strict=True)])
                for name in ("closeness_in", "closeness_out", "harmonic_in", "harmonic_out")])
    shares = [*(hits / 1000).tolist(), *np.mean(inside, axis=0).tolist()]
    assert all(0.93 <= share <= 0.97 for share in shares), (n, shares)


# -- tables ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("flags", [(), ("--weighted",), ("--directed",), ("--directed", "--weighted")])
def test_tables_of_chosen_distances(town: tuple[Path, WeightedRows], tmp_path: Path, flags: tuple[str, ...]) -> None:
    path, rows = town
    if "--directed" not in flags:
        path = tmp_path / "edges.zarr"
        command("convert", tmp_path / "town.csv", path, "--weights", "km", "--order", "degree")
    graph: Any = nx.DiGraph() if "--directed" in flags else nx.Graph()
    for a, b, w in arcs_of(rows):
        known = graph.get_edge_data(f"v{a:02}", f"v{b:02}", {"km": math.inf})["km"]
        graph.add_edge(f"v{a:02}", f"v{b:02}", km=min(known, w / 4))
    (tmp_path / "from.txt").write_text("v07\nv00\n\n")
    (tmp_path / "to.txt").write_text("v31\nv07\nv12\n")
    out = tmp_path / "d.csv"
    text = command("distances", path, *flags, "--sources", tmp_path / "from.txt", "--targets", tmp_path / "to.txt",
                   "--out", out)
    assert "6 distances from 2 sources to 3 targets" in text
    table = pyarrow.csv.read_csv(out).to_pydict()
    assert list(zip(table["origin"], table["destination"], strict=True)) == [
        (a, b) for a in ("v07", "v00") for b in ("v31", "v07", "v12")]
    weight = "km" if "--weighted" in flags else None
    want = [nx.shortest_path_length(graph, a, b, weight=weight) for a in ("v07", "v00") for b in ("v31", "v07", "v12")]
    assert table["distance"] == pytest.approx(want)
    found = json.loads(command("distances", path, *flags, "--sources", tmp_path / "from.txt", "--out",
                               tmp_path / "all.parquet", "--json"))
    assert (found["n_pairs"], found["n_targets"], found["unreachable_pairs"]) == (72, 36, 0)
    rows_of_all = pyarrow.parquet.read_table(tmp_path / "all.parquet").to_pydict()
    assert max(rows_of_all["distance"]) == pytest.approx(found["largest_distance"])
    assert set(rows_of_all["destination"]) == set(graph)


def test_tables_in_python_and_what_they_refuse(tmp_path: Path) -> None:
    arcs = [(1, 2), (2, 3), (5, 1)]
    emdiam.convert(arcs, tmp_path / "g.zarr", directed=True)
    out = tmp_path / "t.parquet"
    result: Any = emdiam.distances(tmp_path / "g.zarr", directed=True, sources=[1, 3], targets=[3, 5], out=out)
    assert (result.n_pairs, result.unreachable_pairs, result.largest_distance) == (4, 2, 2)
    assert "n_pairs=4" in repr(result)
    assert pyarrow.parquet.read_table(out).to_pydict() == {
        "origin": [1, 1, 3, 3], "destination": [3, 5, 3, 5], "distance": [2, None, 0, None]}
    (tmp_path / "none.txt").write_text("\n")
    for options, said in (({"targets": [1], "out": out}, "needs sources"),
                          ({"sources": [1]}, "written to a file"), ({"sources": [99], "out": out}, "no such vertex"),
                          ({"sources": tmp_path / "none.txt", "out": out}, "no id in this file"),
                          ({"sources": tmp_path / "nowhere", "out": out}, "cannot be read"),
                          ({"sources": [1], "out": out, "exact": True}, "not of a sample")):
        with pytest.raises(InputError, match=said):
            emdiam.distances(tmp_path / "g.zarr", directed=True, **options)
    out.unlink()
    with pytest.raises(StoppedEarly):
        emdiam.distances(tmp_path / "g.zarr", directed=True, sources=[1], out=out, time_limit=1e-9)
    assert not out.exists()
    rng = np.random.default_rng(4)
    long = [(v, v + 1, float(10.0 ** rng.integers(-9, 9) * rng.random())) for v in range(60)]
    emdiam.convert([*long], tmp_path / "w.zarr", weights=True)
    result = emdiam.distances(tmp_path / "w.zarr", weighted=True, sources=[0], out=out)
    sums = emdiam.shortest_paths(tmp_path / "w.zarr", 0).distances.tolist()
    assert pyarrow.parquet.read_table(out)["distance"].to_pylist() == sums and result.largest_distance == max(sums)
    emdiam.convert([(0, 1, 1e308), (1, 2, 1e308)], tmp_path / "long.zarr", weights=True)
    with pytest.raises(InputError, match="the largest float"):
        emdiam.distances(tmp_path / "long.zarr", weighted=True, sources=[0], out=out)


def test_sums_that_are_not_exact_are_told(tmp_path: Path) -> None:
    """Weights that differ by 10^30: distances have an error that is printed, and their inverses are refused."""
    (tmp_path / "g.txt").write_text("0 1 1e-15\n0 2 1.0\n1 0 1e-15\n1 2 1e-15\n2 0 1e15\n2 1 0.1\n")
    emdiam.convert(tmp_path / "g.txt", tmp_path / "g.zarr", directed=True, weights=True)
    done = command("distances", tmp_path / "g.zarr", "--directed", "--weighted", "--exact")
    unit = json.loads(command("distances", tmp_path / "g.zarr", "--directed", "--weighted", "--exact",
                              "--json"))["details"]["rounded_to"]
    assert f"rounding: each distance is less than {2 * unit:.2g} longer" in done
    with pytest.raises(InputError, match="inverses of distances"):
        emdiam.distances(tmp_path / "g.zarr", exact=True, keep=True, weighted=True, directed=True)
