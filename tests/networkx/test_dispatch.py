"""The backend as networkx finds it: by the entry points of the installed package; and networkx's own tests with it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from shutil import which

import pytest

from emdiam.networkx.info import FUNCTIONS
from tests.conftest import ROOT
from tests.test_packaging import setup_cfg

# Modules with tests of every function, by their names below networkx.algorithms.
TESTED = ("tests.test_distance_measures", "tests.test_distance_regular", "approximation.tests.test_distance_measures",
          "shortest_paths.tests.test_unweighted", "shortest_paths.tests.test_generic",
          "shortest_paths.tests.test_weighted", "traversal.tests.test_bfs", "tests.test_wiener",
          "tests.test_efficiency", "centrality.tests.test_closeness_centrality",
          "centrality.tests.test_harmonic_centrality")
GROUPS = ("networkx.backends", "networkx.backend_info")
PROGRAM = """
import logging, sys
from fractions import Fraction
import networkx as nx
assert not {"numpy", "numba", "emdiam.networkx.backend"} & set(sys.modules), "networkx starts without them"
import emdiam.networkx
graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=1)
assert nx.diameter(graph, backend="emdiam") == nx.diameter(graph, backend="networkx")
assert "emdiam.networkx.backend" in sys.modules and "emdiam : Distances and exact" in nx.diameter.__doc__
emdiam.convert(graph, "graph.zarr")
with emdiam.networkx.Graph("graph.zarr") as stored:
    assert nx.center(stored) == nx.center(graph, backend="networkx")
    assert nx.approximation.diameter(stored, seed=1) <= nx.diameter(stored)
    try:
        nx.diameter(stored, weight="km")
    except NotImplementedError as error:
        assert "not implemented by" in str(error)
nx.config.backend_priority.algos, nx.config.warnings_to_ignore = ["emdiam"], {"cache"}
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
assert nx.radius(graph) == nx.radius(graph, backend="networkx")
try:
    nx.diameter(nx.path_graph(40, nx.DiGraph), backend="emdiam")
except nx.NetworkXError as error:
    assert "not strongly connected" in str(error)
assert nx.radius(nx.cycle_graph(40, nx.DiGraph)) == 39
nx.radius(nx.path_graph(3))
nx.radius(graph, weight=lambda *_: 1)
nx.set_edge_attributes(graph, 0.5, "km")
assert nx.diameter(graph, weight="km") == nx.diameter(graph) / 2
assert nx.harmonic_diameter(graph, weight="km") == nx.harmonic_diameter(graph) / 2
large = nx.path_graph(2000)
nx.set_edge_attributes(large, Fraction(1, 3), "km")
assert nx.single_source_dijkstra_path_length(large, 0, weight="km")[1999] == Fraction(1999, 3)
try:
    nx.single_source_dijkstra_path_length(large, 0, weight="km", backend="emdiam")
except NotImplementedError:
    pass
else:
    raise AssertionError("fractions are left to networkx")
"""


def entry_points() -> dict[str, str]:
    """The lines of setup.cfg for networkx."""
    return {group: setup_cfg()["options.entry_points"][group].strip() for group in GROUPS}


def environment(folder: Path, **more: str) -> dict[str, str]:
    """An environment in which the package is installed with the entry points of setup.cfg, whatever it was before."""
    installed = folder / "emdiam-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: emdiam\nVersion: 0\n")
    points = "".join(f"[{group}]\n{line}\n" for group, line in entry_points().items())
    (installed / "entry_points.txt").write_text(points)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NETWORKX_")}
    return {**clean, "PYTHONPATH": f"{folder}:{ROOT}", **more}


def test_it_is_installed_with_the_package():
    for group, line in entry_points().items():
        (point,) = [point for point in metadata.entry_points(group=group) if point.name == "emdiam"]
        assert f"{point.name} = {point.value}" == line


def test_networkx_finds_it_and_says_why_it_does_not_run(tmp_path: Path):
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], cwd=tmp_path, env=environment(tmp_path),
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Using backend 'emdiam' for call to 'radius'" in done.stdout
    assert re.search("Backend 'emdiam' can't run `radius`.*because: the weight is no name", done.stdout)
    assert "the attribute 'km' is not a number of Python on all edges" in done.stdout
    assert re.search("Backend 'emdiam' shouldn't run `radius`.*because: networkx answers for 3 nodes", done.stdout)


def run_their_tests(folder: Path, fallback: str, modules: tuple[str, ...], seconds: float) -> dict[str, int]:
    """How many calls each function of the backend answered while networkx's tests ran, which pass."""
    counts = folder / "counts.json"
    child = environment(folder, NETWORKX_TEST_BACKEND="emdiam", NETWORKX_FALLBACK_TO_NX=fallback,
                        EMDIAM_COUNTS=str(counts))
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.helpers.networkx_counts", "--pyargs"]
    if which("dot") is None:  # they start it, and fail without emdiam, too
        options += ["-k", "not TestPydot and not pydot_issue and not pydot_numerical"]
    done = subprocess.run([sys.executable, "-m", "pytest", *options, *modules], cwd=folder, env=child,
                          capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stdout
    print(done.stdout.splitlines()[-1], counts.read_text())
    return {name: count["answered"] for name, count in json.loads(counts.read_text()).items()}


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["", "1"])
def test_their_tests_of_our_functions_pass(tmp_path: Path, fallback: str):
    """Without falling back, most graphs of theirs are made by functions that are not ours, and such a test ends there,
    as an expected failure."""
    calls = run_their_tests(tmp_path, fallback, tuple(f"networkx.algorithms.{name}" for name in TESTED), 600)
    never = {name for name in FUNCTIONS if not calls[name]}
    late = {name for name in FUNCTIONS if "_path" in name or name == "harmonic_diameter"}
    assert never <= (set() if fallback else late), calls


@pytest.mark.slow
@pytest.mark.parametrize("fallback", ["", "1"])
def test_all_of_their_tests_pass(tmp_path: Path, fallback: str):
    calls = run_their_tests(tmp_path, fallback, ("networkx",), 3000)
    assert all(calls.values()) if fallback else sum(map(bool, calls.values())) > len(calls) / 2, calls
