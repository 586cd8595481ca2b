"""--workers on the command line: answers, what is told of workers, and the plan of the client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emdiam.generators import generate
from tests.conftest import Run

pytest.importorskip("distributed", reason="dask.distributed is not installed")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A grid of 30 x 40."""
    generate("grid", tmp_path / "g.zarr", parameters={"sides": "30x40"})
    return tmp_path / "g.zarr"


def test_exact(store: Path, tmp_path: Path, emdiam: Run) -> None:
    """And nothing is left of it."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = emdiam("exact", str(store), "--workers", "2", "--worker-memory", "1GiB", "--json", TMPDIR=str(temporary))
    said = done.stderr.splitlines()
    assert done.returncode == 0 and said[0].endswith("Z step 1 of 3: waiting for workers"), done.stderr
    assert not {"Warning", "leaked"} & {*done.stderr.replace(":", " ").split()}, done.stderr
    result = json.loads(done.stdout)
    assert result["diameter"] == 68 and result["exact"] and result["details"]["losses"] == []
    workers = result["details"]["workers"]
    assert len(workers) == 2 and sum(worker["vertices"] for worker in workers) == 1200
    for worker in workers:
        assert worker["messages"] > 0 and worker["peak_rss_bytes"] <= worker["planned_rss_bytes"]
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_a_quiet_run_says_nothing(store: Path, emdiam: Run) -> None:
    done = emdiam("exact", str(store), "--workers", "2", "--worker-memory", "1GiB", "-q")
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["sweep", "clusters", "spanning", "fringe"])
def test_approximations_keep_to_the_plan_of_the_client(store: Path, emdiam: Run, method: str) -> None:
    done = emdiam("approx", str(store), "--method", method, "--workers", "2", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["lower"] <= 68 <= result["upper"]
    assert result["peak_rss_bytes"] <= result["planned_rss_bytes"]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("exact", "--method", "pivots"), ("exact", "--method", "fdiam"),
                                       ("approx", "--masters", "20%"), ("approx", "--method", "fringe")])
def test_the_least_memory_of_the_client_is_enough(tmp_path: Path, emdiam: Run, arguments: tuple[str, ...]) -> None:
    """What it is refused with, it then keeps to; its tables are candidates of a grid, arcs of a random graph."""
    kind: dict[str, Any] = {"model": "grid", "parameters": {"sides": "200x300"}}
    if arguments[0] == "approx":
        kind = {"model": "erdos-renyi", "vertices": 1 << 16, "parameters": {"average_degree": 16}}
    generate(kind.pop("model"), tmp_path / "g.zarr", **kind)
    command = [arguments[0], str(tmp_path / "g.zarr"), *arguments[1:], "--workers", "2", "--json", "--quiet"]
    refused = emdiam(*command, "--memory", "50MiB")
    assert refused.returncode == 2 and "too small for the client" in refused.stderr
    done = emdiam(*command, "--memory", refused.stderr.split()[-1])
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["peak_rss_bytes"] <= result["planned_rss_bytes"] <= result["memory_limit_bytes"]
    if arguments[0] == "exact":
        assert result["diameter"] == 498


@pytest.mark.parametrize(("options", "said"), [
    (["--workers", "2", "--worker-memory", "100MiB"], "needs"),
    (["--worker-memory", "1GiB"], "no workers"),
    (["--scheduler", "tcp://127.0.0.1:1"], "no scheduler answers"),
    (["--workers", "2", "--device", "gpu"], ""),
])
@pytest.mark.slow
def test_what_cannot_be_is_a_sentence(store: Path, emdiam: Run, options: list[str], said: str) -> None:
    done = emdiam("exact", str(store), *options, "--quiet")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 2 and done.stdout == "" and last.startswith("emdiam: ") and said in last
