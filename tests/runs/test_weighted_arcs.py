"""Commands and functions along weighted arcs beside networkx and igraph: every direction has its own weight."""

from __future__ import annotations

import json
import random
from pathlib import Path

import networkx as nx
import pyarrow.csv
import pytest

import emdiam
from emdiam.errors import BudgetError, DisconnectedError, InputError
from tests.runs.test_directed import command

OPTIONS = ("--directed", "--weighted")


@pytest.fixture
def streets(tmp_path: Path) -> tuple[Path, nx.DiGraph]:
    """A strongly connected graph of named crossings, whose ways there and back differ; decimals, zeros among them."""
    rng, graph = random.Random(4), nx.DiGraph()
    ring = [f"v{number:02}" for number in range(30)]
    arcs = [*zip(ring, [*ring[1:], ring[0]], strict=True), *((rng.choice(ring), rng.choice(ring)) for _ in range(50))]
    lines = []
    for a, b in arcs:
        km = rng.choice([0, 0.1, 0.2, 1.25, 7, 12.5])
        lines.append(f"{a},{b},{km}\n")
        if a != b and (not graph.has_edge(a, b) or graph[a][b]["km"] > km):
            graph.add_edge(a, b, km=km)
    (tmp_path / "g.csv").write_text("from,to,km\n" + "".join(lines))
    command("convert", tmp_path / "g.csv", tmp_path / "g.zarr", "--directed", "--weights", "km")
    return tmp_path / "g.zarr", graph


def test_commands(streets: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, twin = streets
    longest = nx.diameter(twin, weight="km")
    for method in ("pivots", "graph-diameter", "apsp"):
        found = json.loads(command("exact", path, *OPTIONS, "--method", method, "--json", "--path", tmp_path / "p"))
        assert found["diameter"] == found["lower"] == pytest.approx(longest, abs=1e-9) and found["weight"] == "km"
        assert (found["directed"], found["weighted"], found["strongly_connected"]) == (True, True, True)
        ids = (tmp_path / "p").read_text().split()
        assert nx.path_weight(twin, ids, "km") == pytest.approx(longest) and found["device"] == "cpu"
    text = command("exact", path, *OPTIONS, "--require-connected")
    assert "strongly connected: yes" in text and "sums of km" in text and "searches for" in text
    for direction, graph in (("out", twin), ("in", twin.reverse())):
        want = nx.eccentricity(graph, weight="km")
        found = json.loads(command("ecc", path, "--directed", direction, "--weighted", "--json", "--out",
                                   tmp_path / "e.csv"))
        assert found["radius"] == pytest.approx(nx.radius(graph, weight="km"))
        assert found["center"]["ids"] == sorted(v for v in want if want[v] == pytest.approx(found["radius"]))
        table = pyarrow.csv.read_csv(tmp_path / "e.csv").to_pydict()
        assert dict(zip(table["id"], table["eccentricity"], strict=True)) == pytest.approx(want)
        assert set(table["component"]) == {min(twin)}
        assert f"radius: {found['radius']:,} (proved)" in command("ecc", path, "--directed", direction, "--weighted")


def test_python_of_a_graph_that_is_no_store(streets: tuple[Path, nx.DiGraph]) -> None:
    _, twin = streets
    import igraph

    there = igraph.Graph.from_networkx(twin)
    result = emdiam.exact(twin, directed=True, weight="km")
    assert result.diameter == pytest.approx(there.diameter(weights="km")) and result.witness is not None
    assert nx.path_weight(twin, result.witness.path, "km") == pytest.approx(result.diameter)
    found = emdiam.eccentricities(there, directed="in", weight="km")
    assert list(found.by_vertex().values()) == pytest.approx(there.eccentricity(mode="in", weights="km"))
    assert found.radius == pytest.approx(there.radius(mode="in", weights="km")) and "km" in repr(found)
    assert emdiam.diameter(twin, directed=True, weighted="km").largest_distance == result.diameter


def test_two_components_and_a_graph_without_arcs(tmp_path: Path) -> None:
    arcs = nx.DiGraph()
    arcs.add_weighted_edges_from([(0, 1, 3), (1, 0, 5), (2, 3, 1)])
    found = emdiam.exact(arcs, directed=True, weighted=True)
    assert (found.largest_distance, found.diameter, found.n_strong_components, found.n_components) == (5, None, 3, 2)
    assert emdiam.eccentricities(arcs, directed="out", weighted=True).by_vertex() == {0: 3, 1: 5, 2: 1, 3: 0}
    with pytest.raises(DisconnectedError, match="3 strong components"):
        emdiam.exact(arcs, directed=True, weighted=True, require_connected=True)
    none = nx.DiGraph()
    none.add_edge("a", "a", weight=7)
    none.add_node("b")
    assert emdiam.exact(none, directed=True, weighted=True).largest_distance == 0
    assert set(emdiam.eccentricities(none, directed="in", weighted=True).by_vertex().values()) == {0}


def test_refusals(streets: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, _ = streets
    for arguments in (("--vram", "1GiB"), ("--workers", 2), ("--vertex-state", "disk"), ("--bounds-only",),
                      ("--checkpoint", tmp_path / "c"), ("--gap", 3), ("--components", 2), ("--reorder", "always"),
                      ("--no-batches",)):
        assert f"{arguments[0]} is not for graphs with directions and weights" in command(
            "exact", path, *OPTIONS, *arguments, code=2)
    assert "use one of pivots" in command("exact", path, *OPTIONS, "--method", "bounding", code=2)
    assert "radius" in command("ecc", path, "--directed", "out", "--weighted", "--radius", code=2)
    command("convert", tmp_path / "g.csv", tmp_path / "plain.zarr", "--directed")
    assert "no weights" in command("exact", tmp_path / "plain.zarr", *OPTIONS, code=2)
    command("convert", tmp_path / "g.csv", tmp_path / "edges.zarr", "--weights", "km")
    assert "no directions" in command("exact", tmp_path / "edges.zarr", *OPTIONS, code=2)
    with pytest.raises(BudgetError, match="too small"):
        emdiam.exact(path, directed=True, weighted=True, memory="1MiB")
    (tmp_path / "n.csv").write_text("from,to,km\na,b,-1\nb,c,2\n")
    command("convert", tmp_path / "n.csv", tmp_path / "n.zarr", "--directed", "--weights", "km", "--allow-negative")
    with pytest.raises(InputError, match="below 0.*all_pairs"):
        emdiam.exact(tmp_path / "n.zarr", directed=True, weighted=True)


def test_a_command_that_is_stopped_at_once(streets: tuple[Path, nx.DiGraph]) -> None:
    """Its JSON has the names of an answer."""
    path, _ = streets
    for arguments in (("exact", path, *OPTIONS), ("ecc", path, "--directed", "out", "--weighted")):
        text = command(*arguments, "--time-limit", "1ms", "--json", code=3)
        found = json.loads(text[: text.rindex("}") + 1])
        assert (found["directed"], found["weighted"], found["exact"]) == (True, True, False) and "weights" in found


def test_a_job_of_a_batch(streets: tuple[Path, nx.DiGraph], tmp_path: Path) -> None:
    path, twin = streets
    (tmp_path / "jobs.toml").write_text('[[job]]\nname = "longest"\ncommand = "exact"\nstore = "g.zarr"\n'
                                        'options = { directed = true, weighted = true }\n')
    assert "longest" in command("batch", tmp_path / "jobs.toml", "--out", tmp_path / "night")
    found = json.loads((tmp_path / "night" / "jobs" / "longest" / "answer.json").read_text())
    assert found["diameter"] == pytest.approx(nx.diameter(twin, weight="km"))
