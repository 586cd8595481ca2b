"""Batches of real commands: twelve jobs of which some fail, and those of examples/."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emdiam.api import convert, plan
from emdiam.batch.prepare import Question, ask
from emdiam.generators import generate
from tests.conftest import ROOT, Run
from tests.helpers.batch_night import printed

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
    told = printed(done.stdout)
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


EXAMPLES = ROOT / "examples"
# Known for the real graphs (../shared/data/INDEX.md), for the generated ones by formula (generators.md).
DIAMETERS = {
    "night": {"metro": 9, "torus": 250, "levels-streamed": 255, "levels-ifub": 255, "cube-apsp": 10},
    "real": {"luxembourg": 1337, "luxembourg-near": 1337, "wing": 92, "wave": 56, "wave-streamed": 56, "gnutella": 11,
             "developers": 11, "friends-fdiam": 8, "students": 8, "power-ifub": 46, "pgp-bounding": 24}}


def checksums() -> dict[str, str]:
    """The SHA-256 of the files of real.toml by their names."""
    lines = (EXAMPLES / "real.sha256").read_text().splitlines()
    return dict(reversed(line.split()) for line in lines if not line.startswith("#"))


def run_example(name: str, folder: Path, *options: str) -> dict[str, Any]:
    """What a batch of examples/ with --json says, run in `folder`; the graphs of real.toml lie there too."""
    done = subprocess.run(
        [sys.executable, "-m", "emdiam", "batch", str(EXAMPLES / f"{name}.toml"), "--out", "out", "--json", *options],
        cwd=folder, text=True, capture_output=True, env={**os.environ, "EMDIAM_DATA": str(folder)})
    assert done.returncode == 0, done.stderr
    return printed(done.stdout)


@pytest.mark.parametrize("name", DIAMETERS)
def test_the_examples_are_valid(name: str, tmp_path: Path):
    """All that can be said before the first job starts; the downloads are empty files here."""
    for file in checksums():
        (tmp_path / file).touch()
    jobs = run_example(name, tmp_path, "--dry-run")["jobs"]
    assert {job["state"] for job in jobs} == {"to run"}
    assert set(DIAMETERS[name]) <= {job["job"] for job in jobs}


def test_every_download_has_its_address_and_is_used():
    """Addresses name a commit each, so that the checksums hold for good."""
    text = (EXAMPLES / "real.sha256").read_text()
    addresses = re.findall(r"^# https://\S+/[0-9a-f]{40}/\S*?([^/\s]+)\n[0-9a-f]{64}  \1$", text, re.MULTILINE)
    used = re.findall(r"\$\{EMDIAM_DATA\}/([^\"]+)", (EXAMPLES / "real.toml").read_text())
    assert sorted(addresses) == sorted(checksums()) == sorted(used)


@pytest.mark.slow
def test_the_example_night(tmp_path: Path):
    answers = run_example("night", tmp_path)
    check_example("night", answers)
    results = {job["job"]: job["result"] for job in answers["jobs"]}
    assert results["roads"]["diameter_max_component"] == results["roads-fdiam"]["diameter_max_component"]
    assert results["torus-proved"]["verified"]


@pytest.mark.slow
def test_the_example_of_real_graphs(tmp_path: Path, data_folder: Path):
    """Luxembourg is there with a header and compressed, so that its lines are checked by its diameter alone."""
    for name, digest in checksums().items():
        if name == "luxembourg_osm.mtx":
            lines = gzip.decompress((data_folder / f"{name}.gz").read_bytes()).splitlines(keepends=True)
            (tmp_path / name).write_bytes(b"".join(lines[2:]))
        else:
            (tmp_path / name).symlink_to(data_folder / name)
            assert hashlib.sha256((data_folder / name).read_bytes()).hexdigest() == digest
    check_example("real", run_example("real", tmp_path))


def check_example(name: str, answers: dict[str, Any]) -> None:
    """All jobs are done, within their memory, and the known diameters are those."""
    jobs = {job["job"]: job for job in answers["jobs"]}
    assert {job["status"] for job in jobs.values()} == {"done"}
    assert all(job["peak_rss_bytes"] <= job["memory"] for job in jobs.values())
    for job, diameter in DIAMETERS[name].items():
        result = jobs[job]["result"]
        assert result["diameter_largest_component"] == result["diameter_max_component"] == diameter


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


@pytest.mark.parametrize(("directed", "weighted"), [(True, False), (False, True), (True, True)])
def test_budgets_along_arcs_and_weights_are_those_of_the_plan(tmp_path: Path, directed: bool, weighted: bool) -> None:
    store = tmp_path / "ring.zarr"
    (tmp_path / "ring.csv").write_text("a,b,km\n" + "".join(f"{v},{(v + 1) % 9},{v + 1}\n" for v in range(9)))
    convert(tmp_path / "ring.csv", store, directed=directed, weights="km")

    def asked(command: str, method: str | None, memory: int) -> Question:
        return Question(command, str(store), method, {"memory": memory, "threads": 2}, directed, weighted)

    answers = ask([asked(command, None, memory) for command in ("exact", "approx") for memory in (20 << 20, 1 << 30)])
    assert [answer is None for answer in answers] == [False, True, False, True]
    (planned,) = plan(store, method="pivots", memory="1GiB", threads=2, directed=directed, weighted=weighted,
                      probe=None)
    assert planned.plan is not None and planned.plan.minimum_bytes > 20 << 20
    assert answers[0] is not None and "least" in answers[0]


def test_a_file_with_edges_is_a_graph_for_a_job(tmp_path: Path, emdiam: Run) -> None:
    (tmp_path / "ring.csv").write_text("a,b\n" + "".join(f"{v},{(v + 1) % 9}\n" for v in range(9)))
    job = '[[job]]\nname = "{0}"\ncommand = "{0}"\nstore = "ring.csv"\n'
    (tmp_path / "trips.csv").write_text("a,b,km,minutes\n1,2,5,7\n2,3,6,9\n")
    along = '[[job]]\nname = "along"\ncommand = "exact"\nstore = "trips.{0}"\noptions = {{weight = "{1}"}}\n'
    (tmp_path / "jobs.toml").write_text(job.format("diameter") + job.format("ecc") + along.format("csv", "minutes"))
    done = emdiam("batch", "jobs.toml", "--quiet", "--resume")
    assert done.returncode == 0, done.stderr
    assert "D = 4" in done.stdout and "D = 4, radius 4" in done.stdout and "D = 16" in done.stdout
    convert(tmp_path / "trips.csv", tmp_path / "trips.zarr", weights="km")
    (tmp_path / "jobs.toml").write_text(job.format("tradeoff") + along.format("zarr", "minutes"))
    refused = emdiam("batch", "jobs.toml", "--out", "other")
    assert refused.returncode == 2 and "ring.csv" in refused.stderr
    assert "no weights that are called minutes: they are called km" in refused.stderr
