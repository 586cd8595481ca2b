"""Windows of levels equal plain distances on graphs whose frontiers outgrow the arena, one source and many."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.traverse import level_growth, level_windows
from emdiam.traverse.bfs import Learned
from tests.helpers import naive
from tests.helpers.stores import CHUNK, write_store

SHAPES = {
    "grid": lambda rng: nx.grid_2d_graph(rng.randint(22, 30), rng.randint(22, 30)),
    "tree": lambda rng: nx.random_labeled_tree(rng.randint(700, 900), seed=rng.randint(0, 99)),
    "small-world": lambda rng: nx.watts_strogatz_graph(rng.randint(500, 900), 4, 0.02, seed=rng.randint(0, 99)),
    "random": lambda rng: nx.gnm_random_graph(600, 900, seed=rng.randint(0, 99)),
    "path": lambda rng: nx.path_graph(rng.randint(500, 900)),
    "geometric": lambda rng: nx.random_geometric_graph(600, 0.07, seed=rng.randint(0, 99)),
}


def make(shape: str, rng: random.Random) -> naive.Graph:
    """A graph of that shape, its vertices shuffled half of the time."""
    graph = nx.convert_node_labels_to_integers(SHAPES[shape](rng))
    order = list(range(len(graph)))
    if rng.random() < 0.5:
        rng.shuffle(order)
    return naive.graph_of(len(graph), [(order[a], order[b]) for a, b in graph.edges])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_distances(tmp_path: Path, shape: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    graph = make(shape, rng)
    rounds = {"one": 0, "many": 0}
    for cls, name in ((level_windows.LevelWindows, "one"), (level_windows.LevelWindowBatch, "many")):
        def counted(self, *args, real=cls.step, name=name):  # type: ignore[no-untyped-def]
            rounds[name] += 1
            return real(self, *args)
        monkeypatch.setattr(cls, "step", counted)
    options = {"memory_bytes": 2 << 30, "arena_bytes": rng.choice([8, 12]) * CHUNK * 4, "most_loaded": 0,
               "thin_share": 1.0}
    n = len(graph)
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store, open_engine(store, **options) as engine:
        sources = [rng.randrange(n) for _ in range(40)]
        want = [naive.distances(graph, v) for v in sources]
        for source, far in zip(sources[:3], want, strict=False):
            run = engine.bfs(source)
            assert run.distances.gather(np.arange(n)).tolist() == far
            assert (run.eccentricity, run.farthest) == (max(far), far.index(max(far)))
            assert run.n_reached == sum(d >= 0 for d in far)
            radius = rng.randint(0, 12)
            near = engine.bfs(source, radius=radius)
            assert near.distances.gather(np.arange(n)).tolist() == [d if d <= radius else -1 for d in far]
            assert near.eccentricity == (max(far) if radius > max(far) else None)
        engine.bfs(sources[0])
        engine.learned = Learned(window_levels=1)
        columns = [engine.new_column(n) for _ in sources]
        assert engine.eccentricities(sources, columns=columns).tolist() == [max(d) for d in want]
        assert [c.gather(np.arange(n)).tolist() for c in columns] == want
    assert rounds["one"] > 10 and rounds["many"] > 3


def test_windows() -> None:
    assert [level_windows.windows_for(levels) for levels in (0, 1, 4, 5, 16, 17, 124, 1000)] == [0, 1, 1, 2, 4, 5, 4, 4]


def test_a_distance_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    graph = naive.graph_of(400, [(v, v + 1) for v in range(399)])
    with open_store(write_store(tmp_path / "g.zarr", graph)) as store:
        with open_engine(store, memory_bytes=2 << 30, arena_bytes=8 * CHUNK * 4, most_loaded=0,
                         thin_share=1.0) as engine:
            with pytest.raises(OverflowError):
                engine.bfs(0, into=engine.new_column(200))
            engine.learned = Learned(window_levels=1)
            with pytest.raises(OverflowError):
                engine.eccentricities([0], columns=[engine.new_column(200)])


@settings(max_examples=16, deadline=None)
@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 999), st.integers(5, 40), st.integers(1, 3), st.booleans(),
       st.sampled_from([CHUNK, 4 * CHUNK]), st.integers(1, 4))
def test_distances_are_the_same_whatever_comes_beside(
        tmp_path_factory: pytest.TempPathFactory, shape: str, seed: int, slots: int, threads: int,
        beside: bool, chunk: int, share: int) -> None:
    """All threads, arenas and widths, blocks that come while others are expanded, or between, and that hold groups of
    rows or not."""
    rng = random.Random(seed)
    graph = make(shape, rng)
    sources = [rng.randrange(len(graph)) for _ in range(4)]
    options = {"memory_bytes": 2 << 30, "arena_bytes": slots * chunk * 4, "most_loaded": 0, "thin_share": 1.0,
               "threads": threads}
    path = write_store(tmp_path_factory.mktemp("windows") / "g.zarr", graph, chunk)
    with (pytest.MonkeyPatch.context() as patch, open_store(path) as store, open_engine(store, **options) as engine):
        patch.setattr(level_windows, "_LEAST_IDS", 1 if beside else 1 << 17)
        engine.learned = Learned(window_share=share)
        far = [naive.distances(graph, source) for source in sources]
        for source, want in zip(sources, far, strict=True):
            assert engine.bfs(source).distances.gather(np.arange(len(graph))).tolist() == want
        engine.learned = replace(engine.learned, window_levels=engine.learned.window_levels or 20)
        columns = [engine.new_column(len(graph)) for _ in sources]
        engine.eccentricities(sources, columns=columns)
        assert [c.gather(np.arange(len(graph))).tolist() for c in columns] == far


@pytest.mark.parametrize("chunk", [256, 1024])
@pytest.mark.parametrize("beside", [False, True])
def test_waves_far_apart(tmp_path: Path, chunk: int, beside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a path one wave goes on for thousands of levels where its blocks are, while the other waits."""
    if beside:
        monkeypatch.setattr(level_windows, "_LEAST_IDS", 1)
    n = 20 * chunk
    graph = naive.graph_of(n, [(v, v + 1) for v in range(n - 1)])
    with (open_store(write_store(tmp_path / "g.zarr", graph, chunk)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=12 * chunk * 4, most_loaded=0,
                      thin_share=1.0) as engine):
        engine.learned = Learned(window_share=1)
        for source in (0, n // 2, n // 3, n - 1, n // 5):
            far = engine.bfs(source).distances.gather(np.arange(n))
            assert (far == np.abs(np.arange(n) - source)).all()


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(sorted(SHAPES)), st.integers(0, 999), st.sampled_from([64, 128, 256, 1024]), st.data())
def test_places_of_groups(tmp_path_factory: pytest.TempPathFactory, shape: str, seed: int, chunk: int,
                          data: st.DataObject) -> None:
    """What place_groups says of a group of 64 rows is where its arcs begin, if all are in one resident block."""
    graph = make(shape, random.Random(seed))
    path = write_store(tmp_path_factory.mktemp("places") / "g.zarr", graph, chunk)
    indptr = naive.csr(graph)[0]
    with open_store(path) as store, open_engine(store, memory_bytes=2 << 30) as engine:
        n_blocks, n_groups = engine.core.table.n_blocks, (len(graph) + 63) // 64
        place, placed = np.full(n_groups, -1, np.int64), np.full(n_blocks, -1, np.int32)
        for _ in range(3):
            slots = data.draw(st.lists(st.integers(-1, 50), min_size=n_blocks, max_size=n_blocks))
            level_growth.place_groups(np.array(slots, np.int32), engine.core.layout, place, placed)
            assert placed.tolist() == slots
            for group in range(n_groups):
                begin, end = int(indptr[64 * group]), int(indptr[min(64 * group + 64, len(graph))])
                block = begin // chunk
                whole = end > begin and end <= (block + 1) * chunk and slots[block] >= 0
                if whole and 64 * group + 64 <= len(graph):
                    assert place[group] == slots[block] * chunk + begin - block * chunk
                elif not whole:
                    assert place[group] == -1


def test_a_run_that_is_interrupted_leaves_the_arena_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(level_windows, "_LEAST_IDS", 1)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 60))
    graph = naive.graph_of(len(grid), list(grid.edges))
    with (open_store(write_store(tmp_path / "g.zarr", graph)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=16 * CHUNK * 4, thin_share=1.0,
                      most_loaded=0) as engine):
        engine.bfs(0)
        real, calls = level_windows.LevelWindows._grow, []

        def interrupted(self, blocks):  # type: ignore[no-untyped-def]
            calls.append(len(engine.core.pager.on_way))
            if len(calls) % 7 == 0:
                raise KeyboardInterrupt
            return real(self, blocks)

        monkeypatch.setattr(level_windows.LevelWindows, "_grow", interrupted)
        for source in (1100, 7, 2000):
            with pytest.raises(KeyboardInterrupt):
                engine.bfs(source)
            assert not engine.core.pager.on_way
        assert max(calls) == 2
        monkeypatch.setattr(level_windows.LevelWindows, "_grow", real)
        for source in (249, 1000):
            assert (engine.bfs(source).distances.gather(np.arange(len(graph))).tolist()
                    == naive.distances(graph, source))


def test_windows_widen_where_few_arcs_are_scanned_again() -> None:
    assert [level_windows.next_share(4, again) for again in (0.0, 0.1, 0.2, 0.4)] == [2, 2, 4, 4]
    assert [level_windows.next_share(1, again) for again in (-0.5, 0.2, 0.4)] == [1, 1, 2]


def test_long_rows_are_brought_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hubs whose rows take more of the arena than a round brings."""
    monkeypatch.setattr(level_windows, "_LEAST_IDS", 1)
    hubs, n = 12, 1500
    rng = random.Random(1)
    edges = {(rng.randrange(hubs), v) for v in range(hubs, n) for _ in range(3)} | {(h, h + 1) for h in range(hubs - 1)}
    graph = naive.graph_of(n, sorted(edges))
    with (open_store(write_store(tmp_path / "g.zarr", graph)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=20 * CHUNK * 4, most_loaded=0,
                      thin_share=1.0) as engine):
        assert level_windows.LevelWindows.possible(engine.core)
        for source in (0, n - 1, 700):
            assert engine.bfs(source).distances.gather(np.arange(n)).tolist() == naive.distances(graph, source)


def test_windows_are_wide_once_levels_are_known(tmp_path: Path) -> None:
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 60))
    graph = naive.graph_of(len(grid), list(grid.edges))
    with (open_store(write_store(tmp_path / "g.zarr", graph)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=10 * CHUNK * 4, thin_share=1.0) as engine):
        stores = []
        for source in (0, 1100, 249, 1000, 2000):
            before = engine.reporter.stats()
            engine.bfs(source)
            stores.append((engine.reporter.stats() - before).blocks_read / engine.facts.n_blocks)
        assert stores[0] < 2.9 and max(stores[1:]) < 2.6


def test_blocks_that_every_level_reads_again_bring_windows(tmp_path: Path) -> None:
    """A front of some more blocks than the arena holds, which each level could load and would lose before the next."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 250))
    graph = naive.graph_of(len(grid), list(grid.edges))
    with (open_store(write_store(tmp_path / "g.zarr", graph)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=10 * CHUNK * 4, thin_share=1.0) as engine):
        for source in (0, 1375, 249):
            before, far = engine.reporter.stats(), naive.distances(graph, source)
            assert engine.bfs(source).distances.gather(np.arange(len(graph))).tolist() == far
            used = engine.reporter.stats() - before
            assert engine.learned.window_levels == max(far) and used.passes == 0
            assert used.blocks_read < 6 * engine.facts.n_blocks


def test_a_row_that_does_not_fit_the_arena_keeps_many_sources_out_of_windows(tmp_path: Path) -> None:
    """A BFS that waits for most blocks asks for windows, of one source and of many, and a hub's row may be too long."""
    wheel = nx.wheel_graph(290)
    graph = naive.graph_of(len(wheel), wheel.edges)
    with (open_store(write_store(tmp_path / "g.zarr", graph)) as store,
          open_engine(store, memory_bytes=2 << 30, arena_bytes=4 * CHUNK * 4, threads=2) as engine):
        assert not level_windows.LevelWindows.possible(engine.core)
        engine.bfs(5)
        engine.learned = Learned(window_levels=2)
        columns = [engine.new_column(290) for _ in range(2)]
        assert engine.eccentricities([5, 0], columns=columns).tolist() == [2, 1]
        assert [column.gather(np.arange(290)).tolist() for column in columns] == [
            naive.distances(graph, source) for source in (5, 0)]
