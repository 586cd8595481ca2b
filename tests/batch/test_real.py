"""Batches of real commands: twelve jobs of which some fail, and the example night."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emdiam.batch.prepare import Question, ask
from emdiam.generators import generate
from tests.conftest import ROOT, Run

TWELVE = """
[batch]
memory = "1GiB"
[batch.defaults]
options = { threads = 2 }

[[job]]
name = "grid-store"
command = "generate"
class = "grid"
store = "${OUT}/grid.zarr"
options = { sides = "30x40" }
[[job]]
name = "grid"
command = "exact"
store = "${OUT}/grid.zarr"
options = { certificate = "${OUT}/grid.cert" }
[[job]]
name = "grid-proved"
command = "verify"
certificate = "${OUT}/grid.cert"
store = "${OUT}/grid.zarr"
[[job]]
name = "grid-clusters"
command = "approx"
store = "${OUT}/grid.zarr"
options = { masters = 16 }
[[job]]
name = "missing-store"
command = "convert"
inputs = ["nowhere.txt"]
store = "${OUT}/missing.zarr"
[[job]]
name = "missing"
command = "exact"
store = "${OUT}/missing.zarr"
[[job]]
name = "poor"
command = "exact"
store = "torus.zarr"
memory = "100MB"
[[job]]
name = "greedy"
command = "exact"
store = "torus.zarr"
memory = "64GiB"
[[job]]
name = "corrupt"
command = "exact"
store = "corrupt.zarr"
[[job]]
name = "long"
command = "exact"
store = "torus.zarr"
method = "fdiam"
time_limit = "4s"
[[job]]
name = "edges-store"
command = "convert"
inputs = ["edges.txt"]
store = "${OUT}/edges.zarr"
[[job]]
name = "edges"
command = "exact"
store = "${OUT}/edges.zarr"
"""


def corrupt(store: Path) -> None:
    """Flip a byte in the middle of the file with the neighbours."""
    shard = max((path for path in (store / "indices").rglob("*") if path.is_file()), key=lambda path:
                path.stat().st_size)
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 0x55
    shard.write_bytes(data)


@pytest.mark.slow
def test_twelve_jobs_of_which_some_fail(tmp_path: Path, emdiam: Run, two_components: Path):
    generate("torus", tmp_path / "torus.zarr", parameters={"sides": "400x400"})
    generate("torus", tmp_path / "corrupt.zarr", parameters={"sides": "50x60"})
    corrupt(tmp_path / "corrupt.zarr")
    (tmp_path / "jobs.toml").write_text(TWELVE)
    refused = emdiam("batch", "jobs.toml")
    assert refused.returncode == 2 and not (tmp_path / "jobs.out").exists()
    assert refused.stderr.count("\n  jobs.toml, line ") == 3
    done = emdiam("batch", "jobs.toml", "--keep-going", "--json", timeout=300)
    assert done.returncode == 2, done.stderr
    told = json.loads(done.stdout)
    assert told["n_jobs"] == 12
    status = {job["job"]: job["status"] for job in told["jobs"]}
    assert status == {
        "grid-store": "done", "grid": "done", "grid-proved": "done", "grid-clusters": "done", "edges-store": "done",
        "edges": "done", "missing-store": "failed", "missing": "skipped", "poor": "failed", "greedy": "failed",
        "corrupt": "failed", "long": "stopped"}
    by_name = {job["job"]: job for job in told["jobs"]}
    assert by_name["grid"]["result"]["diameter"] == 29 + 39
    assert by_name["grid-proved"]["result"]["verified"] is True
    assert by_name["edges"]["result"]["diameter_max_component"] == 4
    assert by_name["long"]["result"]["lower"] <= 400 <= by_name["long"]["result"]["upper"]
    sentences = {name: job["sentence"] for name, job in by_name.items() if job["status"] != "done"}
    for name, words in {"missing-store": "there is no file", "missing": "it needs missing-store, which failed",
                        "poor": "is too small: the least is", "greedy": "more than the 1.0 GiB of the whole batch",
                        "corrupt": "corrupt.zarr", "long": "time"}.items():
        assert words in sentences[name]
    table = emdiam("batch", "jobs.toml", "--keep-going", "--quiet")
    assert "12 of 12" not in table.stderr and "failed, 1 stopped, 1 skipped" in table.stdout
    report = emdiam("report", "jobs.out", "--format", "json")
    assert report.returncode == 0, report.stderr
    assert all(json.dumps(sentence)[1:-1] in report.stdout for sentence in sentences.values())


# Largest component, and largest over all components (../shared/data/INDEX.md; generators.md).
DIAMETERS: dict[str, tuple[int, int]] = {
    "luxembourg": (1337, 1337), "luxembourg-near": (1337, 1337), "wing": (92, 92), "internet": (30, 30),
    "internet-fdiam": (30, 30), "hepph": (14, 14), "hepph-streamed": (14, 14),
    "pgp-bounding": (24, 24), "torus": (250, 250)}


@pytest.mark.slow
def test_the_example_night(tmp_path: Path, data_folder: Path):
    done = subprocess.run(
        [sys.executable, "-m", "emdiam", "batch", str(ROOT / "examples" / "night.toml"), "--out", "night", "--json"],
        cwd=tmp_path, text=True, capture_output=True, env={**os.environ, "EMDIAM_DATA": str(data_folder)})
    told: dict[str, Any] = json.loads(done.stdout)
    jobs = {job["job"]: job for job in told["jobs"]}
    for name, expected in DIAMETERS.items():
        result = jobs[name]["result"]
        assert (result["diameter_largest_component"], result["diameter_max_component"]) == expected
    rmat = jobs.pop("rmat")
    assert rmat["status"] in ("done", "stopped") and rmat["result"]["lower"] <= rmat["result"]["upper"]
    assert {job["status"] for job in jobs.values()} == {"done"}, done.stderr
    assert done.returncode == (0 if rmat["status"] == "done" else 3)
    assert all(job["peak_rss_bytes"] <= job["memory"] == 1500 << 20 for job in jobs.values())


def test_the_example_is_valid(tmp_path: Path, data_folder: Path):
    done = subprocess.run(
        [sys.executable, "-m", "emdiam", "batch", str(ROOT / "examples" / "night.toml"), "--out", "night", "--json",
         "--dry-run"], cwd=tmp_path, text=True, capture_output=True, env={**os.environ, "EMDIAM_DATA":
                                                                         str(data_folder)})
    assert done.returncode == 0, done.stderr
    assert {job["state"] for job in json.loads(done.stdout)["jobs"]} == {"to run"}
    assert set(DIAMETERS) <= {job["job"] for job in json.loads(done.stdout)["jobs"]}
    assert list(tmp_path.iterdir()) == []


def test_budgets_are_those_of_the_plan(tmp_path: Path):
    store = tmp_path / "torus.zarr"
    generate("torus", store, parameters={"sides": "20x30"})
    def asked(command: str, method: str | None, memory: int | None, **options: Any) -> Question:
        return Question(command, str(store), method, {"memory": memory, "threads": 2, **options})

    answers = ask([
        asked("exact", "pivots", 100 << 20), asked("exact", None, 1 << 30),
        asked("approx", None, 100 << 20, masters="2^2,2^4"), asked("approx", "clusters", 1 << 30, masters="2^2,2^4"),
        asked("approx", "clusters", 1 << 30, masters="some"), asked("reorder", None, 1),
        replace(asked("exact", None, None), store=str(tmp_path)), replace(asked("exact", None, 1), options=None),
    ])
    assert [answer is None for answer in answers] == [False, True, False, True, False, True, False, True]
    assert "is too small: the least is" in str(answers[0]) and "is too small" in str(answers[2])
    assert ask([]) == []
