"""All eccentricities of weighted graphs: against all pairs by the textbook, bounds of stopped runs, the command."""

from __future__ import annotations

import csv
import json
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates import weighted as weighted_sources
from emdiam.certificates.sealed import sealed
from emdiam.cli.main import group
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.weighted.eccentricities import MOST_RANGES, histogram
from emdiam.methods.weighted.metric import WeightMetric
from emdiam.methods.weighted.units import Units
from emdiam.paths.plan import ArcsPlan
from emdiam.paths.rows import WeightedRows
from tests.conftest import ROOT
from tests.helpers.lengths import ODD, Edges, all_pairs, in_ram, on_disk, random_edges, two_parts
from tests.helpers.weighted_answers import check_eccentricities, eccentricities, largest_component
from tests.helpers.weighted_stores import make_weighted_store


def naive(n: int, edges: Edges) -> tuple[np.ndarray, np.ndarray]:
    """Every eccentricity, float64[n]; and the vertices of the component with the most of them (ties: the first)."""
    distances = all_pairs(n, edges)
    return eccentricities(distances), largest_component(distances)


def check(n: int, edges: Edges, dtype: str) -> None:
    check_eccentricities(in_ram(n, edges, dtype), all_pairs(n, edges))


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(name: str) -> None:
    n, edges = ODD[name]
    for dtype in ("uint8", "uint32", "float32"):
        check(n, edges, dtype)
    with on_disk(n, edges, "uint32") as arcs:
        check_eccentricities(arcs, all_pairs(n, edges))


@settings(deadline=None)
@given(seed=st.integers(0, 1 << 30), dtype=st.sampled_from(["uint8", "uint32", "float32"]))
def test_random_graphs(seed: int, dtype: str) -> None:
    generator = random.Random(seed)
    n = generator.randint(1, 40)
    check(n, random_edges(generator, n, dtype), dtype)


def claims_of(file: Path) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(file.read_bytes())["claims"]
    return claims


def test_a_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is proved again, from another order of the vertices and on disk too; changed claims and left out sources are
    refused, as is another graph."""
    place, n, edges = two_parts(tmp_path / "g.zarr")
    file, changed = tmp_path / "e.json", tmp_path / "changed.json"
    result = emdiam.eccentricities(place, weighted=True, certificate=file)
    want, largest = naive(n, edges)
    assert result.certificate == str(file) and claims_of(file)["radius"] == want[largest].min() == result.radius
    emdiam.reorder(place, tmp_path / "r.zarr", order="bfs")
    for graph in (place, tmp_path / "r.zarr"):
        report: Any = emdiam.verify(file, graph)
        assert report.verified and (report.radius, report.upper) == (want[largest].min(), want.max()), report.reason
        assert report.center_size == result.center.size and report.periphery_size == result.periphery.size
    for claim in claims_of(file):
        document = json.loads(file.read_bytes())
        del document["digest"]
        document["claims"][claim] += 120 if claim == "largest" else 1
        changed.write_bytes(sealed(document))
        assert not emdiam.verify(changed, place).verified, claim
    for number in range(len(document["sources"])):
        document = json.loads(file.read_bytes())
        del document["digest"], document["sources"][number]
        changed.write_bytes(sealed(document))
        report = emdiam.verify(changed, place)
        assert not report.verified or report.radius == want[largest].min()
    document["sources"] = document["sources"][:2]
    changed.write_bytes(sealed(document))
    assert "open" in str(emdiam.verify(changed, place).reason)
    heavier = make_weighted_store(tmp_path / "h.zarr", {pair: 2 * weight for pair, weight in edges.items()},
                                  n_vertices=n, dtype="uint16")
    assert not emdiam.verify(file, heavier).verified
    monkeypatch.setattr(weighted_sources, "plan_arcs", lambda *_: ArcsPlan(0, 2 * 64 * 6))
    assert emdiam.verify(file, place).verified
    with pytest.raises(InputError, match="needs all eccentricities"):
        emdiam.eccentricities(place, weighted=True, what="radius", certificate=file)
    done = CliRunner().invoke(group, ["ecc", str(place), "--weighted", "--certificate", str(changed), "--quiet"])
    assert not done.exception and emdiam.verify(changed, place).verified
    text = CliRunner().invoke(group, ["verify", str(changed), str(place), "--quiet"])
    assert "all eccentricities of 151 vertices" in text.stdout and not text.exit_code


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1 << 30), dtype=st.sampled_from(["uint8", "float32"]))
def test_certificates_of_random_graphs(seed: int, dtype: str) -> None:
    generator = random.Random(seed)
    n = generator.randint(1, 40)
    edges = {pair: weight for pair, weight in random_edges(generator, n, dtype).items() if pair[0] < pair[1]}
    with tempfile.TemporaryDirectory() as folder:
        place = make_weighted_store(Path(folder) / "g.zarr", edges, n_vertices=n, dtype=dtype)
        file = Path(folder) / "e.json"
        emdiam.eccentricities(place, weighted=True, certificate=file)
        report = emdiam.verify(file, place)
        assert report.verified, report.reason


def test_a_run_on_disk(tmp_path: Path) -> None:
    place = two_parts(tmp_path / "g.zarr")[0]
    in_ram, streamed = emdiam.eccentricities(place, weighted=True), emdiam.eccentricities(
        place, weighted=True, arena=2 * 64 * 6)
    assert (streamed.radius, streamed.diameter_max_component) == (in_ram.radius, in_ram.diameter_max_component)
    assert streamed.histogram == in_ram.histogram and streamed.bytes_read > in_ram.bytes_read


def test_histogram() -> None:
    """Each number alone while they are few, then round ranges."""
    assert histogram(np.array([3, 1, 3]), Units()) == ({1: 1, 3: 2}, None)
    assert histogram(np.array([3, 1, 3]), Units(-1, False)) == ({0.5: 1, 1.5: 2}, None)
    assert histogram(np.empty(0, np.int64), Units()) == ({}, None)
    values = np.random.default_rng(3).integers(10**6, 10**7, 5000)
    for units, share in ((Units(), 1), (Units(-4, False), 16)):
        counts, width = histogram(values, units)
        assert sum(counts.values()) == 5000 and MOST_RANGES // 3 < len(counts) <= MOST_RANGES
        for begin, count in counts.items():
            assert float(begin) % width == 0
            assert count == np.count_nonzero(values // share // width == float(begin) // width)
    assert histogram(np.arange(100, 125), Units())[1] == 2


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Edges]:
    return two_parts(tmp_path_factory.mktemp("weighted") / "g.zarr")


def test_a_run(store: tuple[Path, int, Edges], tmp_path: Path) -> None:
    place, n, edges = store
    want, largest = naive(n, edges)
    within = want[largest]
    result: Any = emdiam.eccentricities(place, weighted=True, keep=True, out=tmp_path / "e.parquet")
    assert (result.weighted, result.weights, result.exact, result.unresolved) == (True, "uint16", True, 0)
    assert result.by_vertex() == dict(enumerate(want.astype(int).tolist()))
    assert (result.radius, result.diameter, result.diameter_largest_component) == (within.min(), None, within.max())
    assert result.diameter_max_component == result.witness.length == want.max()
    assert result.center.ids == largest[within == within.min()].tolist() and result.center.size == len(
        result.center.ids)
    assert result.periphery.ids == largest[within == within.max()].tolist()
    assert sum(result.histogram.values()) == n and result.traversals.bfs <= result.sources < n
    rows = pyarrow.parquet.read_table(tmp_path / "e.parquet").to_pydict()
    assert rows == {"id": list(range(n)), "eccentricity": want.astype(int).tolist(),
                    "component": [0] * 120 + [120] * 30 + [150]}
    for what, known in (("radius", (True, False, False)), ("center", (True, True, False))):
        some: Any = emdiam.eccentricities(place, weighted=True, what=what)
        assert tuple(one is not None for one in (some.radius, some.center, some.periphery)) == known
        assert (some.radius, some.exact, some.witness) == (result.radius, True, None)
        assert some.center is None or some.center == result.center


def test_a_graph_in_memory() -> None:
    result: Any = emdiam.eccentricities([(0, 1, 1), (1, 2, 1), (2, 3, 1), (5, 6, 1)], weighted=True)
    plain = emdiam.eccentricities([(0, 1), (1, 2), (2, 3), (5, 6)])
    assert result.by_vertex() == plain.by_vertex() and result.weights == "uint8"
    assert (result.center, result.histogram) == (plain.center, plain.histogram)


def test_what_is_refused(store: tuple[Path, int, Edges], tmp_path: Path) -> None:
    for options in ({"what": "all", "workers": 2}, {"checkpoint": "c"}, {"directed": "out"}):
        with pytest.raises(InputError, match="not for weighted graphs|have no directions"):
            emdiam.eccentricities(store[0], weighted=True, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown part"):
        emdiam.eccentricities(store[0], weighted=True, what="some")
    file = tmp_path / "e.csv"
    with pytest.raises(StoppedEarly) as stopped:
        emdiam.eccentricities(store[0], weighted=True, time_limit=1e-6, out=file, keep=True)
    result: Any = stopped.value.result  # type: ignore[attr-defined]
    want = naive(*store[1:])[0]
    assert not result.exact and result.unresolved == 150 and result.out == str(file)
    assert (result.lower_bounds <= want).all() and (want <= result.upper_bounds).all()
    with file.open() as lines:
        assert next(csv.reader(lines)) == ["id", "lower", "upper", "component"]


@pytest.mark.parametrize("run", [emdiam.exact, emdiam.approximate, emdiam.eccentricities])
def test_a_time_that_is_over_after_the_last_search_ends_nothing(
    store: tuple[Path, int, Edges], monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    """What was found is still checked, and checks that take long tell of themselves."""
    check = WeightMetric.check
    late: list[bool] = []

    def checked(self: WeightMetric, run: Any) -> Any:
        late.append(True)
        self.beat()
        return check(self, run)

    monkeypatch.setattr(WeightMetric, "check", checked)
    clock = SimpleNamespace(**{name: getattr(time, name) for name in ("monotonic", "perf_counter")})
    monkeypatch.setattr("emdiam.progress.time", clock)
    clock.monotonic = lambda: time.monotonic() + 1000 * bool(late)
    told: list[bool] = []
    result = run(store[0], weighted=True, time_limit=60, progress=lambda event: told.append(bool(late)))
    assert result.lower <= result.upper and any(told)


def test_command(store: tuple[Path, int, Edges]) -> None:
    place, n, edges = store
    want, largest = naive(n, edges)
    done = CliRunner().invoke(group, ["ecc", str(place), "--weighted", "--json", "--quiet"])
    found = json.loads(done.stdout)
    assert (found["weighted"], found["radius"], found["unresolved"]) == (True, want[largest].min(), 0)
    text = CliRunner().invoke(group, ["ecc", str(place), "--weighted", "--quiet"]).stdout
    assert f"radius: {int(want[largest].min()):,} (proved)" in text and "searches" in text
    assert "eccentricity from" in text
    for both in (["ecc", "--directed", "out"], ["exact", "--directed"]):
        refused = CliRunner().invoke(group, [*both, str(place), "--weighted", "--quiet"])
        assert isinstance(refused.exception, InputError) and "no directions" in str(refused.exception)


@pytest.mark.slow
def test_road_map(tmp_path: Path) -> None:
    """USA-road-d.NY with its lengths: few searches, and another library's distances of vertices that were none of
    their sources."""
    scipy_graph = pytest.importorskip("scipy.sparse.csgraph")
    import scipy.sparse

    data = ROOT.parent / "shared" / "data" / "USA-road-d.NY.gr.gz"
    if not data.exists():
        pytest.skip("the data are not here")
    place = tmp_path / "ny.zarr"
    emdiam.convert(data, place, weights=True)
    result: Any = emdiam.eccentricities(place, weighted=True, keep=True)
    assert (result.radius, result.diameter, result.unresolved) == (828_773, 1_652_818, 0)
    assert (result.center.size, result.periphery.ids) == (1, [4231, 90644])
    assert result.sources <= 500
    with emdiam.open(place) as store:
        rows = WeightedRows.from_store(store)
    matrix = scipy.sparse.csr_matrix((rows.costs.astype(float), rows.heads.astype(np.int64), rows.offsets))
    some = np.random.default_rng(1).integers(rows.n_vertices, size=60)
    for begin in range(0, len(some), 10):
        far = scipy_graph.dijkstra(matrix, indices=some[begin : begin + 10]).max(axis=1)
        assert (far == result.lower_bounds[some[begin : begin + 10]]).all()
