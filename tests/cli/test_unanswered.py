"""Commands that are stopped before they have an answer: with --json an object all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emdiam.certificates import writing as certificate
from emdiam.cli import outcome as unanswered
from emdiam.cli.main import COMMANDS, group
from emdiam.cli.outcome import run
from emdiam.errors import StoppedEarly
from emdiam.generators import generate
from tests.helpers.waiting import PATIENCE
from tests.helpers.weighted_stores import make_weighted_store, some_weighted_graph

# What each command calls for its answer, and how it is called.
RUNS: dict[str, tuple[str, str]] = {
    "exact": ("exact path.zarr", "emdiam.runs.task.execute"),
    "exact along weights": ("exact weights.zarr --weighted", "emdiam.runs.task.execute"),
    "exact along arcs": ("exact arcs.zarr --directed", "emdiam.runs.task.execute"),
    "exact along weights of arcs": ("exact ways.zarr --directed --weighted", "emdiam.runs.task.execute"),
    "approx": ("approx path.zarr", "emdiam.runs.task.execute"),
    "approx along weights": ("approx weights.zarr --weighted", "emdiam.runs.task.execute"),
    "ecc": ("ecc path.zarr", "emdiam.runs.task.execute"),
    "ecc along weights": ("ecc weights.zarr --weighted", "emdiam.runs.task.execute"),
    "ecc along arcs": ("ecc arcs.zarr --directed out", "emdiam.runs.task.execute"),
    "ecc along weights of arcs": ("ecc ways.zarr --directed in --weighted", "emdiam.runs.task.execute"),
    "distances": ("distances path.zarr", "emdiam.runs.task.execute"),
    "distances along arcs": ("distances arcs.zarr --directed", "emdiam.runs.task.execute"),
    "sssp": ("sssp path.zarr --source 0", "emdiam.runs.task.execute"),
    "apsp": ("apsp path.zarr --out new.zarr", "emdiam.runs.task.execute"),
    "verify": ("verify c.json path.zarr", "emdiam.api.verify"),
    "tradeoff": ("tradeoff path.zarr --out new", "emdiam.report.tradeoff.tradeoff"),
    "batch": ("batch jobs.toml --out new", "emdiam.batch.batch"),
}
OTHERS: dict[str, tuple[str, str]] = {
    "convert": ("convert edges.txt new.zarr", "emdiam.api.convert"),
    "apply": ("apply path.zarr new.zarr --add edges.txt", "emdiam.api.apply"),
    "reorder": ("reorder path.zarr new.zarr --order bfs", "emdiam.conversion.reorder.reorder"),
    "generate": ("generate path new.zarr --vertices 9", "emdiam.api.generate"),
    "info": ("info path.zarr", "emdiam.store.store.open_store"),
    "report": ("report answer.json", "emdiam.report.make_report"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stores, and whatever else the commands read, in the current folder."""
    monkeypatch.chdir(tmp_path)
    generate("path", tmp_path / "path.zarr", vertices=9)
    generate("path", tmp_path / "weights.zarr", vertices=9, weights="uniform:1,9")
    (tmp_path / "edges.txt").write_text("0 1\n1 2\n")
    (tmp_path / "answer.json").write_text("{}")
    assert run(group, "convert edges.txt arcs.zarr --directed -q".split()) == 0
    (tmp_path / "ways.txt").write_text("0 1 5\n1 2 3\n")
    assert run(group, "convert ways.txt ways.zarr --directed --weights -q".split()) == 0
    assert run(group, "exact path.zarr --certificate c.json -q".split()) == 0
    (tmp_path / "jobs.toml").write_text('[[job]]\nname = "a"\ncommand = "exact"\nstore = "path.zarr"\n')
    return tmp_path


def stopped(place: str, error: Callable[[], BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    """The function at `place` is stopped at once."""
    def stop(*_given: object, **_named: object) -> None:
        raise error()

    monkeypatch.setattr(place, stop)


ENDS: dict[str, Callable[[], BaseException]] = {
    "ctrl-c": KeyboardInterrupt, "limit": lambda: StoppedEarly("the time limit is over before there was a bound")}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("case", [name for name in RUNS if name not in ("tradeoff", "batch")])
def test_a_run_without_an_answer_prints_what_is_known(
    case: str, end: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The names are those of an answer."""
    line, function = RUNS[case]
    words = [*line.split(), "--json", "-q"]
    capsys.readouterr()
    assert run(group, words) == 0
    answer = capsys.readouterr().out
    whole = json.loads(answer)
    if case == "apsp":
        words.append("--force")
    stopped(function, ENDS[end], monkeypatch)
    assert run(group, words) == 3
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert out.count("\n") == 1 and err == f"emdiam: {told['stopped']}\n"
    assert told.keys() - {"stopped"} == whole.keys()
    assert told["n_vertices"] == whole["n_vertices"] and told["seconds"]["total"] >= 0
    if "diameter" in whole:
        assert told["diameter"] is None
    if "lower" in whole and case != "verify":
        assert told["lower"] == 0 and told["exact"] is False
        assert told["upper"] == (None if "weights" in case else whole["n_vertices"] - 1)
    if "store_digest" in whole:
        assert told["store_digest"] == whole["store_digest"]
    assert told.get("verified", False) is False
    for name, text in (("whole.json", answer), ("told.json", out)):
        (place / name).write_text(text)
    monkeypatch.undo()
    monkeypatch.chdir(place)
    assert len({run(group, ["report", name, "--format", "md"]) for name in ("whole.json", "told.json")}) == 1


@pytest.mark.parametrize(("case", "code"), [("tradeoff", 3), ("batch", 3), *((case, 2) for case in OTHERS)])
def test_other_commands_say_that_they_were_stopped(
    case: str, code: int, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line, function = {**RUNS, **OTHERS}[case]
    stopped(function, KeyboardInterrupt, monkeypatch)
    capsys.readouterr()
    assert run(group, [*line.split(), "--json"]) == code
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["complete"] is False and err.endswith(f"emdiam: {told['stopped']}\n")
    assert "stopped by the user" in told["stopped"]


def test_every_command_with_json_is_asked() -> None:
    with_json = {name for name in COMMANDS
                 if any(one.name == "as_json" for one in group.get_command(None, name).params)}  # type: ignore[union-attr]
    asked = {line.split()[0] for line, _ in {**RUNS, **OTHERS}.values()}
    assert with_json - asked <= {"plan", "warmup"} and set(unanswered.ANSWERING) <= asked


def test_for_people_there_is_a_sentence_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped(RUNS["distances"][1], KeyboardInterrupt, monkeypatch)
    capsys.readouterr()
    assert run(group, ["distances", "path.zarr", "-q"]) == 3
    assert capsys.readouterr() == ("", "emdiam: stopped by the user before there was an answer\n")


def test_what_there_is_is_printed_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that has bounds when it is stopped."""
    capsys.readouterr()
    assert run(group, "exact path.zarr --json -q --time-limit 0.000001s".split()) == 3
    out = capsys.readouterr().out
    assert out.count("\n") == 1 and json.loads(out)["upper"] == 8 and "stopped" not in json.loads(out)


@pytest.mark.parametrize("line", [
    "exact path.zarr", "ecc path.zarr", "exact weighted.zarr --weighted", "exact arcs.zarr --directed",
    "exact ways.zarr --directed --weighted"])
def test_seconds_have_the_certificate(
    line: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The digest of the graph is most of it."""
    make_weighted_store(place / "weighted.zarr", some_weighted_graph("uint8"), n_vertices=40)
    found = certificate.edge_digest

    def slow(*given: Any, **named: Any) -> Any:
        time.sleep(0.2)
        return found(*given, **named)

    monkeypatch.setattr(certificate, "edge_digest", slow)
    capsys.readouterr()
    assert run(group, [*line.split(), "--certificate", "new.json", "--json", "-q"]) == 0
    seconds: dict[str, float] = json.loads(capsys.readouterr().out)["seconds"]
    assert seconds["certificate"] >= 0.2 and seconds["total"] >= seconds["certificate"] + seconds["solve"]
    assert run(group, [*line.split(), "--certificate", "new.json", "-q"]) == 0
    assert "certificate 0." in capsys.readouterr().out


@pytest.mark.parametrize("words", [["exact", "path.zarr"], ["convert", "edges.txt", "new.zarr"], ["info", "path.zarr"],
                                   ["report", "answer.json"], ["generate", "path", "new.zarr", "--vertices", "9"]])
def test_a_folder_that_was_deleted_is_one_sentence(words: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = ("import os, sys; os.rmdir(os.getcwd());"
            " os.execv(sys.executable, [sys.executable, '-P', '-m', 'emdiam', *sys.argv[1:]])")
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=gone, capture_output=True, text=True,
                          timeout=PATIENCE, env=dict(os.environ))
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == ("emdiam: the folder that this command runs in has been deleted; change to one that exists"
                           " (cd), and give the command again\n")


@pytest.mark.parametrize("options", ["", "--weighted"])
@pytest.mark.parametrize("command", ["exact", "approx", "ecc", "distances"])
def test_directions_are_asked_for(
    command: str, options: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a store with directions and weights has is not taken for a graph without directions."""
    capsys.readouterr()
    assert run(group, [command, "ways.zarr", *options.split(), "-q"]) == 2
    assert "the edges of this store have directions" in capsys.readouterr().err
