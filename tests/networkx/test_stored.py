"""A store as a graph of networkx: the answers of networkx for the same graph in memory, in the ids of the store."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import emdiam
from emdiam.networkx import Graph, backend
from tests.networkx.test_backend import outcome

TEXTS = nx.relabel_nodes(nx.grid_2d_graph(5, 7), lambda place: "n{}_{}".format(*place))
# name -> (graph, order of the store, options)
STORES: dict[str, tuple[nx.Graph, str, dict[str, Any]]] = {
    "identity": (nx.barabasi_albert_graph(120, 2, seed=3), "natural", {"threads": 1}),
    "offset": (nx.relabel_nodes(nx.cycle_graph(9), lambda node: node + 7), "natural", {}),
    "sparse-ids-reordered": (nx.relabel_nodes(nx.path_graph(9), lambda node: 5 + 3 * node), "degree", {}),
    "strings-reordered": (TEXTS, "bfs", {"memory": "2GiB"}),
    "one": (nx.empty_graph(1), "natural", {}),
    "parts": (nx.Graph([(1, 2), (3, 4), (4, 5)]), "natural", {}),
    "random-reordered": (nx.gnm_random_graph(90, 160, seed=8), "degree", {}),
}


@pytest.fixture(params=STORES)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The graph of a store, and the same graph of networkx, its nodes ascending."""
    original, order, options = STORES[request.param]
    emdiam.convert(original, tmp_path / "graph.zarr", order=order)
    same = nx.Graph()
    same.add_nodes_from(sorted(original))
    same.add_edges_from(sorted(tuple(sorted(edge)) for edge in original.edges))
    with Graph(tmp_path / "graph.zarr", **options) as stored:
        yield stored, same


def test_it_answers_as_networkx_does(pair: Any):
    stored, same = pair
    nodes = list(same)
    assert list(stored) == nodes and len(stored) == stored.order() == same.order()
    for name in ("diameter", "radius", "center", "periphery", "eccentricity"):
        some: list[dict[str, Any]] = [{}, {"usebounds": True}]
        for more in some if name != "eccentricity" else [{}, {"v": nodes[-1]}, {"v": [*nodes[:2], -1]}]:
            expected = outcome(lambda: getattr(nx, name)(same, backend="networkx", **more))  # noqa: B023
            assert outcome(lambda: getattr(backend, name)(stored, **more)) == expected  # noqa: B023
    for node in (*nodes[:2], -1, [1], "absent"):
        expected = [set(layer) for layer in nx.bfs_layers(same, node, backend="networkx")] if node in same else None
        assert (node in stored) == (expected is not None)
        if expected is None:
            with pytest.raises(nx.NodeNotFound, match="is not in G"):
                backend.single_source_shortest_path_length(stored, node)
            continue
        assert [set(layer) for layer in backend.bfs_layers(stored, node)] == expected
        lengths = backend.single_source_shortest_path_length(stored, node, cutoff=2)
        assert lengths == nx.single_source_shortest_path_length(same, node, cutoff=2, backend="networkx")
        assert [*lengths.values()] == sorted(lengths.values())
    assert dict(backend.all_pairs_shortest_path_length(stored)) == dict(
        nx.all_pairs_shortest_path_length(same, backend="networkx"))
    assert [set(layer) for layer in backend.bfs_layers(stored, nodes[:3])] == [
        set(layer) for layer in nx.bfs_layers(same, nodes[:3], backend="networkx")]


def test_it_becomes_a_graph_of_networkx(pair: Any):
    stored, same = pair
    graph = backend.convert_to_nx(stored)
    assert list(graph) == list(same) and [*map(list, graph.adj.values())] == [sorted(row) for row in same.adj.values()]


def test_a_lower_bound_from_a_random_node(pair: Any):
    stored, same = pair
    if not nx.is_connected(same):
        with pytest.raises(nx.NetworkXError, match="Graph not connected"):
            backend.approximate_diameter(stored, random.Random(1))
    else:
        largest = nx.diameter(same, backend="networkx")
        assert largest / 2 <= backend.approximate_diameter(stored, random.Random(1)) <= largest


def test_a_centre_of_more_than_a_thousand_is_whole(tmp_path: Path):
    emdiam.convert(nx.cycle_graph(1100), tmp_path / "ring.zarr", order="bfs")
    with Graph(tmp_path / "ring.zarr") as stored:
        assert stored.radius() == 550 and backend.center(stored) == backend.periphery(stored) == [*range(1100)]


def test_stores_and_options_are_checked_at_once(tmp_path: Path):
    emdiam.convert(nx.path_graph(5), tmp_path / "graph.zarr")
    for wrong in ({"seed": 3}, {"require_connected": True}):
        with pytest.raises(TypeError, match="there is no option"):
            Graph(tmp_path / "graph.zarr", **wrong)
    with pytest.raises(emdiam.StoreError, match="no such store"):
        Graph(tmp_path / "none.zarr")
    with emdiam.open(tmp_path / "graph.zarr") as store, Graph(store) as stored:
        assert repr(stored) == f"Graph({str(tmp_path / 'graph.zarr')!r})"
        assert backend.eccentricity(stored, np.int64(2)) == 2
