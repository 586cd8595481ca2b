"""Runs on a device that fails and was only welcome: the CPU does it again, and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from emdiam.gpu.setting import Selection
from emdiam.runs.task import execute, make_task
from tests.gpu.test_failures import FAILING, GRAPH, run_on
from tests.helpers.stores import write_store
from tests.simt.devices import open_device
from tests.simt.shim_device import Failures


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("graph") / "g.zarr", GRAPH)


@pytest.mark.parametrize(("failures", "kind", "message"), FAILING)
def test_the_cpu_does_it_again_where_a_gpu_was_only_welcome(
    store: Path, failures: Failures, kind: type[Exception], message: str,
) -> None:
    result = execute(store, run_on(Selection(open_device("shim-0", failures=failures), or_cpu=True)))
    assert result.diameter == 8 + 13
    assert result.device.startswith("cpu (") and message in result.device


def test_an_approximation_too(store: Path) -> None:
    for failures in (Failures(gone_at=3), Failures(no_kernels=True)):
        device = open_device("shim-0", failures=failures)
        run = make_task("sweep", device=Selection(device, or_cpu=True), memory_bytes=2 << 30)
        result = execute(store, run)
        assert result.device.startswith("cpu (the device shim")
        assert result.lower <= 8 + 13 <= result.upper
