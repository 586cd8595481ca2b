"""The memory promise: plans refuse with numbers, and peaks stay below the budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from emdiam.errors import BudgetError
from emdiam.runs.opening import open_engine
from emdiam.runs.plan import plan_run
from emdiam.runs.task import make_task
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.stores import odd_graphs, write_store


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return write_store(tmp_path / "g.zarr", odd_graphs()["path"])


def test_too_small_a_budget_is_refused_with_the_numbers(store_path: Path) -> None:
    with open_store(store_path) as store:
        with pytest.raises(BudgetError, match=r"too small: the least is .* give at least --memory \d+MiB"):
            plan_run(store, make_task("pivots", memory_bytes=1 << 20))
        with pytest.raises(BudgetError, match="too small"), open_engine(store, memory_bytes=1 << 20):
            pass


def test_the_stated_minimum_is_accepted(store_path: Path) -> None:
    with open_store(store_path) as store:
        least = plan_run(store, make_task("pivots", memory_bytes=4 << 30)).minimum_bytes
        plan = plan_run(store, make_task("pivots", memory_bytes=least))
        assert plan.planned_rss_bytes <= least
        assert plan.to_dict()["phases"][0]["name"] == "open"


def test_too_small_an_arena_is_refused(store_path: Path) -> None:
    with open_store(store_path) as store, pytest.raises(BudgetError, match="--arena"):
        plan_run(store, make_task("pivots", memory_bytes=4 << 30, arena_bytes=100))


def test_the_arena_option_caps_the_cache(store_path: Path) -> None:
    with open_store(store_path) as store:
        plan = plan_run(store, make_task("pivots", memory_bytes=4 << 30, arena_bytes=5 * 64 * 4))
        assert plan.arena_blocks == 5 and not plan.in_ram and plan.arena_bytes == 5 * 64 * 4
        assert plan_run(store, make_task("pivots", memory_bytes=4 << 30)).in_ram


def run(*arguments: str | Path) -> dict:
    done = subprocess.run([sys.executable, "-m", "emdiam", *map(str, arguments)], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_peak_stays_below_the_smallest_budget(tmp_path: Path) -> None:
    """A Kronecker graph of 2^18 vertices, 20 times larger than its arena at the smallest budget."""
    store = tmp_path / "k.zarr"
    run("generate", "kronecker", store, "--vertices", "2^18", "--edge-factor", "16", "--seed", "1", "--memory",
        "400MiB", "--json", "--quiet")
    roomy = run("exact", store, "--memory", "4GiB", "--json", "--quiet")
    least = run("plan", store, "--method", "pivots", "--memory", "4GiB", "--json")["minimum_bytes"]
    tight = run("exact", store, "--memory", str(least), "--json", "--quiet")
    assert tight["peak_rss_bytes"] <= least
    assert tight["planned_rss_bytes"] <= least
    for key in ("diameter_largest_component", "diameter_max_component", "n_components", "store_digest"):
        assert tight[key] == roomy[key]
    assert tight["bytes_read"] > roomy["bytes_read"]


def test_naive_diameters_know_components() -> None:
    graph = naive.graph_of(5, [(0, 1), (1, 2), (3, 4)])
    assert naive.diameters(graph) == ({2}, 2, 2)
