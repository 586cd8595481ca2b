"""Certificates of the mean: intervals have it inside and narrow with sources; what is no proof is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates.cells import CELLS_A_SOURCE, Cells
from emdiam.certificates.mean import MeanReport, fraction_bits, mean_interval
from emdiam.certificates.run import verify
from emdiam.distribution.certified import _bounds_of, prove_mean
from emdiam.errors import EmdiamError, InputError
from tests.certificates.test_documents import seal
from tests.certificates.test_refusals import liar
from tests.conftest import Run
from tests.helpers import naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()
SMALL: dict[str, Any] = {"memory": 4 << 30, "threads": 2}
SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANY = settings(SETTINGS, max_examples=1000)


def sum_and_pairs(graph: naive.Graph) -> tuple[int, int]:
    """Of all distances of unordered connected pairs, and how many these are."""
    far = [d for v in range(len(graph)) for d in naive.distances(graph, v)[v + 1 :] if d > 0]
    return sum(far), len(far)


def run(file: Path, store: Path, memory: int = 2 << 30) -> MeanReport:
    report = verify(file, store, memory_bytes=memory)
    assert isinstance(report, MeanReport)
    return report


def proved(folder: Path, graph: naive.Graph, **options: Any) -> tuple[Path, Path, Any]:
    store, file = write_store(folder / "g.zarr", graph), folder / "c.json"
    return store, file, emdiam.distances(store, certificate=file, **SMALL, **options)


def check(folder: Path, graph: naive.Graph, **options: Any) -> dict[str, Any]:
    """The interval has the mean inside, and is verified; the claims."""
    store, file, result = proved(folder, graph, **options)
    total, pairs = sum_and_pairs(graph)
    document: dict[str, Any] = json.loads(file.read_text())
    claims: dict[str, Any] = document["claims"]
    assert claims["n_pairs"] == pairs and pairs <= claims["sum_lower"] <= total <= claims["sum_upper"]
    assert result.certificate == str(file) and result.proved_mean.sources == len(document["sources"])
    report = run(file, store)
    assert report.verified, report.reason
    assert (report.mean_lower, report.mean_upper) == (result.proved_mean.lower, result.proved_mean.upper)
    if pairs:
        assert report.mean_lower is not None and report.mean_upper is not None
        assert report.mean_lower <= total / pairs <= report.mean_upper
    else:
        assert report.mean_lower is report.mean_upper is result.mean is None
    return claims


@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str) -> None:
    check(tmp_path, ODD[name], certificate_sources=3)


@SETTINGS
@given(graph=graphs(most=60), sources=st.integers(1, 9), seed=st.integers(0, 3))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, sources: int, seed: int) -> None:
    check(tmp_path, graph, certificate_sources=sources, seed=seed)


@pytest.mark.slow
@MANY
@given(graph=graphs(most=120), sources=st.integers(1, 30), seed=st.integers(0, 1 << 40))
def test_many_random_graphs(tmp_path: Path, graph: naive.Graph, sources: int, seed: int) -> None:
    check(tmp_path, graph, certificate_sources=sources, seed=seed)


@pytest.mark.parametrize("name", [*ENGINES, *EXTERNAL])
def test_every_engine_proves_the_same(tmp_path: Path, name: str) -> None:
    path = write_store(tmp_path / "g.zarr", ODD["clique-and-path"])
    with engine_on(path) as engine:
        want = prove_mean(engine, 5, 1)
    with engine_on(path, name) as engine:
        assert prove_mean(engine, 5, 1) == want


def test_every_order_of_a_store_has_the_same_claims(tmp_path: Path) -> None:
    store, file, _ = proved(tmp_path, ODD["grid"])
    for order in ("bfs", "degree"):
        emdiam.reorder(store, tmp_path / f"{order}.zarr", order)
        emdiam.distances(tmp_path / f"{order}.zarr", certificate=tmp_path / "other.json", **SMALL)
        assert (tmp_path / "other.json").read_bytes() == file.read_bytes()
        assert run(file, tmp_path / f"{order}.zarr").verified


@pytest.mark.parametrize("name", ["grid", "lollipop", "path-and-star"])
def test_more_sources_do_not_widen(tmp_path: Path, name: str) -> None:
    """But for the rounding of means; and all vertices as sources leave nothing open but that."""
    store = write_store(tmp_path / "g.zarr", ODD[name])
    total, pairs = sum_and_pairs(ODD[name])
    rounding = 1 + 8 * pairs / 2 ** fraction_bits(len(ODD[name]))
    low, high = 0.0, float("inf")
    with engine_on(store) as engine:
        for count in (1, 2, 3, 5, 8, 13, len(ODD[name])):
            claims = prove_mean(engine, count, 0).claims
            assert claims.sum_lower >= low - rounding and claims.sum_upper <= high + rounding
            low, high = claims.sum_lower, claims.sum_upper
    assert total - rounding <= low <= total <= high <= total + rounding


def test_sources_of_fewer_come_first(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"])) as engine:
        assert prove_mean(engine, 9, 4).sources[:4] == prove_mean(engine, 4, 4).sources


# -- cells, and bounds by them --------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(3))
def test_cells_are_a_partition_that_is_only_ever_divided(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 500
    cells, before = Cells(n, np.dtype(np.uint32)), np.zeros(n, np.int64)
    for number in range(1, 4):
        column = random.integers(1, 90, n).astype(np.uint8)
        column[number] = 0
        column[400:] = 255
        cells.divide(column)
        names = np.full(n, -1)
        for cell, (first, last) in enumerate(zip(cells._first, cells._last, strict=True)):
            assert (names[cells._order[first:last]] == -1).all()
            names[cells._order[first:last]] = cell
        assert (names >= 0).all() and names[number] not in names[np.arange(n) != number]
        assert len(np.unique(np.stack((names, before)), axis=1).T) == len(cells.sizes)
        assert len(cells.sizes) <= CELLS_A_SOURCE * number + number + 1
        wanted = [-1 if (column[names == cell] == 255).all() else int(column[names == cell].sum())
                  for cell in range(len(cells.sizes))]
        assert cells.sums(column).tolist() == wanted
        before = names


@SETTINGS
@given(data=st.data())
def test_bounds_hold_for_any_cells(data: st.DataObject) -> None:
    """Of sums over pairs of the bounds of each pair."""
    n, k, cells = data.draw(st.integers(2, 25)), data.draw(st.integers(1, 4)), data.draw(st.integers(1, 6))
    longest = data.draw(st.sampled_from([3, 1000, 1 << 33]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    points, cell = random.integers(0, longest + 1, (n, k)), random.integers(0, cells, n)
    used, cell = np.unique(cell, return_inverse=True)
    sums = np.array([np.bincount(cell, points[:, s], len(used)) for s in range(k)]).astype(np.int64)
    low, high = _bounds_of(sums, np.bincount(cell), longest)
    pairs = [(points[u], points[v]) for u in range(n) for v in range(u)]
    assert low <= sum(max(2, int(abs(a - b).max())) for a, b in pairs)
    assert high >= sum(int((a + b).min()) for a, b in pairs)


def test_means_are_rounded_outwards() -> None:
    for low, high, pairs in ((1, 2, 3), (10**40 + 1, 10**40 + 1, 10**38 + 7)):
        ends = mean_interval(low, high, pairs)
        (a, b), (c, d) = (one.as_integer_ratio() for one in ends if one is not None)
        assert a * pairs <= low * b and c * pairs >= high * d
    assert mean_interval(0, 0, 0) == (None, None)


# -- what is refused ------------------------------------------------------------------------------
BENT: dict[str, tuple[Any, str]] = {
    "lower": (lambda c: c["claims"].update(sum_lower=c["claims"]["sum_lower"] + 1), "at least"),
    "upper": (lambda c: c["claims"].update(sum_upper=c["claims"]["sum_upper"] - 1), "at most"),
    "pairs": (lambda c: c["claims"].update(n_pairs=c["claims"]["n_pairs"] - 1), "n_pairs"),
    "components": (lambda c: c["claims"].update(n_components=7), "n_components"),
    "fewer sources": (lambda c: c["sources"].pop(0), "sum up"),
    "no source": (lambda c: c.update(sources=[]), "sum up"),
    "twice": (lambda c: c["sources"].append(c["sources"][0]), "twice"),
    "unknown": (lambda c: c["sources"].append(10**9), "no vertex 1000000000"),
    "longest": (lambda c: c["claims"].update(longest=c["claims"]["longest"] - 1), "away"),
    "another graph": (lambda c: c["graph"].update(digest="0" * 32), "another graph"),
}


@pytest.mark.parametrize("name", BENT)
def test_a_bent_certificate_is_refused(tmp_path: Path, name: str) -> None:
    store, file, _ = proved(tmp_path, ODD["grid"], certificate_sources=4)
    document = json.loads(file.read_text())
    change, why = BENT[name]
    change(document)
    file.write_bytes(seal(document))
    report = run(file, store)
    assert not report.verified and report.reason is not None and why in report.reason


@SETTINGS
@given(data=st.data())
def test_what_is_verified_holds(tmp_path: Path, data: st.DataObject) -> None:
    """A certificate that says anything: verified only with the mean inside."""
    graph = ODD[data.draw(st.sampled_from(["grid", "lollipop", "path-and-star", "torus", "two-paths"]))]
    store, file, _ = proved(tmp_path, graph, certificate_sources=2)
    document, (total, pairs) = json.loads(file.read_text()), sum_and_pairs(graph)
    low, high = sorted(data.draw(st.integers(max(0, total - 40), total + 40)) for _ in range(2))
    document["claims"].update(sum_lower=low, sum_upper=high)
    document["sources"] = data.draw(st.lists(st.integers(0, len(graph) - 1), unique=True, max_size=len(graph)))
    document["claims"]["longest"] = len(graph)
    file.write_bytes(seal(document))
    report = run(file, store)
    assert report.n_pairs == pairs and (not report.verified or low <= total <= high)


def test_a_claim_that_is_empty_is_none(tmp_path: Path) -> None:
    _, file, _ = proved(tmp_path, ODD["grid"])
    document = json.loads(file.read_text())
    document["claims"]["sum_upper"] = document["claims"]["sum_lower"] - 1
    file.write_bytes(seal(document))
    with pytest.raises(InputError, match="exceeds"):
        verify(file, tmp_path / "g.zarr")


def test_wrong_labels_are_no_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, file, _ = proved(tmp_path, ODD["grid"], certificate_sources=2)
    liar(monkeypatch, 5, 1)
    with pytest.raises(EmdiamError, match="no distance"):
        run(file, store)


# -- the command ----------------------------------------------------------------------------------
def test_the_command_shows_the_interval(tmp_path: Path, command: Run) -> None:
    write_store(tmp_path / "g.zarr", ODD["grid"])
    done = command("distances", "g.zarr", "--certificate", "c.json", "--certificate-sources", "4", "-q")
    assert done.returncode == 0 and "certificate: in c.json" in done.stdout
    (told,) = [line for line in done.stdout.splitlines() if line.startswith("proved: mean distance from ")]
    assert told.endswith(", by 4 sources")
    assert command("verify", "c.json", "g.zarr", "-q").stdout.startswith(
        told.replace("proved", "verified").partition(",")[0])


def test_a_graph_without_pairs_has_no_mean(tmp_path: Path, command: Run) -> None:
    write_store(tmp_path / "g.zarr", ODD["no-edges"])
    none = "no mean distance, since no two vertices are connected\n"
    assert f"\nproved: {none}" in command("distances", "g.zarr", "--certificate", "c.json", "-q").stdout
    assert command("verify", "c.json", "g.zarr", "-q").stdout.startswith(f"verified: {none}")
    report = json.loads(command("verify", "c.json", "g.zarr", "-q", "--json").stdout)
    assert report["verified"] and report["mean_lower"] is report["mean_upper"] is None and not report["n_pairs"]


@pytest.mark.parametrize("options", [
    ("--certificate", "c.json", "--weighted"), ("--certificate-sources", "4"),
    ("--certificate", "c.json", "--sources", "ids", "--out", "t.csv")])
def test_what_it_does_not_go_with(tmp_path: Path, command: Run, options: tuple[str, ...]) -> None:
    write_store(tmp_path / "g.zarr", ODD["grid"])
    (tmp_path / "ids").write_text("0\n")
    done = command("distances", "g.zarr", *options, "-q")
    assert done.returncode == 2 and "certificate" in done.stderr
