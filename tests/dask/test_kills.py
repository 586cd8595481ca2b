"""kill -9 of a worker process at any moment of a run: the answer is right or said to be bounds, and nothing is left."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from emdiam.generators import generate
from tests.helpers.waiting import PATIENCE, wait_until

pytest.importorskip("distributed", reason="dask.distributed is not installed")

LEFT_SECONDS = 10.0
ONE, DIAMETER = "60x60", 60
# Seconds after the start of a run: fixed ones, and 40 of the first ten and 20 of the next.
MOMENTS = [0.0, 1.0, 3.0, 6.0, 20.0]
RANDOM = [*((0.0, 10.0, i) for i in range(40)), *((10.0, 20.0, i) for i in range(40, 60))]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A torus of 3,600 vertices, on which a run over two workers takes some seconds on a machine that is free."""
    path = tmp_path_factory.mktemp("kills") / "torus.zarr"
    generate("torus", path, parameters={"sides": ONE})
    return path


def alive(process: psutil.Process) -> bool:
    """Whether it has not ended."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def workers_of(main: psutil.Process) -> list[psutil.Process]:
    """The worker processes of a run."""
    found = []
    with suppress(psutil.Error):
        for child in main.children(recursive=True):
            with suppress(psutil.Error):
                if "spawn_main" in " ".join(child.cmdline()):
                    found.append(child)
    return found


def check_killed(store: Path, folder: Path, seconds: float, chance: random.Random) -> str:
    """A run of which a worker is killed after so many seconds, or as soon as there is one; what became of it."""
    temporary, answer, errors = folder / "tmp", folder / "answer.json", folder / "errors.txt"
    temporary.mkdir()
    with answer.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "emdiam", "exact", str(store), "--workers", "2", "--worker-memory", "1GiB", "--json",
             "--quiet"], env={**os.environ, "TMPDIR": str(temporary)}, stdout=out, stderr=err)
        try:
            main = psutil.Process(process.pid)
            time.sleep(seconds)
            wait_until(lambda: process.poll() is not None or workers_of(main))
            workers = workers_of(main)
            if workers:
                chance.choice(workers).kill()
            seen = main.children(recursive=True) if process.poll() is None else []
            code = process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
    text = errors.read_text()
    assert code in (0, 3), text
    result = json.loads(answer.read_text())
    assert (result["diameter"], result["exact"]) == (DIAMETER, True) if code == 0 else (
        result["lower"] <= DIAMETER <= result["upper"]), result
    assert "Traceback" not in text and "leaked" not in text and len(text.splitlines()) == (code == 3), text
    end = time.monotonic() + LEFT_SECONDS
    while any(map(alive, seen)) or list(temporary.iterdir()):
        assert time.monotonic() < end, ([one for one in seen if alive(one)], list(temporary.iterdir()))
        time.sleep(0.05)
    return f"{code}, {'killed' if workers else 'had ended'}"


@pytest.mark.parametrize("seconds", MOMENTS)
def test_a_worker_is_killed(seconds: float, store: Path, tmp_path: Path) -> None:
    check_killed(store, tmp_path, seconds, random.Random(0))


@pytest.mark.parametrize(("low", "high", "key"), RANDOM)
def test_a_worker_is_killed_at_random(
    low: float, high: float, key: int, store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(key)
    seconds = chance.uniform(low, high)
    ended = check_killed(store, tmp_path, seconds, chance)
    with capsys.disabled():
        print(f"\nkilled after {seconds:.1f} s: {ended}", end="")
