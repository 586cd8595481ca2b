"""The approximation by clusters: proved bounds hold, and nothing but graph, options and seed matters."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.errors import InputError
from emdiam.generators import generate
from emdiam.methods.approx import cluster_order as local
from emdiam.methods.approx import clusters as clusters_module
from emdiam.methods.approx.clusters import ClusterOptions, clusters
from emdiam.methods.result import Approximation
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(9)

GRAPHS = odd_graphs()
OPTIONS = [
    ClusterOptions(masters=1), ClusterOptions(masters=3, seed=5), ClusterOptions(masters="20%"),
    ClusterOptions(masters="100%"), ClusterOptions(masters="auto"), ClusterOptions(masters=4, euler=True),
    ClusterOptions(masters="50%", levels=2), ClusterOptions(masters="100%", levels=3),
    ClusterOptions(masters="100%", levels="2", shrink=3), ClusterOptions(masters="30%", levels="auto"),
    ClusterOptions(masters="50%", levels=2, condensed_sssp="semi-external"),
]
# Figures that do not depend on how the run went.
SAME = ("lower", "upper", "estimate", "masters", "max_master_distance", "max_master_gap", "rounds", "diameter",
        "n_components", "connected", "diameter_largest_component", "diameter_max_component")


def run(path: Path, options: ClusterOptions, engine: str = "in-ram", **more: Any) -> Approximation:
    n = None
    with engine_on(path, engine, method="clusters", **more) as opened:
        n = opened.facts.n_vertices
        if isinstance(options.masters, int) and options.masters > n:
            options = replace(options, masters=n)
        return clusters(opened, options)


def figures(result: Approximation) -> dict[str, Any]:
    found = {name: getattr(result, name) for name in SAME}
    condensed, witness = result.condensed, result.witness
    found["condensed"] = None if condensed is None else (condensed.n_vertices, condensed.n_edges, condensed.levels)
    found["witness"] = None if witness is None else (witness.source, witness.target, witness.length)
    return found


def check(graph: naive.Graph, result: Approximation) -> None:
    diameters = [max(max(naive.distances(graph, v)) for v in part) for part in naive.components(graph)]
    longest = max(diameters)
    assert result.lower <= longest <= result.upper
    assert result.exact == (result.lower == result.upper)
    assert result.n_components == len(diameters)
    assert result.estimate is not None and (result.estimate > 0) == (longest > 0)
    largest = max(range(len(diameters)), key=lambda i: (len(naive.components(graph)[i]), -i))
    low, high = result.details["interval_largest_component"]
    assert low <= diameters[largest] <= high
    if result.witness is not None:
        assert naive.distances(graph, result.witness.source)[result.witness.target] == result.witness.length
        assert result.witness.length == result.lower


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", GRAPHS)
def test_bounds_of_odd_graphs(tmp_path: Path, name: str, options: ClusterOptions):
    graph = GRAPHS[name]
    path = write_store(tmp_path / "g.zarr", graph)
    result = run(path, options)
    check(graph, result)
    assert figures(run(path, options, "streamed")) == figures(result)


def check_random(folder: Path, graph: naive.Graph, options: ClusterOptions) -> None:
    """The bounds hold, and a streamed engine finds the same."""
    path = write_store(folder / "g.zarr", graph)
    result = run(path, options)
    check(graph, result)
    assert figures(run(path, options, "streamed-windows")) == figures(result)


@settings(max_examples=30, deadline=None)
@given(graph=graphs(most=60), options=st.sampled_from(OPTIONS), seed=st.integers(0, 99))
def test_bounds_of_random_graphs(tmp_path_factory: Any, graph: naive.Graph, options: ClusterOptions, seed: int):
    check_random(tmp_path_factory.mktemp("g"), graph, replace(options, seed=seed))


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(graph=graphs(most=150), options=st.sampled_from(OPTIONS), seed=st.integers(0, 10**6))
def test_bounds_of_many_random_graphs(tmp_path_factory: Any, graph: naive.Graph, options: ClusterOptions, seed: int):
    check_random(tmp_path_factory.mktemp("g"), graph, replace(options, seed=seed))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["grid", "torus", "two-paths", "pairs", "tree", "clique-and-path"])
def test_a_condensed_graph_in_local_order(
    tmp_path: Path, name: str, options: ClusterOptions, monkeypatch: pytest.MonkeyPatch
):
    """Large condensed graphs are renumbered first; here all are."""
    monkeypatch.setattr(local, "LOCAL_ARCS", 0)
    monkeypatch.setattr(local, "TOP", 3)
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    plain = run(path, options)
    check(GRAPHS[name], plain)
    assert figures(run(path, options, "streamed")) == figures(plain)


@pytest.mark.parametrize("order", ["degree", "cluster", "bfs"])
@pytest.mark.parametrize("name", ["grid", "two-paths", "barbell", "pairs", "isolated-first", "clique-and-path"])
def test_the_order_of_the_store_does_not_matter(tmp_path: Path, name: str, order: str):
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    reorder(path, tmp_path / "o.zarr", order, options=ConvertOptions(memory_bytes=4 << 30, chunk_ids=64))
    for options in OPTIONS:
        assert figures(run(tmp_path / "o.zarr", options)) == figures(run(path, options)), options
        assert figures(run(tmp_path / "o.zarr", options, "streamed")) == figures(run(path, options)), options


@pytest.mark.parametrize("name", ["path", "grid", "tree", "caterpillar", "two-paths"])
@pytest.mark.parametrize("masters", [2, 7])
def test_a_tour_bounds_the_rounds(tmp_path: Path, name: str, masters: int):
    """With every k-th vertex of an Euler tour as a master no vertex is farther than k from one."""
    graph = GRAPHS[name]
    k = -(-len(graph) // masters)
    for seed in range(5):
        result = run(write_store(tmp_path / "g.zarr", graph), ClusterOptions(masters=masters, euler=True, seed=seed))
        assert result.rounds is not None and result.rounds <= k


def test_all_vertices_as_masters_condense_to_the_graph_itself(tmp_path: Path):
    result = run(write_store(tmp_path / "g.zarr", GRAPHS["grid"]), ClusterOptions(masters="100%"))
    assert result.condensed is not None
    assert (result.condensed.n_vertices, result.condensed.n_edges) == (126, result.n_edges)
    assert (result.max_master_distance, result.max_master_gap, result.rounds) == (0, 1, 0)
    assert (result.lower, result.upper, result.estimate) == (21, 21, 23)
    assert result.diameter == 21 and result.ratio == 23 / 21


@pytest.mark.slow
def test_the_estimate_of_a_path_is_that_of_the_paper(tmp_path: Path):
    """Masters 0 and 9 of a path of 10 by hand: one edge of weight 9, S = 9, d = 9."""
    graph = naive.graph_of(10, [(i, i + 1) for i in range(9)])
    path = write_store(tmp_path / "g.zarr", graph)
    for seed in range(200):
        result = run(path, ClusterOptions(masters=2, seed=seed))
        gap, span = result.max_master_gap, result.details["span"]
        if result.masters == 2:
            assert gap == span and result.estimate == 3 * gap
        if result.masters == 1:
            assert (gap, result.estimate) == (0, 2 * result.max_master_distance)


def test_known_diameter_gives_the_ratio(tmp_path: Path):
    path = write_store(tmp_path / "g.zarr", GRAPHS["path"])
    result = run(path, ClusterOptions(masters=3, known_diameter=299))
    assert result.ratio == result.estimate / 299


def test_auto_says_why(tmp_path: Path):
    path = write_store(tmp_path / "g.zarr", naive.graph_of(5000, [(i, i + 1) for i in range(4999)]), chunk=1024)
    result = run(path, ClusterOptions(known_diameter=4999))
    steps = result.details["auto"]
    assert steps and all("masters:" in step for step in steps)
    assert result.masters <= 5000
    assert np.isfinite(result.ratio)


@pytest.mark.parametrize("masters", [0, -3, "2^99", "8x", "101", 101])
def test_masters_that_cannot_be_are_refused(tmp_path: Path, masters: int | str):
    path = write_store(tmp_path / "g.zarr", naive.graph_of(100, [(i, i + 1) for i in range(99)]))
    with pytest.raises(InputError), engine_on(path) as engine:
        clusters(engine, ClusterOptions(masters=masters))


@pytest.mark.parametrize("wrong", [{"levels": 0}, {"levels": "none"}, {"levels": -1}, {"shrink": 1}])
def test_no_levels_are_refused(wrong: dict[str, Any]):
    with pytest.raises(InputError):
        ClusterOptions(**wrong)


def test_one_in_so_many_clusters_is_a_master_of_the_next_level(tmp_path: Path):
    """And with "auto" the graph is condensed until it fits in memory."""
    rng = random.Random(3)
    graph = naive.graph_of(600, [(v, rng.randrange(v)) for v in range(1, 600)] + [
        (rng.randrange(600), rng.randrange(600)) for _ in range(300)])
    path = write_store(tmp_path / "g.zarr", graph)
    sizes = {shrink: run(path, ClusterOptions(masters="50%", levels=2, shrink=shrink)) for shrink in (2, 16)}
    for shrink, result in sizes.items():
        check(graph, result)
        assert result.condensed is not None and result.condensed.levels == 2
        assert abs(result.condensed.n_vertices * shrink / 300 - 1) < 0.5
    fits = run(path, ClusterOptions(masters="50%", levels="auto"))
    assert fits.condensed is not None and (fits.condensed.levels, fits.condensed.in_memory) == (1, True)


@pytest.mark.parametrize("masters", ["60%", "auto"])
@pytest.mark.parametrize("levels", [1, 2, "auto"])
def test_paths_on_disk_change_nothing_but_the_place(tmp_path: Path, masters: str, levels: int | str):
    """Of the condensed graph, by labels that are corrected, or by one bit a vertex; also where "auto" asks whether it
    would fit."""
    rng = random.Random(5)
    graph = naive.graph_of(400, [(v, rng.randrange(max(0, v - 9), v)) for v in range(1, 350)] + [
        (rng.randrange(400), rng.randrange(400)) for _ in range(60)])
    path = write_store(tmp_path / "g.zarr", graph)
    usual, *others = (run(path, ClusterOptions(masters, levels=levels, condensed_sssp=sssp))
                      for sssp in ("auto", "label-correcting", "semi-external"))
    check(graph, usual)
    assert usual.condensed is not None and usual.condensed.in_memory
    assert figures(others[0]) == figures(usual)
    for other in others:  # one bit a vertex needs another order of the clusters
        check(graph, other)
        assert (other.masters, other.rounds, other.max_master_gap) == (
            usual.masters, usual.rounds, usual.max_master_gap) or levels != 1
        assert other.condensed is not None and not other.condensed.in_memory
        assert other.details["path_searches"]["blocks_read"] > 0


@pytest.mark.slow
def test_levels_until_the_graph_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All clusters of a grid are single vertices, whose graph of 318,400 arcs does not fit; that of a 16th does."""
    generate("grid", tmp_path / "g.zarr", parameters={"sides": "280x285"})
    room_in = clusters_module.room_in
    monkeypatch.setattr(clusters_module, "room_in", lambda *args: replace(room_in(*args), arcs_bytes=1 << 20))
    found = [run(tmp_path / "g.zarr", ClusterOptions(masters="100%", levels=levels)).condensed
             for levels in (1, "auto")]
    assert found[0] is not None and not found[0].in_memory and found[0].levels == 1
    assert found[1] is not None and found[1].in_memory and found[1].levels == 2
