"""The memory table: what it measures, that the kept one is whole, and (slow) that every peak is within its limit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import emdiam
from bench.memory import readers
from bench.memory.__main__ import main
from bench.memory.cells import (
    BUDGETS,
    DIRECTIONS,
    FROM,
    LEAST,
    OUT,
    ROUND,
    ROUND_BYTES,
    SUBJECTS,
    WEIGHTED,
    impossible,
)
from bench.memory.eight import EIGHT
from bench.memory.graphs import SHAPES, SMALL, component_edges
from bench.memory.least import faults, markdown, subjects
from bench.memory.process import Ended, call
from bench.memory.table import ENDED, FAILED, NONE, REFUSED, STOPPED, Table
from emdiam.cli.main import COMMANDS, group
from emdiam.cli.outcome import run
from emdiam.paths.methods import AUTO
from emdiam.paths.methods import METHODS as PATHS
from emdiam.paths.pairs.methods import METHODS as PAIRS
from emdiam.runs.arcs import DIRECTED
from emdiam.runs.option import ORDERS
from emdiam.runs.registry import APPROXIMATIONS, EXACT
from emdiam.runs.weights import methods_of
from tests.conftest import ROOT
from tests.helpers import naive

# Commands that hold no graph; apply holds ids of its lists, as tests/conversion/test_apply.py measures.
WITHOUT = {"info", "batch", "report", "warmup", "apply"}
MACHINE: dict[str, object] = {}


def test_every_command_and_method_is_measured() -> None:
    assert {subject.command for subject in SUBJECTS} == set(COMMANDS) - WITHOUT
    for command, setting, names in (
            ("exact", "", EXACT), ("exact", WEIGHTED, methods_of("exact")), ("exact", DIRECTIONS, DIRECTED),
            ("approx", "", APPROXIMATIONS), ("approx", WEIGHTED, methods_of("approx")), ("reorder", "", ORDERS),
            ("sssp", OUT, (AUTO, *PATHS)), ("apsp", "", (AUTO, *PAIRS))):
        assert [subject.method for subject in SUBJECTS if (subject.command, subject.setting) == (command, setting)] == [
            *names], (command, setting)
    assert len({subject.name for subject in SUBJECTS}) == len(SUBJECTS)


def test_the_kept_table_is_whole_and_within_its_limits() -> None:
    newest = max((ROOT / "bench" / "results").glob("*-memory.json"))
    table = Table(newest, json.loads(newest.read_text(encoding="utf-8")))
    assert table.faults() == [] and newest.with_suffix(".md").read_text(encoding="utf-8") == table.markdown()
    for shape in SHAPES:
        for subject in SUBJECTS:
            for budget in BUDGETS:
                cell = table.find(shape, subject, budget)
                assert cell is not None, (shape.name, subject.name, budget)
                if cell["status"] == NONE:
                    assert impossible(subject, shape) or FROM in subject.name or (
                        subject.command == "verify" and subject.name != "verify")
                    continue
                assert cell["status"] in (ENDED, STOPPED, REFUSED) and cell["peak_bytes"] <= cell["limit_bytes"]
                if cell["status"] == REFUSED:
                    assert budget == ROUND and cell["least_bytes"] > ROUND_BYTES == cell["limit_bytes"]


def test_a_peak_is_of_the_process_alone() -> None:
    """What the parent holds is not counted, and a process that takes too long still has a peak."""
    held = np.ones(40 << 20)
    ended = call(["--version"])
    assert ended.code == 0 and ended.out.startswith("emdiam") and 4 << 20 < ended.peak_bytes < held.nbytes // 2


def test_a_process_is_ended_after_its_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "emdiam"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    monkeypatch.chdir(tmp_path)  # where -m looks first
    ended = call([], seconds=2.0)
    assert ended.code is None and ended.peak_bytes > 4 << 20


def test_components_are_small_paths_cycles_and_stars() -> None:
    edges = [(a, b) for one, other in component_edges(18) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    graph = naive.graph_of(72, edges)
    parts = naive.components(graph)
    assert [len(part) for part in parts] == [3, 4, 5] * 6
    degrees = [sorted(len(graph[v]) for v in part) for part in parts[:9]]
    assert degrees == [[1, 1, 2], [1, 1, 2, 2], [1, 1, 2, 2, 2], [2] * 3, [2] * 4, [2] * 5,
                       [1, 1, 2], [1, 1, 1, 3], [1, 1, 1, 1, 4]]


def test_a_table_goes_on_and_shows_its_faults(tmp_path: Path) -> None:
    shape, subject = SHAPES[0], SUBJECTS[0]
    path = tmp_path / "t.json"
    table = Table.read(path, dict(MACHINE))
    table.add({"graph": shape.name, "subject": subject.name, "budget": LEAST, "status": ENDED, "said": "",
               "least_bytes": 100 << 20, "limit_bytes": 100 << 20, "peak_bytes": 101 << 20, "ratio": 1.01})
    again = Table.read(path, dict(MACHINE))
    assert again.has(shape, subject, LEAST) and not again.has(shape, subject, ROUND)
    assert again.least_of(shape, subject) == 100 << 20
    assert again.faults() == ["star, convert, least: ended 1.01 "]
    assert "| convert | 100.0 MiB | 101.0 MiB | 1.01 | - | - |" in again.markdown()
    again.cells[0] |= {"ratio": 0.5, "status": FAILED, "said": "it crashed"}
    assert again.faults() == ["star, convert, least: failed 0.5 it crashed"]


def test_least_budgets_on_fewer_vertices_are_said() -> None:
    cells = [{"graph": graph, "subject": subject, "status": status, "ratio": 0.5, "said": "", "least_bytes": 100 << 20,
              "peak_bytes": 90 << 20}
             for graph, subject, status in (("comb-1048576", "convert", "worked"), ("comb-1048576", "ecc", "stopped"),
                                            ("comb-4096", "ecc", "worked"), ("comb-4096", "plan", "worked"),
                                            ("comb-4096", "exact pivots", "stopped"))]
    assert "| comb | 4 | 3 | 2 | 1 | 0 | 0 | 0.50 | convert |" in markdown(cells) and faults(cells) == []
    cells[0]["status"], cells[3]["status"] = "above", "refused"
    assert "| comb | 4 | 1 | 1 | 3 | 1 | 1 | 0.50 | convert |" in markdown(cells)
    assert "- comb-4096, plan: refused, 90.0 MiB of 100.0 MiB. " in markdown(cells)


def test_the_least_budgets_that_are_kept_are_whole() -> None:
    """Every command and method on every graph, none refused and none above its budget."""
    kept = max((ROOT / "bench" / "results").glob("*-least.json"))
    cells = json.loads(kept.read_text(encoding="utf-8"))["cells"]
    assert faults(cells) == []
    assert {(cell["graph"].split("-")[0], cell["subject"]) for cell in cells} == {
        (graph, subject.name) for graph in EIGHT for subject in subjects()}


def test_what_was_said_last_is_the_reason() -> None:
    assert Ended(2, 0, "", "one\ntwo \n\n").said == "two" and Ended(0, 0, "x", "").said == ""


@pytest.mark.slow
def test_it_works_on_small_graphs(tmp_path: Path) -> None:
    assert main(["--quick", "--out", str(tmp_path / "t.json"), "--work", str(tmp_path)]) == 0
    assert len(Table.read(tmp_path / "t.json", {}).cells) == len(SMALL) * len(SUBJECTS) * len(BUDGETS)


@pytest.mark.slow
@pytest.mark.parametrize("name", [shape.name for shape in SHAPES])
def test_every_peak_is_within_its_limit(name: str, tmp_path: Path) -> None:
    """About ten minutes a graph, with 10 GiB of disk for the largest."""
    assert main(["--graph", name, "--out", str(tmp_path / "t.json"), "--work", str(tmp_path)]) == 0


@pytest.mark.slow
def test_readers_keep_to_the_least_budget_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "readers.json"
    for _ in range(2):  # the second time nothing is run again
        assert readers.main(["--out", str(out), "--work", str(tmp_path), "--edges", "500", "--only", "edges.net"]) == 0
    (cell,) = json.loads(out.read_text())["cells"]
    assert cell["status"] == readers.WORKED and cell["peak_bytes"] <= cell["least_bytes"]
    assert "| edges.net |" in capsys.readouterr().out


@pytest.mark.parametrize("name", readers.WRITERS)
def test_inputs_of_readers_have_their_edges(name: str, tmp_path: Path) -> None:
    path, count = readers.write_input(name, tmp_path, 300)
    target = tmp_path / "target.zarr"
    assert run(group, ["convert", *readers.words_of(name, path), str(target), "--quiet"]) == 0
    assert emdiam.exact(target).n_edges == count
