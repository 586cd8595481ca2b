"""What a command is to write is looked at before it begins, and an answer is printed whatever becomes of files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from emdiam.batch import BatchOptions, InvalidJobs
from emdiam.batch import batch as run_batch
from emdiam.batch import jobfile as commands
from emdiam.batch.attempt import Results
from emdiam.certificates import writing as certificate
from emdiam.cli import options
from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.generators import generate
from emdiam.report import tradeoff as tradeoff_run

# Arguments and options that name what a command reads.
READ = {("convert", "inputs"), ("apply", "store"), ("reorder", "store"),
        ("exact", "store"), ("approx", "store"), ("tradeoff", "store"),
        ("verify", "store"), ("verify", "certificate"), ("info", "store"), ("plan", "store"), ("batch", "jobs"),
        ("report", "sources"), ("distances", "store"), ("ecc", "store"), ("sssp", "store"), ("apsp", "store")}
# What is given for parameters that a command cannot do without.
STAND_INS = {"source": "0", "order": "bfs", "vertices": "4", "out": "new", "sources": "in.json"}


def all_commands(inside: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that name it; of the classes of `generate` one, since they are built alike."""
    context = click.Context(inside)
    for name in inside.list_commands(context):
        command = inside.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield next(all_commands(command, (*words, name)))
        else:
            yield (*words, name), command


def paths() -> list[tuple[tuple[str, ...], click.Parameter]]:
    """Every parameter of every command that names a file or folder."""
    return [(words, parameter) for words, command in all_commands(group) for parameter in command.params
            if isinstance(parameter.type, click.Path) or parameter.name == "inputs"]


WRITTEN = [(words, parameter) for words, parameter in paths() if (words[0], parameter.name) not in READ]


def test_every_path_is_known_to_be_read_or_written():
    assert [(words, parameter.name) for words, parameter in WRITTEN
            if not isinstance(parameter.type, options.Written)] == []
    assert {name for _, parameter in WRITTEN for name in parameter.opts} >= {
        "--path", "--certificate", "--checkpoint", "--events", "--scratch", "--out", "target", "store"}


def test_jobs_know_what_their_commands_write():
    """Of paths of jobs all are in WRITES but those that the batch gives and folders for temporary files."""
    for words, parameter in WRITTEN:
        name = parameter.opts[-1].removeprefix("--")
        if words[0] in commands.WORK and name not in (*commands.OF_BATCH, "scratch"):
            assert name in commands.WRITES[words[0]]


def begun_by(
    words: tuple[str, ...], parameter: click.Parameter, place: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[object]]:
    """The exit code of a command that is to write to a place, and what its body was called with, if it was; it does
    nothing."""
    command = next(command for name, command in all_commands(group) if name == words)
    begun: list[object] = []
    monkeypatch.setattr(command, "callback", lambda *given, **named: begun.append(given or named))
    outer = group
    for word in words[:-1]:
        outer = outer.get_command(click.Context(outer), word)
        monkeypatch.setattr(outer, "get_command", lambda _context, _name: command)
    line = list(words)
    for one in command.params:
        text = place if one.name == parameter.name else STAND_INS.get(str(one.name), f"{one.name}.zarr")
        if one.required or text is place:
            line.append(f"{one.opts[-1]}={text}" if isinstance(one, click.Option) else text)
    return run(group, line), begun


@pytest.mark.parametrize(("words", "parameter"), WRITTEN, ids=lambda item: getattr(item, "name", None) or item[0])
@pytest.mark.parametrize("place", ["in.txt/x", "/proc/absent/x"])
def test_a_place_that_cannot_be_is_refused_before_the_work(
    words: tuple[str, ...], parameter: click.Parameter, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("1 2\n")
    assert begun_by(words, parameter, place, monkeypatch) == (2, [])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("emdiam: ") and err.count("\n") == 1 and place.split("/x")[0] in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt"]


@pytest.mark.parametrize("name", ["report.html", "report.md", "figures"])
def test_a_report_is_not_made_for_a_place_that_cannot_be(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).mkdir() if "." in name else (tmp_path / name).write_text("")
    assert run(group, ["report", "absent.json", "-o", name, *(() if "." in name else ("--format", "png"))]) == 2
    assert name in capsys.readouterr().err


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A path of nine vertices."""
    target = tmp_path_factory.mktemp("outputs") / "path.zarr"
    generate("path", target, vertices=9)
    return str(target)


@pytest.mark.parametrize("option", ["--path", "--certificate"])
def test_the_answer_is_printed_even_if_a_file_cannot_be_written_in_the_end(
    option: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """The folder goes after the check, as the last traversals run. The other file is written all the same."""
    lost, kept = tmp_path / "lost", tmp_path / "kept"
    lost.mkdir()
    monkeypatch.setattr("emdiam.runs.hops._solve", removing(lost))
    other = "--path" if option == "--certificate" else "--certificate"
    code = run(group, ["exact", store, "--json", "-q", option, str(lost / "x"), other, str(kept),
                       "--checkpoint", str(tmp_path / "ck")])
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert (code, result["diameter"], result["exact"]) == (2, 8, True)
    assert [str(lost / "x") in fault for fault in result["not_written"]] == [True]
    assert f"emdiam: {result['not_written'][0]}\n" == err
    assert kept.is_file() and (tmp_path / "ck").is_dir()


def removing(folder: Path):
    """_solve of a run, before which the folder is removed."""
    from emdiam.runs.hops import _solve

    def solve(*given, **named):
        shutil.rmtree(folder)
        return _solve(*given, **named)

    return solve


def test_a_result_without_a_fault_says_so(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "path.txt"
    assert run(group, ["exact", store, "--json", "-q", "--path", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["not_written"] == []
    assert len(path.read_text().split()) == 9 and [*tmp_path.iterdir()] == [path]


def test_ctrl_c_while_the_certificate_is_written_keeps_the_answer(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def interrupted(*_given, **_named):
        raise KeyboardInterrupt

    monkeypatch.setattr(certificate, "write_certificate", interrupted)
    assert run(group, ["exact", store, "--json", "-q", "--certificate", str(tmp_path / "c")]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["diameter"] == 8 and "stopped by the user before the certificate" in err


def no_room(*_given, **_named) -> None:
    """What a full disk does."""
    raise OSError(28, "No space left on device", "full")


@pytest.mark.parametrize("function", ["write_record", "write_whole"])
def test_a_tradeoff_on_a_full_disk_prints_what_it_has(
    function: str, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    cell = tmp_path / "made" / "cells"
    monkeypatch.setattr(tradeoff_run, "run_cell", ended_cell)
    monkeypatch.setattr(tradeoff_run, function, no_room)
    code = run(group, ["tradeoff", store, "--out", str(cell.parent), "--methods", "sweep", "--json", "-q"])
    out, err = capsys.readouterr()
    assert code == 2 and err.startswith("emdiam: full: this cannot be written (No space left on device)")
    assert [row["cell"] for row in json.loads(out)["rows"]] == ["sweep-seed-0"]


def ended_cell(_store, digest, cell, cell_options):
    """A record of a cell that failed at once."""
    from emdiam.batch.attempt import FAILED
    from emdiam.report.cells import CellRecord, identity_of

    return CellRecord(cell, digest, identity_of(cell_options), FAILED, "none", 1, 0.1, None, None)


def jobs_file(folder: Path, *lines: str) -> str:
    """A jobs file whose one job is `exact` with further lines."""
    path = folder / "jobs.toml"
    path.write_text("\n".join(['[[job]]', 'name = "one"', 'command = "exact"', *lines, ""]))
    return str(path)


def test_a_batch_on_a_full_disk_prints_what_it_has(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Results, "append", no_room)
    file = jobs_file(tmp_path, f'store = "{store}"', 'options = { scratch = "absent" }')
    assert run(group, ["batch", file, "--keep-going", "--json", "-q"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["n_jobs"] == 1 and "full: the batch cannot go on (No space left on device)" in err


@pytest.mark.parametrize(("option", "name"), [
    ("certificate", "in.txt/x"), ("certificate", "folder"), ("path", "/proc/absent/x"), ("scratch", "absent")])
def test_a_batch_refuses_places_that_cannot_be(option: str, name: str, store: str, tmp_path: Path):
    (tmp_path / "in.txt").write_text("")
    (tmp_path / "folder").mkdir()
    file = jobs_file(tmp_path, f'store = "{store}"', f'options = {{ {option} = "{name}" }}')
    with pytest.raises(InvalidJobs) as caught:
        run_batch(file, group, BatchOptions())
    assert [problem.job for problem in caught.value.problems] == ["one"]
    assert not (tmp_path / "jobs.out").exists()


def test_a_batch_makes_the_folders_of_its_jobs(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys.modules["emdiam.batch.prepare"], "check_budgets", lambda *_given: [])
    file = jobs_file(tmp_path, f'store = "{store}"', 'options = { certificate = "new/inner/c" }')
    assert run(group, ["batch", file, "--dry-run"]) == 0
    assert "to run" in capsys.readouterr().out


CLOSED = [("info", "STORE"), ("--help",), ("exact", "absent.zarr"), ("nonsense",)]


@pytest.mark.parametrize("words", CLOSED, ids=" ".join)
def test_a_closed_standard_output_is_said(words: tuple[str, ...], store: str):
    done = closed(">&-", words, store)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("emdiam: standard output is closed, so there is no place for the answer; send it to a file,"
                           " or to /dev/null\n")


@pytest.mark.parametrize(("streams", "code"), [
    ("2>&-", 0), ("2>/dev/full", 0), ("<&- >&- 2>&-", 2), ("1</dev/null", 2)])
def test_closed_streams_do_no_harm(streams: str, code: int, store: str, tmp_path: Path):
    done = closed(streams, ("info", "STORE", "--check", "--events", str(tmp_path / "e")), store)
    assert done.returncode == code and "Traceback" not in done.stderr
    assert code or done.stdout.startswith("store: ") or "vertices" in done.stdout
    if code == 0:  # nothing but records: no stream has got the number of the file
        assert [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()][-1]["exit_code"] == 0


def test_a_usage_error_is_no_fault_where_nobody_reads_it(store: str):
    assert closed("2>/dev/full", ("nonsense",), store).returncode == 2


def closed(streams: str, words: tuple[str, ...], store: str) -> subprocess.CompletedProcess[str]:
    """The command with streams as the shell puts it."""
    given = [store if word == "STORE" else word for word in words]
    return subprocess.run(["bash", "-c", f'"$@" {streams}', "bash", sys.executable, "-m", "emdiam", *given],
                          capture_output=True, text=True, env=dict(os.environ), timeout=60)
