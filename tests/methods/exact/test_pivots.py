"""Pivots equal brute force on every engine, whatever way the proof is found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.engine.interface import Facts
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.exact import boxes as boxes_module
from emdiam.methods.exact import pivots as pivots_module
from emdiam.methods.exact import strategy as costs
from emdiam.methods.exact.boxes import build_boxes, open_points, worst_pair
from emdiam.methods.exact.candidates import boxed_candidates
from emdiam.methods.exact.pivots import PivotOptions, Pivots, pivots
from emdiam.methods.exact.strategy import Costs
from emdiam.methods.run import UNKNOWN, Best, Limits
from emdiam.traverse.ram_column import RamColumn
from tests.helpers import naive
from tests.helpers.small_engine import engines, limit_pool
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store
from tests.methods.exact.test_classics import random_graph
from tests.methods.exact.test_fdiam import check
from tests.traverse.test_level_windows import SHAPES
from tests.traverse.test_level_windows import make as shaped

pytestmark = pytest.mark.thin(16)

ODD = odd_graphs()
# How the method is steered: its own choice, never covering, always, or at random.
WAYS = ("own", "certificates", "covering", "random")


@contextmanager
def steered(way: str, sweeps: int, seed: int) -> Iterator[None]:
    """Force the choice between certificates and covering, and the number of sweeps."""
    rng = random.Random(seed)
    choices = {"certificates": lambda *_: False, "covering": lambda *_: True,
               "random": lambda *_: rng.random() < 0.5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pivots_module, "LEAST_SWEEPS", min(3, sweeps))
        patch.setattr(pivots_module, "MOST_SWEEPS", sweeps)
        patch.setattr(pivots_module, "VERY_MANY", rng.choice([1, 3, 1024]))
        if way != "own":
            patch.setattr(Costs, "covering_pays", choices[way])
            most, alone = rng.choice([1, 1, 9]), rng.choice([2, 9])
            patch.setattr(Costs, "visits", lambda self, cover, gain: cover <= most)
            patch.setattr(Costs, "one_by_one", lambda self, k: k <= alone)
            patch.setattr(Facts, "apart_pays", lambda self, levels: self.apart > 0 and rng.random() < 0.5)
            patch.setattr(Costs, "pairs_are_cheap", lambda self: rng.random() < 0.5)
            patch.setattr(costs, "FIRST_BATCH", 2)
            patch.setattr(Costs, "wide_bits", lambda self, cover, gain: min(self._most_wide, rng.choice([0, 0, 3])))
            patch.setattr(Costs, "pairs_at_once", lambda self, n_open, room: rng.randint(1, 5))
        yield


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
        check(pivots(engine), ODD[name])
        for way in WAYS[1:]:
            with steered(way, 1, 5):
                check(pivots(engine, PivotOptions(seed=3)), ODD[name])


STEERING = st.tuples(st.sampled_from(WAYS), st.integers(1, 5), st.integers(0, 9))
POOLS = st.sampled_from([None, None, 0, 300, 3_000, 30_000])


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-dense", "streamed"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), steering=STEERING, pool=POOLS)
def test_random_graphs(
    tmp_path: Path, kind: str, graph: naive.Graph, steering: tuple[str, int, int], pool: int | None
) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine, steered(*steering):
        limit_pool(engine, engine.facts.pool_bytes if pool is None else pool)
        check(pivots(engine, PivotOptions(seed=steering[2])), graph)


def solve_steered(make: Any, graph: naive.Graph, rng: random.Random) -> None:
    """One graph with a random way, number of sweeps and memory."""
    engine = make(graph)
    limit_pool(engine, rng.choice([1 << 28, 1 << 28, 0, 300, 3_000]))
    with steered(rng.choice(WAYS), rng.randint(1, 5), rng.randrange(1 << 30)):
        check(pivots(engine, PivotOptions(seed=rng.randrange(5), batches=rng.random() < 0.8)), graph)


def test_a_few_hundred_graphs() -> None:
    rng = random.Random(2)
    with engines() as make:
        for _ in range(300):
            solve_steered(make, random_graph(rng), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_graphs(seed: int) -> None:
    """Small graphs with pendant trees and chains, where chain dominance is no settlement."""
    rng = random.Random(2000 + seed)
    with engines(**rng.choice([{}, {"dense_arcs": 0}])) as make:
        for _ in range(2200):
            solve_steered(make, random_graph(rng), rng)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_larger_graphs(shape: str) -> None:
    """Hundreds of vertices, so that trees of boxes are deep, in every way."""
    rng = random.Random(shape)
    with engines() as make:
        for _ in range(8):
            graph = shaped(shape, rng)
            for _ in range(4):
                solve_steered(make, graph, rng)


@pytest.mark.parametrize("degree", [3, 4, 8])
def test_random_regular_graphs_take_wide_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, degree: int
) -> None:
    """Few of their vertices are settled by any other."""
    monkeypatch.setattr(costs, "FIRST_BATCH", 7)
    monkeypatch.setattr(costs, "LARGEST_BATCH", 8)
    monkeypatch.setattr(costs, "WIDE_FROM", 10)
    graph = naive.graph_of(400, nx.random_regular_graph(degree, 400, 2).edges)
    batches = []
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        real = engine.wide_eccentricities
        monkeypatch.setattr(Costs, "covering_pays", lambda *_: True)
        monkeypatch.setattr(Costs, "_narrow_seconds", lambda self, sources: 1e9)
        monkeypatch.setattr(engine, "wide_eccentricities",
                            lambda sources, bits: batches.append(len(sources)) or real(sources, bits))
        result = pivots(engine)
        check(result, graph)
    assert sum(batches) + 7 >= result.traversals.multi_source_sources > sum(batches) > 0
    (part,) = result.proof.components
    assert len(set(part.sources)) == len(part.sources) == result.traversals.multi_source_sources
    far = {v: naive.distances(graph, v) for v in (*part.sources, *part.pivots)}
    assert all(min(max(d) + d[v] for d in far.values()) <= part.upper or v in far for v in range(len(graph))
               if not any(2 * far[p][v] <= part.upper for p in part.pivots))


def test_columns_on_disk_and_coarse_boxes(tmp_path: Path) -> None:
    """With little memory the columns go to disk, boxes choose the candidates, and nothing is left there."""
    graph = naive.graph_of(2500, [(v, v + 1) for v in range(2500) if (v + 1) % 50 and v + 1 < 2500]
                           + [(v, v + 50) for v in range(2450)])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        limit_pool(engine, 4_000)
        result = pivots(engine, PivotOptions(scratch=scratch))
    assert result.diameter == 98 and result.details["columns_on_disk"] > 0
    assert list(scratch.iterdir()) == []
    with engine_on(tmp_path / "g.zarr") as engine:
        assert pivots(engine).details["columns_on_disk"] == 0


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_coarse_candidates_keep_every_open_vertex(data: st.DataObject) -> None:
    """Whatever the table's size: no vertex of an open pair is lost; at q = 0 with room, no other stays."""
    k, n = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 50))
    rows = np.array(data.draw(st.lists(st.lists(st.integers(0, 30), min_size=k, max_size=k),
                                       min_size=n, max_size=n)), np.uint8)
    upper = RamColumn(np.array(data.draw(st.lists(st.integers(0, 60), min_size=n, max_size=n)), np.uint8))
    limit = data.draw(st.integers(0, 60))
    columns = [RamColumn(np.ascontiguousarray(rows[:, i])) for i in range(k)]
    alive = [v for v in range(n) if upper.raw()[v] > limit]
    wanted = {v for v in alive for w in alive
              if v != w and naive_bound(rows[v].tolist(), rows[w].tolist()) > limit}
    found = boxed_candidates(upper, columns, limit, data.draw(st.sampled_from([0, 1 << 20])), n)
    assert found is not None and wanted <= set(found.ids.tolist()) <= set(alive)
    assert boxed_candidates(upper, columns, limit, 1 << 20, len(wanted) - 1) is None or not wanted


def test_no_vertices(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", [])) as engine, pytest.raises(InputError, match="no vertices"):
        pivots(engine)


def naive_bound(a: list[int], b: list[int]) -> int:
    return min(x + y for x, y in zip(a, b, strict=True))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_boxes_equal_all_pairs(data: st.DataObject) -> None:
    """The worst pair, and which points are open, by looking at all pairs."""
    k, m = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 60))
    top = data.draw(st.sampled_from([3, 40, 255, 60_000]))
    dtype = np.uint8 if top < 256 else np.uint16
    rows = data.draw(st.lists(st.lists(st.integers(0, top), min_size=k, max_size=k), min_size=m, max_size=m))
    threshold = data.draw(st.integers(0, 2 * top))
    bounds = {(i, j): naive_bound(rows[i], rows[j]) for i in range(m) for j in range(i)}
    above = {pair: value for pair, value in bounds.items() if value > threshold}
    boxes = build_boxes(np.array(rows, dtype))
    found = worst_pair(boxes, threshold)
    assert found.finished and found.bound == max(above.values(), default=threshold)
    if above:
        assert above[max(found.first, found.second), min(found.first, found.second)] == found.bound
    else:
        assert (found.first, found.second) == (-1, -1)
    marked = open_points(boxes, threshold)
    assert set(np.flatnonzero(marked).tolist()) == {v for pair in above for v in pair}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes_module, "_LEAST_SAMPLED", 1)
        patch.setattr(boxes_module, "_SAMPLED", 3)
        sampled = open_points(boxes, threshold, sample=True)
    first = marked[boxes.order[::3]]
    assert sampled.tolist() == (np.ones(m, bool) if first.mean() > 0.5 else marked).tolist()


def test_many_equal_points_are_one_box() -> None:
    """A million equal points: quadratic work would never end."""
    points = np.full((1_000_000, 2), 7, np.uint8)
    boxes = build_boxes(points)
    assert len(boxes.begin) == 1
    found = worst_pair(boxes, 13)
    assert (found.bound, found.looked_at < 10) == (14, True)
    assert worst_pair(boxes, 14).first == -1
    assert open_points(boxes, 13).all() and not open_points(boxes, 14).any()


def test_sums_do_not_wrap() -> None:
    """Distances of 200 and 200 in bytes are 400 apart, not 144."""
    found = worst_pair(build_boxes(np.array([[200], [200]], np.uint8)), 399)
    assert found.bound == 400


def test_very_few_that_are_left_are_certified_after_two_sweeps(tmp_path: Path) -> None:
    # A star with two legs; the longer one forks, and what is beyond the fork is left after the sweep from one end.
    legs = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (4, 7), (7, 8), (0, 9), (9, 10), (10, 11), (11, 12)]
    n = 13 + 4 * pivots_module.VERY_MANY
    star = naive.graph_of(n, legs + [(0, leaf) for leaf in range(13, n)])
    with engine_on(write_store(tmp_path / "g.zarr", star), "in-ram") as engine:
        result = pivots(engine)
    assert result.diameter == 10 and result.traversals.bfs == 2


def test_the_ends_of_a_component_that_is_no_longer_are_not_looked_for(tmp_path: Path) -> None:
    # A path of 141 vertices with leaves in its middle, and one of 120 with a leaf at each, which has more than 141.
    paths = [(v, v + 1) for v in (*range(140), *range(181, 300))]
    leaves = [(v - 120, v) for v in range(301, 421)] + [(70, v) for v in (*range(141, 181), *range(421, 700))]
    with engine_on(write_store(tmp_path / "g.zarr", naive.graph_of(700, paths + leaves)), "in-ram") as engine:
        result = pivots(engine)
    assert result.diameter_max_component == 140
    _, short = result.proof.components
    assert result.traversals.bfs == 5  # 6 if its second end is looked for
    (centre,) = short.pivots
    assert 235 <= centre <= 245


def test_a_proof_is_without_searches_that_it_does_not_need(tmp_path: Path) -> None:
    # The middle of a path settles all: the ends, from which the longest path was found, prove nothing more.
    path = naive.graph_of(101, [(v, v + 1) for v in range(100)])
    # Here 5 pivots prove a bound of 6, and 3 more with 7 sources were taken before a path of 6 was found.
    rng = random.Random(66)
    edges = [(v, rng.randrange(max(0, v - rng.choice([3, 9, 60])), v)) for v in range(1, 60)]
    late = naive.graph_of(60, edges + [(rng.randrange(60), rng.randrange(60)) for _ in range(rng.choice([0, 20, 60]))])
    for graph, length, counts in ((path, 100, (1, 0)), (late, 6, (5, 0))):
        with engine_on(write_store(tmp_path / f"{length}.zarr", graph), "in-ram") as engine:
            result = pivots(engine)
        check(result, graph)
        (part,) = result.proof.components
        assert (part.upper, len(part.pivots), len(part.sources)) == (length, *counts)
        assert len(part.pivots) + len(part.sources) < result.traversals.bfs + result.traversals.multi_source_sources


def test_the_second_end_of_the_longest_pair_is_noted_once_it_is_known() -> None:
    """So that no BFS has to find it again."""
    run = object.__new__(Pivots)
    run.best, run.lower_here = Best(4, 1, 2), 0
    for length, source, target, best in ((5, 3, UNKNOWN, Best(5, 3, UNKNOWN)), (5, 7, 8, Best(5, 3, UNKNOWN)),
                                         (5, 3, 9, Best(5, 3, 9)), (5, 3, UNKNOWN, Best(5, 3, 9))):
        run.longer(length, source, target)
        assert run.best == best


def test_ctrl_c_gives_the_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["hypercube"])) as engine:
        real, calls = engine.bfs, []

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(engine, "bfs", interrupted)
        with pytest.raises(StoppedEarly) as stop:
            pivots(engine)
    result = stop.value.result
    assert not result.exact and result.lower <= 6 <= result.upper < 63


def test_gap_is_an_answer(tmp_path: Path) -> None:
    graph = ODD["torus"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        result = pivots(engine, PivotOptions(limits=Limits(gap=1000)))
    assert result.lower <= 8 <= result.upper and result.traversals.bfs < 5
