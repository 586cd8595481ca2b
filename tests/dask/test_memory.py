"""Memory of a rank: of four, at most a third of what one process takes beside the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from emdiam.generators import generate
from tests.conftest import Run

pytest.importorskip("distributed", reason="dask.distributed is not installed")

WORKERS = 4


def result_of(emdiam: Run, *arguments: str) -> dict[str, Any]:
    done = emdiam("exact", *arguments, "--json", "--quiet", timeout=3600)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def largest_peak(result: dict[str, Any]) -> int:
    """Bytes of the largest process that holds vertex state and blocks (VmHWM)."""
    workers = result.get("details", {}).get("workers")
    if workers is None:
        return int(result["peak_rss_bytes"])
    assert len(workers) == WORKERS
    assert all(worker["peak_rss_bytes"] <= worker["planned_rss_bytes"] for worker in workers)
    return max(int(worker["peak_rss_bytes"]) for worker in workers)


@pytest.mark.slow
def test_a_rank_of_four_takes_at_most_a_third_of_one_process(tmp_path: Path, emdiam: Run) -> None:
    """State and arena, with the edges in RAM: what the same run takes more than on a graph of a few vertices."""
    small, large = str(tmp_path / "small.zarr"), str(tmp_path / "rmat-22.zarr")
    generate("grid", small, parameters={"sides": "30x40"})
    generate("rmat", large, vertices=1 << 22, parameters={"edge_factor": 16})
    four = ("--workers", str(WORKERS), "--worker-memory", "2GiB", "--worker-threads", "1")
    one = ("--threads", "1", "--memory", "8GiB")
    alone, shared = result_of(emdiam, large, *one), result_of(emdiam, large, *four)
    answer = ("connected", "diameter", "lower", "upper")
    assert [shared[name] for name in answer] == [alone[name] for name in answer]
    whole = largest_peak(alone) - largest_peak(result_of(emdiam, small, *one))
    rank = largest_peak(shared) - largest_peak(result_of(emdiam, small, *four))
    assert 3 * rank <= whole, (rank, whole)
