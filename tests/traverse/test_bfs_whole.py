"""A BFS in one call against the naive one: all threads, both directions, queues that are short, slices and limits."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emdiam.traverse import bfs_whole
from emdiam.traverse.bfs import BfsRun
from emdiam.traverse.bfs_whole import WholeLevels
from emdiam.traverse.core import Core
from emdiam.traverse.dense import DenseLevels
from emdiam.traverse.direction import DIRECTIONS
from tests.helpers import naive
from tests.helpers.small_engine import engines
from tests.helpers.stores import engine_on, odd_graphs, write_store

N_GRAPHS = 2000


def random_graph(rng: random.Random) -> naive.Graph:
    """Up to 300 vertices: pairs at random, or near each other, and a hub in one of three."""
    n = rng.randint(1, 300)
    near = rng.choice([1, 3, 10, n])
    arcs = [(v := rng.randrange(n), min(n - 1, v + rng.randint(0, near))) for _ in range(rng.randint(0, 5 * n))]
    if rng.randrange(3) == 0:
        arcs += [(0, rng.randrange(n)) for _ in range(n)]
    rows: list[set[int]] = [set() for _ in range(n)]
    for v, w in arcs:
        if v != w:
            rows[v].add(w)
            rows[w].add(v)
    return [sorted(row) for row in rows]


def run_of(engine: Any, source: int, radius: int | None, **options: Any) -> tuple[BfsRun, Any]:
    """A BFS that has run, and its result."""
    run = BfsRun(engine.core, source, engine.learned, radius=radius, **options)
    while not run.step():
        pass
    result = run.result()
    engine.learned = run.learned
    return run, result


def check(engine: Any, graph: naive.Graph, source: int, radius: int | None) -> BfsRun:
    """All that it gives, with and without distances."""
    want = naive.distances(graph, source)
    last = max(want)
    if radius is not None:
        want = [d if d <= radius else -1 for d in want]
    top = max(want)
    for options in ({}, {"distances": False}, {"profile": True}):
        run, found = run_of(engine, source, radius, **options)
        assert (found.levels, found.n_reached, found.farthest) == (top, sum(d >= 0 for d in want), want.index(top))
        assert found.eccentricity == (last if radius is None or radius > last else None)
        if "distances" not in options:
            assert found.distances.gather(np.arange(len(graph))).tolist() == want
        if "profile" in options:
            assert found.level_counts == [want.count(k) for k in range(top + 1)]
        visited = np.unpackbits(engine.core.work.visited.view(np.uint8), bitorder="little")[: len(graph)].astype(bool)
        assert (visited | [not row for row in graph]).tolist() == [d >= 0 or not graph[v] for v, d in enumerate(want)]
    return run


def vary(monkeypatch: pytest.MonkeyPatch, rng: random.Random) -> dict[str, Any]:
    """Thresholds at random: which levels are shared, swept block by block, or end a slice; options of engines."""
    monkeypatch.setattr(bfs_whole, "WAKING", rng.choice([0, 30, 1 << 18]))
    monkeypatch.setattr(bfs_whole, "AWAKE", rng.choice([0, 30, 1 << 13]))
    monkeypatch.setattr(bfs_whole, "LARGEST_LEVEL", rng.choice([1 << 26, 1 << 26, 200]))
    monkeypatch.setattr(Core, "slice_arcs", rng.choice([1 << 25, 100, 1]))
    return {"n_threads": rng.randint(1, 3), "capacity": rng.choice([0, 1, 40]), "direction": rng.choice(DIRECTIONS)}


def many(monkeypatch: pytest.MonkeyPatch, seed: int, count: int) -> None:
    """So many graphs, ten with each choice of thresholds."""
    rng = random.Random(seed)
    for _ in range(count // 10):
        with engines(**vary(monkeypatch, rng)) as make:
            for _ in range(10):
                graph = random_graph(rng)
                engine = make(graph)
                for source in rng.sample(range(len(graph)), min(2, len(graph))):
                    run = check(engine, graph, source, rng.choice([None, None, rng.randint(0, 12)]))
                    assert WholeLevels in run.used or run.radius == 0


def test_random_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 1, 60)


@pytest.mark.slow
def test_very_many_random_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    many(monkeypatch, 2, N_GRAPHS)


def test_odd_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    for graph in odd_graphs().values():
        with engines(**vary(monkeypatch, rng)) as make:
            check(make(graph), graph, 0, None)


def test_a_bfs_begins_with_distances_as_wide_as_those_of_the_last() -> None:
    path = [[w for w in (v - 1, v + 1) if 0 <= w < 600] for v in range(600)]
    with engines() as make:
        engine = make(path)
        for source, item in ((0, 1), (300, 2), (270, 2), (250, 2)):
            assert engine.learned.item == item
            check(engine, path, source, None)
        check(engine, path, 300, 200)  # stopped: nothing is learned
        assert engine.learned.item == 2


def test_levels_of_very_many_arcs_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what comes after them is done in one call again."""
    monkeypatch.setattr(bfs_whole, "LARGEST_LEVEL", 400)
    graph = odd_graphs()["lollipop"]
    star = [[*range(1, 500)], *[[0, 500]] * 499, [*range(1, 500), 501], [500]]
    with engines() as make:
        assert DenseLevels not in check(make(graph), graph, 0, None).used
        assert check(make(star), star, 0, None).used == {WholeLevels, DenseLevels}


def test_an_arena_that_gives_up_blocks(tmp_path: Path) -> None:
    """Between two levels, of a queue and of a bitmap: the BFS goes on over what is there."""
    rng = random.Random(4)
    graph: naive.Graph = [[] for _ in range(2000)]
    for v in range(2000):
        for w in {rng.randrange(2000) for _ in range(8)} - {v}:
            graph[v].append(w)
            graph[w].append(v)
    graph = [sorted(set(row)) for row in graph]
    path = write_store(tmp_path / "g.zarr", graph)
    want = naive.distances(graph, 5)
    for levels in range(max(want) + 1):
        with engine_on(path, threads=2) as engine:
            assert engine.core.plain_rows is not None and engine.plan.starts_bytes == 2001 * 4
            run = BfsRun(engine.core, 5, engine.learned, profile=True)
            for _ in range(levels):
                run.step()
            engine.core.pager.give_up(1 << 20, 8)
            assert engine.core.plain_rows is None
            while not run.step():
                pass
            found = run.result()
            assert found.eccentricity == max(want) and found.distances is not None
            assert found.distances.gather(np.arange(2000)).tolist() == want


def test_where_the_budget_has_no_room_there_are_no_plain_rows(tmp_path: Path) -> None:
    graph = odd_graphs()["grid"]
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path, arena_bytes=4 * 64 * 4) as engine:
        assert engine.plan.starts_bytes == 0 and engine.core.plain_rows is None
        assert WholeLevels not in check(engine, graph, 3, None).used
