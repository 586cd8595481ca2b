"""Graphs of any kind with their directions: exact, eccentricities and distances along arcs, in the caller's names."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import emdiam
from emdiam import caller
from emdiam.errors import InputError, StoppedEarly
from emdiam.methods.directed.apsp import DirectedEccentricities
from emdiam.methods.result import DirectedResult
from tests.helpers.directed_twins import odd_digraphs, random_arcs
from tests.helpers.waiting import PATIENCE

# A second call for a tiny graph; what it asks of the system, as a list of events and what they are of.
SECOND = """
import json, sys
import emdiam

graph = [(i, (7 * i + 1) % 34) for i in range(34)]
emdiam.diameter(graph)
seen, known = [], set(sys.modules)
noted = "open", "_thread.start_new_thread", "subprocess.Popen", "os.mkdir", "import"
listens = True
sys.addaudithook(lambda event, values: listens and event in noted and seen.append((event, str(values[0]))))
emdiam.diameter(graph)
listens = False
print(json.dumps([seen, sorted(set(sys.modules) - known)]))
"""
# Second calls for a tiny graph: of each function, how many calls it makes, of Python and of C, but for those that stand
# in for a kernel; and the bytes that are allocated at once at most.
CALLS = """
import json, sys, tracemalloc
import networkx, emdiam
from emdiam.jit import CompiledKernel

graph, counted = networkx.karate_club_graph(), []
instead, inside, calls = CompiledKernel._called_uncompiled.__code__, 0, 0

def count(frame, event, value):
    global inside, calls
    if frame.f_code is instead and event in ("call", "return"):
        inside += 1 if event == "call" else -1
    elif not inside and event in ("call", "c_call"):
        calls += 1

for name, given in (("diameter", ()), ("eccentricities", ()), ("distances", ()), ("shortest_paths", (0,))):
    function, calls = getattr(emdiam, name), 0
    function(graph, *given)
    sys.setprofile(count)
    function(graph, *given)
    sys.setprofile(None)
    tracemalloc.start()
    function(graph, *given)
    counted.append((name, calls, tracemalloc.get_traced_memory()[1]))
    tracemalloc.stop()
print(json.dumps(counted))
"""
# Each may make a twentieth more calls than it does.
MOST_CALLS = {"diameter": 4530, "eccentricities": 5830, "distances": 3290, "shortest_paths": 2400}
# What a plan asks of the memory of process, machine and cgroup, and a run of the bytes that it has read.
OF_MEMORY = ("/proc/self/statm", "/proc/self/status", "/proc/self/io", "/proc/self/cgroup", "/proc/meminfo", "/sys/fs/")


def digraph(n: int, arcs: Any) -> nx.DiGraph:
    """Of vertices 0 to n - 1, without loops."""
    graph = nx.empty_graph(n, create_using=nx.DiGraph)
    graph.add_edges_from((tail, head) for tail, head in arcs if tail != head)
    return graph


def check(graph: Any, twin: nx.DiGraph) -> None:
    """All functions that go along arcs, beside networkx. twin : with the names that answers have."""
    lengths = {v: dict(row) for v, row in nx.all_pairs_shortest_path_length(twin)}
    longest = max(max(row.values()) for row in lengths.values())
    result = emdiam.exact(graph, directed=True, threads=1)
    assert isinstance(result, DirectedResult) and result.largest_distance == longest and result.store_path == ""
    assert result.witness is not None and result.witness.path is not None
    assert nx.is_path(twin, result.witness.path) and len(result.witness.path) == longest + 1
    for direction, one in (("out", twin), ("in", twin.reverse())):
        want = {v: max(row.values()) for v, row in nx.all_pairs_shortest_path_length(one)}
        found = emdiam.eccentricities(graph, directed=direction)
        assert isinstance(found, DirectedEccentricities) and found.direction == direction
        assert found.by_vertex() == want
        assert found.periphery is not None and {*found.periphery.ids} == {v for v in want if want[v] == longest}
        assert (found.radius is not None) == nx.is_strongly_connected(twin) == (found.center is not None)
        assert found.center is None or {*found.center.ids} == {v for v in want if want[v] == min(want.values())}
        assert not {"ids", "lower_bounds", "upper_bounds"} & found.to_dict().keys()
    spread = emdiam.distances(graph, directed=True, exact=True)
    assert spread.pairs == Counter(d for row in lengths.values() for d in row.values() if d)


def test_odd_and_random_digraphs_keep_their_directions() -> None:
    rng = random.Random(8)
    graphs = [digraph(n, arcs) for _, n, arcs in odd_digraphs() if n < 40]
    graphs += [digraph(*random_arcs(rng, 20)) for _ in range(10)]
    for graph in graphs:
        check(graph, graph)


def test_names_of_any_kind_come_back() -> None:
    graph = nx.DiGraph([(("a", 1), "b"), ("b", 7), (7, ("a", 1)), (7, None.__class__)])
    check(graph, graph)
    texts = nx.DiGraph([("x", "a"), ("a", "m"), ("m", "x")])
    check(texts, texts)


@pytest.mark.parametrize("items", [caller._ITEMS_IN_MEMORY, 0])
def test_every_kind_of_graph_in_memory_and_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: int) -> None:
    monkeypatch.setattr(caller, "_ITEMS_IN_MEMORY", items)
    arcs = np.array([(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)])
    twin = nx.DiGraph(arcs.tolist())
    matrix = sp.coo_array((np.ones(len(arcs)), tuple(arcs.T)), shape=(5, 5))
    (tmp_path / "arcs.txt").write_text("".join(f"{tail} {head}\n" for tail, head in arcs))
    for graph in (arcs, arcs.tolist(), (arcs[:, 0], arcs[:, 1]), matrix, tmp_path / "arcs.txt"):
        check(graph, twin)


def test_stores_and_their_options(tmp_path: Path) -> None:
    emdiam.convert([(0, 1), (1, 2), (2, 0), (2, 9)], tmp_path / "g.zarr", directed=True)
    found = emdiam.eccentricities(
        tmp_path / "g.zarr", directed="in", out=tmp_path / "in.csv", memory="2GiB", keep=False)
    assert found.ids is None and found.out == str(tmp_path / "in.csv") and found.store_name == "g"
    with emdiam.open(tmp_path / "g.zarr") as store:
        events: list[emdiam.Event] = []
        result = emdiam.exact(store, method="graph-diameter", directed=True, sweeps=0, progress=events.append)
        assert result.lower == 3 and events and result.details["published_count"]
        assert emdiam.eccentricities(store, directed="out", keep=True).by_vertex() == {0: 3, 1: 2, 2: 2, 9: 0}


@pytest.mark.parametrize("items", [caller._ITEMS_IN_MEMORY, 0])
def test_paths_along_weights_and_directions_of_graphs_in_memory(monkeypatch: pytest.MonkeyPatch, items: int) -> None:
    """Where they are asked for; a matrix, a list of triples and a graph of networkx."""
    monkeypatch.setattr(caller, "_ITEMS_IN_MEMORY", items)
    arcs = [(0, 1, 7), (1, 2, 1), (0, 2, 9), (2, 3, 2), (3, 0, 4), (3, 4, -1), (2, 4, 5)]
    twin = nx.DiGraph()
    twin.add_weighted_edges_from(arcs)
    tails, heads, weights = np.array(arcs).T
    matrix = sp.coo_array((weights, (tails, heads)), shape=(5, 5)).tocsr()
    ways = {v: nx.single_source_bellman_ford_path_length(twin, v) for v in range(5)}
    want = [[ways[v].get(u) for u in range(5)] for v in range(5)]
    for graph in (twin, arcs, matrix):
        told = {"weighted": True, "directed": True}
        found = emdiam.shortest_paths(graph, 0, target=4, **told)
        assert found.distances is not None and found.distances.tolist() == want[0]
        assert (found.path, found.distance, found.directed, found.weights) == ([0, 1, 2, 3, 4], 9, True, "int32")
        pairs = emdiam.all_pairs(graph, **told)
        assert pairs.distances is not None and pairs.weighted and pairs.directed
        assert [[None if d == pairs.unreachable else int(d) for d in row] for row in pairs.distances] == want
    for graph in (twin, matrix):
        plain = emdiam.shortest_paths(graph, 0)
        assert plain.weights is None and plain.distances is not None and plain.distances.tolist() == [0, 1, 1, 1, 2]
    light = nx.Graph([(0, 1, {"weight": 0.5}), (1, 2, {"weight": 0.25}), (0, 2, {"weight": 1.0})])
    found = emdiam.shortest_paths(light, 0, weighted=True)
    assert found.distances is not None and found.distances.tolist() == [0, 0.5, 0.75]
    with pytest.raises(InputError, match="not one attribute of weights"):
        emdiam.all_pairs(nx.path_graph(3), weighted=True)
    with pytest.raises(InputError, match="cycle"):
        emdiam.shortest_paths(twin, 0, weighted=True)


def test_what_does_not_go_with_directions(tmp_path: Path) -> None:
    arcs = [(0, 1), (1, 2)]
    for options in ({"workers": 2}, {"bounds_only": True}, {"method": "fdiam"}):
        with pytest.raises(InputError):
            emdiam.exact(arcs, directed=True, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="what="):
        emdiam.eccentricities(arcs, directed="out", what="radius")
    with pytest.raises(InputError, match="out or in"):
        emdiam.eccentricities(arcs, directed="both")
    with pytest.raises(InputError, match="have no directions \\(its format: networkx\\)"):
        emdiam.exact(nx.path_graph(3), directed=True)
    emdiam.convert(arcs, tmp_path / "u.zarr")
    with pytest.raises(InputError, match="no directions"):
        emdiam.distances(tmp_path / "u.zarr", directed=True)
    with pytest.raises(StoppedEarly):
        emdiam.exact(arcs, directed=True, time_limit=1e-9)


def test_what_has_directions_says_that_they_were_dropped(tmp_path: Path) -> None:
    """Where some arc has no other one back, in kinds of graphs that say what their pairs are."""
    import igraph

    pairs = [(0, 1), (1, 2)]
    arcs, edges = nx.DiGraph(pairs), nx.Graph(pairs)
    matrix = nx.to_scipy_sparse_array(arcs)
    for graph in (arcs, igraph.Graph(pairs, directed=True), matrix):
        result = emdiam.diameter(graph)
        assert (result.diameter, result.directions_dropped, result.directed) == (2, True, False)
        assert "directions_dropped=True" in repr(result) and result.to_dict()["directions_dropped"] is True
        along = emdiam.diameter(graph, directed=True)
        assert (along.diameter, along.directions_dropped, along.directed) == (None, False, True)
    for graph in (edges, edges.to_directed(), igraph.Graph(pairs), matrix + matrix.T, pairs, np.array(pairs)):
        result = emdiam.diameter(graph)
        assert result.diameter == 2 and not result.directions_dropped and "directions" not in repr(result)
    notes = " ".join(emdiam.convert(arcs, tmp_path / "g.zarr").notes)
    assert "directions are dropped (directed=True keeps them)" in notes
    assert not emdiam.diameter(tmp_path / "g.zarr").directions_dropped
    found: tuple[Any, ...] = (
        emdiam.exact(arcs), emdiam.approximate(arcs), emdiam.eccentricities(arcs), emdiam.distances(arcs),
        emdiam.profile(arcs), emdiam.shortest_paths(arcs, 0), emdiam.all_pairs(arcs))
    for result in found:
        assert result.directions_dropped and result.to_dict()["directions_dropped"], result
        assert "directions_dropped=True" in repr(result) and "directed=True" not in repr(result)


def test_diameter_goes_along_arcs_and_along_weights() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 5), (1, 2, 7), (2, 0, 1)])
    assert emdiam.diameter(graph).diameter == 1 and emdiam.diameter(graph).directions_dropped
    result = emdiam.diameter(graph, directed=True)
    assert (result.diameter, result.directed, result.weighted) == (2, True, False)
    result = emdiam.diameter(graph, weighted=True)
    assert (result.diameter, result.directed, result.weighted, result.directions_dropped) == (6, False, True, True)
    with pytest.raises(TypeError, match="no option time_limit"):
        emdiam.diameter(graph, time_limit=3)  # type: ignore[call-arg]


def test_a_second_call_imports_starts_and_opens_nothing() -> None:
    """But for the figures of memory: a tiny graph is answered in milliseconds, of which each file takes its part."""
    done = subprocess.run([sys.executable, "-c", SECOND], text=True, capture_output=True, check=True, timeout=PATIENCE)
    seen, modules = json.loads(done.stdout)
    assert modules == [] and {event for event, _ in seen} == {"open"}
    opened = Counter(name for _, name in seen)
    assert all(name.startswith(OF_MEMORY) for name in opened)
    assert opened["/proc/self/statm"] <= 6 and opened["/proc/self/status"] <= 2
    assert all(count == 1 for name, count in opened.items() if name.startswith("/sys/fs/"))


def test_a_second_call_makes_few_calls_and_no_large_arrays() -> None:
    """It has no one costly part: what is done for nothing there shows in the sum."""
    done = subprocess.run([sys.executable, "-c", CALLS], text=True, capture_output=True, check=True, timeout=PATIENCE)
    for name, calls, at_once in json.loads(done.stdout):
        assert calls <= MOST_CALLS[name], (name, calls)
        assert name == "distances" or at_once <= 400_000, (name, at_once)  # its table is of pages that few runs touch
