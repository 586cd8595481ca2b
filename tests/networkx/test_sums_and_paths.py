"""Functions that add up distances, and shortest paths, beside networkx itself: results with types, orders and nodes to
the last bit, errors with texts; sums that many sources are counted for at once within 1e-9."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.networkx import Graph, backend
from emdiam.networkx import graph as graphs
from tests.helpers.many_graphs import MANY
from tests.networkx.test_backend import GRAPHS, outcome, shuffled
from tests.networkx.test_weighted import BOUNDS, WEIGHTS, weighted

Call = tuple[str, dict[str, Any]]
SUMS = ("average_shortest_path_length", "wiener_index", "barycenter")
PATHS = ("shortest_path", "shortest_path_length")
KINDS = (None, *WEIGHTS)


def calls(graph: nx.Graph) -> Iterator[Call]:
    """Every function with arguments of every kind."""
    nodes = list(graph)
    some = [*nodes[:1], *nodes[-1:], "absent", [1]]
    for weight in (None, "weight"):
        yield from ((name, {"weight": weight}) for name in SUMS)
        yield from (("average_shortest_path_length", {"weight": weight, "method": method})
                    for method in ("unweighted", "dijkstra", "x"))
        yield from (("closeness_centrality", {"u": u, "distance": weight, "wf_improved": improved})
                    for u in (None, *some) for improved in (True, False))
        yield from (("harmonic_centrality", {"nbunch": nbunch, "distance": weight, "sources": sources})
                    for nbunch in (None, nodes[:2], nodes[1:4], *nodes[:1], ["absent"], [[1]])
                    for sources in (None, nodes[-2:], nodes[:3]))
        for name in PATHS:
            yield from ((name, {"source": source, "target": target, "weight": weight})
                        for source, target in itertools.product((None, *some), repeat=2))
            yield name, {"weight": weight, "method": "x"}
    if not graph.is_directed():
        yield "global_efficiency", {}


def few_calls(graph: nx.Graph, draws: random.Random, weights: tuple[str | None, ...]) -> Iterator[Call]:
    """Every function once."""
    nodes, weight = list(graph), draws.choice(weights)
    yield from ((name, {"weight": weight}) for name in (*SUMS, *BOUNDS))
    yield "closeness_centrality", {"distance": weight, "wf_improved": draws.random() < 0.5,
                                   "u": draws.choice((None, *nodes))}
    some = [draws.choice((None, draws.sample(nodes, draws.randint(0, len(nodes))))) for _ in range(2)]
    yield "harmonic_centrality", {"nbunch": some[0], "sources": some[1], "distance": weight}
    for name in PATHS:
        ends = {end: draws.choice((None, *nodes[:8])) for end in ("source", "target")}
        yield name, {**ends, "weight": weight}
    if not graph.is_directed():
        yield "global_efficiency", {}


def compare(graph: nx.Graph, arrays: Any, call: Call, close: bool = False) -> None:
    """One call on both. close : whether floats may differ by 1e-9."""
    name, keywords = call
    expected = outcome(lambda: getattr(nx, name)(graph, backend="networkx", **keywords))
    found = outcome(lambda: getattr(backend, name)(arrays, **keywords))
    if close:
        assert alike(found, expected), (call, found, expected)
    else:
        assert repr(found) == repr(expected), call  # nan is not itself


def alike(found: Any, expected: Any) -> bool:
    """Whether two outcomes are the same but for the last bits of floats."""
    if isinstance(expected, float) and isinstance(found, float):
        return found == pytest.approx(expected, rel=1e-9, nan_ok=True)
    if isinstance(expected, list | tuple) and type(found) is type(expected):
        return len(found) == len(expected) and all(map(alike, found, expected))
    return bool(found == expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_odd_graphs(name: str) -> None:
    """Each with one kind of weights; the slow tests have all."""
    place = [*GRAPHS].index(name)
    check_odd(name, KINDS[place % len(KINDS)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_odd_graphs_with_all_weights(kind: str | None) -> None:
    for name in GRAPHS:
        check_odd(name, kind)


def check_odd(name: str, kind: str | None) -> None:
    graph = GRAPHS[name]()
    if kind is not None:
        weighted(graph, kind, len(name))
    arrays = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    for call in calls(graph):
        compare(graph, arrays, call)


def drawn(number: int, kinds: tuple[type[nx.Graph], ...], weights: tuple[str | None, ...]) -> tuple[
        nx.Graph, Iterator[Call]]:
    """A random graph of these kinds, and a call of each function along some of these weights."""
    draws = random.Random(number)
    graph = nx.empty_graph(draws.randint(1, 25), draws.choice(kinds))
    nodes = list(graph)
    if draws.random() < 0.6:  # in one piece
        draws.shuffle(nodes)
        graph.add_edges_from(itertools.pairwise([*nodes, nodes[0]]))
    graph.add_edges_from(draws.choices(nodes, k=2) for _ in range(draws.randint(0, 3 * len(nodes))))
    graph = nx.relabel_nodes(graph, lambda node: f"n{node}" if node % 3 else node)
    return weighted(shuffled(graph, number), draws.choice([*WEIGHTS]), number), few_calls(graph, draws, weights)


PARTS = [range(MANY * part // 5, MANY * (part + 1) // 5) for part in range(5)]


@pytest.mark.parametrize("kinds", [(nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph),
                                   (nx.DiGraph, nx.MultiDiGraph)], ids=["all", "directed and weighted"])
@pytest.mark.parametrize("numbers", [range(30), *(
    pytest.param(part, marks=pytest.mark.slow) for part in PARTS)], ids=str)
def test_random_graphs(numbers: range, kinds: tuple[type[nx.Graph], ...]) -> None:
    for number in numbers:
        graph, wanted = drawn(number, kinds, ("weight",) if len(kinds) == 2 else (None, "weight"))
        arrays = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
        for call in wanted:
            compare(graph, arrays, call)


def test_larger_graphs_are_counted_from_many_sources_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_FEW_STEPS_FOR_ALL", 0)
    for name in ("isolated", "parts", "random", "multi", "strong"):
        graph = GRAPHS[name]()
        arrays = backend.convert_from_nx(graph)
        wanted: list[Call] = [(each, {}) for each in (*SUMS, "closeness_centrality", "harmonic_centrality")]
        wanted += [("closeness_centrality", {"wf_improved": False}), ("harmonic_diameter", {})]
        for call in [*wanted, ("global_efficiency", {})][: None if not graph.is_directed() else -1]:
            compare(graph, arrays, call, close=True)


@pytest.mark.parametrize(("kind", "order"), [(None, "degree"), ("integers", "natural"), (None, "parts")])
def test_stores(tmp_path: Path, kind: str | None, order: str) -> None:
    graph = nx.connected_watts_strogatz_graph(14, 4, 0.3, seed=2)
    if order == "parts":
        graph = nx.disjoint_union(nx.gnm_random_graph(9, 10, seed=3), nx.path_graph(3))
    graph = nx.relabel_nodes(graph, lambda node: 3 * node + 1)
    if kind is not None:
        weighted(graph, kind, 5)
    emdiam.convert(graph, tmp_path / "g.zarr", order="natural" if order == "parts" else order, weights=kind is not None)
    same = nx.Graph(weights=kind)
    same.add_nodes_from(sorted(graph))
    same.add_edges_from(sorted((*sorted(edge[:2]), edge[2]) for edge in graph.edges(data=True)))
    with Graph(tmp_path / "g.zarr", threads=1) as stored:
        for name, keywords in calls(same):
            if name not in PATHS:
                compare(same, stored, (name, keywords), close=True)
                continue
            expected = outcome(lambda: dict_of(getattr(nx, name)(same, backend="networkx", **keywords)))  # noqa: B023
            found = outcome(lambda: dict_of(getattr(backend, name)(stored, **keywords)))  # noqa: B023
            if expected[0] != "result":
                assert found == expected, (name, keywords)
            elif name == "shortest_path":
                check_paths(same, stored, keywords)
            else:
                again = dict_of(getattr(backend, name)(stored, **keywords))
                assert again == dict_of(getattr(nx, name)(same, backend="networkx", **keywords)), keywords


def dict_of(value: Any) -> Any:
    """An iterator of pairs as a dict."""
    return dict(value) if isinstance(value, Iterator) else value


def check_paths(same: nx.Graph, stored: Graph, keywords: dict[str, Any]) -> None:
    """Where several paths are shortest, those of a store may go over other nodes: ends and lengths are compared."""
    weight = keywords["weight"]
    found, expected = (list_of(dict_of(paths)) for paths in (
        backend.shortest_path(stored, **keywords), nx.shortest_path(same, backend="networkx", **keywords)))
    for path, other in zip(found, expected, strict=True):
        assert (path[0], path[-1]) == (other[0], other[-1]) and nx.is_path(same, path)
        if weight is None or not same.graph["weights"]:
            assert len(path) == len(other)
        else:
            assert nx.path_weight(same, path, weight) == nx.path_weight(same, other, weight)


def list_of(paths: Any) -> list[list[Any]]:
    """All paths, by their ends."""
    if isinstance(paths, list):
        return [paths]
    return [path for _, each in sorted(paths.items()) for path in (
        list_of(each) if isinstance(each, dict) else [each])]


@pytest.mark.parametrize(("name", "arguments", "keywords", "reason"), [
    ("barycenter", (nx.Graph(),), {"attr": "far"}, "attributes of the nodes"), ("barycenter", (), {"sp": {}}, "given"),
    ("shortest_path", (nx.Graph(), 0, 1, "km", "bellman-ford"), {}, "bellman-ford"),
    ("shortest_path", (nx.Graph(), 0, 1, None, "bellman-ford"), {}, None),
    ("average_shortest_path_length", (nx.Graph(),), {"method": "floyd-warshall"}, "floyd-warshall"),
    ("average_shortest_path_length", (nx.Graph(),), {"method": "nothing"}, None),
    ("closeness_centrality", (nx.Graph(),), {"distance": len}, "a function"),
    ("descendants_at_distance", (nx.Graph(), 0, 1), {}, None),
])
def test_what_cannot_run(name: str, arguments: Any, keywords: Any, reason: str | None) -> None:
    keywords = keywords if arguments else {"G": nx.Graph(), **keywords}
    found = backend.can_run(name, arguments, keywords)
    assert found is True if reason is None else isinstance(found, str) and reason in found


def test_what_is_not_worth_converting() -> None:
    large = nx.path_graph(500)
    assert "both nodes" in str(backend.should_run("shortest_path", (large, 0, 5), {}))
    assert "500 nodes" in str(backend.should_run("shortest_path", (large, 0), {}))
    assert "500 nodes" in str(backend.should_run("closeness_centrality", (large,), {"u": 3}))
    assert backend.should_run("closeness_centrality", (large,), {}) is True
    with nx.config.backends.emdiam(few_nodes=501):
        assert "500 nodes" in str(backend.should_run("closeness_centrality", (large,), {}))
