"""The end of a scheduler: the run says so, leaves its checkpoint, and goes on elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from emdiam.generators import generate
from tests.helpers.waiting import PATIENCE, wait_until
from tests.helpers.workers import running

pytestmark = pytest.mark.slow

DASK = [sys.executable, "-m", "dask"]
WORKER = ["--nthreads", "1", "--no-dashboard", "--memory-limit", "0", "--host", "127.0.0.1"]


def emdiam(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "emdiam", *arguments]


def wait_for_bfs(events: Path, count: int) -> None:
    """Until the run has recorded so many traversals."""
    wait_until(lambda: events.exists() and events.read_text().count('"traversal"') >= count)


@pytest.mark.parametrize("elsewhere", [["--workers", "3"], []], ids=["other workers", "one machine"])
def test_a_run_outlives_its_scheduler(elsewhere: list[str], tmp_path: Path) -> None:
    store, kept, events = tmp_path / "g.zarr", tmp_path / "kept", tmp_path / "events.jsonl"
    generate("delaunay", store, vertices=1 << 13, seed=3)
    exact = emdiam("exact", str(store), "--method", "fdiam", "--json", "-q", "--memory", "4GiB")
    want = json.loads(subprocess.run(exact, capture_output=True, check=True).stdout)
    with ExitStack() as stack:
        scheduler, said = stack.enter_context(running(
            [*DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], "Scheduler at"))
        address = said.split()[-1]
        for _ in range(2):
            stack.enter_context(running([*DASK, "worker", address, *WORKER], "Registered to"))
        run = subprocess.Popen([*exact, "--scheduler", address, "--checkpoint", str(kept), "--events", str(events)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_bfs(events, 3)
        scheduler.kill()
        out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 3, err
    assert f"the scheduler at {address} was lost" in err
    assert "Traceback" not in err
    again = [*exact, *elsewhere, "--checkpoint", str(kept), "--resume"]
    resumed = subprocess.run(again, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    found = json.loads(resumed.stdout)
    assert [found[name] for name in ("diameter", "exact")] == [want[name] for name in ("diameter", "exact")]
    assert json.loads(out)["lower"] <= want["diameter"]
