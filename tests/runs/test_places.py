"""No output of a command overwrites what it reads, or another output: on the command line, in Python and in batches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.runs.places import check_outputs
from tests.conftest import Run
from tests.helpers.stores import write_store

OVERWRITES, TOO = "would overwrite", "have the same place"
# Words of a command line, and the error.
REFUSED = [
    ("apsp k.zarr --out k.zarr --force", OVERWRITES), ("apsp k.zarr --out link.zarr --force", OVERWRITES),
    ("exact k.zarr --path k.zarr/zarr.json", OVERWRITES), ("exact k.zarr --certificate k.zarr/new", OVERWRITES),
    ("exact link.zarr --events k.zarr/indices/c/0", OVERWRITES), ("exact k.zarr --checkpoint k.zarr", OVERWRITES),
    ("exact k.zarr --keep-reordered k.zarr/new.zarr", OVERWRITES), ("exact e.txt --path ./e.txt", OVERWRITES),
    ("exact parts --path parts/a.txt", OVERWRITES), ("exact parts/*.txt --path parts/a.txt", OVERWRITES),
    ("ecc k.zarr --from c.json --certificate c.json", OVERWRITES), ("sssp e.txt --source 0 --out e.txt", OVERWRITES),
    ("distances k.zarr --sources S --out S", OVERWRITES), ("report r.json -o r.json", OVERWRITES),
    ("verify c.json k.zarr --events c.json", OVERWRITES), ("convert e.txt n.zarr --events e.txt", OVERWRITES),
    ("apply k.zarr n.zarr --add e.txt --events e.txt", OVERWRITES),
    ("info k.zarr --profile --plots k.zarr/p", OVERWRITES),
    ("tradeoff k.zarr --out k.zarr/t", OVERWRITES), ("apsp k.zarr/inner.zarr --out k.zarr --force", OVERWRITES),
    ("exact k.zarr --path o --certificate o", TOO), ("exact k.zarr --path o --events ./o", TOO),
    ("ecc k.zarr --out o.csv --certificate o.csv", TOO), ("generate path n.zarr --vertices 5 --events n.zarr/e", TOO),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a store, a link to it, and files."""
    monkeypatch.chdir(tmp_path)
    write_store(tmp_path / "k.zarr", [[1], [0, 2], [1]])
    os.symlink("k.zarr", "link.zarr")
    Path("parts").mkdir()
    for name in ("e.txt", "parts/a.txt", "S", "r.json", "c.json"):
        Path(name).write_text("0 1\n1 2\n")
    return tmp_path


def content(folder: Path) -> dict[Path, str]:
    """The digest of every file."""
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words, fault", REFUSED)
def test_the_command_is_refused_before_it_begins(folder: Path, command: Run, words: str, fault: str) -> None:
    before = content(folder)
    done = command(*words.split(), *([] if words.startswith("report") else ["-q"]))
    assert done.returncode == 2 and fault in done.stderr and done.stdout == ""
    assert content(folder) == before


@pytest.mark.parametrize("words", [
    "exact k.zarr --path /dev/null --certificate /dev/null", "exact k.zarr --path p --certificate c --events v",
    "reorder k.zarr link2.zarr --order bfs", "reorder k.zarr k.zarr --order bfs --force",
    "apply k.zarr k.zarr --remove e.txt --force", "exact k.zarr --scratch . --checkpoint new",
    "exact parts --path parts/new"])
def test_other_places_are_free(folder: Path, command: Run, words: str) -> None:
    """So is the store of a graph that is written again, and every special file."""
    done = command(*words.split(), "-q")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("call", [
    lambda: emdiam.exact("e.txt", path="e.txt"), lambda: emdiam.all_pairs("k.zarr", out=Path("k.zarr"), force=True),
    lambda: emdiam.exact(emdiam.open("k.zarr"), certificate="k.zarr/zarr.json"),
    lambda: emdiam.eccentricities([(0, 1)], out="o", certificate="o"), lambda: emdiam.tradeoff("k.zarr", "k.zarr"),
    lambda: emdiam.distances("k.zarr", sources="S", out="S"), lambda: emdiam.convert("e.txt", "e.txt"),
    lambda: emdiam.apply("k.zarr", "n.zarr", add="n.zarr/e"), lambda: emdiam.reorder("k.zarr", "k.zarr/n", "bfs")])
def test_python_is_refused_too(folder: Path, call: Callable[[], Any]) -> None:
    before = content(folder)
    with pytest.raises(InputError, match=f"{OVERWRITES}|{TOO}"):
        call()
    assert content(folder) == before


def test_jobs_are_refused_before_the_first(folder: Path, command: Run) -> None:
    Path("jobs.toml").write_text("".join(
        f'[[job]]\nname = "{name}"\ncommand = "exact"\nstore = "{graph}"\noptions = {{ path = "{path}"{more} }}\n'
        for name, graph, path, more in (("a", "k.zarr", "x", ', certificate = "x"'), ("b", "e.txt", "e.txt", ""),
                                        ("c", "k.zarr", "y", ""), ("d", "k.zarr", f"{folder}/./y", ""))))
    for more in ([], ["--dry-run"]):
        done = command("batch", "jobs.toml", *more, "-q")
        assert done.returncode == 2 and "3 problems" in done.stderr
        assert f"job a: x: path and certificate {TOO}" in done.stderr
        assert f"job b: e.txt: path {OVERWRITES}" in done.stderr and "job c writes" in done.stderr


def test_options_that_do_not_go_together_are_refused_before_the_first_job(folder: Path, command: Run) -> None:
    jobs = [("a", 'command = "exact"\nstore = "k.zarr"', "weighted = true, gap = 1", "gap is not for weighted graphs"),
            ("b", 'command = "ecc"\nstore = "new.zarr"', "directed = 'out', radius = true", "radius is not for graphs"),
            ("c", 'command = "distances"\nstore = "k.zarr"', "exact = true, seed = 3", "nothing is drawn at random"),
            ("d", 'command = "approx"\nstore = "k.zarr"', "masters = ['1', '2']", ""),
            ("e", 'command = "ecc"\nstore = "k.zarr"', "radius = true", ""),
            ("n", 'command = "convert"\ninputs = ["e.txt"]\nstore = "new.zarr"', "directed = true", "")]
    Path("jobs.toml").write_text("".join(f'[[job]]\nname = "{name}"\n{what}\noptions = {{ {asked} }}\n'
                                         for name, what, asked, _ in jobs))
    done = command("batch", "jobs.toml", "--dry-run", "-q")
    assert done.returncode == 2 and "3 problems" in done.stderr, done.stderr
    assert all(f"job {name}: " in done.stderr and fault in done.stderr for name, _, _, fault in jobs if fault)


def test_what_is_no_path_is_no_place(folder: Path) -> None:
    check_outputs("exact", {"store": "https://host/k.zarr", "path": "-", "certificate": None, "events": ""})
    check_outputs("exact", {"store": [("a", "b")], "path": "a", "threads": 2})
    check_outputs("exact", {"store": "-", "path": "/dev/stdout", "certificate": "/dev/stderr"})
