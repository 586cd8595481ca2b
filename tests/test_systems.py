"""The table of systems of the papers: every command parses, every file and test is there, nothing is left out."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from emdiam.cli.main import group
from emdiam.cli.outcome import run
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.paths.registry import SEARCHES
from emdiam.gpu.variants.registry import VARIANTS
from emdiam.paths.methods import METHODS as PATHS
from emdiam.paths.pairs.methods import METHODS as PAIRS
from emdiam.runs.registry import APPROXIMATIONS, EXACT
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "algorithms" / "README.md"
QUOTED = re.compile(r"`([^`]+)`")
# Of this project, not of the papers.
OWN = {"pivots", "sweep-k", "persistent", "by-level", "auto"}
# What commands take beside what the table says.
MISSING = {"exact": "STORE", "approx": "STORE", "info": "STORE", "distances": "STORE", "sssp": "STORE --source 1",
           "apsp": "STORE --out NEW", "generate": "NEW", "reorder": "STORE NEW", "convert": "ARCS NEW",
           "tradeoff": "STORE"}


def rows() -> list[tuple[str, ...]]:
    """(paper, system, section, commands, files, tests) of every row."""
    found: list[tuple[str, ...]] = []
    text = PAGE.read_text(encoding="utf-8").partition("## Systems of the papers")[2]
    for part in text.split("\n### ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        found += [(part[:3], *(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines[1:]]
    return found


def commands() -> list[str]:
    """All that is asked for, without repetitions."""
    return list(dict.fromkeys(command for row in rows() for command in QUOTED.findall(row[3])))


def filled(command: str, folder: Path) -> list[str]:
    """The words of a command, with the arguments that the table leaves out."""
    name, *words = shlex.split(command)
    if name == "generate":
        words = [words[0], "NEW", *words[1:]]
    else:
        words += shlex.split(MISSING[name])
    places = {"STORE": "g.zarr", "NEW": "new.zarr", "ARCS": "arcs.txt", "DIR": "out"}
    return [name, *(str(folder / places[word]) if word in places else word for word in words)]


def test_every_row_names_what_there_is() -> None:
    assert {row[0] for row in rows()} == {"001", "002", "003", "004"}
    for paper, system, section, asked, files, tests in rows():
        assert system and section and QUOTED.findall(asked), (paper, system)
        for name in QUOTED.findall(files):
            assert (ROOT / "emdiam" / name).is_file(), (paper, system, name)
        for name in QUOTED.findall(tests):
            assert (ROOT / name).is_file(), (paper, system, name)
        assert QUOTED.findall(files) and QUOTED.findall(tests), (paper, system)


def test_every_command_parses(tmp_path: Path) -> None:
    (tmp_path / "g.zarr").mkdir()
    (tmp_path / "arcs.txt").write_text("1 2\n")
    for command in commands():
        if command.startswith("gpu."):
            module, _, function = command.rpartition(".")
            assert callable(getattr(import_module(f"emdiam.{module}"), function))
            continue
        name, *words = filled(command, tmp_path)
        known = group.get_command(click.Context(group), name)
        assert known is not None, command
        if name == "generate":  # its classes are commands
            continue
        # As the command line has it: a command keeps what its first context says of help.
        given = known.make_context(name, words, **group.context_settings).params
        assert given.get("bfs") in {None, *VARIANTS} and given.get("mapping") in {None, *MAPPINGS}, command


def test_no_system_is_left_out() -> None:
    said = {word for command in commands() for word in shlex.split(command)}
    assert {*EXACT, *APPROXIMATIONS, *PATHS, *PAIRS, *VARIANTS, *MAPPINGS, *SEARCHES} - said == OWN


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in commands() if "gpu" not in one])
def test_every_command_without_a_gpu_runs(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "arcs.txt").write_text("".join(f"{v} {v % 30 + 1}\n{v} {v // 2 + 1}\n" for v in range(1, 31)))
    directed = ["--directed"] if "--directed" in command else []
    assert run(group, ["convert", str(tmp_path / "arcs.txt"), str(tmp_path / "g.zarr"), *directed, "--quiet"]) == 0
    if command.startswith("convert"):
        return
    assert run(group, [*filled(command, tmp_path), "--quiet"]) == 0, capsys.readouterr()
