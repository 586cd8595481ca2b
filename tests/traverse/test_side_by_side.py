"""BFS from several sources, one on each thread, against the naive one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from emdiam.traverse import side_by_side
from emdiam.traverse.side_by_side import SideBySide
from tests.helpers import naive
from tests.helpers.small_engine import engines
from tests.helpers.stores import odd_graphs

from .test_bfs_whole import random_graph


def check(engine: Any, graph: naive.Graph, sources: list[int]) -> None:
    """Distances and eccentricities, and what is counted."""
    columns = [engine.new_column(len(graph)) for _ in sources]
    before = engine.reporter.stats()
    found = engine.eccentricities(np.array(sources), columns=columns)
    want = [naive.distances(graph, source) for source in sources]
    assert found.tolist() == [max(one) for one in want]
    assert [column.gather(np.arange(len(graph))).tolist() for column in columns] == want
    used = engine.reporter.stats() - before
    reached = [sum(len(graph[v]) for v, d in enumerate(one) if d >= 0) for one in want]
    assert used.traversals == len(sources) and used.edges_scanned <= sum(reached)


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "LONG", -1)


def test_random_graphs() -> None:
    rng = random.Random(1)
    for n_threads in (1, 2, 3):
        with engines(n_threads=n_threads) as make:
            for _ in range(10):
                graph = random_graph(rng)
                engine = make(graph)
                assert SideBySide.possible(engine.core) and engine.facts.apart
                check(engine, graph, [rng.randrange(len(graph)) for _ in range(rng.randint(1, 9))])


def test_odd_graphs() -> None:
    for graph in odd_graphs().values():
        with engines(n_threads=2) as make:
            check(make(graph), graph, list(range(min(5, len(graph)))))


def test_levels_that_are_too_wide_for_a_queue_go_another_way() -> None:
    star: naive.Graph = [[*range(1, 40)], *[[0]] * 39]
    with engines(n_threads=2, capacity=8) as make:
        engine = make(star)
        columns = [engine.new_column(40) for _ in range(3)]
        run = SideBySide(engine.core, [0, 1, 2], columns)
        run.run()
        assert run.wide == [0, 1, 2] and all(column.count(column.unreached) == 40 for column in columns)
        check(engine, star, [0, 1, 2])


def test_a_distance_that_does_not_fit_is_an_overflow() -> None:
    graph = [[w for w in (v - 1, v + 1) if 0 <= w < 400] for v in range(400)]
    with engines(n_threads=2) as make:
        engine = make(graph)
        with pytest.raises(OverflowError, match="does not fit a column of uint8"):
            engine.eccentricities(np.array([0, 399]), columns=[engine.new_column(100) for _ in range(2)])
        check(engine, graph, [0, 200, 399])


def test_after_an_error_no_source_is_taken() -> None:
    """Ctrl-C, which the main thread gets."""
    graph = odd_graphs()["grid"]
    with engines() as make:
        engine = make(graph)

        def interrupted() -> None:
            raise KeyboardInterrupt

        run = SideBySide(engine.core, [0] * 50, [engine.new_column(len(graph)) for _ in range(50)])
        with pytest.raises(KeyboardInterrupt):
            run.run(interrupted)
        assert run._next() is None
