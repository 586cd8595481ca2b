"""The benchmark's section events: accounts, pairs, intervals."""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import events
from bench.cache import Cache
from bench.events import Account, accounted, listening, median_interval
from bench.graphs import QUICK
from emdiam.engine.reporter import TraversalEvents
from tests.helpers.bench_setting import quick_setting
from tests.helpers.stores import engine_on, odd_graphs, write_store

GRID = next(graph for graph in QUICK if graph.graph_class == "grid")


def test_of_nested_calls_the_outer_one_counts(monkeypatch: pytest.MonkeyPatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(events, "time", SimpleNamespace(
        perf_counter=lambda: clock.now, thread_time=lambda: clock.now / 4))
    account = Account()
    inner = account.timed(lambda: setattr(clock, "now", clock.now + 2.0))
    outer = account.timed(lambda: (inner(), inner()))
    outer()
    inner()
    assert (account.calls, account.seconds, account.cpu_seconds) == (2, 6.0, 1.5)


def test_an_account_ends_with_a_failure():
    account = Account()

    def fail() -> None:
        raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            account.timed(fail)()
    assert account.calls == 2


def test_all_that_an_engine_tells_is_put_to_account(tmp_path: Path):
    began = TraversalEvents.begin
    with engine_on(write_store(tmp_path / "g.zarr", odd_graphs()["grid"])) as engine, listening(tmp_path) as listener:
        engine.reporter.listener = listener
        with accounted(engine) as account:
            engine.reporter.tick("bfs", lower=1, upper=2)
            engine.bfs(0)
            engine.reporter.tick("bfs", lower=1, upper=2)
        told = account.calls
        engine.bfs(0)
    assert told == account.calls >= 6  # two ticks, begin and end, two snapshots of counters
    assert TraversalEvents.begin is began and 0 < account.seconds < 5
    assert '"record": "traversal"' in (tmp_path / "events.jsonl").read_text()


@pytest.mark.parametrize(("n", "taken"), [(1, 0), (5, 0), (6, 0), (9, 1), (20, 5), (40, 13)])
def test_the_interval_of_a_median_is_that_of_tables(n: int, taken: int):
    """Ranks of the usual table of the sign test at 95 %."""
    values = [float(value) for value in range(n)]
    random.Random(1).shuffle(values)
    assert median_interval(values) == (taken, n - 1 - taken)


def test_the_interval_holds_the_median_as_often_as_it_says():
    rng, inside = random.Random(2), 0
    for _ in range(1000):
        low, high = median_interval([rng.expovariate(1.0) for _ in range(15)])
        inside += low <= 0.6931 <= high
    assert 940 <= inside <= 990


def test_events_section(tmp_path: Path):
    rows = events.run(quick_setting(Cache(tmp_path, tmp_path / "absent"), GRID.name))
    assert [row["method"] for row in rows] == ["pivots", "fdiam"]
    for row in rows:
        assert row["graph"] == GRID.name and len(row["ratios"]) == 2 and row["traversals"] >= 2
        assert 0 < row["share"] < 1 and 0 < row["cpu_share"] < 1
        assert len(row["blocks"]) >= 1 and row["bfs_interval"][0] <= row["bfs_median"] <= row["bfs_interval"][1]
        assert row["median"] == statistics.median(row["ratios"]) > 0
    header, lines = events.table(rows)
    assert all(len(header) == len(cells) for cells in lines)
