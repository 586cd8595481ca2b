"""kill -9 of a batch: nothing is lost, nothing runs twice at once, and no job outlives its batch."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from emdiam.batch.attempt import NAME, processes_of
from tests.helpers.batch_night import Night, make_night, printed
from tests.helpers.waiting import PATIENCE, wait_until


@pytest.fixture
def night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    return make_night(tmp_path, monkeypatch)


def kill_and_go_on(night: Night, kills: int, seconds: float, seed: int) -> None:
    """kill -9 at random moments, and start again each time; in the end everything is as if never killed."""
    chance = random.Random(seed)
    for _ in range(kills):
        process = night.start("--parallel", "2", "--memory", "2GiB")
        time.sleep(chance.uniform(0.1, seconds))
        process.kill()
        process.communicate(timeout=PATIENCE)
    process = night.start("--parallel", "2", "--memory", "2GiB")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, out + err
    assert "Traceback" not in err
    told = printed(out)
    assert told["counts"]["done"] == told["n_jobs"]
    assert night.starts("twice") == []
    lines = (night.out / NAME).read_text().splitlines()
    assert len(lines) == told["n_jobs"], "every job has ended once"
    assert len(night.starts()) <= told["n_jobs"] + 2 * kills


def test_killed_at_random_moments(night: Night):
    stores = list("abcdef")
    night.behave(**{name: {"sleep": 0.15} for name in stores})
    night.write(*stores, "x:a", "y:b", "z:f")
    kill_and_go_on(night, kills=4, seconds=0.9, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_killed_at_many_random_moments(night: Night, seed: int):
    stores = [f"s{number}" for number in range(20)]
    night.behave(**{name: {"sleep": 0.2} for name in stores})
    night.write(*stores, *(f"x{number}:s{number}" for number in range(0, 20, 3)))
    kill_and_go_on(night, kills=5, seconds=1.5, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "kills"), [(50, 8), (260, 40)])
def test_a_night_in_fast_motion(night: Night, n_jobs: int, kills: int):
    """Many jobs, of which each takes a moment, and a kill every few of them."""
    stores = [f"s{number}" for number in range(n_jobs)]
    night.behave(**{name: {"sleep": 0.01} for name in stores})
    night.write(*stores, *(f"x{number}:s{number}" for number in range(0, n_jobs, 5)))
    kill_and_go_on(night, kills=kills, seconds=3.0, seed=23)


@pytest.mark.slow
def test_jobs_end_with_their_batch(night: Night):
    """The one that hears SIGTERM by itself; the deaf one when the next batch begins."""
    night.behave(s={"sleep": 3600}, t={"sleep": 3600, "deaf": True})
    night.write("s", "t")
    process = night.start("--parallel", "2", "--memory", "2GiB")
    night.wait_for_starts(process, "s", "t")
    assert len(processes_of(night.out)) == 2
    process.kill()
    process.communicate(timeout=PATIENCE)
    wait_until(lambda: len(processes_of(night.out)) <= 1)
    assert night.starts("end") == ["s"]
    night.behave()
    out, _ = night.start().communicate(timeout=PATIENCE)
    told = printed(out)
    assert told["counts"]["done"] == 2 and [job["attempts"] for job in told["jobs"]] == [2, 2]
    assert "the batch before was killed; 1 process of its jobs still ran and had to be ended" in told["messages"][0]
    assert night.starts("twice") == [] and processes_of(night.out) == []


REAL = """
[batch.defaults]
options = { threads = 1 }
[[job]]
name = "torus"
command = "generate"
class = "torus"
store = "${OUT}/torus.zarr"
options = { sides = "120x120" }
[[job]]
name = "edges"
command = "convert"
inputs = ["edges.txt"]
store = "${OUT}/edges.zarr"
[[job]]
name = "pivots"
command = "exact"
store = "${OUT}/torus.zarr"
[[job]]
name = "fdiam"
command = "exact"
store = "${OUT}/torus.zarr"
method = "fdiam"
[[job]]
name = "clusters"
command = "approx"
store = "${OUT}/edges.zarr"
options = { masters = 64 }
"""


def answers(out: str) -> dict[str, object]:
    """What does not depend on time and place, by job."""
    names = ("diameter", "lower", "upper", "estimate", "traversals")
    return {job["job"]: {name: job["result"].get(name) for name in names} for job in printed(out)["jobs"]}


@pytest.mark.slow
def test_real_jobs_killed_at_25_random_moments(tmp_path: Path):
    """Conversion, exact (pivots, F-Diam) and approximation: the answers are those of an unbroken batch."""
    chance = random.Random(5)
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "jobs.toml").write_text(REAL)
        (tmp_path / name / "edges.txt").write_text("".join(f"{v} {v // 2}\n" for v in range(1, 200_000)))

    def start(name: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", "emdiam", "batch", "jobs.toml", "--json", "--quiet"], text=True,
                                cwd=tmp_path / name, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    whole, err = start("whole").communicate(timeout=PATIENCE)
    assert printed(whole)["exit_code"] == 0, err
    for _ in range(25):
        process = start("broken")
        time.sleep(chance.uniform(0.2, 6.0))
        process.kill()
        process.communicate(timeout=PATIENCE)
    broken, err = start("broken").communicate(timeout=PATIENCE)
    assert printed(broken)["exit_code"] == 0, err
    assert answers(broken) == answers(whole)
