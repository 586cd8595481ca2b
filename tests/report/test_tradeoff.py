"""`emdiam tradeoff`: a grid that is run, going on after a stop, refusals, files, and the command."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import emdiam
from emdiam.batch.attempt import FAILED
from emdiam.errors import InputError, StoppedEarly
from emdiam.generators import generate
from emdiam.report import cells
from emdiam.report import tradeoff as run
from emdiam.report.cells import Cell, CellRecord, cell_task, identity_of, read_records
from emdiam.report.tradeoff import TradeoffOptions, tradeoff
from emdiam.report.tradeoff_table import markdown_text
from emdiam.runs.task import Task
from emdiam.runs.tradeoff import COLUMNS, ENDED, Tradeoff
from tests.cli.test_commands import call  # noqa: F401 - a fixture
from tests.helpers.stores import write_store
from tests.helpers.tradeoff_cells import digest_of, result, scripted
from tests.helpers.waiting import PATIENCE

SIDES, DIAMETER = "12x20", 16  # a torus
REAL = TradeoffOptions(("sweep", "clusters"), "2^3,25%,2^40", plots=False)
NAMES = ["sweep-seed-0", "clusters-masters-8-seed-0", "clusters-masters-60-seed-0"]


@pytest.fixture(scope="module")
def torus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the torus."""
    store = tmp_path_factory.mktemp("graph") / "torus.zarr"
    generate("torus", store, parameters={"sides": SIDES})
    return store


@pytest.fixture(scope="module")
def real(torus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tradeoff]:
    """A grid that was really run: its folder and what it gave."""
    folder = tmp_path_factory.mktemp("real") / "out"
    return folder, tradeoff(torus, folder, REAL)


# -- a grid that is run ---------------------------------------------------------------------------
def test_a_grid_is_what_its_cells_say(real: tuple[Path, Tradeoff]):
    folder, found = real
    assert found.complete and found.n_reused == 0 and found.messages == []
    assert (found.n_vertices, found.n_edges, found.n_cells) == (240, 480, 3)
    assert found.left_out == ["~2^40 masters are more than the 240 vertices"]
    assert [row["cell"] for row in found.rows] == NAMES
    cells = [json.loads((folder / "cells" / f"{name}.json").read_text()) for name in NAMES]
    assert len(list((folder / "cells").iterdir())) == 3
    for row, cell in zip(found.rows, cells, strict=True):
        told = cell["result"]
        assert list(row) == list(COLUMNS)
        for name in ("estimate", "lower", "upper", "bytes_read", "peak_rss_bytes", "masters", "rounds"):
            assert row[name] == told[name], name
        assert row["lower"] <= DIAMETER <= row["upper"] and cell["status"] == row["status"] == ENDED
        assert row["seconds"] == pytest.approx(told["seconds"]["total"] - told["seconds"]["compile"])
        assert row["seconds_search"] == pytest.approx(told["seconds"]["total"] - told["seconds"]["startup"])
        assert 0 < row["seconds_search"] < row["seconds"] and row["seconds_startup"] >= row["seconds_load"] > 0
        assert 0 < row["seconds_estimate"] <= row["seconds"] <= cell["wall_seconds"]
        after = sum(row[f"seconds_{name}"] or 0 for name in ("verify", "upper_bound", "lower_bound"))
        assert row["seconds_estimate"] == pytest.approx(max(row["seconds"] - after, 0))
        assert row["time_over_bfs"] > 0
        assert 0 < row["peak_rss_bytes"] <= row["planned_rss_bytes"]
    assert found.rows[2]["masters_label"] == "25%" and found.rows[2]["masters_expected"] == 60
    stages = cells[2]["result"]["details"]["stage_seconds"]
    assert found.rows[2]["seconds_grow"] == pytest.approx(stages["masters"] + stages["grow"])
    assert found.rows[2]["condensed_edges"] == cells[2]["result"]["condensed"]["n_edges"]


def test_the_files_of_a_grid(real: tuple[Path, Tradeoff]):
    folder, found = real
    assert json.loads((folder / "tradeoff.json").read_text()) == json.loads(json.dumps(found.to_dict()))
    rows = list(csv.DictReader((folder / "tradeoff.csv").open()))
    for row, kept in zip(rows, found.rows, strict=True):
        assert row == {name: "" if value is None else str(value) for name, value in kept.items()}
    text = (folder / "table.md").read_text()
    assert text == markdown_text(found)
    lines = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]]
             for line in text.splitlines() if line.startswith("|")}
    assert lines["masters"] == ["~2^3", "25%"]
    assert lines["method's estimate"] == [str(row["estimate"]) for row in found.rows[1:]]
    assert lines["largest distance of adjacent masters (d)"] == [str(row["max_master_gap"]) for row in found.rows[1:]]
    assert lines["sweep"][:1] == [str(found.rows[0]["estimate"])]
    assert "- ~2^40 masters are more than the 240 vertices." in text


def copied(real: tuple[Path, Tradeoff], target: Path) -> Path:
    """A copy of the folder of the grid that was run."""
    shutil.copytree(real[0], target / "out")
    return target / "out"


def counted(monkeypatch: pytest.MonkeyPatch, react: Callable[[Cell], None] = lambda cell: None) -> list[str]:
    """Cells that are run from now on, by name; none really is. react : called with each."""
    ran: list[str] = []

    def run_cell(store: str, digest: str, cell: Cell, options: Task) -> CellRecord:
        react(cell)
        ran.append(cell.name)
        return CellRecord(cell, digest, identity_of(options), ENDED, None, 0, 1.0, options.time_limit,
                          result(10, 20, store_digest=digest))

    monkeypatch.setattr(run, "run_cell", run_cell)
    return ran


def test_cells_that_are_there_are_not_run_again(real, torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out, ran = copied(real, tmp_path), counted(monkeypatch)
    again = tradeoff(torus, out, REAL)
    assert ran == [] and again.n_reused == 3 and again.rows == real[1].rows
    assert again.messages == ["3 of 3 runs had finished before and have not been run again"]
    (out / "cells" / f"{NAMES[1]}.json").unlink()
    wider = TradeoffOptions(("sweep", "clusters"), "2^3,25%,2^6", exact=True, plots=False)
    found = tradeoff(torus, out, wider)
    assert ran == ["exact", NAMES[1], "clusters-masters-64-seed-0"] and found.n_reused == 2
    assert found.rows[3] == {**real[1].rows[2], **{name: found.rows[3][name] for name in COLUMNS if "ratio" in name}}


def test_cells_of_another_store_are_refused(real, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    out, ran = copied(real, tmp_path), counted(monkeypatch)
    generate("cycle", tmp_path / "cycle.zarr", vertices=240)
    with pytest.raises(InputError, match="runs of another store; choose another folder"):
        tradeoff(tmp_path / "cycle.zarr", out, REAL)
    assert ran == []


@pytest.mark.parametrize(("changed", "message"), [
    ({"threads": 1}, "threads 2 instead of 1"), ({"arena_bytes": 1 << 20}, "arena_bytes None instead of 1048576"),
    ({"iterations": 2}, "iterations"), ({"euler": True}, "euler"), ({"evict_page_cache": True}, "evict_page_cache"),
    ({"memory_bytes": 1 << 30}, "memory_bytes"), ({"levels": 2}, "levels"),
    ({"own": {"reorder": "never"}}, "reorder 'auto' instead of 'never'"),
])
def test_other_options_are_refused(real, torus: Path, tmp_path: Path, changed: dict[str, Any], message: str):
    out = copied(real, tmp_path)
    with pytest.raises(InputError, match=message):
        tradeoff(torus, out, TradeoffOptions(REAL.methods, REAL.masters, cells=cell_task(**changed)))


def test_a_time_limit_is_no_other_option(real, torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ran = counted(monkeypatch)
    cells = cell_task(time_limit=60, scratch=str(tmp_path))
    tradeoff(torus, copied(real, tmp_path), TradeoffOptions(REAL.methods, REAL.masters, plots=False, cells=cells))
    assert ran == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"cell": {"method": "sweep"}}', '{"cell": 3}'])
def test_a_damaged_cell_is_named(real, tmp_path: Path, text: str):
    out = copied(real, tmp_path)
    (out / "cells" / f"{NAMES[0]}.json").write_text(text)
    with pytest.raises(InputError, match=f"{NAMES[0]}.json: this is not a run of a trade-off.*delete it"):
        read_records(out / "cells", real[1].store_digest, {})


def test_a_cell_under_a_wrong_name_is_refused(real, tmp_path: Path):
    out = copied(real, tmp_path)
    (out / "cells" / f"{NAMES[0]}.json").rename(out / "cells" / "sweep-seed-1.json")
    with pytest.raises(InputError, match="not a run"):
        read_records(out / "cells", real[1].store_digest, real[1].options)


def test_two_at_once_are_refused(torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def react(cell: Cell) -> None:
        with pytest.raises(InputError, match="another trade-off is being run in this folder"):
            tradeoff(torus, tmp_path / "out", REAL)

    assert counted(monkeypatch, react) == []
    assert tradeoff(torus, tmp_path / "out", REAL).complete


def test_a_stop_keeps_what_is_done(torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def react(cell: Cell) -> None:
        if cell.name == NAMES[1] and not stopped:
            stopped.append(cell.name)
            raise KeyboardInterrupt

    stopped: list[str] = []
    ran = counted(monkeypatch, react)
    with pytest.raises(StoppedEarly, match="1 of 3 runs are kept") as caught:
        tradeoff(torus, tmp_path / "out", REAL)
    part = caught.value.result
    assert isinstance(part, Tradeoff) and [row["cell"] for row in part.rows] == NAMES[:1] and not part.complete
    assert "- 2 of 3 runs have not been made." in (tmp_path / "out" / "table.md").read_text()
    found = tradeoff(torus, tmp_path / "out", REAL)
    assert ran == NAMES and found.complete and found.n_reused == 1


def test_one_cell_that_fails_does_not_stop_the_others(torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    answer = f"print('''{json.dumps(result(store_digest=digest_of(torus)))}''')"

    def command_of(store: str, cell: Cell, options: Task) -> list[str]:
        return [sys.executable, "-c", "import os\nos.kill(os.getpid(), 9)" if cell.masters == 8 else answer]

    monkeypatch.setattr(cells, "command_of", command_of)
    events = []
    found = tradeoff(torus, tmp_path / "out", REAL, events.append)
    assert [row["status"] for row in found.rows] == [ENDED, FAILED, ENDED] and not found.complete
    assert found.rows[1]["reason"] == "ended by SIGKILL, perhaps for want of memory" and found.rows[1]["lower"] is None
    text = markdown_text(found)
    assert "~2^3 (failed)" in text and "- clusters-masters-8-seed-0: failed: ended by SIGKILL" in text
    assert [(event.phase, event.done, event.total, event.finished) for event in events] == [
        (name, i + 1, 3, ended) for i, name in enumerate(NAMES) for ended in (False, True)]
    assert "lower" not in events[0].facts and events[-1].facts["lower"] <= DIAMETER <= events[-1].facts["upper"]


def test_a_refused_cell_names_the_option_of_a_command(torus: Path, tmp_path: Path):
    """A trade-off is a command: its reasons are not those of a batch, which speaks of keys."""
    small = TradeoffOptions(("sweep",), plots=False, cells=cell_task(memory_bytes=1 << 20))
    (row,) = tradeoff(torus, tmp_path / "out", small).rows
    assert row["status"] == FAILED and "give at least --memory " in row["reason"]


@pytest.mark.parametrize("wrong", [{"masters": "8..4"}, {"known_diameter": -1}, {"methods": ("magic",)}])
def test_what_is_wrong_is_told_before_a_folder_is_made(torus: Path, tmp_path: Path, wrong: dict[str, Any]):
    with pytest.raises(InputError):
        tradeoff(torus, tmp_path / "out", TradeoffOptions(**wrong))
    write_store(tmp_path / "empty.zarr", [])
    with pytest.raises(InputError, match="no vertices"):
        tradeoff(tmp_path / "empty.zarr", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# -- plots ----------------------------------------------------------------------------------------
PLOTS = [f"{name}.{kind}" for name in ("quality-seconds", "masters") for kind in ("svg", "png")]  # all read the same


def test_plots_are_the_same_for_the_same_cells(real, torus: Path, tmp_path: Path):
    pytest.importorskip("matplotlib")
    from emdiam.report.tradeoff import draw

    options = TradeoffOptions(REAL.methods, REAL.masters, known_diameter=DIAMETER)
    found = tradeoff(torus, copied(real, tmp_path), options)
    assert set(PLOTS) == {name for name in found.files if "." in name}
    first = {name: Path(found.files[name]).read_bytes() for name in PLOTS}
    assert [path.name for path in draw(found, tmp_path)] == PLOTS
    assert {name: (tmp_path / name).read_bytes() for name in PLOTS} == first
    texts = [first[name].decode() for name in PLOTS[::2]]
    assert all("log scale)" in text for text in texts) and "Pareto front" in texts[0] and "~2^3" in texts[0]
    assert "estimate / D (D = 16)" in texts[0] and "torus: D = 16" in texts[0] and "condensed graph" in texts[-1]


def test_a_call_in_python_is_the_command(real, torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With the same options, lists in place of texts with commas, and tables of the rows."""
    out = copied(real, tmp_path)
    monkeypatch.setattr(run, "run_cell", None)  # no run is made again
    methods, masters = ["clusters", "sweep"], REAL.masters.split(",")
    found = emdiam.tradeoff(torus, out, methods=methods, masters=masters, seeds=0, plots=False)
    assert found.complete and found.n_reused == found.n_cells == len(found.rows) and "plots" not in found.files
    table = found.to_pandas()
    assert list(table.columns) == list(COLUMNS) == found.to_arrow().column_names == found.to_polars().columns
    assert table["cell"].tolist() == [row["cell"] for row in found.rows] == found.to_arrow()["cell"].to_pylist()
    assert repr(found).startswith("Tradeoff(store_name='torus'") and found.plot().get_xscale() == "log"
    with pytest.raises(InputError, match=r"of a store, .*emdiam.convert\(GRAPH, STORE\)"):
        emdiam.tradeoff([(1, 2)], out)
    with pytest.raises(InputError, match="not a list of seeds: 'a,1'"):
        emdiam.tradeoff(torus, out, seeds=["a", 1])


def test_without_matplotlib_there_are_tables(real, torus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(run, "find_spec", lambda name: None)
    found = tradeoff(torus, copied(real, tmp_path), TradeoffOptions(REAL.methods, REAL.masters))
    assert sorted(found.files) == ["csv", "json", "table"]
    assert [message for message in found.messages if "matplotlib is not installed" in message]


# -- the command ----------------------------------------------------------------------------------
GIVEN = ["--methods", "sweep,clusters", "--masters", "2^3,25%,2^40"]


def test_the_command_prints_the_table(call, real, torus: Path, tmp_path: Path):  # noqa: F811
    out = copied(real, tmp_path)
    code, text, err = call("tradeoff", torus, "--out", out, *GIVEN, "--no-plots", "--known-diameter", "16")
    assert code == 0 and text == (out / "table.md").read_text() and "D = 16" in text
    assert err == "emdiam: 3 of 3 runs had finished before and have not been run again\n"
    code, text, _ = call("tradeoff", torus, "--out", out, *GIVEN, "--no-plots", "--json")
    assert code == 0 and json.loads(text) == json.loads((out / "tradeoff.json").read_text())


def test_the_command_leaves_with_3_where_a_cell_is_missing(call, torus: Path, tmp_path: Path,  # noqa: F811
                                                           monkeypatch: pytest.MonkeyPatch):
    scripted(monkeypatch, "import sys\nprint('emdiam: over', file=sys.stderr)\nsys.exit(3)")
    code, text, err = call("tradeoff", torus, "--out", "out", "--methods", "sweep", "--time-limit", "5s", "-q",
                           "--no-plots")
    assert code == 3 and "- sweep-seed-0: stopped: over." in text and err == ""
    scripted(monkeypatch, f"print('''{json.dumps(result(store_digest=digest_of(torus)))}''')")
    again = ["tradeoff", torus, "--out", "out", "--methods", "sweep", "-q", "--time-limit", "5s", "--no-plots"]
    assert call(*again)[0] == 3
    assert call(*again, "--retry")[0] == 0


@pytest.mark.parametrize(("arguments", "message"), [
    (["--masters", "2^8..2^4"], "upwards"), (["--methods", "sweep,magic"], "no such approximation"),
    (["--methods", ""], "no such approximation"), (["--seed", "1,x"], "not a list of seeds"),
    (["--seed", ""], "not a list of seeds"), (["--known-diameter", "-1"], "--known-diameter"),
    (["--methods", "clusters", "--masters", "2^30"], "no run is possible"),
    (["--time-limit", "soon"], "not a duration"),
])
def test_what_the_command_refuses(call, torus: Path, arguments: list[str], message: str):  # noqa: F811
    code, out, err = call("tradeoff", torus, "--out", "out", *arguments)
    assert (code, out) == (2, "") and message in err


def test_a_folder_is_needed_and_must_be_one(call, torus: Path, tmp_path: Path):  # noqa: F811
    assert call("tradeoff", torus)[0] == 2
    (tmp_path / "file").write_text("")
    assert call("tradeoff", torus, "--out", "file")[0] == 2
    assert call("tradeoff", "absent.zarr", "--out", "out")[0] == 2


@pytest.mark.slow
def test_ctrl_c_ends_the_cell_too(torus: Path, tmp_path: Path):
    """Only the command is told; its cell would go on for long."""
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "emdiam", "tradeoff", torus, "--out", out, "--methods", "sweep", "--iterations", "65536",
         "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert next(line for line in process.stderr if "Z sweep-seed-0" in line)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    text, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, err
    assert json.loads(text)["rows"] == [] and "0 of 1 runs are kept" in err and "Traceback" not in err
    assert list((out / "cells").iterdir()) == []
    assert [command for command in running() if str(torus) in command] == []


def running() -> Iterator[str]:
    """Command lines of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue


@pytest.mark.slow
def test_cells_keep_checkpoints_if_asked_to(torus: Path, tmp_path: Path):
    cell = Cell("sweep", seed=0)
    assert "--checkpoint" not in cells.command_of("s", cell, TradeoffOptions().for_cells(tmp_path))
    asked = TradeoffOptions(checkpoint_every=30.0)
    line = cells.command_of("s", cell, asked.for_cells(tmp_path))
    assert f"--checkpoint={tmp_path / 'checkpoints' / cell.name}" in line
    assert "--resume" in line and "--checkpoint-every=30.0" in line
    assert identity_of(asked.for_cells(tmp_path)) == identity_of(TradeoffOptions().cells)
    found = tradeoff(torus, tmp_path / "out", TradeoffOptions(
        methods=("sweep",), plots=False, checkpoint_every=30.0, cells=cell_task(memory_bytes=1 << 30)))
    assert found.complete and not list((tmp_path / "out" / "checkpoints").iterdir())
