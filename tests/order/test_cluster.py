"""The order `cluster`: what it keeps together, and that it depends on graph, ids and seed alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions
from emdiam.engine.interface import max_degree_vertex
from emdiam.methods.approx import cluster_order as local
from emdiam.order import cluster
from emdiam.order.reorder import reorder
from emdiam.store.store import open_store
from emdiam.stream.plan import MIN_BLOCKS
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

GRAPHS = odd_graphs()
OPTIONS = ConvertOptions(memory_bytes=4 << 30, chunk_ids=64, force=True)


def places(path: Path, seed: int = 0, engine: str = "in-ram") -> np.ndarray:
    with engine_on(path, engine, method="ifub") as opened:
        return cluster.by_clusters(opened, seed)


@pytest.mark.parametrize("spacing", [2, 64])
@pytest.mark.parametrize("name", GRAPHS)
def test_places_are_a_permutation_whatever_the_engine(
    tmp_path: Path, name: str, spacing: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cluster, "SPACING", spacing)
    monkeypatch.setattr(local, "TOP", 2)
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    found = places(path)
    assert sorted(found.tolist()) == list(range(len(GRAPHS[name])))
    assert places(path, engine="streamed").tolist() == found.tolist()
    isolated = [v for v, row in enumerate(GRAPHS[name]) if not row]
    assert sorted(found[isolated].tolist()) == list(range(len(found) - len(isolated), len(found)))


@settings(max_examples=30, deadline=None)
@given(graph=graphs(most=60), seed=st.integers(0, 9))
def test_components_stay_together_largest_first(
    tmp_path_factory: pytest.TempPathFactory, graph: naive.Graph, seed: int
):
    path = write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph)
    found = places(path, seed)
    spans = [sorted(found[part].tolist()) for part in naive.components(graph) if len(part) > 1]
    for span in spans:
        assert span == list(range(span[0], span[0] + len(span)))
    sizes = [len(span) for span in sorted(spans)]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("name", ["grid", "pairs", "barbell", "two-paths", "isolated-first"])
def test_the_order_before_does_not_matter(tmp_path: Path, name: str):
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    reorder(path, tmp_path / "degree.zarr", "degree", options=OPTIONS)
    digests = []
    for start in ("g.zarr", "degree.zarr"):
        reorder(tmp_path / start, tmp_path / "cluster.zarr", "cluster", seed=3, options=OPTIONS)
        with open_store(tmp_path / "cluster.zarr") as store:
            assert store.record.ordering == "cluster"
            digests.append(store.digest)
    assert digests[0] == digests[1]


def test_clusters_beyond_the_expected_number_take_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing is spare, and more masters are drawn than were planned for."""
    path = write_store(tmp_path / "g.zarr", naive.graph_of(3000, [(v, v + 1) for v in range(2999)]))
    found = places(path)
    monkeypatch.setattr(cluster, "_planned_clusters", lambda n_vertices: 5)
    with engine_on(path, "streamed", method="ifub") as engine:
        assert engine.facts.spare_bytes > 0
        engine.facts = replace(engine.facts, spare_bytes=0)
        before = engine.core.reserve._left
        assert cluster.by_clusters(engine, 0).tolist() == found.tolist()
        assert before > 0 == engine.core.reserve._left and engine.core.pager.arena.n_slots == MIN_BLOCKS


def test_a_shuffled_strip_is_read_less_often(tmp_path: Path):
    """One streamed BFS of a shuffled grid of 8 x 512 reads at least five times as many blocks as of the
    same grid in the order cluster."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 512))
    order = np.random.default_rng(2).permutation(len(grid)).tolist()
    path = write_store(tmp_path / "g.zarr", naive.graph_of(len(grid), [(order[a], order[b]) for a, b in grid.edges]))
    reorder(path, tmp_path / "c.zarr", "cluster", options=OPTIONS)
    blocks = []
    for name in (path, tmp_path / "c.zarr"):
        with engine_on(name, arena_bytes=26 * 64 * 4) as engine:  # a tenth of 256 blocks
            before = engine.reporter.stats()
            engine.bfs(max_degree_vertex(engine))
            blocks.append((engine.reporter.stats() - before).blocks_read)
    assert blocks[0] >= 5 * blocks[1]
