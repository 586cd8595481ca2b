"""Triangles, cores and profiles against networkx."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.cli.info import info_text
from emdiam.errors import InputError, MoreMemoryError
from emdiam.runs.probe import profile
from emdiam.traverse.triangles import count_triangles
from tests.cli.test_commands import call  # noqa: F401 - a fixture
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()
DENSE = {
    "random": naive.graph_of(200, nx.gnm_random_graph(200, 1500, seed=1).edges),
    "hubs": naive.graph_of(300, nx.barabasi_albert_graph(300, 6, seed=2).edges),
    "stars": naive.graph_of(260, [(a, b) for a in range(5) for b in range(260) if a != b]),
}
KINDS = ("in-ram", "in-ram-one-thread", "streamed")
SETTINGS = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def as_nx(graph: naive.Graph) -> nx.Graph:
    return nx.from_dict_of_lists(dict(enumerate(graph)))


def check(engine: Any, graph: naive.Graph) -> None:
    other = as_nx(graph)
    want = nx.triangles(other)
    assert engine.triangles().tolist() == [want[v] for v in range(len(graph))]
    # Two rows at least, and about a tenth of all: several ranges, each of which is intersected with each.
    room = max(8 * max(map(len, graph)), 4 * sum(map(len, graph)) // 10)
    assert np.array_equal(count_triangles(engine.core, room), engine.triangles())
    assert engine.degeneracy() == max(nx.core_number(other).values())


@pytest.mark.thin(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*ODD, *DENSE])
def test_triangles_and_degeneracy_of_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    graph = {**ODD, **DENSE}[name]
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        check(engine, graph)


@SETTINGS
@given(graph=graphs(most=120), kind=st.sampled_from(KINDS))
def test_triangles_and_degeneracy_of_random_graphs(tmp_path: Path, graph: naive.Graph, kind: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        check(engine, graph)


def test_ranges_of_rows_read_the_store_once_each(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", DENSE["random"])
    with engine_on(store, "streamed") as engine:
        once = engine.core.counters.snapshot().edges_scanned
        count_triangles(engine.core, 1 << 20)
        whole = engine.core.counters.snapshot().edges_scanned - once
        assert whole == 2 * engine.facts.n_arcs
        count_triangles(engine.core, 1500 * 4 // 2)  # half of all heads: four ranges at least
        assert engine.core.counters.snapshot().edges_scanned - once - whole >= 5 * engine.facts.n_arcs
        with pytest.raises(MoreMemoryError, match="the rows of two vertices"):
            count_triangles(engine.core, 16)


def test_a_chain_within_a_block_takes_one_sweep(tmp_path: Path) -> None:
    """Whichever way its numbers run."""
    n = 3000
    store = write_store(tmp_path / "g.zarr", naive.graph_of(n, [(v, v + 1) for v in range(n - 1)]), chunk=1 << 14)
    with engine_on(store) as engine:
        before = engine.core.counters.snapshot()
        assert engine.degeneracy() == 1
        used = engine.core.counters.snapshot() - before
        assert used.passes <= 2 and used.edges_scanned == engine.facts.n_arcs


@pytest.mark.parametrize("name", ["clique-and-path", "lollipop", "grid", "no-edges", "one", "hubs"])
def test_profiles_are_those_of_networkx(tmp_path: Path, name: str) -> None:
    graph = {**ODD, **DENSE}[name]
    other, found = as_nx(graph), profile(write_store(tmp_path / "g.zarr", graph), {"memory": 4 << 30, "threads": 2})
    assert found.triangles == sum(nx.triangles(other).values()) // 3
    assert found.average_clustering == pytest.approx(nx.average_clustering(other), abs=1e-12)
    paths = sum(d * (d - 1) for _, d in other.degree)
    assert found.transitivity == (pytest.approx(nx.transitivity(other)) if paths else None)
    assert found.degrees == {d: c for d, c in enumerate(nx.degree_histogram(other)) if c}
    largest = max(nx.diameter(other.subgraph(part)) for part in nx.connected_components(other))
    assert found.diameter == largest
    if largest:
        assert found.effective_diameter is not None
        assert found.effective_ratio == pytest.approx(found.effective_diameter / largest)
        assert found.mean == pytest.approx(emdiam.distances(other, exact=True).mean)
    else:
        assert found.effective_ratio is found.effective_diameter is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_profiles_do_not_depend_on_the_order_of_a_store(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", DENSE["hubs"])
    emdiam.reorder(store, tmp_path / "h.zarr", "bfs")
    one, two = (profile(place, {"sample": 40}).to_dict() for place in (store, tmp_path / "h.zarr"))
    for name in ("store_digest", "seconds", "peak_rss_bytes", "memory_limit_bytes", "memory_limit_exceeded"):
        one.pop(name), two.pop(name)
    assert one == two and one["method"] == "sample"


def test_info_shows_the_profile_and_draws_it(tmp_path: Path, call: Any) -> None:  # noqa: F811
    pytest.importorskip("matplotlib")
    store = write_store(tmp_path / "g.zarr", ODD["isolated-first"])
    code, out, _ = call("info", str(store), "--profile", "--json", "--quiet", "--plots", str(tmp_path / "plots"))
    info = json.loads(out)
    assert code == 0 and info["profile"]["degeneracy"] == 1 and info["profile"]["diameter"] == 8
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "degrees.png", "degrees.svg", "distances.png", "distances.svg"]
    assert "of degree 0" in (tmp_path / "plots" / "degrees.svg").read_text()
    text = info_text(info)
    assert "triangles: 0; average clustering coefficient 0.0000" in text and "D 8 (proved), D90 / D 0." in text


def test_plots_of_a_graph_without_edges(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from emdiam.report.drawing import draw_degrees, draw_distances, write_figure

    for figure in (draw_degrees({0: 7}), draw_distances({}, None, None)):
        assert len(write_figure(figure, tmp_path / "x")) == 2


def test_profiles_in_python_and_refusals(tmp_path: Path) -> None:
    found = emdiam.profile(nx.karate_club_graph())
    assert found.triangles == 45 and found.degeneracy == 4 and found.diameter == 5
    with pytest.raises(InputError, match="too small"):
        emdiam.profile(write_store(tmp_path / "g.zarr", ODD["grid"]), memory="1MB")
