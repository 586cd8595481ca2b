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
# A run on a square torus of the first side takes some seconds on a machine that is free; with the other method, which
# searches from every vertex of the other torus, about twenty: for moments of ten seconds and more. Sides are diameters.
SIDE, LATE, LATE_SIDE, LATE_METHOD = 60, 10.0, 24, ("--method", "apsp")
# Seconds after the start of a run: fixed ones, and 40 of the first ten and 20 of the next.
MOMENTS = [0.0, 1.0, 3.0, 6.0, 20.0]
RANDOM = [*((0.0, 10.0, i) for i in range(40)), *((10.0, 20.0, i) for i in range(40, 60))]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The tori by their sides."""
    folder = tmp_path_factory.mktemp("kills")
    found = {side: folder / f"{side}.zarr" for side in (SIDE, LATE_SIDE)}
    for side, path in found.items():
        generate("torus", path, parameters={"sides": f"{side}x{side}"})
    return found


def alive(process: psutil.Process) -> bool:
    """Whether it has not ended."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def workers_of(main: psutil.Process) -> list[psutil.Process]:
    """The worker processes of a run, which are its children: without a look at all processes of the machine, which
    takes as long as what it waits for."""
    found = []
    for thread in Path(f"/proc/{main.pid}/task").glob("*/children"):
        with suppress(OSError, psutil.Error):
            children = [psutil.Process(int(number)) for number in thread.read_text().split()]
            found += [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    return found


def check_killed(stores: dict[int, Path], folder: Path, seconds: float, chance: random.Random) -> str:
    """A run of which a worker is killed after so many seconds, or as soon as there is one; what became of it."""
    temporary, answer, errors = folder / "tmp", folder / "answer.json", folder / "errors.txt"
    temporary.mkdir()
    diameter, method = (SIDE, ()) if seconds < LATE else (LATE_SIDE, LATE_METHOD)
    with answer.open("w") as out, errors.open("w") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "emdiam", "exact", str(stores[diameter]), *method, "--workers", "2",
             "--worker-memory", "1GiB", "--json", "--quiet"],
            env={**os.environ, "TMPDIR": str(temporary)}, stdout=out, stderr=err)
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
    assert (result["diameter"], result["exact"]) == (diameter, True) if code == 0 else (
        result["lower"] <= diameter <= result["upper"]), result
    assert "Traceback" not in text and "leaked" not in text and len(text.splitlines()) == (code == 3), text
    end = time.monotonic() + LEFT_SECONDS
    while any(map(alive, seen)) or list(temporary.iterdir()):
        assert time.monotonic() < end, ([one for one in seen if alive(one)], list(temporary.iterdir()))
        time.sleep(0.05)
    return f"{code}, {'killed' if workers else 'had ended'}"


@pytest.mark.parametrize("seconds", MOMENTS)
def test_a_worker_is_killed(seconds: float, stores: dict[int, Path], tmp_path: Path) -> None:
    check_killed(stores, tmp_path, seconds, random.Random(0))


@pytest.mark.parametrize(("low", "high", "key"), RANDOM)
def test_a_worker_is_killed_at_random(
    low: float, high: float, key: int, stores: dict[int, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(key)
    seconds = chance.uniform(low, high)
    ended = check_killed(stores, tmp_path, seconds, chance)
    with capsys.disabled():
        print(f"\nkilled after {seconds:.1f} s: {ended}", end="")
