"""The probe of `emdiam plan` against a naive twin, and what stops it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from emdiam.conversion.convert import ConvertOptions
from emdiam.engine.interface import max_degree_vertex
from emdiam.generators import generate
from emdiam.methods.forecast import BALL_ROUNDS, Probe
from emdiam.runs.probe import probe_graph, probe_store
from emdiam.runs.task import make_task
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.stores import CHUNK, engine_on, graphs, odd_graphs, write_store
from tests.helpers.waiting import PATIENCE

ARENA = 3


def hub_of(graph: naive.Graph, part: list[int]) -> int:
    """The smallest vertex of the highest degree among `part`."""
    return min(part, key=lambda v: (-len(graph[v]), v))


def twin(graph: naive.Graph, n_blocks: int) -> dict[str, Any]:
    """Fields of the Probe by their definitions, without reads and seconds; ARENA blocks in the arena."""
    parts = [part for part in naive.components(graph) if len(part) > 1]
    highest = hub_of(graph, [v for part in parts for v in part])
    mine = next(part for part in parts if highest in part)
    rest = [part for part in parts if part is not mine]
    most = max([len(part) for part in rest], default=0)
    hub = highest
    if most > len(mine):
        mine = next(part for part in rest if len(part) == most)
        hub = hub_of(graph, mine)
    distances = [naive.distances(graph, hub)]
    for _ in range(2):
        farthest = max(mine, key=lambda v: (distances[-1][v], -v))
        distances.append(naive.distances(graph, farthest))
    eccentricities = [max(d) for d in distances]
    bound = max(eccentricities)
    balls = [sum(1 for v in mine if distances[1][v] <= r) for r in range(max(bound, BALL_ROUNDS) + 1)]
    slacks = []
    for v in mine:
        lower = max(max(d[v], e - d[v]) for d, e in zip(distances, eccentricities, strict=True))
        if 2 * distances[0][v] > bound:
            slacks.append(bound - lower)
    lowers = [max(max(d[v], e - d[v]) for d, e in zip(distances, eccentricities, strict=True)) for v in mine]
    distances.append(naive.distances(graph, mine[lowers.index(min(lowers))]))
    upper = [min(d[v] + max(d) for d in distances) for v in mine]
    met = blocks_met(distances[1], n_blocks, bound)
    reads = [sum(met[: r + 1]) / n_blocks for r in range(bound + 1)]
    if sum(met) <= ARENA * (eccentricities[1] + 1):
        reads = [min(1.0, read) for read in reads]
    return {
        "lower_bound": bound,
        "longest": max(most - 1 if rest else 0, min(2 * eccentricities[0], len(graph) - 1)), "n_reached": len(mine),
        "connected": not rest, "unsettled": sum(1 for u in upper if u > bound),
        "evaluations": sum(1 / balls[slack] for slack in slacks),
        "spread_reads": sum(reads[slack] for slack in slacks) / max(1, len(slacks)),
        "balls": tuple(balls[: BALL_ROUNDS + 1]),
    }


def blocks_met(distance: list[int], n_blocks: int, bound: int) -> list[int]:
    """In how many of n_blocks equal pieces of the vertices every level has a vertex."""
    n = len(distance)
    pieces = min(n, n_blocks)
    parts = [set(distance[i * n // pieces : (i + 1) * n // pieces]) for i in range(pieces)]
    return [sum(1 for part in parts if level in part) for level in range(bound + 1)]


def check(graph: naive.Graph, found: Probe, n_blocks: int) -> None:
    """Equal to the twin."""
    expected = twin(graph, n_blocks)
    got = found.to_dict()
    for name in ("evaluations", "spread_reads"):
        assert got.pop(name) == pytest.approx(expected.pop(name), rel=1e-9)
    assert {name: got[name] for name in expected} == expected


@settings(max_examples=40, deadline=None)
@given(graph=graphs(most=90))
def test_a_probe_equals_its_twin(graph: naive.Graph):
    if not any(graph):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = write_store(Path(folder) / "g.zarr", graph)
        with engine_on(path) as engine:
            check(graph, probe_graph(engine, ARENA), engine.facts.n_blocks)


@pytest.mark.parametrize("name", [name for name, graph in odd_graphs().items() if any(graph)])
def test_odd_graphs_are_probed(tmp_path: Path, name: str):
    graph = odd_graphs()[name]
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path) as engine:
        check(graph, probe_graph(engine, ARENA), engine.facts.n_blocks)


@pytest.mark.parametrize("name", ["path", "grid", "star", "clique-and-path"])
def test_reads_are_those_of_its_traversals(tmp_path: Path, name: str):
    graph = odd_graphs()[name]
    path = write_store(tmp_path / "g.zarr", graph)
    options = {"arena_bytes": 4 * CHUNK * 4, "threads": 1}
    with open_store(path) as store:
        found = probe_store(store, make_task("pivots", memory_bytes=2 << 30, **options), PATIENCE)
    assert found is not None
    with engine_on(path, **options) as engine:
        hub = max_degree_vertex(engine)
        first = engine.bfs(hub)
        if not found.connected:
            others = engine.components(hub)
            if others.largest_size() > first.n_reached:
                first = engine.bfs(others.larger_than(others.largest_size() - 1, most=1)[0].hub)
        before = engine.reporter.stats().blocks_read
        second = engine.bfs(first.farthest)
        engine.bfs(second.farthest)
        blocks, counted = engine.reporter.stats().blocks_read - before, 2
        if found.connected:
            blocks, counted = engine.reporter.stats().blocks_read, 3
        assert found.reads == blocks / (counted * engine.facts.n_blocks)


@pytest.mark.parametrize("name", ["one", "no-edges"])
def test_a_graph_without_an_edge_is_not_probed(tmp_path: Path, name: str):
    with open_store(write_store(tmp_path / "g.zarr", odd_graphs()[name])) as store:
        assert probe_store(store, make_task("pivots", memory_bytes=2 << 30)) is None


def test_a_probe_ends_when_its_time_is_over(tmp_path: Path):
    path = tmp_path / "grid.zarr"
    generate("grid", path, parameters={"sides": "700x700"}, options=ConvertOptions(chunk_ids=1 << 12))
    with open_store(path) as store:
        options: dict[str, Any] = {"memory_bytes": 2 << 30, "arena_bytes": 4 << 14}
        assert probe_store(store, make_task("pivots", **options), 0.05) is None


def test_a_probe_needs_the_memory_of_the_plan(tmp_path: Path):
    with open_store(write_store(tmp_path / "g.zarr", odd_graphs()["grid"], CHUNK)) as store:
        assert probe_store(store, make_task("pivots", memory_bytes=20 << 20), PATIENCE) is None
        assert probe_store(store, make_task("pivots", memory_bytes=2 << 30), PATIENCE) is not None


def test_long_graphs_are_counted_in_few_bins(tmp_path: Path):
    """More levels than bins: what is counted by level stays small, and near what the definition gives."""
    n = 200_000
    path = tmp_path / "path.zarr"
    generate("path", path, vertices=n)
    with open_store(path) as store:
        found = probe_store(store, make_task("pivots", memory_bytes=2 << 30), PATIENCE)
    assert found is not None and found.lower_bound == n - 1 and found.balls[:3] == (1, 2, 3)
    # From vertex 1 Winnow leaves the far half; an end v of slack s takes s + 1 vertices: ln 2n of them, nearly.
    exact = sum(1 / (n - v) for v in range(n // 2 + 1, n))
    assert 0.5 * exact <= found.evaluations <= exact + 1e-9 and found.evaluations != 0
