"""Distances along weights beside networkx itself: results with types and orders to the last bit, errors with texts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.networkx import Graph, backend, dijkstra
from tests.networkx.test_backend import GRAPHS, outcome

BOUNDS = ("eccentricity", "diameter", "radius", "center", "periphery", "harmonic_diameter")
NEGATIVE = "negative integers"
WEIGHTS: dict[str, Callable[[random.Random], Any]] = {
    "integers": lambda rng: rng.randint(0, 9), "floats": lambda rng: rng.choice((0.1, 0.7, rng.random(), 1e300)),
    "both": lambda rng: rng.choice((1, 2, 2.0, 0.25, rng.random(), True, None)),
    "infinite": lambda rng: rng.choice((1, float("inf"), 2.5)), NEGATIVE: lambda rng: rng.randint(-1, 9),
}


def weighted(graph: nx.Graph, kind: str, seed: int) -> nx.Graph:
    """The same graph with weights of this kind; some edges have none."""
    rng = random.Random(seed)
    for _, _, data in graph.edges(data=True):
        value = WEIGHTS[kind](rng)
        if value is not None:
            data["weight"] = value
    return graph


def calls(graph: nx.Graph) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Functions with arguments."""
    nodes = list(graph)
    for weight in ("weight", None):
        for name in BOUNDS:
            yield name, (), {"weight": weight}
        for v in (*nodes[:2], nodes[::-1], [*nodes[:1], "absent"]):
            yield "eccentricity", (), {"v": v, "weight": weight}
        for cutoff in (None, 0, 3, 2.5, -1, float("inf"), float("nan")):
            for node in nodes[:3]:
                yield "single_source_dijkstra_path_length", (node,), {"cutoff": cutoff, "weight": weight}
        yield "all_pairs_dijkstra_path_length", (), {"weight": weight}
        yield "all_pairs_dijkstra_path_length", (), {"cutoff": 2, "weight": weight}
    yield from (("single_source_dijkstra_path_length", (node,), {}) for node in ("absent", [1]))
    yield "harmonic_diameter", (), {}


def check(graph: nx.Graph) -> None:
    """All calls."""
    arrays = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
    for function, arguments, keywords in calls(graph):
        expected = outcome(lambda: getattr(nx, function)(graph, *arguments, backend="networkx", **keywords))  # noqa: B023
        given = outcome(lambda: getattr(backend, function)(arrays, *arguments, **keywords))  # noqa: B023
        assert repr(given) == repr(expected), (function, arguments, keywords)  # nan is not itself


@pytest.mark.parametrize("kind", WEIGHTS)
def test_odd_graphs(kind: str) -> None:
    for seed, name in enumerate(GRAPHS):
        check(weighted(GRAPHS[name](), kind, seed))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 1 << 32), st.sampled_from(sorted(WEIGHTS)),
       st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
def test_any_graph(n: int, m: int, seed: int, kind: str, cls: Any) -> None:
    rng, graph = random.Random(seed), nx.empty_graph(n, cls)
    graph.add_edges_from((rng.randrange(n), rng.randrange(n)) for _ in range(m))
    check(weighted(graph, kind, seed))


def test_the_diameter_of_larger_graphs_is_proved_by_pivots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dijkstra, "FEW_STEPS", -1)
    for name in GRAPHS:
        for kind in ("integers", NEGATIVE, "floats"):
            graph = weighted(GRAPHS[name](), kind, 7)
            arrays = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
            expected = outcome(lambda: nx.diameter(graph, weight="weight", backend="networkx"))  # noqa: B023
            assert outcome(lambda: backend.diameter(arrays, weight="weight")) == expected, (name, kind)  # noqa: B023


@pytest.mark.parametrize("value", [Fraction(1, 3), "5", None, 1 << 53, float("nan"), complex(1)])
def test_weights_that_are_no_numbers_of_arrays_are_left_to_networkx(value: Any) -> None:
    with pytest.raises(NotImplementedError, match="the attribute 'weight'"):
        backend.convert_from_nx(nx.Graph([(0, 1, {"weight": value})]), edge_attrs={"weight": 1})


@pytest.mark.parametrize("kind", ["integers", "quarters", "none"])
@pytest.mark.parametrize("order", ["natural", "degree"])
def test_stores_with_weights(tmp_path: Path, kind: str, order: str) -> None:
    rng, graph = random.Random(5), nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=2)
    graph = nx.relabel_nodes(graph, lambda node: 3 * node + 1)
    for _, _, data in graph.edges(data=True):
        data["weight"] = rng.randint(0, 9) if kind == "integers" else rng.randint(0, 9) / 4 if kind == "quarters" else 1
    emdiam.convert(graph, tmp_path / "g.zarr", order=order, weights=None if kind == "none" else True)
    with Graph(tmp_path / "g.zarr", threads=1) as stored:
        for name in BOUNDS:
            given = getattr(backend, name)(stored, weight="weight")
            expected = getattr(nx, name)(graph, weight="weight", backend="networkx")
            if name in ("center", "periphery"):
                assert sorted(given) == sorted(expected)
            else:
                assert given == pytest.approx(expected, abs=0, rel=1e-12 if name == "harmonic_diameter" else 0)
        for cutoff in (None, 5, 0, -1):
            given = backend.single_source_dijkstra_path_length(stored, 4, cutoff)
            assert given == nx.single_source_dijkstra_path_length(graph, 4, cutoff, backend="networkx")
            assert [*given.values()] == sorted(given.values()) and next(iter(given)) == 4
        told = backend.can_run("diameter", (stored,), {"weight": "km"})
        assert isinstance(told, str) and "by the name" in told
