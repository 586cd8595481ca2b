"""Exact diameters of weighted graphs: against all pairs by the textbook, their certificates, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates import weighted as weighted_sources
from emdiam.certificates.sealed import sealed
from emdiam.certificates.weighted import are_distances
from emdiam.cli.main import group
from emdiam.errors import BudgetError, InputError, StoppedEarly
from emdiam.methods.weighted import search as searches
from emdiam.methods.weighted.units import units_of
from emdiam.paths.arcs import ArcsInRam
from emdiam.paths.paths import SearchOptions
from emdiam.paths.plan import ArcsPlan
from emdiam.paths.rows import WeightedRows
from emdiam.runs.task import execute, task_of
from emdiam.runs.weights import methods_of
from tests.conftest import ROOT
from tests.helpers.lengths import ODD, Edges, all_pairs, in_ram, on_disk, random_edges, random_weight, two_parts
from tests.helpers.weighted_answers import check_diameter, largest_component, longest, solved
from tests.helpers.weighted_stores import make_weighted_store


def naive(n: int, edges: Edges) -> tuple[float, float]:
    """The largest finite distance: over all components, and in that of the most vertices (ties: the first)."""
    distances = all_pairs(n, edges)
    largest = largest_component(distances)
    return longest(distances), float(distances[np.ix_(largest, largest)].max())


def check(n: int, edges: Edges, dtype: str) -> None:
    check_diameter(in_ram(n, edges, dtype), all_pairs(n, edges))


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(name: str) -> None:
    n, edges = ODD[name]
    for dtype in ("uint8", "uint32", "float32", "float64"):
        check(n, edges, dtype)
    for dtype in ("uint8", "float32"):
        with on_disk(n, edges, dtype) as arcs:
            check_diameter(arcs, all_pairs(n, edges))


@settings(deadline=None)
@given(seed=st.integers(0, 1 << 30), dtype=st.sampled_from(["uint8", "uint32", "float32"]))
def test_random_graphs(seed: int, dtype: str) -> None:
    generator = random.Random(seed)
    n = generator.randint(1, 40)
    check(n, {(generator.randrange(n), generator.randrange(n)): random_weight(generator, dtype)
              for _ in range(generator.randint(0, 3 * n))}, dtype)


@pytest.mark.parametrize("method", ["pivots", "bounding"])
def test_no_component_is_begun_twice(method: str) -> None:
    """Not even where pivots have no room for columns, and go on by bounds."""
    for seed in range(12):
        generator = random.Random(seed)
        search = solved(in_ram(60, random_edges(generator, 60, "uint8"), "uint8"), method, 0)
        roots = search.parts.roots[search.parts.sizes > 1]
        assert len(search.sources()) > 2 and np.bincount(search.sources(), minlength=60)[roots].max() <= 1


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1 << 30), dtype=st.sampled_from(["uint8", "uint32", "float32"]))
def test_random_graphs_on_disk(seed: int, dtype: str) -> None:
    generator = random.Random(seed)
    n = generator.randint(1, 150)
    edges = random_edges(generator, n, dtype)
    with on_disk(n, edges, dtype) as arcs:
        check_diameter(arcs, all_pairs(n, edges))


def test_units() -> None:
    """The largest power of two that divides all weights; sums that are rounded are refused."""
    assert units_of(in_ram(2, {(0, 1): 7}, "uint8")).whole
    units = units_of(in_ram(3, {(0, 1): 0.75, (1, 2): 1e10}, "float64"))
    assert (units.exponent, units.whole, units.length(3)) == (-2, False, 0.75)
    with pytest.raises(InputError, match="53 bits"):
        solved(in_ram(4, {(0, 1): 0.1, (1, 2): 0.3, (2, 3): 2.0}, "float64"), "pivots")
    assert solved(in_ram(3, {(0, 1): 0.125, (1, 2): 2.0**40}, "float64"), "pivots").best.length == 1 + 2**43
    negative = WeightedRows.from_edges(2, [0], [1], np.array([-1], np.int32))
    with pytest.raises(InputError, match="below 0"):
        units_of(ArcsInRam(negative, SearchOptions()))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Edges]:
    return two_parts(tmp_path_factory.mktemp("weighted") / "g.zarr")


def test_weights_of_graphs_in_memory_are_kept(store: tuple[Path, int, Edges]) -> None:
    _, n, edges = store
    triples = [(a, b, w) for (a, b), w in edges.items()]
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(triples)
    want = naive(n, edges)[0]
    for found in (emdiam.exact(graph, weighted=True), emdiam.exact(triples, weighted=True),
                  emdiam.eccentricities(graph, weighted=True)):
        assert found.diameter_max_component == want
    with pytest.raises(InputError, match="not one attribute of weights; they have none at all"):
        emdiam.exact(nx.path_graph(3), weighted=True)


@pytest.mark.parametrize("method", methods_of("exact"))
def test_a_run_and_its_certificate(store: tuple[Path, int, Edges], tmp_path: Path, method: str) -> None:
    place, n, edges = store
    want = naive(n, edges)
    file, walk = tmp_path / "c.json", tmp_path / "path.txt"
    result: Any = emdiam.exact(place, method=method, weighted=True, certificate=file, path=walk)
    assert (result.weighted, result.weights, result.exact, result.connected) == (True, "uint16", True, False)
    assert (result.diameter, result.diameter_max_component, result.diameter_largest_component) == (None, *want)
    assert result.n_components == 3 and result.peak_rss_bytes and result.certificate == str(file)
    path = result.witness.path
    lengths = [edges.get((a, b), edges.get((b, a))) for a, b in itertools.pairwise(path)]
    assert sum(lengths) == result.witness.length == want[0]
    assert [int(line) for line in walk.read_text().split()] == path
    report = emdiam.verify(file, place)
    assert report.verified and (report.lower, report.diameter_largest_component) == want


@pytest.mark.parametrize("method", methods_of("exact"))
def test_a_run_on_disk(store: tuple[Path, int, Edges], tmp_path: Path, method: str,
                       monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks are read again and again; the answer and its certificate are those of arcs in RAM, verified on disk."""
    place, n, edges = store
    arena, files = 2 * 64 * 6, (tmp_path / "ram.json", tmp_path / "disk.json")
    in_ram: Any = emdiam.exact(place, method=method, weighted=True, certificate=files[0])
    result: Any = emdiam.exact(place, method=method, weighted=True, certificate=files[1], arena=arena)
    assert (result.lower, result.upper, result.exact) == (in_ram.lower, in_ram.upper, True)
    assert result.bytes_read > 10 * in_ram.bytes_read and result.witness.length == result.lower
    assert json.loads(files[1].read_text())["claims"] == json.loads(files[0].read_text())["claims"]
    monkeypatch.setattr(weighted_sources, "plan_arcs", lambda *_: ArcsPlan(0, arena))
    assert emdiam.verify(files[1], place).verified
    edited(files[1], _longer)
    assert not emdiam.verify(files[1], place).verified
    with pytest.raises(BudgetError, match="least is .*2 blocks"):
        emdiam.exact(place, method=method, weighted=True, arena=64)


def test_what_are_no_distances() -> None:
    """One too large, one too small, and vertices that fit each other alone, around an edge of no length."""
    edges: Edges = {(0, 1): 2, (1, 2): 0, (2, 3): 3, (3, 4): 0}
    for arcs in (in_ram(6, edges, "uint8"), in_ram(6, edges, "float32")):
        right, _ = arcs.nearest(np.array([0]))
        assert are_distances(arcs, right, np.array([0]), 5)
        assert not are_distances(arcs, right, np.array([0]), 4) and not are_distances(arcs, right, np.array([1]), 5)
        for vertices, change in (([4], 1), ([2], -1), ([3, 4], -1), ([1, 2], -1)):
            wrong = right.copy()
            wrong[vertices] += change if wrong.dtype.kind == "f" else np.array(change).astype(np.uint64)
            assert not are_distances(arcs, wrong, np.array([0]), 5), vertices


def edited(file: Path, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(file.read_bytes())
    del document["digest"]
    change(document)
    file.write_bytes(sealed(document))


def _shorter(document: dict[str, Any]) -> None:
    document["claims"]["length"] -= 1


def _longer(document: dict[str, Any]) -> None:
    document["claims"]["length"] += 1


def _largest(document: dict[str, Any]) -> None:
    document["claims"]["diameter_largest_component"] -= 1


def _components(document: dict[str, Any]) -> None:
    document["claims"]["n_components"] += 1


def _without_most(document: dict[str, Any]) -> None:
    document["sources"] = document["claims"]["witness"][:1]


def _witness(document: dict[str, Any]) -> None:
    document["claims"]["witness"][1] = document["claims"]["witness"][0]


def _stranger(document: dict[str, Any]) -> None:
    document["sources"][0] = 10**6


@pytest.mark.parametrize("change", [_shorter, _longer, _largest, _components, _without_most, _witness, _stranger])
def test_certificates_that_prove_nothing(store: tuple[Path, int, Edges], tmp_path: Path,
                                         change: Callable[[dict[str, Any]], None]) -> None:
    file = tmp_path / "c.json"
    emdiam.exact(store[0], weighted=True, certificate=file)
    edited(file, change)
    report = emdiam.verify(file, store[0])
    assert not report.verified and report.reason


def test_a_source_in_the_middle_proves_no_more_than_twice_its_reach(tmp_path: Path) -> None:
    """Two edges of length 3 from vertex 1: the ends are 6 apart, and a certificate says 3."""
    place, file = make_weighted_store(tmp_path / "g.zarr", {(0, 1): 3, (1, 2): 3}, n_vertices=3,
                                      dtype="uint16"), tmp_path / "c.json"
    assert emdiam.exact(place, weighted=True, certificate=file).upper == 6
    edited(file, lambda document: document.update(sources=[0, 1, 2]))
    assert emdiam.verify(file, place).verified

    def forge(document: dict[str, Any]) -> None:
        document["claims"].update(length=3, diameter_largest_component=3, witness=[1, 0])
        document.update(sources=[1])

    edited(file, forge)
    report = emdiam.verify(file, place)
    assert not report.verified and "not proved to be within 3" in str(report.reason)


def test_another_graph_and_other_weights(store: tuple[Path, int, Edges], tmp_path: Path) -> None:
    place, n, edges = store
    file = tmp_path / "c.json"
    emdiam.exact(place, weighted=True, certificate=file)
    heavier = {pair: weight + (number == 0) for number, (pair, weight) in enumerate(edges.items())}
    for others in (heavier, dict.fromkeys(edges, 1)):
        other = make_weighted_store(tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr",
                                    others, n_vertices=n, dtype="uint16")  # type: ignore[arg-type]
        report = emdiam.verify(file, other)
        assert report.verified == (naive(n, others) == naive(n, edges) and others is heavier), report.reason


def test_a_store_without_weights_is_refused(tmp_path: Path) -> None:
    """Distances along weights are no numbers of edges."""
    place = tmp_path / "g.zarr"
    emdiam.convert([(0, 1), (1, 2), (2, 3), (5, 6)], place)
    for run in (emdiam.exact, emdiam.eccentricities, emdiam.approximate):
        with pytest.raises(InputError, match="this store has no weights; leave"):
            run(place, weighted=True)
    for command in ("exact", "ecc", "approx"):
        done = CliRunner().invoke(group, [command, str(place), "--weighted", "--quiet"])
        assert isinstance(done.exception, InputError)
        assert "has no weights; leave --weighted out, or convert the graph with --weights" in str(done.exception)


def test_what_is_refused(store: tuple[Path, int, Edges]) -> None:
    place = store[0]
    for options, why in (({"method": "fdiam"}, "F-Diam is for graphs without weights"),
                         ({"method": "korf"}, "weighted"), ({"gap": 3}, "not for weighted"),
                         ({"workers": 2}, "not for weighted")):
        with pytest.raises(InputError, match=why):
            emdiam.exact(place, weighted=True, **options)  # type: ignore[arg-type]
    with pytest.raises(BudgetError, match="give at least memory="):
        emdiam.exact(place, weighted=True, memory=1 << 20)
    with pytest.raises(StoppedEarly) as stopped:
        emdiam.exact(place, weighted=True, time_limit=1e-6)
    result: Any = stopped.value.result  # type: ignore[attr-defined]
    assert result.lower < naive(*store[1:])[0] <= result.upper and not result.exact


def test_very_many_components_are_in_the_least_that_a_refusal_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that finds more of them than were planned for begins again, or names what does."""
    monkeypatch.setattr(searches, "COMPONENT_BYTES", 1 << 20)
    make_weighted_store(tmp_path / "g.zarr", {(2 * i, 2 * i + 1): 3 for i in range(200)}, n_vertices=400)

    def exact(memory: int) -> Any:
        return execute(tmp_path / "g.zarr", task_of("exact", {
            "weighted": True, "method": "bounding", "memory": memory, "threads": 2}))

    exact(2 << 30)  # kernels are there then
    with pytest.raises(BudgetError, match=r"with very many components .*give at least --memory (\d+)MiB") as first:
        exact(1 << 20)
    assert first.value.least_bytes > 199 << 20
    with pytest.raises(BudgetError, match=r"^200 components take .*give at least --memory (\d+)MiB$"):
        exact(first.value.least_bytes - (100 << 20))
    found = exact(first.value.least_bytes + (8 << 20))
    assert (found.n_components, found.diameter_max_component) == (200, 3)
    assert found.planned_rss_bytes <= first.value.least_bytes + (8 << 20)


def test_command(store: tuple[Path, int, Edges]) -> None:
    place, n, edges = store
    want = naive(n, edges)
    done = CliRunner().invoke(group, ["exact", str(place), "--weighted", "--json", "--quiet"])
    found = json.loads(done.stdout)
    assert (found["weighted"], found["diameter_max_component"], found["diameter"]) == (True, want[0], None)
    text = CliRunner().invoke(group, ["exact", str(place), "--weighted", "--quiet"]).stdout
    assert f"{int(want[0]):,} (proved)" in text and "edges apart" not in text and "searches" in text


@pytest.mark.slow
def test_road_map(tmp_path: Path) -> None:
    """USA-road-d.NY with its lengths: two methods, few searches, the certificate, and another library's distances."""
    scipy_graph = pytest.importorskip("scipy.sparse.csgraph")
    import scipy.sparse

    data = ROOT.parent / "shared" / "data" / "USA-road-d.NY.gr.gz"
    if not data.exists():
        pytest.skip("the data are not here")
    place, file = tmp_path / "ny.zarr", tmp_path / "ny.json"
    emdiam.convert(data, place, weights=True)
    pivots: Any = emdiam.exact(place, weighted=True, certificate=file)
    bounding: Any = emdiam.exact(place, weighted=True, method="bounding")
    assert pivots.diameter == bounding.diameter == 1_652_818
    assert pivots.traversals.bfs <= 30
    assert emdiam.verify(file, place).verified
    rows = WeightedRows.from_store(emdiam.open(place))
    matrix = scipy.sparse.csr_matrix((rows.costs.astype(float), rows.heads.astype(np.int64), rows.offsets))
    far = scipy_graph.dijkstra(matrix, indices=int(pivots.witness.source) - 1)
    assert far.max() == far[int(pivots.witness.target) - 1] == 1_652_818


def test_certificates_of_equal_components_in_any_order(tmp_path: Path) -> None:
    """Two components have the most vertices; which of them comes first depends on the order of the store."""
    (tmp_path / "g.txt").write_text("1 2 1\n2 3 1\n3 4 1\n10 11 5\n10 12 5\n10 13 5\n")
    stores = {order: tmp_path / f"{order}.zarr" for order in ("natural", "degree")}
    for order, store in stores.items():
        emdiam.convert(tmp_path / "g.txt", store, weights=True, order=order)
    for store in stores.values():
        certificate = tmp_path / f"{store.stem}.json"
        emdiam.exact(store, weighted=True, certificate=certificate)
        assert all(emdiam.verify(certificate, other).verified for other in stores.values())
