"""The benchmark of exact methods: section exact, its verdicts, its peers and its plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from bench import exact
from bench.cache import Cache
from bench.graphs import QUICK, Graph
from bench.peers.csr import components, largest_over
from bench.peers.run import installed, run_peer
from bench.runs import CLASSICS, OWN, Solver, Trace, faults, solve, traversals_of
from emdiam.conversion.convert import convert
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from tests.helpers.bench_setting import quick_setting

GRID = next(graph for graph in QUICK if graph.graph_class == "grid")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A cache of its own; no real graphs."""
    folder = tmp_path_factory.mktemp("cache")
    return Cache(folder, folder / "absent")


def run_of(median: float, diameter: int | None = 9, **more: Any) -> dict[str, Any]:
    """A run as own_runs gives it; without a diameter it did not end."""
    ended = diameter is not None
    return {
        "exact": ended, "lower": diameter if ended else 5, "upper": diameter if ended else 12,
        "diameters": [diameter, diameter], "traversals": 7, "bfs": 6, "multi_source": 1, "sources": 40, "partial": 0,
        "edges_scanned": 10**6, "median": median, "quiet": True, "foreign_cores": 0.0, **more,
    }


def row_of(graph: Graph, runs: dict[str, Any], peers: dict[str, Any] | None = None) -> dict[str, Any]:
    """A row of section exact."""
    row = {"graph": graph.name, "n_vertices": 10, "n_edges": 9, "limit_seconds": 60.0, "runs": runs,
           "peers": peers or {}, "trace": [[0.0, 0, 0, 9, None], [0.1, 1, 5, 10, None], [0.2, 2, 9, 9, 0]]}
    return {**row, **exact.verdict(graph, row)}


def test_the_section_measures_own_methods(cache: Cache):
    (row,) = exact.run(quick_setting(cache, GRID.name))
    assert set(row["runs"]) == set(OWN) and row["diameters"] == [88, 88] and row["wrong"] == []
    for run in row["runs"].values():
        assert run["exact"] and run["median"] > 0 and run["edges_scanned"] > 0
        assert run["traversals"] == run["bfs"] + run["multi_source"]
    assert row["fastest"] == "fdiam" and row["ratio"] > 0
    assert "path" not in json.dumps(row)
    header, cells = exact.table([row])
    assert len(header) == len(cells[0]) and exact.more([row]) == []
    assert any(line.startswith("close") for line in exact.notes([row]))


def test_all_methods_agree(cache: Cache):
    (row,) = exact.run(quick_setting(cache, GRID.name, methods="all"))
    assert set(row["runs"]) == {*OWN, *CLASSICS} and row["wrong"] == []
    assert all(run["exact"] and run["upper"] == 88 for run in row["runs"].values())
    assert row["runs"]["apsp"]["traversals"] >= 2000
    (table,) = exact.more([row])
    assert len(table.header) == len(table.rows[0]) == 2 + 2 * len(row["runs"])


def test_the_trace_ends_with_the_answer(cache: Cache):
    (row,) = exact.run(quick_setting(cache, GRID.name))
    seconds, count, lower, upper, _ = zip(*row["trace"], strict=True)
    assert list(count) == sorted(set(count)) and count[-1] == row["runs"]["pivots"]["traversals"]
    assert list(seconds) == sorted(seconds)
    assert list(lower) == sorted(lower) and list(upper) == sorted(upper, reverse=True)
    assert lower[-1] == upper[-1] == 88


def test_a_long_trace_is_thinned_out_and_keeps_its_end(cache: Cache):
    with open_store(cache.store(GRID)) as store, open_engine(store) as engine:
        trace = Trace(engine)
        for k in range(1500):
            engine.reporter.tick("bfs", lower=k, upper=3000 - k)
        rows = trace.rows()
    assert 300 < len(rows) <= 401 and rows[0][1:] == [0, 0, 3000, None] and rows[-1][1:] == [1499, 1499, 1501, None]


def test_a_run_stops_at_its_time_limit(cache: Cache):
    torus = Graph("torus-200^2", "", "torus", None, {"sides": "200x200"}, diameters=(200, 200))
    with open_store(cache.store(torus)) as store, open_engine(store) as engine:
        solver = Solver(engine, "fdiam", 0.3, Trace(engine))
        lap = solver()
        assert not lap.again and not solver.result.exact and solver.result.lower <= 200 <= solver.result.upper
        after = solve(engine, "pivots")  # the engine is as good as before
        assert after.diameter == 200 and traversals_of(after) < 100
    row = row_of(torus, {"pivots": run_of(1.0, 200), "fdiam": run_of(0.4, None)})
    assert exact.table([{**row, "limit_seconds": 0.3}])[1][0][8] == "> 0.3"


def test_what_contradicts_is_said():
    graph = Graph("g", diameters=(9, 10))
    right = {"pivots": run_of(1, 10, diameters=[9, 10]), "fdiam": run_of(1, None)}
    assert faults(graph, list(right.items())) == []
    wrong = {"pivots": run_of(1, 9), "fdiam": run_of(1, 10, diameters=[9, 10])}
    assert len(faults(graph, list(wrong.items()))) >= 2
    assert faults(Graph("unknown"), list(wrong.items()))
    outside = {"pivots": run_of(1, 13), "fdiam": run_of(1, None)}
    (fault,) = faults(Graph("unknown"), list(outside.items()))
    assert "fdiam" in fault and "5..12" in fault
    row = row_of(graph, wrong)
    assert "WRONG" in exact.table([row])[1][0][3] and any("WRONG" in line for line in exact.notes([row]))


def test_a_peer_with_another_answer_is_wrong():
    runs = {"pivots": run_of(1), "fdiam": run_of(2)}
    assert row_of(Graph("g"), runs, {"networkit": {"median": 1.0, "value": 9}})["wrong"] == []
    assert row_of(Graph("g"), runs, {"networkit": {"median": 1.0, "value": 8}})["wrong"] == ["networkit: 8, own: 9"]


@pytest.mark.parametrize(("mine", "others", "expected"), [
    (1.0, (2.0, 4.0), ("fdiam", 0.5, True)),
    (1.0, (4.0, 0.5), ("networkit", 2.0, False)),
    (0.06, (1.0, 0.02), ("networkit", 3.0, True)),
    (1.0, (None, None), (None, None, True)),
    (None, (1.0, None), ("fdiam", None, False)),
    (None, (None, None), (None, None, False)),
])
def test_pivots_against_the_fastest(
    mine: float | None, others: tuple[float | None, float | None], expected: tuple[str | None, float | None, bool]
):
    fdiam, peer = others
    row = row_of(
        Graph("g"), {name: run_of(60.0 if s is None else s, None if s is None else 9)
                     for name, s in (("pivots", mine), ("fdiam", fdiam))},
        {"networkit": {"failure": "> 120 s"} if peer is None else {"median": peer, "value": 9}})
    ratio = None if row["ratio"] is None else pytest.approx(row["ratio"])
    assert (row["fastest"], ratio, row["close"]) == expected
    assert len(exact.table([row])[0]) == len(exact.table([row])[1][0])


def test_the_geometric_mean_counts_a_stopped_fdiam_with_the_limit():
    rows = [row_of(Graph("a"), {"pivots": run_of(1.0), "fdiam": run_of(4.0)}),
            row_of(Graph("b"), {"pivots": run_of(6.0), "fdiam": run_of(61.0, None)}),
            row_of(Graph("c"), {"pivots": run_of(1.0), "fdiam": run_of(0.4)})]
    (line, _) = exact.notes(rows)
    assert "geometric mean 6.32 over 2 graphs" in line  # sqrt(4 x 10)


def test_components_come_largest_first():
    tails, heads = np.array([9, 1, 2, 4, 6, 7]), np.array([5, 2, 8, 6, 7, 0])  # 0 4 6 7; 1 2 8; 5 9; 3
    upper = sp.csr_matrix((np.ones(6), (tails, heads)), shape=(10, 10))
    parts = list(components((upper + upper.T).tocsr()))
    assert [part.shape[0] for part in parts] == [4, 3, 2]
    assert [part.nnz for part in parts] == [6, 4, 2]
    assert all((part != part.T).nnz == 0 for part in parts)
    assert list(components(sp.csr_matrix((3, 3)))) == []


def test_components_too_small_to_matter_are_left_out():
    asked: list[int] = []

    def diameter(part: int) -> int:
        asked.append(part)
        return {9: 3, 6: 4, 5: 99}[part]

    assert largest_over([9, 6, 5], diameter, lambda part: part) == 4 and asked == [9, 6]
    assert largest_over([], diameter, lambda part: part) == 0


@pytest.mark.parametrize("library", [
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("networkit", "igraph")), "networkx"])
def test_peers_find_the_largest_distance_over_all_components(cache: Cache, tmp_path: Path, library: str):
    if not installed(library):
        pytest.skip(f"{library} is not installed")
    star = [f"0 {leaf}" for leaf in range(1, 40)]
    path = [f"{50 + k} {51 + k}" for k in range(7)]
    (tmp_path / "edges.txt").write_text("\n".join(star + path + ["70 71"]) + "\n")
    convert([tmp_path / "edges.txt"], tmp_path / "s.zarr")
    found = run_peer(library, "diameter", tmp_path / "s.zarr", quick_setting(cache))
    assert found["value"] == 7 and found["median"] > 0 and found["load_seconds"] > 0


def test_plots(tmp_path: Path):
    plots = pytest.importorskip("bench.plots")
    rows = [row_of(Graph(name), {"pivots": run_of(0.5), "fdiam": run_of(60.0, None), "apsp": run_of(9.0)},
                   {"networkit": {"median": 2.0, "value": 9}, "igraph": {"failure": "> 120 s"},
                    "networkx": {"failure": "failed (1)"}}) for name in ("a", "b", "c", "wave")]
    files = plots.draw(rows, tmp_path / "new")
    assert [file.name for file in files] == ["traversals.svg", "seconds.svg", "bounds.svg"]
    texts = [file.read_text(encoding="utf-8") for file in files]
    assert all(f">{name}<" in text for text in texts[:2] for name in ("wave", "pivots", "fdiam", "apsp"))
    assert ">networkit<" in texts[1] and ">networkx<" not in texts[1] and ">networkit<" not in texts[0]
    assert "longest distance (edges)" in texts[2] and "seconds to solve" in texts[1]
    assert plots.second_marks(rows[0])[-1] == ("igraph", 120.0, False)
    again = plots.draw(rows, tmp_path / "again")
    assert [file.read_text(encoding="utf-8") for file in again] == texts
    assert plots.draw([], tmp_path / "none") == [] and not (tmp_path / "none").exists()


def test_the_bounds_of_three_graphs_are_drawn():
    plots = pytest.importorskip("bench.plots")
    rows = [row_of(Graph(name), {"pivots": run_of(0.5), "fdiam": run_of(1)}) for name in "abcd"]
    rows[3]["graph"] = "delaunay-2^20"
    rows[1]["trace"] = rows[1]["trace"] * 2
    assert [row["graph"] for row in plots.traced(rows)] == ["delaunay-2^20", "b", "a"]
