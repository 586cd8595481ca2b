"""Limits of exact runs: whenever and however a run ends, what it claims holds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emdiam.cli.approx import approximation_text
from emdiam.cli.exact import result_text
from emdiam.engine import reporter
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.exact.method import ExactMethod
from emdiam.methods.result import Result
from emdiam.methods.run import Limits
from emdiam.progress import Event, TimeOver, until
from emdiam.runs.plan import FASTEST_READ, plan_run, unmet_limit
from emdiam.runs.registry import EXACT as METHODS_EXACT
from emdiam.runs.registry import METHODS, method_options
from emdiam.runs.task import execute, make_task
from emdiam.store.store import open_store
from emdiam.traverse import core
from tests.helpers import naive
from tests.helpers.exact_twins import BY_MATRIX
from tests.helpers.small_engine import engines
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.methods.exact.test_classics import BATCHED, EXACT, check_interval, disjoint, random_graph
from tests.methods.exact.test_fdiam import check

ODD = odd_graphs()
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def run(engine: Any, method: str, limits: Limits, **switches: Any) -> Result:
    return METHODS[method].definition().solve(engine, method_options(method, {**switches, "limits": limits}))


def check_stopped(result: Result, graph: naive.Graph) -> None:
    """The figures of a run that was stopped."""
    largest, most, parts = naive.diameters(graph)
    assert not result.exact and result.diameter is None and result.witness is None
    assert result.lower <= most <= result.upper
    low, high = result.details["interval_largest_component"]
    assert any(low <= d <= high for d in largest)
    assert result.diameter_largest_component in {None} | largest
    assert result.n_components in (None, parts)


def interrupt(engine: Any, after: int, raised: Callable[[], None]) -> None:
    """Call `raised` before the traversal number `after` (from 0) of the engine."""
    count = [0]
    for name in ("bfs", "eccentricities"):
        real = getattr(engine, name)

        def traverse(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            if count[0] == after:
                raised()
            count[0] += 1
            return real(*args, **kwargs)

        setattr(engine, name, traverse)


def press_ctrl_c() -> None:
    raise KeyboardInterrupt


def several(rng: random.Random) -> naive.Graph:
    """A random graph, most often with several components that matter."""
    parts = [random_graph(rng) for _ in range(rng.choice([1, 2, 2, 3]))]
    edges, n = [], 0
    for part in parts:
        edges += [(n + v, n + w) for v, row in enumerate(part) for w in row]
        n += len(part)
    return naive.graph_of(n, edges)


@pytest.mark.parametrize("method", METHODS_EXACT)
@pytest.mark.parametrize("batch", [1, 4])
def test_stopped_before_any_traversal(method: str, batch: int) -> None:
    """Ctrl-C before the first, the second, ... BFS, also those of the witness check. No method takes a source more
    than twice."""
    if batch > 1 and method not in BATCHED:
        pytest.skip("the method has no batches")
    rng = random.Random(5)
    switches = {"batch": batch} if batch > 1 else {}
    with engines() as make:
        for _ in range(12):
            graph = several(rng)
            for after in range(2 * len(graph) + 9):
                engine = make(graph)
                interrupt(engine, after, press_ctrl_c)
                try:
                    check_interval(run(engine, method, Limits(), **switches), graph)
                    break
                except StoppedEarly as stop:
                    assert isinstance(stop.result, Result)
                    check_stopped(stop.result, graph)
                    assert f"{stop.result.lower:,} <= D <= {stop.result.upper:,} is proved" in str(stop)
            else:
                raise AssertionError("the run never ends")


@SETTINGS
@given(graph=graphs(), gap=st.integers(0, 9), method=st.sampled_from(METHODS_EXACT), batch=st.sampled_from([1, 3]))
def test_a_gap_is_kept(graph: naive.Graph, gap: int, method: str, batch: int) -> None:
    switches = {"batch": batch} if method in BATCHED else {"k": 99} if method == "sweep-k" else {}
    with engines() as make:
        result = run(make(graph), method, Limits(gap=gap), **switches)
        full = run(make(graph), method, Limits(), **switches)
    check_interval(result, graph)
    low, high = result.details["interval_largest_component"]
    assert max(result.upper - result.lower, high - low) <= gap
    assert result.traversals.bfs <= full.traversals.bfs + 1  # the one that names the witness
    if gap == 0:
        check(result, graph)
    elif not result.exact:
        assert result.details["enough"] == "gap"


@SETTINGS
@given(graph=graphs(), method=st.sampled_from(METHODS_EXACT))
def test_bounds_only_takes_three_traversals_a_component(graph: naive.Graph, method: str) -> None:
    with engines() as make:
        result = run(make(graph), method, Limits(bounds_only=True))
    check_interval(result, graph)
    matter = [part for part in naive.components(graph) if len(part) > 1]
    assert result.traversals.bfs <= 3 * len(matter) + 1
    assert result.traversals.multi_source == result.traversals.partial == 0
    if not result.exact:
        assert result.details["enough"] == "bounds"


def test_a_gap_leaves_out_components_that_cannot_matter() -> None:
    graph = disjoint(nx.path_graph(30), nx.path_graph(31), nx.star_graph(33))
    with engines() as make:
        result = run(make(graph), "fdiam", Limits(gap=2))
        strict = run(make(graph), "fdiam", Limits())
    check_interval(result, graph)
    assert (strict.lower, strict.upper) == (30, 30) and 0 <= result.upper - result.lower <= 2
    assert result.traversals.bfs < strict.traversals.bfs


@pytest.mark.parametrize("method", METHODS_EXACT)
def test_no_time_at_all(method: str) -> None:
    with engines() as make, pytest.raises(StoppedEarly, match="the time limit is over") as stop:
        run(make(ODD["torus"]), method, Limits(seconds=0))
    assert isinstance(stop.value.result, Result)
    check_stopped(stop.value.result, ODD["torus"])
    assert stop.value.result.lower == 0 and stop.value.exit_code == 3


@pytest.mark.parametrize("method", [name for name in EXACT if name not in BY_MATRIX])
def test_the_time_is_over_in_the_middle(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The method looks at the clock between traversals."""
    made: list[ExactMethod] = []
    real = ExactMethod.__init__
    monkeypatch.setattr(ExactMethod, "__init__", lambda self, *args: (made.append(self), real(self, *args))[1])

    def time_passes() -> None:
        made[-1].deadline = time.monotonic() - 1

    with engines() as make:
        engine = make(ODD["grid"])
        interrupt(engine, 2, time_passes)
        with pytest.raises(StoppedEarly) as stop:
            run(engine, method, Limits(seconds=3600))
    assert isinstance(stop.value.result, Result)
    check_stopped(stop.value.result, ODD["grid"])
    assert stop.value.result.traversals.bfs == 3 and stop.value.result.lower >= 11


@pytest.mark.parametrize("limits", [Limits(gap=-1), Limits(seconds=-2.0)])
def test_negative_limits(limits: Limits) -> None:
    with engines() as make, pytest.raises(InputError, match="negative"):
        run(make(ODD["edge"]), "fdiam", limits)


def test_the_interface_passes_limits_on(tmp_path: Path) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["torus"])
    bounds = execute(store, make_task("pivots", bounds_only=True))
    assert bounds.traversals.bfs == 3 and bounds.details["enough"] == "bounds"
    assert (bounds.lower, bounds.upper) == (8, 16)
    near = execute(store, make_task("bounding", gap=8))
    assert near.details["enough"] == "gap" and near.traversals.bfs == 1
    assert execute(store, make_task("korf", time_limit=3600.0)).diameter == 8


def test_the_limit_counts_from_the_start(tmp_path: Path) -> None:
    """Before there is a bound, all is open."""
    store = write_store(tmp_path / "g.zarr", ODD["torus"])
    for method in ("pivots", "clusters"):
        said = r"the time limit is over before there was a bound on the diameter; 0 <= D <= \d+ is proved"
        with pytest.raises(StoppedEarly, match=said) as stop:
            execute(store, make_task(method, time_limit=1e-6))
        result = stop.value.result
        assert isinstance(result, Result) and (result.lower, result.upper) == (0, result.n_vertices - 1)
        text = result_text if method == "pivots" else approximation_text
        assert f"0 <= D <= {result.upper:,} (proved bounds" in text(result.to_dict(), True)


def test_the_time_can_be_over_inside_a_traversal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A listener that raises in the middle of a level ends the run as Ctrl-C would."""
    monkeypatch.setattr(reporter, "_EVENT_SECONDS", 0.0)
    levels: list[int] = []

    def listen(event: Event) -> None:
        if event.phase == "bfs":
            levels.append(event.facts.get("level", 0))
        if len(levels) == 30:
            raise TimeOver

    path = write_store(tmp_path / "g.zarr", ODD["torus"])
    with engine_on(path, "streamed-dense", progress=listen) as engine:
        with pytest.raises(StoppedEarly, match="the time limit is over") as stop:
            METHODS["apsp"].definition().solve(engine, None)
    assert isinstance(stop.value.result, Result)
    check_stopped(stop.value.result, ODD["torus"])
    assert max(levels) > 1


@pytest.mark.parametrize("method", ["pivots", "fdiam"])
@pytest.mark.parametrize("kind", ["streamed-dense", "in-ram"])
def test_levels_of_the_first_traversal_are_a_lower_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, method: str
) -> None:
    monkeypatch.setattr(reporter, "_EVENT_SECONDS", 0.0)
    monkeypatch.setattr(core, "_SLICE_ARCS", 8)
    seen: list[int] = []

    def listen(event: Event) -> None:
        seen.append(event.facts.get("level", 0))
        if seen[-1] >= 10:
            raise KeyboardInterrupt

    with engine_on(write_store(tmp_path / "g.zarr", ODD["path"]), kind, progress=listen) as engine:
        with pytest.raises(StoppedEarly, match="1[0-9] <= D <= 299") as stop:
            METHODS[method].definition().solve(engine, None)
    result = stop.value.result
    assert isinstance(result, Result) and result.traversals.bfs == 0 and result.lower == seen[-1]
    check_stopped(result, ODD["path"])


def test_a_time_limit_that_cannot_be_met_is_told(tmp_path: Path) -> None:
    path = write_store(tmp_path / "g.zarr", ODD["mesh"], chunk=64)
    with open_store(path) as store:
        run = make_task("pivots", arena_bytes=1024, memory_bytes=1 << 31)
        plan, stored = plan_run(store, run), store.indices.stored_bytes
        assert not plan.in_ram and stored is not None
        second = FASTEST_READ * run.threads
        told = [unmet_limit(store, run, plan, stored * reads / second) for reads in (0.5, 1.5, 9.0)]
        assert told[0] is not None and "levels that the first traversal finishes <= D <= 269" in told[0]
        assert told[1] is not None and "twice that" in told[1] and told[2] is None
        whole = make_task("pivots", memory_bytes=1 << 31)
        assert unmet_limit(store, whole, plan_run(store, whole), 0.0) is None
        assert unmet_limit(store, make_task("sweep"), plan, 0.0) is None


def test_the_listener_that_keeps_the_time() -> None:
    seen: list[Event] = []
    early, late = until(time.monotonic() + 3600, seen.append), until(time.monotonic() - 1, seen.append)
    quiet = until(time.monotonic() - 1, None)
    assert early is not None and late is not None and quiet is not None
    early(Event("bfs"))
    late(Event("verify"))  # what has been found is verified in any case
    for listener in (late, quiet):
        with pytest.raises(TimeOver):
            listener(Event("bfs"))
    assert [event.phase for event in seen] == ["bfs", "verify", "bfs"]
    assert until(None, None) is None
