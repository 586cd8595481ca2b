"""A first contact with a GPU rehearsed without one: commands ended at random moments, and the checks after them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.gpu import __main__ as command
from bench.gpu import compiling, dal_exact, regimes, rehearse, rows, sanitize
from bench.gpu.parts import PARTS
from bench.gpu.rehearse import Rehearsal, cells_of, faults_of
from bench.gpu.report import markdown
from bench.gpu.setting import NO_TIME, Skipped
from tests.conftest import ROOT
from tests.helpers.bench_gpu_toy import toy
from tests.helpers.waiting import PATIENCE, wait_until
from tests.simt.devices import open_device

SMALL = "persistent"


def test_a_rehearsal_of_one_part(tmp_path: Path) -> None:
    found = Rehearsal(tmp_path, [SMALL], 3, 60.0, kills=1, lines=3, pause=0.0).run()
    assert found.faults == [] and found.killed == 1 and found.commands >= 2
    assert "every part resumed and ended" in found.text()


@pytest.mark.slow
def test_a_rehearsal_of_all_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--rehearse", "1", "--out", str(tmp_path)]) == 0
    assert "ended at random moments" in capsys.readouterr().out
    kept = json.loads((tmp_path / "gpu.json").read_text(encoding="utf-8"))
    assert list(kept["parts"]) == list(PARTS)


def test_a_process_of_a_part_ends_with_what_has_started_it(tmp_path: Path) -> None:
    """Its parent starts it, says its number, and is killed; its own child goes too."""
    code = ("import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', sys.argv[1]], "
            "start_new_session=True); print(child.pid, flush=True); time.sleep(3600)")
    watched = ("import os, subprocess, time; from bench.gpu.child import end_with; end_with(os.getppid()); "
               f"open({str(tmp_path / 'on')!r}, 'w').write(str(subprocess.Popen(['sleep', '3600']).pid)); "
               "time.sleep(3600)")
    parent = subprocess.Popen([sys.executable, "-c", code, watched], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    noted = tmp_path / "on"
    wait_until(lambda: noted.exists() and noted.read_text() != "")
    parent.send_signal(signal.SIGKILL)
    parent.wait(PATIENCE)
    wait_until(lambda: not rehearse._is_running(child) and not rehearse._is_running(int(noted.read_text())))
    assert rehearse._is_running(os.getpid())


# -- what is checked at the end -----------------------------------------------------------------------------
WHOLE: list[dict[str, Any]] = [
    {"begun": "a 1", "of": ["a", ""]}, {"name": "a", "k": 1, "wrong": 0}, {"begun": "b 2"}, {"stopped": True},
    {"begun": "b 2"}, {"died": "left with -9", "said": ""}, {"name": "c", "k": 3, "skipped": "it has ended a process"},
    {"ended": 1.0}]


def left(folder: Path, lines: list[dict[str, Any]], change: Callable[[dict[str, Any]], None] = lambda kept: None,
         monkeypatch: pytest.MonkeyPatch | None = None) -> list[str]:
    """The faults of a run that has left these lines of a part with the cells a, b and c."""
    (folder / "rows").mkdir(exist_ok=True)
    file = folder / "rows" / "smoke.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    kept = {"parts": {"smoke": {"rows": rows.rows_of(file), "seconds": 1.0, "failure": "\n".join(rows.deaths(file))}}}
    change(kept)
    (folder / "gpu.json").write_text(json.dumps(kept), encoding="utf-8")
    (folder / "gpu.md").write_text("the report", encoding="utf-8")
    return faults_of(folder, ["smoke"])


@pytest.mark.parametrize(("change", "fault"), [
    (lambda lines: lines[:-1], "smoke came to no end"),
    (lambda lines: [*lines[:-2], {"name": "c", "k": 3, "skipped": NO_TIME}, lines[-1]], "smoke came to no end"),
    (lambda lines: [lines[0], {**lines[1], "wrong": 2}, *lines[2:]], "'wrong': 2"),
    (lambda lines: [lines[0], {**lines[1], "failure": "x"}, *lines[2:]], "'failure': 'x'"),
    (lambda lines: [lines[0], {**lines[1], "errors": None}, *lines[2:]], "errors in"),
    (lambda lines: [lines[0], *lines[2:]], "a 1 has no row"),
    (lambda lines: [*lines[:2], *lines], "a 1 was done 2 times"),
    (lambda lines: lines[2:], "1 cells were done and 1 passed over of 3"),
    (lambda lines: [*lines[:6], lines[-1]], "2 cells were done and 0 passed over of 3"),
])
def test_what_is_missing_at_the_end_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], Any], fault: str,
) -> None:
    monkeypatch.setattr(rehearse, "markdown", lambda kept: "the report")
    monkeypatch.setattr(rehearse, "cells_of", lambda name: ["a 1", "b 2", "c 3"])
    assert left(tmp_path, WHOLE) == []
    found = left(tmp_path, change(WHOLE))
    assert found and any(fault in one for one in found), found


def test_a_report_with_other_rows_or_without_a_death_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearse, "cells_of", lambda name: ["a 1", "b 2", "c 3"])

    def spoil(kept: dict[str, Any]) -> None:
        kept["parts"]["smoke"].update(rows=[], failure="")

    found = left(tmp_path, WHOLE, spoil)
    assert [fault.split(":")[0] for fault in found] == [
        "gpu.md is not the report of gpu.json", "the report of smoke has other rows than its file", "smoke"]
    assert found[-1] == "smoke: the report does not tell that b 2 has ended its process"
    assert markdown({"parts": {}}) != ""


def test_cells_are_named_without_being_run() -> None:
    assert cells_of("smoke") == ["first kernel", "BFS", "diameter"] and cells_of("compile") == ["compile"]
    assert cells_of("persistent") == ["grid persistent ", "grid auto ", "grid luo "]
    assert cells_of("sanitize") == list(sanitize.TOOLS)


# -- what goes on from earlier rows -------------------------------------------------------------------------
def test_deaths_are_told_by_every_later_report(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in WHOLE), encoding="utf-8")
    assert rows.deaths(file) == ["the process left with -9 in the cell: b 2."]
    assert rows.names_begun(file) == {"a 1", "b 2", "c 3"} and rows.dead_subjects(tmp_path) == frozenset()
    assert rows.cell_under_way(file) is None


def test_a_cell_that_its_own_time_has_ended_is_begun_again(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    late = {"tool": "a", "skipped": NO_TIME}
    lines = [{"begun": "a"}, late, {**late, "tool": "b"}, {"ended": 2.0}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert rows.has_late(file)
    rows.mended(file, again=True)
    assert rows.lines_of(file) == [{"begun": "a"}, {"stopped": True}] and rows.names_begun(file) == frozenset()
    assert not rows.has_late(file)


def test_a_tool_that_is_not_done_in_its_time_is_tried_again() -> None:
    with pytest.raises(Skipped, match=NO_TIME):
        sanitize._run(["sh", "-c", "echo on; exec sleep 3600"], 1.0)
    said = sanitize._run(["sh", "-c", "echo 'ERROR SUMMARY: 2 errors'; exec sleep 3600"], 1.0)
    assert "ERROR SUMMARY: 2" in said and said.endswith("stopped after 1 s")


def test_tools_have_all_the_time_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not done in it is left to a run that goes on; one that shared the time would never come to an end."""
    given: list[float] = []

    def slow(command: list[str], seconds: float) -> str:
        given.append(seconds)
        raise Skipped(NO_TIME)

    monkeypatch.setattr(sanitize, "_run", slow)
    monkeypatch.setattr(sanitize, "find_sanitizer", lambda: "tool")
    rows = list(sanitize.run(toy(seconds=100.0)))
    assert [row["skipped"] for row in rows] == [NO_TIME] * 4 and min(given) > 90


def test_only_the_cases_of_a_gpu_are_run_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sanitize.ONLY_GPU, "1")
    with pytest.raises(pytest.skip.Exception, match="only the cases of a GPU"):
        open_device("shim-0")


def test_tables_and_figures_have_rows_of_earlier_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = [{"rows": 8, "arcs": 3, "mapping": "threads", "us": 1.0}, {"class": "web", "speedup": 2.0}]
    given: list[Any] = []
    monkeypatch.setattr(regimes.tables, "write", lambda setting, rows: given.append(list(rows)) or {})
    cells = [name for name in cells_of("regimes") if name != "directions"]
    assert list(regimes.run(toy(done=frozenset(cells), earlier=earlier))) == [{"table": "directions"}]
    monkeypatch.setattr(dal_exact.figure_7, "draw", lambda out, rows: given.append(list(rows)) or {})
    cells = [name for name in cells_of("dal-exact") if name != "Figure 7"]
    assert list(dal_exact.run(toy(done=frozenset(cells), earlier=earlier))) == [{"drawing": "Figure 7"}]
    assert given == [earlier[:1], earlier]


def test_frontiers_give_each_row_before_the_next_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(regimes, "_expand", lambda *given: {"us": 1.0})
    found = regimes._frontier_cells(toy(begin=lambda name, subject: begun.append(name)), 2, 3)
    next(found)
    assert len(begun) == 1


def test_a_compilation_that_has_ended_a_process_is_passed_over() -> None:
    assert list(compiling.run(toy(done=frozenset({"compile"})))) == []
