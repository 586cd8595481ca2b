"""The cost model of workers (bench/scaling*.py): its parts against what the program does, and its fit."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import scaling
from bench.scaling_fit import KNOWN, TERMS, Observation, features, fit_costs, fitted, known_costs
from bench.scaling_limits import cannot_run, forecast_run, limits_of
from bench.scaling_model import (
    COLUMN_BYTES,
    ROUNDS,
    Costs,
    Machines,
    Shape,
    between,
    cache_misses,
    directed,
    enlarged,
    forecast_bfs,
    rounds_of,
    set_bytes,
    traffic,
    with_levels,
    worker_memory,
)
from bench.scaling_shapes import from_plain, level_arcs, measured_shape, to_plain
from emdiam.dask.plan import balanced_ranges
from emdiam.runs.opening import needs_of
from emdiam.runs.task import make_task
from emdiam.store.store import open_store
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

COSTS = Costs(step=0.005, task=1e-3, round=1e-4, swap=4e-4, message=5e-5, byte=1e-9, sparse_arc=1e-8, dense_arc=1e-9,
              vertex=1e-8, bitmap_byte=1e-10, decode_arc=1e-9, base_bytes=300 << 20, fact_bytes=8.0)
CROWD = 3e-4
MACHINES = Machines(workers=64, threads=8, memory_bytes=64 << 30, network=1.25e9, disk=1e9)
SOCIAL = Shape("social", 1 << 20, 1 << 25, ((1, 40), (40, 1e5), (2e5, 2e7), (6e5, 1.3e7), (1e5, 4e5)),
               {2: 0.5, 64: 0.98}, {2: 0.9, 64: 20.0}, {2: 1.0, 64: 1.5}, 0.005, 2.0)
ROAD = Shape("road", 1 << 18, 700_000, ((350.0, 933.0),) * 749, {2: 0.001, 64: 0.05}, {2: 0.001, 64: 0.05},
             {2: 1.5, 64: 20.0}, 1e-5, 2.0, stretch=0.5, rounds={1: 0.1, 2: 0.2, 16: 0.8})


@pytest.mark.parametrize(("spread", "ids"), [(1 << 14, 3), (1 << 14, 200), (1 << 14, 9000), (1 << 20, 50), (640, 7)])
def test_bytes_of_a_set_are_those_of_its_message(spread: int, ids: int):
    from emdiam.dask.frontier_codec import encode_ids

    rng = np.random.default_rng(ids)
    sizes = [len(encode_ids(np.sort(rng.choice(spread, ids, replace=False)), 0, spread)) - 1 for _ in range(20)]
    assert set_bytes(ids, spread) == pytest.approx(np.mean(sizes), rel=0.05)
    assert set_bytes(0, spread) == 0


def spread_graph(kind: str) -> naive.Graph:
    graphs = {"random": nx.gnm_random_graph(900, 4000, seed=1), "grid": nx.grid_2d_graph(40, 30),
              "hubs": nx.barabasi_albert_graph(1000, 4, seed=2), "parts": nx.disjoint_union(nx.path_graph(400),
                                                                                             nx.star_graph(300))}
    graph = nx.convert_node_labels_to_integers(graphs[kind])
    return naive.graph_of(len(graph), graph.edges)


@pytest.mark.parametrize("kind", ["random", "grid", "hubs", "parts"])
def test_a_shape_is_what_a_naive_count_says(tmp_path: Path, kind: str):
    graph = spread_graph(kind)
    distances = naive.distances(graph, 0)
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path) as engine, open_store(path) as store:
        shape = measured_shape(store, engine, 0, name=kind)
        ranges = {parts: balanced_ranges(store, parts) for parts in (2, 4)}
    last = max(distances)
    assert [[v, a] for v, a in shape.levels] == [
        [distances.count(d), sum(len(graph[v]) for v in range(len(graph)) if distances[v] == d)]
        for d in range(last + 1)]
    for parts, cut in ranges.items():
        owner = [int(np.searchsorted(cut, v, side="right")) - 1 for v in range(len(graph))]
        arcs = [(v, w) for v, row in enumerate(graph) for w in row]
        out = [(owner[v], w) for v, w in arcs if owner[v] != owner[w]]
        assert shape.crossing[parts] == pytest.approx(len(out) / len(arcs))
        assert shape.borders[parts] == pytest.approx(len(set(out)) / len(graph))
        fullest = sum(max(sum(len(graph[v]) for v in range(len(graph)) if distances[v] == d and owner[v] == part)
                          for part in range(parts)) for d in range(last + 1))
        assert shape.balance[parts] == pytest.approx(fullest * parts / sum(a for _, a in shape.levels))
    assert shape.hub_share == max(map(len, graph)) / shape.n_arcs
    assert from_plain(json.loads(json.dumps(to_plain(shape)))) == from_plain(to_plain(shape))


def sent_by_twin(graph: naive.Graph, source: int, cut: np.ndarray) -> int:
    """Payload bytes of a BFS of sparse levels alone: each range tells an owner of each vertex once."""
    from emdiam.dask.frontier_codec import encode_ids

    owner = [int(np.searchsorted(cut, v, side="right")) - 1 for v in range(len(graph))]
    reached, frontier, told, total = {source}, [source], set(), 0
    while frontier:
        letters: dict[tuple[int, int], list[int]] = {}
        for mine, w in sorted({(owner[v], w) for v in frontier for w in graph[v]} - told):
            if owner[w] != mine:
                told.add((mine, w))
                letters.setdefault((mine, owner[w]), []).append(w)
        total += sum(len(encode_ids(np.array(ids), int(cut[to]), int(cut[to + 1]))) for (_, to), ids in letters.items())
        frontier = sorted({w for v in frontier for w in graph[v]} - reached)
        reached.update(frontier)
    return total


@pytest.mark.parametrize("kind", ["random", "hubs"])
@pytest.mark.parametrize("workers", [2, 4])
def test_bytes_of_sparse_levels_are_near_those_of_a_twin(tmp_path: Path, kind: str, workers: int):
    graph = spread_graph(kind)
    path = write_store(tmp_path / "g.zarr", graph)
    with engine_on(path) as engine, open_store(path) as store:
        shape = measured_shape(store, engine, 0, name=kind)
        sent = sent_by_twin(graph, 0, balanced_ranges(store, workers))
    levels = directed(shape, shape.n_arcs)
    assert not any(level.dense for level in levels)
    assert sum(traffic(shape, levels, shape.n_vertices, workers)) == pytest.approx(sent, rel=0.4)


@given(workers=st.integers(2, 256), factor=st.floats(1, 1e4), shape=st.sampled_from([SOCIAL, ROAD]))
@settings(max_examples=60, deadline=None)
def test_bytes_keep_within_the_bound_and_counts_add_up(workers: int, factor: float, shape: Shape):
    n_arcs = shape.n_arcs * factor
    n, levels, times = enlarged(shape, n_arcs)
    assert n == pytest.approx(shape.n_vertices * factor)
    assert times * sum(v for v, _ in levels) == pytest.approx(factor * sum(v for v, _ in shape.levels))
    found = forecast_bfs(shape, n_arcs, replace(MACHINES, workers=workers, memory_bytes=1 << 60), COSTS)
    dense = sum(level.dense * level.times for level in directed(shape, n_arcs))
    assert found.dense_levels == dense and found.read_bytes == 0
    borders = between(shape.borders, workers) * n / times
    assert found.payload_bytes <= 1.1 * (workers - 1) * n / 8 * dense + 5.1 * borders + 1
    assert found.total_seconds == pytest.approx(sum(found.seconds.values())) and found.bottleneck in found.seconds


def test_one_worker_sends_nothing_and_directions_follow_the_rule():
    alone = forecast_bfs(SOCIAL, SOCIAL.n_arcs, replace(MACHINES, workers=1), COSTS)
    assert alone.payload_bytes == alone.fact_bytes == alone.seconds["network"] == 0
    assert [level.dense for level in directed(SOCIAL, SOCIAL.n_arcs)] == [False, False, True, True, True]
    assert not any(level.dense for level in directed(ROAD, 2e11))


def test_road_maps_grow_in_levels_and_rounds_are_never_more_than_level_by_level():
    levels = [forecast_bfs(ROAD, factor * ROAD.n_arcs, MACHINES, COSTS).levels for factor in (1, 100)]
    assert levels[1] == pytest.approx(10 * levels[0]) and levels[0] == len(ROAD.levels)
    assert rounds_of(ROAD, 16) == 0.8 and 0.8 < rounds_of(ROAD, 64) <= ROUNDS == rounds_of(ROAD, 10**6)
    assert rounds_of(SOCIAL, 64) == ROUNDS


def test_more_workers_take_less_time_for_arcs_and_none_for_what_each_does_whole():
    few, many = (forecast_bfs(SOCIAL, 2e11, replace(MACHINES, workers=w), COSTS) for w in (64, 256))
    assert many.seconds["arcs"] < few.seconds["arcs"] / 4  # less still: smaller ranges miss the caches less
    assert [cache_misses(float(1 << bits)) for bits in (10, 20, 23, 26, 30)] == [1, 1, 2, 3, 3]
    assert many.seconds["bitmaps"] == few.seconds["bitmaps"] and many.seconds["latency"] > few.seconds["latency"]


def test_memory_is_what_a_worker_plans(tmp_path: Path):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    from tests.helpers.workers import engine_on_workers

    n = 100_000
    graph = naive.graph_of(n, [(v, (7 * v + 1) % n) for v in range(n)])
    path = write_store(tmp_path / "g.zarr", graph, chunk=1 << 12)
    for workers in (1, 2):
        with engine_on_workers(path, workers, processes=False) as engine:
            plan, (shape, n_arcs) = engine.group.plans[0], (SOCIAL, engine.facts.n_arcs)
        shape = replace(shape, n_vertices=n, n_arcs=n_arcs)
        memory = worker_memory(shape, n_arcs, replace(MACHINES, workers=workers), plan["base_bytes"])
        widest = max(max(phase.bytes, phase.worst_bytes) for phase in engine.group.spec.phases)
        columns = engine.group.ranges[1] / n * widest
        whole = plan["phases"][0]["bytes"] - columns
        assert memory["whole"] + memory["range"] == pytest.approx(whole, rel=2e-3)
        assert memory["arena"] == memory["blocks"]


def test_columns_are_those_of_the_widest_phase():
    store = SimpleNamespace(n_vertices=10**9, n_arcs=10**10, id_dtype=np.dtype(np.uint32),
                            indices=SimpleNamespace(chunk_items=1 << 16, n_chunks=10**10 >> 16),
                            record=SimpleNamespace(n_isolated=0, max_degree=10**6))
    widest = max(max(phase.bytes, phase.worst_bytes) for phase in needs_of(store, make_task("pivots")).phases)
    assert widest / 10**9 == pytest.approx(COLUMN_BYTES, rel=0.02)


def test_a_graph_whose_bitmaps_do_not_fit_is_refused():
    small = replace(MACHINES, memory_bytes=4 << 30)
    assert cannot_run(limits_of(SOCIAL, 2e11, small, COSTS)) and not cannot_run(limits_of(SOCIAL, 2e9, small, COSTS))
    first = limits_of(SOCIAL, 2e11, small, COSTS)[0]
    assert first.fatal and first.load > 1
    run = forecast_run(SOCIAL, 2e11, MACHINES, COSTS, 20)
    assert run.seconds > 20 * run.bfs.total_seconds + run.open_seconds and run.bytes > 20 * run.bfs.payload_bytes
    streamed = forecast_bfs(SOCIAL, 2e11, replace(MACHINES, memory_bytes=16 << 30), COSTS)
    assert streamed.read_bytes > 0 and streamed.seconds["disk"] > run.bfs.seconds["disk"] == 0


def observation(rng: random.Random, workers: int) -> Observation:
    """What a BFS with random counts would have taken with COSTS on two cores."""
    rounds, scanned, rows = rng.randrange(5, 900), rng.randrange(10**6, 10**8), rng.randrange(1, 10**6)
    payload, found = rng.randrange(10**4, 10**8) * (workers > 1), rng.randrange(10**4, 10**6)
    seen = Observation("g", workers, 0, 1.0, 20, rng.randrange(2, 20), rounds, rounds * workers * (workers - 1),
                       payload, 0, 0.0, scanned, 3, found, 0, rows, rows, 0.0, True)
    known, terms = features(seen, 2)
    seconds = np.dot(known, costs_of(KNOWN)) + np.dot(terms, [*costs_of(TERMS[:-1]), CROWD])
    return replace(seen, seconds=float(seconds))


def costs_of(names: tuple[str, ...]) -> list[float]:
    return [getattr(COSTS, name) for name in names]


def test_a_fit_finds_the_costs_that_made_the_times(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0, 1})
    rng = random.Random(3)
    seen = [observation(rng, workers) for workers in (1, 2, 4) for _ in range(30)]
    odd = replace(observation(rng, 4), seconds=1e6, timed=False)  # a count, whose time means nothing
    known = dict(zip(KNOWN, costs_of(KNOWN), strict=True))
    costs, crowd, ratios = fit_costs([*seen, odd], known, {"bitmap_byte": 1e-10, "decode_arc": 1e-9,
                                                           "base_bytes": 300 << 20})
    assert [getattr(costs, name) for name in TERMS[:-1]] == pytest.approx(costs_of(TERMS[:-1]), rel=0.01)
    assert crowd == pytest.approx(CROWD, rel=0.01)
    assert ratios[:-1] == pytest.approx([1.0] * len(seen)) and ratios[-1] < 0.1


def test_costs_of_tasks_and_messages_are_slopes_and_what_is_left():
    measured = [{"workers": w, "step": 0.01 + 0.003 * w, "step_cpu": 0.004 + 0.001 * w,
                 "swap": 5e-4 if w == 2 else 9e-4, "swap_cpu": 1e-4 + 5e-5 * w if w > 1 else 0.0, "byte_cpu": w * 1e-9}
                for w in (1, 2, 4)]
    assert known_costs(measured) == pytest.approx({"step": 0.012, "task": 0.001, "swap": 4.5e-4, "message": 5e-5,
                                                     "byte": 2e-9})


def test_no_cost_is_negative_and_terms_that_never_occur_cost_nothing():
    rows = np.array([[1.0, 0.0, 2.0], [2.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    found = fitted(rows, np.array([1.0, 5.0, 2.0]), np.ones(3))
    assert (found >= 0).all() and found[1] == 0 and found[0] > 1


def test_levels_of_a_source(tmp_path: Path):
    with engine_on(write_store(tmp_path / "g.zarr", naive.graph_of(5, [(0, 1), (1, 2), (3, 4)]))) as engine:
        assert level_arcs(engine, 0).tolist() == [[1, 1], [1, 2], [1, 1]]
        assert level_arcs(engine, 1).tolist() == [[1, 2], [2, 2]]
    assert with_levels(SOCIAL, [[1, 2]]).levels == ((1.0, 2.0),)


def test_the_kept_figures_can_be_simulated_again(capsys: pytest.CaptureFixture[str]):
    assert scaling.main(["--simulate", "--edges", "1e11", "--workers", "64"]) == 0
    said = capsys.readouterr().out
    assert "What breaks first" in said and "kronecker-20-ef16" in said
    assert scaling.main(["--show"]) == 0
    assert "of the bound" in capsys.readouterr().out


@pytest.mark.slow
def test_a_quick_fit_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    target = tmp_path / "kept.json"
    assert scaling.main(["--fit", "--quick", "--cache", str(tmp_path), "--json", str(target)]) == 0
    kept = json.loads(target.read_text())
    assert {shape["name"] for shape in kept["shapes"]} == set(scaling.QUICK_GRAPHS)
    assert {one["workers"] for one in kept["observations"]} == {1, 2, 3}
    assert all(one["payload_bytes"] > 0 for one in kept["observations"] if one["workers"] > 1)
    assert scaling.main(["--simulate", "--from", str(target), "--arcs", "1e9", "--workers", "4"]) == 0
    assert "quick-rmat-12" in capsys.readouterr().out
