"""A file in place of a store: the same answer as of its store, nothing left of it, and the refusals of convert; names
of commands, which Python's functions have, too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from emdiam import caller
from emdiam.cli.main import COMPLETE, group
from emdiam.errors import InputError
from tests.helpers.waiting import PATIENCE

# What differs from one run to the next, or says where a store is.
VARIES = ("seconds", "store_path", "store_name", "peak_rss_bytes", "memory_limit_bytes", "planned_rss_bytes", "details",
          "expected_rss_bytes", "dtype", "path", "source", "created")


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    """A file with edges, a loop among them, and lengths."""
    file = tmp_path / "roads.csv"
    file.write_text("from,to,km\na,b,1.5\nb,c,2\nc,d,1\nd,d,3\nd,e,0.25\n")
    return file


def told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one object on standard output, without what varies."""
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    return {name: value for name, value in json.loads(done.stdout).items() if name not in VARIES}


@pytest.mark.parametrize("line", [
    "exact", "diameter --weighted", "eccentricities", "approx --method sweep", "distances",
    "shortest-paths --source a --weighted", "all-pairs --out m.zarr --force --weighted", "exact --directed"])
def test_a_file_answers_as_its_store(command, roads: Path, tmp_path: Path, line: str):
    name, *more = line.split()
    kept = ["--directed"] if "--directed" in more else ["--weights"] if "--weighted" in more else []
    assert command("convert", roads, "g.zarr", *kept, "-q").returncode == 0
    (tmp_path / "scratch").mkdir()
    scratch = ["--scratch", tmp_path / "scratch"] if name in ("exact", "eccentricities", "approx") else []
    of_file = command(name, roads, *more, *scratch, "--json", "--memory", "2GiB")
    said = of_file.stderr.splitlines()
    assert said[0] == (f"emdiam: {roads} is no store: it is converted to a temporary one; to keep one: emdiam convert"
                       f" {roads} roads.zarr{'' if not kept else ' ' + kept[0]}")
    after = next(one for one in said if one.startswith(f"emdiam: {roads}: "))
    assert "5 vertices, 4 " in after and "edges: from and to" in after and "dropped 1 loop" in after
    assert told(of_file) == told(command(name, "g.zarr", *more, *scratch, "--json", "--memory", "2GiB", "-q"))
    assert not list((tmp_path / "scratch").iterdir())


def test_a_file_is_shown_as_it_is_named(command, roads: Path):
    done = command("info", roads)
    assert done.stdout.startswith(f"{roads}: 5 vertices, 4 edges\n") and "made from: csv, " in done.stdout
    assert "probe: none" in command("plan", roads, "--no-probe", "-q").stdout
    assert command("exact", roads, "--certificate", "c.json", "-q").returncode == 0
    assert "verified: diameter 4" in command("verify", "c.json", roads, "-q").stdout


def test_columns_that_are_not_read_are_named(command, roads: Path):
    """As convert names them, with --quiet too, which hides progress; info has them in its answer."""
    note = "dropped, since distances are numbers of edges: column km (5 values)"
    assert f"\nnote: {note}\n" in command("convert", roads, "g.zarr", "-q").stdout
    for line in ("exact", "sssp --source a", "plan --no-probe"):
        name, *more = line.split()
        assert command(name, roads, *more, "-q").stderr == f"emdiam: {roads}: {note}\n"
    assert f"emdiam: {roads}: {note}\n" in command("ecc", roads).stderr
    assert command("exact", roads, "--weighted", "-q").stderr == command("info", roads, "-q").stderr == ""


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    """A file whose edges have two weights."""
    file = tmp_path / "trips.csv"
    file.write_text("from,to,km,minutes\na,b,1.5,3\nb,c,2,1\nc,d,0.5,2\n")
    return file


@pytest.mark.parametrize("line", ["exact", "ecc", "approx --method sweep", "distances --exact", "sssp --source a",
                                  "apsp --out m.zarr --force"])
def test_weights_have_names(command, trips: Path, line: str):
    """Of a file those of the column, of a store those that it has, which are refused by another name."""
    name, *more = line.split()
    assert command("convert", trips, "g.zarr", "--weights=minutes", "-q").returncode == 0
    of_file = command(name, trips, *more, "--weight", "minutes", "--json", "-q")
    assert of_file.stderr == f"emdiam: {trips}: dropped, since distances are sums of weights: column km (3 values)\n"
    assert told(of_file)["weight"] == "minutes"
    assert told(of_file) == told(command(name, "g.zarr", *more, "--weight", "minutes", "--json", "-q"))
    other = command(name, "g.zarr", *more, "--weight", "km", "-q")
    assert (other.returncode, other.stdout) == (2, "")
    assert other.stderr.startswith("emdiam: g.zarr: this store has no weights that are called km: they are called minu")


def test_names_of_weights_that_are_none(command, trips: Path):
    import emdiam

    answer = json.loads(command("exact", trips, "--weighted", "--weight", "4", "--json", "-q").stdout)
    assert answer["diameter"] == emdiam.exact(trips, weight="minutes").diameter == 6
    keeping = f"emdiam convert {trips} trips.zarr --weights=minutes\n"
    assert keeping in command("exact", trips, "--weight", "minutes").stderr
    for option, why in (("--weighted", "not one column of weights beside"), ("--weight=hm", "no column hm beside")):
        done = command("exact", trips, option, "-q")
        assert done.returncode == 2 and why in done.stderr and done.stderr.endswith("as in --weight=km\n")
    for words in (("--weighted", "km"), ("--weighted=km",)):
        done = command("exact", trips, *words, "-q")
        assert done.returncode == 2 and "; weights are named by --weight COLUMN" in done.stderr
    done = command("exact", trips, "--weight", "", "-q")
    assert done.returncode == 2 and "weights have one name: \"''\"; give --weight, the name of" in done.stderr
    assert command("exact", trips, "--weight", "km", "--certificate", "c.json", "-q").returncode == 0
    assert "verified: diameter 4.0\n" in command("verify", "c.json", trips, "--weight", "km", "-q").stdout
    assert command("verify", "c.json", trips, "--weight", "minutes", "-q").returncode == 2


def test_standard_input_is_a_file(roads: Path, tmp_path: Path):
    done = subprocess.run([sys.executable, "-m", "emdiam", "exact", "-", "--json"], cwd=tmp_path, capture_output=True,
                          text=True, input=roads.read_text(), timeout=PATIENCE)
    assert told(done)["diameter"] == 4 and "emdiam convert - graph.zarr" in done.stderr
    assert done.stderr.startswith("emdiam: standard input is no store")


def test_an_error_names_the_file_and_not_its_temporary_store(command, tmp_path: Path):
    """Also where the store is on the disk, for a large file."""
    import emdiam

    for vertices in (5, 80_000):
        file = tmp_path / f"path-{vertices}.txt"
        file.write_text("".join(f"{i} {i + 1}\n" for i in range(vertices)))
        for source, why in (("anna", "there is no vertex 'anna': ids of this graph are numbers; name a vertex by its"
                             " id"),
                            ("99999", f"there is no such vertex: '99999'; ids of this graph go from 0 to {vertices}")):
            done = command("sssp", file.name, "--source", source, "--json", "-q")
            assert done.returncode == 2 and done.stderr == f"emdiam: {file.name}: {why}\n"
            assert json.loads(done.stdout)["path"] == file.name
            with pytest.raises(emdiam.InputError, match=f"^this graph: {why}$"):
                emdiam.shortest_paths(file, source)


@pytest.mark.parametrize(("text", "option"), [
    ("1 2\n2 x\n", ": {} --ids string"), ("no edges\n1 2 3\n", ", with one of these options: {}"), ("", None),
    ("a b\nc d\nc\n", ", with one of these options: {}"), ("a,b,c\n1,2,3\n4,5,6\n", ", with this option: {}")])
def test_what_convert_refuses_is_refused(command, tmp_path: Path, text: str, option: str | None):
    file = tmp_path / "odd file.txt"
    file.write_text(text)
    converted, asked = command("convert", file, "g.zarr", "-q"), command("exact", file, "-q")
    assert (converted.returncode, asked.returncode, asked.stdout) == (2, 2, "")
    keeping = f"emdiam convert '{file}' 'odd file.zarr'"
    more = "" if option is None else "; convert the file first" + option.format(keeping)
    assert asked.stderr == converted.stderr.rstrip("\n") + more + "\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_nothing_of_a_file(tmp_path: Path, number: int):
    """Standard input stays open, so that the conversion is certainly still reading."""
    (tmp_path / "scratch").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "emdiam", "exact", "-", "--json", "--scratch", "scratch"], cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write("".join(f"{i} {i + 1}\n" for i in range(200_000)))
    process.stdin.flush()
    assert any("step 1 of 7: reading edges" in line for line in process.stderr)
    assert list((tmp_path / "scratch").glob("emdiam-*"))
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3 and "stopped by the user" in err
    assert json.loads(out)["stopped"].startswith("stopped by the user") and not list((tmp_path / "scratch").iterdir())


def test_the_time_of_the_conversion_counts(command, roads: Path, monkeypatch: pytest.MonkeyPatch):
    done = command("exact", roads, "--time-limit", "0.000001s", "-q")
    assert (done.returncode, done.stderr) == (3, "emdiam: the time limit is over before the graph was a store\n")

    def limit_of(_store: Any, task: Any, _listener: Any) -> None:
        raise InputError(f"{task.time_limit} s")

    monkeypatch.setattr("emdiam.runs.task.execute", limit_of)
    monkeypatch.setattr(caller, "seconds_left", lambda deadline: 7.5)
    assert command("exact", roads, "--time-limit", "1h", "-q").stderr.endswith("\nemdiam: 7.5 s\n")


def test_only_what_a_store_keeps_is_asked_of_it(command, roads: Path):
    assert command("convert", roads, "g.zarr", "-q").returncode == 0
    for option, what in (("--weighted", "no weights"), ("--directed", "no directions")):
        done = command("sssp", "g.zarr", "--source", "a", option, "-q")
        assert done.returncode == 2 and what in done.stderr


@pytest.mark.parametrize(("typed", "meant"), [
    (["diamter", "g.zarr"], "diameter"), (["shortest-path", "g.zarr"], "shortest-paths"),
    (["ec", "g.zarr"], "ecc"), (["diameter", "g.zarr", "--memroy", "1GiB"], "--memory")])
def test_what_is_mistyped_brings_the_closest(command, typed: list[str], meant: str):
    done = command(*typed)
    assert done.returncode == 2 and f"{meant!r}" in done.stderr.partition("did you mean")[2]


def test_commands_have_the_names_of_functions(command, emdiam, roads: Path, tmp_path: Path):
    import emdiam as package

    names = {"diameter": "exact", "approximate": "approx", "eccentricities": "ecc", "shortest-paths": "sssp",
             "all-pairs": "apsp"}
    listed = command("--help").stdout
    for name, of in names.items():
        assert group.get_command(None, name) is group.get_command(None, of)
        assert hasattr(package, name.replace("-", "_")) and f"\n  {name}, {of} " in listed
    assert command("diameter", "--help").stdout.startswith("Usage: emdiam diameter [OPTIONS] GRAPH")
    assert command("diameter", roads, "--events", "run.jsonl", "-q").returncode == 0
    assert json.loads((tmp_path / "run.jsonl").read_text().split("\n")[0])["command"] == "exact"
    shell = {COMPLETE: "bash_complete", "COMP_WORDS": "emdiam short", "COMP_CWORD": "1"}
    assert emdiam(**shell).stdout == "plain,shortest-paths\n"


def test_python_names_the_closest():
    import emdiam

    for name, meant in (("ecc", "eccentricities"), ("apsp", "all_pairs"), ("diametre", "diameter")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{meant}'"):
            getattr(emdiam, name)
    with pytest.raises(AttributeError, match="has no attribute 'qqqq'$"):
        _ = emdiam.qqqq
    with pytest.raises(TypeError, match=r"there is no option memroy \(did you mean 'memory'\?\)"):
        emdiam.diameter([(1, 2)], memroy="1GiB")
    with pytest.raises(emdiam.InputError, match="pivots has no option: 'memroy'; did you mean memory=. its own"):
        emdiam.exact([(1, 2)], memroy="1GiB")
    for name, remedy in (("seed", "give a whole number"), ("progress", "give True or False, or a function")):
        with pytest.raises(emdiam.InputError, match=f"the value of {name}= is of another kind.*{remedy}"):
            emdiam.distances([(1, 2)], **{name: "x"})


@pytest.mark.slow
def test_the_budget_holds_for_the_conversion(emdiam, tmp_path: Path):
    """A graph that is no small one, of a file that is larger than what the budget leaves."""
    import numpy as np

    pairs = np.random.default_rng(4).integers(0, 1 << 18, (4_000_000, 2))
    np.savetxt(tmp_path / "large.txt", pairs, "%d")
    (tmp_path / "scratch").mkdir()
    done = emdiam("exact", "large.txt", "--json", "-q", "--memory", "330MiB", "--scratch", "scratch")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["peak_rss_bytes"] <= 330 << 20
    assert not list((tmp_path / "scratch").iterdir())
