"""Other programs and libraries beside this package: the command, its verdict and its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import small
from bench.cache import Cache
from bench.commands import run_command
from bench.graphs import QUICK
from bench.papers.html import html
from bench.papers.markdown import markdown
from bench.papers.setting import Setting
from bench.peers import __main__ as command
from bench.peers import measure
from bench.peers.pages import faster, page
from bench.programs import DIAMETERS, FDIAM, GAPBS_BFS, GAPBS_SSSP, Programs
from bench.setting import QUICK_EFFORT
from bench.setting import Setting as BenchSetting
from tests.bench.test_papers import setting
from tests.helpers.stores import odd_graphs, write_store

GRID = "quick-grid-40x50"


def row(own: float, **others: float) -> dict[str, Any]:
    """A row as measured() gives it, where each other tool takes so many seconds; those not named were stopped."""
    def found(seconds: float) -> dict[str, Any]:
        return {"diameter": 9, "solve": seconds, "traversals": 5, "seconds": 2 * seconds, "peak_bytes": 1 << 28}

    stopped = {"failure": "> 20 s", "seconds": 20.0, "peak_bytes": 1 << 28}
    tools = (*DIAMETERS, "networkit", "igraph")
    search = {tool: {"solve": 0.002} for tool in ("emdiam", "GAP", "networkit", "scipy", "igraph")}
    others_found = {tool: found(others[tool]) if tool in others else stopped for tool in tools}
    return {"graph": "g", "n": 10, "arcs": 18, "wrong": "", "bfs": search, "weighted": {},
            "diameter": {"emdiam": found(own), **others_found}}


def test_the_verdict_names_what_is_faster(tmp_path: Path) -> None:
    rows = [row(0.10, networkit=0.09), row(0.2, **{"F-Diam": 0.1})]
    assert faster(rows) == [("g", "F-Diam", 0.1, 0.2)]
    made = page(setting(tmp_path), rows, 2)
    assert "in 1 cases: g: F-Diam 0.100 s, here 0.200 s" in made.intro[1]
    assert "On none of the 1 graphs" in page(setting(tmp_path), rows[:1], 2).intro[1]


def test_the_page_has_every_tool_and_what_is_absent(tmp_path: Path) -> None:
    made = page(setting(tmp_path), [row(0.10, networkit=0.2)], 24)
    text = markdown(made, "python -m bench.peers")
    assert f"| g | 10 | 18 | 9 | 0.100 | 5 | {'> 20 s | - | ' * 4}0.200 | > 20 s | 2.00 |" in text
    assert "networkit / emdiam, seconds to solve: geometric mean 2.00 over 1 graph." in text
    assert "webgraph" in text and "lagraph" in text and "<svg" in html(made)
    for name, why in measure.NOT_MEASURED.items():
        assert measure.absent(name)[1] == why


def test_a_command_has_its_peak_its_seconds_and_a_limit() -> None:
    done = run_command(["python3", "-c", "x = bytearray(1 << 26); print(len(x))"], 60.0)
    assert (done.failure, done.out.strip()) == (None, str(1 << 26)) and done.peak_bytes > 1 << 26 and done.seconds > 0
    assert run_command(["sleep", "60"], 0.2).code is None
    assert run_command(["sh", "-c", "echo why >&2; exit 5"], 60.0).failure == "failed (5): why"


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started."""
    def found(*_args: Any, **_options: Any) -> dict[str, Any]:
        return {"diameter": 88, "largest": 88, "solve": 0.01, "traversals": 5, "seconds": 1.0, "peak_bytes": 1 << 28}

    for name in ("own", "library", "program"):
        monkeypatch.setattr(command, name, found)


def words(folder: Path, *more: str) -> list[str]:
    return ["--quick", "--graph", GRID, "--resume", str(folder / "cells"), "--cache", str(folder / "cache"), "--out",
            str(folder / "out"), "--html", str(folder / "drawn"), "--programs", str(folder),
            "--json", str(folder / "rows.json"), *more]


def test_the_command_writes_a_page_and_goes_on(tmp_path: Path, quickly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command.main(words(tmp_path)) == 0
    text = (tmp_path / "out" / "peers.md").read_text()
    assert f"| {GRID} | 2,000 | 7,820 | 88 |" in text and (tmp_path / "drawn" / "peers-figures.html").exists()
    ((only,),) = [json.loads((tmp_path / "rows.json").read_text())["rows"]]
    assert only["wrong"] == "" and only["weighted"]["emdiam"]["sum"] == only["weighted"]["scipy"]["sum"]
    assert only["weighted"]["GAP"]["failure"] == only["bfs"]["GAP"]["failure"] == "not built here"

    def again(*_: Any) -> dict[str, Any]:
        raise AssertionError("measured again")

    monkeypatch.setattr(command, "own", again)
    assert command.main(words(tmp_path)) == 0
    assert command.main(words(tmp_path, "--seconds", "1")) == 2


def test_a_program_is_taken_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The one that is named, and not the one of a checkout, of which others are taken."""
    (tmp_path / "gapbs").mkdir()
    other, built = tmp_path / "elsewhere", tmp_path / "gapbs" / "sssp"
    other.write_text("#!/bin/sh\necho 'Trial Time: 0.25'\n")
    other.chmod(0o755)
    built.write_text("")
    programs = Programs(tmp_path, tmp_path / "files", {"gapbs-bfs": other})
    assert programs.path(GAPBS_BFS) == other and programs.path(GAPBS_SSSP) == built and programs.path(FDIAM) is None
    store = write_store(tmp_path / "g.zarr", odd_graphs()["grid"])
    assert programs.gapbs_bfs(store, [0, 3], 1, 20.0)["solve"] == 0.25
    given = command.parser().parse_args(["--program", f"F-Diam={other}"])
    assert dict(given.program) == {"F-Diam": other}
    for wrong in ("gapbs=x", f"F-Diam={tmp_path / 'nowhere'}"):
        with pytest.raises(SystemExit):
            command.parser().parse_args(["--program", wrong])
    assert "is none of F-Diam" in capsys.readouterr().err


def test_answers_that_contradict_each_other_are_a_failure(
    tmp_path: Path, quickly: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "program", lambda *_: {"diameter": 87, "solve": 0.01, "seconds": 1.0, "peak_bytes": 1})
    assert command.main(words(tmp_path)) == 1 and "WRONG: quick-grid-40x50: diameter {" in capsys.readouterr().err


def test_answers_over_one_component_are_compared_with_each_other() -> None:
    whole, one = {"diameter": 9, "largest": 7}, {"largest": 7}
    assert measure.contradictions({"a": whole, "b": one, "c": {"failure": "> 1 s"}}, (7, 9)) == ""
    assert measure.contradictions({"a": whole, "b": {"largest": 6}}).startswith("largest {'a': 7, 'b': 6}")
    assert measure.contradictions({"a": whole, "b": {"diameter": 7}}).startswith("diameter {")
    assert "known 8" in measure.contradictions({"a": whole}, (7, 8))


def test_the_small_section_beside_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that says what it is to say, and a library; tables of both, and who is faster by how much."""
    program = tmp_path / "fdiam"
    program.write_text("#!/bin/sh\nprintf 'iterations: 3\\nfinal diameter: 88\\nruntime: 0.000001 s\\n'\n")
    program.chmod(0o755)
    monkeypatch.setattr(small, "library", lambda *_: {"diameter": 88, "solve": 30.0, "seconds": 31.0})
    monkeypatch.setattr(small, "own", lambda *_: {"diameter": 88, "largest": 88, "solve": 0.01, "seconds": 0.25,
                                                  "traversals": 5})
    cache = Cache(tmp_path / "cache", tmp_path)
    graph = next(one for one in QUICK if one.name == GRID)
    plan = BenchSetting(cache, quick=True, effort=QUICK_EFFORT,
                        programs=Programs(None, tmp_path / "files", {"F-Diam": program}))
    row = small.measured(plan, graph)
    assert row["wrong"] == [] and small.best(row, "solve") == ("F-Diam", 1e-06) and small.faster(row)
    assert row["tools"]["teexGraph"]["failure"] == "not built here"
    header, ((*_, best, ratio),) = small.table([row])
    assert (best, ratio) == ("F-Diam", "0.00 *") and "networkit ms" in header and "teexGraph ms" not in header
    (whole,) = small.more([row])
    assert whole.rows[0][1] == "250.00" and whole.rows[0][-1] == "31000.00"
    said = "\n".join(small.notes([row]))
    assert f"*: a peer is faster by more than 1.1 x and 2 ms: {GRID}" in said
    assert "ours / F-Diam: geometric mean" in said
    slower = {**row, "tools": {**row["tools"], "F-Diam": {"solve": 0.0075, "seconds": 0.125}}}
    assert not small.faster(slower) and small.commands([slower], "F-Diam") == [2.0]
    assert small.mean([1.0, 4.0]) == pytest.approx(2.0)


@pytest.mark.slow
def test_the_whole_command_on_a_small_graph(tmp_path: Path) -> None:
    assert command.main(words(tmp_path)) == 0
    assert isinstance(setting(tmp_path), Setting)
    (only,) = json.loads((tmp_path / "rows.json").read_text())["rows"]
    assert {tool for tool, found in only["diameter"].items() if found.get("diameter") == 88} >= {"emdiam", "igraph"}
