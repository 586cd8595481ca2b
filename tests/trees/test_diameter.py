"""Trees of a BFS: parents by rank, their diameter, and paths that do not depend on the order of a store."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.traverse.columns import Column
from emdiam.trees import diameter as trees
from tests.helpers import approx_twins, naive
from tests.helpers.small_engine import engines
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()
SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CHUNKS = (4, 64)


def distances(engine: Any, source: int) -> Column:
    column = engine.bfs(source).distances
    assert isinstance(column, Column)
    return column


def ranks_for(n: int, shuffle: random.Random) -> np.ndarray:
    return np.array(shuffle.sample(range(n), n), np.uint32)


def test_the_twin_knows_what_networkx_knows() -> None:
    for name in ("grid", "torus", "hypercube", "lollipop"):
        graph = ODD[name]
        tree = nx.Graph((v, p) for v, p in enumerate(approx_twins.tree_parents(graph, 3)) if v != p)
        assert approx_twins.tree_diameter(graph, 3) == nx.diameter(tree)


@pytest.mark.parametrize("chunk", CHUNKS)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(name: str, chunk: int) -> None:
    """Rows are cut by blocks of four arcs everywhere, also more than once."""
    graph = ODD[name]
    with engines(chunk) as make:
        engine = make(graph)
        for source in {0, len(graph) // 2, len(graph) - 1}:
            column = distances(engine, source)
            assert engine.scan("tree-diameter", column, source) == approx_twins.tree_diameter(graph, source)


@SETTINGS
@given(graph=graphs(most=80), shuffle=st.randoms(), chunk=st.sampled_from(CHUNKS))
def test_parents_go_by_rank(graph: naive.Graph, shuffle: random.Random, chunk: int) -> None:
    ranks, source = ranks_for(len(graph), shuffle), shuffle.randrange(len(graph))
    with engines(chunk) as make:
        engine = make(graph)
        column = distances(engine, source)
        engine.rank_array = ranks
        assert engine.scan("tree-diameter", column, source) == approx_twins.tree_diameter(graph, source, ranks)
        parents = approx_twins.tree_parents(graph, source, ranks)
        target = shuffle.choice([v for v, p in enumerate(naive.distances(graph, source)) if p >= 0])
        path = np.concatenate(list(engine.path_pieces(column, target, by_rank=True))).tolist()
        assert path[0] == target and path[-1] == source
        assert [parents[v] for v in path[:-1]] == path[1:]


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_and_number_of_threads(tmp_path: Path, kind: str) -> None:
    shape = nx.convert_node_labels_to_integers(nx.random_regular_graph(5, 300, seed=2))
    graph = naive.graph_of(300, shape.edges)
    path, shuffle = write_store(tmp_path / "g.zarr", graph), random.Random(1)
    for threads in (1, 3):
        with engine_on(path, kind, **{"threads": threads}) as engine:
            for source in (0, 299):
                vars(engine).pop("rank_array", None)
                column = distances(engine, source)
                assert engine.scan("tree-diameter", column, source) == approx_twins.tree_diameter(graph, source)
                engine.rank_array = ranks_for(300, shuffle)
                assert engine.scan("tree-diameter", column, source) == approx_twins.tree_diameter(
                    graph, source, engine.rank_array)


def test_a_scan_costs_one_pass(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"]), "streamed") as engine:
        column = distances(engine, 0)
        before = engine.reporter.stats()
        engine.scan("tree-diameter", column, 0)
        used = engine.reporter.stats() - before
        assert used.passes == 1 and used.blocks_read <= engine.facts.n_blocks
        assert 0 < used.edges_scanned <= engine.facts.n_arcs


def test_long_trees_and_small_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Heights of two bytes; leaves, and vertices that wait for others, in every slice."""
    monkeypatch.setattr(trees, "_SLICE", 7)
    graph = naive.graph_of(1003, [(v, v + 1) for v in range(1000)] + [(500, 1001), (1001, 1002)])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        for source, longest in ((0, 1000), (400, 1000), (1002, 1000)):
            assert engine.scan("tree-diameter", distances(engine, source), source) == longest


def test_what_is_no_distance_column_is_noticed(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"]), "streamed") as engine:
        column = distances(engine, 0)
        with pytest.raises(ValueError, match="not the source"):
            engine.scan("tree-diameter", column, 1)
        column.put([77], 40)
        with pytest.raises(RuntimeError, match="no neighbour of vertex 77 is nearer"):
            engine.scan("tree-diameter", column, 0)
