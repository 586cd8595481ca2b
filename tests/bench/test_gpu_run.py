"""Cells, processes and the report of the benchmark for a machine with a GPU."""

from __future__ import annotations

import io
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench.gpu import child, dal, facts, floor, inputs, opening, parent, regimes, rows, times, verify
from bench.gpu.__main__ import parser
from bench.gpu.opening import PretendedCuda
from bench.gpu.parent import Ended, run_all, run_limited, run_part
from bench.gpu.parts import PARTS, Part
from bench.gpu.report import SECTIONS, markdown, n_wrong
from bench.gpu.setting import BrokenDevice, Row, Setting, Skipped, TooSlow
from bench.gpu.watch import Watched
from emdiam.gpu.mappings import MAPPINGS
from emdiam.gpu.variants.bfs_frontier import bfs_frontier
from tests.conftest import ROOT
from tests.helpers.bench_gpu_toy import few_variants, kept_of, toy
from tests.helpers.waiting import PATIENCE
from tests.simt.compile_proof import NVCC, have_nvcc
from tests.simt.devices import open_device


# -- cells --------------------------------------------------------------------------------------------------
def test_a_cell_says_why_it_has_nothing() -> None:
    def raising(error: Exception) -> Any:
        def work() -> dict[str, Any]:
            raise error

        return work

    begun: list[str] = []
    setting = toy(begin=lambda name, subject: begun.append(name), done=frozenset({"b 2"}))
    key = {"name": "a", "k": 1}
    assert list(setting.cell(key, lambda: {"x": 3})) == [{"name": "a", "k": 1, "x": 3}]
    assert list(setting.cell({"name": "b", "k": 2}, lambda: {"x": 3})) == []
    assert list(setting.cell(key, raising(TooSlow("late")))) == [{**key, "slow": "late"}]
    assert list(setting.cell(key, raising(Skipped("no such thing")))) == [{**key, "skipped": "no such thing"}]
    assert list(setting.cell(key, raising(ValueError("bad\nthing")))) == [{**key, "failure": "ValueError: bad thing"}]
    assert begun == ["a 1"] * 4


class Lost:
    """A device that answers nothing."""

    def array(self, host: np.ndarray) -> Any:
        raise RuntimeError("illegal address")

    def to_host(self, array: Any) -> np.ndarray:
        raise RuntimeError("illegal address")


def test_a_lost_device_ends_the_part_after_the_row() -> None:
    setting = toy()
    setting.device = Lost()  # type: ignore[assignment]
    rows: list[Row] = []
    with pytest.raises(BrokenDevice, match="illegal address"):
        for row in setting.cell({"name": "a"}, lambda: setting.device.array(np.zeros(1))):
            rows.append(row)
    assert rows == [{"name": "a", "failure": "RuntimeError: illegal address"}]


def test_a_watched_device_stops_and_notes_entries() -> None:
    device = open_device("shim-0")
    graph = inputs.graph_of(toy(device=device), "path", inputs.path(np, 5)).graph
    watched = Watched(device)
    assert bfs_frontier(watched, graph, 0)[1] == 4
    assert ("variants/bfs_frontier.cu", "expand_frontier") in watched.entries and watched.n_launches >= 5
    late = Watched(device, 0.01)
    time.sleep(0.02)
    with pytest.raises(TooSlow, match=r"stopped after .* and 0 launches; limit 0.01 s"):
        bfs_frontier(late, graph, 0)
    late.restart()
    assert late.kernel("variants/bfs_frontier.cu", "expand_frontier", {**graph.macros, "MAPPING": "MAPPING_THREADS"})


# -- processes ----------------------------------------------------------------------------------------------
def test_a_child_writes_rows_and_goes_on_behind_what_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(setting: Setting) -> Iterator[Row]:
        for name in "abc":
            yield from setting.cell({"name": name}, lambda: {"x": 1})

    monkeypatch.setattr(child, "PARTS", {"facts": Part(run, 1)})
    file = io.StringIO()
    assert child.write_rows("facts", toy(done=frozenset({"a"})), file) == 0
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert lines == [{"begun": "b"}, {"name": "b", "x": 1}, {"begun": "c"}, {"name": "c", "x": 1},
                     {"ended": lines[-1]["ended"]}]
    kept = tmp_path / "rows"
    assert rows.names_begun(kept) == frozenset()
    kept.write_text(file.getvalue() + '{"cut sh')
    assert rows.names_begun(kept) == {"b", "c"} and rows.lines_of(kept) == lines


def test_a_child_leaves_with_its_own_code_when_the_device_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(setting: Setting) -> Iterator[Row]:
        yield {"name": "a"}
        raise BrokenDevice("gone")

    monkeypatch.setattr(child, "PARTS", {"facts": Part(run, 1)})
    file = io.StringIO()
    assert child.write_rows("facts", toy(), file) == child.BROKEN
    assert [json.loads(line) for line in file.getvalue().splitlines()] == [{"name": "a"}, {"lost": None}]


def test_a_child_opens_the_device_that_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    device, opened = open_device("shim-0"), list[Any]()
    module = SimpleNamespace(Cuda=lambda number: opened.append(number) or PretendedCuda(device))
    monkeypatch.setitem(sys.modules, "bench.gpu.cuda", module)
    monkeypatch.setattr(opening, "find_device", lambda name: opened.append(name) or device)
    file = tmp_path / "persistent.jsonl"
    arguments = ["persistent", "--device", "gpu:2", "--scale", "toy", "--seconds", "60", "--rows", str(file)]
    assert child.main(arguments) == 0 and opened == ["gpu:2", 2]
    assert [line["variant"] for line in rows.lines_of(file) if "variant" in line] == ["persistent", "auto", "luo"]


def test_a_part_is_started_again_behind_the_cell_it_ended_in(tmp_path: Path) -> None:
    calls: list[str] = []

    def launch(part: str, seconds: float, rows: Path) -> Ended:
        calls.append(part)
        with rows.open("a") as file:
            if len(calls) == 1:
                file.write('{"begun": "a"}\n{"x": 1}\n{"begun": "b"}\n')
                return Ended(-11, "Segmentation fault")
            file.write('{"begun": "c"}\n{"x": 3}\n')
        return Ended(0, "")

    kept = run_part("facts", 60.0, launch, tmp_path)
    assert kept["rows"] == [{"x": 1}, {"x": 3}] and len(calls) == 2
    assert kept["failure"] == "the process left with -11 in the cell: b. Segmentation fault"


def test_a_part_that_never_begins_is_not_started_for_ever(tmp_path: Path) -> None:
    calls: list[str] = []

    def launch(part: str, seconds: float, rows: Path) -> Ended:
        calls.append(part)
        return Ended(1, "no GPU can be used")

    kept = run_part("facts", 60.0, launch, tmp_path)
    assert len(calls) == 1 and "no GPU can be used" in kept["failure"] and kept["rows"] == []


def test_a_process_is_stopped_by_its_time_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over as soon as its child runs; both write to a pipe, which ends with the last of them."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    read: list[bytes] = []

    def clock() -> float:
        with suppress(BlockingIOError):
            read.append(os.read(reading, 64))
        return 1e6 if b"run\n" in read else 0.0

    monkeypatch.setattr(parent, "time", SimpleNamespace(monotonic=clock))
    code = ("import subprocess, sys; print('on')\n"
            "subprocess.run(['sh', '-c', 'echo run; sleep 3600'], stdout=open(sys.argv[1], 'w'))")
    ended = run_limited([sys.executable, "-uc", code, str(fifo)], 1.0)
    assert ended.code is None and "on" in ended.tail
    os.set_blocking(reading, True)
    assert os.read(reading, 64) == b""
    os.close(reading)
    assert run_limited([sys.executable, "-c", "raise SystemExit(4)"], 1.0).code == 4


def test_a_cell_that_hangs_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process writes one row and hangs in the next cell; the second goes on. Time passes in the first one
    only, once it has written."""
    launched: list[Path] = []
    ticks = itertools.count(0, 2)

    def clock() -> float:
        return next(ticks) if len(launched) == 1 and launched[0].stat().st_size else 0.0

    monkeypatch.setattr(parent, "time", SimpleNamespace(monotonic=clock))
    code = ("import sys, time; file = open(sys.argv[1], 'a'); first = file.tell() == 0\n"
            "print('{\"begun\": \"a\"}' if first else '{\"x\": 2}', file=file, flush=True)\n"
            "time.sleep(3600 if first else 0)")

    def launch(part: str, seconds: float, rows: Path) -> Ended:
        launched.append(rows)
        return run_limited([sys.executable, "-c", code, str(rows)], 30.0, rows, 1.0)

    kept = run_part("facts", 60.0, launch, tmp_path)
    assert kept["rows"] == [{"x": 2}] and len(launched) == 2
    assert kept["failure"] == "the process said nothing any more and was stopped in the cell: a."


def test_a_failing_part_is_recorded_and_the_rest_goes_on(tmp_path: Path) -> None:
    def launch(part: str, seconds: float, rows: Path) -> Ended:
        if part == "facts":
            return Ended(1, "broken")
        rows.write_text('{"what": "all builds", "builds": 3, "threads": 1, "seconds": 2.5}\n')
        return Ended(0, "")

    kept = run_all(["facts", "compile"], 60.0, launch, tmp_path, {"device": "gpu:0", "scale": "toy"})
    assert list(kept["parts"]) == ["compile", "facts"] and n_wrong(kept) == 1
    assert json.loads((tmp_path / "gpu.json").read_text()) == kept
    text = (tmp_path / "gpu.md").read_text()
    assert text == markdown(json.loads((tmp_path / "gpu.json").read_text()))
    assert "broken" in text and "| all builds | 3 | 1 | 2.5 |" in text
    late = run_all(["facts"], 0.0, launch, tmp_path, {})
    assert late["parts"]["facts"]["failure"] == "not started: no time was left"


def test_without_a_gpu_the_command_says_so(tmp_path: Path) -> None:
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU here")
    done = subprocess.run([sys.executable, "-m", "bench.gpu", "--only", "facts", "--seconds", "30", "--out", tmp_path],
                          cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 1 and "came to no end" in done.stdout
    assert "cupy" in json.loads((tmp_path / "gpu.json").read_text())["parts"]["facts"]["failure"]


# -- the report and the command line ------------------------------------------------------------------------
def test_every_part_has_a_section_in_its_order() -> None:
    assert list(SECTIONS) == list(PARTS)


def test_the_report_has_the_tables_of_all_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_variants(monkeypatch, "standard", "auto")
    monkeypatch.setattr(regimes, "MAPPINGS", {name: MAPPINGS[name] for name in ("threads", "two-phase")})
    monkeypatch.setattr(verify, "DRIVERS", {})
    setting = toy()
    some = {"facts": list(facts.run(setting)), "verify": list(verify.run(setting, ("star",), ("uint64",))),
            "variants": list(times.run(setting, ("grid",))), "floor": list(floor.run(setting, ("web",))),
            "dal": list(dal.run(setting)), "regimes": list(regimes.run(setting, ("web",)))}
    text = markdown(json.loads(json.dumps(kept_of(**some))))
    assert text.startswith("# GPU: shim, seed 0\n")
    places = [text.index(f"## {SECTIONS[name][0]}") for name in some]
    assert places == sorted(places)
    for cell in ("| copy on the device |", "| auto |  | 3 | 0 |", "### grid: n = 36, m = 60", "Figure 9", "Figure 10",
                 "### direction_table.json", "Wrong results, failures and findings: 0."):
        assert cell in text, cell
    columns = [line.count("|") for line in text.splitlines() if line.startswith("|") and "\\|" not in line]
    assert min(columns) >= 3


def test_the_command_line_knows_the_parts(capsys: pytest.CaptureFixture[str]) -> None:
    given = parser().parse_args(["--only", "facts,dal", "--scale", "small"])
    assert given.only == ["facts", "dal"] and given.seconds == 540 and parser().parse_args([]).only == list(PARTS)
    for wrong in (["--only", "facts,nothing"], ["--scale", "huge"]):
        with pytest.raises(SystemExit):
            parser().parse_args(wrong)
    assert "no part nothing" in capsys.readouterr().err


def test_the_benchmark_imports_numpy_alone() -> None:
    code = "import sys, bench.gpu.parent; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()).isdisjoint({"numba", "zarr", "scipy", "rich", "cupy", "pyarrow", "click", "pytest"})


@pytest.mark.skipif(not have_nvcc(), reason=f"the CUDA compiler {NVCC} is not on this machine")
def test_the_child_launches_compile_and_link(tmp_path: Path) -> None:
    """Dynamic parallelism with the device's run-time library, and without a warning."""
    program = tmp_path / "child_launch"
    subprocess.run([NVCC, "-rdc=true", "-arch=sm_90", "-std=c++17", "-Werror", "all-warnings", facts.CHILDREN,
                    "-lcudadevrt", "-o", program], check=True, timeout=PATIENCE)
    assert program.stat().st_size > 0


@pytest.mark.slow
def test_every_entry_of_the_registry_is_run() -> None:
    from bench.gpu.every_entry import run_every

    assert run_every(open_device("shim-0")) == ([], [])


def test_what_was_not_run_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench.gpu import every_entry

    monkeypatch.setattr(every_entry.verify, "run", lambda setting, classes, ids: [{"subject": "x", "failure": "y"}])
    bad, missing = every_entry.run_every(open_device("shim-0"))
    assert bad == [{"subject": "x", "failure": "y"}] and "expand_frontier of variants/bfs_frontier.cu" in missing
    assert every_entry.main(["shim-0"]) == 1


def test_the_parent_runs_children_with_what_was_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(parent, "run_limited", lambda *given: seen.append(given) or Ended(0, ""))
    parent.launcher("gpu:1", "small", tmp_path)("facts", 30.0, tmp_path / "rows")
    ((command, seconds, rows, stall),) = seen
    assert rows == tmp_path / "rows" and stall == PARTS["facts"].stall
    assert command[1:4] == ["-m", "bench.gpu.child", "facts"] and command[command.index("--device") + 1] == "gpu:1"
    assert seconds == 30.0 + parent.GRACE
