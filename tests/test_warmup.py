"""Kernels that are compiled ahead of a run are not compiled in it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

import emdiam as package
from emdiam import compiling
from emdiam.errors import BudgetError
from emdiam.generators import generate
from emdiam.kernel_objects import levels
from emdiam.runs.opening import needs_of
from emdiam.runs.registry import METHODS
from emdiam.runs.task import task_of
from emdiam.store.store import open_store
from tests.conftest import Run
from tests.helpers.waiting import PATIENCE


def test_the_library_and_the_command_say_the_same(emdiam: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph and one method stand for all."""
    monkeypatch.setattr(compiling, "_USUAL_GRAPHS", (("path", 300, {}),))
    monkeypatch.setattr(compiling, "_USUAL", ("pivots",))
    lines: list[str] = []
    first, later = package.warmup(), package.warmup(progress=lambda event: lines.append(str(event)))
    assert set(lines) == {f"compiling kernels, once, {done} of 1 runs ({100 * done} %)" for done in (0, 1)}
    assert later.kernels == 0 < later.seconds and first.folder == later.folder
    done = emdiam("warmup", "--help")
    assert done.returncode == 0 and "--all" in done.stdout


def test_methods_that_refuse_a_large_graph_are_not_run_on_it(tmp_path: Path) -> None:
    """And no other one: of the longest path, which kernels of all methods are compiled on."""
    name, vertices, parameters = max(compiling._GRAPHS, key=lambda graph: graph[1])
    generate(name, tmp_path / "g.zarr", vertices=vertices, parameters=parameters)
    run_on = set(compiling._methods(vertices))
    with open_store(tmp_path / "g.zarr") as store:
        for method in METHODS:
            with nullcontext() if method in run_on else pytest.raises(BudgetError, match="is for graphs of at most"):
                needs_of(store, task_of(METHODS[method].family, {}, method))
    assert 0 < len(run_on) < len(METHODS)


@pytest.mark.slow
def test_a_run_after_it_compiles_nothing(emdiam: Run, tmp_path: Path) -> None:
    """The default methods on graphs of small and of large diameter; every method after --all."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    graphs = {"er": ("erdos-renyi", 6000, {"average_degree": 9}), "path": ("path", 900, {}),
              "long": ("path", 66_000, {}), "grid": ("grid", None, {"sides": "30x40"})}
    for name, (kind, vertices, parameters) in graphs.items():
        generate(kind, tmp_path / f"{name}.zarr", vertices=vertices, parameters=parameters)
    done = emdiam("warmup", "--json", timeout=5 * PATIENCE, **cache)
    report = json.loads(done.stdout)
    assert report["folder"] == cache["NUMBA_CACHE_DIR"], done.stderr
    if not levels():  # else the tree has objects of those
        assert report["kernels"] > 20 and "emdiam: compiling kernel 1 for this machine, once\n" in done.stderr

    def compiled(graph: str, method: str) -> float:
        command = METHODS[method].family
        named = () if command == "ecc" else ("--method", method)
        done = emdiam(command, tmp_path / f"{graph}.zarr", *named, "--time-limit", "20s", "--json", **cache)
        seconds: float = json.loads(done.stdout)["seconds"]["compile"]
        assert ("compiling" in done.stderr) == (seconds > 0)
        return seconds

    assert [(graph, method) for graph in ("er", "path", "grid") for method in ("pivots", "clusters")
            if compiled(graph, method)] == []
    assert json.loads(emdiam("warmup", "--all", "--json", timeout=400, **cache).stdout)["kernels"] > 20
    assert json.loads(emdiam("warmup", "--all", "--json", timeout=400, **cache).stdout)["kernels"] == 0
    assert [(graph, method) for graph in graphs for method in METHODS if compiled(graph, method)] == []
