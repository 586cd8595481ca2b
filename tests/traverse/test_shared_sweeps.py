"""A few BFS that take their sweeps together give plain distances, and read about what one alone reads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.methods.exact.pivots import PivotOptions, pivots
from emdiam.methods.exact.strategy import Costs
from emdiam.traverse import rows_aside
from emdiam.traverse.shared_sweeps import MOST_TOGETHER
from tests.helpers import naive
from tests.helpers.stores import CHUNK, engine_on, odd_graphs, write_store
from tests.traverse.test_rows_aside import with_tail

STREAMED: dict[str, Any] = {"arena_bytes": 80 * CHUNK * 4, "dense_arcs": 500, "threads": 2}
SMALL: dict[str, Any] = STREAMED | {"arena_bytes": 4 * CHUNK * 4, "dense_arcs": 0}


def with_tails(n: int, edges: int, tails: int, length: int) -> naive.Graph:
    """A random graph, and paths that begin in it."""
    graph = nx.gnm_random_graph(n, edges, seed=3)
    rng = random.Random(5)
    for _ in range(tails):
        nx.add_path(graph, [rng.randrange(n), *range(len(graph), len(graph) + length)])
    return naive.graph_of(len(graph), list(graph.edges))


def distances_of(engine: Any, graph: naive.Graph, sources: list[int]) -> None:
    """Compare what the batch gives with plain BFS."""
    columns = [engine.new_column(len(graph)) for _ in sources]
    far = [naive.distances(graph, source) for source in sources]
    assert engine.eccentricities(sources, columns=columns).tolist() == [max(row) for row in far]
    for column, row in zip(columns, far, strict=True):
        assert column.gather(np.arange(len(graph))).tolist() == row


@pytest.mark.parametrize("options", [SMALL | {"arena_bytes": 24 * CHUNK * 4}, SMALL, SMALL | {"dense_arcs": 40}],
                         ids=["dense", "small", "mixed"])
def test_distances(tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_aside, "_HOPEFUL", 1 << 20)
    for name in ("mesh", "large-tree", "wheel", "large-star", "two-paths", "long-caterpillar", "clique"):
        graph = odd_graphs()[name]
        with engine_on(write_store(tmp_path / f"{name}.zarr", graph), **options) as engine:
            for k in (1, 3, MOST_TOGETHER):
                distances_of(engine, graph, [i * (len(graph) - 1) // k for i in range(k)])
                assert engine.core.pager.arena.n_slots == engine.plan.arena_blocks


def test_many_sources_read_little_more_than_one(tmp_path: Path) -> None:
    """From both ends of a graph, which stand at different levels when theirs are thick."""
    graph = with_tail(1500, 12_000, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph), **STREAMED) as engine:
        before = engine.reporter.stats()
        distances_of(engine, graph, [0, 200, 400, 700, 900, len(graph) - 2, len(graph) - 1])
        used = engine.reporter.stats() - before
        assert used.blocks_read < 2.6 * engine.facts.n_blocks
        assert used.traversals == 1


@pytest.mark.parametrize("shift", [0, 1])
def test_a_scan_looks_at_blocks_while_they_are_there(tmp_path: Path, shift: int) -> None:
    """It counts the same, and reads what is left."""
    graph = with_tail(1500, 12_000, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph), **STREAMED) as engine:
        labels, other = engine.bfs(700).distances, engine.bfs(3).distances
        labels.put(np.arange(9, 1500, 10), shift)
        near = labels.gather(np.arange(len(graph))).tolist()
        steep = sum(abs(near[v] - near[w]) > 1 for v, row in enumerate(graph) for w in row)
        engine.watch(labels)
        distances_of(engine, graph, [0, 200, 400, len(graph) - 1])
        before = engine.reporter.stats()
        assert engine.scan("steep-arcs", labels) == steep
        assert (engine.reporter.stats() - before).blocks_read < engine.facts.n_blocks // 4
        engine.watch(labels)
        distances_of(engine, graph, [0, 200])
        assert engine.scan("steep-arcs", other) == 0
        assert engine.scan("steep-arcs", labels) == steep
        engine.watch(labels)
        engine.watch(None)
        distances_of(engine, graph, [0, 200])
        assert engine.scan("steep-arcs", labels) == steep > 0


def test_a_distance_that_does_not_fit(tmp_path: Path) -> None:
    graph = odd_graphs()["path"]
    with engine_on(write_store(tmp_path / "g.zarr", graph), **SMALL) as engine, pytest.raises(OverflowError):
        engine.eccentricities([0, 150], columns=[engine.new_column(200) for _ in range(2)])


def test_pivots_settle_what_is_left_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few vertices are left, they are traversed at once: 5 sources in sweeps that they share, not 6 BFS."""
    monkeypatch.setattr(Costs, "together", lambda self, k: True)
    path, stores = write_store(tmp_path / "g.zarr", with_tails(1500, 12_000, 6, 2)), {}
    for batches in (True, False):
        with engine_on(path, **STREAMED) as engine:
            result = pivots(engine, PivotOptions(batches=batches))
            assert (result.diameter, result.exact) == (7, True)
            assert result.traversals.multi_source == batches
            stores[batches] = result.details["counters"]["blocks_read"] / engine.facts.n_blocks
    assert stores[True] < 0.75 * stores[False]
