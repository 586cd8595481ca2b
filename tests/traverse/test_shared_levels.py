"""Sparse levels on all threads give what one thread gives, whatever the threads do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.stream.plan import Phase
from emdiam.stream.reserve import Reserve
from emdiam.traverse import shared_levels, sparse, workspace
from tests.helpers import naive
from tests.helpers.stores import engine_on, odd_graphs, write_store

SHARED: dict[str, Any] = {"shared_arcs": 0, "dense_arcs": 1 << 20}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every level is worth sharing; why each call stopped."""
    reasons: list[int] = []
    real = shared_levels.share_levels
    monkeypatch.setattr(sparse, "_TRIED", 0)
    monkeypatch.setattr(sparse, "_WORTH_SHARING", 0.0)
    monkeypatch.setattr(shared_levels, "share_levels", lambda *args: (reasons.append(real(*args)), reasons[-1])[1])
    return reasons


def levelled(width: int, levels: int, seed: int) -> naive.Graph:
    """Random edges between consecutive levels of so many vertices, whose numbers tell nothing."""
    rng = np.random.default_rng(seed)
    name, edges = rng.permutation(width * levels), []
    for level in range(1, levels):
        for v in range(width):
            ends = rng.integers(0, width, 3) + (level - 1) * width
            edges += [(int(name[level * width + v]), int(name[w])) for w in ends]
    return naive.graph_of(width * levels, edges)


@pytest.mark.parametrize("threads", [2, 5])
def test_distances_are_those_of_a_plain_search(tmp_path: Path, calls: list[int], threads: int) -> None:
    graphs = {**odd_graphs(), "levels": levelled(150, 7, 1), "long": levelled(4, 300, 2)}
    for name in ("path", "torus", "two-paths", "large-tree", "caterpillar", "clique", "no-edges", "levels", "long"):
        graph = graphs[name]
        with engine_on(write_store(tmp_path / f"{name}.zarr", graph), threads=threads, **SHARED) as engine:
            for source in range(0, len(graph), max(1, len(graph) // 5)):
                distances = naive.distances(graph, source)
                far = max(distances)
                run = engine.bfs(source)
                column = [int(d) for d in run.distances.raw()]
                unreached = int(np.iinfo(run.distances.dtype).max)
                assert [-1 if d == unreached else d for d in column] == distances, name
                assert (run.eccentricity, run.farthest) == (far, distances.index(far)), name
                assert run.n_reached == sum(d >= 0 for d in distances)
                near = engine.bfs(source, radius=2)
                assert near.levels == min(2, far) and near.n_reached == sum(0 <= d <= 2 for d in distances)
    assert len(calls) > 50 and {workspace.DONE, workspace.LIMIT} <= set(calls)


def test_levels_that_grow_and_shrink_change_hands(tmp_path: Path, calls: list[int]) -> None:
    """From one thread to all, to bitmaps, and back."""
    graph = naive.graph_of(900, list(nx.random_geometric_graph(900, 0.08, seed=4).edges))
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path, threads=3, shared_arcs=60, dense_arcs=400) as engine:
        for source in range(0, 900, 45):
            distances = naive.distances(graph, source)
            run = engine.bfs(source)
            assert run.eccentricity == max(distances) and run.farthest == distances.index(max(distances))
            reached = [d for d in distances if d >= 0]
            assert run.n_reached == len(reached) and run.distances.gather([run.farthest])[0] == max(reached)
    assert {workspace.THIN, workspace.DENSE} <= set(calls)


def test_one_thread_shares_nothing(tmp_path: Path, calls: list[int]) -> None:
    graph = levelled(40, 20, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph), threads=1, **SHARED) as engine:
        assert engine.bfs(0).eccentricity == max(naive.distances(graph, 0))
    assert not calls


@pytest.mark.parametrize("slots", [4, 8, 20])
def test_rows_on_missing_blocks_are_put_aside(tmp_path: Path, calls: list[int], slots: int) -> None:
    """Levels are shared over the blocks that are there, and finished once the others are."""
    graph = levelled(40, 20, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph), threads=3, arena_bytes=slots * 64 * 4, **SHARED) as engine:
        engine.core.thin_share = 0.0  # no windows
        for source in range(0, 800, 50):
            distances = naive.distances(graph, source)
            run = engine.bfs(source)
            assert run.eccentricity == max(distances) and run.farthest == distances.index(max(distances))
            assert run.distances.gather(np.arange(800)).tolist() == distances
    assert workspace.MISSING in calls


def test_levels_go_on_once_the_arena_has_given_up_blocks(tmp_path: Path, calls: list[int]) -> None:
    """Distances that widen take blocks in the middle of a BFS."""
    graph = levelled(4, 300, 2)
    with engine_on(write_store(tmp_path / "g.zarr", graph), threads=2, **SHARED) as engine:
        engine.core.thin_share = 0.0  # no windows
        source = int(np.argmax([max(naive.distances(graph, v)) for v in range(0, 1200, 100)])) * 100
        distances = naive.distances(graph, source)
        assert max(distances) > 254
        wide = 1 << 14
        engine.core.reserve = Reserve(
            replace(engine.plan, phases=(Phase("all", 1, 0, wide, wide, wide),), reserve_bytes=0), engine.core.pager)
        for _ in range(2):
            run = engine.bfs(source)
            assert run.distances.gather(np.arange(1200)).tolist() == distances
            assert not engine.core.pager.everything_resident and workspace.MISSING in calls
            calls.clear()


@pytest.mark.parametrize(("levels", "tried"), [(20, 50), (60, 20)])
def test_levels_are_looked_at_in_the_first_bfs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, levels: int, tried: int
) -> None:
    """Where there are too few of them, or one thread is fast enough, later ones run through."""
    steps: list[int] = []
    step = sparse.SparseLevels.step
    monkeypatch.setattr(sparse, "_TRIED", tried)
    monkeypatch.setattr(sparse, "_WORTH_SHARING", 1e9)
    monkeypatch.setattr(sparse.SparseLevels, "step", lambda *args: (steps.append(1), step(*args))[1])
    graph = levelled(8, levels, 4)
    with engine_on(write_store(tmp_path / "g.zarr", graph), threads=2, **SHARED) as engine:
        counts = []
        for _ in range(2):
            assert engine.bfs(0).eccentricity == max(naive.distances(graph, 0))
            counts.append(len(steps))
            steps.clear()
    assert counts[0] >= min(tried, levels // 2) and counts[1] <= 2
