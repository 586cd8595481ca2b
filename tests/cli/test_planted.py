"""Links that another user has put in the way of what a command writes: nothing is written through them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.generators import generate
from tests.cli.test_outputs import WRITTEN, begun_by
from tests.helpers.others import OTHER, needs_root, planted, shared_folder

# Of what is written there is a folder of a name, or a new name, which the command's body looks at.
_OWN_NAMES = ("check_name", "check_above")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like /tmp, the current one."""
    with shared_folder() as place:
        monkeypatch.chdir(place)
        yield place


@needs_root
@pytest.mark.thin(4, sampled=("words",))
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(("words", "parameter"), WRITTEN, ids=lambda item: getattr(item, "name", None) or item[0])
def test_a_link_of_another_user_is_refused_before_the_work(
    words: tuple[str, ...], parameter: click.Parameter, inside: bool, folder: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the place of what is written, or of its folder."""
    if not inside and parameter.type._check in _OWN_NAMES:
        inside = True
    (folder / "victim").mkdir()
    (folder / "victim" / "file").write_text("mine")
    is_file = not inside and parameter.type._check == "check_file"
    planted(folder / "link", folder / "victim" / ("file" if is_file else ""))
    (folder / "in.txt").write_text("1 2\n")
    if inside and parameter.type._check == "check_scratch":
        (folder / "victim" / "x").mkdir()
    before = sorted(folder.rglob("*"))
    assert begun_by(words, parameter, "link/x" if inside else "link", monkeypatch) == (2, [])
    out, err = capsys.readouterr()
    assert out == "" and "another user" in err and err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


@pytest.fixture
def store(folder: Path) -> str:
    """A path of nine vertices."""
    generate("path", folder / "path.zarr", vertices=9)
    return "path.zarr"


FILES = ["ecc {store} --out {file}.csv", "exact {store} --certificate {file}.csv", "exact {store} --path {file}.csv",
         "report answer.json -o {file}.csv --format md", "report answer.json -o {file}.csv --format json",
         "sssp {store} --source 0 --out {file}.csv"]


@pytest.mark.parametrize("line", FILES)
def test_an_unfinished_name_that_is_a_link_is_not_written_through(
    line: str, folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a file was called until it was finished could be guessed."""
    victim = folder / "victim"
    victim.write_text("mine")
    assert run(group, ["exact", store, "--json", "-q"]) == 0
    (folder / "answer.json").write_text(capsys.readouterr().out)
    (folder / "new.csv.partial").symlink_to("victim")
    assert run(group, line.format(store=store, file="new").split()) == 0
    assert victim.read_text() == "mine" and (folder / "new.csv").stat().st_size > 0
    assert not (folder / "new.csv").is_symlink()


@needs_root
@pytest.mark.parametrize("line", [
    "info path.zarr --profile --plots out", "tradeoff path.zarr --out out --methods sweep", "batch jobs.toml --out out",
    "report answer.json -o out --format png", "exact path.zarr --checkpoint out",
    "convert edges.txt new.zarr --checkpoint out --order bfs", "convert edges.txt new.zarr --checkpoint out"])
def test_a_folder_behind_a_link_of_another_user_is_not_filled(
    line: str, folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "edges.txt").write_text("0 1\n")
    (folder / "jobs.toml").write_text('[[job]]\nname = "a"\ncommand = "exact"\nstore = "path.zarr"\n')
    (folder / "answer.json").write_text("{}")
    (folder / "victim").mkdir()
    planted(folder / "out", folder / "victim")
    assert run(group, line.split()) == 2
    assert "another user" in capsys.readouterr().err and not list((folder / "victim").iterdir())


@needs_root
@pytest.mark.parametrize(("line", "name"), [
    ("info path.zarr --profile --plots out", "degrees.svg"),
    ("report answer.json other.json -o out --format png", "times.png")])
def test_a_plot_is_not_written_through_a_link_of_another_user(
    line: str, name: str, folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for answer in ("answer.json", "other.json"):
        assert run(group, ["exact", store, "--json", "-q"]) == 0
        (folder / answer).write_text(capsys.readouterr().out)
    (folder / "victim").write_text("mine")
    (folder / "out").mkdir()
    assert run(group, line.split()) == 0
    assert (folder / "out" / name).exists(), os.listdir(folder / "out")
    (folder / "out" / name).unlink()
    planted(folder / "out" / name, folder / "victim")
    capsys.readouterr()
    assert run(group, line.split()) == 2
    assert "another user" in capsys.readouterr().err and (folder / "victim").read_text() == "mine"


@needs_root
@pytest.mark.parametrize(("line", "name"), [
    ("convert edges.txt new.zarr", "new.zarr.partial"),
    ("convert edges.txt new.zarr --order bfs", "new.zarr.natural.partial"),
    ("convert edges.txt new.zarr --order bfs --checkpoint-every 1h", "new.zarr.resume"),
    ("convert edges.txt new.zarr --checkpoint-every 1h", "new.zarr.resume"),
    ("reorder path.zarr new.zarr --order bfs", "new.zarr.partial"),
    ("reorder path.zarr new.zarr --order bfs --checkpoint-every 1h", "new.zarr.resume"),
    ("convert edges.txt new.zarr --order bfs --checkpoint-every 1h", "new.zarr.resume.removing"),
    ("generate path new.zarr --vertices 9", "new.zarr.partial"),
    ("apsp path.zarr --out new.zarr", "new.zarr.partial"),
])
@pytest.mark.parametrize("linked", [False, True])
def test_a_folder_of_another_user_is_neither_removed_nor_filled(
    line: str, name: str, linked: bool, folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that looks as a killed command leaves it, or a link to one of this user."""
    (folder / "edges.txt").write_text("0 1\n1 2\n")
    place = folder / ("victim" if linked else name)
    (place / "store.partial").mkdir(parents=True) if "natural" in name else place.mkdir()
    if name.endswith("zarr.partial"):
        (place / "zarr.json").write_text("{}")
    if linked:
        planted(folder / name, place)
    else:
        os.chown(place, OTHER, OTHER)
    before = sorted(folder.rglob("*"))
    assert run(group, [*line.split(), "-q"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert sorted(folder.rglob("*")) == before


@needs_root
def test_cells_of_another_user_are_not_believed(
    folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "out").mkdir()
    os.chown(folder / "out", OTHER, OTHER)
    assert run(group, ["tradeoff", store, "--out", "out", "--methods", "sweep", "-q"]) == 2
    assert "out: this belongs to another user" in capsys.readouterr().err


def test_events_are_not_appended_through_a_link_of_another_user(
    folder: Path, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through one of this user they are."""
    (folder / "log").symlink_to("events.jsonl")
    assert run(group, ["info", store, "-q", "--events", "log"]) in (0, 2)
    assert run(group, ["exact", store, "-q", "--events", "log"]) == 0
    records = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert records[-1]["record"] == "end" and (folder / "log").is_symlink()
    if os.geteuid() == 0:
        (folder / "bashrc").write_text("mine")
        planted(folder / "planted", folder / "bashrc")
        assert run(group, ["exact", store, "-q", "--events", "planted"]) == 2
        assert "another user" in capsys.readouterr().err and (folder / "bashrc").read_text() == "mine"
