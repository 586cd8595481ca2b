"""What the verifier must not accept, and what it must: edits whose digest matches, other stores."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.certificates.documents import Claims, VerifyReport
from emdiam.certificates.labels import FEW_COLUMNS
from emdiam.certificates.run import verify
from emdiam.engine.cpu import CpuEngine
from emdiam.errors import EmdiamError
from emdiam.methods.result import ComponentProof, Proof
from emdiam.store.edge_digest import edge_digest
from emdiam.store.store import open_store
from tests.certificates.test_documents import seal
from tests.helpers import naive, prover
from tests.helpers.damage import make_store
from tests.helpers.stores import odd_graphs, write_store
from tests.store.test_edge_digest import reordered

ODD = odd_graphs()
MEMORY = 2 << 30


def run(certificate: Path, store: Path) -> VerifyReport:
    return verify(certificate, store, memory_bytes=MEMORY)


def lean_proof(graph: naive.Graph, pivots: int) -> tuple[Proof, Claims]:
    """A proof of a connected graph's diameter from which no pivot and no source can be left out."""
    rows, members = prover.all_distances(graph), list(range(len(graph)))
    part = prover.component_proof(rows, members, pivots, random.Random(1))
    for names in (part.sources, part.pivots):
        for vertex in list(names):
            names.remove(vertex)
            if not prover.proves(rows, members, part):
                names.append(vertex)
    return Proof([part]), Claims(part.lower, part.upper, part.upper, 1, True)


class Case:
    """A certificate beside its store, and its edits."""

    def __init__(self, folder: Path, graph: naive.Graph, proof: Proof, claims: Claims) -> None:
        self.graph, self.store = graph, write_store(folder / "g.zarr", graph)
        self.path = prover.write(folder / "c.json", self.store, proof, claims)
        self.document = json.loads(self.path.read_bytes())

    def edited(self, change: Callable[[dict[str, Any]], Any], store: Path | None = None) -> VerifyReport:
        """The report on a copy that `change` was made to and that was sealed again."""
        document = json.loads(json.dumps(self.document))
        change(document)
        copy = self.path.with_name("edited.json")
        copy.write_bytes(seal(document))
        return run(copy, store or self.store)


@pytest.fixture(params=["grid", "torus", "tree", "lollipop"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(tmp_path, ODD[request.param], *_proof_of(request.param))


@cache
def _proof_of(name: str) -> tuple[Proof, Claims]:
    return lean_proof(ODD[name], 4)


# -- edits of the proof ---------------------------------------------------------------------------
def test_a_needed_pivot_or_source_cannot_be_left_out(case: Case) -> None:
    assert run(case.path, case.store).verified
    for names in ("pivots", "sources"):
        for i in range(0, len(case.document["components"][0][names]), 4):
            report = case.edited(lambda document, i=i, names=names: document["components"][0][names].pop(i))
            assert not report.verified and "not proved to be within" in (report.reason or "")


def test_an_unneeded_one_can(case: Case) -> None:
    def more(document: dict[str, Any]) -> None:
        part = document["components"][0]
        part["pivots"] = [*part["pivots"], *range(3), *part["pivots"]]
        part["sources"] = [len(case.graph) - 1, *part["sources"], *part["pivots"]]

    assert case.edited(more).verified
    assert run(case.path, case.store).verified


def test_a_diameter_that_is_too_small(case: Case) -> None:
    """Even with the witness of a pair at that distance."""
    diameter = case.document["claims"]["upper"]
    rows = prover.all_distances(case.graph)
    pair = next([v, row.index(diameter - 1)] for v, row in enumerate(rows) if diameter - 1 in row)

    def smaller(document: dict[str, Any]) -> None:
        for place in (document["claims"], document["components"][0]):
            place["lower"] = place["upper"] = diameter - 1
        document["claims"]["diameter_largest_component"] = diameter - 1
        document["components"][0]["witness"] = pair

    def everything(document: dict[str, Any]) -> None:
        smaller(document)
        document["components"][0]["pivots"] = document["components"][0]["sources"] = list(range(len(case.graph)))

    assert not case.edited(smaller).verified
    assert not case.edited(everything).verified


def test_a_diameter_that_is_too_large(case: Case) -> None:
    def larger(document: dict[str, Any]) -> None:
        for place in (document["claims"], document["components"][0]):
            place["lower"] += 1
            place["upper"] += 1
        document["claims"]["diameter_largest_component"] += 1

    report = case.edited(larger)
    assert not report.verified and "apart, not" in (report.reason or "")


def test_a_wrong_witness(case: Case) -> None:
    rows, diameter = prover.all_distances(case.graph), case.document["claims"]["lower"]
    for v, w in ((0, 0), (0, 1), (5, 17), (30, 2)):
        def change(document: dict[str, Any], v: int = v, w: int = w) -> None:
            document["components"][0]["witness"] = [v, w]

        assert case.edited(change).verified == (rows[v][w] == diameter)


@pytest.mark.parametrize("place", ["vertex", "witness", "pivots", "sources"])
@pytest.mark.parametrize("name", [10**6, 2**64 - 1, "zero", "0"])
def test_an_id_that_the_graph_has_not(tmp_path: Path, place: str, name: int | str) -> None:
    case = Case(tmp_path, ODD["grid"], *lean_proof(ODD["grid"], 2))

    def change(document: dict[str, Any]) -> None:
        part = document["components"][0]
        if isinstance(name, str):  # ids are of one kind, or the certificate does not read
            part.update(vertex="3", witness=["1", "2"], pivots=["4"], sources=["5"])
        part[place] = {"vertex": name, "witness": [name, part["vertex"]]}.get(place, [name])

    report = case.edited(change)
    assert not report.verified and "the graph has no vertex" in (report.reason or "")


@pytest.mark.parametrize("kind", ["int", "string"])
def test_an_id_that_is_not_in_the_map(tmp_path: Path, kind: str) -> None:
    graph = ODD["grid"]
    names: list[Any] = [3 * v if kind == "int" else f"v{v}" for v in range(len(graph))]
    store = make_store(tmp_path / "g.zarr", graph, ids=np.array(names) if kind == "int" else names)
    path = prover.write(tmp_path / "c.json", store, *lean_proof(graph, 2))
    assert run(path, store).verified
    for name in ((1, 5, 10**6, 2**64 - 1) if kind == "int" else ("v", "v126", "", "0")):
        document = json.loads(path.read_bytes())
        document["components"][0]["sources"].append(name)
        (tmp_path / "edited.json").write_bytes(seal(document))
        assert run(tmp_path / "edited.json", store).reason == f"the graph has no vertex {name}"


def test_claims_beyond_the_components(tmp_path: Path) -> None:
    graph = ODD["clique-and-path"]
    proof, claims = prover.exact_proof(graph, pivots=2)
    case = Case(tmp_path, graph, proof, claims)
    assert run(case.path, case.store).verified and len(proof.components) == 2
    changes: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
        ("components", lambda d: d["claims"].update(n_components=3)),
        ("connected", lambda d: d["claims"].update(connected=True)),
        ("lower bound", lambda d: d["claims"].update(lower=10)),
        ("largest component", lambda d: d["claims"].update(diameter_largest_component=11)),
        ("not mentioned", lambda d: (d["components"].pop(0), d["claims"].update(diameter_largest_component=None))),
        ("longest of its witnesses", lambda d: d["components"].pop(1)),
        ("one and the same", lambda d: d["components"].append(d["components"][0])),
        ("in the component", lambda d: d["components"][0]["pivots"].append(d["components"][1]["vertex"])),
        ("in the component", lambda d: d["components"][1].update(witness=[0, 30])),
        ("vertices, not", lambda d: d["components"][1].update(size=13)),
        ("does not allow", lambda d: d["components"][0].update(upper=12)),
    ]
    for reason, change in changes:
        report = case.edited(change)
        assert not report.verified and reason in (report.reason or ""), report.reason
    assert case.edited(lambda d: d["components"].reverse()).verified
    assert case.edited(lambda d: d["claims"].update(diameter_largest_component=None)).verified


def test_a_component_that_has_one_vertex_too_many_to_be_left_out(tmp_path: Path) -> None:
    """A path of ten vertices has the diameter 9; other components need no mention up to ten vertices."""
    for leaves, verified in ((9, True), (10, False), (11, False)):
        graph = naive.graph_of(11 + leaves, [(v, v + 1) for v in range(9)] + [(10, 11 + v) for v in range(leaves)])
        rows = prover.all_distances(graph)
        part = prover.component_proof(rows, list(range(10)), 2, random.Random(1))
        claims = Claims(9, 9, 9 if leaves < 10 else None, 2, False)
        store = write_store(tmp_path / f"{leaves}.zarr", graph)
        report = run(prover.write(tmp_path / f"{leaves}.json", store, Proof([part]), claims), store)
        assert report.verified == verified
        assert verified or "is not mentioned" in (report.reason or "")


# -- other graphs and other stores ----------------------------------------------------------------
def test_another_graph_is_refused(case: Case, tmp_path: Path) -> None:
    graph = case.graph
    edges = {(v, w) for v, row in enumerate(graph) for w in row if v < w}
    gone = sorted(edges)[len(edges) // 2]
    new = next((0, w) for w in range(len(graph) - 1, 0, -1) if (0, w) not in edges)
    for other in (edges - {gone}, edges | {new}, edges - {gone} | {new}):
        store = write_store(tmp_path / "other.zarr", naive.graph_of(len(graph), other))
        report = run(case.path, store)
        assert not report.verified and "it is about" in (report.reason or "")
        # Not even with the digest of the other graph: then the proof itself must hold.
        with open_store(store) as opened:
            facts = {"digest": edge_digest(opened), "n_vertices": len(graph), "n_edges": len(other)}
        forged = case.edited(lambda document, facts=facts: document.update(graph=facts), store)
        true = naive.diameters(naive.graph_of(len(graph), other))
        assert not forged.verified or (forged.upper == true[1] and true[2] == 1)


def test_more_vertices_are_another_graph(case: Case, tmp_path: Path) -> None:
    other = write_store(tmp_path / "other.zarr", [*case.graph, []])
    assert "vertices and" in (run(case.path, other).reason or "")


@pytest.mark.parametrize("codec, chunk", [("lz4", 64), ("none", 256), ("pcodec", 1024)])
@pytest.mark.parametrize("kind", ["int", "string"])
def test_reordered_and_recompressed_stores_are_accepted(
    tmp_path: Path, codec: str, chunk: int, kind: str
) -> None:
    graph = ODD["path-and-star"]
    proof, claims = prover.exact_proof(graph, pivots=3)
    names: list[Any] = [v * 3 + 2 if kind == "int" else f"vertex {v} é" for v in range(len(graph))]
    first = make_store(tmp_path / "a.zarr", graph, ids=np.array(names) if kind == "int" else names)
    path = prover.write(tmp_path / "c.json", first, proof, claims)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(graph)).tolist()
        mapped = [names[v] for v in order]
        second = make_store(tmp_path / f"b{seed}.zarr", reordered(graph, order), codec=codec, chunk=chunk,
                            ids=np.array(mapped) if kind == "int" else mapped)
        report = run(path, second)
        assert report.verified, report.reason
    path_end, hub = order.index(5), order.index(21)
    mapped[path_end], mapped[hub] = mapped[hub], mapped[path_end]
    other = make_store(tmp_path / "d.zarr", reordered(graph, order), ids=np.array(mapped) if kind == "int" else mapped)
    assert not run(path, other).verified


# -- traversals that lie --------------------------------------------------------------------------
def liar(monkeypatch: pytest.MonkeyPatch, vertex: int, value: int) -> None:
    """From now on every traversal's labels are wrong at one vertex."""
    bfs, multi = CpuEngine.bfs, CpuEngine.eccentricities

    def lying_bfs(self: CpuEngine, source: int, **more: Any) -> Any:
        found = bfs(self, source, **more)
        if found.distances is not None and source != vertex:
            found.distances.put([vertex], value)
        return found

    def lying_multi(self: CpuEngine, sources: Any, **more: Any) -> Any:
        found = multi(self, sources, **more)
        for source, column in zip(sources, more["columns"], strict=True):
            if source != vertex:
                column.put([vertex], value)
        return found

    monkeypatch.setattr(CpuEngine, "bfs", lying_bfs)
    monkeypatch.setattr(CpuEngine, "eccentricities", lying_multi)


@pytest.mark.parametrize("count", [1, FEW_COLUMNS, FEW_COLUMNS + 1, 60])
@pytest.mark.parametrize("value", [0, 1, 200])
def test_a_traversal_that_lies_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, value: int
) -> None:
    graph = ODD["grid"]
    part = ComponentProof(0, 126, 0, 42, None, list(range(count)), [])
    case = Case(tmp_path, graph, Proof([part]), Claims(0, 42, None, 1, True))
    assert run(case.path, case.store).verified
    liar(monkeypatch, 125, value)
    with pytest.raises(EmdiamError, match="no distance"):
        run(case.path, case.store)
