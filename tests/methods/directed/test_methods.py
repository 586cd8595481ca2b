"""Exact methods on digraphs beside plain BFS from every vertex, and the count of the published program."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.engine.directed import DirectedEngine, open_directed_engine, plan_directed
from emdiam.errors import DisconnectedError, InputError, StoppedEarly
from emdiam.methods.directed.apsp import DirectedApsp
from emdiam.methods.directed.graph_diameter import DirectedGraphDiameter
from emdiam.methods.directed.method import DirectedMethod, DirectedOptions, phases
from emdiam.methods.directed.metric import ArcMetric
from emdiam.methods.directed.pivots import DirectedPivots
from emdiam.methods.result import DirectedResult
from emdiam.methods.run import Limits, solved
from emdiam.store.store import open_store
from tests.helpers.directed_answers import check_longest
from tests.helpers.directed_twins import Arcs, all_distances, odd_digraphs, random_arcs, write_arcs
from tests.helpers.graph_diameter_twin import sources_of

METHODS: tuple[type[DirectedMethod], ...] = (DirectedGraphDiameter, DirectedPivots, DirectedApsp)


@contextmanager
def opened(folder: Path, n: int, arcs: Arcs, arena: int | None = None) -> Iterator[DirectedEngine]:
    write_arcs(arcs, folder / "g.zarr", n)
    with open_store(folder / "g.zarr", directed=True) as store:
        plan = plan_directed(store, phases(store, 10, 8), memory_bytes=4 << 30, arena_bytes=arena)
        with open_directed_engine(store, plan) as engine:
            yield engine


def check_all(folder: Path, n: int, arcs: Arcs, sweeps: int, arena: int | None = None) -> None:
    matrix = np.array(all_distances(n, arcs))
    with opened(folder, n, arcs, arena) as engine:
        for method in METHODS:
            check_longest(solved(method(ArcMetric(engine), DirectedOptions(sweeps=sweeps))), matrix)
        result = solved(DirectedGraphDiameter(ArcMetric(engine), DirectedOptions(sweeps=0)))
        if arcs and engine.plan.in_ram:
            assert sources_of(n, arcs, 0) == (result.details["published_count"], result.lower)


def test_odd_digraphs(tmp_path: Path) -> None:
    for _, n, arcs in odd_digraphs():
        check_all(tmp_path, n, arcs, 1)


@pytest.mark.thin(4, sampled=("seed",))
@pytest.mark.parametrize("seed", range(4))
def test_random_digraphs(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        check_all(tmp_path, *random_arcs(rng), sweeps=rng.choice([0, 1, 10]))


def test_streamed(tmp_path: Path) -> None:
    rng = random.Random(3)
    for kind in range(4):
        n = 200
        arcs = [(v, (v + rng.randint(1, 3 + kind)) % n) for v in range(n) for _ in range(3 + kind)]
        arcs = arcs[: len(arcs) // (1 + kind % 2)]
        check_all(tmp_path, n, arcs, 2, arena=8 * 64 * 4)


@settings(max_examples=30, deadline=None)
@given(data=st.data(), n=st.integers(1, 9))
def test_any_digraph(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, n: int) -> None:
    ends = st.integers(0, n - 1)
    arcs = data.draw(st.lists(st.tuples(ends, ends), max_size=4 * n))
    check_all(tmp_path_factory.mktemp("any"), n, arcs, data.draw(st.integers(0, 2)))


def test_networkx_agrees_on_strongly_connected_ones(tmp_path: Path) -> None:
    for seed in range(5):
        graph = nx.gnp_random_graph(40, 0.12, seed=seed, directed=True)
        core = graph.subgraph(max(nx.strongly_connected_components(graph), key=len))
        graph = nx.convert_node_labels_to_integers(core)
        with opened(tmp_path, len(graph), list(graph.edges)) as engine:
            for method in METHODS:
                assert solved(method(ArcMetric(engine), DirectedOptions())).diameter == nx.diameter(graph)


def test_limits(tmp_path: Path) -> None:
    n = 60
    arcs = [(v, (v + 1) % n) for v in range(n)] + [(0, 30), (40, 7)]
    with opened(tmp_path, n, arcs) as engine:
        for method in METHODS:
            with pytest.raises(StoppedEarly) as stopped:
                solved(method(ArcMetric(engine), DirectedOptions(limits=Limits(seconds=0))))
            found = stopped.value.result
            assert isinstance(found, DirectedResult) and found.lower <= max(map(max, all_distances(n, arcs)))
            assert found.upper == n - 1 and found.witness is None
        longest = max(map(max, all_distances(n, arcs)))
        wide = solved(DirectedGraphDiameter(ArcMetric(engine), DirectedOptions(sweeps=0, limits=Limits(gap=n))))
        assert wide.lower <= longest <= wide.upper and (wide.exact or wide.details["enough"] == "gap")
    with opened(tmp_path, 3, [(0, 1), (1, 2)]) as engine:
        with pytest.raises(DisconnectedError, match="3 strong components"):
            solved(DirectedPivots(ArcMetric(engine), DirectedOptions(limits=Limits(connected=True))))
    with pytest.raises(InputError):
        DirectedOptions(sweeps=-1)
