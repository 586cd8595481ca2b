"""HyperBall: counters against their definition, estimates against exact figures, and what it says of its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emdiam
from emdiam.distribution import run as run_module
from emdiam.engine.cpu import open_cpu_engine
from emdiam.errors import BudgetError, InputError, StoppedEarly
from emdiam.hashing import draw
from emdiam.progress import TimeOver
from emdiam.runs import opening
from emdiam.runs.task import task_of
from emdiam.store.store import open_store
from emdiam.traverse.hyperball import BallSums, groups_of
from tests.helpers import naive
from tests.helpers.stores import engine_on, graphs, odd_graphs, write_store
from tests.helpers.tasks import distances

ODD = odd_graphs()
KINDS = ("in-ram", "in-ram-one-thread", "streamed")
SETTINGS = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SMALL: dict[str, Any] = {"memory": 4 << 30, "threads": 2}


def counter(vertices: list[int], bits: int, key: int) -> list[int]:
    """The registers of a HyperLogLog counter of these vertices."""
    registers = [0] * (1 << bits)
    for v in vertices:
        number = int(draw(np.uint64(key), np.uint64(v)))
        rest, zeros = number >> bits, 1
        while zeros < 40 and not rest & 1:
            rest, zeros = rest >> 1, zeros + 1
        place = number % (1 << bits)
        registers[place] = max(registers[place], zeros)
    return registers


def estimate(registers: list[int], all_registers: int) -> float:
    """HyperLogLog, figure 3, of the part of what was counted that these registers have, for the whole."""
    m, zeros = len(registers), registers.count(0)
    alpha = {16: 0.673, 32: 0.697, 64: 0.709}.get(m, 0.7213 / (1 + 1.079 / m))
    number = alpha * m * m / sum(2.0**-r for r in registers)
    if number <= 2.5 * m and zeros:
        number = m * np.log(m / zeros)
    return float(number) * all_registers / m


def growth(graph: naive.Graph, bits: int, key: int) -> tuple[np.ndarray, np.ndarray]:
    """What grow_balls returns, and its sums, by the definition of balls."""
    n, groups, m = len(graph), groups_of(bits), 1 << bits
    far = [naive.distances(graph, v) for v in range(n)]
    top = max(map(max, far))
    sizes = np.zeros((n, top + 1, 1 + groups))
    for v in range(n):
        for t in range(top + 1):
            registers = counter([w for w in range(n) if 0 <= far[v][w] <= t], bits, key)
            sizes[v, t, 0] = estimate(registers, m)
            for g in range(groups):
                part = m // groups
                sizes[v, t, g + 1] = estimate(registers[: g * part] + registers[(g + 1) * part :], m)
    steps = np.diff(sizes, axis=1, prepend=sizes[:, :1])
    levels = np.arange(top + 1)
    inverse = np.divide(1.0, levels, out=np.zeros(top + 1), where=levels > 0)
    own = steps[:, :, 0]
    return steps.sum(axis=0), np.stack([own.sum(axis=1), own @ levels, own @ inverse])


def check(engine: Any, graph: naive.Graph, bits: int, key: int) -> None:
    want, sums = growth(graph, bits, key)
    given_sums = BallSums(len(graph))
    found = engine.grow_balls(bits, key, given_sums).counts
    assert len(found) <= len(want) and not want[len(found) :].any()  # the last levels may change no register
    assert found == pytest.approx(want[: len(found)], abs=1e-3, rel=1e-9)
    assert given_sums.values == pytest.approx(sums, abs=1e-6) and given_sums.runs == 1


@pytest.mark.thin(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["one", "no-edges", "edge", "star", "clique", "grid", "isolated-first", "lollipop",
                                  "path-and-star"])
def test_balls_of_odd_graphs(tmp_path: Path, kind: str, name: str) -> None:
    store = write_store(tmp_path / "g.zarr", ODD[name])
    with engine_on(store, kind) as engine:
        check(engine, ODD[name], 5, 77)


@SETTINGS
@given(graph=graphs(most=70), bits=st.sampled_from([4, 6]), key=st.integers(0, 2**64 - 1))
def test_balls_of_random_graphs(tmp_path: Path, graph: naive.Graph, bits: int, key: int) -> None:
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, "streamed") as engine:
        check(engine, graph, bits, key)


def test_counters_of_a_hub_in_many_blocks(tmp_path: Path) -> None:
    """Several threads have pieces of its row."""
    graph = naive.graph_of(1200, [(0, v) for v in range(1, 1200)] + [(v, v + 1) for v in range(1, 1199)])
    store = write_store(tmp_path / "g.zarr", graph)
    with engine_on(store, "streamed", threads=4) as one, engine_on(store, threads=1) as other:
        assert np.array_equal(one.grow_balls(8, 5).counts, other.grow_balls(8, 5).counts)


def test_answers_do_not_depend_on_the_order_of_a_store_or_on_threads(tmp_path: Path) -> None:
    graph = naive.graph_of(500, nx.gnm_random_graph(500, 1100, seed=2).edges)
    store = write_store(tmp_path / "g.zarr", graph)
    emdiam.reorder(store, tmp_path / "h.zarr", "cluster")
    results = []
    for number, (place, threads) in enumerate([(store, 1), (store, 2), (tmp_path / "h.zarr", 2)]):
        out = tmp_path / f"{number}.parquet"
        result = distances(place, {"memory": 4 << 30, "threads": threads, "hyperball": 7, "seed": 5, "out": out})
        results.append((result.pairs, result.mean, result.effective_diameter, result.standard_error,
                        pq.read_table(out).to_pydict()))
    assert results[0] == results[1] == results[2]
    exact = distances(store, {**SMALL, "exact": True})
    assert sum(results[0][0].values()) == pytest.approx(sum(exact.pairs.values()), abs=20)
    table, whole = results[0][4], nx.harmonic_centrality(nx.from_dict_of_lists(dict(enumerate(graph))))
    errors = np.array([one / whole[v] - 1 for v, one in zip(table["id"], table["harmonic"], strict=True) if whole[v]])
    assert np.sqrt(np.mean(errors**2)) < 0.2 and len(errors) > 480
    closeness = nx.closeness_centrality(nx.from_dict_of_lists(dict(enumerate(graph))))
    assert table["closeness"] == pytest.approx([closeness[v] for v in table["id"]], rel=0.35, abs=1e-3)


def test_standard_errors_are_as_large_as_errors_are(tmp_path: Path) -> None:
    graph = nx.barabasi_albert_graph(700, 2, seed=1)
    store = write_store(tmp_path / "g.zarr", naive.graph_of(700, graph.edges), chunk=4096)
    exact = distances(store, {**SMALL, "exact": True})
    runs = [distances(store, {**SMALL, "hyperball": 6, "seed": seed}) for seed in range(40)]
    for name in ("mean", "effective_diameter"):
        errors = np.array([getattr(run, name) - getattr(exact, name) for run in runs])
        stated = np.array([getattr(run.standard_error, name) for run in runs])
        assert 0.6 < np.sqrt(np.mean(errors**2)) / np.sqrt(np.mean(stated**2)) < 1.5


def test_where_memory_has_no_room_for_all_registers_runs_are_averaged(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = write_store(tmp_path / "g.zarr", naive.graph_of(300, nx.gnm_random_graph(300, 700, seed=4).edges))
    exact, plan = distances(store, {**SMALL, "exact": True}), opening.plan_here

    def tight(opened: Any, needs: Any, *rest: Any, **sizes: Any) -> Any:
        if max(phase.bytes for phase in needs.phases) > 2 * 300 * 64:
            raise BudgetError("too much")
        return plan(opened, needs, *rest, **sizes)

    monkeypatch.setattr(opening, "plan_here", tight)
    result = distances(store, {**SMALL, "hyperball": 8})
    assert result.registers is not None and result.runs is not None
    assert result.registers < 256 and result.registers * result.runs == 256
    assert result.details["relative_error"] == pytest.approx(1.04 / 16)
    assert result.standard_error is not None and result.mean is not None and exact.mean is not None
    assert abs(result.mean - exact.mean) < 4 * result.standard_error.mean


def test_the_plan_holds_the_counters(tmp_path: Path) -> None:
    graph = nx.path_graph(40_000)
    emdiam.convert(graph, tmp_path / "g.zarr")
    with open_store(tmp_path / "g.zarr") as store:
        needs = run_module.needs_of(store, task_of("distances", {"hyperball": 10}).options, 10)
        with open_cpu_engine(store, needs, memory_bytes=2 << 30) as engine:
            assert engine.plan.phases and max(phase.bytes for phase in needs.phases) > 2 * 40_000 * 1024


def test_a_stop_leaves_the_runs_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = write_store(tmp_path / "g.zarr", ODD["grid"])
    monkeypatch.setattr(run_module, "_registers", lambda session, task, asked: (task, 4))
    grow, done = opening.open_for, []

    def opened(*arguments: Any) -> Any:
        manager = grow(*arguments)
        enter = type(manager).__enter__

        class Wrapped:
            def __enter__(self) -> Any:
                engine = enter(manager)
                balls = engine.grow_balls

                def counted(*what: Any) -> Any:
                    if len(done) == 2:
                        raise TimeOver
                    done.append(1)
                    return balls(*what)

                engine.grow_balls = counted
                return engine

            def __exit__(self, *error: object) -> Any:
                return manager.__exit__(*error)

        return Wrapped()

    monkeypatch.setattr(opening, "open_for", opened)
    with pytest.raises(StoppedEarly, match="the answer is that of 2 runs") as stop:
        distances(store, {**SMALL, "hyperball": 6, "time_limit": 1000})
    assert stop.value.result.runs == 2 and not stop.value.result.complete  # type: ignore[attr-defined]


@pytest.mark.parametrize("options", [{"vertex_state": "disk"}, {"workers": 2}])
def test_counters_are_in_memory_of_this_process(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="HyperBall has its counters in the memory of this process"):
        distances(write_store(tmp_path / "g.zarr", ODD["grid"]), {**SMALL, "hyperball": 6, **options})
