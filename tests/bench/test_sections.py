"""The benchmark's sections seeds, hard, external, tenth and monotone, and their verdicts."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bench import external, hard, monotone, seeds, tenth
from bench.cache import Cache
from bench.graphs import QUICK
from bench.runs import TimeLimit
from emdiam.progress import Event, TimeOver
from tests.helpers.bench_setting import quick_setting

GRID = next(graph for graph in QUICK if graph.graph_class == "grid")
RMAT = next(graph for graph in QUICK if graph.graph_class == "rmat")
PATH = next(graph for graph in QUICK if graph.graph_class == "path")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A cache of its own; no real graphs."""
    folder = tmp_path_factory.mktemp("cache")
    return Cache(folder, folder / "absent")


def check_table(section: Any, rows: list[dict[str, Any]]) -> None:
    """All rows of all tables of a section are as long as their headers."""
    further = section.more(rows) if hasattr(section, "more") else []
    tables = [section.table(rows), *((table.header, table.rows) for table in further)]
    assert all(len(header) == len(cells) for header, lines in tables for cells in lines)
    assert all("WRONG" not in line for line in section.notes(rows))


def test_seeds_section(cache: Cache):
    rows = seeds.run(quick_setting(cache, GRID.name, RMAT.name))
    assert [row["graph"] for row in rows] == [RMAT.name, GRID.name]
    for row in rows:
        assert len(row["runs"]) == 2 and row["wrong"] == [] and row["few"] is None
        assert all(run["exact"] for run in row["runs"]) and row["fdiam"]["exact"]
    check_table(seeds, rows)


def test_a_seed_is_of_the_generator_or_of_pivots(cache: Cache):
    random = list(seeds.variants(quick_setting(cache), RMAT))
    assert [(path.name, seed) for path, seed in random] == [
        (f"{RMAT.name}.zarr", 0), (f"{RMAT.name}.seed-2.zarr", 0)]
    fixed = list(seeds.variants(quick_setting(cache), GRID))
    assert [(path.name, seed) for path, seed in fixed] == [(f"{GRID.name}.zarr", 1), (f"{GRID.name}.zarr", 2)]


def run_of(traversals: int, edges: int, exact: bool = True, bfs: int = 100) -> dict[str, Any]:
    """What the verdict of seeds looks at."""
    return {"traversals": traversals, "edges_scanned": edges, "exact": exact, "bfs": bfs}


@pytest.mark.parametrize(("design", "medians", "limit", "few"), [
    (4, (6, 6, 9), 6, True), (4, (7, 7, 1), 6, False), (33, (39, 39, 39), 39.6, True), (33, (40, 40, 40), 39.6, False),
    (0, (5, 5, 5), None, None),
])
def test_the_limit_is_a_fifth_or_two_more(
    design: int, medians: tuple[int, ...], limit: float | None, few: bool | None
):
    found = seeds.verdict(design, [run_of(k, 10) for k in medians], run_of(1, 10))
    assert found["limit"] == (None if limit is None else pytest.approx(limit)) and found["few"] is few


@pytest.mark.parametrize(("mine", "ended", "fdiam", "lean"), [
    (10, True, run_of(0, 10), True), (11, True, run_of(0, 10), False),
    (11, True, run_of(0, 10, exact=False), None),  # it would have scanned more, nobody knows how much
    (10, True, run_of(0, 10, exact=False), True),
    (11, True, run_of(0, 10, bfs=20), None), (5, False, run_of(0, 10), False),
])
def test_arcs_are_compared_where_fdiam_needs_many_traversals(
    mine: int, ended: bool, fdiam: dict[str, Any], lean: bool | None
):
    found = seeds.verdict(10, [run_of(10, mine, ended)] * 3, fdiam)
    assert found["lean"] is lean and found["few"] is ended


def test_hard_section(cache: Cache):
    (row,) = hard.run(quick_setting(cache, GRID.name))
    assert row["exact"] and row["diameters"] == [88, 88] and row["wrong"] == [] and row["projected_seconds"] is None
    assert row["trace"][-1][2:4] == [88, 88] and row["solve_seconds"] > 0
    check_table(hard, [row])
    stopped = {**row, "exact": False, "upper": 90, "projected_seconds": 55.0,
               "trace": [[0.5, 1, 44, 99, None], [1.0, 2, 88, 90, 500], [30.0, 9, 88, 90, 400]]}
    check_table(hard, [stopped])
    cells = hard.table([stopped])[1][0]
    assert "88..90" in cells and "> 60" not in cells and "> 600" in cells and "400" in cells and "55" in cells


def test_the_projection_goes_by_the_second_half():
    course = [(1.0, 9000), (5.0, 1000), (10.0, 800), (20.0, 600)]
    trace = [[0.5, 0, 1, 9, None], *([seconds, k, 1, 9, n] for k, (seconds, n) in enumerate(course))]
    assert hard.course(trace) == course
    assert hard.projected(trace) == pytest.approx(20 + 600 * 10 / 200)
    assert hard.projected(trace[:1]) is None and hard.projected(trace[:2]) is None
    assert hard.projected([[1, 1, 1, 9, 7], [2, 2, 1, 9, 7]]) is None


def test_external_section(cache: Cache):
    (row,) = external.run(quick_setting(cache, RMAT.name))
    for name in ("batch", "single"):
        run = row[name]
        assert run["exact"] and run["n_blocks"] >= 50 and run["arena_blocks"] <= run["n_blocks"] // 10
        assert run["bytes_read"] > 0 and 0 <= run["dense_levels"] <= run["levels"]
        assert run["bound_bytes"] == (run["dense_levels"] + 4 * run["traversals"]) * row["store_bytes"]
        assert run["holds"] == (run["bytes_read"] <= run["bound_bytes"])
    assert row["single"]["multi_source"] == 0 and row["bytes_ratio"] > 0 and row["wrong"] == []
    check_table(external, [row])


def test_the_blocks_of_the_external_store():
    assert external.chunk_ids_for(6_291_456, 1000) == 4096
    for n_arcs in (1000, 64_000, 10**6 + 1, 2**29):
        chunk_ids = external.chunk_ids_for(n_arcs, 1000)
        assert math.log2(chunk_ids) % 1 == 0 and 1000 <= n_arcs / chunk_ids < 2000


def test_the_bound_of_bytes():
    run = {"dense_levels": 3, "traversals": 2, "bytes_read": 1100}
    assert external.bound(run, 100) == {"bound_bytes": 1100, "holds": True}
    assert external.bound({**run, "bytes_read": 1101}, 100)["holds"] is False


def test_the_time_limit_ends_a_traversal():
    TimeLimit(60)(Event("bfs"))
    with pytest.raises(TimeOver):
        TimeLimit(-1)(Event("bfs"))


def test_tenth_section(cache: Cache):
    (row,) = tenth.run(quick_setting(cache, RMAT.name))
    assert row["streamed"]["bytes_read"] > row["in_ram"]["bytes_read"] and not row["wrong"]
    assert row["ratio"] == row["streamed"]["seconds"] / row["in_ram"]["seconds"] and row["most"] == 1.5
    header, (cells,) = tenth.table([row])
    assert len(header) == len(cells)


def test_monotone_section(cache: Cache, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(monotone, "SHARES", (0.5, 1.0))
    (row,) = monotone.run(quick_setting(cache, GRID.name))
    half, whole = row["steps"]
    assert half["blocks"] == row["n_blocks"] // 2 and whole["blocks"] == row["n_blocks"] and not row["wrong"]
    assert half["none"]["bytes_read"] > whole["none"]["bytes_read"] and half["none"]["multi_source"] == 0
    header, (cells,) = monotone.table([row])
    assert len(header) == len(cells)


def test_rise_and_regret():
    def step(default: float, none: float) -> dict[str, Any]:
        return {"default": {"seconds": default}, "none": {"seconds": none}}

    verdict = dict(monotone._verdict([step(4.0, 5.0), step(3.0, 2.0), step(3.3, 4.0)], "seconds"))
    assert verdict == {"rise_seconds": pytest.approx(0.1), "regret_seconds": pytest.approx(0.5)}
