"""The method `spanning` against its twin: bounds that hold, heights that fall, and early ends."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emdiam.engine.interface import max_degree_vertex
from emdiam.errors import EmdiamError, InputError, StoppedEarly
from emdiam.generators import generate
from emdiam.methods.approx.rank_order import stream_key
from emdiam.methods.approx.spanning import (
    SpanningOptions,
    SpanningRun,
    reserved_bytes,
    spanning,
    spanning_bytes,
    spanning_bytes_of_tour,
)
from emdiam.methods.result import Approximation
from emdiam.methods.run import Limits
from emdiam.progress import Event, TimeOver
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.trees.euler import euler_bytes
from tests.helpers import naive, spanning_twins
from tests.helpers.order_twins import write_in_order
from tests.helpers.small_engine import engines, limit_pool
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(8)

GRAPHS = odd_graphs()


def heights_twin(graph: naive.Graph, seed: int, iterations: int | None,
                 roots: list[int] | None = None) -> tuple[list[int], bool]:
    """(height of the tree after each iteration, whether it ended for want of anything to do). roots : of components;
    None: their hubs."""
    tree = spanning_twins.forest(graph, stream_key(seed, "spanning tree"))
    parents = spanning_twins.parents_from(tree, spanning_twins.hubs(graph) if roots is None else roots)
    heights, known = spanning_twins.heights_of(parents), 1
    tallest = [max(heights)]
    while tallest[-1] > known and (iterations is None or len(tallest) <= iterations):
        known = spanning_twins.known_after(graph, heights) or len(graph)
        parents = spanning_twins.next_parents(graph, parents)
        heights = spanning_twins.heights_of(parents)
        tallest.append(max(heights))
    return tallest, tallest[-1] <= known


def check(result: Approximation, graph: naive.Graph, seed: int, iterations: int | None) -> None:
    diameters, most, parts = naive.diameters(graph)
    heights, converged = heights_twin(graph, seed, iterations)
    assert (result.details["heights"], result.details["converged"]) == (heights, converged)
    assert result.estimate == 2 * heights[-1] and heights == sorted(heights, reverse=True)
    assert result.details["iterations"] == len(heights) - 1
    assert result.lower <= most <= result.upper
    assert (result.n_components, result.connected) == (parts, parts == 1)
    low, high = result.details["interval_largest_component"]
    assert any(low <= d <= high for d in diameters)
    assert result.exact == (result.lower == result.upper)
    assert result.diameter_max_component == (most if result.exact else None)
    assert result.diameter == (most if result.exact and parts == 1 else None)
    if most:
        assert result.lower >= min(heights[-1], len(heights)) > 0
        witness = result.witness
        assert witness is not None and witness.length == result.lower
        assert naive.distances(graph, witness.source)[witness.target] >= result.lower
    if converged and most:
        assert result.lower == max(max(naive.distances(graph, hub)) for hub in spanning_twins.hubs(graph))


@pytest.mark.parametrize("iterations", [0, 2, 10, None])
@pytest.mark.parametrize("engine_name", ["in-ram", "streamed"])
@pytest.mark.parametrize("name", GRAPHS)
def test_odd_graphs(tmp_path: Path, name: str, engine_name: str, iterations: int | None) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS[name]), engine_name) as engine:
        check(spanning(engine, SpanningOptions(seed=4, iterations=iterations)), GRAPHS[name], 4, iterations)


@settings(max_examples=40, deadline=None)
@given(graph=graphs(most=60), seed=st.integers(0, 99), iterations=st.sampled_from([0, 1, 3, None]),
       engine_name=st.sampled_from(sorted(ENGINES)))
def test_random_graphs(tmp_path_factory: Any, graph: naive.Graph, seed: int, iterations: int | None,
                       engine_name: str) -> None:
    with engine_on(write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph), engine_name) as engine:
        check(spanning(engine, SpanningOptions(seed=seed, iterations=iterations)), graph, seed, iterations)


@settings(max_examples=20, deadline=None)
@given(graph=graphs(most=60), data=st.data(), engine_name=st.sampled_from(sorted(ENGINES)))
def test_a_root_of_the_user(tmp_path_factory: Any, graph: naive.Graph, data: st.DataObject, engine_name: str) -> None:
    """Its component hangs from it, others from their hubs; a vertex without an edge is the root of nothing."""
    root = data.draw(st.integers(0, len(graph) - 1))
    part = next(part for part in naive.components(graph) if root in part)
    roots = [root if hub in part else hub for hub in spanning_twins.hubs(graph)]
    with engine_on(write_store(tmp_path_factory.mktemp("g") / "g.zarr", graph), engine_name) as engine:
        result = spanning(engine, SpanningOptions(seed=3, iterations=None, root=root))
    assert (result.details["heights"], result.details["converged"]) == heights_twin(graph, 3, None, roots)
    if result.details["heights"] != [0]:
        assert result.lower == max(max(naive.distances(graph, v)) for v in roots)


@pytest.mark.parametrize("engine_name", sorted(ENGINES))
def test_random_roots(tmp_path: Path, engine_name: str) -> None:
    """On a path the eccentricity of the root is its place: seeds give several, the same on every engine and order."""
    n = 60
    graph: naive.Graph = [[w for w in (v - 1, v + 1) if 0 <= w < n] for v in range(n)]
    orders = [list(range(n)), random.Random(1).sample(range(n), n)]
    found = []
    for number, order in enumerate(orders):
        path = write_in_order(tmp_path / f"{number}.zarr", graph, order)
        with engine_on(path, engine_name) as engine:
            found.append([spanning(engine, SpanningOptions(seed=seed, iterations=None, root="random")).lower
                          for seed in range(8)])
    assert found[0] == found[1] and len(set(found[0])) > 4 and all(n / 2 <= lower < n for lower in found[0])
    assert found[0][:6] == [43, 58, 43, 37, 59, 32]


def test_a_root_that_there_is_not(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS["path"])) as engine:
        with pytest.raises(InputError, match="no such vertex"):
            spanning(engine, SpanningOptions(root=10_000))
        with pytest.raises(InputError, match="ids of this graph are numbers"):
            spanning(engine, SpanningOptions(root="hubs"))


@settings(max_examples=20, deadline=None)
@given(graph=graphs(most=60), seed=st.integers(0, 99), shuffle=st.randoms())
def test_the_order_of_the_store_changes_nothing(tmp_path_factory: Any, graph: naive.Graph, seed: int,
                                                shuffle: random.Random) -> None:
    order = list(range(len(graph)))
    shuffle.shuffle(order)
    path = write_in_order(tmp_path_factory.mktemp("g") / "g.zarr", graph, order)
    with engine_on(path, "streamed") as engine:
        check(spanning(engine, SpanningOptions(seed=seed, iterations=2)), graph, seed, 2)


def test_results_do_not_depend_on_threads(tmp_path: Path) -> None:
    rng = random.Random(4)
    graph = naive.graph_of(2000, [(rng.randrange(2000), rng.randrange(2000)) for _ in range(5000)])
    path = write_store(tmp_path / "g.zarr", graph, chunk=256)
    found = []
    for threads in (1, 2, 3):
        with engine_on(path, "in-ram", threads=threads) as engine:
            result = spanning(engine, SpanningOptions(seed=1, iterations=3))
            found.append((result.estimate, result.lower, result.upper, result.witness, result.details["heights"],
                          result.details["scans"]))
    assert found[0] == found[1] == found[2]


def test_levels_take_a_few_iterations(tmp_path: Path) -> None:
    """On a graph of sqrt(n) levels heights come near distances in far fewer iterations than there are levels."""
    generate("levels", tmp_path / "g.zarr", vertices=1 << 12, parameters={"levels": "sqrt"}, seed=1)
    with open_store(tmp_path / "g.zarr") as store, open_engine(store, method="spanning") as engine:
        height = spanning(engine).details["heights"][-1]
        assert height <= 1.1 * engine.bfs(max_degree_vertex(engine)).eccentricity


def test_only_blocks_of_rows_that_fell_are_read_again(tmp_path: Path) -> None:
    """On a long cycle few heights fall in an iteration, and far fewer blocks are read than there are."""
    n = 20_000
    graph: naive.Graph = [sorted([(v - 1) % n, (v + 1) % n]) for v in range(n)]
    with engine_on(write_store(tmp_path / "g.zarr", graph), "streamed") as engine:
        refinement = engine.spanning_forest(1).refine()
        refinement.step()
        before = engine.reporter.stats()
        for _ in range(20):
            assert 0 < refinement.step() <= 4
        used = engine.reporter.stats() - before
        assert used.passes == 20 and used.blocks_read <= 20 * 4 < engine.facts.n_blocks


def stopper(error: type[BaseException]) -> Callable[[Event], None]:
    """A listener that raises when iterations begin."""

    def listen(event: Event) -> None:
        if event.phase == "iterations":
            raise error

    return listen


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeOver])
def test_a_stop_leaves_the_interval_so_far(tmp_path: Path, error: type[BaseException]) -> None:
    path = write_store(tmp_path / "g.zarr", GRAPHS["path"])
    with engine_on(path, progress=stopper(error)) as engine, pytest.raises(StoppedEarly) as stopped:
        spanning(engine, SpanningOptions(iterations=None))
    result = stopped.value.result
    assert isinstance(result, Approximation)
    assert result.lower == 1 and 299 <= result.upper < 600 and result.estimate == 2 * result.details["heights"][-1]
    assert result.connected and result.witness is None and not result.exact


def test_the_end_of_the_time_before_anything_is_known(tmp_path: Path) -> None:
    graph = GRAPHS["two-paths"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine, pytest.raises(StoppedEarly) as stopped:
        spanning(engine, SpanningOptions(limits=Limits(seconds=0)))
    result = stopped.value.result
    assert isinstance(result, Approximation)
    assert (result.lower, result.upper, result.estimate, result.connected) == (1, 49, None, None)


def test_a_gap_ends_it_early(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS["path"])) as engine:
        full = spanning(engine, SpanningOptions(iterations=None))
        short = spanning(engine, SpanningOptions(iterations=None, limits=Limits(gap=298)))
    assert short.details["enough"] == "gap" and (short.lower, short.upper) == (1, 299)
    assert short.details["iterations"] < full.details["iterations"] and "enough" not in full.details


def test_a_wrong_height_does_not_pass_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raised(self: SpanningRun, refinement: Any) -> None:
        refinement.heights.put([17], 1)
        named(self, refinement)

    named = SpanningRun._name_pair
    monkeypatch.setattr(SpanningRun, "_name_pair", raised)
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS["path"])) as engine, pytest.raises(EmdiamError):
        spanning(engine, SpanningOptions(iterations=None))


def test_bad_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        SpanningOptions(iterations=-1)
    with engine_on(write_store(tmp_path / "g.zarr", [])) as engine, pytest.raises(InputError, match="no vertices"):
        spanning(engine)


def test_the_ratio_is_that_of_the_estimate(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", GRAPHS["torus"])) as engine:
        result = spanning(engine, SpanningOptions(iterations=None, known_diameter=8))
    assert (result.estimate, result.ratio, result.seed) == (16, 2.0, 0)


@pytest.mark.parametrize("name", ["path", "pairs"])
def test_memory_is_as_planned(name: str) -> None:
    """The peak of the arrays, measured over a whole run, beside the widest phase of the plan."""
    n = 200_000
    graph = ([[1]] + [[v - 1, v + 1] for v in range(1, n - 1)] + [[n - 2]] if name == "path" else
             [[v ^ 1] for v in range(n)])
    options = SpanningOptions(iterations=2)
    shape: Any = SimpleNamespace(n_vertices=len(graph), n_arcs=sum(map(len, graph)), id_dtype=np.dtype(np.uint32))
    more = reserved_bytes(shape) if name == "pairs" else {}
    planned = max(size + more.get(phase, 0) for phase, size in spanning_bytes(shape, options, 4).items())
    with engines(chunk=1 << 16) as make:
        engine = make(graph)
        limit_pool(engine, 0)
        spanning(engine, options)
        tracemalloc.start()
        spanning(engine, options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert 0.9 * (planned - (2 << 20)) < peak <= planned
    assert spanning_bytes_of_tour(len(graph), 4) >= euler_bytes(len(graph), 4)


def test_it_runs_within_its_plan(tmp_path: Path) -> None:
    """open_engine takes the plan of this method."""
    with open_store(write_store(tmp_path / "g.zarr", GRAPHS["grid"])) as store:
        with open_engine(store, memory_bytes=2 << 30, method="spanning", switches={"iterations": 3}) as engine:
            assert {phase.name for phase in engine.plan.phases} == {"open", "mst", "trees", "iterations", "verify"}
            assert spanning(engine, SpanningOptions(iterations=3)).lower > 0
