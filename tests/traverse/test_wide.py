"""Wide batches: rows of thousands of bits, and the sources that dominate."""

from __future__ import annotations

import random
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.traverse import domination, multi_wide
from emdiam.traverse.multi_wide import WIDTHS, WideRun, aligned_words, wide_bits, wide_bytes
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

SETTINGS = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def regular(n: int, degree: int, seed: int) -> naive.Graph:
    """A random regular graph, of which some isolated vertices, a star and a path in other components are part."""
    shape = nx.random_regular_graph(degree, n, seed)
    star = [(n, v) for v in range(n + 1, n + 300)]
    path = [(v, v + 1) for v in range(n + 300, n + 340)]
    return naive.graph_of(n + 345, [*shape.edges, *star, *path])


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-one-thread", "streamed"])
@SETTINGS
@given(n=st.integers(20, 120), degree=st.sampled_from([3, 4, 10]), k=st.integers(1, 2048), seed=st.integers(0, 99))
def test_eccentricities_of_regular_graphs(
    tmp_path: Path, kind: str, n: int, degree: int, k: int, seed: int
) -> None:
    """Any number of sources, repeated ones too, of several components; rows that span blocks."""
    graph = regular(2 * (n // 2), degree, seed)
    sources = np.random.default_rng(seed).integers(0, len(graph), k)
    known = {v: max(naive.distances(graph, v)) for v in set(sources.tolist())}
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        found = engine.wide_eccentricities(sources, WIDTHS[-1])
        assert found.dtype == np.int32 and found.tolist() == [known[v] for v in sources.tolist()]
        assert engine.reporter.stats().traversals == 1


@pytest.mark.parametrize("entries", [1, 64, 1 << 16])
def test_balls_of_any_size_and_writes_past_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    monkeypatch.setattr(multi_wide, "_LEAST_QUEUE", entries)
    monkeypatch.setattr(multi_wide, "_CACHE_BYTES", -1)
    graph = regular(60, 3, 5)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        found = engine.wide_eccentricities(np.arange(len(graph)), 1024)
    assert found.tolist() == [max(naive.distances(graph, v)) for v in range(len(graph))]


def test_widths_and_bytes(tmp_path: Path) -> None:
    assert [wide_bits(k) for k in (1, 512, 513, 1025, 2048)] == [512, 512, 1024, 2048, 2048]
    assert 256 * 1000 < wide_bytes(1000, 1024, 1) < wide_bytes(1000, 2048, 2)
    assert all(aligned_words(2, 7, 8).ctypes.data % 64 == 0 for _ in range(20))
    with engine_on(write_store(tmp_path / "g.zarr", regular(20, 3, 1))) as engine:
        for sources in ([], [0] * 2049, [365], [-1]):
            with pytest.raises(ValueError):
                WideRun(engine.core, np.array(sources, np.int64))


def dominated(graph: naive.Graph, vertices: list[int], hops: int, is_open: set[int], most: int) -> set[int]:
    """The greedy choice, vertex by vertex."""
    tops = set()
    for vertex in vertices[: domination.SAMPLE * most]:
        for _ in range(hops):
            best = max(graph[vertex], key=lambda w: (len(graph[w]), -w), default=vertex)
            if len(graph[best]) <= len(graph[vertex]):
                break
            vertex = best
        tops.add(vertex)
    covered: set[int] = set()

    def gains(vertex: int) -> set[int]:
        return ({vertex, *graph[vertex]} & is_open) - covered

    order = sorted(tops, key=lambda v: (-len(gains(v)), v))
    first, least, taken = {v: len(gains(v)) for v in order}, len(gains(order[0])), set()
    while True:
        for vertex in order:
            if len(taken) < most - 1 and vertex not in taken and first[vertex] >= least <= len(gains(vertex)):
                covered |= gains(vertex)
                taken.add(vertex)
        if least == 0:
            return taken | {vertices[0]}
        least = int(0.75 * least)


@pytest.mark.parametrize("hops", [0, 1, 3])
def test_sources_dominate_what_is_open(tmp_path: Path, hops: int) -> None:
    shape = nx.barabasi_albert_graph(300, 2, seed=4)
    graph = naive.graph_of(300, shape.edges)
    rng = random.Random(hops)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        for most in (1, 4, 30, 400):
            bound = engine.new_column(20, 5)
            settled = rng.sample(range(300), 100)
            bound.put(settled, 4)
            vertices = [v for v in rng.sample(range(300), 300) if v not in set(settled)]
            sources, proposed = engine.dominating(np.array(vertices), hops, bound, 4, most)
            assert sources.tolist() == sorted(dominated(graph, vertices, hops, set(vertices), most))
            assert set(proposed.tolist()) <= set(vertices) and len(proposed) <= most
