"""The benchmark of all eccentricities: section ecc, its verdicts and its peers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import ecc
from bench.cache import Cache
from bench.graphs import QUICK, Graph
from bench.peers.eccentricities import SAMPLE, all_eccentricities, digest, expected_seconds
from bench.peers.run import installed, run_peer
from bench.setting import Setting
from emdiam.conversion.convert import convert
from tests.helpers.bench_setting import quick_setting

GRID = next(graph for graph in QUICK if graph.graph_class == "grid")
GRID_DIGEST = digest(np.add.outer([max(row, 39 - row) for row in range(40)],
                                  [max(column, 49 - column) for column in range(50)]))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """A cache of its own; no real graphs."""
    folder = tmp_path_factory.mktemp("cache")
    return Cache(folder, folder / "absent")


def setting(cache: Cache, **more: Any) -> Setting:
    """Quick, without peers, on the grid."""
    return quick_setting(cache, GRID.name, **more)


def row_of(peers: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A row of the section, of a path of ten vertices."""
    row = {"graph": "g", "n_vertices": 10, "n_edges": 9, "limit_seconds": 600.0, "exact": True, "lower": 9, "upper": 9,
           "diameters": [9, 9], "radius": 5, "all_sources": 2, "share": 0.2, "bfs": 2, "multi_source": 0, "value": "ab",
           "median": 0.5, "cpu_seconds": 0.8, "quiet": True, "foreign_cores": 0.0, "peers": peers, **more}
    return {**row, **ecc.verdict(Graph("g", diameters=(9, 9)), row)}


def test_the_section_measures_all_eccentricities(cache: Cache):
    (row,) = ecc.run(setting(cache))
    assert row["value"] == GRID_DIGEST and row["wrong"] == [] and row["exact"] and row["median"] > 0
    assert (row["radius"], row["diameters"]) == (45, [88, 88]) and row["speedups"] == {}
    assert row["share"] == row["all_sources"] / 2000 < 0.1
    header, (cells,) = ecc.table([row])
    assert len(header) == len(cells) and len(ecc.notes([row])) == 1


def test_a_run_that_is_stopped_has_no_eccentricities(cache: Cache):
    (row,) = ecc.run(setting(cache, long_seconds=0.0))
    assert row["value"] is None and not row["exact"] and row["wrong"] == [] and row["speedups"] == {}
    header, (cells,) = ecc.table([row])
    assert len(header) == len(cells) and cells[header.index("own s")] == "> 0"


def test_the_others_are_compared():
    row = row_of({"networkit": {"median": 6.0, "value": "ab", "cpu_seconds": 5.7}, "igraph": {"failure": "> 300 s"}})
    assert row["wrong"] == [] and row["speedups"] == {"networkit": 12.0}
    header, (cells,) = ecc.table([row])
    assert [cells[header.index(name)] for name in ("networkit s", "igraph s", "networkit / own", "igraph / own")] == [
        "6.000 (6 CPU)", "> 300 s", "12.0", "-"]
    stopped = {"failure": "> 300 s", "expected_seconds": 1234.5}
    far = row_of({"igraph": stopped, "networkit": {"median": 4, "value": "ab", "cpu_seconds": 5.7}})
    assert "> 300 s (~1,234)" in ecc.table([far])[1][0]
    assert "finished 2 times, and took at least 8.0 x" in ecc.notes([row, far])[0]


def test_other_eccentricities_are_wrong():
    row = row_of({"networkit": {"median": 6.0, "value": "cd", "cpu_seconds": 5.7}})
    assert row["wrong"] == ["eccentricities differ: own ab, networkit cd"]
    assert "WRONG" in ecc.table([row])[1][0][4] and any("WRONG" in line for line in ecc.notes([row]))
    assert row_of({}, diameters=[8, 8], lower=8, upper=8)["wrong"]
    ended, mine = {"median": 6.0, "cpu_seconds": 5.7}, {"value": None, "exact": False}
    stopped = row_of({"networkit": {**ended, "value": "ab"}, "igraph": {**ended, "value": "cd"}}, **mine)
    assert stopped["wrong"] == ["eccentricities differ: own unknown, networkit ab, igraph cd"]


def test_the_digest_is_of_values_in_their_order():
    values = np.array([3, 1, 2], np.uint8)
    assert digest(values) == digest(values.astype(np.int64)) != digest(values[::-1])


def test_the_pace_leaves_out_what_a_call_costs(monkeypatch: pytest.MonkeyPatch):
    clock, asked = [0.0], []

    def task(graph: str, vertices: list[int]) -> list[int]:
        asked.append(vertices)
        clock[0] += 100 + 2 * len(vertices)
        return vertices

    monkeypatch.setattr("bench.peers.eccentricities.time.process_time", lambda: clock[0])
    assert expected_seconds(task, "graph", 1000) == pytest.approx(2000)
    assert [len(some) for some in asked] == [1, SAMPLE] and len(set(asked[1])) == SAMPLE
    assert expected_seconds(task, "graph", SAMPLE - 1) == 0.0


def test_what_would_take_much_too_long_is_not_begun(monkeypatch: pytest.MonkeyPatch):
    clock = [0.0]

    def task(graph: str, vertices: list[int]) -> list[int]:
        clock[0] += len(vertices)
        return vertices

    monkeypatch.setattr("bench.peers.eccentricities.time.process_time", lambda: clock[0])

    def timed(asked: Callable[[], list[int]]) -> tuple[list[int], dict[str, float]]:
        return asked(), {"median": 7.0, "n_calls": 1}

    left_out = all_eccentricities(task, "graph", 1000, 499.0, timed)
    assert left_out == {"failure": "> 499 s", "expected_seconds": 1000.0} and clock[0] < 100
    done = all_eccentricities(task, "graph", 1000, 501.0, timed)
    assert done == {"value": digest(np.arange(1000)), "expected_seconds": 1000.0, "cpu_seconds": 1000.0, "median": 7.0,
                    "n_calls": 1}


@pytest.mark.parametrize("library", [pytest.param("networkit", marks=pytest.mark.slow), "igraph"])
def test_peers_find_all_eccentricities(cache: Cache, tmp_path: Path, library: str):
    if not installed(library):
        pytest.skip(f"{library} is not installed")
    star = [f"0 {leaf}" for leaf in range(1, 30)]
    path = [f"{30 + k} {31 + k}" for k in range(7)]
    (tmp_path / "edges.txt").write_text("\n".join([*star, *path, "50 50"]) + "\n")
    convert([tmp_path / "edges.txt"], tmp_path / "s.zarr")
    found = run_peer(library, "eccentricities", tmp_path / "s.zarr", setting(cache))
    expected = [1, *[2] * 29, 7, 6, 5, 4, 4, 5, 6, 7]
    assert found["value"] == digest(np.array([*expected, 0]))
    assert found["median"] > 0 and found["load_seconds"] > 0
