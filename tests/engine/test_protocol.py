"""The engine protocol: every verb of every engine equals its naive twin."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.engine.interface import Engine, first_with_edge, max_degree_vertex
from emdiam.traverse.components import pairs_within
from emdiam.traverse.distance_table import DistanceTable
from emdiam.traverse.tally import DistanceSums
from tests.helpers import approx_twins, naive
from tests.helpers.stores import ENGINES, EXTERNAL, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(12)

ODD = odd_graphs()
KINDS = (*ENGINES, *EXTERNAL)
SETTINGS = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def check_bfs(engine: Engine, graph: naive.Graph, source: int, radius: int | None) -> None:
    want = naive.distances(graph, source)
    if radius is not None:
        want = [d if d <= radius else -1 for d in want]
    top = max(want)
    run = engine.bfs(source, radius=radius, profile=True)
    assert run.distances is not None
    assert run.distances.gather(np.arange(len(graph))).tolist() == want
    assert run.n_reached == sum(d >= 0 for d in want)
    assert run.levels == top
    assert run.farthest == want.index(top)
    assert run.level_counts == [want.count(k) for k in range(top + 1)]
    stopped = radius is not None and radius <= top
    assert run.eccentricity == (None if stopped and radius == top else top)
    bare = engine.bfs(source, radius=radius, distances=False)
    assert bare.distances is None
    assert (bare.eccentricity, bare.n_reached, bare.farthest) == (
        run.eccentricity, run.n_reached, run.farthest)


def check_targets(engine: Engine, graph: naive.Graph, source: int, targets: list[int]) -> None:
    want = naive.distances(graph, source)
    run = engine.bfs(source, targets=targets)
    assert run.distances is not None
    if all(want[t] >= 0 for t in targets):
        last = max(want[t] for t in targets)
        assert run.levels == last and run.eccentricity is None
        found = run.distances.gather(np.arange(len(graph)))
        assert found.tolist() == [d if d <= last else -1 for d in want]
    else:
        assert run.eccentricity == max(want)


def check_eccentricities(engine: Engine, graph: naive.Graph, rng: random.Random) -> None:
    n = len(graph)
    for k in (1, rng.randint(2, 8), rng.randint(9, 150)):
        sources = [rng.randrange(n) for _ in range(k)]
        want = [naive.distances(graph, v) for v in sources]
        assert engine.bfs(sources[0]).eccentricity == max(want[0])
        columns = [engine.new_column(n) for _ in sources]
        found = engine.eccentricities(sources, columns=columns)
        assert found.dtype == np.int32 and found.tolist() == [max(d) for d in want]
        assert [c.gather(np.arange(n)).tolist() for c in columns] == want
        assert engine.eccentricities(np.array(sources)).tolist() == found.tolist()
        if engine.facts.wide_bits:
            assert engine.wide_eccentricities(np.array(sources), 64).tolist() == found.tolist()
        targets = {rng.randrange(n) for _ in range(rng.randint(1, 4))}
        bitmap = np.zeros((n + 63) // 64, np.uint64)
        for t in targets:
            bitmap[t >> 6] |= np.uint64(1 << (t & 63))
        stopped = engine.eccentricities(sources, targets=bitmap).tolist()
        for begin in range(0, k, engine.facts.batch_bits):  # each batch stops by itself
            batch = slice(begin, begin + engine.facts.batch_bits)
            last = max(max(d[t] for t in targets) for d in want[batch])
            unreachable = any(d[t] < 0 for d in want[batch] for t in targets)
            for reach, d in zip(stopped[batch], want[batch], strict=True):
                assert reach == (max(d) if unreachable else min(max(d), last))


def check_spread(engine: Engine, graph: naive.Graph, rng: random.Random) -> None:
    n = len(graph)
    seeds = [rng.randrange(n) for _ in range(rng.randint(1, 6))]
    values = [rng.randint(0, 9) for _ in seeds]
    limit = rng.randint(0, 12)
    bound = engine.new_column(60)
    lowered = engine.spread(np.array(seeds), np.array(values), limit, bound)
    want = naive.spread(graph, seeds, values, limit)
    assert bound.gather(np.arange(n)).tolist() == [-1 if b is None else b for b in want]
    assert lowered >= sum(b is not None for b in want)
    engine.spread(None, limit, limit + 5, bound)
    want = naive.spread(graph, seeds, values, limit + 5)
    seen = naive.spread(graph, seeds, values, limit)
    if any(b == limit for b in seen):  # growing starts where the old spread ended
        grown = naive.spread(graph, [v for v, b in enumerate(seen) if b == limit],
                             [limit] * sum(b == limit for b in seen), limit + 5)
        merged = [min((x for x in (a, b) if x is not None), default=-1)
                  for a, b in zip(seen, grown, strict=True)]
        assert bound.gather(np.arange(n)).tolist() == merged


def check_spread_again(engine: Engine, graph: naive.Graph, rng: random.Random) -> None:
    """Two spreads on one column to the same limit, of which the second lowers what the first has left by one."""
    v = rng.randrange(len(graph))
    if graph[v]:
        w = rng.choice(graph[v])
        bound = engine.new_column(60)
        engine.spread(np.array([w]), np.array([3]), 6, bound)
        engine.spread(np.array([v]), np.array([1]), 6, bound)
        want = naive.spread(graph, [v, w], [1, 3], 6)
        assert bound.gather(np.arange(len(graph))).tolist() == [-1 if b is None else b for b in want]


def check_components(engine: Engine, graph: naive.Graph, source: int) -> None:
    engine.bfs(source, distances=False)
    parts = [p for p in naive.components(graph) if len(p) > 1]
    mine = next((p for p in parts if source in p), None)
    others = [p for p in parts if p is not mine]
    found = engine.components(source)
    if found is None:
        assert others == []
        return
    assert found.n_others == len(others)
    assert found.n_pairs() == sum(len(p) * (len(p) - 1) // 2 for p in others)
    listed = found.larger_than(1)
    assert found.larger_than(1) == []
    assert [(c.size, c.root) for c in listed] == sorted(
        ((len(p), p[0]) for p in others), key=lambda x: (-x[0], x[1]))
    for component in listed:
        part = next(p for p in others if p[0] == component.root)
        top = max(len(graph[v]) for v in part)
        assert component.hub == min(v for v in part if len(graph[v]) == top)
        assert component.last == part[-1]
        assert np.flatnonzero(found.labels[:] == component.root).tolist() == part


def check_rows(engine: Engine, graph: naive.Graph, source: int) -> None:
    n = len(graph)
    picked = sorted({source, 0, n - 1, n // 2})
    assert [r.tolist() for r in engine.rows(np.array(picked))] == [graph[v] for v in picked]
    run = engine.bfs(source)
    assert run.distances is not None
    path = np.concatenate(list(engine.path_pieces(run.distances, run.farthest)))
    assert len(path) == run.levels + 1 and path[0] == run.farthest and path[-1] == source
    assert all(b in graph[a] for a, b in itertools.pairwise(path))
    if len(path) > 1:
        assert engine.all_edges_exist(path[:-1], path[1:])
    assert not engine.all_edges_exist(np.array([source]), np.array([source]))
    assert np.concatenate(list(engine.path_pieces(run.distances, run.farthest, by_rank=True))).tolist() == path.tolist()
    assert engine.scan("steep-arcs", run.distances) == 0
    assert engine.scan("tree-diameter", run.distances, source) == approx_twins.tree_diameter(graph, source)
    degrees = [len(row) for row in graph]
    top = max(degrees)
    assert max_degree_vertex(engine) == degrees.index(top)
    with_edge = [v for v, d in enumerate(degrees) if d]
    assert first_with_edge(engine) == (with_edge[0] if with_edge else -1)
    ones = [v for v, d in enumerate(degrees) if d == 1]
    listed = [v for piece in engine.vertices_of_degree(1, most=3) for v in piece.tolist()]
    assert listed == ones
    column = engine.new_column(len(graph) + 5, 2, isolated=len(graph) + 5)
    assert column.gather(range(len(graph))).tolist() == [2 if d else len(graph) + 5 for d in degrees]
    if ones:
        check_chains(engine, graph, ones)


def check_chains(engine: Engine, graph: naive.Graph, tips: list[int]) -> None:
    ends, lengths = engine.follow_chains(np.array(tips))
    for tip, end, length in zip(tips, ends.tolist(), lengths.tolist(), strict=True):
        before, here, steps = tip, graph[tip][0], 1
        while len(graph[here]) == 2:
            before, here = here, next(w for w in graph[here] if w != before)
            steps += 1
        assert (end, length) == (here, steps)


def check_counts(engine: Engine, graph: naive.Graph, rng: random.Random, most: int | None = None) -> None:
    """most : sources; all vertices unless given."""
    n = len(graph)
    many = min(n, most or n)
    for k in {1, rng.randint(1, many), many}:
        sources = np.array(rng.sample(range(n), k))
        groups = np.array([rng.randrange(3) for _ in range(k)])
        groups[rng.randrange(k)] = 2
        far = [naive.distances(graph, v) for v in sources]
        top = max(map(max, far))
        want = np.array([[level and sum(d.count(level) for d, g in zip(far, groups, strict=True) if g == group)
                          for group in range(3)] for level in range(top + 1)])
        sums, table, other = DistanceSums(n), DistanceTable(3), DistanceTable(2)
        engine.count_distances(sources, table, groups=groups, sums=sums)
        assert table.counts.tolist() == want.tolist()
        engine.count_distances(sources, other, groups=1)
        assert other.counts.tolist() == [[0, row] for row in want.sum(axis=1).tolist()]
        near = [[d[v] for d in far if d[v] > 0] for v in range(n)]
        assert sums.values[0].tolist() == list(map(len, near)) and sums.values[1].tolist() == list(map(sum, near))
        assert np.allclose(sums.values[2] / 2.0**sums.shift, [sum(1 / d for d in row) for row in near], rtol=1e-12)


def check_all(engine: Engine, graph: naive.Graph, rng: random.Random, most: int | None = None) -> None:
    """most : sources that distances are counted from; all vertices unless given."""
    n = len(graph)
    check_eccentricities(engine, graph, rng)
    check_counts(engine, graph, rng, most)
    for _ in range(2):
        source = rng.randrange(n)
        check_bfs(engine, graph, source, None)
        check_bfs(engine, graph, source, rng.randint(0, 6))
        check_targets(engine, graph, source, [rng.randrange(n) for _ in range(rng.randint(1, 3))])
        check_spread(engine, graph, rng)
        check_spread_again(engine, graph, rng)
        check_components(engine, graph, source)
        check_rows(engine, graph, source)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    # Levels that are forced to be dense take 0.1 ms each: 22 s for all vertices of the path.
    with engine_on(store, kind) as engine:
        check_all(engine, ODD[name], random.Random(7), 60 if "dense" in kind else None)


@pytest.mark.parametrize("kind", ["in-ram-dense", "in-ram-dense-beamer", "streamed"])
@pytest.mark.thin(1)
def test_more_vertices_than_a_piece_of_a_bit_map(tmp_path: Path, kind: str) -> None:
    """600 vertices with 8 neighbours each on average, so that levels look up from below, and turn from sparse to dense
    and back at the tail of a path."""
    rng = random.Random(3)
    edges = [(rng.randrange(600), rng.randrange(600)) for _ in range(2400)] + [(v, v + 1) for v in range(599, 640)]
    graph = naive.graph_of(641, edges)
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        for source in (0, 640):
            check_bfs(engine, graph, source, None)
        check_counts(engine, graph, rng, 20)


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(graph=graphs(most=150), seed=st.integers(0, 2**32))
def test_random_graphs(tmp_path: Path, kind: str, graph: naive.Graph, seed: int) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, kind) as engine:
        check_all(engine, graph, random.Random(seed))


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_pairs_within_components_of_any_size(dtype: type) -> None:
    sizes = [0, 1, 2, 3, (1 << 16) - 1, 1 << 16, (1 << 32) - 2, *([7] * 70_000)]
    want = sum(s * (s - 1) // 2 for s in sizes)
    assert pairs_within(np.array(sizes, dtype)) == want < 1 << 63 < pairs_within(np.array([1 << 33], np.uint64))


def test_scan_finds_steep_arcs(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    with engine_on(store, "streamed") as engine:
        labels = engine.bfs(0).distances
        labels.put([5], 9)
        steep = engine.scan("steep-arcs", labels)
        near = naive.distances(ODD["grid"], 0)
        near[5] = 9
        assert steep == sum(abs(near[v] - near[w]) > 1 for v, row in enumerate(ODD["grid"]) for w in row) > 0
        with pytest.raises(ValueError):
            engine.scan("nothing", labels)


def test_bad_source(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["edge"])
    with engine_on(store) as engine, pytest.raises(ValueError):
        engine.bfs(2)


def test_distances_widen_and_never_wrap(tmp_path: Path) -> None:
    """More than 254 and more than 65,534 levels, sparse and dense."""
    n = 70_000
    path = [[1]] + [[v - 1, v + 1] for v in range(1, n - 1)] + [[n - 2]]
    store = write_store(tmp_path / "g.zarr", path, chunk=4096)
    with engine_on(store) as engine:
        run = engine.bfs(0)
        assert run.eccentricity == n - 1
        assert run.distances.dtype == np.uint32
        assert run.distances.gather(np.arange(n)).tolist() == list(range(n))
    with engine_on(write_store(tmp_path / "h.zarr", [*path[:399], [398]]), "streamed-dense") as engine:
        run = engine.bfs(0)
        assert run.eccentricity == 399 and run.distances.dtype == np.uint16
        assert run.distances.gather(np.arange(400)).tolist() == list(range(400))
