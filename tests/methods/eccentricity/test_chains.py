"""Vertices inside chains: their eccentricities from both ends, against the definition, and the proof of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.certificates import chains as proof
from emdiam.certificates.run import verify
from emdiam.certificates.writing import write_eccentricities
from emdiam.methods.eccentricity import eccentricities as module
from emdiam.methods.eccentricity.chains import Chains, walk_chains
from emdiam.methods.eccentricity.eccentricities import EccentricityOptions, eccentricities
from emdiam.store.store import open_store
from tests.certificates.test_documents import seal
from tests.helpers import naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, write_store

SETTINGS = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANY = settings(SETTINGS, max_examples=1000)


def subdivided(core: naive.Graph, lengths: list[int]) -> naive.Graph:
    """Every edge of a graph is a chain of so many edges, by turns."""
    edges, n = [], len(core)
    for number, (a, b) in enumerate((a, b) for a, row in enumerate(core) for b in row if a < b):
        inner = list(range(n, n + lengths[number % len(lengths)] - 1))
        n += len(inner)
        path = [a, *inner, b]
        edges += list(itertools.pairwise(path))
    return naive.graph_of(n, edges)


def necklace(beads: int, size: int, thread: int) -> naive.Graph:
    """Cycles on a cycle."""
    edges, n = [], 0
    first = last = None
    for _ in range(beads):
        ring = list(range(n, n + size))
        line = list(range(n + size, n + size + thread))
        n += size + thread
        edges += [*zip(ring, [*ring[1:], ring[0]], strict=True), (ring[size // 2], line[0]),
                  *itertools.pairwise(line)]
        if last is not None:
            edges.append((last, ring[0]))
        first, last = ring[0] if first is None else first, line[-1]
    assert first is not None and last is not None
    return naive.graph_of(n, [*edges, (last, first)])


def of_networkx(graph: nx.Graph) -> naive.Graph:
    numbered = nx.convert_node_labels_to_integers(graph)
    return naive.graph_of(len(numbered), numbered.edges)


SHAPES: dict[str, naive.Graph] = {
    "cycle": of_networkx(nx.cycle_graph(300)), "odd cycle": of_networkx(nx.cycle_graph(301)),
    "lollipop of cycles": of_networkx(nx.Graph([*nx.cycle_graph(120).edges, *[(120 + i, 121 + i) for i in range(60)],
                                                (0, 120), *[(180 + i, 181 + i) for i in range(40)], (220, 180)])),
    "theta": subdivided(of_networkx(nx.complete_bipartite_graph(2, 3)), [60, 31, 44]),
    "clique": subdivided(of_networkx(nx.complete_graph(5)), [40, 23]), "necklace": necklace(4, 50, 20),
    "two cycles": of_networkx(nx.disjoint_union(nx.cycle_graph(90), nx.cycle_graph(71))),
    "tadpole": of_networkx(nx.tadpole_graph(101, 40)),
}


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains are looked for at once, in components of any size, and none is too short."""
    monkeypatch.setattr(module, "SMALL", 2)
    monkeypatch.setattr("emdiam.methods.eccentricity.chains.LEAST_VERTICES", 2)
    monkeypatch.setattr(module, "TRIAL", 1)
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(Chains, "settle", lambda self, closed, settle=Chains.settle: settle(self, 0))


def check(folder: Path, graph: naive.Graph, name: str = "in-ram") -> Any:
    """Every eccentricity is right, and the certificate is proved; the result."""
    path, file = write_store(folder / "g.zarr", graph), folder / "c.json"
    with engine_on(path, name) as engine:
        result = eccentricities(engine, EccentricityOptions(keep=True))
        write_eccentricities(file, result, engine.store)
    wanted = [max(naive.distances(graph, v)) for v in range(len(graph))]
    assert result.lower_bounds.tolist() == result.upper_bounds.tolist() == wanted
    report = verify(file, path, memory_bytes=2 << 30)
    assert report.verified, report.reason
    return result


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(tmp_path: Path, early: None, name: str) -> None:
    result = check(tmp_path, SHAPES[name])
    assert result.sources < len(SHAPES[name]) // 4


@pytest.mark.parametrize("name", [*ENGINES, *EXTERNAL])
def test_every_engine_settles_them(tmp_path: Path, early: None, name: str) -> None:
    assert check(tmp_path, SHAPES["clique"], name).sources < 40


@SETTINGS
@given(graph=graphs(most=7), lengths=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_random_graphs_with_chains(tmp_path: Path, early: None, graph: naive.Graph, lengths: list[int]) -> None:
    check(tmp_path, subdivided(graph, lengths))


@pytest.mark.slow
@MANY
@given(graph=graphs(most=12), lengths=st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_many_graphs_with_chains(tmp_path: Path, early: None, graph: naive.Graph, lengths: list[int]) -> None:
    check(tmp_path, subdivided(graph, lengths))


def test_a_cycle_needs_few_traversals(tmp_path: Path) -> None:
    """As it is, without a test's impatience: bounds alone make a source of every vertex."""
    store = tmp_path / "g.zarr"
    emdiam.generate("cycle", store, vertices=3001)
    result = emdiam.eccentricities(store, certificate=tmp_path / "c.json")
    assert (result.radius, result.diameter, result.center.size) == (1500, 1500, 3001)
    assert result.sources <= module.TRIAL + 2
    report = emdiam.verify(tmp_path / "c.json", store)
    assert report.verified and report.unsettled == 0


@pytest.mark.parametrize("name", SHAPES)
def test_chains_are_walked(name: str) -> None:
    """Every vertex of degree 2 is inside one chain, but for one of each cycle, and lies beside the ones before and
    after it."""
    graph = SHAPES[name]
    vertices = np.array([v for v, row in enumerate(graph) if len(row) == 2])
    order, starts = np.empty(len(vertices), np.int64), np.empty(len(vertices) + 1, np.int64)
    ends = np.empty((len(vertices), 2), np.int64)
    count = walk_chains(vertices, np.array([graph[v] for v in vertices]), order, starts, ends)
    cycles = 0
    for number in range(count):
        inner = order[starts[number] : starts[number + 1]].tolist()
        a, b = ends[number].tolist()
        path = [a, *inner, b]
        assert all(w in graph[v] for v, w in itertools.pairwise(path))
        cycles += a == b and len(graph[a]) == 2
    assert len(set(order[: starts[count]].tolist())) == starts[count] == len(vertices) - cycles


def test_a_chain_with_an_end_that_is_no_source_is_not_proved(tmp_path: Path) -> None:
    """Of a path of 60, 31 and 44 edges and so on between two vertices; then of a whole cycle."""
    graph = SHAPES["theta"]
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        for sources, count in (([0, 1], 3), ([0], 0), ([0, 5], 0), ([], 0)):
            found = proof.SourceChains(store, 1).between(np.array(sources, np.int64), np.ones(len(graph), bool))
            assert len(list(found)) == count
    cycle = write_store(tmp_path / "c.zarr", SHAPES["cycle"])
    with open_store(cycle) as store:
        (chain,) = proof.SourceChains(store, 1).between(np.array([7, 20]), np.ones(300, bool))
        assert chain.p == chain.q == 7 and sorted([7, *chain.inside.tolist()]) == list(range(300))


def test_a_proof_without_room_for_chains_needs_more_memory(
    tmp_path: Path, early: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The certificate is right, though bounds and pairs alone do not prove it."""
    check(tmp_path, SHAPES["tadpole"])
    monkeypatch.setattr(proof.SourceChains, "bytes_for", staticmethod(lambda store: 1 << 50))
    with pytest.raises(emdiam.BudgetError, match="--memory"):
        verify(tmp_path / "c.json", tmp_path / "g.zarr", memory_bytes=2 << 30)


@pytest.mark.parametrize("name", ["cycle", "necklace"])
def test_a_bent_certificate_is_refused(tmp_path: Path, early: None, name: str) -> None:
    check(tmp_path, SHAPES[name])
    document = json.loads((tmp_path / "c.json").read_text())
    claims = document["claims"]
    for key in ("radius", "diameter_largest_component", "center_size"):
        bent = {**document, "claims": {**claims, key: claims[key] + 1}}
        (tmp_path / "bent.json").write_bytes(seal(bent))
        assert not verify(tmp_path / "bent.json", tmp_path / "g.zarr", memory_bytes=2 << 30).verified
