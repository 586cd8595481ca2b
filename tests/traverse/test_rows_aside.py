"""Rows that a bottom-up level has put aside give plain distances, and spare the levels after it the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from emdiam.traverse import rows_aside
from tests.helpers import naive
from tests.helpers.stores import CHUNK, engine_on, odd_graphs, write_store

STREAMED: dict[str, Any] = {"arena_bytes": 16 * CHUNK * 4, "dense_arcs": 0, "threads": 2}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Arcs that were looked at among rows put aside, level by level."""
    scanned: list[int] = []
    real = rows_aside.RowsAside.look
    monkeypatch.setattr(rows_aside.RowsAside, "look", lambda self: (scanned.append(real(self)), scanned[-1])[1])
    return scanned


def with_tail(n: int, edges: int, tail: int) -> naive.Graph:
    """A random graph, and a path that begins in it."""
    graph = nx.gnm_random_graph(n, edges, seed=3)
    graph.add_edges_from((v - 1, v) for v in range(n, n + tail))
    return naive.graph_of(n + tail, list(graph.edges))


@pytest.mark.parametrize("tail", [3, 90])
def test_a_bfs_reads_the_store_little_more_than_once(tmp_path: Path, looks: list[int], tail: int) -> None:
    graph = with_tail(1500, 12_000, tail)
    with engine_on(write_store(tmp_path / "g.zarr", graph), **STREAMED) as engine:
        for source in (0, 700, len(graph) - 1):
            before, far = engine.reporter.stats(), naive.distances(graph, source)
            run = engine.bfs(source)
            assert run.distances.gather(np.arange(len(graph))).tolist() == far
            assert (run.eccentricity, run.farthest) == (max(far), far.index(max(far)))
            used = engine.reporter.stats() - before
            assert used.levels == max(far) + 1
            if source < 1500 and tail < rows_aside.MOST_LEVELS:
                assert used.blocks_read < 1.6 * engine.facts.n_blocks
    assert looks


@pytest.mark.parametrize(("share", "most"), [(1 / 2, 3 / 4), (1 / 8, 1 / 8), (1 / 8, 3 / 4)])
def test_distances(tmp_path: Path, looks: list[int], share: float, most: float,
                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Of odd graphs, where many rows may be put aside, where hardly any has room, and where they get more room."""
    monkeypatch.setattr(rows_aside, "_HOPEFUL", 1 << 20)
    monkeypatch.setattr(rows_aside, "_SHARE", share)
    monkeypatch.setattr(rows_aside, "_MOST_SHARE", most)
    options: dict[str, Any] = STREAMED | {"arena_bytes": 8 * CHUNK * 4, "direction": "beamer"}
    for name in ("mesh", "large-tree", "wheel", "large-star", "two-paths", "long-caterpillar", "clique"):
        graph = odd_graphs()[name]
        with engine_on(write_store(tmp_path / f"{name}.zarr", graph), **options) as engine:
            for source in range(0, len(graph), max(1, len(graph) // 6)):
                run = engine.bfs(source)
                assert run.distances.gather(np.arange(len(graph))).tolist() == naive.distances(graph, source), name
                assert engine.core.pager.arena.n_slots == engine.plan.arena_blocks
    assert looks


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_a_part_of_the_blocks_spare_reading_those(tmp_path: Path, threads: int,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """A small world whose ids are local: more is left after each level than there is room for."""
    graph = naive.graph_of(3000, list(nx.watts_strogatz_graph(3000, 12, 0.02, seed=3).edges))
    path, blocks = write_store(tmp_path / "g.zarr", graph), list[int]()
    for hoped_for in (rows_aside.RowsAside.hoped_for, lambda *_: None):
        monkeypatch.setattr(rows_aside.RowsAside, "hoped_for", hoped_for)
        with engine_on(path, **STREAMED | {"arena_bytes": 60 * CHUNK * 4, "threads": threads}) as engine:
            for source in (0, 1234):
                run = engine.bfs(source)
                assert run.distances.gather(np.arange(len(graph))).tolist() == naive.distances(graph, source)
            blocks.append(engine.reporter.stats().blocks_read)
    assert blocks[0] < 0.85 * blocks[1]


def test_components_are_found_among_these_rows(tmp_path: Path) -> None:
    """Without reading, unless blocks have been put in their place since."""
    graph = naive.graph_of(1520, [(v, w) for v, row in enumerate(with_tail(1500, 12_000, 0)) for w in row if v < w] + [
        (1501, 1502), (1502, 1503), (1503, 1501), *((v, v + 1) for v in range(1508, 1518))])
    with engine_on(write_store(tmp_path / "g.zarr", graph), **STREAMED | {"arena_bytes": 80 * CHUNK * 4}) as engine:
        for taken in (False, True):
            engine.bfs(0)
            if taken:
                engine.core.pager.load(np.arange(80))
            before = engine.reporter.stats()
            components = engine.components(0)
            assert [(c.root, c.last, c.size, c.hub) for c in components.larger_than(1)] == [
                (1508, 1518, 11, 1509), (1501, 1503, 3, 1501)]
            assert ((engine.reporter.stats() - before).blocks_read > 0) == taken


def test_the_arena_sets_slots_apart_and_takes_them_back(tmp_path: Path) -> None:
    graph = with_tail(1500, 12_000, 3)
    with engine_on(write_store(tmp_path / "g.zarr", graph), **STREAMED) as engine:
        pager = engine.core.pager
        arena = pager.arena
        pager.load(np.arange(16))
        lent = arena.set_apart(4)
        lent[:] = 7
        assert np.count_nonzero(arena.slot_of >= 0) == 12
        assert len(pager.load(np.arange(16))) == 12
        assert (lent == 7).all()
        arena.take_back()
        assert len(pager.load(np.arange(16))) == 16 and np.count_nonzero(arena.slot_of >= 0) == 16
        arena.set_apart(4)
        assert pager.give_up(8 * CHUNK * 4, 4) == 8 * CHUNK * 4 and arena.n_slots == 8
