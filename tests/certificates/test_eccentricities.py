"""Certificates of all eccentricities: what runs leave is proved, and what is no proof is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam import api
from emdiam.certificates import eccentricities as module
from emdiam.certificates.components import Labelling
from emdiam.certificates.documents import EccentricityCertificate
from emdiam.certificates.eccentricities import EccentricityReport
from emdiam.certificates.pairs import Labelled, unproved_pair
from emdiam.certificates.plan import ProofBudget
from emdiam.certificates.run import verify
from emdiam.certificates.writing import write_eccentricities
from emdiam.conversion.reorder import reorder
from emdiam.errors import BudgetError, EmdiamError, InputError
from emdiam.methods.eccentricity import eccentricities as method
from emdiam.methods.eccentricity.by_pairs import ByPairs, Parts
from emdiam.methods.eccentricity.eccentricities import EccentricityOptions, eccentricities
from emdiam.store.arc_runs import scan_arcs
from emdiam.store.store import open_store
from tests.certificates.test_documents import seal
from tests.certificates.test_refusals import liar
from tests.conftest import Run
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.methods.eccentricity.test_cuts import mesh

ODD = odd_graphs()
MEMORY = 2 << 30
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Change = Callable[[dict[str, Any]], Any]


def certified(folder: Path, graph: naive.Graph) -> tuple[Path, Path, EccentricityCertificate]:
    """A store, its certificate and what that says."""
    path, file = write_store(folder / "g.zarr", graph), folder / "c.json"
    with engine_on(path) as engine:
        result = eccentricities(engine, EccentricityOptions())
        return path, file, write_eccentricities(file, result, engine.store)


def run(file: Path, store: Path) -> EccentricityReport:
    report = verify(file, store, memory_bytes=MEMORY)
    assert isinstance(report, EccentricityReport)
    return report


def check(folder: Path, graph: naive.Graph) -> EccentricityReport:
    """What a run leaves is proved, and is right."""
    store, file, _ = certified(folder, graph)
    report = run(file, store)
    assert report.verified, report.reason
    want = [max(naive.distances(graph, v)) for v in range(len(graph))]
    largest = max(naive.components(graph), key=len)
    assert report.histogram == {str(value): want.count(value) for value in sorted(set(want))}
    assert (report.lower, report.upper) == (max(want), max(want))
    sizes = {len(part) for part in naive.components(graph) if len(part) == len(largest)}
    if len([part for part in naive.components(graph) if len(part) in sizes]) == 1:
        inside = [want[v] for v in largest]
        assert (report.radius, report.diameter_largest_component) == (min(inside), max(inside))
        assert (report.center_size, report.periphery_size) == (inside.count(min(inside)), inside.count(max(inside)))
    return report


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_graphs(tmp_path: Path, name: str) -> None:
    if len(ODD[name]):
        check(tmp_path, ODD[name])


@SETTINGS
@given(graph=graphs(most=60), small=st.sampled_from([1, 4, 1024]))
def test_random_graphs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: naive.Graph, small: int) -> None:
    monkeypatch.setattr(method, "SMALL", small)
    check(tmp_path, graph)


def edited(file: Path, store: Path, change: Change) -> EccentricityReport:
    """The report on a copy that was changed and sealed again."""
    document = json.loads(file.read_bytes())
    change(document)
    copy = file.with_name("edited.json")
    copy.write_bytes(seal(document))
    return run(copy, store)


def more(document: dict[str, Any], name: str, by: int) -> None:
    document["claims"][name] += by


@pytest.mark.parametrize("graph", ["grid", "lollipop", "tree", "clique-and-path"])
def test_no_claim_can_be_changed(tmp_path: Path, graph: str) -> None:
    store, file, said = certified(tmp_path, ODD[graph])
    for name in ("n_components", "radius", "diameter_largest_component", "diameter_max_component", "center_size",
                 "periphery_size"):
        for by in (1, -1):
            report = edited(file, store, partial(more, name=name, by=by))
            assert not report.verified and report.reason

    def moved(document: dict[str, Any]) -> None:
        histogram = document["claims"]["histogram"]
        first, second = list(histogram)[:2]
        histogram[first] += 1
        histogram[second] -= 1

    assert not edited(file, store, moved).verified
    assert not edited(file, store, lambda document: document["claims"].update(largest=len(ODD[graph]))).verified
    assert said.sources


def test_leaves_are_one_step_farther_than_their_neighbours(tmp_path: Path) -> None:
    """Three paths of two edges from vertex 0, with sources that leave the ends of the paths, 4 apart, to that rule; a
    certificate says that the ends are as far from others as their neighbours are."""
    store, file, _ = certified(tmp_path, naive.graph_of(7, [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 6)]))
    assert edited(file, store, lambda document: document.update(sources=[0, 1, 2, 3])).verified

    def forge(document: dict[str, Any]) -> None:
        document["claims"].update(diameter_largest_component=3, diameter_max_component=3, periphery_size=6,
                                  histogram={"2": 1, "3": 6})
        document.update(sources=[0, 1, 2, 3])

    assert not edited(file, store, forge).verified


@pytest.mark.parametrize("name", ["path", "grid", "torus", "tree"])
def test_sources_that_are_needed_cannot_be_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(module, "MOST_ANEW", 1)
    store, file, said = certified(tmp_path, ODD[name])
    report = edited(file, store, lambda document: document.update(sources=said.sources[:1]))
    assert not report.verified and "may be farther" in str(report.reason)
    assert edited(file, store, lambda document: document["sources"].extend(said.sources[:1])).verified


def test_a_large_component_without_a_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = naive.graph_of(1030, [(v, v + 1) for v in range(1026)])
    store, file, _ = certified(tmp_path, graph)
    assert run(file, store).verified
    report = edited(file, store, lambda document: document["sources"].clear())
    assert not report.verified and "no source" in str(report.reason)


def test_every_edited_byte_is_noticed(tmp_path: Path) -> None:
    store, file, _ = certified(tmp_path, ODD["star"])
    data = file.read_bytes()
    for at in range(0, len(data), 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(InputError):
            verify(file, store, memory_bytes=MEMORY)


@pytest.mark.parametrize("change", [
    lambda document: document["claims"].pop("radius"), lambda document: document["claims"].update(radius="7"),
    lambda document: document.update(sources=[0, "a"]), lambda document: document["claims"].update(histogram=[3]),
    lambda document: document["claims"].update(histogram={"x": 3}), lambda document: document.update(sources={})])
def test_what_makes_no_sense_is_an_input_error(tmp_path: Path, change: Change) -> None:
    store, file, _ = certified(tmp_path, ODD["star"])
    with pytest.raises(InputError):
        edited(file, store, change)


def test_another_graph_and_another_order(tmp_path: Path) -> None:
    graph = ODD["grid"]
    store, file, _ = certified(tmp_path, graph)
    reorder(store, tmp_path / "other.zarr", order="bfs")
    assert run(file, tmp_path / "other.zarr").verified
    changed = write_store(tmp_path / "changed.zarr", naive.graph_of(len(graph), [(0, 1)]))
    assert not run(file, changed).verified


def test_the_command(command: Run, tmp_path: Path) -> None:
    store, file = write_store(tmp_path / "g.zarr", ODD["grid"]), tmp_path / "ecc.json"
    said = command("ecc", str(store), "--certificate", str(file), "--quiet")
    assert said.returncode == 0 and f"certificate: in {file}" in said.stdout
    done = command("verify", str(file), str(store), "--quiet")
    assert done.returncode == 0 and done.stdout.startswith("verified: all eccentricities of 126 vertices, from ")
    assert json.loads(command("verify", str(file), str(store), "--quiet", "--json").stdout)["radius"] > 0
    half = command("ecc", str(store), "--certificate", str(file), "--center")
    assert half.returncode == 2 and "all eccentricities" in half.stderr


@pytest.mark.parametrize("value", [0, 1, 200])
def test_a_traversal_that_lies_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: int) -> None:
    store, file, said = certified(tmp_path, ODD["grid"])
    vertex = next(v for v in range(125, 0, -1) if v not in said.sources)
    liar(monkeypatch, vertex, value)
    with pytest.raises(EmdiamError, match="no distance"):
        run(file, store)


@SETTINGS
@given(graph=graphs(most=40), data=st.data())
def test_pairs(graph: naive.Graph, data: st.DataObject) -> None:
    """A pair that is not proved is found wherever there is one; distances between parts are lower bounds."""
    part = max(naive.components(graph), key=len)
    sources = data.draw(st.lists(st.sampled_from(part), min_size=1, max_size=6, unique=True))
    points = np.array([[naive.distances(graph, s)[v] for s in sources] for v in part], np.uint8)
    reach = points.max(axis=0)
    lower = np.maximum(points, reach - points).max(axis=1).astype(np.uint8)
    is_source = np.isin(part, sources)
    others = naive.graph_of(len(graph), [(v, w) for v in part for w in graph[v] if not {v, w} & set(sources)])
    number = {v: i for i, some in enumerate(naive.components(others)) for v in some}
    parts = np.array([number[v] for v in part])
    away = (points[:, None, :].astype(int) + points[None, :, :]).min(axis=2)
    np.fill_diagonal(away, 0)
    across = (parts[:, None] != parts[None, :]) & ~is_source[None, :]
    raised = np.maximum(lower, np.where(across, away, 0).max(axis=1))
    bad = (away > raised[:, None]) & ~is_source[None, :]
    longest, found = int(raised[~is_source].max(initial=0)), lower.copy()
    pair, _ = unproved_pair(Labelled(points, found, parts, ~is_source, is_source), longest, 2, lambda: None)
    assert (pair is None) == (not bad[~is_source].any())
    assert (pair is None and (found == raised)[~is_source].all()) or (pair is not None and bad[pair])
    if longest > int(lower[~is_source].max(initial=0)):
        pair, _ = unproved_pair(Labelled(points, lower, parts, ~is_source, is_source), longest - 1, 2, lambda: None)
        assert pair is not None and (bad[pair] or (across[pair] and away[pair] >= longest))


@SETTINGS
@given(graph=graphs(most=40), data=st.data())
def test_parts(tmp_path: Path, graph: naive.Graph, data: st.DataObject) -> None:
    """The components of a graph without some vertices."""
    left_out = np.array(data.draw(st.lists(st.booleans(), min_size=len(graph), max_size=len(graph))))
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        labelling = Labelling(store.n_vertices, store.id_dtype)
        scan_arcs(store, 2, lambda run, ids: labelling.add_others(run, ids, left_out))
    others = naive.graph_of(len(graph), [(v, w) for v in range(len(graph)) for w in graph[v]
                                         if not left_out[v] and not left_out[w]])
    want = {v: min(part) for part in naive.components(others) for v in part}
    assert labelling.flat()[0].tolist() == [want[v] for v in range(len(graph))]


def test_sources_that_cut_a_mesh_cannot_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method, "SMALL", 1)
    monkeypatch.setattr(module, "MOST_ANEW", 1)
    cut: list[int] = []
    find = Parts.cut

    def noted(self: Parts, *given: Any) -> np.ndarray:
        cut.extend((found := find(self, *given)).tolist())
        return found

    monkeypatch.setattr(Parts, "cut", noted)
    monkeypatch.setattr(ByPairs, "_pays", lambda self, level, pairs: True)
    store, file, said = certified(tmp_path, mesh(700))
    report = run(file, store)
    assert report.verified and report.pairs and len(cut) > 10, report.reason
    fewer = [source for source in said.sources if source not in cut]
    report = edited(file, store, lambda document: document.update(sources=fewer))
    assert not report.verified and "may be farther" in str(report.reason)
    report = edited(file, store, lambda document: document["claims"].update(
        diameter_largest_component=said.claims.diameter_largest_component - 1,
        diameter_max_component=said.claims.diameter_max_component - 1))
    assert not report.verified


def test_small_components_in_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edges = [(5 * part + i, 5 * part + i + 1) for part in range(30) for i in range(4)]
    graph = naive.graph_of(200, edges + [(150 + i, 151 + i) for i in range(40)])
    store, file, _ = certified(tmp_path, graph)
    rooms: list[int] = []

    def little(self: ProofBudget, held: int) -> int:
        rooms.append(held)
        return 5000

    monkeypatch.setattr(ProofBudget, "room", little)
    report = run(file, store)
    assert report.verified and report.anew >= 150 and len(rooms) > 2


@pytest.mark.parametrize(("n", "n_sources"), [(1024, 200), pytest.param(4096, 2500, marks=pytest.mark.slow)])
def test_the_memory_that_is_named_has_room_for_all_pairs(tmp_path: Path, n: int, n_sources: int) -> None:
    """Bounds from neighbours on a band of triangles leave most vertices open, and all distances are kept for them."""
    store, file, _ = certified(tmp_path, naive.graph_of(n, [(v, (v + by) % n) for v in range(n) for by in (1, 2)]))
    document = json.loads(file.read_text())
    document["sources"] = list(range(n_sources))
    file.write_bytes(seal(document))
    with pytest.raises(BudgetError, match="and for all pairs of vertices") as refusal:
        verify(file, store, memory_bytes=1 << 20)
    report = verify(file, store, memory_bytes=refusal.value.least_bytes)
    assert report.unsettled > n // 4


REAL = ("cnr-2000.parquet", "USA-road-d.NY.gr.gz", "wave.graph.bz2", "p2p-Gnutella31.e", "facebook_combined.txt",
        "wiki-Vote.txt", "USPowerGrid.txt", "email-Enron.csv.gz", "luxembourg_osm.mtx.gz", "wing.graph", "internet.egr",
        "PGPgiantcompo.graph")


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_graphs(tmp_path: Path, data_folder: Path, name: str) -> None:
    """The certificate of a real graph is proved; edits that are sealed again are not."""
    api.convert(data_folder / name, tmp_path / "g.zarr")
    file = tmp_path / "ecc.json"
    result = api.eccentricities(tmp_path / "g.zarr", certificate=file)
    report = run(file, tmp_path / "g.zarr")
    assert report.verified and report.radius == result.radius, report.reason
    for claim, by in (("radius", 1), ("diameter_max_component", -1), ("center_size", 1)):
        assert not edited(file, tmp_path / "g.zarr", partial(more, name=claim, by=by)).verified
