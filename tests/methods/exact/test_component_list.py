"""The list of the largest components against brute force, for every exact method; and graphs that must be connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest

import emdiam
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.errors import DisconnectedError, InputError
from emdiam.methods.run import Limits
from emdiam.runs.registry import APPROXIMATIONS, EXACT, METHODS, method_options
from tests.helpers import naive
from tests.helpers.small_engine import engines


@pytest.fixture(scope="module")
def make() -> Iterator[Any]:
    with engines() as make_engine:
        yield make_engine


def union(seed: int) -> nx.Graph:
    """Sparse random graphs, paths and isolated vertices; several components are of one size."""
    parts = [nx.gnp_random_graph(12, 0.12, seed=seed), nx.path_graph(7), nx.star_graph(6), nx.cycle_graph(9),
             nx.path_graph(2), nx.empty_graph(2), nx.gnp_random_graph(9, 0.3, seed=seed)]
    return nx.disjoint_union_all(parts)


@pytest.mark.parametrize("method", EXACT)
def test_every_listed_component_has_its_diameter(make, method: str):
    for seed in range(3):
        graph = union(seed)
        parts = [graph.subgraph(part) for part in nx.connected_components(graph)]
        sizes = sorted(map(len, parts), reverse=True)
        engine = make(naive.graph_of(len(graph), graph.edges))
        for limit in (1, 3, 100):
            options = method_options(method, {"components": limit, **({"k": 99} if method == "sweep-k" else {})})
            result = METHODS[method].definition().solve(engine, options)
            rows = result.details["components"]
            assert [row["vertices"] for row in rows] == sizes[:limit]
            assert len({row["vertex"] for row in rows}) == len(rows)
            for row in rows:
                part = graph.subgraph(nx.node_connected_component(graph, row["vertex"]))
                diameter = nx.diameter(part)
                assert (row["vertices"], row["lower"], row["upper"]) == (len(part), diameter, diameter)
            assert result.diameter_max_component == max(map(nx.diameter, parts))
            assert result.diameter_largest_component == rows[0]["upper"]


def test_bounds_are_listed_where_no_more_is_asked_for(make):
    graph = union(1)
    engine = make(naive.graph_of(len(graph), graph.edges))
    for limits in (Limits(bounds_only=True), Limits(gap=2)):
        options = method_options("pivots", {"components": 4, "limits": limits})
        for row in METHODS["pivots"].definition().solve(engine, options).details["components"]:
            part = graph.subgraph(nx.node_connected_component(graph, row["vertex"]))
            assert 1 <= row["lower"] <= nx.diameter(part) <= row["upper"]


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATIONS])
def test_a_graph_that_must_be_connected(method: str):
    solve = emdiam.exact if method in EXACT else emdiam.approximate
    with pytest.raises(DisconnectedError, match="disconnected: it has 2 components; leave require_connected=True out"):
        solve([(1, 2), (3, 4)], method=method, require_connected=True)
    assert solve([(1, 2), (2, 3)], method=method, require_connected=True).connected


def test_python_and_the_command_say_the_same(tmp_path, capsys: pytest.CaptureFixture[str]):
    edges = [(1, 2), (2, 3), (30, 40)]
    assert emdiam.exact(edges, components=9).details["components"] == [
        {"vertex": 2, "vertices": 3, "lower": 2, "upper": 2}, {"vertex": 30, "vertices": 2, "lower": 1, "upper": 1}]
    with pytest.raises(InputError, match="0 to 65,536 components can be listed: '70000'"):
        emdiam.exact(edges, components=70_000)
    with pytest.raises(InputError, match="method sweep has no option: 'components= of emdiam.exact'"):
        emdiam.approximate(edges, method="sweep", components=1)
    emdiam.convert([*edges, (5, 5)], tmp_path / "g.zarr")
    assert run(group, ["exact", str(tmp_path / "g.zarr"), "--components", "2", "--quiet"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[3:7]] == [
        ["component", "of", "vertices", "diameter"], ["2", "3", "2", "(proved)"], ["30", "2", "1", "(proved)"],
        ["and", "1", "more", "component"]]
    assert run(group, ["exact", str(tmp_path / "g.zarr"), "--require-connected", "--quiet"]) == 2
    assert "the graph is disconnected: it has 3 components" in capsys.readouterr().err
