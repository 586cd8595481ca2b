"""F-Diam equals brute force on every engine, with every stage on and off; its result is a proof."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.errors import EmdiamError, InputError, StoppedEarly
from emdiam.methods import witness as witness_module
from emdiam.methods.exact.fdiam import STARTS, Fdiam, FdiamOptions, State, fdiam
from emdiam.methods.metric import HopMetric
from emdiam.methods.result import Result
from emdiam.traverse.components import Component
from tests.helpers import naive
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store

pytestmark = pytest.mark.thin(8)

ODD = odd_graphs()
OPTIONS = st.builds(
    FdiamOptions, winnow=st.booleans(), eliminate=st.booleans(), chains=st.booleans(),
    start=st.sampled_from(STARTS), order=st.sampled_from(["ascending", "random"]),
    seed=st.integers(0, 9),
)


def check(result: Result, graph: naive.Graph) -> None:
    largest, most, parts = naive.diameters(graph)
    assert result.exact and result.lower == result.upper == most
    assert result.diameter_max_component == most
    assert result.diameter_largest_component in largest
    assert result.n_components == parts and result.connected == (parts == 1)
    assert result.diameter == (most if parts == 1 else None)
    assert result.n_vertices == len(graph) and result.n_edges == sum(map(len, graph)) // 2
    found = result.witness
    assert found is not None and found.length == most and found.path is not None
    assert (found.path[0], found.path[-1], len(found.path)) == (found.source, found.target, most + 1)
    assert all(b in graph[a] for a, b in zip(found.path, found.path[1:], strict=False))
    assert naive.distances(graph, found.source)[found.target] == most


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
        check(fdiam(engine), ODD[name])
        check(fdiam(engine, FdiamOptions(winnow=False, chains=False, start="first")), ODD[name])


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-dense", "streamed"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), options=OPTIONS)
def test_random_graphs(tmp_path: Path, kind: str, graph: naive.Graph, options: FdiamOptions) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        check(fdiam(engine, options), graph)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=60), options=OPTIONS)
def test_many_random_graphs(tmp_path: Path, graph: naive.Graph, options: FdiamOptions) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        check(fdiam(engine, options), graph)


@pytest.mark.parametrize("edges", [
    [(0, 1), (0, 3), (0, 5), (1, 2), (2, 3), (2, 5), (3, 4), (4, 5)],
    [(0, 1), (0, 4), (0, 6), (1, 2), (1, 5), (2, 3), (3, 4), (3, 5), (4, 5), (4, 6)],
], ids=["6 vertices", "7 vertices"])
@pytest.mark.thin(1)
def test_a_ball_is_no_wider_than_half_the_bound(tmp_path: Path, edges: list[tuple[int, int]]) -> None:
    """The two sweeps find 2, the diameter is 3, and all ends of such distances are within 2 of the centre."""
    graph = naive.graph_of(max(map(max, edges)) + 1, edges)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        check(fdiam(engine, FdiamOptions(start="max-degree")), graph)


def with_chains(rng: random.Random, first: int) -> tuple[int, list[tuple[int, int]]]:
    """A small connected core with chains that hang from it and from each other, numbered from `first` on at random: the
    next free number, and the edges."""
    core = rng.randint(1, 9)
    edges = [(v, rng.randrange(v)) for v in range(1, core)]
    edges += [(rng.randrange(core), rng.randrange(core)) for _ in range(rng.randint(0, 2 * core))]
    n = core
    for _ in range(rng.randint(1, 6)):
        end = rng.randrange(n)
        for v in range(n, n + rng.randint(1, 7)):
            edges.append((end, v))
            end, n = v, v + 1
    order = rng.sample(range(first, first + n), n)
    return first + n, [(order[a], order[b]) for a, b in edges]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_ten_thousand_graphs_with_chains(tmp_path: Path, seed: int) -> None:
    """1,000 graphs a seed, forty in a store as its components, each of which is solved by itself."""
    rng = random.Random(seed)
    for number in range(25):
        n, edges = 0, list[tuple[int, int]]()
        for _ in range(40):
            n, more = with_chains(rng, n)
            edges += more
        graph = naive.graph_of(n, edges)
        options = FdiamOptions(start=rng.choice(STARTS), order=rng.choice(["ascending", "random"]),
                               eliminate=rng.random() < 0.5, seed=number, components=64)
        with engine_on(write_store(tmp_path / f"{number}.zarr", graph)) as engine:
            result = fdiam(engine, options)
        longest = [max(max(naive.distances(graph, v)) for v in part) for part in naive.components(graph)]
        listed = result.details["components"]
        assert sorted(row["lower"] for row in listed) == sorted(row["upper"] for row in listed) == sorted(longest)


@pytest.mark.parametrize("order", ["ascending", "random"])
def test_tips_in_a_ball_that_grows_are_winnowed(tmp_path: Path, order: str) -> None:
    """The sweeps from 0 end at 1 with the bound 2. The first tip has 4, and then all lie within 2 of vertex 0."""
    middle = range(2, 40)
    graph = naive.graph_of(78, [(end, v) for end in (0, 1) for v in middle] + [(v, v + 38) for v in middle])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        result = fdiam(engine, FdiamOptions(order=order))
    check(result, graph)
    assert result.details["eccentricity_bfs"] == 3


def test_in_random_order_every_active_vertex_is_as_likely(tmp_path: Path) -> None:
    """Ten active vertices side by side, and one far away; all others are settled, or outside of the component."""
    graph = naive.graph_of(300, [(v, v + 1) for v in range(299) if v != 199])
    active = [*range(50, 60), 150]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        run = Fdiam(HopMetric(engine), FdiamOptions(order="random", seed=3))
        run.state = State(engine, 300)
        for vertex in set(range(200)) - {*active}:
            run.state.evaluated(vertex, 9)
        counts = Counter(run._next(Component(0, 0, 199, 200, 1), 0) for _ in range(1100))
    assert counts.keys() == {*active} and all(60 < counts[vertex] < 150 for vertex in active), counts


def test_the_better_centre(tmp_path: Path) -> None:
    """The hub is far out in a tree: the ball around it leaves half of the vertices, that around the root few."""
    tree = [(v, (v - 1) // 2) for v in range(1, 255)]
    graph = naive.graph_of(295, tree + [(254, v) for v in range(255, 295)])
    counts = {}
    for start in STARTS:
        with engine_on(write_store(tmp_path / f"{start}.zarr", graph)) as engine:
            result = fdiam(engine, FdiamOptions(start=start, eliminate=False))
        check(result, graph)
        counts[start] = result.traversals.bfs
    assert counts["auto"] == counts["center"] < counts["max-degree"]
    with engine_on(write_store(tmp_path / "star.zarr", ODD["star"])) as engine:
        assert fdiam(engine, FdiamOptions(start="auto")).traversals.bfs == fdiam(engine).traversals.bfs


@pytest.mark.parametrize("ends", [
    [(2, 7), (2, 8), (7, 8), (3, 9), (3, 10), (9, 10)],  # triangles, which Winnow drops if its ball is one too wide
    [(2, 7), (3, 8)],  # tips of chains, which Chain Processing has to keep
])
def test_two_sweeps_that_miss_the_diameter(tmp_path: Path, ends: list[tuple[int, int]]) -> None:
    """The sweeps from 0 end at 1 with the bound 2, and every vertex lies within 2 of vertex 0; yet what hangs from 2
    and from 3 is 4 apart."""
    middle = [(end, v) for end in (0, 1) for v in (2, 3, 4, 5, 6)]
    graph = naive.graph_of(1 + max(map(max, ends)), middle + ends)
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        check(fdiam(engine), graph)


def test_no_vertices(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", [])) as engine, pytest.raises(InputError, match="no vertices"):
        fdiam(engine)


def test_unknown_start(tmp_path: Path) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", ODD["edge"])) as engine:
        with pytest.raises(InputError, match="max-degree"):
            fdiam(engine, FdiamOptions(start="middle"))


def test_stages_do_their_work(tmp_path: Path) -> None:
    """On a grid with tails Winnow and Eliminate save traversals, and the shares add up."""
    graph = ODD["grid"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        full = fdiam(engine)
        bare = fdiam(engine, FdiamOptions(winnow=False, eliminate=False, chains=False))
    assert full.traversals.bfs < bare.traversals.bfs == len(graph)
    removed = full.details["removed"]
    evaluated = full.details["eccentricity_bfs"] / len(graph)
    assert removed["winnow"] > 0 and removed["winnow"] + removed["eliminate"] + evaluated == pytest.approx(1)
    assert set(full.details["stage_seconds"]) >= {"eccentricity", "winnow", "eliminate", "chain"}


def test_chains_drop_what_a_tail_dominates(tmp_path: Path) -> None:
    """A clique with two tails: the longer one's end is swept to, the other's chain drops the rest."""
    tails = [(0, 12)] + [(v, v + 1) for v in range(12, 41)] + [(1, 42)] + [(v, v + 1) for v in range(42, 61)]
    graph = naive.graph_of(62, tails + [(a, b) for a in range(12) for b in range(a)])
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        result = fdiam(engine, FdiamOptions(winnow=False, eliminate=False))
    assert result.details["removed"]["chain"] > 0.5
    check(result, graph)


def test_path_file_and_long_paths(tmp_path: Path) -> None:
    n = witness_module.LONGEST_KEPT_PATH + 5
    path = [[1]] + [[v - 1, v + 1] for v in range(1, n - 1)] + [[n - 2]]
    file = tmp_path / "path.txt"
    with engine_on(write_store(tmp_path / "g.zarr", path, chunk=4096)) as engine:
        result = fdiam(engine, FdiamOptions(path_file=file))
    assert result.diameter == n - 1
    assert result.witness is not None and result.witness.path is None
    ids = [int(line) for line in file.read_text().split()]
    assert ids[0] == result.witness.source and ids[-1] == result.witness.target
    assert sorted(ids) == list(range(n)) and all(abs(a - b) == 1 for a, b in itertools.pairwise(ids))


def test_ctrl_c_gives_the_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ODD["torus"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        real, calls = engine.bfs, []

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            calls.append(args)
            if len(calls) == 5:
                raise KeyboardInterrupt
            return real(*args, **kwargs)

        monkeypatch.setattr(engine, "bfs", interrupted)
        with pytest.raises(StoppedEarly) as stop:
            fdiam(engine)
    result = stop.value.result
    assert isinstance(result, Result)
    assert not result.exact and result.diameter is None
    assert result.lower <= 8 <= result.upper < len(graph) - 1


def test_a_wrong_distance_is_never_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A traversal that lies about an eccentricity is caught by the witness check."""
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"])) as engine:
        real = engine.bfs

        def lying(source: int, **kwargs: Any) -> Any:
            run = real(source, **kwargs)
            if run.eccentricity is not None and not kwargs.get("distances", True):
                run.eccentricity += 1
            return run

        monkeypatch.setattr(engine, "bfs", lying)
        with pytest.raises(EmdiamError, match="report"):
            fdiam(engine)


def test_a_wrong_label_is_never_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that agree on the pair but are no distances are caught by the scan."""
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"])) as engine:
        real = engine.bfs

        def lying(source: int, **kwargs: Any) -> Any:
            run = real(source, **kwargs)
            if run.distances is not None:
                run.distances.put(np.array([len(ODD["grid"]) // 2]), 0)
            return run

        monkeypatch.setattr(engine, "bfs", lying)
        with pytest.raises(EmdiamError, match="report"):
            fdiam(engine)


def test_a_short_path_is_written_from_source_to_target(tmp_path: Path) -> None:
    file = tmp_path / "path.txt"
    with engine_on(write_store(tmp_path / "g.zarr", ODD["grid"])) as engine:
        found = fdiam(engine, FdiamOptions(path_file=file)).witness
    assert found is not None and found.path == [int(line) for line in file.read_text().split()]
