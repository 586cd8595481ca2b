"""A first contact with a GPU: the smoke part, verify in breadth, rows that stay, and races that are intended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.gpu import __main__ as command
from bench.gpu import child, opening, parent, races, rows, sanitize, smoke, verify
from bench.gpu.parent import Ended, run_all
from bench.gpu.parts import PARTS, Part
from bench.gpu.report import markdown, n_wrong
from bench.gpu.setting import NO_TIME, Row, Setting
from emdiam.errors import DeviceUnfitError
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.registry import ENTRIES
from emdiam.gpu.source import KERNELS
from tests.helpers.bench_gpu_toy import kept_of, toy
from tests.simt.devices import open_device
from tests.simt.shim_device import Failures


# -- smoke --------------------------------------------------------------------------------------------------
def test_smoke_is_right_on_the_shim(monkeypatch: pytest.MonkeyPatch) -> None:
    assert next(iter(PARTS)) == "smoke"
    monkeypatch.setattr(smoke, "SCALE", 5)
    monkeypatch.setattr(smoke, "SIDE", 4)
    found = list(smoke.run(toy()))
    assert [(row["what"], row["wrong"]) for row in found] == [("first kernel", 0), ("BFS", 0), ("diameter", 0)]
    assert markdown(kept_of(smoke=found)).count("| right |") == 3
    monkeypatch.setattr(smoke.catalogue, "agrees", lambda *given: False)
    assert [row["wrong"] for row in smoke.run(toy())] == [0, 2, 0]


def test_a_device_that_fails_in_the_smoke_part_is_told_in_a_sentence() -> None:
    found = list(smoke.run(toy(device=open_device("shim-0", failures=Failures(no_kernels=True)))))
    assert all("DeviceUnfitError: the device shim, seed 0 cannot run these kernels" in row["failure"] for row in found)


def test_after_a_smoke_part_that_failed_no_other_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    started: list[str] = []

    def launch(part: str, seconds: float, file: Path) -> Ended:
        started.append(part)
        return Ended(2, "the device gpu:0 cannot run these kernels; install something\n")

    monkeypatch.setattr(command, "launcher", lambda *given: launch)
    assert command.main(["--only", "smoke,facts,verify", "--out", str(tmp_path), "--seconds", "60"]) == 1
    said = capsys.readouterr()
    assert started == ["smoke"] and "facts" in json.loads((tmp_path / "gpu.json").read_text())["parts"]
    sentence = "the device gpu:0 cannot run these kernels; install something"
    assert said.err == f"the smoke part failed, and no other was started: {sentence}\n"
    assert f"not started: {sentence}" in said.out
    right = {"rows": [{"what": "BFS", "wrong": 0}], "failure": ""}
    assert parent.what_smokes(right) == ""
    assert parent.what_smokes({**right, "rows": [{"what": "BFS", "wrong": 2}]}) == "BFS: the result is wrong"


def test_a_child_without_a_gpu_says_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(text: str) -> Any:
        raise DeviceUnfitError("the device gpu:0 cannot run these kernels", remedy="install something")

    monkeypatch.setattr(opening, "find_device", fail)
    assert child.main(["smoke", "--rows", str(tmp_path / "smoke.jsonl")]) == 2
    assert capsys.readouterr().out == "the device gpu:0 cannot run these kernels; install something\n"


# -- breadth ------------------------------------------------------------------------------------------------
def test_verify_takes_every_subject_on_all_graphs_with_first_mappings_first(monkeypatch: pytest.MonkeyPatch) -> None:
    setting, order = toy(), list[tuple[str, ...]]()

    def cell(key: Any, work: Any, subject: Any) -> Iterator[Row]:
        assert subject == (key["subject"], key["mapping"])
        order.append(tuple(key.values()))
        yield {}

    monkeypatch.setattr(setting, "cell", cell)
    list(verify.run(setting, ("path", "star")))
    graphs = list(dict.fromkeys(key[:2] for key in order))
    assert graphs == [("path", "uint32"), ("star", "uint32"), ("path", "uint64"), ("star", "uint64")]
    widths = [ids for _, ids, *_ in order]
    assert widths == sorted(widths, key=["uint32", "uint64"].index)
    first = [key[2:] for key in order if key[:2] == graphs[0]]
    subjects = list(dict.fromkeys(subject for subject, _ in first))
    assert [subject for subject, _ in first[: len(subjects)]] == subjects and "spread" in subjects
    seen = {key[0] for key in order[: 2 * len(subjects)]}
    assert seen == {"path", "star"}
    assert len(first) == len(set(first)) == len(order) // 4


def test_a_subject_that_ended_a_process_is_passed_over() -> None:
    setting = toy(dead=frozenset({("auto", ""), ("spread", "two-phase"), ("multi-source", "two-phase"),
                                  ("luo", "threads")}))
    for subject, dead in ((("auto", ""), True), (("auto", "threads"), False), (("luo", "threads"), True),
                          (("standard", ""), False), (("frontier", "two-phase"), True)):
        (row,) = setting.cell({"x": 1}, lambda: {"done": 1}, subject)
        assert ("skipped" in row) == dead
        if dead:
            assert row["skipped"] == f"{' '.join(subject).strip()} has ended a process" and n_wrong(
                kept_of(verify=[row])) == 0


def fatal(mapping: str) -> Any:
    """A part of cells by class, subject and mapping; the process ends in each of that mapping (SystemExit stands
    for it)."""
    def run(setting: Setting) -> Iterator[Row]:
        for graph in ("path", "star", "web"):
            for subject in ("auto", "luo", "spread", "paged"):
                for one in ("threads", mapping):
                    def work(one: str = one) -> dict[str, int]:
                        if one == mapping:
                            raise SystemExit(11)
                        return {"wrong": 0}

                    yield from setting.cell({"class": graph, "subject": subject, "mapping": one}, work, (subject, one))

    return run


def use(monkeypatch: pytest.MonkeyPatch, **parts: Part) -> None:
    """These parts instead of the benchmark's, whose report could not read their rows."""
    for module in (child, parent):
        monkeypatch.setattr(module, "PARTS", parts)
    monkeypatch.setattr(parent, "markdown", lambda kept: "")


def in_process(part: str, seconds: float, file: Path) -> Ended:
    """A child without a process."""
    setting = toy(seconds=seconds, done=rows.names_begun(file), dead=rows.dead_subjects(file.parent))
    with file.open("a") as lines:
        try:
            return Ended(child.write_rows(part, setting, lines), "")
        except SystemExit as end:
            return Ended(int(str(end.code)), "killed")


def test_one_faulty_mapping_costs_two_deaths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, verify=Part(fatal("window"), 1), variants=Part(fatal("window"), 1))
    kept = run_all(["verify", "variants"], 60.0, in_process, tmp_path, {})["parts"]
    assert kept["verify"]["failure"].count("left with 11") == 2 and kept["variants"]["failure"] == ""
    assert sum(row.get("wrong") == 0 for row in kept["verify"]["rows"]) == 12
    assert len(kept["variants"]["rows"]) == 24
    assert sum("has ended a process" in row.get("skipped", "") for row in kept["variants"]["rows"]) == 12
    assert rows.dead_subjects(tmp_path / "rows") == {("auto", "window"), ("luo", "window")}


# -- rows that stay -----------------------------------------------------------------------------------------
def test_a_run_that_was_killed_goes_on_from_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def run(setting: Setting) -> Iterator[Row]:
        for name in "abc":
            yield from setting.cell({"name": name}, lambda name=name: done.append(name) or {"wrong": 0},  # type: ignore
                                    (name, ""))

    use(monkeypatch, facts=Part(run, 1), verify=Part(run, 1))
    folder = tmp_path / "rows"
    folder.mkdir()
    # The first part has ended; the second was killed in its second cell, while it wrote, and had no time for another.
    whole = [{"begun": "x"}, {"name": "x", "wrong": 0}, {"ended": 7.5}]
    (folder / "facts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in whole))
    cut = [{"begun": "a", "of": ["a", ""]}, {"name": "a", "wrong": 0}, {"name": "c", "skipped": NO_TIME},
           {"begun": "b", "of": ["b", ""]}]
    (folder / "verify.jsonl").write_text("".join(json.dumps(line) + "\n" for line in cut) + '{"name": "b", "wr')
    kept = run_all(["facts", "verify"], 60.0, in_process, tmp_path, {}, resume=True)["parts"]
    assert kept["facts"] == {"rows": [whole[1]], "seconds": 7.5, "failure": ""}
    assert done == ["b", "c"] and [row["name"] for row in kept["verify"]["rows"]] == ["a", "b", "c"]
    again = run_all(["verify"], 60.0, in_process, tmp_path, {}, resume=True)["parts"]
    assert again["verify"]["rows"] == kept["verify"]["rows"] and done == ["b", "c"]
    other = run_all(["facts"], 60.0, in_process, tmp_path, {}, resume=True)["parts"]
    assert other["verify"]["rows"] == kept["verify"]["rows"], "the report has what earlier runs have done"
    fresh = run_all(["verify"], 60.0, in_process, tmp_path, {})["parts"]
    assert len(fresh["verify"]["rows"]) == 3 and done == ["b", "c", "a", "b", "c"]


def test_the_smoke_part_is_run_again_by_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []
    use(monkeypatch, smoke=Part(lambda setting: times.append(1) or [{"what": "x", "wrong": 0}], 1))
    for resume in (False, True):
        assert run_all(["smoke"], 60.0, in_process, tmp_path, {}, resume)["parts"]["smoke"]["failure"] == ""
    assert len(times) == 2


def test_a_part_that_its_time_has_stopped_goes_on_with_that_cell(tmp_path: Path) -> None:
    """That is not the subject's fault."""
    def launch(part: str, seconds: float, file: Path) -> Ended:
        with file.open("a") as lines:
            rows.write_line(lines, {"begun": "a", "of": ["a", ""]})
        return Ended(None, "")

    kept = run_all(["facts"], 60.0, launch, tmp_path, {})["parts"]["facts"]
    assert "was stopped by its time in the cell: a" in kept["failure"]
    file = tmp_path / "rows" / "facts.jsonl"
    assert rows.names_begun(file) == frozenset() == rows.dead_subjects(file.parent)


# -- races --------------------------------------------------------------------------------------------------
def race(first: str, second: str, level: str = "Error") -> str:
    return (f"========= {level}: Race reported between Write access at {first}+0x120 in k.cu:12\n"
            f"=========     and Read access at {second}+0x150 in k.cu:13 [64 hazards]\n=========\n")


def test_intended_races_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    report = ("========= COMPUTE-SANITIZER\n" + race("luo_level", "luo_level") + race("words_of_queue", "luo_level")
              + race("bfs4k_hubs", "bfs4k_hubs(unsigned int*)", "Warning") + race("nothing", "nothing"))
    intended, others = races.races(report)
    assert [re.findall(r"at (\w+)", block)[0] for block in intended] == ["luo_level", "bfs4k_hubs"]
    assert [re.findall(r"at (\w+)", block)[0] for block in others] == ["words_of_queue", "nothing"]

    def found(summary: int) -> Row:
        said = f"{report}========= RACECHECK SUMMARY: {summary} hazards displayed (3 errors, 1 warning)\n"
        monkeypatch.setattr(sanitize, "_run", lambda command, seconds: said)
        monkeypatch.setattr(sanitize, "find_sanitizer", lambda: "tool")
        return next(row for row in sanitize.run(toy()) if row["tool"] == "racecheck")

    row = found(4)
    assert row["errors"] == 2 and row["counts"] == {"intended": 2}
    assert "words_of_queue" in row["tail"] and "bfs4k_hubs" not in row["tail"]
    assert found(9)["errors"] == 7, "what is counted and not shown is no race that is known"


def test_the_list_of_intended_races_is_that_of_the_kernels() -> None:
    """Each entry that has one of the three spaces in which threads look without waiting, and no other."""
    names = set()
    for path in KERNELS.rglob("*.cu"):
        for body in re.split(r"^ENTRY\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            entry = re.search(r"(\w+)\((?:const|FRONTIER|VERTEX|Rows|u|D)", body)
            if re.search(r"^\s+(?:SIEVE|TIERS|SEARCH)\(", body.split("\n}\n")[0], re.MULTILINE):
                assert entry is not None
                names.add(entry[1])
    assert names == set(races.INTENDED) <= {entry.entry for entry in ENTRIES}
    assert MAPPINGS and all(reason.count("(") == 1 for reason in races.INTENDED.values())
