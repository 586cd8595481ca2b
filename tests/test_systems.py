"""The table of systems of the papers: every command runs, and passes through the file that its row names; nothing is
left out."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType

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
from tests.simt.devices import open_device

PAGE = ROOT / "docs" / "algorithms" / "README.md"
QUOTED = re.compile(r"`([^`]+)`")
# Of this project, not of the papers.
OWN = {"pivots", "sweep-k", "persistent", "by-level", "auto"}
# What commands take beside what the table says.
MISSING = {"exact": "STORE", "approx": "STORE", "info": "STORE", "distances": "STORE", "sssp": "STORE --source 1",
           "apsp": "STORE --out NEW", "reorder": "STORE NEW", "convert": "ARCS NEW",
           "tradeoff": "STORE --masters 2 --methods clusters"}
Row = tuple[str, ...]


def rows() -> list[Row]:
    """(paper, system, section, commands, files, tests) of every row."""
    found: list[Row] = []
    text = PAGE.read_text(encoding="utf-8").partition("## Systems of the papers")[2]
    for part in text.split("\n### ")[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        found += [(part[:3], *(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines[1:]]
    return found


def filled(command: str, folder: Path, new: Path) -> list[str]:
    """The words of a command, with the arguments that the table leaves out. new : what a command is to write."""
    name, *words = shlex.split(command)
    if name == "generate":
        words = [words[0], "NEW", *words[1:]]
    else:
        words += shlex.split(MISSING[name])
    store = ("directed.zarr" if "--directed" in words else "star.zarr" if {"--arena", "--direction"} & {*words}
             else "g.zarr")
    places = {"STORE": folder / store, "NEW": new, "ARCS": folder / "arcs.txt", "DIR": new}
    return [name, *(str(places.get(word, word)) for word in words), "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of 31 vertices, as arcs and as stores; and a star that is large enough for dense levels, and for blocks
    that are read again."""
    place = tmp_path_factory.mktemp("systems")
    (place / "arcs.txt").write_text("".join(f"{v} {v % 30 + 1}\n{v} {v // 2 + 1}\n{v} {v % 7}\n" for v in range(1, 31)))
    for name, options in (("g", []), ("directed", ["--directed"])):
        arguments = ["convert", str(place / "arcs.txt"), str(place / f"{name}.zarr"), *options, "--quiet"]
        assert run(group, arguments) == 0
    assert run(group, ["generate", "star", str(place / "star.zarr"), "--vertices", "150000", "--weights", "uniform:1,9",
                       "--quiet"]) == 0
    return place


@contextmanager
def traced() -> Iterator[set[str]]:
    """The files of the package that a function of runs within the context, in any thread, and those of kernels that a
    function is given; what an import runs of its own module does not count."""
    found, package = set[str](), str(ROOT / "emdiam")

    def called(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(package):
            found.update((code.co_filename, *(
                value.py_func.__code__.co_filename for value in frame.f_locals.values()
                if type(value).__name__ == "CompiledKernel" and hasattr(value, "py_func"))))  # not one that is made

    before = sys.gettrace()
    threading.settrace(called)
    sys.settrace(called)
    try:
        yield found
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]


def test_every_row_names_what_there_is() -> None:
    assert {row[0] for row in rows()} == {"001", "002", "003", "004"}
    for paper, system, section, asked, files, tests in rows():
        assert system and section and QUOTED.findall(asked), (paper, system)
        for name in QUOTED.findall(files):
            assert (ROOT / "emdiam" / name).is_file(), (paper, system, name)
        for name in QUOTED.findall(tests):
            assert (ROOT / name).is_file(), (paper, system, name)
        assert QUOTED.findall(files) and QUOTED.findall(tests), (paper, system)


def test_no_system_is_left_out() -> None:
    """By its name, with knobs or without."""
    said = {word.partition(":")[0] for row in rows() for command in QUOTED.findall(row[3])
            for word in shlex.split(command)}
    assert {*EXACT, *APPROXIMATIONS, *PATHS, *PAIRS, *VARIANTS, *MAPPINGS, *SEARCHES} - said == OWN


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}-{row[1][:40]}")
def test_every_command_passes_through_its_file(
        row: Row, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """A command through one of the files of its row at least, and each of these files is passed by one."""
    monkeypatch.setattr("emdiam.gpu.cupy_device.find_devices", lambda text: (open_device("shim-0"),))
    files = {str(ROOT / "emdiam" / name) for name in QUOTED.findall(row[4])}
    for name in QUOTED.findall(row[4]):  # so that functions that an import calls do not count
        import_module(f"emdiam.{name.removesuffix('.py').replace('/', '.')}")
    passed = set[str]()
    for number, command in enumerate(QUOTED.findall(row[3])):
        with traced() as found:
            code = run(group, filled(command, folder, tmp_path / f"new-{number}"))
        assert code == 0, (command, capsys.readouterr().err)
        assert found & files, command
        passed |= found & files
    assert passed == files


def test_a_bfs_by_a_queue_has_no_dense_level(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a clique, whose first level has more arcs than a level of few: every row is walked, where a level bottom-up
    ends each row at its first vertex of the frontier."""
    store = str(tmp_path / "clique.zarr")
    assert run(group, ["generate", "clique", store, "--vertices", "1000", "--quiet"]) == 0
    capsys.readouterr()
    scanned = []
    for options in ((), ("--bfs", "queue")):
        assert run(group, ["exact", store, "--method", "sweep-k", "-k", "1", *options, "--quiet", "--json"]) == 0
        scanned.append(json.loads(capsys.readouterr().out)["edges_scanned"])
    assert scanned[0] < 2 * 999_000 <= scanned[1]
