"""The order `cluster`: what it keeps together, and that it depends on graph, ids and seed alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.conversion import order_cluster as cluster
from emdiam.conversion import order_cluster as sampled
from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.engine.interface import max_degree_vertex
from emdiam.methods.approx import cluster_order as local
from emdiam.paths.condensed.collect import ArcCollector
from emdiam.paths.condensed.packed import Packing
from emdiam.sorting.scratch import Scratch
from emdiam.store.store import open_store
from emdiam.stream.plan import MIN_BLOCKS
from emdiam.traverse import condense
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.helpers.weighted_naive import triples_in

GRAPHS = odd_graphs()
OPTIONS = ConvertOptions(memory_bytes=4 << 30, chunk_ids=64, force=True)


def places(path: Path, seed: int = 0, engine: str = "in-ram") -> np.ndarray:
    with engine_on(path, engine, method="ifub") as opened:
        return cluster.by_clusters(opened, seed)


def sample_arcs(monkeypatch: pytest.MonkeyPatch, a_cluster: int, spacing: int = 2) -> None:
    """Let orders be made of so many arcs a cluster."""
    monkeypatch.setattr(cluster, "SPACING", spacing)
    monkeypatch.setattr(cluster, "_WANTED", a_cluster)
    monkeypatch.setattr(cluster, "_LEAST_WANTED", 1)


@pytest.mark.parametrize(("spacing", "a_cluster"), [(2, 1), (2, 100), (64, 100)])
@pytest.mark.parametrize("name", GRAPHS)
def test_places_are_a_permutation_whatever_the_engine(
    tmp_path: Path, name: str, spacing: int, a_cluster: int, monkeypatch: pytest.MonkeyPatch
):
    sample_arcs(monkeypatch, a_cluster, spacing)
    monkeypatch.setattr(local, "TOP", 2)
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    found = places(path)
    assert sorted(found.tolist()) == list(range(len(GRAPHS[name])))
    assert places(path, engine="streamed").tolist() == found.tolist()
    isolated = [v for v, row in enumerate(GRAPHS[name]) if not row]
    assert sorted(found[isolated].tolist()) == list(range(len(found) - len(isolated), len(found)))


@settings(max_examples=30, deadline=None)
@given(graph=graphs(most=60), seed=st.integers(0, 9), few=st.booleans())
def test_components_stay_together_largest_first(
    tmp_path_factory: pytest.TempPathFactory, graph: naive.Graph, seed: int, few: bool
):
    path = write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph)
    with pytest.MonkeyPatch.context() as patch:
        if few:
            sample_arcs(patch, 1)
        found = places(path, seed)
    spans = [sorted(found[part].tolist()) for part in naive.components(graph) if len(part) > 1]
    for span in spans:
        assert span == list(range(span[0], span[0] + len(span)))
    sizes = [len(span) for span in sorted(spans)]
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("name", ["grid", "pairs", "barbell", "two-paths", "isolated-first"])
def test_the_order_before_does_not_matter(
    tmp_path: Path, name: str, few: bool, monkeypatch: pytest.MonkeyPatch
):
    if few:
        sample_arcs(monkeypatch, 2)
    path = write_store(tmp_path / "g.zarr", GRAPHS[name])
    reorder(path, tmp_path / "degree.zarr", "degree", options=OPTIONS)
    digests = []
    for start in ("g.zarr", "degree.zarr"):
        reorder(tmp_path / start, tmp_path / "cluster.zarr", "cluster", seed=3, options=OPTIONS)
        with open_store(tmp_path / "cluster.zarr") as store:
            assert store.record.ordering == "cluster"
            digests.append(store.digest)
    assert digests[0] == digests[1]


def test_a_sample_has_few_arcs_and_the_components_of_the_whole_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two components of cliques in a row, each joined to the next by one edge: the sample parts them, and a second
    scan, of rows outside the largest part, brings the arcs between the parts."""
    cliques, size = 24, 12
    edges = [(12 * c + a, 12 * c + b) for c in range(cliques) for a in range(size) for b in range(a)]
    edges += [(12 * c, 12 * c + 13) for c in range(cliques - 1) if c != 9]
    path = write_store(tmp_path / "g.zarr", naive.graph_of(cliques * size, edges))
    joined, graphs_made = sampled._joined, []
    monkeypatch.setattr(sampled, "_joined", lambda *given: graphs_made.append(given[2].max() + 1) or joined(*given))
    last = cluster.local_positions
    monkeypatch.setattr(cluster, "local_positions", lambda graph, *_: graphs_made.append(graph) or last(graph, *_))
    made, n_blocks = {}, []
    push = condense._push
    monkeypatch.setattr(condense, "_push", lambda core, blocks, *rest: n_blocks.append(len(blocks)) or push(
        core, blocks, *rest))
    for a_cluster in (1, 1000):
        sample_arcs(monkeypatch, a_cluster)
        found = places(path)
        assert sorted(found.tolist()) == list(range(cliques * size))
        assert found.tolist() == places(path, engine="streamed").tolist()
        made[a_cluster] = graphs_made[-1]
    assert graphs_made[0] > 2 == made[1].n_parts and len(graphs_made) == 6  # two of them joined
    assert made[1].arcs.n_arcs < made[1000].arcs.n_arcs
    assert n_blocks[1] < n_blocks[0] == n_blocks[4]  # blocks without a row that is looked at are not read
    assert made[1].parts.tolist() == made[1000].parts.tolist()
    sample_arcs(monkeypatch, 1)
    in_ram, make = places(path).tolist(), cluster.sampled_graph
    monkeypatch.setattr(cluster, "sampled_graph", lambda scan, packing, radii, sizes, room, *rest: make(
        scan, packing, radii, sizes, replace(room, arcs_bytes=0), *rest))
    assert places(path).tolist() == in_ram and not graphs_made[-1].arcs.in_ram


def test_the_levels_of_a_sample_leave_what_is_wanted(tmp_path: Path):
    """Whatever came before the least level rose, the arcs are those of the least level that leaves few enough."""
    rng = np.random.default_rng(4)
    levels = np.empty(500, np.uint8)
    sampled.levels_of(np.full(500, 64), np.uint64(1), levels)
    assert abs(np.count_nonzero(levels == 0) - 250) < 60 and abs(np.count_nonzero(levels == 1) - 125) < 50
    sampled.levels_of(np.full(500, 1), np.uint64(1), levels)
    assert (levels >= 6).all()
    ends = np.unique(np.sort(rng.integers(0, 500, (4000, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    over = levels[ends[:, 1]] > levels[ends[:, 0]]
    ends[over] = ends[over][:, ::-1]
    top, packing = levels[ends].max(axis=1), Packing(500, 1)
    least = next(k for k in range(64) if 2 * np.count_nonzero(top >= k) <= 1500)
    assert least > 1
    for order in (np.arange(len(ends)), rng.permutation(len(ends))):
        scratch = Scratch(tmp_path, Path())
        collector = ArcCollector(packing, 40 << 20, scratch)
        sample = sampled.ClusterSample(collector, levels, 1500)
        keys = ((ends[order, 0] << 9 | ends[order, 1]) << 1 | 1).astype(np.uint64)
        for part in np.array_split(keys, 20):
            sample.push(part)
        arcs = collector.finish(1 << 20, sample.chosen)
        found = [(a, b) for a, b, _ in triples_in(arcs.pieces())]
        assert sample.level == least
        kept = ends[top >= least]
        assert found == sorted(map(tuple, np.concatenate([kept, kept[:, ::-1]]).tolist()))
        scratch.close()


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


@pytest.mark.parametrize("a_cluster", [2, 64])
def test_a_shuffled_strip_is_read_less_often(tmp_path: Path, a_cluster: int, monkeypatch: pytest.MonkeyPatch):
    """One streamed BFS of a shuffled grid of 8 x 512 reads at least five times as many blocks as of the
    same grid in the order cluster."""
    sample_arcs(monkeypatch, a_cluster, 64)
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
