"""Distributions of distances against their definition, and against networkx; what samples say of their errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.distribution.counting import SourceCount
from emdiam.distribution.result import figures_of, jackknife
from emdiam.engine import cpu
from emdiam.errors import InputError, NotWritten, StoppedEarly
from emdiam.traverse import tally
from emdiam.traverse.distance_table import DistanceTable
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs, write_store
from tests.helpers.tasks import distances, distances_directed

ODD = odd_graphs()
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SMALL: dict[str, Any] = {"memory": 4 << 30, "threads": 2}


def pairs_of(graph: naive.Graph) -> dict[int, int]:
    """Unordered pairs by distance."""
    far = [d for v in range(len(graph)) for d in naive.distances(graph, v)[v + 1 :] if d > 0]
    return {d: far.count(d) for d in sorted(set(far))}


def effective(pairs: dict[int, int], quantile: float) -> float:
    """The effective diameter, by looking at one distance after another."""
    wanted, within = quantile * sum(pairs.values()), 0.0
    for distance, count in pairs.items():
        if within + count >= wanted:
            return distance - 1 + (wanted - within) / count
        within += count
    raise AssertionError("no pair")


def check(result: Any, graph: naive.Graph, quantile: float) -> None:
    n, pairs = len(graph), pairs_of(graph)
    assert result.method == "exact" and result.complete and result.samples == sum(map(bool, graph))
    assert result.pairs == pairs and result.unreachable_pairs == n * (n - 1) // 2 - sum(pairs.values())
    assert result.n_components == len(naive.components(graph)) and result.connected == (result.n_components == 1)
    if not pairs:
        assert result.mean is result.effective_diameter is result.standard_error is None
        return
    assert result.mean == pytest.approx(sum(d * c for d, c in pairs.items()) / sum(pairs.values()))
    assert result.effective_diameter == pytest.approx(effective(pairs, quantile))
    assert result.standard_error.to_dict() == {"mean": 0, "effective_diameter": 0}


@pytest.mark.parametrize("name", ODD)
def test_exact_counts_of_odd_graphs(tmp_path: Path, name: str) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    check(distances(store, {**SMALL, "exact": True}), ODD[name], 0.9)


@SETTINGS
@given(graph=graphs(most=90), quantile=st.sampled_from([0.1, 0.5, 0.9, 0.999]), way=st.sampled_from(
    [{"exact": True}, {}, {"sample": 4096}, {"exact": True, "vertex_state": "disk"}]))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, quantile: float, way: dict[str, Any]) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    check(distances(store, {**SMALL, "quantile": quantile, **way}), graph, quantile)


@pytest.mark.parametrize("way", [{"sample": 3}, {"exact": True}])
def test_long_paths_are_counted_by_a_bfs_from_each_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                          way: dict[str, Any]) -> None:
    """To the same answer as by batches."""
    graph = naive.graph_of(120, [(v, v + 1) for v in range(119)] + [(4, 40)])
    store = write_store(tmp_path / "g.zarr", graph)
    batches: list[int] = []
    run = tally.tally_runs
    monkeypatch.setattr(tally, "tally_runs", lambda *about: batches.append(1) or run(*about))
    results = [distances(store, {**SMALL, **way, "keep": True})]
    assert not batches
    monkeypatch.setattr(cpu.CpuEngine, "_one_by_one", lambda *_: False)
    results.append(distances(store, {**SMALL, **way, "keep": True}))
    assert batches
    assert results[0].pairs == results[1].pairs and results[0].to_dict()["mean"] == results[1].to_dict()["mean"]
    assert [np.array_equal(getattr(results[0], name), getattr(results[1], name))
            for name in ("closeness", "harmonic")] == [True, True]


@pytest.mark.parametrize("name", ["grid", "clique-and-path", "isolated-first", "no-edges", "lollipop"])
@pytest.mark.parametrize("order", ["natural", "bfs"])
def test_centralities_are_those_of_networkx(tmp_path: Path, name: str, order: str) -> None:
    graph = nx.from_dict_of_lists(dict(enumerate(ODD[name])))
    store, out = write_store(tmp_path / "g.zarr", ODD[name]), tmp_path / "c.parquet"
    if order != "natural":
        emdiam.reorder(store, tmp_path / "h.zarr", order)
        store = tmp_path / "h.zarr"
    assert distances(store, {**SMALL, "exact": True, "out": out}).out == str(out)
    table = pq.read_table(out).to_pydict()
    assert table["id"] == list(graph)
    for column, want in (("closeness", nx.closeness_centrality(graph)), ("harmonic", nx.harmonic_centrality(graph))):
        assert table[column] == pytest.approx([want[v] for v in graph], rel=1e-12)


def test_answers_do_not_depend_on_the_order_of_a_store_or_on_threads(tmp_path: Path) -> None:
    graph = naive.graph_of(600, [(a, b) for a, b in nx.gnm_random_graph(600, 1400, seed=2).edges])
    store = write_store(tmp_path / "g.zarr", graph)
    emdiam.reorder(store, tmp_path / "h.zarr", "cluster")
    results = []
    for number, (place, threads) in enumerate([(store, 1), (store, 2), (tmp_path / "h.zarr", 2)]):
        out = tmp_path / f"{number}.parquet"
        result = distances(place, {"memory": 4 << 30, "threads": threads, "sample": 90, "seed": 5, "out": out})
        assert result.method == "sample" and result.samples == 90
        results.append((result.pairs, result.mean, result.effective_diameter, result.standard_error,
                        pq.read_table(out).to_pydict()))
    assert results[0] == results[1] == results[2]
    assert distances(store, {**SMALL, "sample": 90, "seed": 6}).mean != results[0][1]


def test_standard_errors_are_as_large_as_errors_are(tmp_path: Path) -> None:
    """Over many seeds the errors have the standard deviation that is stated, and the sample is without replacement."""
    graph = nx.barabasi_albert_graph(400, 2, seed=1)
    rows = naive.graph_of(400, graph.edges)
    store = write_store(tmp_path / "g.zarr", rows)
    exact = distances(store, {**SMALL, "exact": True})
    for count in (40, 300):
        runs = [distances(store, {**SMALL, "sample": count, "seed": seed}) for seed in range(40)]
        for name in ("mean", "effective_diameter"):
            errors = np.array([getattr(run, name) - getattr(exact, name) for run in runs])
            stated = np.array([getattr(run.standard_error, name) for run in runs])
            assert 0.7 < np.sqrt(np.mean(errors**2)) / np.sqrt(np.mean(stated**2)) < 1.4
            assert abs(errors.mean()) < 3 * stated.mean() / np.sqrt(len(runs))


def test_centralities_of_a_sample_are_unbiased(tmp_path: Path) -> None:
    graph = nx.barbell_graph(12, 6)
    store, out = write_store(tmp_path / "g.zarr", naive.graph_of(30, graph.edges)), tmp_path / "c.parquet"
    means, want = np.zeros(30), nx.harmonic_centrality(graph)
    for seed in range(60):
        result = distances(store, {**SMALL, "sample": 10, "seed": seed, "out": out})
        means += np.array(pq.read_table(out)["harmonic"]) / 60
        assert result.details["centrality"]["mean_distance_error"] > 0
    assert means == pytest.approx([want[v] for v in range(30)], rel=0.1)


def test_a_stopped_count_is_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.connected_watts_strogatz_graph(2000, 4, 0.2, seed=3)
    store = write_store(tmp_path / "g.zarr", naive.graph_of(2000, graph.edges), chunk=4096)
    whole = distances(store, {**SMALL, "exact": True})
    count, now = SourceCount._count, [0.0]

    def counted(self: SourceCount, part: Any) -> None:
        count(self, part)
        now[0] += 1

    monkeypatch.setattr("emdiam.distribution.counting.time.monotonic", lambda: now[0])
    monkeypatch.setattr(SourceCount, "_count", counted)
    with pytest.raises(StoppedEarly, match="the answer is that of 1,024 sources") as stop:
        distances(store, {**SMALL, "exact": True, "time_limit": 2, "out": tmp_path / "c.parquet"})
    part: Any = stop.value.result
    assert part.method == "sample" and not part.complete and part.samples == 1024
    assert abs(part.mean - whole.mean) < 5 * part.standard_error.mean and part.standard_error.mean > 0
    assert sum(part.pairs.values()) == pytest.approx(sum(whole.pairs.values()), abs=20)
    assert pq.read_table(tmp_path / "c.parquet").num_rows == 2000
    monkeypatch.undo()
    with pytest.raises(StoppedEarly, match="before anything was counted") as stop:
        distances(store, {**SMALL, "time_limit": 1e-9})
    assert stop.value.result is None


def test_the_time_limit_ends_a_count_of_long_paths_between_a_few_sources(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a BFS of its own there, and hundreds of them take minutes."""
    store = write_store(tmp_path / "g.zarr", naive.graph_of(120, [(v, v + 1) for v in range(119)]))
    whole, count, now = distances(store, {**SMALL, "exact": True}), SourceCount._count, [0.0]

    def counted(self: SourceCount, part: Any) -> None:
        count(self, part)
        now[0] += 1

    monkeypatch.setattr("emdiam.distribution.counting.time.monotonic", lambda: now[0])
    monkeypatch.setattr(SourceCount, "_count", counted)
    monkeypatch.setattr(cpu, "_ARCS_AT_ONCE", 3 * 238)
    with pytest.raises(StoppedEarly, match="the answer is that of 15 sources"):
        distances(store, {**SMALL, "exact": True, "time_limit": 5})
    assert distances(store, {**SMALL, "exact": True}).pairs == whole.pairs


@pytest.mark.parametrize(("options", "message"), [
    ({"sample": 0}, "at least|at least one|one source"), ({"quantile": 1.0}, "between 0 and 1"),
    ({"hyperball": 3}, "4 to 16"), ({"exact": True, "sample": 5}, "is enough"), ({"seed": -1}, "seed"),
    ({"out": "/nowhere/c.parquet"}, "does not exist")])
def test_refusals(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    with pytest.raises(InputError, match=message):
        distances(store, {**SMALL, **options})


def test_an_answer_survives_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])

    def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("emdiam.vertex_tables.whole_file", full)
    with pytest.raises(NotWritten, match="No space left") as stop:
        distances(store, {**SMALL, "out": tmp_path / "c.parquet"})
    assert stop.value.result.mean and stop.value.result.not_written  # type: ignore[attr-defined]


def test_python_takes_graphs_of_other_kinds() -> None:
    graph = nx.petersen_graph()
    result = emdiam.distances(graph, quantile=0.5)
    assert result.pairs == {1: 15, 2: 30} and result.mean == pytest.approx(nx.average_shortest_path_length(graph))
    assert result.effective_diameter == pytest.approx(1.25) and result.to_dict()["pairs"] == {"1": 15, "2": 30}
    with pytest.raises(TypeError, match="gap"):
        emdiam.distances(graph, gap=1)  # type: ignore[call-arg]


def test_figures_of_no_pairs_and_of_single_groups() -> None:
    table = DistanceTable(2)
    assert figures_of(table.total(), 0.9) is None
    table.add(1, np.array([4, 0]))
    assert jackknife(table.without_each(), 0.9) is None
    table.add(2, np.array([0, 4]))
    both = jackknife(table.without_each(), 0.5)
    assert both is not None and both.mean == pytest.approx(0.5)


@pytest.mark.parametrize("way", [
    {"exact": True}, {"exact": True, "vertex_state": "disk"}, {"sample": 700}, {"hyperball": 8},
    {"exact": True, "directed": True}])
def test_ranges_of_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: dict[str, Any]) -> None:
    """A path, where no more than 60 distances have a place of their own."""
    monkeypatch.setattr("emdiam.traverse.distance_table.MOST_VALUES", 60)
    emdiam.convert(nx.path_graph(900), tmp_path / "g.zarr")
    if "directed" in way:
        emdiam.convert(nx.path_graph(900, nx.DiGraph), tmp_path / "d.zarr", directed=True)
        result = distances_directed(tmp_path / "d.zarr", {"memory": 4 << 30, "exact": True})
    else:
        result = distances(tmp_path / "g.zarr", {**SMALL, **way})
    assert result.histogram_width == 100 and list(result.pairs) == list(range(0, 900, 100))
    assert result.mean is not None and result.effective_diameter is not None and result.standard_error is not None
    whole = {d: 900 - d for d in range(1, 900)}
    if way.get("exact"):
        assert result.pairs == {i: sum(900 - d for d in range(max(1, i), i + 100)) for i in range(0, 900, 100)}
        assert result.mean == pytest.approx(901 / 3, rel=1e-12) and result.standard_error.mean == 0
        assert abs(result.effective_diameter - effective(whole, 0.9)) < 100
        return
    assert sum(result.pairs.values()) == pytest.approx(sum(whole.values()), rel=1e-3)
    assert 0 < result.standard_error.mean < 60 and abs(result.mean - 901 / 3) < 5 * result.standard_error.mean
    error = 100 + 5 * result.standard_error.effective_diameter
    assert abs(result.effective_diameter - effective(whole, 0.9)) < error < 500


@pytest.mark.parametrize("count", [6, 50])
def test_distances_up_to_the_limit_are_each_by_themselves(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Groups are joined then, no distances: figures are the same, errors but for how many groups there are."""
    emdiam.convert(nx.path_graph(61), tmp_path / "g.zarr")
    whole = distances(tmp_path / "g.zarr", {**SMALL, "sample": count})
    monkeypatch.setattr("emdiam.traverse.distance_table.MOST_VALUES", 60)
    part = distances(tmp_path / "g.zarr", {**SMALL, "sample": count})
    assert part.histogram_width is None and (part.pairs, part.mean) == (whole.pairs, whole.mean)
    assert part.effective_diameter == whole.effective_diameter and part.standard_error and whole.standard_error
    assert (part.standard_error == whole.standard_error) == (count <= 16)
    assert 0.5 < part.standard_error.mean / whole.standard_error.mean < 2
