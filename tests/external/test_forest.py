"""Random spanning forests on disk, and their way to BFS trees, are those of the engine in RAM."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.engine.cpu import CpuEngine
from emdiam.errors import InputError
from tests.external.test_clustering import Verbs, check, verbs_on
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

ODD = odd_graphs()


def check_forest(engine: CpuEngine, verbs: Verbs, key: int) -> None:
    want, forest, every = engine.spanning_forest(key), verbs.spanning_forest(key), np.arange(engine.facts.n_vertices)
    assert forest.n_trees == want.n_trees
    old, new = want.trees(), forest.trees()
    assert [new.hubs.tolist(), new.sizes.tolist(), new.largest] == [old.hubs.tolist(), old.sizes.tolist(), old.largest]
    want.hang_from(old.hubs)
    forest.hang_from(new.hubs)
    one, other = want.refine(), forest.refine()
    want.release()
    forest.release()
    while True:
        assert other.heights.gather(every).tolist() == one.heights.gather(every).tolist()
        assert (other.known, other.exact, other.iterations) == (one.known, one.exact, one.iterations)
        if old.n_trees:
            bounds = old.bounds(one.heights, one.known)
            assert new.bounds(other.heights, other.known) == bounds
            assert new.farthest(bounds.deepest, other.heights, bounds.lower) == old.farthest(
                bounds.deepest, one.heights, bounds.lower)
        if one.exact or one.iterations == 5:
            break
        assert one.step() == other.step()
    assert other.take_labels().gather(every).tolist() == one.take_labels().gather(every).tolist()


@pytest.mark.thin(2)
@pytest.mark.parametrize("room", [30, 1000])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, name: str, room: int) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    with engine_on(store) as engine, verbs_on(store, 64, room) as verbs:
        check_forest(engine, verbs, 7)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=200), room=st.integers(1, 300), key=st.integers(0, 2**64 - 1))
def test_random_graphs(tmp_path: Path, graph: naive.Graph, room: int, key: int) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store) as engine, verbs_on(store, 64, room) as verbs:
        check_forest(engine, verbs, key)


@pytest.mark.parametrize("name", [pytest.param("long-caterpillar", marks=pytest.mark.slow), "mesh", "path-and-star"])
def test_in_another_order_of_the_store(tmp_path: Path, name: str) -> None:
    """Ties go by natural rank, not by the number of a vertex."""
    graph, rng = ODD[name], random.Random(5)
    order = rng.sample(range(len(graph)), len(graph))
    graph = naive.graph_of(len(graph), [(order[v], order[w]) for v, row in enumerate(graph) for w in row])
    reorder(write_store(tmp_path / "g.zarr", graph), tmp_path / "o.zarr", "bfs",
            options=ConvertOptions(memory_bytes=4 << 30, chunk_ids=64))
    with engine_on(tmp_path / "o.zarr") as engine, verbs_on(tmp_path / "o.zarr", 64, 40) as verbs:
        check_forest(engine, verbs, 11)
        check(engine, verbs, [row.tolist() for row in engine.rows(np.arange(len(graph)))], 4)
        distances = engine.bfs(9).distances
        assert verbs.tree_diameter(distances, 9) == engine.scan("tree-diameter", distances, 9)


def test_no_masters_on_a_tour(tmp_path: Path) -> None:
    with verbs_on(write_store(tmp_path / "g.zarr", ODD["edge"]), 64, 40) as verbs:
        with pytest.raises(InputError, match="Euler tour"):
            verbs.spanning_forest(1).euler_masters(2)
