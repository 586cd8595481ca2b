"""Lost workers: whatever is lost, and whenever, the answers are the same; what cannot go on leaves a checkpoint."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.dask.column_verbs import ReachedByRanks
from emdiam.errors import StateLost
from tests.helpers import naive
from tests.helpers.checkpoint_runs import comparable
from tests.helpers.stores import graphs, odd_graphs, write_store
from tests.helpers.waiting import PATIENCE
from tests.helpers.workers import apart, engine_on_workers

pytest.importorskip("distributed", reason="dask.distributed is not installed")

INF = -1


def mesh() -> naive.Graph:
    """A torus with tails and a smaller component, over ranges of 64 and more."""
    torus = nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 20, periodic=True))
    edges = [*torus.edges, *((i, 240 + i) for i in range(0, 40, 4)), *((290 + i, 291 + i) for i in range(9))]
    return naive.graph_of(310, edges)


def lose(engine: Any, *ranks: int) -> None:
    """As if the processes of these ranks had been started again: what they held is gone, their connections too."""
    for rank in ranks:
        for call in (engine.group.ranks[rank].close(), engine.group.ranks[rank].disconnect()):
            call.result(timeout=PATIENCE)


@contextmanager
def losing_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, when: Callable[[Any], bool]) -> Iterator[None]:
    """The first time that method `name` of `owner` is called on an object for which `when` holds, its rank is lost."""
    from emdiam.dask.alltoall import PeerLost

    whole, lock, left = getattr(owner, name), threading.Lock(), [1]

    def fatal(self: Any, *args: Any, **named: Any) -> Any:
        with lock:
            dies = bool(left[0]) and when(self)
            left[0] -= dies
        if dies:
            raise PeerLost(self._frontier.alltoall.rank, "planted")
        return whole(self, *args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fatal)
        yield
    assert left == [0], "no rank was lost"


def values(column: Any) -> list[int]:
    raw = column.raw().astype(np.int64)
    raw[raw == column.unreached] = INF
    return list(raw.tolist())


def check_distances(engine: Any, graph: naive.Graph, source: int, **how: Any) -> None:
    found = engine.bfs(source, profile=True, **how)
    want = naive.distances(graph, source)
    assert values(found.distances) == want
    assert found.eccentricity == max(want) and found.n_reached == sum(d >= 0 for d in want)
    assert found.level_counts == np.bincount([d for d in want if d >= 0]).tolist()


# -- verbs cut short --------------------------------------------------------------------------------
@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("workers", "dense", "method"), [(2, -1, "_async_round"), (3, -1, "_sparse_level"), (2, 0, "_dense_level")])
def test_a_bfs_cut_short_is_done_again(
    workers: int, dense: int, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from emdiam.dask import search
    line = apart(naive.graph_of(60, [(i, i + 1) for i in range(59)]))
    graph = line if method == "_async_round" else mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), workers, processes=False,
                           dense_arcs=dense) as engine:
        for rank in range(workers):
            with losing_at(monkeypatch, search.RankBfs, method,
                           lambda s, r=rank: s._frontier.alltoall.rank == r and s.level >= 1):
                engine.repeated(lambda: check_distances(engine, graph, 13))
            assert engine.group.losses[-1].verb == "bfs"
        check_distances(engine, graph, 0)


# -- columns --------------------------------------------------------------------------------------
def steps_of(engine: Any, n: int, key: int, lost: dict[int, int]) -> list[Any]:
    """A fixed sequence of verbs, done again after each loss; before step i the rank lost[i] is lost, once. What they
    give."""
    left = dict(lost)
    return engine.repeated(lambda: some_steps(engine, n, key, left))


def some_steps(engine: Any, n: int, key: int, lost: dict[int, int]) -> list[Any]:
    rng, told = np.random.default_rng(key), []
    first = second = bound = None
    for i in range(10):
        if i in lost:
            lose(engine, lost.pop(i))
        if i == 0:
            first = engine.bfs(int(rng.integers(n)))
            told.append([first.eccentricity, values(first.distances)])
            continue
        assert first is not None
        if i == 1:
            second = engine.new_column(2 * n, 3)
            second.put(rng.integers(0, n, 5), 1)
        elif i == 2:
            told.append(second.recode([3], 9, ReachedByRanks()))
        elif i == 3:
            second.tighten_upper(first.distances, 2, 0, n)
        elif i == 4:
            told.append([second.argbest(), values(second)])
        elif i == 5:
            bound = engine.new_column(2 * n)
            told.append(engine.spread(rng.integers(0, n, 3), np.array([0, 2, 4]), 7, bound))
        elif i == 6:
            told.append(engine.spread(None, 7, 9, bound))
        elif i == 7:
            columns = [engine.new_column(n) for _ in range(3)]
            told.append(engine.eccentricities(rng.integers(0, n, 3), columns=columns).tolist())
            told.append([values(column) for column in columns])
        elif i == 8:
            bounds = engine.new_bounds(n)
            told.append(vars(bounds.fold(first.source, first.distances, first.levels, 4)))
        else:
            told.append([values(first.distances), values(second), values(bound)])
    return told


@pytest.mark.thin(9)
@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_is_given_after_losses(workers: int, tmp_path: Path) -> None:
    graph = mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), workers, processes=False) as engine:
        want = steps_of(engine, len(graph), 1, {})
        for begin in (0, 1):
            lost = {i: i // 2 % workers for i in range(begin, 10, 2)}
            assert steps_of(engine, len(graph), 1, lost) == want
        assert len(engine.group.losses) == 10


ODD = odd_graphs()


@pytest.mark.thin(60, sampled=("shape",))
@pytest.mark.parametrize("shape", [name for name in ODD if len(ODD[name]) > 1])
def test_odd_graphs(shape: str, tmp_path: Path) -> None:
    graph = apart(ODD[shape])
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 3, processes=False) as engine:
        want = steps_of(engine, len(graph), 2, {})
        assert steps_of(engine, len(graph), 2, {1: 1, 5: 2, 7: 0}) == want


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), lost=st.dictionaries(st.integers(0, 9), st.integers(0, 1)), key=st.integers(0, 99))
def test_random_graphs(
    graph: naive.Graph, lost: dict[int, int], key: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    wide = apart(graph)
    if not wide:
        return
    with engine_on_workers(write_store(tmp_path_factory.mktemp("s") / "g.zarr", wide), 2, processes=False) as engine:
        want = steps_of(engine, len(wide), key, {})
        assert steps_of(engine, len(wide), key, lost) == want


def test_a_spread_cut_short_begins_from_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from emdiam.dask import spread as spreads
    graph = mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 3, processes=False) as engine:
        def lowered() -> list[Any]:
            bound = engine.new_column(600)
            result = [engine.spread(np.array([0]), np.array([3]), 9, bound)]
            return [*result, engine.spread(np.array([100, 299]), np.array([1, 0]), 9, bound), values(bound)]

        want = lowered()
        with losing_at(monkeypatch, spreads.Spread, "_sparse_level",
                       lambda s: s._frontier.alltoall.rank == 1 and s.level >= 5):
            assert engine.repeated(lowered) == want


# -- what cannot go on ----------------------------------------------------------------------------
def test_where_no_worker_is_left_the_run_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_on_workers(write_store(tmp_path / "g.zarr", mesh()), 1, processes=False) as engine:
        column = engine.bfs(0).distances
        engine.group._wait = 0.0
        monkeypatch.setattr(type(engine.group), "alive", lambda group: {})
        lose(engine, 0)
        with pytest.raises(StateLost, match="no other worker has joined within 0 s"):
            column.gather([0])


def test_fewer_workers_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 3, processes=False) as engine:
        left = dict(list(engine.group.alive().items())[:2])
        engine.group._wait = 0.0
        monkeypatch.setattr(type(engine.group), "alive", lambda group: left)
        lose(engine, 2)
        engine.repeated(lambda: check_distances(engine, graph, 13))
        assert engine.group.size == 2 and engine.group.losses[0].ranks == [2]
        assert len(engine.details()["workers"]) == 2 and engine.facts.threads == 4


def test_a_verb_that_loses_workers_each_time_ends_the_run(tmp_path: Path) -> None:
    with engine_on_workers(write_store(tmp_path / "g.zarr", mesh()), 2, processes=False) as engine:
        def run() -> None:
            lose(engine, 1)
            engine.bfs(0)

        with pytest.raises(StateLost, match="4 times at the same place"):
            engine.repeated(run)


@contextmanager
def losing_while_opened(monkeypatch: pytest.MonkeyPatch, times: int) -> Iterator[None]:
    """The first openings of ranks lose a worker before they are connected."""
    from emdiam.dask import rank_group

    whole, left = rank_group.RankGroup._each, [times]

    def lost(self: Any, method: str, *args: Any) -> Any:
        if method == "connect" and left[0]:
            left[0] -= 1
            raise rank_group._Loss("lost worker 1 (planted)")
        return whole(self, method, *args)

    with monkeypatch.context() as patch:
        patch.setattr(rank_group.RankGroup, "_each", lost)
        yield
    assert left == [0]


def test_a_worker_that_is_lost_while_ranks_open_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mesh()
    with losing_while_opened(monkeypatch, 2), engine_on_workers(
            write_store(tmp_path / "g.zarr", graph), 2, processes=False) as engine:
        assert [loss.verb for loss in engine.group.losses] == ["open"]
        check_distances(engine, graph, 13)
        assert [loss["verb"] for loss in engine.details()["losses"]] == ["open"]


def test_ranks_that_never_open_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_store(tmp_path / "g.zarr", mesh())
    with losing_while_opened(monkeypatch, 4), pytest.raises(StateLost, match="planted.*, 4 times at the same place"), \
            engine_on_workers(path, 2, processes=False):
        pass


def test_what_was_known_stays_whole_where_ranks_cannot_be_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result of the bounds so far has the workers of the last reports."""
    graph = mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 3, processes=False) as engine:
        before = engine.details()["workers"]
        fewer = dict(list(engine.group.alive().items())[:2])
        engine.group._wait = 0.0
        monkeypatch.setattr(type(engine.group), "alive", lambda group: fewer)
        with losing_while_opened(monkeypatch, 3), pytest.raises(StateLost):
            lose(engine, 2)
            engine.bfs(0)
        after = engine.details()["workers"]
        assert [worker["address"] for worker in after] == [worker["address"] for worker in before]


# -- processes ------------------------------------------------------------------------------------
def kill(engine: Any, rank: int) -> None:
    """kill -9 of the worker process of a rank."""
    address = engine.group.spec.addresses[rank]
    os.kill(engine.group.client.run(os.getpid, workers=[address])[address], signal.SIGKILL)


@pytest.mark.slow
def test_killed_processes_between_and_inside_verbs(tmp_path: Path) -> None:
    graph = mesh()
    with engine_on_workers(write_store(tmp_path / "g.zarr", graph), 3) as engine:
        for rank in (1, 0):
            check_distances(engine, graph, 7)
            kill(engine, rank)
            engine.repeated(lambda: check_distances(engine, graph, 7))
        assert len(engine.group.losses) == 2


@pytest.mark.slow
def test_a_worker_that_is_lost_twice_comes_back_twice() -> None:
    """The second time while Dask's own cluster looks after the first, 15 s later."""
    from emdiam.dask.internals import await_workers
    from emdiam.dask.opening import connected
    from emdiam.dask.setting import OnCluster

    with connected(OnCluster(None, 1), 1) as cluster:
        await_workers(cluster)
        for wait in (14.6, 3.0):
            (before,) = cluster.run(os.getpid).values()
            os.kill(before, signal.SIGKILL)
            time.sleep(wait)
            cluster.wait_for_workers(1, timeout=PATIENCE)
            (after,) = cluster.run(os.getpid).values()
            assert after != before


def run_method(engine: Any, method: str, **switches: Any) -> dict[str, Any]:
    """The answer of an exact method, begun again after each loss."""
    from emdiam.runs.registry import METHODS, method_options

    options = method_options(method, switches)
    told = comparable(engine.repeated(lambda: METHODS[method].definition().solve(engine, options)))
    return {name: told[name] for name in ("lower", "upper", "diameter_largest_component", "n_components", "exact")}


@pytest.mark.slow
def test_methods_give_the_same_answer_whoever_is_killed(tmp_path: Path) -> None:
    with engine_on_workers(write_store(tmp_path / "g.zarr", mesh()), 3) as engine:
        for method in ("pivots", "fdiam"):
            want = run_method(engine, method)
            for rank in (0, 2):
                timer = threading.Timer(0.3, kill, (engine, rank))
                timer.start()
                assert run_method(engine, method) == want
                timer.join()
                engine.repeated(lambda: engine.bfs(0))  # a kill at the very end is seen here


@pytest.mark.slow
def test_twenty_kills_of_an_exact_run(tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from emdiam.api import convert
    store = tmp_path / "git.zarr"
    convert([data_folder / "git-objects-git.parquet"], store)
    rng = random.Random(20)
    with engine_on_workers(store, 2) as engine:
        want = run_method(engine, "pivots")
        begin = time.perf_counter()
        assert run_method(engine, "pivots") == want  # blocks are there by now, and stay there
        seconds = time.perf_counter() - begin
        lost: list[float] = []
        for _ in range(20):
            before = len(engine.group.losses)
            timer = threading.Timer(rng.uniform(0, seconds), kill, (engine, rng.randrange(2)))
            begin = time.perf_counter()
            timer.start()
            assert run_method(engine, "pivots") == want
            timer.join()
            engine.repeated(lambda: engine.bfs(0))  # a kill at the very end is seen here
            lost.append(time.perf_counter() - begin - seconds)
            assert len(engine.group.losses) == before + 1
    with capsys.disabled():
        waits = [loss.seconds for loss in engine.group.losses]
        print(f"\n20 kills of a run of {seconds:.1f} s: lost {np.median(lost):.1f} s (median), {max(lost):.1f} s (most)"
              f"; until all ranks were open again {np.median(waits):.1f} s")
