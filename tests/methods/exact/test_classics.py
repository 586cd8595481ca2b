"""The classic exact methods equal brute force and each other on every engine; sweep-k's interval holds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.engine.interface import max_degree_vertex
from emdiam.errors import InputError
from emdiam.methods.exact.apsp import ApspOptions
from emdiam.methods.exact.bounding import BoundingOptions
from emdiam.methods.exact.fdiam import FdiamOptions
from emdiam.methods.exact.graph_diameter import GraphDiameterOptions
from emdiam.methods.exact.ifub import IfubOptions
from emdiam.methods.exact.korf import KorfOptions
from emdiam.methods.exact.sweep_k import SweepKOptions, sweep_k
from emdiam.methods.result import Result
from emdiam.runs.registry import EXACT as NAMES
from emdiam.runs.registry import METHODS, method_options
from tests.helpers import naive
from tests.helpers.small_engine import engines
from tests.helpers.stores import ENGINES, engine_on, graphs, odd_graphs, write_store
from tests.methods.exact.test_fdiam import check

pytestmark = pytest.mark.thin(16)

# Of 60 levels: every BFS of a longer path takes too long where all levels are dense.
ODD = {**odd_graphs(), "path": naive.graph_of(60, [(v, v + 1) for v in range(59)]),
       "long-caterpillar": naive.graph_of(120, [*((v, v + 1) for v in range(59)), *((v, v + 60) for v in range(60))])}
BATCH = st.integers(1, 11)
OPTIONS = st.one_of(
    st.builds(FdiamOptions),
    st.builds(BoundingOptions, first=st.sampled_from(["upper", "lower"]), batch=BATCH),
    st.builds(IfubOptions, batch=BATCH),
    st.builds(GraphDiameterOptions, sweeps=st.integers(0, 3), seed=st.integers(0, 9)),
    st.builds(KorfOptions, batch=BATCH),
    st.builds(ApspOptions, batch=BATCH),
    st.builds(SweepKOptions, k=st.integers(1, 40)),
)
BY_OPTIONS = {METHODS[name].definition().options: METHODS[name].definition() for name in NAMES}
# Without options of their own.
PLAIN = ("takafuji", "pennycuff-weninger")
EXACT = [name for name in NAMES if name != "sweep-k"]
BATCHED = ["bounding", "ifub", "korf", "apsp"]


def check_interval(result: Result, graph: naive.Graph) -> None:
    """An answer that need not be exact: everything it claims holds."""
    largest, most, parts = naive.diameters(graph)
    if result.exact and result.diameter_largest_component is not None:
        check(result, graph)
        return
    assert result.lower <= most <= result.upper and result.exact == (result.lower == result.upper)
    assert result.details["enough"]
    low, high = result.details["interval_largest_component"]
    assert any(low <= d <= high for d in largest)
    assert result.diameter_largest_component in {None} | largest
    assert result.diameter is None
    assert result.diameter_max_component == (most if result.exact else None)
    assert result.n_components == parts
    found = result.witness
    assert found is not None and found.length == result.lower
    assert naive.distances(graph, found.source)[found.target] == result.lower


def test_the_names_of_the_interface_are_those_of_the_methods() -> None:
    assert len(BY_OPTIONS) == len(NAMES) - len(PLAIN) + 1


@pytest.mark.parametrize("kind", ["in-ram", "in-ram-dense", "streamed"])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    graph = ODD[name]
    with engine_on(write_store(tmp_path / "g.zarr", graph), kind) as engine:
        for method in EXACT:
            result = METHODS[method].definition().solve(engine, None)
            assert result.method == method
            check(result, graph)
        for method in BATCHED:
            check(METHODS[method].definition().solve(engine, method_options(method, {"batch": 7})), graph)
        check_interval(sweep_k(engine), graph)


@pytest.mark.parametrize("kind", [kind for kind in ENGINES if kind not in ("in-ram", "in-ram-dense", "streamed")])
def test_other_engines(tmp_path: Path, kind: str) -> None:
    for name in ("path-and-star", "lollipop", "isolated-first"):
        with engine_on(write_store(tmp_path / "g.zarr", ODD[name]), kind) as engine:
            for method in EXACT:
                check(METHODS[method].definition().solve(engine, None), ODD[name])


@settings(max_examples=125, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(), options=OPTIONS)
def test_random_graphs(graph: naive.Graph, options: Any) -> None:
    with engines() as engine:
        result = BY_OPTIONS[type(options)].solve(engine(graph), options)
    (check_interval if isinstance(options, SweepKOptions) else check)(result, graph)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs(most=120), options=OPTIONS)
def test_random_graphs_streamed(tmp_path: Path, graph: naive.Graph, options: Any) -> None:
    with engine_on(write_store(tmp_path / "g.zarr", graph), "streamed") as engine:
        result = BY_OPTIONS[type(options)].solve(engine, options)
    (check_interval if isinstance(options, SweepKOptions) else check)(result, graph)


@pytest.mark.parametrize("name", ["grid", "torus", "caterpillar", "two-paths", "barbell", "pairs", "clique-and-path"])
def test_the_interval_of_sweep_k_holds_for_every_k(name: str) -> None:
    graph = ODD[name]
    part = max(naive.components(graph), key=len)
    with engines() as make:
        engine = make(graph)
        for k in range(1, len(part) + 2):
            result = sweep_k(engine, SweepKOptions(k=k))
            check_interval(result, graph)
            details = result.details
            low, high = details["interval_largest_component"]
            assert details["additive_error"] == result.upper - result.lower
            assert details["sources"] <= k
            assert high - low <= details["covering_radius"] <= 2 * len(part) / (details["sources"] + 1)
        assert result.exact


def test_one_sweep_is_one_bfs_and_its_double() -> None:
    graph = ODD["grid"]
    with engines() as make:
        engine = make(graph)
        ecc = max(naive.distances(graph, max_degree_vertex(engine)))
        result = sweep_k(engine, SweepKOptions(k=1))
    assert (result.lower, result.upper) == (ecc, 2 * ecc)
    assert result.traversals.bfs == 1 and result.details["enough"] == "sources"


def disjoint(*parts: nx.Graph) -> naive.Graph:
    """The graphs side by side, in this order."""
    whole = nx.disjoint_union_all([nx.convert_node_labels_to_integers(part) for part in parts])
    return naive.graph_of(len(whole), whole.edges)


@pytest.mark.parametrize("method", EXACT)
def test_the_largest_component_need_not_have_the_largest_diameter(method: str) -> None:
    """Also where the vertex of the highest degree, where the search begins, is in neither."""
    graph = disjoint(nx.star_graph(12), nx.path_graph(14), nx.empty_graph(2), nx.cycle_graph(17))
    with engines() as make:
        result = METHODS[method].definition().solve(make(graph), None)
    check(result, graph)
    assert (result.diameter_largest_component, result.diameter_max_component) == (8, 13)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("parts", [
    (nx.empty_graph(2), nx.path_graph(9), nx.star_graph(8)), (nx.star_graph(8), nx.path_graph(9)),
    (nx.path_graph(4), nx.path_graph(9), nx.cycle_graph(9), nx.star_graph(8)),
])
def test_of_equally_large_components_the_first_one_is_reported(method: str, parts: tuple[nx.Graph, ...]) -> None:
    graph = disjoint(*parts)
    first = next(part for part in parts if part.number_of_edges() and len(part) == 9)
    with engines() as make:
        result = METHODS[method].definition().solve(make(graph), None)
    check(result, graph)
    assert result.diameter_largest_component == nx.diameter(first)


def test_the_batch_costs_fewer_passes(tmp_path: Path) -> None:
    graph = ODD["grid"]
    with engine_on(write_store(tmp_path / "g.zarr", graph)) as engine:
        one, many = (METHODS["apsp"].definition().solve(engine, ApspOptions(batch=k)) for k in (1, 64))
    assert one.traversals.bfs == len(graph) and one.traversals.multi_source == 0
    # The first BFS, which knows the component, and the one that names the witness.
    assert (many.traversals.bfs, many.traversals.multi_source) == (2, 2)
    assert many.traversals.multi_source_sources == len(graph) - 1
    assert many.edges_scanned < one.edges_scanned / 3


@pytest.mark.parametrize(("method", "switches"), [
    ("bounding", {"winnow": False}), ("ifub", {"first": "upper"}), ("korf", {"k": 3}), ("fdiam", {"batch": 2}),
    ("graph-diameter", {"batch": 2}), ("sweep-k", {"start": "first"}),
])
def test_an_option_of_another_method_is_refused(method: str, switches: dict[str, Any]) -> None:
    name = {"winnow": "no-winnow", "k": "sources"}.get(next(iter(switches)), next(iter(switches)))
    with pytest.raises(InputError, match=f"method {method} has no option: '--{name}'"):
        method_options(method, switches)


@pytest.mark.parametrize(("kind", "given"), [
    (BoundingOptions, {"first": "middle"}), (BoundingOptions, {"batch": 0}), (IfubOptions, {"batch": -1}),
    (SweepKOptions, {"k": 0}), (GraphDiameterOptions, {"sweeps": -1}), (KorfOptions, {"batch": 0}),
    (ApspOptions, {"batch": 0}),
])
def test_options_that_make_no_sense(kind: Any, given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        kind(**given)


def random_graph(rng: random.Random) -> naive.Graph:
    """Sparse and dense ones, trees, chains and pendant trees, in one or several components."""
    n = rng.randint(1, 22)
    edges = [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.choice([0, 1, 2, n // 2, n, 2 * n]))]
    kind = rng.choice(["edges", "tree", "chains", "forest"])
    for v in range(1, n):
        if kind == "tree" or (kind == "forest" and rng.random() < 0.85):
            edges.append((v, rng.randrange(v)))
        elif kind == "chains":
            edges.append((v, v - 1 if rng.random() < 0.8 else rng.randrange(v)))
    order = rng.sample(range(n), n)
    return naive.graph_of(n, [(order[a], order[b]) for a, b in edges])


def check_all(make: Any, graph: naive.Graph, rng: random.Random) -> None:
    """Every method, with random options."""
    engine = make(graph)
    batch = rng.choice([1, 2, 3, 9])
    for method in EXACT:
        switches: dict[str, Any] = {"batch": batch} if method in BATCHED else {}
        if method == "bounding":
            switches["first"] = rng.choice(["upper", "lower"])
        elif method == "graph-diameter":
            switches["sweeps"] = rng.randint(0, 2)
        elif method == "fdiam":
            switches = {name: rng.random() < 0.7 for name in ("winnow", "eliminate", "chains")}
        check(METHODS[method].definition().solve(engine, method_options(method, switches)), graph)
    check_interval(sweep_k(engine, SweepKOptions(k=rng.randint(1, 6))), graph)


def test_a_few_hundred_graphs_by_all_methods() -> None:
    rng = random.Random(1)
    with engines() as make:
        for _ in range(200):
            check_all(make, random_graph(rng), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_graphs_by_all_methods(seed: int) -> None:
    rng = random.Random(1000 + seed)
    with engines(**rng.choice([{}, {"dense_arcs": 0}])) as make:
        for _ in range(2200):
            check_all(make, random_graph(rng), rng)
