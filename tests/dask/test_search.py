"""BFS over workers: as the naive twin finds it, by levels and without, whatever queues hold; and its bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

# isort: off - after workers, which skips
from emdiam.dask import alltoall, async_bfs, plan, rank, search
from tests.engine.test_protocol import check_bfs, check_targets
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs, write_store
from tests.helpers.workers import APART, apart, engine_on_workers

# isort: on

SLOW = pytest.mark.slow
SETTINGS = settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def shapes() -> tuple[naive.Graph, list[int]]:
    """All odd shapes side by side, spread apart, and the first vertex of each."""
    graph: naive.Graph = []
    firsts = []
    for shape in odd_graphs().values():
        begin = len(graph)
        firsts.append(begin * APART)
        graph += [[begin + w for w in row] for row in shape]
    return apart(graph), firsts


@contextmanager
def async_rounds(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The limits of the rounds without levels in this process."""
    rounds: list[int] = []
    plain = async_bfs.AsyncBfs.round

    def counted(self: async_bfs.AsyncBfs, most: int) -> None:
        rounds.append(most)
        plain(self, most)

    with monkeypatch.context() as patch:
        patch.setattr(async_bfs.AsyncBfs, "round", counted)
        yield rounds


def check_some(engine: Any, rng: random.Random, count: int) -> None:
    """BFS from some vertices of some shapes: whole ones, to a radius, to targets."""
    graph, firsts = shapes()
    for shape in rng.sample(range(len(firsts)), count):
        stop = firsts[shape + 1] if shape + 1 < len(firsts) else len(graph)
        source, *targets = (rng.randrange(firsts[shape], stop, APART) for _ in range(3))
        check_bfs(engine, graph, source, None)
        check_bfs(engine, graph, source, rng.choice([1, 3, 19]))
        check_targets(engine, graph, source, targets)


def check_path(engine: Any, source: int) -> None:
    """The shape with the most levels, from one of its vertices."""
    graph, firsts = shapes()
    first = firsts[list(odd_graphs()).index("path")]
    check_bfs(engine, graph, first + source * APART, None)
    check_targets(engine, graph, first + source * APART, [first + 17 * APART, first + 250 * APART])


@pytest.mark.parametrize("workers", [1, 2, pytest.param(3, marks=SLOW)])
@pytest.mark.parametrize("dense", [-1, 0, 40])
@pytest.mark.thin(5)
def test_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int, dense: int) -> None:
    path, rng = write_store(tmp_path / "g.zarr", shapes()[0]), random.Random(workers)
    with engine_on_workers(path, workers, processes=False, dense_arcs=dense) as engine:
        for after in (0, 3, 16):
            monkeypatch.setattr(search, "ASYNC_AFTER", after)
            with async_rounds(monkeypatch) as rounds:
                check_some(engine, rng, 2)
                check_path(engine, 150)
            assert bool(rounds) == (dense != 0 or after == 0)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, pytest.param(1, marks=SLOW), pytest.param(3, marks=SLOW)])
def test_short_queues_and_few_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """Levels that fit no queue, messages that fit no room, what was sent forgotten, two blocks in memory."""
    path, rng = write_store(tmp_path / "g.zarr", shapes()[0]), random.Random(3)
    for module, name, value in ((plan, "queue_capacity", lambda n: 3), (async_bfs, "_LEAST_MESSAGES", 1),
                                (async_bfs, "_sent_table", lambda frontier: np.zeros(2, np.uint64)),
                                (search, "ASYNC_AFTER", 0)):
        monkeypatch.setattr(module, name, value)
    arena = rank.Arena
    monkeypatch.setattr(rank, "Arena", lambda blocks, slots, *more: arena(blocks, min(slots, 2), *more))
    for dense in (-1, 60):
        with engine_on_workers(path, workers, processes=False, dense_arcs=dense) as engine:
            check_some(engine, rng, 4)
            check_path(engine, 40)


@pytest.mark.slow
@SETTINGS
@given(graphs(), st.integers(2, 3), st.sampled_from([0, 1]), st.sampled_from([-1, 9]),
       st.randoms(use_true_random=False))
def test_random_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graph: naive.Graph, workers: int, after: int, dense: int,
    rng: random.Random,
) -> None:
    wide = apart(graph)
    path = write_store(tmp_path / "g.zarr", wide)
    monkeypatch.setattr(search, "ASYNC_AFTER", after)
    with engine_on_workers(path, workers, processes=False, dense_arcs=dense) as engine:
        for _ in range(2):
            source, *targets = (APART * rng.randrange(len(graph)) for _ in range(3))
            check_bfs(engine, wide, source, rng.choice([None, 2, 7]))
            check_targets(engine, wide, source, targets)


@pytest.mark.parametrize("after", [0, 16, 10**6])
def test_distances_widen_and_never_wrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    monkeypatch.setattr(search, "ASYNC_AFTER", after)
    n = 600
    graph = naive.graph_of(n, [(v, v + 1) for v in range(n - 1)])
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(path, 2, processes=False) as engine:
        for source in (n - 1, n - 254, n - 255, 300):
            run, twin = engine.bfs(source), engine.local.bfs(source)
            assert run.distances.dtype == twin.distances.dtype
            assert run.distances.gather(np.arange(n)).tolist() == naive.distances(graph, source)
            assert run.eccentricity == twin.eccentricity
        narrow, wide = engine.new_column(100), engine.new_column(1000)
        assert engine.bfs(0, radius=254, into=narrow).levels == 254
        assert_array_equal(narrow.gather([0, 254, 255]), [0, 254, -1])
        with pytest.raises(OverflowError, match="distance 255 does not fit a column of uint8"):
            engine.bfs(0, into=narrow)
        assert engine.bfs(0, into=wide).eccentricity == n - 1
        assert_array_equal(wide.gather(np.arange(n)), np.arange(n))


def classes() -> dict[str, nx.Graph]:
    """Graph classes of which a search sends few bytes."""
    kronecker = nx.Graph()
    rng = np.random.default_rng(5)
    quadrants = rng.choice(4, (6000, 10), p=[0.57, 0.19, 0.19, 0.05])
    kronecker.add_nodes_from(range(1024))
    kronecker.add_edges_from(zip((quadrants // 2) @ (1 << np.arange(10)), (quadrants % 2) @ (1 << np.arange(10)),
                                 strict=True))
    return {
        "random": nx.gnm_random_graph(1500, 6000, seed=1), "sparse-random": nx.gnm_random_graph(1500, 1600, seed=1),
        "kronecker": kronecker, "watts-strogatz": nx.connected_watts_strogatz_graph(1500, 6, 0.1, seed=1),
        "ring-with-shortcuts": nx.connected_watts_strogatz_graph(1500, 4, 0.01, seed=2),
        "grid": nx.grid_2d_graph(40, 40), "path": nx.path_graph(1500), "star": nx.star_graph(1500),
        "two-components": nx.disjoint_union(nx.path_graph(700), nx.gnm_random_graph(800, 3000, seed=2)),
        "mixed-up-grid": nx.relabel_nodes(
            nx.convert_node_labels_to_integers(nx.grid_2d_graph(40, 40)),
            dict(enumerate(np.random.default_rng(1).permutation(1600).tolist()))),
    }


def check_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, workers: int, dense_arcs: int) -> None:
    """What a BFS sends stays within 1.1 (W - 1) (n/8 a dense level, 4 a vertex found on sparse ones)."""
    shape = nx.convert_node_labels_to_integers(classes()[name], ordering="sorted")
    graph = naive.graph_of(len(shape), shape.edges)
    n, dense = len(graph), set()
    plain = search.RankBfs._dense_level

    def noted(self: search.RankBfs) -> None:
        dense.add(self.level + 1)
        plain(self)

    monkeypatch.setattr(search.RankBfs, "_dense_level", noted)
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on_workers(path, workers, processes=False, dense_arcs=dense_arcs) as engine:
        for source in (0, n // 2, n - 1):
            before = [dict(report["messages"]) for report in engine.group.reports]
            dense.clear()
            engine.bfs(source)
            payload, facts = (sum(report["messages"][kind] - old[kind] for report, old in
                                  zip(engine.group.reports, before, strict=True))
                              for kind in ("payload_bytes", "fact_bytes"))
            want = naive.distances(graph, source)
            found = sum(d >= 0 and d not in dense for d in want)
            bound = 1.1 * (workers - 1) * (n / 8 * len(dense) + 4 * found)
            assert payload <= bound, (name, source, payload, bound, dense)
            assert payload + facts <= bound + 500 * (workers - 1), (name, source, payload, facts, bound, dense)


@pytest.mark.parametrize("name", classes())
@pytest.mark.parametrize("dense_arcs", [-1, 600])
@pytest.mark.thin(10, sampled=("name",))
def test_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, dense_arcs: int) -> None:
    check_bytes(tmp_path, monkeypatch, name, 3, dense_arcs)


@SLOW
@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("name", classes())
@pytest.mark.parametrize("dense_arcs", [-1, 600])
def test_bytes_of_few_and_more_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, workers: int, dense_arcs: int
) -> None:
    check_bytes(tmp_path, monkeypatch, name, workers, dense_arcs)


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=6), st.sampled_from([1, 1 << 8, 1 << 20, 1 << 33]))
def test_facts_are_narrow(numbers: list[int], by: int) -> None:
    facts = np.array([number // by for number in numbers], np.int64)
    assert_array_equal(alltoall._wide(alltoall._narrow(facts), len(facts)), facts)
    small = abs(facts % 256)
    assert len(alltoall._narrow(small)) == len(small)


@SLOW
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_worker_processes(tmp_path: Path, workers: int) -> None:
    graph = apart(naive.graph_of(900, nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30)).edges), 3)
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), workers) as engine:
        for source in (0, 1350, 2697):
            check_bfs(engine, graph, source, None)
            check_targets(engine, graph, source, [3, 2400])
