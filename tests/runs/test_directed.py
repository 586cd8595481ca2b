"""Commands on stores with directions beside networkx: exact, ecc, distances, info."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.engine.directed import DirectedEngine
from emdiam.errors import BudgetError, InputError, NotWritten, StoppedEarly
from emdiam.methods.directed.apsp import DirectedEccentricities
from emdiam.runs.arcs import DIRECTED, component_counts
from emdiam.store.store import open_store
from tests.helpers.directed_twins import write_arcs
from tests.helpers.tasks import distances_directed, eccentricities_directed, solve_directed


def command(*arguments: Any, code: int = 0) -> str:
    """What a command prints."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        found = run(group, [*map(str, arguments), *(["--quiet"] if arguments[0] != "plan" else [])])
    assert found == code, out.getvalue() + err.getvalue()
    return out.getvalue() + err.getvalue()


@pytest.fixture
def graph(tmp_path: Path) -> tuple[Path, nx.DiGraph]:
    """A digraph of 40 vertices with names, converted by the command."""
    rng = random.Random(21)
    arcs = [(f"v{rng.randrange(40):02}", f"v{rng.randrange(40):02}") for _ in range(70)]
    (tmp_path / "g.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in arcs))
    command("convert", "--directed", tmp_path / "g.csv", tmp_path / "g.zarr")
    graph = nx.DiGraph((a, b) for a, b in arcs if a != b)
    graph.add_nodes_from(a for a, _ in arcs)
    return tmp_path / "g.zarr", graph


def test_exact(graph: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, twin = graph
    lengths = dict(nx.all_pairs_shortest_path_length(twin))
    longest = max(max(row.values()) for row in lengths.values())
    for method in DIRECTED:
        text = command("exact", path, "--directed", "--method", method)
        assert f"largest finite distance: {longest} (proved)" in text
        assert f"infinite ({nx.number_strongly_connected_components(twin)} strong components)" in text
        result = json.loads(command("exact", path, "--directed", "--method", method, "--json"))
        assert (result["directed"], result["strongly_connected"]) == (True, False)
        assert result["n_strong_components"] == nx.number_strongly_connected_components(twin)
        assert result["n_components"] == nx.number_weakly_connected_components(twin)
        assert (result["lower"], result["upper"], result["largest_distance"]) == (longest,) * 3
        assert result["diameter"] is None and result["exact"] and result["method"] == method
        witness = result["witness"]
        assert nx.is_path(twin, witness["path"]) and len(witness["path"]) == longest + 1
        assert result["memory_limit_bytes"] and result["planned_rss_bytes"] and result["store_name"] == "g"
    command("exact", path, "--directed", "--path", tmp_path / "path.txt")
    assert nx.is_path(twin, (tmp_path / "path.txt").read_text().split())


def test_ecc(graph: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, twin = graph
    for direction, one in (("out", twin), ("in", twin.reverse())):
        want = {v: max(row.values()) for v, row in nx.all_pairs_shortest_path_length(one)}
        file = tmp_path / f"{direction}.parquet"
        result = json.loads(command("ecc", path, "--directed", direction, "--out", file, "--json"))
        table = pyarrow.parquet.read_table(file).to_pydict()
        assert dict(zip(table["id"], table["eccentricity"], strict=True)) == want
        first = {v: min(part) for part in nx.strongly_connected_components(twin) for v in part}
        assert dict(zip(table["id"], table["component"], strict=True)) == first
        assert result["histogram"] == {str(k): n for k, n in sorted(Counter(want.values()).items())}
        assert result["periphery"]["ids"] == sorted(v for v in want if want[v] == max(want.values()))
        assert result["radius"] is None and result["direction"] == direction and result["unresolved"] == 0
        assert f"eccentricities: in {file}" in command("ecc", path, "--directed", direction, "--out", file)
    command("ecc", path, "--directed", "out", "--out", tmp_path / "e.csv")
    assert pyarrow.csv.read_csv(tmp_path / "e.csv").num_rows == len(twin)


def test_strongly_connected(tmp_path: Path) -> None:
    write_arcs([(v, (v + 1) % 7) for v in range(7)] + [(0, 3)], tmp_path / "g.zarr", 7)
    one = nx.DiGraph([(v, (v + 1) % 7) for v in range(7)] + [(0, 3)])
    found = eccentricities_directed(tmp_path / "g.zarr", "out", {})
    assert (found.radius, found.diameter) == (nx.radius(one), nx.diameter(one))
    assert found.center is not None and sorted(found.center.ids) == sorted(nx.center(one))
    text = command("exact", tmp_path / "g.zarr", "--directed", "--require-connected")
    assert "diameter: 6 (proved)" in text and "strongly connected: yes" in text


def test_distances(graph: tuple[Path, nx.DiGraph]) -> None:
    path, twin = graph
    lengths = [d for _, row in nx.all_pairs_shortest_path_length(twin) for d in row.values() if d]
    result = json.loads(command("distances", path, "--directed", "--exact", "--json"))
    assert result["pairs"] == {str(d): n for d, n in sorted(Counter(lengths).items())}
    n = len(twin)
    assert result["unreachable_pairs"] == n * (n - 1) - len(lengths)
    assert result["mean"] == pytest.approx(np.mean(lengths)) and result["directed"] and result["method"] == "exact"
    assert result["standard_error"] == {"mean": 0.0, "effective_diameter": 0.0}
    part = distances_directed(path, {"sample": 20, "seed": 3})
    assert part.samples == 20 and part.method == "sample" and part.standard_error is not None
    assert "counted from all 40 vertices" in command("distances", path, "--directed", "--exact") or n != 40
    assert command("distances", path, "--directed", "--sample", 20)
    with pytest.raises(StoppedEarly, match="before anything"):
        distances_directed(path, {"time_limit": 1e-9})
    assert distances_directed(path, {"hyperball": 6}).registers == 64


def test_a_sample_that_reaches_nothing(tmp_path: Path) -> None:
    write_arcs([(0, v) for v in range(1, 90)], tmp_path / "g.zarr", 90)
    found = distances_directed(tmp_path / "g.zarr", {"sample": 4, "seed": 2})
    assert (found.samples, found.pairs, found.mean, found.standard_error) == (4, {}, None, None)


def test_info(graph: tuple[Path, nx.DiGraph]) -> None:
    path, twin = graph
    found = json.loads(command("info", path, "--components", "--check", "--json"))
    assert found["directed"] and found["checked"]["arcs"] == twin.number_of_edges()
    strong = max(map(len, nx.strongly_connected_components(twin)))
    weak = max(map(len, nx.weakly_connected_components(twin)))
    assert found["components"] == component_counts(path, {}) == {
        "n_strong_components": nx.number_strongly_connected_components(twin), "largest_strong_component": strong,
        "strongly_connected": False, "n_components": nx.number_weakly_connected_components(twin),
        "largest_component": weak}
    assert f"the largest of {weak} vert" in command("info", path, "--components")


def test_refusals(graph: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, _ = graph
    for arguments in (("exact", path), ("ecc", path), ("distances", path), ("info", path, "--profile"),
                      ("reorder", path, tmp_path / "r.zarr", "--order", "bfs"), ("approx", path),
                      ("plan", path, "--method", "pivots")):
        assert "have directions" in command(*arguments, code=2), arguments
    for arguments in (("--method", "fdiam"), ("--device", "gpu"), ("--workers", 2),
                      ("--vertex-state", "disk"), ("--bounds-only",), ("--components", 3), ("--checkpoint", tmp_path)):
        assert "emdiam: " in command("exact", path, "--directed", *arguments, code=2), arguments
    assert "--order" in command("convert", tmp_path / "g.csv", tmp_path / "r.zarr", "--directed", "--order", "bfs",
                                code=2) or not (tmp_path / "r.zarr").exists()
    with pytest.raises(InputError, match="undirected graphs"):
        solve_directed(path, "fdiam", {})
    with pytest.raises(InputError, match="out or in"):
        eccentricities_directed(path, "both", {})
    with pytest.raises(BudgetError, match="too small"):
        solve_directed(path, "pivots", {"memory": "1MiB"})
    write_arcs([(0, 1)], tmp_path / "one.zarr", 2)
    command("generate", "grid", tmp_path / "u.zarr", "--sides", "3x3")
    assert "no directions" in command("exact", tmp_path / "u.zarr", "--directed", code=2)


def test_stops_and_files(graph: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, twin = graph
    for method in DIRECTED:
        with pytest.raises(StoppedEarly) as stopped:
            solve_directed(path, method, {"time_limit": 1e-9})
        assert stopped.value.result is None or stopped.value.result.upper == len(twin) - 1
    with pytest.raises(StoppedEarly) as stopped:
        eccentricities_directed(path, "in", {"time_limit": 1e-9})
    assert stopped.value.result is None or isinstance(stopped.value.result, DirectedEccentricities)
    assert solve_directed(path, "pivots", {"gap": 100}).lower <= 39
    with open_store(path, directed=True) as store:
        assert solve_directed(store, "pivots", {"memory": "2GiB", "threads": 1}).exact


def test_a_file_that_cannot_be_written(graph: tuple[Path, nx.DiGraph], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise InputError("the eccentricities cannot be written (No space left on device)")

    monkeypatch.setattr("emdiam.methods.eccentricity.output.write_vertices", full)
    with pytest.raises(NotWritten, match="No space") as stopped:
        eccentricities_directed(graph[0], "out", {"out": str(graph[0].with_name("e.csv"))})
    assert stopped.value.result.exact


def test_the_end_of_the_time_is_looked_at_within_a_traversal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_arcs([(v, v + 1) for v in range(199)], tmp_path / "g.zarr", 200)
    begin, now, count = time.monotonic(), [0.0], DirectedEngine.count_distances

    def counted(*arguments: Any, **more: Any) -> None:
        now[0] = 100.0
        count(*arguments, **more)
        raise AssertionError("it went on to the end")

    monkeypatch.setattr(DirectedEngine, "count_distances", counted)
    monkeypatch.setattr("emdiam.progress.time.monotonic", lambda: begin + now[0])
    with pytest.raises(StoppedEarly, match="the time limit is over before anything was counted"):
        distances_directed(tmp_path / "g.zarr", {"time_limit": 50})
