"""What is said of a GPU, on the simulated one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from emdiam.errors import DeviceError, InputError
from emdiam.gpu import facts
from tests.simt.devices import open_device


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulated device, and little for it to do."""
    monkeypatch.setattr(facts, "find_device", lambda text: open_device("shim-0"))
    monkeypatch.setattr(facts.device_facts, "__defaults__", (300, 4096))


def test_a_device_that_works(small: None, command: Any) -> None:
    done = command("info", "--device", "gpu", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["name"] == "shim, seed 0" and found["bfs"]["vertices"] == 300
    assert found["kernels"] > found["kernels_shipped"] == 0 and found["copy_bytes_per_second"] > 0
    assert 2 <= found["bfs"]["levels"] <= 5
    lines = command("info", "--device", "gpu").stdout.splitlines()
    assert lines[0].startswith("shim, seed 0: 1.0 GiB") and lines[-1].startswith("one BFS is right: 300 vertices")


def test_a_device_that_computes_wrong(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    right = facts._distances
    monkeypatch.setattr(facts, "_distances", lambda starts, ids: right(starts, ids) + (np.arange(300) == 7))
    with pytest.raises(DeviceError, match="finds other distances than the CPU"):
        facts.device_facts("gpu")


def test_a_store_or_a_device(command: Any) -> None:
    for words in ([], ["g.zarr", "--device", "gpu"]):
        done = command("info", *words)
        assert done.returncode == 2 and "give GRAPH, or --device gpu" in done.stderr


def test_distances_of_the_check() -> None:
    """Of a path 0 - 2 - 1 beside a vertex alone."""
    assert facts._distances(np.array([0, 1, 2, 4, 4]), np.array([2, 2, 0, 1])).tolist() == [0, 2, 1, facts.UNREACHED]


def test_without_a_gpu(command: Any) -> None:
    try:
        facts.find_device("gpu")
    except InputError:
        done = command("info", "--device", "gpu")
        assert done.returncode == 2 and "emdiam[cuda]" in done.stderr and "--device cpu" not in done.stderr
