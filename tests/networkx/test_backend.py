"""The functions of the backend against networkx itself: results with types and orders, errors with their texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.networkx import backend
from emdiam.networkx import graph as graphs
from emdiam.networkx.info import FUNCTIONS, backend_info

BOUNDS = ("diameter", "radius", "center", "periphery")
SEARCHES = ("single_source_shortest_path_length", "single_target_shortest_path_length")
CUTOFFS = (None, 0, 1, 2, 2.5, -1, float("nan"), float("inf"), "x")


def shuffled(graph: nx.Graph, seed: int) -> nx.Graph:
    """The same graph, its edges added in a random order, so that no row is sorted."""
    edges, same = list(graph.edges()), nx.empty_graph(0, type(graph))
    random.Random(seed).shuffle(edges)
    same.add_edges_from(edges)
    same.add_nodes_from(graph)
    return same


GRAPHS: dict[str, Callable[[], nx.Graph]] = {
    "empty": nx.Graph, "one": lambda: nx.empty_graph(1), "loop": lambda: nx.Graph([(7, 7)]),
    "isolated": lambda: nx.empty_graph(3), "path": lambda: nx.path_graph(6), "cycle": lambda: nx.cycle_graph(9),
    "star": lambda: nx.star_graph(5), "clique": lambda: nx.complete_graph(7), "tuples": lambda: nx.grid_2d_graph(3, 5),
    "tree": lambda: shuffled(nx.random_labeled_tree(30, seed=2), 1),
    "parts": lambda: nx.Graph([(1, 2), (3, 4), (5, 5)]),
    "mixed": lambda: nx.Graph([("a", 1), (1, (2, 3)), ((2, 3), int)]),
    "multi": lambda: nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (2, 3)]),
    "view": lambda: nx.path_graph(9).subgraph([6, 5, 4, 3, 8]),
    "random": lambda: shuffled(nx.gnm_random_graph(60, 90, seed=5), 3),
    "connected": lambda: shuffled(nx.connected_watts_strogatz_graph(50, 4, 0.2, seed=4), 2),
    "no arcs": lambda: nx.empty_graph(0, nx.DiGraph), "one directed": lambda: nx.empty_graph(1, nx.DiGraph),
    "arcs": lambda: nx.DiGraph([(3, 1), (1, 2), (2, 3), (3, 2), (2, 1), (1, 1), (4, 1), (3, 5)]),
    "circle": lambda: nx.cycle_graph(7, nx.DiGraph), "line": lambda: nx.path_graph(5, nx.DiGraph),
    "multi arcs": lambda: nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (2, 0), (2, 3), (3, 1)]),
    "strong": lambda: shuffled(nx.compose(nx.cycle_graph(40, nx.DiGraph),
                                          nx.gnp_random_graph(40, 0.04, seed=3, directed=True)), 5),
    "random arcs": lambda: shuffled(nx.gnp_random_graph(40, 0.06, seed=1, directed=True), 4),
}


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """What a call gives, in its order and with the type of every number, or the error and its text."""
    try:
        return "result", plain(call())
    except Exception as error:  # whatever networkx raises
        return type(error), str(error)


def plain(value: Any) -> Any:
    """A value with its types and orders, for comparison."""
    if isinstance(value, dict):
        return dict, [(key, plain(each)) for key, each in value.items()]
    if isinstance(value, Iterator):
        return "iterator", [plain(each) for each in value]
    if isinstance(value, list | tuple):
        return type(value), [plain(each) for each in value]
    return (type(value), value) if isinstance(value, int | float | np.number) else value


def calls(graph: nx.Graph) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Functions with arguments."""
    nodes = list(graph)
    some = [*nodes[:2], *nodes[-1:], "absent", [1]]
    for name in BOUNDS:
        yield from ((name, (), {}), (name, (), {"usebounds": True}), (name, ({0: 3, 1: 2},), {}))
    for v in (None, *some, nodes[::-1], [*nodes[:1], "absent"], [[1]], iter(nodes[1:3]), 5.5):
        yield "eccentricity", (), {"v": v}
    for name in SEARCHES:
        yield from ((name, (node,), {"cutoff": cutoff}) for node in some[:2] for cutoff in CUTOFFS)
        yield from ((name, (node,), {}) for node in some)
    yield from (("all_pairs_shortest_path_length", (), {"cutoff": cutoff}) for cutoff in CUTOFFS)
    yield from (("bfs_layers", (sources,), {}) for sources in (*some, nodes[:3], set(nodes), [], ["absent"], 5.5))
    for distance in (0, 2, 2.0, 9, "x", -1):
        yield from (("descendants_at_distance", (node, distance), {}) for node in some)


@pytest.mark.parametrize("name", GRAPHS)
def test_results_orders_and_errors_are_those_of_networkx(name: str):
    graph = GRAPHS[name]()
    arrays = backend.convert_from_nx(graph)
    for (function, arguments, keywords), (_, again, others) in zip(calls(graph), calls(graph), strict=True):
        expected = outcome(lambda: getattr(nx, function)(graph, *again, backend="networkx", **others))  # noqa: B023
        given = outcome(lambda: getattr(backend, function)(arrays, *arguments, **keywords))  # noqa: B023
        assert given == expected, (function, arguments, keywords)
    for seed in range(3):
        expected = outcome(lambda: nx.approximation.diameter(graph, seed=seed, backend="networkx"))  # noqa: B023
        assert outcome(lambda: backend.approximate_diameter(arrays, random.Random(seed))) == expected  # noqa: B023


def test_larger_graphs_are_answered_by_bounds(monkeypatch: pytest.MonkeyPatch):
    """What is too large for plain searches; and answers that are known are not computed again."""
    monkeypatch.setattr(graphs, "_FEW_STEPS", 0)
    monkeypatch.setattr(graphs, "_FEW_STEPS_FOR_ALL", 0)
    world = nx.connected_watts_strogatz_graph(50, 4, 0.1, seed=1)
    for graph in (shuffled(world, 1), nx.MultiGraph([(0, 1), (1, 1)] * 2), GRAPHS["strong"](), GRAPHS["circle"]()):
        arrays = backend.convert_from_nx(graph)
        for _ in range(2):
            for name in (*BOUNDS, "eccentricity"):
                expected = outcome(lambda: getattr(nx, name)(graph, backend="networkx"))  # noqa: B023
                assert outcome(lambda: getattr(backend, name)(arrays)) == expected  # noqa: B023


def test_a_converted_graph_becomes_one_of_networkx():
    graph = GRAPHS["multi"]()
    back = backend.convert_to_nx(backend.convert_from_nx(graph))
    assert list(back) == list(graph) and {*back.edges} == {(0, 1), (1, 2), (2, 3)} and type(back) is nx.Graph
    assert backend.convert_to_nx([1]) == [1]


@pytest.mark.parametrize(("name", "arguments", "keywords", "reason"), [
    ("diameter", (nx.DiGraph(),), {}, None), ("radius", (nx.Graph(), None, False, "km"), {}, None),
    ("radius", (nx.Graph(), None, True, "km"), {}, "bounds"), ("radius", (nx.DiGraph(), None, True, "km"), {}, None),
    ("eccentricity", (nx.Graph(),), {"weight": len}, "a function"), ("center", (), {"G": nx.MultiGraph()}, None),
    ("single_source_dijkstra_path_length", (nx.Graph(), 0), {"cutoff": "x"}, "no number"),
    ("single_source_dijkstra_path_length", (nx.Graph(), 0, 1 << 60), {}, "no number below 2^53"),
    ("harmonic_diameter", (nx.Graph(), {}), {}, "distances are given"),
    ("harmonic_diameter", (nx.DiGraph(),), {}, None),
    ("eccentricity", (nx.Graph(),), {"sp": {}}, "distances are given"), ("diameter", (nx.Graph(),), {"e": {}}, None),
    ("bfs_layers", (nx.Graph(),), {}, "missing a required argument: 'sources'"),
    ("diameter", ("graph",), {}, "no graph of networkx"),
])
def test_what_cannot_run_is_told_with_a_reason(name: str, arguments: Any, keywords: Any, reason: str | None):
    told = backend.can_run(name, arguments, keywords)
    assert told is True if reason is None else isinstance(told, str) and reason in told


def test_a_networkx_that_is_too_old_answers_itself(monkeypatch: pytest.MonkeyPatch):
    for version, told in (("3.4.2", False), ("3.5rc0", True), ("3.10", True), ("4.0.dev0", True)):
        monkeypatch.setattr(nx, "__version__", version)
        assert backend.can_run("diameter", (nx.Graph(),), {}) is told


def test_what_is_not_worth_converting_is_told_with_a_reason():
    small, large = nx.path_graph(3), nx.path_graph(2000)
    assert "3 nodes" in str(backend.should_run("diameter", (small,), {}))
    assert "3 nodes" in str(backend.should_run("bfs_layers", (small, 0), {}))
    assert "are given" in str(backend.should_run("diameter", (large,), {"e": {0: 1}}))
    assert backend.should_run("diameter", (large,), {}) is backend.should_run("bfs_layers", (large, 0), {}) is True


def test_what_networkx_is_told_is_what_there_is():
    assert backend_info()["functions"].keys() == FUNCTIONS.keys() <= {*backend.__all__}
    for name in backend.__all__:
        assert callable(getattr(backend, name))
