"""Graphs of very many components: what nobody could plan for is refused with a budget that does, and no component
costs a traversal of the whole graph."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from emdiam.conversion import order_cluster as cluster_order
from emdiam.conversion.convert import ConvertOptions
from emdiam.conversion.reorder import reorder
from emdiam.engine.interface import Engine
from emdiam.errors import BudgetError, MoreMemoryError
from emdiam.methods.approx import cluster_bounds as cluster_lower
from emdiam.methods.approx import clusters as clusters_module
from emdiam.methods.approx.clusters import ClusterOptions, clusters
from emdiam.methods.exact.pivot_columns import budget_bytes
from emdiam.runs.plan import plan_run
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from emdiam.stream.reserve import Reserve
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store


def small_parts(count: int) -> naive.Graph:
    """Paths of 3, 4 and 5 vertices by turns."""
    edges, first = [], 0
    for i in range(count):
        size = i % 3 + 3
        edges += [(first + v, first + v + 1) for v in range(size - 1)]
        first += size
    return naive.graph_of(first, edges)


def named_mib(error: pytest.ExceptionInfo[BudgetError]) -> int:
    said = re.search(r"give at least --memory (\d+)MiB$", str(error.value))
    assert said is not None, str(error.value)
    return int(said[1])


def test_labels_that_do_not_fit_are_refused_with_what_is_missing() -> None:
    engine = cast(Engine, SimpleNamespace(facts=SimpleNamespace(n_vertices=1000, pool_bytes=5000)))
    assert budget_bytes(engine, 4000) == 1000
    with pytest.raises(MoreMemoryError, match="labels need") as caught:
        budget_bytes(engine, 8000)
    assert caught.value.missing_bytes == 3000


@pytest.mark.parametrize("state", ["ram", "auto"])
def test_more_clusters_than_planned_are_refused_with_a_budget_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setattr(clusters_module, "CLUSTER_BYTES", 100_000)  # planned for: 65 of them
    path = write_store(tmp_path / "g.zarr", small_parts(600))
    with open_store(path) as store:
        run = partial(make_task, "clusters", {"masters": 1}, vertex_state=state)
        plan = plan_run(store, run(memory_bytes=8 << 30))
        # As many components as 2,400 vertices may have, of two each, are in the least that works.
        assert plan.minimum_bytes > 1100 * 100_000
        with pytest.raises(BudgetError, match="600 clusters, one in every component at least") as caught:
            execute(store, run(memory_bytes=plan.narrow_bytes + (4 << 20)))
        assert named_mib(caught) << 20 < plan.minimum_bytes
        for enough in (named_mib(caught) << 20, plan.minimum_bytes):
            grown = 96 << 20  # the process of a test grows meanwhile, by kernels at most
            found = execute(store, run(memory_bytes=enough + grown))
            assert (found.lower, found.n_components) == (4, 600)


def test_an_order_of_more_clusters_than_planned_is_refused_with_a_budget_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_store(tmp_path / "g.zarr", small_parts(600))
    with pytest.raises(BudgetError, match="give at least") as caught:
        reorder(path, tmp_path / "new.zarr", "cluster", options=ConvertOptions(memory_bytes=1 << 20))
    least = named_mib(caught)
    monkeypatch.setattr(cluster_order, "_CLUSTER_BYTES", 1 << 20)  # planned for: 102 of them
    options: dict[str, Any] = {"memory_bytes": (least + 110) << 20}
    with pytest.raises(BudgetError, match="601 clusters") as caught:
        reorder(path, tmp_path / "new.zarr", "cluster", options=ConvertOptions(**options))
    options["memory_bytes"] = (named_mib(caught) + 32) << 20
    assert reorder(path, tmp_path / "new.zarr", "cluster", options=ConvertOptions(**options)).record.n_vertices == 2400


@pytest.mark.parametrize("most", [0, 5, 1000])
def test_few_traversals_find_the_longest_of_many_components(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """One BFS for each that may hold it, or all of them at once: the same numbers."""
    monkeypatch.setattr(cluster_lower, "MOST_BFS", most)
    with engine_on(write_store(tmp_path / "g.zarr", small_parts(90)), method="clusters") as engine:
        before = engine.reporter.stats().traversals
        found = clusters(engine, ClusterOptions(masters=20))
        traversals = engine.reporter.stats().traversals - before
    assert (found.lower, found.upper, found.n_components) == (4, 8, 90)
    assert found.witness is not None and found.witness.length == 4
    assert traversals <= most + 6 or most == 1000


def test_the_lower_bound_is_the_same_without_room_for_an_order_of_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the arena cannot give up what the order takes; on a long path the labels are never mended in time."""
    graph = naive.graph_of(3000, [(v, v + 1) for v in range(2999)])
    with engine_on(write_store(tmp_path / "g.zarr", graph), "streamed", method="clusters") as engine:
        with_order = clusters(engine, ClusterOptions(masters=3))
        plan = replace(engine.plan, reserve_bytes=0)
        engine.core.reserve = Reserve(plan, engine.core.pager)
        monkeypatch.setattr(engine.core.pager, "give_up", lambda n_bytes, least: 0)
        asked: list[int] = []
        real = engine.core.hold

        def hold(what: str, n_bytes: int) -> None:
            asked.append(n_bytes)
            real(what, n_bytes)

        monkeypatch.setattr(engine.core, "hold", hold)
        without = clusters(engine, ClusterOptions(masters=3))
    assert max(asked) == 8 * 3000 and asked[-1] == 0 and with_order.lower == without.lower
    assert with_order.witness is not None and with_order.witness.length == without.witness.length == with_order.lower
    assert (with_order.upper, with_order.estimate) == (without.upper, without.estimate)
