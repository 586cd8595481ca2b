"""sweep and fringe against plain twins, and what both promise on every graph."""

from __future__ import annotations

import errno
import random
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from emdiam.errors import InputError, StoppedEarly
from emdiam.methods import witness
from emdiam.methods.approx import fringe as fringe_module
from emdiam.methods.approx.fringe import FringeOptions, fringe
from emdiam.methods.approx.rank_order import drawn, first_by_rank, stream_key
from emdiam.methods.approx.sweep import SweepOptions, sweep
from emdiam.methods.result import Approximation
from emdiam.methods.run import Limits
from emdiam.traverse.ram_column import StoredColumn
from tests.helpers import approx_twins, naive
from tests.helpers.small_engine import engines, limit_pool
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(8)

ODD = odd_graphs()
SETTINGS = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
METHODS: dict[str, tuple[Callable[..., Approximation], Any]] = {
    "sweep": (sweep, SweepOptions), "fringe": (fringe, FringeOptions)}
TWINS = {"sweep": approx_twins.sweep, "fringe": approx_twins.fringe}


@pytest.fixture(scope="module")
def make() -> Iterator[Callable[[naive.Graph], Any]]:
    """A function that makes engines with room for a tree, and none for batches."""
    with engines() as build:
        def alone(graph: naive.Graph) -> Any:
            engine = build(graph)
            limit_pool(engine, 12 * len(graph))
            return engine

        yield alone


def run(engine: Any, method: str, **options: Any) -> Approximation:
    function, chosen = METHODS[method]
    return function(engine, chosen(**options))


def connected(graph: naive.Graph) -> naive.Graph:
    """The largest component, renumbered in the same order."""
    part = max(naive.components(graph), key=len)
    number = {v: i for i, v in enumerate(part)}
    return [[number[w] for w in graph[v]] for v in part]


def starts_of(engine: Any, graph: naive.Graph, iterations: int, seed: int) -> list[int]:
    """The starts as documented: the vertex of the largest degree, then the smallest hashes."""
    degrees = [len(row) for row in graph]
    first = degrees.index(max(degrees))
    some = engine.bfs(first).distances
    more = drawn(engine, some, stream_key(seed, "starts"), iterations).tolist()
    return [first, *[v for v in more if v != first][: iterations - 1]]


def traced(engine: Any) -> list[int]:
    """The sources of the BFS from now on, as they come."""
    sources: list[int] = []
    real = engine.bfs

    def bfs(source: int, **more: Any) -> Any:
        sources.append(int(source))
        return real(source, **more)

    engine.bfs = bfs
    return sources


def check(result: Approximation, graph: naive.Graph) -> None:
    """Bounds, witness and the fields that follow from them."""
    largest, most, parts = naive.diameters(graph)
    assert result.lower <= most <= result.upper
    assert (result.n_components, result.connected) == (parts, parts == 1)
    assert result.exact == (result.lower == result.upper)
    assert result.diameter == (most if result.exact and parts == 1 else None)
    low, high = result.details["interval_largest_component"]
    assert any(low <= d <= high for d in largest)
    if result.witness is None:
        assert not any(graph)
    else:
        assert naive.distances(graph, result.witness.source)[result.witness.target] == result.lower
        assert result.witness.length == result.lower
    assert result.estimate == (result.upper if result.method == "fringe" else result.lower)


@SETTINGS
@given(graph=graphs(), method=st.sampled_from(list(METHODS)), iterations=st.integers(1, 6), seed=st.integers(0, 3))
def test_a_connected_graph_as_the_twin(make, graph: naive.Graph, method: str, iterations: int, seed: int) -> None:
    graph = connected(graph)
    assume(len(graph) > 1)
    twin = TWINS[method](graph, starts_of(make(graph), graph, iterations, seed))
    engine = make(graph)
    sources = traced(engine)
    result = run(engine, method, iterations=iterations, seed=seed)
    assert (result.lower, result.upper) == (twin.lower, twin.upper)
    assert sources == twin.sources and result.traversals.bfs == len(sources)
    assert result.traversals.multi_source == 0 and result.seed == seed
    check(result, graph)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(make, method: str, name: str) -> None:
    for iterations in (1, 3):
        check(run(make(ODD[name]), method, iterations=iterations), ODD[name])


@SETTINGS
@given(graph=graphs(), method=st.sampled_from(list(METHODS)), iterations=st.integers(1, 4))
def test_any_graph(make, graph: naive.Graph, method: str, iterations: int) -> None:
    check(run(make(graph), method, iterations=iterations), graph)


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-dense", "streamed", "streamed-windows", "streamed-dense"])
@pytest.mark.parametrize("method", METHODS)
def test_every_engine_gives_the_same(tmp_path: Path, make, kind: str, method: str) -> None:
    for name in ("grid", "torus", "clique-and-path", "hypercube", "caterpillar"):
        plain = run(make(ODD[name]), method)
        with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind, method=method) as engine:
            result = run(engine, method)
        for field in ("lower", "upper", "estimate", "witness", "diameter_largest_component"):
            assert getattr(result, field) == getattr(plain, field), (name, field)


def relabelled(graph: naive.Graph, ranks: np.ndarray) -> naive.Graph:
    """The graph in another order: vertex v is the one of natural rank ranks[v]."""
    place = np.argsort(ranks)
    return [sorted(int(place[w]) for w in graph[rank]) for rank in ranks]


@SETTINGS
@given(graph=graphs(), method=st.sampled_from(list(METHODS)), iterations=st.integers(1, 4), shuffle=st.randoms())
def test_the_order_of_the_store_changes_nothing(
    make, graph: naive.Graph, method: str, iterations: int, shuffle: random.Random
) -> None:
    sizes = [len(part) for part in naive.components(graph) if len(part) > 1]
    assume(len(sizes) == len(set(sizes)))  # which of several largest components is meant goes by vertices
    ranks = np.array(shuffle.sample(range(len(graph)), len(graph)), np.uint32)
    engine = make(relabelled(graph, ranks))
    engine.rank_array = ranks
    engine.store.user_ids = lambda ids: ranks[np.asarray(ids)].tolist()
    found, plain = run(engine, method, iterations=iterations), run(make(graph), method, iterations=iterations)
    for field in ("lower", "upper", "estimate", "witness", "traversals", "n_components"):
        assert getattr(found, field) == getattr(plain, field), field
    assert found.details["interval_largest_component"] == plain.details["interval_largest_component"]


@SETTINGS
@given(graph=graphs(), method=st.sampled_from(list(METHODS)), seed=st.integers(0, 9))
def test_more_iterations_never_widen_the_interval(make, graph: naive.Graph, method: str, seed: int) -> None:
    graph = connected(graph)
    runs = [run(make(graph), method, iterations=count, seed=seed) for count in (1, 2, 5)]
    lower, upper = [r.lower for r in runs], [r.upper for r in runs]
    assert lower == sorted(lower) and upper == sorted(upper, reverse=True)


@SETTINGS
@given(graph=graphs(most=60), iterations=st.integers(1, 6), batched=st.booleans())
def test_a_fringe_takes_its_size_and_three_traversals(
    make, graph: naive.Graph, iterations: int, batched: bool
) -> None:
    graph = connected(graph)
    engine = make(graph)
    limit_pool(engine, (1 << 28) * batched)
    result = run(engine, "fringe", iterations=iterations)
    done, sizes = result.traversals, [size for _, size in result.details["fringes"]]
    named = 1 if done.multi_source else 0  # the pair of a batch is named by one more BFS
    assert done.bfs + done.multi_source_sources <= 3 * result.details["iterations"] + sum(sizes) + named
    assert len(sizes) <= result.details["iterations"] <= iterations


@pytest.mark.parametrize("method", METHODS)
def test_without_room_for_a_tree_twice_an_eccentricity_is_the_upper_bound(make, method: str) -> None:
    engine = make(ODD["torus"])
    with_tree = run(engine, method)
    limit_pool(engine, 575)  # a byte short of it
    without = run(engine, method)
    assert (without.details["trees"], without.lower, without.upper) == (0, 8, 16) and with_tree.upper < 16
    assert without.details["trees_left_out"] == with_tree.details["trees"] > 0
    assert "trees_left_out" not in with_tree.details


@SETTINGS
@given(graph=graphs(most=60))
def test_batches_give_the_same_bounds(make, graph: naive.Graph) -> None:
    many, single = make(graph), make(graph)
    limit_pool(many, 1 << 28)
    found, plain = run(many, "fringe"), run(single, "fringe")
    assert (found.lower, found.upper, found.estimate) == (plain.lower, plain.upper, plain.estimate)
    check(found, graph)


def test_a_wide_fringe_goes_in_batches_and_in_lists(make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fringe_module, "_MOST_LISTED", 40)
    graph = naive.graph_of(400, nx.gnp_random_graph(400, 0.06, seed=3).edges)
    engine = make(graph)
    plain = run(engine, "fringe", iterations=2)
    limit_pool(engine, 1 << 28)
    found = run(engine, "fringe", iterations=2)
    sizes = [size for _, size in found.details["fringes"]]
    assert max(sizes) > 100
    assert (found.lower, found.upper) == (plain.lower, plain.upper) == (3, 4)
    assert found.traversals.multi_source >= 3
    assert found.traversals.multi_source_sources + found.traversals.bfs <= 6 + sum(sizes) + 1
    check(found, graph)


def test_the_fringe_closes_what_trees_leave_open(make) -> None:
    """On an odd cycle every tree has the diameter n - 1, and F(u) two vertices of the same eccentricity."""
    for n in (5, 9, 13):
        graph = naive.graph_of(n, [(v, (v + 1) % n) for v in range(n)])
        found, rough = run(make(graph), "fringe"), run(make(graph), "sweep", iterations=9)
        assert rough.upper == n - 1 and rough.lower == n // 2
        assert found.upper == 2 * (n // 2) - 2 < rough.upper


def stopped_at(engine: Any, after: int, raised: Callable[[], None]) -> None:
    """Call `raised` before traversal (or scan) number `after` of the engine."""
    count = [0]
    for name in ("bfs", "eccentricities", "scan"):
        real = getattr(engine, name)

        def traverse(*args: Any, real: Any = real, **more: Any) -> Any:
            if count[0] == after:
                raised()
            count[0] += 1
            return real(*args, **more)

        setattr(engine, name, traverse)


def press_ctrl_c() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["torus", "clique-and-path", "pairs", "grid"])
def test_stopped_anywhere(make, method: str, name: str) -> None:
    _, most, parts = naive.diameters(ODD[name])
    for after in range(60):
        engine = make(ODD[name])
        stopped_at(engine, after, press_ctrl_c)
        try:
            check(run(engine, method, iterations=2), ODD[name])
            break
        except StoppedEarly as stop:
            result = stop.result
        assert isinstance(result, Approximation)
        assert not result.exact and result.witness is None and result.lower <= most <= result.upper
        assert result.n_components in (None, parts)
        assert (result.estimate is None) == (after == 0)
    else:
        raise AssertionError("the run never ends")


@pytest.mark.parametrize("method", METHODS)
def test_no_time_at_all(make, method: str) -> None:
    with pytest.raises(StoppedEarly, match="the time limit is over") as stop:
        run(make(ODD["torus"]), method, limits=Limits(seconds=0))
    assert isinstance(stop.value.result, Approximation) and stop.value.result.estimate is None


def test_the_known_diameter_gives_the_ratio(make) -> None:
    torus = run(make(ODD["torus"]), "sweep", known_diameter=8)
    assert (torus.lower, torus.exact, torus.ratio) == (8, False, 1.0)
    assert run(make(ODD["torus"]), "sweep").ratio is None
    assert run(make(ODD["path"]), "sweep").ratio == 1.0  # the diameter is proved
    assert run(make(ODD["torus"]), "fringe", known_diameter=8).ratio == 15 / 8


@pytest.mark.parametrize("options", [{"iterations": 0}, {"iterations": 1 << 40}, {"known_diameter": -1}])
def test_options_that_cannot_be(make, options: dict[str, int]) -> None:
    for method in METHODS:
        with pytest.raises(InputError):
            run(make(ODD["edge"]), method, **options)


def test_a_graph_without_vertices(make) -> None:
    with pytest.raises(InputError, match="no vertices"):
        run(make([]), "sweep")


def test_the_drawn_do_not_depend_on_how_many_are_asked_for(make) -> None:
    engine = make(ODD["two-paths"])
    some = engine.bfs(25).distances
    many = drawn(engine, some, 7, 100).tolist()
    assert sorted(many) == list(range(20, 50))
    assert drawn(engine, some, 7, 0).tolist() == [] and drawn(engine, some, 7, 4).tolist() == many[:4]
    assert drawn(engine, some, 8, 100).tolist() != many


def test_the_first_by_rank(make) -> None:
    engine = make(ODD["path"])
    engine.rank_array = np.arange(300, dtype=np.uint32)[::-1]
    pieces = [np.arange(0, 90), np.arange(100, 300)]
    assert first_by_rank(engine, pieces).tolist() == [299]
    assert first_by_rank(engine, pieces, 3, after=199).tolist() == [89, 88, 87]
    assert first_by_rank(engine, pieces, 3, after=299).tolist() == []


@pytest.mark.parametrize("room", [True, False])
def test_distances_of_the_longest_pair_wait_on_disk(
    make: Callable[[naive.Graph], Any], monkeypatch: pytest.MonkeyPatch, room: bool
):
    """No traversal begins while other distances are in memory; without room on disk one more makes them again."""
    graph = naive.graph_of(40, [(v, (v + 1) % 40) for v in range(40)])
    engine = make(graph)
    expected = run(engine, "sweep", iterations=3)
    made: list[weakref.ref[Any]] = []
    begin = engine.bfs

    def bfs(*arguments: Any, **options: Any) -> Any:
        assert not any(column() is not None for column in made)
        traversal = begin(*arguments, **options)
        made.append(weakref.ref(traversal.distances))
        return traversal

    def full(*arguments: Any) -> Any:
        raise OSError(errno.ENOSPC, "no space left on device")

    if not room:
        monkeypatch.setattr(StoredColumn, "__init__", full)
    monkeypatch.setattr(witness, "_FEW_BYTES", 0)
    monkeypatch.setattr(witness, "_MOST_BYTES", 0)
    monkeypatch.setattr(engine, "bfs", bfs)
    result = run(engine, "sweep", iterations=3)
    assert len(made) == (6 if room else 7)
    assert result.witness == expected.witness and result.lower == 20
