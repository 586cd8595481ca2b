"""The engine protocol over workers: every verb of a DaskEngine equals its naive twin, for every number of ranks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import StoreError
from tests.engine.test_protocol import check_all
from tests.helpers import naive
from tests.helpers.stores import graphs, odd_graphs, write_store

pytest.importorskip("distributed", reason="dask.distributed is not installed")

from tests.helpers.workers import SOURCES, apart, engine_on_workers

ODD = odd_graphs()
SETTINGS = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
# Workers, whether they are processes of their own, fields of RankSpec.
KINDS: dict[str, tuple[int, bool, dict[str, Any]]] = {
    "one": (1, False, {}), "two": (2, False, {}), "four-dense": (4, False, {"dense_arcs": 0}),
}
PROCESSES: dict[str, tuple[int, bool, dict[str, Any]]] = {
    f"{workers}-processes{'-dense' if dense else ''}": (workers, True, {"dense_arcs": 0} if dense else {})
    for workers in (1, 2, 4) for dense in (False, True)
}


def check(
    path: Path, graph: naive.Graph, kind: tuple[int, bool, dict[str, Any]], seed: int, most: int | None = None
) -> None:
    """All verbs on a store of the graph whose vertices are spread over the ranges. most : sources of counts."""
    wide = apart(graph)
    workers, processes, fields = kind
    with engine_on_workers(write_store(path, wide), workers, processes=processes, **fields) as engine:
        check_all(engine, wide, random.Random(seed), most)


@pytest.mark.thin(28, sampled=("name",))
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", KINDS)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    check(tmp_path / "g.zarr", ODD[name], KINDS[kind], 7, SOURCES)


def test_more_ranks_than_words_of_vertices(tmp_path: Path) -> None:
    """Some ranks own no vertex then."""
    check(tmp_path / "g.zarr", ODD["one"], KINDS["four-dense"], 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("kind", PROCESSES)
def test_odd_graphs_over_processes(tmp_path: Path, kind: str, name: str) -> None:
    check(tmp_path / "g.zarr", ODD[name], PROCESSES[kind], 7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, *PROCESSES])
@SETTINGS
@given(graph=graphs(most=60), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, kind: str, graph: naive.Graph, seed: int) -> None:
    check(tmp_path / "g.zarr", graph, {**KINDS, **PROCESSES}[kind], seed)


def test_isolated_vertices_are_counted_by_the_workers(tmp_path: Path) -> None:
    """Not believed of the store record."""
    with engine_on_workers(write_store(tmp_path / "g.zarr", ODD["isolated-first"]), 2, processes=False) as engine:
        assert engine.group.n_isolated == engine.facts.n_isolated == 70
        engine.group.n_isolated = 69
        with pytest.raises(StoreError, match="the store record says"):
            type(engine)(engine.store, engine.group, engine.plan, lambda: None)
