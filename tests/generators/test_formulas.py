"""Deterministic classes against networkx, and known diameters against its eccentricities."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from emdiam.generators import make_source
from emdiam.generators.elementary import clique_pair
from tests.generators.test_protocol import edge_set, pairs


def as_networkx(source):
    graph = nx.Graph()
    graph.add_nodes_from(range(source.n_vertices))
    graph.add_edges_from(pairs(source).tolist())
    return graph


def row_major_edges(graph, sides):
    """Edge set of a networkx lattice whose nodes are coordinates, in row-major ids."""
    if len(sides) == 1:
        return {(min(e), max(e)) for e in graph.edges}
    number = {node: int(np.ravel_multi_index(node, sides)) for node in graph}
    return {(min(number[u], number[v]), max(number[u], number[v])) for u, v in graph.edges}


def networkx_lattice(sides, periodic):
    graph = nx.grid_graph(dim=list(reversed(sides)), periodic=periodic)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))  # networkx gives a side of 1 a loop
    return graph


@pytest.mark.parametrize("name,least,twin", [
    ("path", 1, nx.path_graph),
    ("cycle", 3, nx.cycle_graph),
    ("star", 1, lambda n: nx.star_graph(n - 1)),
    ("clique", 1, nx.complete_graph),
])
def test_elementary_classes_equal_networkx(name, least, twin):
    for n in range(least, 14):
        source = make_source(name, vertices=n)
        expected = twin(n)
        assert edge_set(source) == {(min(e), max(e)) for e in expected.edges}
        assert source.info().n_vertices == len(expected)
        assert source.known_diameter == nx.diameter(expected)


@pytest.mark.parametrize("sides", [(1,), (2,), (6,), (1, 1), (4, 1), (2, 2), (3, 5), (5, 3), (2, 3, 4),
                                   (3, 1, 3), (2, 2, 2, 3)])
@pytest.mark.parametrize("name", ["grid", "torus"])
def test_grid_and_torus_equal_networkx(name, sides):
    source = make_source(name, parameters={"sides": "x".join(map(str, sides))})
    expected = networkx_lattice(sides, periodic=name == "torus")
    assert edge_set(source) == row_major_edges(expected, sides)
    assert source.info().n_entries == expected.number_of_edges() == len(pairs(source))
    assert source.known_diameter == nx.diameter(expected)


def test_grid_is_square_by_default():
    source = make_source("grid", vertices=49)
    assert edge_set(source) == row_major_edges(networkx_lattice((7, 7), False), (7, 7))


@pytest.mark.parametrize("dimension", range(6))
def test_hypercube_equals_networkx(dimension):
    source = make_source("hypercube", parameters={"dimension": dimension})
    expected = {(v, v | 1 << b) for v in range(1 << dimension) for b in range(dimension) if not v >> b & 1}
    assert edge_set(source) == expected == edge_set(make_source("hypercube", vertices=1 << dimension))
    assert source.known_diameter == dimension == nx.diameter(as_networkx(source))
    assert nx.is_isomorphic(as_networkx(source), nx.hypercube_graph(dimension)) or dimension == 0


@pytest.mark.parametrize("name,vertices,parameters", [
    ("percolated", 30, {"sides": "5x6", "p": 1.0}),
    ("percolated", 30, {"sides": "5x6", "p": 1, "kind": "site"}),
    ("watts-strogatz", 23, {"k": 4, "p": 0}),
    ("watts-strogatz", 24, {"k": 6, "p": 0.0}),
    ("watts-strogatz", 9, {"k": 8, "p": 0.0}),
    ("regular", 21, {"degree": 2}),
    ("regular", 2, {"degree": 1}),
])
def test_known_diameters_of_special_cases(name, vertices, parameters):
    source = make_source(name, vertices=vertices, parameters=parameters)
    assert source.known_diameter == nx.diameter(as_networkx(source))


@pytest.mark.parametrize("name", ["rmat", "kronecker", "barabasi-albert", "erdos-renyi", "geometric",
                                  "percolated", "delaunay", "regular", "watts-strogatz"])
def test_random_classes_claim_no_diameter(name):
    assert make_source(name, vertices=64).known_diameter is None


def test_watts_strogatz_without_rewiring_equals_networkx():
    source = make_source("watts-strogatz", vertices=31, parameters={"k": 6, "p": 0})
    assert edge_set(source) == {(min(e), max(e)) for e in nx.watts_strogatz_graph(31, 6, 0).edges}


def test_clique_pairs_are_exact_beyond_floating_point():
    n = 3_000_000_000
    last = n * (n - 1) // 2 - 1
    assert clique_pair(n, 0) == (0, 1)
    assert clique_pair(n, n - 2) == (0, n - 1) and clique_pair(n, n - 1) == (1, 2)
    assert clique_pair(n, last) == (n - 2, n - 1)
    assert clique_pair(n, last - 1) == (n - 3, n - 1) and clique_pair(n, last - 2) == (n - 3, n - 2)


def test_a_clique_too_large_to_list_still_starts_anywhere():
    source = make_source("clique", vertices=1 << 31)
    slot = source.n_slots - 3
    got = [(int(u), int(v)) for b in source.edges(slot, source.n_slots, 2) for u, v in zip(b.src, b.dst,
                                                                                           strict=True)]
    n = 1 << 31
    assert got == [(n - 3, n - 2), (n - 3, n - 1), (n - 2, n - 1)]
