"""Components, clusters, scans, walks and trees over workers: every verb equals its naive twin, and the CPU engine."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError
from emdiam.methods.approx.clusters import ClusterOptions, clusters
from emdiam.methods.approx.spanning import SpanningOptions, spanning
from emdiam.methods.approx.sweep import SweepOptions, sweep
from emdiam.store.store import open_store
from emdiam.traverse import clusters as cpu_clusters
from emdiam.traverse.ram_column import RamColumn
from tests.engine.test_protocol import check_chains, check_components, check_rows
from tests.helpers import approx_twins, naive
from tests.helpers.cluster_twins import masters_everywhere, walk_bounds
from tests.helpers.order_twins import write_in_order
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.helpers.workers import APART, apart, engine_on_workers
from tests.traverse.test_clusters import check as check_clusters
from tests.traverse.test_clusters import grown

ODD = odd_graphs()
CASES = [(name, workers) for workers in (2, 3, 1) for name in ODD]
SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def with_edge(graph: naive.Graph) -> list[int]:
    return [v for v, row in enumerate(graph) if row]


def check_all(engine: Any, graph: naive.Graph, rng: random.Random) -> None:
    """The verbs on a graph whose vertices are their ranks."""
    some = with_edge(graph)
    check_clusters(engine, graph, [])
    check_clusters(engine, graph, some[:: rng.randint(2, 9)])
    check_restart(engine, graph, some[::5])
    source = rng.choice(some) if some else 0
    check_components(engine, graph, source)
    check_components(engine, graph, rng.randrange(len(graph)))
    check_rows(engine, graph, source)


def check_restart(engine: Any, graph: naive.Graph, wanted: list[int]) -> None:
    masters = masters_everywhere(graph, wanted)
    sources, parts, base = walk_bounds(graph, masters)
    labels = grown(engine, wanted)
    assert engine.restart(labels, np.array(base, np.int64), np.array(parts, np.int64), np.array(sources, np.int64))
    truth = [naive.distances(graph, source) for source in sources]
    nearest = [max([-1, *(d[v] for d in truth)]) if graph[v] else -1 for v in range(len(graph))]
    everyone = np.arange(len(graph))
    assert labels.distances(everyone).tolist() == nearest
    places = labels.places()
    far = [d if d >= 0 else len(graph) for d in nearest]
    assert places.tolist() == np.argsort(np.lexsort((everyone, far))).tolist()
    doubled = np.zeros(len(graph), np.uint32)
    doubled[places] = [2 * max(d, 0) for d in nearest]
    labels.replace_distances(doubled, places)
    found = labels.take_column().gather(everyone).tolist()
    assert found == [2 * d if d >= 0 else -1 for d in nearest]


@pytest.mark.thin(60, sampled=("name",))
@pytest.mark.parametrize(("name", "workers"), CASES)
def test_odd_graphs(tmp_path: Path, name: str, workers: int) -> None:
    graph = apart(ODD[name])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, workers, processes=False) as engine:
        check_all(engine, graph, random.Random(7))


def check_random(folder: Path, workers: int, graph: naive.Graph, seed: int) -> None:
    wide = apart(graph)
    store = write_store(folder / "g.zarr", wide)
    with engine_on_workers(store, workers, processes=False) as engine:
        engine.halo_bytes = (None, 1, 3000)[seed % 3]
        check_all(engine, wide, random.Random(seed))


@pytest.mark.slow
@settings(SETTINGS, max_examples=2)
@given(graph=graphs(most=30), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, seed: int) -> None:
    check_random(tmp_path, 3, graph, seed)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3])
@settings(SETTINGS, max_examples=25)
@given(graph=graphs(most=60), seed=st.integers(0, 2**32))
def test_many_random_graphs(tmp_path: Path, workers: int, graph: naive.Graph, seed: int) -> None:
    check_random(tmp_path, workers, graph, seed)


@pytest.mark.slow
@pytest.mark.thin(20)
@pytest.mark.parametrize("name", ["torus", "caterpillar", "path-and-star", "pairs", "two-paths", "clique-and-path"])
def test_shuffled_graphs_in_little_room(tmp_path: Path, name: str) -> None:
    """Neighbours lie in all ranges, ghosts come in groups of 64 vertices, offers block by block."""
    graph = apart(ODD[name])
    order = list(range(len(graph)))
    random.Random(3).shuffle(order)
    shuffled = naive.graph_of(len(graph), [(order[v], order[w]) for v, row in enumerate(graph) for w in row])
    store = write_store(tmp_path / "g.zarr", shuffled)
    with engine_on_workers(store, 3, processes=False, dense_arcs=0) as engine:
        engine.halo_bytes = 1
        check_all(engine, shuffled, random.Random(5))
        tips = [v for v, row in enumerate(shuffled) if len(row) == 1]
        if tips:
            check_chains(engine, shuffled, tips)


@pytest.mark.parametrize("name", ["two-paths", "tree"])
def test_a_reordered_store_gives_the_same_ranks(tmp_path: Path, name: str) -> None:
    """All choices go by natural rank: equal to those of the CPU engine on the same store."""
    graph = apart(ODD[name])
    order = list(range(len(graph)))
    random.Random(11).shuffle(order)
    store = write_in_order(tmp_path / "g.zarr", graph, order)
    with engine_on(store) as local, engine_on_workers(store, 2, processes=False) as engine:
        everyone = np.arange(len(graph))
        assert engine.ranks(everyone).tolist() == order == local.ranks(everyone).tolist()
        masters = engine.sample_vertices(5, 6)
        assert masters.tolist() == local.sample_vertices(5, 6).tolist()
        mine, theirs = grown(engine, masters.tolist()[:2]), grown(local, masters.tolist()[:2])
        assert mine.masters.tolist() == theirs.masters.tolist()
        assert mine.groups(everyone).tolist() == theirs.groups(everyone).tolist()
        radii, sizes = mine.tally()
        assert [radii.tolist(), sizes.tolist()] == [found.tolist() for found in theirs.tally()]
        assert mine.farthest_members(radii).tolist() == theirs.farthest_members(radii).tolist()
        assert mine.first_members().tolist() == theirs.first_members().tolist()
        source = int(masters[0]) if len(masters) else int(theirs.masters[0])
        run, other = engine.bfs(source), local.bfs(source)
        longest = local.scan("tree-diameter", other.distances, source)
        assert engine.scan("tree-diameter", run.distances, source) == longest
        paths = [[v for piece in e.path_pieces(found.distances, found.farthest, by_rank=True) for v in piece.tolist()]
                 for e, found in ((engine, run), (local, other))]
        assert paths[0] == paths[1] and len(paths[0]) == run.levels + 1


def test_samples_are_those_of_the_cpu_engine(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", apart(ODD["grid"]))
    with engine_on(store) as local, engine_on_workers(store, 3, processes=False) as engine:
        for key, expected in ((1, 0), (2, 9), (3, 40), (2**64 - 1, 10**6)):
            assert engine.sample_vertices(key, expected).tolist() == local.sample_vertices(key, expected).tolist()


@pytest.mark.parametrize("rounds", [40, 299, 300])
def test_growing_stops_after_so_many_rounds(tmp_path: Path, rounds: int) -> None:
    """The path has 299 rounds from its end; after 32 thin ones windows are wide, and the limit still holds."""
    graph = apart(ODD["path"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store) as local, engine_on_workers(store, 2, processes=False) as engine:
        found = engine.grow_clusters(np.array([0]), most_rounds=rounds)
        assert (found is None) == (local.grow_clusters(np.array([0]), most_rounds=rounds) is None) == (rounds < 300)
        whole = engine.grow_clusters(np.array([0]))
        assert whole.distances(np.arange(0, len(graph), APART)).tolist() == list(range(300))


def test_a_restart_can_be_stopped(tmp_path: Path) -> None:
    """Labels that are only upper bounds are put in order, and replaced."""
    graph = apart(ODD["path"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, 2, processes=False) as engine:
        labels = grown(engine, [0])
        base, parts = np.array([10**6]), np.array([0])
        assert not engine.restart(labels, base, parts, np.array([299 * APART]), 0)
        bounds = labels.distances(np.arange(0, len(graph), APART))
        assert (bounds >= np.arange(299, -1, -1)).all()
        assert np.diff(np.lexsort((np.arange(300), bounds))).tolist() == np.diff(
            np.argsort(labels.places()[::APART])).tolist()


def test_local_columns_and_shared_ones_mix(tmp_path: Path) -> None:
    graph = apart(ODD["grid"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, 2, processes=False) as engine:
        near = naive.distances(graph, 0)
        local = RamColumn(np.array([d if d >= 0 else 255 for d in near], np.uint8))
        assert engine.scan("steep-arcs", local) == 0
        shared = engine.bfs(0).distances
        shared.put([5 * APART], 9)
        near[5 * APART] = 9
        steep = sum(abs(near[v] - near[w]) > 1 for v, row in enumerate(graph) for w in row)
        assert engine.scan("steep-arcs", shared) == steep > 0
        with pytest.raises(ValueError, match="unknown scan"):
            engine.scan("nothing", shared)
        with pytest.raises(ValueError, match="not the source"):
            engine.scan("tree-diameter", local, APART)


def test_what_is_no_distance_column_is_refused(tmp_path: Path) -> None:
    """And the engine works on after it."""
    graph = apart(ODD["path"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, 2, processes=False) as engine:
        column = engine.bfs(0).distances
        column.put([40 * APART], 200)
        with pytest.raises(RuntimeError, match=f"vertex {40 * APART} is nearer"):
            engine.scan("tree-diameter", column, 0)
        with pytest.raises(RuntimeError, match="is nearer"):
            list(engine.path_pieces(column, 299 * APART))
        assert engine.scan("tree-diameter", engine.bfs(0).distances, 0) == 299


def test_a_fold_in_pieces_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is folded on the way up is no leaf of a later piece."""
    monkeypatch.setattr("emdiam.dask.scans._PIECE", 7)
    graph = apart(ODD["tree"])
    order = list(range(len(graph)))[::-1]
    turned = naive.graph_of(len(graph), [(order[v], order[w]) for v, row in enumerate(graph) for w in row])
    for name, some in (("g", graph), ("h", turned)):
        store = write_store(tmp_path / f"{name}.zarr", some)
        with engine_on_workers(store, 3, processes=False) as engine:
            for source in with_edge(some)[::40]:
                run = engine.bfs(source)
                assert engine.scan("tree-diameter", run.distances, source) == approx_twins.tree_diameter(some, source)


def test_too_many_masters_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_clusters, "MOST_MASTERS", 3)
    store = write_store(tmp_path / "g.zarr", apart(ODD["pairs"]))
    with engine_on_workers(store, 2, processes=False) as engine, pytest.raises(InputError, match="fewer"):
        engine.grow_clusters(np.array([0]))


def test_components_are_listed_compacted_and_released(tmp_path: Path) -> None:
    graph = apart(ODD["pairs"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, 3, processes=False) as engine:
        engine.bfs(0)
        found = engine.components(0)
        assert found.n_others == 39 and found.largest_size() == 2 and found.label_bytes == 8 * len(graph)
        first = found.larger_than(1, most=5)
        assert [c.root for c in first] == [2 * i * APART for i in range(1, 6)]
        column = engine.new_column(3, 1)
        assert column.first((1,), 0, None, found.labels, 4 * APART) == 4 * APART
        assert (found.labels[: 3 * APART] == [0] * 2 * APART + [2 * APART] * 0 + [0] * APART).sum() >= 2 * APART
        found.compact(1)
        assert found.label_bytes == 0 and len(found.labels) == 0
        assert [c.root for c in found.larger_than(1)] == [2 * i * APART for i in range(6, 40)]
        assert found.largest_size() == 0 and found.larger_than(1) == []
        assert column.first((1,), 7, None, found.labels, 0) == 7


def test_messages_of_clusters_are_few(tmp_path: Path) -> None:
    """In rounds of one level a vertex of others is told once, for at most 9 bytes; a letter takes 9 more."""
    rng = random.Random(2)
    graph = naive.graph_of(2000, [(rng.randrange(2000), rng.randrange(2000)) for _ in range(6000)])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, 2, processes=False) as engine:
        before = sum(report["messages"]["payload_bytes"] for report in engine.group.reports)
        labels = grown(engine, [5])
        sent = sum(report["messages"]["payload_bytes"] for report in engine.group.reports) - before
        assert 2 < labels.passes < 32 and 0 < sent <= 9 * 2000 + 2 * 9 * labels.passes


METHODS: dict[str, Callable[[Any], Any]] = {
    "sweep": lambda engine: sweep(engine, SweepOptions(iterations=2, seed=3)),
    "clusters": lambda engine: clusters(engine, ClusterOptions(masters="60", seed=3)),
    "spanning": lambda engine: spanning(engine, SpanningOptions(seed=3, iterations=3)),
}
# What depends on times, blocks and places, not on the graph.
_FIGURES = ("seconds", "details", "levels", "edges_scanned", "bytes_read")


def answers(result: Any) -> dict[str, Any]:
    found = dataclasses.asdict(result)
    return {name: value for name, value in found.items() if name not in _FIGURES}


@pytest.mark.parametrize("name", METHODS)
def test_approximations_equal_those_of_the_cpu_engine(tmp_path: Path, name: str) -> None:
    rng = random.Random(4)
    edges = [(rng.randrange(500), rng.randrange(500)) for _ in range(700)] + [(v, v + 1) for v in range(500, 560)]
    graph = naive.graph_of(561, edges)
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, method=name) as local, engine_on_workers(store, 2, processes=False) as engine:
        assert answers(METHODS[name](engine)) == answers(METHODS[name](local))


def test_lower_bounds_by_a_restart_are_the_same(tmp_path: Path) -> None:
    """What an engine that streams its blocks does: a restart of the labels, not a BFS in each component."""
    graph = apart(ODD["path-and-star"])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, method="clusters") as local, \
            engine_on_workers(store, 2, processes=False) as engine:
        local.facts, engine.facts = (replace(one.facts, in_ram=False) for one in (local, engine))
        assert answers(METHODS["clusters"](engine)) == answers(METHODS["clusters"](local))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("name", ["grid", "path-and-star", "pairs"])
def test_processes(tmp_path: Path, name: str, workers: int) -> None:
    graph = apart(ODD[name])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(store, workers) as engine, open_store(store) as same:
        assert engine.store.digest == same.digest
        check_all(engine, graph, random.Random(1))
